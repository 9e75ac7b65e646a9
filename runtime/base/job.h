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

/* Vertices of one degree, consecutive: the row of v begins at base + (v - first) * degree (degree_classes.h). */
typedef struct CSAW__ALIGN16 csaw__class {
    uint64_t base;
    csaw_vertex first;
    uint32_t degree;
} csaw__class;

/* Rows first .. first + count - 1 of a graph. */
typedef struct csaw__rows {
    const void *offset;       /* [count + 1]: uint64_t if wide, else uint32_t; place of each row in the arrays below */
    const csaw_vertex *col;   /* [offset[count]] */
    const float *weight;      /* [offset[count]], NULL = all 1 */
    const uint32_t *type;     /* [offset[count]], NULL = all 0 */
    const int64_t *time;      /* [offset[count]], NULL = all 0 */
    const csaw__alias *alias; /* [offset[count]], NULL unless the method needs it */
    const csaw__row_bias *bias; /* [count], NULL unless the method needs it */
    const uint64_t *upto;   /* GPU, ITS: [offset[count]], inclusive sums of masses of static_bias, each row by itself;
                               NULL = not stored */
    const uint32_t *filter; /* device: which arcs there may be (arc_filter.h); NULL = not made */
    const csaw_vertex
        *own_col; /* device: col once more, in the GPU's own memory, to search; NULL = col is all there is */
    const csaw__class *classes; /* device: ascending by first; NULL unless vertices stand by falling degree */
    const uint16_t *cells;      /* device: [CSAW__CELLS] class of the last vertex of each cell */
    csaw_vertex first_classed;  /* device: vertices before it are of no class */
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
    CSAW__KERNEL_FANOUTS,      /* GPU: how many arcs each vertex of a frontier gets */
    CSAW__KERNEL_TABULATE,     /* GPU: static biases of arcs */
    CSAW__KERNEL_ITS_STORED,   /* GPU: ITS by stored sums */
    CSAW__KERNEL_LAYER_BIASES, /* GPU: CSAW_LAYER's own */
    CSAW__KERNEL_LAYER_CHOOSE,
    CSAW__KERNEL_LAYER_UPDATES,
    CSAW__KERNEL_LAYER_FAR, /* GPU: passes over the rows of layers that are exchanged */
    CSAW__KERNEL_SELECT,    /* GPU: frontiers out of pools */
    CSAW__KERNEL_HUBS_ITS,  /* GPU: which arcs, of the entries with long rows */
    CSAW__KERNEL_HUBS_RACE,
    CSAW__KERNEL_LAST_UNIFORM, /* GPU: which arcs, of the last frontiers of instances that ran each by itself */
    CSAW__KERNEL_LAST_STORED,
    CSAW__KERNEL_LAST_ALIAS,
    CSAW__KERNEL_EXPAND, /* GPU: which arcs; plus the kernel of the method */
    CSAW__KERNEL_LISTS = CSAW__KERNEL_EXPAND + CSAW__KERNEL_REJECT_ALIAS + 1, /* GPU: instances whose pools are lists */
    CSAW__KERNEL_ALONE = CSAW__KERNEL_LISTS + CSAW__KERNEL_REJECT_ALIAS + 1,  /* GPU: whole instances, a block each */
    CSAW__KERNEL_EACH = CSAW__KERNEL_ALONE + CSAW__KERNEL_REJECT_ALIAS + 1,   /* GPU: whole instances */
    CSAW__KERNEL_EACH_STORED = CSAW__KERNEL_EACH + CSAW__KERNEL_REJECT_ALIAS + 1, /* the same, ITS by stored sums */
    CSAW__KERNEL_TILES_UNIFORM, /* the same as CSAW__KERNEL_EACH, several instances a warp */
    CSAW__KERNEL_TILES_STORED,
    CSAW__KERNEL_TILES_ALIAS,
    CSAW__KERNEL_TILES_REJECT,
    CSAW__KERNEL_TILES_REJECT_ALIAS,
    CSAW__KERNEL_PARTS_START, /* GPU: walks where parts of the graph come and go; below: plus the kernel of the method
                               */
    CSAW__KERNEL_PARTS,
    CSAW__NUM_KERNELS = CSAW__KERNEL_PARTS + CSAW__KERNEL_REJECT_ALIAS + 1
};

