/* SPDX-License-Identifier: MIT */
/* bench/instances.c - neighbour sampling uniform and by weight, forest fire and layer sampling, as C-SAW measures them
 * (Pandey et al., SC'20, section VI: two hops of two, one seed an instance), beside kernels written by hand for the
 * first two.
 *
 * On a GPU two times are taken: until the arcs lie in device memory, and until they lie in the host's. All results are
 * verified before they are timed: check_arcs() sees the first instances and the last, and on a GPU some of both must be
 * the CPU engine's bit for bit (an instance's number decides its draws). The seeds of n instances are the first n of
 * the same list, or the first n / w vertices, w times in turn. */
#include "bench/instances.h"

#include <csaw/samplers.h>
#include <stdlib.h>
#include <string.h>

#include "bench/check_arcs.h"
#include "bench/hand_device.h"
#include "bench/hand_law.h"
#include "bench/measure.h"

enum { HOPS = 4 /* at most */, EQUAL = 2000, CHECKED = 10000 };
static const double c_saw_seps = 37e6; /* C-SAW's program, neighbour sampling 10 x 10 on an R-MAT 16, measured apart */

CSAW_DECLARE_SAMPLER(neighbor_factor);

typedef struct fanout {
    uint32_t hops, of[HOPS];
} fanout;

static const fanout usual[] = {{2, {15, 10}}, {2, {2, 2}}};

typedef struct sampler_row {
    const char *name;
    const csaw_sampler *sampler;
    csaw_select select;
    bool weighted, own_fanout; /* own_fanout: the sampler's hook says how many */
    arcs_rule rule;
    int hand;   /* hand_way of the same work, or -1 */
    bool scans; /* reads the weights of every row that it picks from */
} sampler_row;

static const sampler_row rows[] = {
    {"neighbor", &csaw_neighbor, CSAW_SELECT_AUTO, false, false, ARCS_OF_VERTEX, HAND_UNIFORM, false},
    {"neighbor_biased", &csaw_neighbor_biased, CSAW_SELECT_AUTO, true, false, ARCS_OF_VERTEX, -1, false},
    {"neighbor_biased", &csaw_neighbor_biased, CSAW_SELECT_ITS, true, false, ARCS_OF_VERTEX, -1,
     false}, /* stored sums */
    {"neighbor_factor", &neighbor_factor, CSAW_SELECT_ITS, true, false, ARCS_OF_VERTEX, HAND_WEIGHTED, true},
    {"forest_fire", &csaw_forest_fire, CSAW_SELECT_AUTO, false, true, ARCS_OF_SOME, -1, false},
    {"layer", &csaw_layer, CSAW_SELECT_AUTO, true, false, ARCS_OF_LAYER, -1, false},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows, NUM_USUAL = sizeof usual / sizeof *usual };

typedef struct bench {
    const instances_job *job;
    csaw_plan *plan[2], *cpu[2]; /* without weights, with */
    csaw_vertex *seed;           /* of the largest number of instances */
    bool on_gpu, several;        /* GPUs, or as many as there are */
    hand_device *hand;           /* NULL without a GPU, and with several */
    double hand_seps[2];         /* by hand_way, of these instances and this fanout: kernels alone */
    double packed_seps[2];       /* the same from seeds in host memory to arcs side by side, as csaw */
    double *seconds;
    uint64_t instances;
    uint32_t each; /* how often the same vertices are the seeds */
    const fanout *fanout;
    bool first;
} bench;

