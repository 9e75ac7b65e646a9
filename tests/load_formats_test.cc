// SPDX-License-Identifier: MIT
// load_formats_test.cc - every format of graph file: good files written here by hand against the arcs that they mean, a
// table of mangled ones against their messages, names, and the real files of CSAW_DATA against their known counts.
#include "tests/data_folder.h"
#include <lzma.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "graph_files.h"

namespace {

struct Options : csaw_load_options {
    explicit Options(const char *wanted = "") : csaw_load_options{} {
        size = sizeof(csaw_load_options);
        undirected = strchr(wanted, 'u');
        keep_loops = strchr(wanted, 'l');
        keep_duplicates = strchr(wanted, 'd');
        keep_gaps = strchr(wanted, 'g');
    }
    Options &with(const char *wanted_format, const char *wanted_columns = nullptr) {
        format = wanted_format;
        columns = wanted_columns;
        return *this;
    }
};

std::string name_of(const csaw_graph *graph, uint64_t v) {
    csaw_names names = csaw_graph_names(graph);
    if (names.number) return std::to_string(names.number[v]);
    if (names.offset) return std::string(names.text + names.offset[v], names.offset[v + 1] - names.offset[v]);
    return std::to_string(v);
}

// "a b | a>b=0.5 type time": the vertices by name, then the arcs with what they carry.
std::string describe(const csaw_graph *graph) {
    csaw_csr csr = csaw_graph_csr(graph);
    std::ostringstream text;
    for (uint64_t v = 0; v < csr.num_vertices; v++) text << name_of(graph, v) << " ";
    text << "|";
    for (uint64_t v = 0; v < csr.num_vertices; v++)
        for (csaw_edge e = csr.rowptr[v]; e < csr.rowptr[v + 1]; e++) {
            text << " " << name_of(graph, v) << ">" << name_of(graph, csr.col[e]);
            if (csr.weight) text << "=" << csr.weight[e];
            if (csr.type) text << "#" << csr.type[e];
            if (csr.time) text << "@" << csr.time[e];
        }
    return text.str();
}

std::string xz(const std::string &text) {
    std::string packed(lzma_stream_buffer_bound(text.size()), 0);
    size_t at = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t *>(text.data()),
                                      text.size(), reinterpret_cast<uint8_t *>(packed.data()), &at, packed.size()),
              LZMA_OK);
    return packed.substr(0, at);
}

std::string npy(const std::string &descr, const std::string &shape, const std::string &data) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
    header.back() = '\n';
    std::string size = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
    return std::string("\x93NUMPY\x01\x00", 8) + size + header + data;
}

template <typename T> std::string array(const std::string &descr, const std::vector<T> &values) {
    return npy(descr, "(" + std::to_string(values.size()) + ",)",
               std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)));
}

using Members = std::vector<std::pair<std::string, std::string>>;

