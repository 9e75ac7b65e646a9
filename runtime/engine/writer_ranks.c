/* SPDX-License-Identifier: MIT */
/* runtime/engine/writer_ranks.c - a writer of walks on several ranks: rank 0 has the file's name, lock and record, and
 * all put their shares of a round in it. A record vouches for what every rank has brought to disk, and is made in the
 * round that does so; so a job goes on from it with any number of ranks. */
#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/engine/writer.h"

#include <string.h>

static uint64_t job_hash(const csaw_writer *writer) {
    const csaw__walk_format *format = &writer->format;
    const uint64_t what[] = {format->kind, format->edges, format->num_walks, format->length,
                             writer->job ? csaw__xxh64(writer->job, strlen(writer->job)) : 0};
    return csaw__xxh64(what, sizeof what);
}

csaw_status csaw__writer_share(csaw_writer *writer, csaw__ranks *ranks, csaw_status status, const char *path) {
    csaw__rank_start start = {0};
    csaw__rank_output *shared;
    if (status == CSAW_OK)
        start = (csaw__rank_start){.job = job_hash(writer), .done = writer->done, .complete = writer->complete};
    CSAW_TRY(csaw__rank_output_open(ranks, status, writer ? writer->output : NULL, path, &start, &shared));
    writer->shared = shared;
    writer->done = start.done;
    writer->complete = start.complete;
    writer->recorded = csaw__rank_output_is_file(shared) && writer->job && !start.complete;
    writer->record.walks = start.done;
    return CSAW_OK;
}

static csaw_status put_walks(csaw_writer *writer, const csaw_walks *walks) {
    csaw__output *memory = csaw__rank_output_begin(writer->shared);
    for (uint64_t w = 0; w < walks->num_walks; w++) CSAW_TRY(csaw__format_walk(&writer->format, walks, w, memory));
    return CSAW_OK;
}

/* Behind the round that is on disk. Once rank 0 has noted it, it holds, whatever becomes of the other ranks; these
 * count on it when they know. */
static csaw_status record(csaw_writer *writer) {
    const csaw_status status = writer->output ? csaw__writer_record(writer) : CSAW_OK;
    CSAW_TRY(csaw__ranks_meet(writer->ranks, CSAW__AT_RECORDED, status, NULL));
    writer->record = (csaw__resume){writer->done, writer->bytes};
    return CSAW_OK;
}

csaw_status csaw__writer_put_share(csaw_writer *writer, csaw_status status, const csaw_walks *walks) {
    csaw__rank_round round = {.sync = writer->output && csaw__writer_due(writer)};
    if (walks) round.first = walks->first, round.count = walks->num_walks;
    CSAW_REQUIRE(!writer->complete, CSAW_EINVAL, "%s: it is complete already; close the writer", writer->path);
    if (status == CSAW_OK) status = put_walks(writer, walks);
    status = csaw__rank_output_end(writer->shared, status, &round);
    if (status == CSAW_OK) {
        writer->done += round.count;
        writer->bytes = round.bytes;
        if (round.sync && writer->recorded) status = record(writer);
    }
    return status == CSAW_OK ? CSAW_OK : csaw__writer_tell_kept(writer, status);
}

csaw_status csaw__writer_close_share(csaw_writer *writer, csaw_status (*finish)(csaw_writer *)) {
    csaw_status status = csaw__rank_output_close(writer->shared, CSAW_OK);
    if (status == CSAW_OK && csaw__ranks_rank(writer->ranks) == 0) status = finish(writer);
    return csaw__ranks_meet(writer->ranks, CSAW__AT_CLOSED, status, NULL);
}
