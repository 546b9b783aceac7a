/* Candidates side by side: knobs that differ, seconds of every stage, memory, metrics; the best of each line marked. */
#include "cli/compare.h"
#include <math.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------------------------- */

#define SECTIONS(X) X(KNOB, "knobs") X(STAGE, "stages") X(MEMORY, "memory") X(METRIC, "metrics")
enum section {
#define X(code, name) SECTION_##code,
    SECTIONS(X)
#undef X
        N_SECTIONS
};
static const char *const section_name[N_SECTIONS] = {
#define X(code, name) name,
    SECTIONS(X)
#undef X
};
static const char *const section_heading[N_SECTIONS] = {"Knobs that differ", "Stages (count x time)",
                                                        "Memory of the fullest PE", "Metrics"};

/* One quantity of all candidates. */
struct line {
    enum section section;
    char name[96];
    const struct knob *knob; /* its words; NULL elsewhere */
    enum dimension dimension;
    enum better better;
    int best;                     /* -1 = none, or all are equal */
    double value[MAX_CONTENDERS]; /* NaN = the candidate has no such thing */
};
struct lines {
    int n_contenders;
    struct contender *const *contender;
    int n, capacity;
    struct line *line;
    struct arena arena;
};

static struct line *line_add(struct lines *lines, enum section section, const char *name, enum dimension dimension,
                             enum better better)
{
    if (lines->n == lines->capacity) {
        const int capacity = lines->capacity > 0 ? 2 * lines->capacity : 128;
        struct line *const grown = arena_alloc(&lines->arena, (size_t)capacity, sizeof *grown);
        if (lines->n > 0) memcpy(grown, lines->line, (size_t)lines->n * sizeof *grown);
        lines->line = grown;
        lines->capacity = capacity;
    }
    struct line *const line = &lines->line[lines->n++];
    *line = (struct line){.section = section, .dimension = dimension, .better = better, .best = -1};
    snprintf(line->name, sizeof line->name, "%s", name);
    for (int c = 0; c < MAX_CONTENDERS; c++) line->value[c] = NAN;
    return line;
}

/* What is refused is never the best. */
static void mark_best(struct line *line, const struct lines *lines)
{
    bool differ = false;
    if (line->better == BETTER_NEITHER) return;
    for (int c = 0; c < lines->n_contenders; c++) {
        const double value = line->value[c];
        differ |= value != line->value[0] && !(isnan(value) && isnan(line->value[0]));
        if (isnan(value) || lines->contender[c]->answer.reason != REASON_NONE) continue;
        const double best = line->best >= 0 ? line->value[line->best] : NAN;
        if (line->best < 0 || (line->better == BETTER_LOW ? value < best : value > best)) line->best = c;
    }
    if (!differ) line->best = -1;
}

/* Equals of the best are marked, too. */
static bool is_best(const struct line *line, const struct lines *lines, int c)
{
    return line->best >= 0 && line->value[c] == line->value[line->best] && lines->contender[c]->answer.reason == REASON_NONE;
}

static void add_knobs(struct lines *lines)
{
    for (int i = 0; i < N_KNOBS; i++) {
        const bool plan = i < N_PLAN_KNOBS;
        double value[MAX_CONTENDERS];
        bool differ = false;
        char name[96];
        for (int c = 0; c < lines->n_contenders; c++) {
            const struct candidate *const candidate = &lines->contender[c]->answer.candidate;
            value[c] = plan ? (double)((const int64_t *)&candidate->plan)[i]
                            : ((const double *)&candidate->hardware)[i - N_PLAN_KNOBS];
            differ |= value[c] != value[0];
        }
        if (!differ) continue;
        snprintf(name, sizeof name, "%s.%s", plan ? "plan" : "hardware", space_knob(i)->path);
        struct line *const line = line_add(lines, SECTION_KNOB, name, space_knob(i)->dimension, BETTER_NEITHER);
        line->knob = space_knob(i);
        memcpy(line->value, value, (size_t)lines->n_contenders * sizeof *value);
    }
}

