/* SPDX-License-Identifier: MIT */
/* runtime/base/number_text.h - a vertex as decimal digits, two at a time from a table. */
#ifndef CSAW_BASE_NUMBER_TEXT_H
#define CSAW_BASE_NUMBER_TEXT_H

#include <stdint.h>
#include <string.h>

#define CSAW__MAX_DIGITS 10 /* of a uint32_t */

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

#endif
