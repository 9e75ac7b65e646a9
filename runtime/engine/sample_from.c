/* SPDX-License-Identifier: MIT */
/* runtime/engine/sample_from.c - samples of a range of instances, for those who number them by themselves. */
#include "runtime/base/memory.h"
#include "runtime/engine/run.h"
#include "runtime/engine/training.h"

csaw_status csaw__sample_from(csaw_plan *plan, const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds,
                              const csaw_run_options *options, uint64_t first, uint64_t count, csaw_samples **out) {
    csaw__run r;
    csaw__fault fault;
    csaw_samples *samples = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(count <= CSAW_MAX_INSTANCES && first <= CSAW_MAX_INSTANCES - count, CSAW_EINVAL,
                 "%llu instances from number %llu on are beyond 2^40, the last that random numbers are there for; go "
                 "on from 0 with another seed",
                 (unsigned long long)count, (unsigned long long)first);
    CSAW_TRY(csaw__run_create(plan, sampler, params, seeds, options, &r));
    CSAW_TRY(csaw__run_room(&r, count, count));
    CSAW_TRY(csaw__alloc_zero(&samples, 1, "samples"));
    CSAW_TRY_DONE(csaw__run_batch(&r, first, count, samples, &fault));
    CSAW_TRY_DONE(csaw__run_fault(&r, &fault));
    *out = samples;
    samples = NULL;
done:
    csaw_samples_free(samples);
    return status;
}
