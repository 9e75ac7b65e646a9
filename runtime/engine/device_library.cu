/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_library.cu - kernels of a sampler compiled at run time: NVRTC's cubin, loaded by the CUDA
 * runtime. */
#include "runtime/engine/device_library.h"

#include <cuda_runtime.h>

#include "runtime/base/memory.h"
#include "runtime/engine/device_status.h"
#include "runtime/engine/nvrtc.h"

struct csaw__library {
    const csaw_sampler *sampler;
    uint64_t hash; /* csaw_sampler_hash(): another sampler may be loaded at the same address */
    cudaLibrary_t library;
    cudaKernel_t kernel[CSAW__NUM_KERNELS];
};

static csaw_status load(csaw__library *library, const csaw_sampler *sampler, int ordinal) {
    static const char *const name[CSAW__NUM_KERNELS] = {"csaw__kernel_uniform",     "csaw__kernel_its",
                                                        "csaw__kernel_race",        "csaw__kernel_alias",
                                                        "csaw__kernel_reject",      "csaw__kernel_reject_alias",
                                                        "csaw__kernel_reject_rest", "csaw__kernel_reject_alias_rest",
                                                        "csaw__kernel_fanouts",     "csaw__expand_uniform",
                                                        "csaw__expand_its",         "csaw__expand_race",
                                                        "csaw__expand_alias",       "csaw__expand_reject",
                                                        "csaw__expand_reject_alias"};
    int major = 0, minor = 0;
    const void *cubin = nullptr;
    size_t size = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
    CSAW_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
    CSAW_TRY(csaw__nvrtc_cubin(sampler, 10 * major + minor, &cubin, &size));
    CSAW_CUDA(cudaLibraryLoadData(&library->library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
    for (int k = 0; k < CSAW__NUM_KERNELS; k++)
        CSAW_CUDA(cudaLibraryGetKernel(&library->kernel[k], library->library, name[k]));
    library->sampler = sampler;
    return CSAW_OK;
}

csaw_status csaw__library_take(csaw__library **library, const csaw_sampler *sampler, int ordinal) {
    csaw__library *fresh = nullptr;
    const uint64_t hash = csaw_sampler_hash(sampler);
    if (*library && (*library)->sampler == sampler && (*library)->hash == hash) return CSAW_OK;
    CSAW_TRY(csaw__alloc_zero(&fresh, 1, "kernels of a sampler"));
    csaw_status status = load(fresh, sampler, ordinal);
    if (status != CSAW_OK) {
        csaw__library_free(fresh);
        return status;
    }
    fresh->hash = hash;
    csaw__library_free(*library);
    *library = fresh;
    return CSAW_OK;
}

csaw_status csaw__library_launch(const csaw__library *library, int kernel, unsigned blocks, unsigned threads,
                                 void *stream, const csaw__job *job) {
    void *arguments[] = {(void *)job};
    CSAW_CUDA(cudaLaunchKernel((const void *)library->kernel[kernel], dim3(blocks), dim3(threads), arguments, 0,
                               (cudaStream_t)stream));
    return CSAW_OK;
}

void csaw__library_free(csaw__library *library) {
    if (!library) return;
    if (library->library) cudaLibraryUnload(library->library);
    csaw__free(library);
}
