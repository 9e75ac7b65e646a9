/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_spread.cu - a rank's part of a split graph on its GPU: see spread_gpu.h. A walker that came has
 * a slot, in which the kernel of the partitions moves it; how many messages come of each slot is counted, then each
 * message has its place in the list of its rank, and they are written by as many bytes as there is room for.
 *
 * Limit on an H100, walks on small graphs: launches of 3 to 14 us, with 2% of the issue slots: the host's messages
 * take longer (docs/scaling.md). */
#include "runtime/engine/spread_gpu.h"

#include <cstring>
#include <utility>

#include "partition/homes.h"
#include "partition/owner.h"
#include "runtime/base/device_copy.h"
#include "runtime/base/device_launch.cuh"
#include "runtime/base/device_status.h"
#include "runtime/base/memory.h"
#include "runtime/engine/device_library.h"

#ifndef CSAW__FETCH_BYTES
#define CSAW__FETCH_BYTES ((uint64_t)64 << 20) /* of messages that are brought to the host at a time */
#endif

namespace {

enum {
    THREADS = 256,
    BLOCKS_EACH = 8, /* that a multiprocessor runs at a time */
    LISTS = CSAW__MESSAGE_LISTS,
    LARGEST = sizeof(csaw__walker_message) + sizeof(csaw__walker_question)
};
const uint64_t default_at_once = (uint64_t)1 << 20;

/* Slots of a launch, and what becomes of them. */
struct board {
    uint64_t slots, walkers;    /* slots: the first ones are of walkers that ask nothing */
    unsigned char *in, *in_end; /* walkers that came from the front on, those that ask up to the end */
    const unsigned char *first_asking;
    csaw__walker_limits limits;
    unsigned long long *odd; /* lowest slot of a message that is not of this batch */
    csaw__message_forms forms;
    csaw__part_walks p;
    const csaw_vertex *path; /* [slots, length + 1] */
    const csaw_edge *edge;   /* [slots, length]; NULL = not kept */
    uint32_t length, rank;
    uint64_t first;            /* instance of the batch's walk 0 */
    csaw__homes homes;         /* of the batch's walks */
    uint64_t *instance;        /* [slots] */
    uint32_t *from;            /* [slots] depth at which it came */
    uint64_t *place[2];        /* [slots] of the walker and of its first record in their lists */
    unsigned long long *count; /* [ranks * LISTS] messages */
    const uint64_t *begin;     /* [ranks * LISTS] byte at which each list begins */
    unsigned char *out;        /* messages that begin at bytes out_first .. out_end - 1 */
    uint64_t out_first, out_end;
};

/* What of a slot goes on, and where to. */
struct leaving {
    uint32_t list, records, depth;       /* list: LISTS = the walk has ended */
    uint64_t walker_place, record_place; /* in which lists: rank * LISTS + list */
};

CSAW_FN uint64_t place_of(const board &b, uint64_t slot, uint32_t depth) {
    return (uint64_t)b.path / sizeof(csaw_vertex) + slot * ((uint64_t)b.length + 1) + depth;
}

CSAW_FN csaw_vertex in_window(const board &b, uint64_t slot, uint32_t depth) {
    return b.p.window[slot].vertex[place_of(b, slot, depth) & (CSAW__WINDOW - 1)];
}

/* depth: at which the walk is now; its last vertices may be in the window alone. */
CSAW_FN csaw_vertex vertex_at(const board &b, uint64_t slot, uint32_t d, const leaving &l) {
    if (l.list != LISTS && place_of(b, slot, d) / CSAW__WINDOW == place_of(b, slot, l.depth) / CSAW__WINDOW)
        return in_window(b, slot, d);
    return b.path[slot * ((uint64_t)b.length + 1) + d];
}

CSAW_FN leaving leaving_of(const board &b, uint64_t slot) {
    leaving l = {};
    const csaw_vertex wait = b.p.wait[slot];
    const uint32_t home = csaw__home_of(&b.homes, b.instance[slot] - b.first);
    l.record_place = (uint64_t)home * LISTS + CSAW__LIST_RECORDS;
    if (wait == CSAW_NONE) { /* records go as far as it got: the last one says that it ended */
        l.list = LISTS;
        l.depth = b.from[slot] + 1;
        while (l.depth < b.length && vertex_at(b, slot, l.depth, l) != CSAW_NONE) l.depth++;
    } else {
        const uint32_t progress = b.p.progress[slot], state = progress >> 24;
        const uint32_t to = state == CSAW__PART_STOPS ? b.rank : csaw__owner_of(b.p.first, b.p.owner, b.p.shift, wait);
        l.list = state == CSAW__PART_STEPS ? CSAW__LIST_WALKERS : CSAW__LIST_ASKING;
        l.depth = progress & 0xffffffu;
        l.walker_place = (uint64_t)to * LISTS + l.list;
    }
    l.records = l.depth - b.from[slot];
    return l;
}

__global__ void take_in(board b) {
    const uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (slot >= b.slots) return;
    const bool asks = slot >= b.walkers;
    const uint64_t plain = b.forms.bytes[CSAW__LIST_WALKERS], asking = b.forms.bytes[CSAW__LIST_ASKING];
    const unsigned char *at = asks ? b.first_asking + (slot - b.walkers) * asking : b.in + slot * plain;
    const csaw__walker_message *m = (const csaw__walker_message *)at;
    const csaw__walker_question *q = (const csaw__walker_question *)(at + plain);
    const uint32_t state = asks ? q->state : (uint32_t)CSAW__PART_STEPS;
    const csaw_vertex whose = state == CSAW__PART_ASKS ? m->prev : m->at;
    if (m->head >> 44 != b.forms.head[asks ? CSAW__LIST_ASKING : CSAW__LIST_WALKERS] >> 44 ||
        !csaw__walker_fits(&b.limits, m, whose) || (asks && !csaw__question_fits(q))) {
        atomicMin(b.odd, (unsigned long long)slot);
        b.p.wait[slot] = CSAW_NONE; /* for the launch, after which the run ends, it is a walk that has ended */
        b.instance[slot] = b.first;
        b.from[slot] = 0;
        return;
    }
    csaw__part_window window = {{0, 0, 0, 0}};
    window.vertex[place_of(b, slot, m->depth) & (CSAW__WINDOW - 1)] = m->at;
    if (m->depth) window.vertex[place_of(b, slot, m->depth - 1) & (CSAW__WINDOW - 1)] = m->prev;
    b.p.window[slot] = window;
    b.p.wait[slot] = whose;
    b.p.progress[slot] = m->depth | state << 24;
    ((csaw_vertex *)b.p.root)[slot] = m->root;
    b.instance[slot] = b.first + (m->head & (((uint64_t)1 << 44) - 1));
    b.from[slot] = m->depth;
    for (int i = 0; i < 4 && b.p.user; i++) b.p.user[slot][i] = m->user[i];
    if (asks) b.p.question[slot] = q->question;
}

__global__ void find_walk(board b, uint64_t walk, unsigned long long *found) {
    const uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (slot < b.slots && b.instance[slot] - b.first == walk) atomicMin(found, (unsigned long long)slot);
}

__global__ void count_messages(board b) {
    const uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (slot >= b.slots) return;
    const leaving l = leaving_of(b, slot);
    if (l.list != LISTS) b.place[0][slot] = atomicAdd(&b.count[l.walker_place], 1ull);
    if (l.records) b.place[1][slot] = atomicAdd(&b.count[l.record_place], (unsigned long long)l.records);
}

/* Where a message is written; NULL: it is none of those at hand. */
CSAW_FN void *message_at(const board &b, uint64_t byte) {
    return byte >= b.out_first && byte < b.out_end ? b.out + (byte - b.out_first) : nullptr;
}

__global__ void write_messages(board b) {
    const uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (slot >= b.slots) return;
    const leaving l = leaving_of(b, slot);
    const uint64_t walk = b.instance[slot] - b.first, bytes = b.forms.bytes[CSAW__LIST_RECORDS];
    for (uint32_t r = 0; r < l.records; r++) {
        const uint32_t depth = b.from[slot] + 1 + r;
        csaw__record_message *m =
            (csaw__record_message *)message_at(b, b.begin[l.record_place] + (b.place[1][slot] + r) * bytes);
        if (!m) continue;
        m->head = b.forms.head[CSAW__LIST_RECORDS] | walk;
        m->depth = depth;
        m->at = vertex_at(b, slot, depth, l);
        if (b.edge) m->edge = b.edge[slot * b.length + depth - 1];
    }
    if (l.list == LISTS) return;
    csaw__walker_message *m =
        (csaw__walker_message *)message_at(b, b.begin[l.walker_place] + b.place[0][slot] * b.forms.bytes[l.list]);
    if (!m) return;
    m->head = b.forms.head[l.list] | walk;
    m->at = in_window(b, slot, l.depth);
    m->prev = l.depth ? in_window(b, slot, l.depth - 1) : CSAW_NONE;
    m->root = b.p.root[slot];
    m->depth = l.depth;
    for (int i = 0; i < 4 && b.p.user; i++) m->user[i] = b.p.user[slot][i];
    if (l.list == CSAW__LIST_WALKERS) return;
    csaw__walker_question *q = (csaw__walker_question *)((char *)m + b.forms.bytes[CSAW__LIST_WALKERS]);
    const csaw__part_question &question = b.p.question[slot];
    const uint32_t known = question.known;
    q->state = b.p.progress[slot] >> 24;
    q->question.known = known;
    for (uint32_t i = 0; i < CSAW__MOST_ASKED; i++) /* no more of it was ever written */
        q->question.vertex[i] = i < (known & 0xff) ? question.vertex[i] : CSAW_NONE;
}

} // namespace

