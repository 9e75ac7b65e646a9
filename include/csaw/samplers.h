/* SPDX-License-Identifier: MIT */
/* csaw/samplers.h - the built-in samplers and their parameters. Each is one file in samplers/. */
#ifndef CSAW_SAMPLERS_H
#define CSAW_SAMPLERS_H

#include "csaw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every neighbour equally likely: DeepWalk (Perozzi, Al-Rfou, Skiena, KDD 2014). No parameters. */
CSAW_API extern const csaw_sampler csaw_uniform;

/* Second-order walk (Grover, Leskovec, KDD 2016, section 3.2); with the graph's weights if it has any. */
typedef struct csaw_node2vec_params {
    float p; /* return parameter, > 0: the arc back has factor 1/p */
    float q; /* in-out parameter, > 0: an arc away from prev's neighbours has factor 1/q */
} csaw_node2vec_params;
CSAW_API extern const csaw_sampler csaw_node2vec;

#ifdef __cplusplus
}
#endif
#endif
