/* provenance: what made a result: program, revision, compiler, flags, vector units, and when. */
#ifndef COSWEEP_RUN_PROVENANCE_H
#define COSWEEP_RUN_PROVENANCE_H

#include "cosweep/io.h"

const char *program_revision(void); /* of the sources; empty where they are no git checkout */
/* Fills created (UTC, ISO 8601), program, revision, compiler, flags and simd; nothing else. */
void provenance_fill(struct result *result);

#endif
