/* stop: whether a sweep should save what it has and end: a signal, or a time limit. */
#ifndef COSWEEP_RUN_STOP_H
#define COSWEEP_RUN_STOP_H

/* Catch SIGTERM, SIGINT and SIGUSR1; a second one of the same kind ends the program at once.  limit_s 0 = none: otherwise
 * stop so long before it that a checkpoint can still be saved. */
void stop_watch(double limit_s);
/* Why this rank should stop: a signal's number, or STOP_TIME_LIMIT; 0 = it should not.  Cheap. */
enum { STOP_TIME_LIMIT = -1 };
int stop_reason(void);
/* Another rank should stop, for this reason (0 = it should not): so should this one. */
void stop_with(int reason);
/* The reason in words: "SIGTERM", "the time limit", ... */
const char *stop_cause(void);

#endif
