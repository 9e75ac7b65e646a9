/* SPDX-License-Identifier: MIT */
/* runtime/engine/fault.h - faults of hooks: the lowest of several, and its message. */
#ifndef CSAW_ENGINE_FAULT_H
#define CSAW_ENGINE_FAULT_H

#include "runtime/base/job.h"
#include "runtime/base/status.h"

void csaw__fault_merge(csaw__fault *into, const csaw__fault *other); /* keeps the lower (instance, depth, edge, src) */
/* CSAW_OK if there is none; else CSAW_EBIAS, naming sampler, instance, depth and edge. */
csaw_status csaw__fault_status(const csaw__fault *fault, const char *sampler);

#endif
