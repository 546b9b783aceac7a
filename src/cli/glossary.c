/* cosweep glossary: every symbol of the model: what it means, its unit, where the model defines it; and of a study its value
 * for one candidate, with what it follows from. */
#include "cli/formulas.h"
#include <math.h>
#include <string.h>

static struct {
    struct choice choice;
    bool json;
} options;

static const struct option table[] = {
    {ARGUMENT_OPTIONAL, 0, "STUDY|RESULT", NULL, &options.choice.source,
     "values for a candidate of this study, or result with --row"},
    CHOICE_OPTIONS(options.choice),
    {OPTION_FLAG, 'j', "json", NULL, &options.json, "as JSON, base units"},
    {0},
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A candidate that is refused for what its plan is has no sizes. */
static int values_find(struct formulas *formulas, struct answer *answer, struct arena *arena, struct errors *errors)
{
    static struct candidate candidate;
    struct study study;
    char reason[48];
    if (choice_read(&candidate, &study, &options.choice, arena, errors) != 0) return -1;
    answer_candidate(answer, &candidate, study.limit, study.n_limits);
    if (!answer->complete)
        return error_add(errors, STATUS_INPUT, options.choice.source, 0,
                         "the candidate is refused as %s (%s); choose another with --plan",
                         reason_text(reason, answer->reason, study.limit), reason_meaning[answer->reason]);
    formulas_init(formulas, answer);
    return 0;
}

/* ---- for people -------------------------------------------------------------------------------------------------- */

static void value_set(struct table *list, int row, int column, const struct symbols *symbols, enum symbol symbol)
{
    char text[32];
    const double value = symbols->value[symbol];
    table_set(list, row, column, isnan(value) ? "-" : unit_format(text, value, symbol_facts[symbol].dimension));
}

/* Plain numbers have none. */
static const char *unit_text(enum dimension dimension)
{
    const char *const name = unit_name(dimension);
    return strcmp(name, "1") == 0 ? "" : name;
}

/* The definitions of all layer kinds, each once. */
static void definition_set(struct table *list, int row, int column, const struct formulas *formulas, enum symbol symbol)
{
    char text[EXPRESSION_CHARS] = "";
    for (int k = 0; k < formulas->answer->demand.n_kinds; k++) {
        const char *const definition = symbol_definition(&formulas->of[k], symbol);
        bool shown = !definition;
        for (int j = 0; j < k; j++) shown = shown || definition == symbol_definition(&formulas->of[j], symbol);
        const size_t n = strlen(text);
        if (!shown) snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? "  or  " : "", definition);
    }
    table_set(list, row, column, text[0] != '\0' ? text : "-");
}

/* How many kinds have values of their own: only sizes and the window depend on the kind. */
static int columns_of_kinds(const struct formulas *formulas, enum symbol_owner owner)
{
    if (!formulas) return 0;
    for (int k = 1; k < formulas->answer->demand.n_kinds; k++) {
        for (int i = 0; i < N_SYMBOLS; i++) {
            const double first = formulas->of[0].value[i], other = formulas->of[k].value[i];
            if (symbol_facts[i].of == owner && first != other && !(isnan(first) && isnan(other)))
                return formulas->answer->demand.n_kinds;
        }
    }
    return 1;
}

