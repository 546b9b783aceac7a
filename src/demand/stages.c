/* The stage table as arrays (the list itself is in the header). */
#include "cosweep/demand.h"

#define X(code, name, engine, launches, meaning) name,
const char *const stage_name[N_STAGES] = {STAGES(X)};
#undef X
#define X(code, name, engine, launches, meaning) meaning,
const char *const stage_meaning[N_STAGES] = {STAGES(X)};
#undef X
#define X(code, name, engine, launches, meaning) ENGINE_##engine,
const enum engine stage_engine[N_STAGES] = {STAGES(X)};
#undef X
#define X(code, name, engine, launches, meaning) launches,
const bool stage_launches[N_STAGES] = {STAGES(X)};
#undef X
