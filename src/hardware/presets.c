/* Which machines have a name: the preset table and its lookup.  The rows, with their sources, are in presets.def. */
#include <string.h>

#include "cosweep/hardware.h"

#include "fitted.def"

#define MACHINE(preset_name, preset_meaning, preset_source, ...)                                                            \
    {.name = preset_name, .meaning = preset_meaning, .source = preset_source, .hardware = {__VA_ARGS__}},
static const struct hardware_preset preset_table[] = {
#include "presets.def"
};

enum { N_PRESETS = sizeof preset_table / sizeof preset_table[0] };
const int n_hardware_presets = N_PRESETS;

const struct hardware_preset *hardware_preset(int i)
{
    return &preset_table[i];
}

int hardware_by_name(struct hardware *hardware, const char *name, struct errors *errors, const char *file, int line)
{
    const char *names[N_PRESETS];
    for (int i = 0; i < N_PRESETS; i++) {
        names[i] = preset_table[i].name;
        if (strcmp(name, names[i]) == 0) {
            *hardware = preset_table[i].hardware;
            return 0;
        }
    }
    const char *nearest = nearest_word(name, names, N_PRESETS);
    if (nearest != NULL)
        return error_add(errors, STATUS_INPUT, file, line, "hardware.base: '%s' is no preset; did you mean '%s'?", name,
                         nearest);
    return error_add(errors, STATUS_INPUT, file, line,
                     "hardware.base: '%s' is no preset; `cosweep hardware` lists them, `sip` is the default", name);
}
