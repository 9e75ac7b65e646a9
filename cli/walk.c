/* SPDX-License-Identifier: MIT */
/* cli/walk.c - csaw walk: samples walks and writes them batch by batch, so that memory stays bounded however many there
 * are, and a run that was stopped can be gone on with. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "picture.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "seeds.h"
#include "select_option.h"
#include "walk_options.h"
#include "walk_size.h"

static const uint64_t MOST_WALKS = (uint64_t)1 << 40;

typedef struct tally { /* what the batch callback sees go by */
    csaw_writer *writer;
    picture *picture; /* NULL unless --draw */
    walk_outcome *outcome;
} tally;

/* ---- options ---- */

static void add_options(arguments *arguments, walk_options *options) {
    const option own[] = {
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "another seed, other walks; the same seed, the same walks (default 0)"},
        {.name = "seeds",
         .kind = OPTION_INPUT,
         .value = &options->seeds_file,
         .placeholder = "FILE",
         .help = "start from these vertices, by name, quoted as in edge lists (default: from every vertex)"},
        {.name = "select",
         .kind = OPTION_TEXT,
         .value = &options->select_name,
         .placeholder = "METHOD",
         .help = "auto, uniform, its, alias, reject or race (default auto)"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_OUTPUT,
         .value = &options->output,
         .placeholder = "FILE",
         .help = "where the walks go (default -, standard output)"},
        {.name = "output-format",
         .kind = OPTION_TEXT,
         .value = &options->output_format,
         .placeholder = "text|npy|bin",
         .help = "default: as FILE ends, .npy or .bin, else text"},
        {.name = "edges",
         .kind = OPTION_FLAG,
         .value = &options->edges,
         .help = "write the edges that the walks followed, by number"},
        {.name = "resume",
         .kind = OPTION_FLAG,
         .value = &options->resume,
         .help = "go on with the run that was stopped before FILE was whole"},
        {.name = "batch",
         .kind = OPTION_COUNT,
         .value = &options->batch,
         .placeholder = "N",
         .lowest = 1,
         .highest = (uint64_t)1 << 40,
         .help =
             "walks made at a time, in memory (default: 8 MiB; for a GPU, a simulated one or --split 64, or a round "
             "where parts come and go)"},
        {.name = "draw",
         .kind = OPTION_OUTPUT,
         .value = &options->draw,
         .placeholder = "FILE.svg",
         .help = "draw the first walks over the graph"},
        {.name = "check",
         .kind = OPTION_FLAG,
         .value = &options->check,
         .help = "check the sampler's own claims at every step (CPU, slow)"},
        {.name = "json",
         .kind = OPTION_FLAG,
         .value = &options->json,
         .help = "print the summary as one JSON object on standard output"},
    };
    sampler_options_add(arguments, &options->sampler, true);
    walk_size_add(arguments, &options->length, &options->walks_per_seed);
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    graph_options_add(arguments, &options->graph);
    plan_options_add(arguments, &options->plan);
}

static bool ends_in(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && !strcmp(text + length - tail, suffix);
}

static int check_options(const arguments *arguments, walk_options *options) {
    if (!arguments->num_operands) return arguments_wrong(arguments, "GRAPH is missing: which file holds the graph?");
    options->path = arguments->operands[0];
    if (options->json && !strcmp(options->output, "-"))
        return arguments_wrong(arguments, "--json takes standard output; send the walks to a file with -o FILE");
    if (options->resume && !strcmp(options->output, "-"))
        return arguments_wrong(arguments,
                               "--resume: standard output cannot be gone on with; name the file with -o FILE");
    if (options->resume && options->draw)
        return arguments_wrong(arguments, "--draw shows the first walks, and --resume makes only the rest; drop one");
    if (options->output_format && strcmp(options->output_format, "text") && strcmp(options->output_format, "npy") &&
        strcmp(options->output_format, "bin"))
        return arguments_wrong(arguments, "--output-format %s: give text, npy or bin", options->output_format);
    if (options->draw && ranks_size() > 1)
        return arguments_wrong(arguments,
                               "--draw shows walks that one process makes; leave it out, or leave mpirun out");
    if (options->draw && !ends_in(options->draw, ".svg"))
        return arguments_wrong(arguments, "--draw %s: the picture is SVG; let its name end in .svg", options->draw);
    int result = arguments_keep_files(arguments, options->path, NULL);
    return result >= 0 ? result : select_option_find(arguments, options->select_name, &options->select);
}

/* ---- the run ---- */

static csaw_status take_batch(void *user, csaw_samples *samples) {
    tally *tally = user;
    csaw_walks walks;
    double begun = seconds_now();
    csaw_status status = csaw_samples_walks(samples, CSAW_HOST, &walks);
    if (status != CSAW_OK) return status;
    for (uint64_t w = 0; w < walks.num_walks; w++) {
        const csaw_vertex *path = walks.path + w * walks.path_walk_stride;
        uint32_t low = 0, high = walks.length; /* the last place that holds a vertex */
        if (path[high * walks.path_step_stride] == CSAW_NONE) {
            while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;
                if (path[middle * walks.path_step_stride] == CSAW_NONE)
                    high = middle;
                else
                    low = middle;
            }
            high = low;
            tally->outcome->ended_early++;
        }
        tally->outcome->steps += high;
    }
    if (tally->picture) picture_take(tally->picture, &walks);
    tally->outcome->deliver += seconds_now() - begun;
    begun = seconds_now();
    status = csaw_writer_write(tally->writer, samples);
    tally->outcome->write += seconds_now() - begun;
    return status;
}

