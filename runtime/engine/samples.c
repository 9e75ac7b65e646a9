/* SPDX-License-Identifier: MIT */
/* runtime/engine/samples.c - views of samples. */
#include "runtime/engine/samples.h"

#include "runtime/base/memory.h"
#include "runtime/engine/plan.h"

/* A view in device memory is of one device. */
static csaw_status one_device(const csaw_samples *samples) {
    CSAW_REQUIRE(!samples->share, CSAW_EUNSUPPORTED,
                 "these samples lie in the memory of %u GPUs, a share in each; ask for them in host memory "
                 "(CSAW_HOST), or make them by a plan on one GPU",
                 samples->num_shares);
    return CSAW_OK;
}

csaw_status csaw_samples_walks(csaw_samples *samples, csaw_space space, csaw_walks *out) {
    CSAW_REQUIRE(samples && out, CSAW_EINVAL, "csaw_samples_walks needs samples and a place for the view; one is NULL");
    CSAW_REQUIRE(!samples->is_sample, CSAW_EINVAL,
                 "these samples are no walks (pools, a fanout or flags were asked for): csaw_samples_arcs shows them");
    const uint64_t length = samples->length, walks = samples->num_walks;
    csaw_walks view = {.space = space, .first = samples->first, .num_walks = walks, .length = samples->length};
    if (space == CSAW_DEVICE) {
        CSAW_TRY(one_device(samples));
        CSAW_REQUIRE(samples->device, CSAW_EUNSUPPORTED,
                     "these samples were made on the CPU; a view in device memory needs a plan with device 'cuda:N'");
        view.path = samples->device_path;
        view.edge = samples->device_edge;
        view.path_walk_stride = view.edge_walk_stride = 1;
        view.path_step_stride = view.edge_step_stride = walks;
    } else {
        CSAW_REQUIRE(space == CSAW_HOST, CSAW_EINVAL, "space is %d; it is CSAW_HOST or CSAW_DEVICE", (int)space);
        if ((samples->device || samples->share) && !samples->host_current) CSAW_TRY(csaw__walks_to_host(samples));
        view.path = samples->host_path;
        view.edge = samples->host_edge;
        view.path_walk_stride = length + 1;
        view.edge_walk_stride = length;
        view.path_step_stride = view.edge_step_stride = 1;
    }
    *out = view;
    return CSAW_OK;
}

/* The arcs that walks followed. */
static csaw_status arcs_of_walks(csaw_samples *samples) {
    csaw_walks walks;
    uint64_t n = 0;
    CSAW_TRY(csaw_samples_walks(samples, CSAW_HOST, &walks));
    CSAW_REQUIRE(walks.edge || walks.num_walks == 0, CSAW_EINVAL,
                 "these walks have no edges: run with the option edges to keep them");
    for (uint64_t i = 0; i < walks.num_walks * walks.length; i++) n += walks.edge[i] != CSAW_NO_EDGE;
    CSAW_TRY(csaw__arcs_create(NULL, walks.num_walks, n, walks.num_walks, &samples->arcs));
    csaw_arcs *out = &samples->arcs;
    out->first = walks.first;
    n = 0;
    for (uint64_t w = 0; w < walks.num_walks; w++) {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        const csaw_edge *edge = walks.edge + w * walks.edge_walk_stride;
        ((csaw_vertex *)out->seed)[w] = path[0];
        ((uint64_t *)out->seed_offset)[w + 1] = w + 1;
        for (uint32_t d = 0; d < walks.length; d++) {
            if (edge[d] == CSAW_NO_EDGE) continue;
            ((csaw_vertex *)out->src)[n] = path[d];
            ((csaw_vertex *)out->dst)[n] = path[d + 1];
            ((csaw_edge *)out->edge)[n] = edge[d];
            ((uint32_t *)out->depth)[n++] = d;
        }
        ((uint64_t *)out->offset)[w + 1] = n;
    }
    return CSAW_OK;
}

csaw_status csaw_samples_arcs(csaw_samples *samples, csaw_space space, csaw_arcs *out) {
    CSAW_REQUIRE(samples && out, CSAW_EINVAL, "csaw_samples_arcs needs samples and a place for the view; one is NULL");
    CSAW_REQUIRE(space == CSAW_HOST || space == CSAW_DEVICE, CSAW_EINVAL, "space is %d; it is CSAW_HOST or CSAW_DEVICE",
                 (int)space);
    if (space == CSAW_DEVICE) {
        CSAW_TRY(one_device(samples));
        CSAW_REQUIRE(samples->is_sample && samples->device, CSAW_EUNSUPPORTED,
                     "these samples were made on the CPU or are walks; arcs in device memory are those of a sample "
                     "(pools, a fanout or flags) by a plan with device 'cuda:N'");
        *out = samples->device_arcs;
        return CSAW_OK;
    }
    if (!samples->arcs.offset) /* once: views of them stay good */
        CSAW_TRY(samples->is_sample ? csaw__arcs_to_host(samples) : arcs_of_walks(samples));
    *out = samples->arcs;
    return CSAW_OK;
}

void csaw_samples_free(csaw_samples *samples) {
    if (!samples) return;
    if (samples->device) csaw__device_release(samples);
    for (uint32_t i = 0; i < samples->num_shares; i++) csaw_samples_free(samples->share[i]);
    csaw__free(samples->share);
    csaw__block_give(samples->spare, samples->host_path);
    csaw__block_give(samples->spare, samples->host_edge);
    csaw__arcs_free(samples->spare, &samples->arcs);
    csaw__spare_release(samples->spare);
    csaw__free(samples);
}
