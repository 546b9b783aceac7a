/* stop: whether a sweep should save what it has and end: a signal, or a time limit.  Once wanted, it stays wanted: loops
 * skip what is left, and whoever gathers their work asks stop_agreed() before any of it is believed. */
#ifndef COSWEEP_RUN_STOP_H
#define COSWEEP_RUN_STOP_H

#include <stdbool.h>

/* Catch SIGTERM, SIGINT and SIGUSR1; a second one of the same kind ends the program at once.  limit_s 0 = none: otherwise
 * stop so long before it that a checkpoint can still be saved. */
void stop_watch(double limit_s);
/* Why this rank should stop: a signal's number, or STOP_TIME_LIMIT; 0 = it should not.  Cheap. */
enum { STOP_TIME_LIMIT = -1 };
int stop_reason(void);
bool stop_wanted(void); /* there is one */
/* Whether any rank should stop; then all should, for its reason. Collective: the same on all. */
bool stop_agreed(void);
/* Another rank should stop, for this reason (0 = it should not): so should this one. */
void stop_with(int reason);
/* The reason in words: "SIGTERM", "the time limit", ... */
const char *stop_cause(void);

#endif
