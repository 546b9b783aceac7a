/* One candidate's numbers as JSON, for `evaluate` and `explain --json` (DESIGN section 3).  Base units. */
#include "cli/formulas.h"
#include <ctype.h>
#include <string.h>

/* ---- knobs, nested as in a study file ---------------------------------------------------------------------------- */

struct knob_values {
    const struct knob *knob;
    int n;
    const double *value;
};

static void knob_write(struct json *json, const char *key, const struct knob *knob, double value)
{
    char word[32];
    if (knob->dimension == DIM_CODE) json_text(json, key, knob_word(knob, (int)value, word));
    else if (knob->dimension == DIM_BOOL) json_bool(json, key, value != 0.0);
    else json_number(json, key, value);
}

/* Whether knob i is the first whose path begins with prefix and the same next step. */
static bool is_first_of_step(const struct knob_values *values, int i, size_t prefix, size_t step)
{
    for (int j = 0; j < i; j++)
        if (strncmp(values->knob[j].path, values->knob[i].path, prefix + step) == 0 &&
            (values->knob[j].path[prefix + step] == '.' || values->knob[j].path[prefix + step] == '\0'))
            return false;
    return true;
}

static void knobs_write(struct json *json, const struct knob_values *values, const char *prefix, bool list)
{
    const size_t n_prefix = strlen(prefix);
    for (int i = 0; i < values->n; i++) {
        const char *const path = values->knob[i].path, *const rest = path + n_prefix;
        if (strncmp(path, prefix, n_prefix) != 0) continue;
        const size_t step = strcspn(rest, ".");
        char key[32], inner[64];
        snprintf(key, sizeof key, "%.*s", (int)step, rest);
        if (rest[step] == '\0') {
            knob_write(json, list ? NULL : key, &values->knob[i], values->value[i]);
            continue;
        }
        if (!is_first_of_step(values, i, n_prefix, step)) continue;
        const bool places = isdigit((unsigned char)rest[step + 1]);
        snprintf(inner, sizeof inner, "%.*s", (int)(n_prefix + step + 1), path);
        json_open(json, key, places ? '[' : '{');
        knobs_write(json, values, inner, places);
        json_close(json, places ? ']' : '}');
    }
}

static void plan_write(struct json *json, const struct plan *plan)
{
    double value[N_PLAN_KNOBS];
    for (int i = 0; i < N_PLAN_KNOBS; i++) value[i] = (double)((const int64_t *)plan)[i];
    json_open(json, "plan", '{');
    knobs_write(json, &(struct knob_values){plan_knob, N_PLAN_KNOBS, value}, "", false);
    json_close(json, '}');
}

static void hardware_write(struct json *json, const struct hardware *hardware)
{
    json_open(json, "hardware", '{');
    knobs_write(json, &(struct knob_values){hardware_knob, N_HARDWARE_KNOBS, (const double *)hardware}, "", false);
    json_close(json, '}');
}

/* ---- model and scenario ------------------------------------------------------------------------------------------ */

struct fact {
    const char *key;
    int64_t value;
};

static void facts_write(struct json *json, const struct fact *fact, size_t n)
{
    for (size_t i = 0; i < n; i++) json_number(json, fact[i].key, (double)fact[i].value);
}
#define FACTS(...) (const struct fact[]){__VA_ARGS__}, sizeof((const struct fact[]){__VA_ARGS__}) / sizeof(struct fact)

