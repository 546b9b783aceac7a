/* `explain --formulas --json`: the equations of a stage with their numbers, base units. */
#include "cli/formulas.h"
#include <assert.h>

static void terms_write(struct json *json, const struct symbols *symbols, enum stage stage)
{
    static const char *const key[N_QUANTITIES] = {"flop", "vector_flop", "hbm_bytes"};
    char text[EXPRESSION_CHARS];
    json_open(json, "formulas", '[');
    for (int q = 0; q < N_QUANTITIES; q++) {
        for (const struct formula *f = NULL; (f = formula_next(f, symbols, stage, (enum quantity)q));) {
            json_open(json, NULL, '{');
            json_text(json, "quantity", key[q]);
            json_text(json, "term", f->label);
            json_text(json, "formula", f->text);
            json_text(json, "substituted", expression_substitute(text, sizeof text, f->text, symbols->value));
            json_number(json, "value", expression_value(f->text, symbols->value));
            json_close(json, '}');
        }
    }
    json_close(json, ']');
}

static void exchange_write(struct json *json, const struct exchange_walk *walk, const struct symbols *symbols)
{
    static const char *const key[N_LEVELS] = {"pe", "d2d", "c2c"};
    const struct exchange *const exchange = walk->exchange;
    char text[EXPRESSION_CHARS];
    json_open(json, NULL, '{');
    json_text(json, "kind", exchange_kind_name(exchange));
    json_text(json, "what", exchange->label);
    json_text(json, "over", exchange_ranks_meaning[exchange->over]);
    json_number(json, "ranks", (double)walk->group->n);
    json_text(json, "formula", exchange->text);
    json_text(json, "substituted", expression_substitute(text, sizeof text, exchange->text, symbols->value));
    json_number(json, "vector_bytes", walk->vector_bytes);
    json_bool(json, "one_shot", walk->one_shot);
    json_open(json, "levels", '[');
    assert(walk->top < N_LEVELS);
    for (int l = 0; l <= walk->top; l++) {
        if (walk->group->span[l] == 1) continue;
        json_open(json, NULL, '{');
        json_text(json, "link", key[l]);
        json_number(json, "nodes", (double)walk->group->span[l]);
        json_number(json, "hops", walk->leg[l].hops);
        json_number(json, "link_bytes", walk->leg[l].load_bytes);
        json_number(json, "pe_port_bytes", walk->leg[l].pe_port_bytes);
        json_number(json, "cube_port_bytes", walk->leg[l].cube_port_bytes);
        json_number(json, "time_s", walk->leg_s[l]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_number(json, "fixed_s", walk->fixed_s);
    json_number(json, "time_s", walk->time_s);
    json_close(json, '}');
}

void formulas_write_json(struct json *json, const struct formulas *formulas, const struct stage_row *row)
{
    const struct symbols *const symbols = formulas_symbols(formulas, row);
    const struct roofline roofline = formulas_roofline(formulas, row);
    struct exchange_walk walk = exchange_walk(formulas, row);
    terms_write(json, symbols, row->stage);
    json_open(json, "exchanges", '[');
    while (exchange_walk_next(&walk)) exchange_write(json, &walk, symbols);
    json_close(json, ']');
    json_open(json, "roofline", '{');
    json_number(json, "compute_s", roofline.term_s[QUANTITY_FLOP]);
    json_number(json, "vector_s", roofline.term_s[QUANTITY_VECTOR_FLOP]);
    json_number(json, "memory_s", roofline.term_s[QUANTITY_HBM_BYTES]);
    json_number(json, "fixed_s", roofline.fixed_s);
    json_close(json, '}');
}