class LoadFormats : public GraphFiles {
  protected:
    std::string write_npz(const std::string &name, const Members &members, bool deflate) const {
        std::string path = (folder / name).string();
        zip_t *zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
        for (const auto &[member, bytes] : members) {
            zip_int64_t at =
                zip_file_add(zip, (member + ".npy").c_str(), zip_source_buffer(zip, bytes.data(), bytes.size(), 0), 0);
            zip_set_file_compression(zip, static_cast<zip_uint64_t>(at), deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
        }
        EXPECT_EQ(zip_close(zip), 0);
        return path;
    }
    void expect(const std::string &path, const Options &options, const std::string &expected) const {
        Graph graph(nullptr, csaw_graph_free);
        ASSERT_EQ(load(path, options, &graph), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(describe(graph.get()), expected);
    }
    void refuse(const std::string &path, const Options &options, csaw_status status,
                const std::vector<std::string> &parts) const {
        Graph graph(nullptr, csaw_graph_free);
        ASSERT_EQ(load(path, options, &graph), status) << csaw_last_error();
        message_has(parts);
    }
};

TEST_F(LoadFormats, GoodTexts) {
    struct Case {
        const char *name, *text, *options, *format, *columns, *expected;
    };
    const Case cases[] = {
        {"a", "0 1\n1 2\n", "", nullptr, nullptr, "0 1 2 | 0>1 1>2"},
        {"gaps", "7 3\n3 9\n", "", nullptr, nullptr, "3 7 9 | 3>9 7>3"},
        {"gaps kept", "4 1\n", "g", nullptr, nullptr, "0 1 2 3 4 | 4>1"},
        {"wide", "-9223372036854775808 9223372036854775807\n5 -9223372036854775808\n", "", nullptr, nullptr,
         "-9223372036854775808 5 9223372036854775807 | -9223372036854775808>9223372036854775807 "
         "5>-9223372036854775808"},
        {"scattered", "4294967290 17\n", "", nullptr, nullptr, "17 4294967290 | 4294967290>17"},
        {"words", "bob alice\nalice 7\n", "", nullptr, nullptr, "7 alice bob | alice>7 bob>alice"},
        {"late words", "0 1\n1 2\nx 0\n", "", nullptr, nullptr, "0 1 2 x | 0>1 1>2 x>0"},
        {"too many digits are a word", "9223372036854775808 1\n", "", nullptr, nullptr,
         "1 9223372036854775808 | 9223372036854775808>1"},
        {"quoted words", "\"a b\" \"say \"\"hi\"\"\"\n", "", nullptr, nullptr, "a b say \"hi\" | a b>say \"hi\""},
        {"quoted numbers", "\"3\" \"4\"\n", "", nullptr, nullptr, "3 4 | 3>4"},
        {"columns", "17 0 x 1 2.5\n18 1 y 0 4\n", "", "text", "time,src,-,dst,weight", "0 1 | 0>1=2.5@17 1>0=4@18"},
        {"types", "0 1 4294967295\n0 1 7\n0 1 7\n", "", "text", "src,dst,type", "0 1 | 0>1#4294967295 0>1#7"},
        {"times", "0 1 -5\n0 1 9\n", "", "text", "src,dst,time", "0 1 | 0>1@-5 0>1@9"},
        {"undirected", "0 1 3\n", "u", nullptr, nullptr, "0 1 | 0>1=3 1>0=3"},
        {"loops", "2 2\n", "l", nullptr, nullptr, "2 | 2>2"},
        {"comma.csv", "source,target,note,weight\r\na,b,\"x, y\",2\r\nb,c,z,3\r\n", "", nullptr, nullptr,
         "a b c | a>b=2 b>c=3"},
        {"semicolon.csv", "New York; Rome\nRome;New York;4\n", "", nullptr, nullptr,
         "New York Rome | New York>Rome Rome>New York"},
        {"tab.tsv", "u v\t7\nx y\t8\n", "", nullptr, nullptr, "7 8 u v x y | u v>7 x y>8"},
        {"heading.csv", "person;friend;since\n3;4;5\n4;3;6\n", "", nullptr, "src,dst,time", "3 4 | 3>4@5 4>3@6"},
        {"timestamp.csv", "\"Timestamp\",\"Target\",\"Source\"\n9,2,1\n", "", nullptr, nullptr, "1 2 | 1>2@9"},
        {"general", "%%MatrixMarket matrix coordinate real general\n% note\n\n3 3 2\n1 2 0.5\n3 1 -2\n", "", nullptr,
         nullptr, "1 2 3 | 1>2=0.5 3>1=-2"},
        {"pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n4 2\n", "", nullptr, nullptr,
         "1 2 3 4 | 1>2 2>1 2>4 4>2"},
        {"skew", "%%MatrixMarket MATRIX Coordinate Integer Skew-Symmetric\n2 2 1\n2 1 3\n", "", nullptr, nullptr,
         "1 2 | 1>2=-3 2>1=3"},
        {"mtx gaps kept", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "g", nullptr, nullptr,
         "0 1 2 | 1>2"},
        {"sp", "c note\np sp 3 2\na 1 2 7\nc more\na 3 1 2\n", "", nullptr, nullptr, "1 2 3 | 1>2=7 3>1=2"},
        {"tw", "p tw 3 1\n2 3\n", "", nullptr, nullptr, "1 2 3 | 2>3 3>2"},
        {"none", "# nothing\n", "", nullptr, nullptr, "|"},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.name);
        Options options(test.options);
        options.with(test.format, test.columns);
        expect(write(test.name, test.text), options, test.expected);
        expect(write_gzip(std::string(test.name) + ".gz", test.text), options, test.expected);
        expect(write(std::string(test.name) + ".xz", xz(test.text)), options, test.expected);
    }
}

TEST_F(LoadFormats, MangledTexts) {
    struct Case {
        const char *text, *options, *format, *columns;
        csaw_status status;
        std::vector<std::string> parts;
    };
    const csaw_status bad = CSAW_EFORMAT, no = CSAW_EUNSUPPORTED;

    const Case cases[] = {
        {"src dst\n1 2\n", "", "text", nullptr, bad, {":1: 'src dst'", "heading", "#"}},
        {"1;2\n3;4\n", "", nullptr, nullptr, bad, {":1: '1;2'", "load as \"csv\" if semicolons separate them"}},
        {"a b\nc\n", "", "text", nullptr, bad, {":2: 'c'", "column 2, the destination, is missing"}},
        {"a b\n\"c d\n", "", "text", nullptr, bad, {":2:", "quote"}},
        {"a \x01z\n", "", "text", nullptr, bad, {":1:", "control"}},
        {"a b x\n", "", "text", nullptr, bad, {":1:", "column 3, the weight", "decimal"}},
        {"a b\n", "g", "text", nullptr, bad, {":1:", "column 1, the source", "whole number"}},
        {"0 1 -1\n", "", "text", "src,dst,type", bad, {":1:", "column 3, the type", "0 to 4294967295"}},
        {"0 1 1.5\n", "", "text", "src,dst,time", bad, {":1:", "column 3, the time", "64 bits"}},
        {"0 1\n", "", "text", "src,dst,colour", CSAW_EINVAL, {"'colour'", "weight, type, time"}},
        {"0 1\n", "", "text", "src,weight", CSAW_EINVAL, {"lacks dst"}},
        {"0 1\n", "", "text", "src,dst,src", CSAW_EINVAL, {"src twice"}},
        {"0 1\n", "", "text", "", CSAW_EINVAL, {"columns"}},
        {"# csaw graph: columns src,dst vertices 0 to 3\n0 4\n", "", nullptr, nullptr, bad, {":2:", "0 to 3"}},
        {"a,b\nc,\"d\n", "", "csv", nullptr, bad, {":2:", "quote"}},
        {"a,b\nc,d,\"e\n", "", "csv", nullptr, bad, {":2:", "quote"}},
        {"a,b\n,d\n", "", "csv", nullptr, bad, {":2:", "column 1, the source, is missing"}},
        {"%%MatrixMarket matrix array real general\n2 2\n", "", nullptr, nullptr, no, {"array", "mmwrite"}},
        {"%%MatrixMarket matrix coordinate complex general\n2 2 0\n", "", nullptr, nullptr, no, {"complex", "real"}},
        {"%%MatrixMarket matrix coordinate real hermitian\n2 2 0\n", "", nullptr, nullptr, no, {"complex"}},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 0\n", "", nullptr, nullptr, bad, {"signs"}},
        {"%%MatrixMarket vector coordinate real general\n2 2 0\n", "", nullptr, nullptr, no, {"'vector'"}},
        {"%%MatrixMarket matrix coordinate real\n2 2 0\n", "", nullptr, nullptr, bad, {":1:", "heading"}},
        {"%%MatrixMarket matrix coordinate real odd\n2 2 0\n", "", nullptr, nullptr, bad, {"'odd'"}},
        {"%%MatrixMarket matrix coordinate real general\n2 3 0\n", "", nullptr, nullptr, no, {":2:", "square"}},
        {"%%MatrixMarket matrix coordinate real general\n2\n", "", nullptr, nullptr, bad, {":2:", "size"}},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "", nullptr, nullptr, bad, {":3:", "1 to 2"}},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "", nullptr, nullptr, bad, {":3:", "1 to 2"}},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", "", nullptr, nullptr, bad, {":3:", "missing"}},
        {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n",
         "",
         nullptr,
         nullptr,
         bad,
         {"2 edges, but 1"}},
        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n", "", nullptr, "src,dst", CSAW_EINVAL, {"mtx"}},
        {"p sp 2\n", "", "gr", nullptr, bad, {":1:", "p sp n m"}},
        {"c only\n", "", "gr", nullptr, bad, {"p sp n m"}},
        {"p sp 2 1\n1 2 3\n", "", nullptr, nullptr, bad, {":2: '1 2 3'", "letter"}},
        {"p sp 2 1\na 1 3 3\n", "", nullptr, nullptr, bad, {":2:", "1 to 2"}},
        {"p sp 2 2\na 1 2 3\n", "", nullptr, nullptr, bad, {"2 edges, but 1"}},
        {"p tw 2 1\n1 x\n", "", nullptr, nullptr, bad, {":2:", "column 2, the destination"}},
        {"0 1\n", "", "csaw", nullptr, bad, {"csaw"}},
        {"0 1\n", "", "npz", nullptr, bad, {"zip"}},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.text);
        Options options(test.options);
        options.with(test.format, test.columns);
        refuse(write("bad", test.text), options, test.status, test.parts);
    }
}

