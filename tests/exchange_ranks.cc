/* SPDX-License-Identifier: MIT */
/* tests/exchange_ranks.cc - a program for mpirun, of two ranks: what the exchange between them says when a call of MPI
 * fails, a rank has no memory, or a batch is larger than batches are. The calls are made to fail by MPI's profiling
 * interface (MPI 3.1, section 14.2): a program may define MPI_X and go on by PMPI_X. spread_mpi_test.cc runs it. Exit
 * code 42, by MPI_Abort(), since batches that were refused stay under way: all messages were as expected. */
#include "partition/exchange_mpi.h"
#include "runtime/base/memory.h"

#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

std::string failing; // the call of MPI that fails

} // namespace

#define FAILS_IF_TOLD(CALL, PARAMETERS, ARGUMENTS) \
    extern "C" int MPI_##CALL PARAMETERS { return failing == #CALL ? MPI_ERR_OTHER : PMPI_##CALL ARGUMENTS; }
FAILS_IF_TOLD(Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
FAILS_IF_TOLD(Allreduce, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
              (in, out, count, type, op, comm))
FAILS_IF_TOLD(Issend,
              (const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
              (data, count, type, to, tag, comm, request))
FAILS_IF_TOLD(Improbe, (int from, int tag, MPI_Comm comm, int *found, MPI_Message *message, MPI_Status *status),
              (from, tag, comm, found, message, status))
FAILS_IF_TOLD(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count), (status, type, count))
FAILS_IF_TOLD(Imrecv, (void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
              (data, count, type, message, request))
FAILS_IF_TOLD(Iallgather,
              (const void *in, int count, MPI_Datatype type, void *out, int counts, MPI_Datatype types, MPI_Comm comm,
               MPI_Request *request),
              (in, count, type, out, counts, types, comm, request))
FAILS_IF_TOLD(Ialltoall,
              (const void *in, int count, MPI_Datatype type, void *out, int counts, MPI_Datatype types, MPI_Comm comm,
               MPI_Request *request),
              (in, count, type, out, counts, types, comm, request))
FAILS_IF_TOLD(Test, (MPI_Request * request, int *done, MPI_Status *status), (request, done, status))

namespace {

int wrong = 0;

void expect(bool right, const std::string &what) {
    if (right) return;
    wrong++;
    std::fprintf(stderr, "exchange_ranks: not as expected: %s (csaw's last error, which may be older: %s)\n",
                 what.c_str(), csaw_last_error());
}

// What a call comes to while that of MPI fails.
template <class Call> void expect_failure(const char *mpi, const std::string &what, const Call &call) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(MPI_ERR_OTHER, text, &length);
    failing = mpi;
    const csaw_status status = call();
    failing.clear();
    expect(status == CSAW_EMPI && csaw_last_error() == what + " failed: " + text +
                                                           "; end the job, and see what its launcher says of the ranks",
           mpi);
}

bool stay(void *) { return false; }

// Returns when all ranks have come here. Takes nothing in.
void meet(const csaw__exchange &on) {
    const char word[CSAW__WORD_BYTES] = "";
    const void *all = nullptr;
    expect(on.gather(on.self, word) == CSAW_OK, "a round");
    while (on.gathered(on.self, &all) == CSAW_OK && !all) on.idle(on.self);
    expect(all != nullptr, "the end of a round");
}

csaw_status receive_one(const csaw__exchange &on) {
    const void *data = nullptr;
    while (!data) {
        uint32_t from;
        uint64_t bytes;
        CSAW_TRY(on.receive(on.self, &from, &data, &bytes));
        if (!data) on.idle(on.self);
    }
    return CSAW_OK;
}

csaw_status send_one(const csaw__exchange &on, uint64_t bytes) {
    void *to = nullptr;
    while (!to) {
        CSAW_TRY(on.room(on.self, 1 - on.rank, &to));
        if (!to) on.idle(on.self);
    }
    return on.send(on.self, 1 - on.rank, bytes);
}

// ---- straight ----

bool yes() { return true; }

struct Places { // memory of the test's, of which there is none for kind 1
    uint64_t word[512];
    static void *of(void *self, uint32_t kind, uint64_t) { return kind ? nullptr : static_cast<Places *>(self)->word; }
};

// What one rank sends straight, four of each kind and a batch that passes them, the other one takes in.
void straight(const MPI_Comm &world) {
    csaw__mpi *mpi = nullptr;
    expect(csaw__mpi_create(&world, 4096, 3, &mpi) == CSAW_OK, "creating");
    expect(csaw__mpi_rank(mpi).send_from == nullptr, "straight, though MPI does not say that it can");
    csaw__mpi_free(mpi);
    csaw__mpi_moves_device_memory = yes;
    expect(csaw__mpi_create(&world, 4096, 3, &mpi) == CSAW_OK, "creating");
    const csaw__exchange on = csaw__mpi_rank(mpi);
    const std::string other = std::to_string(1 - on.rank);
    Places places = {}, from = {};
    csaw__straight came = {};
    bool taken = true, all = false;
    uint64_t sent = 0, got[2] = {0, 0};
    for (uint64_t i = 0; i < 512; i++) from.word[i] = 1000 * on.rank + i;
    expect_failure("Issend", "sending a batch of 8 bytes, of at most 4096, straight to rank " + other + " of 2",
                   [&] { return on.send_from(on.self, 1 - on.rank, 0, from.word, 8, &taken); });
    expect_failure("Improbe", "looking for messages of 2 ranks",
                   [&] { return on.receive_to(on.self, Places::of, &places, &came); });
    expect(send_one(on, 16) == CSAW_OK, "sending");
    while (sent < 8 || got[0] + got[1] < 8) {
        if (sent < 8) expect(on.send_from(on.self, 1 - on.rank, sent % 2, from.word, 4096, &taken) == CSAW_OK, "send");
        sent += sent < 8 && taken;
        expect(on.receive_to(on.self, Places::of, &places, &came) == CSAW_OK, "receiving");
        if (!came.bytes) continue;
        const uint64_t *const word = came.own ? static_cast<const uint64_t *>(came.own) : places.word;
        expect(came.from == 1 - on.rank && came.bytes == 4096 && (came.own != nullptr) == (came.kind == 1),
               "what came");
        for (uint64_t i = 0; i < 512; i++) expect(word[i] == 1000 * (1 - on.rank) + i, "a word of a batch");
        got[came.kind]++;
        places = {};
    }
    expect(got[0] == 4 && got[1] == 4, "four of each kind");
    expect(receive_one(on) == CSAW_OK, "the batch that was passed");
    while (!all) expect(on.sent(on.self, &all) == CSAW_OK, "all are there");
    // A rank that is behind bounds what is under way; settling throws it away, one that is coming, too. No rank takes
    // one in before the other has sent what it can.
    for (sent = 0, taken = true; taken; sent += taken)
        expect(on.send_from(on.self, 1 - on.rank, 0, from.word, 4096, &taken) == CSAW_OK, "sending");
    expect(sent == 3 && on.sent(on.self, &all) == CSAW_OK && !all, "three under way, no more");
    meet(on);
    expect(on.receive_to(on.self, Places::of, &places, &came) == CSAW_OK, "beginning to receive");
    expect(on.settle(on.self, stay, nullptr) == CSAW_OK, "settling");
    expect(on.receive_to(on.self, Places::of, &places, &came) == CSAW_OK && !came.bytes, "nothing is left");
    expect(on.sent(on.self, &all) == CSAW_OK && all, "nothing is under way");
    // Of one rank alone it is nothing.
    csaw__mpi_free(mpi);
    csaw__mpi_moves_device_memory = on.rank ? yes : [] { return false; };
    expect(csaw__mpi_create(&world, 4096, 3, &mpi) == CSAW_OK && !csaw__mpi_rank(mpi).send_from,
           "one rank's MPI alone");
    csaw__mpi_free(mpi);
}

// Each allocation of rank 1 fails; rank 0 is told whose, and of how much.
void without_memory(const MPI_Comm &world, int rank) {
    uint64_t n = 1;
    for (csaw_status status = CSAW_ENOMEM; status != CSAW_OK; n++) {
        csaw__mpi *mpi = nullptr;
        if (rank == 1) csaw__fail_allocations_from(n);
        status = csaw__mpi_create(&world, 4096, 3, &mpi);
        csaw__fail_allocations_from(0);
        csaw__mpi_free(mpi);
        const std::string named = "rank 1 has no memory for its batches to 2 ranks, 24576 bytes; leave it more, or "
                                  "take fewer ranks"; // 2 * 3 * 4096
        expect(status == CSAW_OK || (status == CSAW_ENOMEM && (rank == 1 || csaw_last_error() == named)), "memory");
    }
    expect(n > 7, "so few allocations");
}

void calls_that_fail(const MPI_Comm &world) {
    csaw__mpi *mpi = nullptr;
    expect_failure("Comm_dup", "MPI_Comm_dup of the communicator given",
                   [&] { return csaw__mpi_create(&world, 0, 0, &mpi); });
    expect_failure("Allreduce", "the agreement of 2 ranks on batches",
                   [&] { return csaw__mpi_create(&world, 0, 0, &mpi); });
    expect(mpi == nullptr && csaw__mpi_create(&world, 4096, 0, &mpi) == CSAW_OK, "creating");
    const csaw__exchange on = csaw__mpi_rank(mpi);
    const std::string other = std::to_string(1 - on.rank);
    const char word[CSAW__WORD_BYTES] = "";
    const void *all = nullptr;
    expect_failure("Issend", "sending a batch of 8 bytes, of at most 4096, to rank " + other + " of 2",
                   [&] { return send_one(on, 8); });
    expect_failure("Improbe", "looking for messages of 2 ranks", [&] { return receive_one(on); });
    expect_failure("Iallgather", "a round of 1024 bytes from each of 2 ranks",
                   [&] { return on.gather(on.self, word); });
    expect(on.gather(on.self, word) == CSAW_OK, "a round");
    expect_failure("Test", "a round of 1024 bytes from each of 2 ranks", [&] { return on.gathered(on.self, &all); });
    while (on.gathered(on.self, &all) == CSAW_OK && !all) on.idle(on.self);
    expect(all != nullptr, "a round");
    expect_failure("Ialltoall", "counting the messages of 2 ranks", [&] { return on.settle(on.self, stay, nullptr); });
    expect(on.settle(on.self, stay, nullptr) == CSAW_OK, "settling");
    csaw__mpi_free(mpi);
}

// Of three batches that rank 0 sends rank 1 takes in none.
void batches_that_are_refused(const MPI_Comm &world) {
    csaw__mpi *mpi = nullptr;
    expect(csaw__mpi_create(&world, 4096, 3, &mpi) == CSAW_OK, "creating");
    const csaw__exchange on = csaw__mpi_rank(mpi);
    if (on.rank == 0) {
        for (uint64_t bytes : {uint64_t{16}, uint64_t{24}, uint64_t{4104}})
            expect(send_one(on, bytes) == CSAW_OK, "sending");
    } else {
        expect_failure("Get_count", "asking for the size of a message from rank 0 of 2",
                       [&] { return receive_one(on); });
        expect_failure("Imrecv", "beginning to receive 24 bytes from rank 0 of 2", [&] { return receive_one(on); });
        expect(receive_one(on) == CSAW_EINVAL && std::string(csaw_last_error()) ==
                                                     "rank 0 sent a batch of 4104 bytes, but batches have at most "
                                                     "4096; run the same csaw on all ranks",
               "a batch that is too large");
    }
}

} // namespace

int main(int argc, char **argv) {
    int rank, of_all;
    MPI_Init(&argc, &argv);
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    without_memory(world, rank);
    calls_that_fail(world);
    straight(world);
    batches_that_are_refused(world);
    MPI_Allreduce(&wrong, &of_all, 1, MPI_INT, MPI_SUM, world);
    MPI_Abort(world, of_all ? 1 : 42);
}
