/* SPDX-License-Identifier: MIT */
/* tests/cli_plan_test.cc - csaw plan for memory that does not hold the graph: decisions with their numbers, for a GPU
 * that is not here, and walks that come out the same. */
#include <algorithm>

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
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=16GiB"), "partitions  1: the graph's 15.6 KiB fit");
    Expect(run("plan ring.txt --undirected --describe memory=1MiB,gpu=1 --gpu-memory 512KiB"),
           "gpu memory  512.0 KiB: ");
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=1MiB"), "gpu memory  921.6 KiB: ");
}

/* 16 KiB, of which degrees take 4000 bytes, and tables 268 a partition. 1000 rows of 8 + 2 * 4 bytes and a last offset
 * are 16008; a slot is an equal share of them and a row with its last offset, 24, more. A walk takes 28 bytes where
 * paths are in the host's memory, and 36 with a second-order step's questions: 64. Two slots of 4 partitions, 4002 + 24
 * bytes each, leave 16384 - 4000 - 4 * 268 - 2 * 4026 = 3260 bytes, 50 walks: 20 rounds of 1000 walks, each 4 + 2 * 40
 * transfers of 4002 bytes, 1680 in all. 3 partitions, 2 resident: 13 walks, 77 * (3 + 40) = 3311. 5: 71 walks, 15 * (5
 * + 3 * 40) = 1875. 6: 84 walks, 12 * (6 + 4 * 40) = 1992. One slot is for graphs with a row of more than half a slot.
 */
TEST_F(CliPlan, decisions_worked_out_by_hand) {
    const std::string words = "plan ring.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 16KiB";
    Outcome got = run(words + " --num-walks 1");
    Expect(got, "\njob         1 walk of 80 steps from each of 1000 vertices: 1000 walks, 316.4 KiB of paths\n");
    Expect(got,
           "\npartitions  4 contiguous ranges of about 3.9 KiB, a slot for each of at most 3.9 KiB: the graph's 15.6 "
           "KiB do not fit\n");
    Expect(got, "\nresident    2 of them on 2 streams,");
    Expect(got,
           "\nwalks       50 of them under way at a time; csaw_sample_each: 1000 a batch, 316.4 KiB of host memory\n");
    Expect(got,
           "\ntransfers   4 = 15.6 KiB at least; of the job, in 20 rounds, if arcs may lead anywhere: about 1680 = "
           "6.4 MiB\n");
    Expect(got, "resident; made whole before, 54.7 KiB in host memory\n"); // 20 * 2000 + 16 * 1000 bytes
    Expect(run(words),
           "\njob         10 walks of 80 steps from each of 1000 vertices: 10000 walks, 3.1 MiB of paths\n");
    Expect(run(words), "in 200 rounds, "); // of 50
    Expect(run(words + " --walk-length 8 --num-walks 3"),
           "\njob         3 walks of 8 steps from each of 1000 vertices: 3000 walks, 105.5 KiB of paths\n");
    got = run(words + " --resident 2 --streams 1 --partitions 20");
    Expect(got, "\npartitions  20 contiguous ranges");
    Expect(got, "as asked for\nresident    2 of them on 1 stream,");
    Expect(run(words + " --json"), "partitions  4 ");
}

/* What a plan printed. */
struct Plan {
    uint64_t parts = 0, resident = 0, streams = 0, walks = 0, rounds = 0;
    double transfers = 0, asking = 0;
    bool whole = false, in_turn = false;
};

double number_after(const std::string &text, const std::string &words) {
    const size_t at = text.find(words);
    EXPECT_NE(at, std::string::npos) << words << "\nis not in\n" << text;
    return at == std::string::npos ? 0 : atof(text.c_str() + at + words.size());
}

