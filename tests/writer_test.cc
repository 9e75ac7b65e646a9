// SPDX-License-Identifier: MIT
// writer_test.cc - walks in files: exact bytes of every format, names, arcs, strided views, order, full disks, nothing
// half done. Going on with an interrupted file: writer_resume_test.cc.
#include <csaw/csaw.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "runtime/base/graph.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_text.h"
#include "runtime/engine/writer.h"
}

namespace {

namespace fs = std::filesystem;
const csaw_vertex none = CSAW_NONE;

class Writer : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "csaw-writer-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
    }
    void TearDown() override {
        csaw__fail_allocations_from(0);
        fs::remove_all(folder);
    }
    std::string path(const char *name) const { return (folder / name).string(); }
    size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {})); }
    fs::path folder;
};

std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// walk-major, as host memory is
csaw_walks view(const std::vector<csaw_vertex> &path, uint64_t first, uint64_t num_walks, uint32_t length) {
    csaw_walks walks = {};
    walks.first = first;
    walks.num_walks = num_walks;
    walks.length = length;
    walks.path = path.data();
    walks.path_walk_stride = uint64_t{length} + 1;
    walks.path_step_stride = 1;
    return walks;
}

csaw_status open_writer(const char *path, uint64_t num_walks, uint32_t length, csaw_writer **out) {
    csaw_write_options options = {};
    options.size = sizeof options;
    options.num_walks = num_walks;
    options.length = length;
    return csaw_writer_open(path, &options, out);
}

void message_has(const std::vector<std::string> &parts) {
    std::string message = csaw_last_error();
    for (const auto &part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

const std::vector<csaw_vertex> three = {0, 10, 4294967293, 7, none, none, 123456789, 99, 100};
const char text_of_three[] = "0 10 4294967293\n7\n123456789 99 100\n";

TEST_F(Writer, NumbersAsText) {
    std::vector<uint32_t> values = {0, 9, 10, 99, 100, 4294967295u};
    for (uint32_t power = 10; power < 1000000000; power *= 10)
        for (uint32_t value : {power - 1, power, power + 1, power * 10 - 1}) values.push_back(value);
    std::mt19937 random(1);
    for (int i = 0; i < 100000; i++) values.push_back(static_cast<uint32_t>(random()) >> (random() % 32));
    for (uint32_t value : values) {
        char text[CSAW__MAX_DIGITS];
        ASSERT_EQ(std::string(text, csaw__put_number(text, value)), std::to_string(value));
    }
}

TEST_F(Writer, WideNumbersAsText) {
    std::vector<int64_t> values = {0, -1, INT64_MAX, INT64_MIN, 4294967295, 4294967296, -4294967296};
    for (int64_t power = 10; power < INT64_MAX / 10; power *= 10)
        for (int64_t value : {power - 1, power, power + 1, -power}) values.push_back(value);
    std::mt19937_64 random(3);
    for (int i = 0; i < 100000; i++) values.push_back(static_cast<int64_t>(random() >> (random() % 64)));
    for (int64_t value : values) {
        char text[CSAW__MAX_WIDE_DIGITS];
        ASSERT_EQ(std::string(text, csaw__put_signed(text, value)), std::to_string(value));
        ASSERT_EQ(std::string(text, csaw__put_wide(text, static_cast<uint64_t>(value))),
                  std::to_string(static_cast<uint64_t>(value)));
    }
}

TEST_F(Writer, TheFileReplacedKeepsWhoMayReadIt) {
    csaw_writer *writer = nullptr;
    std::ofstream(path("w.txt")) << "old";
    fs::permissions(path("w.txt"), fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 3, 2, &writer), CSAW_OK) << csaw_last_error();
    csaw_walks all = view(three, 0, 3, 2);
    ASSERT_EQ(csaw__writer_put(writer, &all), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(read(path("w.txt")), text_of_three);
    EXPECT_EQ(fs::status(path("w.txt")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(csaw_writer_open(path("x.txt").c_str(), nullptr, nullptr), CSAW_EINVAL);
}

TEST_F(Writer, TextInBatches) {
    csaw_writer *writer = nullptr;
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 3, 2, &writer), CSAW_OK) << csaw_last_error();
    csaw_walks first = view(three, 0, 1, 2), rest = view(three, 1, 2, 2);
    rest.path += 3;
    ASSERT_EQ(csaw__writer_put(writer, &first), CSAW_OK);
    ASSERT_EQ(csaw__writer_put(writer, &rest), CSAW_OK);
    EXPECT_FALSE(fs::exists(path("w.txt"))); // not before it is whole
    EXPECT_EQ(files(), 1u);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(read(path("w.txt")), text_of_three);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, StepMajorViewsGiveTheSameBytes) {
    std::vector<csaw_vertex> turned(9);
    for (size_t w = 0; w < 3; w++)
        for (size_t s = 0; s < 3; s++) turned[s * 3 + w] = three[w * 3 + s];
    csaw_walks walks = view(turned, 0, 3, 2);
    walks.path_walk_stride = 1;
    walks.path_step_stride = 3;
    for (const char *name : {"w.txt", "w.npy"}) {
        csaw_writer *writer = nullptr;
        ASSERT_EQ(open_writer(path(name).c_str(), 3, 2, &writer), CSAW_OK);
        ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
        ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    }
    EXPECT_EQ(read(path("w.txt")), text_of_three);
    EXPECT_EQ(read(path("w.npy")).substr(128), std::string(reinterpret_cast<const char *>(three.data()), 36));
}

// numpy.lib.format, version 1.0
TEST_F(Writer, Npy) {
    csaw_writer *writer = nullptr;
    csaw_walks walks = view(three, 0, 3, 2);
    ASSERT_EQ(open_writer(path("w.npy").c_str(), 3, 2, &writer), CSAW_OK);
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    std::string bytes = read(path("w.npy"));
    ASSERT_EQ(bytes.size(), 128u + 36);
    EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]), 118);
    std::string dict = "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 3), }";
    EXPECT_EQ(bytes.substr(10, dict.size()), dict);
    EXPECT_EQ(bytes.find_first_not_of(' ', 10 + dict.size()), 127u);
    EXPECT_EQ(bytes[127], '\n');
    EXPECT_EQ(memcmp(bytes.data() + 128, three.data(), 36), 0);
}

