// SPDX-License-Identifier: MIT
// csaw_file_test.cc - .csaw files: every kind of graph comes back as it was, and no damage goes unseen.
#include "graph_cases.h"

#include "runtime/base/checksum.h"
#include "runtime/base/csaw_file.h"
extern "C" {
#include "runtime/base/csaw_layout.h"
}

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace {

using namespace graph_cases;
namespace fs = std::filesystem;

class CsawFile : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::path memory = "/dev/shm"; // writing to disk is not waited for there
        std::string name =
            ((access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path()) / "csaw_file_XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string path(const char *name = "g.csaw") { return (folder / name).string(); }
    static std::string read(const std::string &path) {
        std::stringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }
    void write(const std::string &bytes) { std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes; }
    void flip(uint64_t at, int bits) {
        std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(static_cast<std::streamoff>(at));
        int byte = file.get();
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(byte ^ bits));
        ASSERT_TRUE(file.flush());
    }
    std::string saved(const csaw_graph *graph) {
        EXPECT_EQ(csaw_graph_save(graph, path().c_str()), CSAW_OK) << csaw_last_error();
        return read(path());
    }
    csaw_status open(Graph *out, const csaw_load_options *options = nullptr) {
        csaw_graph *graph = nullptr;
        csaw_status status = csaw__csaw_open(path().c_str(), options, &graph);
        EXPECT_EQ(graph != nullptr, status == CSAW_OK);
        *out = Graph(graph, csaw_graph_free);
        return status;
    }
    csaw_status open() {
        Graph graph(nullptr, csaw_graph_free);
        return open(&graph);
    }
    // The file with its header changed and summed anew: what only a wrong writer makes.
    void forge(std::string bytes, const std::function<void(csaw__file_header *)> &change) {
        csaw__file_header header;
        memcpy(&header, bytes.data(), sizeof header);
        change(&header);
        header.checksum = csaw__xxh64(&header, sizeof header - sizeof header.checksum);
        memcpy(bytes.data(), &header, sizeof header);
        write(bytes);
    }

    fs::path folder;
};

TEST_F(CsawFile, RoundTripOfEveryKindOfGraph) {
    for (int columns = 0; columns < 8; columns++)
        for (Names names : {NONE, NUMBERS, WORDS})
            for (int order = 0; order < 2; order++) {
                Graph graph = make(columns, names), back(nullptr, csaw_graph_free);
                if (order) {
                    csaw_graph *sorted = nullptr;
                    ASSERT_EQ(csaw_graph_by_degree(graph.get(), &sorted), CSAW_OK);
                    graph.reset(sorted);
                }
                std::string bytes = saved(graph.get());
                ASSERT_EQ(open(&back), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(equal(graph.get(), back.get()));
                EXPECT_EQ(csaw_graph_checksum(graph.get()), csaw_graph_checksum(back.get()));
                EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(saved(back.get()), bytes); // over the file that is mapped
            }
}

TEST_F(CsawFile, IsLoadedLikeAnyGraph) {
    Graph graph = make(WEIGHT | TIME, WORDS);
    saved(graph.get());
    csaw_graph *back = nullptr;
    ASSERT_EQ(csaw_graph_load(path().c_str(), nullptr, &back), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(equal(graph.get(), back));
    csaw_graph_free(back);
}

TEST_F(CsawFile, EmptyGraphs) {
    for (uint64_t n : {0, 3}) {
        Edges edges;
        edges.num_vertices = n;
        Graph graph = build(edges, {}), back(nullptr, csaw_graph_free);
        saved(graph.get());
        ASSERT_EQ(open(&back), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(back->csr.num_vertices, n);
        EXPECT_EQ(back->csr.num_edges, 0u);
        EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_OK) << csaw_last_error();
    }
}

TEST_F(CsawFile, TellsByContentOrName) {
    saved(make(0, NONE).get());
    EXPECT_TRUE(csaw__is_csaw_file(path().c_str()));
    fs::rename(path(), path("renamed.txt"));
    EXPECT_TRUE(csaw__is_csaw_file(path("renamed.txt").c_str()));
    std::ofstream(path("g.txt")) << "0 1\n";
    EXPECT_FALSE(csaw__is_csaw_file(path("g.txt").c_str()));
    std::ofstream(path("empty.csaw"));
    EXPECT_TRUE(csaw__is_csaw_file(path("empty.csaw").c_str())); // so that what is said of it is of use
    EXPECT_FALSE(csaw__is_csaw_file(path("absent.csaw").c_str()));
    EXPECT_FALSE(csaw__is_csaw_file(folder.c_str()));
    EXPECT_FALSE(csaw__is_csaw_file(nullptr));
}

TEST_F(CsawFile, EveryTruncationIsRefused) {
    std::string bytes = saved(make(WEIGHT, WORDS, 5, 12).get());
    for (size_t length = bytes.size(); length-- > 0;) {
        fs::resize_file(path(), length);
        ASSERT_EQ(open(), CSAW_EFORMAT) << length;
        ASSERT_TRUE(message_has({path(), length < 8 ? "is not a .csaw file" : "cut short"})) << length;
    }
    EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_EFORMAT);
    write(bytes + "x");
    EXPECT_EQ(open(), CSAW_EFORMAT);
    message_has({"was added to"});
}

TEST_F(CsawFile, EveryFlippedByteOfTheHeaderIsRefused) {
    saved(make(TYPE, NUMBERS, 5, 12).get());
    for (size_t at = 0; at < CSAW__FILE_PAGE; at++)
        for (int bits : {1 << at % 8, 0xff}) {
            flip(at, bits);
            csaw_status status = open();
            ASSERT_TRUE(status == CSAW_EFORMAT || status == CSAW_EUNSUPPORTED) << at;
            flip(at, bits);
        }
    EXPECT_EQ(open(), CSAW_OK) << csaw_last_error();
}

// The bytes between sections mean nothing; every other one is summed.
TEST_F(CsawFile, EveryFlippedByteOfTheDataIsFoundByVerify) {
    const std::string bytes = saved(make(7, WORDS, 5, 12).get());
    csaw__file_header header;
    memcpy(&header, bytes.data(), sizeof header);
    for (uint64_t s = 0; s < header.num_sections; s++)
        for (uint64_t i = 0; i < header.section[s].bytes; i++) {
            flip(header.section[s].offset + i, 4);
            ASSERT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_EFORMAT) << s << " " << i;
            ASSERT_TRUE(message_has({path(), "damaged"}));
            flip(header.section[s].offset + i, 4);
        }
}

