/* SPDX-License-Identifier: MIT */
/* samplers/select/row_runs.cuh - biases and masses of arcs that stand side by side in a row.
 *
 * Method: places of a row are counted from the last multiple of 32 bytes, in the array of weights, that is not behind
 * its first arc: then a run of eight places is a sector of memory, and a lane has it in two loads. Places before the
 * row's first arc and beyond its last have bias 0. */
#ifndef CSAW_SELECT_ROW_RUNS_CUH
#define CSAW_SELECT_ROW_RUNS_CUH

#include "samplers/select/arc_mass.cuh"
#include "samplers/select/team.cuh"

enum {
    CSAW__RUN = 8, /* places */
    CSAW__LOOK = 4 /* places side by side that a lane of a team looks for a number in */
};

/* Weights of a run of a graph that has none. */
__device__ __align__(16) static const float csaw__ones[CSAW__RUN] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Where a row's arcs stand. */
struct csaw__row_runs {
    uint32_t begin;            /* place of the first arc */
    uint32_t first_whole, end; /* runs whose places all have arcs: first_whole <= run < end */
    uint32_t runs;
};

CSAW_FN csaw__row_runs csaw__runs_of(const csaw_site *site) {
    const csaw__rows *const rows = &site->job->rows;
    const uint64_t at = rows->weight ? (uint64_t)(rows->weight + site->row) : (uint64_t)(rows->col + site->row);
    csaw__row_runs all;
    all.begin = (uint32_t)(at / sizeof(float)) % CSAW__RUN;
    const uint64_t past = (uint64_t)all.begin + site->degree;
    all.first_whole = all.begin ? 1 : 0;
    all.end = (uint32_t)(past / CSAW__RUN);
    all.runs = (uint32_t)((past + CSAW__RUN - 1) / CSAW__RUN);
    return all;
}

/* A run of an array, from `run` on. ALIGNED: it is known to begin at a multiple of 16 bytes. */
template <bool ALIGNED, typename T> CSAW_FN void csaw__load_array(const T *run, T (&out)[CSAW__RUN]) {
    constexpr uint32_t at_once = 16 / sizeof(T);
    struct __align__(16) pack {
        T x[at_once];
    };
    if (ALIGNED || (uint64_t)run % sizeof(pack) == 0) {
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j += at_once) {
            const pack some = ((const pack *)run)[j / at_once];
#pragma unroll
            for (uint32_t i = 0; i < at_once; i++) out[j + i] = some.x[i];
        }
    } else {
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) out[j] = run[j];
    }
}

/* Biases of a run whose places all have arcs, as the hooks gave them. */
CSAW_FN void csaw__load_whole(const csaw_site *site, uint32_t begin, uint64_t first,
                              csaw__bias_bits (&bias)[CSAW__RUN]) {
    const csaw__rows *const rows = &site->job->rows;
    const uint64_t at = site->row + first - begin;
    csaw_vertex dst[CSAW__RUN];
    float weight[CSAW__RUN];
    uint32_t type[CSAW__RUN] = {0};
    int64_t time[CSAW__RUN] = {0};
    csaw__load_array<false>(rows->col + at, dst); /* what no hook reads is not loaded */
    csaw__load_array<true>(rows->weight ? rows->weight + at : csaw__ones, weight);
    if (rows->type) csaw__load_array<false>(rows->type + at, type);
    if (rows->time) csaw__load_array<false>(rows->time + at, time);
#pragma unroll
    for (uint32_t j = 0; j < CSAW__RUN; j++) {
        csaw_arc arc;
        arc.src = site->at;
        arc.dst = dst[j];
        arc.weight = weight[j];
        arc.type = type[j];
        arc.time = time[j];
        arc.rank = (uint32_t)(first + j - begin);
        arc.id = rows->first_arc + at + j;
        arc.near_prev = 0;
        bias[j] = csaw__bits_of(site, &arc);
    }
}