/* The GPU's kernels by name, in the order of their numbers. */
#define CSAW__DEVICE_KERNELS(X)       \
    X(csaw__kernel_uniform)           \
    X(csaw__kernel_its)               \
    X(csaw__kernel_race)              \
    X(csaw__kernel_alias)             \
    X(csaw__kernel_reject)            \
    X(csaw__kernel_reject_alias)      \
    X(csaw__kernel_reject_rest)       \
    X(csaw__kernel_reject_alias_rest) \
    X(csaw__kernel_fanouts)           \
    X(csaw__kernel_tabulate)          \
    X(csaw__kernel_its_stored)        \
    X(csaw__kernel_layer_biases)      \
    X(csaw__kernel_layer_choose)      \
    X(csaw__kernel_layer_updates)     \
    X(csaw__kernel_layer_far)         \
    X(csaw__kernel_select)            \
    X(csaw__hubs_its)                 \
    X(csaw__hubs_race)                \
    X(csaw__last_uniform)             \
    X(csaw__last_its_stored)          \
    X(csaw__last_alias)               \
    X(csaw__expand_uniform)           \
    X(csaw__expand_its)               \
    X(csaw__expand_race)              \
    X(csaw__expand_alias)             \
    X(csaw__expand_reject)            \
    X(csaw__expand_reject_alias)      \
    X(csaw__lists_uniform)            \
    X(csaw__lists_its)                \
    X(csaw__lists_race)               \
    X(csaw__lists_alias)              \
    X(csaw__lists_reject)             \
    X(csaw__lists_reject_alias)       \
    X(csaw__alone_uniform)            \
    X(csaw__alone_its)                \
    X(csaw__alone_race)               \
    X(csaw__alone_alias)              \
    X(csaw__alone_reject)             \
    X(csaw__alone_reject_alias)       \
    X(csaw__each_uniform)             \
    X(csaw__each_its)                 \
    X(csaw__each_race)                \
    X(csaw__each_alias)               \
    X(csaw__each_reject)              \
    X(csaw__each_reject_alias)        \
    X(csaw__each_its_stored)          \
    X(csaw__tiles_uniform)            \
    X(csaw__tiles_its_stored)         \
    X(csaw__tiles_alias)              \
    X(csaw__tiles_reject)             \
    X(csaw__tiles_reject_alias)       \
    X(csaw__kernel_parts_start)       \
    X(csaw__parts_uniform)            \
    X(csaw__parts_its)                \
    X(csaw__parts_race)               \
    X(csaw__parts_alias)              \
    X(csaw__parts_reject)             \
    X(csaw__parts_reject_alias)

/* The vertices of a frontier on the GPU, of all instances at one depth, and where their picks go. */
typedef struct csaw__wave {
    uint64_t first, count; /* entries to expand: first .. count - 1 */
    uint64_t instance;     /* of owner 0 */
    uint32_t depth;
    const csaw_vertex *at, *prev; /* [count] */
    const uint32_t *owner;        /* [count], ascending */
    const uint32_t *number;       /* [owners]: instances, counted from `instance`; NULL: in turn */
    const csaw_vertex *root;      /* [owners] */
    uint64_t (*user)[4];          /* [owners], NULL without user bytes */
    uint32_t *fanout;             /* [count] */
    uint64_t *room, *need;        /* [count]: places for picks, at least 1; words of memory to pick them in */
    const uint64_t *offset;       /* [count + 1]: sums of room */
    const uint64_t *work_offset;  /* [count + 1]: sums of need */
    uint64_t *work;               /* from work_offset[work_first] on */
    uint64_t work_first;
    const uint32_t *list;   /* entries by their places here; NULL: in turn */
    uint32_t *got;          /* [count] */
    csaw_vertex *src, *dst; /* [offset[count]] */
    csaw_edge *edge;
    csaw_vertex *next;                 /* [offset[count]]: where updates and dead ends lead, CSAW_NONE elsewhere */
    uint32_t *from;                    /* [offset[count]]: the entry, where next is given */
    const unsigned long long *visited; /* [visited_mask + 1]: owner << 32 | vertex, all ones = free; NULL without it */
    uint64_t visited_mask;
    uint32_t *hubs;               /* [count]: entries for a block each, in any order; NULL: there are none */
    unsigned long long *num_hubs; /* how many */
} csaw__wave;
enum { CSAW__HUB_DEGREE = 1 << 14 }; /* arcs of a row that a block is to scan, at least */

