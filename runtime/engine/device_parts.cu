/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts.cu - a GPU to which partitions of a graph come and go (C-SAW, SC'20, section V): its
 * slots, launches, and what ends. Copies: device_parts_copy.cu; its memory: device_parts_memory.cu. */
#include "runtime/engine/device_parts.h"

#include <sched.h>

#include <cstring>

#include "runtime/base/memory.h"

namespace {

enum {
    BLOCKS_EACH = 8,  /* of 256 threads that a multiprocessor runs at a time */
    SLOT_ALIGN = 256, /* bytes */
};

csaw_status open_stream(csaw__cuda_stream *s) {
    CSAW_CUDA(cudaStreamCreateWithFlags(&s->copies, cudaStreamNonBlocking));
    CSAW_CUDA(cudaStreamCreateWithFlags(&s->runs, cudaStreamNonBlocking));
    CSAW_CUDA(cudaEventCreateWithFlags(&s->begun, cudaEventDefault));
    CSAW_CUDA(cudaEventCreateWithFlags(&s->done, cudaEventDefault));
    return CSAW_OK;
}

/* These two: as far as it was opened. */
void synchronize(const csaw__cuda_stream *s) {
    if (s->copies) cudaStreamSynchronize(s->copies);
    if (s->runs) cudaStreamSynchronize(s->runs);
}

void close_stream(csaw__cuda_stream *s) {
    synchronize(s);
    if (s->begun) cudaEventDestroy(s->begun);
    if (s->done) cudaEventDestroy(s->done);
    if (s->copies) cudaStreamDestroy(s->copies);
    if (s->runs) cudaStreamDestroy(s->runs);
}

csaw_status allocate(void *self, uint32_t slots, uint32_t streams) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    c->slot_bytes =
        (c->parts->fit.part + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN; /* 0: the graph stays where it is */
    CSAW_TRY(csaw__alloc_zero(&c->slot, slots, "slots of a GPU"));
    CSAW_TRY(csaw__alloc_zero(&c->stream, streams, "streams of a GPU"));
    c->slots = slots;
    c->streams = streams;
    for (uint32_t s = 0; s < slots; s++) c->slot[s].part = CSAW__NONE_AT_ALL;
    CSAW_TRY(csaw__cuda_alloc(c, slots * c->slot_bytes, "slots for partitions", (void **)&c->slots_at));
    for (uint32_t t = 0; t < streams; t++) CSAW_TRY(open_stream(&c->stream[t]));
    return CSAW_OK;
}

void free_slots(csaw__cuda_parts *c) {
    for (uint32_t t = 0; t < c->streams; t++) close_stream(&c->stream[t]);
    csaw__cuda_free(c, c->slots_at, c->slots * c->slot_bytes);
    csaw__free(c->slot);
    csaw__free(c->stream);
    c->slots_at = nullptr;
    c->slot = nullptr;
    c->stream = nullptr;
    c->slots = c->streams = c->last = 0;
}

/* ---- launches ---- */

csaw_status launch(void *self, uint32_t part, uint32_t slot, uint32_t stream, uint32_t blocks) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    csaw__cuda_stream *const s = &c->stream[stream];
    CSAW_CUDA(cudaEventRecord(s->begun, s->runs));
    CSAW_TRY(c->work->launch(c, part, slot, blocks, stream));
    CSAW_CUDA(cudaEventRecord(s->done, s->runs));
    s->does = CSAW__CUDA_RUNS;
    s->part = part;
    s->slot = slot;
    return CSAW_OK;
}

/* ---- what ends ---- */

csaw_status has_ended(csaw__cuda_parts *c, uint32_t stream, bool *out) {
    const csaw__cuda_stream *const s = &c->stream[stream];
    *out = false;
    if (s->does == CSAW__CUDA_IDLE) return CSAW_OK;
    if (s->does == CSAW__CUDA_COPIES && s->staged) {
        bool issued;
        CSAW_TRY(csaw__copier_issued(c->copier, stream, &issued));
        if (!issued) return CSAW_OK;
    }
    const cudaError_t error = cudaEventQuery(s->done);
    if (error == cudaErrorNotReady) return CSAW_OK;
    CSAW_CUDA(error);
    *out = true;
    return CSAW_OK;
}

/* Time is always taken: an event more in the stream, which nobody waits for, and a look at two that have happened, of a
 * launch before which the host waits for a copy of the counts anyway. */
csaw_status add_time(csaw__cuda_parts *c, const csaw__cuda_stream *s) {
    float ms;
    CSAW_CUDA(cudaEventElapsedTime(&ms, s->begun, s->done));
    const double seconds = 1e-3 * (double)ms;
    c->use.launch_seconds += seconds;
    c->use.launch_squares += seconds * seconds;
    return CSAW_OK;
}

csaw_status wait_for_any(void *self, uint32_t *out) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    for (;;) {
        for (uint32_t i = 1; i <= c->streams; i++) {
            const uint32_t t = (c->last + i) % c->streams;
            csaw__cuda_stream *const s = &c->stream[t];
            bool ended;
            CSAW_TRY(has_ended(c, t, &ended));
            if (!ended) continue;
            if (s->does == CSAW__CUDA_COPIES) c->slot[s->slot].part = s->part;
            if (s->does == CSAW__CUDA_RUNS) CSAW_TRY(add_time(c, s));
            s->does = CSAW__CUDA_IDLE;
            *out = c->last = t;
            return CSAW_OK;
        }
        sched_yield();
    }
}

