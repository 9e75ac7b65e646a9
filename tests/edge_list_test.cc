// SPDX-License-Identifier: MIT
// edge_list_test.cc - graphs from and to files: accepted spellings, a table of bad texts, gzip, broken files, full
// disks.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "graph_files.h"

namespace {

class EdgeList : public GraphFiles {};

// Ids are vertex numbers in this file; load_formats_test.cc has names.
csaw_load_options with_columns(const char *columns, bool keep = false) {
    csaw_load_options options = {};
    options.format = "text";
    options.columns = columns;
    options.keep_gaps = true;
    options.keep_loops = options.keep_duplicates = keep;
    return options;
}

// "3: 0>1 0>2=0.5 ..." : vertices, then arcs with their weights if there are any.
std::string describe(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::ostringstream text;
    text << csr.num_vertices << ":";
    for (uint64_t v = 0; v < csr.num_vertices; v++)
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++) {
            text << " " << v << ">" << csr.col[e];
            if (csr.weight) text << "=" << csr.weight[e];
        }
    return text.str();
}

bool equal(const csaw_graph *a, const csaw_graph *b) {
    csaw_csr x = csaw_graph_csr(a), y = csaw_graph_csr(b);
    if (x.num_vertices != y.num_vertices || x.num_edges != y.num_edges || !x.weight != !y.weight) return false;
    return std::equal(x.rowptr, x.rowptr + x.num_vertices + 1, y.rowptr) &&
           std::equal(x.col, x.col + x.num_edges, y.col) &&
           (!x.weight || std::equal(x.weight, x.weight + x.num_edges, y.weight));
}

TEST_F(EdgeList, Spellings) {
    struct Case {
        const char *text, *columns, *expected;
    };
    const Case cases[] = {
        {"", nullptr, "0:"},
        {"# nothing\n% here\n\n  \t\n", nullptr, "0:"},
        {"0 1\n1 2\n", nullptr, "3: 0>1 1>2"},
        {"0 1\n1 2", nullptr, "3: 0>1 1>2"},
        {"0\t1\r\n\r\n# note\r\n1\t2\r\n", nullptr, "3: 0>1 1>2"},
        {"0 1\r\n1 2\r\n", "src,dst", "3: 0>1 1>2"},
        {"  0,1\n\t1 , 2\n   # indented comment\n", nullptr, "3: 0>1 1>2"},
        {"\xef\xbb\xbf"
         "0 1\n",
         nullptr, "2: 0>1"},
        {"000 00000000000000000000002\n", nullptr, "3: 0>2"},
        {"5 5\n", nullptr, "6:"},
        {"0 1 7\n0 2 0.5\n", nullptr, "3: 0>1=7 0>2=0.5"},
        {"0 1 7\n0 2 0.5 note\n", "src,dst", "3: 0>1 0>2"},
        {"0 1\n0 2 0.5\n", nullptr, "3: 0>1 0>2"},
        {"0,1,7,1999\n0,2,.25,2000\r\n", nullptr, "3: 0>1=7 0>2=0.25"},
        {"# heading\n\n0 1 1e3\n0 2 -2.5E-1\n0 3 +4.\n", "src,dst,weight", "4: 0>1=1000 0>2=-0.25 0>3=4"},
        {"0 1 2 \t\r\n0 1 3\n", nullptr, "2: 0>1=5"},
        {"0 1   \n", nullptr, "2: 0>1"},
        {"0 1,\n", nullptr, "2: 0>1"},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.text);
        Graph graph(nullptr, csaw_graph_free);
        for (const auto &path : {write("a.txt", test.text), write_gzip("a.gz", test.text)}) {
            ASSERT_EQ(load(path, with_columns(test.columns), &graph), CSAW_OK) << csaw_last_error();
            EXPECT_EQ(describe(graph.get()), test.expected);
        }
    }
}

