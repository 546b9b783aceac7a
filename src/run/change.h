/* change: one knob of a candidate with another value. */
#ifndef COSWEEP_RUN_CHANGE_H
#define COSWEEP_RUN_CHANGE_H

#include "cosweep/run.h"

/* More than the knobs of a candidate have neighbours. */
enum { MAX_CHANGES = 2 * N_KNOBS + 64 };

const struct knob *change_knob(const struct change *change); /* of plan or hardware */
/* Prices and energies are what a design is judged by, not what a designer turns. */
bool knob_is_price(const struct knob *knob);
/* Words of a DIM_CODE, 2 of a DIM_BOOL, else 0. */
int knob_words(const struct knob *knob);
double candidate_value(const struct candidate *candidate, enum change_of of, int knob);
void candidate_change(struct candidate *candidate, const struct change *change);
/* Every change of one knob to a neighbour: twice, half, another word.  Returns how many. */
int candidate_neighbours(struct change change[MAX_CHANGES], const struct candidate *candidate);

#endif
