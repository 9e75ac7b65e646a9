// SPDX-License-Identifier: MIT
// fuzz/load_mtx.cc - csaw_graph_load() with format "mtx".
#include "load.h"

CSAW_FUZZ("mtx", nullptr)
