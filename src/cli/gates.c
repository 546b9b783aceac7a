/* `compare --fail-on`: how much worse a result may be than the one before. */
#include "cli/compare.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const gate_name[N_GATES] = {
#define X(code, name, meaning) name,
    GATES(X)
#undef X
};

static int gate_read(struct sides *sides, const char *text, size_t n, struct errors *errors)
{
    char item[64], *colon;
    const char *why = NULL;
    struct gate gate = {.kind = N_GATES};
    snprintf(gate.text, sizeof gate.text, "%.*s", (int)n, text);
    memcpy(item, gate.text, sizeof item);
    colon = strchr(item, ':');
    if (colon) *colon = '\0';
    for (int g = 0; g < N_GATES; g++)
        if (strcmp(item, gate_name[g]) == 0) gate.kind = (enum gate_kind)g;
    if (gate.kind == N_GATES || !colon)
        return error_add(errors, STATUS_INPUT, NULL, 0,
                         "compare: --fail-on: `%.*s` is no gate; give worse, latency or hypervolume "
                         "with a share (worse:1%%), or rows with a number or a share (rows:3)",
                         (int)n, text);
    gate.is_number = gate.kind == GATE_ROWS && !strchr(colon + 1, '%');
    if (unit_parse(colon + 1, gate.is_number ? DIM_COUNT : DIM_FRACTION, &gate.most, &why) != 0)
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --fail-on: %s: `%s`: %s", item, colon + 1, why);
    if (!(gate.most >= 0.0))
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --fail-on: %s: %s is below 0; give 0 or more, as 1%%",
                         item, colon + 1);
    for (int g = 0; g < sides->n_gates; g++)
        if (sides->gate[g].kind == gate.kind && sides->gate[g].is_number == gate.is_number)
            return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --fail-on: %s is given twice, as %s and %s; give one",
                             item, sides->gate[g].text, gate.text);
    if (sides->n_gates == MAX_GATES)
        return error_add(errors, STATUS_INPUT, NULL, 0, "compare: --fail-on: more than %d gates; give fewer", MAX_GATES);
    sides->gate[sides->n_gates++] = gate;
    return 0;
}

int gates_read(struct sides *sides, const char *text, struct errors *errors)
{
    const int n_errors = errors->n;
    for (const char *at = text; *at != '\0'; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        gate_read(sides, at, n, errors);
        at += n;
    }
    return errors->n > n_errors ? -1 : 0;
}

/* ---- holding a difference against them --------------------------------------------------------------------------- */

static void check_latency(const struct gate *gate, const struct difference *d, const char *path, struct errors *errors)
{
    char before[32], after[32];
    const double from = d->latency_s[0], to = d->latency_s[1];
    if (isnan(from)) return;
    unit_format(before, from, DIM_SECONDS);
    if (isnan(to))
        error_add(errors, STATUS_GATE, path, 0,
                  "scenario %s: best latency was %s, and nothing is feasible now (--fail-on %s)", d->before->name, before,
                  gate->text);
    else if (to / from - 1.0 > gate->most)
        error_add(errors, STATUS_GATE, path, 0, "scenario %s: best latency %s -> %s, %.3g%% worse (--fail-on %s)",
                  d->before->name, before, unit_format(after, to, DIM_SECONDS), 100.0 * (to / from - 1.0), gate->text);
}

static void check_hypervolume(const struct gate *gate, const struct difference *d, const char *path, struct errors *errors)
{
    const double from = d->hypervolume[0], to = d->hypervolume[1];
    if (!d->has_hypervolume) {
        if (d->before->n_rows + d->after->n_rows > 0)
            error_add(errors, STATUS_INPUT, path, 0,
                      "scenario %s: the hypervolumes cannot be compared: other objectives, or more "
                      "than %d rows over four (--fail-on %s)",
                      d->before->name, FOUR_OBJECTIVES_ROWS, gate->text);
        return;
    }
    if (from - to > gate->most * from)
        error_add(errors, STATUS_GATE, path, 0, "scenario %s: hypervolume %.4g -> %.4g, %.3g%% worse (--fail-on %s)",
                  d->before->name, from, to, 100.0 * (1.0 - to / from), gate->text);
}

static void check_rows(const struct gate *gate, const struct difference *d, const char *path, struct errors *errors)
{
    const double most = gate->is_number ? gate->most : gate->most * (double)d->before->n_rows;
    if ((double)d->n_lost > most)
        error_add(errors, STATUS_GATE, path, 0, "scenario %s: %" PRId64 " of %" PRId64 " rows are lost (--fail-on %s)",
                  d->before->name, d->n_lost, d->before->n_rows, gate->text);
}

void gates_check(const struct sides *sides, const struct difference *d, struct errors *errors)
{
    const char *const path = sides->path[1];
    for (int g = 0; g < sides->n_gates; g++) {
        const struct gate *const gate = &sides->gate[g];
        if (gate->kind == GATE_WORSE || gate->kind == GATE_LATENCY) check_latency(gate, d, path, errors);
        if (gate->kind == GATE_WORSE || gate->kind == GATE_HYPERVOLUME) check_hypervolume(gate, d, path, errors);
        if (gate->kind == GATE_ROWS) check_rows(gate, d, path, errors);
    }
}

void gates_check_missing(const struct sides *sides, const char *scenario, struct errors *errors)
{
    if (sides->n_gates > 0)
        error_add(errors, STATUS_GATE, sides->path[1], 0, "has no scenario %s any more (--fail-on %s)", scenario,
                  sides->gate[0].text);
}