struct csaw__spread_gpu {
    const csaw__share *share;
    int ordinal;
    uint32_t rank, ranks, blocks; /* blocks: that the GPU runs at a time */
    uint64_t at_once;
    cudaStream_t stream;
    csaw__rows rows; /* device */
    uint32_t *degree, *owner;
    csaw_vertex *first;
    unsigned long long *counts; /* device: [ranks * LISTS] messages, [ranks + 1] that kernels count in, fault, odd */
    uint64_t *begin;            /* device: [ranks * LISTS] */
    uint64_t *host_counts, *host_begin;
    const csaw__alias *alias; /* the host's, of which rows has a copy; NULL: it has none */
    csaw__library *library;

    const csaw_sampler *sampler; /* of the batch at hand */
    bool straight;
    uint64_t brought; /* bytes of the lists that are brought to the host */
    csaw__job job;
    board at_hand;
    void *memory; /* device: of slots, then of messages that came, then of those that leave */
    uint64_t memory_bytes, most;
    unsigned char *fetched; /* the host's, page-locked where the system allows it */
    bool fetched_is_locked;
};

namespace {

csaw_status take(void **out, uint64_t bytes, const char *what) {
    cudaError_t error = cudaErrorMemoryAllocation;
    if (csaw__alloc_allowed()) error = cudaMalloc(out, bytes ? bytes : 16);
    if (error == cudaErrorMemoryAllocation)
        return csaw__device_refused(what, bytes,
                                    "start more ranks, of which each has a smaller part, or leave device out");
    CSAW_CUDA(error);
    return CSAW_OK;
}

template <typename T>
csaw_status upload(csaw__spread_gpu *g, const T *from, uint64_t count, const char *what, const T **out) {
    if (!from) return CSAW_OK;
    CSAW_TRY(take((void **)out, count * sizeof(T), what));
    CSAW_CUDA(csaw__copy_async((void *)*out, from, count * sizeof(T), cudaMemcpyHostToDevice, g->stream));
    CSAW_CUDA(cudaStreamSynchronize(g->stream));
    return CSAW_OK;
}

void drop(const void *memory) {
    if (memory) cudaFree((void *)memory);
}

csaw_status upload_part(csaw__spread_gpu *g) {
    const csaw__rows *const rows = &g->share->rows;
    const csaw__ranges *const ranges = &g->share->ranges;
    const uint64_t *const offset = (const uint64_t *)rows->offset;
    const uint64_t arcs = offset[rows->count];
    const char *const what = "a rank's part of the graph";
    csaw__rows *const to = &g->rows;
    to->first_arc = rows->first_arc;
    to->first = rows->first;
    to->count = rows->count;
    to->wide = 1;
    CSAW_TRY(upload(g, offset, (uint64_t)rows->count + 1, what, (const uint64_t **)&to->offset));
    CSAW_TRY(upload(g, rows->col, arcs, what, &to->col));
    CSAW_TRY(upload(g, rows->weight, arcs, what, &to->weight));
    CSAW_TRY(upload(g, rows->type, arcs, what, &to->type));
    CSAW_TRY(upload(g, rows->time, arcs, what, &to->time));
    CSAW_TRY(
        upload(g, g->share->degree, ranges->first[g->ranks], "degrees of all vertices", (const uint32_t **)&g->degree));
    CSAW_TRY(upload(g, ranges->first, (uint64_t)g->ranks + 1, "ranges of ranks", (const csaw_vertex **)&g->first));
    return upload(g, ranges->owner, ranges->num_owners, "ranges of ranks", (const uint32_t **)&g->owner);
}

uint64_t counters(const csaw__spread_gpu *g) { return (uint64_t)g->ranks * LISTS + g->ranks + 3; }

csaw_status open(csaw__spread_gpu *g) {
    int multiprocessors = 0;
    CSAW_TRY(csaw__device_use(g->ordinal));
    CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, g->ordinal));
    g->blocks = (uint32_t)multiprocessors * BLOCKS_EACH;
    CSAW_CUDA(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
    CSAW_TRY(upload_part(g));
    CSAW_TRY(take((void **)&g->counts, counters(g) * sizeof *g->counts, "counts of messages"));
    CSAW_TRY(take((void **)&g->begin, (uint64_t)g->ranks * LISTS * sizeof *g->begin, "counts of messages"));
    CSAW_TRY(csaw__alloc(&g->host_counts, counters(g), "counts of messages"));
    CSAW_TRY(csaw__alloc(&g->host_begin, (uint64_t)g->ranks * LISTS + 1, "counts of messages"));
    g->fetched = (unsigned char *)csaw__device_pin(CSAW__FETCH_BYTES + LARGEST);
    g->fetched_is_locked = g->fetched != nullptr;
    return g->fetched ? CSAW_OK : csaw__alloc(&g->fetched, CSAW__FETCH_BYTES + LARGEST, "messages of a GPU");
}

