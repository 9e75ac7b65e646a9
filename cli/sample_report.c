/* SPDX-License-Identifier: MIT */
/* cli/sample_report.c - what csaw sample and csaw subgraph say when they are done. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ranks.h"
#include "report.h"
#include "sample_options.h"

static uint64_t file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

static double per_second(const sample_job *job) { return job->seconds > 0 ? (double)job->edges / job->seconds : 0; }

static void print_fanout(FILE *out, const sample_options *options, const char *all, const char *between) {
    for (uint64_t d = 0; d < options->depth; d++) {
        if (d) fputs(between, out);
        if (options->fanout[d] == CSAW_ALL)
            fputs(all, out);
        else
            fprintf(out, "%" PRIu32, options->fanout[d]);
    }
}

static void report_text(const sample_options *options, const sample_job *job, bool subgraph) {
    const csaw_csr csr = csaw_graph_csr(job->graph);
    uint32_t num_params;
    fprintf(stderr, "graph    %s: %s vertices, %s arcs, %s, %s%s\n", options->path, count_text(csr.num_vertices).text,
            count_text(csr.num_edges).text, options->graph.undirected ? "undirected" : "as in the file",
            csr.weight ? "weighted" : "without weights", strcmp(options->along, "in") ? "" : ", against its arcs");
    fprintf(stderr, "samples  %s by %s", count_text(job->instances).text, options->sampler.name);
    csaw_sampler_params(options->sampler.sampler, &num_params);
    if (num_params) {
        fputs(" (", stderr);
        sampler_options_print(stderr, &options->sampler, SAMPLER_TEXT);
        fputs(")", stderr);
    }
    if (options->fanout_text) {
        fputs(", fanout ", stderr);
        print_fanout(stderr, options, "all", ",");
    } else {
        fprintf(stderr, ", depth %" PRIu64, options->depth);
    }
    fprintf(stderr, "%s, seed %" PRIu64 ", on %s", options->replace ? ", with replacement" : "", options->seed,
            options->plan.device ? options->plan.device : "cpu");
    if (ranks_size() > 1)
        fprintf(stderr, " of %u ranks%s", ranks_size(), options->plan.split ? ", the graph split over them" : "");
    fputc('\n', stderr);
    fprintf(stderr, "edges    %s sampled in %.3g s: %s a second\n", count_text(job->edges).text, job->seconds,
            rate_text(per_second(job)).text);
    if (subgraph)
        fprintf(stderr, "subgraph %s: %s vertices, %s arcs\n", job->graphs == 1 ? "one" : count_text(job->graphs).text,
                count_text(job->vertices).text, count_text(job->kept).text);
    if (strcmp(options->output, "-"))
        fprintf(stderr, "wrote    %s: %s\n", options->output, bytes_text(file_bytes(options->output)).text);
    if (options->draw) fprintf(stderr, "drew     %s\n", options->draw);
}

static void report_json(const sample_options *options, const sample_job *job, bool subgraph) {
    const csaw_csr csr = csaw_graph_csr(job->graph);
    json_open(stdout, subgraph ? "subgraph" : "sample");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, options->path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64
           ", \"undirected\": %s, \"weighted\": %s, \"along\": \"%s\", \"sampler\": ",
           csr.num_vertices, csr.num_edges, options->graph.undirected ? "true" : "false", csr.weight ? "true" : "false",
           options->along);
    json_text(stdout, options->sampler.name);
    fputs(", \"parameters\": {", stdout);
    sampler_options_print(stdout, &options->sampler, SAMPLER_JSON);
    fputs("}, \"fanout\": ", stdout);
    if (options->fanout_text) {
        fputs("[", stdout);
        print_fanout(stdout, options, "\"all\"", ", ");
        fputs("]", stdout);
    } else {
        fputs("null", stdout);
    }
    printf(", \"depth\": %" PRIu64 ", \"replace\": %s, \"select\": \"%s\", \"device\": ", options->depth,
           options->replace ? "true" : "false", csaw_select_name(options->select));
    json_text(stdout, options->plan.device ? options->plan.device : "cpu");
    printf(", \"seed\": %" PRIu64 ", \"pools\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"edges\": %" PRIu64
           ", \"seconds\": %.6f, \"seps\": %.0f, \"seconds_writing\": %.6f",
           options->seed, job->seeds.count, job->instances, job->edges, job->seconds, per_second(job), job->writing);
    if (subgraph)
        printf(", \"subgraphs\": %" PRIu64 ", \"subgraph_vertices\": %" PRIu64 ", \"subgraph_arcs\": %" PRIu64,
               job->graphs, job->vertices, job->kept);
    fputs(", \"output\": ", stdout);
    json_text(stdout, options->output);
    printf(", \"output_bytes\": %" PRIu64 "}\n", file_bytes(options->output));
}

void sample_report(const sample_options *options, const sample_job *job, bool subgraph) {
    (options->json ? report_json : report_text)(options, job, subgraph);
}
