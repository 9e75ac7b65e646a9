/* SPDX-License-Identifier: MIT */
/* cli/generate.c - csaw generate: writes a synthetic graph. */
#include <csaw/csaw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "report.h"
#include "text_line.h"

typedef struct generate_options {
    uint64_t scale, edge_factor, vertices; /* 0 = not given */
    uint64_t edges;                        /* UINT64_MAX = not given */
    uint64_t seed;
    bool weighted, directed, keep_isolated;
    const char *degrees, *output;
} generate_options;

static void add_options(arguments *arguments, generate_options *options) {
    const option own[] = {
        {.name = "scale",
         .kind = OPTION_COUNT,
         .value = &options->scale,
         .placeholder = "N",
         .lowest = 1,
         .highest = 31,
         .help = "rmat: 2^N vertices, before isolated ones go (default 16)"},
        {.name = "edge-factor",
         .kind = OPTION_COUNT,
         .value = &options->edge_factor,
         .placeholder = "N",
         .lowest = 1,
         .highest = 65536,
         .help = "rmat: edges drawn per vertex (default 16)"},
        {.name = "vertices",
         .kind = OPTION_COUNT,
         .value = &options->vertices,
         .placeholder = "N",
         .lowest = 1,
         .highest = UINT32_MAX - 1,
         .help = "erdos-renyi: vertices"},
        {.name = "edges",
         .kind = OPTION_COUNT,
         .value = &options->edges,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "erdos-renyi: edges, all different, no loops"},
        {.name = "degrees",
         .kind = OPTION_INPUT,
         .value = &options->degrees,
         .placeholder = "FILE",
         .help = "configuration: the degree of each vertex, blanks or lines between"},
        {.name = "seed",
         .kind = OPTION_COUNT,
         .value = &options->seed,
         .placeholder = "N",
         .highest = UINT64_MAX,
         .help = "another seed, another graph (default 0)"},
        {.name = "weighted",
         .kind = OPTION_FLAG,
         .value = &options->weighted,
         .help = "give weights, uniform on [1, 5)"},
        {.name = "directed",
         .kind = OPTION_FLAG,
         .value = &options->directed,
         .help = "rmat, erdos-renyi: keep arcs one way (default: both ways)"},
        {.name = "keep-isolated",
         .kind = OPTION_FLAG,
         .value = &options->keep_isolated,
         .help = "rmat: keep vertices without edges (default: drop them, close up ids)"},
        {.name = "output",
         .letter = 'o',
         .kind = OPTION_OUTPUT,
         .value = &options->output,
         .placeholder = "FILE",
         .help = "where to write: .csaw, or text, compressed if it ends in .gz"},
    };
    arguments_add(arguments, own, sizeof own / sizeof own[0]);
}

typedef struct degree_list {
    uint32_t *degree;
    uint64_t count, room;
} degree_list;

static int add_degrees(degree_list *list, char *line, const char *path, uint64_t number) {
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r\n,", &rest); word; word = strtok_r(NULL, " \t\r\n,", &rest)) {
        uint64_t degree;
        if (!parse_count(word, &degree) || degree > UINT32_MAX)
            return report_failure("%s line %" PRIu64
                                  ": '%.40s' is not a degree, a whole number up to 4294967295; fix it",
                                  path, number, word);
        if (list->count == list->room) {
            list->room = list->room ? 2 * list->room : 1024;
            list->degree = reallocate(list->degree, list->room, sizeof *list->degree);
        }
        list->degree[list->count++] = (uint32_t)degree;
    }
    return EXIT_OK;
}

