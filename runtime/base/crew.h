/* SPDX-License-Identifier: MIT */
/* runtime/base/crew.h - threads that work side by side: each member does its share of a piece of work, the caller that
 * of member 0, and then waits for the others. What they tell, the caller hears when it tells something itself or waits.
 * The other members are the crew's own threads, the same ones in every piece of work: what belongs to a thread, such as
 * a current GPU, stays with it. They sleep in between, after a moment in which the next piece may come. */
#ifndef CSAW_BASE_CREW_H
#define CSAW_BASE_CREW_H

#include <stdbool.h>

#include "runtime/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csaw__crew csaw__crew;

typedef struct csaw__crew_work {
    csaw_status (*run)(void *user, uint32_t member); /* on the member's thread */
    void (*hear)(void *user); /* on the caller's, some time after csaw__crew_tell(); NULL = nobody listens */
    void *user;
} csaw__crew_work;

csaw_status csaw__crew_create(uint32_t members, csaw__crew **out); /* at least 1 */
void csaw__crew_free(csaw__crew *crew);                            /* nobody is at work; NULL is fine */
/* Every member runs once, and has when this returns. CSAW_OK unless the process was forked from the crew's. One caller
 * at a time, which need not be the same each time. */
csaw_status csaw__crew_run(csaw__crew *crew, const csaw__crew_work *work);
void csaw__crew_tell(csaw__crew *crew); /* by a member that runs */
bool csaw__crew_at_work(void);          /* whether the calling thread does a member's share, beside others */
/* How a member's last run went; *message is the crew's until the next one, and of CSAW_OK empty. */
csaw_status csaw__crew_outcome(const csaw__crew *crew, uint32_t member, const char **message);

#ifdef __cplusplus
}
#endif

#endif