csaw_status upload_tables(csaw__spread_gpu *g, const csaw__rows *host) {
    if (host->alias == g->alias) return CSAW_OK;
    csaw__spread_gpu_forget_tables(g);
    if (!host->alias) return CSAW_OK;
    const uint64_t arcs = ((const uint64_t *)host->offset)[host->count];
    CSAW_TRY(
        upload(g, host->alias, arcs, "alias tables of a rank's part (selection 'its' needs none)", &g->rows.alias));
    CSAW_TRY(upload(g, host->bias, (uint64_t)host->count, "sums of static biases", &g->rows.bias));
    g->alias = host->alias;
    return CSAW_OK;
}

/* The next so many bytes of the memory at hand. */
template <typename T> void part(char **at, uint64_t count, T **out) {
    *out = (T *)*at;
    *at += (count * sizeof(T) + 15) / 16 * 16;
}

uint64_t bytes_of_slot(const csaw__spread_gpu *g, bool edges) {
    const board *const b = &g->at_hand;
    const uint64_t traits = g->sampler->traits();
    return b->forms.bytes[CSAW__LIST_ASKING] + sizeof *b->p.window + 4 * sizeof(uint32_t) + 3 * sizeof(uint64_t) +
           (traits & CSAW__TRAIT_USER ? sizeof *b->p.user : 0) +
           (traits & CSAW__TRAIT_SECOND_ORDER ? sizeof *b->p.question : 0) +
           ((uint64_t)g->job.length + 1) * sizeof(csaw_vertex) + (edges ? g->job.length * sizeof(csaw_edge) : 0);
}