csaw_status counts(void *self, uint64_t *active) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    return c->work->counts(c, active);
}

uint32_t need(void *self, uint64_t entries) {
    const csaw__cuda_parts *const c = (const csaw__cuda_parts *)self;
    return c->work->need(c, entries);
}

void stop(void *self) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    if (c->copier) csaw__copier_stop(c->copier);
    for (uint32_t t = 0; t < c->streams; t++) {
        synchronize(&c->stream[t]);
        c->stream[t].does = CSAW__CUDA_IDLE;
    }
    for (uint32_t s = 0; s < c->slots; s++) c->slot[s].part = CSAW__NONE_AT_ALL;
    cudaGetLastError(); /* told already */
}

/* ---- the kind ---- */

csaw_status put_ranges(csaw__cuda_parts *c) {
    const csaw__ranges *const ranges = &c->parts->ranges;
    const uint64_t parts = ranges->count;
    c->shared_bytes =
        (parts + 2) * sizeof *c->waiting + (parts + 1) * sizeof *c->first + ranges->num_owners * sizeof *c->owner;
    CSAW_TRY(csaw__cuda_alloc(c, c->shared_bytes, "counts of partitions", &c->shared));
    c->waiting = (unsigned long long *)c->shared;
    c->first = (csaw_vertex *)(c->waiting + parts + 2);
    c->owner = c->first + parts + 1;
    CSAW_TRY(csaw__cuda_put(c, c->first, ranges->first, (parts + 1) * sizeof *c->first));
    return csaw__cuda_put(c, c->owner, ranges->owner, ranges->num_owners * sizeof *c->owner);
}

csaw_status arrange(csaw__parts *parts) {
    csaw__cuda_parts *const c = parts->cuda;
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    parts->on = {};
    parts->on.self = c;
    parts->on.blocks = c->multiprocessors * BLOCKS_EACH;
    parts->on.alloc = csaw__cuda_alloc;
    parts->on.free = csaw__cuda_free;
    parts->on.put = csaw__cuda_put;
    parts->on.get = csaw__cuda_get;
    parts->on.allocate = allocate;
    parts->on.copy = csaw__cuda_copy;
    parts->on.launch = launch;
    parts->on.wait = wait_for_any;
    parts->on.counts = counts;
    parts->on.need = need;
    parts->on.stop = stop;
    return put_ranges(c);
}

void clear(csaw__parts *parts) {
    csaw__cuda_parts *const c = parts->cuda;
    cudaSetDevice(c->ordinal);
    free_slots(c);
    csaw__cuda_free(c, c->shared, c->shared_bytes);
    c->shared = nullptr;
    csaw__cuda_end_samples(c);
}

csaw_status take_tables(csaw__parts *parts, const csaw__alias *alias, const csaw__row_bias *bias) {
    csaw__cuda_parts *const c = parts->cuda;
    const csaw_csr *const csr = &parts->graph->csr;
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    if (alias == c->alias && bias == c->bias) return CSAW_OK;
    csaw__pages_unlock(&c->tables);
    c->alias = nullptr;
    c->bias = nullptr;
    if (!alias) return CSAW_OK;
    const csaw__span span[] = {{alias, csr->num_edges * sizeof *alias}, {bias, csr->num_vertices * sizeof *bias}};
    CSAW_TRY(csaw__pages_lock(&c->tables, span, 2));
    c->alias = alias;
    c->bias = bias;
    return CSAW_OK;
}

