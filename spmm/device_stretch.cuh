/* SPDX-License-Identifier: MIT */
/* spmm/device_stretch.cuh - device code of csaw_spmm() by stretches: a warp takes as many rows and edges as any other.
 *
 * Row r stands at place rowptr[r] + r, before its edges: so rows and edges have places of their own, one after the
 * other, and a row costs as an edge does (merge path: Merrill and Garland, "Merge-based parallel sparse matrix-vector
 * multiplication", SC'16). A stretch is so many places, and its warp takes the rows that stand there, and of a row of
 * more than CSAW_CHUNK edges the chunk that begins there: at most one, since a stretch is no longer than a chunk. So
 * results are those of all other methods, and no two warps share one. A stretch that lies as a whole in a row or chunk
 * has nothing of its own, and so takes that row or chunk over from the stretch where it begins. What a warp takes are
 * edges that follow each other: it loads columns and weights side by side, and features of so many edges at once,
 * whatever rows they belong to. Where rows end is one bit for each edge, the same in all lanes. All 32 lanes hold
 * columns, few each, so that a lane has the features of many edges on their way.
 *
 * A plan may bring rows near that name the same columns (spmm/device_reorder.cuh): what a block reads of x it then
 * often finds in the L1 cache. Rows are found in y, and weights that are not fixed at their edges, by what the plan
 * notes of each row.
 *
 * The results of chunks go to work memory, which has a place for each CSAW_CHUNK edges of the matrix, and one for a
 * row's last chunk that begins there; a second kernel merges them. To be compiled without contraction of a * b + c.
 *
 * Limit on an H100, amazon_cs, 128 columns of float32: csaw__stretches L2 at 62% of its throughput, 32% of the issue
 * slots, 18% of the warps at 124 registers a thread; csaw__merge_stretches (before it read many chunks at a time) and
 * csaw__find_first_rows latency, of 7 and 9 us. docs/measured/2026-11-27-gpu-21.md. */
#ifndef CSAW_SPMM_DEVICE_STRETCH_CUH
#define CSAW_SPMM_DEVICE_STRETCH_CUH

#include "spmm/device_address.cuh"
#include "spmm/device_beside.cuh"
#include "spmm/device_slice.cuh"
#include "spmm/device_stretch_merge.cuh"

/* ---- where a stretch is ---- */

/* How many rows stand before a place, by all lanes of a warp: 33 parts at a time. */
static __device__ __forceinline__ uint32_t csaw__rows_before(const uint64_t *rowptr, uint32_t rows, uint64_t place) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t low = 0, high = rows;
    while (low < high) {
        const uint32_t step = (high - low) / 32 + 1, row = low + (lane + 1) * step - 1;
        const bool before = row < high && rowptr[row] + row < place;
        const uint32_t parts = (uint32_t)__popc(__ballot_sync(CSAW__ALL_LANES, before));
        const uint32_t most = low + (parts + 1) * step - 1;
        low += parts * step;
        high = most < high ? most : high;
    }
    return low;
}

/* out: of each stretch of CSAW__STRETCH_GRAIN places, how many rows stand before it; a warp each. */
static __global__ void csaw__find_first_rows(const uint64_t *rowptr, uint64_t rows, uint64_t edges, uint32_t *out) {
    const uint64_t number = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (number >= csaw__stretches_of(rows, edges, CSAW__STRETCH_GRAIN)) return;
    const uint32_t first = csaw__rows_before(rowptr, (uint32_t)rows, number * CSAW__STRETCH_GRAIN);
    if (threadIdx.x % 32 == 0) out[number] = first;
}

#define CSAW__NO_ROW UINT32_MAX

struct alignas(16) csaw__stretch_row { /* of a stretch, or a chunk of it */
    uint64_t to;                       /* the place of its first column of the slice, in y or in work memory */
    union {
        float divisor; /* of its sum; 0: a chunk */
        uint32_t row;  /* of MAX and MIN: of y; CSAW__NO_ROW: a chunk */
    };
    int32_t shift; /* to its edges in the matrix's own order */
};

struct alignas(16) csaw__stretch_room { /* of a warp, in shared memory */
    csaw__stretch_row row[33];          /* with edges; one more, which is read but not used */
    alignas(16) csaw_vertex column[32]; /* of the next edges; 0 where there are none */
    alignas(16) float weight[32];
};

