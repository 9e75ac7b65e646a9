/* SPDX-License-Identifier: MIT */
/* tests/cli_output_test.cc - what csaw walk writes and how it goes on after a stop, csaw bench and csaw devices. Walks
 * on a directed cycle and on a path are forced, so their bytes are known without the program. */
#include <csaw/csaw.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <regex>
#include <thread>
#include <vector>

#include "cli_run.h"

namespace {

template <typename T> std::string bytes_of(const std::vector<T> &entries) {
    return std::string(reinterpret_cast<const char *>(entries.data()), entries.size() * sizeof(T));
}

/* ---- formats ---- */

TEST_F(Cli, formats_hold_the_same_walks) {
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    const std::string words = "walk cycle.txt --walk-length 2 --num-walks 1 --algo uniform ";
    const std::string array = bytes_of<uint32_t>({0, 1, 2, 1, 2, 0, 2, 0, 1});
    for (const char *output : {"-o w.txt", "-o w.npy", "-o w.bin", "-o w.dat --output-format bin",
                               "-o w.raw --output-format npy", "-o t.npy --output-format text"})
        ASSERT_EQ(run(words + output).code, 0) << output;
    EXPECT_EQ(read("w.txt"), "0 1 2\n1 2 0\n2 0 1\n");
    EXPECT_EQ(read("t.npy"), "0 1 2\n1 2 0\n2 0 1\n");
    EXPECT_EQ(read("w.bin"), array);
    EXPECT_EQ(read("w.dat"), array);
    EXPECT_EQ(read("w.npy").substr(128), array);
    EXPECT_EQ(read("w.raw"), read("w.npy"));
    EXPECT_EQ(run(words + "--output-format bin").out, array);
    EXPECT_FALSE(exists("w.txt.part"));
    EXPECT_FALSE(exists("w.txt.resume"));
}

/* Arc e of the cycle leaves vertex e; on the path vertex 1 is a dead end. */
TEST_F(Cli, edges_are_numbers_of_arcs) {
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    write("path.txt", "0 1\n");
    const std::string words = "walk cycle.txt --edges --walk-length 4 --num-walks 1 --algo uniform ";
    EXPECT_EQ(run(words).out, "0 1 2 0\n1 2 0 1\n2 0 1 2\n");
    ASSERT_EQ(run(words + "-o e.npy").code, 0);
    EXPECT_EQ(read("e.npy").substr(128), bytes_of<uint64_t>({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
    EXPECT_NE(read("e.npy").find("'descr': '<u8', 'fortran_order': False, 'shape': (3, 4)"), std::string::npos);
    EXPECT_EQ(run("walk path.txt --edges --walk-length 2 --num-walks 1 --algo uniform").out, "0\n\n");
    EXPECT_EQ(run("walk path.txt --edges --walk-length 2 --num-walks 1 --algo uniform --output-format bin").out,
              bytes_of<uint64_t>({0, CSAW_NO_EDGE, CSAW_NO_EDGE, CSAW_NO_EDGE}));
}

TEST_F(Cli, text_has_the_names_of_the_graph) {
    write("numbers.txt", "70 -5\n-5 9000000000\n9000000000 70\n");
    write("words.txt", "Valjean Cosette\nCosette Marius\nMarius Valjean\n");
    write("n.seeds", "9000000000 -5\n");
    write("w.seeds", "# start\nMarius,Cosette\n");
    write("bad.seeds", "Marius\nJavert\n");
    const std::string rest = " --walk-length 2 --num-walks 1 --algo uniform ";
    EXPECT_EQ(run("walk numbers.txt --seeds n.seeds" + rest).out, "9000000000 70 -5\n-5 9000000000 70\n");
    EXPECT_EQ(run("walk words.txt --seeds w.seeds" + rest).out, "Marius Valjean Cosette\nCosette Marius Valjean\n");
    EXPECT_EQ(run("walk words.txt --seeds w.seeds --output-format bin" + rest).out,
              bytes_of<uint32_t>({1, 2, 0, 0, 1, 2})); /* names ascending: Cosette, Marius, Valjean */
    Outcome got = run("walk words.txt --seeds bad.seeds" + rest);
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(got.err.rfind("csaw: bad.seeds line 2: ", 0), 0u) << got.err;
    EXPECT_NE(got.err.find("Javert"), std::string::npos) << got.err;
}

TEST_F(Cli, batches_are_not_seen_in_the_walks) {
    const std::string words = "walk " + lesmis + " --p 0.5 --num-walks 3 --seed 4 --threads 1";
    const std::string whole = run(words).out;
    EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 3 * 77);
    for (const char *batch : {" --batch 1", " --batch 7", " --batch 230", " --batch 1099511627776"})
        EXPECT_EQ(run(words + batch).out, whole) << batch;
}

/* ---- wrong lines ---- */

TEST_F(Cli, wrong_lines_about_output) {
    write("g.txt", "0 1\n");
    const struct {
        const char *words, *message;
        int code;
    } cases[] = {
        {"walk g.txt --resume",
         "csaw walk: --resume: standard output cannot be gone on with; name the file with -o FILE\n"
         "See: csaw help walk\n",
         2},
        {"walk g.txt --resume -o w.txt --draw w.svg",
         "csaw walk: --draw shows the first walks, and --resume makes only the rest; drop one\nSee: csaw help walk\n",
         2},
        {"walk g.txt --output-format csv",
         "csaw walk: --output-format csv: give text, npy or bin\n"
         "See: csaw help walk\n",
         2},
        {"walk g.txt --batch 0",
         "csaw walk: --batch 0: give a whole number from 1 to 1099511627776\n"
         "See: csaw help walk\n",
         2},
        {"walk g.txt -o w.txt.gz",
         "csaw: w.txt.gz: walks are written uncompressed; write to standard output and compress that\n", 1},
        {"walk g.txt --resume -o /dev/null", "csaw: /dev/null: only a file can be resumed; give the name of one\n", 1},
        {"bench more",
         "csaw bench: one word too many: 'more'; the line is csaw bench [options]\nSee: csaw help bench\n", 2},
    };
    for (const auto &each : cases) {
        Outcome got = run(each.words);
        EXPECT_EQ(got.code, each.code) << each.words;
        EXPECT_EQ(got.out, "") << each.words;
        EXPECT_EQ(got.err, each.message) << each.words;
    }
}

/* ---- stopping and going on ---- */

class Stopped : public Cli {
  protected:
    static constexpr const char *job = "walk cycle.txt --num-walks 300000000 --walk-length 9 --batch 300 -o 'a b.txt'";

    /* Runs the job until it has kept something, then sends the signal; its exit code. */
    int stop_by(int signal_number, const std::string &more = "") {
        write("cycle.txt", "0 1\n1 2\n2 0\n");
        std::string line = "cd '" + folder.string() + "' && exec '" + CSAW_PROGRAM + "' " + job + more + " 2>.err";
        const std::string before = read("a b.txt.resume");
        pid_t child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
            _exit(99);
        }
        for (int i = 0; i < 3000; i++) { /* half a minute at most */
            const std::string now = read("a b.txt.resume");
            if (!now.empty() && now != before && now.find("walks 0\n") == std::string::npos) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        kill(child, signal_number);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
};

TEST_F(Stopped, keeps_the_walks_and_says_how_to_go_on) {
    for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
        EXPECT_EQ(stop_by(signal_number), 128 + signal_number);
        std::smatch found;
        const std::string said = read(".err");
        ASSERT_TRUE(
            std::regex_match(said, found,
                             std::regex("csaw: stopped; ([0-9,]+) of 900,000,000 walks are kept in a b.txt.part\n"
                                        "Go on with: csaw walk --resume cycle.txt --num-walks 300000000 "
                                        "--walk-length 9 --batch 300 -o 'a b.txt'\n")))
            << said;
        std::string walks = std::regex_replace(found[1].str(), std::regex(","), "");
        EXPECT_EQ(std::filesystem::file_size(folder / "a b.txt.part"), std::stoull(walks) * 20); /* 10 digits a walk */
        EXPECT_NE(read("a b.txt.resume").find("walks " + walks + "\n"), std::string::npos);
        EXPECT_FALSE(exists("a b.txt"));
    }
    const auto size = std::filesystem::file_size(folder / "a b.txt.part");
    EXPECT_EQ(stop_by(SIGKILL, " --resume"), -SIGKILL);
    EXPECT_EQ(stop_by(SIGINT, " --resume"), 130);
    EXPECT_NE(read(".err").find("-o 'a b.txt' --resume\n"), std::string::npos) << read(".err"); /* once */
    EXPECT_GT(std::filesystem::file_size(folder / "a b.txt.part"), size);
}

TEST_F(Stopped, refuses_another_job) {
    ASSERT_EQ(stop_by(SIGINT), 130);
    write("other.txt", "0 1\n1 2\n2 0\n0 2\n");
    write("seeds.txt", "0 1 2\n");
    const std::string record = read("a b.txt.resume"), rest = " --walk-length 9 -o 'a b.txt' --resume";
    const struct {
        std::string words, there, here;
    } cases[] = {
        {"walk cycle.txt --num-walks 300000000 --seed 1", "seed 0", "seed 1"},
        {"walk cycle.txt --num-walks 300000000 --p 2", "parameters p = 1, q = 1", "parameters p = 2, q = 1"},
        {"walk cycle.txt --num-walks 300000000 --p 1.0000001", "parameters p = 1, q = 1",
         "parameters p = 1.00000012, q = 1"},
        {"walk cycle.txt --num-walks 300000000 --seeds seeds.txt", "seeds all", "seeds 3 [0-9a-f]{16}"},
        {"walk cycle.txt --num-walks 299999999", "num-walks 300000000", "num-walks 299999999"},
        {"walk cycle.txt --num-walks 300000000 --select its", "select auto", "select its"},
        {"walk cycle.txt --num-walks 300000000 --edges", "edges no", "edges yes"},
        {"walk cycle.txt --num-walks 300000000 --output-format bin", "format text", "format bin"},
        {"walk cycle.txt --num-walks 300000000 --algo uniform", "sampler node2vec [0-9a-f]{16}",
         "sampler uniform [0-9a-f]{16}"},
        {"walk cycle.txt --num-walks 300000000 --sampler '" CSAW_SOURCE_DIR "/examples/my_node2vec.c'",
         "sampler node2vec [0-9a-f]{16}", "sampler my_node2vec [0-9a-f]{16}"},
        {"walk other.txt --num-walks 300000000", "graph [0-9a-f]{16}", "graph [0-9a-f]{16}"},
        {"walk cycle.txt --undirected --num-walks 300000000", "graph [0-9a-f]{16}", "graph [0-9a-f]{16}"},
    };
    for (const auto &each : cases) {
        Outcome got = run(each.words + rest);
        EXPECT_EQ(got.code, 1) << each.words;
        EXPECT_TRUE(std::regex_match(
            got.err, std::regex("csaw: a b\\.txt\\.resume is of another job: there '" + each.there + "', here '" +
                                each.here + "'; give the same options again, or begin anew without resuming\n")))
            << got.err;
        EXPECT_EQ(read("a b.txt.resume"), record) << each.words;
    }
}

TEST_F(Cli, resume_of_a_whole_file_and_of_none) {
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    const std::string words = "walk cycle.txt --walk-length 1 --num-walks 2 -o w.txt";
    Outcome got = run(words + " --resume"); /* nothing there: from the start */
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(read("w.txt"), "0 1\n1 2\n2 0\n0 1\n1 2\n2 0\n");
    const std::string whole = "w.txt is complete already, so nothing was left to do; by which options it was made is "
                              "not recorded. To make it again, leave out --resume\n";
    got = run(words + " --resume");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.err, whole);
    got = run(words + " --seed 1 --num-walks 7 --resume"); /* another job: not known, so not claimed; left alone */
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.err, whole);
    EXPECT_EQ(read("w.txt"), "0 1\n1 2\n2 0\n0 1\n1 2\n2 0\n");
    got = run(words + " --resume --json");
    EXPECT_NE(got.out.find("\"walks\": 6, \"steps\": 0, "), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("\"resumed\": 6, "), std::string::npos) << got.out;
    EXPECT_EQ(run(words + " --seed 1").code, 0); /* without --resume it is made anew */
    write("w.txt.part", "0 1\n");
    got = run(words + " --resume");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("w.txt.part is there without"), std::string::npos) << got.err;
    EXPECT_EQ(run(words).code, 0);
    EXPECT_FALSE(exists("w.txt.part"));
}

