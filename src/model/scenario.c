/* Which number formats and phases are there?  The tables behind the X-macro of model.h (MODEL section 1, Scenario). */
#include "cosweep/model.h"

const char *const dtype_name[N_DTYPES] = {
#define X(code, name, bytes, compute) [DTYPE_##code] = name,
    DTYPES(X)
#undef X
};

const double dtype_bytes[N_DTYPES] = {
#define X(code, name, bytes, compute) [DTYPE_##code] = bytes,
    DTYPES(X)
#undef X
};

const enum dtype dtype_compute[N_DTYPES] = {
#define X(code, name, bytes, compute) [DTYPE_##code] = compute,
    DTYPES(X)
#undef X
};

const char *const phase_name[3] = {[PHASE_DECODE] = "decode", [PHASE_PREFILL] = "prefill", [PHASE_SERVE] = "serve"};
