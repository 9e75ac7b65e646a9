/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_exchange.cu - see device_exchange.h.
 *
 * Limit on an H200 that is listed twice: rounds are short; keep_own takes 3.9 us, take_in 7.4 (59% of the throughput of
 * L2), pack 15.1 (34% of it, 72% of the warps): launches and latency. docs/measured/2026-11-24-gpu-12.md. */
#include "runtime/engine/device_exchange.h"

#include <cstring>

#include "partition/ranges.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/device_launch.cuh"
#include "runtime/base/device_status.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_library.h"
#include "runtime/engine/device_list.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/plan.h"

namespace {

enum {
    LOTS = 2,
    THREADS = 256,
    BLOCKS_EACH = 8, /* that a multiprocessor runs at a time */
    WORDS = 16       /* that a lane looks at, where few walkers came */
};
const uint64_t most_in_lot = (uint64_t)1 << 31; /* walks: their numbers, and distances of them, have 32 bits */

/* A walker on its way. */
struct walker {
    csaw__part_window window;
    uint32_t walk, progress;
    uint32_t known; /* as csaw__part_question has it */
    int32_t behind; /* its question stands so many places before its own */
};

/* [walks of a lot], device; what the sampler has no need of is NULL. */
struct queue {
    walker *walkers;
    uint64_t (*user)[4];                    /* of the walker at the same place */
    csaw_vertex (*asked)[CSAW__MOST_ASKED]; /* of those that ask, side by side */
};

static_assert(sizeof(csaw__part_window) + sizeof(csaw_vertex) + sizeof(uint32_t) + 2 * sizeof(walker) ==
                  CSAW__EXCHANGE_BYTES,
              "what divide() gives a walk");
static_assert(3 * sizeof(uint64_t[4]) == CSAW__EXCHANGE_USER_BYTES, "likewise, of bytes of its own");
static_assert(sizeof(csaw__part_question) + 2 * sizeof(csaw_vertex[CSAW__MOST_ASKED]) == CSAW__EXCHANGE_QUESTION_BYTES,
              "likewise, of questions");

/* Of each GPU, [gpus]: device. */
struct tally {
    unsigned long long *leaving; /* job.parts.waiting: walkers for it; one's own entry says nothing */
    unsigned long long *placed, *asking;
};

/* A lot on a GPU. */
struct side {
    csaw__job job; /* its walks; rows as this GPU sees them */
    queue out, in;
    tally count;
    cudaStream_t runs, copies;
    cudaEvent_t sent; /* the last round's queues are where they go */
    bool sends;       /* it had any */
    uint64_t *counts; /* host: [3 * gpus + 1] of that round: the tally, and the lowest fault so far */
};

struct holder {
    int ordinal;
    uint32_t blocks; /* that it runs at a time */
    csaw_vertex *first;
    uint32_t *owner;
    unsigned long long *counts; /* device: [LOTS][3 * gpus + 1] */
    csaw__part_home *homes;     /* device: [LOTS][gpus] */
    csaw__library *library;
    side lot[LOTS];
};

} // namespace

struct csaw__gpu_exchange {
    csaw__ranges ranges;
    uint32_t gpus;
    holder gpu[CSAW__MOST_GPUS];
    uint64_t *counts; /* the host's, page-locked where the system allows it: [LOTS][gpus][3 * gpus + 1] */
    bool counts_are_locked;
    csaw__exchange_counts counted;
    const csaw_sampler *sampler; /* of the batch at hand */
};

