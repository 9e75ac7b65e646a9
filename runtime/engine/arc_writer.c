/* SPDX-License-Identifier: MIT */
/* runtime/engine/arc_writer.c - samples as text, batch by batch: one arc a line. Several ranks write one file by
 * rank_output.h, of which rank 0 has the name. */
#include "runtime/base/edge_text.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_text.h"
#include "runtime/engine/rank_output.h"
#include "runtime/engine/save.h"
#include "runtime/engine/subgraph.h"

#include <string.h>

struct csaw_arc_writer {
    const csaw_graph *graph;
    bool plain, no_header;
    csaw__output *output; /* the file; NULL on ranks other than 0 */
    csaw__ranks *ranks;   /* NULL = this process alone */
    csaw__rank_output *shared;
};

static csaw_status open_file(csaw_arc_writer *writer, const char *path, bool gzip) {
    CSAW_TRY(csaw__output_open(path, gzip, &writer->output));
    if (writer->no_header) return CSAW_OK;
    return writer->plain ? csaw__save_heading(writer->graph, "graph", "src,dst", writer->output)
                         : csaw__save_heading(NULL, "samples", "instance,src,dst,edge,depth", writer->output);
}

static csaw_status open_writer(const csaw_graph *graph, const char *path, const csaw_save_options *options,
                               csaw__ranks *ranks, csaw_arc_writer **out) {
    enum csaw__save_kind kind;
    bool gzip;
    CSAW_REQUIRE(graph && out, CSAW_EINVAL,
                 "csaw_arc_writer_open needs the graph that is sampled and a place for the writer; one is NULL");
    if (options->plain) CSAW_TRY(csaw__graph_check_whole(graph, "csaw_arc_writer_open with plain"));
    CSAW_TRY(csaw__save_kind(options, path, &kind, &gzip));
    CSAW_REQUIRE(kind == CSAW__SAVE_TEXT, CSAW_EINVAL,
                 "%s: only text is written batch by batch; make all samples at once and use csaw_samples_save", path);
    CSAW_TRY(csaw__alloc_zero(out, 1, "a writer of samples"));
    **out = (csaw_arc_writer){.graph = graph, .plain = options->plain, .no_header = options->no_header, .ranks = ranks};
    return csaw__ranks_rank(ranks) == 0 ? open_file(*out, path, gzip) : CSAW_OK;
}

static csaw_status share(csaw_arc_writer *writer, csaw__ranks *ranks, csaw_status status, const char *path) {
    csaw__rank_start start = {.any = true};
    csaw__rank_output *shared;
    if (status == CSAW_OK) start.job = (uint64_t)writer->plain << 1 | writer->no_header;
    CSAW_TRY(csaw__rank_output_open(ranks, status, writer ? writer->output : NULL, path, &start, &shared));
    writer->shared = shared;
    return CSAW_OK;
}

csaw_status csaw_arc_writer_open(const csaw_graph *graph, const char *path, const csaw_save_options *given,
                                 csaw_arc_writer **out) {
    csaw_arc_writer *writer = NULL;
    csaw__ranks *ranks;
    CSAW_OPTIONS(csaw_save_options, given, options)
    CSAW_TRY(csaw__ranks_open(options.communicator, &ranks));
    csaw__ranks_enter(ranks);
    csaw_status status = open_writer(graph, path, &options, ranks, out ? &writer : NULL);
    if (ranks) status = share(writer, ranks, status, path);
    if (status == CSAW_OK)
        *out = writer;
    else
        csaw_arc_writer_discard(writer);
    return status;
}

static csaw_status put_number(uint64_t number, char after, csaw__output *output) {
    char *begin, *at;
    CSAW_TRY(csaw__output_room(output, CSAW__MAX_WIDE_DIGITS + 1, &begin));
    at = csaw__put_wide(begin, number);
    *at++ = after;
    csaw__output_advance(output, (uint64_t)(at - begin));
    return CSAW_OK;
}

