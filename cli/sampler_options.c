/* SPDX-License-Identifier: MIT */
/* cli/sampler_options.c - --algo or --sampler, then every --NAME VALUE and --param NAME=VALUE through
 * csaw_sampler_set(), which knows the sampler's own parameter table. */
#include "sampler_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const char *plain_name(const csaw_sampler *sampler) {
    const char *name = csaw_sampler_name(sampler);
    return strncmp(name, "csaw_", 5) ? name : name + 5;
}

static void print_value(FILE *out, const csaw_param *param, const void *params, bool exact) {
    const void *field = (const char *)params + param->offset;
    switch (param->type) {
    case CSAW_TYPE_FLOAT: fprintf(out, "%.*g", exact ? 9 : 7, (double)*(const float *)field); break;
    case CSAW_TYPE_DOUBLE: fprintf(out, "%.*g", exact ? 17 : 15, *(const double *)field); break;
    case CSAW_TYPE_INT32: fprintf(out, "%" PRId32, *(const int32_t *)field); break;
    case CSAW_TYPE_UINT32: fprintf(out, "%" PRIu32, *(const uint32_t *)field); break;
    case CSAW_TYPE_INT64: fprintf(out, "%" PRId64, *(const int64_t *)field); break;
    case CSAW_TYPE_UINT64: fprintf(out, "%" PRIu64, *(const uint64_t *)field); break;
    }
}

void sampler_options_help(bool (*takes)(const csaw_sampler *)) {
    const csaw_sampler *sampler;
    printf("\nSamplers of --algo (deepwalk is another name of uniform):\n");
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)); i++) {
        uint32_t count;
        if (takes && !takes(sampler)) continue;
        const csaw_param *params = csaw_sampler_params(sampler, &count);
        void *defaults = allocate(1, csaw_sampler_params_size(sampler) + 1);
        csaw_sampler_defaults(sampler, defaults);
        printf("  %s\n", plain_name(sampler));
        for (uint32_t j = 0; j < count; j++) {
            printf("    --%-20s %s (default ", params[j].name, params[j].help);
            print_value(stdout, &params[j], defaults, false);
            printf(")\n");
        }
        free(defaults);
    }
}

static void print_samplers(void) { sampler_options_help(NULL); }

static bool has_param(const csaw_sampler *sampler, const char *name) {
    uint32_t count;
    const csaw_param *params = csaw_sampler_params(sampler, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(params[i].name, name)) return true;
    return false;
}

static bool is_built_in_param(const char *name) {
    const csaw_sampler *sampler;
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)); i++)
        if (has_param(sampler, name)) return true;
    return false;
}

void sampler_options_add(arguments *arguments, sampler_options *options, bool with_file) {
    const option table[] = {
        {.name = "algo",
         .kind = OPTION_TEXT,
         .value = &options->algo,
         .placeholder = "NAME",
         .help = "a built-in sampler, of those below"},
        {.name = "param",
         .kind = OPTION_SETTING,
         .value = &options->settings,
         .placeholder = "NAME=VALUE",
         .help = "a parameter of the sampler; --NAME VALUE does the same"},
        {.name = "sampler",
         .kind = OPTION_INPUT,
         .value = &options->file,
         .placeholder = "FILE.c",
         .help = "your own sampler in C, compiled now"},
    };
    arguments_add(arguments, table, with_file ? 3 : 2);
    arguments->others = &options->settings;
    if (!with_file) arguments->may_be_other = is_built_in_param;
    arguments->more_help = print_samplers;
}

static const csaw_sampler *find_algo(const char *name) {
    return csaw_sampler_find(strcmp(name, "deepwalk") ? name : "uniform");
}

static int unknown_algo(const arguments *arguments, const char *algo) {
    const csaw_sampler *sampler;
    const char *names[64] = {"deepwalk"};
    char list[512] = "deepwalk";
    size_t count = 1, used = strlen(list);
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)) && count < 64 && used < sizeof list; i++) {
        names[count] = plain_name(sampler);
        used += (size_t)snprintf(list + used, sizeof list - used, ", %s", names[count++]);
    }
    const char *near = nearest_name(algo, names, count);
    if (near) return arguments_wrong(arguments, "there is no sampler '%s'; did you mean %s?", algo, near);
    return arguments_wrong(arguments, "there is no sampler '%s'; there are %s", algo, list);
}

/* --p given to a sampler without p deserves a better word than "no such option". */
static int unknown_setting(const arguments *arguments, const sampler_options *options, const setting *setting) {
    const csaw_sampler *other;
    for (uint32_t i = 0; (other = csaw_sampler_at(i)); i++)
        if (has_param(other, setting->name))
            return arguments_wrong(arguments, "--%s is a parameter of %s, but the sampler is %s; add --algo %s",
                                   setting->name, plain_name(other), options->name, plain_name(other));
    return arguments_unknown(arguments, setting->name);
}

static int apply_settings(const arguments *arguments, const sampler_options *options) {
    for (size_t i = 0; i < options->settings.count; i++) {
        const setting *setting = &options->settings.list[i];
        if (setting->is_option && !has_param(options->sampler, setting->name))
            return unknown_setting(arguments, options, setting);
        if (!setting->value)
            return arguments_wrong(arguments, "--%s needs a value: --%s VALUE", setting->name, setting->name);
        if (csaw_sampler_set(options->sampler, options->params, setting->name, setting->value) != CSAW_OK)
            return arguments_wrong(arguments, "%s", csaw_last_error());
    }
    return -1;
}

int sampler_options_resolve(const arguments *arguments, sampler_options *options, const char *fallback) {
    if (options->algo && options->file)
        return arguments_wrong(arguments, "--algo and --sampler exclude each other; drop one");
    if (options->file) {
        if (csaw_sampler_compile(options->file, &options->sampler) != CSAW_OK) return report_library_failure();
    } else {
        const char *algo = options->algo ? options->algo : fallback;
        options->sampler = find_algo(algo);
        if (!options->sampler) return unknown_algo(arguments, algo);
    }
    options->name = plain_name(options->sampler);
    options->params = allocate(1, csaw_sampler_params_size(options->sampler));
    csaw_sampler_defaults(options->sampler, options->params);
    return apply_settings(arguments, options);
}

void sampler_options_free(sampler_options *options) {
    free(options->params);
    if (options->file) csaw_sampler_unload(options->sampler);
}

void sampler_options_print(FILE *out, const sampler_options *options, sampler_print how) {
    uint32_t count;
    const csaw_param *params = csaw_sampler_params(options->sampler, &count);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, how == SAMPLER_JSON ? "%s\"%s\": " : "%s%s = ", i ? ", " : "", params[i].name);
        print_value(out, &params[i], options->params, how == SAMPLER_EXACT);
    }
}