TEST_F(EdgeList, MangledTexts) {
    struct Case {
        const char *text, *columns;
        std::vector<std::string> parts;
    };
    const Case cases[] = {
        {"0 1\nsource target\n", nullptr, {":2: 'source target'", "column 1, the source", "vertex id", "comment"}},
        {"0 1\n7\n", nullptr, {":2: '7'", "column 2, the destination, is missing"}},
        {"7\n", nullptr, {":1: '7'", "column 2, the destination, is missing"}},
        {"7\r\n", nullptr, {":1: '7':", "column 2, the destination, is missing"}},
        {"# a\n\n-1 2\n", nullptr, {":3: '-1 2'", "column 1", "0 to 4294967293", "renumber"}},
        {"1 -2\n", nullptr, {":1: '1 -2'", "column 2, the destination", "0 to 4294967293"}},
        {"1.5 2\n", nullptr, {":1: '1.5 2'", "whole number"}},
        {"1 2x\n", nullptr, {":1: '1 2x'", "column 2, the destination", "whole number"}},
        {"1;2\n", nullptr, {":1: '1;2'", "whole number"}},
        {"1,,2\n", nullptr, {":1: '1,,2'", "column 2, the destination, is missing"}},
        {"+1 2\n", nullptr, {":1: '+1 2'"}},
        {"0 4294967294\n", nullptr, {":1: '0 4294967294'", "range", "4294967293", "renumber"}},
        {"4294967295 0\n", nullptr, {":1:", "4294967293"}},
        {"99999999999999999999999999999 0\n", nullptr, {":1:", "4294967293"}},
        {"18446744073709551616 0\n", nullptr, {":1:", "4294967293"}},
        {"0 1 2\n0 1\n", nullptr, {":2: '0 1'", "column 3, the weight, is missing", "\"src,dst\""}},
        {"0 1\n", "src,dst,weight", {":1: '0 1'", "column 3, the weight, is missing"}},
        {"0 1 friend\n", nullptr, {":1: '0 1 friend'", "decimal", "\"src,dst\""}},
        {"0 1 nan\n", nullptr, {":1: '0 1 nan'", "finite"}},
        {"0 1 inf\n", nullptr, {":1: '0 1 inf'", "finite"}},
        {"0 1 -Infinity\n", nullptr, {":1:", "finite"}},
        {"0 1 0x10\n", nullptr, {":1: '0 1 0x10'", "decimal"}},
        {"0 1 1e\n", nullptr, {":1: '0 1 1e'", "decimal"}},
        {"0 1 .\n", nullptr, {":1: '0 1 .'", "decimal"}},
        {"0 1 1.2.3\n", nullptr, {":1:", "decimal"}},
        {"0 1 1e39\n", nullptr, {":1: '0 1 1e39'", "float", "scale"}},
        {"0 1 1e-60\n", nullptr, {":1: '0 1 1e-60'", "float"}},
        {"0 1 1e999999999999\n", nullptr, {":1:", "float"}},
        {"0 1\r1 2\r", nullptr, {":1: '0 1?1 2'", "carriage return", "dos2unix"}},
        {"# old\r0 1\r", nullptr, {":1:", "carriage return"}},
        {"0 1 9\r2 3\n", "src,dst", {":1:", "carriage return"}},
        {"\x01\x02\x03", nullptr, {":1: '?\?\?'"}},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.text);
        std::string path = write("bad.txt", test.text);
        Graph graph(nullptr, csaw_graph_free);
        EXPECT_EQ(load(path, with_columns(test.columns), &graph), CSAW_EFORMAT);
        message_has({path});
        message_has(test.parts);
    }
    Graph graph(nullptr, csaw_graph_free);
    std::string zero = write("zero.txt", std::string("0 1\n0\0 1\n", 9));
    EXPECT_EQ(load(zero, with_columns(nullptr), &graph), CSAW_EFORMAT);
    message_has({":2: '0? 1'"});
    std::string longer = write("long.txt", "0 1\n# " + std::string(3 << 20, 'x') + "\n");
    EXPECT_EQ(load(longer, with_columns(nullptr), &graph), CSAW_EFORMAT);
    message_has({longer + ":2:", "1048576"});
    std::string line = write("line.txt", "0 1\nx" + std::string(500, 'y') + "\n");
    EXPECT_EQ(load(line, with_columns(nullptr), &graph), CSAW_EFORMAT);
    message_has({"yyy...'"});
    csaw_load_options unknown = {};
    unknown.format = "el";
    EXPECT_EQ(load(write("ok.txt", "0 1\n"), unknown, &graph), CSAW_EINVAL);
    message_has({"\"el\"", "text"});
}

