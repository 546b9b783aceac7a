/* plan_grid: what `auto` stands for under `plan`: degrees by depth, and every word of a variant. */
#include "reader.h"

#include <string.h>

/* Powers of 4, of 2, and of 2 with the halves between them that divide many head and layer counts.  0 ends a row. */
static const double grid[][N_DEPTHS][32] = {
    [PLAN_tp] = {{1, 4, 16, 64}, {1, 2, 4, 8, 16, 32, 64}, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}},
    [PLAN_cp] = {{1, 4, 16, 64},
                 {1, 2, 4, 8, 16, 32, 64, 128, 256},
                 {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}},
    [PLAN_pp] = {{1, 4}, {1, 2, 4, 8}, {1, 2, 3, 4, 5, 6, 8, 10, 12, 16}},
    [PLAN_dp] = {{1}, {1, 2, 4, 8}, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}},
    [PLAN_ep] = {{1, 8, 64},
                 {1, 2, 4, 8, 16, 32, 64, 128, 256},
                 {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}},
    [PLAN_batch] = {{1, 16, 256}, {1, 4, 16, 64, 256}, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}},
};
enum { N_GRIDS = sizeof grid / sizeof grid[0] };

int plan_grid(enum plan_knob knob, enum depth depth, double value[32])
{
    int n = 0;
    if (plan_knob[knob].dimension == DIM_CODE) {
        for (n = 0; n <= (int)plan_knob[knob].high; n++) value[n] = n;
        return n;
    }
    if ((int)knob >= N_GRIDS) return 0;
    memcpy(value, grid[knob][depth], sizeof grid[knob][depth]);
    while (n < 32 && value[n] > 0) n++;
    return n;
}