Members sparse(const std::string &format, const std::string &data) {
    return {{"format", npy("|S3", "()", format)},
            {"shape", array<int64_t>("<i8", {3, 3})},
            {"data", data},
            {"indices", array<int32_t>("<i4", {1, 2, 0})},
            {"indptr", array<int32_t>("<i4", {0, 2, 2, 3})}};
}

TEST_F(LoadFormats, SparseMatrices) {
    const std::string weights = array<double>("<f8", {1, 2.5, 4});
    for (bool deflate : {false, true}) {
        expect(write_npz("csr.npz", sparse("csr", weights), deflate), Options(), "0 1 2 | 0>1=1 0>2=2.5 2>0=4");
        expect(write_npz("csc.npz", sparse("csc", weights), deflate), Options(), "0 1 2 | 0>2=4 1>0=1 2>0=2.5");
    }
    const Members coo = {{"format", npy("<U3", "()", std::string("c\0\0\0o\0\0\0o\0\0\0", 12))},
                         {"shape", array<int32_t>("<i4", {4, 4})},
                         {"data", array<uint8_t>("|b1", {1, 1})},
                         {"row", array<uint8_t>("|u1", {0, 2})},
                         {"col", array<int64_t>("<i8", {2, 1})}};
    std::string path = write_npz("coo", coo, true);
    expect(path, Options(), "0 1 2 3 | 0>2 2>1");
    expect(write("packed.xz", xz(read(path))), Options(), "0 1 2 3 | 0>2 2>1");
    for (const auto &data : {array<float>("<f4", {2, 3, 4}), array<int8_t>("|i1", {2, 3, 4}),
                             array<uint16_t>("<u2", {2, 3, 4}), array<int64_t>("<i8", {2, 3, 4})})
        expect(write_npz("types", sparse("csr", data), false), Options(), "0 1 2 | 0>1=2 0>2=3 2>0=4");
}