/* Pools that are sets on the GPU, and the places of them that go on. */
typedef struct csaw__selection {
    uint64_t owners;
    uint32_t size;               /* places of a pool that go on; CSAW_ALL = all of positive bias */
    const csaw_vertex *at;       /* the pools, one owner after the other */
    const uint64_t *first;       /* [owners + 1]: where each owner's begins in at */
    uint64_t *upto;              /* [first[owners]]: inclusive sums of each pool's masses; NULL without vertex_bias */
    const uint64_t *offset;      /* [owners + 1]: where each owner's picks begin in pick */
    uint64_t *work;              /* words to pick in */
    const uint64_t *work_offset; /* [owners + 1]: where each owner's begin in work */
    uint64_t *pick;              /* [offset[owners]]: places, counted from the pool's first */
    uint64_t *got;               /* [owners]: how many were picked */
} csaw__selection;

/* Arcs of instances that run each by itself: a region of places each, filled from its front in the order of delivery.
 */
typedef struct csaw__regions {
    uint64_t first, count;  /* owners of this launch, counted from the batch's first instance */
    uint64_t places;        /* of an instance */
    uint64_t seed_places;   /* of an instance, for its first frontier */
    uint32_t *arcs, *seeds; /* [count] how many stand there */
    csaw_vertex *src, *dst; /* [count * places] */
    csaw_edge *edge;
    uint32_t *depth;
    csaw_vertex *seed; /* [count * seed_places] */
} csaw__regions;

/* A vertex of an instance's last frontier. */
typedef struct csaw__last_entry {
    csaw_vertex at, prev;
    uint32_t owner; /* counted from the batch's first instance */
    uint32_t place; /* of its first arc among those of the instance */
} csaw__last_entry;

/* CSAW__KERNEL_EACH, where a vertex's degree says how many arcs it gets: instances stop before the last depth and leave
 * their frontiers, those of a warp side by side. CSAW__KERNEL_LAST_ .. then brings all arcs where they belong. */
typedef struct csaw__last {
    csaw__last_entry *entry; /* [warps * room]; NULL: instances run to their end */
    uint32_t *entries;       /* [warps] how many stand there */
    uint32_t room;           /* of a warp */
    uint32_t *arcs;          /* [owners] of an instance at all depths */
    uint64_t warps;
    const uint64_t *offset; /* [owners + 1] where they begin */
    csaw_vertex *src, *dst; /* [offset[owners]] */
    csaw_edge *edge;
    uint32_t *depth;
} csaw__last;

/* CSAW__KERNEL_EACH: 2^log_width lanes an instance, and how their shared memory is divided. */
enum {
    CSAW__LANE_WORDS = 32,   /* of a lane */
    CSAW__EACH_THREADS = 32, /* of a block: a warp, so that a long instance holds up those of its warp alone */
    CSAW__LAST_THREADS =
        64 /* of a block of CSAW__KERNEL_LAST_ .., whose warps have unequal work; 32 would be too few */
};
typedef struct csaw__each {
    uint64_t phase;                  /* pool of the batch's first instance */
    uint64_t first_pool, first_seed; /* roots and seed_offset begin with those of the batch */
    uint32_t log_width;
    uint32_t pool_room;  /* vertices of a pool, at most */
    uint32_t table_mask; /* cells of a pool's hash table, a power of two, less 1 */
} csaw__each;

/* CSAW__KERNEL_ALONE: instances whose depths a block runs by itself, as a wave of its own in memory of its own. */
enum {
    CSAW__ALONE_THREADS = 64,        /* of a block: frontiers are small */
    CSAW__ALONE_LAYER_THREADS = 256, /* the same with CSAW_LAYER, whose candidates are many */
    /* For each place: cells of the table of what a depth reached; of the table of what was visited, twice the vertices
     * that it takes; words to pick in, a pick's own among them; words for candidates of a layer with biases */
    CSAW__ALONE_CELLS = 2,
    CSAW__ALONE_VISITED = 4,
    CSAW__ALONE_WORK = 6,
    CSAW__ALONE_LAYER = 64
};
/* Words of a block's memory: those but for candidates, five sums over all places, arcs, and twelve arrays of 32 bits.
 */
#define CSAW__ALONE_WORDS(PLACES) \
    ((CSAW__ALONE_CELLS + CSAW__ALONE_VISITED + CSAW__ALONE_WORK + 5 + 1 + 6) * (uint64_t)(PLACES) + 5)
