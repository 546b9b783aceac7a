/* core: one source, three vector widths.  A function marked SIMD_CLONES is compiled for AVX-512, AVX2 and the baseline of
 * the target and chosen when the program starts, so that one binary runs everywhere.  With -ffp-contract=off all clones
 * give the same bits.  Clones break ThreadSanitizer and do not link with clang: there the baseline serves, as with
 * -DCOSWEEP_ONE_PATH, by which tests/simd.sh holds the paths against each other. */
#ifndef COSWEEP_SIMD_H
#define COSWEEP_SIMD_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                    \
    !defined(__SANITIZE_ADDRESS__) && !defined(COSWEEP_ONE_PATH)
#define SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIMD_CLONES
#endif

/* What runs here: "AVX-512", "AVX2" or "baseline". */
const char *simd_name(void);

#endif
