/* SPDX-License-Identifier: MIT */
/* cli/arguments.c - parses a command line against a table of options, strictly: no trailing junk in numbers, no unknown
 * words, and every message gives the limit, the value and the remedy. */
#include "arguments.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report.h"

void arguments_add(arguments *arguments, const option *options, size_t count) {
    memcpy(arguments->options + arguments->num_options, options, count * sizeof *options);
    arguments->num_options += count;
}

int arguments_wrong(const arguments *arguments, const char *format, ...) {
    va_list values;
    fprintf(messages(), "csaw %s: ", arguments->command->name);
    va_start(values, format);
    vfprintf(messages(), format, values);
    va_end(values);
    fprintf(messages(), "\nSee: csaw help %s\n", arguments->command->name);
    return EXIT_USAGE;
}

static bool same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (!strcmp(a, b)) return true;
    return !stat(a, &of_a) && !stat(b, &of_b) && S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

/* Whether a file that output leads to is `other`; `written` [size] becomes its name. */
static bool writes(const char *output, const char *other, char *written, size_t size) {
    static const char *const endings[] = {"", ".part", ".resume"};
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
        snprintf(written, size, "%s%s", output, endings[e]);
        if (same_file(written, other)) return true;
    }
    return false;
}

static const char *file_of(const option *option, option_kind kind) {
    const char *path = option->kind == kind ? *(const char **)option->value : NULL;
    return path && strcmp(path, "-") ? path : NULL;
}

static int keep(const arguments *arguments, const option *output, const char *other, const char *what) {
    const char *path = file_of(output, OPTION_OUTPUT);
    char written[PATH_MAX];
    if (!path || !other || !writes(path, other, written, sizeof written)) return -1;
    return arguments_wrong(arguments, "--%s %s: %s is %s, and would be lost; give another name", output->name, path,
                           strcmp(path, written) ? written : "that", what);
}

int arguments_keep_files(const arguments *arguments, const char *graph, const char *made) {
    const option *options = arguments->options;
    int result = -1;
    for (size_t o = 0; o < arguments->num_options && result < 0; o++) {
        result = keep(arguments, &options[o], graph, "the graph that is read");
        if (result < 0) result = keep(arguments, &options[o], made, "the graph that is written");
        for (size_t i = 0; i < arguments->num_options && result < 0; i++) {
            char what[40];
            snprintf(what, sizeof what, "the file of --%s", options[i].name);
            result = keep(arguments, &options[o], file_of(&options[i], OPTION_INPUT), what);
            if (result < 0 && i < o) result = keep(arguments, &options[o], file_of(&options[i], OPTION_OUTPUT), what);
        }
    }
    return result;
}

bool parse_count(const char *text, uint64_t *out) {
    uint64_t value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        unsigned digit = (unsigned)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool parse_bytes(const char *text, uint64_t *out) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    const size_t digits = strspn(text, "0123456789");
    char number[24];
    uint64_t value;
    if (digits >= sizeof number) return false;
    memcpy(number, text, digits);
    number[digits] = 0;
    for (unsigned u = 0; u < sizeof units / sizeof *units; u++) {
        if (strcmp(text + digits, units[u]) != 0) continue;
        if (!parse_count(number, &value) || value > UINT64_MAX >> (10 * u)) return false;
        *out = value << (10 * u);
        return true;
    }
    return false;
}

/* ---- the nearest known name: Levenshtein's distance (1966) over short words ---- */

enum { LONGEST_WORD = 40 };

static size_t edit_distance(const char *a, const char *b) {
    size_t row[LONGEST_WORD + 1], length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST_WORD || length_b > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= length_b; j++) row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            if (replaced < row[j]) row[j] = replaced;
        }
    }
    return row[length_b];
}

const char *nearest_name(const char *text, const char *const *candidates, size_t count) {
    const char *best = NULL;
    size_t best_distance = strlen(text) / 3 + 2; /* farther than this is no slip of the finger */
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(text, candidates[i]);
        if (distance < best_distance && distance < strlen(candidates[i])) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}

int arguments_unknown(const arguments *arguments, const char *name) {
    const char *names[MAX_OPTIONS + 1];
    size_t count = 0;
    for (size_t i = 0; i < arguments->num_options; i++) names[count++] = arguments->options[i].name;
    names[count++] = "help";
    const char *near = nearest_name(name, names, count);
    if (near) return arguments_wrong(arguments, "there is no option --%s; did you mean --%s?", name, near);
    return arguments_wrong(arguments, "there is no option --%s", name);
}

/* ---- help ---- */

static void print_help(const arguments *arguments) {
    const command *command = arguments->command;
    printf("usage: csaw %s %s%s[options]\n\n%s\nOptions:\n", command->name, command->operands,
           *command->operands ? " " : "", command->about);
    for (size_t i = 0; i < arguments->num_options; i++) {
        const option *option = &arguments->options[i];
        char words[80];
        if (option->letter)
            snprintf(words, sizeof words, "-%c, --%s %s", option->letter, option->name, option->placeholder);
        else
            snprintf(words, sizeof words, "--%s %s", option->name, option->placeholder ? option->placeholder : "");
        printf("  %-24s %s\n", words, option->help);
    }
    printf("  %-24s %s\n", "--help", "this text");
    if (arguments->more_help) arguments->more_help();
    printf("\nExamples:\n%s", command->examples);
}

