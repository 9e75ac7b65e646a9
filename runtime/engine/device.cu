/* SPDX-License-Identifier: MIT */
/* runtime/engine/device.cu - the GPU engine's host side: uploads the graph once per plan, launches a sampler's kernels
 * (tables: device_tables.cu), keeps the paths of walks on the device until they are asked for
 * (device_delivery.cu; samples: device_sample.cu).
 * Memory: device_memory.cu; managed memory is never used. Offsets are 32 bits where they suffice. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "runtime/base/memory.h"
#include "runtime/engine/device_apart.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/device_parts.h"
#include "runtime/engine/device_private.h"

/* ---- opening and closing ---- */

static csaw_status upload_offsets(csaw__device *device, const csaw_csr *csr) {
    const uint64_t count = csr->num_vertices + 1;
    device->rows.wide = csr->num_edges > UINT32_MAX;
    if (device->rows.wide)
        return csaw__device_upload(device, &device->rows.offset, csr->rowptr, count * 8, "row offsets");
    uint32_t *narrow = nullptr;
    CSAW_TRY(csaw__alloc(&narrow, count, "row offsets in 32 bits"));
    for (uint64_t i = 0; i < count; i++) narrow[i] = (uint32_t)csr->rowptr[i];
    csaw_status status = csaw__device_upload(device, &device->rows.offset, narrow, count * 4, "row offsets");
    csaw__free(narrow);
    return status;
}

/* joint: the array in the memory of several GPUs. */
template <typename T>
static csaw_status upload_arcs(csaw__device *device, const T **out, const T *from, const T *joint, uint64_t count,
                               const char *what) {
    if (!from) return CSAW_OK;
    if (!device->joint) return csaw__device_upload(device, (const void **)out, from, count * sizeof *from, what);
    *out = joint;
    return csaw__joint_put(device, joint, from, count * sizeof *from);
}

static csaw_status upload_graph(csaw__device *device, const csaw_csr *csr) {
    const csaw__rows none = {}, *const joint = device->joint ? csaw__joint_rows(device->joint) : &none;
    csaw__rows *const rows = &device->rows;
    CSAW_TRY(upload_offsets(device, csr));
    CSAW_TRY(upload_arcs(device, &rows->col, csr->col, joint->col, csr->num_edges, "arcs"));
    CSAW_TRY(upload_arcs(device, &rows->weight, csr->weight, joint->weight, csr->num_edges, "weights"));
    CSAW_TRY(upload_arcs(device, &rows->type, csr->type, joint->type, csr->num_edges, "types"));
    CSAW_TRY(upload_arcs(device, &rows->time, csr->time, joint->time, csr->num_edges, "times"));
    if (device->joint) CSAW_CUDA(cudaStreamSynchronize(device->stream)); /* which no other GPU's stream waits for */
    device->rows.count = (csaw_vertex)csr->num_vertices;
    device->num_arcs = csr->num_edges;
    return csaw__device_classes(device, csr);
}

