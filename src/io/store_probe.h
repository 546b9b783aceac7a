/* store_probe: whether a result file can be read without harm.  Private to io. */
#ifndef COSWEEP_IO_STORE_PROBE_H
#define COSWEEP_IO_STORE_PROBE_H

#include "cosweep/io.h"

/* What reading a file may take beyond what the process has: address space of 256 MB and 80 times the file; and in the child
 * processor time of 10 s and a second per 4 MB. */
enum { PROBE_CPU_S = 10, PROBE_BYTES_PER_S = 4000000, PROBE_BYTES = 256000000, PROBE_TIMES_FILE = 80 };

/* Call read(what) in a child, and if that came through, here.  Returns 0, else -1 with an error: how the child ended.  What
 * else is wrong with the file, `read` says itself. */
int store_probe(const char *path, int64_t file_bytes, void (*read)(void *), void *what, struct errors *errors);
/* False: no child and no bounds.  For who looks at the reader itself, as tests/fuzz/result.c. */
extern bool store_probing;

#endif
