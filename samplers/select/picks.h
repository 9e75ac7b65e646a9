/* SPDX-License-Identifier: MIT */
/* samplers/select/picks.h - k of n candidates as functions of the library: for samplers compiled elsewhere, which reach
 * them through csaw__job. No hook takes part in them. */
#ifndef CSAW_SELECT_PICKS_H
#define CSAW_SELECT_PICKS_H

#include "samplers/select/choice.h"

/* k picks by what the choice has, masses (sum > 0) or none, to scratch->pick; how many there are. Without replacement
 * k < choice->n. */
uint32_t csaw__picks_of(const csaw__choice *choice, csaw__scratch *scratch, uint32_t k, bool replace);
/* The slots still open pick from what is left by the choice's sums, which are positive; how many picks there are then.
 */
uint32_t csaw__picks_rest(const csaw__choice *choice, csaw__scratch *scratch);

#endif