namespace {

/* ---- kernels ---- */

/* A place each for the lanes with the same `to`, of those that count has for it; to == none: no place. All lanes. */
CSAW_FN uint64_t next_place(unsigned long long *count, uint32_t to, uint32_t none) {
    const uint32_t lane = threadIdx.x & 31, alike = __match_any_sync(0xffffffffu, to);
    const int leader = __ffs((int)alike) - 1;
    unsigned long long begin = 0;
    if ((int)lane == leader && to != none) begin = atomicAdd(&count[to], (unsigned long long)__popc(alike));
    begin = __shfl_sync(0xffffffffu, begin, leader);
    return begin + (uint32_t)__popc(alike & ((1u << lane) - 1));
}

/* Of all walks at their roots, those whose root is in the range. */
__global__ void keep_own(const __grid_constant__ csaw__job job) {
    const uint64_t walk = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const csaw__part_view *const own = &job.parts.view[0];
    if (walk >= job.num_walks) return;
    if (job.parts.wait[walk] - own->first >= own->count) job.parts.wait[walk] = CSAW_NONE;
}

__global__ void take_in(const __grid_constant__ csaw__job job, const queue in, uint64_t count) {
    const uint64_t place = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const csaw__part_walks *const p = &job.parts;
    if (place >= count) return;
    const walker w = in.walkers[place];
    const uint32_t depth = w.progress & 0xffffffu, state = w.progress >> 24;
    const uint64_t path = csaw__part_path(&job, w.walk), waits = path + depth - (state == CSAW__PART_ASKS);
    p->window[w.walk] = w.window;
    p->progress[w.walk] = w.progress;
    p->wait[w.walk] = w.window.vertex[waits & (CSAW__WINDOW - 1)];
    for (int i = 0; i < 4 && p->user; i++) p->user[w.walk][i] = in.user[place][i];
    if (!p->question) return;
    csaw__part_question *const question = &p->question[w.walk];
    question->known = w.known;
    for (int i = 0; i < CSAW__MOST_ASKED && state == CSAW__PART_ASKS; i++)
        question->vertex[i] = in.asked[(int64_t)place - w.behind][i];
}

/* What waits elsewhere, to its queue. */
__global__ void pack(const __grid_constant__ csaw__job job, const queue out, const tally count) {
    const uint64_t walk = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    const csaw__part_walks *const p = &job.parts;
    const csaw_vertex wait = walk < job.num_walks ? p->wait[walk] : CSAW_NONE;
    const bool leaves = wait != CSAW_NONE;
    const uint32_t to = leaves ? csaw__owner_of(p->first, p->owner, p->shift, wait) : p->parts;
    const uint32_t progress = leaves ? p->progress[walk] : 0;
    const bool asks = leaves && progress >> 24 == CSAW__PART_ASKS;
    const uint64_t place = next_place(count.placed, to, p->parts),
                   asked = next_place(count.asking, asks ? to : p->parts, p->parts);
    if (!leaves) return;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < to; i++) begin += i == p->part ? 0 : count.leaving[i];
    p->wait[walk] = CSAW_NONE;
    walker w;
    w.window = p->window[walk];
    w.walk = (uint32_t)walk;
    w.progress = progress;
    w.known = asks || progress >> 24 == CSAW__PART_KNOWS ? p->question[walk].known : 0; /* else nobody wrote it */
    w.behind = asks ? (int32_t)((int64_t)place - (int64_t)asked) : 0;
    out.walkers[begin + place] = w;
    for (int i = 0; i < 4 && p->user; i++) out.user[begin + place][i] = p->user[walk][i];
    for (int i = 0; i < CSAW__MOST_ASKED && asks; i++) out.asked[begin + asked][i] = p->question[walk].vertex[i];
}

unsigned blocks_for(uint64_t threads) { return (unsigned)((threads + THREADS - 1) / THREADS); }

csaw_status launch_sampler(csaw__gpu_exchange *x, holder *g, const side *s, int kernel, unsigned blocks) {
    if (x->sampler->device) {
        CSAW_CUDA((cudaError_t)x->sampler->device->launch(kernel, blocks, THREADS, s->runs, &s->job));
        return CSAW_OK;
    }
    CSAW_TRY(csaw__library_take(&g->library, x->sampler, g->ordinal));
    return csaw__library_launch(g->library, kernel, blocks, THREADS, s->runs, &s->job);
}

