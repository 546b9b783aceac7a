/* Which of the clones of simd.h this processor takes. */
#include "cosweep/simd.h"

const char *simd_name(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return "AVX-512";
    if (__builtin_cpu_supports("x86-64-v3")) return "AVX2";
#endif
    return "baseline";
}
