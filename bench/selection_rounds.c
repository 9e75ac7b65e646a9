/* SPDX-License-Identifier: MIT */
/* bench/selection_rounds.c - what selection_device.cu must give, one lane after the other. */
#include "bench/selection_rounds.h"

#include <csaw/csaw.h>
#include <stdlib.h>

#include "bench/measure.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t share(uint64_t number, uint64_t sum) { return (uint64_t)((wide)number * sum >> 64); }

static bool is_taken(const uint32_t *picks, uint32_t got, uint32_t candidate, looking looking, round_counts *c) {
    for (uint32_t j = 0; j < got; j++)
        if (picks[j] == candidate) {
            c->looks += looking == LINEAR ? j + 1 : 1;
            return true;
        }
    c->looks += looking == LINEAR ? got : 1;
    return false;
}

void pick_in_rounds(const uint64_t *upto, uint32_t n, uint64_t row, way way, looking looking, uint32_t k,
                    uint32_t *picks, round_counts *c) {
    const uint64_t sum = upto[n - 1];
    uint64_t *left = NULL;
    bool done[MOST_PICKS] = {false};
    uint32_t got = 0;
    if (way == UPDATED && !(left = malloc(n * sizeof *left))) must(CSAW_ENOMEM);
    for (uint32_t round = 0; got < k; round++) {
        const uint32_t before = got;
        c->rounds++;
        if (way == UPDATED && round) {
            uint64_t all = 0;
            for (uint32_t i = 0; i < n; i++) {
                bool out = false;
                for (uint32_t j = 0; j < before; j++) out |= picks[j] == i;
                left[i] = all += out ? 0 : upto[i] - (i ? upto[i - 1] : 0);
            }
        }
        for (uint32_t lane = 0; lane < k; lane++) {
            if (done[lane]) continue;
            const uint64_t first = round_number(row, lane, round, 0);
            const uint64_t *sums = way == UPDATED && round ? left : upto;
            uint32_t candidate = first_above(sums, n, share(first, sums[n - 1]));
            c->trials++;
            c->searches++;
            if (sums == upto && is_taken(picks, before, candidate, looking, c)) {
                if (way == PRINTED || way == FRESH) {
                    const uint64_t low = candidate ? upto[candidate - 1] : 0, mass = upto[candidate] - low;
                    uint64_t x = share(way == PRINTED ? first : round_number(row, lane, round, 1), sum - mass);
                    if (x >= low) x += mass;
                    candidate = first_above(upto, n, x);
                    c->searches++;
                    if (is_taken(picks, before, candidate, looking, c)) candidate = NO_CANDIDATE;
                } else {
                    candidate = NO_CANDIDATE;
                }
            }
            for (uint32_t j = before; j < got; j++) /* a lower lane named it */
                if (picks[j] == candidate) candidate = NO_CANDIDATE;
            if (candidate == NO_CANDIDATE) continue;
            picks[got++] = candidate;
            done[lane] = true;
        }
    }
    free(left);
}
