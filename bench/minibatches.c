/* SPDX-License-Identifier: MIT */
/* bench/minibatches.c - csaw's side of bench/peers/neighbor_peers.py: two-hop minibatches on demand. Graph and seeds
 * are those of bench/samples.c. Every line of standard input is one job, done once and answered in one line, so that
 * the script can take turns between csaw and a peer.
 *
 *   minibatch_bench [--scale 20] [--edge-factor 16] [--seeds 10000] [--batch 1024]
 *   first line   vertices arcs version
 *   job          SAMPLER uniform|biased arcs|blocks [FILE]     SAMPLER: neighbor, neighbor_once, neighbor_again, ...
 *   answer       seconds arcs; with blocks the time to sample and to relabel
 *
 * FILE receives what was sampled, to be verified: u64 batches; u64 [batches + 1] where each batch begins; u32 [arcs]
 * src; u32 [arcs] dst; u32 [arcs] depth. With blocks these are read back from the blocks. */
#include <csaw/samplers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { HOPS = 2 };
static const uint32_t fanout[HOPS] = {15, 10};

typedef struct job {
    const csaw_sampler *sampler;
    csaw_plan *plan;
    csaw_seeds pools;
    bool blocks;
} job;

typedef struct dump { /* arcs in order of batch, then depth */
    uint64_t *offset, count;
    uint32_t *src, *dst, *depth;
} dump;

static void *memory(size_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) exit(1);
    return p;
}

static void copy_arcs(const csaw_arcs *arcs, dump *to) {
    for (uint64_t k = 0; k < to->count; k++) {
        to->src[k] = arcs->src[k];
        to->dst[k] = arcs->dst[k];
        to->depth[k] = arcs->depth[k];
    }
    memcpy(to->offset, arcs->offset, (arcs->num_instances + 1) * sizeof *to->offset);
}

static void copy_blocks(const csaw_blocks *blocks, uint64_t most, dump *to) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < csaw_blocks_instances(blocks); i++) {
        for (uint32_t d = 0; d < csaw_blocks_depth(blocks); d++) {
            csaw_block_view view;
            must(csaw_blocks_look(blocks, i, d, &view));
            if (count + view.num_edges > most) exit(3);
            for (uint64_t row = 0; row < view.num_dst; row++)
                for (uint64_t k = view.rowptr[row]; k < view.rowptr[row + 1]; k++, count++) {
                    to->src[count] = view.vertex[row];
                    to->dst[count] = view.vertex[view.col[k]];
                    to->depth[count] = d;
                }
        }
        to->offset[i + 1] = count;
    }
    to->count = count;
}

static void write_dump(const char *path, const csaw_arcs *arcs, const csaw_blocks *blocks) {
    const uint64_t batches = arcs->num_instances, most = arcs->offset[batches];
    dump d = {.offset = memory((batches + 1) * sizeof *d.offset),
              .count = most,
              .src = memory(most * sizeof *d.src),
              .dst = memory(most * sizeof *d.dst),
              .depth = memory(most * sizeof *d.depth)};
    FILE *file = fopen(path, "wb");
    if (blocks)
        copy_blocks(blocks, most, &d);
    else
        copy_arcs(arcs, &d);
    if (!file || fwrite(&batches, sizeof batches, 1, file) != 1 ||
        fwrite(d.offset, sizeof *d.offset, batches + 1, file) != batches + 1 ||
        fwrite(d.src, sizeof *d.src, d.count, file) != d.count ||
        fwrite(d.dst, sizeof *d.dst, d.count, file) != d.count ||
        fwrite(d.depth, sizeof *d.depth, d.count, file) != d.count || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(d.offset);
    free(d.src);
    free(d.dst);
    free(d.depth);
}

static void do_job(const job *j, const char *path) {
    csaw_samples *samples = NULL;
    csaw_blocks *blocks = NULL;
    csaw_arcs arcs;
    const double start = now();
    must(csaw_sample(j->plan, j->sampler, NULL, &j->pools, CSAW_RUN(.depth = HOPS, .fanout = fanout, .seed = 1),
                     &samples));
    if (j->blocks) must(csaw_blocks_create(samples, &blocks));
    const double seconds = now() - start;
    must(csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    if (*path) write_dump(path, &arcs, blocks);
    printf("%.9f %llu\n", seconds, (unsigned long long)arcs.offset[arcs.num_instances]);
    fflush(stdout);
    csaw_blocks_free(blocks);
    csaw_samples_free(samples);
}

static csaw_graph *rmat(uint32_t scale, uint32_t edge_factor) {
    csaw_graph *graph = NULL;
    must(csaw_graph_rmat(CSAW_RMAT(.scale = scale, .edge_factor = edge_factor, .seed = 1, .weighted = true), &graph));
    return graph;
}

int main(int argc, char **argv) {
    struct {
        const char *name;
        uint32_t value;
    } option[] = {{"--scale", 20}, {"--edge-factor", 16}, {"--seeds", 10000}, {"--batch", 1024}};
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;
        while (o < 4 && strcmp(argv[i], option[o].name) != 0) o++;
        if (o == 4 || i + 1 == argc || !(option[o].value = (uint32_t)strtoul(argv[i + 1], NULL, 10))) {
            fprintf(stderr, "minibatch_bench: '%s': see the head of bench/minibatches.c\n", argv[i]);
            return 2;
        }
    }
    const uint32_t seeds = option[2].value, batch = option[3].value;
    csaw_graph *weighted = rmat(option[0].value, option[1].value), *plain = NULL;
    csaw_csr csr = csaw_graph_csr(weighted);
    csr.weight = NULL;
    must(csaw_graph_borrow_csr(&csr, &plain));

    const uint64_t batches = (seeds + batch - 1) / batch;
    csaw_vertex *seed = memory(seeds * sizeof *seed);
    uint64_t *offset = memory((batches + 1) * sizeof *offset);
    for (uint64_t i = 0; i < seeds; i++) seed[i] = (csaw_vertex)(i * 2654435761u % csr.num_vertices);
    for (uint64_t b = 0; b <= batches; b++) offset[b] = b * batch < seeds ? b * batch : seeds;
    csaw_plan *plan_uniform = NULL, *plan_biased = NULL;
    must(csaw_plan_create(plain, NULL, &plan_uniform));
    must(csaw_plan_create(weighted, NULL, &plan_biased));

    printf("%llu %llu csaw %s\n", (unsigned long long)csr.num_vertices, (unsigned long long)csr.num_edges,
           csaw_version());
    fflush(stdout);
    char line[4096], name[64], weights[16], what[16], path[4000];
    while (fgets(line, sizeof line, stdin)) {
        path[0] = '\0';
        if (sscanf(line, "%63s %15s %15s %3999s", name, weights, what, path) < 3 || !csaw_sampler_find(name)) {
            fprintf(stderr, "minibatch_bench: no such job: %s", line);
            return 2;
        }
        do_job(&(job){.sampler = csaw_sampler_find(name),
                      .plan = strcmp(weights, "biased") == 0 ? plan_biased : plan_uniform,
                      .pools = {.vertex = seed, .count = batches, .offset = offset},
                      .blocks = strcmp(what, "blocks") == 0},
               path);
    }
    csaw_plan_free(plan_uniform);
    csaw_plan_free(plan_biased);
    csaw_graph_free(plain);
    csaw_graph_free(weighted);
    free(seed);
    free(offset);
    return 0;
}
