/* `explain --formulas` for people: every symbol of the candidate's sizes, then stage by stage the equation, the same with
 * numbers, and what it comes to. */
#include "cli/formulas.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

static bool differs(double a, double b)
{
    return isnan(a) ? !isnan(b) : a != b;
}

/* The sizes of kind k; of later kinds only those that differ from the first one's. */
static void sizes_print(FILE *to, const struct formulas *formulas, int kind)
{
    static const char *const headings[] = {"symbol", "value", "=", "meaning"};
    const struct symbols *const symbols = &formulas->of[kind], *const first = &formulas->of[0];
    struct table table;
    char text[32];
    table_init(&table, 4);
    for (int c = 0; c < 4; c++) table_column(&table, c, headings[c], c == 1);
    for (int i = 0; i < N_SYMBOLS; i++) {
        const double value = symbols->value[i];
        const char *const definition = symbol_definition(symbols, (enum symbol)i);
        if (!definition || (kind > 0 && !differs(value, first->value[i]))) continue;
        const int at = table_row(&table);
        table_set(&table, at, 0, symbol_facts[i].name);
        table_set(&table, at, 1, unit_format(text, value, symbol_facts[i].dimension));
        table_set(&table, at, 2, definition);
        table_set(&table, at, 3, symbol_facts[i].meaning);
    }
    table_print(&table, to, -1);
    table_free(&table);
}

/* ---- one stage --------------------------------------------------------------------------------------------------- */

static void terms_print(FILE *to, const struct symbols *symbols, enum stage stage, enum quantity quantity)
{
    char text[EXPRESSION_CHARS], value[32];
    const enum dimension dimension = quantity == QUANTITY_HBM_BYTES ? DIM_BYTES : DIM_FLOP;
    double sum = 0.0;
    int n = 0;
    for (const struct formula *f = NULL; (f = formula_next(f, symbols, stage, quantity)); n++) {
        const double term = expression_value(f->text, symbols->value);
        sum += term;
        fprintf(to, "  %s: %s\n      %s\n    = %s\n    = %s\n", quantity_name[quantity], f->label, f->text,
                expression_substitute(text, sizeof text, f->text, symbols->value), unit_format(value, term, dimension));
    }
    if (n > 1) fprintf(to, "  %s: together %s\n", quantity_name[quantity], unit_format(value, sum, dimension));
}

/* hops*a_l + max(load/(b_l*e_link_l), ...): which of the three limits it, is marked. */
static void leg_print(FILE *to, const struct exchange_walk *walk, int level, const double *v)
{
    const struct leg *const leg = &walk->leg[level];
    const double bytes[N_LEVELS] = {leg->load_bytes, leg->pe_port_bytes, leg->cube_port_bytes};
    const int through[N_LEVELS] = {level, 0, 1};
    double longest_s = 0.0, term_s[N_LEVELS];
    int slowest = 0, n = 0;
    char size[32], time[32];
    for (int i = 0; i < N_LEVELS; i++) {
        term_s[i] = bytes[i] / (v[SYMBOL_b_0 + through[i]] * v[SYMBOL_e_link_0 + through[i]]);
        n += bytes[i] > 0.0;
        if (term_s[i] > longest_s) longest_s = term_s[i], slowest = i;
    }
    fprintf(to, "      %s links, %" PRId64 " nodes: %g*a_%d + %s", link_name[level], walk->group->span[level], leg->hops,
            level, n > 1 ? "max(" : "");
    for (int i = 0, shown = 0; i < N_LEVELS; i++) {
        if (bytes[i] <= 0.0) continue;
        fprintf(to, "%s%s%s/(b_%d*e_link_%d)%s", shown++ ? ", " : "", n > 1 && i == slowest ? "[" : "",
                unit_format(size, bytes[i], DIM_BYTES), through[i], through[i], n > 1 && i == slowest ? "]" : "");
    }
    fprintf(to, "%s = %s", n > 1 ? ")" : "", unit_format(time, leg->hops * v[SYMBOL_a_0 + level], DIM_SECONDS));
    fprintf(to, " + %s = %s\n", unit_format(size, longest_s, DIM_SECONDS),
            unit_format(time, walk->leg_s[level], DIM_SECONDS));
}

