/* SPDX-License-Identifier: MIT */
/* cli/sampler_options.h - which sampler a command uses, and its parameters. */
#ifndef CSAW_CLI_SAMPLER_OPTIONS_H
#define CSAW_CLI_SAMPLER_OPTIONS_H

#include <csaw/csaw.h>
#include <stdio.h>

#include "arguments.h"

typedef struct sampler_options {
    const char *algo, *file; /* --algo, --sampler */
    settings settings;
    /* after sampler_options_resolve(): */
    const csaw_sampler *sampler;
    const char *name; /* without csaw_ */
    void *params;
} sampler_options;

/* with_file: the command also takes --sampler my.c. */
void sampler_options_add(arguments *arguments, sampler_options *options, bool with_file);
/* Prints the built-in samplers that a command takes, and their parameters; takes: NULL = all. */
void sampler_options_help(bool (*takes)(const csaw_sampler *));
/* Finds or compiles the sampler (fallback where neither option is given) and sets its parameters. Returns -1 to go on,
 * or the exit code after saying what is wrong. */
int sampler_options_resolve(const arguments *arguments, sampler_options *options, const char *fallback);
void sampler_options_free(sampler_options *options);

/* "p = 4, q = 1"; as JSON "\"p\": 4, \"q\": 1"; exact: with all digits. Nothing for a sampler without parameters. */
typedef enum sampler_print { SAMPLER_TEXT, SAMPLER_JSON, SAMPLER_EXACT } sampler_print;
void sampler_options_print(FILE *out, const sampler_options *options, sampler_print how);

#endif
