/* SPDX-License-Identifier: MIT */
/* spmm/device_reduce_f16.cu - kernels of csaw_spmm() for features stored as float16. */
#include "spmm/device_private.cuh"
#include "spmm/device_reduce.cuh"

csaw_status csaw__launch_f16(const csaw__product *p, csaw_spmm_method method, unsigned blocks, uint32_t *next,
                             cudaStream_t stream) {
    if (next)
        return csaw__device_launch(stream, blocks, CSAW__RESIDENT_THREADS,
                                   csaw__resident_kernel_of<CSAW_F16>(p->vector), *p, next);
    csaw__kernel *const kernel = csaw__kernel_of<CSAW_F16>(method, p->vector, csaw__is_extreme(p->reduce));
    return csaw__device_launch(stream, blocks, CSAW__THREADS, kernel, *p);
}
