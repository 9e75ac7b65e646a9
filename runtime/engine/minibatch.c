/* SPDX-License-Identifier: MIT */
/* runtime/engine/minibatch.c - see minibatch.h. Epochs are shuffled by Fisher and Yates (Knuth, vol. 2, section
 * 3.4.2, algorithm P), from the order given, so that every epoch can be made without those before it. */
#include "runtime/engine/minibatch.h"

#include "runtime/base/grow.h"
#include "runtime/engine/plan.h"
#include "spmm/element.h"

csaw_status csaw__batches_choose(csaw__batches *b, const csaw_seeds *seeds, uint64_t seed) {
    const uint64_t count = seeds ? seeds->count : b->plan->graph->csr.num_vertices, size = b->options.batch_size;
    const uint64_t most = size < count ? size : count;
    csaw_vertex *vertex = NULL, *chosen = NULL, *begun_at = NULL;
    uint64_t *order = NULL;
    csaw_status status = CSAW_OK;
    CSAW_TRY_DONE(csaw__alloc(&vertex, count, "seeds"));
    CSAW_TRY_DONE(csaw__alloc(&order, count, "seeds in their order"));
    CSAW_TRY_DONE(csaw__alloc(&chosen, most, "seeds of a batch"));
    if (b->plan->device) CSAW_TRY_DONE(csaw__alloc(&begun_at, most, "seeds of a batch"));
    for (uint64_t i = 0; i < count; i++) vertex[i] = seeds && seeds->vertex ? seeds->vertex[i] : (csaw_vertex)i;
    csaw__free(b->seed);
    csaw__free(b->order);
    csaw__free(b->chosen);
    csaw__free(b->begun_at);
    b->seed = vertex;
    b->order = order;
    b->chosen = chosen;
    b->begun_at = begun_at;
    b->options.seed = seed;
    b->num_seeds = count;
    b->shuffled = UINT64_MAX;
    b->of_epoch = count / size + (count % size && !b->options.drop_last);
    return CSAW_OK;
done:
    csaw__free(vertex);
    csaw__free(order);
    csaw__free(chosen);
    csaw__free(begun_at);
    return status;
}

csaw_status csaw__batches_open(csaw__batches *b, csaw_plan *plan, const csaw_seeds *seeds,
                               const csaw_loader_options *options) {
    b->plan = plan;
    b->options = *options;
    if (options->params) {
        memcpy(b->params, options->params, options->sampler->params_size);
        b->options.params = b->params;
    }
    if (options->features) {
        b->features = *options->features;
        b->options.features = &b->features;
    }
    if (options->fanout) {
        CSAW_TRY(csaw__alloc(&b->fanout, options->depth, "fanouts"));
        memcpy(b->fanout, options->fanout, options->depth * sizeof *b->fanout);
        b->options.fanout = b->fanout;
    }
    CSAW_TRY(csaw__batches_choose(b, seeds, options->seed));
    return plan->device ? csaw__device_loader_open(plan, &b->options, &b->there) : CSAW_OK;
}

void csaw__batches_close(csaw__batches *b) {
    csaw__free(b->fanout);
    csaw__free(b->seed);
    csaw__free(b->order);
    csaw__free(b->chosen);
    csaw__free(b->begun_at);
    csaw__device_loader_close(b->there);
}

static void shuffle(csaw__batches *b, uint64_t epoch) {
    if (b->shuffled == epoch) return;
    for (uint64_t i = 0; i < b->num_seeds; i++) b->order[i] = i;
    for (uint64_t i = 0; i + 1 < b->num_seeds && !b->options.keep_order; i++) {
        const uint64_t random = csaw__training_number(b->options.seed, epoch, i, CSAW__SHUFFLE_DRAW);
        const uint64_t j = i + csaw_below(random, b->num_seeds - i);
        const uint64_t place = b->order[i];
        b->order[i] = b->order[j];
        b->order[j] = place;
    }
    b->shuffled = epoch;
}

/* Samples of the seeds, as blocks of slot. */
static csaw_status make_blocks(csaw__batch *slot, const csaw__batches *b, uint64_t count, uint64_t batch) {
    const csaw_loader_options *o = &b->options;
    const uint64_t offset[] = {0, count};
    const csaw_seeds pool = {.vertex = b->chosen, .count = 1, .offset = offset};
    const csaw_run_options run = {.size = sizeof run,
                                  .seed = o->seed,
                                  .depth = o->depth,
                                  .fanout = o->fanout,
                                  .replace = o->replace,
                                  .select = o->select,
                                  .edges = true}; /* of a batch of one seed, which is a walk if there is no fanout */
    csaw_samples *samples = NULL;
    csaw_blocks_free(slot->blocks);
    slot->blocks = NULL;
    CSAW_TRY(csaw__sample_from(b->plan, o->sampler, o->params, &pool, &run, batch, 1, &samples));
    const csaw_status status = csaw__blocks_make(samples, b->there ? CSAW_DEVICE : CSAW_HOST, &slot->blocks);
    csaw_samples_free(samples);
    return status;
}

