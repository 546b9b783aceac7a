/* One candidate's numbers as tables for people. */
#include "cli/answer.h"
#include <inttypes.h>
#include <string.h>

static const char *const level_name[N_LEVELS] = {"PE-PE, inside a cube", "D2D, between cubes", "C2C, between SIPs"};

void answer_heading(FILE *to, const char *text)
{
    const bool colour = colour_wanted(to);
    fprintf(to, "\n%s%s%s\n", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
}

/* ---- what was asked ---------------------------------------------------------------------------------------------- */

static void scenario_print(FILE *to, const struct scenario *s)
{
    fprintf(to, "%s: %s, %s, ", s->name, s->model.name, phase_name[s->phase]);
    if (s->phase == PHASE_SERVE)
        fprintf(to, "prompts of %" PRId64 " and answers of %" PRId64 " tokens", s->prompt_tokens, s->answer_tokens);
    else fprintf(to, "%" PRId64 " new tokens after %" PRId64 " cached", s->new_tokens, s->past_tokens);
    if (s->prompt_chunk > 0) fprintf(to, ", prompts in chunks of %" PRId64, s->prompt_chunk);
    fprintf(to, "; %g B per weight, %g per KV element, %g per activation, GEMMs in %s\n", s->weight_bytes, s->kv_bytes,
            s->activation_bytes, dtype_name[s->compute]);
    if (s->warnings[0]) fprintf(to, "note: %s\n", s->warnings);
}

static void plan_print(FILE *to, const struct plan *plan)
{
    char text[32];
    fprintf(to, "plan:");
    for (int i = 0; i < N_PLAN_KNOBS; i++) {
        const int64_t value = ((const int64_t *)plan)[i];
        if (plan_knob[i].dimension == DIM_CODE)
            fprintf(to, " %s=%s", plan_knob[i].path, knob_word(&plan_knob[i], (int)value, text));
        else fprintf(to, " %s=%" PRId64, plan_knob[i].path, value);
    }
    fputc('\n', to);
}

static void machine_print(FILE *to, const struct hardware *h)
{
    char flops[32], hbm[32], capacity[32], word[32];
    const struct {
        const char *name;
        double bandwidth, latency;
        int topology;
    } links[N_LEVELS] = {
        {"PE", h->pe_bandwidth, h->pe_latency, HW_pe_topology},
        {"D2D", h->d2d_bandwidth, h->d2d_latency, HW_d2d_topology},
        {"C2C", h->c2c_bandwidth, h->c2c_latency, HW_c2c_topology},
    };
    fprintf(to, "machine: PE of %s, %s at %s; cube of %g PEs, SIP of %g cubes\n",
            unit_format(flops, h->flops, DIM_FLOP_PER_S), unit_format(capacity, h->hbm_capacity, DIM_BYTES),
            unit_format(hbm, h->hbm_bandwidth, DIM_BYTES_PER_S), h->pes_per_cube, h->cubes_per_sip);
    for (int l = 0; l < N_LEVELS; l++) {
        char latency[32];
        fprintf(to, "%s%s %s %s, %s", l > 0 ? "; " : "         links: ", links[l].name,
                knob_word(&hardware_knob[links[l].topology], (int)((const double *)h)[links[l].topology], word),
                unit_format(hbm, links[l].bandwidth, DIM_BYTES_PER_S), unit_format(latency, links[l].latency, DIM_SECONDS));
    }
    fputc('\n', to);
}

/* ---- what it takes ----------------------------------------------------------------------------------------------- */

static void set_number(struct table *table, int row, int column, double value, enum dimension dimension)
{
    char text[32];
    table_set(table, row, column, value != 0.0 ? unit_format(text, value, dimension) : "");
}

void answer_kind_text(char text[64], const struct demand *demand, const struct stage_row *row)
{
    text[0] = '\0';
    if (row->part >= MAX_KINDS || demand->n_kinds == 1) return;
    const struct layer_kind *const kind = &demand->kind[row->part];
    char window[32] = "";
    if (kind->window_tokens > 0) snprintf(window, sizeof window, "window %" PRId64, kind->window_tokens);
    snprintf(text, 64, "%s%s%s", kind->moe ? "MoE" : "dense", window[0] ? ", " : "", window);
}

static void stages_print(FILE *to, const struct answer *answer)
{
    enum { STAGE, KIND, COUNT, FLOP, VECTOR, BYTES, EXCHANGE, TIME, SHARE, BOUND, N_COLUMNS };
    static const char *const headings[N_COLUMNS] = {"stage", "layers",   "count", "FLOP",  "vector FLOP",
                                                    "HBM",   "exchange", "time",  "share", "bound by"};
    const struct demand *const d = &answer->demand;
    const struct explanation *const e = &answer->explanation;
    const double all_s = e->layers_s + e->edges_s;
    struct table table;
    char text[64];
    int longest = -1;
    double longest_s = 0.0;
    answer_heading(to, "Stages (one PE, one micro-batch; time of one, share of all layers)");
    table_init(&table, N_COLUMNS);
    for (int c = 0; c < N_COLUMNS; c++) table_column(&table, c, headings[c], c >= COUNT && c <= SHARE);
    for (int r = 0; r < d->n_rows; r++) {
        const struct stage_row *const row = &d->row[r];
        const struct stage_time *const time = &e->stage[r];
        const double count = demand_row_count(d, row), total_s = count * time->time_s;
        const int at = table_row(&table);
        if (total_s > longest_s) longest_s = total_s, longest = at;
        answer_kind_text(text, d, row);
        table_set(&table, at, STAGE, stage_name[row->stage]);
        table_set(&table, at, KIND, text);
        snprintf(text, sizeof text, "%g", count);
        table_set(&table, at, COUNT, text);
        set_number(&table, at, FLOP, row->flop, DIM_FLOP);
        set_number(&table, at, VECTOR, row->vector_flop, DIM_FLOP);
        set_number(&table, at, BYTES, row->hbm_bytes, DIM_BYTES);
        set_number(&table, at, EXCHANGE, time->exchange_s, DIM_SECONDS);
        set_number(&table, at, TIME, time->time_s, DIM_SECONDS);
        snprintf(text, sizeof text, "%.1f%%", 100.0 * total_s / all_s);
        table_set(&table, at, SHARE, text);
        table_set(&table, at, BOUND, time->time_s > 0.0 ? bound_name[time->bound] : "-");
    }
    table_print(&table, to, longest);
    table_free(&table);
}

static void step_print(FILE *to, const struct answer *answer)
{
    const struct explanation *const e = &answer->explanation;
    char layers[32], edges[32], hop[32], step[32];
    answer_heading(to, "Step");
    fprintf(to, "layers %s + edges %s", unit_format(layers, e->layers_s, DIM_SECONDS),
            unit_format(edges, e->edges_s, DIM_SECONDS));
    if (answer->candidate.plan.pp > 1)
        fprintf(to, ", %g pipeline hops of %s", answer->demand.form[0][PART_HOP], unit_format(hop, e->hop_s, DIM_SECONDS));
    fprintf(to, " -> step %s\n", unit_format(step, e->step_s, DIM_SECONDS));
}

static void memory_print(FILE *to, const struct answer *answer)
{
    const struct demand *const d = &answer->demand;
    const struct hardware *const h = &answer->candidate.hardware;
    const struct {
        const char *name;
        double bytes;
    } parts[] = {{"weights", d->weight_bytes},
                 {"KV cache", d->kv_bytes},
                 {"activations", d->activation_bytes},
                 {"total", d->weight_bytes + d->kv_bytes + d->activation_bytes},
                 {"usable", h->hbm_capacity * (1.0 - h->reserve_fraction) - h->reserve}};
    struct table table;
    char text[32];
    answer_heading(to, "Memory of the fullest PE");
    table_init(&table, 3);
    table_column(&table, 0, "what", false);
    table_column(&table, 1, "bytes", true);
    table_column(&table, 2, "of capacity", true);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const int at = table_row(&table);
        table_set(&table, at, 0, parts[i].name);
        table_set(&table, at, 1, unit_format(text, parts[i].bytes, DIM_BYTES));
        snprintf(text, sizeof text, "%.1f%%", 100.0 * parts[i].bytes / h->hbm_capacity);
        table_set(&table, at, 2, text);
    }
    table_print(&table, to, -1);
    table_free(&table);
}