struct csaw__stretch_lane { /* what a lane has of a part */
    uint32_t end;           /* how many edges of the part there are up to the end of its row; 0 = it has none */
    uint32_t row;           /* of y */
};

/* The rows of a stretch, or 31 of them; the same in all lanes. */
struct csaw__stretch_part {
    uint64_t first_edge;
    uint32_t edges, empty; /* empty: lanes whose rows are */
    bool more;             /* the last lane's row is of the stretch too: so may be those that follow */
};

/* Lane l has row first + l - 1; lane 0 what the stretch has of the row before, if `begun`: the chunk that begins in it,
 * or what the first stretch that lies in a row or chunk as a whole takes over from the one where that begins. Fills in
 * rows, in shared memory: 32 at most, and one more is read but not used. */
static __device__ __forceinline__ csaw__stretch_part csaw__stretch_part_at(
    const csaw__product &p, const csaw__slice &slice, uint32_t slice_number, const csaw__stretch_deal &deal,
    uint64_t place, uint32_t first, bool begun, bool extreme, csaw__stretch_row *rows, csaw__stretch_lane *own) {
    const uint32_t stretch = deal.places;
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t row = first + lane - 1; /* before the first: no row */
    const bool is_row = row < (uint32_t)p.rows;
    uint64_t begin = is_row ? p.rowptr[row] : 0, length = is_row ? p.rowptr[row + 1] - begin : 0;
    uint64_t at = begin + row; /* where it stands */
    csaw__reordered_row from = {row, (uint32_t)begin};
    if (deal.moved && is_row) from = deal.moved[row];
    const int32_t shift = (int32_t)(from.edge - (uint32_t)begin);
    const bool is_chunk = length > CSAW_CHUNK;
    bool here = is_row && at - place < stretch, last = false, takes_over = false;
    if (lane == 0) {
        const uint64_t passed = place - at;
        uint64_t skip = is_chunk ? (passed + stretch - 1) / CSAW_CHUNK * CSAW_CHUNK : 0; /* the last before the end */
        here = begun && is_chunk && skip >= passed && skip < length;
        takes_over = begun && !here && passed <= length;
        if (takes_over && is_chunk) skip = passed / CSAW_CHUNK * CSAW_CHUNK; /* the chunk that it lies in */
        begin += skip, length -= skip, at += skip;
        last = length <= CSAW_CHUNK;
    }
    uint32_t count = here || takes_over ? (length < CSAW_CHUNK ? (uint32_t)length : CSAW_CHUNK) : 0;
    const uint64_t until = at + count + (last || !is_chunk); /* where the next stands */
    if (takes_over) {                                        /* by the first that lies in it, as a whole */
        if (at + stretch < place || place + stretch > until) count = 0;
    } else if (here && place + 2 * stretch <= until) { /* by the next, which lies in it as a whole */
        count = 0;
        here = false;
    }
    const uint32_t with_edges = __ballot_sync(CSAW__ALL_LANES, count != 0);
    csaw__stretch_part part;
    part.empty = __ballot_sync(CSAW__ALL_LANES, here && !count);
    part.more = __shfl_sync(CSAW__ALL_LANES, (uint32_t)here, 31) != 0;
    part.first_edge = __shfl_sync(CSAW__ALL_LANES, begin, with_edges ? __ffs((int)with_edges) - 1 : 0);
    own->row = from.row;
    own->end = count ? (uint32_t)(begin - part.first_edge) + count : 0;
    part.edges = __shfl_sync(CSAW__ALL_LANES, own->end, with_edges ? 31 - __clz((int)with_edges) : 0);
    if (count) {
        csaw__stretch_row *const out = rows + __popc(with_edges & ((1u << lane) - 1));
        const uint64_t chunk = slice_number * p.split.most_chunks + csaw__chunk_place(p, begin, last);
        out->to = is_chunk ? chunk * p.width : from.row * p.y.stride + slice.first;
        out->shift = shift;
        if (extreme)
            out->row = is_chunk ? CSAW__NO_ROW : from.row;
        else
            out->divisor = is_chunk ? 0.0f : p.reduce == CSAW_MEAN ? (float)count : 1.0f;
    }
    return part;
}