static void model_write(struct json *json, const struct model *m)
{
    json_open(json, "model", '{');
    json_text(json, "name", m->name);
    facts_write(json, FACTS({"layers", m->layers}, {"hidden", m->hidden}, {"heads", m->heads}, {"kv_heads", m->kv_heads},
                            {"head_dim", m->head_dim}, {"ffn", m->ffn}, {"vocab", m->vocab}));
    json_bool(json, "gated", m->gated);
    json_bool(json, "tied", m->tied);
    json_bool(json, "parallel_block", m->parallel_block);
    if (m->mla.kv_rank > 0) {
        json_open(json, "mla", '{');
        facts_write(json, FACTS({"q_rank", m->mla.q_rank}, {"kv_rank", m->mla.kv_rank}, {"nope_dim", m->mla.nope_dim},
                                {"rope_dim", m->mla.rope_dim}, {"v_dim", m->mla.v_dim}));
        json_close(json, '}');
    }
    if (m->moe.experts > 0) {
        json_open(json, "moe", '{');
        facts_write(json, FACTS({"experts", m->moe.experts}, {"per_token", m->moe.per_token}, {"ffn", m->moe.ffn},
                                {"shared_ffn", m->moe.shared_ffn}, {"dense_layers", m->moe.dense_layers},
                                {"period", m->moe.period}));
        json_close(json, '}');
    }
    if (m->window.tokens > 0) {
        json_open(json, "window", '{');
        facts_write(json, FACTS({"tokens", m->window.tokens}, {"global_every", m->window.global_every}));
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void scenario_write(struct json *json, const struct scenario *s)
{
    json_open(json, "scenario", '{');
    json_text(json, "name", s->name);
    model_write(json, &s->model);
    json_text(json, "phase", phase_name[s->phase]);
    if (s->phase == PHASE_SERVE) {
        facts_write(json, FACTS({"prompt_tokens", s->prompt_tokens}, {"answer_tokens", s->answer_tokens}));
        if (s->prompt_chunk > 0) facts_write(json, FACTS({"prompt_chunk", s->prompt_chunk}));
    } else {
        facts_write(json, FACTS({"new_tokens", s->new_tokens}, {"past_tokens", s->past_tokens}));
    }
    json_number(json, "weights", s->weight_bytes);
    json_number(json, "kv", s->kv_bytes);
    json_number(json, "activations", s->activation_bytes);
    json_text(json, "compute", dtype_name[s->compute]);
    json_number(json, "accepted_tokens", s->accepted_tokens);
    if (s->imbalance == IMBALANCE_FACTOR) json_number(json, "moe_imbalance", s->imbalance_factor);
    else json_text(json, "moe_imbalance", s->imbalance == IMBALANCE_RANDOM ? "random" : "uniform");
    json_text(json, "divisibility", s->strict ? "strict" : "pad");
    json_close(json, '}');
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* `formulas` is NULL where they are not wanted. */
static void stages_write(struct json *json, const struct answer *answer, const struct formulas *formulas)
{
    json_open(json, "stages", '[');
    for (int r = 0; r < answer->demand.n_rows; r++) {
        const struct stage_row *const row = &answer->demand.row[r];
        const struct stage_time *const time = &answer->explanation.stage[r];
        const bool layer = row->part < MAX_KINDS;
        json_open(json, NULL, '{');
        json_text(json, "stage", stage_name[row->stage]);
        json_number(json, "window", layer ? (double)answer->demand.kind[row->part].window_tokens : 0.0);
        json_bool(json, "moe", layer && answer->demand.kind[row->part].moe);
        json_number(json, "count", demand_row_count(&answer->demand, row));
        json_number(json, "flop", row->flop);
        json_number(json, "vector_flop", row->vector_flop);
        json_number(json, "hbm_bytes", row->hbm_bytes);
        json_number(json, "exchange_s", time->exchange_s);
        json_number(json, "time_s", time->time_s);
        json_text(json, "bound", bound_name[time->bound]);
        if (formulas) formulas_write_json(json, formulas, row);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void ledger_write(struct json *json, const struct demand *d)
{
    json_open(json, "memory", '{');
    json_number(json, "weights_bytes", d->weight_bytes);
    json_number(json, "kv_bytes", d->kv_bytes);
    json_number(json, "activation_bytes", d->activation_bytes);
    json_number(json, "total_bytes", d->weight_bytes + d->kv_bytes + d->activation_bytes);
    json_close(json, '}');
    json_open(json, "layout", '{');
    facts_write(json, FACTS({"used", d->used}, {"pes", d->pes}, {"cubes", d->cubes}, {"sips", d->sips}));
    json_close(json, '}');
    json_open(json, "wire_bytes", '[');
    for (int l = 0; l < N_LEVELS; l++) json_number(json, NULL, d->wire_bytes[l]);
    json_close(json, ']');
}

static void numbers_write(struct json *json, const struct answer *answer, const struct formulas *formulas)
{
    const struct explanation *const e = &answer->explanation;
    json_number(json, "latency_s", e->metric[METRIC_LATENCY]);
    json_number(json, "step_s", e->step_s);
    json_number(json, "layers_s", e->layers_s);
    json_number(json, "edges_s", e->edges_s);
    json_number(json, "hop_s", e->hop_s);
    stages_write(json, answer, formulas);
    ledger_write(json, &answer->demand);
    for (int m = 0; m < N_METRICS; m++) json_number(json, metric_facts[m].name, e->metric[m]);
}

void answer_write_json(struct json *json, const struct answer *answer, const struct study *study, unsigned parts)
{
    static struct formulas formulas;
    char reason[48];
    if (answer->complete) {
        if (parts & PART_FORMULAS) formulas_init(&formulas, answer);
        if (parts & PART_INPUTS) scenario_write(json, &answer->candidate.scenario);
        plan_write(json, &answer->candidate.plan);
        if (parts & PART_INPUTS) hardware_write(json, &answer->candidate.hardware);
    }
    json_bool(json, "fits", answer->reason == REASON_NONE);
    json_text(json, "reason",
              answer->reason == REASON_NONE ? NULL : reason_text(reason, answer->reason, study ? study->limit : NULL));
    if (answer->complete) numbers_write(json, answer, parts & PART_FORMULAS ? &formulas : NULL);
    if (answer->complete && parts & PART_TENSORS) {
        tensors_write_json(json, answer);
        placement_write_json(json, answer);
        ring_write_json(json, answer);
        waste_write_json(json, answer);
    }
    if (parts & PART_HINTS) hints_write_json(json, answer, study);
}
