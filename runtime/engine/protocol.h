/* SPDX-License-Identifier: MIT */
/* runtime/engine/protocol.h - whether ranks understand each other: two builds of one version may not. */
#ifndef CSAW_ENGINE_PROTOCOL_H
#define CSAW_ENGINE_PROTOCOL_H

#include <stdint.h>

/* A hash of the protocol's number and of the sizes of what ranks send. Equal where ranks may work together. */
uint64_t csaw__protocol(void);

#endif