Plan read_plan(const std::string &text) {
    Plan plan;
    plan.parts = static_cast<uint64_t>(number_after(text, "\npartitions  "));
    plan.whole = text.find("fit as they are\n") != std::string::npos;
    if (plan.whole) return plan;
    plan.resident = static_cast<uint64_t>(number_after(text, "\nresident    "));
    plan.streams = static_cast<uint64_t>(number_after(text, " of them on "));
    plan.in_turn = text.find(", in turn, past those at which nothing waits\n") != std::string::npos;
    plan.walks = static_cast<uint64_t>(number_after(text, "\nwalks       "));
    plan.rounds = static_cast<uint64_t>(number_after(text, "of the job, in "));
    plan.transfers = number_after(text, "if arcs may lead anywhere: about ");
    if (plan.resident < plan.parts) plan.asking = number_after(text, "ask at the partition before: about ");
    return plan;
}

/* Of samples. */
struct Samples {
    uint64_t parts = 0, resident = 0, batches = 0, batch = 0, times = 0;
    double transfers = 0;
};

Samples read_samples(const std::string &text) {
    Samples out;
    out.parts = static_cast<uint64_t>(number_after(text, "\nsamples     of 15 and 10 neighbours of each vertex: "));
    const std::string rest = text.substr(std::min(text.find("\nsamples     "), text.size()));
    out.resident = static_cast<uint64_t>(number_after(rest, " partitions, "));
    out.batches = static_cast<uint64_t>(number_after(rest, " resident; "));
    out.batch = static_cast<uint64_t>(number_after(rest, " batches of at most "));
    out.times = static_cast<uint64_t>(number_after(rest, "share what is brought: "));
    out.transfers = number_after(rest, "needs all of it: about ");
    return out;
}

/* A ring of 200,000 vertices, both ways, 16 * 200,000 + 8 bytes, in so much memory: the walks that find room beside
 * a division's slots, degrees and tables, and what they bring. */
struct Ring {
    uint64_t memory, steps, walks;
    uint64_t left(uint64_t parts, uint64_t resident) const { // bytes
        const uint64_t taken = resident * ((3200008 + parts - 1) / parts + 24) + 800000 + parts * 268;
        return taken < memory ? memory - taken : 0;
    }
    uint64_t room(uint64_t parts, uint64_t resident) const { return left(parts, resident) / 64; } // walks
    uint64_t rounds(uint64_t together) const { return (walks + together - 1) / together; }
    double brings(uint64_t parts, uint64_t resident, uint64_t together, bool asks) const {
        const double half_turns = asks ? 3.0 * static_cast<double>(steps) - 2 : static_cast<double>(steps);
        if (resident == parts) return static_cast<double>(parts);
        return static_cast<double>(rounds(together)) *
               (static_cast<double>(parts) + static_cast<double>(parts - resident) * half_turns / 2);
    }
    /* The fewest transfers of any division with two slots at least, so that one is filled while the other runs; each
     * costs 4 MiB and next to nothing for its bytes. */
    double fewest() const {
        double least = 1e300;
        for (uint64_t parts = 2; parts <= 200; parts++)
            for (uint64_t resident = 2; resident <= 4 && resident <= parts; resident++) {
                const uint64_t together = std::min(room(parts, resident), walks);
                if (together) least = std::min(least, brings(parts, resident, together, true));
            }
        return least;
    }
    /* A sample's 15 and 10 neighbours are 2 of its seed's, and 2 of each of these. One of a batch takes twice 24 bytes
     * for each of these 6 arcs, for 1, and once more; and of those before, 2 arcs in each of 8 batches, and none in 8
     * more, four times as much of the same: 2 * 192 + 32 * 96 + 32 * 48. */
    uint64_t samples(uint64_t parts, uint64_t resident) const { return left(parts, resident) / 4992; }
    /* Lots of 8 batches, each a depth behind the one before: 2 depths of the first, one more for each other. */
    static uint64_t times(uint64_t batches) { return (batches + 7) / 8 + 1; }
    static double sampling(uint64_t parts, uint64_t resident, uint64_t batches) {
        return static_cast<double>(parts + (times(batches) - 1) * (parts - resident));
    }
    double fewest_sampling() const {
        double least = 1e300;
        for (uint64_t parts = 2; parts <= 200; parts++)
            for (uint64_t resident = 2; resident <= 4 && resident < parts; resident++)
                if (const uint64_t batch = samples(parts, resident))
                    least = std::min(least, sampling(parts, resident, (199999 + batch) / batch));
        return least;
    }
};

