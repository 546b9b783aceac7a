/* How every tensor is cut over the ranks: as rectangles for people, as numbers for other programs. */
#include "cli/answer.h"
#include <inttypes.h>
#include <string.h>

void answer_tensors(struct tensors *tensors, const struct answer *answer)
{
    const struct candidate *const candidate = &answer->candidate;
    const struct fabric fabric = fabric_of(&candidate->hardware);
    struct lowering lowering;
    lower_init(&lowering, &candidate->scenario);
    lower_set_fabric(&lowering, &fabric);
    lower_tensors(tensors, &lowering, &candidate->plan);
}

static int64_t ways(const struct tensor_side *side)
{
    int64_t n = 1;
    for (int c = 0; c < side->n_cuts; c++) n *= side->cut[c].ways;
    return n;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

enum { DRAWN_WIDTH = 32, DRAWN_HEIGHT = 4, MOST_DRAWN_COLUMNS = 16, MOST_DRAWN_ROWS = 4 };

/* "hidden 8192, by TP 8 x CP 2 -> 512" */
static void side_print(FILE *to, const struct tensor_side *side)
{
    fprintf(to, "%s %.10g", side->what, side->size);
    for (int c = 0; c < side->n_cuts; c++)
        fprintf(to, "%s %s %" PRId64, c == 0 ? ", cut by" : " x", cut_name[side->cut[c].by], side->cut[c].ways);
    if (side->n_cuts > 0) fprintf(to, " -> %.10g", side->share);
}

static void rule_print(FILE *to, int columns, int width)
{
    fputs("    ", to);
    for (int c = 0; c < columns; c++) {
        putc('+', to);
        for (int i = 0; i < width; i++) putc('-', to);
    }
    fputs("+\n", to);
}

/* The rectangle with its lines; the share of rank 0 is filled.  Cuts finer than can be drawn are drawn coarser. */
static void rectangle_print(FILE *to, const struct tensor *tensor)
{
    const int64_t n_columns = ways(&tensor->columns), n_rows = ways(&tensor->rows);
    const int columns = n_columns < MOST_DRAWN_COLUMNS ? (int)n_columns : MOST_DRAWN_COLUMNS;
    const int rows = n_rows < MOST_DRAWN_ROWS ? (int)n_rows : MOST_DRAWN_ROWS;
    const int width = DRAWN_WIDTH / columns - 1, height = rows > 1 ? 1 : DRAWN_HEIGHT / 2;
    for (int r = 0; r < rows; r++) {
        rule_print(to, columns, width);
        for (int line = 0; line < height; line++) {
            fputs("    ", to);
            for (int c = 0; c < columns; c++) {
                putc('|', to);
                for (int i = 0; i < width; i++) putc(r == 0 && c == 0 ? '#' : ' ', to);
            }
            fputs("|\n", to);
        }
    }
    rule_print(to, columns, width);
    if (columns < n_columns || rows < n_rows)
        fprintf(to, "    (%" PRId64 " x %" PRId64 " parts, drawn as %d x %d)\n", n_rows, n_columns, rows, columns);
}

static void tensor_print(FILE *to, const struct tensor *tensor)
{
    static const char *const axis_name[] = {"tp", "cp", "dp"};
    char whole[32], share[32];
    fprintf(to, "\n%s: %s", tensor_name[tensor->code], tensor_meaning[tensor->code]);
    if (tensor->window_tokens > 0) fprintf(to, ", window %" PRId64, tensor->window_tokens);
    if (tensor->layers > 1) fprintf(to, ", %" PRId64 " layers", tensor->layers);
    fputs("\n    rows: ", to);
    side_print(to, &tensor->rows);
    fputs("; columns: ", to);
    side_print(to, &tensor->columns);
    if (tensor->stack.size > 1.0) {
        fputs("\n    stack: ", to);
        side_print(to, &tensor->stack);
    }
    fprintf(to, "\n    %s%s, a PE keeps %s", unit_format(whole, tensor_bytes(tensor), DIM_BYTES),
            tensor->layers > 1 ? " a layer" : "", unit_format(share, tensor_share_bytes(tensor), DIM_BYTES));
    for (int a = 0; a < 3; a++)
        if (tensor->copies[a] > 1.0) fprintf(to, ", %.4g copies over %s", tensor->copies[a], axis_name[a]);
    putc('\n', to);
    rectangle_print(to, tensor);
}

void sharding_print(FILE *to, const struct answer *answer)
{
    struct tensors tensors;
    answer_tensors(&tensors, answer);
    answer_heading(to, "Tensors (rows down, columns across; # is the share of one PE)");
    for (int i = 0; i < tensors.n; i++) tensor_print(to, &tensors.tensor[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void side_write(struct json *json, const char *key, const struct tensor_side *side)
{
    json_open(json, key, '{');
    json_text(json, "of", side->what);
    json_number(json, "size", side->size);
    json_number(json, "share", side->share);
    if (side->n_cuts > 0) json_open(json, "cuts", '{');
    for (int c = 0; c < side->n_cuts; c++) json_number(json, cut_name[side->cut[c].by], (double)side->cut[c].ways);
    if (side->n_cuts > 0) json_close(json, '}');
    json_close(json, '}');
}

void tensors_write_json(struct json *json, const struct answer *answer)
{
    struct tensors tensors;
    answer_tensors(&tensors, answer);
    json_open(json, "tensors", '[');
    for (int i = 0; i < tensors.n; i++) {
        const struct tensor *const t = &tensors.tensor[i];
        json_open(json, NULL, '{');
        json_text(json, "tensor", tensor_name[t->code]);
        if (t->window_tokens > 0) json_number(json, "window", (double)t->window_tokens);
        json_number(json, "layers", (double)t->layers);
        json_number(json, "fullest_layers", (double)t->fullest_layers);
        if (t->stack.size > 1.0) side_write(json, "stack", &t->stack);
        side_write(json, "rows", &t->rows);
        side_write(json, "columns", &t->columns);
        json_open(json, "copies", '[');
        for (int a = 0; a < 3; a++) json_number(json, NULL, t->copies[a]);
        json_close(json, ']');
        json_number(json, "bytes", tensor_bytes(t));
        json_number(json, "share_bytes", tensor_share_bytes(t));
        json_close(json, '}');
    }
    json_close(json, ']');
}
