/* SPDX-License-Identifier: MIT */
/* cli/model.c - one line of a table per built-in sampler: the bias of an arc, what is mixed in beside the arcs, and
 * what the probabilities depend on. See the comment of samplers/NAME.c for each law. */
#include "model.h"

#include <csaw/samplers.h>
#include <inttypes.h>
#include <string.h>

#include "find_arc.h"

typedef struct traits {
    const csaw_sampler *sampler;
    double (*bias)(const model *, csaw_vertex given, csaw_edge);
    csaw_vertex (*given)(const model *, const step *);
    size_t (*mix)(const model *, csaw_vertex given, csaw_vertex at, cell *cells, size_t count, bool dead_end);
    const char *kind[MODEL_KINDS];
    int (*kind_of)(const model *, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next);
    const char *without_law;
} traits;

static double degree_of(const model *model, csaw_vertex v) {
    return (double)(model->csr.rowptr[v + 1] - model->csr.rowptr[v]);
}

/* ---- the bias of an arc ---- */

static double equal(const model *model, csaw_vertex given, csaw_edge e) {
    (void)model, (void)given, (void)e;
    return 1;
}

static double weight(const model *model, csaw_vertex given, csaw_edge e) {
    (void)given;
    return model->csr.weight ? (double)model->csr.weight[e] : 1;
}

static double degree(const model *model, csaw_vertex given, csaw_edge e) {
    (void)given;
    return degree_of(model, model->csr.col[e]);
}

enum { BACK, NEAR, AWAY };

static int nearness(const model *model, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next) {
    (void)given, (void)at;
    if (prev == CSAW_NONE) return -1;
    if (next == prev) return BACK;
    return find_arc(&model->csr, prev, next) != CSAW_NO_EDGE ? NEAR : AWAY;
}

static double second_order(const model *model, csaw_vertex prev, csaw_edge e) {
    const csaw_node2vec_params *n = model->params;
    const int kind = nearness(model, prev, prev, CSAW_NONE, model->csr.col[e]);
    return weight(model, prev, e) * (kind == BACK ? 1 / (double)n->p : kind == AWAY ? 1 / (double)n->q : 1);
}

static uint32_t metapath_type(const model *model, csaw_vertex place) {
    const csaw_metapath_params *n = model->params;
    const uint32_t type[8] = {n->t0, n->t1, n->t2, n->t3, n->t4, n->t5, n->t6, n->t7};
    return type[place];
}

static double typed(const model *model, csaw_vertex place, csaw_edge e) {
    const uint32_t type = model->csr.type ? model->csr.type[e] : 0;
    return type == metapath_type(model, place) ? weight(model, place, e) : 0;
}

/* ---- what it depends on ---- */

static csaw_vertex on_prev(const model *model, const step *step) {
    (void)model;
    return step->prev;
}

static csaw_vertex on_root(const model *model, const step *step) {
    (void)model;
    return step->root;
}

static csaw_vertex on_place(const model *model, const step *step) {
    const csaw_metapath_params *n = model->params;
    return (csaw_vertex)(step->depth % n->length);
}

/* ---- what is mixed in ---- */

/* The cell of v, made if there is none. */
static cell *cell_of(cell *cells, size_t *count, csaw_vertex v) {
    size_t at = 0;
    while (at < *count && cells[at].next < v) at++;
    if (at < *count && cells[at].next == v) return &cells[at];
    memmove(cells + at + 1, cells + at, (*count - at) * sizeof *cells);
    cells[at] = (cell){v, 0, 0};
    ++*count;
    return &cells[at];
}

static size_t stay(const model *model, csaw_vertex given, csaw_vertex at, cell *cells, size_t count, bool dead_end) {
    const double here = degree_of(model, at);
    double stays = 0;
    (void)given;
    if (dead_end) return count;
    for (size_t i = 0; i < count; i++) {
        const double there = degree_of(model, cells[i].next), goes = there > here ? here / there : 1;
        stays += cells[i].expected * (1 - goes);
        cells[i].expected *= goes;
    }
    cell_of(cells, &count, at)->expected += stays;
    return count;
}

static size_t go_anywhere(const model *model, csaw_vertex given, csaw_vertex at, cell *cells, size_t count,
                          bool dead_end) {
    const double p = dead_end ? 1 : (double)((const csaw_jump_params *)model->params)->jump;
    const double each = p / (double)model->csr.num_vertices;
    (void)given, (void)at;
    for (size_t i = 0; i < count; i++) cells[i].expected = (1 - p) * cells[i].expected + each;
    cells[count] = (cell){CSAW_NONE, 0, each * (double)(model->csr.num_vertices - count)};
    return count + 1;
}

static size_t go_back(const model *model, csaw_vertex root, csaw_vertex at, cell *cells, size_t count, bool dead_end) {
    const double p = dead_end ? 1 : (double)((const csaw_restart_params *)model->params)->restart;
    (void)at;
    for (size_t i = 0; i < count; i++) cells[i].expected *= 1 - p;
    cell_of(cells, &count, root)->expected += p;
    return count;
}

/* ---- kinds of step beside back, near and away ---- */

static int stays(const model *model, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next) {
    (void)model, (void)given, (void)prev;
    return next == at ? 0 : 1;
}

static int jumps(const model *model, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next) {
    (void)given, (void)prev;
    return next == CSAW_NONE || find_arc(&model->csr, at, next) == CSAW_NO_EDGE ? 0 : 1;
}

static int returns(const model *model, csaw_vertex root, csaw_vertex prev, csaw_vertex at, csaw_vertex next) {
    (void)model, (void)prev, (void)at;
    return next == root ? 0 : 1;
}

/* ---- the table ---- */

