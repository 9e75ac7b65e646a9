/* SPDX-License-Identifier: MIT */
/* runtime/engine/samples.c - views of samples. */
#include "runtime/engine/samples.h"

#include "runtime/base/memory.h"
#include "runtime/engine/plan.h"

csaw_status csaw_samples_walks(csaw_samples *samples, csaw_space space, csaw_walks *out) {
    CSAW_REQUIRE(samples && out, CSAW_EINVAL, "csaw_samples_walks needs samples and a place for the view; one is NULL");
    const uint64_t length = samples->length, walks = samples->num_walks;
    csaw_walks view = {.space = space, .first = samples->first, .num_walks = walks, .length = samples->length};
    if (space == CSAW_DEVICE) {
        CSAW_REQUIRE(samples->device, CSAW_EUNSUPPORTED,
                     "these samples were made on the CPU; a view in device memory needs a plan with device 'cuda:N'");
        view.path = samples->device_path;
        view.edge = samples->device_edge;
        view.path_walk_stride = view.edge_walk_stride = 1;
        view.path_step_stride = view.edge_step_stride = walks;
    } else {
        CSAW_REQUIRE(space == CSAW_HOST, CSAW_EINVAL, "space is %d; it is CSAW_HOST or CSAW_DEVICE", (int)space);
        if (samples->device && !samples->host_current) CSAW_TRY(csaw__device_to_host(samples));
        view.path = samples->host_path;
        view.edge = samples->host_edge;
        view.path_walk_stride = length + 1;
        view.edge_walk_stride = length;
        view.path_step_stride = view.edge_step_stride = 1;
    }
    *out = view;
    return CSAW_OK;
}

void csaw_samples_free(csaw_samples *samples) {
    if (!samples) return;
    if (samples->device) csaw__device_release(samples);
    csaw__free(samples->host_path);
    csaw__free(samples->host_edge);
    csaw__free(samples);
}
