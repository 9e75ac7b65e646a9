/* SPDX-License-Identifier: MIT */
/* runtime/base/text_blocks.h - a file as large blocks of whole lines, the next one read while one is worked on. */
#ifndef CSAW_BASE_TEXT_BLOCKS_H
#define CSAW_BASE_TEXT_BLOCKS_H

#include "runtime/base/text_input.h"

enum {
    CSAW__FIRST_BLOCK_BYTES = 1 << 20, /* small, so that a small file costs little */
    CSAW__TEXT_SLACK = 16              /* bytes that may be read beyond the end of a block */
};

typedef struct csaw__block {
    char *text; /* [capacity + CSAW__TEXT_SLACK] */
    uint64_t capacity, count;
    uint64_t whole;     /* bytes up to the last line feed, that one included */
    bool last;          /* the file ends here */
    csaw_status status; /* of reading on after `count` bytes */
    char message[512];
} csaw__block;

typedef struct csaw__blocks {
    const char *path;
    csaw__text_input *input;
    uint64_t block_bytes; /* of all blocks but the first */
    csaw__block block[2];
    int now; /* the one being worked on; the other one is being filled */
} csaw__blocks;

/* Opens the file and fills the first block. path is kept, not copied. */
csaw_status csaw__blocks_open(const char *path, csaw__blocks *blocks);
void csaw__blocks_close(csaw__blocks *blocks);
static inline csaw__block *csaw__blocks_now(csaw__blocks *blocks) { return &blocks->block[blocks->now]; }
/* Fills the block after the one that is worked on. Only reads that one. What fails is kept in the block, so that the
 * lines before it are judged first. */
void csaw__blocks_fill_next(csaw__blocks *blocks);
void csaw__blocks_turn(csaw__blocks *blocks);
/* Back to the first block. */
csaw_status csaw__blocks_rewind(csaw__blocks *blocks);
/* Blocks of the lines that begin at bytes begin .. end - 1 of a plain file; both are beginnings of lines, or its end.
 */
csaw_status csaw__blocks_range(csaw__blocks *blocks, uint64_t begin, uint64_t end);
/* The whole file, of which the first block is read already; *bytes is released by csaw__free(). */
csaw_status csaw__blocks_all(csaw__blocks *blocks, char **bytes, uint64_t *count);

#endif
