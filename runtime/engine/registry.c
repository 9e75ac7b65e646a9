/* SPDX-License-Identifier: MIT */
/* runtime/engine/registry.c - the built-in samplers by name, and parameters as text. */
#include "runtime/engine/registry.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <csaw/samplers.h>

static const csaw_sampler *const built_in[] = {&csaw_uniform,
                                               &csaw_biased,
                                               &csaw_biased_by_degree,
                                               &csaw_node2vec,
                                               &csaw_metropolis_hastings,
                                               &csaw_jump,
                                               &csaw_restart,
                                               &csaw_ppr,
                                               &csaw_metapath,
                                               &csaw_temporal,
                                               &csaw_neighbor,
                                               &csaw_neighbor_biased,
                                               &csaw_neighbor_once,
                                               &csaw_neighbor_again,
                                               &csaw_temporal_neighbor,
                                               &csaw_forest_fire,
                                               &csaw_forest_fire_all,
                                               &csaw_snowball,
                                               &csaw_layer,
                                               &csaw_multidimensional,
                                               &csaw_random_node,
                                               &csaw_random_edge,
                                               &csaw_saint_node,
                                               &csaw_saint_edge,
                                               &csaw_saint_walk,
                                               &csaw_shadow};

const csaw_sampler *csaw_sampler_at(uint32_t place) {
    return place < sizeof built_in / sizeof *built_in ? built_in[place] : NULL;
}

const char *csaw_sampler_name(const csaw_sampler *sampler) {
    return strncmp(sampler->name, "csaw_", 5) == 0 ? sampler->name + 5 : sampler->name;
}

const csaw_sampler *csaw_sampler_find(const char *name) {
    const csaw_sampler *sampler;
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)) != NULL; i++)
        if (name && strcmp(csaw_sampler_name(sampler), name) == 0) return sampler;
    return NULL;
}

uint32_t csaw_sampler_params_size(const csaw_sampler *sampler) { return sampler->params_size; }

const csaw_param *csaw_sampler_params(const csaw_sampler *sampler, uint32_t *count) {
    *count = sampler->num_params;
    return sampler->params;
}

static double get(const csaw_param *param, const void *params) {
    const char *field = (const char *)params + param->offset;
    switch (param->type) {
    case CSAW_TYPE_FLOAT: return (double)*(const float *)(const void *)field;
    case CSAW_TYPE_DOUBLE: return *(const double *)(const void *)field;
    case CSAW_TYPE_INT32: return *(const int32_t *)(const void *)field;
    case CSAW_TYPE_UINT32: return *(const uint32_t *)(const void *)field;
    case CSAW_TYPE_INT64: return (double)*(const int64_t *)(const void *)field;
    case CSAW_TYPE_UINT64: return (double)*(const uint64_t *)(const void *)field;
    }
    return 0;
}

static void put(const csaw_param *param, void *params, double real, int64_t whole) {
    char *field = (char *)params + param->offset;
    switch (param->type) {
    case CSAW_TYPE_FLOAT: *(float *)(void *)field = (float)real; break;
    case CSAW_TYPE_DOUBLE: *(double *)(void *)field = real; break;
    case CSAW_TYPE_INT32: *(int32_t *)(void *)field = (int32_t)whole; break;
    case CSAW_TYPE_UINT32: *(uint32_t *)(void *)field = (uint32_t)whole; break;
    case CSAW_TYPE_INT64: *(int64_t *)(void *)field = whole; break;
    case CSAW_TYPE_UINT64: *(uint64_t *)(void *)field = (uint64_t)whole; break;
    }
}

/* A default as an integer. The greatest int64_t is no double: 2^63 stands for it. */
static int64_t whole_of(const csaw_param *param) {
    if (param->type == CSAW_TYPE_UINT64) return (int64_t)(uint64_t)param->value;
    return param->value < 9223372036854775808.0 ? (int64_t)param->value : INT64_MAX;
}

void csaw_sampler_defaults(const csaw_sampler *sampler, void *params) {
    memset(params, 0, sampler->params_size);
    for (uint32_t i = 0; i < sampler->num_params; i++)
        put(&sampler->params[i], params, sampler->params[i].value, whole_of(&sampler->params[i]));
}

