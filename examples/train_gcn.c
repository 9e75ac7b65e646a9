/* SPDX-License-Identifier: MIT */
/* examples/train_gcn.c - GCN on a citation graph with its public split, the whole graph in each step, in C: both the
 * features, which are sparse, and the neighbourhoods are csaw_spmm(); dense products are OpenBLAS's (dense_layers.h).
 *
 * Source: Kipf, Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017, sections 3 and
 * 5: two layers, 16 hidden units, out = A ReLU(A X W0) W1 with A = D^-1/2 (adjacency + I) D^-1/2, dropout 0.5 before
 * each product, weights of the first layer decayed by 5e-4, Adam with rate 0.01, 200 epochs, rows of X summing to 1.
 *
 *   python3 examples/planetoid.py FOLDER cora > cora.txt
 *   cc examples/train_gcn.c -lcsaw -lopenblas -lm && ./a.out cora.txt cora.svg      (or build/cpu/tests/train_gcn)
 *
 * Trains from seeds 0, 1 and 2, one after the other; prints a table of accuracies, that on the 1,000 vertices of the
 * test split after the last epoch last, and their mean; succeeds if that is above 80%. A second argument names an SVG
 * file for a plot of the test accuracy (plot.h). */
#include <stdio.h>

#include <csaw/philox.h>
#include <csaw/spmm.h>

#include "dense_layers.h"
#include "plot.h"

enum { HIDDEN = 16, EPOCHS = 200, EVERY = 10, RUNS = 3 };
typedef enum split { TRAIN, VALID, TEST, REST } split;

static const double rate = 0.01, decay = 5e-4, enough = 0.80;
static const float kept = 0.5f; /* of dropout */

static uint64_t seed, drawn;
static plot curves = {.title = "GCN: accuracy on the test vertices", .value = "test"};

static double unit(void) { /* the program's own numbers, one after the other */
    const csaw_block block = csaw_draw(seed, drawn++, 0, 0, CSAW_DRAW_HOOK, 0);
    return csaw_unit(csaw_half(&block, 0));
}

/* ---- the data ---- */

typedef struct data {
    uint64_t vertices, features, classes, edges;
    int64_t *label; /* [vertices] */
    split *split;   /* [vertices] */
    csaw_sparse x;  /* [vertices, features] */
    csaw_graph *graph;
    csaw_sparse a; /* [vertices, vertices] */
} data;

static void *array(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory) return memory;
    fprintf(stderr, "train_gcn: no memory\n");
    exit(1);
}

static split split_of(const char *name) {
    return !strcmp(name, "train") ? TRAIN : !strcmp(name, "valid") ? VALID : !strcmp(name, "test") ? TEST : REST;
}

static int read_vertices(FILE *file, data *d, uint64_t *rowptr, csaw_vertex **col, float **weight) {
    uint64_t count = 0, have = 0, of_row;
    for (uint64_t v = 0; v < d->vertices; v++) {
        char name[16];
        long long label;
        if (fscanf(file, "%lld %15s %llu", &label, name, (unsigned long long *)&of_row) != 3) return 0;
        if (label < 0 || (uint64_t)label >= d->classes || of_row > d->features) return 0;
        d->label[v] = label;
        d->split[v] = split_of(name);
        if (count + of_row > have) {
            have = 2 * (count + of_row);
            *col = realloc(*col, have * sizeof **col);
            if (!*col) return 0;
        }
        for (uint64_t k = 0; k < of_row; k++, count++)
            if (fscanf(file, "%u", &(*col)[count]) != 1) return 0;
        rowptr[v + 1] = count;
    }
    *weight = array(count, sizeof **weight);
    for (uint64_t v = 0; v < d->vertices; v++)
        for (uint64_t k = rowptr[v]; k < rowptr[v + 1]; k++) (*weight)[k] = 1 / (float)(rowptr[v + 1] - rowptr[v]);
    d->x = (csaw_sparse){d->vertices, d->features, count, rowptr, *col, *weight};
    return 1;
}