/* What the plan says of each fits the memory, is counted right, and brings at most a quarter more than the best of all
 * divisions, which are tried here one by one. */
TEST_F(CliPlan, twenty_situations) {
    std::string lines;
    for (int v = 0; v < 200000; v++) lines += std::to_string(v) + " " + std::to_string((v + 1) % 200000) + "\n";
    write("large.txt", lines);
    ASSERT_EQ(run("convert large.txt large.csaw --undirected").code, 0);
    int situations = 0, whole = 0, in_turn = 0, loaded_first = 0;
    for (uint64_t kib : {1280, 1536, 2048, 3072, 8192})
        for (uint64_t steps : {8, 80})
            for (uint64_t walks : {1, 10}) {
                const Ring ring = {kib << 10, steps, 200000 * walks};
                const std::string words = "plan large.csaw --describe gpu=1,memory=16GiB --gpu-memory " +
                                          std::to_string(kib) + "KiB --walk-length " + std::to_string(steps) +
                                          " --num-walks " + std::to_string(walks);
                SCOPED_TRACE(words);
                const Outcome got = run(words);
                ASSERT_EQ(got.code, 0) << got.err;
                const Plan plan = read_plan(got.out);
                situations++;
                whole += plan.whole;
                if (plan.whole) {
                    EXPECT_GE(ring.memory, 3200008u + 64);
                    continue;
                }
                const uint64_t together = std::min(plan.walks, ring.walks);
                EXPECT_LE(plan.walks, ring.room(plan.parts, plan.resident));
                EXPECT_LE(plan.streams, plan.resident);
                EXPECT_EQ(plan.rounds, ring.rounds(together));
                EXPECT_EQ(plan.transfers, ring.brings(plan.parts, plan.resident, together, false));
                EXPECT_EQ(plan.asking, ring.brings(plan.parts, plan.resident, together, true));
                EXPECT_LE(plan.asking, 1.25 * ring.fewest());
                EXPECT_EQ(plan.in_turn, plan.parts > 4 * plan.resident);
                in_turn += plan.in_turn;
                loaded_first += !plan.in_turn;
                const Samples samples = read_samples(got.out);
                EXPECT_LE(samples.batch, ring.samples(samples.parts, samples.resident));
                EXPECT_GE(samples.batch + 1, ring.samples(samples.parts, samples.resident)) << "memory is left";
                EXPECT_EQ(samples.batches, (199999 + samples.batch) / samples.batch);
                EXPECT_EQ(samples.times, Ring::times(samples.batches));
                EXPECT_EQ(samples.transfers, Ring::sampling(samples.parts, samples.resident, samples.batches));
                EXPECT_LE(samples.transfers, 1.25 * ring.fewest_sampling());
                Expect(got, "\nlocked      the graph's 3.1 MiB of the host's memory, if that has room for them\n");
            }
    EXPECT_EQ(situations, 20);
    EXPECT_EQ(whole, 4);
    EXPECT_GT(in_turn, 0);
    EXPECT_GT(loaded_first, 0);
}

/* 2,800 vertices in a ring, joined to the 125 before and behind: 250 candidates in a vertex's layer, of which 32 are
 * taken, and 32 * 250 in the layer that these have. 2,800 rows of 8 bytes, 700,000 arcs of 4 and a last offset are
 * 2,822,408 bytes. A depth is read in place if its candidates, 4 bytes each, 2.3 times, take no longer than three
 * passes, N + 2 (N - R) partitions, 1.5 times, but for layers of more candidates than there are 32 bytes for in a
 * quarter of less than the memory: here all of them, or none. */
