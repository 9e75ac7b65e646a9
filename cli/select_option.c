/* SPDX-License-Identifier: MIT */
/* cli/select_option.c - a method of selection by its name. */
#include "select_option.h"

#include <stdio.h>
#include <string.h>

int select_option_find(const arguments *arguments, const char *given, csaw_select *select) {
    const char *names[16], *name;
    char list[256] = "";
    size_t count = 0, used = 0;
    *select = CSAW_SELECT_AUTO;
    if (!given) return -1;
    for (; count < 16 && (name = csaw_select_name((csaw_select)count)); count++) {
        names[count] = name;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "", name);
        if (!strcmp(name, given)) {
            *select = (csaw_select)count;
            return -1;
        }
    }
    const char *near = nearest_name(given, names, count);
    return arguments_wrong(arguments, "--select %s: give one of %s%s%s%s", given, list, near ? "; did you mean " : "",
                           near ? near : "", near ? "?" : "");
}
