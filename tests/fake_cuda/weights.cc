// SPDX-License-Identifier: MIT
// tests/fake_cuda/weights.cc - runtime/engine/device_weights.cu against the fake CUDA.
#include "tests/fake_cuda/launch.h"

#include "runtime/engine/device_weights.cu"
