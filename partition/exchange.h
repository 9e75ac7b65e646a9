/* SPDX-License-Identifier: MIT */
/* partition/exchange.h - how ranks that hold parts of one graph talk: batches of bytes from any rank to any other, and
 * rounds in which all ranks say something to all. A rank is a thread of one process (partition/exchange_local.h) or a
 * process of an MPI job (partition/exchange_mpi.h); who uses this does not care which.
 *
 * Nothing here waits but idle() and settle(), a message that has begun to come included: its sender may be gone. There
 * are bounded buffers for batches that are under way; a rank that finds none free takes in what came for it and asks
 * again. So no rank waits for ever as long as each can take in whatever comes without sending anything first, which is
 * for the user of an exchange to see to (runtime/engine/spread.h). */
#ifndef CSAW_PARTITION_EXCHANGE_H
#define CSAW_PARTITION_EXCHANGE_H

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CSAW__WORD_BYTES = 1024,      /* that a rank says in a round */
    CSAW__BATCH_LEAST = 96,       /* bytes of a batch */
    CSAW__BATCH_MOST = 256 << 10, /* the same */
    CSAW__BATCH_BYTES = 64 << 10, /* by default */
    CSAW__BATCHES_UNDER_WAY = 4,  /* from one rank to another, by default */
    CSAW__STRAIGHT_KINDS = 2      /* of what goes straight, 0 .. */
};

/* Where a batch of some kind that goes straight is to come to; NULL: to the exchange's own memory. */
typedef void *csaw__straight_place(void *user, uint32_t kind, uint64_t bytes);

typedef struct csaw__straight { /* one that came */
    uint32_t from, kind;
    const void *own; /* in the exchange's own memory, until the next call; NULL: where it was to come to */
    uint64_t bytes;  /* 0: none came */
} csaw__straight;

/* Of one rank, and for one thread. self is handed to each function. */
typedef struct csaw__exchange {
    void *self;
    uint32_t rank, size; /* of so many ranks */
    uint64_t batch;      /* bytes of a batch, at most; a multiple of 8 */

    /* Memory for a batch to another rank, 8-byte aligned, which is filled and then sent. *out is NULL while as many as
     * may be are under way there. */
    csaw_status (*room)(void *self, uint32_t to, void **out);
    csaw_status (*send)(void *self, uint32_t to, uint64_t bytes); /* bytes > 0: of what room() gave last */
    /* A batch that came; *data is NULL if there is none. It stays until the next call. */
    csaw_status (*receive)(void *self, uint32_t *from, const void **data, uint64_t *bytes);

    /* A round: begins with what this rank says, ends when all have begun, and then everyone has what all said. One at a
     * time. mine: [CSAW__WORD_BYTES], read at once. *all: [size, CSAW__WORD_BYTES], until the next round; NULL until
     * then. */
    csaw_status (*gather)(void *self, const void *mine);
    csaw_status (*gathered)(void *self, const void **all);

    /* This rank cannot go on; the others see it by gave_up(), soon, whatever is under way. */
    void (*give_up)(void *self);
    bool (*gave_up)(void *self);
    /* All ranks, after a round which told them to end: batches under way are thrown away, gave_up() is over. No rank
     * comes out of it before all are in, but by CSAW_ESTOPPED where `leave`, asked while it waits, says so: others may
     * be gone, and the exchange is of no use any more. */
    csaw_status (*settle)(void *self, bool (*leave)(void *user), void *user);

    void (*idle)(void *self); /* until there may be something to do */

    /* Batches straight from memory of the caller and to it, which may be a GPU's; NULL where nothing carries them. They
     * pass those of send(). kind: CSAW__STRAIGHT_KINDS. from stays as it is until sent() says so of all; *taken is
     * false while as many as may be are under way there. bytes: of a batch at most. */
    csaw_status (*send_from)(void *self, uint32_t to, uint32_t kind, const void *from, uint64_t bytes, bool *taken);
    csaw_status (*sent)(void *self, bool *all);
    csaw_status (*receive_to)(void *self, csaw__straight_place *place, void *user, csaw__straight *came);
} csaw__exchange;

#ifdef __cplusplus
}
#endif

#endif