typedef struct csaw__alone {
    uint32_t places;              /* for vertices and picks of a depth; so many arcs an instance has at most */
    uint64_t words;               /* of a block */
    uint64_t *memory;             /* of each block: CSAW__ALONE_WORDS(places), then words for candidates, if any */
    const uint32_t *owner;        /* [places] zeros: a wave has one owner */
    unsigned long long *turn;     /* the instance that comes next */
    uint32_t *left;               /* [regions.count] instances that need more room than there is, in any order */
    unsigned long long *num_left; /* how many */
} csaw__alone;

/* GPU: arcs whose static biases are asked for. */
typedef struct csaw__tabulation {
    csaw_edge first_arc;
    csaw_vertex first_row;
    uint32_t count;
    const uint32_t *row; /* [count], from first_row on */
    float *bias;         /* [count] */
    /* [3]: the lowest arc whose bias is none; 0 once a hook asked what a sample does not say; 0 once a bias is 0 */
    unsigned long long *record;
} csaw__tabulation;

/* GPU: a pass over rows of layers that are exchanged, cut into pieces, so that a long row is for many teams: those that
 * stand in wave.list[wave.first .. wave.count - 1]. Their largest biases; the sums of their masses; or the arcs on
 * which numbers fall. Arrays are of the whole wave or list. */
enum csaw__far_pass { CSAW__FAR_LARGEST, CSAW__FAR_SUMS, CSAW__FAR_DRAWS };
enum { CSAW__FAR_ARCS = 1024 }; /* of a piece; the last of a row has what is left */
typedef struct csaw__far_piece {
    uint32_t entry, first; /* first: its first arc's place in the row */
} csaw__far_piece;
typedef struct csaw__far_rows {
    uint32_t pass;
    const csaw__far_piece *piece; /* [pieces], in the order of their arcs; rows without arcs have none */
    const uint64_t *candidates;   /* [owners + 1]: sums of how many each has */
    unsigned long long *largest;  /* [owners]: bias, as bits */
    uint64_t *sum;                /* [pieces] */
    const uint64_t *begin;        /* [listed + 1]: the numbers of each place of the list */
    uint64_t *number;             /* [begin[listed]]: below its piece's sum, ascending in it; then the low end of its
                                     arc in that sum */
    uint64_t *mass;               /* [the same]: of the arc */
    uint32_t *rank;               /* [the same]: its place in the row */
} csaw__far_rows;

/* CSAW_LAYER on the GPU: the arcs of the wave are candidates, side by side; one selection an owner among all of its
 * own. At hand are some of the owners, first .. first + count - 1, and so candidates begin .. end - 1. */
typedef struct csaw__layers {
    uint64_t first, count, begin, end;
    const uint64_t *arc;         /* [wave.count + 1]: first candidate of each entry */
    const uint64_t *candidate;   /* [owners + 1]: of each owner */
    uint32_t *take;              /* [owners]: picks asked for; CSAW_ALL: all candidates of positive mass */
    const uint64_t *work_offset; /* [owners + 1]: sums of words of memory to pick in */
    uint64_t *work;              /* from work_offset[first] on: an owner's picks, then what it needs to find them */
    uint64_t *got;               /* [count]: how many were picked there */
    uint64_t *mass;              /* [end - begin]: biases, as bits */
    uint32_t *owner;             /* [end - begin]: counted from first */
    csaw_vertex *dst;            /* [end - begin]; NULL without CSAW_LAYER_DISTINCT */
    unsigned long long *largest; /* [count]: bias, as bits */
    const uint64_t *upto;        /* [end - begin]: inclusive sums of masses, of each owner; NULL: every mass is 1 */
    const uint64_t *target;      /* [count + 1]: CSAW_LAYER_DISTINCT: upto is of each owner's vertices, from here on */
    uint8_t *chosen;             /* [target[count]]: 1 = the vertex is picked */
    uint64_t picks;              /* of all owners; their candidates stand in wave.edge */
    const uint32_t *far_take;    /* [owners]: as take, of those that were exchanged; CSAW_ALL: others; NULL: none was */
    const uint64_t *far_begin;   /* [owners + 1]: picks of those that were exchanged */
    const uint64_t *far_pick;    /* [far_begin[owners]]: CSAW__FAR_PICK | entry << 32 | rank */
    csaw__far_rows far;          /* CSAW__KERNEL_LAYER_FAR */
} csaw__layers;
#define CSAW__FAR_PICK ((uint64_t)1 << 63)
enum { CSAW__LAYER_TILE = 2048 }; /* candidates that a block of CSAW__KERNEL_LAYER_BIASES takes */