// Any bytes at all: an answer, never a crash. ASan and UBSan see the rest.
TEST_F(EdgeList, RandomBytes) {
    std::mt19937 random(11);
    const char letters[] = "0123456789  \t,\n\n\r#%-+.eEx\xff";
    int accepted = 0, refused = 0;
    for (int round = 0; round < 500; round++) {
        std::string text;
        for (unsigned i = random() % 40; i > 0; i--) text += letters[random() % (sizeof letters - 1)];
        // Ids of at most 4 digits: the test is about text, not about graphs of 2^32 rows.
        for (size_t i = 0, run = 0; i < text.size(); i++)
            if ((run = isdigit(static_cast<unsigned char>(text[i])) ? run + 1 : 0) > 4) text[i] = ' ', run = 0;
        Graph graph(nullptr, csaw_graph_free);
        csaw_status status = load(write("r.txt", text), with_columns(nullptr), &graph);
        ASSERT_TRUE(status == CSAW_OK || status == CSAW_EFORMAT) << csaw_last_error();
        (status == CSAW_OK ? accepted : refused)++;
    }
    EXPECT_GT(accepted, 10);
    EXPECT_GT(refused, 10);
}

TEST_F(EdgeList, WeightsAreTheNearestFloats) {
    std::mt19937_64 random(3);
    std::string text;
    for (int i = 0; i < 20000; i++) {
        char number[64];
        int digits = 1 + static_cast<int>(random() % 25);
        for (int d = 0; d < digits; d++) number[d] = static_cast<char>('0' + random() % 10);
        number[random() % static_cast<unsigned>(digits)] = "0123456789."[random() % 11];
        snprintf(number + digits, sizeof number - 25, "e%d", static_cast<int>(random() % 30) - 25);
        if (number[0] == '.' && digits == 1) number[0] = '1';
        text += "0 " + std::to_string(i) + " " + number + "\n";
    }
    Graph graph(nullptr, csaw_graph_free);
    ASSERT_EQ(load(write("w.txt", text), with_columns("src,dst,weight", true), &graph), CSAW_OK) << csaw_last_error();
    std::istringstream lines(text);
    std::string u, v, number;
    csaw_csr csr = csaw_graph_csr(graph.get());
    for (int i = 0; lines >> u >> v >> number; i++)
        ASSERT_EQ(csr.weight[i], static_cast<float>(strtod(number.c_str(), nullptr))) << number;
}

