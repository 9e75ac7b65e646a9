/* SPDX-License-Identifier: MIT */
/* bench/options.h - options of a benchmark's command line: names and values in turn, each value a number or a text. */
#ifndef CSAW_BENCH_OPTIONS_H
#define CSAW_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_option {
    const char *name;  /* "--scale" */
    uint32_t *number;  /* where its value goes; NULL: it is a text */
    const char **text; /* where that goes, which stays argv's; NULL: it is a number */
} bench_option;

/* Ends the program at what is unknown, or has no value or not a number. program, file: for the message. */
static inline void bench_options_read(int argc, char **argv, const bench_option *options, size_t count,
                                      const char *program, const char *file) {
    for (int i = 1; i < argc; i += 2) {
        const bench_option *option = options;
        while (option < options + count && strcmp(argv[i], option->name) != 0) option++;
        const char *const wrong = option == options + count ? "unknown option" : i + 1 == argc ? "no value for" : NULL;
        if (wrong) {
            fprintf(stderr, "%s: %s '%s'; see the head of %s\n", program, wrong, argv[i], file);
            exit(2);
        }
        if (option->text) {
            *option->text = argv[i + 1];
            continue;
        }
        char *end;
        const unsigned long number = strtoul(argv[i + 1], &end, 10);
        if (*end || end == argv[i + 1] || number > UINT32_MAX) {
            fprintf(stderr, "%s: %s is '%s'; give a number up to %u\n", program, argv[i], argv[i + 1], UINT32_MAX);
            exit(2);
        }
        *option->number = (uint32_t)number;
    }
}

/* Whether a list with such a character between names it. */
static inline bool bench_list_names(const char *list, char between, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, between)) {
        at += *at == between;
        if (strncmp(at, name, length) == 0 && (at[length] == between || at[length] == '\0')) return true;
    }
    return false;
}

#endif
