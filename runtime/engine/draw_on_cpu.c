/* SPDX-License-Identifier: MIT */
/* runtime/engine/draw_on_cpu.c - a batch that the CPU draws: whoever waits for it is told ten times a second how much
 * of it there is, on the caller's thread, which draws too, and may stop it; without a progress function the thread's
 * watch. */
#include <stdio.h>

#include "runtime/base/parallel.h"
#include "runtime/base/watch.h"
#include "runtime/engine/run.h"
#include "runtime/ranks/ranks.h"

static csaw_status draw(const csaw__run *r, csaw__job *job, csaw__heard *heard, csaw_samples *samples,
                        csaw__fault *fault) {
    const bool check = r->options.check;
    if (r->is_sample) return csaw__cpu_sample(r->plan, r->sampler, job, check, heard, samples, fault);
    CSAW_TRY(csaw__walks_take(samples, job));
    return csaw__cpu_walk(r->plan, r->sampler, job, check, heard, fault);
}

/* The progress function, while a batch is drawn. */
typedef struct hearing {
    const csaw__run *run;
    uint64_t first;
    csaw__heard heard;
    csaw_status refused;
    char why[256];
} hearing;

static bool hear(void *user) {
    hearing *const h = user;
    uint64_t done;
    CSAW__OMP(atomic read)
    done = h->heard.done;
    h->refused = csaw__run_progress(h->run, h->first + done);
    if (h->refused != CSAW_OK) snprintf(h->why, sizeof h->why, "%s", csaw_last_error());
    return h->refused == CSAW_OK;
}

csaw_status csaw__draw_on_cpu(const csaw__run *r, csaw__job *job, csaw_samples *samples, csaw__fault *fault) {
    hearing h = {.run = r, .first = job->first};
    csaw__watch watch;
    h.heard.watch = csaw__watching();
    if (csaw__ranks_size(r->plan->ranks) > 1) return draw(r, job, NULL, samples, fault); /* each has a part of it */
    if (!r->options.progress) return draw(r, job, &h.heard, samples, fault);
    csaw__watch_begin(&watch, hear, &h);
    h.heard.watch = &watch;
    const csaw_status status = draw(r, job, &h.heard, samples, fault);
    CSAW_REQUIRE(h.refused == CSAW_OK, h.refused, "%s", h.why);
    return status;
}