static void *memory(uint64_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

static void wrong(const bench *b, const char *name, const char *what) {
    fprintf(stderr, "sample_bench: %s, %llu instances: %s\n", name, (unsigned long long)b->instances, what);
    exit(3);
}

/* ---- rows ---- */

typedef struct outcome {
    const char *name, *select, *by, *where;
    bool own_fanout;
    figure time;
    uint32_t repeat;
    uint64_t arcs;
    int hand;         /* compared with; -1: nothing */
    uint64_t scanned; /* bytes of weights, 0 = not counted */
} outcome;

static void report(bench *b, const outcome *o) {
    FILE *json = b->job->json;
    const double seps = (double)o->arcs / o->time.median;
    const bool neighbours = !strncmp(o->name, "neighbor", strlen("neighbor"));
    const double by_hand = o->hand < 0 ? 0 : b->hand_seps[o->hand], packed = o->hand < 0 ? 0 : b->packed_seps[o->hand];
    char fanout[64] = "its own";
    for (uint32_t d = 0, at = 0; d < b->fanout->hops && !o->own_fanout; d++)
        at += (uint32_t)snprintf(fanout + at, sizeof fanout - at, d ? ", %u" : "%u", b->fanout->of[d]);
    printf("%-15s %-7s %-7s %9llu  %-4s %-6s %10.3f ms  (%.3f .. %.3f)  %10llu arcs  %9.1f M arcs/s", o->name,
           o->select, fanout, (unsigned long long)b->instances, o->by, o->where, o->time.median * 1e3,
           o->time.least * 1e3, o->time.most * 1e3, (unsigned long long)o->arcs, seps / 1e6);
    if (neighbours) printf("  %7.1f x C-SAW", seps / c_saw_seps);
    if (by_hand > 0) printf("  %5.2f x by hand", seps / by_hand);
    if (packed > 0) printf("  %5.2f x packed by hand", seps / packed);
    if (o->scanned) printf("  %7.1f GB/s of weights", (double)o->scanned / o->time.median / 1e9);
    putchar('\n');
    fflush(stdout);
    if (!json) return;
    fprintf(
        json,
        "%s\n    {\"sampler\": \"%s\", \"select\": \"%s\", \"fanout\": \"%s\", \"instances\": %llu, \"seeds\": \"%s\", "
        "\"by\": \"%s\", \"until\": \"%s\", \"repeat\": %u, \"median_s\": %.6g, \"min_s\": %.6g, \"max_s\": %.6g, "
        "\"arcs\": %llu, \"seps\": %.6g",
        b->first ? "" : ",", o->name, o->select, fanout, (unsigned long long)b->instances,
        b->job->in_turn ? "in turn" : "list", o->by, o->where, o->repeat, o->time.median, o->time.least, o->time.most,
        (unsigned long long)o->arcs, seps);
    if (neighbours) fprintf(json, ", \"to_c_saw\": %.4g", seps / c_saw_seps);
    if (by_hand > 0) fprintf(json, ", \"to_hand\": %.4g", seps / by_hand);
    if (packed > 0) fprintf(json, ", \"to_hand_packed\": %.4g", seps / packed);
    if (o->scanned) fprintf(json, ", \"scanned_bytes_per_s\": %.6g", (double)o->scanned / o->time.median);
    fputc('}', json);
    b->first = false;
}

/* Fewer where one takes long. */
static uint32_t repeats(const bench *b, double seconds) {
    return seconds < 1 || b->job->repeat < 3 ? b->job->repeat : 3;
}

/* ---- csaw ---- */

/* The arcs of instances first .. first + count - 1, in host memory. Free the arrays of a copy. */
static csaw_arcs some_instances(const csaw_arcs *view, uint64_t first, uint64_t count) {
    csaw_arcs out = *view;
    out.first = view->first + first;
    out.num_instances = count;
    out.offset = view->offset + first;
    if (view->space == CSAW_HOST) return out;
    out.space = CSAW_HOST;
    uint64_t *offset = memory((count + 1) * sizeof *offset);
    hand_device_to_host(offset, view->offset + first, (count + 1) * sizeof *offset);
    const uint64_t begin = offset[0], arcs = offset[count] - begin;
    for (uint64_t i = 0; i <= count; i++) offset[i] -= begin;
    csaw_vertex *src = memory(arcs * sizeof *src), *dst = memory(arcs * sizeof *dst);
    csaw_edge *edge = memory(arcs * sizeof *edge);
    uint32_t *depth = memory(arcs * sizeof *depth);
    hand_device_to_host(src, view->src + begin, arcs * sizeof *src);
    hand_device_to_host(dst, view->dst + begin, arcs * sizeof *dst);
    hand_device_to_host(edge, view->edge + begin, arcs * sizeof *edge);
    hand_device_to_host(depth, view->depth + begin, arcs * sizeof *depth);
    out.offset = offset;
    out.src = src;
    out.dst = dst;
    out.edge = edge;
    out.depth = depth;
    return out;
}

static void free_copy(const csaw_arcs *copy) {
    free((void *)copy->offset);
    free((void *)copy->src);
    free((void *)copy->dst);
    free((void *)copy->edge);
    free((void *)copy->depth);
}

static csaw_run_options run_of(const bench *b, const sampler_row *row, uint64_t first) {
    return *CSAW_RUN(.depth = b->fanout->hops, .fanout = row->own_fanout ? NULL : b->fanout->of, .select = row->select,
                     .seed = 1, .first = first);
}

static csaw_samples *sample(const bench *b, const sampler_row *row) {
    const csaw_seeds seeds = {.vertex = b->job->in_turn ? NULL : b->seed, .count = b->instances / b->each};
    csaw_run_options run = run_of(b, row, 0);
    csaw_samples *samples = NULL;
    run.walks_per_seed = b->each;
    must(csaw_sample(b->plan[row->weighted], row->sampler, NULL, &seeds, &run, &samples));
    return samples;
}

/* A batch of the CPU engine's, held against the arcs of got, which has its instances. */
typedef struct comparison {
    const bench *b;
    const sampler_row *row;
    const csaw_arcs *got;
} comparison;

static csaw_status compare_batch(void *user, csaw_samples *samples) {
    const comparison *c = user;
    csaw_arcs want;
    must(csaw_samples_arcs(samples, CSAW_HOST, &want));
    const uint64_t *const offset = c->got->offset + (want.first - c->got->first);
    const uint64_t arcs = want.offset[want.num_instances], at = offset[0];
    bool same = true;
    for (uint64_t i = 0; i <= want.num_instances; i++) same = same && want.offset[i] == offset[i] - at;
    if (!same || memcmp(want.src, c->got->src + at, arcs * sizeof *want.src) != 0 ||
        memcmp(want.dst, c->got->dst + at, arcs * sizeof *want.dst) != 0 ||
        memcmp(want.edge, c->got->edge + at, arcs * sizeof *want.edge) != 0 ||
        memcmp(want.depth, c->got->depth + at, arcs * sizeof *want.depth) != 0)
        wrong(c->b, c->row->name, "differs from the CPU engine's arcs");
    return CSAW_OK;
}

/* The instances first .. end - 1 of view are samples; on a GPU some of the last are the CPU engine's bit for bit. */
static void verify_some(const bench *b, const sampler_row *row, const csaw_arcs *view, uint64_t first, uint64_t end) {
    const csaw_csr csr = csaw_graph_csr(row->weighted ? b->job->weighted : b->job->plain);
    const csaw_arcs host = some_instances(view, first, end - first);
    if (check_arcs(&csr, &host, end - first, b->seed + first, b->fanout->of, b->fanout->hops, row->rule))
        wrong(b, row->name, "arcs that are no sample");
    if (b->on_gpu) {
        comparison c = {.b = b, .row = row, .got = &host};
        const csaw_run_options run = run_of(b, row, end - first < EQUAL ? first : end - EQUAL);
        must(csaw_sample_each(b->cpu[row->weighted], row->sampler, NULL, &(csaw_seeds){.vertex = b->seed, .count = end},
                              &run, compare_batch, &c));
    }
    if (view->space != CSAW_HOST) free_copy(&host);
}

/* Returns the number of arcs. */
static uint64_t verify(const bench *b, const sampler_row *row, const csaw_arcs *view) {
    uint64_t arcs;
    if (view->num_instances != b->instances) wrong(b, row->name, "another number of instances came back");
    verify_some(b, row, view, 0, b->instances < CHECKED ? b->instances : CHECKED);
    if (b->instances > CHECKED) verify_some(b, row, view, b->instances - CHECKED, b->instances);
    if (view->space == CSAW_HOST)
        arcs = view->offset[b->instances];
    else
        hand_device_to_host(&arcs, view->offset + b->instances, sizeof arcs);
    return arcs;
}

static void by_csaw(bench *b, const sampler_row *row, csaw_space space) {
    outcome o = {.name = row->name,
                 .select = csaw_select_name(row->select),
                 .by = "csaw",
                 .where = space == CSAW_HOST ? "host" : "device",
                 .own_fanout = row->own_fanout,
                 .repeat = b->job->repeat,
                 .hand = space == CSAW_DEVICE ? row->hand : -1};
    for (uint32_t r = 0; r <= o.repeat; r++) { /* run 0 warms up and is verified */
        csaw_arcs view;
        const double start = now();
        csaw_samples *samples = sample(b, row);
        const bool apart = b->several && space == CSAW_DEVICE; /* a share in each GPU's memory */
        if (!apart) must(csaw_samples_arcs(samples, space, &view));
        const double seconds = now() - start;
        if (r) {
            b->seconds[r - 1] = seconds;
        } else {
            o.repeat = repeats(b, seconds);
            if (apart) must(csaw_samples_arcs(samples, CSAW_HOST, &view));
            o.arcs = verify(b, row, &view);
        }
        csaw_samples_free(samples);
    }
    o.time = figure_of(b->seconds, o.repeat);
    if (row->scans &&
        b->hand_seps[HAND_WEIGHTED] > 0) /* as many bytes as by hand: the rows are others, by the same law */
        o.scanned = hand_device_totals(b->hand, HAND_WEIGHTED).scanned;
    report(b, &o);
}

/* ---- by hand ---- */

/* The arcs brought side by side are those of the padded places. */
static void verify_packed(const bench *b, hand_way way, const csaw_arcs *packed, uint64_t first, uint64_t count) {
    const csaw_arcs host = some_instances(packed, first, count),
                    view = hand_device_get(b->hand, way, first, count), *const padded = &view;
    const uint64_t arcs = padded->offset[count];
    if (memcmp(host.offset, padded->offset, (count + 1) * sizeof *host.offset) != 0 ||
        memcmp(host.src, padded->src, arcs * sizeof *host.src) != 0 ||
        memcmp(host.dst, padded->dst, arcs * sizeof *host.dst) != 0 ||
        memcmp(host.edge, padded->edge, arcs * sizeof *host.edge) != 0 ||
        memcmp(host.depth, padded->depth, arcs * sizeof *host.depth) != 0)
        wrong(b, "by hand", "arcs that were brought side by side differ");
    free_copy(&host);
}

static void by_hand_packed(bench *b, hand_way way, outcome o) {
    const uint64_t checked = b->instances < CHECKED ? b->instances : CHECKED;
    for (uint32_t r = 0; r <= o.repeat; r++) {
        const double start = now();
        const csaw_arcs packed = hand_device_deliver(b->hand, way, 1, b->seed);
        if (r) {
            b->seconds[r - 1] = now() - start;
        } else {
            uint64_t arcs;
            hand_device_to_host(&arcs, packed.offset + b->instances, sizeof arcs);
            if (arcs != o.arcs) wrong(b, "by hand", "another number of arcs was brought side by side");
            verify_packed(b, way, &packed, 0, checked);
            verify_packed(b, way, &packed, b->instances - checked, checked);
        }
    }
    o.by = "hand";
    o.where = "packed";
    o.time = figure_of(b->seconds, o.repeat);
    b->packed_seps[way] = (double)o.arcs / o.time.median;
    report(b, &o);
}

static void by_hand(bench *b, hand_way way) {
    const csaw_csr csr = csaw_graph_csr(b->job->weighted);
    const uint64_t checked = b->instances < CHECKED ? b->instances : CHECKED;
    uint32_t repeat = b->job->repeat;
    for (uint32_t r = 0; r <= repeat; r++) { /* run 0 warms up and is verified */
        const double start = now();
        hand_device_run(b->hand, way, 1);
        const double seconds = now() - start;
        if (r) {
            b->seconds[r - 1] = seconds;
            continue;
        }
        repeat = repeats(b, seconds);
        const csaw_arcs view = hand_device_get(b->hand, way, 0, checked);
        if (check_arcs(&csr, &view, checked, b->seed, b->fanout->of, b->fanout->hops, ARCS_OF_VERTEX))
            wrong(b, "by hand", "arcs that are no sample");
    }
    const hand_totals totals = hand_device_totals(b->hand, way);
    const outcome o = {.name = way == HAND_UNIFORM ? "neighbor" : "neighbor_biased",
                       .select = way == HAND_UNIFORM ? "uniform" : "its",
                       .by = "hand",
                       .where = "device",
                       .time = figure_of(b->seconds, repeat),
                       .repeat = repeat,
                       .arcs = totals.arcs,
                       .hand = -1,
                       .scanned = totals.scanned};
    b->hand_seps[way] = (double)totals.arcs / o.time.median;
    report(b, &o);
    by_hand_packed(b, way, o);
}

static bool wanted(const bench *b, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = b->job->only; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && !strncmp(at, name, length)) return true;
    }
    return !b->job->only;
}

