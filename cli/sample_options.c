/* SPDX-License-Identifier: MIT */
/* cli/sample_options.c - the options of csaw sample and csaw subgraph, and the graph, plan and pools that they make. */
#include "sample_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "report.h"
#include "seeds.h"
#include "select_option.h"

static const uint64_t MOST_INSTANCES = (uint64_t)1 << 40;

void sample_options_add(arguments *arguments, sample_options *options) {
    const option own[] = {
        {.name = "fanout",
         .kind = OPTION_TEXT,
         .value = &options->fanout_text,
         .placeholder = "15,10",
         .help = "arcs to pick at each hop, per vertex (or layer); all = every one"},
        {.name = "depth",
         .kind = OPTION_COUNT,
         .value = &options->depth,
         .placeholder = "N",
         .lowest = 1,
         .highest = ((uint64_t)1 << 24) - 1,
         .help = "hops, for samplers that count by themselves, and for walks"},
        {.name = "replace",
         .kind = OPTION_FLAG,
         .value = &options->replace,
         .help = "picks are independent, so arcs may repeat (default: they do not)"},
        {.name = "seeds",
         .kind = OPTION_INPUT,
         .value = &options->seeds_file,
         .placeholder = "FILE",
         .help = "begin at these vertices, by name, quoted as in edge lists (default: at every vertex)"},
        {.name = "batch-size",
         .kind = OPTION_COUNT,
         .value = &options->batch_size,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT32_MAX,
         .help = "N seeds after the other make one sample (default 1)"},
        {.name = "one-pool",
         .kind = OPTION_FLAG,
         .value = &options->one_pool,
         .help = "all seeds together make one sample"},
        {.name = "samples",
         .kind = OPTION_COUNT,
         .value = &options->samples,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT32_MAX,
         .help = "samples from each seed or batch (default 1)"},
        {.name = "along",
         .kind = OPTION_TEXT,
         .value = &options->along,
         .placeholder = "out|in",
         .help = "follow arcs, or go against them: sample the transpose (default out)"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "another seed, other samples; the same seed, the same (default 0)"},
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
         .help = "where the result goes (default -, standard output)"},
        {.name = "output-format",
         .kind = OPTION_TEXT,
         .value = &options->output_format,
         .placeholder = "NAME",
         .help = "text, npz, graphml; csaw for a subgraph (default: as FILE ends)"},
        {.name = "plain",
         .kind = OPTION_FLAG,
         .value = &options->plain,
         .help = "text: lines of src dst [weight] alone"},
        {.name = "no-header",
         .kind = OPTION_FLAG,
         .value = &options->no_header,
         .help = "text: without the comment on top"},
        {.name = "draw",
         .kind = OPTION_OUTPUT,
         .value = &options->draw,
         .placeholder = "FILE.svg",
         .help = "draw what was sampled, coloured by depth"},
        {.name = "check",
         .kind = OPTION_FLAG,
         .value = &options->check,
         .help = "check the sampler's own claims at every step (slow)"},
        {.name = "json",
         .kind = OPTION_FLAG,
         .value = &options->json,
         .help = "print the summary as one JSON object on standard output"},
    };
    sampler_options_add(arguments, &options->sampler, true);
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
    graph_options_add(arguments, &options->graph);
    plan_options_add(arguments, &options->plan);
}

/* --fanout and --depth: one entry is repeated for every hop. */
static int read_fanout(const arguments *arguments, sample_options *options) {
    const char *at = options->fanout_text;
    uint64_t count = 0;
    if (!at && !options->depth)
        return arguments_wrong(arguments,
                               "how much is to be sampled? Give --fanout 15,10 (arcs of every vertex, hop by hop), or "
                               "--depth N where the sampler counts by itself");
    if (!at) return -1;
    for (;; at++) {
        char word[24];
        uint64_t number = CSAW_ALL;
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 0, at);
        if (strcmp(word, "all") && (!parse_count(word, &number) || number > (uint64_t)1 << 23))
            return arguments_wrong(arguments,
                                   "--fanout %s: give numbers up to 8388608, or all, with commas between, such as "
                                   "15,10 or all,5",
                                   options->fanout_text);
        if (count == MAX_HOPS)
            return arguments_wrong(arguments, "--fanout has more than %d entries; --depth N repeats one", MAX_HOPS);
        options->fanout[count++] = (uint32_t)number;
        at += length;
        if (!*at) break;
    }
    if (options->depth && options->depth != count && count > 1)
        return arguments_wrong(arguments,
                               "--fanout has %" PRIu64 " entries, but --depth is %" PRIu64
                               "; leave --depth out, or give one entry for all hops",
                               count, options->depth);
    if (!options->depth) options->depth = count;
    if (options->depth > MAX_HOPS)
        return arguments_wrong(arguments, "--fanout goes with up to %d hops, but --depth is %" PRIu64 "; lower it",
                               MAX_HOPS, options->depth);
    for (uint64_t d = count; d < options->depth; d++) options->fanout[d] = options->fanout[0];
    return -1;
}

