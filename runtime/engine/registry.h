/* SPDX-License-Identifier: MIT */
/* runtime/engine/registry.h - samplers by name, and their parameters as text. */
#ifndef CSAW_ENGINE_REGISTRY_H
#define CSAW_ENGINE_REGISTRY_H

#include <csaw/descriptor.h>

#include "runtime/base/status.h"

/* Every field meets its condition; else CSAW_EINVAL with value and condition. */
csaw_status csaw__params_check(const csaw_sampler *sampler, const void *params);

#endif
