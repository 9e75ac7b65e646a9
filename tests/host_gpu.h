/* SPDX-License-Identifier: MIT */
/* tests/host_gpu.h - a GPU engine that stands in for runtime/engine/no_device.c: plans on "cuda:0", or as many GPUs as
 * a test says, draw by the CPU engine into memory that is the host's but counted and bounded as a device's, so that
 * what csaw_sample_each() does with the batches of GPUs is tested where there is none. What kernels, streams and copies
 * do, it does not show. Tables are those of the CPU engine, made by each GPU, or by the first for those that hold a
 * graph together. */
#ifndef CSAW_TESTS_HOST_GPU_H
#define CSAW_TESTS_HOST_GPU_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/engine/device_exchange.h"
#include "runtime/engine/device_joint.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/parts.h"
#include "samplers/select/choose.h"

struct csaw__device {
    std::atomic<int> references;
    int ordinal;
    std::atomic<bool> drawing;
    const csaw__tables *tables; // that runs read: its own plan's, or another's
};

struct csaw__gpu_exchange {
    uint32_t gpus;
};

namespace host_gpu {

inline constexpr int most_gpus = 16;
inline int gpus = 1;                                                    // of the machine
inline std::atomic<uint64_t> room{~uint64_t{0}}, used{0}, most_used{0}; // bytes of all devices' memory
inline std::atomic<uint64_t> draws_begun{0};                            // batches, or shares of them
inline std::atomic<uint64_t> drawn[most_gpus];                          // likewise, of each GPU
inline std::atomic<uint64_t> fail_at[most_gpus];                        // the draw of it that fails, from 1; 0 = none
inline std::atomic<bool> drew_two_at_once{false};                       // one device
inline uint64_t free_memory = uint64_t{1} << 40;                        // bytes, that each GPU tells
inline bool reach = true;                                               // each reads the memory of each
inline std::atomic<uint32_t> joints{0}, members{0}; // graphs in the memory of several GPUs; devices of them
inline uint32_t exchanges = 0;                      // between GPUs, that are open
inline uint64_t exchanged = 0;                      // batches, by them
inline uint64_t kept = 0;                           // bytes of `used` that plans keep for later, until they are trimmed
inline uint32_t trimmed = 0;                        // plans
inline std::atomic<uint32_t> let_in{0};             // GPUs to the memory of others
inline std::atomic<uint32_t> shared_tables{0};      // by one of them with another
inline std::atomic<uint32_t> made_tables{0};        // or found them made
inline bool joint_tables = false;                   // the first of them may have some
inline bool refuse_joint = false;
inline std::mutex lock;           // of what follows
inline int together = 0;          // so many draws wait for each other, in turn; 0 = none
inline uint64_t came = 0;         // to that
inline bool came_in_vain = false; // nobody else did
inline std::condition_variable changed;
inline std::set<std::thread::id> drew; // which threads; to be looked at between runs

// Nobody has drawn, and nothing fails.
inline void forget() {
    for (int i = 0; i < most_gpus; i++) drawn[i] = fail_at[i] = 0;
    drew.clear();
    came = 0;
}

inline void wait_for_the_others(std::unique_lock<std::mutex> *hold) {
    const uint64_t n = static_cast<uint64_t>(together), last = (came++ / n + 1) * n;
    changed.notify_all();
    if (!changed.wait_for(*hold, std::chrono::seconds(5), [&] { return came >= last; })) came_in_vain = true;
}

struct alignas(16) Head {
    uint64_t bytes;
};

inline csaw_status take(void **out, uint64_t bytes, const char *what) {
    const uint64_t now = used.fetch_add(bytes) + bytes;
    void *memory = csaw__alloc_allowed() && now <= room ? std::malloc(sizeof(Head) + bytes) : nullptr;
    if (!memory) {
        used -= bytes;
        return csaw__fail(CSAW_EDEVMEM, "no device memory for %s", what);
    }
    for (uint64_t most = most_used; now > most && !most_used.compare_exchange_weak(most, now);) {}
    *static_cast<Head *>(memory) = {bytes};
    *out = static_cast<Head *>(memory) + 1;
    return CSAW_OK;
}

inline void give(void *memory) {
    if (!memory) return;
    Head *const head = static_cast<Head *>(memory) - 1;
    used -= head->bytes;
    std::memset(memory, 0xee, head->bytes); // who still reads it sees that
    std::free(head);
}

// A batch being drawn; 8 bytes an instance that are needed for nothing else.
class Draw {
  public:
    explicit Draw(csaw__device *on) : device(on) {
        if (device->drawing.exchange(true)) drew_two_at_once = true;
        std::unique_lock<std::mutex> hold(lock);
        drew.insert(std::this_thread::get_id());
        draws_begun++;
        lost = ++drawn[device->ordinal] == fail_at[device->ordinal];
        if (together) wait_for_the_others(&hold);
    }
    ~Draw() {
        give(list);
        device->drawing = false;
    }
    csaw_status begin(uint64_t instances) {
        if (lost) return csaw__fail(CSAW_ECUDA, "the GPU is lost");
        return take(&list, 8 * instances, "a list");
    }

