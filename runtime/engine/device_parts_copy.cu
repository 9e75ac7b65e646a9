/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_parts_copy.cu - copies of partitions, out of page-locked memory of the host, to the slots of a
 * GPU.
 *
 * A slot holds a partition's arrays as they stand in the graph, offsets included, so that nothing is changed on the
 * way: pointers to arcs begin where the graph's first arc would be. Where a launch may read any partition that is whole
 * in its slot when it begins (sees_all), a copy waits, on the device, for the launches that had begun before. Of a
 * graph that is read in place nothing is copied. */
#include "runtime/engine/device_parts.h"

namespace {

/* The next array of a slot: entries first .. first + count - 1 of from, or none. Returns where entry 0 would be. */
template <typename T>
const T *next_array(csaw__piece **piece, char **to, const T *from, uint64_t first, uint64_t count) {
    if (!from) return nullptr;
    *(*piece)++ = {*to, from + first, count * sizeof(T)};
    const uintptr_t origin = (uintptr_t)*to - first * sizeof(T);
    *to += count * sizeof(T);
    return (const T *)origin;
}

/* Arrays with large entries come first, so that all are aligned. Returns how many. */
int lay_out(const csaw__cuda_parts *c, uint32_t part, uint32_t slot, csaw__piece *piece, csaw__rows *rows) {
    const csaw_csr *const csr = &c->parts->graph->csr;
    if (c->parts->fit.in_place) {
        *rows = csaw__cuda_rows_of_host(c);
        return 0;
    }
    const csaw_vertex first = c->parts->ranges.first[part], end = c->parts->ranges.first[part + 1];
    const csaw_edge row = csr->rowptr[first], arcs = csr->rowptr[end] - row;
    char *to = c->slots_at + slot * c->slot_bytes;
    csaw__piece *next = piece;
    const csaw__row_bias *const bias = next_array(&next, &to, c->bias, first, end - first);
    *rows = {};
    rows->bias = bias ? bias + first : nullptr;
    rows->alias = next_array(&next, &to, c->alias, row, arcs);
    rows->offset = next_array(&next, &to, csr->rowptr, first, (uint64_t)(end - first) + 1) + first;
    rows->time = next_array(&next, &to, csr->time, row, arcs);
    rows->col = next_array(&next, &to, csr->col, row, arcs);
    rows->weight = next_array(&next, &to, csr->weight, row, arcs);
    rows->type = next_array(&next, &to, csr->type, row, arcs);
    rows->first = first;
    rows->count = end - first;
    rows->wide = 1;
    return (int)(next - piece);
}

/* Bytes of the pieces, which a slot holds. */
csaw_status count_bytes(const csaw__cuda_parts *c, uint32_t part, const csaw__piece *piece, int count, uint64_t *out) {
    *out = 0;
    for (int i = 0; i < count; i++) *out += piece[i].bytes;
    CSAW_REQUIRE(*out <= c->slot_bytes, CSAW_EDEVMEM, "partition %u takes %llu bytes, but slots have %llu", part,
                 (unsigned long long)*out, (unsigned long long)c->slot_bytes);
    return CSAW_OK;
}

bool is_table(const csaw__cuda_parts *c, const csaw__piece *piece) {
    const uintptr_t at = (uintptr_t)piece->from;
    const csaw_csr *const csr = &c->parts->graph->csr;
    const uintptr_t alias = (uintptr_t)c->alias, bias = (uintptr_t)c->bias;
    return c->alias && ((at >= alias && at < alias + csr->num_edges * sizeof *c->alias) ||
                        (at >= bias && at < bias + csr->num_vertices * sizeof *c->bias));
}

csaw_status begin_copy(csaw__cuda_parts *c, const csaw__piece *piece, int count, uint32_t stream) {
    csaw__cuda_stream *const s = &c->stream[stream];
    s->staged = c->graph.refused || (c->alias && c->tables.refused);
    if (s->staged && !c->copier) CSAW_TRY(csaw__copier_open(c->ordinal, &c->copier));
    if (s->staged) {
        csaw__copier_order(c->copier, stream, piece, count, s->copies, s->done);
        return CSAW_OK;
    }
    for (int i = 0; i < count; i++)
        CSAW_TRY(csaw__pages_copy(is_table(c, &piece[i]) ? &c->tables : &c->graph, &piece[i], s->copies));
    CSAW_CUDA(cudaEventRecord(s->done, s->copies));
    return CSAW_OK;
}

/* Launches that may be reading the slot. */
csaw_status wait_for_readers(csaw__cuda_parts *c, uint32_t stream) {
    if (!c->sees_all) return CSAW_OK;
    for (uint32_t t = 0; t < c->streams; t++)
        if (c->stream[t].does == CSAW__CUDA_RUNS)
            CSAW_CUDA(cudaStreamWaitEvent(c->stream[stream].copies, c->stream[t].done, 0));
    return CSAW_OK;
}

} // namespace

csaw__rows csaw__cuda_rows_of_host(const csaw__cuda_parts *c) {
    const csaw_csr *const csr = &c->parts->graph->csr;
    csaw__rows rows = {};
    rows.offset = csr->rowptr;
    rows.col = csr->col;
    rows.weight = csr->weight;
    rows.type = csr->type;
    rows.time = csr->time;
    rows.alias = c->alias;
    rows.bias = c->bias;
    rows.count = (csaw_vertex)csr->num_vertices;
    rows.wide = 1;
    return rows;
}

csaw_status csaw__cuda_copy(void *self, uint32_t part, uint32_t slot, uint32_t stream) {
    csaw__cuda_parts *const c = (csaw__cuda_parts *)self;
    csaw__cuda_stream *const s = &c->stream[stream];
    csaw__piece piece[CSAW__MOST_PIECES];
    uint64_t bytes;
    c->slot[slot].part = CSAW__NONE_AT_ALL;
    CSAW_TRY(wait_for_readers(c, stream));
    const int count = lay_out(c, part, slot, piece, &c->slot[slot].rows);
    CSAW_TRY(count_bytes(c, part, piece, count, &bytes));
    CSAW_TRY(begin_copy(c, piece, count, stream));
    s->does = CSAW__CUDA_COPIES;
    s->part = part;
    s->slot = slot;
    c->use.copies += count > 0;
    c->use.copied_bytes += bytes;
    return CSAW_OK;
}
