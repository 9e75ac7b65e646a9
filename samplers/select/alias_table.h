/* SPDX-License-Identifier: MIT */
/* samplers/select/alias_table.h - alias table of one row. */
#ifndef CSAW_SELECT_ALIAS_TABLE_H
#define CSAW_SELECT_ALIAS_TABLE_H

#include "runtime/base/job.h"

/* bias, col: [n], biases >= 0 and finite; out: [n]. A row without a positive bias gives entries with dst CSAW_NONE and
 * row total 0. */
void csaw__alias_row(const float *bias, const csaw_vertex *col, uint32_t n, csaw__alias *out, csaw__row_bias *row);

#endif
