/* How much of what the PEs keep, and of the PEs themselves, is there more than once or for nothing. */
#include "cli/answer.h"
#include <inttypes.h>

static double kept_bytes(const struct demand *d)
{
    return d->weight_bytes + d->kv_bytes + d->activation_bytes;
}

static void row_print(struct table *table, const char *what, double pe_bytes, double pe_all, double machine_bytes,
                      double machine_all)
{
    const double value[] = {pe_bytes, machine_bytes}, all[] = {pe_all, machine_all};
    char text[32];
    const int at = table_row(table);
    table_set(table, at, 0, what);
    for (int i = 0; i < 2; i++) {
        table_set(table, at, 1 + 2 * i, unit_format(text, value[i], DIM_BYTES));
        snprintf(text, sizeof text, "%.1f%%", all[i] > 0.0 ? 100.0 * value[i] / all[i] : 0.0);
        table_set(table, at, 2 + 2 * i, text);
    }
}

static void idle_print(FILE *to, const struct layout *layout)
{
    const int64_t idle = layout->pes - layout->used;
    if (idle == 0) return;
    fprintf(to, "%" PRId64 " of %" PRId64 " allocated PEs have no rank: %.1f%%\n", idle, layout->pes,
            100.0 * (double)idle / (double)layout->pes);
}

void waste_print(FILE *to, const struct answer *answer)
{
    static const char *const headings[] = {"what", "on the fullest PE", "of it", "on all PEs", "of them"};
    struct tensors tensors;
    struct waste waste;
    struct table table;
    answer_tensors(&tensors, answer);
    lower_waste(&waste, &tensors);
    const double pe_all = kept_bytes(&answer->demand);
    const double machine_all = waste.machine_weights.kept_bytes + waste.machine_kv.kept_bytes;
    answer_heading(to, "Kept more than once, or for nothing (per cent of what the fullest PE keeps, and all PEs)");
    table_init(&table, 5);
    for (int c = 0; c < 5; c++) table_column(&table, c, headings[c], c > 0);
    row_print(&table, "the model's own weights", waste.pe_weights.own_bytes, pe_all, waste.machine_weights.own_bytes,
              machine_all);
    row_print(&table, "the KV cache's own bytes", waste.pe_kv.own_bytes, pe_all, waste.machine_kv.own_bytes, machine_all);
    for (int w = 0; w < N_WASTES; w++)
        if (waste.machine_bytes[w] > 0.0)
            row_print(&table, waste_meaning[w], waste.pe_bytes[w], pe_all, waste.machine_bytes[w], machine_all);
    table_print(&table, to, -1);
    table_free(&table);
    idle_print(to, &answer->layout);
}

static void kept_write(struct json *json, const char *key, const struct kept *kept)
{
    json_open(json, key, '{');
    json_number(json, "own_bytes", kept->own_bytes);
    json_number(json, "kept_bytes", kept->kept_bytes);
    json_close(json, '}');
}

void waste_write_json(struct json *json, const struct answer *answer)
{
    struct tensors tensors;
    struct waste waste;
    answer_tensors(&tensors, answer);
    lower_waste(&waste, &tensors);
    json_open(json, "waste", '{');
    kept_write(json, "pe_weights", &waste.pe_weights);
    kept_write(json, "pe_kv", &waste.pe_kv);
    kept_write(json, "machine_weights", &waste.machine_weights);
    kept_write(json, "machine_kv", &waste.machine_kv);
    json_open(json, "causes", '[');
    for (int w = 0; w < N_WASTES; w++) {
        if (waste.machine_bytes[w] <= 0.0) continue;
        json_open(json, NULL, '{');
        json_text(json, "cause", waste_name[w]);
        json_text(json, "meaning", waste_meaning[w]);
        json_bool(json, "kv", waste_of_kv[w]);
        json_number(json, "pe_bytes", waste.pe_bytes[w]);
        json_number(json, "machine_bytes", waste.machine_bytes[w]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "idle_pes", (double)(answer->layout.pes - answer->layout.used));
    json_close(json, '}');
}
