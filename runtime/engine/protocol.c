/* SPDX-License-Identifier: MIT */
/* runtime/engine/protocol.c - see protocol.h. */
#include "runtime/engine/protocol.h"

#include <csaw/csaw.h>
#include <csaw/descriptor.h>
#include <string.h>

#include "runtime/base/checksum.h"
#include "runtime/engine/spread_gpu.h"
#include "runtime/engine/spread_sample.h"

/* To be raised where what ranks say, or when, or what it means changes: a message of spread.h, a meeting of ranks.h or
 * the values said there, how a graph or a batch is divided. Sizes below tell most of that by themselves, not all. */
static const char number[] = "csaw protocol 2";

static uint64_t protocol(void) {
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

void csaw__protocol_say(uint64_t *values) {
    values[CSAW__SAYS_VERSION] = csaw__xxh64(csaw_version(), strcspn(csaw_version(), " ")); /* not what is built in */
    values[CSAW__SAYS_PROTOCOL] = protocol();
}

csaw_status csaw__protocol_alike(const csaw__ranks *ranks) {
    CSAW_TRY(csaw__ranks_alike(ranks, CSAW__SAYS_VERSION, "version of csaw", "install the same everywhere"));
    return csaw__ranks_alike(ranks, CSAW__SAYS_PROTOCOL, "protocol between ranks",
                             "install the same build of csaw everywhere");
}
