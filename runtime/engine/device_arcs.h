/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_arcs.h - sampled arcs in device memory, which samples own. */
#ifndef CSAW_ENGINE_DEVICE_ARCS_H
#define CSAW_ENGINE_DEVICE_ARCS_H

#include "runtime/engine/device_private.h"

/* Room in samples->device_arcs, in place of what was there, for so many of each; who will fill less of it sets
 * samples->device_counted to false. */
csaw_status csaw__device_arcs_take(csaw__device *device, csaw_samples *samples, uint64_t instances, uint64_t arcs,
                                   uint64_t seeds);
void csaw__device_arcs_free(csaw_samples *samples);

/* Whether the job's instances are small enough to run each by itself, and how; all of them, to samples->device_arcs,
 * which are complete when this returns. job: rows are the device's, everything else the host's; device->record is all
 * ones. */
bool csaw__device_each_fits(const csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                            csaw__job *out);
csaw_status csaw__device_each(csaw__device *device, const csaw_sampler *sampler, const csaw__job *job,
                              csaw_samples *samples, csaw__fault *fault);

/* Whether the job's instances are few, and of a sampler whose depths a block can run by itself; all of them, to
 * samples->device_arcs, unless a hook broke its rules: those that turn out to be large depth by depth. job: as above.
 * max_degree: the graph's. */
bool csaw__device_alone_fits(const csaw_sampler *sampler, const csaw__job *job);
csaw_status csaw__device_alone(csaw__device *device, uint64_t max_degree, const csaw_sampler *sampler,
                               const csaw__job *job, csaw_samples *samples, csaw__fault *fault);

#endif
