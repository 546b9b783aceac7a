/* Which tensors a plan keeps, how each is cut over the ranks, and how often it is there (MODEL sections 5, 6 and 8).
 *
 *     stack x [rows x columns]     experts of a layer, sequences of a cache; each side cut over some ranks
 *
 * The ways of all cuts times the copies over TP, CP and DP are the ranks of a pipeline stage. */
#include "shares.h"
#include <string.h>

const char *const tensor_name[N_TENSORS] = {
#define X(code, name, meaning) name,
    TENSORS(X)
#undef X
};
const char *const tensor_meaning[N_TENSORS] = {
#define X(code, name, meaning) meaning,
    TENSORS(X)
#undef X
};
const char *const cut_name[N_CUT_RANKS] = {
#define X(code, name) name,
    CUTS(X)
#undef X
};

double tensor_bytes(const struct tensor *tensor)
{
    return tensor->stack.size * tensor->rows.size * tensor->columns.size * tensor->element_bytes;
}

double tensor_share_bytes(const struct tensor *tensor)
{
    return tensor->stack.share * tensor->rows.share * tensor->columns.share * tensor->element_bytes;
}

/* ---- building blocks --------------------------------------------------------------------------------------------- */

/* A group of tensors that the same layers have. */
struct place {
    int64_t layers, fullest_layers;
};

struct builder {
    struct tensors *tensors;
    const struct shares *shares;
    int64_t fullest_stage, from, to; /* its layers */
};

static struct tensor_side whole(const char *what, double size)
{
    return (struct tensor_side){.what = what, .size = size, .share = size};
}

static void cut(struct tensor_side *side, enum cut_ranks by, int64_t ways)
{
    if (ways <= 1) return;
    side->cut[side->n_cuts].by = by;
    side->cut[side->n_cuts++].ways = ways;
}

/* A tensor of weights that every rank of a pipeline stage keeps whole, until its sides are cut. */
static struct tensor *add(const struct builder *b, enum tensor_code code, struct place place, struct tensor_side rows,
                          struct tensor_side columns)
{
    const struct plan *const plan = &b->shares->plan;
    struct tensor *const tensor = &b->tensors->tensor[b->tensors->n++];
    *tensor = (struct tensor){
        .code = code,
        .layers = place.layers,
        .fullest_layers = place.fullest_layers,
        .stack = whole("", 1.0),
        .rows = rows,
        .columns = columns,
        .copies = {(double)plan->tp, (double)plan->cp, (double)plan->dp},
        .element_bytes = b->shares->scenario->weight_bytes,
        .is_own = true,
    };
    return tensor;
}

/* Heads of the query and output projections. */
static void cut_heads(struct tensor *tensor, struct tensor_side *side, const struct builder *b, double dim)
{
    const struct shares *const s = b->shares;
    const bool over_cp = s->attention_axes & AXES_CP;
    side->share = (double)s->projected * dim;
    cut(side, CUT_TP, s->plan.tp);
    if (over_cp) cut(side, CUT_CP, s->plan.cp);
    tensor->copies[0] = 1.0;
    if (over_cp) tensor->copies[1] = 1.0;
}

/* KV heads, of the projections and of the caches; `total` counts keys or values of all heads. */
static void cut_kv_heads(struct tensor *tensor, struct tensor_side *side, const struct builder *b)
{
    const struct shares *const s = b->shares;
    const int64_t tp = s->plan.tp, by_head = at_most(tp, s->scenario->model.kv_heads);
    const int64_t ways = s->plan.kv_mode == KV_SPLIT_DIM ? tp : by_head;
    side->share = s->kv_width / 2.0;
    cut(side, CUT_TP, ways);
    tensor->copies[0] = (double)tp / (double)ways;
}

