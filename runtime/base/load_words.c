/* SPDX-License-Identifier: MIT */
/* runtime/base/load_words.c - an open hash table over names that lie one after the other. One per stretch of the file,
 * so that threads share nothing and the table stays in a cache; load_names.c then joins them. */
#include "runtime/base/load_words.h"

#include "runtime/base/memory.h"

#include <string.h>

csaw_status csaw__words_open(csaw__words *words, uint64_t names, uint64_t bytes) {
    csaw__words made = {.capacity = (uint32_t)names, .mask = 63};
    csaw_status status = CSAW_OK;
    while (made.mask < 2 * names) made.mask = 2 * made.mask + 1;
    CSAW_TRY_DONE(csaw__alloc(&made.text, bytes, "the names of vertices"));
    CSAW_TRY_DONE(csaw__alloc(&made.offset, names + 1, "the names of vertices"));
    CSAW_TRY_DONE(csaw__alloc_zero(&made.slot, made.mask + 1, "the names of vertices"));
    made.offset[0] = 0;
    *words = made;
    return CSAW_OK;
done:
    csaw__words_free(&made);
    return status;
}

static uint64_t hash_of(const char *name, uint64_t length) {
    uint64_t hash = length * 0x9E3779B97F4A7C15u;
    for (uint64_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, name + i, length - i < 8 ? length - i : 8);
        hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    return hash;
}

uint32_t csaw__words_place(csaw__words *words, const char *name, uint64_t length) {
    uint64_t at = hash_of(name, length) & words->mask;
    for (; words->slot[at]; at = (at + 1) & words->mask) {
        uint32_t place = words->slot[at] - 1, begin = words->offset[place];
        if (words->offset[place + 1] - begin == length && memcmp(words->text + begin, name, length) == 0) return place;
    }
    uint32_t place = words->count++;
    words->slot[at] = place + 1;
    if (length) memmove(words->text + words->offset[place], name, length);
    words->offset[place + 1] = words->offset[place] + (uint32_t)length;
    return place;
}

csaw_status csaw__words_shut(csaw__words *words) {
    char *text = NULL;
    uint32_t *offset = NULL;
    csaw__free(words->slot);
    words->slot = NULL;
    words->text_bytes = words->offset[words->count];
    CSAW_TRY(csaw__alloc(&text, words->text_bytes, "the names of vertices"));
    memcpy(text, words->text, words->text_bytes);
    csaw__free(words->text);
    words->text = text;
    CSAW_TRY(csaw__alloc(&offset, (uint64_t)words->count + 1, "the names of vertices"));
    memcpy(offset, words->offset, ((uint64_t)words->count + 1) * sizeof *offset);
    csaw__free(words->offset);
    words->offset = offset;
    return CSAW_OK;
}

void csaw__words_free(csaw__words *words) {
    csaw__free(words->text);
    csaw__free(words->offset);
    csaw__free(words->slot);
    *words = (csaw__words){0};
}
