// SPDX-License-Identifier: MIT
// fuzz/load_csaw.cc - csaw_graph_load() with format "csaw".
#include "load.h"

CSAW_FUZZ("csaw", nullptr)