TEST_F(LoadFormats, MangledSparseMatrices) {
    const std::string ones = array<float>("<f4", {1, 1, 1});
    struct Case {
        const char *member;
        std::string bytes;
        csaw_status status;
        std::vector<std::string> parts;
    };
    const csaw_status bad = CSAW_EFORMAT, no = CSAW_EUNSUPPORTED;
    const Case cases[] = {
        {"format", npy("|S3", "()", "dia"), no, {"csr, csc, coo", ".tocsr()"}},
        {"format", "nonsense", bad, {"format.npy", ".npy format"}},
        {"shape", array<int64_t>("<i8", {3, 4}), no, {"3 rows and 4 columns", "square"}},
        {"shape", array<int64_t>("<i8", {-1, -1}), no, {"-1 rows"}},
        {"shape", array<int64_t>("<i8", {3}), bad, {"shape.npy", "1 entries"}},
        {"data", array<double>("<c16", {1, 0, 1, 0, 1, 0}), no, {"data.npy", "c16", "float"}},
        {"data", array<float>(">f4", {1, 1, 1}), no, {"data.npy", "byte order"}},
        {"data", array<float>("<f4", {1, NAN, 1}), bad, {"data.npy: entry 1 is nan"}},
        {"data", array<float>("<f4", {1, 1}), bad, {"indices.npy", "3 entries", "2"}},
        {"data", npy("<f4", "(1000,)", "abcd"), bad, {"data.npy", "1000 entries", "fetch"}},
        {"indices", array<int32_t>("<i4", {1, 3, 0}), bad, {"indices.npy: entry 1 is 3", "3 rows"}},
        {"indices", array<int32_t>("<i4", {1, -1, 0}), bad, {"indices.npy: entry 1 is -1"}},
        {"indices", array<float>("<f4", {1, 2, 0}), bad, {"indices.npy", "whole numbers"}},
        {"indptr", array<int32_t>("<i4", {0, 2, 1, 3}), bad, {"indptr.npy: entry 2 is 1"}},
        {"indptr", array<int32_t>("<i4", {1, 2, 2, 3}), bad, {"indptr.npy: entry 0 is 1"}},
        {"indptr", array<int32_t>("<i4", {0, 2, 2, 4}), bad, {"indptr.npy: entry 3 is 4"}},
        {"indptr", array<int32_t>("<i4", {0, 3}), bad, {"indptr.npy", "4"}},
    };
    for (const Case &test : cases) {
        SCOPED_TRACE(test.parts[0]);
        Members members = sparse("csr", ones);
        for (auto &[name, bytes] : members)
            if (name == test.member) bytes = test.bytes;
        refuse(write_npz("bad.npz", members, true), Options(), test.status, test.parts);
    }
    Members lacking = sparse("csr", ones);
    lacking.pop_back();
    refuse(write_npz("lacking.npz", lacking, true), Options(), bad, {"indptr.npy", "not in the archive"});
}