/* 68,000 walks of 81 numbers take 11 MB or more. */
TEST_F(Cli, full_disk_keeps_what_was_finished) {
    const std::string words = "walk " + karate + " --algo uniform --num-walks 2000 --batch 1000 --threads 1 -o w.txt";
    Outcome got = run(words, "ulimit -f 6000; trap '' XFSZ;"); /* 512 or 1024 bytes each */
    EXPECT_EQ(got.code, 1);
    std::smatch found;
    ASSERT_TRUE(
        std::regex_search(got.err, found,
                          std::regex("^csaw: .*/w\\.txt: writing failed after [0-9]+ bytes: File too large; raise "
                                     "the limit on file sizes \\(ulimit -f\\); ([0-9]+) of 68000 walks are "
                                     "kept in .*/w\\.txt\\.part, to be resumed\nGo on with: csaw walk --resume ")) ||
        std::regex_search(got.err, found,
                          std::regex("^csaw: w\\.txt: writing failed after [0-9]+ bytes: File too large; raise "
                                     "the limit on file sizes \\(ulimit -f\\); ([0-9]+) of 68000 walks are "
                                     "kept in w\\.txt\\.part, to be resumed\nGo on with: csaw walk --resume ")))
        << got.err;
    EXPECT_FALSE(exists("w.txt"));
    got = run(words + " --resume --json");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find("\"resumed\": " + found[1].str() + ", "), std::string::npos) << got.out;
    ASSERT_EQ(run("walk " + karate + " --algo uniform --num-walks 2000 --batch 1000 --threads 1 -o whole.txt").code, 0);
    EXPECT_TRUE(read("w.txt") == read("whole.txt"));
}

