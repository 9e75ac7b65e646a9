/* SPDX-License-Identifier: MIT */
/* samplers/select/alias_table.c - alias table of one row (Walker, ACM TOMS 3, 1977) in integers.
 *
 * Method: two pointers sweep the row in index order, over entries lighter and heavier than the mean, on masses times n
 * against their total, so no rounding piles up. Huebschle-Schneider and Sanders ("Parallel weighted random sampling",
 * ACM TOMS 48, 2022, section 4) split the same sweep over processors. Masses are computed when needed: no scratch
 * memory. */
#include "samplers/select/alias_table.h"

#include "runtime/base/mass.h"

typedef struct row_masses {
    const float *bias;
    uint32_t n;
    double scale;
    uint64_t total;
} row_masses;

static uint64_t mass_times_n(const row_masses *row, uint32_t i) {
    return csaw__mass(row->bias[i], row->scale) * row->n;
}

static uint32_t next_entry(const row_masses *row, uint32_t i, bool heavy) {
    while (i < row->n && (mass_times_n(row, i) > row->total) != heavy) i++;
    return i;
}

__extension__ typedef unsigned __int128 wide;

static void set_entry(csaw__alias *entry, const row_masses *row, uint64_t part, const csaw_vertex *col,
                      uint32_t other) {
    wide threshold = ((wide)part << 32) / row->total;
    entry->threshold = threshold > 0xffffffffu ? 0xffffffffu : (uint32_t)threshold;
    entry->other = col[other];
    entry->other_rank = other;
}

void csaw__alias_row(const float *bias, const csaw_vertex *col, uint32_t n, csaw__alias *out, csaw__row_bias *row) {
    float largest = 0;
    for (uint32_t i = 0; i < n; i++) largest = bias[i] > largest ? bias[i] : largest;
    row->total = row->top = 0;
    for (uint32_t i = 0; i < n; i++) {
        out[i].threshold = 0xffffffffu;
        out[i].own = out[i].other = largest > 0 ? col[i] : CSAW_NONE;
        out[i].other_rank = i;
    }
    if (!(largest > 0)) return;
    const int exponent = csaw__mass_exponent(n, largest);
    row_masses masses = {bias, n, csaw__power_of_two(exponent), 0};
    for (uint32_t i = 0; i < n; i++) masses.total += csaw__mass(bias[i], masses.scale);
    row->total = (double)masses.total * csaw__power_of_two(-exponent);
    row->top = largest;

    uint32_t light = next_entry(&masses, 0, false), heavy = next_entry(&masses, 0, true);
    uint64_t left = heavy < n ? mass_times_n(&masses, heavy) : 0; /* of the heavy one */
    while (heavy < n) {
        if (left > masses.total) {
            if (light == n) break;
            uint64_t part = mass_times_n(&masses, light);
            set_entry(&out[light], &masses, part, col, heavy);
            left -= masses.total - part;
            light = next_entry(&masses, light + 1, false);
        } else {
            uint32_t next = next_entry(&masses, heavy + 1, true);
            if (next == n) break;
            set_entry(&out[heavy], &masses, left, col, next);
            left = mass_times_n(&masses, next) - (masses.total - left);
            heavy = next;
        }
    }
}