/* Unless --batch says otherwise: on the CPU small enough to stop and to show progress often. On other devices 0, what
 * csaw_sample_each() finds best: where parts of the graph come and go, a smaller batch has them come more often, and
 * ranks that a graph is split over run dry at the end of each. */
static uint64_t batch_bytes(const walk_options *options) {
    const char *device = options->plan.device;
    const uint64_t walk =
        (options->length + 1) * sizeof(csaw_vertex) + (options->edges ? options->length * sizeof(csaw_edge) : 0);
    const uint64_t most = (uint64_t)1 << 40;
    const bool small = !options->plan.split && (!device || !strcmp(device, "cpu"));
    if (!options->batch) return small ? (uint64_t)8 << 20 : 0;
    return options->batch < most / walk ? options->batch * walk : most;
}

static csaw_status make_walks(const walk_options *options, csaw_plan *plan, const csaw_seeds *seeds, tally *tally) {
    progress progress;
    progress_begin(&progress, tally->outcome->resumed);
    csaw_status status =
        csaw_sample_each(plan, options->sampler.sampler, options->sampler.params, seeds->vertex ? seeds : NULL,
                         CSAW_RUN(.seed = options->seed, .walks_per_seed = (uint32_t)options->walks_per_seed,
                                  .depth = (uint32_t)options->length, .select = options->select,
                                  .edges = options->edges, .check = options->check, .first = tally->outcome->resumed,
                                  .batch_bytes = batch_bytes(options), .progress = progress_report, .user = &progress),
                         take_batch, tally);
    progress_end(&progress);
    tally->outcome->seconds = seconds_now() - progress.begun;
    tally->outcome->walk = tally->outcome->seconds - tally->outcome->deliver - tally->outcome->write;
    return status;
}

/* Not a pipe, not a device. */
static bool makes_file(const char *path) {
    struct stat target;
    return strcmp(path, "-") && (stat(path, &target) != 0 || S_ISREG(target.st_mode));
}

/* What was finished is kept if it goes to a file; a sampler at fault would only fail again. */
static int give_up(const walk_options *options, const walk_outcome *outcome, csaw_writer *writer, csaw_status status) {
    const bool file = makes_file(options->output);
    uint64_t done = csaw_writer_done(writer);
    int result = EXIT_FAILED;
    if (status == CSAW_ESTOPPED) {
        result = progress_exit_code();
        if (!file)
            report_failure("stopped; the output is not whole");
        else if (done)
            report_failure("stopped; %s of %s walks are kept in %s.part", count_text(done).text,
                           count_text(outcome->num_walks).text, options->output);
        else
            report_failure("stopped before the first walks were made; no file was written");
    } else {
        report_library_failure();
    }
    csaw_writer_discard(writer);
    if (file && status != CSAW_EBIAS) walk_tell_resume(options);
    return result;
}

static int sample(const walk_options *options, csaw_plan *plan, const csaw_graph *graph, const csaw_seeds *seeds,
                  tally *tally) {
    walk_outcome *outcome = tally->outcome;
    char *job = options->resume || makes_file(options->output) ? walk_job(options, graph, seeds) : NULL;
    csaw_status status =
        csaw_writer_open(options->output,
                         CSAW_WRITE(.num_walks = outcome->num_walks, .length = (uint32_t)options->length,
                                    .format = options->output_format, .edges = options->edges, .graph = graph,
                                    .job = job, .resume = options->resume, .communicator = ranks_communicator()),
                         &tally->writer);
    free(job);
    if (status != CSAW_OK) return report_library_failure();
    outcome->resumed = csaw_writer_done(tally->writer);
    status = make_walks(options, plan, seeds, tally);
    if (status != CSAW_OK) return give_up(options, outcome, tally->writer, status);
    const double begun = seconds_now();
    status = csaw_writer_close(tally->writer);
    outcome->write += seconds_now() - begun;
    if (status == CSAW_OK) return -1;
    report_library_failure();
    walk_tell_resume(options);
    return EXIT_FAILED;
}

/* ---- the command ---- */

/* One step from one vertex shows whether the sampler walks at all. What else may be wrong the run itself will say. */
static int refuse_no_walk(const walk_options *options, csaw_plan *plan, const csaw_csr *csr) {
    const csaw_vertex first = 0;
    csaw_samples *samples = NULL;
    csaw_walks walks;
    if (!csr->num_vertices ||
        csaw_sample(plan, options->sampler.sampler, options->sampler.params, &(csaw_seeds){&first, 1, NULL},
                    CSAW_RUN(.depth = 1, .select = options->select), &samples) != CSAW_OK)
        return -1;
    const bool walk = csaw_samples_walks(samples, CSAW_HOST, &walks) == CSAW_OK;
    csaw_samples_free(samples);
    return walk ? -1
                : report_failure("%s is no walk: it has pools, or picks several arcs a step; use it with csaw sample "
                                 "(csaw help sample)",
                                 options->sampler.name);
}

