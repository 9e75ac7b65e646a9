/* SPDX-License-Identifier: MIT */
/* cli/progress.c - one line on stderr, redrawn at most ten times a second. */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

static volatile sig_atomic_t stop_asked;
static struct sigaction before_interrupt, before_terminate;

static void ask_to_stop(int signal_number) {
    (void)signal_number;
    stop_asked = 1;
}

void progress_begin(progress *progress) {
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    stop_asked = 0;
    sigaction(SIGINT, &action, &before_interrupt);
    sigaction(SIGTERM, &action, &before_terminate);
    progress->shown = isatty(STDERR_FILENO) == 1;
    progress->begun = progress->drawn = seconds_now();
}

bool progress_report(void *user, uint64_t done, uint64_t total) {
    enum { WIDTH = 30 };
    progress *progress = user;
    double now = seconds_now();
    if (progress->shown && now - progress->drawn >= 0.1 && total) {
        double part = (double)done / (double)total, elapsed = now - progress->begun;
        char bar[WIDTH + 1];
        memset(bar, ' ', WIDTH);
        memset(bar, '=', (size_t)(part * WIDTH));
        bar[WIDTH] = 0;
        fprintf(stderr, "\r[%s] %3.0f%%  %s of %s walks", bar, 100 * part, count_text(done).text,
                count_text(total).text);
        if (done) fprintf(stderr, ", %.0f s left", elapsed * (double)(total - done) / (double)done);
        fputs("\033[K", stderr);
        progress->drawn = now;
    }
    return !stop_asked;
}

void progress_end(progress *progress) {
    if (progress->drawn > progress->begun) fputs("\r\033[K", stderr);
    sigaction(SIGINT, &before_interrupt, NULL);
    sigaction(SIGTERM, &before_terminate, NULL);
}
