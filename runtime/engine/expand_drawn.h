/* SPDX-License-Identifier: MIT */
/* runtime/engine/expand_drawn.h - picks from the rows of a frontier where a number alone names an arc: UNIFORM, ALIAS.
 * A part of expand.h.
 *
 * Method: the numbers of many entries are drawn at once. Then entry by entry the arcs that they name are asked for from
 * memory, and those of an entry some places before are looked at. Where the arcs named first all differ they are the
 * picks, which a few vector instructions find out; else the rounds of samplers/select/rounds.h decide, or what a
 * shuffle left where (shuffle.h). */
#ifndef CSAW_ENGINE_EXPAND_DRAWN_H
#define CSAW_ENGINE_EXPAND_DRAWN_H

enum { CSAW__DRAWN_ENTRIES = 64, CSAW__DRAWN_SLOTS = 512, CSAW__DRAWN_ALL };

typedef struct csaw__drawn {
    uint32_t count;                       /* entries */
    uint64_t row[CSAW__DRAWN_ENTRIES];    /* place of each one's first arc */
    uint32_t first[CSAW__DRAWN_ENTRIES];  /* its first slot, the first of a block; CSAW__DRAWN_SLOTS: csaw__expand_one()
                                             picks; CSAW__DRAWN_ALL: every arc is picked */
    uint32_t rank[CSAW__DRAWN_SLOTS + 4]; /* that a slot's number names */
    uint64_t even[CSAW__DRAWN_SLOTS / 2], odd[CSAW__DRAWN_SLOTS / 2]; /* halves of blocks. ALIAS: numbers of slots 2 i
                                             and 2 i + 1. UNIFORM: words of slots 4 i .. 4 i + 1, 4 i + 2 .. 4 i + 3 */
} csaw__drawn;

/* Four lanes of a vector. */
typedef int32_t csaw__four __attribute__((vector_size(16)));
typedef uint32_t csaw__fours __attribute__((vector_size(16)));
#if defined(__clang__)
#define CSAW__LANES(V, A, B, C, D) __builtin_shufflevector(V, V, A, B, C, D)
#else
#define CSAW__LANES(V, A, B, C, D) __builtin_shuffle(V, (csaw__four){A, B, C, D})
#endif
/* Bit j: number[j] is one of those before it; j < k <= CSAW__FEW_SLOTS, what stands behind the k counts for nothing. */
CSAW_FN uint32_t csaw__repeats(const uint32_t *number, uint32_t k) {
    const csaw__four from_1 = {0, -1, -1, -1}, from_2 = {0, 0, -1, -1}, from_3 = {0, 0, 0, -1};
    csaw__fours bit = {1, 2, 4, 8}, found = {0};
    for (uint32_t first = 0; first < k; first += 4, bit <<= 4) {
        csaw__four value, repeats;
        __builtin_memcpy(&value, number + first, sizeof value);
        repeats = ((value == CSAW__LANES(value, 0, 0, 0, 0)) & from_1) |
                  ((value == CSAW__LANES(value, 1, 1, 1, 1)) & from_2) |
                  ((value == CSAW__LANES(value, 2, 2, 2, 2)) & from_3);
        for (uint32_t j = 0; j < first; j += 4) { /* each beside each of four earlier ones */
            csaw__four other;
            __builtin_memcpy(&other, number + j, sizeof other);
            repeats |= (value == other) | (value == CSAW__LANES(other, 1, 2, 3, 0)) |
                       (value == CSAW__LANES(other, 2, 3, 0, 1)) | (value == CSAW__LANES(other, 3, 0, 1, 2));
        }
        found |= (csaw__fours)repeats & bit;
    }
    const uint32_t mask = found[0] | found[1] | found[2] | found[3];
    return k < 32 ? mask & ((1u << k) - 1) : mask;
}