static void layout_print(FILE *to, const struct answer *answer)
{
    static const char *const axis_name[N_AXES] = {"tp", "cp", "pp", "dp"};
    const struct layout *const layout = &answer->layout;
    struct table table;
    char text[32];
    answer_heading(to, "Layout");
    fprintf(to, "%" PRId64 " PEs used, %" PRId64 " allocated, in %" PRId64 " cubes, %" PRId64 " SIPs\n", layout->used,
            layout->pes, layout->cubes, layout->sips);
    table_init(&table, 6);
    static const char *const headings[] = {"axis", "ranks", "stride in PEs", "PEs of a cube", "cubes", "SIPs"};
    for (int c = 0; c < 6; c++) table_column(&table, c, headings[c], c > 0);
    for (int a = 0; a < N_AXES; a++) {
        const int64_t cells[] = {layout->size[a], layout->stride[a], layout->span[a][0], layout->span[a][1],
                                 layout->span[a][2]};
        const int at = table_row(&table);
        table_set(&table, at, 0, axis_name[a]);
        for (int c = 0; c < 5; c++) {
            snprintf(text, sizeof text, "%" PRId64, cells[c]);
            table_set(&table, at, c + 1, text);
        }
    }
    table_print(&table, to, -1);
    table_free(&table);
    for (int l = 0; l < N_LEVELS; l++)
        if (answer->demand.wire_bytes[l] > 0.0)
            fprintf(to, "a PE puts %s on its %s links per micro-batch\n",
                    unit_format(text, answer->demand.wire_bytes[l], DIM_BYTES), level_name[l]);
}

static void metrics_print(FILE *to, const struct answer *answer)
{
    struct table table;
    char text[32];
    answer_heading(to, "Metrics");
    table_init(&table, 3);
    table_column(&table, 0, "metric", false);
    table_column(&table, 1, "value", true);
    table_column(&table, 2, "meaning", false);
    for (int m = 0; m < N_METRICS; m++) {
        const int at = table_row(&table);
        table_set(&table, at, 0, metric_facts[m].name);
        table_set(&table, at, 1, unit_format(text, answer->explanation.metric[m], metric_facts[m].dimension));
        table_set(&table, at, 2, metric_facts[m].meaning);
    }
    table_print(&table, to, -1);
    table_free(&table);
}

static const char *meaning_of(enum reason reason)
{
    return reason < REASON_LIMIT ? reason_meaning[reason] : "past a limit of the study";
}

void answer_print(FILE *to, const struct answer *answer, const struct limit *limits)
{
    char reason[48];
    scenario_print(to, &answer->candidate.scenario);
    plan_print(to, &answer->candidate.plan);
    machine_print(to, &answer->candidate.hardware);
    if (answer->reason == REASON_NONE) fprintf(to, "it fits\n");
    else fprintf(to, "refused: %s (%s)\n", reason_text(reason, answer->reason, limits), meaning_of(answer->reason));
    if (!answer->complete) return;
    stages_print(to, answer);
    step_print(to, answer);
    memory_print(to, answer);
    layout_print(to, answer);
    metrics_print(to, answer);
}
