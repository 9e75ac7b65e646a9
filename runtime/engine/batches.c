/* SPDX-License-Identifier: MIT */
/* runtime/engine/batches.c - how many instances a batch holds, and device memory divided for that many.
 *
 * A batch bounds host memory. Where parts of the graph come and go, walks are under way in rounds, as many as device
 * memory holds, and every round brings the parts anew: a batch is a whole number of rounds, so that none of them is
 * smaller than it could be, and memory is divided for the walks of a batch, since no others are under way with them. */
#include "runtime/base/host_memory.h"
#include "runtime/base/parallel.h"
#include "runtime/engine/gpus.h"
#include "runtime/engine/parts.h"
#include "runtime/engine/run.h"
#include "samplers/select/far_rounds.h"

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

/* ---- samples on a GPU to which partitions come ---- */

/* Arcs that so many picks have of a seed, or of a vertex that an arc leads to, on average: such vertices are met as
 * often as they have arcs, where arcs go both ways. */
typedef struct mean {
    uint32_t picks;
    bool of_seed;
    double arcs;
} mean;

/* Those of a run, each counted once, which looks at all vertices. */
typedef struct means {
    const csaw__run *run;
    mean known[16];
    uint32_t count;
} means;

static double count_mean(const csaw__run *r, uint32_t picks, bool of_seed) {
    const csaw_edge *const rowptr = r->plan->graph->csr.rowptr;
    const csaw__job *const job = &r->job;
    const bool listed = of_seed && job->roots;
    const uint64_t seeds = job->seed_offset ? job->seed_offset[job->num_roots] : job->num_roots,
                   count = of_seed ? seeds : r->plan->graph->csr.num_vertices;
    uint64_t arcs = 0, met = 0;
    CSAW__OMP(parallel for reduction(+ : arcs, met))
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t v = listed ? job->roots[i] : i, degree = rowptr[v + 1] - rowptr[v];
        const bool all = picks == CSAW_ALL || (!job->replace && degree < picks);
        const uint64_t got = all ? degree : degree ? picks : 0, times = of_seed ? 1 : degree;
        arcs += times * got;
        met += times;
    }
    return met ? (double)arcs / (double)met : 0;
}

static double mean_of(means *m, uint32_t picks, bool of_seed) {
    const uint32_t most = sizeof m->known / sizeof *m->known;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->known[i].picks == picks && m->known[i].of_seed == of_seed) return m->known[i].arcs;
    const mean made = {picks, of_seed, count_mean(m->run, picks, of_seed)};
    m->known[m->count < most ? m->count++ : most - 1] = made;
    return made.arcs;
}

/* sample_bytes(), expected on this graph. */
static uint64_t expected_bytes(means *m, uint32_t depths) {
    const csaw__run *const r = m->run;
    const uint64_t *const offset = r->job.seed_offset;
    const double most = (double)((uint64_t)1 << 34), size = r->sampler->frontier_size(r->job.params);
    double frontier = offset && r->job.num_roots ? (double)offset[r->job.num_roots] / (double)r->job.num_roots : 1,
           arcs = 1;
    for (uint32_t d = 0; d < depths && arcs < most; d++) {
        const uint32_t fanout = r->job.fanout ? r->job.fanout[d] : 1;
        const bool layer = r->sampler->traits() >> CSAW__TRAIT_FLAGS & CSAW_LAYER;
        const double vertices = (double)r->plan->graph->csr.num_vertices;
        frontier = frontier < size ? frontier : size;
        frontier = layer && fanout != CSAW_ALL ? fanout : frontier * mean_of(m, fanout, d == 0);
        frontier = frontier > vertices ? vertices : frontier;
        arcs += frontier;
    }
    return (uint64_t)(arcs * 24) + 24;
}

/* An instance's layer at a depth, as it is expected on this graph. */
typedef struct layer {
    means m;
    uint32_t depth, fanout;
    double vertices, candidates; /* that it is drawn from: arcs of so many vertices */
} layer;

static void find_layer(layer *l, double vertices) {
    const csaw__job *const job = &l->m.run->job;
    l->fanout = job->fanout ? job->fanout[l->depth] : 1;
    l->vertices = vertices;
    l->candidates = vertices * mean_of(&l->m, CSAW_ALL, l->depth == 0);
}

static layer first_layer(const csaw__run *r) {
    const uint64_t *const offset = r->job.seed_offset;
    layer l = {.m = {.run = r}};
    find_layer(&l, offset && r->job.num_roots ? (double)offset[r->job.num_roots] / (double)r->job.num_roots : 1);
    return l;
}

/* Arcs that are drawn of it; all are taken, and none drawn, of those that are no more. */
static double layer_draws(const layer *l) {
    const bool all = l->fanout == CSAW_ALL || (!l->m.run->job.replace && l->fanout >= l->candidates);
    return all ? 0 : l->fanout;
}

static void next_layer(layer *l) {
    const double draws = layer_draws(l);
    l->depth++;
    find_layer(l, draws > 0 ? draws : l->candidates);
}

