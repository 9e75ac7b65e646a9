/* SPDX-License-Identifier: MIT */
/* samplers/select/picks.c - k of n candidates, compiled for each kind of choice that a row makes. */
#include "samplers/select/picks.h"

#include "samplers/select/rounds.h"

uint32_t csaw__picks_of(const csaw__choice *choice, csaw__scratch *scratch, uint32_t k, bool replace) {
    csaw__choice c = *choice;
    c.tree = 0; /* a row's: known when compiled */
    return csaw__pick_of(&c, scratch, k, replace);
}

uint32_t csaw__picks_rest(const csaw__choice *choice, csaw__scratch *scratch) {
    csaw__choice c = *choice;
    c.tree = 0;
    return csaw__pick_the_rest(&c, scratch);
}
