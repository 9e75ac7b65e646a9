// SPDX-License-Identifier: MIT
// resume_test.cc - the real program, killed at random moments and gone on with by --resume, writes the bytes of a run
// that nothing disturbed: 100 kills (SIGKILL) and 40 signals, text, npy and bin, other threads and batches each time.
#include <csaw/csaw.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "cli_run.h"

namespace {

class ResumeProgram : public Cli {
  protected:
    void SetUp() override {
        if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 1); // a kill does not see the disk
        Cli::SetUp();
        ASSERT_EQ(run("generate rmat --scale 10 --seed 3 -o g.txt").code, 0);
    }

    // Runs `csaw words` and sends it the signal after so many microseconds (0 = never): its wait status.
    int disturb(const std::vector<std::string> &words, int signal_number, int64_t microseconds) {
        std::vector<char *> line = {const_cast<char *>(CSAW_PROGRAM)};
        for (const auto &word : words) line.push_back(const_cast<char *>(word.c_str()));
        line.push_back(nullptr);
        pid_t child = fork();
        if (child == 0) {
            int err = open((folder / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (chdir(folder.c_str()) != 0 || dup2(err, STDERR_FILENO) < 0) _exit(99);
            execv(CSAW_PROGRAM, line.data());
            _exit(99);
        }
        if (microseconds) {
            std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
            kill(child, signal_number);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return status;
    }

    struct Count {
        int hits = 0, resumed = 0; // runs that the signal stopped; of them those that left walks to go on with
    };

    // Jobs of seeds 1, 2, ... until the signal has stopped `hits` runs; every job is gone on with until it is done.
    Count torment(const std::string &name, int signal_number, int hits) {
        const std::vector<std::string> job = {"walk",      "g.txt", "--num-walks",   "20", "--p", "0.5",
                                              "--threads", "1",     "--walk-length", "40"};
        std::mt19937 random(static_cast<unsigned>(signal_number * 1000 + hits));
        auto words = [&](int seed, const std::string &output) {
            std::vector<std::string> line = job;
            for (const std::string &word : {std::string("--seed"), std::to_string(seed), std::string("-o"), output})
                line.push_back(word);
            return line;
        };
        Count count;
        for (int seed = 1; count.hits < hits && !HasFatalFailure(); seed++) {
            const std::string output = "w." + name;
            // How long an undisturbed run takes now: the machine may be busier than it was a moment ago.
            const auto begun = std::chrono::steady_clock::now();
            EXPECT_EQ(disturb(words(seed, "whole." + name), 0, 0), 0) << read(".err");
            int64_t whole_run =
                std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count();
            for (bool resume = false;; resume = true) {
                std::vector<std::string> line = words(seed, output);
                if (resume) line.push_back("--resume");
                line[7] = std::to_string(1 + random() % 2); // threads
                line.push_back("--batch");
                line.push_back(std::to_string(100 + random() % 2000));
                int64_t delay =
                    count.hits < hits ? 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(whole_run)) : 0;
                int status = disturb(line, signal_number, delay);
                if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
                EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) - 128 : WTERMSIG(status), signal_number)
                    << read(".err");
                if (HasFailure()) return count;
                EXPECT_TRUE(!exists(output) || read(output) == read("whole." + name)); // whole, or not there
                count.hits++;
                if (exists(output + ".resume") && read(output + ".resume").find("walks 0\n") == std::string::npos)
                    count.resumed++;
                else
                    whole_run += whole_run / 8; // too early: the machine has become busier
            }
            EXPECT_TRUE(read(output) == read("whole." + name)) << name << " seed " << seed;
            EXPECT_FALSE(exists(output + ".part"));
            EXPECT_FALSE(exists(output + ".resume"));
            std::filesystem::remove(folder / output);
        }
        printf("%s: %d runs stopped, %d of them left walks to go on with\n", name.c_str(), count.hits, count.resumed);
        return count;
    }
};

TEST_F(ResumeProgram, HundredKills) {
    for (const auto &[name, kills] : {std::pair{"txt", 34}, {"npy", 33}, {"bin", 33}}) {
        Count count = torment(name, SIGKILL, kills);
        EXPECT_EQ(count.hits, kills);
        EXPECT_GT(count.resumed, 0); // else the test has shown nothing
    }
}

TEST_F(ResumeProgram, InterruptAndTerminate) {
    EXPECT_GT(torment("txt", SIGINT, 20).resumed, 0);
    EXPECT_GT(torment("npy", SIGTERM, 20).resumed, 0);
}

} // namespace