TEST_F(Writer, BinIsTheArrayAlone) {
    csaw_walks walks = view(three, 0, 3, 2);
    for (const char *name : {"w.bin", "w.other"}) {
        csaw_write_options options = {};
        options.size = sizeof options;
        options.num_walks = 3;
        options.length = 2;
        options.format = std::string(name) == "w.bin" ? nullptr : "bin";
        csaw_writer *writer = nullptr;
        ASSERT_EQ(csaw_writer_open(path(name).c_str(), &options, &writer), CSAW_OK) << csaw_last_error();
        ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
        ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
        EXPECT_EQ(read(path(name)), std::string(reinterpret_cast<const char *>(three.data()), 36));
    }
}

// Walks of 0 .. 2 steps; the last one stepped without an arc, as a restart does.
TEST_F(Writer, Edges) {
    const std::vector<csaw_edge> edge = {5, 5000000000, CSAW_NO_EDGE, CSAW_NO_EDGE, CSAW_NO_EDGE, 7};
    std::vector<csaw_edge> turned(6);
    for (size_t w = 0; w < 3; w++)
        for (size_t s = 0; s < 2; s++) turned[s * 3 + w] = edge[w * 2 + s];
    for (bool step_major : {false, true})
        for (const char *name : {"e.txt", "e.npy", "e.bin"}) {
            csaw_write_options options = {};
            options.size = sizeof options;
            options.num_walks = 3;
            options.length = 2;
            options.edges = true;
            csaw_walks walks = view(three, 0, 3, 2);
            csaw_writer *writer = nullptr;
            ASSERT_EQ(csaw_writer_open(path(name).c_str(), &options, &writer), CSAW_OK);
            EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EINVAL);
            message_has({name, "without their arcs", "csaw_run_options"});
            walks.edge = step_major ? turned.data() : edge.data();
            walks.edge_walk_stride = step_major ? 1 : 2;
            walks.edge_step_stride = step_major ? 3 : 1;
            ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
            ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
        }
    const std::string array(reinterpret_cast<const char *>(edge.data()), 48);
    EXPECT_EQ(read(path("e.txt")), "5 5000000000\n\n- 7\n");
    EXPECT_EQ(read(path("e.bin")), array);
    ASSERT_EQ(read(path("e.npy")).size(), 128u + 48);
    EXPECT_EQ(read(path("e.npy")).substr(128), array);
    EXPECT_NE(read(path("e.npy")).find("{'descr': '<u8', 'fortran_order': False, 'shape': (3, 2), }"),
              std::string::npos);
}

