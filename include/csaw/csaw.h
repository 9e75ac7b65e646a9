/* SPDX-License-Identifier: MIT */
/* csaw.h - graph sampling and random walks on CPUs and GPUs.
 *
 *   load -> plan -> sample
 *
 *   csaw_graph *graph = NULL;
 *   csaw_plan *plan = NULL;
 *   csaw_samples *samples = NULL;
 *   csaw_graph_load("graph.txt", CSAW_LOAD(.undirected = true), &graph);
 *   csaw_plan_create(graph, CSAW_PLAN(.device = "cuda:0"), &plan);
 *   csaw_sample(plan, &csaw_node2vec, &(csaw_node2vec_params){.p = 4, .q = 1}, NULL,
 *               CSAW_RUN(.depth = 80, .walks_per_seed = 10, .seed = 7), &samples);
 *
 * True of every function below, so not repeated there:
 *   errors     returns csaw_status, CSAW_OK (0) on success. On failure *out is untouched and
 *              csaw_last_error() tells this thread what happened, the limit, and the remedy.
 *   ownership  `T **out` hands you an object: release it with its _free(), which accepts NULL. Every const
 *              pointer is borrowed for the call, unless a comment says longer.
 *   options    zero always means "default"; NULL options means all defaults.
 *   memory     arrays are host memory unless a comment says device.
 *   threads    a csaw_graph is immutable and may be shared; other objects belong to one thread at a time.
 *   seeds      equal (graph, sampler, params, seeds, seed, select) give equal samples on every plan, bit for
 *              bit: one CPU thread or many, partitions, a GPU or several.
 */
#ifndef CSAW_H
#define CSAW_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CSAW_VERSION_MAJOR 0
#define CSAW_VERSION_MINOR 1
#define CSAW_VERSION_PATCH 0
#define CSAW_API __attribute__((visibility("default")))

CSAW_API const char *csaw_version(void); /* "0.1.0 (openmp, cuda 13.0)": the version and what is built in */

/* ---- status ------------------------------------------------------------- */

#define CSAW_STATUS_MAP(X)                                         \
    X(OK, 0, "success")                                            \
    X(EINVAL, 1, "invalid argument")                               \
    X(ENOMEM, 2, "out of host memory")                             \
    X(EDEVMEM, 3, "out of device memory")                          \
    X(EIO, 4, "file could not be read or written")                 \
    X(EFORMAT, 5, "file is not a graph in the stated format")      \
    X(EBIAS, 6, "a bias broke its rules")                          \
    X(ECUDA, 7, "CUDA call failed")                                \
    X(ECOMPILE, 8, "sampler file did not compile")                 \
    X(EUNSUPPORTED, 9, "not in this build, or not for this graph") \
    X(ESTOPPED, 10, "stopped by a callback")                       \
    X(EMPI, 11, "MPI call failed")

typedef enum csaw_status {
#define X(name, code, text) CSAW_##name = code,
    CSAW_STATUS_MAP(X)
#undef X
} csaw_status;

CSAW_API const char *csaw_status_text(csaw_status status); /* never NULL */
CSAW_API const char *csaw_last_error(void);                /* this thread's last failure; never NULL */

/* Calls of this thread that load, make, turn round, renumber or save a graph, build tables of biases, draw negatives on
 * the CPU, make a subgraph, or draw walks or samples without a progress function, in one process on the CPU, ask go_on,
 * on this thread, when they begin a step and ten times a second at most; false ends the call with CSAW_ESTOPPED, and
 * every other one that would ask, until csaw_watch() is called again. It may not call csaw. NULL, as at first: nobody
 * is asked. */
CSAW_API void csaw_watch(bool (*go_on)(void *user), void *user);

/* ---- graph -------------------------------------------------------------- */

typedef struct csaw_csr {  /* a borrowed look at a graph */
    uint64_t num_vertices; /* at most 2^32 - 2 */
    csaw_edge num_edges;
    const csaw_edge *rowptr; /* [num_vertices + 1] */
    const csaw_vertex *col;  /* [num_edges], each row ascending; parallel arcs in input order */
    const float *weight;     /* [num_edges], NULL = all 1 */
    const uint32_t *type;    /* [num_edges], NULL = all 0 */
    const int64_t *time;     /* [num_edges], NULL = all 0; in the file's unit */
} csaw_csr;

typedef struct csaw_graph csaw_graph;