static bool ends_in(const char *text, const char *suffix) {
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && !strcmp(text + length - tail, suffix);
}

int sample_options_check(const arguments *arguments, sample_options *options) {
    if (!arguments->num_operands) return arguments_wrong(arguments, "GRAPH is missing: which file holds the graph?");
    options->path = arguments->operands[0];
    if (options->one_pool && options->batch_size)
        return arguments_wrong(arguments, "--one-pool and --batch-size exclude each other; drop one");
    if (strcmp(options->along, "out") && strcmp(options->along, "in"))
        return arguments_wrong(arguments, "--along %s: give out or in", options->along);
    if (options->json && !strcmp(options->output, "-"))
        return arguments_wrong(arguments, "--json takes standard output; send the result to a file with -o FILE");
    if (options->draw && !ends_in(options->draw, ".svg"))
        return arguments_wrong(arguments, "--draw %s: the picture is SVG; let its name end in .svg", options->draw);
    int result = arguments_keep_files(arguments, options->path, NULL);
    if (result < 0) result = read_fanout(arguments, options);
    return result >= 0 ? result : select_option_find(arguments, options->select_name, &options->select);
}

/* As the library sees it. */
bool sample_is_text(const sample_options *options) {
    static const char *const others[] = {".npz", ".graphml", ".graphml.gz", ".csaw"};
    bool text = true;
    if (options->output_format) return !strcmp(options->output_format, "text");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) text = text && !ends_in(options->output, others[i]);
    return text;
}

/* Pools of batch_size seeds, the last one perhaps smaller. */
static void make_pools(const sample_options *options, csaw_seeds *seeds) {
    const uint64_t count = seeds->count;
    uint64_t size = options->one_pool ? count : options->batch_size;
    if (!size) return;
    const uint64_t pools = (count + size - 1) / size;
    uint64_t *offset = allocate(pools + 1, sizeof *offset);
    for (uint64_t j = 0; j <= pools; j++) offset[j] = j * size < count ? j * size : count;
    seeds->offset = offset;
    seeds->count = pools;
}

int sample_job_start(const arguments *arguments, const sample_options *options, sample_job *job) {
    const bool backwards = !strcmp(options->along, "in"), parts = !backwards && !options->plain;
    int result = ranks_agree(-1); /* they may load together */
    if (result < 0)
        result = graph_options_load_for(arguments, &options->graph, options->path, &options->plan, parts, &job->graph);
    if (result >= 0) return result;
    if (backwards) {
        csaw_graph *loaded = job->graph;
        job->graph = NULL;
        const csaw_status status = csaw_graph_transpose(loaded, &job->graph);
        csaw_graph_free(loaded);
        if (status != CSAW_OK) return report_library_failure();
    }
    job->seeds.count = csaw_graph_csr(job->graph).num_vertices;
    if (options->seeds_file) result = seeds_read(options->seeds_file, job->graph, &job->seeds);
    if (result >= 0) return result;
    make_pools(options, &job->seeds);
    if (job->seeds.count && options->samples > MOST_INSTANCES / job->seeds.count)
        return report_failure("%" PRIu64 " pools of seeds times --samples %" PRIu64
                              " is more than 2^40; lower --samples, or give fewer seeds",
                              job->seeds.count, options->samples);
    job->instances = job->seeds.count * options->samples;
    result = ranks_agree(-1); /* what follows fares alike on all of them */
    return result < 0 ? plan_options_create(job->graph, &options->plan, &job->plan) : result;
}

void sample_job_free(sample_job *job) {
    csaw_plan_free(job->plan);
    csaw_graph_free(job->graph);
    free((void *)job->seeds.vertex);
    free((void *)job->seeds.offset);
}

csaw_run_options sample_run(const sample_options *options) {
    return (csaw_run_options){.size = sizeof(csaw_run_options),
                              .seed = options->seed,
                              .walks_per_seed = (uint32_t)options->samples,
                              .depth = (uint32_t)options->depth,
                              .fanout = options->fanout_text ? options->fanout : NULL,
                              .replace = options->replace,
                              .select = options->select,
                              .check = options->check,
                              .edges = true};
}
