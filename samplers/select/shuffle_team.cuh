/* SPDX-License-Identifier: MIT */
/* samplers/select/shuffle_team.cuh - UNIFORM on the GPU: the shuffle of shuffle.h, a lane a slot. The numbers, and so
 * the picks, are those of the CPU.
 *
 * Method: lanes learn by __match_any_sync whether an earlier slot swapped with the same place. Where none did, which is
 * nearly always, places are picks. Else what such slots left is handed on, slot by slot. More than 32 slots go 32 at a
 * time; where the earlier ones swapped stands in a hash table. */
#ifndef CSAW_SELECT_SHUFFLE_TEAM_CUH
#define CSAW_SELECT_SHUFFLE_TEAM_CUH

#include "samplers/select/shuffle.h"
#include "samplers/select/team.cuh"

/* The place that the slot swaps with, or, with replacement, its pick. */
CSAW_FN uint64_t csaw__slot_place(const csaw__choice *c, uint32_t slot, bool replace) {
    const csaw_block four = csaw__choice_block(c, slot & ~3u, 0);
    const uint32_t low = slot & 1 ? four.x[1] : four.x[0], high = slot & 1 ? four.x[3] : four.x[2];
    const uint32_t before = replace ? 0 : slot;
    return before + csaw__short(c, slot, slot & 2 ? high : low, c->n - before);
}

/* Slots of lanes side by side. group: lanes of the warp that share the lane's list, 0: the lane has no slot. first: the
 * slot of the group's lowest lane. there, own: what stands at place and at the slot's own place before the group's
 * swaps; after: the pick, and what the slot left at place. All lanes of the warp take part. later: whether own is
 * needed afterwards, too. */
template <class PLACE>
CSAW_FN void csaw__swap_lanes(uint32_t group, uint32_t first, PLACE place, bool later, PLACE *there, uint32_t *own) {
    const uint32_t every = 0xffffffffu, lane = threadIdx.x & 31, below = (1u << lane) - 1;
    const uint32_t before = (uint32_t)__popc(group & below), slot = first + before;
    const uint32_t alike = __match_any_sync(every, place) & group & ~(1u << lane);
    const bool inward = group && place > slot && place - first < (uint32_t)__popc(group); /* a later slot's own place */
    if (!__any_sync(every, (alike & below) || (later && inward))) return;
    for (uint32_t left = __ballot_sync(every, (alike & ~below) || inward); left; left &= left - 1) {
        const uint32_t from = (uint32_t)__ffs((int)left) - 1; /* all slots below it have been seen to */
        const PLACE swapped = __shfl_sync(every, place, (int)from);
        const uint32_t value = __shfl_sync(every, *own, (int)from);
        if (!(group >> from & 1) || from >= lane) continue;
        if (swapped == place) *there = value;
        if (swapped == slot) *own = value;
    }
}

/* Where slots swapped: a hash table in the words of csaw__many_words(), as that of csaw__shuffle(). */
struct csaw__swaps {
    unsigned long long *place; /* [k] */
    uint32_t *last, *left;     /* [mask + 1] slot + 1, 0 = free; [k] */
    uint32_t mask;
    __device__ csaw__swaps(uint64_t *work, uint32_t k) {
        mask = (uint32_t)((uint64_t)2 << csaw__ceil_log2(k)) - 1;
        place = (unsigned long long *)work;
        last = (uint32_t *)(work + k);
        left = last + mask + 1;
    }
    __device__ uint32_t cell(uint64_t wanted) const { return (uint32_t)csaw__place_of(wanted) & mask; }
    /* What stands at a place now. */
    __device__ uint64_t at(uint64_t wanted) const {
        for (uint32_t c = cell(wanted);; c = (c + 1) & mask) {
            const uint32_t found = __ldcg(last + c);
            if (!found) return wanted;
            if (place[found - 1] == wanted) return left[found - 1];
        }
    }
    /* The slot was the last to swap with its place; its place and what it left are known. */
    __device__ void put(uint32_t slot) {
        for (uint32_t c = cell(place[slot]);; c = (c + 1) & mask) {
            const uint32_t found = atomicCAS(last + c, 0, slot + 1);
            if (!found) return;
            if (place[found - 1] != place[slot]) continue;
            atomicExch(last + c, slot + 1);
            return;
        }
    }
};

/* k picks to pick[0 ..], with replacement or k < c->n; returns k. work: device memory, [csaw__many_words(k)] if k is
 * above 32 and without replacement. */
CSAW_FN uint32_t csaw__team_uniform(const csaw__team &team, const csaw__choice *c, uint32_t k, bool replace,
                                    uint64_t *work, uint64_t *pick) {
    const bool many = k > CSAW__TEAM && !replace;
    csaw__swaps swaps(work, k);
    for (uint32_t i = team.lane; many && i <= swaps.mask; i += CSAW__TEAM) swaps.last[i] = 0;
    for (uint32_t base = 0; base < k; base += CSAW__TEAM) {
        const uint32_t slot = base + team.lane, group = __ballot_sync(team.mask, slot < k);
        const uint64_t place = slot < k ? csaw__slot_place(c, slot, replace) : 0;
        unsigned long long there = place;
        uint32_t own = slot;
        if (many) {
            team.sync();
            if (slot < k && base) {
                there = swaps.at(place);
                own = (uint32_t)swaps.at(slot);
            }
        }
        if (!replace) csaw__swap_lanes<unsigned long long>(slot < k ? group : 0, base, place, many, &there, &own);
        if (slot < k) pick[slot] = there;
        if (!many) continue;
        if (slot < k) {
            swaps.place[slot] = place;
            swaps.left[slot] = own;
        }
        team.sync();
        const uint32_t alike = __match_any_sync(team.mask, slot < k ? (unsigned long long)place : ~0ull) & group;
        if (slot < k && alike >> team.lane == 1) swaps.put(slot);
    }
    team.sync();
    return k;
}

#endif
