/* Rates of two parts of the engine by themselves: lowering, and the Pareto archive on hard fronts.
 *
 *     parts lowering            plans/s of the model's decode on one machine, one thread
 *     parts archive N D SHAPE   points/s of N points in D dimensions: uniform, anticorrelated, spherical
 *
 * Prints one number, per second, the best of three. */
#define _POSIX_C_SOURCE 200809L
#include "cosweep/lower.h"
#include "cosweep/reduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- lowering ---------------------------------------------------------------------------------------------------- */

static double lowering_rate(void)
{
    static struct scenario scenario;
    static struct demand demand;
    static struct errors errors;
    struct hardware machine;
    struct lowering lowering;
    int64_t n = 0;
    double checked = 0.0;
    if (model_by_name(&scenario.model, "llama-3.1-70b", &errors, NULL, 0) != 0) exit(2);
    if (hardware_by_name(&machine, "sip", &errors, NULL, 0) != 0) exit(2);
    scenario.phase = PHASE_DECODE;
    scenario.new_tokens = 1;
    scenario.past_tokens = 131071;
    scenario.weight_bytes = scenario.kv_bytes = scenario.activation_bytes = 2.0;
    scenario.accepted_tokens = 1.0;
    const struct fabric fabric = fabric_of(&machine);
    lower_init(&lowering, &scenario);
    lower_set_fabric(&lowering, &fabric);
    const double start_s = now_s();
    for (int64_t tp = 1; tp <= 64; tp *= 2)
        for (int64_t cp = 1; cp <= 64; cp *= 2)
            for (int64_t pp = 1; pp <= 16; pp++)
                for (int64_t batch = 1; batch <= 64; batch++)
                    for (int64_t scope = 0; scope < 3; scope++) {
                        struct plan plan = plan_of_ones;
                        plan.tp = tp;
                        plan.cp = cp;
                        plan.pp = pp;
                        plan.batch = batch;
                        plan.ffn_scope = scope;
                        plan_pin(&plan, &scenario);
                        if (plan_check(&plan, &scenario) != REASON_NONE) continue;
                        lower_plan(&demand, &lowering, &plan);
                        checked += demand.weight_bytes;
                        n++;
                    }
    const double rate = (double)n / (now_s() - start_s);
    return checked > 0.0 ? rate : 0.0;
}

/* ---- archive ----------------------------------------------------------------------------------------------------- */

static double uniform(void)
{
    static uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia 2003) */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-53;
}

/* Uniform in the cube; anticorrelated: near the plane of constant sum; spherical: on the part of a sphere nearest to 0. */
static void draw_point(double point[], int dimensions, const char *shape)
{
    double sum = 0.0, squares = 0.0;
    for (int d = 0; d < dimensions; d++) {
        point[d] = uniform();
        sum += point[d];
        squares += point[d] * point[d];
    }
    for (int d = 0; d < dimensions; d++) {
        if (strcmp(shape, "anticorrelated") == 0) point[d] = point[d] / sum + 0.02 * uniform();
        if (strcmp(shape, "spherical") == 0) point[d] = 1.0 - point[d] / sqrt(squares);
    }
}

static double archive_rate(int n, int dimensions, const char *shape, int64_t *front)
{
    enum { BLOCK = 512 };
    double *column[MAX_OBJECTIVES];
    struct pareto pareto;
    for (int d = 0; d < dimensions; d++) {
        column[d] = malloc((size_t)n * sizeof(double));
        if (!column[d]) abort();
    }
    for (int i = 0; i < n; i++) {
        double point[MAX_OBJECTIVES];
        draw_point(point, dimensions, shape);
        for (int d = 0; d < dimensions; d++) column[d][i] = point[d];
    }
    pareto_init(&pareto, dimensions);
    const double start_s = now_s();
    for (int from = 0; from < n; from += BLOCK) {
        double *block[MAX_OBJECTIVES];
        for (int d = 0; d < dimensions; d++) block[d] = column[d] + from;
        pareto_add_block(&pareto, block, n - from < BLOCK ? n - from : BLOCK, from, 1);
    }
    pareto_finish(&pareto);
    const double rate = n / (now_s() - start_s);
    *front = pareto.n;
    pareto_free(&pareto);
    for (int d = 0; d < dimensions; d++) free(column[d]);
    return rate;
}

int main(int argc, char **argv)
{
    double best = 0.0;
    int64_t front = 0;
    for (int repeat = 0; repeat < 3; repeat++) {
        double rate;
        if (argc == 2 && strcmp(argv[1], "lowering") == 0) rate = lowering_rate();
        else if (argc == 5 && strcmp(argv[1], "archive") == 0)
            rate = archive_rate(atoi(argv[2]), atoi(argv[3]), argv[4], &front);
        else return fprintf(stderr, "usage: parts lowering | parts archive N D uniform|anticorrelated|spherical\n"), 2;
        if (rate > best) best = rate;
    }
    printf("%.6g %lld\n", best, (long long)front);
    return 0;
}