/* Delivery goes first: its kernels are short, and copies wait for them. */
static csaw_status create_streams(csaw__device *device) {
    int least = 0, greatest = 0;
    CSAW_CUDA(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
    CSAW_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CSAW_CUDA(cudaStreamCreateWithPriority(&device->delivery, cudaStreamNonBlocking, greatest));
    return CSAW_OK;
}

/* The driver takes memory for a pool in pieces. An H200 took 4 MiB more than a limit of 120 MiB (docs/measured/
 * 2026-11-22-gpu-4.md), as pieces of 32 MiB would, which users of other libraries have seen too; no document names the
 * size. So the limit ends with a piece. */
static const uint64_t pool_grows_by = (uint64_t)32 << 20;

/* most: bytes that it may take; 0 = what there is. */
static csaw_status create_pool(csaw__device *device, uint64_t most) {
    cudaMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device->ordinal;
    props.maxSize = most > pool_grows_by ? most - most % pool_grows_by : most;
    CSAW_CUDA(cudaMemPoolCreate(&device->pool, &props));
    uint64_t keep = UINT64_MAX;
    CSAW_CUDA(cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (device->joint) csaw__joint_know(device);
    return CSAW_OK;
}

static csaw_status open_device(csaw__device *device, const csaw_graph *graph, uint64_t most) {
    CSAW_TRY(csaw__device_use(device->ordinal));
    CSAW_TRY(create_streams(device));
    CSAW_TRY(create_pool(device, most));
    if (graph) CSAW_TRY(upload_graph(device, &graph->csr));
    return csaw__device_alloc(device, (void **)&device->record, 2 * sizeof *device->record, "a record of faults");
}

static csaw_status create_device(const csaw_graph *graph, int ordinal, uint64_t most, csaw__joint_member of,
                                 csaw__device **out) {
    csaw__device *device = nullptr;
    CSAW_TRY(csaw__alloc_zero(&device, 1, "a device"));
    device->ordinal = ordinal;
    device->references = 1;
    device->lock = PTHREAD_MUTEX_INITIALIZER;
    device->joint = of.joint;
    device->member = of.member;
    device->holders = of.count;
    device->most_work = csaw__pick_words(most);
    const csaw_status status = open_device(device, graph, most);
    if (status == CSAW_OK)
        *out = device;
    else
        csaw__device_close(device);
    return status;
}

csaw_status csaw__device_open_for_parts(int ordinal, uint64_t bytes, csaw__device **out) {
    return create_device(nullptr, ordinal, bytes, {nullptr, 0, 1}, out);
}

/* Decides, too, whether ITS by static biases alone keeps its sums: they are to leave half of what is free. */
static void explain(csaw__device *device, const csaw_csr *csr, char *text, size_t size) {
    cudaDeviceProp props;
    size_t free_bytes = 0, total = 0, used = strlen(text);
    const char *line = strstr(text, "tables      ");
    const double mib = 1048576, alias = 16.0 * (double)(csr->num_edges + csr->num_vertices);
    const uint64_t sums = csr->num_edges * sizeof *device->tables.upto;
    char classed[96] = "", own[64] = "";
    if (line) used = (size_t)(line - text); /* the CPU's lines give way */
    if (cudaGetDeviceProperties(&props, device->ordinal) != cudaSuccess) return;
    cudaMemGetInfo(&free_bytes, &total);
    device->keeps_sums = sums / device->holders <= free_bytes / 2;
    if (device->rows.classes)
        snprintf(classed, sizeof classed, "classes     of degree: vertices from %u on need no read of an offset\n",
                 device->rows.first_classed);
    if (device->joint)
        snprintf(own, sizeof own, ", and where arcs lead once more = %.1f MiB",
                 (double)(csr->num_edges * sizeof *csr->col) / mib);
    snprintf(
        text + used, size - used,
        "tables      static biases that differ: alias and reject: 16 bytes an arc and a vertex = %.1f MiB; its without "
        "edge_bias: sums of masses, 8 bytes an arc = %.1f MiB, %s\n"
        "filter      of arcs, made for the first second-order run if it fits: a byte an arc = %.1f MiB%s\n"
        "%s"
        "device      cuda:%d %s, %d multiprocessors, %.1f of %.1f GiB free after the graph; %d-bit offsets, one "
        "thread a walk, a warp for rows that need a scan and for a vertex or layer of a sample\n",
        alias / mib, (double)sums / mib,
        device->keeps_sums ? "stored" : "more than half of the free memory, so each row is summed when it is asked",
        (double)csaw__device_filter_bytes(csr->num_edges) / mib, own, classed, device->ordinal, props.name,
        props.multiProcessorCount, (double)free_bytes / 1073741824.0, (double)total / 1073741824.0,
        device->rows.wide ? 64 : 32);
}

csaw_status csaw__device_open(const csaw_graph *graph, int ordinal, const csaw__joint_member *of, char *text,
                              size_t size, csaw__device **out) {
    CSAW_TRY(create_device(graph, ordinal, 0, of ? *of : csaw__joint_member{nullptr, 0, 1}, out));
    explain(*out, &graph->csr, text, size);
    return CSAW_OK;
}

void csaw__device_close(csaw__device *device) {
    if (!device || --device->references > 0) return;
    if (device->stream) {
        cudaSetDevice(device->ordinal);
        const csaw__rows *const rows = &device->rows;
        const void *const memory[] = {rows->offset,  rows->filter, device->totals,
                                      rows->classes, rows->cells,  device->record};
        const void *const arcs[] = {rows->col, rows->weight, rows->type, rows->time};
        for (const void *m : memory) csaw__device_free(device, (void *)m);
        csaw__device_give_up(device);
        for (const void *m : arcs)
            if (!device->joint) csaw__device_free(device, (void *)m);
        csaw__device_tables_clear(device);
        csaw__device_staging_close(device);
        cudaStreamSynchronize(device->stream);
        if (device->delivery) cudaStreamSynchronize(device->delivery);
        csaw__library_free(device->library);
        if (device->pool) cudaMemPoolDestroy(device->pool);
        if (device->delivery) cudaStreamDestroy(device->delivery);
        cudaStreamDestroy(device->stream);
    }
    csaw__free(device);
}

/* ---- walking ---- */

static csaw_status take_buffers(csaw__device *device, csaw_samples *samples) {
    const uint64_t walks = samples->num_walks, length = samples->length;
    samples->host_current = false;
    samples->device_by_walk = false;
    if (samples->device_path && samples->device_walks >= walks) return CSAW_OK; /* those of the batch before */
    CSAW_TRY(csaw__device_alloc(device, (void **)&samples->device_path, walks * (length + 1) * sizeof(csaw_vertex),
                                "paths"));
    device->references++;
    if (samples->edges)
        CSAW_TRY(csaw__device_alloc(device, (void **)&samples->device_edge, walks * length * sizeof(csaw_edge),
                                    "arcs of walks"));
    samples->device_walks = walks;
    return CSAW_OK;
}

csaw_status csaw__device_launch_on(csaw__device *device, cudaStream_t stream, const csaw_sampler *sampler, int kernel,
                                   uint64_t count, const csaw__job *job) {
    const bool last = kernel >= CSAW__KERNEL_LAST_UNIFORM && kernel <= CSAW__KERNEL_LAST_ALIAS;
    const bool alone = kernel >= CSAW__KERNEL_ALONE && kernel < CSAW__KERNEL_EACH;
    const unsigned threads = alone                        ? csaw__alone_threads_of(sampler)
                             : last                       ? CSAW__LAST_THREADS
                             : kernel < CSAW__KERNEL_EACH ? 256
                                                          : CSAW__EACH_THREADS;
    const uint64_t blocks = (count + threads - 1) / threads;
    CSAW_REQUIRE(blocks <= 0x7fffffffu, CSAW_EINVAL,
                 "%llu threads in one launch; at most %llu: take fewer walks or instances at a time",
                 (unsigned long long)count, 0x7fffffffull * threads);
    if (blocks == 0) return CSAW_OK;
    if (sampler->device) {
        CSAW_CUDA((cudaError_t)sampler->device->launch(kernel, (unsigned)blocks, threads, stream, job));
        return CSAW_OK;
    }
    CSAW_TRY(csaw__library_take(&device->library, sampler, device->ordinal));
    return csaw__library_launch(device->library, kernel, (unsigned)blocks, threads, stream, job);
}

csaw_status csaw__device_launch(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t count,
                                const csaw__job *job) {
    return csaw__device_launch_on(device, device->stream, sampler, kernel, count, job);
}

static bool is_reject(const csaw__job *job) {
    return job->kernel == CSAW__KERNEL_REJECT || job->kernel == CSAW__KERNEL_REJECT_ALIAS;
}

/* Few walks stand apart: as long as all warps that they take are on the GPU at a time. */
static csaw_status launch_scans(csaw__device *device, const csaw_sampler *sampler, int kernel, uint64_t walks,
                                const csaw__job *given) {
    const uint64_t most_warps = (uint64_t)1 << 13;
    csaw__job job = *given;
    job.log_apart = csaw__log_apart(walks, most_warps);
    return csaw__device_launch(device, sampler, kernel, walks << job.log_apart, &job);
}

/* Walks, and finishes what REJECT left undecided. record: as device->record. */
static csaw_status run_kernels(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                               unsigned long long record[2]) {
    const size_t bytes = 2 * sizeof *record;
    const int rest = job->kernel == CSAW__KERNEL_REJECT ? CSAW__KERNEL_REJECT_REST : CSAW__KERNEL_REJECT_ALIAS_REST;
    const int kernel = job->rows.upto ? CSAW__KERNEL_ITS_STORED : (int)job->kernel;
    CSAW_CUDA(cudaMemcpyAsync(device->record, record, bytes, cudaMemcpyHostToDevice, device->stream));
    /* a sampler's own bytes are not in the path, so such a walk cannot be taken up: REST walks it from its root */
    const bool whole = is_reject(job) && sampler->traits() & CSAW__TRAIT_USER;
    const bool scans = whole || kernel == CSAW__KERNEL_ITS || kernel == CSAW__KERNEL_RACE;
    CSAW_TRY(scans ? launch_scans(device, sampler, whole ? rest : kernel, job->num_walks, job)
                   : csaw__device_launch(device, sampler, kernel, job->num_walks, job));
    CSAW_CUDA(cudaMemcpyAsync(record, device->record, bytes, cudaMemcpyDeviceToHost, device->stream));
    CSAW_CUDA(cudaStreamSynchronize(device->stream));
    if (record[1] == 0) return CSAW_OK;
    CSAW_TRY(launch_scans(device, sampler, rest, record[1], job));
    CSAW_CUDA(cudaMemcpyAsync(record, device->record, bytes, cudaMemcpyDeviceToHost, device->stream));
    CSAW_CUDA(cudaStreamSynchronize(device->stream));
    return CSAW_OK;
}

/* Arrays that one call needs, freed after it. */
typedef struct call_arrays {
    csaw_vertex *roots; /* from first_root on: those of the walks at hand, or all, where walks begin anew with them */
    uint64_t first_root;
    void *rest;
} call_arrays;

static csaw_status take_roots(csaw__device *device, const csaw__job *job, call_arrays *arrays) {
    const uint64_t first = job->num_roots ? job->first % job->num_roots : 0;
    const bool all = job->num_walks > job->num_roots - first;
    const uint64_t count = all ? job->num_roots : job->num_walks;
    arrays->first_root = all ? 0 : first;
    if (!job->roots) return CSAW_OK;
    CSAW_TRY(csaw__device_alloc(device, (void **)&arrays->roots, count * sizeof *job->roots, "seeds"));
    return csaw__device_put_seeds(device, job, arrays->roots, arrays->first_root, count, {});
}

/* As the job has them: root r stands at roots[r]. */
static const csaw_vertex *roots_of(const csaw__job *job, const call_arrays *arrays) {
    if (!job->roots) return nullptr;
    return (const csaw_vertex *)((uintptr_t)arrays->roots - arrays->first_root * sizeof *job->roots);
}

static csaw_status take_call_arrays(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                                    call_arrays *arrays) {
    CSAW_TRY(take_roots(device, job, arrays));
    if (is_reject(job) && !(sampler->traits() & CSAW__TRAIT_USER))
        CSAW_TRY(
            csaw__device_alloc(device, &arrays->rest, job->num_walks * sizeof *job->rest, "a list of undecided walks"));
    return CSAW_OK;
}

csaw_status csaw__device_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, csaw_samples *samples,
                              csaw__fault *fault) {
    csaw__device *device = plan->device;
    unsigned long long record[2] = {~0ull, 0};
    call_arrays arrays = {nullptr, 0, nullptr};
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_TRY(csaw__device_second_order(device, sampler));
    CSAW_TRY(take_buffers(device, samples));
    csaw_status status = take_call_arrays(device, sampler, job, &arrays);
    if (status == CSAW_OK) {
        job->rows = device->rows;
        job->roots = roots_of(job, &arrays);
        job->path = samples->device_path;
        job->edge = samples->device_edge;
        job->fault = &device->record[0];
        job->num_rest = &device->record[1];
        job->rest = (unsigned long long *)arrays.rest;
        status = run_kernels(device, sampler, job, record);
    }
    csaw__device_free(device, arrays.roots);
    csaw__device_free(device, arrays.rest);
    CSAW_TRY(status);
    if (record[0] != ~0ull) {
        fault->kind = CSAW__FAULT_EDGE; /* which, and where in the row, the host finds out */
        fault->instance = record[0] >> 24;
        fault->depth = (uint32_t)(record[0] & 0xffffff);
        fault->edge = CSAW_NO_EDGE;
    }
    return CSAW_OK;
}

/* ---- walks that several GPUs exchange ---- */

csaw_status csaw__device_let_in(csaw_plan *plan, const int *ordinal, uint32_t count) {
    csaw__device *const device = plan->device;
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    for (uint32_t i = 0; i < count; i++) {
        if (ordinal[i] == device->ordinal) continue;
        cudaMemAccessDesc access;
        memset(&access, 0, sizeof access);
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = ordinal[i];
        access.flags = cudaMemAccessFlagsProtReadWrite;
        CSAW_CUDA(cudaMemPoolSetAccess(device->pool, &access, 1));
        const cudaError_t error = cudaDeviceEnablePeerAccess(ordinal[i], 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError(); /* by the program, or another plan */
        else
            CSAW_CUDA(error);
    }
    return CSAW_OK;
}

csaw_status csaw__device_home(csaw_plan *plan, const csaw__job *job, uint64_t bytes, csaw_samples *samples,
                              csaw__exchange_gpu *out) {
    csaw__device *const device = plan->device;
    call_arrays arrays = {nullptr, 0, nullptr};
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    CSAW_TRY(take_buffers(device, samples));
    samples->device_by_walk = true;
    const csaw_status status = take_roots(device, job, &arrays);
    out->seeds = arrays.roots;
    CSAW_TRY(status);
    CSAW_TRY(csaw__device_alloc(device, &out->memory, bytes, "walkers that GPUs exchange"));
    CSAW_CUDA(cudaStreamSynchronize(device->stream)); /* other streams go on from here */
    out->rows = device->rows;
    out->roots = roots_of(job, &arrays);
    out->path = samples->device_path;
    out->edge = samples->device_edge;
    return CSAW_OK;
}

void csaw__device_leave(csaw_plan *plan, const csaw__exchange_gpu *home) {
    csaw__device_free(plan->device, home->seeds);
    csaw__device_free(plan->device, home->memory);
}