TEST_F(EdgeList, ManyChunksAndThreadsGiveOneGraph) {
    std::mt19937 random(5);
    std::string text = "# heading\n";
    const int lines = 400000; // about 5 MB: several chunks
    for (int i = 0; i < lines; i++)
        text += std::to_string(random() % 50000) + (i % 3 ? " " : ",") + std::to_string(random() % 50000) + "\t" +
                std::to_string(random() % 1000) + "e-2" + (i % 5 ? "\n" : "\r\n");
    std::string path = write("big.txt", text), packed = write_gzip("big.gz", text, "wb1");
    Graph first(nullptr, csaw_graph_free), other(nullptr, csaw_graph_free);
    if (omp_set_num_threads) omp_set_num_threads(1);
    ASSERT_EQ(load(path, with_columns(nullptr, true), &first), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(csaw_graph_csr(first.get()).num_edges, static_cast<uint64_t>(lines));
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    std::istringstream again(text.substr(10));
    for (std::string line; std::getline(again, line);) {
        unsigned u, v;
        double w;
        ASSERT_EQ(sscanf(line.c_str(), "%u%*[ ,]%u %lf", &u, &v, &w), 3);
        src.push_back(u), dst.push_back(v), weight.push_back(static_cast<float>(w));
    }
    csaw_edges edges = {0, src.size(), src.data(), dst.data(), weight.data(), nullptr, nullptr};
    csaw_load_options keep = with_columns(nullptr, true);
    keep.size = sizeof keep;
    csaw_graph *reference = nullptr;
    ASSERT_EQ(csaw_graph_from_edges(&edges, &keep, &reference), CSAW_OK);
    other.reset(reference);
    EXPECT_TRUE(equal(first.get(), other.get()));
    for (int threads : {2, 7}) {
        if (omp_set_num_threads) omp_set_num_threads(threads);
        for (const auto &file : {path, packed}) {
            ASSERT_EQ(load(file, with_columns(nullptr, true), &other), CSAW_OK) << csaw_last_error();
            EXPECT_TRUE(equal(first.get(), other.get()));
        }
        // The earliest of two faults, in the right line, though another thread may meet the later one first.
        Graph none(nullptr, csaw_graph_free);
        EXPECT_EQ(load(write("bad.txt", text + "bad one\n" + text + "bad two\n"), with_columns(nullptr), &none),
                  CSAW_EFORMAT);
        message_has({":" + std::to_string(lines + 2) + ": 'bad one'"});
    }
}

TEST_F(EdgeList, GzipMembersDamageAndTruncation) {
    Graph graph(nullptr, csaw_graph_free);
    std::string two = write_gzip("two.gz", "0 1\n1 ");
    write_gzip("two.gz", "2\n", "ab");
    ASSERT_EQ(load(two, {}, &graph), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(describe(graph.get()), "3: 0>1 1>2");

    std::string text;
    for (int i = 0; i < 20000; i++) text += std::to_string(i * 7919 % 20011) + " " + std::to_string(i) + "\n";
    std::string whole = read(write_gzip("whole.gz", text));
    for (size_t bytes : {size_t{2}, size_t{9}, size_t{11}, whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
        std::string path = write("cut.gz", whole.substr(0, bytes));
        EXPECT_EQ(load(path, {}, &graph), CSAW_EIO) << bytes;
        message_has({path, "cut off"});
    }
    std::string flipped = whole;
    flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1); // in the checksum
    EXPECT_EQ(load(write("flip.gz", flipped), {}, &graph), CSAW_EIO);
    message_has({"damaged", "flip.gz"});
    EXPECT_EQ(load(write("tail.gz", whole + "tail"), {}, &graph), CSAW_EIO);
    message_has({"other bytes follow"});
}

TEST_F(EdgeList, FilesThatCannotBeRead) {
    Graph graph(nullptr, csaw_graph_free);
    EXPECT_EQ(load((folder / "absent").string(), {}, &graph), CSAW_EIO);
    message_has({"absent", "No such file"});
    EXPECT_EQ(load(folder.string(), {}, &graph), CSAW_EIO);
    message_has({"directory"});
    csaw_graph *none = nullptr;
    EXPECT_EQ(csaw_graph_load(nullptr, nullptr, &none), CSAW_EINVAL);
    if (geteuid() == 0) GTEST_SKIP() << "skipped: root may read every file, so permissions cannot be tested";
    std::string path = write("secret", "0 1\n");
    chmod(path.c_str(), 0);
    EXPECT_EQ(load(path, {}, &graph), CSAW_EIO);
    message_has({"ermission denied"});
}

TEST_F(EdgeList, EveryAllocationFailsInTurn) {
    std::string text = "0 1 2\n1 2 3\n1 2 4\n";
    csaw_load_options options = {};
    csaw_graph *graph = nullptr;
    const auto path = write("a.txt", text), packed = write_gzip("a.gz", text);
    for (const auto &file : {path, packed}) {
        csaw__fail_allocations_from(0);
        Graph whole(nullptr, csaw_graph_free);
        ASSERT_EQ(load(file, options, &whole), CSAW_OK);
        uint64_t count = csaw__allocations_counted();
        for (uint64_t n = 1; n <= count; n++) {
            csaw__fail_allocations_from(n);
            EXPECT_EQ(csaw_graph_load(file.c_str(), nullptr, &graph), CSAW_ENOMEM) << n << " of " << count;
            message_has({"no memory"});
        }
        for (const char *name : {"out.txt", "out.gz"}) {
            const std::string out = (folder / name).string();
            csaw__fail_allocations_from(0);
            ASSERT_EQ(csaw_graph_save(whole.get(), out.c_str()), CSAW_OK);
            count = csaw__allocations_counted();
            fs::remove(out);
            const size_t before = files();
            for (uint64_t n = 1; n <= count; n++) {
                csaw__fail_allocations_from(n);
                EXPECT_EQ(csaw_graph_save(whole.get(), out.c_str()), CSAW_ENOMEM) << n << " of " << count;
                EXPECT_EQ(files(), before);
            }
            csaw__fail_allocations_from(0);
        }
    }
    EXPECT_EQ(graph, nullptr);
}

TEST_F(EdgeList, SaveAndLoadGiveTheSameGraph) {
    std::mt19937 random(9);
    std::vector<csaw_vertex> src, dst;
    std::vector<float> weight;
    const float special[] = {0.0f, -0.0f, 1e-45f, 3.4028235e38f, -1.17549435e-38f, 0.1f, 16777216.0f, 1e6f};
    for (int i = 0; i < 100000; i++) {
        src.push_back(random() % 5000);
        dst.push_back(random() % 5000);
        weight.push_back(
            i < 8 ? special[i]
                  : std::ldexp(static_cast<float>(random() % 16777216), static_cast<int>(random() % 60) - 40));
    }
    for (bool weighted : {false, true})
        for (bool keep : {false, true})
            for (const char *name : {"g.txt", "g.txt.gz"}) {
                csaw_edges edges = {0,       src.size(), src.data(), dst.data(), weighted ? weight.data() : nullptr,
                                    nullptr, nullptr};
                csaw_load_options options = with_columns(nullptr, keep);
                options.size = sizeof options;
                csaw_graph *made = nullptr;
                ASSERT_EQ(csaw_graph_from_edges(&edges, &options, &made), CSAW_OK);
                Graph graph(made, csaw_graph_free), loaded(nullptr, csaw_graph_free);
                std::string path = (folder / name).string();
                ASSERT_EQ(csaw_graph_save(made, path.c_str()), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(read(path).substr(0, 2) == "\x1f\x8b", path.back() == 'z');
                ASSERT_EQ(load(path, options, &loaded), CSAW_OK) << csaw_last_error();
                EXPECT_TRUE(equal(made, loaded.get()));
            }
    EXPECT_EQ(files(), 2u); // no .part is left
}

TEST_F(EdgeList, SaveWritesPlainText) {
    csaw_vertex src[] = {0, 1, 10}, dst[] = {10, 0, 1};
    float weight[] = {1, 0.5f, 4294967040.0f};
    csaw_edges edges = {0, 3, src, dst, weight, nullptr, nullptr};
    csaw_graph *graph = nullptr;
    ASSERT_EQ(csaw_graph_from_edges(&edges, nullptr, &graph), CSAW_OK);
    std::string path = write("g.txt", "before");
    ASSERT_EQ(csaw_graph_save(graph, path.c_str()), CSAW_OK);
    EXPECT_EQ(read(path),
              "# csaw graph: columns src,dst,weight vertices 0 to 10\n0 10 1\n1 0 0.5\n10 1 4.29496704e+09\n");
    csaw_graph_free(graph);
}

TEST_F(EdgeList, SaveThatFailsLeavesWhatWasThere) {
    csaw_vertex src[] = {0}, dst[] = {1};
    float weight[] = {NAN};
    csaw_edges edges = {0, 1, src, dst, weight, nullptr, nullptr};
    csaw_graph *made = nullptr;
    ASSERT_EQ(csaw_graph_from_edges(&edges, nullptr, &made), CSAW_OK);
    Graph graph(made, csaw_graph_free);
    std::string path = write("g.txt", "before");
    EXPECT_EQ(csaw_graph_save(made, path.c_str()), CSAW_EUNSUPPORTED);
    message_has({path, "0 -> 1", "nan"});
    EXPECT_EQ(read(path), "before");
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(csaw_graph_save(made, (folder / "none" / "g.txt").c_str()), CSAW_EIO);
    message_has({"No such file"});
    EXPECT_EQ(csaw_graph_save(made, folder.c_str()), CSAW_EIO);
    message_has({"directory"});
    EXPECT_EQ(csaw_graph_save(made, nullptr), CSAW_EINVAL);
    for (const char *suffix : {".csv", ".tsv", ".mtx", ".npz", ".gr", ".xz", ".csv.gz", ".tsv.gz", ".mtx.gz", ".npz.gz",
                               ".gr.gz", ".csaw.xz"}) { /* read, but not written */
        const std::string path = (folder / "graph").string() + suffix;
        EXPECT_EQ(csaw_graph_save(made, path.c_str()), CSAW_EINVAL);
        message_has({path, "does not write", ".txt.gz"});
        EXPECT_FALSE(std::ifstream(path).good());
    }
    path = (folder / "graph.csaw.gz").string();
    EXPECT_EQ(csaw_graph_save(made, path.c_str()), CSAW_EINVAL);
    message_has({path, "not compressed", "leave .gz off"});
    EXPECT_FALSE(std::ifstream(path).good());
    EXPECT_EQ(csaw_graph_save(nullptr, path.c_str()), CSAW_EINVAL);
    if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full here to stand for a full disk";
    weight[0] = 1;
    ASSERT_EQ(csaw_graph_from_edges(&edges, nullptr, &made), CSAW_OK);
    graph.reset(made);
    EXPECT_EQ(csaw_graph_save(made, "/dev/full"), CSAW_EIO);
    message_has({"/dev/full", "No space left", "free space"});
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

} // namespace