/* ---- opening and closing ---- */

csaw_status take(void **out, uint64_t bytes, const char *what) {
    cudaError_t error = cudaErrorMemoryAllocation;
    if (csaw__alloc_allowed()) error = cudaMalloc(out, bytes ? bytes : 16);
    if (error == cudaErrorMemoryAllocation)
        return csaw__device_refused(what, bytes,
                                    "take fewer walks at a time (csaw_sample_each), list more GPUs, or leave exchange "
                                    "out");
    CSAW_CUDA(error);
    return CSAW_OK;
}

void drop(void *memory) {
    if (memory) cudaFree(memory);
}

uint64_t words(const csaw__gpu_exchange *x) { return 3 * (uint64_t)x->gpus + 1; }

csaw_status open_side(csaw__gpu_exchange *x, uint32_t i, uint32_t lot) {
    holder *const g = &x->gpu[i];
    side *const s = &g->lot[lot];
    CSAW_CUDA(cudaStreamCreateWithFlags(&s->runs, cudaStreamNonBlocking));
    CSAW_CUDA(cudaStreamCreateWithFlags(&s->copies, cudaStreamNonBlocking));
    CSAW_CUDA(cudaEventCreateWithFlags(&s->sent, cudaEventDisableTiming));
    s->counts = x->counts + (lot * (uint64_t)x->gpus + i) * words(x);
    s->count.leaving = g->counts + lot * words(x);
    s->count.placed = s->count.leaving + x->gpus;
    s->count.asking = s->count.placed + x->gpus;
    return CSAW_OK;
}

csaw_status open_gpu(csaw__gpu_exchange *x, uint32_t i) {
    holder *const g = &x->gpu[i];
    const csaw__ranges *const ranges = &x->ranges;
    const uint64_t first = ((uint64_t)x->gpus + 1) * sizeof *g->first, owner = ranges->num_owners * sizeof *g->owner;
    int multiprocessors = 0;
    CSAW_TRY(csaw__device_use(g->ordinal));
    CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, g->ordinal));
    g->blocks = (uint32_t)multiprocessors * BLOCKS_EACH;
    CSAW_TRY(take((void **)&g->first, first, "ranges of GPUs"));
    CSAW_TRY(take((void **)&g->owner, owner, "ranges of GPUs"));
    CSAW_TRY(take((void **)&g->counts, LOTS * words(x) * sizeof *g->counts, "counts of walkers"));
    CSAW_TRY(take((void **)&g->homes, LOTS * x->gpus * sizeof *g->homes, "homes of walks"));
    for (uint32_t lot = 0; lot < LOTS; lot++) CSAW_TRY(open_side(x, i, lot));
    const cudaStream_t stream = g->lot[0].runs;
    CSAW_CUDA(csaw__copy_async(g->first, ranges->first, first, cudaMemcpyHostToDevice, stream));
    CSAW_CUDA(csaw__copy_async(g->owner, ranges->owner, owner, cudaMemcpyHostToDevice, stream));
    CSAW_CUDA(cudaStreamSynchronize(stream));
    return CSAW_OK;
}

csaw_status open(csaw__gpu_exchange *x, const csaw_csr *csr) {
    const uint64_t all = LOTS * x->gpus * words(x);
    CSAW_TRY(csaw__ranges_create(csr, x->gpus, 0, 1, &x->ranges));
    x->counts = (uint64_t *)csaw__device_pin(all * sizeof *x->counts);
    x->counts_are_locked = x->counts != nullptr;
    if (!x->counts) CSAW_TRY(csaw__alloc(&x->counts, all, "counts of walkers"));
    for (uint32_t i = 0; i < x->gpus; i++) CSAW_TRY(csaw__gpu_told(x->gpu[i].ordinal, open_gpu(x, i)));
    return CSAW_OK;
}