TEST_F(CliPlan, layers_are_exchanged_or_read_in_place) {
    std::string lines;
    for (int v = 0; v < 2800; v++)
        for (int i = 1; i <= 125; i++) lines += std::to_string(v) + " " + std::to_string((v + i) % 2800) + "\n";
    write("wide.txt", lines);
    std::string verdicts;
    for (const uint64_t memory : {104, 192, 2450}) {
        const Outcome got = run("plan wide.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory " +
                                std::to_string(memory) + "KiB");
        const std::string said = got.out.substr(std::min(got.out.find("\nlayers      "), got.out.size()));
        const auto number = [&](const char *words) { return static_cast<uint64_t>(number_after(said, words)); };
        const uint64_t parts = number("\nlayers      "), resident = number(" partitions, ");
        const uint64_t most = number("or in place, where a depth has at most "),
                       largest = number("but for layers of more than ");
        const uint64_t batch = number("by biases, of 32 and 32 arcs from each vertex, ");
        EXPECT_NEAR(static_cast<double>(most) * 4 * 2.3,
                    static_cast<double>(parts + 2 * (parts - resident)) * 2822408 / static_cast<double>(parts) * 1.5,
                    10);
        EXPECT_LT(largest * 128, memory << 10);
        EXPECT_GT(largest * 128, memory << 8);
        for (const uint64_t of_one : {250, 32 * 250}) {
            const bool many = batch * of_one > most, large = of_one > largest;
            const std::string verdict = large  ? "exchanged, since each is too large"
                                        : many ? "exchanged, since they are many"
                                               : "in place, since they are few";
            Expect(got, "depth " + std::to_string(of_one > 250) + " has about " + std::to_string(batch * of_one) +
                            " candidates, " + std::to_string(of_one) + " a layer" +
                            (of_one > 250 ? "" : " and 250 in the largest") + ": " + verdict);
            verdicts += verdict;
        }
    }
    for (const char *each : {"many", "large", "few"}) EXPECT_NE(verdicts.find(each), std::string::npos) << each;
    Expect(
        run("plan wide.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 200KiB --resident 2"),
        "\n            for each depth, and none is read in place, since partitions, resident or streams were given\n");
}

/* A star: vertices have 2 arcs on average, its middle 20,000, for which a launch has no memory: the engine exchanges
 * that one layer, so the plan says so. The next layer is of the middle alone. */
TEST_F(CliPlan, a_hubs_layer_has_a_way_of_its_own) {
    std::string star;
    for (int v = 1; v <= 20000; v++) star += "0 " + std::to_string(v) + "\n";
    write("star.txt", star);
    const Outcome got = run("plan star.txt --undirected --describe gpu=1,memory=16GiB --gpu-memory 260KiB");
    Expect(got, " 2 a layer and 20000 in the largest: in place, since they are few, but 1 too large, exchanged;");
    Expect(got, " 20000 a layer: exchanged, since each is too large\n");
}

/* 104 + 10001 * 4 bytes. */
TEST_F(CliPlan, one_walk_fits_or_the_plan_is_refused) {
    const std::string rest = "ring.txt --undirected --gpu-memory 16KiB --device simulated --walk-length ";
    for (const char *command : {"plan ", "walk "}) {
        const Outcome got = run(command + rest + "10000");
        EXPECT_EQ(got.code, 1) << command;
        EXPECT_EQ(got.out, "");
        EXPECT_NE(got.err.find("an instance of 10000 steps takes 40108 bytes, but "), std::string::npos) << got.err;
        EXPECT_EQ(run(command + rest + "10").code, 0) << command;
    }
}

/* What a refusal names is the GPU's memory, as it is described, or gpu_memory, if that is what bounds it. */
TEST_F(CliPlan, what_a_refusal_names_is_enough) {
    for (const std::string before : {"--describe gpu=1,memory=", "--describe gpu=1,memory=1GiB --gpu-memory "}) {
        const std::string words = "plan ring.txt --undirected --partitions 4 " + before;
        const Outcome got = run(words + "5KiB");
        const size_t at = got.err.find("; give ");
        EXPECT_EQ(got.code, 1);
        ASSERT_NE(at, std::string::npos) << got.err;
        const int kib = atoi(got.err.c_str() + at + 7);
        EXPECT_EQ(run(words + std::to_string(kib) + "KiB").code, 0) << got.err;
        EXPECT_EQ(run(words + std::to_string(kib - 1) + "KiB").code, 1) << got.err;
    }
}

