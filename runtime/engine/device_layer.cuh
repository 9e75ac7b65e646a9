/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_layer.cuh - layers on the GPU, what is compiled around one sampler: fanouts, biases, the
 * selection of each owner, updates. Included after the sampler file by device_kernels.cuh; the rest is device_layer.cu.
 *
 * Method: biases by candidate, whoever's row it stands in: a block takes a stretch of candidates, finds the entries at
 * its ends once, and each thread searches between them alone, so that hubs and short rows cost their arcs. A team of
 * lanes selects for an owner.
 *
 * Limit on an H200, R-MAT 20: biases 70% of the issue slots and 51% of the throughput of L2. The selection is one warp
 * an owner, 11% of the warps at 2,000 owners: latency. docs/measured/2026-11-22-gpu-2.md. */
#ifndef CSAW_ENGINE_DEVICE_LAYER_CUH
#define CSAW_ENGINE_DEVICE_LAYER_CUH

#include "runtime/engine/device_expand.cuh"
#include "samplers/select/choose_team.cuh"

constexpr bool csaw__layered = (csaw__hooks.flags & CSAW_LAYER) != 0;

/* What the layer's hook says at entry i, and the entry's candidates. */
CSAW_FN void csaw__layer_fanout_of(const csaw__job &job, uint64_t i) {
    const csaw__wave &wave = job.wave;
    csaw_site site = csaw__wave_site(&job, i);
    wave.room[i] = csaw_degree(&site, site.at);
    site.at = site.prev = CSAW_NONE; /* it is the whole layer's */
    const uint32_t k = csaw__hooks.fanout ? csaw__hooks.fanout(&site) : csaw_fanout(&site);
    if (site.undeclared) csaw__wave_fault(&site);
    wave.fanout[i] = k;
    wave.need[i] = !job.replace && k > CSAW__TEAM_PICKS && k <= CSAW__MAX_SLOTS ? csaw__choose_words(k) : 0;
}

/* One thread an entry. */
CSAW_FN void csaw__layer_fanout(const csaw__job &job) {
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < job.wave.count) csaw__layer_fanout_of(job, i);
}

