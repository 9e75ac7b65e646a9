// SPDX-License-Identifier: MIT
// fuzz/load_any.cc - csaw_graph_load() that finds the format itself, gzip and xz included.
#include "load.h"

CSAW_FUZZ(nullptr, "src,dst,time")