static csaw_status check_one(const csaw_sampler *sampler, const csaw_param *param, double value) {
    CSAW_REQUIRE(isfinite(value) && param->holds(value), CSAW_EINVAL,
                 "sampler '%s': parameter %s is %g, but it must be finite with %s", csaw_sampler_name(sampler),
                 param->name, value, param->condition);
    return CSAW_OK;
}

csaw_status csaw__params_check(const csaw_sampler *sampler, const void *params) {
    for (uint32_t i = 0; i < sampler->num_params; i++)
        CSAW_TRY(check_one(sampler, &sampler->params[i], get(&sampler->params[i], params)));
    return CSAW_OK;
}

static const csaw_param *find_param(const csaw_sampler *sampler, const char *name) {
    for (uint32_t i = 0; i < sampler->num_params; i++)
        if (strcmp(sampler->params[i].name, name) == 0) return &sampler->params[i];
    return NULL;
}

static csaw_status unknown_param(const csaw_sampler *sampler, const char *name) {
    char known[512] = "";
    for (uint32_t i = 0; i < sampler->num_params; i++) {
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, sampler->params[i].name, sizeof known - strlen(known) - 1);
    }
    return csaw__fail(CSAW_EINVAL, "sampler '%s' has no parameter '%s'; %s%s", csaw_sampler_name(sampler), name,
                      sampler->num_params ? "it has " : "it has none", known);
}

/* Reads an integer that the field can hold exactly. */
static bool read_whole(csaw_type type, const char *text, int64_t *out) {
    const bool sign = type == CSAW_TYPE_INT32 || type == CSAW_TYPE_INT64;
    char *end;
    errno = 0;
    if (*text == 0 || (!sign && strchr(text, '-'))) return false;
    if (sign)
        *out = strtoll(text, &end, 10);
    else
        *out = (int64_t)strtoull(text, &end, 10);
    if (errno || *end) return false;
    if (type == CSAW_TYPE_INT32) return *out >= INT32_MIN && *out <= INT32_MAX;
    return type != CSAW_TYPE_UINT32 || (uint64_t)*out <= UINT32_MAX;
}

/* Which whole numbers a parameter may be, beside its condition. */
static const char *range_of(csaw_type type) {
    switch (type) {
    case CSAW_TYPE_INT32: return "-2147483648 to 2147483647";
    case CSAW_TYPE_UINT32: return "0 to 4294967295";
    case CSAW_TYPE_INT64: return "-9223372036854775808 to 9223372036854775807";
    default: return "0 to 18446744073709551615";
    }
}

csaw_status csaw_sampler_set(const csaw_sampler *sampler, void *params, const char *name, const char *value) {
    CSAW_REQUIRE(sampler && params && name && value, CSAW_EINVAL,
                 "csaw_sampler_set needs sampler, params, name and value");
    const csaw_param *param = find_param(sampler, name);
    if (!param) return unknown_param(sampler, name);
    double real = 0;
    int64_t whole = 0;
    if (param->type == CSAW_TYPE_FLOAT || param->type == CSAW_TYPE_DOUBLE) {
        char *end;
        real = strtod(value, &end);
        CSAW_REQUIRE(end != value && *end == 0, CSAW_EINVAL,
                     "parameter %s is '%s', which is not a number; give one with %s", name, value, param->condition);
        if (param->type == CSAW_TYPE_FLOAT) real = (double)(float)real;
    } else {
        const bool any = strcmp(param->condition, "1") == 0;
        CSAW_REQUIRE(read_whole(param->type, value, &whole), CSAW_EINVAL,
                     "parameter %s is '%s'; give a whole number from %s%s%s", name, value, range_of(param->type),
                     any ? "" : " with ", any ? "" : param->condition);
        real = param->type == CSAW_TYPE_UINT64 ? (double)(uint64_t)whole : (double)whole;
    }
    CSAW_TRY(check_one(sampler, param, real));
    put(param, params, real, whole);
    return CSAW_OK;
}
