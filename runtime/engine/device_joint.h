/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_joint.h - memory of several GPUs as one: arrays that lie in the memory of all of them, cut into
 * pieces, at addresses that follow one another and are the same for each. So a graph that fits on them together alone
 * is to kernels what it is on one GPU, and no sampler needs a word of it.
 *
 * Method: CUDA's virtual memory management maps a piece of each GPU's own memory into one range of addresses, and each
 * of them may read and write all of it (peer access over NVLink or NVSwitch, or PCIe). What has an entry an arc lies
 * there: arcs, their weights, tables of biases. Row offsets, filters and all that a run takes stand on each GPU, and
 * what searches and attempts read again and again is copied there if it fits: where arcs lead (device_second_order.cu),
 * and rows' sums of static biases (device_tables.cu).
 *
 * The other way is to move walkers to where their rows are (C-SAW, SC'20, section V-D), which device_exchange.h does on
 * the same memory: a walker that moves is 32 bytes and more, written, copied and taken up, in launches with ends to
 * wait for; an arc that is read from the neighbour's memory is a sector of 32 bytes, in a kernel that has thousands of
 * walkers to go on with meanwhile. docs/gpu.md has both. */
#ifndef CSAW_ENGINE_DEVICE_JOINT_H
#define CSAW_ENGINE_DEVICE_JOINT_H

#include "runtime/engine/device_list.h"
#include "runtime/engine/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of an array of so many bytes that is cut into pieces, as many as there are members or fewer, the piece of member
 * `first` before the others', that of a member; bytes 0: it has none. */
typedef struct csaw__joint_piece {
    uint64_t begin, bytes;
} csaw__joint_piece;
static inline csaw__joint_piece csaw__joint_piece_of(uint64_t bytes, uint64_t piece, uint32_t members, uint32_t first,
                                                     uint32_t member) {
    const uint64_t begin = (member + members - first) % members * piece, left = begin < bytes ? bytes - begin : 0;
    const csaw__joint_piece out = {left ? begin : 0, left < piece ? left : piece};
    return out;
}

/* Whether each of the GPUs reads the memory of each; else *reader does not read that of *holder. */
csaw_status csaw__joint_reaches(const int *ordinal, uint32_t count, bool *all, int *reader, int *holder);
/* ordinal: [count], one GPU may stand there more than once. Takes the memory of the graph's arrays, and fills nothing.
 * Each member opens a device of it (csaw__device_open), which fills its own pieces: the arrays are whole after all of
 * them have. aligned: the first piece of each array is the first member's, the second the second's, so that what
 * belongs to an arc is in the memory of one, but for arcs near the ends of pieces, which are whole pages; else pieces
 * of small arrays are dealt out in turn. CSAW_EDEVMEM without memory. */
csaw_status csaw__joint_open(const csaw_csr *csr, const int *ordinal, uint32_t count, bool aligned, csaw__joint **out);
void csaw__joint_close(csaw__joint *joint); /* NULL is fine; after runs, and before or after its devices */

#ifdef __cplusplus
}
#endif

#endif
