/* `cosweep hardware`: machines that are known by name, with sources, and the knobs a machine has. */
#include "cli/cli.h"

#include <string.h>

static struct {
    const char *name;
    bool json, knobs;
} options;
static const struct option table[] = {
    {ARGUMENT_OPTIONAL, 0, "NAME", NULL, &options.name, "a preset"},
    {OPTION_FLAG, 0, "knobs", NULL, &options.knobs, "every key under `hardware`: range, `auto` values, meaning"},
    {OPTION_FLAG, 0, "json", NULL, &options.json, "base units, all digits"},
    {0},
};

static char *knob_text(char text[32], const struct knob *knob, double value)
{
    return knob->dimension == DIM_CODE ? knob_word(knob, (int)value, text) : unit_format(text, value, knob->dimension);
}

static double knob_value(const struct hardware *hardware, int i)
{
    double value;
    memcpy(&value, (const char *)hardware + (size_t)i * sizeof value, sizeof value);
    return value;
}

/* ---- one machine ------------------------------------------------------------------------------------------------ */

static void preset_json(struct json *json, const struct hardware_preset *preset)
{
    char text[32];
    json_open(json, NULL, '{');
    json_text(json, "name", preset->name);
    json_text(json, "meaning", preset->meaning);
    json_text(json, "source", preset->source);
    json_open(json, "hardware", '{');
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) {
        const struct knob *const knob = &hardware_knob[i];
        const double value = knob_value(&preset->hardware, i);
        if (knob->dimension == DIM_CODE) json_text(json, knob->name, knob_word(knob, (int)value, text));
        else if (knob->dimension == DIM_BOOL) json_bool(json, knob->name, value != 0);
        else json_number(json, knob->name, value);
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void preset_print(const struct hardware_preset *preset)
{
    struct table list;
    table_init(&list, 3);
    table_column(&list, 0, "key", false);
    table_column(&list, 1, "value", true);
    table_column(&list, 2, "meaning", false);
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) {
        char text[32];
        const int row = table_row(&list);
        table_set(&list, row, 0, hardware_knob[i].path);
        table_set(&list, row, 1, knob_text(text, &hardware_knob[i], knob_value(&preset->hardware, i)));
        table_set(&list, row, 2, hardware_knob[i].meaning);
    }
    printf("%s: %s\nsource: %s\n\n", preset->name, preset->meaning, preset->source);
    table_print(&list, stdout, -1);
    table_free(&list);
}

/* ---- all machines ----------------------------------------------------------------------------------------------- */

static void presets_print(void)
{
    static const enum hardware_knob shown[] = {HW_flops,         HW_hbm_bandwidth, HW_hbm_capacity,  HW_pes_per_cube,
                                               HW_cubes_per_sip, HW_pe_bandwidth,  HW_d2d_bandwidth, HW_c2c_bandwidth};
    enum { N_SHOWN = sizeof shown / sizeof shown[0] };
    struct table list;
    char text[32];
    table_init(&list, N_SHOWN + 2);
    table_column(&list, 0, "name", false);
    for (int c = 0; c < N_SHOWN; c++) table_column(&list, c + 1, hardware_knob[shown[c]].name, true);
    table_column(&list, N_SHOWN + 1, "meaning", false);
    for (int i = 0; i < n_hardware_presets; i++) {
        const struct hardware_preset *const preset = hardware_preset(i);
        const int row = table_row(&list);
        table_set(&list, row, 0, preset->name);
        for (int c = 0; c < N_SHOWN; c++)
            table_set(&list, row, c + 1, knob_text(text, &hardware_knob[shown[c]], knob_value(&preset->hardware, shown[c])));
        table_set(&list, row, N_SHOWN + 1, preset->meaning);
    }
    table_print(&list, stdout, -1);
    table_free(&list);
}