csaw_status lock_graph(csaw__cuda_parts *c) {
    const csaw_csr *const csr = &c->parts->graph->csr;
    const uint64_t arcs = csr->num_edges;
    const csaw__span span[] = {{csr->rowptr, (csr->num_vertices + 1) * sizeof *csr->rowptr},
                               {csr->col, arcs * sizeof *csr->col},
                               {csr->weight, csr->weight ? arcs * sizeof *csr->weight : 0},
                               {csr->type, csr->type ? arcs * sizeof *csr->type : 0},
                               {csr->time, csr->time ? arcs * sizeof *csr->time : 0}};
    int same_pointer = 0;
    CSAW_TRY(csaw__pages_lock(&c->graph, span, 5));
    CSAW_CUDA(cudaDeviceGetAttribute(&same_pointer, cudaDevAttrCanUseHostPointerForRegisteredMem, c->ordinal));
    c->in_place = same_pointer && !c->graph.refused;
    return CSAW_OK;
}

bool reads_in_place(const csaw__parts *parts) {
    const csaw__cuda_parts *const c = parts->cuda;
    return c->in_place && !(c->alias && c->tables.refused);
}

csaw__parts_use use(const csaw__parts *parts) {
    const csaw__pages *const graph = &parts->cuda->graph;
    csaw__parts_use use = parts->cuda->use;
    const uint64_t taken = use.used + csaw__device_peak(parts->cuda->sampling);
    use.peak = taken > use.peak ? taken : use.peak;
    for (uint64_t i = 0; i < graph->count; i++) use.locked += graph->chunk[i].end - graph->chunk[i].begin;
    use.no_room = graph->left;
    return use;
}

void destroy(csaw__parts *parts) {
    csaw__cuda_parts *const c = parts->cuda;
    cudaSetDevice(c->ordinal);
    csaw__copier_close(c->copier);
    csaw__pages_unlock(&c->graph);
    csaw__pages_unlock(&c->tables);
    csaw__library_free(c->library);
    csaw__cuda_end_samples(c);
    csaw__cuda_free_block(c);
    if (c->side) cudaStreamDestroy(c->side);
    csaw__free(c);
}

csaw_status open_gpu(csaw__cuda_parts *c, csaw__fit_request *request) {
    int multiprocessors = 0;
    CSAW_TRY(csaw__cuda_take_budget(c, request));
    CSAW_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, c->ordinal));
    c->multiprocessors = (uint32_t)multiprocessors;
    CSAW_CUDA(cudaStreamCreateWithFlags(&c->side, cudaStreamNonBlocking));
    CSAW_TRY(csaw__cuda_take_block(c));
    return lock_graph(c);
}

const csaw__parts_kind on_cuda = {.has_queues = false,
                                  .arrange = arrange,
                                  .clear = clear,
                                  .take_tables = take_tables,
                                  .walk_state = csaw__cuda_parts_walk_state,
                                  .walk = csaw__cuda_parts_walk,
                                  .can_hold = csaw__cuda_can_hold,
                                  .hold = csaw__cuda_hold,
                                  .let_go = csaw__cuda_let_go,
                                  .reads_in_place = reads_in_place,
                                  .drop_samples = csaw__cuda_drop_samples,
                                  .use = use,
                                  .destroy = destroy};

} // namespace

csaw_status csaw__cuda_parts_kernel(csaw__cuda_parts *c, int kernel, uint64_t blocks, cudaStream_t stream,
                                    const csaw__job *job) {
    if (blocks == 0) return CSAW_OK;
    if (c->sampler->device) {
        CSAW_CUDA((cudaError_t)c->sampler->device->launch(kernel, (unsigned)blocks, 256, stream, job));
        return CSAW_OK;
    }
    CSAW_TRY(csaw__library_take(&c->library, c->sampler, c->ordinal));
    return csaw__library_launch(c->library, kernel, (unsigned)blocks, 256, stream, job);
}

extern "C" csaw_status csaw__parts_on_cuda(csaw__parts *parts, int ordinal) {
    csaw__cuda_parts *c = nullptr;
    CSAW_TRY(csaw__alloc_zero(&c, 1, "a GPU for partitions"));
    c->parts = parts;
    c->ordinal = ordinal;
    parts->cuda = c;
    const csaw_status status = open_gpu(c, &parts->request);
    if (status == CSAW_OK) {
        parts->kind = &on_cuda;
        return CSAW_OK;
    }
    destroy(parts);
    parts->cuda = nullptr;
    return status;
}
