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

/* By weight. No parameters. */
CSAW_API extern const csaw_sampler csaw_biased;

/* By the degree of the neighbour. No parameters. */
CSAW_API extern const csaw_sampler csaw_biased_by_degree;

/* Metropolis-Hastings (Gjoka et al., INFOCOM 2010): the uniform distribution is stationary; a step may stay where it
 * is. No parameters. */
CSAW_API extern const csaw_sampler csaw_metropolis_hastings;

/* With jumps (Avrachenkov, Ribeiro, Towsley, WAW 2010); by weight. Never ends. */
typedef struct csaw_jump_params {
    float jump; /* probability, 0 .. 1, that a step goes to any vertex, all alike; from a dead end it always does */
} csaw_jump_params;
CSAW_API extern const csaw_sampler csaw_jump;

/* With restart (Tong, Faloutsos, Pan, ICDM 2006); by weight. Never ends. */
typedef struct csaw_restart_params {
    float restart; /* probability, 0 .. 1, that a step goes back to the root; from a dead end it always does */
} csaw_restart_params;
CSAW_API extern const csaw_sampler csaw_restart;

/* Personalised PageRank (Fogaras et al., 2005); by weight. Where it stops is drawn from its root's PageRank vector. */
typedef struct csaw_ppr_params {
    float alpha; /* probability, 0 .. 1, of stopping before each step */
} csaw_ppr_params;
CSAW_API extern const csaw_sampler csaw_ppr;

/* Along a repeating sequence of edge types (Dong, Chawla, Swami, KDD 2017); by weight. */
typedef struct csaw_metapath_params {
    uint32_t length;                         /* of the sequence, 1 .. 8 */
    uint32_t t0, t1, t2, t3, t4, t5, t6, t7; /* step d follows an arc of type t[d % length] */
} csaw_metapath_params;
CSAW_API extern const csaw_sampler csaw_metapath;

/* Times never fall along the walk (Nguyen et al., WWW 2018); by weight. */
typedef struct csaw_temporal_params {
    int64_t start;  /* earliest time of the first step; by default any */
    int64_t window; /* >= 0: longest time from one step to the next; 0 = no limit */
} csaw_temporal_params;
CSAW_API extern const csaw_sampler csaw_temporal;

#ifdef __cplusplus
}
#endif
#endif
