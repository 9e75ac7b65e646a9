// SPDX-License-Identifier: MIT
// fuzz/load_csv.cc - csaw_graph_load() with format "csv".
#include "load.h"

CSAW_FUZZ("csv", "time,src,-,dst,type,weight")
