/* SPDX-License-Identifier: MIT */
/* partition/exchange_mpi.c - ranks that are processes of an MPI job (MPI 3).
 *
 * Batches are MPI_Issend() from a few buffers for each rank and come by MPI_Improbe() of any. A synchronous send is
 * done when its batch is taken in; MPI_Isend() of a small one would be done at once, and leave it with a rank that is
 * behind, in memory that nobody bounds. A large one comes in two, its head and then the rest, which never comes if the
 * sender was killed between: so a batch is received by MPI_Imrecv(), never waited for. Where MPI says that it moves the
 * memory of GPUs (OpenMPI's MPIX_Query_cuda_support(); others have no common way to say so), batches also go straight
 * from and to that, by a tag for each kind, with requests of their own. A round is MPI_Iallgather(), so
 * that whoever waits for it goes on serving. A rank that gives up sends each other one an empty message with a tag of
 * its own. How many batches a rank was sent is counted, and asked for when all settle, so that none is left for the
 * next run to mistake. */
#include "partition/exchange_mpi.h"

#include <mpi.h>
#ifdef __has_include
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/base/memory.h"

enum { TAG_BATCH, TAG_GIVE_UP, TAG_STRAIGHT /* and a kind */ };
enum { PATIENCE = 8 /* looks for a message between which a rank does not sleep */ };

typedef struct coming {  /* a message that has begun to come */
    MPI_Request request; /* MPI_REQUEST_NULL: nothing */
    int from, bytes, tag;
    void *to;
} coming;

struct csaw__mpi {
    MPI_Comm comm;
    int rank, size;
    uint32_t under_way;
    uint64_t batch;
    bool straight;                 /* MPI moves the memory of GPUs, on all ranks */
    unsigned char *memory;         /* [size, under_way, batch] to send from */
    MPI_Request *request;          /* [size, under_way]; MPI_REQUEST_NULL: free */
    uint32_t *next;                /* [size] the buffer that is filled next */
    MPI_Request *straight_request; /* [size, under_way], straight; and [size]: the next one */
    uint32_t *straight_next;
    unsigned char *came, *straight_came; /* [batch] */
    coming coming, straight_coming;
    uint64_t *sent, *given; /* [size] batches to each rank, and from each, since all settled last; given: scratch */
    uint64_t taken;
    uint64_t gave, all_gave; /* this rank gave up, and how many did: here, since MPI may write it behind who left */
    uint32_t idle_for;       /* looks in vain */
    unsigned char *words;    /* [size, CSAW__WORD_BYTES] */
    unsigned char mine[CSAW__WORD_BYTES];
    MPI_Request round;
    bool i_gave_up, other_gave_up;
};

/* format: what was done, with its numbers. */
__attribute__((format(printf, 2, 3))) static csaw_status check(int code, const char *format, ...) {
    char text[MPI_MAX_ERROR_STRING] = "", what[160];
    int length = 0;
    va_list arguments;
    if (code == MPI_SUCCESS) return CSAW_OK;
    MPI_Error_string(code, text, &length);
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return csaw__fail(CSAW_EMPI, "%s failed: %s; end the job, and see what its launcher says of the ranks", what, text);
}
#define TRY_MPI(CALL, ...) CSAW_TRY(check(CALL, __VA_ARGS__))

/* ---- batches ---- */

static csaw_status room(void *self, uint32_t to, void **out) {
    csaw__mpi *const m = self;
    const uint64_t place = (uint64_t)to * m->under_way + m->next[to];
    int free = 1;
    if (m->request[place] != MPI_REQUEST_NULL)
        TRY_MPI(MPI_Test(&m->request[place], &free, MPI_STATUS_IGNORE), "asking for batches that rank %u of %d took in",
                to, m->size);
    *out = free ? m->memory + place * m->batch : NULL;
    return CSAW_OK;
}

static csaw_status send(void *self, uint32_t to, uint64_t bytes) {
    csaw__mpi *const m = self;
    const uint64_t place = (uint64_t)to * m->under_way + m->next[to];
    TRY_MPI(
        MPI_Issend(m->memory + place * m->batch, (int)bytes, MPI_BYTE, (int)to, TAG_BATCH, m->comm, &m->request[place]),
        "sending a batch of %llu bytes, of at most %llu, to rank %u of %d", (unsigned long long)bytes,
        (unsigned long long)m->batch, to, m->size);
    m->next[to] = (m->next[to] + 1) % m->under_way;
    m->sent[to]++;
    return CSAW_OK;
}