TEST_F(CsawFile, ClearErrors) {
    const std::string bytes = saved(make(WEIGHT, NUMBERS).get());
    struct Case {
        const char *what;
        std::function<void(csaw__file_header *)> change;
        csaw_status status;
        std::vector<std::string> parts;
    };
    const Case cases[] = {
        {"newer", [](auto *h) { h->version = 2; }, CSAW_EUNSUPPORTED, {"version 2", "up to 1", "newer csaw"}},
        {"big-endian", [](auto *h) { h->order = 0x0d0c0b0a; }, CSAW_EUNSUPPORTED, {"byte order", "little-endian"}},
        {"vertices",
         [](auto *h) { h->num_vertices = 0xffffffff; },
         CSAW_EFORMAT,
         {"4294967295 vertices", "4294967294"}},
        {"arcs", [](auto *h) { h->num_edges = uint64_t{1} << 62; }, CSAW_EFORMAT, {"4611686018427387904 arcs"}},
        {"fewer vertices", [](auto *h) { h->num_vertices--; }, CSAW_EFORMAT, {"row offsets", "49 vertices"}},
        {"degree", [](auto *h) { h->max_degree = h->num_edges + 1; }, CSAW_EFORMAT, {"row of 401 arcs", "400 in all"}},
        {"flags", [](auto *h) { h->flags |= 4; }, CSAW_EUNSUPPORTED, {"flags 0x", "newer csaw"}},
        {"sections", [](auto *h) { h->num_sections = 17; }, CSAW_EFORMAT, {"17 sections", "16"}},
        {"beyond",
         [](auto *h) { h->section[1].offset += 4096 * 100; },
         CSAW_EFORMAT,
         {"arcs", "beyond the file's end"}},
        {"wraps",
         [](auto *h) { h->section[1].offset = ~uint64_t{4095}; },
         CSAW_EFORMAT,
         {"arcs", "beyond the file's end"}},
        {"long", [](auto *h) { h->section[2].bytes = ~uint64_t{0}; }, CSAW_EFORMAT, {"weights", "beyond"}},
        {"odd", [](auto *h) { h->section[2].offset += 4; }, CSAW_EFORMAT, {"weights", "not a page's"}},
        {"header itself", [](auto *h) { h->section[0].offset = 0; }, CSAW_EFORMAT, {"row offsets", "not a page's"}},
        {"size", [](auto *h) { h->section[2].bytes -= 4; }, CSAW_EFORMAT, {"weights", "1596 bytes"}},
        {"width", [](auto *h) { h->section[2].width = 8; }, CSAW_EFORMAT, {"weights"}},
        {"kind", [](auto *h) { h->section[2].kind = 10; }, CSAW_EUNSUPPORTED, {"kind 10", "newer csaw"}},
        {"kind 0", [](auto *h) { h->section[2].kind = 0; }, CSAW_EUNSUPPORTED, {"kind 0"}},
        {"twice", [](auto *h) { h->section[2] = h->section[1]; }, CSAW_EFORMAT, {"arcs twice"}},
        {"absent", [](auto *h) { h->section[1] = h->section[--h->num_sections]; }, CSAW_EFORMAT, {"lacks its arcs"}},
        {"half",
         [](auto *h) { h->section[3].kind = CSAW__SECTION_NAME_TEXT, h->section[3].width = 1; },
         CSAW_EFORMAT,
         {"names' sections"}},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.what);
        forge(bytes, test.change);
        EXPECT_EQ(open(), test.status);
        message_has({path()});
        message_has(test.parts);
    }
    write("0 1\n1 2\n");
    EXPECT_EQ(open(), CSAW_EFORMAT);
    message_has({"is not a .csaw file", "csaw convert"});
    fs::remove(path());
    EXPECT_EQ(open(), CSAW_EIO);
    message_has({path(), "No such file"});
    fs::create_directory(path());
    EXPECT_NE(open(), CSAW_OK);
}

