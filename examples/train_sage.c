/* SPDX-License-Identifier: MIT */
/* examples/train_sage.c - GraphSAGE trained on minibatches, in C: the loader makes the next batch while this thread
 * works on one; csaw_spmm() aggregates forward and backward; dense products are OpenBLAS's (dense_layers.h).
 *
 * Source: Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs", NIPS 2017, algorithm 2, mean
 * aggregator: h_v = x_v W_self + mean(x_u of v's sampled neighbours u) W_near, ReLU, and the same again without ReLU.
 *
 * The graph is a planted partition that the program makes: 5 groups of 600 vertices, each vertex with 8 random edges
 * into its group and 4 into others. A vertex's feature names its group in 2 of 5 cases and a random one else, so that
 * without the graph nobody can be right about more than 52% of the vertices. Half of them train; the program succeeds
 * if the others are classified with at least 95% accuracy. It prints a table by epoch; an argument names an SVG file
 * for a plot of it (plot.h).
 *
 *   cc examples/train_sage.c -lcsaw -lopenblas -lm && ./a.out      (or build/cpu/tests/train_sage) */
#include <stdio.h>

#include <csaw/philox.h>
#include <csaw/training.h>

#include "dense_layers.h"
#include "plot.h"

enum { GROUPS = 5, VERTICES = 3000, INSIDE = 8, OUTSIDE = 4, HIDDEN = 32, EPOCHS = 20, SEED = 7 };

static const double enough = 0.95;
static plot curves = {.title = "GraphSAGE: accuracy while training", .value = "training"};

static uint64_t below(uint64_t n) { /* the program's own numbers, one after the other */
    static uint32_t drawn;
    const csaw_block block = csaw_draw(SEED, drawn++, 0, 0, CSAW_DRAW_HOOK, 0);
    return csaw_below(csaw_half(&block, 0), n);
}

static double unit(void) { return (double)below(1u << 30) / (1u << 30); }

/* ---- the data ---- */

typedef struct data {
    csaw_graph *graph;
    float *x; /* [VERTICES, GROUPS] one-hot, noisy */
    int64_t label[VERTICES];
    csaw_vertex train[VERTICES / 2], test[VERTICES - VERTICES / 2];
} data;

static csaw_status make_data(data *d) {
    const uint64_t edges = VERTICES * (INSIDE + OUTSIDE);
    csaw_vertex *src = malloc(edges * sizeof *src), *dst = malloc(edges * sizeof *dst);
    csaw_status status = CSAW_ENOMEM;
    d->x = calloc(VERTICES * GROUPS, sizeof *d->x);
    if (src && dst && d->x) {
        for (uint64_t i = 0, v = 0; v < VERTICES; v++) { /* v's group is v mod GROUPS */
            for (int k = 0; k < INSIDE + OUTSIDE; k++, i++) {
                const uint64_t group = k < INSIDE ? v % GROUPS : (v + 1 + below(GROUPS - 1)) % GROUPS;
                src[i] = (csaw_vertex)v;
                dst[i] = (csaw_vertex)(below(VERTICES / GROUPS) * GROUPS + group);
            }
            d->label[v] = (int64_t)(v % GROUPS);
            d->x[v * GROUPS + (unit() < 0.4 ? v % GROUPS : below(GROUPS))] = 1;
            *(v / GROUPS % 2 ? &d->train[v / GROUPS / 2 * GROUPS + v % GROUPS]
                             : &d->test[v / GROUPS / 2 * GROUPS + v % GROUPS]) = (csaw_vertex)v;
        }
        const csaw_edges list = {.num_vertices = VERTICES, .num_edges = edges, .src = src, .dst = dst};
        status = csaw_graph_from_edges(&list, CSAW_LOAD(.undirected = true), &d->graph);
    }
    free(src);
    free(dst);
    return status;
}

/* ---- the model ---- */

typedef struct layer {
    uint64_t in, out;
    trained self, near;
    float *mean; /* [rows, in]: aggregated, kept for the backward pass */
    float *h;    /* [rows, out] */
    uint64_t mean_room, h_room;
} layer;