/* `formulas` is NULL where no candidate is given. */
static void owner_print(const struct formulas *formulas, enum symbol_owner owner)
{
    const bool defined = formulas && (owner == OF_SIZES || owner == OF_SCENARIO); /* the others are given */
    const int n_kinds = columns_of_kinds(formulas, owner), unit = 1 + n_kinds;
    struct table list;
    char kind[64];
    table_init(&list, unit + 3 + defined);
    table_column(&list, 0, "symbol", false);
    for (int k = 0; k < n_kinds; k++) {
        answer_kind_text(kind, &formulas->answer->demand, &(struct stage_row){.part = k});
        table_column(&list, 1 + k, n_kinds > 1 ? kind : "value", true);
    }
    table_column(&list, unit, "unit", false);
    table_column(&list, unit + 1, "MODEL", true);
    table_column(&list, unit + 2, "meaning", false);
    if (defined) table_column(&list, unit + 3, "=", false); /* last: it is the longest */
    for (int i = 0; i < N_SYMBOLS; i++) {
        if (symbol_facts[i].of != owner) continue;
        const int at = table_row(&list);
        table_set(&list, at, 0, symbol_facts[i].name);
        for (int k = 0; k < n_kinds; k++) value_set(&list, at, 1 + k, &formulas->of[k], (enum symbol)i);
        table_set(&list, at, unit, unit_text(symbol_facts[i].dimension));
        table_set(&list, at, unit + 1, symbol_facts[i].section);
        table_set(&list, at, unit + 2, symbol_facts[i].meaning);
        if (defined) definition_set(&list, at, unit + 3, formulas, (enum symbol)i);
    }
    table_print(&list, stdout, -1);
    table_free(&list);
}

static void all_print(const struct formulas *formulas)
{
    printf("Symbols of the model; `MODEL` is the section that defines them.\n");
    for (int owner = 0; owner < N_SYMBOL_OWNERS; owner++) {
        answer_heading(stdout, symbol_owner_name[owner]);
        owner_print(formulas, (enum symbol_owner)owner);
    }
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

static void values_json(struct json *json, const struct formulas *formulas, enum symbol symbol)
{
    json_open(json, "values", '[');
    for (int k = 0; k < formulas->answer->demand.n_kinds; k++) {
        const struct layer_kind *const kind = &formulas->answer->demand.kind[k];
        json_open(json, NULL, '{');
        json_number(json, "window", (double)kind->window_tokens);
        json_bool(json, "moe", kind->moe);
        json_number(json, "value", formulas->of[k].value[symbol]);
        json_text(json, "definition", symbol_definition(&formulas->of[k], symbol));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void all_json(const struct formulas *formulas)
{
    struct json json = {.to = stdout, .pretty = true};
    json_open(&json, NULL, '[');
    for (int i = 0; i < N_SYMBOLS; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "symbol", symbol_facts[i].name);
        json_text(&json, "of", symbol_owner_name[symbol_facts[i].of]);
        json_text(&json, "unit", unit_name(symbol_facts[i].dimension));
        json_text(&json, "section", symbol_facts[i].section);
        json_text(&json, "meaning", symbol_facts[i].meaning);
        if (formulas) values_json(&json, formulas, (enum symbol)i);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    putchar('\n');
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static bool chooses_candidate(const struct choice *choice)
{
    return choice->row || choice->scenario || choice->plan || choice->hardware || choice->sets.n > 0;
}

static int cmd_glossary(struct cli *cli)
{
    static struct formulas formulas;
    static struct answer answer;
    struct arena arena = {0};
    const bool valued = options.choice.source != NULL;
    int code = -1;
    if (!valued && chooses_candidate(&options.choice)) {
        error_add(&cli->errors, STATUS_INPUT, NULL, 0, "glossary: options that choose a candidate need a study; give STUDY");
        goto out;
    }
    if (valued && values_find(&formulas, &answer, &arena, &cli->errors) != 0) goto out;
    if (options.json) all_json(valued ? &formulas : NULL);
    else all_print(valued ? &formulas : NULL);
    code = STATUS_DONE;
out:
    arena_free(&arena);
    return code;
}

const struct command command_glossary = {
    .name = "glossary",
    .summary = "every symbol of the model, with its value for a candidate",
    .usage = "[STUDY [--plan LIST] [--hardware LIST] | RESULT --row N]",
    .examples = "  cosweep glossary\n"
                "  cosweep glossary study.yaml --plan tp=8,cp=4\n"
                "  cosweep glossary study.yaml --scenario prefill-8k --json\n",
    .options = table,
    .call = cmd_glossary,
};