/* Draws for entries until slots or places run out. */
CSAW_FN void csaw__drawn_fill(csaw__drawn *x, const csaw__job *job, const csaw__frontier *f, const uint64_t *entry,
                              uint64_t count, uint32_t kernel) {
    const uint32_t a_block = kernel == CSAW__KERNEL_UNIFORM ? 4 : 2; /* slots */
    uint32_t words[4][CSAW__DRAWN_SLOTS / 2], slots = 0, n = 0;
    const uint32_t *const word[4] = {words[0], words[1], words[2], words[3]};
    for (; n < CSAW__DRAWN_ENTRIES && n < count; n++) {
        const csaw__entry *e = &f->entry[entry[n]];
        const uint32_t k = f->fanout[entry[n]], degree = f->degree[entry[n]];
        const uint64_t instance = f->first + e->owner;
        const uint32_t key = csaw__hooks.flags & CSAW_REPLACE_POOL ? e->place : e->at;
        const bool all = k == CSAW_ALL || (!job->replace && k >= degree) || degree == 0;
        const uint32_t most = job->replace ? CSAW__DRAWN_SLOTS : CSAW__FEW_SLOTS;
        x->row[n] = csaw__offset(&job->rows, e->at - job->rows.first);
        x->first[n] = all && !csaw__hooks.static_bias ? CSAW__DRAWN_ALL : CSAW__DRAWN_SLOTS;
        if (all || k == 0 || k > most) continue;
        if (k > CSAW__DRAWN_SLOTS - slots) break;
        x->first[n] = slots;
        for (uint32_t slot = 0; slot < k; slot += a_block, slots += a_block) {
            words[0][slots / a_block] = (uint32_t)instance;
            words[1][slots / a_block] = (uint32_t)(instance >> 32) << 24 | f->depth;
            words[2][slots / a_block] = key;
            words[3][slots / a_block] = (uint32_t)CSAW_DRAW_PICK << 28 | slot * CSAW__SLOT_DRAWS;
        }
    }
    x->count = n;
    job->numbers(job->seed, word, slots / a_block, x->even, x->odd);
}

/* ALIAS, where some of an entry's slots named what an earlier one did: the rounds from 1 on. rank, dst: in, what each
 * slot named; out, the picks. Returns how many there are. */
CSAW__ONCE uint32_t csaw__drawn_rounds(const csaw__job *job, csaw__frontier *f, uint64_t entry, uint32_t *rank,
                                       csaw_vertex *dst, uint32_t repeats, csaw__scratch *scratch, csaw__fault *fault) {
    csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry]);
    uint32_t named = 0;
    csaw__site_row(&site, site.at);
    scratch->num_open = 0;
    scratch->taken_mask = 0;
    for (uint32_t slot = 0; slot < f->fanout[entry]; slot++) {
        const bool open = repeats >> slot & 1;
        scratch->open[scratch->num_open] = slot;
        scratch->num_open += open;
        scratch->pick[named] = rank[named] = rank[slot];
        dst[named] = dst[slot];
        named += !open;
    }
    scratch->got = named;
    uint32_t got = csaw__row_by_alias_trials(&site, 1, 0, scratch, fault);
    if (got == CSAW__BROKEN_PICKS) got = 0;
    csaw__tell_undeclared(&site, fault);
    for (uint32_t j = named; j < got; j++) {
        rank[j] = (uint32_t)scratch->pick[j];
        dst[j] = job->rows.col[site.row + rank[j]];
    }
    return got;
}

/* UNIFORM: the picks of entry i, in the order of slots. */
CSAW_FN void csaw__drawn_shuffle(csaw__drawn *x, const csaw__job *job, const csaw__frontier *f, uint64_t entry,
                                 uint32_t i) {
    const uint32_t first = x->first[i], k = f->fanout[entry], degree = f->degree[entry];
    uint32_t *const rank = x->rank + first, place[CSAW__FEW_SLOTS], left[CSAW__FEW_SLOTS];
    for (uint32_t j = 0; j < k; j++) {
        const uint64_t half = (j & 2 ? x->odd : x->even)[(first + j) / 4];
        const uint32_t word = (uint32_t)(half >> 32 * (j & 1)), before = job->replace ? 0 : j, n = degree - before;
        const uint64_t product = (uint64_t)word * n;
        rank[j] = before + (uint32_t)(product >> 32);
        if ((uint32_t)product < n) { /* perhaps not exact */
            csaw_site site = csaw__site_of_entry(job, f, &f->entry[entry]);
            const csaw__choice c = csaw__row_choice(&site);
            rank[j] = before + (uint32_t)csaw__short(&c, j, word, n);
        }
    }
    if (job->replace || !csaw__repeats(rank, k)) return;
    __builtin_memcpy(place, rank, k * sizeof *rank);
    csaw__shuffle_few(k, place, left, rank);
}

