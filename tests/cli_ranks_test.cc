/* SPDX-License-Identifier: MIT */
/* tests/cli_ranks_test.cc - csaw under mpirun: the bytes of one process, messages said once and by rank, a rank that is
 * killed and a job that another number of ranks completes. Skipped where mpirun or csaw's MPI is absent. */
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli_run.h"

namespace {

class CliRanks : public Cli {
  protected:
    void SetUp() override {
        Cli::SetUp();
        if (run("--version").out.find("mpi") == std::string::npos) GTEST_SKIP() << "csaw was built without MPI";
        if (system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not here (openmpi-bin)";
        const char *const settings[][2] = {
            {"OMPI_MCA_rmaps_base_oversubscribe", "1"}, {"OMPI_MCA_hwloc_base_binding_policy", "none"},
            {"OMPI_MCA_mpi_yield_when_idle", "1"},      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
            {"OMPI_MCA_orte_base_help_aggregate", "0"}};
        for (const auto &[name, value] : settings) setenv(name, value, 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1", 1); // MPI's own, of libraries it unloads
    }
    static std::string on(int ranks) { return "timeout 60 mpirun -n " + std::to_string(ranks); }
    static size_t times(const std::string &text, const std::string &word) {
        size_t count = 0;
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) count++;
        return count;
    }
    void kill_and_complete(const std::string &walk, const std::string &split);
};

TEST_F(CliRanks, walks_and_samples_are_those_of_one_process) {
    const std::string walk = "walk " + lesmis + " --num-walks 3 --p 0.5 --batch 40 -o ";
    const std::string sample = "sample " + lesmis + " --fanout 4,2 --batch-size 5 -o ";
    ASSERT_EQ(run(walk + "one.txt").code, 0);
    ASSERT_EQ(run(walk + "one.npy --edges").code, 0);
    ASSERT_EQ(run(sample + "sample.txt").code, 0);
    Outcome got = run(walk + "three.txt", on(3));
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(read("three.txt"), read("one.txt"));
    EXPECT_EQ(times(got.err, "steps   "), 1u) << got.err;
    EXPECT_EQ(times(got.err, "on cpu of 3 ranks"), 1u) << got.err;
    got = run(walk + "-", on(2));
    EXPECT_EQ(got.out, read("one.txt"));
    got = run(walk + "five.npy --edges --json", on(5));
    EXPECT_EQ(read("five.npy"), read("one.npy"));
    EXPECT_EQ(times(got.out, "\"ranks\": 5"), 1u) << got.out;
    EXPECT_NE(got.out.find("\"steps\": 18480"), std::string::npos) << got.out; // 77 * 3 * 80
    EXPECT_EQ(run(sample + "two.txt", on(2)).code, 0);
    EXPECT_EQ(read("two.txt"), read("sample.txt"));
}

// A rank, or several, each with a part of the graph.
TEST_F(CliRanks, a_split_graph_gives_the_bytes_of_one_process) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "0",
           1); // ranks look and nap; on a busy machine a yield at each look starves them
    ASSERT_EQ(run("convert " + lesmis + " g.csaw").code, 0);
    for (const std::string words :
         {"walk g.csaw --algo uniform --num-walks 3 ", "walk g.csaw --p 0.5 --q 2 --edges --batch 40 ",
          "walk g.csaw --sampler '" CSAW_SOURCE_DIR "/tests/samplers/restart.c' --num-walks 2 ",
          "sample g.csaw --fanout 4,2 --batch-size 5 "}) {
        ASSERT_EQ(run(words + "-o one.txt").code, 0);
        EXPECT_GT(read("one.txt").size(), 1000u);
        for (int ranks : {1, 2, 3}) {
            const Outcome got = run(words + "--split -o split.txt", on(ranks));
            EXPECT_EQ(got.code, 0) << got.err;
            EXPECT_TRUE(read("split.txt") == read("one.txt")) << words << ranks << " ranks";
            EXPECT_EQ(times(got.err, "ranks, the graph split over them"), ranks > 1 ? 1u : 0u) << got.err;
            std::filesystem::remove(folder / "split.txt");
        }
        const Outcome by_visits = run(words + "--split --by-visits -o split.txt", on(3));
        EXPECT_EQ(by_visits.code, 0) << by_visits.err;
        EXPECT_TRUE(read("split.txt") == read("one.txt")) << words << "by visits";
        std::filesystem::remove(folder / "split.txt");
    }
}

