/* SPDX-License-Identifier: MIT */
/* runtime/engine/minibatch.h - which seeds a batch has, and one batch made: sampled, relabelled, its rows gathered. */
#ifndef CSAW_ENGINE_MINIBATCH_H
#define CSAW_ENGINE_MINIBATCH_H

#include "runtime/base/job.h"
#include "runtime/engine/device_loader.h"
#include "runtime/engine/training.h"

/* What batches are made from. */
typedef struct csaw__batches {
    csaw_plan *plan;
    csaw_loader_options options; /* with fanout and params below */
    unsigned char params[CSAW__MAX_PARAMS];
    csaw_dense features;
    uint32_t *fanout;    /* [depth], NULL where none was given */
    csaw_vertex *seed;   /* [num_seeds] as given */
    uint64_t *order;     /* [num_seeds] places in seed, in the order of epoch `shuffled` */
    csaw_vertex *chosen; /* [batch_size, at most num_seeds] seeds of the batch being made */
    uint64_t num_seeds, shuffled;
    uint64_t of_epoch;          /* batches */
    csaw__device_loader *there; /* NULL: batches are made on the host */
    csaw_vertex *begun_at;      /* likewise; [batch_size, at most num_seeds] the vertices at which a batch begins */
} csaw__batches;

/* Memory of one batch, kept for the next unless the caller takes it. */
typedef struct csaw__batch {
    csaw_minibatch batch; /* first: csaw_minibatch_free() gets its address */
    csaw_blocks *blocks;
    char *features;  /* [feature_room] bytes */
    int64_t *label;  /* [label_room] */
    uint64_t *input; /* [input_room] */
    uint64_t feature_room, label_room, input_room;
    csaw__device_slot *there; /* of batches on a GPU, in place of features and label */
} csaw__batch;

/* seeds and options as checked. On failure, too, to be closed. */
csaw_status csaw__batches_open(csaw__batches *batches, csaw_plan *plan, const csaw_seeds *seeds,
                               const csaw_loader_options *options);
void csaw__batches_close(csaw__batches *batches);
/* From now on these seeds, as checked, and this seed of the random numbers. What fails changes nothing. */
csaw_status csaw__batches_choose(csaw__batches *batches, const csaw_seeds *seeds, uint64_t seed);
/* Batch `batch`, counted over all epochs. Batches are made in order. */
csaw_status csaw__batch_make(csaw__batch *slot, csaw__batches *batches, uint64_t batch);
void csaw__batch_free(csaw__batch *slot);

#endif
