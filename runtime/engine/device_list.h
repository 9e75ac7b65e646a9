/* SPDX-License-Identifier: MIT */
/* runtime/engine/device_list.h - which devices csaw_plan_options.device means. */
#ifndef CSAW_ENGINE_DEVICE_LIST_H
#define CSAW_ENGINE_DEVICE_LIST_H

#include "runtime/ranks/ranks.h"

enum { CSAW__MOST_GPUS = 16 /* of a plan */ };

typedef enum csaw__device_kind { CSAW__ON_CPU, CSAW__ON_SIMULATED, CSAW__ON_GPU } csaw__device_kind;

typedef struct csaw__device_list {
    csaw__device_kind kind;
    uint32_t count;               /* of a GPU; one may stand there more than once */
    int ordinal[CSAW__MOST_GPUS]; /* [count] */
} csaw__device_list;

/* "cpu" (also NULL), "simulated", "cuda", "all", or "cuda:N" with commas between. Asks for the GPUs of the machine
 * where the text does not number them. */
csaw_status csaw__device_list_parse(const csaw_plan_options *options, const csaw__ranks *ranks, csaw__device_list *out);

#endif
