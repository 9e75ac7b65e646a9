/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_loader.cu - see device_loader.h.
 *
 * The loader's thread works in the engine's stream, which nobody else uses while the plan is lent, and waits for it
 * before it hands a batch out; so what the caller does with a batch in his stream runs beside the making of the next.
 * An event that he records with the batch's return keeps the stream from using its memory too early, and only when that
 * is about to happen: the host waits for nothing. All memory comes from the plan's pool.
 *
 * Rows in the host's memory are read by the kernel that gathers them, page-locked, where they lie; hot ones are kept in
 * a cache, as in Quiver and DGL ("feature cache"). */
#include "runtime/engine/device_loader.h"

#include <unistd.h>

#include "runtime/engine/device_array.cuh"
#include "runtime/engine/device_pages.h"
#include "runtime/engine/hot.h"
#include "spmm/device_gather.h"

namespace {

/* An array of rows by vertex, as the GPU reads it; and a cache of some. */
struct row_source {
    csaw__gathering from; /* x, its rows, and the cache */
    bool on_host;
    csaw__pages pages;      /* locked here */
    array<char> head, tail; /* rows on pages that are not */
    array<csaw_vertex> place;
    array<char> cache;
};

struct room { /* device memory, which grows */
    char *at;
    uint64_t bytes;
};

} // namespace

struct csaw__device_loader {
    csaw__device *device;
    void *stream; /* the caller's */
    row_source features, label;
    array<unsigned long long> cached; /* [1] */
};

struct csaw__device_slot {
    csaw__device *device;
    cudaStream_t stream; /* the caller's */
    cudaEvent_t left;    /* there */
    room features, label;
};

/* ---- rows ---- */

/* Rows first .. end - 1 in device memory, as far apart as they are. */
static csaw_status copy_rows(csaw__device *device, const row_source *s, const char *data, uint64_t first, uint64_t end,
                             array<char> *out, const char **at) {
    const uint64_t stride = s->from.x_stride;
    if (first == end) return CSAW_OK;
    CSAW_TRY(out->upload(device, data + first * stride, (end - first - 1) * stride + s->from.bytes, "features"));
    *at = out->get();
    return CSAW_OK;
}

/* Memory of the host. Its whole pages are locked, which other loaders may have done before: others begin or end on the
 * rest, and CUDA refuses to copy what is locked in part. Rows that are not all on such pages are copied.
 * s->pages.refused: that cannot be, since there is no such memory, or since the caller has locked it himself. */
static csaw_status lock_source(row_source *s, csaw__device *device, const char *name, const char *data, uint64_t rows) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), stride = s->from.x_stride, bytes = s->from.bytes;
    const uint64_t begin = (uint64_t)(uintptr_t)data, end = begin + (rows - 1) * stride + bytes;
    const uint64_t first = (begin + page - 1) / page * page, last = end / page * page; /* locked */
    uint64_t head = rows, tail = rows;
    if (first < last) {
        const csaw__span span = {(const void *)(uintptr_t)first, last - first};
        const void *at = nullptr;
        CSAW_TRY(csaw__pages_lock(&s->pages, &span, 1));
        if (s->pages.refused) return CSAW_OK;
        CSAW_TRY(csaw__device_reach(device->ordinal, span.begin, span.bytes, name, &at));
        CSAW_REQUIRE(
            at == span.begin || s->pages.count < 2, CSAW_ECUDA,
            "this GPU reads page-locked memory by other addresses than the host, so %s have to be in one piece; "
            "give them in memory of cudaMallocHost(), or in the GPU's",
            name);
        s->from.x = (const char *)at - (first - begin);
        head = (first - begin + stride - 1) / stride;
        tail = last - begin < bytes ? 0 : (last - begin - bytes) / stride + 1;
        if (head > rows) head = rows;
        if (tail < head) tail = head; /* no row is all on locked pages */
    }
    s->from.head_rows = head;
    s->from.tail_row = tail;
    CSAW_TRY(copy_rows(device, s, data, 0, head, &s->head, &s->from.head));
    return copy_rows(device, s, data, tail, rows, &s->tail, &s->from.tail);
}

