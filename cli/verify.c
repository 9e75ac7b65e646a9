/* SPDX-License-Identifier: MIT */
/* cli/verify.c - csaw verify: checks walks, whoever made them, against the graph and, on request, against the law. */
#include <csaw/csaw.h>
#include <csaw/samplers.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_options.h"
#include "law.h"
#include "report.h"
#include "sampler_options.h"
#include "walk_reader.h"

typedef struct verify_options {
    graph_options graph;
    sampler_options sampler;
    const char *walks_path, *graph_path;
    bool with_law, json;
} verify_options;

typedef struct findings {
    uint64_t walks, steps, wrong_walks;
    uint64_t first_wrong; /* the walk's number in the file; 0 = none */
    char wrong[160];      /* what is wrong with it */
    size_t longest;       /* vertices */
    size_t stopped_count; /* vertices of the shortest walk that stopped where there is a way on; 0 = none */
    uint64_t stopped_walk;
    csaw_vertex stopped_at;
} findings;

static void note_wrong(findings *findings, uint64_t walk) {
    findings->wrong_walks++;
    if (!findings->first_wrong) findings->first_wrong = walk;
}

/* One walk: every vertex in the graph, every step an arc. */
static void check_walk(const csaw_csr *csr, const walk_reader *walk, law *law, findings *findings) {
    csaw_edge came = CSAW_NO_EDGE;
    findings->walks++;
    if (walk->count > findings->longest) findings->longest = walk->count;
    for (size_t s = 0; s < walk->count; s++) {
        uint64_t at = walk->vertex[s];
        if (at >= csr->num_vertices) {
            if (!findings->first_wrong)
                snprintf(findings->wrong, sizeof findings->wrong,
                         "place %zu: vertex %" PRIu64 ", but the graph has %" PRIu64 " vertices, numbered from 0", s,
                         at, csr->num_vertices);
            note_wrong(findings, walk->number);
            return;
        }
        if (s == 0) continue;
        csaw_vertex from = (csaw_vertex)walk->vertex[s - 1];
        csaw_edge arc = find_arc(csr, from, (csaw_vertex)at);
        if (arc == CSAW_NO_EDGE) {
            if (!findings->first_wrong)
                snprintf(findings->wrong, sizeof findings->wrong, "step %zu: %" PRIu32 " -> %" PRIu64 " is not an arc",
                         s, from, at);
            note_wrong(findings, walk->number);
            return;
        }
        findings->steps++;
        if (law) law_step(law, from, came, s > 1 ? (csaw_vertex)walk->vertex[s - 2] : CSAW_NONE, (csaw_vertex)at);
        came = arc;
    }
    if (!law || walk->count == 0 || law_dead_end(law, (csaw_vertex)walk->vertex[walk->count - 1])) return;
    if (!findings->stopped_count || walk->count < findings->stopped_count) {
        findings->stopped_count = walk->count;
        findings->stopped_walk = walk->number;
        findings->stopped_at = (csaw_vertex)walk->vertex[walk->count - 1];
    }
}

/* A walk shorter than the longest one must have ended at a dead end. */
static void check_stopped(const walk_reader *reader, findings *findings) {
    size_t longest = reader->npy ? reader->columns : findings->longest;
    if (!findings->stopped_count || findings->stopped_count >= longest) return;
    if (!findings->first_wrong)
        snprintf(findings->wrong, sizeof findings->wrong,
                 "ends after %zu of %zu steps at vertex %" PRIu32 ", which has a way on", findings->stopped_count - 1,
                 longest - 1, findings->stopped_at);
    note_wrong(findings, findings->stopped_walk);
}

static int check_file(const verify_options *options, const csaw_csr *csr, law *law, findings *findings) {
    walk_reader reader;
    int result = walk_reader_open(&reader, options->walks_path);
    while (result < 0) {
        result = walk_reader_next(&reader);
        if (result < 0) check_walk(csr, &reader, law, findings);
    }
    if (result == EXIT_OK) check_stopped(&reader, findings);
    walk_reader_close(&reader);
    return result == EXIT_OK ? -1 : result;
}

