/* SPDX-License-Identifier: MIT */
/* bench/loader_device.cu - see loader_device.h. */
#include "bench/loader_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>
#include <dlfcn.h>

static void must_cuda(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "loader_bench: %s\n", cudaGetErrorString(error));
    exit(1);
}

void loader_device_use(const char *device) {
    const char *const number = strchr(device, ':');
    must_cuda(cudaSetDevice(number ? atoi(number + 1) : 0));
}

void *loader_device_take(uint64_t bytes) {
    void *out = nullptr;
    must_cuda(cudaMalloc(&out, bytes ? bytes : 1));
    return out;
}

void *loader_device_take_pinned(uint64_t bytes) {
    void *out = nullptr;
    must_cuda(cudaMallocHost(&out, bytes ? bytes : 1));
    return out;
}

void loader_device_give(void *memory) {
    cudaPointerAttributes of;
    if (!memory) return;
    must_cuda(cudaPointerGetAttributes(&of, memory));
    must_cuda(of.type == cudaMemoryTypeHost ? cudaFreeHost(memory) : cudaFree(memory));
}

void loader_device_copy(void *to, const void *from, uint64_t bytes) {
    must_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

void loader_device_wait(void) { must_cuda(cudaStreamSynchronize(nullptr)); }

/* ---- NVML, whose library comes with the driver; as its header has them ---- */

namespace {

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml {
    int (*init)();
    int (*find)(const char *pci_bus_id, void **device);
    int (*utilization)(void *device, nvml_utilization *out);
    void *device;
    bool ready;
};

template <typename F> bool find(void *library, const char *name, F *out) {
    *out = (F)dlsym(library, name);
    return *out;
}

nvml open_nvml() {
    nvml out = {};
    char bus[32];
    int ordinal = 0;
    void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    must_cuda(cudaGetDevice(&ordinal));
    must_cuda(cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal));
    out.ready = library && find(library, "nvmlInit_v2", &out.init) &&
                find(library, "nvmlDeviceGetHandleByPciBusId_v2", &out.find) &&
                find(library, "nvmlDeviceGetUtilizationRates", &out.utilization) && out.init() == 0 &&
                out.find(bus, &out.device) == 0;
    return out;
}

} // namespace

double loader_device_busy(void) {
    static const nvml library = open_nvml();
    nvml_utilization now = {};
    if (!library.ready || library.utilization(library.device, &now) != 0) return -1;
    return now.gpu / 100.0;
}
