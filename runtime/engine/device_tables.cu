/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_tables.cu - tables of a sampler's static biases, built on the GPU when a run first needs them
 * and kept for the last sampler and parameters: alias tables, and sums of masses (stored CTPS) for ITS.
 *
 * Method: whole rows at a time, a few million arcs, so that what is needed in between stays small: biases by the
 * sampler's own kernel, sums within rows by CUB's scan by key, entries of alias tables one by one from these sums
 * (samplers/select/alias_split.h). The host makes no table; it looks only for the arc that a message has to name. */
#include <algorithm>
#include <cstring>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "runtime/engine/device_array.cuh"
#include "runtime/engine/device_tables.cuh"
#include "samplers/select/choose.h"

namespace {

const uint64_t most_at_once = (uint64_t)1 << 22; /* arcs, and rows; one row may have more arcs */

struct stretch {
    uint64_t first, end; /* rows */
};

stretch stretch_from(const csaw_csr *csr, uint64_t row) {
    const uint64_t most = std::min(csr->num_vertices, row + most_at_once);
    const csaw_edge *const above =
        std::upper_bound(csr->rowptr + row + 1, csr->rowptr + most + 1, csr->rowptr[row] + most_at_once);
    return {row, std::max<uint64_t>((uint64_t)(above - csr->rowptr) - 1, row + 1)};
}

/* What is needed in between, for the longest stretch. */
struct scratch {
    array<uint32_t> row, largest;
    array<float> bias;
    array<uint64_t> upto;
    array<csaw__heavies> heavy;
    array<char> scan;
    array<unsigned long long> record; /* of csaw__tabulation */
    size_t scan_bytes = 0;
};

template <typename T, class OF>
csaw_status sum_by_row(csaw__device *device, void *room, size_t *bytes, const table_rows &t, T *out) {
    const auto values = thrust::make_transform_iterator(thrust::make_counting_iterator<uint32_t>(0), OF{t});
    CSAW_CUDA(cub::DeviceScan::InclusiveScanByKey(room, *bytes, t.row, values, out, add(), t.arcs, same_row(),
                                                  device->stream));
    return CSAW_OK;
}

csaw_status take_scratch(csaw__device *device, const csaw_csr *csr, bool alias, scratch *s) {
    const char *const what = "memory to build tables of static biases in";
    uint64_t arcs = 0, rows = 0;
    for (uint64_t row = 0; row < csr->num_vertices;) {
        const stretch at = stretch_from(csr, row);
        arcs = std::max(arcs, csr->rowptr[at.end] - csr->rowptr[row]);
        rows = std::max(rows, at.end - row);
        row = at.end;
    }
    CSAW_TRY(s->row.take(device, arcs, what));
    CSAW_TRY(s->largest.take(device, rows, what));
    CSAW_TRY(s->bias.take(device, arcs, what));
    if (alias) CSAW_TRY(s->upto.take(device, arcs, what));
    if (alias) CSAW_TRY(s->heavy.take(device, arcs, what));
    table_rows t = {};
    size_t bytes = 0;
    t.arcs = (uint32_t)arcs;
    CSAW_TRY((sum_by_row<uint64_t, mass_of>(device, nullptr, &s->scan_bytes, t, nullptr)));
    CSAW_TRY((sum_by_row<csaw__heavies, heavy_of>(device, nullptr, &bytes, t, nullptr)));
    s->scan_bytes = std::max(s->scan_bytes, bytes);
    CSAW_TRY(s->scan.take(device, s->scan_bytes, what));
    CSAW_TRY(s->record.take(device, 3, what));
    return s->record.fill(0xff, 3);
}

/* Of GPUs that hold the graph together, in the memory of all. */
template <typename T> using table = array<T, csaw__device_alloc_joint, csaw__device_free_joint>;

struct builder {
    csaw__device *device;
    const csaw_csr *csr;
    const csaw_sampler *sampler;
    csaw__job job; /* of the sampler's kernel */
    scratch s;
    table<csaw__alias> alias; /* these two, or upto */
    table<csaw__row_bias> totals;
    table<uint64_t> upto;
};

csaw_status build_stretch(builder *b, stretch at) {
    csaw__device *device = b->device;
    const bool alias = b->alias.get();
    const csaw_edge first_arc = b->csr->rowptr[at.first];
    size_t bytes = b->s.scan_bytes;
    table_rows t;
    t.wide = device->rows.wide;
    t.offset = (const char *)device->rows.offset + at.first * (t.wide ? 8 : 4);
    t.col = device->rows.col;
    t.first_arc = first_arc;
    t.count = (uint32_t)(at.end - at.first);
    t.arcs = (uint32_t)(b->csr->rowptr[at.end] - first_arc);
    t.row = b->s.row.get();
    t.bias = b->s.bias.get();
    t.largest = b->s.largest.get();
    t.upto = alias ? b->s.upto.get() : b->upto.get() + first_arc;
    t.heavy = b->s.heavy.get();
    t.alias = alias ? b->alias.get() + first_arc : nullptr;
    t.totals = alias ? b->totals.get() + at.first : nullptr;
    b->job.tabulation = {first_arc, (csaw_vertex)at.first, t.arcs, t.row, t.bias, b->s.record.get()};
    CSAW_TRY(b->s.largest.fill(0, t.count));
    if (t.arcs) {
        LAUNCH(device, t.arcs, name_rows, t);
        CSAW_TRY(csaw__device_launch(device, b->sampler, CSAW__KERNEL_TABULATE, t.arcs, &b->job));
        LAUNCH(device, t.arcs, find_largest, t);
        CSAW_TRY((sum_by_row<uint64_t, mass_of>(device, b->s.scan.get(), &bytes, t, t.upto)));
    }
    if (!alias) return CSAW_OK;
    if (t.arcs) {
        CSAW_TRY((sum_by_row<csaw__heavies, heavy_of>(device, b->s.scan.get(), &bytes, t, t.heavy)));
        LAUNCH(device, t.arcs, fill_alias, t);
    }
    LAUNCH(device, t.count, fill_totals, t);
    return CSAW_OK;
}

/* record: as in csaw__tabulation. */
csaw_status build(builder *b, unsigned long long record[3]) {
    CSAW_TRY(take_scratch(b->device, b->csr, b->alias.get(), &b->s));
    for (uint64_t row = 0; row < b->csr->num_vertices;) {
        const stretch at = stretch_from(b->csr, row);
        CSAW_TRY(build_stretch(b, at));
        row = at.end;
    }
    return read(b->device, b->s.record.get(), record, 3);
}

void begin(builder *b, csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    b->device = plan->device;
    b->csr = &plan->graph->csr;
    b->sampler = sampler;
    b->job = *job;
    b->job.rows = plan->device->rows;
    b->job.roots = nullptr;
    b->job.fanout = nullptr;
}

/* The host names the lowest bad arc. */
csaw_status name_bad_arc(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, unsigned long long arc) {
    const csaw_status status = csaw__tables_prepare(plan, sampler, job, false);
    csaw__tables_clear(&plan->tables);
    CSAW_TRY(status);
    return csaw__fail(CSAW_EBIAS,
                      "sampler '%s': static_bias on edge %llu is negative, infinite or not a number on the GPU but not "
                      "on the CPU; hooks that use libm differ there: use csaw_exp, csaw_log, csaw_pow",
                      csaw_sampler_name(sampler), arc);
}

csaw_status need_room(csaw_status status, const csaw__device *device, const csaw_csr *csr) {
    size_t free_bytes = 0, total = 0;
    if (status != CSAW_EDEVMEM) return status;
    cudaMemGetInfo(&free_bytes, &total);
    return csaw__fail(
        CSAW_EDEVMEM,
        "alias tables take 16 bytes an arc and a vertex, %.1f MiB of the memory of each GPU, and %.1f MiB "
        "of %.1f MiB are free; select 'its' (--select its), which needs none, or give partitions, with "
        "which tables travel, or use device 'cpu'",
        16.0 * (double)(csr->num_edges + csr->num_vertices) / device->holders / 1048576, (double)free_bytes / 1048576,
        (double)total / 1048576);
}

std::atomic<uint64_t> number; /* of the last tables that were made */

csaw_status build_alias(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    builder b;
    unsigned long long record[3];
    begin(&b, plan, sampler, job);
    CSAW_TRY(need_room(b.alias.take(b.device, b.csr->num_edges, "alias tables"), b.device, b.csr));
    CSAW_TRY(need_room(b.totals.take(b.device, b.csr->num_vertices, "sums of static biases"), b.device, b.csr));
    CSAW_TRY(build(&b, record));
    if (record[0] != ~0ull) return name_bad_arc(plan, sampler, job, record[0]);
    b.device->tables.positive = record[2] == ~0ull;
    b.device->tables.alias = b.alias.leave();
    b.device->tables.bias = b.totals.leave();
    b.device->tables.made = ++number;
    return CSAW_OK;
}

/* Without room they are not stored, and neither where a hook breaks its rules: a run finds out at which instance, if
 * any gets there. */
csaw_status build_sums(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    builder b;
    unsigned long long record[3];
    begin(&b, plan, sampler, job);
    csaw_status status = b.upto.take(b.device, b.csr->num_edges, "sums of masses");
    if (status == CSAW_OK) status = build(&b, record);
    if (status == CSAW_EDEVMEM) return CSAW_OK;
    CSAW_TRY(status);
    b.device->tables.positive = record[2] == ~0ull;
    b.device->tables.no_sums = record[0] != ~0ull || record[1] != ~0ull;
    if (!b.device->tables.no_sums) b.device->tables.upto = b.upto.leave();
    return CSAW_OK;
}

} // namespace