/* Memory of an earlier batch serves, if it is as large. */
csaw_status take_slots(csaw__spread_gpu *g, bool edges) {
    const uint64_t traits = g->sampler->traits(), of_one = bytes_of_slot(g, edges), others = 16 * 16 + LARGEST;
    size_t free_bytes = 0, total = 0;
    CSAW_CUDA(cudaMemGetInfo(&free_bytes, &total));
    const uint64_t there = (free_bytes + g->memory_bytes) / 2, fixed = CSAW__FETCH_BYTES + others;
    const uint64_t fitting = there > fixed ? (there - fixed) / of_one : 0;
    g->most = fitting < g->at_once ? (fitting ? fitting : 1) : g->at_once;
    if (g->most > g->job.num_walks) g->most = g->job.num_walks;
    const uint64_t n = g->most, bytes = n * of_one + fixed;
    if (bytes > g->memory_bytes) {
        drop(std::exchange(g->memory, nullptr));
        g->memory_bytes = 0;
        CSAW_TRY(take(&g->memory, bytes, "walkers under way"));
        g->memory_bytes = bytes;
    }
    board *const b = &g->at_hand;
    char *at = (char *)g->memory;
    csaw_vertex *root = nullptr;
    unsigned char *in = nullptr;
    if (traits & CSAW__TRAIT_USER) part(&at, n, &b->p.user);
    part(&at, n, &b->p.window);
    if (traits & CSAW__TRAIT_SECOND_ORDER) part(&at, n, &b->p.question);
    part(&at, n, &b->instance);
    part(&at, n, &b->place[0]);
    part(&at, n, &b->place[1]);
    part(&at, n, &b->p.wait);
    part(&at, n, &b->p.progress);
    part(&at, n, &root);
    part(&at, n, &b->from);
    part(&at, n * ((uint64_t)g->job.length + 1), &g->job.path);
    if (edges) part(&at, n * g->job.length, &g->job.edge);
    part(&at, n * b->forms.bytes[CSAW__LIST_ASKING], &in);
    part(&at, CSAW__FETCH_BYTES + LARGEST, &b->out);
    b->p.root = root;
    b->in = in;
    b->in_end = in + n * b->forms.bytes[CSAW__LIST_ASKING];
    return CSAW_OK;
}