// Of a text each rank parses a share.
TEST_F(CliRanks, a_text_that_is_split_gives_the_bytes_of_one_process) {
    ASSERT_EQ(run("generate rmat --scale 8 --weighted -o g.txt").code, 0);
    for (const std::string words :
         {"walk g.txt --p 0.5 --q 2 --num-walks 2 ", "walk g.txt --algo biased --select alias --undirected --edges ",
          "sample g.txt --fanout 4,2 --batch-size 5 ", "sample g.txt --fanout 4,2 --batch-size 5 --plain "}) {
        ASSERT_EQ(run(words + "-o one.txt").code, 0);
        EXPECT_GT(read("one.txt").size(), 1000u);
        for (const std::string split : {"--split -o split.txt", "--split --by-visits -o split.txt"}) {
            const Outcome got = run(words + split, on(3));
            EXPECT_EQ(got.code, 0) << got.err;
            EXPECT_TRUE(read("split.txt") == read("one.txt")) << words << split;
            EXPECT_EQ(times(got.err, "ranks, the graph split over them"), 1u) << got.err;
            std::filesystem::remove(folder / "split.txt");
        }
    }
    write("bad.txt", read("g.txt") + "3 4 no\n5 6 never\n");
    const std::string said = run("walk bad.txt -o w.txt").err;
    EXPECT_NE(said.find("'3 4 no'"), std::string::npos) << said;
    const Outcome got = run("walk bad.txt --split -o w.txt", on(3));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, said), 1u) << got.err;
    EXPECT_EQ(times(got.err, "rank 2 on"), 0u) << got.err;
}

TEST_F(CliRanks, what_a_split_graph_cannot_be_is_said_once) {
    const std::string other = " : -n 1 '" CSAW_PROGRAM "' ";
    ASSERT_EQ(run("generate rmat --scale 6 --seed 1 -o a.csaw").code, 0);
    ASSERT_EQ(run("generate rmat --scale 6 --seed 2 -o b.csaw").code, 0);
    Outcome got = run("walk a.csaw --split -o w.txt" + other + "walk b.csaw --split -o w.txt", on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: rank 2 has another graph than rank 0"), 1u) << got.err;
    got = run("walk a.csaw --split -o w.txt" + other + "walk a.csaw -o w.txt", on(1));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: rank 1 has another choice of split than rank 0"), 1u) << got.err;
    got = run("walk a.csaw --split -o w.txt" + other + "walk gone.csaw --split -o w.txt", on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "rank 2 on "), 1u) << got.err;
    EXPECT_EQ(times(got.err, "gone.csaw"), 1u) << got.err;
    got = run("walk a.csaw --split -o w.txt" + other + "walk a.csaw --split --by-visits -o w.txt", on(1));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "rank 1 has another choice of by_visits than rank 0; give it to all ranks or to none"), 1u)
        << got.err;
    got = run("walk a.csaw --by-visits -o w.txt");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("give split, or leave it out"), std::string::npos) << got.err;
    got = run("walk a.csaw --split --by-visits --device cuda:0,cuda:0 -o w.txt");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("with 2 GPUs they hold it together"), std::string::npos) << got.err;
    got = run("walk a.csaw --split --threads 2 -o w.txt", on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: split is for ranks that each step on one thread"), 1u) << got.err;
    got = run("walk a.csaw --split --check -o w.txt", on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "needs the whole graph in sight"), 1u) << got.err;
    EXPECT_FALSE(exists("w.txt"));
    EXPECT_FALSE(exists("w.txt.part"));
}

// Two builds of one version, of which one says another number. The library is found by the environment before the path
// that the program was linked with.
TEST_F(CliRanks, builds_that_do_not_understand_each_other_are_told) {
    std::string library = read_all(CSAW_LIBRARY);
    const std::string number = "csaw protocol ";
    const size_t at = library.find(number);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(library.find(number, at + 1), std::string::npos);
    library[at + number.size()] ^= 8;
    std::filesystem::create_directory(folder / "other");
    const std::string name = std::filesystem::path(CSAW_LIBRARY).filename().string();
    std::ofstream(folder / "other" / name.substr(0, name.find(".so") + 5), std::ios::binary) << library;
    ASSERT_EQ(run("generate rmat --scale 6 -o a.csaw").code, 0);
    std::ofstream(folder / "bad.txt") << "0 1\n1 no\n2 0\n2 3 x\n"; // which they do not come to read together
    for (const std::string what : {"a.csaw", "a.csaw --split", "bad.txt --columns src,dst,weight --split"}) {
        const std::string walk = "walk " + what + " -o w.txt";
        const Outcome got =
            run(walk + " : -n 1 env LD_LIBRARY_PATH='" + (folder / "other").string() + "' '" CSAW_PROGRAM "' " + walk,
                on(2));
        EXPECT_EQ(got.code, 1);
        EXPECT_EQ(times(got.err, "csaw: rank 2 has another protocol between ranks than rank 0; install the same build"),
                  1u)
            << got.err;
        EXPECT_FALSE(exists("w.txt"));
    }
}

