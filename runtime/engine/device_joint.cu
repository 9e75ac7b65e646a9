/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_joint.cu - see device_joint.h. The driver's functions are looked up when they are first needed,
 * so that the library is not linked with the driver.
 *
 * An array is cut into equal pieces, as many as there are GPUs; of small ones there are fewer, since a GPU maps 2 MiB
 * at least. Whose piece comes first goes round, unless they are to be aligned, so that small arrays do not all lie on
 * the first GPU. */
#include "runtime/engine/device_joint.h"

#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "runtime/base/memory.h"
#include "runtime/engine/device_private.h"

namespace {

enum { MOST_ARRAYS = 8 /* of a graph 4, of its tables 3 */ };

struct driver {
    decltype(&cuMemGetAllocationGranularity) granularity;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) unreserve;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) allow;
    decltype(&cuGetErrorString) text;
};

struct joint_array {
    CUdeviceptr at; /* 0: none */
    uint64_t piece; /* bytes of each, but perhaps the last */
    uint64_t bytes; /* all that is mapped */
    uint32_t first; /* whose piece comes first; then the others in turn */
};

} // namespace

struct csaw__joint {
    uint32_t count;
    int ordinal[CSAW__MOST_GPUS];
    driver call;
    uint64_t granule;
    bool aligned;                          /* the first member's piece of every array comes first */
    uint32_t turn;                         /* else whose piece of the next array does */
    csaw__device *device[CSAW__MOST_GPUS]; /* that have a pool, [count] */
    joint_array array[MOST_ARRAYS];
    csaw__rows rows; /* the graph's arrays */
};

