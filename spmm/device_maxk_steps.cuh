/* SPDX-License-Identifier: MIT */
/* spmm/device_maxk_steps.cuh - how a group of lanes goes through the entries of the CBSR rows of a unit's edges: as
 * many at a time as its lanes take at once, which is all of an edge, or one of several steps of it. Both products that
 * go by edges of a share it: the forward one and the outer one. */
#ifndef CSAW_SPMM_DEVICE_MAXK_STEPS_CUH
#define CSAW_SPMM_DEVICE_MAXK_STEPS_CUH

#include "spmm/device_maxk.h"
#include "spmm/device_unit.cuh"

struct alignas(16) csaw__maxk_step { /* of an edge; in shared memory */
    csaw_vertex col;
    float weight;
    uint32_t first, count; /* entries of the row */
};

template <bool ONE_STEP> struct csaw__maxk_steps;
template <> struct csaw__maxk_steps<true> {
    typedef csaw__edge_here step;
    static __device__ __forceinline__ uint32_t first(const step &) { return 0; }
    static __device__ __forceinline__ uint32_t count(const step &, uint32_t k) { return k; }
};
template <> struct csaw__maxk_steps<false> {
    typedef csaw__maxk_step step;
    static __device__ __forceinline__ uint32_t first(const step &s) { return s.first; }
    static __device__ __forceinline__ uint32_t count(const step &s, uint32_t) { return s.count; }
};

/* Lanes of a group, entries of each, columns of a row in shared memory, whether an edge is one step; AT_ONCE: edges
 * that the lanes of a group share. */
template <int LANES_, int VECTOR_, int WIDTH_, bool ONE_STEP_, int AT_ONCE_ = 1> struct csaw__maxk_shape {
    enum {
        LANES = LANES_,
        VECTOR = VECTOR_,
        WIDTH = WIDTH_,
        AT_ONCE = AT_ONCE_,
        OF_EDGE = LANES / AT_ONCE, /* lanes */
        GROUPS = CSAW__MAXK_THREADS / LANES,
        BATCH = OF_EDGE <= 4  ? OF_EDGE / 2
                : VECTOR == 4 ? 2
                              : 4 /* steps */
    };
    typedef csaw__maxk_steps<ONE_STEP_> steps;
    typedef typename steps::step step;
    typedef csaw__ring<step, LANES> ring;

    /* The rows that the groups of a warp have in shared memory stand in columns of LANES banks each, since lanes of a
     * group read and write places that nothing keeps apart: where column c is, counted from the group's first word. */
    static __device__ __forceinline__ uint32_t word_of(uint32_t c) {
        return c + (c & ~(uint32_t)(LANES - 1)) * (32 / LANES - 1);
    }
    static __device__ __forceinline__ uint32_t first_word() {
        return threadIdx.x / 32 * (WIDTH * (32 / LANES)) + threadIdx.x % 32 / LANES * LANES;
    }
};

/* Entries of a row that this launch takes. */
static __device__ __forceinline__ uint32_t csaw__maxk_taken(const csaw__maxk_product *m) {
    const uint32_t left = (uint32_t)m->m.k - m->first_entry;
    return left < m->entries ? left : m->entries;
}

/* As csaw__walk(), by steps. */
template <typename SHAPE, bool TOGETHER, typename LOADED, typename LOAD, typename TAKE>
static __device__ __forceinline__ void csaw__maxk_walk(const csaw__maxk_product *m, const csaw__unit &unit,
                                                       typename SHAPE::ring *ring, LOAD load, TAKE take) {
    const csaw_vertex *const col = m->p.col + unit.first;
    const float *const weight = m->p.weight ? m->p.weight + unit.first : nullptr;
    const auto fetch = [&](uint32_t s) {
        if constexpr (sizeof(typename SHAPE::step) == sizeof(csaw__edge_here)) {
            return csaw__edge_here{col[s], weight ? weight[s] : 1.0f};
        } else {
            const uint32_t edge = s / m->steps, first = (s - edge * m->steps) * m->span;
            const uint32_t all = csaw__maxk_taken(m), left = first < all ? all - first : 0;
            return csaw__maxk_step{col[edge], weight ? weight[edge] : 1.0f, first, left < m->span ? left : m->span};
        }
    };
    csaw__walk<SHAPE::LANES, SHAPE::BATCH, TOGETHER, LOADED, SHAPE::AT_ONCE>(unit.count * m->steps, ring, fetch, load,
                                                                             take);
}

