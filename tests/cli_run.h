/* SPDX-License-Identifier: MIT */
/* tests/cli_run.h - runs the csaw program in a fresh folder and keeps what it says. */
#ifndef CSAW_TESTS_CLI_RUN_H
#define CSAW_TESTS_CLI_RUN_H

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

struct Outcome {
    int code; /* exit code; 128 + n for signal n */
    std::string out, err;
};

inline std::string read_all(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/* Every test starts in an empty folder of its own, which is the program's working directory. */
class Cli : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "csaw_cli_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
        setenv("CSAW_CACHE_DIR", (folder / "cache").c_str(), 1);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    /* words: as typed in a shell; before: what stands in front of the program's name */
    Outcome run(const std::string &words, const std::string &before = "", const std::string &redirect = ">.out") {
        std::string line = "cd '" + folder.string() + "' && " + before + " '" + CSAW_PROGRAM + "' " + words + " " +
                           redirect + " 2>.err </dev/null";
        int status = system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(folder / ".out"),
                read_all(folder / ".err")};
    }
    void write(const std::string &name, const std::string &text) {
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    std::string read(const std::string &name) { return read_all(folder / name); }
    bool exists(const std::string &name) { return std::filesystem::exists(folder / name); }

    std::filesystem::path folder;
    const std::string karate = "'" CSAW_SOURCE_DIR "/data/karate.txt' --undirected";
    const std::string lesmis = "'" CSAW_SOURCE_DIR "/data/lesmis.txt' --undirected";
};

#endif