/* rows of so many bytes, `stride` bytes apart */
static csaw_status open_source(row_source *s, csaw__device *device, const char *name, const void *data, uint64_t rows,
                               uint64_t bytes, uint64_t stride) {
    cudaPointerAttributes of;
    const void *at = nullptr;
    if (!rows || !bytes) return CSAW_OK;
    CSAW_CUDA(cudaPointerGetAttributes(&of, data));
    s->on_host = of.type == cudaMemoryTypeUnregistered || of.type == cudaMemoryTypeHost;
    s->from.x_stride = stride;
    s->from.bytes = bytes;
    if (s->on_host) {
        CSAW_TRY(lock_source(s, device, name, (const char *)data, rows));
        if (!s->pages.refused) return CSAW_OK;
        CSAW_REQUIRE(!s->pages.left, CSAW_ENOMEM,
                     "%.1f MiB of %s that are mapped from a file, or not written yet, would be page-locked, for which "
                     "the %.1f MiB that are left of the host's memory do not do; give fewer, or another machine",
                     (double)((rows - 1) * stride + bytes) / 1048576, name, (double)s->pages.left / 1048576);
        CSAW_REQUIRE(
            of.type == cudaMemoryTypeHost, CSAW_ENOMEM,
            "%.1f MiB of %s could not be page-locked, so that the GPU cannot read them; raise the limit (ulimit "
            "-l), or give them in the GPU's memory",
            (double)((rows - 1) * stride + bytes) / 1048576, name);
    }
    CSAW_TRY(csaw__device_reach(device->ordinal, data, (rows - 1) * stride + bytes, name, &at));
    s->from.x = (const char *)at;
    return CSAW_OK;
}

/* Row i of `to`: that of vertex[i], device memory both. */
static csaw_status gather(csaw__device *device, const row_source *s, const csaw_vertex *vertex, uint64_t count,
                          char *to) {
    const csaw__where where = {device->ordinal, device->stream};
    csaw__gathering g = s->from;
    g.vertex = vertex;
    g.count = count;
    g.y = to;
    g.y_stride = g.bytes;
    return csaw__device_gather(&where, &g);
}

static csaw_status make_cache(csaw__device_loader *l, const csaw_csr *csr, uint64_t bytes) {
    row_source *const s = &l->features;
    const uint64_t rows = csr->num_vertices, fit = s->from.bytes ? bytes / s->from.bytes : 0;
    const uint64_t count = fit < rows ? fit : rows;
    host_array<csaw_vertex> hot, place;
    array<csaw_vertex> list;
    if (!count) return CSAW_OK;
    CSAW_TRY(hot.take(count, "hot vertices"));
    CSAW_TRY(place.take(rows, "places of hot vertices"));
    CSAW_TRY(csaw__hot_vertices(csr, count, hot.get(), place.get()));
    const csaw_status status = s->cache.take(l->device, count * s->from.bytes, "a cache of features");
    CSAW_REQUIRE(status != CSAW_EDEVMEM, CSAW_EDEVMEM,
                 "cache_bytes is %llu, and cuda:%d has none left for %llu rows of %llu bytes; give fewer bytes",
                 (unsigned long long)bytes, l->device->ordinal, (unsigned long long)count,
                 (unsigned long long)s->from.bytes);
    CSAW_TRY(status);
    CSAW_TRY(list.upload(l->device, hot.get(), count, "hot vertices"));
    CSAW_TRY(gather(l->device, s, list.get(), count, s->cache.get()));
    CSAW_TRY(s->place.upload(l->device, place.get(), rows, "places of hot vertices"));
    CSAW_TRY(l->cached.take(l->device, 1, "a count of rows"));
    s->from.cache = s->cache.get();
    s->from.place = s->place.get();
    s->from.cached = l->cached.get();
    return CSAW_OK;
}

/* Whether the caller's stream is one of this GPU: told now, not with the second batch. */
static csaw_status check_stream(const csaw__device_loader *l) {
    cudaEvent_t event;
    CSAW_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    const cudaError_t error = cudaEventRecord(event, (cudaStream_t)l->stream);
    cudaEventDestroy(event);
    if (error != cudaSuccess) cudaGetLastError(); /* nobody else is to find it */
    CSAW_REQUIRE(error == cudaSuccess, CSAW_EINVAL, "stream is none of cuda:%d's: %s; give one of that GPU",
                 l->device->ordinal, cudaGetErrorString(error));
    return CSAW_OK;
}

static csaw_status open_loader(csaw__device_loader *l, const csaw_csr *csr, const csaw_loader_options *o) {
    const csaw_dense *const x = o->features;
    CSAW_CUDA(cudaSetDevice(l->device->ordinal));
    CSAW_TRY(check_stream(l));
    if (x) {
        const uint64_t element = csaw__dtype_bytes(x->dtype);
        CSAW_TRY(open_source(&l->features, l->device, "features", x->data, x->rows, x->cols * element,
                             csaw__stride(x) * element));
    }
    CSAW_REQUIRE(!o->cache_bytes || l->features.on_host, CSAW_EINVAL,
                 "cache_bytes is %llu, but there are no features in the host's memory to keep there; leave it 0",
                 (unsigned long long)o->cache_bytes);
    CSAW_TRY(make_cache(l, csr, o->cache_bytes));
    if (o->label)
        CSAW_TRY(open_source(&l->label, l->device, "label", o->label, csr->num_vertices, sizeof *o->label,
                             sizeof *o->label));
    return CSAW_OK;
}