static void ring_print(FILE *to, const struct exchange_walk *walk)
{
    char hop[32], chunk[32], fixed[32], time[32];
    unit_format(hop, walk->message_s, DIM_SECONDS);
    unit_format(chunk, walk->chunk_s, DIM_SECONDS);
    fprintf(to, "      hidden behind a chunk of attention: (cp-1)*(max(chunk,hop)-chunk)%s + (cp-1)*o_coll_%d\n",
            walk->n_extra > 0.0 ? " + hop" : "", walk->top);
    fprintf(to, "    = %g*(max(%s,%s)-%s)", walk->n_hops, chunk, hop, chunk);
    if (walk->n_extra > 0.0) fprintf(to, " + %s", hop);
    fprintf(to, " + %g*%s = %s\n", walk->n_hops, unit_format(fixed, walk->fixed_s, DIM_SECONDS),
            unit_format(time, walk->time_s, DIM_SECONDS));
}

static void exchange_print(FILE *to, const struct exchange_walk *walk, const struct symbols *symbols)
{
    const struct exchange *const exchange = walk->exchange;
    char text[EXPRESSION_CHARS], size[32], fixed[32], time[32];
    fprintf(to, "  exchange: %s, %s%s over %s, %" PRId64 " ranks\n", exchange->label, exchange_kind_name(exchange),
            walk->one_shot ? " (one-shot at the top)" : "", exchange_ranks_meaning[exchange->over], walk->group->n);
    fprintf(to, "      %s\n    = %s\n    = %s\n", exchange->text,
            expression_substitute(text, sizeof text, exchange->text, symbols->value),
            unit_format(size, walk->vector_bytes, DIM_BYTES));
    for (int l = 0; l <= walk->top; l++)
        if (walk->leg_s[l] > 0.0) leg_print(to, walk, l, symbols->value);
    if (exchange->hop && walk->row) ring_print(to, walk);
    else
        fprintf(to, "    = %s + o_coll_%d = %s + %s = %s\n", exchange->hop ? "the slowest" : "the sum", walk->top,
                unit_format(size, walk->message_s, DIM_SECONDS), unit_format(fixed, walk->fixed_s, DIM_SECONDS),
                unit_format(time, walk->time_s, DIM_SECONDS));
}

/* The roofline's winner stands in brackets. */
static void time_print(FILE *to, const struct formulas *formulas, const struct stage_row *row, const struct stage_time *time)
{
    const struct roofline roofline = formulas_roofline(formulas, row);
    const bool attention = stage_engine[row->stage] == ENGINE_ATTENTION;
    char text[32];
    if (!stage_launches[row->stage]) {
        if (time->time_s > 0.0) fprintf(to, "  time: exchange = %s\n", unit_format(text, time->time_s, DIM_SECONDS));
        else fprintf(to, "  nothing to exchange\n");
        return;
    }
    fprintf(to, "  time:\n      max(%s) + exchange + %s\n    = max(",
            attention ? "FLOP/(Ra*e_attn), vector/(Rv*e_attn), bytes/(BW*e_kv)"
                      : "FLOP/(Rg*e_gemm), vector/(Rv*e_gemm), bytes/(BW*e_hbm)",
            attention ? "o_attn" : "o_kernel");
    for (int q = 0; q < N_QUANTITIES; q++) {
        const bool wins = roofline.winner == (enum quantity)q;
        fprintf(to, "%s%s%s%s", q > 0 ? ", " : "", wins ? "[" : "", unit_format(text, roofline.term_s[q], DIM_SECONDS),
                wins ? "]" : "");
    }
    fprintf(to, ") + %s", unit_format(text, time->exchange_s, DIM_SECONDS));
    fprintf(to, " + %s", unit_format(text, roofline.fixed_s, DIM_SECONDS));
    fprintf(to, " = %s\n", unit_format(text, time->time_s, DIM_SECONDS));
}

/* ---- all stages -------------------------------------------------------------------------------------------------- */