// A writer that sums right what is wrong: the sums agree, so the arrays themselves are looked at.
TEST_F(CsawFile, VerifyLooksAtTheArraysToo) {
    struct Case {
        const char *what;
        int section;
        size_t at;
        unsigned char value;
        std::vector<std::string> parts;
    };
    // path graph 0 -> 1, 1 -> 2, 1 -> 3; names -10 -9 -6 -1
    const Case cases[] = {
        {"a falling offset", 0, 8, 9, {"rowptr[2]", "less than"}},
        {"an arc out of bounds", 1, 0, 4, {"col[0] = 4"}},
        {"a row that descends", 1, 4, 4, {"col[1] = 4"}},
        {"a parallel arc that is not said", 1, 4, 3, {"no parallel arcs"}},
        {"names that do not ascend", 2, 8, 0xf6, {"names 0 and 1", "ascend"}},
    };
    Edges edges;
    edges.num_vertices = 4;
    edges.src = {0, 1, 1};
    edges.dst = {1, 2, 3};
    Graph graph = build(edges, {});
    add_names(graph.get(), NUMBERS);
    const std::string bytes = saved(graph.get());
    for (const Case &test : cases) {
        SCOPED_TRACE(test.what);
        std::string wrong = bytes;
        csaw__file_header before;
        memcpy(&before, bytes.data(), sizeof before);
        wrong[before.section[test.section].offset + test.at] = static_cast<char>(test.value);
        forge(wrong, [&](csaw__file_header *h) {
            csaw__file_section *section = &h->section[test.section];
            section->checksum = csaw__checksum(wrong.data() + section->offset, section->bytes);
        });
        EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_EFORMAT);
        message_has({path()});
        message_has(test.parts);
    }
    forge(bytes, [](auto *h) { h->max_degree = 3; });
    EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_EFORMAT);
    message_has({"longest row of 3", "longest is 2"});
    forge(bytes, [](auto *h) { h->graph_checksum++; });
    EXPECT_EQ(csaw_graph_verify_file(path().c_str()), CSAW_EFORMAT);
    message_has({"another checksum"});
}

TEST_F(CsawFile, OptionsCountWhenTheFileIsMade) {
    saved(make(0, NONE).get());
    Graph graph(nullptr, csaw_graph_free);
    csaw_load_options options = {};
    options.format = "csaw";
    EXPECT_EQ(open(&graph, &options), CSAW_OK);
    for (int which = 0; which < 5; which++) {
        options = {};
        options.undirected = which == 0;
        options.keep_loops = which == 1;
        options.keep_duplicates = which == 2;
        options.keep_gaps = which == 3;
        if (which == 4) options.columns = "src,dst";
        EXPECT_EQ(open(&graph, &options), CSAW_EINVAL) << which;
        message_has({path(), "csaw convert",
                     std::vector<std::string>{"undirected", "keep_loops", "keep_duplicates", "keep_gaps",
                                              "columns"}[static_cast<size_t>(which)]});
    }
}

TEST_F(CsawFile, EveryAllocationFailsInTurn) {
    Graph graph = make(7, WORDS);
    const std::string before = saved(graph.get());
    const std::function<csaw_status()> calls[] = {
        [&] { return csaw_graph_save(graph.get(), path().c_str()); },
        [&] { return open(); },
        [&] { return csaw_graph_verify_file(path().c_str()); },
    };
    for (const auto &call : calls) {
        csaw__fail_allocations_from(0);
        ASSERT_EQ(call(), CSAW_OK);
        uint64_t count = csaw__allocations_counted();
        ASSERT_GT(count, 0u);
        for (uint64_t n = 1; n <= count; n++) {
            csaw__fail_allocations_from(n);
            EXPECT_EQ(call(), CSAW_ENOMEM) << n;
        }
        csaw__fail_allocations_from(0);
        EXPECT_EQ(read(path()), before);
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1); // no temporary files
}

TEST_F(CsawFile, FullDiskIsSaid) {
    if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
    Graph graph = make(7, WORDS);
    fs::create_symlink("/dev/full", path());
    EXPECT_EQ(csaw_graph_save(graph.get(), path().c_str()), CSAW_EIO);
    message_has({"No space left", "free space"});
}

} // namespace
