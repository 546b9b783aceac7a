/* sweep: the result of a study is what brute force over all of its ids finds: every id decoded, pinned, made unique, asked
 * by itself, and filtered naively.  Counts are equal, numbers equal to the bit; a pruned search stores the same rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/sweep.h"

/* ---- studies ----------------------------------------------------------------------------------------------------- */

#define SMALL_DENSE                                                                                                        \
    "{name: small, layers: 6, hidden: 512, heads: 8, kv_heads: 2, head_dim: 64, ffn: 1536, vocab: 1000, gated: true}"
#define SMALL_WINDOWED                                                                                                     \
    "{name: windowed, layers: 7, hidden: 512, heads: 8, kv_heads: 8, head_dim: 64, ffn: 1024, vocab: 1000, tied: true,\n"  \
    "    parallel_block: true, window: {tokens: 64, global_every: 3}}"
#define SMALL_MOE                                                                                                          \
    "{name: moe, layers: 5, hidden: 512, heads: 8, kv_heads: 1, head_dim: 64, ffn: 2048, vocab: 1000, gated: true,\n"      \
    "    moe: {experts: 8, per_token: 2, ffn: 256, shared_ffn: 256, dense_layers: 1}}"

/* Three objectives, limits of four kinds with one on the plan behind one on a rate, structure that is swept. */
static const char limited[] =
    "scenarios:\n"
    "  - {name: decode, phase: decode, context: 2048, model: " SMALL_DENSE "}\n"
    "plan: {tp: [1, 2, 4, 16], cp: [1, 2], dp: [1, 3], batch: [1, 4], kv_mode: [replicate, split_dim, split_seq],\n"
    "       tp_placement: [pe, cube], attention_scope: [tp, tp_cp]}\n"
    "hardware:\n"
    "  pes_per_cube: [4, 6]\n"
    "  allocation: [cube, pe, sip]\n"
    "  gqa_reuse: [true, false]\n"
    "  pe: {hbm_bandwidth: [32 GB/s, 256 GB/s], hbm_capacity: [10 MB, 20 MB, 100 MB]}\n"
    "  links: {d2d: {topology: [ring, mesh2d]}, c2c: {bandwidth: [100 GB/s, 200 GB/s], topology: [full, torus2d]}}\n"
    "limits: {latency: 1 ms, pes: 24, hbm_utilization: 75%, throughput_per_pe: 500, power: 60 W}\n"
    "objectives: [latency, cost, energy_per_token]\n";

/* Four objectives, a ring, windows, strict divisibility, several pipeline stages. */
static const char ring[] =
    "scenarios:\n"
    "  - {name: prefill, phase: prefill, new_tokens: 777, past_tokens: 100, divisibility: strict,\n"
    "     model: " SMALL_WINDOWED "}\n"
    "  - {name: dense, phase: prefill, new_tokens: 3, model: " SMALL_DENSE "}\n"
    "plan: {tp: [2, 1, 3, 8], cp: [1, 2, 4], pp: [1, 3, 7, 8], batch: [1, 5], ring: [q, kv], ffn_scope: [tp_cp, tp],\n"
    "       cp_placement: [pe, cube]}\n"
    "hardware:\n"
    "  pe: {flops: [1 TFLOP/s, 8 TFLOP/s, 64 TFLOP/s]}\n"
    "  links: {pe: {bandwidth: [1 GB/s, 100 GB/s]}, d2d: {latency: [20 ns, 20 us]}}\n"
    "  cost: {tflops: [0.1, 1]}\n"
    "limits: {sips: 2}\n"
    "objectives: [latency, pes, throughput, power]\n";

/* Metrics that are better high, experts, serving, values out of order. */
static const char serving[] =
    "scenarios:\n"
    "  - {name: serve, phase: serve, prompt_tokens: 500, answer_tokens: 37, moe_imbalance: random, model: " SMALL_MOE "}\n"
    "plan: {tp: [4, 1, 2], cp: [1, 2], pp: [1, 2], dp: [2, 1], ep: [1, 2, 3, 4, 16], batch: [16, 1],\n"
    "       ffn_scope: [tp, tp_cp, tp_cp_dp], moe_exchange: [alltoall, allgather], attention_scope: [tp_cp, tp]}\n"
    "hardware:\n"
    "  pe: {hbm_bandwidth: [256 GB/s, 64 GB/s], hbm_capacity: [20 MB, 2 GB]}\n"
    "  energy: {idle: [2 W, 0 W]}\n"
    "limits: {pes: 16, interactivity: 900, efficiency: 10%}\n"
    "objectives: [throughput_per_pe, interactivity, pes, energy_per_token]\n";