static int room(float **array, uint64_t *has, uint64_t need) {
    if (need <= *has) return 1;
    free(*array);
    *array = malloc(need * sizeof **array);
    *has = *array ? need : 0;
    return *array != NULL;
}

/* x: [block->num_src, in] */
static csaw_status forward(layer *l, const csaw_block_view *block, const float *x) {
    const uint64_t rows = block->num_dst;
    if (!room(&l->mean, &l->mean_room, rows * l->in) || !room(&l->h, &l->h_room, rows * l->out)) return CSAW_ENOMEM;
    const csaw_sparse a = csaw_block_sparse(block, NULL);
    const csaw_dense from = {.rows = block->num_src, .cols = l->in, .data = (void *)(uintptr_t)x};
    const csaw_dense to = {.rows = rows, .cols = l->in, .data = l->mean};
    const csaw_status status = csaw_spmm(&a, &from, CSAW_SPMM(.reduce = CSAW_MEAN), &to);
    memset(l->h, 0, rows * l->out * sizeof *l->h);
    multiply_add(x, l->self.value, rows, l->in, l->out, l->h); /* the first rows of x are the receivers' */
    multiply_add(l->mean, l->near.value, rows, l->in, l->out, l->h);
    return status;
}

/* Gradients of both weights and, unless dx is NULL, of x. */
static csaw_status backward(layer *l, const csaw_block_view *block, const float *x, const float *dh, float *dx) {
    const uint64_t rows = block->num_dst;
    multiply_add_weight(x, dh, rows, l->in, l->out, l->self.gradient);
    multiply_add_weight(l->mean, dh, rows, l->in, l->out, l->near.gradient);
    if (!dx) return CSAW_OK;
    memset(l->mean, 0, rows * l->in * sizeof *l->mean); /* from here on its gradient */
    multiply_add_input(dh, l->near.value, rows, l->in, l->out, l->mean);
    const csaw_sparse a = csaw_block_sparse(block, NULL);
    const csaw_dense from = {.rows = rows, .cols = l->in, .data = l->mean};
    const csaw_dense to = {.rows = block->num_src, .cols = l->in, .data = dx};
    const csaw_status status = csaw_spmm_backward(&a, NULL, &from, CSAW_SPMM(.reduce = CSAW_MEAN), &to, NULL);
    multiply_add_input(dh, l->self.value, rows, l->in, l->out, dx);
    return status;
}

/* ---- one pass over a loader's batches ---- */

typedef struct model {
    layer layer[2];
    float *dh; /* gradient of the hidden layer */
    uint64_t dh_room;
} model;

typedef struct tally {
    uint64_t seeds, right;
    double loss;
} tally;

static csaw_status step(model *m, const csaw_minibatch *batch, int train, tally *tally) {
    csaw_block_view block[2];
    layer *const first = &m->layer[0], *const second = &m->layer[1];
    const float *x = batch->features.data;
    csaw_status status = csaw_blocks_look(batch->blocks, 0, 1, &block[0]); /* the outer hop comes first */
    if (status == CSAW_OK) status = csaw_blocks_look(batch->blocks, 0, 0, &block[1]);
    if (status == CSAW_OK) status = forward(first, &block[0], x);
    if (status != CSAW_OK) return status;
    relu(first->h, block[0].num_dst * HIDDEN);
    status = forward(second, &block[1], first->h);
    if (status != CSAW_OK) return status;
    for (uint64_t i = 0; i < batch->num_seeds; i++) {
        float *row = second->h + i * GROUPS;
        tally->right += largest(row, GROUPS) == batch->label[i];
        tally->loss += softmax_loss(row, GROUPS, batch->label[i], 1 / (float)batch->num_seeds);
    }
    tally->seeds += batch->num_seeds;
    if (!train) return CSAW_OK;
    if (!room(&m->dh, &m->dh_room, block[1].num_src * HIDDEN)) return CSAW_ENOMEM;
    status = backward(second, &block[1], first->h, second->h, m->dh);
    relu_backward(first->h, block[1].num_src * HIDDEN, m->dh);
    if (status == CSAW_OK) status = backward(first, &block[0], x, m->dh, NULL);
    for (int i = 0; i < 2; i++) {
        trained_step(&m->layer[i].self, 0.01, 0);
        trained_step(&m->layer[i].near, 0.01, 0);
    }
    return status;
}

