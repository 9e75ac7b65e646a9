/* SPDX-License-Identifier: MIT */
/* runtime/base/generate_weights.h - random weights for a generated graph. */
#ifndef CSAW_BASE_GENERATE_WEIGHTS_H
#define CSAW_BASE_GENERATE_WEIGHTS_H

#include "runtime/base/status.h"

/* The same for both arcs of a pair, uniform on the 2^23 floats 1, 1 + 2^-21, ... below 5, all exact. csr must be the
 * caller's and have no weights. */
csaw_status csaw__generate_weights(uint64_t seed, csaw_csr *csr);

#endif