static struct line *find_line(struct lines *lines, enum section section, const char *name)
{
    for (int i = 0; i < lines->n; i++)
        if (lines->line[i].section == section && strcmp(lines->line[i].name, name) == 0) return &lines->line[i];
    return NULL;
}

static void add_stages(struct lines *lines)
{
    for (int c = 0; c < lines->n_contenders; c++) {
        const struct answer *const answer = &lines->contender[c]->answer;
        for (int r = 0; answer->complete && r < answer->demand.n_rows; r++) {
            const struct stage_row *const row = &answer->demand.row[r];
            char kind[64], name[96];
            answer_kind_text(kind, &answer->demand, row);
            snprintf(name, sizeof name, "%s%s%s%s", stage_name[row->stage], kind[0] ? " (" : "", kind, kind[0] ? ")" : "");
            struct line *line = find_line(lines, SECTION_STAGE, name);
            if (!line) line = line_add(lines, SECTION_STAGE, name, DIM_SECONDS, BETTER_LOW);
            line->value[c] = demand_row_count(&answer->demand, row) * answer->explanation.stage[r].time_s;
        }
    }
    struct line *const step = line_add(lines, SECTION_STAGE, "step", DIM_SECONDS, BETTER_LOW);
    for (int c = 0; c < lines->n_contenders; c++)
        if (lines->contender[c]->answer.complete) step->value[c] = lines->contender[c]->answer.explanation.step_s;
}

static void add_memory(struct lines *lines)
{
    static const char *const name[] = {"weights", "KV cache", "activations", "total"};
    for (int part = 0; part < 4; part++) {
        struct line *const line = line_add(lines, SECTION_MEMORY, name[part], DIM_BYTES, BETTER_LOW);
        for (int c = 0; c < lines->n_contenders; c++) {
            const struct demand *const d = &lines->contender[c]->answer.demand;
            const double bytes[] = {d->weight_bytes, d->kv_bytes, d->activation_bytes,
                                    d->weight_bytes + d->kv_bytes + d->activation_bytes};
            if (lines->contender[c]->answer.complete) line->value[c] = bytes[part];
        }
    }
}