void csaw__device_tables_clear(csaw__device *device) {
    csaw__device_tables *tables = &device->tables;
    csaw__device_free_joint(device, tables->alias);
    csaw__device_free_joint(device, tables->bias);
    csaw__device_free_joint(device, tables->upto);
    memset(tables, 0, sizeof *tables);
    device->rows.alias = nullptr;
    device->rows.bias = nullptr;
    device->rows.upto = nullptr;
}

static bool wants_sums(const csaw__device *device, const csaw_sampler *sampler, const csaw__job *job) {
    const bool layer = sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER; /* sums up all rows together */
    return job->kernel == CSAW__KERNEL_ITS && !(sampler->traits() & CSAW__TRAIT_EDGE) && !layer && device->keeps_sums;
}

/* Tables that are there are of that sampler. */
static bool are_of(const csaw__device_tables *tables, const csaw_sampler *sampler, const csaw__job *job) {
    return tables->sampler == sampler && tables->hash == csaw_sampler_hash(sampler) &&
           memcmp(tables->params, job->params, sizeof tables->params) == 0;
}

extern "C" bool csaw__device_is_prepared(const csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    const csaw__device_tables *const tables = &plan->device->tables;
    const bool alias = csaw__kernel_has_alias(job->kernel), sums = wants_sums(plan->device, sampler, job);
    if (!alias && !sums) return true;
    return are_of(tables, sampler, job) && (!alias || tables->alias) && (!sums || tables->upto || tables->no_sums);
}

