/* SPDX-License-Identifier: MIT */
/* samplers/select/row_choice.h - a selection from the row that a site stands at. */
#ifndef CSAW_SELECT_ROW_CHOICE_H
#define CSAW_SELECT_ROW_CHOICE_H

#include "runtime/base/site.h"
#include "samplers/select/choice.h"

/* Among its arcs, all alike. */
CSAW_FN csaw__choice csaw__row_choice(const csaw_site *site) {
    const csaw__choice c = {site->job->seed, site->instance, site->depth, csaw__key(site), 0, site->degree, 0, 0, 0,
                            site->degree};
    return c;
}

#endif
