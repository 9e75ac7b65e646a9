/* SPDX-License-Identifier: MIT */
/* cli/ranks.c - csaw under an MPI launcher: see ranks.h. */
#include "ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "progress.h"
#include "report.h"

enum { MOST_TEXT = 4096 };
static const double GIVE_UP_SECONDS = 0.2; /* OpenMPI kills what is left a second after it asked */

static struct {
    bool initialised, agreed; /* agreed: all ranks know of a failure */
    uint32_t rank, size;
    char command[16];
    MPI_Comm comm;
} ranks = {.size = 1};

/* What a rank tells the others when it has come to an end or to a place where all must have got so far. */
typedef struct word {
    int result;
    bool at_end;
    char command[16], host[64];
    char text[MOST_TEXT];
} word;

static bool is_launched(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i])) return true;
    return false;
}

int ranks_begin(int *argc, char ***argv) {
    int level, rank, size;
    if (!is_launched()) return -1;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return report_failure("MPI_Init_thread failed; see what the launcher says");
    MPI_Comm_dup(MPI_COMM_WORLD, &ranks.comm);
    MPI_Comm_rank(ranks.comm, &rank);
    MPI_Comm_size(ranks.comm, &size);
    ranks.initialised = true;
    ranks.rank = (uint32_t)rank;
    ranks.size = (uint32_t)size;
    if (size == 1) return -1;
    report_hold();
    snprintf(ranks.command, sizeof ranks.command, "%s", *argc > 1 ? (*argv)[1] : "");
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) return report_failure("/dev/null cannot be written");
    return -1;
}

uint32_t ranks_rank(void) { return ranks.rank; }
uint32_t ranks_size(void) { return ranks.size; }

const void *ranks_communicator(void) {
    static MPI_Comm world;
    world = MPI_COMM_WORLD;
    return ranks.size > 1 ? &world : NULL;
}

/* A rank that was told to stop does not wait for those that are gone: the launcher ends the job when it leaves. */
static void leave_if_stopped(const word *mine, double *told) {
    if (!progress_stopped()) return;
    const double now = seconds_now();
    if (*told == 0) *told = now;
    if (now - *told < GIVE_UP_SECONDS) return;
    if (ranks.rank == 0) fputs(mine->text, stderr);
    fflush(NULL);
    _exit(mine->result >= 0 ? mine->result : progress_exit_code());
}

static void wait_for(MPI_Request *request, const word *mine) {
    double told = 0;
    for (int done = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        leave_if_stopped(mine, &told);
    }
}

/* If all failed, rank 0's text stands for all; else that of the lowest rank that did, by name. */
static void say_failure(const word *words) {
    uint32_t failed = 0, lowest = ranks.size;
    char prefix[128] = "";
    for (uint32_t r = ranks.size; r-- > 0;)
        if (words[r].result >= 0) failed++, lowest = r;
    if (failed < ranks.size) snprintf(prefix, sizeof prefix, "rank %u on %s: ", lowest, words[lowest].host);
    if (ranks.rank == 0 && words[lowest].text[0]) fprintf(stderr, "%s%s", prefix, words[lowest].text);
}

static bool calls_differ(const word *a, const word *b) {
    return a->at_end != b->at_end || strcmp(a->command, b->command);
}

/* Whose calls would not meet. */
static int refuse_calls(const word *words, uint32_t other) {
    ranks.agreed = true;
    if (ranks.rank == 0 && strcmp(words[0].command, words[other].command))
        fprintf(stderr,
                "csaw: rank %u was started as csaw %s, but rank 0 as csaw %s; give all ranks the same command\n", other,
                words[other].command, words[0].command);
    else if (ranks.rank == 0)
        fprintf(stderr, "csaw: rank %u has come to its end, but rank %u has not; give all ranks the same options\n",
                words[0].at_end ? 0 : other, words[0].at_end ? other : 0);
    return EXIT_USAGE;
}

static int agree(int result, bool at_end) {
    word mine = {.result = result, .at_end = at_end};
    MPI_Request request;
    if (ranks.size == 1 || ranks.agreed) return result;
    word *words = allocate(ranks.size, sizeof *words);
    memcpy(mine.command, ranks.command, sizeof mine.command);
    gethostname(mine.host, sizeof mine.host - 1);
    report_take(mine.text, sizeof mine.text);
    MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, words, sizeof *words, MPI_BYTE, ranks.comm, &request);
    wait_for(&request, &mine);
    for (uint32_t r = 0; r < ranks.size; r++) {
        ranks.agreed = ranks.agreed || words[r].result >= 0;
        result = words[r].result > result ? words[r].result : result;
    }
    if (ranks.agreed) say_failure(words);
    for (uint32_t r = 1; r < ranks.size && !ranks.agreed; r++)
        if (calls_differ(&words[0], &words[r])) result = refuse_calls(words, r);
    free(words);
    return result;
}

int ranks_agree(int result) { return agree(result, false); }

void ranks_sum(uint64_t *values, int count) {
    const word nothing = {.result = -1};
    MPI_Request request;
    if (ranks.size == 1) return;
    MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_SUM, ranks.comm, &request);
    wait_for(&request, &nothing);
}

int ranks_end(int result) {
    if (!ranks.initialised) return result;
    result = agree(result ? result : -1, true);
    MPI_Comm_free(&ranks.comm);
    MPI_Finalize();
    return result < 0 ? EXIT_OK : result;
}
