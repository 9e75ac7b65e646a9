// SPDX-License-Identifier: MIT
// fuzz/load_gr.cc - csaw_graph_load() with format "gr".
#include "load.h"

CSAW_FUZZ("gr", nullptr)
