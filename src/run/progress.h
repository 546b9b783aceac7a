/* progress: how far a sweep is, for people who wait: a bar on a terminal, a line now and then in a log. */
#ifndef COSWEEP_RUN_PROGRESS_H
#define COSWEEP_RUN_PROGRESS_H

#include "cosweep/run.h"

struct meter {
    enum progress style;  /* never AUTO */
    const char *label;    /* borrowed */
    double start_s, shown_s;
    double candidates_per_unit; /* raw, on average */
    double every_s;
    bool drawn;
};
double clock_s(void); /* monotonic */
void meter_start(struct meter *meter, enum progress style, const char *label, double candidates_per_unit);
/* done of total work units. Prints when it is time to. */
void meter_show(struct meter *meter, int64_t done, int64_t total);
void meter_stop(struct meter *meter);

#endif