static void add_metrics(struct lines *lines)
{
    for (int m = 0; m < N_METRICS; m++) {
        struct line *const line =
            line_add(lines, SECTION_METRIC, metric_facts[m].name, metric_facts[m].dimension, metric_facts[m].better);
        for (int c = 0; c < lines->n_contenders; c++)
            if (lines->contender[c]->answer.complete) line->value[c] = lines->contender[c]->answer.explanation.metric[m];
    }
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static const char *reason_of(const struct contender *contender, char text[48])
{
    return reason_text(text, contender->answer.reason, contender->study ? contender->study->limit : NULL);
}

static void line_set(struct table *table, const struct line *line, const struct lines *lines)
{
    char text[64], value[32];
    const int at = table_row(table);
    table_set(table, at, 0, line->name);
    for (int c = 0; c < lines->n_contenders; c++) {
        if (line->knob && line->dimension == DIM_CODE) knob_word(line->knob, (int)line->value[c], value);
        else if (isnan(line->value[c])) snprintf(value, sizeof value, "-");
        else unit_format(value, line->value[c], line->dimension);
        snprintf(text, sizeof text, "%s%s", is_best(line, lines, c) ? "* " : "", value);
        table_set(table, at, c + 1, text);
    }
}

static void text_print(const struct lines *lines, FILE *to)
{
    char text[64];
    for (int c = 0; c < lines->n_contenders; c++) {
        const struct contender *const contender = lines->contender[c];
        fprintf(to, "%c  %s, scenario %s%s%s\n", 'A' + c, contender->label, contender->answer.candidate.scenario.name,
                contender->answer.reason != REASON_NONE ? ", refused: " : "",
                contender->answer.reason != REASON_NONE ? reason_of(contender, text) : "");
    }
    for (enum section section = 0; section < N_SECTIONS; section++) {
        struct table table;
        table_init(&table, lines->n_contenders + 1);
        table_column(&table, 0, "", false);
        for (int c = 0; c < lines->n_contenders; c++) table_column(&table, c + 1, (char[]){(char)('A' + c), '\0'}, true);
        for (int i = 0; i < lines->n; i++)
            if (lines->line[i].section == section) line_set(&table, &lines->line[i], lines);
        if (table.n_rows > 0) {
            answer_heading(to, section_heading[section]);
            table_print(&table, to, -1);
        }
        table_free(&table);
    }
    fprintf(to, "\n* the best of those that fit\n");
}

static void csv_print(const struct lines *lines, FILE *to)
{
    char text[32];
    fprintf(to, "section,name,unit");
    for (int c = 0; c < lines->n_contenders; c++) fprintf(to, ",\"%s\"", lines->contender[c]->label);
    fprintf(to, ",best\n");
    for (int i = 0; i < lines->n; i++) {
        const struct line *const line = &lines->line[i];
        fprintf(to, "%s,\"%s\",%s", section_name[line->section], line->name,
                line->dimension == DIM_CODE ? "" : unit_name(line->dimension));
        for (int c = 0; c < lines->n_contenders; c++) {
            const bool word = line->knob && line->dimension == DIM_CODE;
            if (word) knob_word(line->knob, (int)line->value[c], text);
            else number_exact(text, line->value[c]);
            fprintf(to, ",%s", isnan(line->value[c]) ? "" : text);
        }
        fprintf(to, line->best >= 0 ? ",%c\n" : ",\n", 'A' + line->best);
    }
}

static void line_write(struct json *json, const struct line *line, int n)
{
    char text[32];
    json_open(json, NULL, '{');
    json_text(json, "name", line->name);
    json_text(json, "unit", line->dimension == DIM_CODE ? NULL : unit_name(line->dimension));
    json_open(json, "values", '[');
    for (int c = 0; c < n; c++) {
        if (line->knob && line->dimension == DIM_CODE)
            json_text(json, NULL, knob_word(line->knob, (int)line->value[c], text));
        else json_number(json, NULL, line->value[c]);
    }
    json_close(json, ']');
    json_number(json, "best", line->best >= 0 ? (double)line->best : NAN);
    json_close(json, '}');
}

static void json_print(const struct lines *lines, FILE *to)
{
    struct json json = {.to = to, .pretty = true};
    char text[48];
    json_open(&json, NULL, '{');
    json_open(&json, "candidates", '[');
    for (int c = 0; c < lines->n_contenders; c++) {
        const struct contender *const contender = lines->contender[c];
        json_open(&json, NULL, '{');
        json_text(&json, "source", contender->label);
        json_text(&json, "scenario", contender->answer.candidate.scenario.name);
        json_bool(&json, "fits", contender->answer.reason == REASON_NONE);
        json_text(&json, "reason", contender->answer.reason == REASON_NONE ? NULL : reason_of(contender, text));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    for (enum section section = 0; section < N_SECTIONS; section++) {
        json_open(&json, section_name[section], '[');
        for (int i = 0; i < lines->n; i++)
            if (lines->line[i].section == section) line_write(&json, &lines->line[i], lines->n_contenders);
        json_close(&json, ']');
    }
    json_close(&json, '}');
    fputc('\n', to);
}

void contenders_print(struct contender *const contender[], int n, enum form form, FILE *to)
{
    struct lines lines = {.n_contenders = n, .contender = contender};
    add_knobs(&lines);
    add_stages(&lines);
    add_memory(&lines);
    add_metrics(&lines);
    for (int i = 0; i < lines.n; i++) mark_best(&lines.line[i], &lines);
    if (form == FORM_TEXT) text_print(&lines, to);
    else if (form == FORM_CSV) csv_print(&lines, to);
    else json_print(&lines, to);
    arena_free(&lines.arena);
}
