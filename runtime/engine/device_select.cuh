/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_select.cuh - the places of a pool that go on, on the GPU, compiled around one sampler for its
 * vertex_bias. Included after the sampler file by device_kernels.cuh.
 *
 * Method: one team of lanes an owner sums the masses of its pool; samplers/select/choose_team.cuh picks. */
#ifndef CSAW_ENGINE_DEVICE_SELECT_CUH
#define CSAW_ENGINE_DEVICE_SELECT_CUH

#include "samplers/select/choose_team.cuh"

/* vertex_bias of v, 0 and *broken where the hook breaks its rules. The hook sees no instance, as on the CPU: owner
 * 2^32 - 1 has visited nothing. */
CSAW_FN float csaw__vertex_bias(const csaw__job *job, csaw_vertex v, bool *broken) {
    if (!csaw__hooks.vertex_bias) return 1;
    csaw_site site;
    site.job = job;
    site.instance = 0;
    site.at = v;
    site.prev = site.root = CSAW_NONE;
    site.depth = site.degree = site.prev_degree = 0;
    site.row = site.prev_row = 0;
    for (int j = 0; j < 4; j++) site.user[j] = 0;
    site.undeclared = site.in_sample = site.place = 0;
    site.owner = 0xffffffffu;
    const float bias = csaw__hooks.vertex_bias(&site, v);
    const bool good = csaw__is_bias(bias);
    if (!good) *broken = true;
    return good ? bias : 0;
}

CSAW_FN csaw__choice csaw__select_choice(const csaw__job *job, uint64_t instance, uint32_t depth, uint64_t n) {
    csaw__choice c = {job->seed, instance, depth, 0, CSAW__POOL_DRAWS, n, 0, 0, 0, n};
    return c;
}

/* Masses of a pool's vertices, summed to upto; returns their sum. */
CSAW_FN uint64_t csaw__pool_sums(const csaw__team &team, const csaw__job *job, const csaw_vertex *at, uint64_t n,
                                 uint64_t *upto, bool *broken) {
    double largest = 0;
    for (uint64_t i = team.lane; i < n; i += CSAW__TEAM) {
        const double bias = csaw__vertex_bias(job, at[i], broken);
        upto[i] = csaw__bits(bias);
        largest = bias > largest ? bias : largest;
    }
    largest = team.largest(largest);
    if (largest == 0) return 0;
    const double scale = csaw__power_of_two(csaw__mass_exponent(n, largest));
    uint64_t sum = 0;
    for (uint64_t base = 0; base < n; base += CSAW__TEAM) {
        const uint64_t i = base + team.lane; /* each lane reads what it wrote */
        const uint64_t mass = i < n ? csaw__mass(csaw__from_bits(upto[i]), scale) : 0;
        const uint64_t inclusive = sum + team.prefix(mass);
        if (i < n) upto[i] = inclusive;
        sum = team.get(inclusive, CSAW__TEAM - 1);
    }
    team.sync();
    return sum;
}

/* The places of an instance's pool at[0 .. n - 1] that go on, to pick[0 ..], by a team; returns how many. upto: [n]
 * where the sampler has a vertex_bias, else NULL; few, work: as csaw__team_choose() has them. */
CSAW_FN uint64_t csaw__select_from(const csaw__team &team, const csaw__job &job, uint64_t instance,
                                   const csaw_vertex *at, uint64_t n, uint64_t *upto, uint32_t *few, uint64_t *work,
                                   uint64_t *pick) {
    const uint32_t size = job.selection.size;
    if (size == 0) return 0; /* no bias is asked for */
    csaw__choice c = csaw__select_choice(&job, instance, job.wave.depth, n);
    if (upto) {
        bool broken = false;
        c.sum = csaw__pool_sums(team, &job, at, n, upto, &broken);
        c.upto = upto;
        if (broken) atomicMin(job.fault, (unsigned long long)(instance << 24 | job.wave.depth));
    }
    if (c.sum == 0) return 0;
    return size >= n ? csaw__team_choose_all(team, &c, pick)
                     : csaw__team_choose(team, &c, size, false, few, work, pick);
}

/* One team an owner. */
CSAW_FN void csaw__select_places(const csaw__job &job) {
    __shared__ uint32_t few[CSAW__TEAMS][2 * CSAW__TEAM_PICKS];
    const csaw__selection &s = job.selection;
    const csaw__team team;
    const uint64_t owner = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    if (owner >= s.owners) return;
    const uint64_t first = s.first[owner];
    const uint64_t got =
        csaw__select_from(team, job, csaw__wave_instance(&job.wave, owner), s.at + first, s.first[owner + 1] - first,
                          s.upto ? s.upto + first : 0, few[threadIdx.x / CSAW__TEAM], s.work + s.work_offset[owner],
                          s.pick + s.offset[owner]);
    if (team.lane == 0) s.got[owner] = got;
}

#endif