extern "C" csaw_status csaw__device_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    csaw__device *device = plan->device;
    csaw__device_tables *tables = &device->tables;
    const bool alias = csaw__kernel_has_alias(job->kernel), sums = wants_sums(device, sampler, job);
    device->rows.alias = nullptr;
    device->rows.bias = nullptr;
    device->rows.upto = nullptr;
    if (!alias && !sums) return CSAW_OK;
    CSAW_CUDA(cudaSetDevice(device->ordinal));
    if (!are_of(tables, sampler, job)) {
        csaw__device_tables_clear(device);
        tables->sampler = sampler;
        tables->hash = csaw_sampler_hash(sampler);
        memcpy(tables->params, job->params, sizeof tables->params);
    }
    if (alias && !tables->alias) CSAW_TRY(build_alias(plan, sampler, job));
    if (sums && !tables->upto && !tables->no_sums) CSAW_TRY(build_sums(plan, sampler, job));
    device->rows.alias = alias ? tables->alias : nullptr;
    device->rows.bias = alias ? tables->bias : nullptr;
    device->rows.upto = sums ? tables->upto : nullptr;
    return CSAW_OK;
}

/* Sums of rows, which every attempt of REJECT reads, are copied to each GPU's own memory, if there is room. */
static csaw_status copy_totals(csaw__device *device, const csaw__device_tables *tables) {
    const uint64_t bytes = device->rows.count * sizeof *tables->bias;
    if (device->totals_of != tables->made) {
        void *own = nullptr;
        csaw__device_free(device, device->totals);
        device->totals = nullptr;
        device->totals_of = 0;
        csaw_status status = csaw__device_alloc(device, &own, bytes, "sums of static biases");
        if (status == CSAW_OK) status = csaw__joint_get(device, own, tables->bias, bytes);
        device->totals = (csaw__row_bias *)own;
        if (status != CSAW_EDEVMEM) CSAW_TRY(status);
        device->totals_of = tables->made;
    }
    if (device->totals) device->rows.bias = device->totals;
    return CSAW_OK;
}

extern "C" csaw_status csaw__device_share_tables(csaw_plan *plan, const csaw_plan *owner) {
    const csaw__device *const from = owner->device;
    csaw__device *const to = plan->device;
    to->rows.alias = from->rows.alias;
    to->rows.bias = from->rows.alias ? from->tables.bias : nullptr;
    to->rows.upto = from->rows.upto;
    to->tables.positive = from->tables.positive;
    if (!to->rows.bias) return CSAW_OK;
    CSAW_CUDA(cudaSetDevice(to->ordinal));
    return copy_totals(to, &from->tables);
}

extern "C" void csaw__device_forget_tables(csaw_plan *owner) {
    cudaSetDevice(owner->device->ordinal);
    csaw__device_tables_clear(owner->device);
}
