/* SPDX-License-Identifier: MIT */
/* runtime/ranks/no_mpi.c - what a build without MPI answers to those who give it a communicator. */
#include "runtime/ranks/link.h"

static csaw_status no_mpi(void) {
    return csaw__fail(CSAW_EUNSUPPORTED,
                      "this csaw was built without MPI; configure with -DCSAW_MPI=ON, or leave communicator NULL");
}

csaw_status csaw__link_open(const void *communicator, csaw__ranks **out) {
    (void)communicator, (void)out;
    return no_mpi();
}

csaw_status csaw__link_gather(csaw__ranks *ranks, const void *mine, uint64_t bytes, void *all) {
    (void)ranks, (void)mine, (void)bytes, (void)all;
    return no_mpi();
}

csaw_status csaw__link_broadcast(csaw__ranks *ranks, uint32_t root, void *data, uint64_t bytes) {
    (void)ranks, (void)root, (void)data, (void)bytes;
    return no_mpi();
}

csaw_status csaw__link_send(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes) {
    (void)ranks, (void)to, (void)from, (void)bytes;
    return no_mpi();
}

csaw_status csaw__link_receive(csaw__ranks *ranks, uint32_t from, void *to, uint64_t bytes) {
    (void)ranks, (void)from, (void)to, (void)bytes;
    return no_mpi();
}

csaw_status csaw__link_sum(csaw__ranks *ranks, uint64_t *values, uint64_t count) {
    (void)ranks, (void)values, (void)count;
    return no_mpi();
}

csaw_status csaw__link_swap(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes, uint32_t source,
                            void *into, uint64_t source_bytes) {
    (void)ranks, (void)to, (void)from, (void)bytes, (void)source, (void)into, (void)source_bytes;
    return no_mpi();
}