/* Biases of places from `first` on; 0 where there is no arc. */
template <uint32_t N>
CSAW_FN void csaw__load_end(const csaw_site *site, uint32_t begin, uint64_t first, csaw__bias_bits (&bias)[N]) {
    const int64_t from = (int64_t)first - begin, left = site->degree - from;
    const int lo = from < 0 ? (int)-from : 0, hi = left < (int)N ? (int)left : (int)N; /* of places with arcs */
    const bool any = left > 0 && lo < hi;
    const uint64_t rank = any ? (uint64_t)from : 0;
    const int least = any ? lo : 0, most = any ? hi - 1 : 0;
#pragma unroll
    for (int j = 0; j < (int)N; j++) { /* each place some arc: so all are asked for before one is looked at */
        const int i = j < least ? least : j > most ? most : j;
        bias[j] = csaw__raw_bits(site, rank + (uint64_t)(int64_t)i);
    }
#pragma unroll
    for (int j = 0; j < (int)N; j++) bias[j] = any && j >= lo && j < hi ? bias[j] : 0;
}

/* The arcs of runs that are not whole, the row's first and its last, one a lane: the lane's rank; false: it has none.
 * Of the first run they come in lanes 0 .. 7, of the last in 8 .. 15. */
CSAW_FN bool csaw__end_arc(const csaw_site *site, const csaw__row_runs &all, uint32_t lane, uint64_t *rank) {
    const bool first = lane < CSAW__RUN;
    const uint64_t n = site->degree, whole_end = (uint64_t)all.end * CSAW__RUN;
    const uint64_t head = !all.begin ? 0 : n < CSAW__RUN - all.begin ? n : CSAW__RUN - all.begin;
    const uint64_t tail = whole_end > all.begin + head ? whole_end - all.begin : head; /* its first */
    *rank = first ? lane : tail + (lane - CSAW__RUN);
    return lane < 2 * CSAW__RUN && *rank < (first ? head : n);
}

/* Biases of a run, 0 where it is not whole. */
CSAW_FN void csaw__load_if_whole(const csaw_site *site, const csaw__row_runs &all, uint32_t run,
                                 csaw__bias_bits (&bias)[CSAW__RUN]) {
    if (run >= all.first_whole && run < all.end) {
        csaw__load_whole(site, all.begin, (uint64_t)run * CSAW__RUN, bias);
    } else {
#pragma unroll
        for (uint32_t j = 0; j < CSAW__RUN; j++) bias[j] = 0;
    }
}

/* Biases of a run of the row; 0 where there is no arc. */
CSAW_FN void csaw__load_run(const csaw_site *site, const csaw__row_runs &all, uint32_t run,
                            csaw__bias_bits (&bias)[CSAW__RUN]) {
    const uint64_t first = (uint64_t)run * CSAW__RUN;
    if (run >= all.first_whole && run < all.end)
        csaw__load_whole(site, all.begin, first, bias);
    else
        csaw__load_end(site, all.begin, first, bias);
}

template <uint32_t N>
CSAW_FN csaw__bias_bits csaw__largest_of(const csaw__bias_bits (&bias)[N], csaw__bias_bits largest) {
#pragma unroll
    for (uint32_t j = 0; j < N; j++) largest = bias[j] > largest ? bias[j] : largest;
    return largest;
}

/* The same of biases as hooks gave them, -0 as 0. */
template <uint32_t N>
CSAW_FN csaw__bias_bits csaw__largest_checked(const csaw__bias_bits (&bias)[N], csaw__bias_bits largest) {
#pragma unroll
    for (uint32_t j = 0; j < N; j++) {
        const csaw__bias_bits own = csaw__scale::checked(bias[j]);
        largest = own > largest ? own : largest;
    }
    return largest;
}

/* The masses of arcs of the row, from the arcs. */
struct csaw__arc_masses {
    const csaw_site *site;
    const csaw__scale *scale;
    uint32_t begin; /* place of the row's first arc */
    /* Of places from `first` on; 0 where there is no arc. */
    __device__ void operator()(uint64_t first, uint64_t (&mass)[CSAW__LOOK]) const {
        csaw__bias_bits bias[CSAW__LOOK];
        csaw__load_end(site, begin, first, bias);
#pragma unroll
        for (uint32_t j = 0; j < CSAW__LOOK; j++) mass[j] = scale->mass(bias[j]);
    }
};

#endif
