/* SPDX-License-Identifier: MIT */
/* runtime/engine/worker.c - what a thread keeps from batch to batch of samples. */
#include "runtime/base/grow.h"
#include "runtime/base/vertex_set_add.h"
#include "runtime/engine/sampling.h"

void csaw__worker_start(csaw__worker *w, csaw_plan *plan, const csaw_sampler *sampler, const csaw__job *job,
                        bool check) {
    const uint32_t traits = sampler->traits();
    w->plan = plan;
    w->sampler = sampler;
    w->job = job;
    w->check = check;
    w->flags = traits >> CSAW__TRAIT_FLAGS;
    w->has_user = traits & CSAW__TRAIT_USER;
    w->has_vertex_bias = traits & CSAW__TRAIT_VERTEX;
    w->has_update = traits & CSAW__TRAIT_UPDATE;
    w->has_dead_end = traits & CSAW__TRAIT_DEAD_END;
    w->has_size = traits & CSAW__TRAIT_SIZE;
    w->frontier_size = sampler->frontier_size(job->params);
    w->fault = (csaw__fault){.kind = CSAW__FAULT_NONE};
    w->num_arcs = w->num_segments = w->num_seeds = 0;
    csaw__parts_forget_ahead(w);
}

void csaw__worker_lists_free(csaw__worker *w) {
    for (uint64_t i = 0; i < w->num_lists; i++) csaw__pool_free(&w->list[i]);
    w->num_lists = 0;
}

void csaw__worker_free(csaw__worker *w) {
    void *const arrays[] = {w->root,          w->user,         w->pool,         w->next,         w->selected,
                            w->list,          w->f.degree,     w->f.fanout,     w->f.offset,     w->f.got,
                            w->f.dead_end,    w->src,          w->dst,          w->edge,         w->f.arc,
                            w->f.bias,        w->all,          w->f.pick_rank,  w->owner_pick,   w->upto,
                            w->f.pick_entry,  w->segment,      w->seed,         w->scratch.upto, w->scratch.tree,
                            w->scratch.taken, w->scratch.pick, w->scratch.open, w->next_vertex,  w->candidate};
    csaw__worker_lists_free(w);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) csaw__free(arrays[i]);
    csaw__parts_ahead_free(w);
    csaw__layer_exchange_free(&w->exchange);
    csaw__vertex_set_free(&w->in_next);
    csaw__vertex_set_free(&w->visited);
}

csaw_status csaw__worker_scratch(csaw__worker *w, uint64_t n, uint64_t k, uint64_t all) {
    csaw__scratch *s = &w->scratch;
    if (n > w->scratch_n) {
        csaw__free(s->upto);
        csaw__free(s->tree);
        s->upto = s->tree = NULL;
        w->scratch_n = 0;
        n += n / 2;
        CSAW_TRY(csaw__alloc(&s->upto, n, "sums over a row"));
        CSAW_TRY(csaw__alloc(&s->tree, n + 1, "sums over a row"));
        w->scratch_n = n;
    }
    if (k > w->scratch_k) {
        csaw__free(s->taken);
        csaw__free(s->open);
        s->taken = NULL;
        s->open = NULL;
        w->scratch_k = 0;
        k += k / 2;
        CSAW_TRY(csaw__alloc(&s->taken, 4 * k + 8, "picks of a row"));
        CSAW_TRY(csaw__alloc(&s->open, k, "picks of a row"));
        w->scratch_k = k;
    }
    return CSAW__GROW(&s->pick, &w->scratch_pick, w->scratch_k > all ? w->scratch_k : all, "picks of a row");
}

csaw_status csaw__worker_all(csaw__worker *w, uint64_t count) {
    CSAW_TRY(CSAW__GROW(&w->all, &w->all_room, count, "a list of entries"));
    for (; w->all_count < count; w->all_count++) w->all[w->all_count] = w->all_count;
    return CSAW_OK;
}

csaw_status csaw__worker_entries(csaw__worker *w) {
    csaw__frontier *f = &w->f;
    CSAW_TRY(CSAW__GROW(&f->offset, &w->offset_room, f->count + 1, "a frontier"));
    CSAW_TRY(CSAW__GROW(&f->got, &w->got_room, f->count, "a frontier"));
    return CSAW__GROW(&f->dead_end, &w->dead_room, f->count, "a frontier");
}

csaw_status csaw__worker_picks(csaw__worker *w, uint64_t picks) {
    csaw__frontier *f = &w->f;
    CSAW_TRY(CSAW__GROW(&w->src, &w->src_room, w->num_arcs + picks + 1, "sampled arcs"));
    CSAW_TRY(CSAW__GROW(&w->dst, &w->dst_room, w->num_arcs + picks + 1, "sampled arcs"));
    CSAW_TRY(CSAW__GROW(&w->edge, &w->edge_room, w->num_arcs + picks + 1, "sampled arcs"));
    f->src = w->src + w->num_arcs;
    f->dst = f->next = w->dst + w->num_arcs;
    f->edge = w->edge + w->num_arcs;
    if (!w->has_update) return CSAW_OK;
    CSAW_TRY(CSAW__GROW(&w->next_vertex, &w->next_vertex_room, picks, "sampled arcs"));
    f->next = w->next_vertex;
    return CSAW_OK;
}