void csaw__layer_candidates(const csaw__run *r, double *candidates) {
    layer l = first_layer(r);
    for (;;) {
        candidates[l.depth] = l.candidates;
        if (l.depth + 1 == r->job.length) return;
        next_layer(&l);
    }
}

/* Of an instance of a batch. Where batches come one after the other, its arcs four times: as they are picked, as they
 * are delivered, those that are delivered now, and for where they lead and what picks them. Where batches share a pass,
 * those of the last depth are on the host, so twice; and of one in each batch under way the arcs of the depths before,
 * with what picks from where they lead, four times. */
static uint64_t sample_bytes_under_way(means *m, uint32_t apart) {
    const uint32_t length = m->run->job.length;
    if (apart == 0 || length == 0) return 4 * expected_bytes(m, length);
    uint64_t bytes = 2 * expected_bytes(m, length);
    for (uint32_t behind = 0; behind < length; behind += apart)
        bytes += 4 * CSAW__LOT * expected_bytes(m, length - 1 - behind);
    return bytes;
}

/* Of the host's memory, for arcs that wait there for delivery, or for layers that are exchanged. */
static uint64_t waiting_bytes(uint64_t graph) { return graph / 2 + default_bytes; }

/* Of the host's memory, of a layer that partitions may come for: at the depth at which it takes most. A row has no
 * more pieces than 1, and one for every CSAW__FAR_ARCS arcs. */
static uint64_t exchange_bytes(const csaw__run *r) {
    double most = 0;
    for (layer l = first_layer(r);; next_layer(&l)) {
        const double pieces = l.vertices + l.candidates / CSAW__FAR_ARCS,
                     bytes = CSAW__EXCHANGE_PIECE_BYTES * pieces + CSAW__EXCHANGE_PICK_BYTES * layer_draws(&l);
        most = bytes > most ? bytes : most;
        if (l.depth + 1 >= r->job.length) return (uint64_t)most + sizeof(csaw__far_choice);
    }
}

/* Instances of a batch: all that are left, if they have room in one, which needs the graph once a depth, as no lots do
 * with fewer, and of which nothing waits on the host; else as many as there is memory for, of the device, and of the
 * host, where batches wait. Layers that are exchanged take of the host's memory while they are. */
static uint64_t samples_in(const csaw__run *r, uint64_t memory, uint64_t waiting, uint32_t apart, uint64_t most,
                           uint64_t left) {
    means m = {.run = r};
    if (csaw__sample_way_of(r->sampler, r->job.kernel) == CSAW__SAMPLE_EXCHANGES) {
        const uint64_t on_host = waiting / exchange_bytes(r);
        most = on_host < most ? on_host : most;
        memory -= csaw__pick_words(memory) * sizeof(uint64_t); /* for candidates that are read in place */
    }
    const uint64_t alone = memory / sample_bytes_under_way(&m, 0);
    if (left <= alone && left <= most) return left ? left : 1;
    const uint64_t fitting = memory / sample_bytes_under_way(&m, apart), at_once = fitting < most ? fitting : most;
    const uint64_t wait = waiting / (CSAW__LOT * expected_bytes(&m, r->job.length));
    const uint64_t count = apart == 0 || at_once <= wait ? at_once : wait;
    return count ? count : 1;
}

/* Here an eighth of what is left of the host's memory at most, and plans that share a run divide it. */
static uint64_t samples_in_batch(const csaw__run *r, uint64_t most, uint64_t instances) {
    const csaw__parts *const parts = r->plan->parts;
    const uint32_t apart = csaw__parts_depths_apart(parts, r->sampler, &r->job);
    const uint64_t wanted = waiting_bytes(parts->fit.graph), left = csaw__host_memory_left("/proc", "/sys/fs/cgroup");
    const uint64_t waiting = left && left / 8 < wanted ? left / 8 : wanted;
    return samples_in(r, csaw__parts_instance_bytes(parts), waiting / (r->plan->sharers ? r->plan->sharers : 1), apart,
                      parts->one_at_a_time ? 1 : most, instances);
}

static uint64_t count_in(uint64_t bytes, uint64_t of_one) { return bytes > of_one ? bytes / of_one : 1; }

uint64_t csaw__most_in_batch(uint64_t of_one) { return count_in(most_bytes, of_one); }

uint64_t csaw__walks_in_batch(uint64_t of_one, uint64_t together, uint64_t given) {
    const uint64_t count = count_in(given ? given : default_bytes, of_one), most = csaw__most_in_batch(of_one);
    if (together == 0) return count;
    if (together <= count) return count - count % together;
    return given ? count : together < most ? together : most;
}

uint64_t csaw__samples_in_batch(const csaw__run *r, const csaw__fit *fit, uint32_t apart, uint64_t instances) {
    return samples_in(r, fit->instances, waiting_bytes(fit->graph), apart, csaw__most_in_batch(csaw__run_bytes(r)),
                      instances);
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
    if (r->is_sample && !given && csaw__parts_on_gpu(r->plan->parts)) *count = samples_in_batch(r, most, left);
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