  private:
    csaw__device *const device;
    void *list = nullptr;
    bool lost;
};

inline void set_tables(const csaw__device *device, csaw__job *job) {
    job->rows.alias = device->tables ? device->tables->alias : nullptr;
    job->rows.bias = device->tables ? device->tables->bias : nullptr;
}

// A device keeps no more of a fault.
inline void keep(const csaw__fault &found, csaw__fault *fault) {
    if (found.kind == CSAW__FAULT_NONE) return;
    fault->kind = CSAW__FAULT_EDGE;
    fault->instance = found.instance;
    fault->depth = found.depth;
    fault->edge = CSAW_NO_EDGE;
}

// Those of the job's own instances, as engines do that take them in.
inline csaw_status look_at_seeds(const csaw__job *job) {
    for (uint64_t i = 0; job->roots && i < job->num_walks; i++) {
        const uint64_t pool = (job->first + i) % job->num_roots;
        const uint64_t first = job->seed_offset ? job->seed_offset[pool] : pool;
        const uint64_t end = job->seed_offset ? job->seed_offset[pool + 1] : pool + 1;
        CSAW_TRY(csaw__roots_check(job->roots, first, end - first, job->num_vertices));
    }
    return CSAW_OK;
}

inline csaw_status take_paths(csaw_plan *plan, csaw_samples *s) {
    const uint64_t walks = s->num_walks, length = s->length;
    s->host_current = false;
    if (s->device_path && s->device_walks >= walks) return CSAW_OK;
    CSAW_TRY(take((void **)&s->device_path, walks * (length + 1) * sizeof *s->device_path, "paths"));
    plan->device->references++;
    if (s->edges) CSAW_TRY(take((void **)&s->device_edge, walks * length * sizeof *s->device_edge, "arcs"));
    s->device_walks = walks;
    return CSAW_OK;
}

inline uint64_t turned_bytes(const csaw_samples *s) {
    const uint64_t path = s->device_walks * (s->length + uint64_t{1}) * 4;
    return s->edges ? std::max(path, s->device_walks * s->length * 8) : path;
}

inline void copy(const csaw_arcs &from, const csaw_arcs &to, uint64_t arcs, uint64_t seeds) {
    const uint64_t bytes = csaw__arcs_bytes(from.num_instances, arcs, seeds);
    std::memcpy(const_cast<uint64_t *>(to.offset), from.offset, bytes);
}

} // namespace host_gpu

