// SPDX-License-Identifier: MIT
// tests/fake_cuda/pinned.cc - for programs of which no other file includes it.
#include "tests/fake_cuda/pinned.h"