/* Whether the same equations hold in two rows of a stage; the first term and exchange tell the variants apart. */
static bool equations_equal(const struct formulas *formulas, const struct stage_row *a, const struct stage_row *b)
{
    const struct symbols *const of_a = formulas_symbols(formulas, a), *const of_b = formulas_symbols(formulas, b);
    for (int q = 0; q < N_QUANTITIES; q++)
        if (formula_next(NULL, of_a, a->stage, (enum quantity)q) != formula_next(NULL, of_b, b->stage, (enum quantity)q))
            return false;
    return exchange_next(NULL, of_a, (int)a->stage) == exchange_next(NULL, of_b, (int)b->stage);
}

/* Whether two rows of a stage, of different layer kinds, read the same. */
static bool rows_equal(const struct formulas *formulas, int a, int b)
{
    const struct stage_row *const row = formulas->answer->demand.row;
    const struct stage_time *const time = formulas->answer->explanation.stage;
    return row[a].stage == row[b].stage && row[a].flop == row[b].flop && row[a].vector_flop == row[b].vector_flop &&
           row[a].hbm_bytes == row[b].hbm_bytes && row[a].n_collectives == row[b].n_collectives &&
           time[a].exchange_s == time[b].exchange_s && equations_equal(formulas, &row[a], &row[b]);
}

static bool is_shown_before(const struct formulas *formulas, int row)
{
    for (int i = 0; i < row; i++)
        if (rows_equal(formulas, i, row)) return true;
    return false;
}

static void stage_heading(FILE *to, const struct formulas *formulas, int row)
{
    const struct answer *const answer = formulas->answer;
    char text[64];
    const char *separator = " (";
    fprintf(to, "\n%s", stage_name[answer->demand.row[row].stage]);
    for (int i = row; i < answer->demand.n_rows; i++) {
        if (!rows_equal(formulas, row, i)) continue;
        answer_kind_text(text, &answer->demand, &answer->demand.row[i]);
        if (text[0] == '\0') continue;
        fprintf(to, "%s%s", separator, text);
        separator = "; ";
    }
    fprintf(to, "%s: %s\n", separator[0] == ';' ? ")" : "", stage_meaning[answer->demand.row[row].stage]);
}

static void exchanges_print(FILE *to, const struct formulas *formulas, const struct stage_row *row)
{
    struct exchange_walk walk = exchange_walk(formulas, row);
    while (exchange_walk_next(&walk)) exchange_print(to, &walk, formulas_symbols(formulas, row));
}

void formulas_print(FILE *to, const struct answer *answer)
{
    static struct formulas formulas;
    const struct demand *const demand = &answer->demand;
    char text[64];
    formulas_init(&formulas, answer);
    answer_heading(to, "Symbols (`" PROGRAM " glossary STUDY` has those that are given, too)");
    for (int k = 0; k < demand->n_kinds; k++) {
        answer_kind_text(text, demand, &(struct stage_row){.part = k});
        if (text[0] != '\0') fprintf(to, "%s%s layers%s:\n", k > 0 ? "\n" : "", text, k > 0 ? ", where they differ" : "");
        sizes_print(to, &formulas, k);
    }
    answer_heading(to, "Formulas (one PE, one micro-batch; what the maximum takes is in brackets)");
    for (int r = 0; r < demand->n_rows; r++) {
        if (is_shown_before(&formulas, r)) continue;
        const struct stage_row *const row = &demand->row[r];
        stage_heading(to, &formulas, r);
        for (int q = 0; q < N_QUANTITIES; q++)
            terms_print(to, formulas_symbols(&formulas, row), row->stage, (enum quantity)q);
        exchanges_print(to, &formulas, row);
        time_print(to, &formulas, row, &answer->explanation.stage[r]);
    }
    if (answer->candidate.plan.pp == 1) return;
    fprintf(to, "\npipeline hop: tokens between pipeline stages\n");
    exchanges_print(to, &formulas, NULL);
    fprintf(to, "  time: %s\n", unit_format(text, answer->explanation.hop_s, DIM_SECONDS));
}