/* Nothing is under way any more. */
void settle(const csaw__gpu_exchange *x) {
    for (uint32_t i = 0; i < x->gpus; i++) {
        cudaSetDevice(x->gpu[i].ordinal);
        for (const side &s : x->gpu[i].lot) {
            if (s.runs) cudaStreamSynchronize(s.runs);
            if (s.copies) cudaStreamSynchronize(s.copies);
        }
    }
    cudaGetLastError(); /* told already */
}

void close_gpu(holder *g) {
    cudaSetDevice(g->ordinal);
    for (const side &s : g->lot) {
        if (s.sent) cudaEventDestroy(s.sent);
        if (s.runs) cudaStreamDestroy(s.runs);
        if (s.copies) cudaStreamDestroy(s.copies);
    }
    drop(g->first);
    drop(g->owner);
    drop(g->counts);
    drop(g->homes);
    csaw__library_free(g->library);
}

/* ---- a batch ---- */

/* The next so many entries of the memory at hand. */
template <typename T> void part(uint64_t *at, uint64_t count, T **out) {
    *out = (T *)*at;
    *at += (count * sizeof(T) + 15) / 16 * 16;
}

/* The memory of a lot, from *at on. */
void divide(uint64_t *at, uint64_t walks, uint64_t traits, side *s) {
    csaw__part_walks *const p = &s->job.parts;
    part(at, walks, &p->window);
    part(at, walks, &p->wait);
    part(at, walks, &p->progress);
    part(at, walks, &s->out.walkers);
    part(at, walks, &s->in.walkers);
    if (traits & CSAW__TRAIT_USER) {
        part(at, walks, &p->user);
        part(at, walks, &s->out.user);
        part(at, walks, &s->in.user);
    }
    if (traits & CSAW__TRAIT_SECOND_ORDER) {
        part(at, walks, &p->question);
        part(at, walks, &s->out.asked);
        part(at, walks, &s->in.asked);
    }
}

/* Of a batch's walks where each lot begins. */
uint64_t lot_begin(const csaw__job *job, uint32_t lot) { return job->num_walks / LOTS * lot; }
uint64_t lot_end(const csaw__job *job, uint32_t lot) {
    return lot + 1 == LOTS ? job->num_walks : lot_begin(job, lot + 1);
}

void divide_memory(holder *g, const csaw__job *job, uint64_t traits, void *memory) {
    uint64_t at = (uint64_t)memory;
    for (uint32_t lot = 0; lot < LOTS; lot++)
        divide(&at, lot_end(job, lot) - lot_begin(job, lot), traits, &g->lot[lot]);
}

/* Where the lot's paths stand. A GPU whose walks end before the lot begins has none of them. */
csaw_status put_homes(csaw__gpu_exchange *x, const csaw__job *job, const csaw__exchange_gpu *at, uint32_t i,
                      uint32_t lot) {
    const holder *const g = &x->gpu[i];
    const uint64_t from = lot_begin(job, lot);
    csaw__part_home home[CSAW__MOST_GPUS];
    uint64_t first = 0; /* of the walks at home there */
    for (uint32_t h = 0; h < x->gpus; h++) {
        home[h].end = at[h].end > from ? at[h].end - from : 0;
        home[h].path = (uint64_t)at[h].path / sizeof(csaw_vertex) + (from - first) * ((uint64_t)job->length + 1);
        home[h].edge = (uint64_t)at[h].edge / sizeof(csaw_edge) + (from - first) * job->length;
        first = at[h].end;
    }
    CSAW_CUDA(csaw__copy_async(g->homes + lot * x->gpus, home, x->gpus * sizeof *home, cudaMemcpyHostToDevice,
                               g->lot[lot].runs));
    CSAW_CUDA(cudaStreamSynchronize(g->lot[lot].runs));
    return CSAW_OK;
}

