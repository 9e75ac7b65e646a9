/* SPDX-License-Identifier: MIT */
/* runtime/ranks/mpi.c - the transport of meetings by MPI (MPI-3; OpenMPI 4.1 or newer, MPICH 3 or newer).
 *
 * The caller's communicator is duplicated once, so that csaw's messages never meet the caller's, and the duplicate is
 * kept as an attribute of it (MPI 3.1, section 6.7): plans and writers of one communicator meet on one duplicate, and
 * freeing the communicator frees it. Waiting is a test and a nap, not a spin: ranks that share cores leave them to
 * those who work, and a signal that the caller was sent is seen. */
#include "runtime/base/memory.h"
#include "runtime/ranks/link.h"

#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { MOST_BYTES = 1 << 30, TAG = 1 };

typedef struct link { /* behind csaw__ranks.link */
    MPI_Comm comm;
} link;

static int keyval = MPI_KEYVAL_INVALID;

static MPI_Comm comm_of(const csaw__ranks *ranks) { return ((const link *)ranks->link)->comm; }

static csaw_status check(int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return CSAW_OK;
    MPI_Error_string(code, text, &length);
    return csaw__fail(CSAW_EMPI, "%s failed: %s; see what the launcher says of the ranks", what, text);
}
#define CSAW_MPI(CALL) CSAW_TRY(check(CALL, #CALL))

/* ---- opening ---- */

static void ranks_free(csaw__ranks *ranks) {
    if (!ranks) return;
    csaw__free(ranks->words);
    csaw__free(ranks->link);
    csaw__free(ranks);
}

/* Called where the caller's communicator is freed. */
static int forget(MPI_Comm comm, int key, void *value, void *extra) {
    csaw__ranks *ranks = value;
    int finalized = 0;
    (void)comm, (void)key, (void)extra;
    MPI_Finalized(&finalized);
    if (!finalized && !ranks->lost) MPI_Comm_free(&((link *)ranks->link)->comm);
    ranks_free(ranks);
    return MPI_SUCCESS;
}

/* Of the ranks that share this machine's memory. */
static csaw_status find_neighbours(csaw__ranks *ranks) {
    MPI_Comm node;
    int rank, size;
    CSAW_MPI(MPI_Comm_split_type(comm_of(ranks), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    ranks->local_rank = (uint32_t)rank;
    ranks->local_size = (uint32_t)size;
    return CSAW_OK;
}

static csaw_status make(MPI_Comm comm, csaw__ranks **out) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CSAW_TRY(csaw__alloc_zero(out, 1, "ranks"));
    (*out)->rank = (uint32_t)rank;
    (*out)->size = (uint32_t)size;
    CSAW_TRY(csaw__alloc_zero_bytes(&(*out)->link, 1, sizeof(link), "ranks"));
    return csaw__alloc_zero(&(*out)->words, (uint64_t)size, "what ranks say");
}

/* The lowest rank that has no memory fails for all: the others must not wait for it later. */
static csaw_status all_made(MPI_Comm comm, csaw_status mine) {
    int rank, size, lowest;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int failed = mine == CSAW_OK ? size : rank;
    CSAW_MPI(MPI_Allreduce(&failed, &lowest, 1, MPI_INT, MPI_MIN, comm));
    CSAW_REQUIRE(lowest == size, CSAW_ENOMEM, "rank %d: out of host memory", lowest);
    return CSAW_OK;
}

static csaw_status duplicate(MPI_Comm given, csaw__ranks **out) {
    csaw__ranks *ranks = NULL;
    MPI_Comm comm;
    CSAW_MPI(MPI_Comm_dup(given, &comm));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    csaw_status status = all_made(comm, make(comm, &ranks));
    if (status == CSAW_OK) {
        ((link *)ranks->link)->comm = comm;
        status = find_neighbours(ranks);
    }
    if (status == CSAW_OK) status = check(MPI_Comm_set_attr(given, keyval, ranks), "MPI_Comm_set_attr");
    if (status != CSAW_OK) {
        MPI_Comm_free(&comm);
        ranks_free(ranks);
        return status;
    }
    *out = ranks;
    return CSAW_OK;
}

csaw_status csaw__link_open(const void *communicator, csaw__ranks **out) {
    MPI_Comm given;
    int begun = 0, over = 0, found = 0;
    void *kept;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    CSAW_REQUIRE(begun && !over, CSAW_EINVAL,
                 "a communicator was given, but MPI is not running; call this between MPI_Init and MPI_Finalize");
    memcpy(&given, communicator, sizeof given);
    CSAW_REQUIRE(given != MPI_COMM_NULL, CSAW_EINVAL,
                 "the communicator is MPI_COMM_NULL; give one that this rank is in, or leave communicator NULL");
    if (keyval == MPI_KEYVAL_INVALID) CSAW_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL));
    CSAW_MPI(MPI_Comm_get_attr(given, keyval, &kept, &found));
    if (!found) return duplicate(given, out);
    *out = kept;
    return CSAW_OK;
}

