/* SPDX-License-Identifier: MIT */
/* bench/parts_device.cu - bench/parts_device.h on a GPU. */
#include "bench/parts_device.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/measure.h"
#include "runtime/engine/plan.h"

namespace {

void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

bool is_gpu(const char *device) { return strncmp(device, "cuda:", 5) == 0; }

} // namespace

/* The best of several copies of 256 MiB. */
double parts_copy_rate(const char *device) {
    const size_t bytes = (size_t)256 << 20;
    double best = 0;
    if (!is_gpu(device)) return 0;
    check(cudaSetDevice(atoi(device + 5)), "the device");
    char *const from = (char *)csaw__device_pin(bytes);
    if (!from) return 0;
    memset(from, 1, bytes);
    void *to = nullptr;
    check(cudaMalloc(&to, bytes), "device memory");
    for (int i = 0; i < 12; i++) {
        const double start = now();
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, 0), "a copy");
        check(cudaStreamSynchronize(0), "a copy");
        const double rate = (double)bytes / (now() - start);
        best = rate > best ? rate : best;
    }
    cudaFree(to);
    csaw__device_unpin(from);
    return best;
}

const char *parts_device_name(const char *device) {
    static cudaDeviceProp props;
    if (!is_gpu(device) || cudaGetDeviceProperties(&props, atoi(device + 5)) != cudaSuccess) return device;
    return props.name;
}
