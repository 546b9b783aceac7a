/* What `auto` stands for: per knob and depth the values worth trying (DESIGN section 2).
 *
 * The grids span what a PE of a stacked-memory cube can plausibly be given and contain the `sip` preset, so that a sweep
 * over `auto` always holds its own baseline.  Steps are about geometric: a rate matters by its ratio.
 *   HBM capacity   2 to 12 GB: an eighth of a 16 GB stack (HBM2E, 8-high) to an eighth of 96 GB (HBM4E class)
 *   HBM bandwidth  102 to 1024 GB/s: an eighth of one HBM3 stack (819 GB/s) up to the bonded-DRAM class
 *   FLOP/s         4 to 64 TFLOP/s: 2 to 32 mm2 of bf16 multipliers at 0.5 mm2 per TFLOP/s (5 nm)
 *   links          a quarter of the `sip` value to four times it; C2C to two times, the reach of 112G SerDes */
#include "cosweep/hardware.h"

enum { GRID_VALUES = 9, N_GRIDS = 6 };

struct grid {
    enum hardware_knob knob;
    struct {
        int n;
        double value[GRID_VALUES];
    } at[N_DEPTHS];
};

static const struct grid grid_table[N_GRIDS] = {
    {HW_hbm_capacity,
     {[DEPTH_COARSE] = {3, {2e9, 4.5e9, 12e9}},
      [DEPTH_BALANCED] = {5, {2e9, 3e9, 4.5e9, 8e9, 12e9}},
      [DEPTH_FINE] = {9, {2e9, 2.5e9, 3e9, 3.75e9, 4.5e9, 6e9, 8e9, 10e9, 12e9}}}},
    {HW_hbm_bandwidth,
     {[DEPTH_COARSE] = {3, {102e9, 256e9, 1024e9}},
      [DEPTH_BALANCED] = {5, {102e9, 160e9, 256e9, 512e9, 1024e9}},
      [DEPTH_FINE] = {9, {102e9, 128e9, 192e9, 256e9, 384e9, 512e9, 640e9, 768e9, 1024e9}}}},
    {HW_flops,
     {[DEPTH_COARSE] = {3, {4e12, 8e12, 64e12}},
      [DEPTH_BALANCED] = {5, {4e12, 8e12, 16e12, 32e12, 64e12}},
      [DEPTH_FINE] = {9, {4e12, 6e12, 8e12, 12e12, 16e12, 24e12, 32e12, 48e12, 64e12}}}},
    {HW_pe_bandwidth,
     {[DEPTH_COARSE] = {3, {64e9, 256e9, 1024e9}},
      [DEPTH_BALANCED] = {5, {64e9, 128e9, 256e9, 512e9, 1024e9}},
      [DEPTH_FINE] = {9, {64e9, 96e9, 128e9, 192e9, 256e9, 384e9, 512e9, 768e9, 1024e9}}}},
    {HW_d2d_bandwidth,
     {[DEPTH_COARSE] = {3, {128e9, 512e9, 2048e9}},
      [DEPTH_BALANCED] = {5, {128e9, 256e9, 512e9, 1024e9, 2048e9}},
      [DEPTH_FINE] = {9, {128e9, 192e9, 256e9, 384e9, 512e9, 768e9, 1024e9, 1536e9, 2048e9}}}},
    {HW_c2c_bandwidth,
     {[DEPTH_COARSE] = {3, {50e9, 200e9, 400e9}},
      [DEPTH_BALANCED] = {5, {50e9, 100e9, 200e9, 300e9, 400e9}},
      [DEPTH_FINE] = {9, {50e9, 75e9, 100e9, 150e9, 200e9, 250e9, 300e9, 350e9, 400e9}}}},
};

int hardware_grid(enum hardware_knob knob, enum depth depth, const double **values)
{
    for (int i = 0; i < N_GRIDS; i++)
        if (grid_table[i].knob == knob) {
            *values = grid_table[i].at[depth].value;
            return grid_table[i].at[depth].n;
        }
    *values = NULL;
    return 0;
}