typedef struct csaw_edges { /* an edge list, in any order */
    uint64_t num_vertices;  /* 0 = largest id + 1 */
    uint64_t num_edges;
    const csaw_vertex *src, *dst; /* [num_edges] */
    const float *weight;          /* [num_edges], NULL = none */
    const uint32_t *type;         /* [num_edges], NULL = none */
    const int64_t *time;          /* [num_edges], NULL = none */
} csaw_edges;

typedef struct csaw_load_options {
    size_t size;
    const char *format;   /* "text" "csv" "mtx" "npz" "gr" "csaw"; NULL = by content and suffix */
    const char *columns;  /* of text and csv, such as "src,dst,time": any of src dst weight type time, - = skip;
                             NULL = src,dst and, if there is a third column, weight */
    bool undirected;      /* add the reverse of every edge that is not a loop */
    bool keep_loops;      /* default: dropped */
    bool keep_duplicates; /* default: arcs alike in src, dst, type and time become one, weights summed */
    bool keep_gaps;       /* ids are vertex numbers as they stand; default: ids that occur are closed up, and kept as
                             names where that changes them */
} csaw_load_options;

/* Reads a graph file: text (SNAP style: columns separated by blanks, tabs or commas; # and % begin comments), CSV (a
 * header line may name the columns), MatrixMarket, scipy.sparse npz, DIMACS .gr, .csaw; gzip and xz are recognised by
 * content. Names in text and csv may be integers of 64 bits or, if one of them is not, any words. */
CSAW_API csaw_status csaw_graph_load(const char *path, const csaw_load_options *options, csaw_graph **out);
/* The same by all ranks of a communicator (below, at plans), for plans with split: of a plain text or csv file whose
 * names are numbers each rank parses a share, and holds the arcs of its range of vertices alone, besides 8 bytes a
 * vertex, and names; by_visits as in the plan's options. Such a graph is for plans with the same communicator, split
 * and by_visits, for writers of walks and, without plain, of arcs, csaw_graph_checksum() and names; other functions
 * refuse it, and of csaw_graph_csr() rowptr is whole, but in arrays of arcs those of the rank's rows alone are there.
 * Of a packed file rank 0 reads the lines. Other files are loaded whole by each rank. Faults of the file are those that
 * csaw_graph_load() tells, on every rank. */
CSAW_API csaw_status csaw_graph_load_split(const char *path, const csaw_load_options *options, const void *communicator,
                                           bool by_visits, csaw_graph **out);
/* format, columns and keep_gaps are ignored here: ids are vertex numbers. */
CSAW_API csaw_status csaw_graph_from_edges(const csaw_edges *edges, const csaw_load_options *options, csaw_graph **out);
CSAW_API csaw_status csaw_graph_from_csr(const csaw_csr *csr, csaw_graph **out);   /* copies */
CSAW_API csaw_status csaw_graph_borrow_csr(const csaw_csr *csr, csaw_graph **out); /* arrays outlive the graph */
/* .csaw: binary, opens by mmap without reading; to be let alone while its graph lives (saving over it is fine: that
 * makes a new file). .csv, .tsv, .mtx, .npz and .gr, with .gz or without, and .xz are read alone, .csaw.gz is neither
 * read nor written: CSAW_EINVAL. Anything else: an edge list that csaw_graph_load() reads back, compressed if path ends
 * in .gz. */
CSAW_API csaw_status csaw_graph_save(const csaw_graph *graph, const char *path);
CSAW_API csaw_csr csaw_graph_csr(const csaw_graph *graph); /* borrowed */
CSAW_API void csaw_graph_free(csaw_graph *graph);

/* Original names of vertices, ascending: numbers, or words (text + offset[v], of offset[v + 1] - offset[v] bytes). Both
 * NULL: vertex v is called v. Borrowed. */
typedef struct csaw_names {
    const int64_t *number;  /* [num_vertices] */
    const char *text;       /* [offset[num_vertices]], no separators */
    const uint64_t *offset; /* [num_vertices + 1] */
} csaw_names;
CSAW_API csaw_names csaw_graph_names(const csaw_graph *graph);
/* The vertex of that name; CSAW_EINVAL if there is none. After csaw_graph_by_degree() names are not ascending. */
CSAW_API csaw_status csaw_graph_find(const csaw_graph *graph, const char *name, csaw_vertex *out);
CSAW_API csaw_status csaw_graph_transpose(const csaw_graph *graph, csaw_graph **out); /* every arc reversed */
/* Vertices renumbered by falling degree, ties by old number; names lead back. */
CSAW_API csaw_status csaw_graph_by_degree(const csaw_graph *graph, csaw_graph **out);
/* A number of 64 bits that equal graphs share: rows, weights, types, times and names. Reads the graph once; of a .csaw
 * file, what its header says. */
