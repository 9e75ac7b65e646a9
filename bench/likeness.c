/* SPDX-License-Identifier: MIT */
/* bench/likeness.c - how much samples look like the graph they were drawn from: degrees and clustering of what each
 * sampler leaves, beside those of the whole graph, after Leskovec, Faloutsos, "Sampling from large graphs", KDD 2006.
 *
 *   likeness_bench GRAPH [--share 0.15] [--seeds 5] [--name TEXT] [--commit TEXT] [--json FILE]
 *
 * GRAPH is read as undirected: every arc both ways, loops and parallel arcs dropped; so are samples, before they are
 * looked at. Each sampler draws a sample of about --share of the vertices with each of the seeds 1 .. --seeds, and each
 * sample is looked at twice: with the arcs that were sampled, and with all arcs of the graph between its vertices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/likeness_samples.h"
#include "bench/measure.h"
#include "bench/shape.h"

typedef struct settings {
    const char *path, *name, *commit, *json;
    double share;
    uint32_t seeds;
} settings;

typedef struct report {
    const sampled_graph *graph;
    shape full;
    FILE *json; /* NULL: none */
} report;

static shape shape_of_subgraph(const csaw_subgraph *subgraph) {
    const csaw_subgraph_view view = csaw_subgraph_look(subgraph);
    const uint64_t count = view.vertex_offset[1], num_arcs = view.rowptr[count];
    csaw_vertex *src = malloc((num_arcs + 1) * sizeof *src);
    csaw_graph *graph = NULL;
    shape shape;
    if (!src) must(CSAW_ENOMEM);
    for (uint64_t v = 0; v < count; v++)
        for (uint64_t k = view.rowptr[v]; k < view.rowptr[v + 1]; k++) src[k] = (csaw_vertex)v;
    must(csaw_graph_from_edges(&(csaw_edges){.num_vertices = count, .num_edges = num_arcs, .src = src, .dst = view.col},
                               CSAW_LOAD(.undirected = true), &graph));
    must(shape_of(graph, &shape));
    csaw_graph_free(graph);
    free(src);
    return shape;
}

static void put(FILE *json, const char *name, double value) {
    fprintf(json, isnan(value) ? ", \"%s\": null" : ", \"%s\": %.9g", name, value);
}

/* Next of the degrees 1, 2, 3, ... that lie at least this factor apart. */
static double next_degree(double degree, double factor) { return fmax(degree + 1, ceil(degree * factor)); }

static void put_curves(FILE *json, const shape *s) {
    const double most = s->num_vertices ? s->degree[s->num_vertices - 1] : 0;
    double degree, clustering;
    fputs(",\n  \"tail\": [", json);
    for (double d = 1; d <= most; d = d < most ? fmin(next_degree(d, 1.1), most) : most + 1)
        fprintf(json, "%s[%.0f, %.6g]", d > 1 ? ", " : "", d, shape_tail(s, d));
    fputs("],\n  \"bins\": [", json);
    for (double low = 2; low <= most; low = next_degree(low, sqrt(2))) {
        const uint64_t count = shape_bin(s, low, next_degree(low, sqrt(2)), &degree, &clustering);
        fputs(low > 2 ? ", " : "", json);
        if (count)
            fprintf(json, "[%.6g, %.6g, %llu]", degree, clustering, (unsigned long long)count);
        else
            fputs("null", json);
    }
    fputs("]", json);
}

static void put_shape(const report *r, const shape *s, bool curves) {
    fprintf(r->json, "{\"vertices\": %llu, \"edges\": %llu, \"triangles\": %llu", (unsigned long long)s->num_vertices,
            (unsigned long long)s->num_edges, (unsigned long long)s->num_triangles);
    put(r->json, "average", s->average);
    put(r->json, "transitivity", s->transitivity);
    put(r->json, "d_degree", shape_distance(s->degree, s->num_vertices, r->full.degree, r->full.num_vertices));
    put(r->json, "d_clustering",
        shape_distance(s->coefficient, s->num_defined, r->full.coefficient, r->full.num_defined));
    if (curves) put_curves(r->json, s);
    fputs("}", r->json);
}

