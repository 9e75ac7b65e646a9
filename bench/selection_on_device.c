/* SPDX-License-Identifier: MIT */
/* bench/selection_on_device.c - C-SAW's figures 10 to 12 on a GPU: each search with each way to know what is taken, on
 * what the figures' four applications pick from, from 2,000 instances, as there, to as many as are asked for.
 *
 * All is verified before it is timed: picks are the host's, of the last CHECKED lists where there are more, and so are
 * counts where there are not; and the picks that were looked at follow the law. */
#include "bench/selection_on_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/selection_device.h"

enum { REPEAT = 11, CHECKED = 20000, MANY_LISTS = 10 * BINS /* enough for chi-square */ };
static const char *const looking_name[] = {"linear", "contiguous", "strided"};

typedef struct outcome {
    round_counts counts;
    uint32_t *picks; /* of lists that are checked */
    double z;
} outcome;

typedef struct job {
    const csaw_csr *csr;
    selection_device *device;
    FILE *json;
    bool first;
    /* of what is picked from now */
    const char *from;
    uint64_t instances; /* 0: no samples */
    bool biased;
    selection_lists lists;
    uint64_t begin; /* of the lists that are checked */
    uint64_t *upto; /* [the longest list] */
    row row;        /* the same in double, for the law */
    outcome outcome[NUM_WAYS][NUM_LOOKINGS];
} job;

static void *memory(uint64_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) must(CSAW_ENOMEM);
    return p;
}

static void load_list(job *j, uint64_t list) {
    const csaw_csr *csr = j->csr;
    uint64_t sum = 0;
    uint32_t n = 0;
    for (uint64_t i = j->lists.begin[list]; i < j->lists.begin[list + 1]; i++) {
        const csaw_vertex v = j->lists.vertex[i];
        for (csaw_edge e = csr->rowptr[v]; e < csr->rowptr[v + 1]; e++, n++) {
            const csaw_vertex u = csr->col[e];
            sum += j->biased ? csr->rowptr[u + 1] - csr->rowptr[u] : 1;
            j->upto[n] = sum;
            j->row.upto[n] = (double)sum;
        }
    }
    j->row.n = n;
}

static void wrong(const job *j, int way, int looking, const char *what) {
    fprintf(stderr, "selection_bench: %s, %llu instances, %s, %s: the GPU's %s are not the host's\n", j->from,
            (unsigned long long)j->instances, way_name[way], looking_name[looking], what);
    exit(3);
}

/* What the device has is what the host makes of the same numbers: picks and counts; and z of the law. */
static void verify(job *j) {
    round_counts want[NUM_WAYS][NUM_LOOKINGS] = {0};
    uint64_t bin[NUM_WAYS][BINS] = {0};
    uint32_t picks[MOST_PICKS];
    for (uint64_t l = j->begin; l < j->lists.count; l++) {
        const uint64_t at = j->lists.pick[l] - j->lists.pick[j->begin];
        const uint32_t k = (uint32_t)(j->lists.pick[l + 1] - j->lists.pick[l]);
        load_list(j, l);
        for (int way = 0; way < NUM_WAYS; way++) {
            for (int looking = 0; looking < NUM_LOOKINGS; looking++) {
                pick_in_rounds(j->upto, j->row.n, l, (enum way)way, (enum looking)looking, k, picks,
                               &want[way][looking]);
                if (memcmp(picks, j->outcome[way][looking].picks + at, k * sizeof *picks) != 0)
                    wrong(j, way, looking, "picks");
            }
            place(&j->row, picks, k, bin[way]);
        }
    }
    for (int way = 0; way < NUM_WAYS; way++)
        for (int looking = 0; looking < NUM_LOOKINGS; looking++) {
            outcome *const o = &j->outcome[way][looking];
            o->z = z_of(bin[way]);
            if (!j->begin && memcmp(&want[way][looking], &o->counts, sizeof o->counts) != 0)
                wrong(j, way, looking, "counts");
        }
}

/* Fewer where one takes long. */
static figure time_of(job *j, way way, looking looking) {
    double seconds[REPEAT];
    uint32_t count = REPEAT;
    for (uint32_t r = 0; r < count; r++) {
        seconds[r] = selection_device_run(j->device, way, looking);
        if (seconds[r] > 0.1) count = 3;
    }
    return figure_of(seconds, count);
}

static void put_time(FILE *json, const char *name, figure t, double picks) {
    fprintf(json, "\"%s\": [%.4g, %.4g, %.4g]", name, t.median / picks * 1e9, t.least / picks * 1e9,
            t.most / picks * 1e9);
}

