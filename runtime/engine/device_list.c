/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_list.c - see device_list.h. */
#include "runtime/engine/device_list.h"

#include "runtime/engine/plan.h"

#include <string.h>

static const char words[] =
    "give 'cpu', 'simulated', 'cuda:N', N counted from 0, several of these with commas between, "
    "or 'all' (of ranks also 'cuda')";

/* The GPUs of the machine; of one that is described, as many as are listed. */
static csaw_status count_gpus(const csaw_plan_options *options, int *count) {
    *count = 1;
    return options->described_memory ? CSAW_OK : csaw__device_count(count);
}

/* The first GPU; of ranks, the next one of the machine for each rank on it. */
static csaw_status next_gpu(const csaw_plan_options *options, const csaw__ranks *ranks, csaw__device_list *out) {
    int count;
    CSAW_TRY(count_gpus(options, &count));
    out->count = 1;
    out->ordinal[0] = (int)(csaw__ranks_local_rank(ranks) % (uint32_t)count);
    return CSAW_OK;
}

static csaw_status all_gpus(const csaw_plan_options *options, csaw__device_list *out) {
    int count;
    CSAW_REQUIRE(!options->described_memory, CSAW_EINVAL,
                 "device 'all' is the GPUs of this machine, but described_memory is of another one; list them, such as "
                 "'cuda:0,cuda:1'");
    CSAW_TRY(count_gpus(options, &count));
    CSAW_REQUIRE(count <= CSAW__MOST_GPUS, CSAW_EUNSUPPORTED,
                 "device 'all' is %d GPUs, and a plan has at most %d; list those that it may have, such as "
                 "'cuda:0,cuda:1'",
                 count, (int)CSAW__MOST_GPUS);
    for (out->count = 0; out->count < (uint32_t)count; out->count++) out->ordinal[out->count] = (int)out->count;
    return CSAW_OK;
}

/* The number of "cuda:N", of so many characters; -1: it is something else. */
static int ordinal_of(const char *entry, size_t length) {
    const size_t prefix = strlen("cuda:");
    int ordinal = 0;
    if (length <= prefix || length > prefix + 6 || strncmp(entry, "cuda:", prefix) != 0) return -1;
    for (size_t i = prefix; i < length; i++) {
        if (entry[i] < '0' || entry[i] > '9') return -1;
        ordinal = 10 * ordinal + (entry[i] - '0');
    }
    return ordinal;
}

static csaw_status listed(const char *text, csaw__device_list *out) {
    const bool one = !strchr(text, ',');
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const int ordinal = ordinal_of(at, length);
        CSAW_REQUIRE(ordinal >= 0 || !one, CSAW_EINVAL, "device '%s' is not known; %s", text, words);
        CSAW_REQUIRE(length, CSAW_EINVAL, "device '%s': entry %u is empty; leave out a comma, or name a GPU there",
                     text, out->count + 1);
        CSAW_REQUIRE(ordinal >= 0, CSAW_EINVAL,
                     "device '%s': entry %u is '%.*s', but a list is of GPUs alone, such as 'cuda:0,cuda:1'", text,
                     out->count + 1, (int)length, at);
        CSAW_REQUIRE(out->count < CSAW__MOST_GPUS, CSAW_EINVAL,
                     "device '%.40s...' lists more than %d GPUs, which is the most that a plan has; leave some out",
                     text, (int)CSAW__MOST_GPUS);
        out->ordinal[out->count++] = ordinal;
        at += length;
        if (!*at) return CSAW_OK;
    }
}

csaw_status csaw__device_list_parse(const csaw_plan_options *options, const csaw__ranks *ranks,
                                    csaw__device_list *out) {
    const char *const text = options->device;
    *out = (csaw__device_list){.kind = CSAW__ON_CPU};
    if (!text || strcmp(text, "cpu") == 0) return CSAW_OK;
    out->kind = CSAW__ON_SIMULATED;
    if (strcmp(text, "simulated") == 0) return CSAW_OK;
    out->kind = CSAW__ON_GPU;
    if (strcmp(text, "all") == 0 && !ranks) return all_gpus(options, out);
    if (strcmp(text, "all") == 0 || strcmp(text, "cuda") == 0) return next_gpu(options, ranks, out);
    return listed(text, out);
}
