/* SPDX-License-Identifier: MIT */
/* cli/verify.c - csaw verify: checks walks, whoever made them, against the graph and, on request, against the law. */
#include <csaw/csaw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "find_arc.h"
#include "graph_options.h"
#include "law.h"
#include "model.h"
#include "report.h"
#include "sampler_options.h"
#include "walk_reader.h"

typedef struct verify_options {
    graph_options graph;
    sampler_options sampler;
    const char *walks_path, *graph_path;
    bool with_model, json;
} verify_options;

typedef struct stop { /* a walk that stopped where there is a way on */
    size_t count;     /* its vertices; 0 = no such walk */
    uint64_t walk;
    char at[64];
} stop;

typedef struct findings {
    uint64_t walks, steps, wrong_walks;
    uint64_t first_wrong; /* the walk's number in the file; 0 = none */
    char wrong[160];      /* what is wrong with it */
    size_t longest;       /* vertices */
    stop first, shorter;  /* the first to stop; the first of fewer vertices than that */
    uint64_t stopped;     /* such walks, of which so many have the most vertices of them all */
    uint64_t stopped_latest;
    size_t latest; /* the most vertices */
} findings;

/* What walks are held against: the graph and, with --algo, the sampler's model and perhaps its law. */
typedef struct measure {
    const csaw_graph *graph;
    csaw_csr csr;
    model model;
    bool with_model;
    times times; /* of the walk at hand */
    law *law;    /* NULL = not tested */
} measure;

static void note_wrong(findings *findings, uint64_t walk) {
    findings->wrong_walks++;
    if (!findings->first_wrong) findings->first_wrong = walk;
}

/* A vertex as the file of walks writes it, cut short if it is long. */
static const char *vertex_text(const measure *measure, csaw_vertex v, char text[64]) {
    const csaw_names names = csaw_graph_names(measure->graph);
    if (names.text)
        snprintf(text, 64, "%.*s",
                 (int)(names.offset[v + 1] - names.offset[v] < 40 ? names.offset[v + 1] - names.offset[v] : 40),
                 names.text + names.offset[v]);
    else if (names.number)
        snprintf(text, 64, "%" PRId64, names.number[v]);
    else
        snprintf(text, 64, "%" PRIu32, v);
    return text;
}

static void tell_stranger(const measure *measure, const walk_reader *walk, size_t place, findings *findings) {
    if (walk->unknown[0])
        snprintf(findings->wrong, sizeof findings->wrong, "place %zu: '%s' is not a vertex of the graph", place,
                 walk->unknown);
    else
        snprintf(findings->wrong, sizeof findings->wrong,
                 "place %zu: vertex %" PRIu64 ", but the graph has %" PRIu64 " vertices, numbered from 0", place,
                 walk->vertex[place], measure->csr.num_vertices);
}

/* Is the step one that cannot be? The first such step is described. */
static bool refused(measure *measure, const step *step, findings *findings) {
    char wrong[64] = "is not an arc", from[64], to[64];
    const bool refuses = measure->with_model
                             ? model_refuses(&measure->model, step, &measure->times, wrong, sizeof wrong)
                             : find_arc(&measure->csr, step->at, step->next) == CSAW_NO_EDGE;
    if (refuses && !findings->first_wrong)
        snprintf(findings->wrong, sizeof findings->wrong, "step %" PRIu64 ": %.40s -> %.40s %s", step->depth + 1,
                 vertex_text(measure, step->at, from), vertex_text(measure, step->next, to), wrong);
    return refuses;
}

static void check_end(measure *measure, const walk_reader *walk, const step *step, findings *findings) {
    if (!measure->with_model) return;
    if (measure->law) law_end(measure->law, step->depth, model_dead_end(&measure->model, step));
    if (model_may_end(&measure->model, step, &measure->times)) return;
    findings->stopped++;
    if (walk->count > findings->latest) {
        findings->latest = walk->count;
        findings->stopped_latest = 0;
    }
    findings->stopped_latest += walk->count == findings->latest;
    stop *stop = !findings->first.count                                            ? &findings->first
                 : !findings->shorter.count && walk->count < findings->first.count ? &findings->shorter
                                                                                   : NULL;
    if (!stop) return;
    stop->count = walk->count;
    stop->walk = walk->number;
    vertex_text(measure, step->at, stop->at);
}

