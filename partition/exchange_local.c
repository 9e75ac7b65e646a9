/* SPDX-License-Identifier: MIT */
/* partition/exchange_local.c - ranks that are threads of one process.
 *
 * Each pair of ranks has a ring of buffers, filled by one and emptied by the other in the same order, so that two
 * counters, each written by one of them, say all. Whoever has nothing to do sleeps until an event concerns it: a batch
 * came, a buffer is free again, a round ended, a rank gave up. */
#include "partition/exchange_local.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "runtime/base/memory.h"

typedef struct ring {      /* of batches from one rank to another */
    unsigned char *memory; /* [under_way, batch] */
    uint64_t *bytes;       /* [under_way] */
    _Atomic uint64_t sent, taken;
} ring;

typedef struct rank {
    csaw__local *local;
    uint32_t number;
    uint32_t next;   /* rank to look at first for a batch */
    int64_t in_hand; /* the rank whose batch was handed out last; -1 = none */
    uint64_t rounds; /* begun */
    uint64_t seen;   /* events */
    uint64_t events; /* under lock */
    pthread_mutex_t lock;
    pthread_cond_t change;
} rank;

struct csaw__local {
    uint32_t size, under_way;
    uint64_t batch;
    ring *ring;            /* [size, size]: from, to */
    rank *rank;            /* [size] */
    unsigned char *memory; /* of all rings */
    uint64_t *bytes;
    unsigned char *words; /* [2, size, CSAW__WORD_BYTES]: what ranks say in a round, by its parity: a rank begins the
                             next one while others still read this, but not the one after */
    _Atomic uint64_t arrived[2]; /* ranks that began rounds of this parity, ever */
    _Atomic bool gave_up;
    pthread_barrier_t barrier;
};

static ring *ring_of(csaw__local *l, uint32_t from, uint32_t to) { return &l->ring[(uint64_t)from * l->size + to]; }

static void poke(rank *r) {
    pthread_mutex_lock(&r->lock);
    r->events++;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
}

static void poke_all(csaw__local *l) {
    for (uint32_t i = 0; i < l->size; i++) poke(&l->rank[i]);
}

/* ---- batches ---- */

static csaw_status room(void *self, uint32_t to, void **out) {
    rank *const r = self;
    ring *const at = ring_of(r->local, r->number, to);
    const uint64_t sent = atomic_load(&at->sent);
    const bool full = sent - atomic_load(&at->taken) == r->local->under_way;
    *out = full ? NULL : at->memory + sent % r->local->under_way * r->local->batch;
    return CSAW_OK;
}

static csaw_status send(void *self, uint32_t to, uint64_t bytes) {
    rank *const r = self;
    ring *const at = ring_of(r->local, r->number, to);
    const uint64_t sent = atomic_load(&at->sent);
    at->bytes[sent % r->local->under_way] = bytes;
    atomic_store(&at->sent, sent + 1);
    poke(&r->local->rank[to]);
    return CSAW_OK;
}

/* The batch that was handed out has been read. */
static void put_back(rank *r) {
    if (r->in_hand < 0) return;
    ring *const at = ring_of(r->local, (uint32_t)r->in_hand, r->number);
    atomic_fetch_add(&at->taken, 1);
    poke(&r->local->rank[r->in_hand]);
    r->in_hand = -1;
}

static csaw_status receive(void *self, uint32_t *from, const void **data, uint64_t *bytes) {
    rank *const r = self;
    csaw__local *const l = r->local;
    put_back(r);
    *data = NULL;
    for (uint32_t i = 0; i < l->size; i++) {
        const uint32_t other = (r->next + i) % l->size;
        ring *const at = ring_of(l, other, r->number);
        const uint64_t taken = atomic_load(&at->taken);
        if (atomic_load(&at->sent) == taken) continue;
        *from = other;
        *data = at->memory + taken % l->under_way * l->batch;
        *bytes = at->bytes[taken % l->under_way];
        r->in_hand = other;
        r->next = other + 1;
        return CSAW_OK;
    }
    return CSAW_OK;
}

/* ---- rounds ---- */

static csaw_status gather(void *self, const void *mine) {
    rank *const r = self;
    csaw__local *const l = r->local;
    const uint64_t parity = r->rounds++ & 1;
    memcpy(l->words + (parity * l->size + r->number) * CSAW__WORD_BYTES, mine, CSAW__WORD_BYTES);
    if ((atomic_fetch_add(&l->arrived[parity], 1) + 1) % l->size == 0) poke_all(l);
    return CSAW_OK;
}

static csaw_status gathered(void *self, const void **all) {
    rank *const r = self;
    csaw__local *const l = r->local;
    const uint64_t round = r->rounds - 1, parity = round & 1;
    const bool done = atomic_load(&l->arrived[parity]) >= (round / 2 + 1) * l->size;
    *all = done ? l->words + parity * l->size * CSAW__WORD_BYTES : NULL;
    return CSAW_OK;
}

