// SPDX-License-Identifier: MIT
// tests/fake_cuda/engine.cc - what the GPU's side of partitions calls of the GPU engine, where there is none.
#include "tests/fake_cuda/pinned.h"

#include "runtime/engine/device_parts.h"

uint64_t csaw__device_peak(const csaw__device *) { return 0; }
void csaw__cuda_drop_samples(csaw__parts *) {}
void csaw__leave_free(csaw__cuda_parts *) {}
csaw_status csaw__library_take(csaw__library **, const csaw_sampler *, int) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
csaw_status csaw__library_launch(csaw__library *, int, unsigned, unsigned, void *, const csaw__job *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
void csaw__library_free(csaw__library *) {}