extern "C" {

csaw_status csaw__joint_reaches(const int *ordinal, uint32_t count, bool *all, int *reader, int *holder) {
    *all = host_gpu::reach;
    *reader = ordinal[0];
    *holder = ordinal[count - 1];
    return CSAW_OK;
}

csaw_status csaw__joint_open(const csaw_csr *csr, const int *, uint32_t, bool, csaw__joint **out) {
    void *memory = nullptr;
    if (host_gpu::refuse_joint) return csaw__fail(CSAW_ECUDA, "the driver does not map memory");
    CSAW_TRY(host_gpu::take(&memory, csr->num_edges * sizeof *csr->col, "arcs"));
    host_gpu::joints++;
    *out = static_cast<csaw__joint *>(memory);
    return CSAW_OK;
}

void csaw__joint_close(csaw__joint *joint) {
    if (joint) host_gpu::joints--;
    if (joint && host_gpu::joint_tables) std::abort(); // they are in its memory
    host_gpu::give(joint);
}

csaw_status csaw__device_share_tables(csaw_plan *plan, const csaw_plan *owner) {
    host_gpu::shared_tables++;
    host_gpu::joint_tables = true;
    plan->device->tables = owner->device->tables;
    return CSAW_OK;
}
void csaw__device_forget_tables(csaw_plan *owner) {
    host_gpu::joint_tables = false;
    csaw__tables_clear(&owner->tables);
}

csaw_status csaw__device_open(const csaw_graph *, int ordinal, const csaw__joint_member *of, char *text, size_t size,
                              csaw__device **out) {
    const size_t used_by_others = std::strlen(text);
    std::snprintf(text + used_by_others, size - used_by_others,
                  "tables      of cuda:%d\ndevice      cuda:%d, of memory of the host\n", ordinal, ordinal);
    *out = new csaw__device;
    (*out)->references = 1;
    (*out)->ordinal = ordinal;
    (*out)->drawing = false;
    (*out)->tables = nullptr;
    if (of) host_gpu::members += of->joint && of->member < of->count ? 1u << 8 * of->member : 0;
    return CSAW_OK;
}

void csaw__device_close(csaw__device *device) {
    if (device && --device->references == 0) delete device;
}

csaw_status csaw__device_prepare(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job) {
    plan->device->tables = nullptr;
    if (!csaw__kernel_has_alias(job->kernel)) return CSAW_OK;
    host_gpu::made_tables++;
    CSAW_TRY(csaw__tables_prepare(plan, sampler, job, true));
    plan->device->tables = &plan->tables;
    return CSAW_OK;
}

bool csaw__device_is_prepared(const csaw_plan *, const csaw_sampler *, const csaw__job *job) {
    return !csaw__kernel_has_alias(job->kernel);
}

csaw_status csaw__device_walk(csaw_plan *plan, const csaw_sampler *sampler, csaw__job *job, csaw_samples *s,
                              csaw__fault *fault) {
    host_gpu::Draw draw(plan->device);
    const uint64_t walks = s->num_walks;
    CSAW_TRY(host_gpu::look_at_seeds(job));
    CSAW_TRY(host_gpu::take_paths(plan, s));
    CSAW_TRY(draw.begin(walks));
    job->path = s->device_path; // walk by walk: what transposes is no part of this
    job->edge = s->device_edge;
    host_gpu::set_tables(plan->device, job);
    csaw__fault found = {};
    for (uint64_t w = 0; w < walks && found.kind == CSAW__FAULT_NONE; w++) sampler->walk(job, w, 1, &found);
    host_gpu::keep(found, fault);
    return CSAW_OK;
}

csaw_status csaw__device_let_in(csaw_plan *, const int *, uint32_t count) {
    host_gpu::let_in += count;
    return CSAW_OK;
}

csaw_status csaw__gpu_exchange_open(const csaw_csr *, const int *, uint32_t count, csaw__gpu_exchange **out) {
    if (!csaw__alloc_allowed()) return csaw__fail(CSAW_ENOMEM, "no memory for an exchange");
    host_gpu::exchanges++;
    *out = new csaw__gpu_exchange{count};
    return CSAW_OK;
}

void csaw__gpu_exchange_close(csaw__gpu_exchange *x) {
    host_gpu::exchanges -= x != nullptr;
    delete x;
}

csaw_status csaw__device_home(csaw_plan *plan, const csaw__job *job, uint64_t bytes, csaw_samples *s,
                              csaw__exchange_gpu *out) {
    csaw__job seen = *job;
    CSAW_TRY(csaw__roots_check(job->roots, 0, job->num_roots, job->num_vertices));
    CSAW_TRY(host_gpu::take_paths(plan, s));
    host_gpu::set_tables(plan->device, &seen);
    CSAW_TRY(host_gpu::take(&out->seeds, job->num_roots * sizeof *job->roots, "seeds"));
    CSAW_TRY(host_gpu::take(&out->memory, bytes, "walkers that GPUs exchange"));
    if (job->roots) std::memcpy(out->seeds, job->roots, job->num_roots * sizeof *job->roots);
    out->rows = seen.rows;
    out->roots = job->roots ? static_cast<csaw_vertex *>(out->seeds) : nullptr;
    out->path = s->device_path;
    out->edge = s->device_edge;
    return CSAW_OK;
}

void csaw__device_leave(csaw_plan *, const csaw__exchange_gpu *home) {
    host_gpu::give(home->seeds);
    host_gpu::give(home->memory);
}

void csaw__device_trim(csaw_plan *) {
    host_gpu::used -= host_gpu::kept;
    host_gpu::kept = 0;
    host_gpu::trimmed++;
}

csaw_status csaw__device_room(const csaw_plan *, uint64_t *out) {
    *out = std::min<uint64_t>(host_gpu::room - (host_gpu::used - host_gpu::kept), host_gpu::free_memory);
    return CSAW_OK;
}

// Each GPU's share by the CPU engine, one after the other.
csaw_status csaw__gpu_exchange_walk(csaw__gpu_exchange *x, const csaw_sampler *sampler, const csaw__job *job,
                                    const csaw__exchange_gpu *gpu, csaw__fault *fault) {
    uint64_t first = 0;
    host_gpu::exchanged++;
    for (uint32_t i = 0; i < x->gpus && fault->kind == CSAW__FAULT_NONE; i++) {
        csaw__job share = *job;
        share.rows = gpu[i].rows;
        share.roots = gpu[i].roots;
        share.first = job->first + first;
        share.num_walks = gpu[i].end - first;
        share.path = gpu[i].path;
        share.edge = gpu[i].edge;
        csaw__fault found = {};
        for (uint64_t w = 0; w < share.num_walks && found.kind == CSAW__FAULT_NONE; w++)
            sampler->walk(&share, w, 1, &found);
        host_gpu::keep(found, fault);
        first = gpu[i].end;
    }
    return CSAW_OK;
}

csaw_status csaw__device_sample(csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job, csaw_samples *s,
                                csaw__fault *fault) {
    host_gpu::Draw draw(plan->device);
    csaw_plan mine = {}; // the CPU engine's workers in plan belong to the caller
    csaw_samples drawn = {};
    csaw__fault found = {};
    if (s->device_arcs.offset) {
        host_gpu::give(const_cast<uint64_t *>(s->device_arcs.offset));
        s->device_arcs = {};
        plan->device->references--;
    }
    mine.graph = plan->graph;
    mine.threads = 1;
    csaw__job with_tables = *job;
    host_gpu::set_tables(plan->device, &with_tables);
    CSAW_TRY(draw.begin(job->num_walks));
    CSAW_TRY(host_gpu::look_at_seeds(job));
    csaw_status status = csaw__cpu_sample(&mine, sampler, &with_tables, false, nullptr, &drawn, &found);
    csaw__workers_free(&mine);
    host_gpu::keep(found, fault);
    if (status == CSAW_OK && found.kind == CSAW__FAULT_NONE) {
        const uint64_t n = job->num_walks, arcs = drawn.arcs.offset[n], seeds = drawn.arcs.seed_offset[n];
        void *block = nullptr;
        status = host_gpu::take(&block, csaw__arcs_bytes(n, arcs, seeds), "sampled arcs");
        if (status == CSAW_OK) {
            s->device_arcs = csaw__arcs_in(block, CSAW_DEVICE, n, arcs);
            s->device_arcs.first = job->first;
            plan->device->references++;
            host_gpu::copy(drawn.arcs, s->device_arcs, arcs, seeds);
        }
    }
    csaw__arcs_free(nullptr, &drawn.arcs);
    return status;
}

csaw_status csaw__device_count_arcs(const csaw_samples *s, uint64_t count[2]) {
    const csaw_arcs &from = s->device_arcs;
    count[0] = from.offset[from.num_instances];
    count[1] = from.seed_offset[from.num_instances];
    return CSAW_OK;
}

csaw_status csaw__device_begin_arcs(const csaw_samples *s, const uint64_t count[2], const csaw_arcs *to) {
    const csaw_arcs &from = s->device_arcs;
    const auto copy = [](auto *there, auto *here, uint64_t n) {
        std::copy_n(there, n, const_cast<std::remove_const_t<std::remove_pointer_t<decltype(here)>> *>(here));
    };
    copy(from.offset + 1, to->offset + 1, from.num_instances);
    copy(from.seed_offset + 1, to->seed_offset + 1, from.num_instances);
    copy(from.src, to->src, count[0]);
    copy(from.dst, to->dst, count[0]);
    copy(from.edge, to->edge, count[0]);
    copy(from.depth, to->depth, count[0]);
    copy(from.seed, to->seed, count[1]);
    return CSAW_OK;
}

csaw_status csaw__device_finish(const csaw_samples *) { return CSAW_OK; }

csaw_status csaw__device_reserve(csaw_samples *s) {
    if (s->is_sample) return CSAW_OK;
    return host_gpu::take(&s->device_turned, host_gpu::turned_bytes(s), "walks being transposed");
}

void csaw__device_unreserve(csaw_samples *s) {
    host_gpu::give(s->device_turned);
    s->device_turned = nullptr;
}

csaw_status csaw__device_begin_walks(csaw_samples *s, csaw_vertex *path, csaw_edge *edge) {
    const bool reserved = s->device_turned != nullptr;
    if (!reserved) CSAW_TRY(csaw__device_reserve(s));
    std::memcpy(path, s->device_path, s->num_walks * (s->length + uint64_t{1}) * sizeof *path);
    if (edge) std::memcpy(edge, s->device_edge, s->num_walks * s->length * sizeof *edge);
    if (!reserved) csaw__device_unreserve(s);
    return CSAW_OK;
}

void csaw__device_release(csaw_samples *s) {
    csaw__device_unreserve(s);
    for (void *memory : {(void *)s->device_path, (void *)s->device_arcs.offset}) {
        if (!memory) continue;
        host_gpu::give(memory);
        csaw__device_close(s->device);
    }
    host_gpu::give(s->device_edge);
}

csaw_status csaw__device_count(int *out) {
    if (host_gpu::gpus == 0) return csaw__fail(CSAW_ECUDA, "no CUDA device was found");
    *out = host_gpu::gpus;
    return CSAW_OK;
}

csaw_status csaw__device_free_memory(int ordinal, uint64_t *out) {
    int count = 0;
    CSAW_TRY(csaw__device_count(&count));
    CSAW_REQUIRE(ordinal < count, CSAW_EINVAL, "device 'cuda:%d' does not exist; there are %d", ordinal, count);
    *out = host_gpu::free_memory;
    return CSAW_OK;
}

void *csaw__device_pin(uint64_t bytes) { return csaw__alloc_allowed() ? std::malloc(bytes) : nullptr; }
void csaw__device_unpin(void *memory) { std::free(memory); }

} // extern "C"

#endif