static void sum_outcome(walk_outcome *outcome) {
    uint64_t sums[] = {outcome->steps, outcome->ended_early};
    ranks_sum(sums, 2);
    outcome->steps = sums[0];
    outcome->ended_early = sums[1];
}

static int walk(walk_options *options, const csaw_graph *graph, double load) {
    csaw_plan *plan = NULL;
    csaw_seeds seeds = {0};
    walk_outcome outcome = {.csr = csaw_graph_csr(graph), .load = load};
    tally tally = {.outcome = &outcome};
    int result = options->seeds_file ? seeds_read(options->seeds_file, graph, &seeds) : -1;
    uint64_t num_seeds = seeds.vertex ? seeds.count : outcome.csr.num_vertices;
    if (result < 0 && num_seeds && options->walks_per_seed > MOST_WALKS / num_seeds)
        result =
            report_failure("%" PRIu64 " start vertices times --num-walks %" PRIu64
                           " is more than 2^40 walks; lower --num-walks, or give fewer start vertices with --seeds",
                           num_seeds, options->walks_per_seed);
    outcome.num_walks = num_seeds * options->walks_per_seed;
    result = ranks_agree(result); /* what follows fares alike on all of them */
    const double begun = seconds_now();
    options->plan.walk_length = options->length;
    options->plan.walks_per_seed = options->walks_per_seed;
    if (result < 0) result = plan_options_create(graph, &options->plan, &plan);
    if (result < 0) result = refuse_no_walk(options, plan, &outcome.csr);
    outcome.plan = seconds_now() - begun;
    if (result < 0 && options->draw) tally.picture = picture_begin(&outcome.csr, num_seeds);
    if (result < 0) result = sample(options, plan, graph, &seeds, &tally);
    if (result < 0 && options->draw)
        result = picture_write(tally.picture, options->draw, options->path, options->sampler.name);
    if (result < 0) {
        sum_outcome(&outcome);
        if (ranks_rank() == 0) (options->json ? walk_print_json : walk_print_summary)(options, &outcome);
        result = EXIT_OK;
    }
    picture_free(tally.picture);
    csaw_plan_free(plan);
    free((void *)seeds.vertex);
    return result;
}

static int run(int argc, char **argv) {
    walk_options options = {.output = "-", .argc = argc, .argv = argv};
    arguments arguments = {.command = &walk_command};
    csaw_graph *graph = NULL;
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = sampler_options_resolve(&arguments, &options.sampler, "node2vec");
    if (result < 0) result = check_options(&arguments, &options);
    const double begun = seconds_now();
    result = ranks_agree(result); /* they may load together */
    if (result < 0)
        result = graph_options_load_for(&arguments, &options.graph, options.path, &options.plan, true, &graph);
    if (result < 0) result = walk(&options, graph, seconds_now() - begun);
    csaw_graph_free(graph);
    sampler_options_free(&options.sampler);
    return result;
}

const command walk_command = {
    .name = "walk",
    .operands = "GRAPH",
    .num_operands = 1,
    .summary = "sample random walks: node2vec, DeepWalk, or your own sampler",
    .about = "Walks --num-walks times from every vertex of GRAPH, --walk-length steps each: a walk of N steps\n"
             "visits N+1 vertices. As text a walk is one line, ready for word2vec (gensim's LineSentence), and\n"
             "vertices have the names of GRAPH; npy is one array of uint32 with N+1 columns, 4294967295 after a\n"
             "walk's end, and bin its bytes alone. With --edges the entries are edges (npy: uint64, N columns).\n"
             "A walk ends early only at a vertex without a way on. Equal options give equal bytes, whatever the\n"
             "device and the number of threads or partitions.\n\n"
             "Without --algo and --sampler walks are node2vec's. With its defaults, p = q = 1, every neighbour is\n"
             "picked alike (on a graph with weights: by weight); --algo deepwalk, and biased, do so faster.\n\n"
             "FILE appears when it is whole; until then FILE.part grows and FILE.resume says how far it is good.\n"
             "After Ctrl-C, a kill, a crash or a full disk the same line with --resume goes on from there.\n"
             "GRAPH is an edge list: see csaw help info. --seeds has blanks, commas or lines between vertices;\n"
             "a name that holds one of these, or begins with # or %, stands in quotes: \"New York\".\n",
    .examples = "  csaw walk data/karate.txt --undirected --algo node2vec --p 4 --q 1 -o walks.txt\n"
                "  csaw walk data/lesmis.txt --undirected --algo deepwalk --walk-length 40 -o walks.npy\n"
                "  csaw walk graph.txt --seeds start.txt --edges --resume -o edges.npy\n"
                "  csaw walk graph.txt --sampler my.c --param p=4 --num-walks 1 --draw walks.svg -o walks.txt\n",
    .run = run,
    .on_ranks = true,
};
