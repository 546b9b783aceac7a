/* The numbers behind formulas: symbols with rates, the roofline of a stage, the exchanges of a stage on a machine. */
#include "cli/formulas.h"
#include "evaluate/equations.h"

const char *const quantity_name[N_QUANTITIES] = {"FLOP", "vector FLOP", "HBM bytes"};
const char *const link_name[N_LEVELS] = {"PE", "D2D", "C2C"};

void symbols_set_rates(struct symbols *symbols, const struct hardware *h, enum dtype compute)
{
    double *const v = symbols->value;
    struct arena arena = {0};
    struct work_rates work;
    work_rates_init(&work, 1, &arena);
    work_rates_set(&work, 0, h, compute);
    v[SYMBOL_Rg] = 1.0 / work.s_per_peak_flop[0]; /* which ratio belongs to a format is the evaluator's to know */
    v[SYMBOL_Ra] = h->flops;
    v[SYMBOL_Rv] = h->vector_flops;
    v[SYMBOL_BW] = h->hbm_bandwidth;
    v[SYMBOL_b_0] = h->pe_bandwidth;
    v[SYMBOL_b_1] = h->d2d_bandwidth;
    v[SYMBOL_b_2] = h->c2c_bandwidth;
    v[SYMBOL_a_0] = h->pe_latency;
    v[SYMBOL_a_1] = h->d2d_latency;
    v[SYMBOL_a_2] = h->c2c_latency;
    v[SYMBOL_e_gemm] = h->gemm_efficiency;
    v[SYMBOL_e_attn] = h->attention_efficiency;
    v[SYMBOL_e_hbm] = h->hbm_efficiency;
    v[SYMBOL_e_kv] = h->kv_efficiency;
    v[SYMBOL_e_link_0] = h->pe_link_efficiency;
    v[SYMBOL_e_link_1] = h->d2d_link_efficiency;
    v[SYMBOL_e_link_2] = h->c2c_link_efficiency;
    v[SYMBOL_o_kernel] = h->kernel_overhead;
    v[SYMBOL_o_attn] = h->attention_overhead;
    v[SYMBOL_o_coll_0] = h->pe_collective_overhead;
    v[SYMBOL_o_coll_1] = h->d2d_collective_overhead;
    v[SYMBOL_o_coll_2] = h->c2c_collective_overhead;
    v[SYMBOL_o_step] = h->step_overhead;
    arena_free(&arena);
}

void formulas_init(struct formulas *formulas, const struct answer *answer)
{
    const struct candidate *const candidate = &answer->candidate;
    const struct fabric fabric = fabric_of(&candidate->hardware);
    struct lowering lowering;
    lower_init(&lowering, &candidate->scenario);
    lower_set_fabric(&lowering, &fabric);
    formulas->answer = answer;
    for (int k = 0; k < answer->demand.n_kinds; k++) {
        lower_symbols(&formulas->of[k], &lowering, &candidate->plan, k);
        symbols_set_rates(&formulas->of[k], &candidate->hardware, candidate->scenario.compute);
    }
}

const struct symbols *formulas_symbols(const struct formulas *formulas, const struct stage_row *row)
{
    return &formulas->of[row && row->part < MAX_KINDS ? row->part : 0];
}