CSAW_API uint64_t csaw_graph_checksum(const csaw_graph *graph);
/* Reads a .csaw file in full: its checksums, and that its arrays are a graph. CSAW_EFORMAT says what is wrong. */
CSAW_API csaw_status csaw_graph_verify_file(const char *path);

typedef struct csaw_rmat_options {
    size_t size;
    uint32_t scale;       /* 2^scale vertices before isolated ones go; 1 .. 31; default 16 */
    uint32_t edge_factor; /* edges per vertex; default 16 */
    double a, b, c;       /* quadrant probabilities, d = 1 - a - b - c; all 0 = .57 .19 .19 */
    uint64_t seed;
    bool weighted;      /* symmetric weights, uniform on [1, 5) */
    bool directed;      /* default: made symmetric */
    bool keep_isolated; /* default: isolated vertices are removed and ids closed up */
} csaw_rmat_options;
/* R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004), ids permuted, loops and duplicates removed. The same graph
 * on any number of threads. */
CSAW_API csaw_status csaw_graph_rmat(const csaw_rmat_options *options, csaw_graph **out);

typedef struct csaw_random_graph_options {
    size_t size;
    uint64_t num_vertices;  /* Erdos-Renyi */
    uint64_t num_edges;     /* Erdos-Renyi: distinct, no loops */
    const uint32_t *degree; /* [num_degrees], configuration model: one per vertex */
    uint64_t num_degrees;
    uint64_t seed;
    bool weighted; /* symmetric weights, uniform on [1, 5) */
    bool directed; /* Erdos-Renyi alone; default: made symmetric */
} csaw_random_graph_options;
/* G(n, m) (Erdos, Renyi 1959). The same graph on any number of threads. */
CSAW_API csaw_status csaw_graph_erdos_renyi(const csaw_random_graph_options *options, csaw_graph **out);
/* Configuration model (Molloy, Reed 1995): stubs paired at random, loops and parallel edges then dropped, so a degree
 * may come out smaller. The sum of degrees is even. */
CSAW_API csaw_status csaw_graph_configuration(const csaw_random_graph_options *options, csaw_graph **out);

/* ---- plan: where the work runs ------------------------------------------- */

typedef struct csaw_plan csaw_plan;

typedef struct csaw_plan_options {
    size_t size;
    const char *device;  /* "cpu" (default); "cuda:N"; several of these with commas between, at most 16, which share the
                            work (below); "all", every GPU of the machine; "cuda", the first; of ranks "all" and "cuda"
                            are the next GPU of the machine for each; or "simulated": a GPU's copies and launches, played
                            through on one thread of the CPU */
    int threads;         /* CPU threads; 0 = all cores. Partitions take turns on one */
    int partitions;      /* cut the graph, and have work wait at the parts; 0 = as few as fit gpu_memory */
    uint64_t gpu_memory; /* bytes of memory of each GPU to use; 0 = all (simulated: no limit). Where the graph does not
                            fit, parts of it come and go within that; where it does, cuda:N holds to no limit yet */
    int resident;        /* of a GPU: partitions in that memory at a time; 0 = as many as are useful */
    int streams;         /* of a GPU: on which they are copied and run; 0 = one each, at most 4 */
    uint64_t described_memory; /* the GPU's own memory, of one that need not be here: the plan explains itself, and no
                                  more. 0 = the GPU is here */
    uint32_t walks_per_seed;   /* the plan explains itself for so many walks from every vertex; 0 = 1 */
    uint32_t depth; /* of so many steps; 0 = 80. A plan in whose memory not one of them fits is refused; jobs of fewer
                       steps, or more, run as well if one of theirs fits */
    const void *communicator; /* address of an MPI_Comm whose ranks share the work of each run, below; NULL = this
                                 process alone */
    uint32_t described_ranks; /* the plan explains itself for so many ranks, and no more. 0 = for those that are here */
    bool split; /* of ranks: each holds a range of vertices with their rows alone, on a thread of the CPU or on one GPU,
                   and walkers and entries of samples travel; of several GPUs, be they a rank's: each holds a part of
                   the arcs, and reads the others' from their memory. Default: each holds the whole graph, if it can.
                   Of one it says nothing */
    bool exchange;  /* with split, of several GPUs: walkers go to the GPU that has the row of their vertex, in batches
                       that are copied while others step; samples read rows as ever. Default: each GPU reads rows where
                       they are */
    bool by_visits; /* with split, of ranks: ranges of equal numbers of arcs, which is how often walks on an undirected
                       graph come to them. Default: of equal bytes */
} csaw_plan_options;

