/* SPDX-License-Identifier: MIT */
/* tests/spread_mpi_test.cc - a graph that is split over the ranks of an MPI job, and the exchange between them: runs
 * spread_ranks and exchange_ranks by mpirun, more ranks than cores. */
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#ifdef SPREAD_RANKS
#define NEEDS_MPI()
#else
#define NEEDS_MPI() GTEST_SKIP() << "this build is without MPI"
#define SPREAD_RANKS ""
#define EXCHANGE_RANKS ""
#define MPI_PROGRAM ""
#endif

namespace {

// Its exit code. What it says goes to the test's own stderr.
int run(int ranks, const std::string &program) {
    const std::string command = std::string("timeout 100 env OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
                                            "OMPI_MCA_btl_vader_single_copy_mechanism=none "
                                            "OMPI_MCA_mpi_yield_when_idle=1 OMPI_ALLOW_RUN_AS_ROOT=1 "
                                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " MPI_PROGRAM " -n ") +
                                std::to_string(ranks) + " " + program;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_ranks(int ranks, const std::string &what) { return run(ranks, SPREAD_RANKS " " + what); }

TEST(SpreadMpi, WalksHaveTheBitsOfOneProcess) {
    NEEDS_MPI();
    for (int ranks : {1, 2, 3, 5, 8}) EXPECT_EQ(run_ranks(ranks, "equal"), 0) << ranks << " ranks";
}

TEST(SpreadMpi, ARankWithoutMemoryIsNamedByAll) {
    NEEDS_MPI();
    for (int ranks : {2, 3}) EXPECT_EQ(run_ranks(ranks, "fault"), 0) << ranks << " ranks";
}

TEST(SpreadMpi, RanksThatAskForSomethingElse) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(3, "other"), 0);
    EXPECT_EQ(run_ranks(3, "batches"), 0);
}

TEST(SpreadMpi, WhatNobodyTakesInIsBounded) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(2, "bounded"), 0);
}

TEST(SpreadMpi, NobodyWaitsForTheRestOfABatch) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(2, "half"), 0);
}

TEST(SpreadMpi, ErrorsSayWhatFailed) {
    NEEDS_MPI();
    EXPECT_EQ(run(2, EXCHANGE_RANKS), 42); // its own exit code
}

TEST(SpreadMpi, SettlingEndsWhereRanksAreGone) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(2, "left"), 42); // its own exit code
}

TEST(SpreadMpi, ABatchFunctionThatDrawsFromItsPlanIsRefusedAlone) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(3, "nested"), 0);
}

// mpirun ends the others, and exits with what became of the lost one: 128 and signal 9.
TEST(SpreadMpi, ALostRankEndsTheJob) {
    NEEDS_MPI();
    EXPECT_EQ(run_ranks(3, "lost"), 137);
}

} // namespace