TEST_F(CliRanks, messages_come_once_and_name_the_rank) {
    Outcome got = run("walk gone.txt -o w.txt", on(3));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: gone.txt: cannot be opened"), 1u) << got.err;
    EXPECT_EQ(times(got.err, "rank 0 on "), 0u) << got.err;
    got = run("walk " + karate + " --bogus", on(3));
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(times(got.err, "there is no option --bogus"), 1u) << got.err;
    got = run("info " + karate, on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: info works in one process, but 2 were started"), 1u) << got.err;
    got = run("sample " + karate + " --fanout 2 -o s.npz", on(2));
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(times(got.err, "let several write text"), 1u) << got.err;
    // one rank alone
    const std::string other = " : -n 1 '" CSAW_PROGRAM "' ";
    got = run("walk " + karate + " -o w.txt" + other + "walk gone.txt -o w.txt", on(2));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "rank 2 on "), 1u) << got.err;
    EXPECT_EQ(times(got.err, "csaw: gone.txt: cannot be opened"), 1u) << got.err;
    got = run("walk " + karate + " -o w.txt" + other + "walk " + lesmis + " -o w.txt", on(1));
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(times(got.err, "csaw: rank 1 has another graph than rank 0"), 1u) << got.err;
    got = run("walk " + karate + " -o w.txt" + other + "sample " + karate + " --fanout 2 -o w.txt", on(1));
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(times(got.err, "give all ranks the same command"), 1u) << got.err;
    got = run("walk " + karate + " -o w.txt" + other + "walk --help", on(2));
    EXPECT_EQ(got.code, 2);
    EXPECT_EQ(times(got.err, "csaw: rank 2 has come to its end, but rank 0 has not; give all ranks the same options"),
              1u)
        << got.err;
    EXPECT_FALSE(exists("w.txt"));
    EXPECT_FALSE(exists("w.txt.part"));
}

TEST_F(CliRanks, a_plan_says_how_work_is_divided) {
    // 34 vertices, 156 arcs: 34 * 8 + 156 * 4 = 896 bytes; 340 walks, 21.25 a rank, of 81 * 4 bytes
    const std::string line =
        "\nranks       16, each with the whole graph: 21 .. 22 walks each, in 1 round; host memory "
        "of each: 896 bytes of graph, 7.0 KiB of a batch\n";
    Outcome got = run("plan " + karate + " --describe ranks=16");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find(line), std::string::npos) << got.out;
    EXPECT_EQ(run("plan " + karate).out.find("\nranks"), std::string::npos);
    got = run("plan " + karate, on(2));
    EXPECT_EQ(times(got.out, "\nranks       2, each with the whole graph: 170 .. 170 walks each"), 1u) << got.out;
    EXPECT_EQ(run("plan " + karate + " --describe ranks=0").code, 2);
}

TEST_F(CliRanks, a_plan_says_what_a_split_graph_takes_and_sends) {
    // vertices 0 .. 16 have 80 of the 156 arcs: 17 * 8 + 80 * 4 = 456 bytes, of 896. An arc that may lead anywhere
    // leaves with 1 - (80^2 + 76^2) / 156^2 = 0.49967; 0.49967 * (16 + 24 * 79 / 80) = 19.837 bytes a step, 340 * 80
    // steps
    const std::string lines =
        "\nranks       2, the graph split over them by bytes: 17 .. 17 vertices each, 456 bytes of rows and arcs at "
        "most; 170 "
        ".. "
        "170 walks each, in 1 round\n"
        "memory      of each rank besides: 136 bytes of degrees of all vertices, 53.8 KiB of a batch, 512.0 KiB to "
        "send "
        "by; at most 256.0 MiB of walkers and, of what other ranks ask, 64.0 MiB of answers or of entries\n"
        "exchange    if arcs may lead anywhere 50.0% of steps end at another rank: about 19.8 bytes a step, 526.9 KiB "
        "in "
        "all; of second-order walks by reject about twice that\n"
        "device      cpu, 1 thread\n";
    Outcome got = run("plan " + karate + " --split --describe ranks=2");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find(lines), std::string::npos) << got.out;
    got = run("plan " + karate + " --split", on(2));
    EXPECT_EQ(times(got.out, lines), 1u) << got.out << got.err;
    EXPECT_EQ(run("plan " + karate + " --split").out, run("plan " + karate).out); // of one process it says nothing
    got = run("plan " + karate + " --split --describe ranks=2,gpu=1,memory=660"); // of which 594 bytes may be taken
    EXPECT_NE(got.out.find("592 bytes for its part and degrees"), std::string::npos) << got.out << got.err;
    got = run("plan " + karate + " --split --describe ranks=2,gpu=1,memory=650");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("take 592 bytes, but of a GPU 585 bytes are to be had; describe more ranks"),
              std::string::npos)
        << got.err;
    got = run("plan " + karate + " --split --describe ranks=2,gpu=2,memory=1GiB"); // the GPUs of each rank
    EXPECT_NE(got.out.find("\nsplit       over them: each holds "), std::string::npos) << got.out << got.err;
    EXPECT_EQ(run("plan " + karate + " --split --describe ranks=100000").code, 1);
    std::ofstream star(folder / "star.txt"); // whose hub has half of the arcs
    for (int leaf = 1; leaf <= 100; leaf++) star << "0 " << leaf << "\n";
    star.close();
    got = run("plan star.txt --undirected --split --by-visits --describe ranks=2");
    EXPECT_NE(got.out.find("\nranks       2, the graph split over them by arcs: 1 .. 100 vertices each, "),
              std::string::npos)
        << got.out << got.err;
}

