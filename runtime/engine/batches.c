/* SPDX-License-Identifier: MIT */
/* runtime/engine/batches.c - how many instances a batch holds, and device memory divided for that many.
 *
 * A batch bounds host memory. Where parts of the graph come and go, walks are under way in rounds, as many as device
 * memory holds, and every round brings the parts anew: a batch is a whole number of rounds, so that none of them is
 * smaller than it could be, and memory is divided for the walks of a batch, since no others are under way with them. */
#include "runtime/engine/gpus.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"

/* Of host memory, where nobody says how much: a batch, and one that holds a round of walks. */
static const uint64_t default_bytes = (uint64_t)64 << 20, most_bytes = CSAW__MOST_BATCH_BYTES;

/* Bytes of an instance's arcs of so many depths, if every vertex that goes on has as many as are picked, or as a vertex
 * has on average. */
static uint64_t sample_bytes(const csaw__run *r, uint32_t depths) {
    const csaw_csr *csr = &r->plan->graph->csr;
    const uint64_t mean = csr->num_vertices ? csr->num_edges / csr->num_vertices + 1 : 1, most = (uint64_t)1 << 34;
    const uint64_t *offset = r->job.seed_offset;
    const uint32_t size = r->sampler->frontier_size(r->job.params);
    uint64_t frontier = offset && r->job.num_roots ? offset[r->job.num_roots] / r->job.num_roots + 1 : 1, arcs = 1;
    for (uint32_t d = 0; d < depths && arcs < most; d++) {
        const uint32_t fanout = r->job.fanout ? r->job.fanout[d] : 1;
        const bool layer = r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER;
        frontier = frontier < size ? frontier : size;
        frontier = fanout == CSAW_ALL ? frontier * mean : layer ? fanout : frontier * fanout;
        frontier = frontier > csr->num_vertices ? csr->num_vertices + 1 : frontier;
        arcs += frontier;
    }
    return arcs * 24;
}

/* Of a walk exactly, of a sample about. */
uint64_t csaw__run_bytes(const csaw__run *r) {
    if (r->is_sample) return sample_bytes(r, r->job.length);
    return ((uint64_t)r->job.length + 1) * sizeof(csaw_vertex) + (r->options.edges ? (uint64_t)r->job.length * 8 : 0);
}

csaw_status csaw__run_room(const csaw__run *r, uint64_t count, uint64_t all) {
    if (r->plan->gpus) return csaw__gpus_room(r, count, all);
    if (!r->plan->parts) return CSAW_OK;
    return csaw__parts_prepare(r->plan->parts, r->sampler, &r->job, r->is_sample ? 0 : count, r->is_sample ? 0 : all,
                               r->options.edges);
}

/* Of an instance whose batch is under way on a GPU to which partitions come: its arcs thrice, as they are picked, as
 * they are delivered, and for where they lead and what picks them; and once those of one in each batch behind. */
static uint64_t sample_bytes_under_way(const csaw__run *r) {
    const uint32_t length = r->job.length, apart = csaw__parts_depths_apart(r->plan->parts, r->sampler, length);
    uint64_t bytes = 3 * sample_bytes(r, length);
    for (uint32_t behind = apart; apart && behind < length; behind += apart) bytes += sample_bytes(r, length - behind);
    return bytes;
}

static uint64_t count_in(uint64_t bytes, uint64_t of_one) { return bytes > of_one ? bytes / of_one : 1; }

uint64_t csaw__most_in_batch(uint64_t of_one) { return count_in(most_bytes, of_one); }

uint64_t csaw__walks_in_batch(uint64_t of_one, uint64_t together, uint64_t given) {
    const uint64_t count = count_in(given ? given : default_bytes, of_one), most = csaw__most_in_batch(of_one);
    if (together == 0) return count;
    if (together <= count) return count - count % together;
    return given ? count : together < most ? together : most;
}

csaw_status csaw__run_batches(const csaw__run *r, uint64_t left, uint64_t *count) {
    const uint64_t of_one = csaw__run_bytes(r), given = r->options.batch_bytes;
    const uint64_t most = given ? count_in(given, of_one) : csaw__most_in_batch(of_one);
    uint64_t together = 0;
    if (r->plan->gpus) return csaw__gpus_batches(r, left, count);
    CSAW_TRY(csaw__run_room(r, left < most ? left : most, left));
    if (r->plan->parts && !r->is_sample)
        together = csaw__parts_together(r->plan->parts, r->job.length, r->options.edges);
    *count = csaw__walks_in_batch(of_one, together, given);
    if (r->is_sample && !given && csaw__parts_on_gpu(r->plan->parts))
        *count = csaw__parts_at_once(r->plan->parts, sample_bytes_under_way(r), most);
    return CSAW_OK;
}

bool csaw__run_next(const csaw__run *r, uint64_t instance, uint64_t *first, uint64_t *count) {
    if (r->whole) {
        if (!csaw__run_next(r->whole, instance, first, count)) return false;
        csaw__gpus_share(r->whole->plan->gpus, r->member, first, count);
        return *count > 0;
    }
    if (!r->of_a_round) return false;
    const uint64_t round = r->of_a_round, left = r->total - instance + (instance - r->options.first) % round;
    if (left <= round) return false;
    csaw__run_share(r, left - round < round ? left - round : round, first, count);
    *first += r->total - left + round;
    return *count > 0;
}

void csaw__run_end(const csaw__run *r) {
    csaw__parts_drop_samples(r->plan->parts);
    for (uint32_t i = 0; r->plan->gpus && i < r->plan->gpus->count; i++)
        csaw__parts_drop_samples(r->plan->gpus->plan[i]->parts);
}
