/* SPDX-License-Identifier: MIT */
/* spmm/device_reduce_f32.cu - kernels of csaw_spmm() for features stored as float32. */
#include "spmm/device_private.cuh"
#include "spmm/device_reduce.cuh"

csaw_status csaw__launch_f32(const csaw__product *p, csaw_spmm_method method, unsigned blocks, cudaStream_t stream) {
    csaw__kernel *const kernel = csaw__kernel_of<CSAW_F32>(method, p->vector, csaw__is_extreme(p->reduce));
    return csaw__device_launch(stream, blocks, CSAW__THREADS, kernel, *p);
}
