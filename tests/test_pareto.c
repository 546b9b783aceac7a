/* pareto: the archive is the Pareto set, whatever the order, the blocks, the ties and the merges; equals are counted, and
 * the lowest id of each stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cosweep/reduce.h"

static uint64_t random_state;

/* splitmix64 [Steele, Lea and Flood 2014] */
static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int random_below(int n)
{
    return (int)(random_bits() % (uint64_t)n);
}

static double random_share(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

static int compare_points(const void *a, const void *b)
{
    const struct point *const x = a, *const y = b;
    for (int d = 0; d < MAX_OBJECTIVES; d++)
        if (x->objective[d] != y->objective[d]) return x->objective[d] < y->objective[d] ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_candidate(const struct point *p, int n_objectives)
{
    for (int d = 0; d < n_objectives; d++)
        if (!isfinite(p->objective[d])) return false;
    return true;
}

/* ---- brute force ------------------------------------------------------------------------------------------------- */

/* For each point: whether any other is no worse everywhere and better somewhere; how many are equal; the lowest id. */
static int64_t filter_naively(struct point *out, const struct point *point, int64_t n, int n_objectives)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        struct point best = point[i];
        bool dominated = !is_candidate(&point[i], n_objectives), first = true;
        best.n_equal = 0;
        for (int64_t j = 0; j < n && !dominated; j++) {
            bool no_worse = is_candidate(&point[j], n_objectives), better = false;
            for (int d = 0; d < n_objectives; d++) {
                no_worse &= point[j].objective[d] <= point[i].objective[d];
                better |= point[j].objective[d] < point[i].objective[d];
            }
            dominated = no_worse && better;
            if (!no_worse || better) continue;
            first &= j >= i;
            best.n_equal += point[j].n_equal;
            if (point[j].id < best.id) best.id = point[j].id;
        }
        for (int d = 0; d < MAX_OBJECTIVES; d++) best.objective[d] = d < n_objectives ? best.objective[d] + 0.0 : 0.0;
        if (!dominated && first) out[kept++] = best;
    }
    qsort(out, (size_t)kept, sizeof *out, compare_points);
    return kept;
}

static void assert_archive_is(struct pareto *pareto, const struct point *expected, int64_t n)
{
    pareto_finish(pareto);
    assert_int_equal(pareto->n, n);
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < MAX_OBJECTIVES; d++) {
            assert_true(pareto->point[i].objective[d] == expected[i].objective[d]);
            assert_false(signbit(pareto->point[i].objective[d]) && pareto->point[i].objective[d] == 0.0);
        }
        assert_int_equal(pareto->point[i].id, expected[i].id);
        assert_int_equal(pareto->point[i].n_equal, expected[i].n_equal);
    }
}

/* ---- streams with ties ------------------------------------------------------------------------------------------- */

enum { MOST_POINTS = 200 };

static double random_objective(int n_values)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, -NAN};
    if (random_below(40) == 0) return odd[random_below(6)];
    return (double)(random_below(n_values) - n_values / 3) * 0.1;
}

/* Point i of a stream has id first + i * step. */
static int64_t random_stream(struct point *point, int n_objectives, candidate_id first, int64_t step)
{
    const int64_t n = random_below(MOST_POINTS);
    const int n_values = 2 + random_below(30);
    const bool tilted = random_below(2) == 0; /* near a plane, where much is kept */
    for (int64_t i = 0; i < n; i++) {
        double rest = (double)n_values * 0.1;
        point[i] = (struct point){.id = first + i * step, .n_equal = 1};
        for (int d = 0; d < n_objectives; d++) {
            point[i].objective[d] = random_objective(n_values);
            if (tilted && d == n_objectives - 1 && isfinite(rest)) point[i].objective[d] = rest;
            rest -= point[i].objective[d];
        }
    }
    return n;
}