CSAW_API csaw_status csaw_plan_create(const csaw_graph *graph, const csaw_plan_options *options,
                                      csaw_plan **out);        /* borrows the graph until the plan is freed */
CSAW_API const char *csaw_plan_explain(const csaw_plan *plan); /* one line per decision, with the numbers */
CSAW_API void csaw_plan_free(csaw_plan *plan);

/* Several GPUs. Each holds the whole graph and draws one of as many equal groups of the instances of a run, of
 * csaw_sample_each() of every batch; together they make the samples of one device, bit for bit, in the same order.
 * Where the graph does not fit one of them, or with split, they hold its arcs together, if each can read the memory of
 * each (with exchange walkers go to where their rows are, CSAW_EINVAL without split and several GPUs); where it does
 * not fit them together either, or gpu_memory or partitions are given, partitions come to each. A GPU may be listed
 * more than once. Each has a host thread at work for it; batch and progress functions are called on the caller's.
 * Samples are asked for in host memory (CSAW_HOST), to which all GPUs copy at the same time: CSAW_DEVICE is
 * CSAW_EUNSUPPORTED. The message of an error names the GPU; of several errors it is that which comes first in the order
 * of delivery. */

/* Ranks. With a communicator all its ranks make the same calls of csaw_plan_create(), csaw_sample(),
 * csaw_sample_each() and of writers, in the same order, with the same graph, sampler and options; MPI runs from before
 * the first until after the last, and plans and writers are freed before the communicator. Each rank holds the whole
 * graph, or with split a part of it, and delivers its share of the instances; together they make the samples of one
 * process, bit for bit. csaw_sample() gives each rank one of as many equal groups, in order of rank; csaw_sample_each()
 * works in rounds, in which each rank has one batch, in order of rank too: every rank's batch function is called once a
 * round, perhaps with no instance at all. csaw_walks.first and csaw_arcs.first tell which they are.
 * An error of one rank is an error of all, and its message names the rank; of several it is that of the lowest rank.
 * Graphs, samplers, options or versions that differ are such errors. After CSAW_EMPI, or CSAW_ESTOPPED that came while
 * others did not answer, the communicator is of no use any more: end the job. Where ranks share a machine, threads = 0
 * shares its cores, and device "cuda" or "all" gives each rank a GPU of its machine, in turn. docs/ranks.md has more.
 * With split the graph is one that csaw_graph_load() mapped from a .csaw file, of whose arrays with an entry per arc a
 * rank reads its own range alone, or of csaw_graph_load_split(), of which it has no more; other graphs work as well,
 * but stand whole in each rank's memory. All ranks draw a round together, of which each delivers its part. On GPUs, one
 * a rank, walks step there, and CSAW_EDEVMEM says that a part does not fit; samples are picked by the rank's thread.
 * Where each rank has several GPUs it has the whole graph, which they hold together. docs/scaling.md has more. */

/* ---- samplers ------------------------------------------------------------- */

/* Built in: csaw/samplers.h. Your own: csaw_add_sampler(target my.c) in CMake and CSAW_DECLARE_SAMPLER(name),
 * or csaw_sampler_compile() at run time. */
typedef struct csaw_sampler csaw_sampler;
#define CSAW_DECLARE_SAMPLER(NAME) extern const csaw_sampler NAME

/* Compiles a sampler file with the machine's C compiler (the environment's CC, else cc) and loads it; for a plan on a
 * GPU, NVRTC compiles each kernel when it is first launched. Results are cached in a directory that only its owner may
 * write: $CSAW_CACHE_DIR, else $XDG_CACHE_HOME/csaw, else ~/.cache/csaw. */
CSAW_API csaw_status csaw_sampler_compile(const char *path, const csaw_sampler **out);
CSAW_API void csaw_sampler_unload(
    const csaw_sampler *sampler); /* of csaw_sampler_compile(); free samples first; NULL is fine */
