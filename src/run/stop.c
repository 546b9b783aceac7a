/* Signals only set a flag; whoever works looks at it between work units, rows or plans, which take milliseconds. */
#define _POSIX_C_SOURCE 200809L
#include "stop.h"
#include "cosweep/run.h"
#include "progress.h"
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;
static int heard;         /* from another rank; between two batches, when no thread looks */
static double deadline_s; /* on clock_s(); 0 = none */

static void catch_signal(int number)
{
    caught = number;
}

void stop_watch(double limit_s)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = catch_signal;
    action.sa_flags = SA_RESETHAND | SA_RESTART; /* the second one does what it does by default */
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) sigaction(signals[i], &action, NULL);
    const double margin_s = limit_s * 0.02 < 2.0 ? limit_s * 0.02 : 2.0;
    deadline_s = limit_s > 0.0 ? clock_s() + limit_s - margin_s : 0.0;
}

int stop_reason(void)
{
    if (caught != 0) return caught;
    if (heard != 0) return heard;
    return deadline_s > 0.0 && clock_s() >= deadline_s ? STOP_TIME_LIMIT : 0;
}

void stop_with(int reason)
{
    if (heard == 0) heard = reason;
}

bool stop_wanted(void)
{
    return stop_reason() != 0;
}

bool stop_agreed(void)
{
    static const int reasons[] = {SIGTERM, SIGINT, SIGUSR1, STOP_TIME_LIMIT};
    const int mine = stop_reason(); /* once: more may come at any time */
    int agreed = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (ranks_first(mine == reasons[i]) >= 0 && agreed == 0) agreed = reasons[i];
    stop_with(agreed);
    return agreed != 0;
}

const char *stop_cause(void)
{
    switch (stop_reason()) {
    case SIGTERM: return "SIGTERM";
    case SIGINT: return "SIGINT";
    case SIGUSR1: return "SIGUSR1";
    default: return "the time limit";
    }
}
