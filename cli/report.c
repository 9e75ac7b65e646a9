/* SPDX-License-Identifier: MIT */
/* cli/report.c - messages, numbers as people read them, JSON strings. */
#include "report.h"

#include <csaw/csaw.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "ranks.h"

static FILE *held; /* NULL = messages are not held */
static char *held_text;
static size_t held_size;

FILE *messages(void) { return held ? held : stderr; }

static void hold(void) {
    held = open_memstream(&held_text, &held_size);
    if (!held) out_of_memory();
}

void report_take(char *to, size_t size) {
    to[0] = 0;
    if (!held) return;
    fclose(held);
    snprintf(to, size, "%s", held_text);
    free(held_text);
    hold();
}

/* What an end at once, such as out_of_memory(), leaves. */
static void print_held(void) {
    fclose(held);
    held = NULL;
    if (held_size) fprintf(stderr, "rank %u: %s", ranks_rank(), held_text);
    free(held_text);
}

void report_hold(void) {
    hold();
    atexit(print_held);
}

int report_failure(const char *format, ...) {
    va_list values;
    FILE *const out = messages();
    fputs("csaw: ", out);
    va_start(values, format);
    vfprintf(out, format, values);
    va_end(values);
    fputc('\n', out);
    return EXIT_FAILED;
}

int report_library_failure(void) { return report_failure("%s", csaw_last_error()); }

number_text count_text(uint64_t count) {
    char digits[24];
    number_text out;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = 0;
    return out;
}

static number_text scaled(double value, const char *const *units, int num_units) {
    number_text out;
    int unit = 0;
    while (value >= 999.5 && unit + 1 < num_units) {
        value /= 1000;
        unit++;
    }
    snprintf(out.text, sizeof out.text, "%.*f%s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
    return out;
}

number_text bytes_text(uint64_t bytes) {
    static const char *const units[] = {" bytes", " kB", " MB", " GB", " TB", " PB"};
    return scaled((double)bytes, units, 6);
}

number_text rate_text(double per_second) {
    static const char *const units[] = {"", " thousand", " million", " billion"};
    return scaled(per_second, units, 4);
}

/* Bytes of the UTF-8 character at text (RFC 3629), or 0. */
static int utf8_length(const unsigned char *text) {
    unsigned char c = text[0];
    int length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

void json_text(FILE *out, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', out);
    while (*at) {
        int length = utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", out);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < 0x20) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fwrite(at, 1, (size_t)length, out);
        }
        at += length;
    }
    fputc('"', out);
}

void json_real(FILE *out, const char *key, double value) {
    if (isfinite(value))
        fprintf(out, ", \"%s\": %.9g", key, value);
    else
        fprintf(out, ", \"%s\": null", key);
}

void json_open(FILE *out, const char *command) {
    fputs("{\"csaw\": ", out);
    json_text(out, csaw_version());
    fputs(", \"schema\": 1, \"command\": ", out);
    json_text(out, command);
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *reallocate(void *old, size_t count, size_t size) {
    void *memory = NULL;
    if (size == 0 || count <= SIZE_MAX / size) memory = realloc(old, count && size ? count * size : 1);
    if (!memory) exit(report_failure("out of host memory: %zu times %zu bytes were asked for", count, size));
    return memory;
}

void *allocate(size_t count, size_t size) {
    void *memory = reallocate(NULL, count, size);
    memset(memory, 0, count * size);
    return memory;
}

_Noreturn void out_of_memory(void) { exit(report_failure("out of host memory")); }