/* False if it is off the law. */
static bool report_way(job *j, way way) {
    const double picks = (double)j->lists.pick[j->lists.count], lists = (double)j->lists.count;
    const outcome *const any = &j->outcome[way][LINEAR];
    const bool follows = fabs(any->z) < Z_THRESHOLD;
    printf("%-11s %8llu %-6s %6.3g %8.0f %-8s %8.3f %8.3f %8.3f %8.1f %-4s", j->from, (unsigned long long)j->instances,
           j->biased ? "degree" : "none", picks / lists, lists, way_name[way], (double)any->counts.trials / picks,
           (double)any->counts.rounds / lists, (double)any->counts.searches / picks, any->z, follows ? "" : "OFF");
    fprintf(j->json, "%s\n \"%s\": {\"trials\": %.6g, \"rounds_of_list\": %.6g, \"searches\": %.6g, \"z\": %.4g",
            way ? "," : "", way_name[way], (double)any->counts.trials / picks, (double)any->counts.rounds / lists,
            (double)any->counts.searches / picks, any->z);
    for (int looking = 0; looking < NUM_LOOKINGS; looking++) {
        const figure t = time_of(j, way, (enum looking)looking);
        const double looks = (double)j->outcome[way][looking].counts.looks / picks;
        printf(" %9.3f %8.3f", looks, t.median / picks * 1e9);
        fprintf(j->json, ", \"%s\": {\"looks\": %.6g, ", looking_name[looking], looks);
        put_time(j->json, "ns", t, picks);
        fputs("}", j->json);
    }
    putchar('\n');
    fputs("}", j->json);
    return follows;
}

/* False if a way that has the law seems to miss it. */
static bool report(job *j) {
    const uint64_t count = j->lists.count, longest = longest_list(j->csr, &j->lists);
    const double picks = (double)j->lists.pick[count];
    bool good = true;
    if (count < MANY_LISTS) return true;
    j->begin = count > CHECKED ? count - CHECKED : 0;
    const uint64_t begin = j->lists.pick[j->begin], end = j->lists.pick[count];
    j->upto = memory(longest * sizeof *j->upto);
    j->row.upto = memory(longest * sizeof *j->row.upto);
    selection_device_lists(j->device, &j->lists, j->biased);
    for (int way = 0; way < NUM_WAYS; way++)
        for (int looking = 0; looking < NUM_LOOKINGS; looking++) { /* which warms up */
            outcome *const o = &j->outcome[way][looking];
            o->picks = memory((end - begin) * sizeof *o->picks);
            selection_device_run(j->device, (enum way)way, (enum looking)looking);
            o->counts = selection_device_get(j->device, begin, end, o->picks);
        }
    verify(j);
    selection_device_run(j->device, NUM_WAYS, LINEAR); /* warms up */
    const figure sums = time_of(j, NUM_WAYS, LINEAR);
    fprintf(j->json,
            "%s\n{\"from\": \"%s\", \"instances\": %llu, \"bias\": \"%s\", \"k\": %.4g, \"lists\": %llu, \"picks\": "
            "%.0f, \"longest\": %llu, ",
            j->first ? "" : ",", j->from, (unsigned long long)j->instances, j->biased ? "degree" : "none",
            picks / (double)count, (unsigned long long)count, picks, (unsigned long long)longest);
    put_time(j->json, "sums_ns", sums, picks);
    fputs(", \"ways\": {", j->json);
    for (int way = 0; way < NUM_WAYS; way++) good &= report_way(j, (enum way)way) || way == PRINTED;
    fputs("}}", j->json);
    printf("%-11s %8llu %-6s %6.3g sums alone: %.3f ns a pick\n", j->from, (unsigned long long)j->instances,
           j->biased ? "degree" : "none", picks / (double)count, sums.median / picks * 1e9);
    fflush(stdout);
    for (int way = 0; way < NUM_WAYS; way++)
        for (int looking = 0; looking < NUM_LOOKINGS; looking++) free(j->outcome[way][looking].picks);
    free(j->upto);
    free(j->row.upto);
    j->first = false;
    return good;
}

static bool report_applications(job *j, const char *device, const csaw_vertex *drawn, uint64_t num_drawn,
                                uint64_t instances) {
    bool good = true;
    j->instances = instances;
    for (int a = 0; a < NUM_APPLICATIONS; a++) {
        j->from = applications[a].name;
        j->biased = applications[a].biased;
        j->lists = lists_of_application(&applications[a], j->csr, device, drawn, num_drawn, instances);
        good &= report(j);
        lists_free(&j->lists);
    }
    return good;
}

bool selection_on_device(const char *device, const csaw_csr *csr, const csaw_vertex *drawn, uint64_t num_drawn,
                         uint64_t spare, const char *instances, FILE *json) {
    static const uint32_t ks[] = {2, 4, 8, 16, 32};
    job j = {.csr = csr, .device = selection_device_open(csr, device), .json = json, .first = true};
    bool good = true;
    char *end;
    printf("%-11s %8s %-6s %6s %8s %-8s %8s %8s %8s %8s %-4s %9s %8s %9s %8s %9s %8s\n", "lists of", "instances",
           "bias", "k", "lists", "way", "trials", "rounds", "searches", "z of law", "", "linear", "ns", "contig.", "ns",
           "strided", "ns");
    for (const char *at = instances; *at; at = *end ? end + 1 : end) {
        const uint64_t number = strtoull(at, &end, 10);
        if (end == at || (*end && *end != ',') || !number) {
            fprintf(stderr, "selection_bench: --instances are numbers of 1 or more with commas between, not '%s'\n",
                    at);
            exit(2);
        }
        good &= report_applications(&j, device, drawn, num_drawn, number);
    }
    j.from = "vertices";
    j.instances = 0;
    for (int biased = 1; biased >= 0; biased--)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            j.biased = biased;
            j.lists = lists_of_vertices(csr, drawn, num_drawn, ks[i], spare);
            good &= report(&j);
            lists_free(&j.lists);
        }
    selection_device_close(j.device);
    return good;
}
