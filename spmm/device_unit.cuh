/* SPDX-License-Identifier: MIT */
/* spmm/device_unit.cuh - a unit of work of csaw_spmm() (spmm/device_product.h) on a GPU: where it begins, what a lane
 * loads of its edges, what it has found, and where that goes. To be compiled without contraction of a * b + c. */
#ifndef CSAW_SPMM_DEVICE_UNIT_CUH
#define CSAW_SPMM_DEVICE_UNIT_CUH

#include "spmm/device_product.h"
#include "spmm/device_walk.cuh"

static_assert(sizeof(csaw__listed_unit) == 16 && CSAW__LONG <= UINT16_MAX, "it is loaded at once, and holds a chunk");

struct csaw__unit {        /* of work; in registers */
    uint64_t first, row;   /* first edge; row, or place of the chunk */
    uint32_t count;        /* edges */
    bool is_chunk, stored; /* stored: this unit has results */
};

/* Chunks of long rows come before rows. */
static __device__ __forceinline__ csaw__unit csaw__unit_of_number(const csaw__product *p, uint64_t number) {
    if (number < p->split.most_chunks) {
        if (number >= p->split.count[0]) return csaw__unit{0, 0, 0, true, false};
        const csaw__chunk chunk = p->split.chunk[number];
        return csaw__unit{chunk.first, number, chunk.count, true, true};
    }
    const uint64_t row = number - p->split.most_chunks;
    if (row >= p->rows) return csaw__unit{0, 0, 0, false, false};
    const uint64_t begin = p->rowptr[row], length = p->rowptr[row + 1] - begin;
    if (length > CSAW_CHUNK) return csaw__unit{0, 0, 0, false, false}; /* by its chunks */
    return csaw__unit{begin, row, (uint32_t)length, false, true};
}

/* What stands at a place of the plan's list; without one, the unit of that number. */
static __device__ __forceinline__ csaw__unit csaw__unit_at(const csaw__product *p, uint64_t place) {
    if (!p->units) return csaw__unit_of_number(p, place);
    if (place >= p->split.most_chunks + p->rows) return csaw__unit{0, 0, 0, false, false};
    const csaw__pack<uint32_t, 4> at = *(const csaw__pack<uint32_t, 4> *)(p->units + place); /* at once */
    csaw__listed_unit unit;
    memcpy(&unit, &at, sizeof unit);
    return csaw__unit{unit.first, unit.row, unit.count, unit.is_chunk != 0, unit.stored != 0};
}

/* What a lane has loaded of an edge: FACTOR vectors of VECTOR columns, LANES vectors apart, as stored. */
template <csaw_dtype X, int VECTOR, int FACTOR> struct csaw__features {
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> vector;
    vector x[FACTOR];
};

/* What it has found in these columns. */
template <csaw_dtype X, int VECTOR, int FACTOR, bool EXTREME> struct csaw__found {
    float value[FACTOR][VECTOR];
    uint32_t place[EXTREME ? FACTOR : 1][VECTOR]; /* of MAX and MIN, counted from the unit's first edge */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int j = 0; j < FACTOR; j++)
#pragma unroll
            for (int i = 0; i < VECTOR; i++) {
                value[j][i] =
                    EXTREME ? __uint_as_float(0xff800000u) : 0.0f; /* -infinity: the first edge stands unless beaten */
                if (EXTREME) place[j][i] = 0;
            }
    }

    /* Edge number k of the unit. */
    __device__ __forceinline__ void take(uint32_t k, bool there, float weight,
                                         const csaw__features<X, VECTOR, FACTOR> &of) {
#pragma unroll
        for (int j = 0; j < FACTOR; j++) {
            float x[VECTOR];
            csaw__widen_pack<X>(of.x[j], x);
#pragma unroll
            for (int i = 0; i < VECTOR; i++) {
                const float product = weight * x[i];
                if (!there) continue;
                if (!EXTREME)
                    value[j][i] += product;
                else if (csaw__larger(product, value[j][i])) {
                    value[j][i] = product;
                    place[j][i] = k;
                }
            }
        }
    }
};

/* To y, or for a chunk to the partial results. column: the lane's first one of the slice, whose number is that of the
 * launch; sign: -1 of MIN. */
template <csaw_dtype X, int LANES, int VECTOR, int FACTOR, bool EXTREME>
static __device__ __forceinline__ void csaw__keep(const csaw__product &p, const csaw__slice &slice,
                                                  uint32_t slice_number, const csaw__unit &unit, uint32_t column,
                                                  float sign, csaw__found<X, VECTOR, FACTOR, EXTREME> &found) {
    if (!unit.stored) return;
#pragma unroll
    for (int j = 0; j < FACTOR; j++) {
        const uint32_t c = column + j * (LANES * VECTOR);
        float *const value = found.value[j];
        const uint32_t *const place = found.place[EXTREME ? j : 0];
        if (c >= slice.width) continue;
        if (unit.is_chunk) {
            const uint64_t at = ((uint64_t)slice_number * p.split.most_chunks + unit.row) * p.width + c;
            csaw__put<VECTOR>(p.partial + at, value);
            if (EXTREME) csaw__put<VECTOR>(p.place + at, place);
            continue;
        }
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            if (EXTREME) value[i] = unit.count ? sign * value[i] : 0.0f;
            if (p.reduce == CSAW_MEAN && unit.count) value[i] /= (float)unit.count;
        }
        if (EXTREME && p.arg) {
            csaw_edge arg[VECTOR];
#pragma unroll
            for (int i = 0; i < VECTOR; i++) arg[i] = unit.count ? unit.first + place[i] : CSAW_NO_EDGE;
            csaw__put_arg<VECTOR>(p.arg + unit.row * p.y.cols + slice.first + c, arg);
        }
        csaw__store<VECTOR>(&p.y, unit.row, slice.first + c, value);
    }
}

#endif