/* tag: of the message that begins to come, to `to`, or if place is given, where that says. */
static csaw_status begin_to_receive(csaw__mpi *m, coming *c, int tag, void *to, csaw__straight_place *place,
                                    void *user) {
    MPI_Message message;
    MPI_Status status;
    int found = 0;
    TRY_MPI(MPI_Improbe(MPI_ANY_SOURCE, tag, m->comm, &found, &message, &status), "looking for messages of %d ranks",
            m->size);
    if (!found) return CSAW_OK;
    c->from = status.MPI_SOURCE;
    c->tag = tag;
    TRY_MPI(MPI_Get_count(&status, MPI_BYTE, &c->bytes), "asking for the size of a message from rank %d of %d", c->from,
            m->size);
    CSAW_REQUIRE((uint64_t)c->bytes <= m->batch, CSAW_EINVAL,
                 "rank %d sent a batch of %d bytes, but batches have at most %llu; run the same csaw on all ranks",
                 c->from, c->bytes, (unsigned long long)m->batch);
    c->to = place ? place(user, (uint32_t)(tag - TAG_STRAIGHT), (uint64_t)c->bytes) : NULL;
    if (!c->to) c->to = to;
    return check(MPI_Imrecv(c->to, c->bytes, MPI_BYTE, &message, &c->request),
                 "beginning to receive %d bytes from rank %d of %d", c->bytes, c->from, m->size);
}

static csaw_status go_on_receiving(csaw__mpi *m, coming *c, bool *any) {
    int whole = 0;
    *any = false;
    if (c->request == MPI_REQUEST_NULL) return CSAW_OK;
    TRY_MPI(MPI_Test(&c->request, &whole, MPI_STATUS_IGNORE), "receiving %d bytes from rank %d of %d", c->bytes,
            c->from, m->size);
    *any = whole;
    return CSAW_OK;
}

/* Of the message that is coming, else of the next one with this tag: whether all of it has come. */
static csaw_status receive_by(csaw__mpi *m, int tag, bool *any) {
    if (m->coming.request == MPI_REQUEST_NULL) CSAW_TRY(begin_to_receive(m, &m->coming, tag, m->came, NULL, NULL));
    return go_on_receiving(m, &m->coming, any);
}

static csaw_status receive_straight(csaw__mpi *m, csaw__straight_place *place, void *user, bool *any) {
    coming *const c = &m->straight_coming;
    for (int kind = 0; kind < CSAW__STRAIGHT_KINDS && c->request == MPI_REQUEST_NULL; kind++)
        CSAW_TRY(begin_to_receive(m, c, TAG_STRAIGHT + kind, m->straight_came, place, user));
    return go_on_receiving(m, c, any);
}

static csaw_status receive(void *self, uint32_t *from, const void **data, uint64_t *bytes) {
    csaw__mpi *const m = self;
    bool any;
    *data = NULL;
    CSAW_TRY(receive_by(m, TAG_BATCH, &any));
    if (!any) return CSAW_OK;
    m->taken++;
    m->idle_for = 0;
    *from = (uint32_t)m->coming.from;
    *data = m->came;
    *bytes = (uint64_t)m->coming.bytes;
    return CSAW_OK;
}

/* ---- batches straight from memory to memory ---- */

static csaw_status send_from(void *self, uint32_t to, uint32_t kind, const void *from, uint64_t bytes, bool *taken) {
    csaw__mpi *const m = self;
    MPI_Request *const request = &m->straight_request[(uint64_t)to * m->under_way + m->straight_next[to]];
    int free = 1;
    if (*request != MPI_REQUEST_NULL)
        TRY_MPI(MPI_Test(request, &free, MPI_STATUS_IGNORE), "asking for batches that rank %u of %d took in", to,
                m->size);
    *taken = free;
    if (!free) return CSAW_OK;
    TRY_MPI(MPI_Issend(from, (int)bytes, MPI_BYTE, (int)to, TAG_STRAIGHT + (int)kind, m->comm, request),
            "sending a batch of %llu bytes, of at most %llu, straight to rank %u of %d", (unsigned long long)bytes,
            (unsigned long long)m->batch, to, m->size);
    m->straight_next[to] = (m->straight_next[to] + 1) % m->under_way;
    m->sent[to]++;
    return CSAW_OK;
}

