/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_walk.cu - walks on a GPU to which partitions come: a round of them, from their roots to
 * their ends. The kernels are those of device_parts.cuh. */
#include <cstring>

#include "runtime/base/memory.h"
#include "runtime/engine/device_apart.h"
#include "runtime/engine/device_parts.h"

namespace {

enum {
    THREADS = 256, /* of a block */
    WORDS = 16     /* that a lane looks at, where launches have few entries */
};

bool asks(const csaw_sampler *sampler) { return sampler->traits() & CSAW__TRAIT_SECOND_ORDER; }
bool has_user(const csaw_sampler *sampler) { return sampler->traits() & CSAW__TRAIT_USER; }

/* What travels with each walk, in the memory for it: what is aligned most comes first. */
void divide_state(const csaw__cuda_parts *c, const csaw__walks *walks, csaw__part_walks *p) {
    const uint64_t n = walks->job->num_walks;
    char *at = (char *)walks->state;
    *p = {};
    if (has_user(walks->sampler)) {
        p->user = (uint64_t(*)[4])at;
        at += n * sizeof *p->user;
    }
    p->window = (csaw__part_window *)at;
    at += n * sizeof *p->window;
    csaw_vertex *const root = (csaw_vertex *)at;
    at += n * sizeof *root;
    p->root = walks->job->roots ? root : nullptr;
    p->wait = (csaw_vertex *)at;
    at += n * sizeof *p->wait;
    p->progress = (uint32_t *)at;
    at += n * sizeof *p->progress;
    if (asks(walks->sampler)) p->question = (csaw__part_question *)at;
    p->waiting = c->waiting;
    p->first = c->first;
    p->owner = c->owner;
    p->shift = c->parts->ranges.shift;
    p->parts = c->parts->ranges.count;
    if (!c->in_place) return;
    p->whole_offset = c->parts->graph->csr.rowptr;
    p->whole_col = c->parts->graph->csr.col;
}

csaw_status put_roots(csaw__cuda_parts *c, const csaw__job *job, csaw_vertex *to) {
    const uint64_t at_once = job->num_walks < 1 << 20 ? job->num_walks : 1 << 20;
    csaw_vertex *some = nullptr;
    csaw_status status = CSAW_OK;
    if (!job->roots) return CSAW_OK;
    CSAW_TRY(csaw__alloc(&some, at_once, "seeds on their way to a GPU"));
    for (uint64_t done = 0; done < job->num_walks && status == CSAW_OK; done += at_once) {
        const uint64_t left = job->num_walks - done, count = left < at_once ? left : at_once;
        for (uint64_t i = 0; i < count; i++) some[i] = job->roots[(job->first + done + i) % job->num_roots];
        status = c->parts->on.put(c, to + done, some, count * sizeof *some);
    }
    csaw__free(some);
    return status;
}

/* Nobody waits, and the record of the lowest fault is all ones. */
csaw_status clear_counts(csaw__cuda_parts *c) {
    const uint64_t parts = c->parts->ranges.count;
    CSAW_CUDA(cudaMemsetAsync(c->waiting, 0, (parts + 1) * sizeof *c->waiting, c->side));
    CSAW_CUDA(cudaMemsetAsync(c->waiting + parts + 1, 0xff, sizeof *c->waiting, c->side));
    return CSAW_OK;
}

/* The rows that a launch may read: its own first. */
uint32_t see_slots(const csaw__cuda_parts *c, uint32_t slot, csaw__part_view *view) {
    const uint32_t seen = c->sees_all ? c->slots : 1;
    uint32_t views = 0;
    for (uint32_t i = 0; i < seen && views < CSAW__MOST_VIEWS; i++) {
        const csaw__cuda_slot *const s = &c->slot[(slot + i) % c->slots];
        if (s->part == CSAW__NONE_AT_ALL) continue;
        view[views++] = {s->rows.offset, s->rows.col, s->rows.first, s->rows.count};
    }
    return views;
}

/* Each step scans a row, for which there is a warp. */
bool scans(const csaw__job *job) { return job->kernel == CSAW__KERNEL_ITS || job->kernel == CSAW__KERNEL_RACE; }

/* Of so many entries that wait. */
csaw_status launch_on(csaw__cuda_parts *c, csaw__job *job, uint32_t part, uint64_t entries, uint64_t blocks,
                      cudaStream_t stream) {
    job->log_apart = scans(job) ? csaw__log_apart(entries, blocks * (THREADS / 32)) : 0;
    const uint64_t lanes = job->num_walks << job->log_apart, most = (lanes + THREADS - 1) / THREADS,
                   dealt = blocks < most ? blocks : most;
    job->parts.part = part;
    job->parts.warps = dealt * (THREADS / 32);
    return csaw__cuda_parts_kernel(c, CSAW__KERNEL_PARTS + (int)job->kernel, dealt, stream, job);
}

csaw_status launch(csaw__cuda_parts *c, uint32_t part, uint32_t slot, uint32_t blocks, uint32_t stream) {
    csaw__job job = c->job;
    job.rows = c->slot[slot].rows;
    job.parts.views = see_slots(c, slot, job.parts.view);
    return launch_on(c, &job, part, c->parts->schedule.active[part], blocks, c->stream[stream].runs);
}

/* A lane for each, or a warp, and enough of them to look for where walks wait. */
uint32_t need(const csaw__cuda_parts *c, uint64_t entries) {
    const uint64_t lanes = scans(&c->job) ? 32 * entries : entries, for_entries = (lanes + THREADS - 1) / THREADS,
                   for_words = (c->job.num_walks + THREADS * WORDS - 1) / (THREADS * WORDS),
                   blocks = for_entries > for_words ? for_entries : for_words;
    return blocks > UINT32_MAX ? UINT32_MAX : blocks ? (uint32_t)blocks : 1;
}

csaw_status counts(csaw__cuda_parts *c, uint64_t *active) {
    return c->parts->on.get(c, active, c->waiting, c->parts->fit.parts * sizeof *active);
}

const csaw__cuda_work walking = {launch, counts, need};

/* What the scheduler left, since too few wait at each partition for a transfer, walks to its end on the graph as the
 * host has it. */
csaw_status walk_the_rest(csaw__cuda_parts *c) {
    const uint32_t parts = c->parts->ranges.count;
    uint64_t left = 0;
    csaw__job job = c->job;
    if (c->parts->schedule.worth == 0) return CSAW_OK;
    for (uint32_t p = 0; p < parts; p++) left += c->parts->schedule.active[p];
    if (left == 0) return CSAW_OK;
    job.rows = csaw__cuda_rows_of_host(c);
    job.parts.views = 1;
    job.parts.view[0] = {job.rows.offset, job.rows.col, 0, job.rows.count};
    CSAW_TRY(launch_on(c, &job, parts, left, c->parts->on.blocks, c->side));
    CSAW_CUDA(cudaStreamSynchronize(c->side));
    return CSAW_OK;
}

csaw_status start(csaw__cuda_parts *c, const csaw__walks *walks) {
    c->work = &walking;
    /* no copy may overwrite a slot that is read: not for no question, nor for prev's row if it is rarely in another */
    c->sees_all = asks(walks->sampler) && !csaw__parts_are_many(c->parts->fit.parts, c->slots);
    c->sampler = walks->sampler;
    c->job = *walks->job;
    c->job.degree = c->parts->degree;
    c->job.remote = 1;
    c->job.fault = c->waiting + c->parts->ranges.count + 1;
    divide_state(c, walks, &c->job.parts);
    CSAW_TRY(put_roots(c, walks->job, (csaw_vertex *)c->job.parts.root));
    c->job.roots = nullptr;
    CSAW_TRY(clear_counts(c));
    const uint64_t blocks = (c->job.num_walks + THREADS - 1) / THREADS;
    CSAW_TRY(csaw__cuda_parts_kernel(c, CSAW__KERNEL_PARTS_START, blocks, c->side, &c->job));
    CSAW_CUDA(cudaStreamSynchronize(c->side));
    return CSAW_OK;
}

/* Of a fault a GPU tells instance and depth; which arc, and what is wrong with it, the host finds out. */
csaw_status read_fault(csaw__cuda_parts *c, csaw__fault *fault) {
    unsigned long long record;
    CSAW_TRY(c->parts->on.get(c, &record, c->job.fault, sizeof record));
    if (record == ~0ull) return CSAW_OK;
    csaw__fault found = {};
    found.kind = CSAW__FAULT_EDGE;
    found.instance = record >> 24;
    found.depth = (uint32_t)(record & 0xffffff);
    found.edge = CSAW_NO_EDGE;
    if (fault->kind == CSAW__FAULT_NONE || found.instance < fault->instance) *fault = found;
    return CSAW_OK;
}

} // namespace

uint64_t csaw__cuda_parts_walk_state(const csaw_sampler *sampler) {
    return csaw__parts_gpu_walk_bytes(sampler->traits()); /* as divide_state() has it */
}

csaw_status csaw__cuda_parts_walk(csaw__parts *parts, const csaw__walks *walks) {
    csaw__cuda_parts *const c = parts->cuda;
    CSAW_CUDA(cudaSetDevice(c->ordinal));
    CSAW_TRY(start(c, walks));
    if (walks->job->length == 0) return CSAW_OK; /* roots alone */
    CSAW_TRY(csaw__schedule_run(&parts->schedule, &parts->on));
    CSAW_TRY(walk_the_rest(c));
    return read_fault(c, walks->fault);
}
