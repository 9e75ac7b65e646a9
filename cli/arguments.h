/* SPDX-License-Identifier: MIT */
/* cli/arguments.h - one table of options per command serves parsing, the error messages and the help text, so that the
 * three cannot disagree. */
#ifndef CSAW_CLI_ARGUMENTS_H
#define CSAW_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "commands.h"

typedef enum option_kind {
    OPTION_FLAG,   /* value: bool *, set to true */
    OPTION_TEXT,   /* value: const char ** */
    OPTION_INPUT,  /* the same: a file that is read */
    OPTION_OUTPUT, /* the same: a file that is written; "-" is standard output */
    OPTION_COUNT,  /* value: uint64_t *, a whole number from lowest to highest */
    OPTION_BYTES,  /* value: uint64_t *, a size above 0, such as 4GiB */
    OPTION_SETTING /* value: settings *, NAME=VALUE, any number of times */
} option_kind;

typedef struct option {
    const char *name; /* without the dashes */
    option_kind kind;
    void *value;
    const char *placeholder; /* of its value in the help, such as "FILE" */
    const char *help;        /* one line */
    uint64_t lowest, highest;
    char letter; /* -o; 0 = none */
} option;

/* Parameters of a sampler as they were given, kept until the sampler is known. */
typedef struct setting {
    char name[64];
    const char *value; /* NULL = missing */
    bool is_option;    /* --p 4 rather than --param p=4 */
} setting;

enum { MAX_SETTINGS = 32, MAX_OPTIONS = 40, MAX_OPERANDS = 2 };

typedef struct settings {
    setting list[MAX_SETTINGS];
    size_t count;
} settings;

typedef struct arguments {
    const command *command;
    option options[MAX_OPTIONS];
    size_t num_options;
    const char *operands[MAX_OPERANDS];
    size_t num_operands;
    settings *others;                       /* where options go that are not in the table; NULL = they are errors */
    bool (*may_be_other)(const char *name); /* which of them may; NULL = all */
    void (*more_help)(void);                /* printed after the options; NULL = nothing */
} arguments;

void arguments_add(arguments *arguments, const option *options, size_t count);
/* Returns -1 to go on, or the exit code when there is no more to do: help was printed, or the line is wrong. */
int arguments_parse(arguments *arguments, int argc, char **argv);
/* Says that there is no option --name, and which known one is near; returns EXIT_USAGE. */
int arguments_unknown(const arguments *arguments, const char *name);
/* Prints a message with a pointer to the help; returns EXIT_USAGE. */
int arguments_wrong(const arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Refuses, returning EXIT_USAGE, an output over a file that is read or over another output, by whatever name or link;
 * so too FILE.part and FILE.resume of an output FILE, which are written on the way. Else -1. Besides those of the
 * options, graph is read, and made is written, perhaps in place of graph; NULL = there is none. */
int arguments_keep_files(const arguments *arguments, const char *graph, const char *made);

/* A whole number in decimal with nothing around it. */
bool parse_count(const char *text, uint64_t *out);
/* The same with KiB, MiB, GiB or TiB behind it, or nothing: bytes. */
bool parse_bytes(const char *text, uint64_t *out);
/* Of candidates [count], the one that text was probably meant to be, or NULL. */
const char *nearest_name(const char *text, const char *const *candidates, size_t count);

#endif