static void all_samplers(bench *b, bool last_fanout) {
    bool known = b->hand && !b->job->in_turn && b->fanout->hops == 2 && hand_device_has(b->fanout->of);
    b->hand_seps[0] = b->hand_seps[1] = b->packed_seps[0] = b->packed_seps[1] = 0;
    if (known) hand_device_seeds(b->hand, b->seed, b->instances, b->fanout->of);
    if (known && wanted(b, "neighbor")) by_hand(b, HAND_UNIFORM);
    if (known && wanted(b, "neighbor_biased")) by_hand(b, HAND_WEIGHTED);
    for (int i = 0; i < NUM_ROWS; i++) {
        if (!wanted(b, rows[i].name) || (rows[i].own_fanout && !last_fanout)) continue;
        if (b->on_gpu) by_csaw(b, &rows[i], CSAW_DEVICE);
        if (!b->on_gpu || !b->job->in_place) by_csaw(b, &rows[i], CSAW_HOST);
    }
}

static fanout read_fanout(const char *text) {
    fanout out = {0, {0}};
    const char *at = text;
    for (char *end; out.hops < HOPS; at = end + 1) {
        const unsigned long many = strtoul(at, &end, 10);
        if (end == at || !many || many > UINT32_MAX) break;
        out.of[out.hops++] = (uint32_t)many;
        if (!*end) return out;
        if (*end != ',') break;
    }
    fprintf(stderr, "sample_bench: --fanout is up to %d numbers of 1 or more with commas between, not '%s'\n", HOPS,
            text);
    exit(2);
}

