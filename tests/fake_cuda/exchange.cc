// SPDX-License-Identifier: MIT
// tests/fake_cuda/exchange.cc - walkers exchanged between GPUs, against the fake CUDA: the library's own code, compiled
// here.
#include <functional>
#include <utility>

#include "tests/fake_cuda/launch.h"

#include "runtime/engine/device_exchange.cu"

csaw_status csaw__library_take(csaw__library **, const csaw_sampler *, int) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
csaw_status csaw__library_launch(csaw__library *, int, unsigned, unsigned, void *, const csaw__job *) {
    return csaw__fail(CSAW_EUNSUPPORTED, "a fake GPU has no NVRTC");
}
void csaw__library_free(csaw__library *) {}