csaw_status launch_walk(csaw__spread_gpu *g, unsigned blocks) {
    const int kernel = CSAW__KERNEL_PARTS + (int)g->job.kernel;
    if (g->sampler->device) {
        CSAW_CUDA((cudaError_t)g->sampler->device->launch(kernel, blocks, THREADS, g->stream, &g->job));
        return CSAW_OK;
    }
    CSAW_TRY(csaw__library_take(&g->library, g->sampler, g->ordinal));
    return csaw__library_launch(g->library, kernel, blocks, THREADS, g->stream, &g->job);
}

csaw_status put(csaw__spread_gpu *g, uint32_t list, const void *from, uint64_t there, uint64_t count) {
    if (!count) return CSAW_OK;
    CSAW_CUDA(csaw__copy_async(csaw__spread_gpu_place(g, list, there, count), from,
                               count * g->at_hand.forms.bytes[list], cudaMemcpyHostToDevice, g->stream));
    return CSAW_OK;
}

csaw_status put_arrivals(csaw__spread_gpu *g, const csaw__arrivals *in) {
    board *const b = &g->at_hand;
    CSAW_TRY(put(g, CSAW__LIST_WALKERS, in->walkers, in->walkers_there, in->num_walkers));
    CSAW_TRY(put(g, CSAW__LIST_ASKING, in->asking, in->asking_there, in->num_asking));
    b->walkers = in->walkers_there + in->num_walkers;
    b->slots = b->walkers + in->asking_there + in->num_asking;
    b->first_asking =
        (const unsigned char *)csaw__spread_gpu_place(g, CSAW__LIST_ASKING, 0, in->asking_there + in->num_asking);
    return CSAW_OK;
}

/* Lists for the host come first. */
void place_lists(csaw__spread_gpu *g) {
    uint64_t at = 0;
    for (int there = 0; there < 2; there++) {
        for (uint64_t i = 0; i < (uint64_t)g->ranks * LISTS; i++) {
            const bool stays = g->straight && i / LISTS != g->rank && i % LISTS != CSAW__LIST_RECORDS;
            if (stays != (there != 0)) continue;
            g->host_begin[i] = at;
            at += g->host_counts[i] * g->at_hand.forms.bytes[i % LISTS];
        }
        if (!there) g->brought = at;
    }
    g->host_begin[(uint64_t)g->ranks * LISTS] = at;
}

unsigned blocks_of(const csaw__spread_gpu *g) { return (unsigned)((g->at_hand.slots + THREADS - 1) / THREADS); }

} // namespace