static csaw_status pass(model *m, csaw_plan *plan, const csaw_seeds *seeds, const csaw_loader_options *options,
                        int train, tally *out) {
    csaw_loader *loader = NULL;
    const csaw_minibatch *batch = NULL;
    csaw_status status = csaw_loader_open(plan, seeds, options, &loader);
    if (status != CSAW_OK) return status;
    while ((status = csaw_loader_next(loader, &batch)) == CSAW_OK && batch) {
        status = step(m, batch, train, out);
        if (status != CSAW_OK) break;
        if (train && batch->number + 1 == csaw_loader_batches(loader)) {
            const double accuracy = (double)out->right / (double)out->seeds;
            printf("%5llu %7.4f %9.3f\n", (unsigned long long)batch->epoch, out->loss / (double)out->seeds, accuracy);
            plot_add(&curves, (double)batch->epoch, accuracy);
            *out = (tally){0};
        }
    }
    csaw_loader_close(loader);
    return status;
}

static csaw_status train_and_test(data *d, model *m, double *accuracy) {
    csaw_plan *plan = NULL;
    tally tally = {0};
    const uint32_t fanout[] = {10, 10}, all[] = {CSAW_ALL, CSAW_ALL};
    const csaw_dense x = {.rows = VERTICES, .cols = GROUPS, .data = d->x};
    const csaw_seeds train = {.vertex = d->train, .count = VERTICES / 2};
    const csaw_seeds test = {.vertex = d->test, .count = VERTICES - VERTICES / 2};
    csaw_status status = csaw_plan_create(d->graph, CSAW_PLAN(.threads = 1), &plan); /* others are csaw_spmm()'s */
    if (status == CSAW_OK)
        status = pass(m, plan, &train,
                      CSAW_LOADER(.batch_size = 100, .epochs = EPOCHS, .seed = SEED, .depth = 2, .fanout = fanout,
                                  .features = &x, .label = d->label),
                      1, &tally);
    if (status == CSAW_OK) /* every neighbour: no chance left */
        status = pass(m, plan, &test,
                      CSAW_LOADER(.batch_size = 500, .keep_order = true, .depth = 2, .fanout = all, .features = &x,
                                  .label = d->label),
                      0, &tally);
    if (status == CSAW_OK) *accuracy = (double)tally.right / (double)tally.seeds;
    csaw_plan_free(plan);
    return status;
}

int main(int argc, char **argv) {
    static data d;
    static model m = {.layer = {{.in = GROUPS, .out = HIDDEN}, {.in = HIDDEN, .out = GROUPS}}};
    double accuracy = 0;
    snprintf(curves.name[curves.lines++], sizeof *curves.name, "seed %d", SEED);
    printf("epoch    loss  accuracy while training\n");
    csaw_status status = make_data(&d);
    for (int i = 0; i < 2 && status == CSAW_OK; i++)
        if (!trained_create(&m.layer[i].self, m.layer[i].in, m.layer[i].out, unit) ||
            !trained_create(&m.layer[i].near, m.layer[i].in, m.layer[i].out, unit))
            status = CSAW_ENOMEM;
    if (status == CSAW_OK) status = train_and_test(&d, &m, &accuracy);
    for (int i = 0; i < 2; i++) {
        free(m.layer[i].self.value);
        free(m.layer[i].near.value);
        free(m.layer[i].mean);
        free(m.layer[i].h);
    }
    free(m.dh);
    free(d.x);
    csaw_graph_free(d.graph);
    if (status != CSAW_OK) {
        fprintf(stderr, "train_sage: %s: %s\n", csaw_status_text(status), csaw_last_error());
        return 1;
    }
    if (argc > 1 && !plot_save(&curves, argv[1])) {
        fprintf(stderr, "train_sage: %s cannot be written\n", argv[1]);
        return 1;
    }
    printf("accuracy on %d vertices that were not trained on: %.3f (at least %.2f wanted; without the graph 0.52)\n",
           VERTICES - VERTICES / 2, accuracy, enough);
    return accuracy >= enough ? 0 : 1;
}
