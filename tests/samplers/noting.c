/* SPDX-License-Identifier: MIT */
/* tests/samplers/noting.c - notes, where nothing asks for an order. */
#include "noting.h"

CSAW_SAMPLER(noting, noting_params, .fanout = noted);