/* Pools that are lists on the GPU, of the owners of a launch's regions: room places each. */
typedef struct csaw__lists {
    uint64_t room;
    uint32_t size;          /* places that go on at a depth; CSAW_ALL = all of positive bias */
    csaw_vertex *at, *prev; /* [count * room]; CSAW_NONE in at: closed */
    float *bias;            /* the same: vertex_bias, 0 of a closed place */
    uint64_t *mass, *tree;  /* [count * room], [count * (room + 1)] of biases; NULL without a frontier_size */
    uint64_t *pick, *work;  /* [count * picks], [count * words]: the places that go on, and memory to pick them in */
    uint64_t picks, words;  /* of an instance */
} csaw__lists;

enum {
    CSAW__MOST_ASKED = 8,   /* vertices of one question about attempts of REJECT */
    CSAW__NO_ANSWER = 0xff, /* ends the answers */
    CSAW__MOST_VIEWS = 16
};

/* Rows that a launch reads: place offset[v - first] of col is v's first arc. Offsets are as wide as those of the job's
 * rows. */
typedef struct csaw__part_view {
    const void *offset;
    const csaw_vertex *col;
    csaw_vertex first, count;
} csaw__part_view;

/* What a walk asks of prev's partition, and the answers. */
typedef struct csaw__part_question {
    csaw_vertex vertex[CSAW__MOST_ASKED]; /* are these neighbours of prev? */
    uint32_t known; /* how many | of REJECT the attempt that the first belongs to << 8 | answers, a bit each << 16 */
} csaw__part_question;

/* The vertices of a path that share 16 bytes of memory: they are written together. */
enum { CSAW__WINDOW = 4 };
typedef struct CSAW__ALIGN16 csaw__part_window {
    csaw_vertex vertex[CSAW__WINDOW];
} csaw__part_window;

/* Walks that follow one another, whose paths are in one array of some GPU: where that begins, less the walks before
 * them, in vertices and in arcs from address 0. */
typedef struct csaw__part_home {
    uint64_t end; /* walk */
    uint64_t path, edge;
} csaw__part_home;

/* Walks on a GPU to which partitions of the graph come: what travels with each, and where it waits. Their paths may be
 * in the host's memory, or another GPU's, which is written to alone. Of the arrays [num_walks] a walk's entries belong
 * to the launch on the partition at which it waits. */
typedef struct csaw__part_walks {
    csaw__part_window *window;     /* [num_walks] the last vertices of its path, each where its address says */
    csaw_vertex *wait;             /* [num_walks] it waits at the partition of this vertex; CSAW_NONE: it is done */
    uint32_t *progress;            /* [num_walks] depth | csaw__part_state << 24 */
    uint64_t (*user)[4];           /* [num_walks]; NULL without user bytes */
    csaw__part_question *question; /* [num_walks]; NULL unless the sampler asks */
    unsigned long long *waiting;   /* [parts] walks that wait there, with those that a launch has in hand */
    const csaw_vertex *first;      /* [parts + 1] the ranges, and */
    const uint32_t *owner;         /* their tables (partition/owner.h) */
    uint32_t shift, part, parts;   /* part: whose rows the job has */
    uint64_t warps;                /* of the launch */
    const csaw_vertex *root;       /* [num_walks]; NULL: vertices in turn */
    uint32_t views;
    csaw__part_view view[CSAW__MOST_VIEWS]; /* the first: of the partition itself, whose vertices step here */
    const void *whole_offset;     /* the whole graph in memory that can be read from here, in place, where a */
    const csaw_vertex *whole_col; /* row as a whole is asked about; NULL: none, and the walk stops */
    const csaw__part_home *home;  /* ascending by end; NULL: the job's path and edge have all walks */
} csaw__part_walks;
enum csaw__part_state {
    CSAW__PART_STEPS,
    CSAW__PART_ASKS,
    CSAW__PART_KNOWS, /* the answers */
    CSAW__PART_STOPS  /* it asks about a row as a whole, and the whole graph is not in sight: the host makes the step */
};

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

