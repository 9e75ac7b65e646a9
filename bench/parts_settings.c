/* SPDX-License-Identifier: MIT */
/* bench/parts_settings.c - bench/parts_settings.h. Types and times of a file are left behind, and weights unless they
 * are asked for: no bytes are moved that walks do not look at. */
#include "bench/parts_settings.h"

#include "bench/measure.h"
#include "bench/options.h"

parts_settings parts_settings_read(int argc, char **argv) {
    parts_settings s = {
        .scale = 22, .edge_factor = 16, .seed = 1, .length = 80, .ablation = 1, .few = 8, .repeat = 1, .in_memory = 1};
    s.device = "cuda:0";
    s.only = "uniform,node2vec,neighbor";
    s.p = "0.25";
    s.q = "4";
    s.select = "auto";
    s.commit = "not given";
    const bench_option options[] = {{"--scale", &s.scale, NULL},
                                    {"--edge-factor", &s.edge_factor, NULL},
                                    {"--seed", &s.seed, NULL},
                                    {"--undirected", &s.undirected, NULL},
                                    {"--weighted", &s.weighted, NULL},
                                    {"--memory", &s.memory, NULL},
                                    {"--partitions", &s.partitions, NULL},
                                    {"--resident", &s.resident, NULL},
                                    {"--streams", &s.streams, NULL},
                                    {"--walks", &s.walks, NULL},
                                    {"--few", &s.few, NULL},
                                    {"--length", &s.length, NULL},
                                    {"--ablation", &s.ablation, NULL},
                                    {"--repeat", &s.repeat, NULL},
                                    {"--in-memory", &s.in_memory, NULL},
                                    {"--graph", NULL, &s.graph},
                                    {"--name", NULL, &s.name},
                                    {"--device", NULL, &s.device},
                                    {"--only", NULL, &s.only},
                                    {"--ways", NULL, &s.ways},
                                    {"--select", NULL, &s.select},
                                    {"--p", NULL, &s.p},
                                    {"--q", NULL, &s.q},
                                    {"--json", NULL, &s.json},
                                    {"--commit", NULL, &s.commit}};
    bench_options_read(argc, argv, options, sizeof options / sizeof *options, "parts_bench", "bench/parts.c");
    if (s.repeat == 0) s.repeat = 1;
    return s;
}

parts_graph parts_graph_open(const parts_settings *s) {
    parts_graph out = {0};
    const double start = now();
    if (!s->graph) {
        out.kind = "rmat";
        snprintf(out.name, sizeof out.name, "R-MAT %u", s->scale);
        snprintf(out.how, sizeof out.how, "edge factor %u, seed %u, made", s->edge_factor, s->seed);
        snprintf(out.json, sizeof out.json, "\"scale\": %u, \"edge_factor\": %u, \"seed\": %u, ", s->scale,
                 s->edge_factor, s->seed);
        must(csaw_graph_rmat(
            CSAW_RMAT(.scale = s->scale, .edge_factor = s->edge_factor, .seed = s->seed, .weighted = s->weighted),
            &out.graph));
    } else {
        out.kind = "file";
        snprintf(out.name, sizeof out.name, "%s", s->graph);
        snprintf(out.how, sizeof out.how, "read");
        must(csaw_graph_load(s->graph, CSAW_LOAD(.undirected = s->undirected), &out.file));
        csaw_csr csr = csaw_graph_csr(out.file);
        if (!s->weighted) csr.weight = NULL;
        csr.type = NULL;
        csr.time = NULL;
        must(csaw_graph_borrow_csr(&csr, &out.graph));
    }
    if (s->name) snprintf(out.name, sizeof out.name, "%s", s->name);
    out.seconds = now() - start;
    return out;
}

void parts_graph_close(parts_graph *graph) {
    csaw_graph_free(graph->graph);
    csaw_graph_free(graph->file);
}

csaw_seeds parts_seeds(uint64_t count, uint64_t vertices) {
    if (count == 0 || count == vertices) return (csaw_seeds){.count = count}; /* seed i is vertex i */
    csaw_vertex *const vertex = malloc(count * sizeof *vertex);
    if (!vertex) {
        fprintf(stderr, "no memory left for %llu seeds\n", (unsigned long long)count);
        exit(1);
    }
    for (uint64_t i = 0; i < count; i++) vertex[i] = (csaw_vertex)(i * vertices / count);
    return (csaw_seeds){vertex, count, NULL};
}

double parts_graph_bytes(const csaw_csr *csr) {
    return 8.0 * (double)csr->num_vertices + (csr->weight ? 8.0 : 4.0) * (double)csr->num_edges;
}