/* ---- the report ---- */

static const char *const kind_names[LAW_KINDS] = {"back", "near", "away"};

static void print_law(const verify_options *options, const law_result *law) {
    printf("law     %s", options->sampler.name);
    uint32_t num_params;
    csaw_sampler_params(options->sampler.sampler, &num_params);
    if (num_params) {
        fputs(" (", stdout);
        sampler_options_print(stdout, &options->sampler, false);
        fputs(")", stdout);
    }
    printf(", %s steps tested; a |z| above %g fails\n", count_text(law->steps).text, LAW_Z);
    if (law->degrees_of_freedom)
        printf("chi2    %.1f on %s degrees of freedom, z = %.2f%s\n", law->chi_square,
               count_text(law->degrees_of_freedom).text, law->z, law->z > LAW_Z ? "  FAILED" : "");
    else
        printf("chi2    not tested: no step is expected 5 times; give more walks\n");
    for (int k = 0; k < LAW_KINDS; k++) {
        const law_kind *kind = &law->kind[k];
        printf("%s    %s steps, %.1f expected, z = %.2f%s\n", kind_names[k], count_text(kind->observed).text,
               kind->expected, kind->z, kind->z > LAW_Z || kind->z < -LAW_Z ? "  FAILED" : "");
    }
    if (law->impossible) printf("never   %s steps have probability 0  FAILED\n", count_text(law->impossible).text);
}

static void print_report(const verify_options *options, const csaw_csr *csr, const findings *findings,
                         const law_result *law, bool verified) {
    printf("walks   %s: %s walks, %s steps\n", options->walks_path, count_text(findings->walks).text,
           count_text(findings->steps).text);
    printf("graph   %s: %s vertices, %s arcs\n", options->graph_path, count_text(csr->num_vertices).text,
           count_text(csr->num_edges).text);
    if (findings->wrong_walks)
        printf("arcs    line %" PRIu64 ", %s  FAILED\nwrong   %s of %s walks\n", findings->first_wrong, findings->wrong,
               count_text(findings->wrong_walks).text, count_text(findings->walks).text);
    else
        printf("arcs    every step follows an arc of the graph\n");
    if (law) print_law(options, law);
    puts(verified ? "verified" : "NOT VERIFIED");
}

static void print_json(const verify_options *options, const csaw_csr *csr, const findings *findings,
                       const law_result *law, bool verified) {
    json_open(stdout, "verify");
    fputs(", \"walks_file\": ", stdout);
    json_text(stdout, options->walks_path);
    fputs(", \"graph\": ", stdout);
    json_text(stdout, options->graph_path);
    printf(", \"vertices\": %" PRIu64 ", \"arcs\": %" PRIu64 ", \"walks\": %" PRIu64 ", \"steps\": %" PRIu64
           ", \"wrong_walks\": %" PRIu64,
           csr->num_vertices, csr->num_edges, findings->walks, findings->steps, findings->wrong_walks);
    if (findings->wrong_walks) {
        printf(", \"first_wrong\": %" PRIu64 ", \"wrong\": ", findings->first_wrong);
        json_text(stdout, findings->wrong);
    }
    if (law) {
        printf(", \"sampler\": \"%s\", \"parameters\": {", options->sampler.name);
        sampler_options_print(stdout, &options->sampler, true);
        printf("}, \"tested_steps\": %" PRIu64 ", \"impossible_steps\": %" PRIu64
               ", \"chi_square\": %.9g, \"degrees_of_freedom\": %" PRIu64 ", \"z\": %.6g",
               law->steps, law->impossible, law->chi_square, law->degrees_of_freedom, law->z);
        for (int k = 0; k < LAW_KINDS; k++) printf(", \"z_%s\": %.6g", kind_names[k], law->kind[k].z);
    }
    printf(", \"verified\": %s}\n", verified ? "true" : "false");
}