static csaw_status sent(void *self, bool *all) {
    csaw__mpi *const m = self;
    int done;
    TRY_MPI(MPI_Testall(m->size * (int)m->under_way, m->straight_request, &done, MPI_STATUSES_IGNORE),
            "asking for batches that %d ranks took in", m->size);
    *all = done;
    return CSAW_OK;
}

static csaw_status receive_to(void *self, csaw__straight_place *place, void *user, csaw__straight *came) {
    csaw__mpi *const m = self;
    const coming *const c = &m->straight_coming;
    bool any;
    came->bytes = 0;
    CSAW_TRY(receive_straight(m, place, user, &any));
    if (!any) return CSAW_OK;
    m->taken++;
    m->idle_for = 0;
    *came = (csaw__straight){.from = (uint32_t)c->from,
                             .kind = (uint32_t)(c->tag - TAG_STRAIGHT),
                             .own = c->to == m->straight_came ? m->straight_came : NULL,
                             .bytes = (uint64_t)c->bytes};
    return CSAW_OK;
}

/* ---- rounds ---- */

static csaw_status gather(void *self, const void *mine) {
    csaw__mpi *const m = self;
    memcpy(m->mine, mine, sizeof m->mine);
    TRY_MPI(
        MPI_Iallgather(m->mine, CSAW__WORD_BYTES, MPI_BYTE, m->words, CSAW__WORD_BYTES, MPI_BYTE, m->comm, &m->round),
        "a round of %d bytes from each of %d ranks", (int)CSAW__WORD_BYTES, m->size);
    return CSAW_OK;
}

static csaw_status gathered(void *self, const void **all) {
    csaw__mpi *const m = self;
    int done;
    TRY_MPI(MPI_Test(&m->round, &done, MPI_STATUS_IGNORE), "a round of %d bytes from each of %d ranks",
            (int)CSAW__WORD_BYTES, m->size);
    *all = done ? m->words : NULL;
    return CSAW_OK;
}

/* ---- giving up ---- */

/* An empty message is copied by MPI at once: nothing of it stays under way here. */
static void give_up(void *self) {
    csaw__mpi *const m = self;
    if (m->i_gave_up) return;
    m->i_gave_up = true;
    for (int to = 0; to < m->size; to++) {
        MPI_Request request;
        if (to == m->rank || MPI_Isend(NULL, 0, MPI_BYTE, to, TAG_GIVE_UP, m->comm, &request) != MPI_SUCCESS) continue;
        MPI_Request_free(&request);
    }
}

static bool gave_up(void *self) {
    csaw__mpi *const m = self;
    int found = 0;
    if (!m->other_gave_up &&
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_GIVE_UP, m->comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS && found)
        m->other_gave_up = true;
    return m->i_gave_up || m->other_gave_up;
}

/* ---- waiting ---- */

/* MPI has no way to sleep until a message comes. A rank that had nothing to do for long leaves its core to others. */
static void idle(void *self) {
    csaw__mpi *const m = self;
    const struct timespec nap = {.tv_nsec = 20000};
    if (++m->idle_for < PATIENCE)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

typedef struct waiting { /* for ranks that may be gone */
    csaw__mpi *m;
    bool (*leave)(void *user);
    void *user;
} waiting;

static csaw_status wait_a_little(const waiting *w) {
    CSAW_REQUIRE(!w->leave(w->user), CSAW_ESTOPPED,
                 "rank %d was told to stop while it waited for %d ranks to end a run; end the job", w->m->rank,
                 w->m->size);
    idle(w->m);
    return CSAW_OK;
}

static csaw_status wait_for(const waiting *w, int count, MPI_Request *request, const char *what) {
    for (;;) {
        int done;
        TRY_MPI(MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE), "%s of %d ranks", what, w->m->size);
        if (done) return CSAW_OK;
        CSAW_TRY(wait_a_little(w));
    }
}

static csaw_status drop(const waiting *w, int tag, uint64_t messages) {
    while (messages) {
        bool any, straight = false;
        CSAW_TRY(receive_by(w->m, tag, &any));
        messages -= any;
        if (tag == TAG_BATCH && messages && w->m->straight) CSAW_TRY(receive_straight(w->m, NULL, NULL, &straight));
        messages -= straight;
        if (!any && !straight) CSAW_TRY(wait_a_little(w));
    }
    return CSAW_OK;
}