static void add_in_blocks(struct pareto *pareto, const struct point *point, int64_t n, candidate_id first, int64_t step)
{
    static double column[MAX_OBJECTIVES][MOST_POINTS];
    double *const columns[MAX_OBJECTIVES] = {column[0], column[1], column[2], column[3]};
    for (int64_t from = 0; from < n;) {
        int64_t size = 1 + random_below(MOST_POINTS);
        size = size < n - from ? size : n - from;
        for (int64_t i = 0; i < size; i++)
            for (int d = 0; d < MAX_OBJECTIVES; d++) column[d][i] = point[from + i].objective[d];
        pareto_add_block(pareto, columns, (int)size, first + from * step, step);
        from += size;
    }
}

static void add_shuffled(struct pareto *pareto, const struct point *point, int64_t n)
{
    int64_t order[MOST_POINTS];
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = random_below((int)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int64_t i = 0; i < n; i++) pareto_add(pareto, &point[order[i]]);
}

/* Several streams into one archive: singly, by blocks, or through archives of their own that are merged, finished or not. */
static void check_small(int n_objectives)
{
    enum { STREAMS = 3 };
    static struct point all[STREAMS * MOST_POINTS], expected[STREAMS * MOST_POINTS];
    struct pareto pareto;
    int64_t n_all = 0;
    pareto_init(&pareto, n_objectives);
    for (int s = STREAMS - 1; s >= 0; s--) { /* later streams have lower ids */
        const candidate_id first = 100000 * s;
        const int64_t step = 1 + random_below(3);
        struct point *const point = all + n_all;
        const int64_t n = random_stream(point, n_objectives, first, step);
        struct pareto own;
        pareto_init(&own, n_objectives);
        struct pareto *const to = random_below(2) ? &own : &pareto;
        if (random_below(2)) add_in_blocks(to, point, n, first, step);
        else add_shuffled(to, point, n);
        if (random_below(2)) pareto_finish(to);
        pareto_merge(&pareto, &own);
        if (random_below(3) == 0) pareto_finish(&pareto);
        pareto_free(&own);
        n_all += n;
    }
    const int64_t n = filter_naively(expected, all, n_all, n_objectives);
    assert_archive_is(&pareto, expected, n);
    pareto_finish(&pareto); /* twice is once */
    assert_archive_is(&pareto, expected, n);
    pareto_free(&pareto);
}

static void small_sets_are_brute_force(void **state)
{
    (void)state;
    random_state = 1;
    for (int n_objectives = 2; n_objectives <= MAX_OBJECTIVES; n_objectives++)
        for (int i = 0; i < 1500; i++) check_small(n_objectives);
}

static void empty_sets_are_empty(void **state)
{
    struct pareto pareto, other;
    const struct point none = {.objective = {NAN, 1.0}, .n_equal = 1};
    (void)state;
    pareto_init(&pareto, 2);
    pareto_init(&other, 2);
    pareto_finish(&pareto);
    pareto_merge(&pareto, &other);
    pareto_add(&pareto, &none);
    pareto_finish(&pareto);
    assert_int_equal(pareto.n, 0);
    pareto_free(&pareto);
    pareto_free(&other);
}

/* ---- many points ------------------------------------------------------------------------------------------------- */

#ifndef MANY_POINTS
#define MANY_POINTS 1000000 /* 10,000,000 were tried, too: -DMANY_POINTS=10000000 */
#endif
enum { MANY = MANY_POINTS, BLOCK = 1000 };

/* After a sort a point is dominated, if at all, by one that was kept before it. */
static int64_t filter_sorted(struct point *point, int64_t n, int n_objectives)
{
    int64_t kept = 0;
    qsort(point, (size_t)n, sizeof *point, compare_points);
    for (int64_t i = 0; i < n; i++) {
        bool dominated = false;
        if (kept > 0 && memcmp(point[kept - 1].objective, point[i].objective, sizeof point->objective) == 0) {
            point[kept - 1].n_equal++;
            continue;
        }
        /* Two objectives: the last one kept has the lowest second. */
        for (int64_t j = kept - 1, last = n_objectives == 2 ? kept - 1 : 0; j >= last && j >= 0 && !dominated; j--) {
            dominated = true;
            for (int d = 0; d < n_objectives; d++) dominated &= point[j].objective[d] <= point[i].objective[d];
        }
        if (!dominated) point[kept++] = point[i];
    }
    return kept;
}