/* The last of entries low .. high that begins at the candidate or before it; low does. */
CSAW_FN uint64_t csaw__layer_entry(const uint64_t *arc, uint64_t low, uint64_t high, uint64_t candidate) {
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (arc[middle] <= candidate)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Bias of an arc of the row that the site is to be put at, as bits: none is negative, so bits are in their order. */
CSAW_FN unsigned long long csaw__layer_bias(csaw_site *site, uint32_t rank) {
    csaw__wave_rows(site);
    const double bias = csaw__bias_at(site, rank, 0, 0);
    if (site->undeclared) csaw__wave_fault(site);
    return bias > 0 ? csaw__bits(bias) : 0;
}

/* The owner has a bias so large. */
CSAW_FN void csaw__layer_largest(const csaw__layers &layers, uint32_t owner, unsigned long long bits) {
    if (bits > __ldcg(layers.largest + owner)) atomicMax(layers.largest + owner, bits);
}

/* One block of 256 threads for CSAW__LAYER_TILE candidates at hand: their biases, and whose they are. */
CSAW_FN void csaw__layer_biases(const csaw__job &job) {
    const csaw__layers &layers = job.layers;
    __shared__ uint64_t ends[2];
    const uint64_t first = layers.begin + blockIdx.x * (uint64_t)CSAW__LAYER_TILE;
    const uint64_t end = layers.end - first < CSAW__LAYER_TILE ? layers.end : first + CSAW__LAYER_TILE;
    if (threadIdx.x < 2)
        ends[threadIdx.x] = csaw__layer_entry(layers.arc, 0, job.wave.count - 1, threadIdx.x ? end - 1 : first);
    __syncthreads();
    uint32_t last_owner = 0;
    unsigned long long largest = 0;
    for (uint64_t c = first + threadIdx.x; c < end; c += blockDim.x) {
        const uint64_t i = csaw__layer_entry(layers.arc, ends[0], ends[1], c), here = c - layers.begin;
        const uint32_t rank = (uint32_t)(c - layers.arc[i]);
        csaw_site site = csaw__wave_site(&job, i);
        const unsigned long long bits = csaw__layer_bias(&site, rank);
        const uint32_t owner = (uint32_t)(site.owner - layers.first);
        layers.mass[here] = bits;
        layers.owner[here] = owner;
        if (layers.dst) layers.dst[here] = job.rows.col[site.row + rank];
        if (owner != last_owner) {
            if (largest) csaw__layer_largest(layers, last_owner, largest);
            last_owner = owner;
            largest = 0;
        }
        largest = bits > largest ? bits : largest;
    }
    __syncwarp();
    int alike;
    __match_all_sync(0xffffffffu, last_owner, &alike);
    if (alike) {
        for (int d = 16; d > 0; d >>= 1) {
            const unsigned long long other = __shfl_xor_sync(0xffffffffu, largest, d);
            largest = other > largest ? other : largest;
        }
        if (threadIdx.x & 31) largest = 0;
    }
    if (largest) csaw__layer_largest(layers, last_owner, largest);
}

/* Among n candidates of a layer by inclusive sums of their masses, or all alike. */
CSAW_FN csaw__choice csaw__layer_choice(const csaw__job &job, uint64_t instance, uint64_t n, const uint64_t *upto) {
    const uint64_t sum = n && upto ? upto[n - 1] : n;
    const csaw__choice choice = {job.seed, instance, job.wave.depth, 0, 0, n, upto, 0, 0, sum};
    return choice;
}

/* One team an owner at hand: its picks to layers.work, or its vertices to layers.chosen. Not where all are taken. */
CSAW_FN void csaw__layer_choose(const csaw__job &job) {
    constexpr bool distinct = (csaw__hooks.flags & CSAW_LAYER_DISTINCT) != 0;
    __shared__ uint32_t few[CSAW__TEAMS][2 * CSAW__TEAM_PICKS];
    const csaw__layers &layers = job.layers;
    const csaw__team team;
    const uint64_t o = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM, owner = layers.first + o;
    if (o >= layers.count) return;
    const uint64_t instance = csaw__wave_instance(&job.wave, owner);
    const uint64_t begin = distinct ? layers.target[o] : layers.candidate[owner] - layers.begin;
    const uint64_t end = distinct ? layers.target[o + 1] : layers.candidate[owner + 1] - layers.begin;
    const uint64_t n = end - begin;
    uint32_t k = layers.take[owner];
    uint64_t got = 0;
    team.sync(); /* all know k, which may change now */
    if (distinct && n && k && (k == CSAW_ALL || (!job.replace && k >= n))) {
        k = CSAW_ALL;
        if (team.lane == 0) layers.take[owner] = CSAW_ALL;
    } else if (distinct && n && k > CSAW__MAX_SLOTS) {
        if (team.lane == 0) atomicMin(job.fault, (unsigned long long)(instance << 24 | job.wave.depth));
        k = 0;
    }
    const csaw__choice choice = csaw__layer_choice(job, instance, n, layers.upto ? layers.upto + begin : 0);
    if (k && k != CSAW_ALL && choice.sum) {
        uint64_t *const pick = layers.work + (layers.work_offset[owner] - layers.work_offset[layers.first]);
        got = csaw__team_choose(team, &choice, k, job.replace, few[threadIdx.x / CSAW__TEAM], pick + k, pick);
        team.sync();
        if (distinct)
            for (uint64_t j = team.lane; j < got; j += CSAW__TEAM) layers.chosen[begin + pick[j]] = 1;
    }
    if (team.lane == 0) layers.got[o] = got;
}

/* The arc that is a candidate, the entry that it is of, and where its update leads. */
CSAW_FN csaw_vertex csaw__layer_update(const csaw__job &job, uint64_t candidate, csaw_arc *arc, uint32_t *entry) {
    const bool far = candidate & CSAW__FAR_PICK;
    const uint64_t i =
        far ? (candidate ^ CSAW__FAR_PICK) >> 32 : csaw__layer_entry(job.layers.arc, 0, job.wave.count - 1, candidate);
    csaw_site site = csaw__wave_site(&job, i);
    csaw__wave_rows(&site);
    *entry = (uint32_t)i;
    *arc = csaw__arc_at(&site, far ? (uint32_t)candidate : (uint32_t)(candidate - job.layers.arc[i]));
    const csaw_vertex next = csaw__update(&site, arc, 0); /* at the last depth too: it may break its rules */
    if (site.undeclared) csaw__wave_fault(&site);
    return next;
}

/* One thread a pick, whose candidate stands in wave.edge. */
CSAW_FN void csaw__layer_updates(const csaw__job &job) {
    const csaw__wave &wave = job.wave;
    const uint64_t p = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    csaw_arc arc;
    uint32_t entry;
    if (p >= job.layers.picks) return;
    const csaw_vertex next = csaw__layer_update(job, wave.edge[p], &arc, &entry);
    wave.src[p] = arc.src;
    wave.dst[p] = arc.dst;
    wave.edge[p] = arc.id;
    if (!wave.next) return;
    wave.next[p] = next;
    wave.from[p] = entry;
}

/* ---- rows that come and go (device_parts_layer.cu) ---- */

/* The team's 32 arcs from `rank` on, whose masses before them are `low` and with them `upto`: the numbers of the piece
 * from `next` on that fall on them get their answers. Returns the first that falls behind. */
CSAW_FN uint64_t csaw__layer_answer(const csaw__team &team, const csaw__far_rows &far, uint64_t next, uint64_t end,
                                    uint32_t rank, uint64_t upto, uint64_t mass) {
    for (; next < end; next++) {
        const uint64_t x = far.number[next];
        const uint32_t above = team.ballot(upto > x);
        if (!above) break;
        if (team.lane == team.first(above)) {
            far.rank[next] = rank;
            far.mass[next] = mass;
            far.number[next] = upto - mass;
        }
    }
    return next;
}

CSAW_FN void csaw__layer_far_piece(const csaw__job &job, const csaw__team &team, uint64_t place) {
    const csaw__far_rows &far = job.layers.far;
    const uint32_t which = job.wave.list[place];
    const csaw__far_piece piece = far.piece[which];
    csaw_site site = csaw__wave_site(&job, piece.entry);
    const uint32_t owner = site.owner;
    csaw__wave_rows(&site);
    const uint32_t left = site.degree - piece.first;
    const uint32_t stop = piece.first + (left < CSAW__FAR_ARCS ? left : CSAW__FAR_ARCS);
    const unsigned long long top = far.pass == CSAW__FAR_LARGEST ? 0 : far.largest[owner];
    const uint64_t n = far.candidates[owner + 1] - far.candidates[owner];
    const double scale = top ? csaw__power_of_two(csaw__mass_exponent(n, __longlong_as_double((long long)top))) : 0;
    unsigned long long largest = 0;
    uint64_t sum = 0, next = far.pass == CSAW__FAR_DRAWS ? far.begin[place] : 0;
    const uint64_t end = far.pass == CSAW__FAR_DRAWS ? far.begin[place + 1] : 0;
    for (uint32_t base = piece.first; base < stop; base += CSAW__TEAM) {
        const uint32_t rank = base + team.lane;
        const unsigned long long bits = rank < stop ? csaw__layer_bias(&site, rank) : 0;
        largest = bits > largest ? bits : largest;
        if (far.pass == CSAW__FAR_LARGEST) continue;
        const uint64_t mass = bits ? csaw__mass(__longlong_as_double((long long)bits), scale) : 0;
        if (far.pass == CSAW__FAR_DRAWS) {
            const uint64_t upto = sum + team.prefix(mass);
            next = csaw__layer_answer(team, far, next, end, rank, upto, mass);
            if (next == end) break;
            sum = team.get(upto, CSAW__TEAM - 1);
        } else {
            sum += mass;
        }
    }
    if (far.pass == CSAW__FAR_LARGEST) largest = team.largest(largest);
    if (far.pass == CSAW__FAR_SUMS) sum = team.sum(sum);
    if (team.lane != 0) return;
    if (far.pass == CSAW__FAR_LARGEST && largest > __ldcg(far.largest + owner)) atomicMax(far.largest + owner, largest);
    if (far.pass == CSAW__FAR_SUMS) far.sum[which] = sum;
}

/* One team a piece, and then the next that no team of the launch has. */
CSAW_FN void csaw__layer_far(const csaw__job &job) {
    const csaw__team team;
    const uint64_t teams = gridDim.x * (uint64_t)blockDim.x / CSAW__TEAM;
    uint64_t place = job.wave.first + (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / CSAW__TEAM;
    for (; place < job.wave.count; place += teams) csaw__layer_far_piece(job, team, place);
}

#endif
