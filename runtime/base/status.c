/* SPDX-License-Identifier: MIT */
/* runtime/base/status.c - status codes, and the last error message of each thread. */
#include "runtime/base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char csaw__message[2048];

csaw_status csaw__fail(csaw_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(csaw__message, sizeof csaw__message, format, arguments);
    va_end(arguments);
    return status;
}

const char *csaw_last_error(void) { return csaw__message; }

const char *csaw_status_text(csaw_status status) {
    switch (status) {
#define X(name, code, text) \
    case CSAW_##name: return text;
        CSAW_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}