/* ---- its sums and extremes ---- */

enum { CSAW__STRETCH_STEP = 4 /* edges whose columns are read at once */ };

/* What a lane holds of features, and where they go. */
template <csaw_dtype X, int VECTOR, bool EXTREME> struct csaw__stretch_found {
    typedef csaw__pack<typename csaw__stored<X == CSAW_F32 ? 4 : 2>::type, VECTOR> vector;
    const csaw__product &p;
    const csaw__stretch_row *next; /* in shared memory */
    csaw__stretch_row row;
    uint32_t column; /* this lane's first of the slice */
    bool stored;     /* the slice has it */
    float value[VECTOR];

    /* of MAX and MIN */
    float sign;                           /* -1 of MIN */
    uint64_t first_edge, first_column;    /* of the part, of the slice */
    uint32_t begin;                       /* of the row, counted from the part's first edge */
    uint32_t place[EXTREME ? VECTOR : 1]; /* of what won, likewise */

    /* A row begins. */
    __device__ __forceinline__ void clear(uint32_t edge) {
        begin = edge;
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            value[i] = EXTREME ? __uint_as_float(0xff800000u) : 0.0f; /* as csaw__found */
            if (EXTREME) place[i] = edge;
        }
    }
    __device__ __forceinline__ void take(uint32_t edge, const float *product) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++) {
            if (!EXTREME) {
                value[i] += product[i];
            } else {
                const bool larger = csaw__larger(product[i], value[i]);
                value[i] = larger ? product[i] : value[i];
                place[i] = larger ? edge : place[i];
            }
        }
    }
    /* So many edges, from this one on, of which `ended` says after which a row ends. */
    __device__ __forceinline__ void take_step(uint32_t edge, const csaw__pack<float, CSAW__STRETCH_STEP> &weight,
                                              const vector *of, uint32_t ended) {
        constexpr uint32_t COUNT = CSAW__STRETCH_STEP;
        float product[COUNT][VECTOR];
#pragma unroll
        for (uint32_t n = 0; n < COUNT; n++) {
            csaw__widen_pack<X>(of[n], product[n]);
#pragma unroll
            for (int i = 0; i < VECTOR; i++) product[n][i] *= weight.at[n];
        }
        if (!ended) {
#pragma unroll
            for (uint32_t n = 0; n < COUNT; n++) take(edge + n, product[n]);
            return;
        }
        uint32_t left = (1u << COUNT) - 1;
        const auto take_those = [&](uint32_t those) {
#pragma unroll
            for (uint32_t n = 0; n < COUNT; n++)
                if (those >> n & 1) take(edge + n, product[n]);
        };
#pragma unroll 1
        for (; ended; ended &= ended - 1) {
            const uint32_t up_to = ended ^ (ended - 1);
            take_those(left & up_to);
            end();
            clear(edge + (uint32_t)__popc(up_to));
            left &= ~up_to;
        }
        take_those(left);
    }
    /* The row ends. */
    __device__ __forceinline__ void end() {
        if (EXTREME ? row.row == CSAW__NO_ROW : row.divisor == 0.0f) {
#pragma unroll
            for (int i = 0; i < VECTOR; i++)
                if (EXTREME) place[i] -= begin;
            if (stored) csaw__put<VECTOR>(p.partial + row.to + column, value);
            if (EXTREME && stored) csaw__put<VECTOR>(p.place + row.to + column, place);
        } else {
            if (EXTREME && stored && p.arg) put_arg();
            if (EXTREME)
#pragma unroll
                for (int i = 0; i < VECTOR; i++) value[i] *= sign;
            else if (row.divisor != 1.0f)
#pragma unroll
                for (int i = 0; i < VECTOR; i++) value[i] /= row.divisor;
            if (stored) csaw__store<VECTOR>(&p.y, 0, row.to + column, value);
        }
        row = *next++;
    }
    __device__ __forceinline__ void put_arg() const {
        csaw_edge edge[VECTOR];
#pragma unroll
        for (int i = 0; i < VECTOR; i++) edge[i] = first_edge + row.shift + place[EXTREME ? i : 0];
        csaw__put_arg<VECTOR>(p.arg + row.row * p.y.cols + first_column + column, edge);
    }
};

