/* What may be varied about a machine: the knob table, the words of its codes, and the view of a machine that lowering has
 * (MODEL section 1, "Fabric" and "Rates"; DESIGN section 2).
 *
 * The table is expanded from HARDWARE_KNOBS, so a knob is added by one line of the header. */
#include <string.h>

#include "cosweep/hardware.h"

const struct knob hardware_knob[N_HARDWARE_KNOBS] = {
#define X(member, path, group, dimension, low, high, words, meaning)                                                        \
    [HW_##member] = {#member, path, GROUP_##group, DIM_##dimension, low, high, words, meaning},
    HARDWARE_KNOBS(X)
#undef X
};

enum { WORD_CHARS = 32 }; /* as the header promises, the end included */

char *knob_word(const struct knob *knob, int code, char text[WORD_CHARS])
{
    const char *word = knob->words;
    for (int i = 0; i < code && word != NULL; i++) {
        word = strchr(word, '|');
        word = word != NULL ? word + 1 : NULL;
    }
    size_t length = code >= 0 && word != NULL ? strcspn(word, "|") : 0;
    length = length < WORD_CHARS ? length : WORD_CHARS - 1;
    memcpy(text, length > 0 ? word : "", length);
    text[length] = '\0';
    return text;
}

int knob_code(const struct knob *knob, const char *word)
{
    const size_t length = strlen(word);
    const char *candidate = knob->words;
    for (int code = 0; length > 0; code++) {
        const size_t candidate_length = strcspn(candidate, "|");
        if (candidate_length == length && memcmp(candidate, word, length) == 0) return code;
        if (candidate[candidate_length] == '\0') break;
        candidate += candidate_length + 1;
    }
    return -1;
}

struct fabric fabric_of(const struct hardware *hardware)
{
    return (struct fabric){
        .pes_per_cube = (int64_t)hardware->pes_per_cube,
        .cubes_per_sip = (int64_t)hardware->cubes_per_sip,
        .topology = {(enum topology)hardware->pe_topology, (enum topology)hardware->d2d_topology,
                     (enum topology)hardware->c2c_topology},
        .allocation = (enum allocation)hardware->allocation,
        .tile_rows = (int64_t)hardware->gemm_tile_rows,
        .tile_columns = (int64_t)hardware->gemm_tile_columns,
        .tile_reduction = (int64_t)hardware->gemm_tile_reduction,
        .query_tile = (int64_t)hardware->attention_query_tile,
        .gqa_reuse = hardware->gqa_reuse != 0,
    };
}
