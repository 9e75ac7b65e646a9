/* SPDX-License-Identifier: MIT */
/* runtime/engine/protocol.c - see protocol.h. */
#include "runtime/engine/protocol.h"

#include <csaw/descriptor.h>

#include "runtime/base/checksum.h"
#include "runtime/engine/spread_gpu.h"
#include "runtime/engine/spread_sample.h"

/* To be raised where what ranks say, or when, or what it means changes: a message of spread.h, a meeting of ranks.h or
 * the values said there, how a graph or a batch is divided. Sizes below tell most of that by themselves, not all. */
static const char number[] = "csaw protocol 1";

uint64_t csaw__protocol(void) {
    const uint64_t told[] = {csaw__xxh64(number, sizeof number),
                             CSAW__ABI,
                             CSAW__RANK_VALUES,
                             CSAW__WORD_BYTES,
                             CSAW__MESSAGE_KINDS,
                             CSAW__WALKER_BYTES,
                             CSAW__RECORD_BYTES,
                             sizeof(csaw__walker_message),
                             sizeof(csaw__walker_question),
                             sizeof(csaw__record_message),
                             sizeof(csaw__entry_message),
                             sizeof(csaw__picks_message),
                             sizeof(csaw__fault_message),
                             sizeof(csaw__wanted_message),
                             sizeof(csaw__row_message)};
    return csaw__xxh64(told, sizeof told);
}
