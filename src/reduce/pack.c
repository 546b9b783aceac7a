/* An outcome as bytes.  Histograms are mostly zeros: only what is occupied travels. */
#include "cosweep/reduce.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bytes_add(struct bytes *bytes, const void *data, size_t n)
{
    if (bytes->n + n > bytes->capacity) {
        bytes->capacity = (bytes->n + n) * 2;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data) out_of_memory();
    }
    if (n > 0) memcpy(bytes->data + bytes->n, data, n);
    bytes->n += n;
}

/* What precedes the arrays. */
struct head {
    int64_t n_distinct, n_feasible, n_evaluated, n_refused[MAX_REASONS];
    int64_t n_points, n_tallies, n_cells[MAX_HISTOGRAMS], n_draws;
    int32_t n_objectives, n_histograms;
};
struct cell {
    int64_t at, count;
};
enum { N_CELLS = HISTOGRAM_BINS * HISTOGRAM_BINS };

static int64_t cell_count(const struct histogram *histogram, int64_t at)
{
    return histogram->count[at] + histogram->more[at];
}

void outcome_pack(const struct outcome *outcome, struct bytes *bytes)
{
    struct head head = {
        .n_distinct = outcome->n_distinct,
        .n_feasible = outcome->n_feasible,
        .n_evaluated = outcome->n_evaluated,
        .n_points = outcome->pareto.n,
        .n_tallies = outcome->effects.n_all,
        .n_draws = outcome->sample.n,
        .n_objectives = outcome->pareto.n_objectives,
        .n_histograms = outcome->n_histograms,
    };
    memcpy(head.n_refused, outcome->n_refused, sizeof head.n_refused);
    for (int h = 0; h < outcome->n_histograms; h++)
        for (int64_t c = 0; c < N_CELLS; c++) head.n_cells[h] += cell_count(&outcome->histogram[h], c) != 0;
    bytes_add(bytes, &head, sizeof head);
    bytes_add(bytes, outcome->pareto.point, (size_t)head.n_points * sizeof *outcome->pareto.point);
    bytes_add(bytes, outcome->effects.all, (size_t)head.n_tallies * sizeof *outcome->effects.all);
    for (int h = 0; h < outcome->n_histograms; h++)
        for (int64_t c = 0; c < N_CELLS; c++) {
            const struct cell cell = {c, cell_count(&outcome->histogram[h], c)};
            if (cell.count != 0) bytes_add(bytes, &cell, sizeof cell);
        }
    bytes_add(bytes, outcome->sample.draw, (size_t)head.n_draws * sizeof *outcome->sample.draw);
}

/* The next n objects of `size` bytes, NULL if there are not so many; alignment is the reader's business. */
static const char *take(const char *data, size_t n_data, size_t *at, int64_t n, size_t size)
{
    const char *const here = data + *at;
    if (n < 0 || (uint64_t)n > (n_data - *at) / size) return NULL;
    *at += (size_t)n * size;
    return here;
}

/* Bytes from a file may say anything: counts that are none, or so large that sums overflow, are damage. */
static const int64_t most_count = INT64_C(1) << 56;

static bool is_count(int64_t n)
{
    return n >= 0 && n <= most_count;
}

static int add_count(int64_t *into, int64_t more)
{
    return more < 0 || __builtin_add_overflow(*into, more, into) ? -1 : 0;
}

static int unpack_counts(struct outcome *into, const struct head *head)
{
    int status = add_count(&into->n_distinct, head->n_distinct);
    status |= add_count(&into->n_feasible, head->n_feasible);
    status |= add_count(&into->n_evaluated, head->n_evaluated);
    for (int r = 0; r < MAX_REASONS; r++) status |= add_count(&into->n_refused[r], head->n_refused[r]);
    return status;
}

static int unpack_points(struct pareto *into, const char *points, int64_t n)
{
    int64_t n_equal = 0;
    for (int64_t i = 0; i < n; i++) {
        struct point point;
        memcpy(&point, points + (size_t)i * sizeof point, sizeof point);
        for (int d = 0; d < into->n_objectives; d++)
            if (!isfinite(point.objective[d])) return -1;
        if (add_count(&n_equal, point.n_equal) != 0 || !is_count(n_equal)) return -1;
        pareto_add(into, &point);
    }
    return 0;
}

/* Sums of logarithms, of which none is above 1024, cannot be larger than their count allows. */
static bool is_tally(const struct tally *tally)
{
    if (!is_count(tally->count) || !(tally->min_s >= 0.0)) return false; /* INFINITY where there is none */
    const wide most = (wide)tally->count << 50;
    return tally->sum_ln >= -most && tally->sum_ln <= most && tally->sum_squared_ln >= 0 &&
           tally->sum_squared_ln <= most << 10;
}

static int unpack_tallies(struct effects *into, const char *tallies)
{
    for (int a = 0; a < N_KNOBS && into->all; a++) {
        int64_t n = 0;
        for (int v = 0; v < into->space->axis[a].n; v++) {
            struct tally *const own = &into->tally[a][v], tally;
            memcpy(&tally, tallies + (size_t)(own - into->all) * sizeof tally, sizeof tally);
            if (!is_tally(&tally)) return -1;
            tally_merge(own, &tally);
            if (add_count(&n, own->count) != 0 || !is_count(n)) return -1;
        }
    }
    return 0;
}

static int unpack_cells(struct histogram *into, const char *cells, int64_t n)
{
    int64_t n_counted = 0;
    for (int64_t c = 0; c < n; c++) {
        struct cell cell;
        memcpy(&cell, cells + (size_t)c * sizeof cell, sizeof cell);
        if (cell.at < 0 || cell.at >= N_CELLS) return -1;
        if (add_count(&n_counted, cell.count) != 0 || !is_count(n_counted)) return -1;
        into->count[cell.at] += cell.count;
        into->occupied[cell.at / HISTOGRAM_BINS] = 1;
    }
    return 0;
}

static int unpack_draws(struct sample *into, const char *draws, int64_t n)
{
    for (int64_t i = 0; i < n && into->capacity > 0; i++) {
        struct draw draw;
        memcpy(&draw, draws + (size_t)i * sizeof draw, sizeof draw);
        if (!(draw.order >= 0.0 && draw.order <= 1.0)) return -1;
        sample_keep(into, draw.order, draw.id);
    }
    return 0;
}

int outcome_unpack(struct outcome *into, const char *data, size_t n, size_t *at)
{
    struct head head;
    const char *const first = take(data, n, at, 1, sizeof head);
    if (!first) return -1;
    memcpy(&head, first, sizeof head);
    if (head.n_objectives != into->pareto.n_objectives || head.n_histograms != into->n_histograms ||
        head.n_tallies != into->effects.n_all)
        return -1;
    const char *const points = take(data, n, at, head.n_points, sizeof(struct point));
    const char *const tallies = take(data, n, at, head.n_tallies, sizeof(struct tally));
    if (!points || !tallies || unpack_points(&into->pareto, points, head.n_points) != 0 ||
        unpack_tallies(&into->effects, tallies) != 0)
        return -1;
    for (int h = 0; h < head.n_histograms; h++) {
        const char *const cells = take(data, n, at, head.n_cells[h], sizeof(struct cell));
        if (!cells || unpack_cells(&into->histogram[h], cells, head.n_cells[h]) != 0) return -1;
    }
    const char *const draws = take(data, n, at, head.n_draws, sizeof(struct draw));
    if (!draws || unpack_draws(&into->sample, draws, head.n_draws) != 0) return -1;
    return unpack_counts(into, &head);
}