CSAW_API const csaw_sampler *csaw_sampler_find(const char *name); /* built in: "uniform", "node2vec", ...; else NULL */
CSAW_API const csaw_sampler *csaw_sampler_at(uint32_t place);     /* the built-in ones in turn; then NULL */
/* A number of 64 bits of the sampler's text or, if it is built in, of its name and the library's version. */
CSAW_API uint64_t csaw_sampler_hash(const csaw_sampler *sampler);
CSAW_API const char *csaw_sampler_name(const csaw_sampler *sampler);
CSAW_API uint32_t csaw_sampler_params_size(const csaw_sampler *sampler);                      /* bytes */
CSAW_API const csaw_param *csaw_sampler_params(const csaw_sampler *sampler, uint32_t *count); /* [count] */
CSAW_API void csaw_sampler_defaults(const csaw_sampler *sampler, void *params);
/* Sets one field from text, such as "p" and "4"; checks type and condition. */
CSAW_API csaw_status csaw_sampler_set(const csaw_sampler *sampler, void *params, const char *name, const char *value);

/* ---- sample --------------------------------------------------------------- */

/* How one arc is picked among biased ones; docs/stream.md gives the map of each from numbers to picks. */
typedef enum csaw_select {
    CSAW_SELECT_AUTO,    /* from the sampler's hooks; never from the machine */
    CSAW_SELECT_UNIFORM, /* samplers without biases */
    CSAW_SELECT_ITS,     /* inverse transform sampling over the row: any sampler */
    CSAW_SELECT_ALIAS,   /* alias tables of 16 bytes an arc: samplers without edge_bias */
    CSAW_SELECT_REJECT,  /* attempts under the bounds of edge_bias: samplers with bounds */
    CSAW_SELECT_RACE     /* one pass over the row, no sums: any sampler */
} csaw_select;
CSAW_API const char *csaw_select_name(csaw_select select); /* "auto", "uniform", ...; NULL if out of range */

typedef struct csaw_seeds {    /* borrowed */
    const csaw_vertex *vertex; /* [count], or [offset[count]]; NULL = seed i is vertex i */
    uint64_t count;            /* of pools */
    const uint64_t *offset;    /* [count + 1]: pool j is vertex[offset[j] .. offset[j + 1] - 1]; NULL = one seed each */
} csaw_seeds;

