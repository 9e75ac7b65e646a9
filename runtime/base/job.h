/* SPDX-License-Identifier: MIT */
/* runtime/base/job.h - what a kernel is given: a view of the graph (all of it, or one partition), the run's constants,
 * and where results go. Plain data, the same bytes for the C compiler, nvcc and NVRTC. */
#ifndef CSAW_BASE_JOB_H
#define CSAW_BASE_JOB_H

#include <csaw/types.h>

#define CSAW__MAX_PARAMS 256 /* bytes of a sampler's parameter struct */

/* 16-byte records are read whole by one instruction. */
#if defined(__CUDACC__)
#define CSAW__ALIGN16 __align__(16)
#else
#define CSAW__ALIGN16 __attribute__((aligned(16)))
#endif

/* Entry of an alias table: below the threshold the arc itself, else another arc of the row. CSAW_NONE as dst marks a
 * row without any positive bias. */
typedef struct CSAW__ALIGN16 csaw__alias {
    uint32_t threshold;
    csaw_vertex own, other; /* destinations */
    uint32_t other_rank;
} csaw__alias;

/* Sum and maximum of a row's static biases, in the biases' own unit; both 0 where no bias is positive. */
typedef struct CSAW__ALIGN16 csaw__row_bias {
    double total, top;
} csaw__row_bias;

/* Rows first .. first + count - 1 of a graph. */
typedef struct csaw__rows {
    const void *offset;       /* [count + 1]: uint64_t if wide, else uint32_t; place of each row in the arrays below */
    const csaw_vertex *col;   /* [offset[count]] */
    const float *weight;      /* [offset[count]], NULL = all 1 */
    const uint32_t *type;     /* [offset[count]], NULL = all 0 */
    const int64_t *time;      /* [offset[count]], NULL = all 0 */
    const csaw__alias *alias; /* [offset[count]], NULL unless the method needs it */
    const csaw__row_bias *bias; /* [count], NULL unless the method needs it */
    csaw_edge first_arc;        /* id of col[0] */
    csaw_vertex first, count;
    uint32_t wide;
} csaw__rows;

/* What kernels exist. A selection method is one or two of them. */
enum csaw__kernel {
    CSAW__KERNEL_UNIFORM,
    CSAW__KERNEL_ITS,
    CSAW__KERNEL_RACE,
    CSAW__KERNEL_ALIAS,
    CSAW__KERNEL_REJECT,       /* proposals are uniform: static_bias is constant on this graph */
    CSAW__KERNEL_REJECT_ALIAS, /* proposals by alias table */
    CSAW__KERNEL_REJECT_REST,  /* GPU: finish the walks that REJECT left undecided */
    CSAW__KERNEL_REJECT_ALIAS_REST,
    CSAW__KERNEL_FANOUTS, /* GPU: how many arcs each vertex of a frontier gets */
    CSAW__KERNEL_EXPAND,  /* GPU: which; plus the kernel of the method */
    CSAW__NUM_KERNELS = CSAW__KERNEL_EXPAND + CSAW__KERNEL_REJECT_ALIAS + 1
};

/* The vertices of a frontier on the GPU, of all instances at one depth, and where their picks go. */
typedef struct csaw__wave {
    uint64_t first, count; /* entries to expand: first .. count - 1 */
    uint64_t instance;     /* of owner 0 */
    uint32_t depth;
    const csaw_vertex *at, *prev; /* [count] */
    const uint32_t *owner;        /* [count], ascending */
    const csaw_vertex *root;      /* [owners] */
    uint32_t *fanout;             /* [count] */
    uint64_t *room, *need;        /* [count]: places for picks, at least 1; words of memory to pick them in */
    const uint64_t *offset;       /* [count + 1]: sums of room */
    const uint64_t *work_offset;  /* [count + 1]: sums of need */
    uint64_t *work;               /* from work_offset[first] on */
    uint32_t *got;                /* [count] */
    csaw_vertex *src, *dst;       /* [offset[count]] */
    csaw_edge *edge;
    csaw_vertex *next;                 /* [offset[count]]: where updates and dead ends lead, CSAW_NONE elsewhere */
    uint32_t *from;                    /* [offset[count]]: the entry, where next is given */
    const unsigned long long *visited; /* [visited_mask + 1]: owner << 32 | vertex, all ones = free; NULL without it */
    uint64_t visited_mask;
} csaw__wave;

enum csaw__trait { /* what csaw__traits() of a sampler says */
                   CSAW__TRAIT_STATIC = 1,
                   CSAW__TRAIT_WEIGHT = 2, /* static_bias is csaw_weight */
                   CSAW__TRAIT_EDGE = 4,
                   CSAW__TRAIT_BOUNDS = 8,
                   CSAW__TRAIT_SECOND_ORDER = 16,
                   CSAW__TRAIT_USER = 32,   /* has bytes of its own */
                   CSAW__TRAIT_FANOUT = 64, /* decides its fanout */
                   CSAW__TRAIT_SIZE = 128,  /* has a frontier_size */
                   CSAW__TRAIT_VERTEX = 256,
                   CSAW__TRAIT_UPDATE = 512,
                   CSAW__TRAIT_DEAD_END = 1024
};

enum { CSAW__TRAIT_FLAGS = 16 }; /* csaw_hooks.flags stand this many bits up */

typedef struct csaw__job {
    csaw__rows rows;
    const uint32_t *degree; /* [num_vertices]; NULL where rows holds the whole graph */
    csaw_vertex num_vertices;
    uint32_t kernel;    /* csaw__kernel */
    uint32_t length;    /* steps */
    uint32_t fold;      /* REJECT: the graph has no parallel arcs, so the arc back may be folded apart */
    float lo, hi, back; /* REJECT: bounds of edge_bias */
    uint32_t remote;    /* prev's row may be elsewhere: answers come with the arc */
    uint64_t seed;
    const uint32_t *fanout;   /* [length], NULL = 1; CSAW_ALL = every arc */
    uint32_t replace;         /* picks of one vertex are independent */
    const csaw_vertex *roots; /* [num_roots]; NULL = root r is vertex r */
    uint64_t num_roots;
    const uint64_t
        *seed_offset; /* samples: [num_roots + 1], pool r is roots[seed_offset[r] ..]; NULL = one seed each */
    uint64_t first;   /* instance of walk 0 of this job */
    uint64_t num_walks;
    csaw_vertex *path;         /* host: [num_walks, length + 1] row-major; device: [length + 1, num_walks] */
    csaw_edge *edge;           /* host: [num_walks, length]; device: [length, num_walks]; NULL = not kept */
    unsigned long long *fault; /* device: lowest (instance << 24 | depth) at which a hook broke its rules */
    /* host: csaw__numbers(), so that samplers compiled elsewhere use the library's */
    void (*numbers)(uint64_t seed, const uint32_t *const word[4], uint32_t count, uint64_t *even, uint64_t *odd);
    unsigned long long *rest;     /* device: [num_walks] walks left undecided by REJECT, walk << 24 | depth */
    unsigned long long *num_rest; /* device: how many */
    const float *tabulated;       /* check: static biases of rows, as tabulated; NULL = none */
    csaw__wave wave;              /* device: CSAW__KERNEL_FANOUTS, CSAW__KERNEL_EXPAND */
    unsigned char params[CSAW__MAX_PARAMS];
} csaw__job;

/* Where the search for a key (owner << 32 | vertex) begins in a hash table on the GPU. */
CSAW_FN uint64_t csaw__place_of(uint64_t key) {
    key *= 0x9e3779b97f4a7c15u;
    return key >> 32 ^ key >> 20;
}

/* A walk under way, all that travels with it from partition to partition. */
typedef struct csaw__walker {
    uint64_t walk;              /* its number in the job */
    csaw_vertex at, prev, root; /* at == CSAW_NONE: ended */
    uint32_t depth;
    uint32_t attempt;  /* of REJECT; 64 = the row goes to ITS */
    csaw_vertex asked; /* CSAW__ASK_ARC: is this a neighbour of prev? */
    csaw_edge edge;    /* the arc of the last step, or CSAW_NO_EDGE */
    uint64_t user[4];  /* CSAW_MAX_USER_BYTES */
} csaw__walker;

/* What a selection method says of a row. */
enum csaw__picked {
    CSAW__PICKED,
    CSAW__NOTHING,   /* a dead end: no candidate, or every bias 0 */
    CSAW__UNDECIDED, /* REJECT used up its attempts: the row goes to ITS */
    CSAW__ASKS,      /* REJECT needs to know whether the arc's destination is a neighbour of prev */
    CSAW__BROKEN     /* a hook broke its rules */
};

/* What one step came to. */
enum csaw__outcome {
    CSAW__MOVED,   /* walker->at and ->edge are the step's result (at == CSAW_NONE: the walk ended) */
    CSAW__ASK_ARC, /* first answer whether walker->asked is a neighbour of prev (answer[0]) */
    CSAW__ASK_ROW, /* first answer that for every arc of the row (answer[rank]) */
    CSAW__FAULTY   /* a hook broke its rules: see the fault */
};

/* How a hook broke its rules, where. Of several the lowest (instance, depth, edge, src) is reported. */
enum csaw__fault_kind {
    CSAW__FAULT_NONE,
    CSAW__FAULT_STATIC,     /* static_bias negative, infinite or not a number */
    CSAW__FAULT_EDGE,       /* edge_bias likewise */
    CSAW__FAULT_BOUND,      /* edge_bias outside what bounds says */
    CSAW__FAULT_CHANGED,    /* check: static_bias differs from what it was when tabulated */
    CSAW__FAULT_UNDECLARED, /* value: a csaw__asked, of a sampler without the flag for it */
    CSAW__FAULT_VERTEX,     /* update or dead_end returned no vertex of the graph */
    CSAW__FAULT_POOL,       /* vertex_bias negative, infinite or not a number */
    CSAW__FAULT_FANOUT      /* the fanout hook asks for more picks than there are numbers */
};
enum csaw__asked { CSAW__ASKED_PREV = 1, CSAW__ASKED_ADJACENT, CSAW__ASKED_VISITED };
typedef struct csaw__fault {
    uint64_t instance;
    uint32_t depth;
    uint32_t kind; /* csaw__fault_kind */
    csaw_edge edge;
    csaw_vertex src, dst;
    double value, limit; /* limit: the bound or the tabulated value */
} csaw__fault;

#endif
