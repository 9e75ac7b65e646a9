/* SPDX-License-Identifier: MIT */
/* runtime/base/hands.h - threads that lend a hand to one thread: what it has to do in pieces, it and whoever of them is
 * awake do together. Unlike OpenMP's they can be called before there is anything to do, since to wake takes them longer
 * than much of the work does, and nobody waits for one that is not awake yet; and teams of several threads at once do
 * not keep processors from each other by waiting. */
#ifndef CSAW_BASE_HANDS_H
#define CSAW_BASE_HANDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__hands csaw__hands;

/* So many threads, or as many as start; NULL if none are asked for or there is no memory, which is no error: all that
 * follows takes NULL for nobody. */
csaw__hands *csaw__hands_create(uint32_t threads);
void csaw__hands_free(csaw__hands *hands); /* nobody shares */

/* From now on they help the calling thread, until it has others; NULL: nobody does. Wakes them. */
void csaw__hands_have(csaw__hands *hands);
csaw__hands *csaw__hands_mine(void); /* who helps the calling thread */

/* piece(user, i) for i = 0 .. count - 1 in any order, once each; all are done when it returns. By the thread that they
 * help. */
void csaw__hands_share(csaw__hands *hands, uint32_t count, void (*piece)(void *user, uint32_t i), void *user);

#ifdef __cplusplus
}
#endif

#endif