csaw_status csaw__device_loader_open(csaw_plan *plan, const csaw_loader_options *options, csaw__device_loader **out) {
    csaw__device_loader *l = nullptr;
    csaw__on_device here(plan->device->ordinal);
    CSAW_TRY(csaw__alloc_zero(&l, 1, "a loader"));
    l->device = plan->device;
    l->stream = options->stream;
    const csaw_status status = open_loader(l, &plan->graph->csr, options);
    if (status == CSAW_OK)
        *out = l;
    else
        csaw__device_loader_close(l);
    return status;
}

void csaw__device_loader_close(csaw__device_loader *l) {
    if (!l) return;
    csaw__on_device here(l->device->ordinal);
    cudaStreamSynchronize(l->device->stream); /* kernels read what is locked */
    csaw__pages_unlock(&l->features.pages);
    csaw__pages_unlock(&l->label.pages);
    l->~csaw__device_loader();
    csaw__free(l);
}

/* ---- batches ---- */

csaw_status csaw__device_slot_create(csaw__device_loader *l, csaw__device_slot **out) {
    csaw__device_slot *slot = nullptr;
    CSAW_CUDA(cudaSetDevice(l->device->ordinal));
    CSAW_TRY(csaw__alloc_zero(&slot, 1, "a batch on a GPU"));
    const cudaError_t error = cudaEventCreateWithFlags(&slot->left, cudaEventDisableTiming);
    if (error != cudaSuccess) csaw__free(slot);
    CSAW_CUDA(error);
    slot->device = l->device;
    slot->device->references++;
    slot->stream = (cudaStream_t)l->stream;
    *out = slot;
    return CSAW_OK;
}

static csaw_status grow(csaw__device *device, room *r, uint64_t bytes, const char *what) {
    if (bytes <= r->bytes) return CSAW_OK;
    csaw__device_free(device, r->at);
    *r = {nullptr, 0};
    const csaw_status status =
        csaw__device_alloc(device, (void **)&r->at, bytes + bytes / 4, what); /* the next may be larger */
    CSAW_REQUIRE(
        status != CSAW_EDEVMEM, CSAW_EDEVMEM,
        "%s take %.1f MiB, and cuda:%d has none left; give a smaller batch_size, fanout or in_flight, or fewer "
        "cache_bytes",
        what, (double)(bytes + bytes / 4) / 1048576, device->ordinal);
    CSAW_TRY(status);
    r->bytes = bytes + bytes / 4;
    return CSAW_OK;
}

static csaw_status fill_features(csaw__device_loader *l, csaw__device_slot *slot, csaw_minibatch *batch) {
    const csaw__gathering *const from = &l->features.from;
    unsigned long long cached = 0;
    CSAW_TRY(grow(l->device, &slot->features, batch->num_vertices * from->bytes, "features of a batch"));
    if (from->cached) CSAW_CUDA(cudaMemsetAsync(from->cached, 0, sizeof cached, l->device->stream));
    CSAW_TRY(gather(l->device, &l->features, batch->vertex, batch->num_vertices, slot->features.at));
    if (from->cached) CSAW_TRY(read(l->device, from->cached, &cached, 1));
    batch->features.data = slot->features.at;
    batch->cached = cached;
    return CSAW_OK;
}

csaw_status csaw__device_slot_fill(csaw__device_loader *l, csaw__device_slot *slot, csaw_minibatch *batch) {
    CSAW_TRY(grow(l->device, &slot->label, batch->num_seeds * l->label.from.bytes, "labels of a batch"));
    CSAW_TRY(gather(l->device, &l->label, batch->vertex, batch->num_seeds, slot->label.at));
    batch->label = (const int64_t *)slot->label.at;
    CSAW_TRY(fill_features(l, slot, batch));
    CSAW_CUDA(cudaStreamSynchronize(l->device->stream));
    return CSAW_OK;
}

csaw_status csaw__device_slot_leave(csaw__device_slot *slot) {
    if (!slot) return CSAW_OK;
    csaw__on_device here(slot->device->ordinal);
    CSAW_CUDA(cudaEventRecord(slot->left, slot->stream));
    return CSAW_OK;
}

csaw_status csaw__device_slot_await(csaw__device_slot *slot) {
    if (!slot) return CSAW_OK;
    csaw__on_device here(slot->device->ordinal);
    CSAW_CUDA(cudaStreamWaitEvent(slot->device->stream, slot->left, 0));
    return CSAW_OK;
}

void csaw__device_slot_free(csaw__device_slot *slot) {
    if (!slot) return;
    csaw__on_device here(slot->device->ordinal);
    csaw__device_free(slot->device, slot->features.at);
    csaw__device_free(slot->device, slot->label.at);
    cudaEventDestroy(slot->left);
    csaw__device_close(slot->device);
    csaw__free(slot);
}