static int read_degrees(const char *path, degree_list *list) {
    char *line = NULL;
    size_t room = 0;
    int result = EXIT_OK;
    FILE *file = fopen(path, "r");
    if (!file) return report_failure("degrees file %s: %s", path, strerror(errno));
    for (uint64_t number = 1; result == EXIT_OK && text_line(file, number == 1, &line, &room) >= 0; number++)
        if (line[0] != '#' && line[0] != '%') result = add_degrees(list, line, path, number);
    if (result == EXIT_OK && ferror(file)) result = report_failure("degrees file %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return result;
}

/* Each model: -1 and the graph, or the exit code. */
typedef int model_function(const arguments *arguments, const generate_options *options, csaw_graph **graph);

static int finish(csaw_status status) { return status == CSAW_OK ? -1 : report_library_failure(); }

static int make_rmat(const arguments *arguments, const generate_options *o, csaw_graph **graph) {
    (void)arguments;
    const uint32_t scale = o->scale ? (uint32_t)o->scale : 16;
    const uint32_t edge_factor = o->edge_factor ? (uint32_t)o->edge_factor : 16;
    return finish(
        csaw_graph_rmat(CSAW_RMAT(.scale = scale, .edge_factor = edge_factor, .seed = o->seed, .weighted = o->weighted,
                                  .directed = o->directed, .keep_isolated = o->keep_isolated),
                        graph));
}

static int make_erdos_renyi(const arguments *arguments, const generate_options *o, csaw_graph **graph) {
    if (!o->vertices) return arguments_wrong(arguments, "--vertices N is missing: how many vertices?");
    if (o->edges == UINT64_MAX) return arguments_wrong(arguments, "--edges N is missing: how many edges?");
    return finish(csaw_graph_erdos_renyi(CSAW_GRAPH(.num_vertices = o->vertices, .num_edges = o->edges, .seed = o->seed,
                                                    .weighted = o->weighted, .directed = o->directed),
                                         graph));
}

static int make_configuration(const arguments *arguments, const generate_options *o, csaw_graph **graph) {
    degree_list list = {0};
    if (!o->degrees) return arguments_wrong(arguments, "--degrees FILE is missing: which degree has each vertex?");
    int result = read_degrees(o->degrees, &list);
    if (result == EXIT_OK)
        result = finish(csaw_graph_configuration(
            CSAW_GRAPH(.degree = list.degree, .num_degrees = list.count, .seed = o->seed, .weighted = o->weighted),
            graph));
    free(list.degree);
    return result;
}

typedef struct model {
    const char *name;
    model_function *make;
    const char *takes[5]; /* options that not every model takes, up to NULL */
} model;

static const model models[] = {
    {"rmat", make_rmat, {"scale", "edge-factor", "directed", "keep-isolated"}},
    {"erdos-renyi", make_erdos_renyi, {"vertices", "edges", "directed"}},
    {"configuration", make_configuration, {"degrees"}},
};
enum { NUM_MODELS = sizeof models / sizeof models[0] };

static const model *find_model(const char *name) {
    for (size_t m = 0; m < NUM_MODELS; m++)
        if (strcmp(name, models[m].name) == 0) return &models[m];
    return NULL;
}

static bool takes(const model *model, const char *option) {
    for (size_t i = 0; model->takes[i]; i++)
        if (strcmp(option, model->takes[i]) == 0) return true;
    return false;
}

/* "--vertices is erdos-renyi's; rmat takes --scale, --edge-factor, ..." */
static int wrong_option(const arguments *arguments, const model *model, const char *option) {
    char owners[80] = "", taken[120] = "";
    for (size_t m = 0, at = 0; m < NUM_MODELS; m++)
        if (takes(&models[m], option))
            at += (size_t)snprintf(owners + at, sizeof owners - at, "%s%s's", at ? " and " : "", models[m].name);
    for (size_t i = 0, at = 0; model->takes[i]; i++)
        at += (size_t)snprintf(taken + at, sizeof taken - at, "%s--%s", i ? ", " : "", model->takes[i]);
    return arguments_wrong(arguments, "--%s is %s; %s takes %s, besides --seed and --weighted", option, owners,
                           model->name, taken);
}

/* -1, or the exit code if an option of another model was given. */
static int check_options(const arguments *arguments, const generate_options *o, const model *model) {
    const struct {
        const char *name;
        bool given;
    } options[] = {{"scale", o->scale != 0},           {"edge-factor", o->edge_factor != 0},
                   {"vertices", o->vertices != 0},     {"edges", o->edges != UINT64_MAX},
                   {"degrees", o->degrees != NULL},    {"directed", o->directed},
                   {"keep-isolated", o->keep_isolated}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].given && !takes(model, options[i].name)) return wrong_option(arguments, model, options[i].name);
    return -1;
}

static int run(int argc, char **argv) {
    generate_options options = {.edges = UINT64_MAX};
    arguments arguments = {.command = &generate_command};
    add_options(&arguments, &options);
    int result = arguments_parse(&arguments, argc, argv);
    if (result >= 0) return result;
    const model *model = arguments.num_operands ? find_model(arguments.operands[0]) : NULL;
    if (!model) return arguments_wrong(&arguments, "which model? Give rmat, erdos-renyi or configuration");
    result = check_options(&arguments, &options, model);
    if (result >= 0) return result;
    if (!options.output) return arguments_wrong(&arguments, "-o FILE is missing: where should the graph go?");

    csaw_graph *graph = NULL;
    result = arguments_keep_files(&arguments, NULL, NULL);
    if (result < 0) result = model->make(&arguments, &options, &graph);
    if (result >= 0) return result;
    result = EXIT_OK;
    if (csaw_graph_save(graph, options.output) == CSAW_OK) {
        csaw_csr csr = csaw_graph_csr(graph);
        fprintf(stderr, "wrote   %s: %s vertices, %s arcs%s%s\n", options.output, count_text(csr.num_vertices).text,
                count_text(csr.num_edges).text, options.weighted ? ", weighted" : "",
                options.directed ? "" : "; both directions are in the file, so --undirected is not needed");
    } else {
        result = report_library_failure();
    }
    csaw_graph_free(graph);
    return result;
}

const command generate_command = {
    .name = "generate",
    .operands = "MODEL",
    .num_operands = 1,
    .summary = "write a synthetic graph",
    .about = "Writes a random graph. Equal options give the equal graph, on any number of threads. Models:\n"
             "  rmat           R-MAT (Chakrabarti, Zhan, Faloutsos, 2004) with the quadrants of Graph500\n"
             "  erdos-renyi    a set of edges, all sets of that size equally likely (Erdos, Renyi, 1959)\n"
             "  configuration  vertices of given degrees, joined at random (Molloy, Reed, 1995)\n"
             "Loops and repeated edges are removed, so in the last a degree may come out smaller.\n",
    .examples = "  csaw generate rmat --scale 16 --seed 1 -o graph.txt\n"
                "  csaw generate erdos-renyi --vertices 1000000 --edges 8000000 -o graph.csaw\n"
                "  csaw generate configuration --degrees degrees.txt --weighted -o graph.txt.gz\n",
    .run = run,
};