static csaw_status settle(void *self, bool (*leave)(void *user), void *user) {
    csaw__mpi *const m = self;
    const waiting w = {m, leave, user};
    uint64_t batches = 0;
    MPI_Request counts[2], all_in;
    m->gave = m->i_gave_up;
    TRY_MPI(MPI_Ialltoall(m->sent, 1, MPI_UINT64_T, m->given, 1, MPI_UINT64_T, m->comm, &counts[0]),
            "counting the messages of %d ranks", m->size);
    TRY_MPI(MPI_Iallreduce(&m->gave, &m->all_gave, 1, MPI_UINT64_T, MPI_SUM, m->comm, &counts[1]),
            "counting the messages of %d ranks", m->size);
    CSAW_TRY(wait_for(&w, 2, counts, "counting the messages"));
    for (int i = 0; i < m->size; i++) batches += m->given[i];
    CSAW_TRY(drop(&w, TAG_BATCH, batches - m->taken));
    CSAW_TRY(drop(&w, TAG_GIVE_UP, m->all_gave - m->gave));
    CSAW_TRY(wait_for(&w, m->size * (int)m->under_way, m->request, "waiting for the batches under way"));
    CSAW_TRY(wait_for(&w, m->size * (int)m->under_way, m->straight_request, "waiting for the batches under way"));
    memset(m->sent, 0, (uint64_t)m->size * sizeof *m->sent);
    m->taken = 0;
    m->i_gave_up = m->other_gave_up = false;
    TRY_MPI(MPI_Ibarrier(m->comm, &all_in), "waiting for the last of %d ranks", m->size);
    return wait_for(&w, 1, &all_in, "waiting for the last");
}

/* ---- memory of GPUs ---- */

