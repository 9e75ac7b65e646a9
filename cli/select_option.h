/* SPDX-License-Identifier: MIT */
/* cli/select_option.h - --select METHOD. */
#ifndef CSAW_CLI_SELECT_OPTION_H
#define CSAW_CLI_SELECT_OPTION_H

#include <csaw/csaw.h>

#include "arguments.h"

/* name NULL: auto. Returns -1, or the exit code after saying which methods there are. */
int select_option_find(const arguments *arguments, const char *name, csaw_select *select);

#endif
