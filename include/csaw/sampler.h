/* SPDX-License-Identifier: MIT */
/* csaw/sampler.h - what a sampler file includes, and all that it needs to include.
 *
 * One .c file, compiled unchanged as C11 for the CPU and as CUDA C++ for the GPU (by nvcc when built, by
 * NVRTC at run time). Stay in the common subset: cast void *, no recursion, no globals, no malloc.
 * Hooks are pure: they read the site and the arc through the functions below and return a value. For equal
 * bits on every machine use + - * / sqrt, comparisons and csaw_exp, csaw_log, csaw_pow; libm's own
 * functions differ between CPU and GPU.
 *
 *   #include <csaw/sampler.h>
 *
 *   CSAW_PARAMS(my_params, (float, p, 1, p > 0, "return parameter"), (float, q, 1, q > 0, "in-out parameter"));
 *
 *   CSAW_FN float hop(const csaw_site *site, const csaw_arc *arc) {
 *       const my_params *n = (const my_params *)csaw_params(site);
 *       if (csaw_prev(site) == CSAW_NONE) return 1;
 *       if (arc->dst == csaw_prev(site)) return 1 / n->p;
 *       return csaw_adjacent(site, arc) ? 1 : 1 / n->q;
 *   }
 *
 *   CSAW_SAMPLER(my_node2vec, my_params, .static_bias = csaw_weight, .edge_bias = hop,
 *                .flags = CSAW_SECOND_ORDER);
 */
#ifndef CSAW_SAMPLER_H
#define CSAW_SAMPLER_H

#include "descriptor.h"
#include "math.h"
#include "philox.h"
#include "types.h"

typedef struct csaw_site csaw_site; /* where an instance stands; read it through the functions below */

typedef struct csaw_arc {
    csaw_vertex src, dst;
    float weight;       /* 1 if the graph has no weights */
    uint32_t type;      /* 0 if the graph has no edge types */
    int64_t time;       /* 0 if the graph has no timestamps */
    uint32_t rank;      /* place in src's row */
    csaw_edge id;       /* place in the CSR */
    uint32_t near_prev; /* the engine's own */
} csaw_arc;

CSAW_FN const void *csaw_params(const csaw_site *site); /* the run's parameters */
CSAW_FN csaw_vertex csaw_at(const csaw_site *site);     /* the vertex that the instance stands at */
CSAW_FN csaw_vertex csaw_prev(const csaw_site *site);   /* the one before; CSAW_NONE on the first step */
CSAW_FN csaw_vertex csaw_root(const csaw_site *site);   /* the seed vertex */
CSAW_FN uint32_t csaw_depth(const csaw_site *site);     /* 0 on the first step */
CSAW_FN uint64_t csaw_instance(const csaw_site *site);  /* number of the walk */
CSAW_FN uint32_t csaw_num_vertices(const csaw_site *site);
CSAW_FN uint32_t csaw_degree(const csaw_site *site, csaw_vertex v); /* out-degree; 0 of CSAW_NONE */
/* Is arc->dst a neighbour of csaw_prev()? Needs CSAW_SECOND_ORDER; false on the first step. For edge_bias and update.
 */
CSAW_FN bool csaw_adjacent(const csaw_site *site, const csaw_arc *arc);
/* The instance's own bytes (user_bytes of them, all 0 at the seed), which travel with it. Only update and dead_end may
 * write. */
CSAW_FN void *csaw_user(const csaw_site *site);
/* The n-th 64-bit number of this (instance, depth, vertex), n < 2^28; and of this arc as well, n < 2. */
CSAW_FN uint64_t csaw_random(const csaw_site *site, uint32_t n);
CSAW_FN uint64_t csaw_random_arc(const csaw_site *site, const csaw_arc *arc, uint32_t n);

/* What a sampler says of itself. */
enum {
    CSAW_MAX_USER_BYTES = 32,
    CSAW_SECOND_ORDER = 1 /* edge_bias calls csaw_adjacent(), or treats the arc back to prev apart */
};

/* Every hook is optional; the comment says what stands in for it. A bias is >= 0 and finite, in any unit.
 * The bias of an arc is static_bias * edge_bias. Keep this order in initialisers: CUDA C++ asks for it. */