/* Nothing but ties. */
static const char ties[] =
    "scenarios:\n"
    "  - {name: decode, phase: decode, context: 100, model: " SMALL_DENSE "}\n"
    "plan: {tp: [8, 4, 2], cp: [2, 4, 1], batch: [4, 1], tp_placement: [cube, pe], kv_mode: [split_seq, replicate]}\n"
    "hardware: {pe: {flops: [4 TFLOP/s, 8 TFLOP/s], hbm_capacity: [4 GB, 2 GB]}, cost: {gb: [1, 2]}}\n"
    "objectives: [pes, sips]\n";

/* More rows of links than one tile takes, and more rows of rates. */
#define AXIS13(unit) "{from: 10 " unit ", to: 130 " unit ", step: 10 " unit "}"
static const char many_links[] =
    "scenarios:\n"
    "  - {name: decode, phase: decode, context: 100, model: " SMALL_DENSE "}\n"
    "plan: {tp: [4], cp: [32]}\n"
    "hardware:\n"
    "  pe: {flops: [1 TFLOP/s, 8 TFLOP/s, 4 TFLOP/s]}\n"
    "  links:\n"
    "    pe: {bandwidth: " AXIS13("GB/s") "}\n"
    "    d2d: {bandwidth: " AXIS13("GB/s") "}\n"
    "    c2c: {bandwidth: " AXIS13("GB/s") "}\n"
    "  cost: {d2d_link: 3}\n"
    "objectives: [latency, cost]\n";
static const char many_rates[] =
    "scenarios:\n"
    "  - {name: prefill, phase: prefill, new_tokens: 1000, model: " SMALL_DENSE "}\n"
    "plan: {tp: [4], cp: [4]}\n"
    "hardware:\n"
    "  pe: {flops: " AXIS13("TFLOP/s") ", vector_flops: " AXIS13("GFLOP/s") ", hbm_bandwidth: " AXIS13("GB/s")
    ", hbm_capacity: [1 MB, 1 GB]}\n"
    "  links: {pe: {bandwidth: [1 GB/s, 10 GB/s]}}\n"
    "limits: {latency: 2.5 ms}\n"
    "objectives: [latency, power]\n";

static struct arena arena;
static struct errors errors;

static int stop(void **state)
{
    (void)state;
    arena_free(&arena);
    memset(&errors, 0, sizeof errors);
    return 0;
}

/* ---- brute force ------------------------------------------------------------------------------------------------- */

struct entry {
    struct plan plan; /* pinned */
    struct hardware hardware;
    candidate_id id;
};