typedef struct csaw_run_options {
    size_t size;
    uint64_t seed;
    uint32_t walks_per_seed; /* default 1; walk or sample w of pool j is instance w * count + j; at most 2^40 in all */
    uint32_t depth;          /* steps of a walk, hops of a sample; default 80; below 2^24 */
    const uint32_t
        *fanout;  /* [depth]: arcs to pick per vertex (or per layer) at each depth, CSAW_ALL = every one; NULL =
                     1 */
    bool replace; /* picks of one vertex are independent, so arcs may repeat; default: without replacement */
    csaw_select select;
    bool edges;           /* walks: also keep the arcs that they followed */
    bool check;           /* debug: compare hooks with traits at every step (CPU, slow) */
    uint64_t first;       /* csaw_sample_each: instance to begin with, the ones before being done already */
    uint64_t batch_bytes; /* csaw_sample_each: bytes of paths a batch may take; default 64 MiB. Where parts of the graph
                             come and go, a batch of walks is a whole number of rounds of those that are under way
                             together; by default one round, if that is more than 64 MiB, up to 4 GiB. Of several GPUs
                             the defaults are for each */
    /* Walks or samples that are drawn, of all; false stops the run. On the caller's thread, between batches, and in one
     * process on the CPU, but for walks on partitions, up to ten times a second within one, between instances. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} csaw_run_options;

typedef struct csaw_samples csaw_samples;

/* params: the sampler's struct, NULL = its defaults. seeds: NULL = every vertex of the graph, in order.
 * A hook that breaks its rules ends the run: CSAW_EBIAS, of a fanout CSAW_EINVAL. What a run evaluates is checked;
 * alias tables evaluate the static_bias of every arc, before the first instance. Of several faults the message names,
 * on every plan, that of the lowest instance, of its faults that at the lowest depth, and there that on the lowest
 * edge; those on no edge, such as a fanout's, come after those, by vertex. */
CSAW_API csaw_status csaw_sample(csaw_plan *plan, const csaw_sampler *sampler, const void *params,
                                 const csaw_seeds *seeds, const csaw_run_options *options, csaw_samples **out);
/* The same in bounded memory: batches of whole walks in order of instance, each valid during the call. A batch
 * function that returns other than CSAW_OK ends the run with that status. It is called on the caller's thread; neither
 * it nor progress may draw from the plan. A GPU draws the next batch meanwhile, for a thread that lives within the
 * call: device memory then holds two batches and, of walks, room for one more to transpose; where there is less, one
 * batch is drawn at a time. */
CSAW_API csaw_status csaw_sample_each(csaw_plan *plan, const csaw_sampler *sampler, const void *params,
                                      const csaw_seeds *seeds, const csaw_run_options *options,
                                      csaw_status (*batch)(void *user, csaw_samples *samples), void *user);

typedef enum csaw_space { CSAW_HOST, CSAW_DEVICE } csaw_space;

/* Walk w, place s (0 = the seed, up to length) is path[w * walk_stride + s * step_stride]; the arc of step s
 * (0 .. length - 1) is edge[w * walk_stride + s * step_stride]. Host memory: walk_stride = length + 1,
 * step_stride = 1 for path; edge has its own stride of length. Device memory: step-major. */
typedef struct csaw_walks {
    csaw_space space;
    uint64_t first; /* instance of walk 0 */
    uint64_t num_walks;
    uint32_t length;         /* steps */
    const csaw_vertex *path; /* CSAW_NONE after a walk's end */
    uint64_t path_walk_stride, path_step_stride;
    const csaw_edge *edge; /* NULL unless asked for; CSAW_NO_EDGE where a step followed no arc */
    uint64_t edge_walk_stride, edge_step_stride;
} csaw_walks;
/* Borrowed from samples until they are freed. CSAW_HOST copies from the device once; CSAW_DEVICE needs a plan on
 * one GPU. For runs that are walks: one seed each, no fanout, and a sampler without frontier_size, fanout hook and
 * flags beside CSAW_SECOND_ORDER. */
CSAW_API csaw_status csaw_samples_walks(csaw_samples *samples, csaw_space space, csaw_walks *out);

/* The arcs that were sampled, in the order of (instance, depth, place of src in the frontier, pick). Arc k of instance
 * first + i: offset[i] <= k < offset[i + 1]. */
typedef struct csaw_arcs {
    csaw_space space;
    uint64_t first; /* instance of place 0 */
    uint64_t num_instances;
    const uint64_t *offset;       /* [num_instances + 1] */
    const csaw_vertex *src, *dst; /* [offset[num_instances]] */
    const csaw_edge *edge;        /* the same: ids in the graph */
    const uint32_t *depth;        /* the same */
    const uint64_t *seed_offset;  /* [num_instances + 1] */
    const csaw_vertex *seed;      /* [seed_offset[num_instances]]: each instance's first frontier */
} csaw_arcs;
/* Borrowed from samples until they are freed. CSAW_HOST: arcs of samples, copied from the device once, and of walks, if
 * the run kept their edges. CSAW_DEVICE: of samples that are no walks, by a plan on one GPU: all arrays, the offsets
 * too, stand in its memory, complete for any stream. */
CSAW_API csaw_status csaw_samples_arcs(csaw_samples *samples, csaw_space space, csaw_arcs *out);
/* The plan keeps the host memory, up to 8 GiB (for each of several GPUs), for its next samples. */
CSAW_API void csaw_samples_free(csaw_samples *samples);

/* ---- subgraphs -----------------------------------------------------------
 *
 * DIRECTION. csaw samples along the rows of the graph: an arc goes from src, the vertex that was expanded (row), to
 * dst, the neighbour that was picked (column). In a graph neural network the message goes the other way, from the
 * picked neighbour (column) to the vertex that was expanded (row). So the rows below are the receivers, ready for SpMM.
 * Where messages follow the arcs of a directed graph, sample csaw_graph_transpose() of it: its rows are the arcs in. */

typedef struct csaw_subgraph csaw_subgraph;

typedef struct csaw_subgraph_options {
    size_t size;
    bool per_instance; /* a graph for every instance; default: one graph, the union of all */
    bool induced;      /* all arcs of the graph between the vertices; default: those sampled, each once */
    bool arcs_only; /* vertices are the ends of sampled arcs alone, not the first frontier: for random_edge and others
                       whose pool is the whole graph */
} csaw_subgraph_options;

typedef struct csaw_subgraph_view {
    uint64_t num_graphs;
    uint64_t first;                /* per_instance: instance of graph 0 */
    const uint64_t *vertex_offset; /* [num_graphs + 1] graph g's vertices have places vertex_offset[g] .. [g + 1] - 1 */
    const csaw_vertex *vertex;     /* [vertex_offset[num_graphs]] by place: number in the graph that was sampled */
    const uint64_t *rowptr;        /* [vertex_offset[num_graphs] + 1] by place: one CSR over all graphs */
    const csaw_vertex *col; /* [rowptr[vertex_offset[num_graphs]]] local: place - vertex_offset[g]; rows ascend */
    const csaw_edge *edge;  /* the same: ids in the graph that was sampled */
} csaw_subgraph_view;

/* Vertices are numbered in the order of first visit: first frontiers first (of all instances, in a union), then src and
 * dst of every arc as csaw_samples_arcs() delivers them. graph is the one that was sampled; borrowed until the subgraph
 * is freed. Walks need the option edges of their run. */
CSAW_API csaw_status csaw_subgraph_create(const csaw_graph *graph, csaw_samples *samples,
                                          const csaw_subgraph_options *options, csaw_subgraph **out);
CSAW_API csaw_subgraph_view csaw_subgraph_look(const csaw_subgraph *subgraph); /* borrowed */
/* Graph `place` of it as a csaw_graph of its own: to save, to draw, to walk on. Weights, types and times come along;
 * names are those of the graph that was sampled or, if it has none, its vertex numbers. */
CSAW_API csaw_status csaw_subgraph_graph(const csaw_subgraph *subgraph, uint64_t place, csaw_graph **out);
CSAW_API void csaw_subgraph_free(csaw_subgraph *subgraph);

/* A minibatch in layers, as DGL (csaw_neighbor_again) and PyTorch Geometric (csaw_neighbor_once) build them. Vertices
 * of an instance are numbered in the order of first visit, the first frontier first. Block d holds the picks of depth
 * d: its rows are the vertices visited before them, its columns those and the ones that the picks reached. So the rows
 * of block d + 1 are the columns of block d, and a network runs from the last block to block 0. A row that was not in
 * the frontier at that depth is empty. A frontier vertex that no arc led to (after a jump) counts as visited before the
 * picks of its depth. */
typedef struct csaw_blocks csaw_blocks;

typedef struct csaw_block_view {
    csaw_space space; /* of the four arrays */
    uint64_t num_dst; /* rows: the vertices that receive; visited before the picks of this depth */
    uint64_t num_src; /* columns: the vertices that send; the first num_dst are the rows */
    uint64_t num_edges;
    const csaw_vertex *vertex; /* [num_src] numbers in the graph that was sampled; the same array for every depth */
    const uint64_t *rowptr;    /* [num_dst + 1], begins with 0 */
    const csaw_vertex *col;    /* [num_edges] local; a row in the order of its picks, repeated ones apart */
    const csaw_edge *edge;     /* [num_edges] ids in the graph that was sampled */
} csaw_block_view;

CSAW_API csaw_status csaw_blocks_create(csaw_samples *samples, csaw_blocks **out); /* keeps nothing of samples */
/* The same in the memory that is named. CSAW_DEVICE: of samples by a plan on one GPU, whose memory then has all arrays
 * of the views, complete for any stream, with the bits of CSAW_HOST; to be freed when no stream reads them any more. At
 * most 2^30 seeds and ends of arcs. */
CSAW_API csaw_status csaw_blocks_create_in(csaw_samples *samples, csaw_space space, csaw_blocks **out);
CSAW_API uint64_t csaw_blocks_instances(const csaw_blocks *blocks);
CSAW_API uint32_t csaw_blocks_depth(const csaw_blocks *blocks); /* blocks of each instance: the depth of the run */
/* place: of the instance among those of the samples, from 0. The view is borrowed. */
CSAW_API csaw_status csaw_blocks_look(const csaw_blocks *blocks, uint64_t place, uint32_t depth, csaw_block_view *out);
CSAW_API void csaw_blocks_free(csaw_blocks *blocks);

/* ---- samples and subgraphs in files ---------------------------------------- */

typedef struct csaw_save_options {
    size_t size;
    const char *format; /* "text" "npz" "graphml", subgraphs also "csaw"; NULL = by suffix, else text */
    bool plain;         /* text of samples: src dst and what the graph says of the arc, not instance, edge and depth */
    bool no_header;     /* text: without the comments on top */
    const void *communicator; /* csaw_arc_writer_open(): as csaw_write_options */
} csaw_save_options;

/* Samples as sampled; docs/output.md gives the formats. Text is an edge list by the graph's names; npz a matrix of the
 * whole graph's shape with every sampled arc once; graphml the vertices and all picks. "-" = standard output (text,
 * graphml). As csaw_writer: a file appears under its name when it is whole, or not at all. */
CSAW_API csaw_status csaw_samples_save(const csaw_graph *graph, csaw_samples *samples, const char *path,
                                       const csaw_save_options *options);
/* A subgraph: text and graphml by the graph's names; npz relabelled, of several graphs block diagonal, with arrays
 * vertex, vertex_offset and edge besides. */
CSAW_API csaw_status csaw_subgraph_save(const csaw_subgraph *subgraph, const char *path,
                                        const csaw_save_options *options);

/* Samples as text, batch by batch (csaw_sample_each). */
typedef struct csaw_arc_writer csaw_arc_writer;
CSAW_API csaw_status csaw_arc_writer_open(const csaw_graph *graph, const char *path, const csaw_save_options *options,
                                          csaw_arc_writer **out); /* borrows the graph */
CSAW_API csaw_status csaw_arc_writer_write(csaw_arc_writer *writer, csaw_samples *samples);
CSAW_API csaw_status csaw_arc_writer_close(csaw_arc_writer *writer); /* frees the writer, whatever it returns */
CSAW_API void csaw_arc_writer_discard(csaw_arc_writer *writer);      /* leaves no file; NULL is fine */

/* ---- walks in files ------------------------------------------------------- */

typedef struct csaw_writer csaw_writer;

typedef struct csaw_write_options {
    size_t size;
    uint64_t num_walks;
    uint32_t length;          /* steps */
    const char *format;       /* "text" "npy" "bin"; NULL = by suffix, text unless .npy or .bin */
    bool edges;               /* write the arcs that were followed instead of the vertices */
    const csaw_graph *graph;  /* text: write vertices by their names; NULL = by number */
    const char *job;          /* all that decides the walks, in words; resuming compares it. NULL = cannot be resumed */
    bool resume;              /* go on with what an interrupted writer of the same job left at path */
    const void *communicator; /* address of an MPI_Comm whose ranks write one file together: all of them open, write (a
                                 round of their shares, in order of rank) and close. NULL = this process alone */
} csaw_write_options;

/* text: one walk a line, separated by one blank, ended walks short (gensim's LineSentence). npy: uint32 [num_walks,
 * length + 1], or edges uint64 [num_walks, length], padded with all ones after a walk's end. bin: the same without a
 * header.
 * "-" = standard output. The file appears under its name only when csaw_writer_close() has succeeded; until then it is
 * PATH.part, and with a job PATH.resume says how far it is good: after the first csaw_writer_write(), then twice a
 * second at most. */
CSAW_API csaw_status csaw_writer_open(const char *path, const csaw_write_options *options, csaw_writer **out);
CSAW_API uint64_t csaw_writer_done(const csaw_writer *writer); /* walks already there: csaw_run_options.first */
CSAW_API csaw_status csaw_writer_write(csaw_writer *writer, csaw_samples *samples); /* in order of instance */
CSAW_API csaw_status csaw_writer_close(csaw_writer *writer); /* frees the writer, whatever it returns */
/* Gives up. With a job, what was finished stays, to be resumed; else it is removed. NULL is fine. */
CSAW_API void csaw_writer_discard(csaw_writer *writer);

/* Options without ceremony (C): CSAW_RUN(.seed = 7, .depth = 80). */
#define CSAW_LOAD(...) (&(csaw_load_options){.size = sizeof(csaw_load_options), __VA_ARGS__})
#define CSAW_GRAPH(...) (&(csaw_random_graph_options){.size = sizeof(csaw_random_graph_options), __VA_ARGS__})
#define CSAW_WRITE(...) (&(csaw_write_options){.size = sizeof(csaw_write_options), __VA_ARGS__})
#define CSAW_SUBGRAPH(...) (&(csaw_subgraph_options){.size = sizeof(csaw_subgraph_options), __VA_ARGS__})
#define CSAW_SAVE(...) (&(csaw_save_options){.size = sizeof(csaw_save_options), __VA_ARGS__})
#define CSAW_RMAT(...) (&(csaw_rmat_options){.size = sizeof(csaw_rmat_options), __VA_ARGS__})
#define CSAW_PLAN(...) (&(csaw_plan_options){.size = sizeof(csaw_plan_options), __VA_ARGS__})
#define CSAW_RUN(...) (&(csaw_run_options){.size = sizeof(csaw_run_options), __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif
