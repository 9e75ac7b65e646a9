/* SPDX-License-Identifier: MIT */
/* runtime/base/load_words.h - the distinct names of a stretch of an edge list, each known by its place. */
#ifndef CSAW_BASE_LOAD_WORDS_H
#define CSAW_BASE_LOAD_WORDS_H

#include "runtime/base/status.h"

typedef struct csaw__words {
    char *text; /* [text_bytes] the names one after the other */
    uint64_t text_bytes;
    uint32_t *offset; /* [count + 1] */
    uint32_t count, capacity;
    uint32_t *slot; /* [mask + 1] hash table: place + 1; 0 = free */
    uint64_t mask;
} csaw__words;

/* Room for so many names of so many bytes in all, both below 2^31. */
csaw_status csaw__words_open(csaw__words *words, uint64_t names, uint64_t bytes);
/* The place of a name, which is added if it is new. It may lie behind the last one, at text + offset[count]. */
uint32_t csaw__words_place(csaw__words *words, const char *name, uint64_t length);
/* No more names come: gives back memory. */
csaw_status csaw__words_shut(csaw__words *words);
void csaw__words_free(csaw__words *words);

#endif
