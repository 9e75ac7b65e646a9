/* SPDX-License-Identifier: MIT */
/* runtime/engine/training.h - what the parts of csaw/training.h share: samples of any range of instances, and the
 * numbers that they draw. docs/stream.md, "Training". */
#ifndef CSAW_ENGINE_TRAINING_H
#define CSAW_ENGINE_TRAINING_H

#include <csaw/philox.h>
#include <csaw/training.h>

enum { /* draws of purpose CSAW_DRAW_TRAINING */
       CSAW__ROOT_DRAW = 3 << 26,
       CSAW__SHUFFLE_DRAW = CSAW__ROOT_DRAW + 1,
       CSAW__NEGATIVE_DRAWS = CSAW__ROOT_DRAW + 16 /* and the 4 after it */
};

/* Number i < 2^33 of an instance: two share a block. */
CSAW_FN uint64_t csaw__training_number(uint64_t seed, uint64_t instance, uint64_t i, uint32_t draw) {
    const csaw_block block = csaw_draw(seed, instance, 0, (uint32_t)(i >> 1), CSAW_DRAW_TRAINING, draw);
    return csaw_half(&block, i & 1);
}

/* As csaw_sample(), instances first .. first + count - 1 of it, whatever walks_per_seed says; that of instance i is
 * pool i mod the number of pools. */
csaw_status csaw__sample_from(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                              const csaw_run_options *options, uint64_t first, uint64_t count, csaw_samples **out);

#endif