namespace {

template <typename F> csaw_status find(const char *name, F *out) {
    void *at = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    CSAW_CUDA(cudaGetDriverEntryPointByVersion(name, &at, 12000, cudaEnableDefault, &found));
#else
    CSAW_CUDA(cudaGetDriverEntryPoint(name, &at, cudaEnableDefault, &found));
#endif
    CSAW_REQUIRE(found == cudaDriverEntryPointSuccess && at, CSAW_EUNSUPPORTED,
                 "the driver has no %s, which maps memory of several GPUs; install a newer one, or leave split out",
                 name);
    *out = (F)at;
    return CSAW_OK;
}

csaw_status find_all(driver *d) {
    CSAW_TRY(find("cuMemGetAllocationGranularity", &d->granularity));
    CSAW_TRY(find("cuMemAddressReserve", &d->reserve));
    CSAW_TRY(find("cuMemAddressFree", &d->unreserve));
    CSAW_TRY(find("cuMemCreate", &d->create));
    CSAW_TRY(find("cuMemRelease", &d->release));
    CSAW_TRY(find("cuMemMap", &d->map));
    CSAW_TRY(find("cuMemUnmap", &d->unmap));
    CSAW_TRY(find("cuMemSetAccess", &d->allow));
    return find("cuGetErrorString", &d->text);
}

csaw_status check(const csaw__joint *joint, CUresult result, const char *what) {
    const char *text = nullptr;
    if (result == CUDA_SUCCESS) return CSAW_OK;
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return csaw__fail(CSAW_EDEVMEM, "%s: out of device memory", what);
    if (joint->call.text(result, &text) != CUDA_SUCCESS || !text) text = "an unknown error";
    return csaw__fail(CSAW_ECUDA, "%s: %s", what, text);
}

CUmemAllocationProp on_gpu(int ordinal) {
    CUmemAllocationProp out;
    memset(&out, 0, sizeof out);
    out.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    out.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    out.location.id = ordinal;
    return out;
}

csaw_status find_granule(csaw__joint *joint) {
    joint->granule = 1;
    for (uint32_t i = 0; i < joint->count; i++) {
        const CUmemAllocationProp props = on_gpu(joint->ordinal[i]);
        size_t granule = 0;
        CSAW_TRY(
            check(joint, joint->call.granularity(&granule, &props, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "a granule"));
        joint->granule = granule > joint->granule ? granule : joint->granule;
    }
    return CSAW_OK;
}

/* ---- arrays ---- */

/* What the member keeps for later is the driver's again. */
void trim(const csaw__joint *joint, uint32_t member) {
    csaw__device *const device = joint->device[member];
    int current = 0;
    cudaGetDevice(&current);
    cudaSetDevice(joint->ordinal[member]);
    if (device) csaw__device_give_up(device);
    cudaDeviceSynchronize();
    if (device) cudaMemPoolTrimTo(device->pool, 0);
    cudaSetDevice(current);
    cudaGetLastError(); /* whoever launched what failed has told */
}

/* The next piece of so many bytes, on that member's GPU. */
csaw_status add_piece(const csaw__joint *joint, joint_array *array, uint64_t bytes, uint32_t member) {
    const int ordinal = joint->ordinal[member];
    const CUmemAllocationProp props = on_gpu(ordinal);
    CUmemGenericAllocationHandle memory;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (csaw__alloc_allowed()) {
        result = joint->call.create(&memory, bytes, &props, 0);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            trim(joint, member);
            result = joint->call.create(&memory, bytes, &props, 0);
        }
    }
    CSAW_REQUIRE(result != CUDA_ERROR_OUT_OF_MEMORY, CSAW_EDEVMEM, "cuda:%d has none left for %.1f MiB", ordinal,
                 (double)bytes / 1048576);
    CSAW_TRY(check(joint, result, "memory of a GPU"));
    const CUresult mapped = joint->call.map(array->at + array->bytes, bytes, 0, memory, 0);
    joint->call.release(memory); /* it stays as long as it is mapped */
    CSAW_TRY(check(joint, mapped, "mapping memory of a GPU"));
    array->bytes += bytes;
    return CSAW_OK;
}

csaw_status allow_all(const csaw__joint *joint, const joint_array *array) {
    CUmemAccessDesc access[CSAW__MOST_GPUS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < joint->count; i++) {
        bool known = false;
        for (uint32_t k = 0; k < count; k++) known = known || access[k].location.id == joint->ordinal[i];
        if (!known) access[count++] = {on_gpu(joint->ordinal[i]).location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    }
    return check(joint, joint->call.allow(array->at, array->bytes, access, count), "access to memory of other GPUs");
}

/* Kernels that may read it have ended. */
void drop(const csaw__joint *joint, joint_array *array) {
    if (!array->at) return;
    for (uint64_t done = 0; done < array->bytes; done += array->piece) {
        const uint64_t left = array->bytes - done;
        joint->call.unmap(array->at + done, left < array->piece ? left : array->piece);
    }
    joint->call.unreserve(array->at, array->piece * joint->count);
    *array = {};
}

/* NULL: the first that is not taken. */
joint_array *array_at(csaw__joint *joint, const void *at) {
    for (joint_array &array : joint->array)
        if (array.at == (CUdeviceptr)at) return &array;
    return nullptr;
}

uint64_t up_to(uint64_t bytes, uint64_t granule) { return (bytes + granule - 1) / granule * granule; }

csaw_status fill_range(const csaw__joint *joint, joint_array *array, uint64_t bytes) {
    const uint64_t all = up_to(bytes ? bytes : 1, joint->granule);
    array->piece = up_to(all / joint->count + (all % joint->count != 0), joint->granule);
    CSAW_TRY(
        check(joint, joint->call.reserve(&array->at, array->piece * joint->count, 0, 0, 0), "a range of addresses"));
    for (uint32_t i = 0; array->bytes < all; i++) {
        const uint64_t left = all - array->bytes;
        CSAW_TRY(add_piece(joint, array, left < array->piece ? left : array->piece, (array->first + i) % joint->count));
    }
    return allow_all(joint, array);
}

csaw_status take(csaw__joint *joint, uint64_t bytes, const char *what, void **out) {
    joint_array *const array = array_at(joint, nullptr);
    CSAW_REQUIRE(array, CSAW_EINVAL, "%d arrays in memory of several GPUs, and one more for %s", (int)MOST_ARRAYS,
                 what);
    array->first = joint->turn;
    const csaw_status status = fill_range(joint, array, bytes);
    if (status != CSAW_OK) {
        char before[256];
        snprintf(before, sizeof before, "%s", csaw_last_error());
        drop(joint, array);
        if (status != CSAW_EDEVMEM) return csaw__fail(status, "%s", before);
        return csaw__fail(status, "no memory of %u GPUs together for %s, %.1f MiB: %s; list more GPUs", joint->count,
                          what, (double)bytes / 1048576, before);
    }
    if (!joint->aligned) joint->turn = (joint->turn + 1) % joint->count;
    *out = (void *)array->at;
    return CSAW_OK;
}

/* No GPU reads any of it. */
void wait_for_all(const csaw__joint *joint) {
    int current = 0;
    cudaGetDevice(&current);
    for (uint32_t i = 0; i < joint->count; i++) {
        cudaSetDevice(joint->ordinal[i]);
        cudaDeviceSynchronize();
    }
    cudaSetDevice(current);
    cudaGetLastError(); /* whoever launched what failed has told */
}

/* ---- opening ---- */

csaw_status take_graph(csaw__joint *joint, const csaw_csr *csr) {
    const uint64_t arcs = csr->num_edges;
    csaw__rows *const rows = &joint->rows;
    CSAW_TRY(take(joint, arcs * sizeof *csr->col, "arcs", (void **)&rows->col));
    if (csr->weight) CSAW_TRY(take(joint, arcs * sizeof *csr->weight, "weights", (void **)&rows->weight));
    if (csr->type) CSAW_TRY(take(joint, arcs * sizeof *csr->type, "types", (void **)&rows->type));
    if (csr->time) CSAW_TRY(take(joint, arcs * sizeof *csr->time, "times", (void **)&rows->time));
    return CSAW_OK;
}

csaw_status open(csaw__joint *joint, const csaw_csr *csr) {
    for (uint32_t i = 0; i < joint->count; i++) {
        CSAW_TRY(csaw__device_use(joint->ordinal[i]));
        CSAW_CUDA(cudaFree(nullptr)); /* the driver's functions want a context */
    }
    CSAW_TRY(find_all(&joint->call));
    CSAW_TRY(find_granule(joint));
    return take_graph(joint, csr);
}

} // namespace

extern "C" csaw_status csaw__joint_reaches(const int *ordinal, uint32_t count, bool *all, int *reader, int *holder) {
    *all = true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            int reads = 1;
            if (ordinal[i] != ordinal[k]) CSAW_CUDA(cudaDeviceCanAccessPeer(&reads, ordinal[i], ordinal[k]));
            if (reads) continue;
            *all = false;
            *reader = ordinal[i];
            *holder = ordinal[k];
        }
    return CSAW_OK;
}

