/* SPDX-License-Identifier: MIT */
/* bench/parts_rows.c - bench/parts_rows.h. */
#include "bench/parts_rows.h"

#include <math.h>
#include <stdlib.h>

#include "bench/parts_device.h"

typedef unsigned long long number; /* as printf takes it */

parts_rows parts_rows_begin(const parts_settings *s, const parts_graph *graph, uint64_t walks, double rate) {
    const csaw_csr csr = csaw_graph_csr(graph->graph);
    const double bytes = parts_graph_bytes(&csr);
    parts_rows rows = {.rate = rate, .first = true};
    char rmat[64], how[64] = "read";
    snprintf(rmat, sizeof rmat, "R-MAT %u", s->scale);
    if (!s->graph) snprintf(how, sizeof how, "edge factor %u, seed %u, made", s->edge_factor, s->seed);
    const char *const name = s->name ? s->name : s->graph ? s->graph : rmat;
    printf("csaw %s, %s, %s in %.1f s: %llu vertices, %llu arcs, %.1f MiB; %llu walks of %u steps on %s, with ",
           csaw_version(), name, how, graph->seconds, (number)csr.num_vertices, (number)csr.num_edges, bytes / 1048576,
           (number)walks, s->length, parts_device_name(s->device));
    if (s->memory) printf("%.1f MiB; ", (double)s->memory / 1024);
    if (s->partitions) printf("%u partitions, ", s->partitions);
    if (s->resident) printf("%u resident, ", s->resident);
    printf("a copy to it moves %.2f GB/s\n", rate / 1e9);
    if (!s->json) return rows;
    rows.json = fopen(s->json, "w");
    if (!rows.json) {
        perror(s->json);
        exit(1);
    }
    fprintf(rows.json,
            "{\"kind\": \"parts\", \"version\": \"%s\", \"commit\": \"%s\", \"device\": \"%s\", \"graph\": {\"kind\": "
            "\"%s\", \"name\": \"%s\", ",
            csaw_version(), s->commit, parts_device_name(s->device), s->graph ? "file" : "rmat", name);
    if (!s->graph)
        fprintf(rows.json, "\"scale\": %u, \"edge_factor\": %u, \"seed\": %u, ", s->scale, s->edge_factor, s->seed);
    fprintf(rows.json,
            "\"vertices\": %llu, \"arcs\": %llu, \"bytes\": %.0f},\n \"gpu_memory\": %llu, \"partitions\": %u, "
            "\"resident\": %u, \"streams\": %u, \"seed\": %u, \"length\": %u, \"p\": \"%s\", \"q\": \"%s\", "
            "\"repeat\": %u, \"copy_bytes_per_s\": %.6g, \"rows\": [",
            (number)csr.num_vertices, (number)csr.num_edges, bytes, (number)s->memory << 10, s->partitions, s->resident,
            s->streams, s->seed, s->length, s->p, s->q, s->repeat, rate);
    return rows;
}

static double mean_of(const parts_row *row) { return row->moved.launch_seconds / (double)row->launches; }

/* Of all launches, not of some drawn from them. */
static double deviation_of(const parts_row *row) {
    const double mean = mean_of(row);
    return sqrt(fmax(row->moved.launch_squares / (double)row->launches - mean * mean, 0));
}

void parts_rows_add(parts_rows *rows, const char *walk, const char *by, const parts_row *row, double in_memory) {
    const double rate = (double)row->steps / row->seconds;
    const double bound = rows->rate > 0 ? (double)row->moved.copied_bytes / rows->rate : 0;
    const double ratio = bound > 0 ? row->seconds / bound : 0;
    const bool timed = row->launches && row->moved.launch_seconds > 0;
    FILE *const json = rows->json;
    printf("%-9s %-36s %9.3f s %9.1f M arcs/s", walk, by, row->seconds, rate / 1e6);
    if (row->moved.copies)
        printf("  %8.2f GB in %llu transfers, %llu launches, %llu batches; %.3f of what they take at full rate",
               (double)row->moved.copied_bytes / 1e9, (number)row->moved.copies, (number)row->launches,
               (number)row->batches, ratio);
    if (timed) printf("; launches of %.4f ms, deviation %.4f ms", 1e3 * mean_of(row), 1e3 * deviation_of(row));
    putchar('\n');
    fflush(stdout);
    if (!json) return;
    fprintf(json,
            "%s\n    {\"walk\": \"%s\", \"by\": \"%s\", \"walks\": %llu, \"steps\": %llu, \"seconds\": %.6g, "
            "\"least\": %.6g, \"most\": %.6g, \"arcs_per_s\": %.6g, \"bytes_moved\": %llu, \"transfers\": %llu, "
            "\"launches\": %llu, \"batches\": %llu, \"seconds_of_bytes\": %.6g, \"ratio\": %.4g, "
            "\"in_memory_s\": %.6g, \"peak_bytes\": %llu",
            rows->first ? "" : ",", walk, by, (number)row->walks, (number)row->steps, row->seconds, row->least,
            row->most, rate, (number)row->moved.copied_bytes, (number)row->moved.copies, (number)row->launches,
            (number)row->batches, bound, ratio, in_memory, (number)row->moved.peak);
    if (timed)
        fprintf(json, ", \"launch_mean_s\": %.6g, \"launch_deviation_s\": %.6g", mean_of(row), deviation_of(row));
    fputc('}', json);
    rows->first = false;
}

void parts_rows_end(parts_rows *rows) {
    if (rows->json && (fputs("]}\n", rows->json) < 0 || fclose(rows->json) != 0)) {
        perror("parts_bench: the JSON file");
        exit(1);
    }
}
