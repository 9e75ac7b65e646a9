/* SPDX-License-Identifier: MIT */
/* runtime/engine/protocol.h - whether ranks understand each other: two builds of one version may not. */
#ifndef CSAW_ENGINE_PROTOCOL_H
#define CSAW_ENGINE_PROTOCOL_H

#include "runtime/ranks/ranks.h"

/* The first of the values of a meeting at which ranks tell what they are: version, and a hash of the protocol's number
 * and of the sizes of what ranks send. */
enum { CSAW__SAYS_VERSION, CSAW__SAYS_PROTOCOL, CSAW__SAYS_MORE };
void csaw__protocol_say(uint64_t *values);
/* Whether all said the same, and so may work together; before anything else of that meeting is compared. */
csaw_status csaw__protocol_alike(const csaw__ranks *ranks);

#endif
