/* What is least to change where nothing is feasible: single knobs and limits, each turned by doubling until something
 * fits and then back by bisection. */
#include "change.h"
#include "sweep.h"
#include <math.h>
#include <string.h>

static const double most_factor = 4096.0; /* beyond, it is another machine */
static const double most_limit_factor = 1e18;
enum {
    BISECTIONS = 12,     /* to a few parts in ten thousand of the factor */
    N_NEAREST = 16,      /* candidates of a study that are turned */
    MOST_LOWERED = 2048, /* plans and structures of a study that are looked at, on */
    MOST_MACHINES = 8,   /* so many machines each */
};

/* What is turned, and where the answers go. */
struct turning {
    const struct candidate *candidates;
    int n;
    const struct limit *limits;
    int n_limits;
    struct answer answer;
    struct relaxation found; /* of the newest success */
};

/* Whether some candidate is feasible with one knob `turn` times as large; counts are whole, and all stay in their bounds. */
static bool fits_turned(struct turning *s, enum change_of of, int knob, double turn)
{
    struct limit limits[MAX_LIMITS];
    struct change change = {.of = of, .knob = knob};
    if (s->n_limits > 0) memcpy(limits, s->limits, (size_t)s->n_limits * sizeof *limits);
    for (int c = 0; c < s->n; c++) {
        struct candidate candidate = s->candidates[c];
        if (of == CHANGE_LIMIT) {
            change.before = s->limits[knob].value;
            limits[knob].value = change.after = change.before * turn;
        } else {
            const struct knob *const row = change_knob(&change);
            change.before = candidate_value(&candidate, of, knob);
            const double turned = row->dimension == DIM_COUNT ? floor(change.before * turn) : change.before * turn;
            change.after = turned < row->low ? row->low : turned > row->high ? row->high : turned;
            candidate_change(&candidate, &change);
        }
        if (change.after == change.before) continue;
        answer_candidate(&s->answer, &candidate, limits, s->n_limits);
        if (s->answer.reason != REASON_NONE) continue;
        s->found = (struct relaxation){change, turn > 1.0 ? turn : 1.0 / turn, candidate};
        return true;
    }
    return false;
}

static bool fits_word(struct turning *s, enum change_of of, int knob, int word)
{
    for (int c = 0; c < s->n; c++) {
        struct candidate candidate = s->candidates[c];
        const struct change change = {of, knob, candidate_value(&candidate, of, knob), (double)word};
        candidate_change(&candidate, &change);
        answer_candidate(&s->answer, &candidate, s->limits, s->n_limits);
        if (s->answer.reason != REASON_NONE) continue;
        s->found = (struct relaxation){change, 1.0, candidate};
        return true;
    }
    return false;
}

/* Three digits, away from 1, so that what is printed is enough. */
static double round_out(double factor)
{
    const double scale = pow(10.0, 2.0 - floor(log10(factor)));
    return ceil(factor * scale - 1e-9) / scale;
}

/* The smallest factor up or down at which something fits, in found; counts take powers of two only. */
static bool turn(struct turning *s, enum change_of of, int knob, bool down, bool whole)
{
    double high = 2.0;
    const double most = of == CHANGE_LIMIT ? most_limit_factor : most_factor;
    if (!whole && !fits_turned(s, of, knob, down ? 1.0 / most : most)) return false; /* it only helps to turn on */
    while (!fits_turned(s, of, knob, down ? 1.0 / high : high)) {
        if (high >= most) return false;
        high *= 2.0;
    }
    if (whole) return true;
    struct relaxation best = s->found;
    double low = high / 2.0;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = sqrt(low * high);
        if (fits_turned(s, of, knob, down ? 1.0 / middle : middle)) {
            high = middle;
            best = s->found;
        } else {
            low = middle;
        }
    }
    const double rounded = round_out(high);
    if (!fits_turned(s, of, knob, down ? 1.0 / rounded : rounded)) s->found = best;
    return true;
}

static int insert(struct relaxation out[MAX_RELAXATIONS], int n, const struct relaxation *made)
{
    int at = n;
    while (at > 0 && made->factor < out[at - 1].factor) at--;
    if (at == MAX_RELAXATIONS) return n;
    const int kept = n < MAX_RELAXATIONS ? n : MAX_RELAXATIONS - 1;
    memmove(&out[at + 1], &out[at], (size_t)(kept - at) * sizeof *out);
    out[at] = *made;
    return kept + 1;
}

