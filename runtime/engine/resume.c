/* SPDX-License-Identifier: MIT */
/* runtime/engine/resume.c - the record is a few lines of text: walks and bytes that are good, then the job, whose
 * length stands before it and whose end is marked. It is written beside, brought to disk and renamed, so a kill or a
 * power cut leaves a whole one. */
#include "runtime/engine/resume.h"

#include "runtime/base/memory.h"
#include "runtime/base/output_file.h"
#include "runtime/engine/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEADING "csaw resume 1\n"
#define ENDING "end\n"

/* All of text to disk as a new file; errno tells why not. */
static bool write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return false;
    bool good = true;
    for (size_t left = strlen(text); good && left;) {
        ssize_t count = write(file, text, left);
        if (count < 0 && errno == EINTR) continue;
        good = count > 0;
        if (good) text += count, left -= (size_t)count;
    }
    good = good && fdatasync(file) == 0;
    int error = errno;
    close(file);
    errno = error;
    return good;
}

csaw_status csaw__resume_write(const char *path, const char *job, const csaw__resume *record) {
    csaw_status status = CSAW_OK;
    char *text = NULL, *name = NULL, *next = NULL;
    CSAW_TRY_DONE(csaw__format(&text, HEADING "walks %" PRIu64 "\nbytes %" PRIu64 "\njob %zu\n%s\n" ENDING,
                               record->walks, record->bytes, strlen(job), job));
    CSAW_TRY_DONE(csaw__format(&name, "%s.resume", path));
    CSAW_TRY_DONE(csaw__format(&next, "%s.new", name));
    if (!write_file(next, text) || rename(next, name) != 0) {
        status =
            csaw__fail(CSAW_EIO, "%s: writing failed: %s; free space there, or write elsewhere", name, strerror(errno));
        unlink(next);
    }
done:
    csaw__free(next);
    csaw__free(name);
    csaw__free(text);
    return status;
}

/* The job within a record, or NULL if the record is damaged. */
static char *parse(char *text, size_t size, csaw__resume *out) {
    int used = 0;
    size_t length = 0;
    if (sscanf(text, HEADING "walks %" SCNu64 "\nbytes %" SCNu64 "\njob %zu%n", &out->walks, &out->bytes, &length,
               &used) != 3)
        return NULL;
    size_t begin = (size_t)used + 1; /* behind the line's end */
    if (strlen(text) != size || size < begin || length != size - begin - strlen("\n" ENDING)) return NULL;
    char *job = text + begin;
    if (text[used] != '\n' || strcmp(job + length, "\n" ENDING) != 0) return NULL;
    job[length] = 0;
    return job;
}

static csaw_status compare_jobs(const char *name, const char *before, const char *now) {
    for (;;) {
        int left = (int)strcspn(before, "\n"), right = (int)strcspn(now, "\n");
        CSAW_REQUIRE(left == right && strncmp(before, now, (size_t)left) == 0, CSAW_EINVAL,
                     "%s is of another job: there '%.*s', here '%.*s'; give the same options again, or begin anew "
                     "without resuming",
                     name, left, before, right, now);
        if (!before[left] && !now[right]) return CSAW_OK;
        before += left + (before[left] != 0);
        now += right + (now[right] != 0);
    }
}

csaw_status csaw__resume_read(const char *path, const char *job, csaw__resume *out, bool *found) {
    csaw_status status = CSAW_OK;
    char *name = NULL, *text = NULL;
    size_t size = 0;
    CSAW_TRY(csaw__format(&name, "%s.resume", path));
    *found = access(name, F_OK) == 0;
    if (!*found) goto done;
    CSAW_TRY_DONE(csaw__read_file(name, &text, &size));
    char *before = parse(text, size, out);
    CSAW_REQUIRE_DONE(before, CSAW_EFORMAT,
                      "%s is damaged, so how far the walks are good is unknown; begin anew without resuming", name);
    CSAW_TRY_DONE(compare_jobs(name, before, job));
done:
    csaw__free(text);
    csaw__free(name);
    return status;
}

void csaw__resume_remove(const char *path) {
    char *name = NULL;
    if (csaw__format(&name, "%s.resume", path) == CSAW_OK) unlink(name);
    csaw__free(name);
}
