/* The texts that `explain --formulas` prints say what lowering does: over candidates of every family, phase and variant each
 * formula gives the demand's number, each exchange its collective, each definition its symbol; and none is never used. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cosweep/io.h"
#include "lower/shares.h"

enum { PLANS_PER_CASE = 20, MAX_TERMS = 512, MIN_CANDIDATES = 800 };

/* ---- candidates -------------------------------------------------------------------------------------------------- */

static uint64_t state = 1;

static int64_t draw(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static int64_t draw_degree(int64_t high)
{
    static const int64_t degrees[] = {1, 2, 3, 4, 6, 8, 16, 32};
    return at_most(degrees[draw(8)], high);
}

/* Another plan and another fabric's structure for the same work. */
static void vary(struct candidate *candidate)
{
    struct plan *const plan = &candidate->plan;
    struct hardware *const hardware = &candidate->hardware;
    const int64_t kv_heads = candidate->scenario.model.kv_heads, heads = candidate->scenario.model.heads;
    plan->tp = draw(3) == 0 && 2 * kv_heads <= heads ? 2 * kv_heads : draw_degree(at_most(heads, 64));
    plan->cp = draw_degree(16);
    plan->pp = draw_degree(4);
    plan->dp = draw_degree(4);
    plan->ep = candidate->scenario.model.moe.experts > 0 ? draw_degree(8) : 1;
    plan->batch = 1 + draw(40);
    plan->tp_placement = draw(2);
    plan->cp_placement = draw(2);
    plan->ring = draw(2);
    plan->kv_mode = draw(3);
    plan->attention_scope = draw(2);
    plan->ffn_scope = draw(3);
    plan->moe_exchange = draw(2);
    if (candidate->scenario.phase == PHASE_SERVE) candidate->scenario.prompt_chunk = draw(3) * (1 + draw(2000));
    hardware->gqa_reuse = (double)draw(2);
    hardware->gemm_tile_rows = (double)(1 + draw(2) * 15);
    hardware->gemm_tile_columns = (double)(1 + draw(2) * 31);
    hardware->gemm_tile_reduction = (double)(1 + draw(2) * 63);
}

/* ---- what was used ----------------------------------------------------------------------------------------------- */

static const void *used[MAX_TERMS];
static int n_used;
static bool trait_seen[N_TRAITS];

static bool was_used(const void *term)
{
    for (int i = 0; i < n_used; i++)
        if (used[i] == term) return true;
    return false;
}

static void use(const void *term)
{
    if (was_used(term)) return;
    assert_true(n_used < MAX_TERMS);
    used[n_used++] = term;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void assert_near(double formula, double expected, const char *what, const char *text)
{
    if (fabs(formula - expected) <= 1e-12 * fabs(expected)) return;
    fail_msg("%s: %s gives %.17g, not %.17g", what, text, formula, expected);
}

static void check_row(const struct stage_row *row, const struct symbols *symbols)
{
    const double expected[N_QUANTITIES] = {row->flop, row->vector_flop, row->hbm_bytes};
    for (int q = 0; q < N_QUANTITIES; q++) {
        const char *text = "no formula";
        double sum = 0.0;
        for (const struct formula *f = NULL; (f = formula_next(f, symbols, row->stage, (enum quantity)q));) {
            sum += expression_value(f->text, symbols->value);
            text = f->text;
            use(f);
        }
        assert_near(sum, expected[q], stage_name[row->stage], text);
    }
}

static void check_leg(const struct leg *leg, const struct leg *expected, const char *text)
{
    assert_near(leg->hops, expected->hops, "hops", text);
    assert_near(leg->load_bytes, expected->load_bytes, "bytes on links", text);
    assert_near(leg->pe_port_bytes, expected->pe_port_bytes, "bytes through PE ports", text);
    assert_near(leg->cube_port_bytes, expected->cube_port_bytes, "bytes through cube ports", text);
}

static void check_hop(const struct exchange *exchange, double bytes, const struct shares *s, const struct hop *expected)
{
    const struct hop hop = lower_hop(s, exchange->over == OVER_PP ? AXIS_PP : AXIS_CP, bytes);
    assert_int_equal(hop.top, expected->top);
    for (int l = 0; l <= hop.top; l++) check_leg(&hop.leg[l], &expected->leg[l], exchange->text);
}

static void check_collective(const struct exchange *exchange, double bytes, const struct symbols *symbols,
                             const struct shares *s, const struct collective *expected)
{
    double wire[N_LEVELS] = {0.0};
    const struct collective made =
        lower_collective(exchange->kind, &symbols->over[exchange->over], bytes, s->fabric, s->layout.sips, wire);
    assert_int_equal(made.top, expected->top);
    assert_int_equal(made.has_one_shot, expected->has_one_shot);
    for (int l = 0; l <= made.top; l++) check_leg(&made.leg[l], &expected->leg[l], exchange->text);
    check_leg(&made.one_shot, &expected->one_shot, exchange->text);
}

/* The exchanges of a stage, in order, against collectives [first, first + n) of the demand and its hop. */
static void check_exchanges(int stage, const struct symbols *symbols, const struct shares *s, const struct demand *demand,
                            int first, int n, const struct hop *hop)
{
    int at = first;
    for (const struct exchange *e = NULL; (e = exchange_next(e, symbols, stage));) {
        const double bytes = expression_value(e->text, symbols->value);
        if (symbols->over[e->over].n == 1 || bytes == 0.0) continue;
        use(e);
        if (e->hop) {
            check_hop(e, bytes, s, hop);
            continue;
        }
        assert_true(at < first + n);
        check_collective(e, bytes, symbols, s, &demand->collective[at++]);
    }
    assert_int_equal(at, first + n);
}

static void check_definitions(const struct symbols *symbols)
{
    for (int i = 0; i < N_SYMBOLS; i++) {
        const char *const text = symbol_definition(symbols, (enum symbol)i);
        if (text) assert_near(expression_value(text, symbols->value), symbols->value[i], symbol_facts[i].name, text);
        else if (symbol_facts[i].of == OF_SIZES && !isnan(symbols->value[i]))
            fail_msg("%s: no definition", symbol_facts[i].name);
    }
}

/* Whether the candidate is one to be lowered. */
static bool check_candidate(struct candidate *candidate)
{
    static struct demand demand;
    static struct symbols of[MAX_KINDS];
    struct lowering lowering;
    struct shares s;
    const struct fabric fabric = fabric_of(&candidate->hardware);
    plan_pin(&candidate->plan, &candidate->scenario);
    if (plan_check(&candidate->plan, &candidate->scenario) != REASON_NONE) return false;
    lower_init(&lowering, &candidate->scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_plan(&demand, &lowering, &candidate->plan);
    lower_shares(&s, &lowering, &candidate->plan, true);
    for (int k = 0; k < demand.n_kinds; k++) {
        lower_symbols(&of[k], &lowering, &candidate->plan, k);
        check_definitions(&of[k]);
        for (int t = 0; t < N_TRAITS; t++) trait_seen[t] = trait_seen[t] || of[k].trait[t];
    }
    for (int i = 0; i < demand.n_rows; i++) {
        const struct stage_row *const row = &demand.row[i];
        const int kind = row->part < MAX_KINDS ? row->part : 0;
        check_row(row, &of[kind]);
        check_exchanges(row->stage, &of[kind], &s, &demand, row->first_collective, row->n_collectives,
                        &demand.ring[kind].hop);
    }
    const bool gathers = demand.pipeline_collective >= 0;
    if (candidate->plan.pp > 1)
        check_exchanges(N_STAGES, &of[0], &s, &demand, gathers ? demand.pipeline_collective : 0, gathers,
                        &demand.pipeline_hop);
    return true;
}

/* Every row of the tables holds where all traits do. */
static void check_coverage(void)
{
    struct symbols all = {.trait = {false}};
    for (int t = 0; t < N_TRAITS; t++) {
        all.trait[t] = true;
        if (!trait_seen[t]) fail_msg("no candidate has trait %d", t);
    }
    for (int stage = 0; stage <= N_STAGES; stage++) {
        for (const struct exchange *e = NULL; (e = exchange_next(e, &all, stage));)
            if (!was_used(e)) fail_msg("no candidate exchanges %s", e->text);
        for (int q = 0; q < N_QUANTITIES && stage < N_STAGES; q++)
            for (const struct formula *f = NULL; (f = formula_next(f, &all, (enum stage)stage, (enum quantity)q));)
                if (!was_used(f)) fail_msg("no candidate uses %s", f->text);
    }
}

static void test_formulas_are_the_demand(void **unused)
{
    (void)unused;
    static struct errors errors;
    static struct candidate candidate;
    const char *const name = SOURCE_DIR "/tests/data/golden.jsonl";
    FILE *const from = fopen(name, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    int n_candidates = 0;
    assert_non_null(from);
    for (int number = 1; (n = getline(&line, &capacity, from)) > 0; number++) {
        struct arena arena = {0};
        const struct node *const tree = tree_parse(line, (size_t)n, name, number, &arena, &errors);
        if (candidate_read(&candidate, node_find(tree, "case"), name, &arena, &errors) != 0) {
            errors_print(&errors, stderr);
            fail();
        }
        n_candidates += check_candidate(&candidate);
        for (int i = 0; i < PLANS_PER_CASE; i++) {
            vary(&candidate);
            n_candidates += check_candidate(&candidate);
        }
        arena_free(&arena);
    }
    free(line);
    fclose(from);
    assert_true(n_candidates >= MIN_CANDIDATES);
    check_coverage();
}

/* ---- the evaluator ----------------------------------------------------------------------------------------------- */

static void test_expressions(void **unused)
{
    (void)unused;
    double value[N_SYMBOLS] = {0.0};
    char text[64], cut[8];
    value[SYMBOL_N] = 2.5;
    value[SYMBOL_hq_] = 8.0;
    value[SYMBOL_tm] = 4.0;
    const struct { const char *text; double value; } cases[] = {
        {"1+2*3-4/2", 5.0},          {"(1+2)*3", 9.0},       {"8-4-2", 2.0},           {"8/4/2", 1.0},
        {"up(N,tm)", 4.0},           {"up(N,1)", 2.5},       {"up(8,4)", 8.0},         {"ceil(N)*floor(N)", 6.0},
        {"min(N,hq_)+max(N,hq_)", 10.5}, {"pow(2,10)", 1024.0}, {"sqrt(16)*ln(1)+hq_", 8.0}, {"0.5*hq_", 4.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_near(expression_value(cases[i].text, value), cases[i].value, "expression", cases[i].text);
    assert_string_equal(expression_substitute(text, sizeof text, "2*up(N,tm)*hq_", value), "2*up(2.5,4)*8");
    assert_string_equal(expression_substitute(cut, sizeof cut, "2*up(N,tm)*hq_", value), "2*up(2.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas_are_the_demand),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