/* One walk: every vertex in the graph, every step one that may be. */
static void check_walk(measure *measure, const walk_reader *walk, findings *findings) {
    step step = {.prev = CSAW_NONE};
    findings->walks++;
    if (walk->count > findings->longest) findings->longest = walk->count;
    times_clear(&measure->times);
    for (size_t s = 0; s < walk->count; s++) {
        if (walk->vertex[s] >= measure->csr.num_vertices) {
            if (!findings->first_wrong) tell_stranger(measure, walk, s, findings);
            note_wrong(findings, walk->number);
            return;
        }
        step.next = (csaw_vertex)walk->vertex[s];
        if (s == 0) {
            step.root = step.at = step.next;
            continue;
        }
        if (refused(measure, &step, findings)) {
            note_wrong(findings, walk->number);
            return;
        }
        findings->steps++;
        if (measure->law) law_step(measure->law, &step);
        step.prev = step.at;
        step.at = step.next;
        step.depth++;
    }
    if (walk->count) check_end(measure, walk, &step, findings);
}

/* Walks shorter than the longest one must have ended where they may. How long that is shows at the end of the file. */
static void check_stopped(const walk_reader *reader, findings *findings) {
    if (reader->npy) findings->longest = reader->columns;
    findings->wrong_walks += findings->stopped - (findings->latest == findings->longest ? findings->stopped_latest : 0);
    const stop *stop = findings->first.count < findings->longest ? &findings->first : &findings->shorter;
    if (!stop->count || (findings->first_wrong && findings->first_wrong < stop->walk)) return;
    findings->first_wrong = stop->walk;
    snprintf(findings->wrong, sizeof findings->wrong, "ends after %zu of %zu steps at vertex %s, which has a way on",
             stop->count - 1, findings->longest - 1, stop->at);
}

static int check_file(const verify_options *options, measure *measure, findings *findings) {
    walk_reader reader;
    int result = walk_reader_open(&reader, options->walks_path, measure->graph);
    while (result < 0) {
        result = walk_reader_next(&reader);
        if (result < 0) check_walk(measure, &reader, findings);
    }
    if (result == EXIT_OK) check_stopped(&reader, findings);
    walk_reader_close(&reader);
    return result == EXIT_OK ? -1 : result;
}

/* ---- the report ---- */

static void print_law(const verify_options *options, const model *model, const law_result *law) {
    const char *name, *reason = model_without_law(model);
    printf("law     %s", options->sampler.name);
    uint32_t num_params;
    csaw_sampler_params(options->sampler.sampler, &num_params);
    if (num_params) {
        fputs(" (", stdout);
        sampler_options_print(stdout, &options->sampler, SAMPLER_TEXT);
        fputs(")", stdout);
    }
    if (reason) {
        printf(": %s\n", reason);
        return;
    }
    printf(", %s steps tested; a |z| above %g fails\n", count_text(law->steps).text, LAW_Z);
    if (law->degrees_of_freedom)
        printf("chi2    %.1f on %s degrees of freedom, z = %.2f%s\n", law->chi_square,
               count_text(law->degrees_of_freedom).text, law->z, fabs(law->z) > LAW_Z ? "  FAILED" : "");
    else
        printf("chi2    not tested: no step is expected 5 times; give more walks\n");
    for (int k = 0; k < MODEL_KINDS && (name = model_kind_name(model, k)); k++) {
        const law_kind *kind = &law->kind[k];
        printf("%-7s %s steps, %.1f expected, z = %.2f%s\n", name, count_text(kind->observed).text, kind->expected,
               kind->z, fabs(kind->z) > LAW_Z ? "  FAILED" : "");
    }
    if (law->impossible) printf("never   %s steps have probability 0  FAILED\n", count_text(law->impossible).text);
}

static void print_report(const verify_options *options, const measure *measure, const findings *findings,
                         const law_result *law, bool verified) {
    const csaw_csr *csr = &measure->csr;
    printf("walks   %s: %s walks, %s steps\n", options->walks_path, count_text(findings->walks).text,
           count_text(findings->steps).text);
    printf("graph   %s: %s vertices, %s arcs\n", options->graph_path, count_text(csr->num_vertices).text,
           count_text(csr->num_edges).text);
    if (findings->wrong_walks)
        printf("arcs    line %" PRIu64 ", %s  FAILED\nwrong   %s of %s walks\n", findings->first_wrong, findings->wrong,
               count_text(findings->wrong_walks).text, count_text(findings->walks).text);
    else
        printf("arcs    every step %s\n", measure->with_model && model_leaves_arcs(&measure->model)
                                              ? "is one that the sampler may take"
                                              : "follows an arc of the graph");
    if (measure->with_model) print_law(options, &measure->model, law);
    puts(verified ? "verified" : "NOT VERIFIED");
}

