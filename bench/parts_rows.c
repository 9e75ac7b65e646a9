/* SPDX-License-Identifier: MIT */
/* bench/parts_rows.c - bench/parts_rows.h. */
#include "bench/parts_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/parts_device.h"

typedef unsigned long long number; /* as printf takes it */

static void fail_to_write(void) {
    perror("the JSON file");
    exit(1);
}

/* What is written so far is whole JSON, of a run that may be cut; what comes next is written over the end. A pipe gets
 * the end once. */
static void end_for_now(FILE *json) {
    const long end = ftell(json);
    if (end < 0 && errno == ESPIPE) return;
    fputs("], \"whole\": false}\n", json);
    if (end < 0 || fflush(json) != 0 || fseek(json, end, SEEK_SET) != 0) fail_to_write();
}

parts_rows parts_rows_begin(const parts_settings *s, const parts_graph *graph, uint64_t walks, double rate) {
    const csaw_csr csr = csaw_graph_csr(graph->graph);
    const double bytes = parts_graph_bytes(&csr);
    parts_rows rows = {.rate = rate, .first = true};
    printf("csaw %s, %s, %s in %.1f s: %llu vertices, %llu arcs, %.1f MiB; %llu walks of %u steps on %s, with ",
           csaw_version(), graph->name, graph->how, graph->seconds, (number)csr.num_vertices, (number)csr.num_edges,
           bytes / 1048576, (number)walks, s->length, parts_device_name(s->device));
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
            "\"%s\", \"name\": \"%s\", %s",
            csaw_version(), s->commit, parts_device_name(s->device), graph->kind, graph->name, graph->json);
    fprintf(rows.json,
            "\"vertices\": %llu, \"arcs\": %llu, \"weighted\": %s, \"bytes\": %.0f},\n \"gpu_memory\": %llu, "
            "\"partitions\": %u, "
            "\"resident\": %u, \"streams\": %u, \"seed\": %u, \"length\": %u, \"p\": \"%s\", \"q\": \"%s\", "
            "\"select\": \"%s\", \"repeat\": %u, \"copy_bytes_per_s\": %.6g, \"rows\": [",
            (number)csr.num_vertices, (number)csr.num_edges, csr.weight ? "true" : "false", bytes,
            (number)s->memory << 10, s->partitions, s->resident, s->streams, s->seed, s->length, s->p, s->q,
            s->select ? s->select : "auto", s->repeat, rate);
    end_for_now(rows.json);
    return rows;
}

parts_row parts_row_begin(const csaw__parts *parts, uint64_t walks) {
    return (parts_row){
        .walks = walks, .launches = parts->schedule.launches, .moved = parts->kind->use(parts), .seconds = now()};
}

void parts_row_end(parts_row *row, const csaw__parts *parts, double less) {
    const csaw__parts_use before = row->moved;
    row->seconds = now() - row->seconds - less;
    row->moved = parts->kind->use(parts);
    row->moved.copies -= before.copies;
    row->moved.copied_bytes -= before.copied_bytes;
    row->moved.left_bytes -= before.left_bytes;
    row->moved.launch_seconds -= before.launch_seconds;
    row->moved.launch_squares -= before.launch_squares;
    row->launches = parts->schedule.launches - row->launches;
    row->partitions = parts->fit.parts;
    row->resident = parts->fit.resident;
}

static double mean_of(const parts_row *row) { return row->moved.launch_seconds / (double)row->launches; }

/* Of all launches, not of some drawn from them. */
static double deviation_of(const parts_row *row) {
    const double mean = mean_of(row);
    return sqrt(fmax(row->moved.launch_squares / (double)row->launches - mean * mean, 0));
}

/* All bytes that way: of partitions, and of arcs that had left. */
static uint64_t to_device(const parts_row *row) { return row->moved.copied_bytes + row->moved.left_bytes; }

void parts_rows_add(parts_rows *rows, const char *walk, const char *by, const parts_row *row, double in_memory) {
    const double rate = (double)row->steps / row->seconds;
    const double bound = rows->rate > 0 ? (double)to_device(row) / rows->rate : 0;
    const double ratio = bound > 0 ? row->seconds / bound : 0;
    const bool timed = row->launches && row->moved.launch_seconds > 0;
    FILE *const json = rows->json;
    printf("%-17s %-36s %9.3f s %9.1f M arcs/s", walk, by, row->seconds, rate / 1e6);
    if (row->moved.copies)
        printf("  %8.2f GB in %llu transfers, %llu launches, %llu batches", (double)row->moved.copied_bytes / 1e9,
               (number)row->moved.copies, (number)row->launches, (number)row->batches);
    if (row->moved.left_bytes) printf(", and %.2f GB of arcs that came back", (double)row->moved.left_bytes / 1e9);
    if (row->moved.copies) printf("; %.3f of what %.2f GB take at full rate", ratio, (double)to_device(row) / 1e9);
    if (timed) printf("; launches of %.4f ms, deviation %.4f ms", 1e3 * mean_of(row), 1e3 * deviation_of(row));
    putchar('\n');
    fflush(stdout);
    if (!json) return;
    fprintf(json,
            "%s\n    {\"walk\": \"%s\", \"by\": \"%s\", \"walks\": %llu, \"steps\": %llu, \"seconds\": %.6g, "
            "\"least\": %.6g, \"most\": %.6g, \"arcs_per_s\": %.6g, \"bytes_moved\": %llu, \"bytes_returned\": %llu, "
            "\"transfers\": %llu, "
            "\"launches\": %llu, \"batches\": %llu, \"seconds_of_bytes\": %.6g, \"ratio\": %.4g, "
            "\"in_memory_s\": %.6g, \"peak_bytes\": %llu, \"partitions\": %llu, \"resident\": %llu",
            rows->first ? "" : ",", walk, by, (number)row->walks, (number)row->steps, row->seconds, row->least,
            row->most, rate, (number)row->moved.copied_bytes, (number)row->moved.left_bytes, (number)row->moved.copies,
            (number)row->launches, (number)row->batches, bound, ratio, in_memory, (number)row->moved.peak,
            (number)row->partitions, (number)row->resident);
    if (timed)
        fprintf(json, ", \"launch_mean_s\": %.6g, \"launch_deviation_s\": %.6g", mean_of(row), deviation_of(row));
    fputc('}', json);
    rows->first = false;
    end_for_now(json);
}

/* What is not in them is told by the whole. */
static void write_phases(FILE *json, const phases *phases) {
    fprintf(json, ",\n \"total_s\": %.6g, \"phases\": [", now() - phases->start);
    for (int i = 0; i < phases->count; i++)
        fprintf(json, "%s\n    {\"name\": \"%s\", \"seconds\": %.6g}", i ? "," : "", phases->of[i].name,
                phases->of[i].seconds);
    fputc(']', json);
}

void parts_rows_end(parts_rows *rows, const phases *phases) {
    FILE *const json = rows->json;
    if (!json) return;
    fputs("], \"whole\": true", json);
    if (phases) write_phases(json, phases);
    const bool written = fputs("}\n", json) >= 0 && fflush(json) == 0;
    const long end = ftell(json);
    if (!written || (end >= 0 && ftruncate(fileno(json), end) != 0) || fclose(json) != 0) fail_to_write();
}