/* What the slots of entry i name, and a request to memory for it. UNIFORM: that are the picks. */
CSAW_FN void csaw__drawn_name(csaw__drawn *x, const csaw__job *job, csaw__frontier *f, uint64_t entry, uint32_t i,
                              uint32_t kernel) {
    const uint32_t first = x->first[i], k = f->fanout[entry], degree = f->degree[entry];
    uint32_t *const rank = x->rank + first;
    if (first >= CSAW__DRAWN_SLOTS) {
        csaw__prefetch_arcs(job, f->entry[entry].at);
        return;
    }
    if (kernel == CSAW__KERNEL_UNIFORM) {
        csaw__drawn_shuffle(x, job, f, entry, i);
        f->got[entry] = k;
        for (uint32_t j = 0; j < k; j++) csaw__soon(job->rows.col + x->row[i] + rank[j]);
        return;
    }
    for (uint32_t j = 0; j < k; j += 2) {
        rank[j] = (uint32_t)csaw_below(x->even[(first + j) / 2], degree);
        rank[j + 1] = (uint32_t)csaw_below(x->odd[(first + j) / 2], degree);
    }
    for (uint32_t j = 0; j < k; j++) csaw__soon(job->rows.alias + x->row[i] + rank[j]);
}

/* The picks of entry i. */
CSAW_FN void csaw__drawn_pick(csaw__drawn *x, const csaw__job *job, csaw__frontier *f, uint64_t entry, uint32_t i,
                              uint32_t kernel, csaw__scratch *scratch, csaw__fault *fault) {
    const uint32_t slot = x->first[i], k = f->fanout[entry];
    const uint64_t row = x->row[i];
    uint32_t *const rank = x->rank + slot;
    csaw_vertex *const src = f->src + f->offset[entry], *const dst = f->dst + f->offset[entry];
    csaw_edge *const edge = f->edge + f->offset[entry];
    if (slot == CSAW__DRAWN_SLOTS) {
        csaw__expand_one(job, f, entry, scratch, fault);
        return;
    }
    if (slot == CSAW__DRAWN_ALL) {
        for (uint32_t j = 0; j < f->degree[entry]; j++) {
            src[j] = f->entry[entry].at;
            dst[j] = job->rows.col[row + j];
            edge[j] = job->rows.first_arc + row + j;
        }
        f->got[entry] = f->degree[entry];
        return;
    }
    if (kernel == CSAW__KERNEL_UNIFORM) {
        for (uint32_t j = 0; j < f->got[entry]; j++) dst[j] = job->rows.col[row + rank[j]];
    } else {
        for (uint32_t j = 0; j < k; j++) {
            const csaw__alias cell = job->rows.alias[row + rank[j]];
            const uint64_t number = (j & 1 ? x->odd : x->even)[(slot + j) / 2];
            const bool own = (uint32_t)(number * f->degree[entry] >> 32) < cell.threshold;
            rank[j] = own ? rank[j] : cell.other_rank;
            dst[j] = own ? cell.own : cell.other;
        }
        const bool dead = k && dst[0] == CSAW_NONE; /* no arc of the row has a positive bias */
        const uint32_t repeats = dead || job->replace ? 0 : csaw__repeats(rank, k);
        f->got[entry] = dead ? 0 : k;
        if (repeats) f->got[entry] = csaw__drawn_rounds(job, f, entry, rank, dst, repeats, scratch, fault);
    }
    for (uint32_t j = 0; j < f->got[entry]; j++) {
        src[j] = f->entry[entry].at;
        edge[j] = job->rows.first_arc + row + rank[j];
    }
}

CSAW_FN void csaw__expand_drawn(const csaw__job *job, csaw__frontier *f, const uint64_t *entry, uint64_t count,
                                uint32_t kernel, csaw__scratch *scratch, csaw__fault *fault) {
    csaw__drawn x;
    for (uint64_t done = 0; done < count; done += x.count) {
        const uint64_t *const these = entry + done;
        csaw__drawn_fill(&x, job, f, these, count - done, kernel);
        for (uint32_t i = 0; i < x.count + CSAW__AHEAD; i++) {
            const uint32_t before = i - CSAW__AHEAD;
            if (i < x.count) csaw__drawn_name(&x, job, f, these[i], i, kernel);
            if (i >= CSAW__AHEAD) csaw__drawn_pick(&x, job, f, these[before], before, kernel, scratch, fault);
        }
    }
}

#endif