#ifdef CSAW_RANKS_EXAMPLE
TEST_F(CliRanks, the_example_writes_what_the_program_writes) {
    const std::string graph = "'" CSAW_SOURCE_DIR "/data/karate.txt'", program = " '" CSAW_RANKS_EXAMPLE "' ";
    ASSERT_EQ(run("walk " + karate + " --walk-length 40 --p 4 --seed 7 -o w.txt").code, 0);
    const std::string shell = "cd '" + folder.string() + "' && " + on(3) + program + graph + " e.txt >.out 2>.err";
    EXPECT_EQ(system(shell.c_str()), 0) << read(".err");
    EXPECT_EQ(read("e.txt"), read("w.txt"));
}
#endif

// A rank is killed in the middle: the job ends at once and the launcher says which; other numbers of ranks complete it.
void CliRanks::kill_and_complete(const std::string &walk, const std::string &split) {
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "5", 1); // rank 0 has time to speak on a loaded machine
    write("start", "echo $$ > pid.$OMPI_COMM_WORLD_RANK\nexec '" CSAW_PROGRAM "' \"$@\"\n");
    ASSERT_EQ(run("generate rmat --scale 8 --seed 3 -o g.csaw").code, 0);
    ASSERT_EQ(run(walk + "-o whole.txt").code, 0);
    for (const auto &[ranks, victim] : {std::pair(3, 2), std::pair(5, 0)}) {
        const std::string before = read("w.txt.resume"),
                          line = walk + split + (before.empty() ? "" : "--resume ") + "-o w.txt";
        std::chrono::steady_clock::time_point killed;
        std::thread killer([&, victim = victim] {
            const auto finished = [&] { // a round more than before is on disk
                const std::string now = read("w.txt.resume");
                return now != before && now.find("\nwalks ") != std::string::npos &&
                       now.find("\nwalks 0\n") == std::string::npos;
            };
            for (int i = 0; i < 24000 && !finished(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            killed = std::chrono::steady_clock::now();
            kill(atoi(read("pid." + std::to_string(victim)).c_str()), SIGKILL);
        });
        const std::string shell =
            "cd '" + folder.string() + "' && " + on(ranks) + " sh start " + line + " >.out 2>.err";
        const int status = system(shell.c_str());
        killer.join();
        EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(20));
        EXPECT_NE(status, 0);
        const std::string err = read(".err");
        EXPECT_EQ(times(err, "process rank " + std::to_string(victim)), 1u) << err; // mpirun's
        EXPECT_EQ(times(err, "walks are kept in w.txt.part"), victim == 0 ? 0u : 1u) << err;
        EXPECT_EQ(times(err, "Go on, with as many ranks as you like: csaw walk --resume"), victim == 0 ? 0u : 1u)
            << err;
        EXPECT_FALSE(exists("w.txt"));
        EXPECT_TRUE(exists("w.txt.resume"));
    }
    const Outcome got = run(walk + split + "--resume -o w.txt", on(2));
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(times(got.err, "resumed "), 1u) << got.err;
    EXPECT_TRUE(read("w.txt") == read("whole.txt"));
    EXPECT_FALSE(exists("w.txt.part"));
}

TEST_F(CliRanks, a_killed_rank_ends_the_job_and_others_complete_it) {
    kill_and_complete("walk g.csaw --num-walks 1500 --walk-length 20 --batch 200 --threads 1 ", "");
}

TEST_F(CliRanks, a_killed_rank_with_its_part_of_a_graph_ends_the_job_too) {
    kill_and_complete("walk g.csaw --num-walks 800 --walk-length 4 --batch 200 --threads 1 ", "--split ");
}

} // namespace