// Cut short anywhere: an error, never a crash and never a graph, in every packing.
TEST_F(LoadFormats, CutFiles) {
    std::string text;
    for (int i = 0; i < 2000; i++) text += std::to_string(i * 7919 % 2003) + " " + std::to_string(i) + "\n";
    std::mt19937 random(4);
    std::vector<uint32_t> ids(2000);
    std::vector<float> values(2000);
    for (auto &id : ids) id = random() % 2000;
    for (auto &value : values) value = static_cast<float>(random() % 100);
    const Members coo = {{"format", npy("|S3", "()", "coo")},
                         {"shape", array<int64_t>("<i8", {2000, 2000})},
                         {"data", array("<f4", values)},
                         {"row", array("<u4", ids)},
                         {"col", array("<u4", ids)}};
    for (const auto &whole : {read(write_gzip("whole.gz", text)), xz(text), read(write_npz("whole.npz", coo, true))}) {
        Graph graph(nullptr, csaw_graph_free);
        ASSERT_EQ(load(write("whole", whole), Options(), &graph), CSAW_OK) << csaw_last_error();
        for (size_t bytes = 6; bytes < whole.size(); bytes += 1 + whole.size() / 31) {
            csaw_status status = load(write("cut", whole.substr(0, bytes)), Options(), &graph);
            ASSERT_TRUE(status == CSAW_EIO || status == CSAW_EFORMAT) << bytes << " of " << whole.size();
        }
    }
    std::string flipped = xz(text);
    flipped[flipped.size() - 9] = static_cast<char>(flipped[flipped.size() - 9] ^ 16); // in the footer
    refuse(write("flipped.xz", flipped), Options(), CSAW_EIO, {"xz", "damaged"});
    refuse(write("cut.xz", xz(text).substr(0, 100)), Options(), CSAW_EIO, {"xz", "cut off"});
}

