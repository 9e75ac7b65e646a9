/* SPDX-License-Identifier: MIT */
/* runtime/engine/source.c - a file of the user's, kept: see source.h. */
#include "runtime/engine/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/memory.h"

csaw_status csaw__source_read(const char *path, csaw__source *out) {
    size_t size = 0;
    CSAW_TRY(csaw__read_file(path, &out->text, &size));
    CSAW_REQUIRE(strlen(out->text) == size, CSAW_ECOMPILE,
                 "%s holds a zero byte at %zu, so it is not a C file; check the path", path, strlen(out->text));
    char *absolute = realpath(path, NULL);
    CSAW_REQUIRE(absolute, CSAW_EIO, "%s could not be found again: %s", path, strerror(errno));
    csaw_status status = csaw__format(&out->path, "%s", absolute);
    free(absolute);
    return status;
}

void csaw__source_free(csaw__source *source) {
    while (source->device) {
        csaw__device_code *next = source->device->next;
        csaw__free(source->device->cubin);
        csaw__free(source->device);
        source->device = next;
    }
    csaw__free(source->path);
    csaw__free(source->text);
}