struct brute {
    int64_t n_distinct, n_feasible, n_refused[MAX_REASONS];
    bool *distinct; /* [n_raw] */
    int64_t n;      /* of point */
    struct point *point;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    int order = memcmp(&x->plan, &y->plan, sizeof x->plan);
    if (order == 0) order = memcmp(&x->hardware, &y->hardware, sizeof x->hardware);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

static int compare_points(const void *a, const void *b)
{
    const struct point *const x = a, *const y = b;
    for (int d = 0; d < MAX_OBJECTIVES; d++)
        if (x->objective[d] != y->objective[d]) return x->objective[d] < y->objective[d] ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void find_distinct(struct brute *brute, const struct study *study, const struct scenario *scenario)
{
    const int64_t n = study->space.n_raw;
    struct entry *const entry = calloc((size_t)n, sizeof *entry);
    assert_non_null(entry);
    for (int64_t id = 0; id < n; id++) {
        space_decode(&study->space, id, &entry[id].plan, &entry[id].hardware);
        plan_pin(&entry[id].plan, scenario);
        entry[id].id = id;
    }
    qsort(entry, (size_t)n, sizeof *entry, compare_entries);
    for (int64_t i = 0; i < n; i++) {
        const bool again = i > 0 && memcmp(&entry[i - 1].plan, &entry[i].plan, sizeof entry->plan) == 0 &&
                           memcmp(&entry[i - 1].hardware, &entry[i].hardware, sizeof entry->hardware) == 0;
        brute->distinct[entry[i].id] = !again;
        brute->n_distinct += !again;
    }
    free(entry);
}

/* Points sorted, equals made one with the lowest id, dominated ones left out: looked up in all that came before. */
static void filter(struct brute *brute, int n_objectives)
{
    struct point *const point = brute->point;
    int64_t n = 0, kept = 0;
    qsort(point, (size_t)brute->n, sizeof *point, compare_points);
    for (int64_t i = 0; i < brute->n; i++) {
        const bool equal = n > 0 && memcmp(point[n - 1].objective, point[i].objective, sizeof point->objective) == 0;
        if (equal) point[n - 1].n_equal++;
        else point[n++] = point[i];
    }
    for (int64_t i = 0; i < n; i++) {
        bool dominated = false;
        for (int64_t j = 0; j < kept && !dominated; j++) { /* dominance is transitive: what was left out is not missed */
            dominated = true;
            for (int d = 0; d < n_objectives; d++) dominated &= point[j].objective[d] <= point[i].objective[d];
        }
        if (!dominated) point[kept++] = point[i];
    }
    brute->n = kept;
}

/* The first limit of the study that a candidate breaks, or NONE. */
static enum reason limit_broken(const struct study *study, const double metric[N_METRICS])
{
    for (int l = 0; l < study->n_limits; l++) {
        const double value = metric[study->limit[l].metric], limit = study->limit[l].value;
        const bool more_is_better = metric_facts[study->limit[l].metric].better == BETTER_HIGH;
        if (more_is_better ? value < limit : value > limit) return (enum reason)(REASON_LIMIT + l);
    }
    return REASON_NONE;
}

static void brute_run(struct brute *brute, const struct study *study, const struct scenario *scenario)
{
    static struct answer answer;
    static struct candidate candidate;
    const int64_t n_raw = study->space.n_raw;
    *brute = (struct brute){0};
    brute->distinct = calloc((size_t)n_raw, sizeof *brute->distinct);
    brute->point = calloc((size_t)n_raw, sizeof *brute->point);
    assert_true(brute->distinct && brute->point);
    find_distinct(brute, study, scenario);
    candidate.scenario = *scenario;
    for (int64_t id = 0; id < n_raw; id++) {
        if (!brute->distinct[id]) continue;
        space_decode(&study->space, id, &candidate.plan, &candidate.hardware);
        answer_candidate(&answer, &candidate, NULL, 0);
        const enum reason reason =
            answer.reason != REASON_NONE ? answer.reason : limit_broken(study, answer.explanation.metric);
        if (study->n_limits > 0) answer_candidate(&answer, &candidate, study->limit, study->n_limits);
        assert_int_equal(answer.reason, reason);
        if (reason != REASON_NONE) {
            brute->n_refused[reason]++;
            continue;
        }
        struct point *const point = &brute->point[brute->n++];
        *point = (struct point){.id = id, .n_equal = 1};
        for (int d = 0; d < study->n_objectives; d++) {
            const double value = answer.explanation.metric[study->objective[d]];
            point->objective[d] = metric_facts[study->objective[d]].better == BETTER_HIGH ? -value : value;
        }
    }
    brute->n_feasible = brute->n;
    filter(brute, study->n_objectives);
}

static void brute_free(struct brute *brute)
{
    free(brute->distinct);
    free(brute->point);
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static void assert_row_is_the_answer(const struct result_row *row, const struct study *study,
                                     const struct scenario *scenario)
{
    static struct answer answer;
    static struct candidate candidate;
    double stages_s = 0.0;
    candidate.scenario = *scenario;
    space_decode(&study->space, row->id, &candidate.plan, &candidate.hardware);
    answer_candidate(&answer, &candidate, study->limit, study->n_limits);
    assert_int_equal(answer.reason, REASON_NONE);
    assert_memory_equal(&row->plan, &answer.candidate.plan, sizeof row->plan);
    assert_memory_equal(&row->hardware, &candidate.hardware, sizeof row->hardware);
    assert_memory_equal(row->metric, answer.explanation.metric, sizeof row->metric);
    assert_true(row->weight_bytes == answer.demand.weight_bytes && row->kv_bytes == answer.demand.kv_bytes);
    assert_true(row->activation_bytes == answer.demand.activation_bytes);
    for (int s = 0; s < N_STAGES; s++) stages_s += row->stage_s[s];
    assert_true(fabs(stages_s / (answer.explanation.layers_s + answer.explanation.edges_s) - 1.0) < 1e-12);
}

/* What one thread finds unit by unit, before anything is stored. */
static void assert_sweep_is_brute(const struct brute *brute, const struct study *study, int scenario)
{
    static struct worker worker;
    struct sweep sweep;
    struct outcome outcome;
    sweep_init(&sweep, study, scenario);
    worker_init(&worker, &sweep);
    outcome_init(&outcome, &(struct outcome_options){.n_objectives = study->n_objectives});
    for (int64_t unit = sweep.units.n - 1; unit >= 0; unit--) worker_run(&worker, &outcome, unit);
    pareto_finish(&outcome.pareto);
    assert_int_equal(outcome.n_distinct, brute->n_distinct);
    assert_int_equal(outcome.n_feasible, brute->n_feasible);
    assert_true(outcome.n_evaluated >= outcome.n_feasible && outcome.n_evaluated <= outcome.n_distinct);
    for (int r = 0; r < MAX_REASONS; r++) assert_int_equal(outcome.n_refused[r], brute->n_refused[r]);
    assert_int_equal(outcome.pareto.n, brute->n);
    for (int64_t i = 0; i < brute->n; i++)
        assert_memory_equal(&outcome.pareto.point[i], &brute->point[i], sizeof *brute->point);
    outcome_free(&outcome);
    worker_free(&worker);
    sweep_free(&sweep);
}

static void assert_counts_are_brute(const struct brute *brute, const struct result_scenario *result)
{
    assert_int_equal(result->n_distinct, brute->n_distinct);
    assert_int_equal(result->n_feasible, brute->n_feasible);
    for (int r = 0; r < MAX_REASONS; r++) assert_int_equal(result->n_refused[r], brute->n_refused[r]);
}

/* What is stored. */
static void assert_rows_are_brute(const struct brute *brute, const struct result_scenario *result, const struct study *study,
                                  const struct scenario *scenario)
{
    assert_int_equal(result->n_raw, study->space.n_raw);
    assert_int_equal(result->n_rows, brute->n);
    for (int64_t i = 0; i < brute->n; i++) {
        assert_int_equal(result->row[i].id, brute->point[i].id);
        assert_int_equal(result->row[i].n_equal, brute->point[i].n_equal);
        assert_row_is_the_answer(&result->row[i], study, scenario);
        assert_true(result->row[result->best].metric[METRIC_LATENCY] <= result->row[i].metric[METRIC_LATENCY]);
    }
}

static void assert_distinct_is_brute(const struct brute *brute, const struct study *study, const struct scenario *scenario)
{
    const struct space *const space = &study->space;
    for (int64_t lowered = 0; lowered < space->n_lowered; lowered++) {
        struct plan plan;
        struct hardware hardware;
        const bool distinct = space_distinct(space, scenario, lowered, &plan, &hardware);
        for (int64_t machine = 0; machine < space->n_machines; machine++)
            assert_int_equal(distinct, brute->distinct[lowered * space->n_machines + machine]);
    }
}

static void run(struct result *result, const struct study *study, enum search search)
{
    const struct run_options options = {.progress = PROGRESS_NONE};
    struct study chosen = *study;
    chosen.search = search;
    assert_int_equal(run_study(result, &chosen, &options, (struct ranks){0, 1}, &arena, &errors), 0);
    assert_int_equal(result->n_scenarios, study->n_scenarios);
}

/* `n_reasons` different reasons must refuse something, or the study tests less than it means to. */
static void check_study(const struct study *study, int n_reasons, int64_t fewest_rows)
{
    struct result exhaustive, pruned;
    int n_seen = 0;
    int64_t n_rows = 0;
    bool seen[MAX_REASONS] = {false};
    run(&exhaustive, study, SEARCH_EXHAUSTIVE);
    run(&pruned, study, SEARCH_PRUNED);
    for (int i = 0; i < study->n_scenarios; i++) {
        struct brute brute;
        brute_run(&brute, study, &study->scenario[i]);
        assert_distinct_is_brute(&brute, study, &study->scenario[i]);
        assert_sweep_is_brute(&brute, study, i);
        assert_counts_are_brute(&brute, &exhaustive.scenario[i]);
        assert_rows_are_brute(&brute, &exhaustive.scenario[i], study, &study->scenario[i]);
        assert_rows_are_brute(&brute, &pruned.scenario[i], study, &study->scenario[i]);
        for (int r = 0; r < MAX_REASONS; r++) seen[r] |= brute.n_refused[r] > 0;
        n_rows += brute.n;
        brute_free(&brute);
    }
    for (int r = 0; r < MAX_REASONS; r++) n_seen += seen[r];
    assert_int_equal(n_seen, n_reasons);
    assert_true(n_rows >= fewest_rows);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

struct study_case {
    const char *text; /* NULL: configs/smoke.yaml */
    int n_reasons;
    int64_t fewest_rows;
};
static struct study_case smoke_case = {NULL, 1, 20}, limited_case = {limited, 7, 5}, ring_case = {ring, 4, 20};
static struct study_case serving_case = {serving, 6, 10}, ties_case = {ties, 0, 1};
static struct study_case links_case = {many_links, 0, 20}, rates_case = {many_rates, 2, 20};

static void is_brute_force(void **state)
{
    const struct study_case *const c = *state;
    struct study study;
    const int status = c->text ? study_parse(&study, c->text, "study.yaml", &arena, &errors)
                               : study_read(&study, SOURCE_DIR "/configs/smoke.yaml", NULL, 0, &arena, &errors);
    errors_print(&errors, stderr);
    assert_int_equal(status, 0);
    check_study(&study, c->n_reasons, c->fewest_rows);
}

#define TEST(of) {#of, is_brute_force, NULL, stop, &of##_case}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(smoke), TEST(limited), TEST(ring), TEST(serving),
                                       TEST(ties),  TEST(links),   TEST(rates)};
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