struct csaw__choice;
struct csaw__scratch;
typedef struct csaw__job {
    csaw__rows rows;
    const uint32_t *degree; /* [num_vertices]; NULL where rows holds the whole graph */
    csaw_vertex num_vertices;
    uint32_t kernel;     /* csaw__kernel */
    uint32_t length;     /* steps */
    uint32_t fold;       /* REJECT: the graph has no parallel arcs, so the arc back may be folded apart */
    double lo, hi, back; /* REJECT: bounds of edge_bias */
    uint32_t remote;     /* prev's row may be elsewhere: answers come with the arc */
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
    /* host: csaw__walk_plain(), likewise: no hook takes part, so no sampler file compiles it */
    void (*walk_plain)(const struct csaw__job *job, uint64_t first, uint64_t count, bool alias);
    /* host: csaw__picks_of(), csaw__picks_rest(), likewise */
    uint32_t (*pick_of)(const struct csaw__choice *choice, struct csaw__scratch *scratch, uint32_t k, bool replace);
    uint32_t (*pick_rest)(const struct csaw__choice *choice, struct csaw__scratch *scratch);
    unsigned long long *rest;     /* device: [num_walks] walks left undecided by REJECT, walk << 24 | depth */
    unsigned long long *num_rest; /* device: how many */
    uint32_t log_apart;           /* device, walks that scan rows: one in 2^log_apart lanes has a walk; 5 at most */
    const float *tabulated;       /* check: static biases of rows, as tabulated; NULL = none */
    csaw__wave wave;              /* device: CSAW__KERNEL_FANOUTS, CSAW__KERNEL_EXPAND, CSAW__KERNEL_LAYER_ .. */
    csaw__layers layers;          /* device: CSAW__KERNEL_LAYER_ .. */
    csaw__selection selection;    /* device: CSAW__KERNEL_SELECT */
    csaw__regions regions;        /* device: CSAW__KERNEL_LISTS, CSAW__KERNEL_EACH, CSAW__KERNEL_ALONE */
    csaw__lists lists;            /* device: CSAW__KERNEL_LISTS */
    csaw__each each;              /* device: CSAW__KERNEL_EACH; where seeds stand: CSAW__KERNEL_ALONE, too */
    csaw__alone alone;            /* device: CSAW__KERNEL_ALONE */
    csaw__last last;              /* device: CSAW__KERNEL_EACH, CSAW__KERNEL_LAST_ .. */
    csaw__tabulation tabulation;  /* device: CSAW__KERNEL_TABULATE */
    csaw__part_walks parts; /* device: CSAW__KERNEL_PARTS_START, CSAW__KERNEL_PARTS; path and edge as on the host */
    CSAW__ALIGN16 unsigned char params[CSAW__MAX_PARAMS]; /* any struct of plain numbers */
    const uint64_t *instance; /* device: CSAW__KERNEL_PARTS of walks in no order: [num_walks]; NULL: first + walk */
} csaw__job;

CSAW_FN csaw_vertex csaw__root_of(const csaw__job *job, uint64_t instance) {
    uint64_t root = instance % job->num_roots;
    return job->roots ? job->roots[root] : (csaw_vertex)root;
}

/* On the GPU: the instance of a wave's owner. */
CSAW_FN uint64_t csaw__wave_instance(const csaw__wave *wave, uint64_t owner) {
    return wave->instance + (wave->number ? wave->number[owner] : owner);
}

/* Where the walk's path begins, counted in vertices from address 0: its last two bits say which place of a window.
 * Where its arcs do, likewise, if they are kept. */
CSAW_FN const csaw__part_home *csaw__part_home_of(const csaw__job *job, uint64_t walk) {
    const csaw__part_home *home = job->parts.home;
    while (walk >= home->end) home++;
    return home;
}
CSAW_FN uint64_t csaw__part_path(const csaw__job *job, uint64_t walk) {
    const uint64_t begin =
        job->parts.home ? csaw__part_home_of(job, walk)->path : (uint64_t)job->path / sizeof(csaw_vertex);
    return begin + walk * ((uint64_t)job->length + 1);
}
CSAW_FN csaw_edge *csaw__part_edge(const csaw__job *job, uint64_t walk) {
    const uint64_t begin =
        job->parts.home ? csaw__part_home_of(job, walk)->edge : (uint64_t)job->edge / sizeof(csaw_edge);
    return (csaw_edge *)((begin + walk * job->length) * sizeof(csaw_edge));
}

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
    uint32_t attempt; /* of REJECT; 64 = the row goes to ITS */
    uint32_t num_asked;
    csaw_vertex asked[CSAW__MOST_ASKED]; /* CSAW__ASK_ARC: are these neighbours of prev? */
    csaw_edge edge;                      /* the arc of the last step, or CSAW_NO_EDGE */
    uint64_t user[4];                    /* CSAW_MAX_USER_BYTES */
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
    CSAW__ASK_ARC, /* first answer whether walker->asked are neighbours of prev; CSAW__NO_ANSWER behind them */
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