static double *filled_column(void)
{
    double *const column = malloc(MANY * sizeof *column);
    assert_non_null(column);
    return column;
}

/* `spread` 0: every point near the plane where the objectives sum to 1; infinity: uniform.  `grain` > 0 rounds: ties. */
static void check_many(int n_objectives, double spread, double grain)
{
    double *column[MAX_OBJECTIVES] = {NULL};
    struct point *const point = calloc(MANY, sizeof *point);
    struct pareto pareto, halves[2];
    assert_non_null(point);
    for (int d = 0; d < n_objectives; d++) column[d] = filled_column();
    for (int64_t i = 0; i < MANY; i++) {
        double sum = 0.0;
        point[i] = (struct point){.id = 7 + 3 * i, .n_equal = 1};
        for (int d = 0; d < n_objectives; d++) {
            double x = random_share();
            if (d == n_objectives - 1 && isfinite(spread)) x = (double)n_objectives - sum + spread * x;
            if (grain > 0.0) x = floor(x / grain) * grain;
            sum += x;
            column[d][i] = point[i].objective[d] = x + 0.0;
        }
    }
    pareto_init(&pareto, n_objectives);
    for (int h = 0; h < 2; h++) {
        pareto_init(&halves[h], n_objectives);
        for (int64_t from = h * BLOCK; from < MANY; from += 2 * BLOCK) {
            double *block[MAX_OBJECTIVES];
            for (int d = 0; d < n_objectives; d++) block[d] = column[d] + from;
            pareto_add_block(&halves[h], block, BLOCK, 7 + 3 * from, 3);
        }
        pareto_merge(&pareto, &halves[h]);
        pareto_free(&halves[h]);
    }
    const int64_t n = filter_sorted(point, MANY, n_objectives);
    assert_true(n > 1);
    assert_archive_is(&pareto, point, n);
    pareto_free(&pareto);
    for (int d = 0; d < n_objectives; d++) free(column[d]);
    free(point);
}

static void many_uniform_points(void **state)
{
    (void)state;
    random_state = 2;
    for (int n_objectives = 2; n_objectives <= MAX_OBJECTIVES; n_objectives++) check_many(n_objectives, INFINITY, 0.0);
}

static void many_points_with_ties(void **state)
{
    (void)state;
    random_state = 3;
    for (int n_objectives = 2; n_objectives <= MAX_OBJECTIVES; n_objectives++) check_many(n_objectives, 3.0, 1.0 / 32);
}

static void many_anticorrelated_points(void **state)
{
    (void)state;
    random_state = 4;
    check_many(2, 1e-4, 0.0);
    check_many(3, 2.0, 0.0);
    check_many(4, 20.0, 0.0);
}

/* Leaves zeros where the next call keeps its variables: what reads one before setting it sees "no". */
static void zero_the_stack(void)
{
    volatile char zero[32 * 1024];
    for (size_t i = 0; i < sizeof zero; i++) zero[i] = 0;
}

/* The archive's first sort may come amid a block: what follows of the block must not be lost (found in a sweep). */
static void first_sort_amid_a_block(void **state)
{
    enum { N = 512 };
    static double column[2][N];
    static struct point expected[N];
    double *const columns[MAX_OBJECTIVES] = {column[0], column[1]};
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct pareto pareto;
        pareto_init(&pareto, 2);
        for (int i = 0; i < N; i++) {
            column[0][i] = i / 2 + 1; /* pairs of equals, none dominated */
            column[1][i] = N - i / 2;
            expected[i / 2] = (struct point){{column[0][i], column[1][i]}, 10 + i / 2 * 2, 2};
        }
        zero_the_stack();
        pareto_add_block(&pareto, columns, N, 10, 1);
        assert_archive_is(&pareto, expected, N / 2);
        pareto_free(&pareto);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_sets_are_empty),  cmocka_unit_test(small_sets_are_brute_force),
        cmocka_unit_test(first_sort_amid_a_block), cmocka_unit_test(many_uniform_points),
        cmocka_unit_test(many_points_with_ties), cmocka_unit_test(many_anticorrelated_points),
    };
    return cmocka_run_group_tests_name("pareto", tests, NULL, NULL);
}