/* The rows and chunks of a part that have edges, by a warp. */
template <csaw_dtype X, int VECTOR, int BATCH, bool EXTREME>
static __device__ __forceinline__ void csaw__take_part(const csaw__product &p, const csaw__slice &slice,
                                                       const csaw__stretch_part &part, uint32_t end, bool shifted,
                                                       csaw__stretch_room *room) {
    typedef csaw__stretch_found<X, VECTOR, EXTREME> found;
    typedef typename found::vector vector;
    typedef csaw__pack<csaw_vertex, CSAW__STRETCH_STEP> columns;
    typedef csaw__pack<float, CSAW__STRETCH_STEP> weights;
    constexpr uint32_t bytes = X == CSAW_F32 ? 4 : 2, STEP = CSAW__STRETCH_STEP, HALF = BATCH / 2;
    static_assert(HALF % STEP == 0 && 32 % BATCH == 0, "halves of a batch are whole steps, the edges at hand batches");
    const uint32_t lane = threadIdx.x % 32, row_bytes = (uint32_t)p.x.stride * bytes, mine = lane * VECTOR;
    found of = {p};
    of.column = mine, of.stored = mine < slice.width;
    of.sign = p.reduce == CSAW_MIN ? -1.0f : 1.0f;
    of.first_edge = part.first_edge, of.first_column = slice.first;
    const char *x = (const char *)p.x.data + (slice.first + (of.stored ? mine : 0)) * bytes;
    const csaw_vertex *const col = p.col + part.first_edge;
    const float *const weight = p.weight ? p.weight + part.first_edge * p.heads + slice.head : nullptr;
    csaw_vertex next_column = 0;
    float next_weight = 1.0f;
    uint32_t rows_before = 0; /* the next edges, where weights are shifted */
    /* After which of 32 edges rows end. */
    const auto ends_from = [&](uint32_t base) {
        return __reduce_add_sync(CSAW__ALL_LANES, end - 1 - base < 32 ? 1u << (end - 1 - base) : 0u);
    };
    const auto read = [&](uint32_t base) {
        const uint32_t k = base + lane;
        int64_t at = k; /* where its weight stands */
        next_column = k < part.edges ? col[k] : 0;
        if (!weight) return;
        if (shifted) {
            const uint32_t ends = ends_from(base);
            at += room->row[rows_before + (uint32_t)__popc(ends & ((1u << lane) - 1))].shift;
            rows_before += (uint32_t)__popc(ends);
        }
        if (k < part.edges) next_weight = weight[at * (int64_t)p.heads];
    };
    csaw__work_out(x);
    of.clear(0);
    __syncwarp(); /* room->row stands */
    read(0);
    of.next = room->row + 1;
    of.row = room->row[0];
    for (uint32_t base = 0; base < part.edges; base += 32) {
        room->column[lane] = next_column;
        room->weight[lane] = EXTREME ? of.sign * next_weight : next_weight;
        read(base + 32);
        const uint32_t ends = ends_from(base);
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = 0; k < 32 && base + k < part.edges; k += BATCH) {
            const bool second = base + k + HALF < part.edges; /* there is more than half of a batch */
            vector loaded[BATCH];
            columns at[BATCH / STEP];
#pragma unroll
            for (uint32_t n = 0; n < BATCH / STEP; n++) at[n] = *(const columns *)(room->column + k + n * STEP);
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n++)
                if (n < HALF || second)
                    loaded[n] = *(const vector *)csaw__address(x, at[n / STEP].at[n % STEP], row_bytes);
#pragma unroll
            for (uint32_t n = 0; n < BATCH; n += STEP) {
                if (n >= HALF && !second) break;
                const weights w = *(const weights *)(room->weight + k + n);
                of.take_step(base + k + n, w, loaded + n, ends >> (k + n) & ((1u << STEP) - 1));
            }
        }
        __syncwarp(); /* the edges at hand were read */
    }
}