/* The columns of an index that a lane has loaded, as places in a slice of columns from `first` on; those beyond the
 * slice are WIDTH or more. One slice: the index of a byte. */
template <typename INDEX, int WIDTH>
static __device__ __forceinline__ uint32_t csaw__maxk_place(INDEX c, uint32_t first) {
    return sizeof(INDEX) == 1 ? (uint32_t)c : (uint32_t)c - first;
}

/* ---- which kernel: KERNELS<X, INDEX, SHAPE>::get() ---- */

/* Whether an array of entries can be read in vectors of VECTOR elements of `bytes` from the start of each row. */
static inline bool csaw__maxk_takes(const void *array, uint64_t k, uint64_t bytes, uint64_t vector) {
    return k % vector == 0 && (uintptr_t)array % (vector * bytes) == 0;
}

/* Fills in the layout for launches of so many entries of a row, in the widest vectors that `vector` allows, no wider
 * than they ask, unless an edge leaves lanes to others: KERNELS::ANY_ORDER, where edges may be added in any. */
template <template <csaw_dtype, typename, typename> class KERNELS, csaw_dtype X>
static csaw__maxk_kernel *csaw__maxk_kernel_by(csaw__maxk_product *m, uint32_t vector, uint32_t entries) {
    m->entries = entries;
    const auto chosen = [&](uint32_t lanes, uint32_t of_lane, uint32_t width) {
        m->groups = CSAW__MAXK_THREADS / lanes;
        m->width = width;
        m->span = lanes * of_lane;
        m->steps = (entries + m->span - 1) / m->span;
    };
    if (m->m.cols > CSAW__MAXK_NARROW) {
        chosen(32, vector == 4 ? 4 : 1, CSAW__MAXK_WIDE);
        return vector == 4 ? KERNELS<X, uint16_t, csaw__maxk_shape<32, 4, CSAW__MAXK_WIDE, false>>::get()
                           : KERNELS<X, uint16_t, csaw__maxk_shape<32, 1, CSAW__MAXK_WIDE, false>>::get();
    }
    if constexpr (KERNELS<X, uint8_t, void>::ANY_ORDER) {
        if (entries <= 16 && vector == 4) {
            chosen(16, 4, CSAW__MAXK_NARROW);
            return entries <= 8 ? KERNELS<X, uint8_t, csaw__maxk_shape<16, 4, CSAW__MAXK_NARROW, true, 8>>::get()
                                : KERNELS<X, uint8_t, csaw__maxk_shape<16, 4, CSAW__MAXK_NARROW, true, 4>>::get();
        }
    }
#define CSAW__TRY_SHAPE(LANES, VECTOR, ONE_STEP, IF)                                                     \
    if (IF) {                                                                                            \
        chosen(LANES, VECTOR, CSAW__MAXK_NARROW);                                                        \
        return KERNELS<X, uint8_t, csaw__maxk_shape<LANES, VECTOR, CSAW__MAXK_NARROW, ONE_STEP>>::get(); \
    }
    CSAW__TRY_SHAPE(8, 1, true, entries <= 8)
    CSAW__TRY_SHAPE(8, 2, true, entries <= 16 && vector >= 2)
    CSAW__TRY_SHAPE(8, 4, true, entries <= 32 && vector == 4)
    CSAW__TRY_SHAPE(16, 4, true, entries <= 64 && vector == 4)
    CSAW__TRY_SHAPE(32, 4, true, entries <= 128 && vector == 4)
    CSAW__TRY_SHAPE(32, 4, false, vector == 4)
    CSAW__TRY_SHAPE(16, 1, true, entries <= 16)
    CSAW__TRY_SHAPE(32, 1, true, entries <= 32)
    CSAW__TRY_SHAPE(32, 1, false, true)
#undef CSAW__TRY_SHAPE
}

#endif