/* ---- the bar ---- */

TEST_F(Cli, bar_on_a_terminal_alone) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        GTEST_SKIP() << "skipped: no pseudo-terminal";
    const std::string name = ptsname(terminal);
    int held = open(name.c_str(), O_RDWR | O_NOCTTY); /* so that what was said stays there to be read */
    const std::string words = "walk " + karate + " --num-walks 4000 --batch 1000 --threads 1 -o ";
    std::string line = "cd '" + folder.string() + "' && '" + CSAW_PROGRAM + "' " + words + "a.bin 2>" + name;
    std::string said;
    std::thread reader([&] {
        char some[4096];
        for (ssize_t n; said.find("wrote") == std::string::npos && (n = ::read(terminal, some, sizeof some)) > 0;)
            said.append(some, static_cast<size_t>(n));
    });
    int status = system(line.c_str());
    reader.join();
    close(held);
    close(terminal);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(
        std::regex_search(said, std::regex("\r\\[=* *\\] +[0-9]+%  [0-9,]+ of 136,000 walks, [0-9.]+( [a-z]+)?/s, "
                                           "[0-9]+ s left")))
        << said;
    EXPECT_EQ(run(words + "b.bin").err.find('\r'), std::string::npos);
}

/* ---- bench and devices ---- */

TEST_F(Cli, bench_verifies_and_measures) {
    Outcome got = run("bench --scale 8 --repeats 2 --json");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(got.err, "");
    for (const char *name : {"uniform", "weighted", "node2vec p=2 q=0.5", "node2vec p=0.25 q=4",
                             "weighted node2vec p=2 q=0.5", "weighted node2vec p=0.25 q=4"})
        EXPECT_TRUE(std::regex_search(
            got.out, std::regex(std::string("\\{\"case\": \"") + name +
                                "\", \"verified\": true, \"steps\": [1-9][0-9]*, \"median\": [1-9][0-9]*, ")))
            << name << " in " << got.out;
    EXPECT_EQ(
        got.out.rfind(std::string("{\"csaw\": \"") + csaw_version() + "\", \"schema\": 1, \"command\": \"bench\"", 0),
        0u);
    EXPECT_EQ(got.out.substr(got.out.size() - 21), "], \"verified\": true}\n");
    got = run("bench --scale 8 --repeats 1 --threads 1");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(std::count(got.out.begin(), got.out.end(), '\n'), 3 + 1 + 1 + 6) << got.out;
}

TEST_F(Cli, devices_lists_the_cpu_first) {
    Outcome got = run("devices");
    EXPECT_EQ(got.code, 0);
    EXPECT_TRUE(std::regex_search(got.out, std::regex("^cpu, [0-9]+ threads?\n"))) << got.out;
    const auto gpus = std::count(got.out.begin(), got.out.end(), '\n') - 1;
    EXPECT_EQ(got.err.rfind("no GPU: ", 0) == 0, gpus == 0) << got.err;
    got = run("devices --json");
    EXPECT_EQ(got.out.rfind(std::string("{\"csaw\": \"") + csaw_version() +
                                "\", \"schema\": 1, \"command\": \"devices\", \"devices\": [{\"device\": \"cpu\", ",
                            0),
              0u)
        << got.out;
}

} // namespace
