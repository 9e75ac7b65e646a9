/* SPDX-License-Identifier: MIT */
/* runtime/base/number_text.h - vertices and edges as decimal digits, two at a time from a table. */
#ifndef CSAW_BASE_NUMBER_TEXT_H
#define CSAW_BASE_NUMBER_TEXT_H

#include <stdint.h>
#include <string.h>

#define CSAW__MAX_DIGITS 10      /* of a uint32_t */
#define CSAW__MAX_WIDE_DIGITS 20 /* of a uint64_t, or an int64_t with its sign */

/* Writes value at `to`, without a final zero byte; returns where the text ends. */
static inline char *csaw__put_number(char *to, uint32_t value) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    int digits = value < 100000     ? value < 100 ? 1 + (value >= 10) : 3 + (value >= 1000) + (value >= 10000)
                     : value < 10000000 ? 6 + (value >= 1000000)
                                    : 8 + (value >= 100000000) + (value >= 1000000000);
    char *end = to + digits, *at = end;
    while (value >= 100) {
        at -= 2;
        memcpy(at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(to, pairs + 2 * value, 2);
    else
        *to = (char)('0' + value);
    return end;
}

static inline char *csaw__put_wide(char *to, uint64_t value) {
    if (value <= UINT32_MAX) return csaw__put_number(to, (uint32_t)value);
    char *end = csaw__put_wide(to, value / 1000000000) + 9;
    uint32_t rest = (uint32_t)(value % 1000000000);
    for (char *at = end; at > end - 9; rest /= 10) *--at = (char)('0' + rest % 10);
    return end;
}

static inline char *csaw__put_signed(char *to, int64_t value) {
    if (value < 0) *to++ = '-';
    return csaw__put_wide(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

#endif