/* "from LOW to HIGH", or the words of a code. */
static void range_text(char *text, size_t chars, const struct knob *knob)
{
    char low[32], high[32];
    if (knob->dimension == DIM_CODE) snprintf(text, chars, "%s", knob->words);
    else if (knob->dimension == DIM_BOOL) snprintf(text, chars, "true|false");
    else snprintf(text, chars, "%s to %s", knob_text(low, knob, knob->low), knob_text(high, knob, knob->high));
}

static void knobs_print(void)
{
    struct table list;
    table_init(&list, 4);
    table_column(&list, 0, "key", false);
    table_column(&list, 1, "range", false);
    table_column(&list, 2, "auto (balanced)", false);
    table_column(&list, 3, "meaning", false);
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) {
        char range[96], grid[64] = "-", from[32], to[32];
        const double *values = NULL;
        const int n = hardware_grid((enum hardware_knob)i, DEPTH_BALANCED, &values);
        const int row = table_row(&list);
        range_text(range, sizeof range, &hardware_knob[i]);
        if (n > 0)
            snprintf(grid, sizeof grid, "%s .. %s (%d)", knob_text(from, &hardware_knob[i], values[0]),
                     knob_text(to, &hardware_knob[i], values[n - 1]), n);
        table_set(&list, row, 0, hardware_knob[i].path);
        table_set(&list, row, 1, range);
        table_set(&list, row, 2, grid);
        table_set(&list, row, 3, hardware_knob[i].meaning);
    }
    table_print(&list, stdout, -1);
    table_free(&list);
}

static void knobs_json(struct json *json)
{
    json_open(json, NULL, '[');
    for (int i = 0; i < N_HARDWARE_KNOBS; i++) {
        const struct knob *const knob = &hardware_knob[i];
        const double *values = NULL;
        const int n = hardware_grid((enum hardware_knob)i, DEPTH_BALANCED, &values);
        json_open(json, NULL, '{');
        json_text(json, "key", knob->path);
        json_text(json, "units", unit_name(knob->dimension));
        json_number(json, "low", knob->low);
        json_number(json, "high", knob->high);
        if (knob->dimension == DIM_CODE) json_text(json, "words", knob->words);
        json_open(json, "auto", '[');
        for (int v = 0; v < n; v++) json_number(json, NULL, values[v]);
        json_close(json, ']');
        json_text(json, "meaning", knob->meaning);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static void named_show(struct json *json)
{
    for (int i = 0; i < n_hardware_presets; i++) {
        if (strcmp(hardware_preset(i)->name, options.name) != 0) continue;
        if (options.json) preset_json(json, hardware_preset(i));
        else preset_print(hardware_preset(i));
    }
}

static void all_show(struct json *json)
{
    if (options.knobs && options.json) {
        knobs_json(json);
    } else if (options.knobs) {
        knobs_print();
    } else if (options.json) {
        json_open(json, NULL, '[');
        for (int i = 0; i < n_hardware_presets; i++) preset_json(json, hardware_preset(i));
        json_close(json, ']');
    } else {
        presets_print();
    }
}

static int cmd_hardware(struct cli *cli)
{
    struct json json = {.to = stdout, .pretty = true};
    struct hardware unused;
    if (options.name && options.knobs)
        return error_add(&cli->errors, STATUS_INPUT, NULL, 0,
                         "hardware: --knobs is the same for every preset; leave out `%s`", options.name);
    if (options.name && hardware_by_name(&unused, options.name, &cli->errors, NULL, 0) != 0) return -1;
    if (options.name) named_show(&json);
    else all_show(&json);
    if (options.json) printf("\n");
    return STATUS_DONE;
}

const struct command command_hardware = {
    .name = "hardware",
    .summary = "machines that are known by name, and the knobs they have",
    .usage = "[NAME] [OPTIONS]",
    .examples = "  cosweep hardware\n"
                "  cosweep hardware sip\n"
                "  cosweep hardware --knobs\n",
    .options = table,
    .call = cmd_hardware,
};