/* Seeds of b->instances: in turn, as few times each as all vertices allow. */
static void choose_seeds(bench *b, uint64_t vertices) {
    b->each = b->job->in_turn ? (uint32_t)((b->instances + vertices - 1) / vertices) : 1;
    if (b->instances % b->each) {
        fprintf(stderr,
                "sample_bench: %llu instances are no whole number of times the same of %llu vertices: with "
                "--in-turn give a multiple of %u\n",
                (unsigned long long)b->instances, (unsigned long long)vertices, b->each);
        exit(2);
    }
    for (uint64_t i = 0; i < b->instances; i++)
        b->seed[i] = (csaw_vertex)(b->job->in_turn ? i % (b->instances / b->each) : i * 2654435761u % vertices);
}

void bench_instances(const instances_job *job) {
    bench b = {.job = job, .first = true};
    const csaw_graph *graphs[2] = {job->plain, job->weighted};
    const csaw_csr csr = csaw_graph_csr(job->weighted);
    uint64_t most = 0;
    char *end;
    for (const char *at = job->numbers; *at; at = *end ? end + 1 : end) {
        const uint64_t n = strtoull(at, &end, 10);
        if (end == at || (*end && *end != ',') || !n) {
            fprintf(stderr, "sample_bench: --instances are numbers of 1 or more with commas between, not '%s'\n", at);
            exit(2);
        }
        most = n > most ? n : most;
    }
    b.seed = memory(most * sizeof *b.seed);
    b.seconds = memory(job->repeat * sizeof *b.seconds);
    for (int w = 0; w < 2; w++) {
        must(csaw_plan_create(graphs[w], CSAW_PLAN(.device = job->device), &b.plan[w]));
        must(csaw_plan_create(graphs[w], NULL, &b.cpu[w]));
    }
    b.on_gpu = strcmp(job->device, "cpu") != 0;
    b.several = strcmp(job->device, "all") == 0 || strchr(job->device, ',');
    if (b.on_gpu && !b.several) {
        const double rate = hand_device_copy_rate();
        if (!hand_law(job->device)) exit(3);
        b.hand = hand_device_open(&csr, job->device);
        printf("device copy %.1f GB/s, read and written\n", rate / 1e9);
        if (job->json) fprintf(job->json, "\"device_copy_bytes_per_s\": %.6g, ", rate);
    }
    if (job->json) fputs("\"instances\": [", job->json);
    const fanout given = job->fanout ? read_fanout(job->fanout) : usual[0], *const list = job->fanout ? &given : usual;
    const int num = job->fanout ? 1 : NUM_USUAL;
    for (int f = 0; f < num; f++)
        for (const char *at = job->numbers; *at; at = *end ? end + 1 : end) {
            b.instances = strtoull(at, &end, 10);
            b.fanout = list + f;
            choose_seeds(&b, csr.num_vertices);
            all_samplers(&b, f + 1 == num);
        }
    if (job->json) fputc(']', job->json);
    hand_device_close(b.hand);
    for (int w = 0; w < 2; w++) {
        csaw_plan_free(b.plan[w]);
        csaw_plan_free(b.cpu[w]);
    }
    free(b.seed);
    free(b.seconds);
}
