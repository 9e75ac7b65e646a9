// SPDX-License-Identifier: MIT
// fuzz/load_text.cc - csaw_graph_load() with format "text".
#include "load.h"

CSAW_FUZZ("text", "time,src,-,dst,type,weight")
