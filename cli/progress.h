/* SPDX-License-Identifier: MIT */
/* cli/progress.h - a progress bar on stderr where that is a terminal, and a clean stop on Ctrl-C. */
#ifndef CSAW_CLI_PROGRESS_H
#define CSAW_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool shown; /* stderr is a terminal */
    double begun, drawn;
} progress;

/* From here to progress_end() the first Ctrl-C stops the run; a second one ends the program at once. */
void progress_begin(progress *progress);
/* For csaw_run_options.progress, with user = the progress; false once Ctrl-C was pressed. */
bool progress_report(void *user, uint64_t done, uint64_t total);
void progress_end(progress *progress);

#endif