/* ---- the command ---- */

static int verify(const verify_options *options, const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    findings findings = {0};
    law *law = NULL;
    if (options->with_law) {
        bool uniform = options->sampler.sampler == &csaw_uniform;
        const csaw_node2vec_params *params = options->sampler.params;
        law = law_begin(&csr, uniform, uniform ? 1 : (double)params->p, uniform ? 1 : (double)params->q);
    }
    int result = check_file(options, &csr, law, &findings);
    law_result law_result = {0};
    if (law) law_result = law_finish(law);
    if (result >= 0) return result;
    if (!findings.walks) return report_failure("%s holds no walk", options->walks_path);
    bool verified = !findings.wrong_walks && (!law || law_holds(&law_result));
    (options->json ? print_json : print_report)(options, &csr, &findings, law ? &law_result : NULL, verified);
    return verified ? EXIT_OK : EXIT_UNVERIFIED;
}

static int resolve(const arguments *arguments, verify_options *options) {
    if (!arguments->num_operands) return arguments_wrong(arguments, "WALKS is missing: which file holds the walks?");
    options->walks_path = arguments->operands[0];
    if (!options->graph_path)
        return arguments_wrong(arguments, "--graph FILE is missing: on which graph should the walks be?");
    options->with_law = options->sampler.algo != NULL;
    int result = sampler_options_resolve(arguments, &options->sampler, "node2vec");
    if (result >= 0) return result;
    if (!options->with_law && options->sampler.settings.count)
        return arguments_wrong(arguments, "--%s is a parameter of the law; add --algo node2vec to test it",
                               options->sampler.settings.list[0].name);
    if (options->sampler.sampler != &csaw_uniform && options->sampler.sampler != &csaw_node2vec)
        return arguments_wrong(arguments, "--algo %s: verify knows the laws of uniform and node2vec",
                               options->sampler.algo);
    return -1;
}

static int run(int argc, char **argv) {
    verify_options options = {0};
    const option own[] = {
        {.name = "graph",
         .kind = OPTION_TEXT,
         .value = &options.graph_path,
         .placeholder = "FILE",
         .help = "the graph that the walks are on"},
        {.name = "json", .kind = OPTION_FLAG, .value = &options.json, .help = "print one JSON object instead"},
    };
    arguments arguments = {.command = &verify_command};
    csaw_graph *graph = NULL;
    arguments_add(&arguments, own, 2);
    sampler_options_add(&arguments, &options.sampler, false);
    graph_options_add(&arguments, &options.graph);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    result = resolve(&arguments, &options);
    if (result < 0) result = graph_options_load(&arguments, &options.graph, options.graph_path, &graph);
    if (result < 0) result = verify(&options, graph);
    csaw_graph_free(graph);
    sampler_options_free(&options.sampler);
    return result;
}

const command verify_command = {
    .name = "verify",
    .operands = "WALKS",
    .num_operands = 1,
    .summary = "check walks against a graph and against their law",
    .about = "Reads walks, as text or .npy and from any program, and checks that every vertex is in the graph\n"
             "and every step follows an arc. Read the graph with the options that the walks were made with.\n"
             "With --algo the law is tested too, against exact probabilities: a chi-square over all places\n"
             "where walks stood, and the number of steps back to where the walk came from, near that, and\n"
             "away from it. Each becomes a normal deviate z; above 5 the test fails, which happens to right\n"
             "walks about once in a million times. Exit code 3 says that a check failed.\n",
    .examples = "  csaw verify walks.txt --graph data/karate.txt --undirected\n"
                "  csaw verify walks.npy --graph data/karate.txt --undirected --algo node2vec --p 4 --q 1\n"
                "  csaw verify walks.txt --graph data/lesmis.txt --undirected --algo uniform --json\n",
    .run = run,
};
