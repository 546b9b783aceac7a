/* From a plan to its demand: the sizes a rank sees, the rows of every layer kind, the edges of the model, and how a step
 * is put together from them (MODEL sections 5 to 9). */
#include "shares.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct stage_row *demand_add_row(struct demand *demand, enum stage stage, int part)
{
    struct stage_row *const row = &demand->row[demand->n_rows++];
    *row = (struct stage_row){.stage = stage, .part = part, .first_collective = demand->n_collectives};
    return row;
}

static double round_up(double x, int64_t tile)
{
    return tile > 1 ? (double)tile * ceil(x / (double)tile) : x;
}

struct work gemm(const struct shares *s, double count, double n, double inner, double columns)
{
    if (n <= 0.0 || inner <= 0.0 || columns <= 0.0) return (struct work){0.0, 0.0};
    const struct fabric *const f = s->fabric;
    const bool tiled = s->tiles_and_waste;
    const double flop = 2.0 * round_up(n, tiled ? f->tile_rows : 1) * round_up(inner, tiled ? f->tile_reduction : 1) *
                        round_up(columns, tiled ? f->tile_columns : 1);
    const double bytes = inner * columns * s->scenario->weight_bytes + n * (inner + columns) * s->scenario->activation_bytes;
    return (struct work){count * flop, count * bytes};
}

void row_add(struct stage_row *row, struct work work)
{
    row->flop += work.flop;
    row->hbm_bytes += work.hbm_bytes;
    row->mean_flop += work.flop;
    row->mean_hbm_bytes += work.hbm_bytes;
}

void demand_add_collective(struct demand *demand, const struct shares *s, enum collective_kind kind,
                           const struct group *group, double bytes, double n_layers)
{
    double wire[N_LEVELS] = {0.0};
    const struct collective made = lower_collective(kind, group, bytes, s->fabric, s->layout.sips, wire);
    if (made.top < 0) return;
    demand->collective[demand->n_collectives++] = made;
    demand->row[demand->n_rows - 1].n_collectives++;
    for (int l = 0; l < N_LEVELS; l++) demand->wire_bytes[l] += n_layers * wire[l];
}