static void print_json(const verify_options *options, const measure *measure, const findings *findings,
                       const law_result *law, bool verified) {
    const csaw_csr *csr = &measure->csr;
    const char *name;
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
    if (measure->with_model) {
        printf(", \"sampler\": \"%s\", \"parameters\": {", options->sampler.name);
        sampler_options_print(stdout, &options->sampler, SAMPLER_JSON);
        printf("}, \"law_tested\": %s", measure->law ? "true" : "false");
    }
    if (measure->law) {
        printf(", \"tested_steps\": %" PRIu64 ", \"impossible_steps\": %" PRIu64
               ", \"chi_square\": %.9g, \"degrees_of_freedom\": %" PRIu64 ", \"z\": %.6g",
               law->steps, law->impossible, law->chi_square, law->degrees_of_freedom, law->z);
        for (int k = 0; k < MODEL_KINDS && (name = model_kind_name(&measure->model, k)); k++)
            printf(", \"z_%s\": %.6g", name, law->kind[k].z);
    }
    printf(", \"verified\": %s}\n", verified ? "true" : "false");
}

/* ---- the command ---- */

static int verify(const verify_options *options, const csaw_graph *graph) {
    findings findings = {0};
    measure measure = {.graph = graph, .csr = csaw_graph_csr(graph), .with_model = options->with_model};
    if (measure.with_model) {
        const bool known = model_begin(&measure.model, &measure.csr, options->sampler.sampler, options->sampler.params);
        if (known && !model_without_law(&measure.model)) measure.law = law_begin(&measure.model);
    }
    int result = check_file(options, &measure, &findings);
    law_result law_result = {0};
    if (measure.law) law_result = law_finish(measure.law, findings.longest ? findings.longest - 1 : 0);
    times_free(&measure.times);
    if (result >= 0) return result;
    if (!findings.walks) return report_failure("%s holds no walk", options->walks_path);
    bool verified = !findings.wrong_walks && (!measure.law || law_holds(&law_result));
    (options->json ? print_json : print_report)(options, &measure, &findings, &law_result, verified);
    return verified ? EXIT_OK : EXIT_UNVERIFIED;
}

static int resolve(const arguments *arguments, verify_options *options) {
    if (!arguments->num_operands) return arguments_wrong(arguments, "WALKS is missing: which file holds the walks?");
    options->walks_path = arguments->operands[0];
    if (!options->graph_path)
        return arguments_wrong(arguments, "--graph FILE is missing: on which graph should the walks be?");
    options->with_model = options->sampler.algo != NULL;
    int result = sampler_options_resolve(arguments, &options->sampler, "node2vec");
    if (result >= 0) return result;
    if (!model_knows(options->sampler.sampler))
        return arguments_wrong(arguments,
                               "--algo %s draws samples, and verify reads walks; leave --algo out, or name one of "
                               "those that csaw help verify lists",
                               options->sampler.name);
    if (!options->with_model && options->sampler.settings.count)
        return arguments_wrong(arguments, "--%s is a parameter of the law; add --algo node2vec to test it",
                               options->sampler.settings.list[0].name);
    return -1;
}

static void print_samplers(void) { sampler_options_help(model_knows); }

static int run(int argc, char **argv) {
    verify_options options = {0};
    const option own[] = {
        {.name = "graph",
         .kind = OPTION_INPUT,
         .value = &options.graph_path,
         .placeholder = "FILE",
         .help = "the graph that the walks are on"},
        {.name = "json", .kind = OPTION_FLAG, .value = &options.json, .help = "print one JSON object instead"},
    };
    arguments arguments = {.command = &verify_command};
    csaw_graph *graph = NULL;
    arguments_add(&arguments, own, 2);
    sampler_options_add(&arguments, &options.sampler, false);
    arguments.more_help = print_samplers;
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
    .about =
        "Reads walks, as text or .npy and from any program, and checks that every vertex is in the graph\n"
        "and every step follows an arc. Read the graph with the options that the walks were made with.\n"
        "With --algo a step must be one that the sampler may take (metropolis_hastings may stay, restart\n"
        "go back to the root, jump go anywhere; metapath follows its types, temporal its times), and the\n"
        "law is tested against exact probabilities: a chi-square over all places where walks stood, and\n"
        "the number of steps of each kind, such as back to where the walk came from, near that, and away\n"
        "from it. Each becomes a normal deviate z; beyond 5 either way the test fails, which happens to right walks\n"
        "about once in a million times. Of very many steps, or steps from hubs, the first are tested: the\n"
        "report says how many. Of temporal the steps alone are checked, not their law. Exit code 3 says that\n"
        "a check failed.\n",
    .examples = "  csaw verify walks.txt --graph data/karate.txt --undirected\n"
                "  csaw verify walks.npy --graph data/karate.txt --undirected --algo node2vec --p 4 --q 1\n"
                "  csaw verify walks.txt --graph data/lesmis.txt --undirected --algo uniform --json\n",
    .run = run,
};