static const traits table[] = {
    {.sampler = &csaw_uniform, .bias = equal, .kind = {"back", "near", "away"}, .kind_of = nearness},
    {.sampler = &csaw_biased, .bias = weight, .kind = {"back", "near", "away"}, .kind_of = nearness},
    {.sampler = &csaw_biased_by_degree, .bias = degree, .kind = {"back", "near", "away"}, .kind_of = nearness},
    {.sampler = &csaw_node2vec,
     .bias = second_order,
     .given = on_prev,
     .kind = {"back", "near", "away"},
     .kind_of = nearness},
    {.sampler = &csaw_metropolis_hastings, .bias = equal, .mix = stay, .kind = {"stay", "move"}, .kind_of = stays},
    {.sampler = &csaw_jump, .bias = weight, .mix = go_anywhere, .kind = {"jump", "arc"}, .kind_of = jumps},
    {.sampler = &csaw_restart,
     .bias = weight,
     .given = on_root,
     .mix = go_back,
     .kind = {"root", "on"},
     .kind_of = returns},
    {.sampler = &csaw_ppr, .bias = weight, .kind = {"stop"}},
    {.sampler = &csaw_metapath, .bias = typed, .given = on_place},
    {.sampler = &csaw_temporal,
     .bias = weight,
     .without_law =
         "only the steps are checked: some choice of arcs has times that never fall and fit the window; their "
         "probabilities depend on which of several arcs was taken, which walks do not tell"},
};

static const traits *traits_of(const csaw_sampler *sampler) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].sampler == sampler) return &table[i];
    return NULL;
}

bool model_knows(const csaw_sampler *sampler) { return traits_of(sampler) != NULL; }

bool model_begin(model *model, const csaw_csr *csr, const csaw_sampler *sampler, const void *params) {
    model->csr = *csr;
    model->params = params;
    model->traits = traits_of(sampler);
    return model->traits != NULL;
}

const char *model_without_law(const model *model) { return model->traits->without_law; }

bool model_stops(const model *model, double *alpha) {
    if (model->traits->sampler != &csaw_ppr) return false;
    *alpha = (double)((const csaw_ppr_params *)model->params)->alpha;
    return true;
}

const char *model_kind_name(const model *model, int kind) { return model->traits->kind[kind]; }

int model_kind(const model *model, csaw_vertex given, csaw_vertex prev, csaw_vertex at, csaw_vertex next) {
    return model->traits->kind_of ? model->traits->kind_of(model, given, prev, at, next) : -1;
}

csaw_vertex model_given(const model *model, const step *step) {
    return model->traits->given ? model->traits->given(model, step) : 0;
}

size_t model_row(const model *model, csaw_vertex given, csaw_vertex at, cell *cells) {
    const csaw_csr *csr = &model->csr;
    size_t count = 0;
    double total = 0;
    for (csaw_edge e = csr->rowptr[at]; e < csr->rowptr[at + 1]; e++) {
        const double bias = model->traits->bias(model, given, e);
        total += bias;
        if (count == 0 || cells[count - 1].next != csr->col[e]) cells[count++] = (cell){csr->col[e], 0, 0};
        cells[count - 1].expected += bias;
    }
    for (size_t i = 0; i < count && total > 0; i++) cells[i].expected /= total;
    return model->traits->mix ? model->traits->mix(model, given, at, cells, count, !(total > 0)) : count;
}

/* ---- steps and ends, without probabilities ---- */

/* Is there an arc at -> next that the sampler could take? */
static bool arc_exists(const model *model, csaw_vertex given, csaw_edge first, csaw_edge end) {
    for (csaw_edge e = first; e < end; e++)
        if (model->traits->bias(model, given, e) > 0) return true;
    return false;
}

bool model_refuses(const model *model, const step *step, times *times, char *wrong, size_t room) {
    const csaw_sampler *sampler = model->traits->sampler;
    const csaw_csr *csr = &model->csr;
    const csaw_edge first = find_arc(csr, step->at, step->next);
    csaw_edge end = first;
    if (sampler == &csaw_jump || (sampler == &csaw_restart && step->next == step->root) ||
        (sampler == &csaw_metropolis_hastings && step->next == step->at))
        return false;
    if (first == CSAW_NO_EDGE) {
        snprintf(wrong, room, "is not an arc%s", sampler == &csaw_restart ? ", nor a return to the root" : "");
        return true;
    }
    while (end < csr->rowptr[step->at + 1] && csr->col[end] == step->next) end++;
    if (sampler == &csaw_temporal) {
        const csaw_temporal_params *n = model->params;
        if (times_step(times, csr, first, end, n->start, n->window)) return false;
        snprintf(wrong, room, "has no arc at a time that may follow");
        return true;
    }
    if (sampler == &csaw_metapath && !arc_exists(model, model_given(model, step), first, end)) {
        snprintf(wrong, room, "is not an arc of type %" PRIu32, metapath_type(model, model_given(model, step)));
        return true;
    }
    return false; /* an arc of bias 0 is told by the law */
}

bool model_dead_end(const model *model, const step *step) {
    return !arc_exists(model, model_given(model, step), model->csr.rowptr[step->at], model->csr.rowptr[step->at + 1]);
}

bool model_leaves_arcs(const model *model) { return model->traits->mix != NULL; }

bool model_may_end(const model *model, const step *step, const times *times) {
    const csaw_sampler *sampler = model->traits->sampler;
    const csaw_edge first = model->csr.rowptr[step->at], end = model->csr.rowptr[step->at + 1];
    if (sampler == &csaw_ppr) return true;
    if (sampler == &csaw_jump || sampler == &csaw_restart) return false;
    if (sampler == &csaw_temporal) {
        const csaw_temporal_params *n = model->params;
        return times_stuck(times, &model->csr, first, end, n->start, n->window);
    }
    return model_dead_end(model, step);
}