/* What the lot's kernels are told on that GPU. */
void describe(csaw__gpu_exchange *x, const csaw__job *job, const csaw__exchange_gpu *at, uint32_t i, uint32_t lot) {
    holder *const g = &x->gpu[i];
    side *const s = &g->lot[lot];
    csaw__part_walks parts = s->job.parts; /* the memory of the lot, and */
    const csaw_vertex first = x->ranges.first[i];
    const csaw__rows *const rows = &at->rows;
    parts.waiting = s->count.leaving;
    parts.first = g->first;
    parts.owner = g->owner;
    parts.shift = x->ranges.shift;
    parts.part = i;
    parts.parts = x->gpus;
    parts.views = 1;
    parts.view[0] = {(const char *)rows->offset + first * (uint64_t)(rows->wide ? 8 : 4), rows->col, first,
                     x->ranges.first[i + 1] - first};
    parts.whole_offset = rows->offset;
    parts.whole_col = rows->col;
    parts.home = g->homes + lot * x->gpus;
    s->job = *job;
    s->job.parts = parts;
    s->job.rows = *rows;
    s->job.remote = 1;
    s->job.roots = at->roots;
    s->job.first = job->first + lot_begin(job, lot);
    s->job.num_walks = lot_end(job, lot) - lot_begin(job, lot);
    s->job.edge = at->edge; /* or none is kept; where it stands homes say */
    s->job.fault = s->count.leaving + words(x) - 1;
    s->sends = false;
}

csaw_status begin(csaw__gpu_exchange *x, const csaw__job *job, const csaw__exchange_gpu *at, uint32_t i) {
    holder *const g = &x->gpu[i];
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    for (side &s : g->lot) s.job.parts = {}, s.out = s.in = {};
    divide_memory(g, job, x->sampler->traits(), at[i].memory);
    for (uint32_t lot = 0; lot < LOTS; lot++) {
        CSAW_TRY(put_homes(x, job, at, i, lot));
        describe(x, job, &at[i], i, lot);
    }
    return CSAW_OK;
}

/* ---- rounds ---- */

/* The lot's walkers that are on the GPU, so many at most, as far as they get; the others to their queues. */
csaw_status step(csaw__gpu_exchange *x, holder *g, side *s, uint64_t walkers) {
    const uint64_t walks = s->job.num_walks, looks = (walks + WORDS - 1) / WORDS;
    const unsigned needed = blocks_for(walkers > looks ? walkers : looks),
                   blocks = needed < g->blocks ? needed : g->blocks;
    s->job.parts.warps = (uint64_t)blocks * (THREADS / 32);
    CSAW_CUDA(cudaMemsetAsync(s->count.leaving, 0, (words(x) - 1) * sizeof *g->counts, s->runs));
    CSAW_TRY(launch_sampler(x, g, s, CSAW__KERNEL_PARTS + (int)s->job.kernel, blocks));
    CSAW_TRY(csaw__device_launch(s->runs, blocks_for(walks), THREADS, pack, s->job, s->out, s->count));
    CSAW_CUDA(
        csaw__copy_async(s->counts, s->count.leaving, words(x) * sizeof *s->counts, cudaMemcpyDeviceToHost, s->runs));
    return CSAW_OK;
}

csaw_status start(csaw__gpu_exchange *x, uint32_t i, uint32_t lot) {
    holder *const g = &x->gpu[i];
    side *const s = &g->lot[lot];
    const uint64_t walks = s->job.num_walks;
    memset(s->counts, 0, words(x) * sizeof *s->counts);
    s->counts[words(x) - 1] = UINT64_MAX;
    if (walks == 0) return CSAW_OK;
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    /* no fault yet; what start adds to the counts nobody asks for */
    CSAW_CUDA(cudaMemsetAsync(s->count.leaving, 0xff, words(x) * sizeof *g->counts, s->runs));
    CSAW_TRY(launch_sampler(x, g, s, CSAW__KERNEL_PARTS_START, blocks_for(walks)));
    CSAW_TRY(csaw__device_launch(s->runs, blocks_for(walks), THREADS, keep_own, s->job));
    return step(x, g, s, walks);
}

