/* SPDX-License-Identifier: MIT */
/* partition/no_mpi.c - stands in for exchange_mpi.c in builds without MPI. */
#include "partition/exchange_mpi.h"

static bool never(void) { return false; }
bool (*csaw__mpi_moves_device_memory)(void) = never;

csaw_status csaw__mpi_create(const void *communicator, uint64_t batch, uint32_t under_way, csaw__mpi **out) {
    (void)communicator, (void)batch, (void)under_way, (void)out;
    return csaw__fail(CSAW_EUNSUPPORTED, "this csaw was built without MPI; build it with -DCSAW_MPI=ON");
}

csaw__exchange csaw__mpi_rank(csaw__mpi *mpi) { /* there is none */
    (void)mpi;
    return (csaw__exchange){.size = 0};
}

void csaw__mpi_free(csaw__mpi *mpi) { (void)mpi; }