TEST_F(LoadFormats, EveryAllocationFailsInTurn) {
    const std::string files[] = {write("a.txt", "x y 1\ny z 2\n"),
                                 write("wide.txt", "9000000000 1\n1 -4\n"),
                                 write("gaps.txt", "7 3\n3 9\n"),
                                 write("a.csv", "source,target\n1,2\n"),
                                 write("a.xz", xz("0 1\n1 2\n")),
                                 write("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n"),
                                 write("a.gr", "p sp 2 1\na 1 2 3\n"),
                                 write_npz("a.npz", sparse("csr", array<float>("<f4", {1, 2, 3})), true)};
    if (omp_set_num_threads) omp_set_num_threads(1);
    for (const auto &file : files) {
        SCOPED_TRACE(file);
        Graph graph(nullptr, csaw_graph_free);
        csaw__fail_allocations_from(0);
        ASSERT_EQ(load(file, Options(), &graph), CSAW_OK) << csaw_last_error();
        const uint64_t count = csaw__allocations_counted();
        for (uint64_t n = 1; n <= count; n++) {
            csaw__fail_allocations_from(n);
            EXPECT_EQ(load(file, Options(), &graph), CSAW_ENOMEM) << n << " of " << count;
        }
        csaw__fail_allocations_from(0);
    }
}

// Words, wide ids and gaps over many chunks: the same graph on any number of threads, and the one that a map makes.
TEST_F(LoadFormats, NamesOnAnyNumberOfThreads) {
    std::mt19937_64 random(8);
    for (const char *prefix : {"", "90000000", "v"}) {
        std::string text;
        for (int i = 0; i < 50000; i++) {
            text += prefix + std::to_string(random() % 40000 * 3) + " ";
            text += prefix + std::to_string(random() % 40000 * 3) + "\n";
        }
        std::string path = write("names.txt", text), expected;
        for (int threads : {1, 2}) {
            if (omp_set_num_threads) omp_set_num_threads(threads);
            Graph graph(nullptr, csaw_graph_free);
            ASSERT_EQ(load(path, Options("ld"), &graph), CSAW_OK) << csaw_last_error();
            std::string got = describe(graph.get());
            if (expected.empty()) expected = got;
            EXPECT_TRUE(got == expected) << threads;
        }
        std::vector<std::string> arcs, found;
        std::istringstream lines(text), words(expected.substr(expected.find('|') + 1));
        for (std::string u, v; lines >> u >> v;) arcs.push_back(u + ">" + v);
        for (std::string arc; words >> arc;) found.push_back(arc);
        std::sort(arcs.begin(), arcs.end());
        std::sort(found.begin(), found.end());
        EXPECT_TRUE(arcs == found);
    }
}