static csaw_status put_arc(const csaw_arc_writer *writer, const csaw_arcs *arcs, uint64_t instance, uint64_t k,
                           csaw__output *output) {
    const csaw_graph *graph = writer->graph;
    const bool columns = writer->plain && (graph->csr.weight || graph->csr.type || graph->csr.time);
    if (!writer->plain) CSAW_TRY(put_number(instance, ' ', output));
    CSAW_TRY(csaw__put_vertex(graph, arcs->src[k], ' ', output));
    CSAW_TRY(csaw__put_vertex(graph, arcs->dst[k], writer->plain && !columns ? '\n' : ' ', output));
    if (columns) return csaw__put_columns(graph, arcs->src[k], arcs->edge[k], output);
    if (writer->plain) return CSAW_OK;
    CSAW_TRY(put_number(arcs->edge[k], ' ', output));
    return put_number(arcs->depth[k], '\n', output);
}

/* An instance without arcs is its first frontier. */
static csaw_status put_seed(const csaw_arc_writer *writer, uint64_t instance, csaw_vertex v, csaw__output *output) {
    if (writer->plain) {
        if (writer->no_header) return CSAW_OK;
        CSAW_TRY(csaw__output_put(output, "# csaw vertex ", 14));
        return csaw__put_vertex(writer->graph, v, '\n', output);
    }
    CSAW_TRY(put_number(instance, ' ', output));
    CSAW_TRY(csaw__put_vertex(writer->graph, v, ' ', output));
    return csaw__output_put(output, "- - -\n", 6);
}

static csaw_status put_samples(const csaw_arc_writer *writer, const csaw_arcs *arcs, csaw__output *output) {
    for (uint64_t i = 0; i < arcs->num_instances; i++) {
        const uint64_t begin = arcs->offset[i], end = arcs->offset[i + 1], seeds = arcs->seed_offset[i + 1];
        for (uint64_t k = begin; k < end; k++) CSAW_TRY(put_arc(writer, arcs, arcs->first + i, k, output));
        for (uint64_t s = arcs->seed_offset[i]; begin == end && s < seeds; s++)
            CSAW_TRY(put_seed(writer, arcs->first + i, arcs->seed[s], output));
    }
    return CSAW_OK;
}

static csaw_status write_samples(const csaw_arc_writer *writer, csaw_samples *samples, csaw_arcs *arcs,
                                 csaw__output *output) {
    CSAW_REQUIRE(samples, CSAW_EINVAL, "csaw_arc_writer_write needs samples; they are NULL");
    CSAW_TRY(csaw_samples_arcs(samples, CSAW_HOST, arcs));
    CSAW_TRY(csaw__arcs_check(writer->graph, arcs));
    const csaw__plain_locale locale = csaw__plain_begin();
    const csaw_status status = put_samples(writer, arcs, output);
    csaw__plain_end(locale);
    return status;
}

csaw_status csaw_arc_writer_write(csaw_arc_writer *writer, csaw_samples *samples) {
    csaw_arcs arcs = {0};
    CSAW_REQUIRE(writer, CSAW_EINVAL, "csaw_arc_writer_write needs a writer; it is NULL");
    if (!writer->ranks) return write_samples(writer, samples, &arcs, writer->output);
    const csaw_status status = write_samples(writer, samples, &arcs, csaw__rank_output_begin(writer->shared));
    csaw__rank_round round = {.first = arcs.first, .count = arcs.num_instances};
    return csaw__rank_output_end(writer->shared, status, &round);
}

static csaw_status close_file(csaw_arc_writer *writer) {
    csaw__output *output = writer->output;
    writer->output = NULL; /* freed by its close */
    return csaw__output_close(output);
}

csaw_status csaw_arc_writer_close(csaw_arc_writer *writer) {
    CSAW_REQUIRE(writer, CSAW_EINVAL, "the writer to close is NULL; open one first");
    csaw_status status = writer->ranks ? csaw__rank_output_close(writer->shared, CSAW_OK) : CSAW_OK;
    if (status == CSAW_OK && writer->output) status = close_file(writer);
    status = csaw__ranks_meet(writer->ranks, CSAW__AT_CLOSED, status, NULL);
    csaw_arc_writer_discard(writer);
    return status;
}

void csaw_arc_writer_discard(csaw_arc_writer *writer) {
    if (!writer) return;
    csaw__output_discard(writer->output);
    csaw__rank_output_free(writer->shared);
    csaw__free(writer);
}