extern "C" csaw_status csaw__joint_open(const csaw_csr *csr, const int *ordinal, uint32_t count, bool aligned,
                                        csaw__joint **out) {
    csaw__joint *joint = nullptr;
    CSAW_TRY(csaw__alloc_zero(&joint, 1, "memory of several GPUs"));
    joint->count = count;
    joint->aligned = aligned;
    memcpy(joint->ordinal, ordinal, count * sizeof *ordinal);
    const csaw_status status = open(joint, csr);
    if (status == CSAW_OK)
        *out = joint;
    else
        csaw__joint_close(joint);
    return status;
}

extern "C" void csaw__joint_close(csaw__joint *joint) {
    if (!joint) return;
    wait_for_all(joint);
    for (joint_array &array : joint->array) drop(joint, &array);
    csaw__free(joint);
}

/* ---- what its devices ask ---- */

const csaw__rows *csaw__joint_rows(const csaw__joint *joint) { return &joint->rows; }

void csaw__joint_know(csaw__device *device) { device->joint->device[device->member] = device; }

csaw_status csaw__joint_put(csaw__device *device, const void *to, const void *from, uint64_t bytes) {
    csaw__joint *const joint = device->joint;
    const joint_array *const array = array_at(joint, to);
    const csaw__joint_piece piece =
        csaw__joint_piece_of(bytes, array->piece, joint->count, array->first, device->member);
    return csaw__device_put(device, (char *)array->at + piece.begin, (const char *)from + piece.begin, piece.bytes);
}

csaw_status csaw__joint_get(csaw__device *device, void *to, const void *from, uint64_t bytes) {
    const joint_array *const array = array_at(device->joint, from);
    for (uint64_t done = 0; done < bytes; done += array->piece) { /* a copy reads the memory of one GPU */
        const uint64_t left = bytes - done, some = left < array->piece ? left : array->piece;
        CSAW_CUDA(
            cudaMemcpyAsync((char *)to + done, (const char *)from + done, some, cudaMemcpyDefault, device->stream));
    }
    return CSAW_OK;
}

csaw_status csaw__device_alloc_joint(csaw__device *device, void **out, uint64_t bytes, const char *what) {
    return device->joint ? take(device->joint, bytes, what, out) : csaw__device_alloc(device, out, bytes, what);
}

void csaw__device_free_joint(csaw__device *device, void *memory) {
    if (!device->joint) return csaw__device_free(device, memory);
    if (!memory) return;
    joint_array *const array = array_at(device->joint, memory);
    wait_for_all(device->joint);
    if (array) drop(device->joint, array);
}
