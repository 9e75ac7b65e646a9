// SPDX-License-Identifier: MIT
// fuzz/load_npz.cc - csaw_graph_load() with format "npz".
#include "load.h"

CSAW_FUZZ("npz", nullptr)