/* ---- waiting ---- */

static csaw_status wait_for(csaw__ranks *ranks, MPI_Request *request) {
    csaw__patience patience = {0};
    for (uint64_t tries = 0;; tries++) {
        int done = 0;
        CSAW_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done) return CSAW_OK;
        if (tries < 1000) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = tries < 2000 ? 20000 : 200000}, NULL);
        if (csaw__ranks_refused(ranks, &patience, CSAW__GIVE_UP_SECONDS)) return csaw__ranks_leave(ranks);
    }
}

/* ---- messages ---- */

csaw_status csaw__link_gather(csaw__ranks *ranks, const void *mine, uint64_t bytes, void *all) {
    MPI_Request request;
    CSAW_MPI(MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(ranks), &request));
    return wait_for(ranks, &request);
}

csaw_status csaw__link_broadcast(csaw__ranks *ranks, uint32_t root, void *data, uint64_t bytes) {
    MPI_Request request;
    CSAW_MPI(MPI_Ibcast(data, (int)bytes, MPI_BYTE, (int)root, comm_of(ranks), &request));
    return wait_for(ranks, &request);
}

csaw_status csaw__link_send(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes) {
    for (const char *at = from; bytes;) {
        const uint64_t count = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        MPI_Request request;
        CSAW_MPI(MPI_Isend(at, (int)count, MPI_BYTE, (int)to, TAG, comm_of(ranks), &request));
        CSAW_TRY(wait_for(ranks, &request));
        at += count;
        bytes -= count;
    }
    return CSAW_OK;
}

csaw_status csaw__link_receive(csaw__ranks *ranks, uint32_t from, void *to, uint64_t bytes) {
    for (char *at = to; bytes;) {
        const uint64_t count = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        MPI_Request request;
        CSAW_MPI(MPI_Irecv(at, (int)count, MPI_BYTE, (int)from, TAG, comm_of(ranks), &request));
        CSAW_TRY(wait_for(ranks, &request));
        at += count;
        bytes -= count;
    }
    return CSAW_OK;
}

csaw_status csaw__link_sum(csaw__ranks *ranks, uint64_t *values, uint64_t count) {
    for (uint64_t most = MOST_BYTES / sizeof *values; count;) {
        const uint64_t now = count < most ? count : most;
        MPI_Request request;
        CSAW_MPI(MPI_Iallreduce(MPI_IN_PLACE, values, (int)now, MPI_UINT64_T, MPI_SUM, comm_of(ranks), &request));
        CSAW_TRY(wait_for(ranks, &request));
        values += now;
        count -= now;
    }
    return CSAW_OK;
}

/* Both ways piece by piece, so that no rank waits for one that only sends. */
csaw_status csaw__link_swap(csaw__ranks *ranks, uint32_t to, const void *from, uint64_t bytes, uint32_t source,
                            void *into, uint64_t source_bytes) {
    const char *out = from;
    for (char *in = into; bytes || source_bytes;) {
        const uint64_t sends = bytes < MOST_BYTES ? bytes : MOST_BYTES,
                       takes = source_bytes < MOST_BYTES ? source_bytes : MOST_BYTES;
        MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
        if (takes) CSAW_MPI(MPI_Irecv(in, (int)takes, MPI_BYTE, (int)source, TAG, comm_of(ranks), &receive));
        if (sends) CSAW_MPI(MPI_Isend(out, (int)sends, MPI_BYTE, (int)to, TAG, comm_of(ranks), &send));
        CSAW_TRY(wait_for(ranks, &receive));
        CSAW_TRY(wait_for(ranks, &send));
        out += sends, bytes -= sends;
        in += takes, source_bytes -= takes;
    }
    return CSAW_OK;
}