// A graph with names, made without the loaders.
csaw_status write_named(const std::string &path, const csaw_names &names, const char *format) {
    const csaw_edge rowptr[4] = {0, 0, 0, 0};
    csaw_graph graph = {};
    graph.csr.num_vertices = 3;
    graph.csr.rowptr = rowptr;
    graph.names = names;
    const std::vector<csaw_vertex> walk = {2, 0, 1, 1, none, none};
    csaw_walks walks = view(walk, 0, 2, 2);
    csaw_write_options options = {};
    options.size = sizeof options;
    options.num_walks = 2;
    options.length = 2;
    options.format = format;
    options.graph = &graph;
    csaw_writer *writer = nullptr;
    csaw_status status = csaw_writer_open(path.c_str(), &options, &writer);
    if (status != CSAW_OK) return status;
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    return csaw_writer_close(writer);
}

TEST_F(Writer, Names) {
    const int64_t number[] = {-9000000000000000000, 17, INT64_MAX};
    const std::string text = "AdaBob" + std::string(3000000, 'z'), blank = "Adanew yorkzz";
    const uint64_t offset[] = {0, 3, 6, 6 + 3000000}, blank_offset[] = {0, 3, 11, 13};
    ASSERT_EQ(write_named(path("a.txt"), {number, nullptr, nullptr}, nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(read(path("a.txt")), "9223372036854775807 -9000000000000000000 17\n17\n");
    ASSERT_EQ(write_named(path("b.txt"), {nullptr, text.data(), offset}, nullptr), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(read(path("b.txt")) == std::string(3000000, 'z') + " Ada Bob\nBob\n");
    ASSERT_EQ(write_named(path("c.txt"), {nullptr, nullptr, nullptr}, nullptr), CSAW_OK);
    EXPECT_EQ(read(path("c.txt")), "2 0 1\n1\n");
    ASSERT_EQ(write_named(path("d.bin"), {nullptr, blank.data(), blank_offset}, nullptr), CSAW_OK);
    EXPECT_EQ(read(path("d.bin")).substr(0, 4), std::string("\2\0\0\0", 4)); // arrays hold numbers
    EXPECT_EQ(write_named(path("d.txt"), {nullptr, blank.data(), blank_offset}, nullptr), CSAW_EUNSUPPORTED);
    message_has({"vertex 1", "'new york'", "blank", "npy or bin"});
    EXPECT_EQ(files(), 4u);
}

TEST_F(Writer, FormatsThatAreNone) {
    EXPECT_EQ(write_named(path("w.txt"), {nullptr, nullptr, nullptr}, "tsv"), CSAW_EINVAL);
    message_has({"'tsv'", "text, npy or bin"});
    EXPECT_EQ(write_named(path("w.txt.gz"), {nullptr, nullptr, nullptr}, nullptr), CSAW_EINVAL);
    message_has({"w.txt.gz", "uncompressed", "standard output"});
    EXPECT_EQ(files(), 0u);
}

TEST_F(Writer, OneWriterAtATime) {
    csaw_writer *writer = nullptr, *second = nullptr;
    csaw_walks walks = view(three, 0, 3, 2);
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 3, 2, &writer), CSAW_OK);
    EXPECT_EQ(open_writer(path("w.txt").c_str(), 3, 2, &second), CSAW_EIO);
    message_has({"w.txt", "written already"});
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    EXPECT_EQ(read(path("w.txt")), text_of_three);
}

TEST_F(Writer, LongWalksAndManyOfThem) {
    std::mt19937 random(2);
    for (uint32_t length : {0u, 1u, 300000u}) { // 300000 steps: longer than the buffer holds
        const uint64_t num_walks = length > 1 ? 3 : 200000;
        std::vector<csaw_vertex> walk(num_walks * (length + 1));
        std::string expected;
        for (uint64_t w = 0; w < num_walks; w++)
            for (uint64_t s = 0, end = length > 1 ? length - w : 1 + random() % (length + 1); s <= length; s++) {
                csaw_vertex v = s < end ? static_cast<csaw_vertex>(random() & 0x7fffffff) : none;
                walk[w * (length + 1) + s] = v;
                if (s < end) expected += (s ? " " : "") + std::to_string(v);
                if (s == length) expected += "\n";
            }
        csaw_writer *writer = nullptr;
        csaw_walks walks = view(walk, 0, num_walks, length);
        ASSERT_EQ(open_writer(path("w.txt").c_str(), num_walks, length, &writer), CSAW_OK);
        ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
        ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
        EXPECT_TRUE(read(path("w.txt")) == expected) << length;
        ASSERT_EQ(open_writer(path("w.npy").c_str(), num_walks, length, &writer), CSAW_OK);
        ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
        ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
        EXPECT_TRUE(read(path("w.npy")).substr(128) ==
                    std::string(reinterpret_cast<const char *>(walk.data()), walk.size() * 4));
    }
}

TEST_F(Writer, NoWalksAtAll) {
    csaw_writer *writer = nullptr;
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 0, 80, &writer), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    EXPECT_EQ(read(path("w.txt")), "");
    EXPECT_TRUE(fs::exists(path("w.txt")));
}

