/* SPDX-License-Identifier: MIT */
/* runtime/engine/resume.h - PATH.resume: how far PATH.part is good, and of which job it is. */
#ifndef CSAW_ENGINE_RESUME_H
#define CSAW_ENGINE_RESUME_H

#include "runtime/base/status.h"

typedef struct csaw__resume {
    uint64_t walks, bytes; /* finished, and what they take in PATH.part */
} csaw__resume;

/* Replaces the record at once, on disk: whatever happens, there is the old one or the new one. */
csaw_status csaw__resume_write(const char *path, const char *job, const csaw__resume *record);
/* The record of path; *found = false if there is none. Fails if it is damaged, or of another job: then the message
 * names the first line that differs. */
csaw_status csaw__resume_read(const char *path, const char *job, csaw__resume *out, bool *found);
void csaw__resume_remove(const char *path);

#endif