typedef struct csaw_hooks {
    float (*static_bias)(const csaw_site *, const csaw_arc *);  /* 1; may use the arc and params alone */
    float (*edge_bias)(const csaw_site *, const csaw_arc *);    /* 1; may use all of the site as well */
    csaw_vertex (*update)(const csaw_site *, const csaw_arc *); /* arc->dst; CSAW_NONE ends the walk */
    csaw_vertex (*dead_end)(const csaw_site *);                 /* CSAW_NONE: the walk ends */
    csaw_bounds (*bounds)(const void *params);                  /* of edge_bias; enables rejection */
    uint32_t flags;                                             /* CSAW_SECOND_ORDER */
    uint32_t user_bytes;                                        /* 0; at most CSAW_MAX_USER_BYTES */
} csaw_hooks;

/* Ready-made static bias: the arc's weight. On a graph without weights it costs nothing. */
CSAW_FN float csaw_weight(const csaw_site *site, const csaw_arc *arc) {
    (void)site;
    return arc->weight;
}

/* Parameters of a sampler that has none. */
typedef struct csaw_no_params {
    char unused;
} csaw_no_params;
#if !defined(__CUDACC__)
static const csaw_param csaw_no_params_table[1] = {{0, CSAW_TYPE_FLOAT, 0, 0, 0, 0, 0}};
#endif

/* ---- the engine's own -------------------------------------------------------
 * A sampler file is compiled inside a two-line file that includes it and then the engine's header, which
 * defines the functions declared here; so the hooks inline into the engine's loops. */

#if defined(__CUDACC__)
#define CSAW_SAMPLER(NAME, PARAMS, ...)                      \
    static constexpr csaw_hooks csaw__hooks = {__VA_ARGS__}; \
    typedef PARAMS csaw__params_type;                        \
    CSAW__EXPORT_DEVICE(NAME)
#ifdef __CUDACC_RTC__
#define CSAW__EXPORT_DEVICE(NAME) static_assert(sizeof(#NAME) > 1, "a sampler needs a name")
#else
#define CSAW__EXPORT_DEVICE(NAME)                                                                                      \
    static int csaw__launch(int kernel, unsigned blocks, unsigned threads, void *stream, const struct csaw__job *job); \
    extern "C" const csaw__device_sampler NAME##__device;                                                              \
    extern "C" const csaw__device_sampler NAME##__device = {csaw__launch}
#endif
#else
static uint32_t csaw__traits(void);
static csaw_bounds csaw__bounds(const void *params);
static void csaw__tabulate(const struct csaw__job *job, csaw_vertex first, csaw_vertex count, float *out);
static void csaw__walk(const struct csaw__job *job, uint64_t first, uint64_t count, struct csaw__fault *fault);
static int csaw__step(const struct csaw__job *job, struct csaw__walker *walker, const uint8_t *answer,
                      struct csaw__fault *fault);
static int csaw__check(const struct csaw__job *job, const struct csaw__walker *walker, struct csaw__fault *fault);
#ifdef CSAW__WITH_DEVICE
#define CSAW__DEVICE_OF(NAME) &NAME##__device
#define CSAW__DECLARE_DEVICE(NAME) extern const csaw__device_sampler NAME##__device;
#else
#define CSAW__DEVICE_OF(NAME) 0
#define CSAW__DECLARE_DEVICE(NAME)
#endif
#ifdef CSAW__RUNTIME /* compiled by csaw_sampler_compile(), which finds the sampler under this one name */
#define CSAW__EXPORT_RUNTIME(NAME)                                    \
    extern CSAW__API const csaw_sampler *const csaw__runtime_sampler; \
    const csaw_sampler *const csaw__runtime_sampler = &NAME;
#else
#define CSAW__EXPORT_RUNTIME(NAME)
#endif
#define CSAW_SAMPLER(NAME, PARAMS, ...)                                                                         \
    static const csaw_hooks csaw__hooks = {__VA_ARGS__};                                                        \
    CSAW__DECLARE_DEVICE(NAME)                                                                                  \
    extern CSAW__API const csaw_sampler NAME;                                                                   \
    CSAW__EXPORT_RUNTIME(NAME)                                                                                  \
    const csaw_sampler NAME = {CSAW__ABI,      sizeof(PARAMS), sizeof(PARAMS##_table) / sizeof(csaw_param) - 1, \
                               PARAMS##_table, #NAME,          csaw__traits,                                    \
                               csaw__bounds,   csaw__tabulate, csaw__walk,                                      \
                               csaw__step,     csaw__check,    CSAW__DEVICE_OF(NAME)}
#define CSAW__API __attribute__((visibility("default")))
#endif

#endif