static bool says_it_moves_device_memory(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

bool (*csaw__mpi_moves_device_memory)(void) = says_it_moves_device_memory;

/* ---- memory ---- */

csaw__exchange csaw__mpi_rank(csaw__mpi *m) {
    return (csaw__exchange){.self = m,
                            .rank = (uint32_t)m->rank,
                            .size = (uint32_t)m->size,
                            .batch = m->batch,
                            .room = room,
                            .send = send,
                            .receive = receive,
                            .send_from = m->straight ? send_from : NULL,
                            .sent = m->straight ? sent : NULL,
                            .receive_to = m->straight ? receive_to : NULL,
                            .gather = gather,
                            .gathered = gathered,
                            .give_up = give_up,
                            .gave_up = gave_up,
                            .settle = settle,
                            .idle = idle};
}

static uint64_t bytes_of_batches(const csaw__mpi *m) { return (uint64_t)m->size * m->under_way * m->batch; }

static csaw_status take_memory(csaw__mpi *m) {
    const uint64_t size = (uint64_t)m->size, buffers = size * m->under_way;
    CSAW_TRY(csaw__alloc(&m->memory, bytes_of_batches(m), "batches to other ranks"));
    CSAW_TRY(csaw__alloc(&m->request, buffers, "batches to other ranks"));
    for (uint64_t i = 0; i < buffers; i++) m->request[i] = MPI_REQUEST_NULL;
    CSAW_TRY(csaw__alloc(&m->straight_request, buffers, "batches to other ranks"));
    for (uint64_t i = 0; i < buffers; i++) m->straight_request[i] = MPI_REQUEST_NULL;
    CSAW_TRY(csaw__alloc_zero(&m->next, size, "batches to other ranks"));
    CSAW_TRY(csaw__alloc_zero(&m->straight_next, size, "batches to other ranks"));
    CSAW_TRY(csaw__alloc(&m->came, m->batch, "a batch from another rank"));
    CSAW_TRY(csaw__alloc(&m->straight_came, m->batch, "a batch from another rank"));
    CSAW_TRY(csaw__alloc_zero(&m->sent, size, "counts of messages"));
    CSAW_TRY(csaw__alloc_zero(&m->given, size, "counts of messages"));
    return csaw__alloc(&m->words, size * CSAW__WORD_BYTES, "words of ranks");
}

static csaw_status open(csaw__mpi *m, const MPI_Comm *communicator) {
    TRY_MPI(MPI_Comm_dup(*communicator, &m->comm), "MPI_Comm_dup of the communicator given");
    TRY_MPI(MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler of its duplicate");
    TRY_MPI(MPI_Comm_rank(m->comm, &m->rank), "MPI_Comm_rank of its duplicate");
    return check(MPI_Comm_size(m->comm, &m->size), "MPI_Comm_size of its duplicate");
}

/* All ranks: memory, and batches of one size, since a rank takes in what others send; straight if all can. mine: how
 * this one fared. The lowest rank that failed is named. */
static csaw_status agree(const csaw__mpi *m, csaw_status mine, bool *straight) {
    enum { STATUS, FAILED, LARGEST, LEAST, STAGED, WORDS };
    int64_t word[WORDS] = {mine, mine == CSAW_OK ? -m->size : -m->rank, (int64_t)m->batch, -(int64_t)m->batch,
                           !csaw__mpi_moves_device_memory()};
    int64_t most[WORDS];
    TRY_MPI(MPI_Allreduce(word, most, WORDS, MPI_INT64_T, MPI_MAX, m->comm), "the agreement of %d ranks on batches",
            m->size);
    if (mine != CSAW_OK) return mine;
    CSAW_REQUIRE(most[STATUS] == CSAW_OK, (csaw_status)most[STATUS],
                 "rank %lld has no memory for its batches to %d ranks, %llu bytes; leave it more, or take fewer ranks",
                 (long long)-most[FAILED], m->size, (unsigned long long)bytes_of_batches(m));
    CSAW_REQUIRE(most[LARGEST] == -most[LEAST], CSAW_EINVAL,
                 "ranks give batches of %lld to %lld bytes; give the same on every rank", (long long)-most[LEAST],
                 (long long)most[LARGEST]);
    *straight = !most[STAGED];
    return CSAW_OK;
}

csaw_status csaw__mpi_create(const void *communicator, uint64_t batch, uint32_t under_way, csaw__mpi **out) {
    csaw__mpi begun = {.comm = MPI_COMM_NULL,
                       .round = MPI_REQUEST_NULL,
                       .coming.request = MPI_REQUEST_NULL,
                       .straight_coming.request = MPI_REQUEST_NULL},
              *m = NULL;
    CSAW_REQUIRE(batch == 0 || (batch >= CSAW__BATCH_LEAST && batch <= CSAW__BATCH_MOST), CSAW_EINVAL,
                 "batches of %llu bytes, but they have %d .. %d; give one of these, or 0 for the default",
                 (unsigned long long)batch, (int)CSAW__BATCH_LEAST, (int)CSAW__BATCH_MOST);
    begun.batch = ((batch ? batch : CSAW__BATCH_BYTES) + 7) & ~(uint64_t)7;
    begun.under_way = under_way ? under_way : CSAW__BATCHES_UNDER_WAY;
    csaw_status status = open(&begun, communicator); /* before anything that may fail on one rank alone */
    if (status == CSAW_OK) {
        status = csaw__alloc(&m, 1, "a rank");
        if (m) *m = begun;
        if (m) status = take_memory(m);
        status = agree(&begun, status, &begun.straight);
    }
    if (status == CSAW_OK) {
        m->straight = begun.straight;
        *out = m;
        return CSAW_OK;
    }
    if (m)
        csaw__mpi_free(m);
    else if (begun.comm != MPI_COMM_NULL)
        MPI_Comm_free(&begun.comm);
    return status;
}

void csaw__mpi_free(csaw__mpi *m) {
    if (!m) return;
    if (m->request) MPI_Waitall(m->size * (int)m->under_way, m->request, MPI_STATUSES_IGNORE); /* all was taken in */
    if (m->straight_request) MPI_Waitall(m->size * (int)m->under_way, m->straight_request, MPI_STATUSES_IGNORE);
    if (m->comm != MPI_COMM_NULL) MPI_Comm_free(&m->comm);
    csaw__free(m->straight_request);
    csaw__free(m->straight_next);
    csaw__free(m->straight_came);
    csaw__free(m->memory);
    csaw__free(m->request);
    csaw__free(m->next);
    csaw__free(m->came);
    csaw__free(m->sent);
    csaw__free(m->given);
    csaw__free(m->words);
    csaw__free(m);
}
