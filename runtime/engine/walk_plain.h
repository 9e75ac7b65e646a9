/* SPDX-License-Identifier: MIT */
/* runtime/engine/walk_plain.h - walks that the graph alone decides: UNIFORM or ALIAS, no hook asked after the pick. */
#ifndef CSAW_ENGINE_WALK_PLAIN_H
#define CSAW_ENGINE_WALK_PLAIN_H

#include "runtime/base/job.h"

/* Walks first .. first + count - 1 of the job, all of whose rows are in sight. */
void csaw__walk_plain(const csaw__job *job, uint64_t first, uint64_t count, bool alias);

#endif