/* That the batch begins at its seeds; the rest of its view. */
static csaw_status look_at_blocks(csaw__batch *slot, const csaw__batches *b, uint64_t count) {
    csaw_block_view view;
    CSAW_TRY(csaw_blocks_look(slot->blocks, 0, 0, &view));
    const bool begins = count <= view.num_dst;
    if (begins && b->there) CSAW_TRY(csaw__device_blocks_begin(slot->blocks, count, b->begun_at));
    const csaw_vertex *const begun_at = b->there ? b->begun_at : view.vertex;
    CSAW_REQUIRE(begins && memcmp(begun_at, b->chosen, count * sizeof *begun_at) == 0, CSAW_EINVAL,
                 "sampler '%s' does not begin at all %llu seeds of a batch, so that a loader cannot use it; give one "
                 "without frontier_size",
                 csaw_sampler_name(b->options.sampler), (unsigned long long)count);
    CSAW_TRY(csaw_blocks_look(slot->blocks, 0, b->options.depth - 1, &view));
    slot->batch.space = view.space;
    slot->batch.blocks = slot->blocks;
    slot->batch.vertex = view.vertex;
    slot->batch.num_vertices = view.num_src;
    return CSAW_OK;
}

static csaw_status gather_on_host(csaw__batch *slot, const csaw__batches *b) {
    csaw_minibatch *const batch = &slot->batch;
    const csaw_dense *x = b->options.features;
    if (x) {
        const uint64_t bytes = batch->num_vertices * x->cols * csaw__dtype_bytes(x->dtype);
        CSAW_TRY(CSAW__GROW(&slot->features, &slot->feature_room, bytes, "features of a batch"));
        batch->features.data = slot->features;
        const csaw_gather_options how = {.size = sizeof how, .threads = b->plan->threads};
        CSAW_TRY(csaw_gather(x, batch->vertex, batch->num_vertices, &how, &batch->features));
    }
    if (b->options.label) {
        CSAW_TRY(CSAW__GROW(&slot->label, &slot->label_room, batch->num_seeds, "labels of a batch"));
        for (uint64_t i = 0; i < batch->num_seeds; i++) slot->label[i] = b->options.label[batch->vertex[i]];
        batch->label = slot->label;
    }
    return CSAW_OK;
}

static csaw_status gather(csaw__batch *slot, const csaw__batches *b) {
    const csaw_dense *x = b->options.features;
    if (x) slot->batch.features = (csaw_dense){.rows = slot->batch.num_vertices, .cols = x->cols, .dtype = x->dtype};
    return b->there ? csaw__device_slot_fill(b->there, slot->there, &slot->batch) : gather_on_host(slot, b);
}

csaw_status csaw__batch_make(csaw__batch *slot, csaw__batches *b, uint64_t batch) {
    const uint64_t epoch = batch / b->of_epoch, place = batch % b->of_epoch, size = b->options.batch_size;
    const uint64_t first = place * size, left = b->num_seeds - first, count = left < size ? left : size;
    shuffle(b, epoch);
    CSAW_TRY(CSAW__GROW(&slot->input, &slot->input_room, count, "places of seeds"));
    memcpy(slot->input, b->order + first, count * sizeof *slot->input);
    for (uint64_t i = 0; i < count; i++) b->chosen[i] = b->seed[slot->input[i]];
    slot->batch = (csaw_minibatch){.epoch = epoch, .number = place, .num_seeds = count, .input = slot->input};
    if (b->there && !slot->there) CSAW_TRY(csaw__device_slot_create(b->there, &slot->there));
    CSAW_TRY(csaw__device_slot_await(slot->there));
    CSAW_TRY(make_blocks(slot, b, count, batch));
    CSAW_TRY(look_at_blocks(slot, b, count));
    return gather(slot, b);
}

void csaw__batch_free(csaw__batch *slot) {
    csaw__device_slot_await(slot->there); /* what cannot be waited for is over */
    csaw_blocks_free(slot->blocks);
    csaw__device_slot_free(slot->there);
    csaw__free(slot->features);
    csaw__free(slot->label);
    csaw__free(slot->input);
}

void csaw_minibatch_free(csaw_minibatch *batch) {
    if (!batch) return;
    csaw__device_slot_leave(((csaw__batch *)batch)->there);
    csaw__batch_free((csaw__batch *)batch);
    csaw__free(batch);
}