TEST_F(Writer, RefusesWalksThatDoNotBelong) {
    csaw_writer *writer = nullptr;
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 2, 2, &writer), CSAW_OK);
    csaw_walks walks = view(three, 0, 3, 2);
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EINVAL);
    message_has({"w.txt", "3 walks", "2 that"});
    walks = view(three, 1, 1, 2);
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EINVAL);
    message_has({"instance 1", "instance 0 is next", "order"});
    walks = view(three, 0, 1, 5);
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EINVAL);
    message_has({"5 steps", "for 2"});
    walks = view(three, 0, 1, 2);
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    EXPECT_EQ(csaw_writer_close(writer), CSAW_EINVAL);
    message_has({"only 1 of 2", "w.txt"});
    EXPECT_EQ(files(), 0u);
    EXPECT_EQ(csaw_writer_close(nullptr), CSAW_EINVAL);
    EXPECT_EQ(open_writer(nullptr, 1, 1, &writer), CSAW_EINVAL);
}

TEST_F(Writer, DiscardLeavesWhatWasThere) {
    std::ofstream(path("w.txt")) << "before";
    csaw_writer *writer = nullptr;
    csaw_walks walks = view(three, 0, 3, 2);
    ASSERT_EQ(open_writer(path("w.txt").c_str(), 3, 2, &writer), CSAW_OK);
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    csaw_writer_discard(writer);
    csaw_writer_discard(nullptr);
    EXPECT_EQ(read(path("w.txt")), "before");
    EXPECT_EQ(files(), 1u);
}