/* The queue from GPU `from` to GPU `to`; where it begins at either. */
csaw_status send(csaw__gpu_exchange *x, uint32_t lot, uint32_t from, uint32_t to, uint64_t begin, uint64_t arrived) {
    const holder *const g = &x->gpu[from], *const h = &x->gpu[to];
    const side *const s = &g->lot[lot], *const t = &h->lot[lot];
    const uint64_t walkers = s->counts[to], asking = s->counts[2 * x->gpus + to];
    const uint64_t bytes = walkers * sizeof(walker), user = s->out.user ? walkers * sizeof *s->out.user : 0,
                   asked = asking * sizeof *s->out.asked;
    CSAW_CUDA(
        cudaMemcpyPeerAsync(t->in.walkers + arrived, h->ordinal, s->out.walkers + begin, g->ordinal, bytes, s->copies));
    if (user)
        CSAW_CUDA(
            cudaMemcpyPeerAsync(t->in.user + arrived, h->ordinal, s->out.user + begin, g->ordinal, user, s->copies));
    if (asked)
        CSAW_CUDA(
            cudaMemcpyPeerAsync(t->in.asked + arrived, h->ordinal, s->out.asked + begin, g->ordinal, asked, s->copies));
    x->counted.walkers += walkers;
    x->counted.questions += asking;
    x->counted.bytes += bytes + user + asked;
    return CSAW_OK;
}

/* All queues of GPU `from` in the lot's round, whose counts are here: to each GPU they come behind those that do
 * already. arriving: [gpus]. */
csaw_status send_all(csaw__gpu_exchange *x, uint32_t lot, uint32_t from, uint64_t *arriving) {
    side *const s = &x->gpu[from].lot[lot];
    uint64_t begin = 0;
    CSAW_CUDA(cudaSetDevice(x->gpu[from].ordinal));
    s->sends = false;
    for (uint32_t to = 0; to < x->gpus; to++) {
        if (to == from || s->counts[to] == 0) continue;
        CSAW_TRY(send(x, lot, from, to, begin, arriving[to]));
        begin += s->counts[to];
        arriving[to] += s->counts[to];
        s->sends = true;
    }
    if (s->sends) CSAW_CUDA(cudaEventRecord(s->sent, s->copies));
    return CSAW_OK;
}

/* The next round of the lot on GPU i, to which so many walkers come. Its own queues are free then, too. */
csaw_status step_arrived(csaw__gpu_exchange *x, uint32_t lot, uint32_t i, uint64_t arriving) {
    holder *const g = &x->gpu[i];
    side *const s = &g->lot[lot];
    if (arriving == 0) {
        memset(s->counts, 0, (words(x) - 1) * sizeof *s->counts);
        return CSAW_OK;
    }
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    for (uint32_t from = 0; from < x->gpus; from++)
        if (x->gpu[from].lot[lot].sends) CSAW_CUDA(cudaStreamWaitEvent(s->runs, x->gpu[from].lot[lot].sent, 0));
    CSAW_TRY(csaw__device_launch(s->runs, blocks_for(arriving), THREADS, take_in, s->job, s->in, arriving));
    return step(x, g, s, arriving);
}

csaw_status wait_for(const side *s) {
    CSAW_CUDA(cudaStreamSynchronize(s->runs));
    return CSAW_OK;
}

/* Ends the lot's round, and begins the next; *any: there is one. */
csaw_status go_on(csaw__gpu_exchange *x, uint32_t lot, bool *any) {
    uint64_t arriving[CSAW__MOST_GPUS] = {};
    *any = false;
    for (uint32_t i = 0; i < x->gpus; i++) CSAW_TRY(csaw__gpu_told(x->gpu[i].ordinal, wait_for(&x->gpu[i].lot[lot])));
    for (uint32_t i = 0; i < x->gpus; i++) CSAW_TRY(csaw__gpu_told(x->gpu[i].ordinal, send_all(x, lot, i, arriving)));
    for (uint32_t i = 0; i < x->gpus; i++) {
        CSAW_TRY(csaw__gpu_told(x->gpu[i].ordinal, step_arrived(x, lot, i, arriving[i])));
        *any = *any || arriving[i];
    }
    x->counted.rounds += *any;
    return CSAW_OK;
}

