/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_reducer.cu - kernels of a reducer compiled at run time: NVRTC's cubins, of one kernel each,
 * loaded by the CUDA runtime when csaw_spmm() first asks for them. */
#include "runtime/engine/device_reducer.h"

#include <pthread.h>

#include "runtime/base/device_status.h"
#include "runtime/base/memory.h"
#include "runtime/engine/nvrtc.h"

struct reducer_kernel { /* of one architecture */
    int number, architecture;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    reducer_kernel *next;
};

struct reducer_kernels {
    csaw__device_reducer hooks; /* first: find() knows the others by it */
    csaw__source *source;
    pthread_mutex_t lock;
    reducer_kernel *list;
};

static csaw_status load(reducer_kernels *kernels, reducer_kernel *fresh) {
    const void *cubin = nullptr;
    size_t size = 0;
    CSAW_TRY(
        csaw__nvrtc_make(kernels->source, csaw__reducer_ending(fresh->number), fresh->architecture, &cubin, &size));
    CSAW_CUDA(cudaLibraryLoadData(&fresh->library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CSAW_CUDA(cudaLibraryEnumerateKernels(&fresh->kernel, 1, fresh->library));
    return CSAW_OK;
}

static void free_kernel(reducer_kernel *kernel) {
    if (kernel->library) cudaLibraryUnload(kernel->library);
    csaw__free(kernel);
}

static csaw_status find_locked(reducer_kernels *kernels, int number, int architecture, const void **function) {
    reducer_kernel *found = kernels->list, *fresh = nullptr;
    while (found && (found->number != number || found->architecture != architecture)) found = found->next;
    if (!found) {
        CSAW_TRY(csaw__alloc_zero(&fresh, 1, "a kernel of a reducer"));
        fresh->number = number;
        fresh->architecture = architecture;
        const csaw_status status = load(kernels, fresh);
        if (status != CSAW_OK) {
            free_kernel(fresh);
            return status;
        }
        fresh->next = kernels->list;
        kernels->list = found = fresh;
    }
    *function = (const void *)found->kernel;
    return CSAW_OK;
}

static int find(const csaw__device_reducer *self, int kernel, int ordinal, const void **function) {
    reducer_kernels *const kernels = (reducer_kernels *)self;
    int major = 0, minor = 0;
    CSAW_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
    CSAW_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
    pthread_mutex_lock(&kernels->lock);
    const csaw_status status = find_locked(kernels, kernel, 10 * major + minor, function);
    pthread_mutex_unlock(&kernels->lock);
    return status;
}

csaw_status csaw__reducer_kernels_create(csaw__source *source, const csaw__device_reducer **out) {
    reducer_kernels *kernels = nullptr;
    CSAW_TRY(csaw__alloc_zero(&kernels, 1, "kernels of a reducer"));
    kernels->hooks.find = find;
    kernels->source = source;
    pthread_mutex_init(&kernels->lock, nullptr);
    *out = &kernels->hooks;
    return CSAW_OK;
}

void csaw__reducer_kernels_free(const csaw__device_reducer *of) {
    reducer_kernels *const kernels = (reducer_kernels *)of;
    if (!kernels) return;
    while (reducer_kernel *kernel = kernels->list) {
        kernels->list = kernel->next;
        free_kernel(kernel);
    }
    pthread_mutex_destroy(&kernels->lock);
    csaw__free(kernels);
}