/* One stretch, by a warp. */
template <csaw_dtype X, int VECTOR, int BATCH, bool EXTREME>
static __device__ __forceinline__ void csaw__reduce_stretch(const csaw__product &p, const csaw__slice &slice,
                                                            uint32_t slice_number, const csaw__stretch_deal &deal,
                                                            uint64_t place, csaw__stretch_room *room) {
    const uint32_t column = threadIdx.x % 32 * VECTOR;
    const float zero[VECTOR] = {};
    csaw_edge none[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i++) none[i] = CSAW_NO_EDGE;
    uint32_t first = deal.first_rows ? deal.first_rows[place / CSAW__STRETCH_GRAIN]
                                     : csaw__rows_before(p.rowptr, (uint32_t)p.rows, place);
    bool begun = first > 0, more = true;
    for (; more; first += 31, begun = false) {
        csaw__stretch_lane own;
        const csaw__stretch_part part =
            csaw__stretch_part_at(p, slice, slice_number, deal, place, first, begun, EXTREME, room->row, &own);
        more = part.more;
        for (uint32_t rest = part.empty; rest; rest &= rest - 1) {
            const uint64_t row = __shfl_sync(CSAW__ALL_LANES, own.row, __ffs((int)rest) - 1);
            if (column >= slice.width) continue;
            csaw__store<VECTOR>(&p.y, row, slice.first + column, zero);
            if (EXTREME && p.arg) csaw__put_arg<VECTOR>(p.arg + row * p.y.cols + slice.first + column, none);
        }
        if (part.edges) csaw__take_part<X, VECTOR, BATCH, EXTREME>(p, slice, part, own.end, deal.shifted, room);
    }
}

template <csaw_dtype X, int VECTOR, int BATCH, int BLOCKS, bool EXTREME>
static __global__ void __launch_bounds__(CSAW__STRETCH_THREADS, BLOCKS)
    csaw__stretches(const __grid_constant__ csaw__product p, const __grid_constant__ csaw__stretch_deal deal) {
    __shared__ csaw__stretch_room rooms[CSAW__STRETCH_THREADS / 32];
    const uint32_t warp = threadIdx.x / 32, of_slice = (uint32_t)p.blocks;
    const uint32_t slice_number = p.slices == 1 ? 0 : blockIdx.x / of_slice;
    const uint32_t part =
        csaw__stretch_part_of(blockIdx.x - slice_number * of_slice, of_slice, deal.multiprocessors, BLOCKS);
    const uint64_t place = (part * (uint64_t)(CSAW__STRETCH_THREADS / 32) + warp) * deal.places;
    csaw__end_after_last(); /* and then alone the next may begin: csaw__merge_stretches() reads rows before it waits */
    csaw__let_next_begin();
    if (place >= p.rows + p.num_edges) return;
    const csaw__slice slice = csaw__slice_at(&p, p.first_slice + slice_number);
    csaw__reduce_stretch<X, VECTOR, BATCH, EXTREME>(p, slice, slice_number, deal, place, rooms + warp);
}

/* ---- one kernel for each width ---- */

typedef void csaw__stretch_kernel(csaw__product, csaw__stretch_deal);

template <csaw_dtype X, int VECTOR, bool EXTREME> static csaw__stretch_kernel *csaw__stretch_kernel_by() {
    constexpr uint32_t ELEMENT = X == CSAW_F32 ? 4 : 2;
    constexpr csaw__stretch_shape SHAPE = csaw__stretch_shape_of(VECTOR * ELEMENT, ELEMENT, EXTREME);
    return csaw__stretches<X, VECTOR, SHAPE.batch, SHAPE.blocks, EXTREME>;
}

template <csaw_dtype X, bool EXTREME> static csaw__stretch_kernel *csaw__stretch_kernel_for(uint32_t vector) {
    constexpr int WIDE = X == CSAW_F32 ? CSAW__VECTOR : CSAW__VECTOR_16;
    if (vector == WIDE) return csaw__stretch_kernel_by<X, WIDE, EXTREME>();
    if (vector == 4) return csaw__stretch_kernel_by<X, 4, EXTREME>();
    return vector == 2 ? csaw__stretch_kernel_by<X, 2, EXTREME>() : csaw__stretch_kernel_by<X, 1, EXTREME>();
}

template <csaw_dtype X> static csaw__stretch_kernel *csaw__stretch_kernel_of(uint32_t vector, bool extreme) {
    return extreme ? csaw__stretch_kernel_for<X, true>(vector) : csaw__stretch_kernel_for<X, false>(vector);
}

#endif