/* The edges both ways, and a loop at each vertex; then the weights of A. */
static int read_edges(FILE *file, data *d) {
    const uint64_t all = d->edges + d->vertices;
    csaw_vertex *src = array(all, sizeof *src), *dst = array(all, sizeof *dst);
    int right = 1;
    for (uint64_t i = 0; i < d->edges; i++) right = right && fscanf(file, "%u %u", &src[i], &dst[i]) == 2;
    for (uint64_t v = 0; v < d->vertices; v++) src[d->edges + v] = dst[d->edges + v] = (csaw_vertex)v;
    const csaw_edges list = {.num_vertices = d->vertices, .num_edges = all, .src = src, .dst = dst};
    right =
        right && csaw_graph_from_edges(&list, CSAW_LOAD(.undirected = true, .keep_loops = true), &d->graph) == CSAW_OK;
    free(src);
    free(dst);
    if (!right) return 0;
    d->a = csaw_graph_sparse(d->graph);
    float *weight = array(d->a.num_edges, sizeof *weight);
    const uint64_t *row = d->a.rowptr;
    for (uint64_t v = 0; v < d->vertices; v++)
        for (uint64_t e = row[v]; e < row[v + 1]; e++) {
            const csaw_vertex u = d->a.col[e];
            weight[e] = 1 / sqrtf((float)((row[v + 1] - row[v]) * (row[u + 1] - row[u])));
        }
    d->a.weight = weight;
    return 1;
}