TEST_F(Writer, FollowsLinksAndWritesIntoPipes) {
    std::ofstream(path("real.txt")) << "before";
    fs::create_symlink("real.txt", folder / "link.txt");
    csaw_walks walks = view(three, 0, 3, 2);
    csaw_writer *writer = nullptr;
    ASSERT_EQ(open_writer(path("link.txt").c_str(), 3, 2, &writer), CSAW_OK);
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK);
    EXPECT_TRUE(fs::is_symlink(path("link.txt")));
    EXPECT_EQ(read(path("real.txt")), text_of_three);

    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    ASSERT_EQ(open_writer(path("pipe").c_str(), 3, 2, &writer), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK);
    ASSERT_EQ(csaw_writer_close(writer), CSAW_OK) << csaw_last_error();
    char got[100];
    EXPECT_EQ(std::string(got, static_cast<size_t>(::read(reader, got, sizeof got))), text_of_three);
    close(reader);
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(Writer, StandardOutput) {
    testing::internal::CaptureStdout();
    printf("first\n"); // kept in order with what the program printed
    csaw_writer *writer = nullptr;
    csaw_walks walks = view(three, 0, 3, 2);
    csaw_status opened = open_writer("-", 3, 2, &writer), put = csaw__writer_put(writer, &walks);
    csaw_status closed = csaw_writer_close(writer);
    printf("last\n");
    std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(opened | put | closed, CSAW_OK);
    EXPECT_EQ(text, std::string("first\n") + text_of_three + "last\n");
}

TEST_F(Writer, FullDisk) {
    if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full here to stand for a full disk";
    csaw_writer *writer = nullptr;
    csaw_walks walks = view(three, 0, 3, 2);
    ASSERT_EQ(open_writer("/dev/full", 3, 2, &writer), CSAW_OK);
    ASSERT_EQ(csaw__writer_put(writer, &walks), CSAW_OK); // in the buffer
    EXPECT_EQ(csaw_writer_close(writer), CSAW_EIO);
    message_has({"/dev/full", "after 0 bytes", "No space left", "free space"});
    EXPECT_TRUE(fs::is_character_file("/dev/full"));

    std::vector<csaw_vertex> many(3000000, 1234567);
    walks = view(many, 0, 1000000, 2);
    ASSERT_EQ(open_writer("/dev/full", 1000000, 2, &writer), CSAW_OK);
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EIO);
    message_has({"No space left"});
    EXPECT_EQ(csaw__writer_put(writer, &walks), CSAW_EIO);
    EXPECT_NE(csaw_writer_close(writer), CSAW_OK);
}

TEST_F(Writer, PlacesThatCannotBeWritten) {
    csaw_writer *writer = nullptr;
    EXPECT_EQ(open_writer((path("none") + "/w.txt").c_str(), 1, 1, &writer), CSAW_EIO);
    message_has({"none/w.txt", "No such file"});
    EXPECT_EQ(open_writer(folder.c_str(), 1, 1, &writer), CSAW_EIO);
    message_has({"directory"});
    EXPECT_EQ(open_writer(std::string(5000, 'x').c_str(), 1, 1, &writer), CSAW_EINVAL);
    message_has({"longer than 4083"});
    EXPECT_EQ(writer, nullptr);
}

TEST_F(Writer, EveryAllocationFailsInTurn) {
    for (const char *name : {"w.txt", "w.npy"}) {
        csaw_writer *writer = nullptr;
        csaw__fail_allocations_from(0);
        ASSERT_EQ(open_writer(path(name).c_str(), 1, 1, &writer), CSAW_OK);
        csaw_writer_discard(writer);
        uint64_t count = csaw__allocations_counted();
        writer = nullptr;
        for (uint64_t n = 1; n <= count; n++) {
            csaw__fail_allocations_from(n);
            EXPECT_EQ(open_writer(path(name).c_str(), 1, 1, &writer), CSAW_ENOMEM) << n;
            EXPECT_EQ(writer, nullptr);
            EXPECT_EQ(files(), 0u);
        }
        csaw__fail_allocations_from(0);
    }
}

} // namespace
