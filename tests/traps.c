/* Linked into the program and the tests of build type Plain: an operation that makes a NaN of numbers (COSWEEP_TRAPS with
 * the word `invalid`), divides by zero (`divide`) or overflows (`overflow`) ends the process by SIGFPE.  INFINITY and NAN
 * as constants raise nothing; `<` and `>` on a NaN are invalid. */
#define _GNU_SOURCE
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

static void __attribute__((constructor)) trap(void)
{
    const char *const words = getenv("COSWEEP_TRAPS");
    if (words && strstr(words, "invalid")) feenableexcept(FE_INVALID);
    if (words && strstr(words, "divide")) feenableexcept(FE_DIVBYZERO);
    if (words && strstr(words, "overflow")) feenableexcept(FE_OVERFLOW);
}