extern "C" csaw_status csaw__spread_gpu_open(const csaw__share *share, uint32_t rank,
                                             const csaw__spread_options *options, csaw__spread_gpu **out) {
    csaw__spread_gpu *g = nullptr;
    CSAW_TRY(csaw__alloc_zero(&g, 1, "a rank's GPU"));
    g->share = share;
    g->rank = rank;
    g->ranks = share->ranges.count;
    g->ordinal = options->ordinal;
    g->at_once = options->at_once ? options->at_once : default_at_once;
    const csaw_status status = open(g);
    if (status == CSAW_OK)
        *out = g;
    else
        csaw__spread_gpu_close(g);
    return status;
}

extern "C" void csaw__spread_gpu_forget_tables(csaw__spread_gpu *g) {
    if (!g) return;
    cudaSetDevice(g->ordinal);
    drop(std::exchange(g->rows.alias, nullptr));
    drop(std::exchange(g->rows.bias, nullptr));
    g->alias = nullptr;
}

extern "C" void csaw__spread_gpu_close(csaw__spread_gpu *g) {
    if (!g) return;
    csaw__spread_gpu_forget_tables(g);
    if (g->stream) cudaStreamSynchronize(g->stream);
    for (const void *memory :
         {g->rows.offset, (const void *)g->rows.col, (const void *)g->rows.weight, (const void *)g->rows.type,
          (const void *)g->rows.time, (const void *)g->degree, (const void *)g->first, (const void *)g->owner,
          (const void *)g->counts, (const void *)g->begin, (const void *)g->memory})
        drop(memory);
    if (g->stream) cudaStreamDestroy(g->stream);
    csaw__library_free(g->library);
    csaw__free(g->host_counts);
    csaw__free(g->host_begin);
    if (g->fetched_is_locked)
        csaw__device_unpin(g->fetched);
    else
        csaw__free(g->fetched);
    cudaGetLastError(); /* told already */
    csaw__free(g);
}

extern "C" csaw_status csaw__spread_gpu_begin(csaw__spread_gpu *g, const csaw_sampler *sampler, const csaw__job *whole,
                                              const csaw__message_forms *forms, bool edges, bool straight,
                                              uint64_t *most) {
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    g->sampler = sampler;
    g->straight = straight;
    g->job = *whole;
    g->at_hand = {};
    g->at_hand.forms = *forms;
    CSAW_TRY(upload_tables(g, &whole->rows));
    g->job.edge = nullptr;
    CSAW_TRY(take_slots(g, edges));
    board *const b = &g->at_hand;
    b->length = whole->length;
    b->rank = g->rank;
    b->first = whole->first;
    b->homes = csaw__homes_of(whole->num_walks, g->ranks);
    b->path = g->job.path;
    b->edge = g->job.edge;
    b->limits = {whole->num_walks, whole->length, whole->num_vertices, g->rows.first, g->rows.count};
    b->odd = g->counts + counters(g) - 1;
    b->count = g->counts;
    b->begin = g->begin;
    b->p.waiting = g->counts + (uint64_t)g->ranks * LISTS;
    b->p.first = g->first;
    b->p.owner = g->owner;
    b->p.shift = g->share->ranges.shift;
    b->p.part = g->rank;
    b->p.parts = g->ranks;
    b->p.views = 1;
    b->p.view[0] = {g->rows.offset, g->rows.col, g->rows.first, g->rows.count};
    g->job.rows = g->rows;
    g->job.degree = g->degree;
    g->job.remote = 1;
    g->job.roots = nullptr;
    g->job.fault = g->counts + counters(g) - 2;
    g->job.instance = b->instance;
    *most = g->most;
    CSAW_CUDA(cudaMemsetAsync(g->job.fault, 0xff, sizeof *g->job.fault, g->stream));
    return CSAW_OK;
}

extern "C" void *csaw__spread_gpu_place(csaw__spread_gpu *g, uint32_t list, uint64_t there, uint64_t count) {
    const uint64_t bytes = g->at_hand.forms.bytes[list];
    return list == CSAW__LIST_WALKERS ? g->at_hand.in + there * bytes : g->at_hand.in_end - (there + count) * bytes;
}

