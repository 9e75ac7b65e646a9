/* SPDX-License-Identifier: MIT */
/* cli/walk_summary.c - what csaw walk says when it is done: to people on stderr, to programs as JSON on stdout. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ranks.h"
#include "report.h"
#include "walk_options.h"

static uint64_t file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

void walk_print_summary(const walk_options *options, const walk_outcome *outcome) {
    if (outcome->resumed && outcome->resumed == outcome->num_walks) {
        fprintf(stderr,
                "%s is complete already, so nothing was left to do; by which options it was made is not recorded. "
                "To make it again, leave out --resume\n",
                options->output);
        return;
    }
    uint64_t walks = outcome->num_walks - outcome->resumed, ended = outcome->ended_early;
    fprintf(stderr, "graph   %s: %s vertices, %s arcs, %s, %s\n", options->path,
            count_text(outcome->csr.num_vertices).text, count_text(outcome->csr.num_edges).text,
            options->graph.undirected ? "undirected" : "as in the file",
            outcome->csr.weight ? "weighted" : "without weights");
    fprintf(stderr, "walks   %s of %s steps by %s", count_text(outcome->num_walks).text,
            count_text(options->length).text, options->sampler.name);
    uint32_t num_params;
    csaw_sampler_params(options->sampler.sampler, &num_params);
    if (num_params) {
        fputs(" (", stderr);
        sampler_options_print(stderr, &options->sampler, SAMPLER_TEXT);
        fputs(")", stderr);
    }
    fprintf(stderr, ", seed %" PRIu64 ", on %s", options->seed, options->plan.device ? options->plan.device : "cpu");
    if (ranks_size() > 1)
        fprintf(stderr, " of %u ranks%s", ranks_size(), options->plan.split ? ", the graph split over them" : "");
    fputc('\n', stderr);
    if (outcome->resumed) fprintf(stderr, "resumed %s of the walks were there\n", count_text(outcome->resumed).text);
    fprintf(stderr, "steps   %s in %.3g s, writing included: %s a second\n", count_text(outcome->steps).text,
            outcome->seconds, rate_text(outcome->seconds > 0 ? (double)outcome->steps / outcome->seconds : 0).text);
    if (ended) {
        fprintf(stderr, "ended   %s walks (%.1f%%) ended early, at a vertex without a way on\n", count_text(ended).text,
                100 * (double)ended / (double)walks);
        if (!options->graph.undirected && ended * 10 >= walks)
            fputs("hint    the graph was read as directed; if its edges go both ways, add --undirected\n", stderr);
    }
    if (strcmp(options->output, "-"))
        fprintf(stderr, "wrote   %s: %s\n", options->output, bytes_text(file_bytes(options->output)).text);
    if (options->draw) fprintf(stderr, "drew    %s\n", options->draw);
}

void walk_print_json(const walk_options *options, const walk_outcome *outcome) {
    json_open(stdout, "walk");
    fputs(", \"graph\": ", stdout);
    json_text(stdout, options->path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"undirected\": %s, \"weighted\": %s, \"sampler\": ",
           outcome->csr.num_vertices, outcome->csr.num_edges, options->graph.undirected ? "true" : "false",
           outcome->csr.weight ? "true" : "false");
    json_text(stdout, options->sampler.name);
    fputs(", \"parameters\": {", stdout);
    sampler_options_print(stdout, &options->sampler, SAMPLER_JSON);
    printf("}, \"select\": \"%s\", \"device\": ", csaw_select_name(options->select));
    json_text(stdout, options->plan.device ? options->plan.device : "cpu");
    printf(", \"seed\": %" PRIu64 ", \"walk_length\": %" PRIu64 ", \"walks\": %" PRIu64 ", \"steps\": %" PRIu64
           ", \"ended_early\": %" PRIu64 ", \"seconds\": %.6f, \"phases\": {",
           options->seed, options->length, outcome->num_walks, outcome->steps, outcome->ended_early, outcome->seconds);
    printf("\"load\": %.6f, \"plan\": %.6f, \"walk\": %.6f, \"deliver\": %.6f, \"write\": %.6f}", outcome->load,
           outcome->plan, outcome->walk, outcome->deliver, outcome->write);
    printf(", \"ranks\": %u, \"resumed\": %" PRIu64 ", \"edges\": %s, \"output\": ", ranks_size(), outcome->resumed,
           options->edges ? "true" : "false");
    json_text(stdout, options->output);
    printf(", \"output_bytes\": %" PRIu64 "}\n", file_bytes(options->output));
}
