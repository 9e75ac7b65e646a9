/* SPDX-License-Identifier: MIT */
/* runtime/base/checksum.c - XXH64 (Collet; xxHash specification, section "XXH64 algorithm description"), and a checksum
 * of long arrays on top of it.
 *
 * Why this one: it runs near the speed of memory without special instructions, and every step is a bijection of its
 * state for a given input word, so that no single damaged word goes unseen. */
#include "runtime/base/checksum.h"

#include "runtime/base/parallel.h"

#include <string.h>

static const uint64_t P1 = 0x9e3779b185ebca87u, P2 = 0xc2b2ae3d27d4eb4fu, P3 = 0x165667b19e3779f9u,
                      P4 = 0x85ebca77c2b2ae63u, P5 = 0x27d4eb2f165667c5u;

static inline uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static inline uint64_t take_round(uint64_t lane, uint64_t word) { return rotate(lane + word * P2, 31) * P1; }

static inline uint64_t merge_lane(uint64_t hash, uint64_t lane) { return (hash ^ take_round(0, lane)) * P1 + P4; }

static inline uint64_t read_word(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

uint64_t csaw__xxh64(const void *from, uint64_t bytes) {
    const unsigned char *at = from, *end = at + bytes;
    uint64_t hash = P5;
    if (bytes >= 32) {
        uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
        for (; end - at >= 32; at += 32) {
            a = take_round(a, read_word(at));
            b = take_round(b, read_word(at + 8));
            c = take_round(c, read_word(at + 16));
            d = take_round(d, read_word(at + 24));
        }
        hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        hash = merge_lane(merge_lane(merge_lane(merge_lane(hash, a), b), c), d);
    }
    hash += bytes;
    for (; end - at >= 8; at += 8) hash = rotate(hash ^ take_round(0, read_word(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        uint32_t half;
        memcpy(&half, at, sizeof half);
        hash = rotate(hash ^ half * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++) hash = rotate(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}

uint64_t csaw__checksum_fold(uint64_t folded, const uint64_t *hash, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) folded = merge_lane(folded, hash[i]);
    return folded;
}

uint64_t csaw__checksum(const void *from, uint64_t bytes) {
    enum { BLOCK = CSAW__CHECKSUM_BLOCK, WINDOW = 64 };
    const char *at = from;
    const uint64_t num_blocks = (bytes + BLOCK - 1) / BLOCK;
    uint64_t folded = bytes, hash[WINDOW]; /* a window of blocks at a time: no memory to be refused */
    for (uint64_t first = 0; first < num_blocks; first += WINDOW) {
        uint64_t count = num_blocks - first < WINDOW ? num_blocks - first : WINDOW;
        CSAW__OMP(parallel for schedule(dynamic, 1) if (count > 1))
        for (uint64_t i = 0; i < count; i++) {
            uint64_t begin = (first + i) * BLOCK;
            hash[i] = csaw__xxh64(at + begin, bytes - begin < BLOCK ? bytes - begin : BLOCK);
        }
        folded = csaw__checksum_fold(folded, hash, count);
    }
    return folded;
}
