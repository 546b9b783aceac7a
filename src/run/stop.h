/* stop: whether a sweep should save what it has and end: a signal, or a time limit. */
#ifndef COSWEEP_RUN_STOP_H
#define COSWEEP_RUN_STOP_H

#include <stdbool.h>

/* Catch SIGTERM, SIGINT and SIGUSR1; a second one of the same kind ends the program at once.  limit_s 0 = none: otherwise stop
 * so long before it that a checkpoint can still be saved. */
void stop_watch(double limit_s);
/* Whether this rank was told to stop. Cheap. */
bool stop_wanted(void);
/* What stopped it: "SIGTERM", "the time limit", ... */
const char *stop_cause(void);

#endif