/* 300 walks of 2^18 bytes are 78.6 MB, more than the 64 MiB of a batch that stays. Where parts come and go they are one
 * batch, so that nothing is kept when the file may not grow beyond 71.7 MB; of the graph in memory 256 are. */
TEST_F(CliPlan, a_batch_is_what_is_under_way_together) {
    write("arc.txt", "0 1\n");
    write("end.txt", "1\n");
    const std::string words =
        "walk arc.txt --seeds end.txt --num-walks 300 --walk-length 65535 --algo uniform -o w.bin "
        "--device simulated --gpu-memory 1GiB";
    const std::string limit = "ulimit -f 140000; trap '' XFSZ; ";
    Outcome got = run(words + " --partitions 2 --resident 1", limit);
    EXPECT_EQ(got.code, 1) << got.err;
    EXPECT_NE(got.err.find("writing failed after 71680000 bytes"), std::string::npos) << got.err;
    EXPECT_EQ(got.err.find("are kept"), std::string::npos) << got.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "w.bin.resume"));
    got = run(words, limit);
    EXPECT_EQ(got.code, 1) << got.err;
    EXPECT_NE(read("w.bin.resume").find("walks 256\n"), std::string::npos) << got.err;
}

/* 10 walks from each of 1000 vertices: 3334 of them at most for one of three. */
TEST_F(CliPlan, several_gpus_that_are_not_here) {
    const std::string words = "plan ring.txt --undirected --describe gpu=3,memory=16GiB";
    Expect(run(words), "\ngpus        3: of every batch each draws one of as many equal groups, in this order");
    Expect(run(words), "device      each GPU has 16384.0 MiB and need not be here, a tenth of it left to the driver\n");
    Expect(run(words + " --gpu-memory 16KiB --partitions 4"), "partitions  4 contiguous ranges");
    Expect(run("plan ring.txt --undirected --device cuda:0,cuda:1 --describe memory=16GiB"), "\ngpus        2: ");
    Expect(run(words + " --split"), "\nsplit       over them: each holds ");
    Expect(run(words + " --split --exchange"), "\nexchange    walkers go to the GPU that has their row, 32 bytes");
    Expect(run("plan ring.txt --undirected --describe gpu=1,memory=1GiB --num-walks 3"), "walks       3000 of them");
    Expect(run("plan ring.txt --undirected --describe gpu=3,memory=1GiB --num-walks 3"), "walks       1000 of them");
    Expect(run("plan ring.txt --undirected --describe gpu=3,memory=1GiB --num-walks 10"), "walks       3334 of them");
}

TEST_F(CliPlan, wrong_descriptions) {
    for (const char *words :
         {"gpu=1", "memory=4GiB,gpu=17", "gpu=2", "gpu=1,memory=4", "gpu=1,memory=0", "gpu=1;memory=4GiB", "memory",
          "memory=4GB", "memory=99999999999999999999", "memory=16777216TiB"}) {
        const Outcome got = run(std::string("plan ring.txt --describe '") + words + "'");
        if (std::string(words) == "gpu=1,memory=4") { // 4 bytes: read, and too little
            EXPECT_EQ(got.code, 1) << words;
            EXPECT_NE(got.err.find("too little"), std::string::npos) << got.err;
        } else {
            EXPECT_EQ(got.code, 2) << words;
            EXPECT_NE(got.err.find("memory=16GiB"), std::string::npos) << got.err;
        }
    }
    EXPECT_EQ(run("plan ring.txt --device cuda:0 --describe gpu=2,memory=4GiB").code, 2);
    EXPECT_EQ(run("plan ring.txt --gpu-memory 4").code, 1) << "of the cpu";
    const Outcome gpu = run("plan ring.txt --device cuda:0 --gpu-memory 4KiB"); // 4 KB of which are for degrees
    EXPECT_EQ(gpu.code, 1);
    EXPECT_NE(gpu.err.find("4.0 KiB of GPU memory are too little: "), std::string::npos) << gpu.err;
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
