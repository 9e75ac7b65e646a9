// SPDX-License-Identifier: MIT
// writer_resume_test.cc - a file of walks that was interrupted anywhere is completed to the same bytes, or refused with
// the reason. The states that a kill leaves are made by hand here; resume_test.cc kills the real program.
#include <csaw/csaw.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "runtime/base/memory.h"
#include "runtime/engine/writer.h"
}

namespace {

namespace fs = std::filesystem;

constexpr uint64_t num_walks = 6;
constexpr uint32_t length = 3;
const char job[] = "graph 1\nseed 7";

struct Put { // how a test opens a writer
    std::string format = "text", job = ::job;
    bool edges = false, resume = false;
    uint64_t walks = num_walks;
};

class Resume : public ::testing::TestWithParam<std::pair<const char *, bool>> {
  protected:
    void SetUp() override {
        fs::path memory = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path(); // fsync at once
        std::string pattern = (memory / "csaw-resume-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
        path = (folder / "w").string();
        for (uint64_t w = 0; w < num_walks; w++)
            for (uint64_t s = 0; s <= length; s++) {
                bool ended = w == 2 && s > 1;
                vertex.push_back(ended ? CSAW_NONE : static_cast<csaw_vertex>(w * w * 1000 + s));
                if (s < length) edge.push_back(w == 2 ? CSAW_NO_EDGE : w * 5000000000 + s);
            }
        if (GetParam().first) put.format = GetParam().first;
        put.edges = GetParam().second;
    }
    void TearDown() override {
        csaw__fail_allocations_from(0);
        fs::remove_all(folder);
    }

    csaw_status open(csaw_writer **writer) const {
        csaw_write_options options = {};
        options.size = sizeof options;
        options.num_walks = put.walks;
        options.length = length;
        options.format = put.format.c_str();
        options.edges = put.edges;
        options.job = put.job.c_str();
        options.resume = put.resume;
        return csaw_writer_open(path.c_str(), &options, writer);
    }
    csaw_status write(csaw_writer *writer, uint64_t first, uint64_t count) const {
        csaw_walks walks = {};
        walks.first = first;
        walks.num_walks = count;
        walks.length = length;
        walks.path = vertex.data() + first * (length + 1);
        walks.path_walk_stride = length + 1;
        walks.edge = edge.data() + first * length;
        walks.edge_walk_stride = length;
        walks.path_step_stride = walks.edge_step_stride = 1;
        return csaw__writer_put(writer, &walks);
    }
    // From whatever is there to the end, as csaw walk --resume does.
    csaw_status complete() {
        csaw_writer *writer = nullptr;
        put.resume = true;
        csaw_status status = open(&writer);
        if (status != CSAW_OK) return status;
        for (uint64_t w = csaw_writer_done(writer); w < num_walks; w++) EXPECT_EQ(write(writer, w, 1), CSAW_OK);
        return csaw_writer_close(writer);
    }
    // Stops after some walks and keeps them.
    void stop_after(uint64_t walks) {
        csaw_writer *writer = nullptr;
        put.resume = false;
        ASSERT_EQ(open(&writer), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(write(writer, 0, walks), CSAW_OK);
        csaw_writer_discard(writer);
    }
    std::string uninterrupted() {
        csaw_writer *writer = nullptr;
        EXPECT_EQ(open(&writer), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(write(writer, 0, num_walks), CSAW_OK);
        EXPECT_EQ(csaw_writer_close(writer), CSAW_OK) << csaw_last_error();
        std::string bytes = read("w");
        fs::remove(path);
        EXPECT_EQ(files(), 0u);
        return bytes;
    }
    std::string read(const std::string &name) const {
        std::ifstream file(folder / name, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    void store(const std::string &name, const std::string &bytes) const {
        std::ofstream(folder / name, std::ios::binary) << bytes;
    }
    bool exists(const std::string &name) const { return fs::exists(folder / name); }
    size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }
    void expect_whole(const std::string &whole, const std::string &when) {
        ASSERT_EQ(complete(), CSAW_OK) << when << ": " << csaw_last_error();
        ASSERT_TRUE(read("w") == whole) << when;
        ASSERT_EQ(files(), 1u) << when;
        fs::remove(path);
    }

    fs::path folder;
    std::string path;
    std::vector<csaw_vertex> vertex;
    std::vector<csaw_edge> edge;
    Put put;
};

void message_has(const std::vector<std::string> &parts) {
    std::string message = csaw_last_error();
    for (const auto &part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

// A kill may leave any number of bytes behind what the record vouches for: torn walks, whole ones, rubbish.
TEST_P(Resume, FromEveryCut) {
    const std::string whole = uninterrupted();
    for (uint64_t walks = 1; walks <= num_walks; walks++) {
        stop_after(walks);
        const std::string record = read("w.resume"), good = read("w.part");
        ASSERT_EQ(whole.substr(0, good.size()), good);
        ASSERT_FALSE(exists("w"));
        for (size_t size = good.size(); size <= whole.size(); size++) {
            store("w.resume", record);
            store("w.part", whole.substr(0, size));
            expect_whole(whole, "cut at " + std::to_string(size));
        }
        store("w.resume", record);
        store("w.part", good + std::string(100000, '\xff'));
        expect_whole(whole, "rubbish behind");
        store("w.resume", record);
        store("w.part", good);
        store("w.resume.new", record.substr(0, record.size() / 2)); // killed while it wrote the record
        expect_whole(whole, "half a new record");
    }
}

TEST_P(Resume, StatesAroundTheStartAndTheEnd) {
    const std::string whole = uninterrupted();
    expect_whole(whole, "nothing there");
    store("w.part", "");
    expect_whole(whole, "an empty .part");
    stop_after(1);
    std::string record = read("w.resume");
    const size_t line = record.find("walks 1\n"), next = record.find("\njob ");
    std::string zero = record.substr(0, line) + "walks 0\nbytes 0" + record.substr(next);
    store("w.resume", zero); // a new job's record over an old job's data
    expect_whole(whole, "a record of nothing");
    store("w.resume", zero);
    expect_whole(whole, "a record before .part");
    stop_after(num_walks);
    record = read("w.resume");
    expect_whole(whole, "all there, not renamed");
    store("w", whole);
    store("w.resume", record);
    expect_whole(whole, "renamed, record still there");
    store("w", whole);
    put.resume = true;
    csaw_writer *writer = nullptr;
    ASSERT_EQ(open(&writer), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_writer_done(writer), num_walks); // complete: nothing to do
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    EXPECT_EQ(read("w"), whole);
    EXPECT_EQ(files(), 1u);
}

TEST_P(Resume, BeginningAnewOverAnInterruptedRun) {
    const std::string whole = uninterrupted();
    store("w", "before");
    put.job = "graph 1\nseed 8";
    stop_after(4);
    put.job = job;
    stop_after(2);
    EXPECT_EQ(read("w"), "before"); // until the new one is whole
    expect_whole(whole, "another job was there");
}

TEST_P(Resume, OtherJobsAreRefused) {
    stop_after(3);
    const std::string record = read("w.resume"), part = read("w.part");
    const struct {
        std::function<void(Put &)> change;
        std::vector<std::string> says;
    } cases[] = {
        {[](Put &p) { p.job = "graph 1\nseed 8"; }, {"w.resume", "there 'seed 7'", "here 'seed 8'"}},
        {[](Put &p) { p.job = "graph 2\nseed 8"; }, {"there 'graph 1'", "here 'graph 2'"}},
        {[](Put &p) { p.job = "graph 1"; }, {"there 'seed 7'", "here 'format "}},
        {[](Put &p) { p.job = "graph 1\nseed 77"; }, {"there 'seed 7'", "here 'seed 77'"}},
        {[](Put &p) { p.walks = 7; }, {"there 'walks 6'", "here 'walks 7'"}},
        {[](Put &p) { p.edges = !p.edges; }, {"there 'edges ", "here 'edges "}},
        {[](Put &p) { p.format = p.format == "bin" ? "npy" : "bin"; }, {"there 'format ", "here 'format "}},
    };
    const Put same = put;
    for (const auto &each : cases) {
        csaw_writer *writer = nullptr;
        put = same;
        put.resume = true;
        each.change(put);
        EXPECT_EQ(open(&writer), CSAW_EINVAL);
        message_has(each.says);
        EXPECT_EQ(read("w.resume"), record);
        EXPECT_EQ(read("w.part"), part);
    }
}

TEST_P(Resume, DamageIsToldFromInterruption) {
    stop_after(3);
    const std::string record = read("w.resume"), part = read("w.part");
    csaw_writer *writer = nullptr;
    put.resume = true;
    for (size_t size = 0; size < record.size(); size++) { // of every length but its own
        store("w.resume", record.substr(0, size));
        ASSERT_EQ(open(&writer), CSAW_EFORMAT) << size;
        message_has({"w.resume is damaged", "begin anew"});
    }
    store("w.resume", record + "x");
    EXPECT_EQ(open(&writer), CSAW_EFORMAT);
    store("w.resume", record);
    store("w.part", part.substr(0, part.size() - 1));
    EXPECT_EQ(open(&writer), CSAW_EFORMAT);
    message_has({"w.part has", std::to_string(part.size()), "changed"});
    store("w.part", part);
    fs::remove(folder / "w.resume");
    EXPECT_EQ(open(&writer), CSAW_EINVAL);
    message_has({"w.part is there without", "w.resume", "begin anew"});
    EXPECT_EQ(read("w.part"), part);
}

TEST_P(Resume, EveryAllocationFailsInTurn) {
    const std::string whole = uninterrupted();
    stop_after(2);
    const std::string record = read("w.resume"), part = read("w.part");
    csaw_writer *writer = nullptr;
    put.resume = true;
    csaw__fail_allocations_from(0);
    ASSERT_EQ(open(&writer), CSAW_OK);
    csaw_writer_discard(writer);
    const uint64_t count = csaw__allocations_counted();
    for (uint64_t n = 1; n <= count; n++) {
        writer = nullptr;
        csaw__fail_allocations_from(n);
        csaw_status status = open(&writer);
        csaw__fail_allocations_from(0);
        if (status == CSAW_OK) csaw_writer_discard(writer); // it was needed at the end only
        EXPECT_TRUE(status == CSAW_OK || status == CSAW_ENOMEM);
        ASSERT_EQ(read("w.resume"), record) << n;
        ASSERT_EQ(read("w.part"), part) << n;
    }
    expect_whole(whole, "after all that");
    put.resume = false; // the same while a file begins and ends
    for (uint64_t n = 1;; n++) {
        csaw__fail_allocations_from(n);
        csaw_status status = open(&writer);
        if (status == CSAW_OK) {
            status = write(writer, 0, num_walks);
            if (status == CSAW_OK)
                status = csaw_writer_close(writer);
            else
                csaw_writer_discard(writer);
        }
        const bool enough = csaw__allocations_counted() < n;
        csaw__fail_allocations_from(0);
        EXPECT_TRUE(status == CSAW_OK || (status == CSAW_ENOMEM && !enough)) << n;
        if (status == CSAW_OK) {
            EXPECT_EQ(read("w"), whole); // a .resume that could not be removed does no harm
        }
        if (enough) break;
        for (const char *name : {"w", "w.part", "w.resume", "w.resume.new"}) fs::remove(folder / name);
    }
}

TEST_P(Resume, PlacesThatCannotBeResumed) {
    csaw_writer *writer = nullptr;
    csaw_write_options options = {};
    options.size = sizeof options;
    options.resume = true;
    EXPECT_EQ(csaw_writer_open(path.c_str(), &options, &writer), CSAW_EINVAL);
    message_has({"resume without a job"});
    options.job = job;
    EXPECT_EQ(csaw_writer_open("/dev/null", &options, &writer), CSAW_EINVAL);
    message_has({"only a file can be resumed"});
    EXPECT_EQ(files(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    , Resume,
    ::testing::Values(std::pair<const char *, bool>{"text", false}, std::pair<const char *, bool>{"npy", false},
                      std::pair<const char *, bool>{"bin", false}, std::pair<const char *, bool>{"text", true},
                      std::pair<const char *, bool>{"npy", true}),
    [](const auto &info) { return std::string(info.param.first) + (info.param.second ? "_edges" : ""); });

// A limit on file sizes stands for a full disk: 40 MB of walks where 30 MB fit.
TEST(ResumeFullDisk, WhatWasFinishedStays) {
    std::string pattern = (fs::temp_directory_path() / "csaw-resume-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    const std::string path = pattern + "/w.bin";
    constexpr uint64_t walks = 100000, batch = 10000, places = 100; // 4 MB a batch
    std::vector<csaw_vertex> vertex(batch * places);
    for (size_t i = 0; i < vertex.size(); i++) vertex[i] = static_cast<csaw_vertex>(i);
    csaw_walks view = {};
    view.num_walks = batch;
    view.length = places - 1;
    view.path = vertex.data();
    view.path_walk_stride = places;
    view.path_step_stride = 1;
    csaw_write_options options = {};
    options.size = sizeof options;
    options.num_walks = walks;
    options.length = places - 1;
    options.job = job;
    csaw_writer *writer = nullptr;
    auto write_all = [&] {
        csaw_status status = csaw_writer_open(path.c_str(), &options, &writer);
        for (uint64_t w = status == CSAW_OK ? csaw_writer_done(writer) : walks; w < walks; w += batch) {
            view.first = w;
            status = csaw__writer_put(writer, &view);
            if (status != CSAW_OK) break;
        }
        return status;
    };
    rlimit before, limit;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 30000000;
    auto handler = signal(SIGXFSZ, SIG_IGN); // so that write() fails with EFBIG
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    csaw_status status = write_all();
    std::string message = csaw_last_error();
    uint64_t kept = csaw_writer_done(writer);
    csaw_writer_discard(writer);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT_EQ(status, CSAW_EIO);
    EXPECT_EQ(kept, 70000u); // 28 of 30 MB: whole batches
    for (const std::string &part : {std::string("after 30000000 bytes: File too large"),
                                    std::to_string(kept) + " of 100000 walks are kept in " + path + ".part"})
        EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    EXPECT_FALSE(fs::exists(path));
    options.resume = true;
    ASSERT_EQ(write_all(), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK) << csaw_last_error();
    std::ifstream file(path, std::ios::binary);
    std::vector<csaw_vertex> got(vertex.size());
    for (uint64_t w = 0; w < walks; w += batch) {
        file.read(reinterpret_cast<char *>(got.data()), static_cast<std::streamsize>(got.size() * 4));
        ASSERT_TRUE(file && got == vertex) << w;
    }
    EXPECT_EQ(fs::file_size(path), walks * places * 4);
    EXPECT_EQ(std::distance(fs::directory_iterator(pattern), {}), 1);
    fs::remove_all(pattern);
}

} // namespace
