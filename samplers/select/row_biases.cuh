/* SPDX-License-Identifier: MIT */
/* samplers/select/row_biases.cuh - biases of arcs that stand side by side in a row, on the GPU.
 *
 * Method: four weights are read at a time, by one instruction of 16 bytes, and a lane has several such reads under way
 * before it looks at the first. Weights may begin anywhere: a row is counted in places, of which place 0 begins 16
 * bytes, at most three places before the row's first arc. Four places from a multiple of four on are read at once if
 * the row has all of them, else one by one; what is not of the row is not read. All else of an arc is read arc by arc,
 * where a hook looks at it. */
#ifndef CSAW_SELECT_ROW_BIASES_CUH
#define CSAW_SELECT_ROW_BIASES_CUH

#include "samplers/select/arc_mass.cuh"
#include "samplers/select/team.cuh"

enum {
    CSAW__LOOK = 4,                                       /* places that are read at once */
    CSAW__LOG_RUN = sizeof(csaw__bias_bits) == 4 ? 4 : 3, /* of the places side by side that a lane takes */
    CSAW__RUN = 1 << CSAW__LOG_RUN,
    CSAW__STRETCH = CSAW__RUN * CSAW__TEAM /* that a team takes */
};

struct CSAW__ALIGN16 csaw__weights_of_four {
    float weight[CSAW__LOOK];
};

/* Places before the row's first arc. */
CSAW_FN uint32_t csaw__row_skew(const csaw_site *site) {
    const float *const weight = site->job->rows.weight;
    return weight ? (uint32_t)((uint64_t)(weight + site->row) / sizeof(float) % CSAW__LOOK) : 0;
}

/* Places of the row, with those. */
CSAW_FN uint64_t csaw__row_span(const csaw_site *site) { return (uint64_t)csaw__row_skew(site) + site->degree; }

/* What is read of a graph without weights. */
static __device__ const csaw__weights_of_four csaw__ones[] = {
    {{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}, {{1, 1, 1, 1}}};
static_assert(sizeof csaw__ones >= CSAW__RUN * sizeof(float), "of all places that a lane reads at a time");

/* Where the weights of arcs from rank on are read, which stands at a multiple of four places. */
CSAW_FN const csaw__weights_of_four *csaw__weights_at(const csaw_site *site, uint64_t rank) {
    const float *const weight = site->job->rows.weight;
    return weight ? (const csaw__weights_of_four *)(weight + site->row + rank) : csaw__ones;
}

/* As the hooks gave them, of arcs j .. j + 3 from rank on, all of the row. at: of csaw__weights_at(). */
CSAW_FN void csaw__raw_four(const csaw_site *site, const csaw__weights_of_four *at, uint64_t rank, uint32_t j,
                            csaw__bias_bits *bias) {
    const csaw_vertex *const dst = site->job->rows.col + site->row + rank + j;
    const csaw__weights_of_four four = at[j / CSAW__LOOK];
#pragma unroll
    for (uint32_t i = 0; i < CSAW__LOOK; i++) {
        const csaw_arc arc = csaw__arc_of(site, rank + j + i, dst[i], four.weight[i]);
        bias[j + i] = csaw__raw_bits(site, &arc);
    }
}

/* The same of any arcs from a place on, a multiple of four; 0 where the row has none. */
template <uint32_t N> CSAW_FN void csaw__load(const csaw_site *site, uint64_t place, csaw__bias_bits (&bias)[N]) {
    const uint32_t skew = csaw__row_skew(site), begin = place ? 0 : skew; /* counted from place: the row's begin, */
    const uint64_t span = csaw__row_span(site), first = place - skew;
    const csaw__weights_of_four *const at = csaw__weights_at(site, first);
    const uint32_t end = place >= span ? 0 : span - place < N ? (uint32_t)(span - place) : N; /* and end */
#pragma unroll
    for (uint32_t j = 0; j < N; j++) bias[j] = 0;
#pragma unroll
    for (uint32_t j = 0; j < N; j += CSAW__LOOK) {
        if (j >= begin && j + CSAW__LOOK <= end) {
            csaw__raw_four(site, at, first, j, bias);
        } else if (j < end) {
#pragma unroll
            for (uint32_t i = j; i < j + CSAW__LOOK; i++) {
                if (i < begin || i >= end) continue;
                const csaw_arc arc = csaw__arc_at(site, first + i);
                bias[i] = csaw__raw_bits(site, &arc);
            }
        }
    }
}

/* Of the lane's arcs of the stretch that begins at a place. */
CSAW_FN void csaw__load_stretch(const csaw__team &team, const csaw_site *site, uint64_t place,
                                csaw__bias_bits (&bias)[CSAW__RUN]) {
    const uint32_t skew = csaw__row_skew(site);
    const uint64_t first = place + CSAW__RUN * team.lane;
    if (place < skew || place + CSAW__STRETCH > csaw__row_span(site)) {
        csaw__load(site, first, bias);
        return;
    }
    const csaw__weights_of_four *const at = csaw__weights_at(site, first - skew);
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j += CSAW__LOOK) csaw__raw_four(site, at, first - skew, j, bias);
}

/* The masses of arcs of the row, from the arcs. */
struct csaw__arc_masses {
    const csaw_site *site;
    const csaw__scale *scale;
    uint32_t skew; /* of the row */
    __device__ csaw__arc_masses(const csaw_site *at, const csaw__scale *by)
        : site(at), scale(by), skew(csaw__row_skew(at)) {}
    /* Of four arcs from a place on, a multiple of four; 0 where the row has none. */
    __device__ void operator()(uint64_t place, uint64_t (&mass)[CSAW__LOOK]) const {
        csaw__bias_bits bias[CSAW__LOOK];
        csaw__load(site, place, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) mass[j] = scale->mass(bias[j]);
    }
    __device__ uint64_t of(uint64_t rank) const { return scale->mass(csaw__bits_at(site, rank)); }
};

#endif
