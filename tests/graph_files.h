/* SPDX-License-Identifier: MIT */
/* tests/graph_files.h - what tests of loading and saving share: a folder of their own and files in it. */
#ifndef CSAW_TESTS_GRAPH_FILES_H
#define CSAW_TESTS_GRAPH_FILES_H

#include <csaw/csaw.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "runtime/base/memory.h"
void omp_set_num_threads(int) __attribute__((weak)); // absent in a build without OpenMP
}

namespace fs = std::filesystem;
using Graph = std::unique_ptr<csaw_graph, decltype(&csaw_graph_free)>;

inline csaw_status load(const std::string &path, csaw_load_options options, Graph *out) {
    csaw_graph *graph = nullptr;
    options.size = sizeof options;
    csaw_status status = csaw_graph_load(path.c_str(), &options, &graph);
    EXPECT_EQ(status == CSAW_OK, graph != nullptr);
    out->reset(graph);
    return status;
}

inline void message_has(const std::vector<std::string> &parts) {
    std::string message = csaw_last_error();
    for (const auto &part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

class GraphFiles : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "csaw-files-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
        if (omp_set_num_threads) omp_set_num_threads(1); // small files: starting threads would take most of the time
    }
    void TearDown() override {
        csaw__fail_allocations_from(0);
        if (omp_set_num_threads) omp_set_num_threads(2);
        fs::remove_all(folder);
    }
    std::string write(const std::string &name, const std::string &bytes) const {
        std::ofstream(folder / name, std::ios::binary) << bytes;
        return (folder / name).string();
    }
    std::string write_gzip(const std::string &name, const std::string &bytes, const char *mode = "wb") const {
        std::string path = (folder / name).string();
        gzFile file = gzopen(path.c_str(), mode);
        EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
        EXPECT_EQ(gzclose(file), Z_OK);
        return path;
    }
    std::string read(const std::string &path) const {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }
    fs::path folder;
};

#endif
