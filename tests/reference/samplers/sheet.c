/* SPDX-License-Identifier: MIT */
/* tests/reference/samplers/sheet.c - arcs of a layer, all alike. */
#include <csaw/sampler.h>

CSAW_SAMPLER(sheet, csaw_no_params, .flags = CSAW_LAYER);