extern "C" csaw_status csaw__spread_gpu_step(csaw__spread_gpu *g, const csaw__arrivals *in, csaw__left *left) {
    const uint64_t lists = (uint64_t)g->ranks * LISTS;
    board *const b = &g->at_hand;
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    CSAW_TRY(put_arrivals(g, in));
    const unsigned blocks = blocks_of(g), most = g->blocks < blocks ? g->blocks : blocks;
    b->p.warps = (uint64_t)most * (THREADS / 32);
    g->job.parts = b->p;
    g->job.num_walks = b->slots;
    CSAW_CUDA(cudaMemsetAsync(g->counts, 0, (counters(g) - 2) * sizeof *g->counts, g->stream));
    CSAW_CUDA(cudaMemsetAsync(b->odd, 0xff, sizeof *b->odd, g->stream));
    CSAW_TRY(csaw__device_launch(g->stream, blocks, THREADS, take_in, *b));
    CSAW_TRY(launch_walk(g, most));
    CSAW_TRY(csaw__device_launch(g->stream, blocks, THREADS, count_messages, *b));
    CSAW_CUDA(csaw__copy_async(g->host_counts, g->counts, counters(g) * sizeof *g->counts, cudaMemcpyDeviceToHost,
                               g->stream));
    CSAW_CUDA(cudaStreamSynchronize(g->stream));
    place_lists(g);
    CSAW_CUDA(csaw__copy_async(g->begin, g->host_begin, lists * sizeof *g->begin, cudaMemcpyHostToDevice, g->stream));
    *left = {g->host_counts,
             g->host_begin,
             g->brought,
             g->host_begin[lists],
             g->host_counts[counters(g) - 2],
             g->host_counts[counters(g) - 1]};
    return CSAW_OK;
}

extern "C" csaw_status csaw__spread_gpu_find(csaw__spread_gpu *g, uint64_t walk, uint64_t *slot) {
    board *const b = &g->at_hand;
    CSAW_CUDA(cudaMemsetAsync(b->odd, 0xff, sizeof *b->odd, g->stream));
    CSAW_TRY(csaw__device_launch(g->stream, blocks_of(g), THREADS, find_walk, *b, walk, b->odd));
    CSAW_CUDA(csaw__copy_async(slot, b->odd, sizeof *slot, cudaMemcpyDeviceToHost, g->stream));
    CSAW_CUDA(cudaStreamSynchronize(g->stream));
    return CSAW_OK;
}

extern "C" csaw_status csaw__spread_gpu_message(csaw__spread_gpu *g, uint64_t slot, unsigned char *message,
                                                bool *asks) {
    const board *const b = &g->at_hand;
    const uint64_t *const bytes = b->forms.bytes;
    *asks = slot >= b->walkers;
    const unsigned char *const at = *asks ? b->first_asking + (slot - b->walkers) * bytes[CSAW__LIST_ASKING]
                                          : b->in + slot * bytes[CSAW__LIST_WALKERS];
    CSAW_CUDA(csaw__copy_async(message, at, bytes[*asks ? CSAW__LIST_ASKING : CSAW__LIST_WALKERS],
                               cudaMemcpyDeviceToHost, g->stream));
    CSAW_CUDA(cudaStreamSynchronize(g->stream));
    return CSAW_OK;
}

extern "C" csaw_status csaw__spread_gpu_fetch(csaw__spread_gpu *g, uint64_t from, uint64_t *end,
                                              const unsigned char **data, const unsigned char **there) {
    board *const b = &g->at_hand;
    const uint64_t left = g->host_begin[(uint64_t)g->ranks * LISTS] - from,
                   now = left < CSAW__FETCH_BYTES ? left : CSAW__FETCH_BYTES;
    CSAW_CUDA(cudaSetDevice(g->ordinal));
    b->out_first = from;
    b->out_end = *end = from + now;
    *data = g->fetched;
    *there = b->out;
    if (now == 0) return CSAW_OK;
    CSAW_TRY(csaw__device_launch(g->stream, blocks_of(g), THREADS, write_messages, *b));
    const uint64_t whole = g->brought > from ? g->brought - from : 0;
    const uint64_t bytes = whole <= now ? whole : now + LARGEST; /* the last one may go on behind it */
    if (bytes) CSAW_CUDA(csaw__copy_async(g->fetched, b->out, bytes, cudaMemcpyDeviceToHost, g->stream));
    CSAW_CUDA(cudaStreamSynchronize(g->stream));
    return CSAW_OK;
}