/* All ranks of the FFN group share this side. */
static void cut_ffn(struct tensor *tensor, struct tensor_side *side, const struct builder *b, double share)
{
    const struct plan *const plan = &b->shares->plan;
    const bool over_cp = plan->ffn_scope >= FFN_TP_CP, over_dp = plan->ffn_scope == FFN_TP_CP_DP;
    side->share = share;
    cut(side, CUT_TP, plan->tp);
    if (over_cp) cut(side, CUT_CP, plan->cp);
    if (over_dp) cut(side, CUT_DP, plan->dp);
    tensor->copies[0] = 1.0;
    if (over_cp) tensor->copies[1] = 1.0;
    if (over_dp) tensor->copies[2] = 1.0;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static void add_output(const struct builder *b, struct place place, double value)
{
    const struct model *const model = &b->shares->scenario->model;
    struct tensor *const out =
        add(b, TENSOR_OUTPUT, place, whole("heads", (double)model->heads * value), whole("hidden", (double)model->hidden));
    cut_heads(out, &out->rows, b, value);
}

static void add_attention(const struct builder *b, struct place place)
{
    const struct model *const model = &b->shares->scenario->model;
    const double dim = (double)model->head_dim;
    const struct tensor_side hidden = whole("hidden", (double)model->hidden);
    struct tensor *const query = add(b, TENSOR_QUERY, place, hidden, whole("heads", (double)model->heads * dim));
    cut_heads(query, &query->columns, b, dim);
    for (enum tensor_code code = TENSOR_KEY; code <= TENSOR_VALUE; code++) {
        struct tensor *const kv = add(b, code, place, hidden, whole("KV heads", (double)model->kv_heads * dim));
        cut_kv_heads(kv, &kv->columns, b);
    }
    add_output(b, place, dim);
}

static void add_latent_attention(const struct builder *b, struct place place)
{
    const struct shares *const s = b->shares;
    const struct model *const model = &s->scenario->model;
    const double heads = (double)model->heads, query = (double)(model->mla.nope_dim + model->mla.rope_dim);
    const double expanded = (double)(model->mla.nope_dim + model->mla.v_dim);
    const struct tensor_side hidden = whole("hidden", (double)model->hidden),
                             ranks = whole("rank", (double)model->mla.q_rank);
    const bool ranked = model->mla.q_rank > 0;
    if (ranked) add(b, TENSOR_QUERY_DOWN, place, hidden, ranks);
    struct tensor *const up =
        add(b, ranked ? TENSOR_QUERY_UP : TENSOR_QUERY, place, ranked ? ranks : hidden, whole("heads", heads * query));
    cut_heads(up, &up->columns, b, query);
    add(b, TENSOR_LATENT_DOWN, place, hidden, whole("latent", s->kv_width));
    struct tensor *const latent =
        add(b, TENSOR_LATENT_UP, place, whole("rank", (double)model->mla.kv_rank), whole("heads", heads * expanded));
    cut_heads(latent, &latent->columns, b, expanded);
    add_output(b, place, (double)model->mla.v_dim);
}

static void add_cache(const struct builder *b, enum tensor_code code, struct place place, int64_t window)
{
    const struct shares *const s = b->shares;
    const struct model *const model = &s->scenario->model;
    const int64_t tokens = cached_tokens(s, window);
    const double width = s->mla ? s->kv_width : (double)(model->kv_heads * model->head_dim);
    struct tensor *const cache =
        add(b, code, place, whole("tokens", (double)tokens), whole(s->mla ? "latent" : "KV heads", width));
    cache->window_tokens = window;
    cache->element_bytes = s->scenario->kv_bytes;
    cache->stack = (struct tensor_side){
        .what = "sequences", .size = (double)(s->plan.batch * s->plan.dp), .share = (double)s->plan.batch};
    cut(&cache->stack, CUT_DP, s->plan.dp);
    cache->rows.share = (double)ceil_ratio(tokens, s->plan.cp * s->sequence_split);
    cut(&cache->rows, CUT_CP, s->plan.cp);
    cache->copies[1] = cache->copies[2] = 1.0;
    if (s->mla) return;
    cut_kv_heads(cache, &cache->columns, b);
    cut(&cache->rows, CUT_KV_SHARERS, s->sequence_split);
    cache->copies[0] /= (double)s->sequence_split; /* where these ranks cut the tokens they hold no copies */
}

/* ---- FFN --------------------------------------------------------------------------------------------------------- */

/* gate, where there is one, up and down: [hidden x width], twice, and [width x hidden]. */
static void add_matrices(const struct builder *b, enum tensor_code gate, struct place place, const char *what, double width,
                         void (*shape)(struct tensor *tensor, struct tensor_side *width, const struct builder *b))
{
    const struct model *const model = &b->shares->scenario->model;
    const struct tensor_side hidden = whole("hidden", (double)model->hidden);
    for (int m = model->gated ? 0 : 1; m < 3; m++) {
        const bool down = m == 2;
        struct tensor *const tensor = add(b, (enum tensor_code)((int)gate + m), place, down ? whole(what, width) : hidden,
                                          down ? hidden : whole(what, width));
        shape(tensor, down ? &tensor->rows : &tensor->columns, b);
    }
}

static void shape_dense(struct tensor *tensor, struct tensor_side *width, const struct builder *b)
{
    cut_ffn(tensor, width, b, (double)ceil_ratio(b->shares->scenario->model.ffn, b->shares->ffn_ranks));
}

/* EP cuts the stack of experts, the ranks that are left each expert: together all of the FFN group. */
static void shape_experts(struct tensor *tensor, struct tensor_side *width, const struct builder *b)
{
    const struct shares *const s = b->shares;
    const struct model *const model = &s->scenario->model;
    const int64_t ep = s->plan.ep, sharers = s->ffn_ranks / ep;
    cut_ffn(tensor, width, b, (double)model->moe.ffn / (double)sharers);
    width->n_cuts = 0;
    cut(width, CUT_EXPERT_TP, sharers);
    tensor->stack = (struct tensor_side){
        .what = "experts", .size = (double)model->moe.experts, .share = (double)ceil_ratio(model->moe.experts, ep)};
    cut(&tensor->stack, CUT_EP, ep);
}

static void shape_shared(struct tensor *tensor, struct tensor_side *width, const struct builder *b)
{
    const struct shares *const s = b->shares;
    if (s->plan.moe_exchange == MOE_ALLTOALL) return; /* every rank keeps them whole */
    cut_ffn(tensor, width, b, (double)s->scenario->model.moe.shared_ffn / (double)s->ffn_ranks);
}

static void add_experts(const struct builder *b, struct place place)
{
    const struct model *const model = &b->shares->scenario->model;
    add(b, TENSOR_ROUTER, place, whole("hidden", (double)model->hidden), whole("experts", (double)model->moe.experts));
    add_matrices(b, TENSOR_EXPERT_GATE, place, "width", (double)model->moe.ffn, shape_experts);
    if (model->moe.shared_ffn > 0)
        add_matrices(b, TENSOR_SHARED_GATE, place, "width", (double)model->moe.shared_ffn, shape_shared);
}

/* ---- the whole model --------------------------------------------------------------------------------------------- */

/* The layers of the kinds in the mask. */
static struct place layers_of(const struct builder *b, unsigned kinds)
{
    const struct model *const model = &b->shares->scenario->model;
    struct place place = {0, 0};
    for (int64_t i = 0; i < model->layers; i++) {
        if (!(kinds & 1u << model->layer_kind[i])) continue;
        place.layers++;
        place.fullest_layers += i >= b->from && i < b->to;
    }
    return place;
}

static void add_caches(const struct builder *b)
{
    const struct model *const model = &b->shares->scenario->model;
    unsigned done = 0;
    for (int k = 0; k < model->n_kinds; k++) {
        const int64_t window = model->kind[k].window_tokens;
        unsigned same = 0;
        for (int other = 0; other < model->n_kinds; other++)
            if (model->kind[other].window_tokens == window) same |= 1u << other;
        if (done & same) continue;
        done |= same;
        const struct place place = layers_of(b, same);
        if (b->shares->mla) add_cache(b, TENSOR_LATENT_CACHE, place, window);
        else
            for (enum tensor_code c = TENSOR_KEY_CACHE; c <= TENSOR_VALUE_CACHE; c++) add_cache(b, c, place, window);
    }
}

static void add_edges(const struct builder *b)
{
    const struct shares *const s = b->shares;
    const struct model *const model = &s->scenario->model;
    const int64_t last = s->plan.pp - 1;
    const double share = (double)ceil_ratio(model->vocab, s->plan.tp);
    const struct tensor_side hidden = whole("hidden", (double)model->hidden);
    struct tensor_side vocabulary = whole("vocabulary", (double)model->vocab);
    vocabulary.share = share;
    cut(&vocabulary, CUT_TP, s->plan.tp);
    add(b, TENSOR_EMBEDDING, (struct place){1, b->fullest_stage == 0}, vocabulary, hidden)->copies[0] = 1.0;
    if (model->tied && last == 0) return;
    struct tensor *const head = add(b, TENSOR_LM_HEAD, (struct place){1, b->fullest_stage == last}, hidden, vocabulary);
    head->copies[0] = 1.0;
    head->is_own = !model->tied;
}

void lower_tensors(struct tensors *tensors, const struct lowering *lowering, const struct plan *plan)
{
    double weight_bytes, kv_bytes;
    unsigned moe = 0, dense = 0;
    struct shares s;
    lower_shares(&s, lowering, plan, true);
    const struct model *const model = &s.scenario->model;
    struct builder b = {
        .tensors = tensors, .shares = &s, .fullest_stage = lower_fullest_stage(&s, &weight_bytes, &kv_bytes)};
    stage_layers(&s, b.fullest_stage, &b.from, &b.to);
    *tensors = (struct tensors){.ranks = plan->tp * plan->cp * plan->dp};
    for (int k = 0; k < model->n_kinds; k++)
        if (model->kind[k].moe) moe |= 1u << k;
        else dense |= 1u << k;
    const struct place all = layers_of(&b, moe | dense);
    if (s.mla) add_latent_attention(&b, all);
    else add_attention(&b, all);
    add(&b, TENSOR_NORMS, all, whole("hidden", (double)model->hidden), whole("norms", 2.0));
    if (dense) add_matrices(&b, TENSOR_GATE, layers_of(&b, dense), "width", (double)model->ffn, shape_dense);
    if (moe) add_experts(&b, layers_of(&b, moe));
    add_edges(&b);
    add_caches(&b);
}
