/* SPDX-License-Identifier: MIT */
/* partition/exchange_mpi.h - ranks that are processes of an MPI job. In builds without MPI (CSAW_MPI) there are none.
 */
#ifndef CSAW_PARTITION_EXCHANGE_MPI_H
#define CSAW_PARTITION_EXCHANGE_MPI_H

#include "partition/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__mpi csaw__mpi;

/* communicator: the address of an MPI_Comm, which is copied; all its ranks make this call. One thread of each uses the
 * exchange, and MPI at that time. batch, under_way: as of csaw__local_create(). CSAW_EUNSUPPORTED without MPI. */
csaw_status csaw__mpi_create(const void *communicator, uint64_t batch, uint32_t under_way, csaw__mpi **out);
/* Whether this rank's MPI says that it moves memory of CUDA devices; batches go straight if that of all ranks does. A
 * test puts another answer here. */
extern bool (*csaw__mpi_moves_device_memory)(void);
csaw__exchange csaw__mpi_rank(csaw__mpi *mpi);
void csaw__mpi_free(csaw__mpi *mpi); /* all ranks; before MPI_Finalize(); NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
