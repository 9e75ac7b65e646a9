/* SPDX-License-Identifier: MIT */
/* tests/cli_plan_test.cc - csaw plan for memory that does not hold the graph: decisions with their numbers, for a GPU
 * that is not here, and walks that come out the same. */
#include "tests/cli_run.h"

namespace {

/* A ring of 1000 vertices, both ways: 1000 rows of 8 bytes and 2000 arcs of 4, and 8 bytes more, are 16008. */
class CliPlan : public Cli {
  protected:
    void SetUp() override {
        Cli::SetUp();
        std::string ring;
        for (int v = 0; v < 1000; v++) ring += std::to_string(v) + " " + std::to_string((v + 1) % 1000) + "\n";
        write("ring.txt", ring);
    }
    static void Expect(const Outcome &got, const std::string &line) {
        EXPECT_EQ(got.code, 0) << got.err;
        EXPECT_NE(got.out.find(line), std::string::npos) << line << "\nis not in\n" << got.out;
    }
};

TEST_F(CliPlan, a_gpu_that_is_not_here) {
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=16GiB"),
           "device      a GPU of 16384.0 MiB that need not be here, a tenth of it left to the driver\n");
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=16GiB"), "partitions  1: the graph's 0.0 MiB fit");
    Expect(run("plan ring.txt --undirected --describe memory=1MiB,gpu=1 --gpu-memory 512KiB"), "gpu memory  0.5 MiB: ");
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=1MiB"), "gpu memory  0.9 MiB: ");
}

/* 16 KiB: 12 of them for the graph, 4000 bytes of which are degrees: 8288, four slots of 2072. A row takes 8 + 2 * 4 +
 * 8 = 24 bytes, and 16008 / 2048 is 7.8: 8 partitions. A walk of 80 steps takes 104 + 81 * 4 = 428 bytes; a quarter, 4
 * KiB less 1 KiB for queues and 256 bytes for what overflows them, is 2816 bytes: 152 rounds of 1000 walks, each 8 + 4
 * * 40 transfers of 2001 bytes, 49 MiB. But 8 KiB, the 3rd division, leave 4192 for slots of 1048, 1024 without a row:
 * 16 partitions; 6912 bytes, 62 rounds of 16 + 12 * 40 transfers of 1000 bytes, 29 MiB. And 10 KiB: 2144, slots of 536,
 * 32 partitions, 8960 bytes, which are 20 walks, 48 rounds of 32 + 28 * 40 transfers of 500 bytes, 26 MiB. 12 KiB leave
 * 96 bytes: one slot, 72 bytes of it for rows, 223 partitions; queues take 223 * 4 * 16 bytes, more than is left. */
TEST_F(CliPlan, decisions_worked_out_by_hand) {
    Outcome got = run("plan ring.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 16KiB");
    Expect(got, "\npartitions  32 contiguous ranges of about 0.0 MiB");
    Expect(got, "\nresident    4 of them on 4 streams,");
    Expect(got, "\ntransfers   32 = 0.0 MiB at least; a walk of 80 steps from every vertex, 20 at a time,");
    got = run("plan ring.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 16KiB --resident 2 --streams 1 "
              "--partitions 20");
    Expect(got, "\npartitions  20 contiguous ranges");
    Expect(got, "as asked for\nresident    2 of them on 1 stream,");
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 16KiB --json"),
           "partitions  32 ");
}

TEST_F(CliPlan, wrong_descriptions) {
    for (const char *words : {"gpu=1", "memory=4GiB,gpu=2", "gpu=1,memory=4", "gpu=1,memory=0", "gpu=1;memory=4GiB",
                              "memory", "memory=4GB", "memory=99999999999999999999", "memory=16777216TiB"}) {
        const Outcome got = run(std::string("plan ring.txt --describe '") + words + "'");
        if (std::string(words) == "gpu=1,memory=4") { // 4 bytes: read, and too little
            EXPECT_EQ(got.code, 1) << words;
            EXPECT_NE(got.err.find("too little"), std::string::npos) << got.err;
        } else {
            EXPECT_EQ(got.code, 2) << words;
            EXPECT_NE(got.err.find("memory=16GiB"), std::string::npos) << got.err;
        }
    }
    EXPECT_EQ(run("plan ring.txt --gpu-memory 4").code, 1) << "of the cpu";
    const Outcome gpu = run("plan ring.txt --device cuda:0 --gpu-memory 8KiB");
    EXPECT_EQ(gpu.code, 1);
    EXPECT_NE(gpu.err.find("does not hold the graph"), std::string::npos) << gpu.err;
    EXPECT_EQ(run("walk ring.txt --gpu-memory 4MB").code, 2);
}

TEST_F(CliPlan, walks_come_out_the_same) {
    for (const char *algo : {"uniform", "node2vec --p 0.25 --q 4", "biased --select alias"}) {
        const std::string words = std::string("walk ring.txt --undirected --num-walks 2 --seed 3 --algo ") + algo;
        const Outcome whole = run(words), parted = run(words + " --device simulated --gpu-memory 64KiB --partitions 9");
        EXPECT_EQ(parted.code, 0) << parted.err;
        EXPECT_EQ(whole.out, parted.out) << algo;
        EXPECT_GT(whole.out.size(), 1000u);
    }
}

} // namespace