void demand_add_collective_over(struct demand *demand, const struct shares *s, enum collective_kind kind, unsigned axes,
                                double bytes, double n_layers)
{
    struct group group;
    plan_group(&group, &s->layout, axes);
    demand_add_collective(demand, s, kind, &group, bytes, n_layers);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Heads of the fullest rank, which keeps a query head beside its KV head, and what is cached (MODEL section 5). */
static void share_heads(struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const int64_t tp = s->plan.tp, per_kv_head = ceil_ratio(model->heads, model->kv_heads);
    const int64_t kv_heads = ceil_ratio(model->kv_heads, tp);
    const double dim = (double)model->head_dim;
    if (s->mla) s->heads = ceil_ratio(model->heads, tp);
    else if (tp >= model->kv_heads) s->heads = ceil_ratio(per_kv_head, tp / model->kv_heads);
    else s->heads = kv_heads * per_kv_head;
    s->projected = s->plan.attention_scope == ATTENTION_TP_CP ? ceil_ratio(s->heads, s->plan.cp) : s->heads;
    s->split = plan_kv_modes_apply(&s->plan, model) ? tp / model->kv_heads : 1;
    s->sequence_split = 1;
    s->scored = s->heads;
    s->cached_heads = 1;
    if (s->mla) {
        s->kv_width = (double)(model->mla.kv_rank + model->mla.rope_dim);
        s->score_dim = s->prefill ? (double)(model->mla.nope_dim + model->mla.rope_dim) : s->kv_width;
        s->value_dim = (double)(s->prefill ? model->mla.v_dim : model->mla.kv_rank);
        return;
    }
    s->score_dim = s->value_dim = dim;
    s->kv_width = 2.0 * dim;
    if (s->plan.kv_mode == KV_REPLICATE) {
        s->kv_width *= (double)kv_heads;
        s->cached_heads = kv_heads;
        return;
    }
    s->scored = per_kv_head;
    if (s->plan.kv_mode == KV_SPLIT_SEQ) {
        s->sequence_split = s->split;
        return;
    }
    s->kv_width /= (double)s->split;
    s->score_dim = s->value_dim = dim / (double)s->split;
}

/* Tokens of so many sequences.  Those of `serve` are a fraction: divided last, so that a whole number is one, and begins no
 * further tile. */
static double share_of_tokens(const struct shares *s, double sequences)
{
    const struct scenario *const work = s->scenario;
    if (s->serve) return sequences * (double)(work->prompt_tokens + work->answer_tokens) / (double)work->answer_tokens;
    return sequences * (double)(s->prefill ? ceil_ratio(work->new_tokens, s->plan.cp) : work->new_tokens);
}

static void share_tokens(struct shares *s)
{
    const struct scenario *const work = s->scenario;
    s->b = ceil_ratio(s->plan.batch, at_most(s->plan.pp, s->plan.batch));
    s->m = ceil_ratio(s->plan.batch, s->b);
    const double b = (double)s->b, answer = (double)work->answer_tokens;
    s->tokens = share_of_tokens(s, b);
    if (s->serve) {
        s->sequence = work->prompt_tokens + ceil_ratio(work->answer_tokens, 2);
        s->prompt_per_token = (double)work->prompt_tokens / answer;
        s->logit_tokens = b * (answer + 1.0) / answer;
        return;
    }
    s->sequence = work->past_tokens + work->new_tokens;
    s->logit_tokens = s->prefill ? b : s->tokens;
}

static void share_ffn(struct shares *s)
{
    const bool over_cp = s->plan.ffn_scope >= FFN_TP_CP, over_dp = s->plan.ffn_scope == FFN_TP_CP_DP;
    s->attention_axes = AXES_TP | (s->plan.attention_scope == ATTENTION_TP_CP ? AXES_CP : 0);
    s->sharded_axes = (over_cp && s->prefill ? AXES_CP : 0) | (over_dp ? AXES_DP : 0);
    s->replicated_axes = AXES_TP | (over_cp && !s->prefill ? AXES_CP : 0);
    s->ffn_sharded = (s->sharded_axes & AXES_CP ? s->plan.cp : 1) * (over_dp ? s->plan.dp : 1);
    s->ffn_ranks = s->plan.tp * (over_cp ? s->plan.cp : 1) * (over_dp ? s->plan.dp : 1);
    s->ffn_tokens = share_of_tokens(s, (double)s->b * (double)s->ffn_sharded);
}

void lower_shares(struct shares *s, const struct lowering *lowering, const struct plan *plan, bool tiles_and_waste)
{
    *s = (struct shares){
        .scenario = lowering->scenario,
        .fabric = &lowering->fabric,
        .plan = *plan,
        .prefill = lowering->scenario->phase == PHASE_PREFILL,
        .serve = lowering->scenario->phase == PHASE_SERVE,
        .mla = lowering->scenario->model.mla.kv_rank > 0,
        .tiles_and_waste = tiles_and_waste,
    };
    plan_layout(&s->layout, plan, s->fabric);
    share_heads(s);
    share_tokens(s);
    share_ffn(s);
}

/* ---- the whole model --------------------------------------------------------------------------------------------- */

static void lower_edges(struct demand *demand, const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const double hidden = (double)model->hidden, activation = s->scenario->activation_bytes, nl = s->logit_tokens;
    const double stream = s->tokens * hidden * activation;
    row_add(demand_add_row(demand, STAGE_EMBED, EDGE_EMBED), (struct work){0.0, 2.0 * stream});
    demand_add_collective_over(demand, s, ALL_REDUCE, AXES_TP, stream, 1.0);
    struct stage_row *const norm = demand_add_row(demand, STAGE_FINAL_NORM, EDGE_HEAD);
    norm->vector_flop = 4.0 * nl * hidden;
    row_add(norm, (struct work){0.0, 2.0 * nl * hidden * activation});
    row_add(demand_add_row(demand, STAGE_LM_HEAD, EDGE_HEAD),
            gemm(s, 1.0, nl, hidden, (double)ceil_ratio(model->vocab, s->plan.tp)));
    demand_add_collective_over(demand, s, ALL_GATHER, AXES_TP, nl * (double)model->vocab * activation, 1.0);
}

static void lower_rows(struct demand *demand, const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    demand->n_kinds = model->n_kinds;
    memcpy(demand->kind, model->kind, sizeof demand->kind);
    demand->n_rows = demand->n_collectives = 0;
    memset(demand->wire_bytes, 0, sizeof demand->wire_bytes);
    memset(demand->ring, 0, sizeof demand->ring);
    for (int k = 0; k < demand->n_kinds; k++) {
        lower_attention(demand, s, k);
        lower_ffn(demand, s, k);
    }
    lower_edges(demand, s);
}

/* ---- the step (MODEL section 7) ---------------------------------------------------------------------------------- */

static bool form_covers(const double form[N_PARTS], const double other[N_PARTS])
{
    for (int p = 0; p < N_PARTS; p++)
        if (other[p] > form[p]) return false;
    return true;
}

/* Keep only forms that no other covers: a form that asks no more of any part is never the maximum. */
static void add_form(struct demand *demand, const double form[N_PARTS])
{
    int kept = 0;
    for (int f = 0; f < demand->n_forms; f++)
        if (form_covers(demand->form[f], form)) return;
    for (int f = 0; f < demand->n_forms; f++)
        if (!form_covers(form, demand->form[f])) memmove(demand->form[kept++], demand->form[f], sizeof demand->form[f]);
    assert(kept < MAX_FORMS);
    memcpy(demand->form[kept], form, N_PARTS * sizeof *form);
    demand->n_forms = kept + 1;
}

static void lower_step(struct demand *demand, const struct shares *s)
{
    const struct model *const model = &s->scenario->model;
    const double pp = (double)s->plan.pp, m = (double)s->m;
    double through[N_PARTS] = {[EDGE_EMBED] = 1.0, [EDGE_HEAD] = 1.0};
    for (int k = 0; k < demand->n_kinds; k++) through[k] = (double)demand->kind[k].n_layers;
    if (s->plan.pp > 1) through[PART_HOP] = s->prefill ? pp + m - 2.0 : pp;
    demand->n_forms = 0;
    if (s->m == 1 || !s->prefill) add_form(demand, through);
    if (s->m == 1) return;
    for (int64_t stage = 0; stage < s->plan.pp; stage++) {
        double slow[N_PARTS] = {0.0}, form[N_PARTS];
        int64_t from, to;
        stage_layers(s, stage, &from, &to);
        for (int64_t i = from; i < to; i++) slow[model->layer_kind[i]] += 1.0;
        slow[EDGE_EMBED] = stage == 0 ? 1.0 : 0.0;
        slow[EDGE_HEAD] = stage == s->plan.pp - 1 ? 1.0 : 0.0;
        for (int p = 0; p < N_PARTS; p++) form[p] = s->prefill ? through[p] + (m - 1.0) * slow[p] : m * slow[p];
        add_form(demand, form);
    }
}

/* The message between pipeline stages and its energy. */
static void lower_pipeline(struct demand *demand, const struct shares *s, double wire[N_LEVELS])
{
    const double stream = s->tokens * (double)s->scenario->model.hidden * s->scenario->activation_bytes;
    demand->pipeline_hop = (struct hop){.top = -1};
    demand->pipeline_collective = -1;
    if (s->plan.pp == 1) return;
    const double bytes = stream / (double)s->plan.tp;
    struct group tp;
    demand->pipeline_hop = lower_hop(s, AXIS_PP, bytes);
    if (demand->pipeline_hop.top >= 0) wire[demand->pipeline_hop.top] += bytes;
    plan_group(&tp, &s->layout, AXES_TP);
    const struct collective made = lower_collective(ALL_GATHER, &tp, stream, s->fabric, s->layout.sips, wire);
    if (made.top < 0) return;
    demand->pipeline_collective = demand->n_collectives;
    demand->collective[demand->n_collectives++] = made;
}

/* ---- totals (MODEL section 9) ------------------------------------------------------------------------------------ */

static void lower_energy(struct demand *demand, const struct shares *s, const double hop_wire[N_LEVELS])
{
    const double passes = (double)(s->plan.tp * s->plan.cp * s->plan.dp) * (double)s->m;
    const double hops = s->plan.pp == 1 ? 0.0 : (double)(s->prefill ? s->plan.pp - 1 : s->plan.pp);
    double flop = 0.0, bytes = 0.0;
    for (int r = 0; r < demand->n_rows; r++) {
        flop += demand_row_count(demand, &demand->row[r]) * demand->row[r].mean_flop;
        bytes += demand_row_count(demand, &demand->row[r]) * demand->row[r].mean_hbm_bytes;
    }
    demand->energy_flop = passes * flop;
    demand->energy_hbm_bytes = passes * bytes;
    for (int l = 0; l < N_LEVELS; l++) demand->energy_wire_bytes[l] = passes * (demand->wire_bytes[l] + hops * hop_wire[l]);
}

/* FLOP and bytes of the same sequences on one PE without replication, padding or imbalance; remembered, since plans share
 * them. */
static void lower_own(struct demand *demand, struct lowering *lowering, const struct plan *plan)
{
    const int64_t sequences = plan->batch * plan->dp;
    const size_t slot = (size_t)sequences % OWN_CACHE;
    if (lowering->own[slot].sequences != sequences) {
        struct plan one = plan_of_ones;
        struct shares s;
        struct demand alone;
        one.batch = sequences;
        lower_shares(&s, lowering, &one, false);
        lower_rows(&alone, &s);
        lowering->own[slot].sequences = sequences;
        lowering->own[slot].flop = lowering->own[slot].hbm_bytes = 0.0;
        for (int r = 0; r < alone.n_rows; r++) {
            lowering->own[slot].flop += demand_row_count(&alone, &alone.row[r]) * alone.row[r].flop;
            lowering->own[slot].hbm_bytes += demand_row_count(&alone, &alone.row[r]) * alone.row[r].hbm_bytes;
        }
    }
    demand->own_flop = lowering->own[slot].flop;
    demand->own_hbm_bytes = lowering->own[slot].hbm_bytes;
}

/* deg of MODEL section 9: ports a node pays for, whether or not it has neighbours. */
static double paid_ports(enum topology topology, int64_t n)
{
    switch (topology) {
    case TOPOLOGY_FULL: return (double)(n - 1);
    case TOPOLOGY_RING: return 2.0;
    case TOPOLOGY_MESH2D:
    case TOPOLOGY_TORUS2D: return 4.0;
    default: return 1.0;
    }
}

void lower_init(struct lowering *lowering, const struct scenario *scenario)
{
    *lowering = (struct lowering){.scenario = scenario};
}

void lower_set_fabric(struct lowering *lowering, const struct fabric *fabric)
{
    /* Of the fabric only the query tile is in the own work. */
    if (fabric->query_tile != lowering->fabric.query_tile) memset(lowering->own, 0, sizeof lowering->own);
    lowering->fabric = *fabric;
}

void lower_allocation(struct demand *demand, const struct layout *layout, const struct fabric *fabric)
{
    demand->used = layout->used;
    demand->pes = layout->pes;
    demand->cubes = layout->cubes;
    demand->sips = layout->sips;
    demand->ports[0] = paid_ports(fabric->topology[0], fabric->pes_per_cube);
    demand->ports[1] = paid_ports(fabric->topology[1], fabric->cubes_per_sip);
    demand->ports[2] = paid_ports(fabric->topology[2], layout->sips);
}

void lower_plan(struct demand *demand, struct lowering *lowering, const struct plan *plan)
{
    const struct scenario *const scenario = lowering->scenario;
    const struct fabric *const fabric = &lowering->fabric;
    double hop_wire[N_LEVELS] = {0.0};
    struct shares s;
    lower_shares(&s, lowering, plan, true);
    lower_rows(demand, &s);
    lower_pipeline(demand, &s, hop_wire);
    lower_step(demand, &s);
    lower_memory(demand, &s);
    lower_energy(demand, &s, hop_wire);
    lower_own(demand, lowering, plan);
    demand->tokens =
        (double)(plan->batch * plan->dp) * (s.prefill ? (double)scenario->new_tokens : scenario->accepted_tokens);
    demand->latency_per_step = s.prefill ? 1.0 : 1.0 / scenario->accepted_tokens;
    lower_allocation(demand, &s.layout, fabric);
}
