/* SPDX-License-Identifier: MIT */
/* cli/report.h - what the commands say: failures on stderr, numbers for people, text for JSON. */
#ifndef CSAW_CLI_REPORT_H
#define CSAW_CLI_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where messages go: stderr or, from report_hold() on, memory, until they are taken or the program ends. */
FILE *messages(void);
void report_hold(void);
void report_take(char *to, size_t size);

/* "csaw: message" there; returns EXIT_FAILED. */
int report_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with the library's last message. */
int report_library_failure(void);

typedef struct number_text { /* room for a number in words */
    char text[40];
} number_text;
number_text count_text(uint64_t count);   /* 1,234,567 */
number_text bytes_text(uint64_t bytes);   /* 1.2 MB (decimal, as ls --si) */
number_text rate_text(double per_second); /* 12.3 million */

/* A JSON string with its quotes (RFC 8259); bytes that are not UTF-8 become U+FFFD. */
void json_text(FILE *out, const char *text);
/* `, "key": value` of a JSON object; null of infinity and NaN, which JSON has not. */
void json_real(FILE *out, const char *key, double value);
/* Opens the object that every --json prints: {"csaw": version, "schema": 1, "command": name; the caller goes on with
 * `, "key": value` and the closing brace. */
void json_open(FILE *out, const char *command);

double seconds_now(void); /* of a clock that never steps back */

/* Memory for the program's own small needs; ends the program with a message when there is none. */
void *allocate(size_t count, size_t size);
void *reallocate(void *old, size_t count, size_t size);
_Noreturn void out_of_memory(void);

#endif