int relaxations_find(struct relaxation out[MAX_RELAXATIONS], const struct candidate *candidates, int n,
                     const struct limit *limits, int n_limits)
{
    static _Thread_local struct turning s;
    int n_found = 0;
    s.candidates = candidates;
    s.n = n;
    s.limits = limits;
    s.n_limits = n_limits;
    for (int i = 0; i < N_KNOBS; i++) {
        const bool plan = i < N_PLAN_KNOBS;
        const enum change_of of = plan ? CHANGE_PLAN : CHANGE_HARDWARE;
        const int index = plan ? i : i - N_PLAN_KNOBS;
        const struct knob *const knob = plan ? &plan_knob[index] : &hardware_knob[index];
        const int n_words = knob_words(knob);
        if (knob_is_price(knob)) continue;
        for (int w = 0; w < n_words; w++)
            if (fits_word(&s, of, index, w)) n_found = insert(out, n_found, &s.found);
        for (int down = 0; down < 2 && n_words == 0; down++)
            if (turn(&s, of, index, down, knob->dimension == DIM_COUNT)) n_found = insert(out, n_found, &s.found);
    }
    for (int l = 0; l < n_limits; l++)
        if (turn(&s, CHANGE_LIMIT, l, metric_facts[limits[l].metric].better == BETTER_HIGH, false))
            n_found = insert(out, n_found, &s.found);
    return n_found;
}

/* ---- a study ----------------------------------------------------------------------------------------------------- */

/* How far a candidate is from being feasible: 1 where nothing is in the way, each excess as a factor. */
static double distance(const struct answer *answer, const struct limit *limits, int n_limits)
{
    const struct hardware *const h = &answer->candidate.hardware;
    if (!answer->complete) return INFINITY;
    const double usable = h->hbm_capacity * (1.0 - h->reserve_fraction) - h->reserve;
    const double bytes = answer->demand.weight_bytes + answer->demand.kv_bytes + answer->demand.activation_bytes;
    double product = usable <= 0.0 ? INFINITY : bytes > usable ? bytes / usable : 1.0;
    for (int l = 0; l < n_limits; l++) {
        const double value = answer->explanation.metric[limits[l].metric];
        if (!limit_breaks(&limits[l], value)) continue;
        product *= metric_facts[limits[l].metric].better == BETTER_HIGH ? limits[l].value / value : value / limits[l].value;
    }
    return product;
}

/* Candidates in order of their distance. */
struct nearest {
    int n;
    double distance[N_NEAREST];
    struct candidate candidate[N_NEAREST];
};

static void keep_near(struct nearest *near, const struct candidate *candidate, double distance)
{
    int at = near->n;
    while (at > 0 && distance < near->distance[at - 1]) at--;
    if (at == N_NEAREST) return;
    const int kept = near->n < N_NEAREST ? near->n : N_NEAREST - 1;
    memmove(&near->distance[at + 1], &near->distance[at], (size_t)(kept - at) * sizeof *near->distance);
    memmove(&near->candidate[at + 1], &near->candidate[at], (size_t)(kept - at) * sizeof *near->candidate);
    near->distance[at] = distance;
    near->candidate[at] = *candidate;
    near->n = kept + 1;
}

/* The i-th of `of` evenly spread members of 0..n-1, ends included. */
static int64_t spread(int64_t i, int64_t of, int64_t n)
{
    return of == 1 ? n - 1 : (int64_t)((double)i * (double)(n - 1) / (double)(of - 1));
}

int relaxations_of_study(struct relaxation out[MAX_RELAXATIONS], const struct study *study, int scenario)
{
    static struct nearest near;
    static struct answer answer;
    const struct space *const space = &study->space;
    const int64_t n_lowered = space->n_lowered < MOST_LOWERED ? space->n_lowered : MOST_LOWERED;
    const int64_t n_machines = space->n_machines < MOST_MACHINES ? space->n_machines : MOST_MACHINES;
    struct candidate candidate = {.scenario = study->scenario[scenario]};
    near.n = 0;
    for (int64_t l = 0; l < n_lowered; l++)
        for (int64_t m = 0; m < n_machines; m++) {
            const int64_t lowered = spread(l, n_lowered, space->n_lowered),
                          machine = spread(m, n_machines, space->n_machines);
            space_decode(space, lowered * space->n_machines + machine, &candidate.plan, &candidate.hardware);
            answer_candidate(&answer, &candidate, study->limit, study->n_limits);
            if (answer.reason == REASON_NONE) continue; /* never, where the study has nothing feasible */
            keep_near(&near, &answer.candidate, distance(&answer, study->limit, study->n_limits));
        }
    return relaxations_find(out, near.candidate, near.n, study->limit, study->n_limits);
}