// What csaw_graph_save() writes as text comes back: weights, types, times, names, vertices without an arc.
TEST_F(LoadFormats, SavedTextReadsBack) {
    struct Case {
        const char *text, *columns;
    };
    const Case cases[] = {{"# csaw graph: columns src,dst vertices 0 to 4\n1 2\n", nullptr},
                          {"5 9 2.5 17 1\n9 5 1 18 2\n", "src,dst,weight,time,type"},
                          {"a b 3\nlone lone 1\n", "src,dst,time"},
                          {"\"a b\" \"#c\"\n\"x\"\"y\" 7\n", nullptr},
                          {"-7 -7\n900000000000 3\n", nullptr}};
    for (const Case &test : cases)
        for (const char *name : {"saved.txt", "saved.txt.gz"}) {
            SCOPED_TRACE(test.text);
            Graph graph(nullptr, csaw_graph_free);
            ASSERT_EQ(load(write("a", test.text), Options().with("text", test.columns), &graph), CSAW_OK)
                << csaw_last_error();
            std::string path = (folder / name).string();
            ASSERT_EQ(csaw_graph_save(graph.get(), path.c_str()), CSAW_OK) << csaw_last_error();
            expect(path, Options(), describe(graph.get()));
        }
}

// Counts as the origins of the files state them.
TEST_F(LoadFormats, RealFiles) {
    const char *data = data_folder();
    if (!data) GTEST_SKIP() << "skipped: set CSAW_DATA to the folder of real graphs";
    struct Case {
        const char *name, *options, *columns;
        uint64_t num_vertices, num_arcs;
    };
    const Case cases[] = {{"edge-lists/web-cnr-2000.txt.xz", "l", nullptr, 325557, 3216152},
                          {"edge-lists/web-cnr-2000.txt.xz", "", nullptr, 325557, 3216152 - 87442},
                          {"edge-lists/web-uk-2007-100k.txt.xz", "l", nullptr, 100000, 3050615},
                          {"edge-lists/web-NotreDame.txt.xz", "l", nullptr, 325729, 1497134},
                          {"edge-lists/ego-twitter.txt.xz", "l", nullptr, 81306, 1342310},
                          {"edge-lists/soc-Slashdot0902.txt.xz", "l", nullptr, 82168, 948464},
                          {"edge-lists/soc-Epinions1.txt.gz", "l", nullptr, 75879, 508837},
                          {"edge-lists/soc-Epinions1.txt.gz", "lg", nullptr, 75888, 508837},
                          {"edge-lists/cit-HepPh.txt.gz", "l", nullptr, 34546, 421578},
                          {"edge-lists/Email-Enron.txt.gz", "", nullptr, 36692, 367662},
                          {"edge-lists/wiki-Vote.txt.gz", "", nullptr, 7115, 103689},
                          {"road/USA-road-d.NY.gr.gz", "d", nullptr, 264346, 733846},
                          {"road/USA-road-d.NY.gr.gz", "", nullptr, 264346, 733846 - 3746},
                          {"road/NE.gr.xz", "", nullptr, 1524453, 2 * 1934010},
                          {"formats/p2p-31-weighted.e.gz", "", nullptr, 62586, 147892},
                          {"formats/ogbl-ddi-edge.csv.gz", "u", nullptr, 4267, 2 * 1067911},
                          {"temporal/CollegeMsg.txt.gz", "ld", "src,dst,time", 1899, 59835},
                          {"temporal/sx-mathoverflow.txt.gz", "ld", "src,dst,time", 24818, 506550}};
    for (const Case &test : cases) {
        SCOPED_TRACE(test.name);
        Graph graph(nullptr, csaw_graph_free);
        ASSERT_EQ(load(std::string(data) + "/" + test.name, Options(test.options).with(nullptr, test.columns), &graph),
                  CSAW_OK)
            << csaw_last_error();
        csaw_csr csr = csaw_graph_csr(graph.get());
        EXPECT_EQ(csr.num_vertices, test.num_vertices);
        EXPECT_EQ(csr.num_edges, test.num_arcs);
        EXPECT_EQ(csr.time != nullptr, test.columns != nullptr);
    }
}

} // namespace