/* ---- parsing ---- */

static const option *find_option(const arguments *arguments, const char *name, size_t length) {
    for (size_t i = 0; i < arguments->num_options; i++) {
        const option *option = &arguments->options[i];
        if (strlen(option->name) == length && !strncmp(option->name, name, length)) return option;
    }
    return NULL;
}

static const option *find_letter(const arguments *arguments, char letter) {
    for (size_t i = 0; i < arguments->num_options; i++)
        if (arguments->options[i].letter == letter) return &arguments->options[i];
    return NULL;
}

static int add_setting(const arguments *arguments, settings *settings, const char *name, size_t length,
                       const char *value, bool is_option) {
    if (settings->count == MAX_SETTINGS)
        return arguments_wrong(arguments, "more than %d sampler parameters; drop the repeated ones", MAX_SETTINGS);
    setting *setting = &settings->list[settings->count];
    if (length == 0 || length >= sizeof setting->name)
        return arguments_wrong(arguments, "a parameter name has 1 to %zu characters, but '%.*s' has %zu",
                               sizeof setting->name - 1, length > 80 ? 80 : (int)length, name, length);
    memcpy(setting->name, name, length);
    setting->name[length] = 0;
    setting->value = value;
    setting->is_option = is_option;
    settings->count++;
    return -1;
}

static int set_option(const arguments *arguments, const option *option, const char *value) {
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)option->value = true; return -1;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_OUTPUT: *(const char **)option->value = value; return -1;
    case OPTION_SETTING: {
        const char *equals = strchr(value, '=');
        if (!equals) return arguments_wrong(arguments, "--%s %s: write NAME=VALUE, such as p=4", option->name, value);
        return add_setting(arguments, option->value, value, (size_t)(equals - value), equals + 1, false);
    }
    case OPTION_COUNT: {
        uint64_t number;
        if (!parse_count(value, &number) || number < option->lowest || number > option->highest)
            return arguments_wrong(arguments, "--%s %s: give a whole number from %" PRIu64 " to %" PRIu64, option->name,
                                   value, option->lowest, option->highest);
        *(uint64_t *)option->value = number;
        return -1;
    }
    case OPTION_BYTES: {
        uint64_t bytes;
        if (!parse_bytes(value, &bytes) || bytes == 0)
            return arguments_wrong(arguments,
                                   "--%s %s: give a size above 0, such as 512MiB, 4GiB, or a number of bytes",
                                   option->name, value);
        *(uint64_t *)option->value = bytes;
        return -1;
    }
    }
    return -1;
}

/* The value that belongs to the option at argv[*i]: after its '=', or the next word; NULL = there is none. -5 may be
 * the value of a parameter, -o is an option after one without a value. */
static const char *take_value(int argc, char **argv, int *i, bool known) {
    const char *equals = argv[*i][1] == '-' ? strchr(argv[*i], '=') : NULL;
    if (equals) return equals + 1;
    if (*i + 1 >= argc || !strncmp(argv[*i + 1], "--", 2)) return NULL;
    if (!known && argv[*i + 1][0] == '-' && isalpha((unsigned char)argv[*i + 1][1])) return NULL;
    return argv[++*i];
}

static int parse_option(arguments *arguments, int argc, char **argv, int *i) {
    const char *word = argv[*i], *name = word + 2;
    bool is_long = word[1] == '-';
    size_t length = is_long ? strcspn(name, "=") : 1;
    const option *option = is_long   ? find_option(arguments, name, length)
                           : word[2] ? NULL
                                     : find_letter(arguments, word[1]);
    if (!option && !is_long) return arguments_wrong(arguments, "there is no option %s", word);
    if (!option) {
        char known[LONGEST_WORD + 1];
        snprintf(known, sizeof known, "%.*s", (int)(length < LONGEST_WORD ? length : LONGEST_WORD), name);
        if (!arguments->others || (arguments->may_be_other && !arguments->may_be_other(known)))
            return arguments_unknown(arguments, known);
    }
    if (option && option->kind == OPTION_FLAG) {
        if (is_long && name[length])
            return arguments_wrong(arguments, "--%s takes no value; drop '%s'", option->name, name + length);
        return set_option(arguments, option, NULL);
    }
    const char *value = take_value(argc, argv, i, option != NULL);
    if (!option) return add_setting(arguments, arguments->others, name, length, value, true);
    if (!value || !*value)
        return arguments_wrong(arguments, "--%s needs a value: --%s %s", option->name, option->name,
                               option->placeholder);
    return set_option(arguments, option, value);
}

int arguments_parse(arguments *arguments, int argc, char **argv) {
    bool options_over = false;
    for (int i = 1; i < argc; i++) {
        if (!options_over && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
            print_help(arguments);
            return EXIT_OK;
        }
        if (!options_over && !strcmp(argv[i], "--")) {
            options_over = true;
        } else if (!options_over && argv[i][0] == '-' && argv[i][1]) {
            int done = parse_option(arguments, argc, argv, &i);
            if (done >= 0) return done;
        } else {
            const command *command = arguments->command;
            if (arguments->num_operands == (size_t)command->num_operands)
                return arguments_wrong(arguments, "one word too many: '%s'; the line is csaw %s %s%s[options]", argv[i],
                                       command->name, command->operands, *command->operands ? " " : "");
            arguments->operands[arguments->num_operands++] = argv[i];
        }
    }
    return -1;
}