static void print_shape(const char *what, const shape *s, const shape *full) {
    printf("  %-8s %9llu vertices %9llu edges  average clustering %.4f, transitivity %.4f; D of degrees %.3f, of "
           "clustering %.3f\n",
           what, (unsigned long long)s->num_vertices, (unsigned long long)s->num_edges, s->average, s->transitivity,
           shape_distance(s->degree, s->num_vertices, full->degree, full->num_vertices),
           shape_distance(s->coefficient, s->num_defined, full->coefficient, full->num_defined));
}

static void look(const report *r, const method *m, uint32_t seed) {
    const uint64_t n = method_fit(r->graph, m, seed);
    csaw_samples *samples = method_draw(r->graph, m, seed, n);
    printf("%s, seed %u, n = %llu\n", csaw_sampler_name(m->sampler), seed, (unsigned long long)n);
    if (r->json) fprintf(r->json, "%s\n  {\"seed\": %u, \"n\": %llu", seed > 1 ? "," : "", seed, (unsigned long long)n);
    for (int induced = 0; induced < 2; induced++) {
        const char *what = induced ? "induced" : "sampled";
        csaw_subgraph *made = method_subgraph(r->graph, m, samples, induced);
        shape s = shape_of_subgraph(made);
        print_shape(what, &s, &r->full);
        if (r->json) {
            fprintf(r->json, ",\n   \"%s\": ", what);
            put_shape(r, &s, seed == 1);
        }
        shape_free(&s);
        csaw_subgraph_free(made);
    }
    if (r->json) fputs("}", r->json);
    fflush(stdout);
    csaw_samples_free(samples);
}

static settings read_settings(int argc, char **argv) {
    settings s = {.share = 0.15, .seeds = 5, .name = "graph", .commit = "not given"};
    for (int i = 2; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--share") == 0)
            s.share = strtod(value, NULL);
        else if (strcmp(argv[i], "--seeds") == 0)
            s.seeds = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--name") == 0)
            s.name = value;
        else if (strcmp(argv[i], "--commit") == 0)
            s.commit = value;
        else if (strcmp(argv[i], "--json") == 0)
            s.json = value;
        else {
            fprintf(stderr, "likeness_bench: unknown option '%s'; see the head of bench/likeness.c\n", argv[i]);
            exit(2);
        }
    }
    if (argc < 2 || !(s.share > 0 && s.share < 1) || !s.seeds || s.seeds >= 1000) {
        fputs("likeness_bench: give a graph file first, --share between 0 and 1, --seeds from 1 to 999\n", stderr);
        exit(2);
    }
    s.path = argv[1];
    return s;
}

int main(int argc, char **argv) {
    const settings s = read_settings(argc, argv);
    csaw_graph *graph = NULL;
    const method *m;
    must(csaw_graph_load(s.path, CSAW_LOAD(.undirected = true), &graph));
    sampled_graph g = sampled_graph_of(graph, s.share, s.seeds);
    report r = {.graph = &g};
    must(shape_of(graph, &r.full));
    if (s.json && !(r.json = fopen(s.json, "w"))) {
        perror(s.json);
        return 1;
    }
    printf("%s, csaw %s; samples of %llu vertices\n", s.name, csaw_version(), (unsigned long long)g.target);
    print_shape("whole", &r.full, &r.full);
    if (r.json) {
        fprintf(r.json,
                "{\"kind\": \"likeness\", \"version\": \"%s\", \"commit\": \"%s\", \"name\": \"%s\", \"weights\": %s, "
                "\"share\": %g, \"target\": %llu, \"seeds\": %u,\n\"whole\": ",
                csaw_version(), s.commit, s.name, csaw_graph_csr(graph).weight ? "true" : "false", s.share,
                (unsigned long long)g.target, s.seeds);
        put_shape(&r, &r.full, true);
        fputs(",\n\"methods\": [", r.json);
    }
    for (uint32_t i = 0; (m = method_at(&g, i)); i++) {
        if (r.json)
            fprintf(r.json, "%s\n {\"sampler\": \"%s\", \"how\": \"%s\", \"runs\": [", i ? "," : "",
                    csaw_sampler_name(m->sampler), m->how);
        for (uint32_t seed = 1; seed <= s.seeds; seed++) look(&r, m, seed);
        if (r.json) fputs("]}", r.json);
    }
    if (r.json && (fputs("]}\n", r.json) < 0 || fclose(r.json) != 0)) return 1;
    shape_free(&r.full);
    sampled_graph_free(&g);
    csaw_graph_free(graph);
    return 0;
}