csaw_status walk(csaw__gpu_exchange *x) {
    bool any[LOTS], some = true;
    for (uint32_t lot = 0; lot < LOTS; lot++) {
        for (uint32_t i = 0; i < x->gpus; i++) CSAW_TRY(csaw__gpu_told(x->gpu[i].ordinal, start(x, i, lot)));
        any[lot] = true;
    }
    while (some) {
        some = false;
        for (uint32_t lot = 0; lot < LOTS; lot++) {
            if (any[lot]) CSAW_TRY(go_on(x, lot, &any[lot]));
            some = some || any[lot];
        }
    }
    return CSAW_OK;
}

/* Which arc, and what is wrong with it, the host finds out. */
void read_fault(const csaw__gpu_exchange *x, csaw__fault *fault) {
    uint64_t lowest = UINT64_MAX;
    for (uint32_t i = 0; i < x->gpus; i++)
        for (const side &s : x->gpu[i].lot)
            if (s.counts[words(x) - 1] < lowest) lowest = s.counts[words(x) - 1];
    if (lowest == UINT64_MAX) return;
    *fault = {};
    fault->kind = CSAW__FAULT_EDGE;
    fault->instance = lowest >> 24;
    fault->depth = (uint32_t)(lowest & 0xffffff);
    fault->edge = CSAW_NO_EDGE;
}

} // namespace

extern "C" csaw_status csaw__gpu_exchange_open(const csaw_csr *csr, const int *ordinal, uint32_t count,
                                               csaw__gpu_exchange **out) {
    csaw__gpu_exchange *x = nullptr;
    CSAW_TRY(csaw__alloc_zero(&x, 1, "an exchange between GPUs"));
    x->gpus = count;
    for (uint32_t i = 0; i < count; i++) x->gpu[i].ordinal = ordinal[i];
    const csaw_status status = open(x, csr);
    if (status == CSAW_OK)
        *out = x;
    else
        csaw__gpu_exchange_close(x);
    return status;
}

extern "C" void csaw__gpu_exchange_close(csaw__gpu_exchange *x) {
    if (!x) return;
    settle(x);
    for (uint32_t i = 0; i < x->gpus; i++) close_gpu(&x->gpu[i]);
    if (x->counts_are_locked)
        csaw__device_unpin(x->counts);
    else
        csaw__free(x->counts);
    csaw__ranges_clear(&x->ranges);
    cudaGetLastError(); /* told already */
    csaw__free(x);
}

extern "C" csaw_status csaw__gpu_exchange_walk(csaw__gpu_exchange *x, const csaw_sampler *sampler, const csaw__job *job,
                                               const csaw__exchange_gpu *at, csaw__fault *fault) {
    CSAW_REQUIRE(lot_end(job, LOTS - 1) - lot_begin(job, LOTS - 1) <= most_in_lot, CSAW_EINVAL,
                 "%llu walks exchanged between GPUs in one batch; at most %llu: take fewer at a time "
                 "(csaw_sample_each)",
                 (unsigned long long)job->num_walks, (unsigned long long)(LOTS * most_in_lot));
    x->sampler = sampler;
    csaw_status status = CSAW_OK;
    for (uint32_t i = 0; i < x->gpus && status == CSAW_OK; i++)
        status = csaw__gpu_told(x->gpu[i].ordinal, begin(x, job, at, i));
    if (status == CSAW_OK) status = walk(x);
    settle(x); /* of a lost GPU the others' kernels, too */
    CSAW_TRY(status);
    read_fault(x, fault);
    return CSAW_OK;
}

extern "C" csaw__exchange_counts csaw__gpu_exchange_counted(const csaw__gpu_exchange *x) { return x->counted; }