static int read_data(const char *path, data *d) {
    unsigned long long n[4];
    csaw_vertex *col = NULL;
    float *weight = NULL;
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    int right = fscanf(file, "%llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3]) == 4 && n[0] < 1u << 30 &&
                n[1] < 1u << 30 && n[2] > 0 && n[2] < 1u << 20 && n[3] < 1u << 30;
    if (right) {
        *d = (data){.vertices = n[0], .features = n[1], .classes = n[2], .edges = n[3]};
        d->label = array(n[0], sizeof *d->label);
        d->split = array(n[0], sizeof *d->split);
        right = read_vertices(file, d, array(n[0] + 1, sizeof(uint64_t)), &col, &weight) && read_edges(file, d);
    }
    fclose(file);
    return right && csaw_sparse_check(&d->x) == CSAW_OK;
}

/* ---- the model ---- */

typedef struct model {
    trained w0, w1;          /* [features, HIDDEN], [HIDDEN, classes] */
    csaw_spmm_plan *of_x;    /* its transpose, for the gradient of w0 */
    float *x_weight;         /* of x, after dropout */
    float *xw, *h, *dropped; /* [vertices, HIDDEN] X W0; ReLU(A X W0); that after dropout */
    float *hw, *out;         /* [vertices, classes] H W1; A H W1 */
} model;

static csaw_dense dense(uint64_t rows, uint64_t cols, float *values) {
    return (csaw_dense){.rows = rows, .cols = cols, .data = values};
}

static csaw_status forward(const data *d, model *m, int train) {
    const uint64_t n = d->vertices;
    const csaw_dense w0 = dense(d->features, HIDDEN, m->w0.value), xw = dense(n, HIDDEN, m->xw);
    const csaw_dense h = dense(n, HIDDEN, m->h), hw = dense(n, d->classes, m->hw), out = dense(n, d->classes, m->out);
    csaw_sparse x = d->x;
    for (uint64_t k = 0; train && k < x.num_edges; k++) m->x_weight[k] = unit() < (double)kept ? x.weight[k] / kept : 0;
    if (train) x.weight = m->x_weight;
    csaw_status status = csaw_spmm(&x, &w0, NULL, &xw);
    if (status == CSAW_OK) status = csaw_spmm(&d->a, &xw, NULL, &h);
    relu(m->h, n * HIDDEN);
    for (uint64_t i = 0; i < n * HIDDEN; i++)
        m->dropped[i] = !train ? m->h[i] : unit() < (double)kept ? m->h[i] / kept : 0;
    memset(m->hw, 0, n * d->classes * sizeof *m->hw);
    multiply_add(m->dropped, m->w1.value, n, HIDDEN, d->classes, m->hw);
    return status == CSAW_OK ? csaw_spmm(&d->a, &hw, NULL, &out) : status;
}

/* From the gradient of out, which stands there. A is its own transpose. */
static csaw_status backward(const data *d, model *m) {
    const uint64_t n = d->vertices;
    const csaw_dense dout = dense(n, d->classes, m->out), dhw = dense(n, d->classes, m->hw);
    const csaw_dense dh = dense(n, HIDDEN, m->xw), dxw = dense(n, HIDDEN, m->dropped);
    const csaw_dense dw0 = dense(d->features, HIDDEN, m->w0.gradient);
    csaw_sparse x = d->x;
    x.weight = m->x_weight;
    csaw_status status = csaw_spmm(&d->a, &dout, NULL, &dhw);
    multiply_add_weight(m->dropped, m->hw, n, HIDDEN, d->classes, m->w1.gradient);
    memset(m->xw, 0, n * HIDDEN * sizeof *m->xw);
    multiply_add_input(m->hw, m->w1.value, n, HIDDEN, d->classes, m->xw);
    for (uint64_t i = 0; i < n * HIDDEN; i++) m->xw[i] = m->dropped[i] > 0 ? m->xw[i] / kept : 0;
    if (status == CSAW_OK) status = csaw_spmm(&d->a, &dh, NULL, &dxw);
    if (status == CSAW_OK) status = csaw_spmm_backward(&x, NULL, &dxw, CSAW_SPMM(.plan = m->of_x), &dw0, NULL);
    return status;
}

static double accuracy(const data *d, const model *m, split of) {
    uint64_t right = 0, all = 0;
    for (uint64_t v = 0; v < d->vertices; v++)
        if (d->split[v] == of) {
            right += largest(m->out + v * d->classes, d->classes) == d->label[v];
            all++;
        }
    return all ? (double)right / (double)all : 0;
}

static csaw_status train(const data *d, model *m) {
    uint64_t training = 0;
    for (uint64_t v = 0; v < d->vertices; v++) training += d->split[v] == TRAIN;
    double loss = log((double)d->classes); /* of the last step; before the first: of a guess */
    for (int epoch = 0; epoch <= EPOCHS; epoch++) {
        csaw_status status;
        if (epoch % EVERY == 0) {
            if ((status = forward(d, m, 0)) != CSAW_OK) return status;
            plot_add(&curves, epoch, accuracy(d, m, TEST));
        }
        if (epoch % 100 == 0)
            printf("%4llu %6d %7.3f %7.3f %7.3f %7.3f\n", (unsigned long long)seed, epoch, loss, accuracy(d, m, TRAIN),
                   accuracy(d, m, VALID), accuracy(d, m, TEST));
        if (epoch == EPOCHS) break;
        if ((status = forward(d, m, 1)) != CSAW_OK) return status;
        loss = 0;
        for (uint64_t v = 0; v < d->vertices; v++) {
            float *row = m->out + v * d->classes;
            if (d->split[v] == TRAIN)
                loss += softmax_loss(row, d->classes, d->label[v], 1 / (float)training) / (double)training;
            else
                memset(row, 0, d->classes * sizeof *row);
        }
        if ((status = backward(d, m)) != CSAW_OK) return status;
        trained_step(&m->w0, rate, decay);
        trained_step(&m->w1, rate, 0);
    }
    return CSAW_OK;
}

/* From new weights. */
static csaw_status train_anew(const data *d, model *m, double *of_test) {
    csaw_status status = CSAW_ENOMEM;
    drawn = 0;
    snprintf(curves.name[curves.lines++], sizeof *curves.name, "seed %llu", (unsigned long long)seed);
    if (trained_create(&m->w0, d->features, HIDDEN, unit) && trained_create(&m->w1, HIDDEN, d->classes, unit))
        status = train(d, m);
    *of_test = accuracy(d, m, TEST);
    free(m->w0.value);
    free(m->w1.value);
    return status;
}

int main(int argc, char **argv) {
    static data d;
    static model m;
    double mean = 0, of_test;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: train_gcn FILE [PLOT.svg], FILE from examples/planetoid.py\n");
        return 2;
    }
    if (!read_data(argv[1], &d)) {
        fprintf(stderr, "train_gcn: %s is not there, or not as examples/planetoid.py writes it\n", argv[1]);
        return 1;
    }
    const uint64_t n = d.vertices;
    m.x_weight = array(d.x.num_edges, sizeof(float));
    m.xw = array(n * HIDDEN, sizeof(float));
    m.h = array(n * HIDDEN, sizeof(float));
    m.dropped = array(n * HIDDEN, sizeof(float));
    m.hw = array(n * d.classes, sizeof(float));
    m.out = array(n * d.classes, sizeof(float));
    printf("seed  epoch    loss   train   valid    test\n");
    csaw_status status = csaw_spmm_prepare(&d.x, NULL, &m.of_x);
    for (seed = 0; seed < RUNS && status == CSAW_OK; seed++) {
        status = train_anew(&d, &m, &of_test);
        mean += of_test / RUNS;
    }
    if (status != CSAW_OK) {
        fprintf(stderr, "train_gcn: %s: %s\n", csaw_status_text(status), csaw_last_error());
        return 1;
    }
    if (argc == 3 && !plot_save(&curves, argv[2])) {
        fprintf(stderr, "train_gcn: %s cannot be written\n", argv[2]);
        return 1;
    }
    printf("test accuracy, mean of %d seeds: %.3f (more than %.2f wanted)\n", RUNS, mean, enough);
    return mean > enough ? 0 : 1; /* the system takes the memory back */
}