static void give_up(void *self) {
    rank *const r = self;
    atomic_store(&r->local->gave_up, true);
    poke_all(r->local);
}

static bool gave_up(void *self) { return atomic_load(&((rank *)self)->local->gave_up); }

static csaw_status settle(void *self, bool (*leave)(void *user), void *user) {
    rank *const r = self;
    uint32_t from;
    const void *data;
    uint64_t bytes;
    (void)leave, (void)user;                  /* threads do not vanish */
    pthread_barrier_wait(&r->local->barrier); /* nobody sends from here on */
    do CSAW_TRY(receive(self, &from, &data, &bytes));
    while (data);
    atomic_store(&r->local->gave_up, false);
    pthread_barrier_wait(&r->local->barrier);
    return CSAW_OK;
}

static void idle(void *self) {
    rank *const r = self;
    pthread_mutex_lock(&r->lock);
    while (r->events == r->seen) pthread_cond_wait(&r->change, &r->lock);
    r->seen = r->events;
    pthread_mutex_unlock(&r->lock);
}

csaw__exchange csaw__local_rank(csaw__local *l, uint32_t number) {
    return (csaw__exchange){.self = &l->rank[number],
                            .rank = number,
                            .size = l->size,
                            .batch = l->batch,
                            .room = room,
                            .send = send,
                            .receive = receive,
                            .gather = gather,
                            .gathered = gathered,
                            .give_up = give_up,
                            .gave_up = gave_up,
                            .settle = settle,
                            .idle = idle};
}

/* ---- memory ---- */

static void arrange(csaw__local *l) {
    const uint64_t rings = (uint64_t)l->size * l->size;
    for (uint64_t i = 0; i < rings; i++) {
        l->ring[i].memory = l->memory + i * l->under_way * l->batch;
        l->ring[i].bytes = l->bytes + i * l->under_way;
    }
    for (uint32_t i = 0; i < l->size; i++) {
        l->rank[i].local = l;
        l->rank[i].number = i;
        l->rank[i].in_hand = -1;
        pthread_mutex_init(&l->rank[i].lock, NULL);
        pthread_cond_init(&l->rank[i].change, NULL);
    }
    pthread_barrier_init(&l->barrier, NULL, l->size);
}

static csaw_status take_memory(csaw__local *l) {
    const uint64_t rings = (uint64_t)l->size * l->size;
    CSAW_TRY(csaw__alloc_zero(&l->ring, rings, "queues between ranks"));
    CSAW_TRY(csaw__alloc(&l->memory, rings * l->under_way * l->batch, "batches between ranks"));
    CSAW_TRY(csaw__alloc(&l->bytes, rings * l->under_way, "batches between ranks"));
    CSAW_TRY(csaw__alloc(&l->words, 2 * (uint64_t)l->size * CSAW__WORD_BYTES, "words of ranks"));
    return csaw__alloc_zero(&l->rank, l->size, "ranks");
}

csaw_status csaw__local_create(uint32_t size, uint64_t batch, uint32_t under_way, csaw__local **out) {
    csaw__local *l;
    CSAW_REQUIRE(size > 0 && (batch == 0 || (batch >= CSAW__BATCH_LEAST && batch <= CSAW__BATCH_MOST)), CSAW_EINVAL,
                 "%u ranks with batches of %llu bytes; give at least 1 rank, and %d .. %d bytes", size,
                 (unsigned long long)batch, (int)CSAW__BATCH_LEAST, (int)CSAW__BATCH_MOST);
    CSAW_TRY(csaw__alloc_zero(&l, 1, "ranks of one process"));
    l->size = size;
    l->batch = ((batch ? batch : CSAW__BATCH_BYTES) + 7) & ~(uint64_t)7;
    l->under_way = under_way ? under_way : CSAW__BATCHES_UNDER_WAY;
    const csaw_status status = take_memory(l);
    if (status != CSAW_OK) {
        csaw__free(l->rank);
        l->rank = NULL;
        csaw__local_free(l);
        return status;
    }
    arrange(l);
    *out = l;
    return CSAW_OK;
}

void csaw__local_free(csaw__local *l) {
    if (!l) return;
    for (uint32_t i = 0; l->rank && i < l->size; i++) {
        pthread_mutex_destroy(&l->rank[i].lock);
        pthread_cond_destroy(&l->rank[i].change);
    }
    if (l->rank) pthread_barrier_destroy(&l->barrier);
    csaw__free(l->rank);
    csaw__free(l->words);
    csaw__free(l->bytes);
    csaw__free(l->memory);
    csaw__free(l->ring);
    csaw__free(l);
}
