/* SPDX-License-Identifier: MIT */
/* runtime/base/text_blocks.c - two buffers by turns: while the lines of one are parsed, another thread reads and
 * unpacks the file into the other, so that gzip and xz cost time of their own only where they are slower than parsing.
 */
#include "runtime/base/text_blocks.h"

#include "runtime/base/memory.h"
#include "runtime/base/parallel.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 2 << 20, MAX_BLOCK_BYTES = 64 << 20 }; /* a thread; in all */

static csaw_status make_room(csaw__block *block, uint64_t capacity) {
    if (block->capacity >= capacity) return CSAW_OK;
    csaw__free(block->text);
    block->text = NULL;
    block->capacity = 0;
    CSAW_TRY(csaw__alloc(&block->text, capacity + CSAW__TEXT_SLACK, "a block of text"));
    block->capacity = capacity;
    return CSAW_OK;
}

/* begun: the start of a line that the block before ended in. */
static csaw_status fill(csaw__blocks *blocks, csaw__block *block, const char *begun, uint64_t begun_bytes) {
    uint64_t got = 0;
    block->count = block->whole = 0;
    block->last = true;
    const uint64_t bound = csaw__text_bound(blocks->input);
    uint64_t capacity = begun_bytes || blocks->block[1].capacity ? blocks->block_bytes : CSAW__FIRST_BLOCK_BYTES;
    if (bound < capacity) capacity = bound + 1; /* one more, so that the end shows */
    CSAW_TRY(make_room(block, capacity));
    memcpy(block->text, begun, begun_bytes);
    csaw_status status = csaw__text_read(blocks->input, block->text + begun_bytes, block->capacity - begun_bytes, &got);
    block->count = begun_bytes + got;
    block->last = status != CSAW_OK || block->count < block->capacity;
    const char *feed = block->count ? memrchr(block->text, '\n', block->count) : NULL;
    block->whole = feed ? (uint64_t)(feed - block->text) + 1 : 0;
    memset(block->text + block->count, 0, CSAW__TEXT_SLACK);
    if (status == CSAW_OK && block->last && block->whole < block->count) {
        block->text[block->count] = '\n'; /* the last line may lack its line feed */
        block->whole = block->count + 1;
    }
    return status;
}

static void keep_failure(csaw__block *block, csaw_status status) {
    block->status = status;
    if (status != CSAW_OK) snprintf(block->message, sizeof block->message, "%s", csaw_last_error());
}

void csaw__blocks_fill_next(csaw__blocks *blocks) {
    const csaw__block *now = &blocks->block[blocks->now];
    csaw__block *next = &blocks->block[!blocks->now];
    keep_failure(next, fill(blocks, next, now->text + now->whole, now->count - now->whole));
}

void csaw__blocks_turn(csaw__blocks *blocks) { blocks->now = !blocks->now; }

static csaw_status fill_first(csaw__blocks *blocks) {
    blocks->now = 0;
    csaw_status status = fill(blocks, &blocks->block[0], "", 0);
    keep_failure(&blocks->block[0], status);
    return status == CSAW_ENOMEM ? status : CSAW_OK;
}

csaw_status csaw__blocks_open(const char *path, csaw__blocks *blocks) {
    uint64_t bytes = (uint64_t)csaw__max_threads() * BLOCK_BYTES;
    *blocks = (csaw__blocks){.path = path, .block_bytes = bytes < MAX_BLOCK_BYTES ? bytes : MAX_BLOCK_BYTES};
    CSAW_TRY(csaw__text_open(path, &blocks->input));
    return fill_first(blocks);
}

csaw_status csaw__blocks_rewind(csaw__blocks *blocks) {
    CSAW_TRY(csaw__text_rewind(blocks->input));
    return fill_first(blocks);
}

csaw_status csaw__blocks_range(csaw__blocks *blocks, uint64_t begin, uint64_t end) {
    CSAW_TRY(csaw__text_range(blocks->input, begin, end));
    return fill_first(blocks);
}

csaw_status csaw__blocks_all(csaw__blocks *blocks, char **bytes, uint64_t *count) {
    csaw__block *first = csaw__blocks_now(blocks);
    uint64_t capacity = first->count, used = first->count;
    char *all = NULL, *more = NULL;
    csaw_status status = CSAW_OK;
    CSAW_REQUIRE(first->status == CSAW_OK, first->status, "%s", first->message);
    CSAW_TRY(csaw__alloc(&all, capacity, "a file in memory"));
    if (used) memcpy(all, first->text, used);
    for (bool last = first->last; !last;) {
        uint64_t got = 0;
        if (used == capacity) {
            CSAW_TRY_DONE(csaw__alloc(&more, 2 * capacity, "a file in memory"));
            memcpy(more, all, used);
            csaw__free(all);
            all = more;
            capacity *= 2;
        }
        CSAW_TRY_DONE(csaw__text_read(blocks->input, all + used, capacity - used, &got));
        used += got;
        last = used < capacity;
    }
    *bytes = all;
    *count = used;
    return CSAW_OK;
done:
    csaw__free(all);
    return status;
}

void csaw__blocks_close(csaw__blocks *blocks) {
    for (int b = 0; b < 2; b++) csaw__free(blocks->block[b].text);
    csaw__text_close(blocks->input);
    *blocks = (csaw__blocks){0};
}