/* MODEL section 7; section 5 for the fused kernel. */
struct roofline formulas_roofline(const struct formulas *formulas, const struct stage_row *row)
{
    const double *const v = formulas_symbols(formulas, row)->value;
    const bool attention = stage_engine[row->stage] == ENGINE_ATTENTION;
    const double efficiency = v[attention ? SYMBOL_e_attn : SYMBOL_e_gemm];
    struct roofline roofline = {
        .term_s = {row->flop / (v[attention ? SYMBOL_Ra : SYMBOL_Rg] * efficiency),
                   row->vector_flop / (v[SYMBOL_Rv] * efficiency),
                   row->hbm_bytes / (v[SYMBOL_BW] * v[attention ? SYMBOL_e_kv : SYMBOL_e_hbm])},
        .fixed_s = !stage_launches[row->stage] ? 0.0 : v[attention ? SYMBOL_o_attn : SYMBOL_o_kernel],
    };
    for (int q = 0; q < N_QUANTITIES; q++)
        if (roofline.term_s[q] > roofline.term_s[roofline.winner]) roofline.winner = (enum quantity)q;
    return roofline;
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

const char *exchange_kind_name(const struct exchange *exchange)
{
    static const char *const names[] = {[ALL_GATHER] = "all-gather",
                                        [REDUCE_SCATTER] = "reduce-scatter",
                                        [ALL_REDUCE] = "all-reduce",
                                        [ALL_TO_ALL] = "all-to-all"};
    return exchange->hop ? "message" : names[exchange->kind];
}

static double level_leg_s(const struct leg *leg, int level, const double *v)
{
    const double pe_s_per_byte = 1.0 / (v[SYMBOL_b_0] * v[SYMBOL_e_link_0]);
    const double d2d_s_per_byte = 1.0 / (v[SYMBOL_b_1] * v[SYMBOL_e_link_1]);
    const double own_s_per_byte = 1.0 / (v[SYMBOL_b_0 + level] * v[SYMBOL_e_link_0 + level]);
    return leg_s(leg, v[SYMBOL_a_0 + level], own_s_per_byte, pe_s_per_byte, d2d_s_per_byte);
}

static void walk_collective(struct exchange_walk *walk, const struct collective *c, const double *v)
{
    walk->top = c->top;
    walk->fixed_s = v[SYMBOL_o_coll_0 + c->top];
    for (int l = 0; l <= c->top; l++) {
        walk->one_shot = l == c->top && c->has_one_shot && level_leg_s(&c->one_shot, l, v) < level_leg_s(&c->leg[l], l, v);
        walk->leg[l] = walk->one_shot ? c->one_shot : c->leg[l];
        walk->leg_s[l] = level_leg_s(&walk->leg[l], l, v);
        walk->message_s += walk->leg_s[l];
    }
    walk->time_s = walk->message_s + walk->fixed_s;
}

static void walk_hop(struct exchange_walk *walk, const struct hop *hop, const double *v)
{
    walk->top = hop->top;
    walk->fixed_s = v[SYMBOL_o_coll_0 + hop->top];
    for (int l = 0; l <= hop->top; l++) {
        if (!hop->spans[l]) continue;
        walk->leg[l] = hop->leg[l];
        walk->leg_s[l] = level_leg_s(&hop->leg[l], l, v);
        walk->message_s = larger(walk->message_s, walk->leg_s[l]);
    }
    walk->n_hops = walk->n_extra = walk->chunk_s = 0.0;
    walk->time_s = walk->message_s + walk->fixed_s;
    if (!walk->row) return;
    const struct roofline roofline = formulas_roofline(walk->formulas, walk->row);
    const struct ring_row *const ring = &walk->formulas->answer->demand.ring[walk->row->part];
    walk->n_hops = ring->n_hops;
    walk->n_extra = ring->n_extra;
    walk->chunk_s = ring->chunk * roofline.term_s[roofline.winner];
    walk->time_s = ring->n_hops * exposed_s(walk->chunk_s, walk->message_s) + ring->n_extra * walk->message_s +
                   ring->n_hops * walk->fixed_s;
}

struct exchange_walk exchange_walk(const struct formulas *formulas, const struct stage_row *row)
{
    const int first = row ? row->first_collective : formulas->answer->demand.pipeline_collective;
    return (struct exchange_walk){.formulas = formulas, .row = row, .next_collective = first};
}

bool exchange_walk_next(struct exchange_walk *walk)
{
    const struct demand *const demand = &walk->formulas->answer->demand;
    const struct symbols *const symbols = formulas_symbols(walk->formulas, walk->row);
    const int stage = walk->row ? (int)walk->row->stage : N_STAGES;
    while ((walk->exchange = exchange_next(walk->exchange, symbols, stage))) {
        walk->group = &symbols->over[walk->exchange->over];
        walk->vector_bytes = expression_value(walk->exchange->text, symbols->value);
        if (walk->group->n == 1 || walk->vector_bytes == 0.0) continue;
        walk->message_s = 0.0;
        walk->one_shot = false;
        for (int l = 0; l < N_LEVELS; l++) walk->leg[l] = (struct leg){0}, walk->leg_s[l] = 0.0;
        if (!walk->exchange->hop) walk_collective(walk, &demand->collective[walk->next_collective++], symbols->value);
        else walk_hop(walk, walk->row ? &demand->ring[walk->row->part].hop : &demand->pipeline_hop, symbols->value);
        return true;
    }
    return false;
}
