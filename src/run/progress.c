/* Progress on standard error; a result on standard output stays clean. */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void meter_start(struct meter *meter, enum progress style, const char *label, double candidates_per_unit)
{
    const enum progress automatic = isatty(STDERR_FILENO) ? PROGRESS_BAR : PROGRESS_LOG;
    *meter = (struct meter){.style = style == PROGRESS_AUTO ? automatic : style, .label = label, .start_s = clock_s()};
    meter->every_s = meter->style == PROGRESS_BAR ? 0.1 : 10.0;
    meter->shown_s = meter->start_s;
    meter->candidates_per_unit = candidates_per_unit;
}

static void show_time(char text[16], double seconds)
{
    const int s = seconds < 1e9 ? (int)(seconds + 0.5) : 1000000000;
    if (s < 60) snprintf(text, 16, "%ds", s);
    else if (s < 3600) snprintf(text, 16, "%dm%02ds", s / 60, s % 60);
    else snprintf(text, 16, "%dh%02dm", s / 3600, s / 60 % 60);
}

void meter_show(struct meter *meter, int64_t done, int64_t total)
{
    const double now_s = clock_s(), elapsed_s = now_s - meter->start_s;
    if (meter->style == PROGRESS_NONE || now_s - meter->shown_s < meter->every_s || done == 0) return;
    meter->shown_s = now_s;
    const double share = done < total ? (double)done / (double)total : 1.0;
    const double rate = (double)done * meter->candidates_per_unit / elapsed_s * 1e-6;
    char left[16];
    show_time(left, elapsed_s * (1.0 - share) / share);
    if (meter->style == PROGRESS_LOG) {
        fprintf(stderr, "cosweep: %s: %.0f%%, %.1f million candidates/s, %s left\n", meter->label, 100.0 * share, rate,
                left);
        return;
    }
    enum { WIDTH = 30 };
    char bar[WIDTH + 1];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(share * WIDTH) ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%%  %.1f M candidates/s  %s left \033[K", meter->label, bar, 100.0 * share, rate, left);
    fflush(stderr);
    meter->drawn = true;
}

void meter_stop(struct meter *meter)
{
    if (meter->drawn) fprintf(stderr, "\r\033[K");
    meter->drawn = false;
}
