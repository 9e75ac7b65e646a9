// SPDX-License-Identifier: MIT
// tests/ranks/load_split.cc - a text of edges of which each rank reads its share: the graph, its names, its checksum,
// walks on it and what is told of faults are those of one process, and no rank takes memory for all arcs.
#include <csaw/csaw.h>
#include <csaw/spmm.h>
#include <gtest/gtest.h>

#include "ranks.h"

#include "runtime/base/graph.h"
#include "runtime/base/memory.h"

#include <filesystem>
#include <fstream>
#include <random>

namespace {

using namespace ranks;

using File = std::pair<std::string, std::string>; // name and bytes

std::string random_lines(uint64_t seed, int count, uint64_t vertices, const char *feed, int columns) {
    std::mt19937_64 random(seed);
    std::string text;
    for (int i = 0; i < count; i++) {
        text += std::to_string(random() % vertices * 3) + " " + std::to_string(random() % vertices * 3);
        if (columns > 2) text += " " + std::to_string(static_cast<double>(random() % 1000) / 8 * (i % 3 ? 1 : 1e7));
        if (columns > 3) text += " " + std::to_string(random() % 2) + " " + std::to_string(random() % 2);
        text += feed;
        if (i % 40 == 7) text += std::string("# a comment ") + std::to_string(i) + feed + feed;
    }
    return text;
}

std::vector<File> files() {
    const std::string lines = random_lines(1, 300, 40, "\n", 2), weighted = random_lines(2, 300, 20, "\n", 3);
    return {{"plain.txt", lines},
            {"no_feed.txt", lines + "1 2"},
            {"crlf.txt", random_lines(3, 200, 30, "\r\n", 3)},
            {"bom.txt", "\xef\xbb\xbf" + weighted},
            {"weighted.txt", weighted},
            {"one_line.txt", "7 9\n"},
            {"no_line.txt", ""},
            {"comments.txt", "# nothing\n# else\n"},
            {"long_line.txt", "1 2\n# " + std::string(9000, 'x') + "\n2 3\n3 1\n"},
            {"long_first.txt", "# " + std::string(9000, 'x') + "\n1 2\n2 3\n"},
            {"scattered.txt", lines + "123456789012 -5\n" + lines + "-5 9\n"},
            {"close.txt", "0 1\n1 2\n2 0\n3 3\n0 1\n0 1\n"},
            {"lone.txt", "# csaw vertex 5\n1 2\n" + lines + "# csaw vertex 901\n" + lines + "# csaw vertex -7\n"},
            {"one_column.txt", "1 2\n" + lines + "900\n"},
            {"sums.txt", "1 2 1e8\n1 2 1\n2 1 3\n1 2 -1e8\n1 2 1\n2 1 1e-8\n1 2 0.25\n"},
            {"saved.txt", "# csaw graph: columns src,dst vertices 0 to 200\n0 1\n5 7\n150 3\n7 5\n"},
            {"heading.csv", "source,target,weight\n1,2,0.5\n2,3,1.5\n3,1,2\n2,3,1\n"},
            {"words.txt", "1 2\n2 3\n3 1\nanna 2\nbert anna\n"},
            {"late_words.txt", lines + "x y\n"},
            {"matrix.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n"},
            {"challenge.gr", "p sp 3 2\na 1 2 5\na 2 3 7\n"},
            // Faults: the lowest line wins, whatever its share.
            {"early.txt", "1 2\n3\tx y z\n" + weighted},
            {"late.txt", weighted + "3 4 no\n"},
            {"two.txt", weighted + "3 4 no\n" + weighted + "5 6 never\n"},
            {"three.txt", "1 2 bad\n" + weighted + "3 4 no\n" + weighted + "5 6 never"},
            {"no_column.txt", weighted + "3 4\n" + weighted},
            {"fault_then_word.txt", weighted + "3 4 no\n" + weighted + "a b 1\n"},
            {"word_then_fault.txt", weighted + "a b 1\n" + weighted + "3 4 no\n"},
            {"beyond.txt", "# csaw graph: columns src,dst vertices 0 to 9\n0 1\n5 7\n10 3\n"},
            {"return.txt", "1 2\r3 4\r5 6\r"},
            {"binary.txt", lines + std::string("1 \0 2\n", 6) + lines}};
}

csaw_load_options options_of(int which, const char *columns) {
    csaw_load_options options = {};
    options.size = sizeof options;
    options.undirected = which & 1;
    options.keep_loops = which & 2;
    options.keep_duplicates = which & 4;
    options.keep_gaps = which & 8;
    options.columns = columns;
    return options;
}

std::string path_of(const Folder &folder, const File &file) {
    if (rank_of() == 0) std::ofstream(folder / file.first, std::ios::binary) << file.second;
    MPI_Barrier(MPI_COMM_WORLD);
    return folder / file.first;
}

Graph load_split(const std::string &path, const csaw_load_options &options, bool by_visits, csaw_status *status) {
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_graph *graph = nullptr;
    *status = same_status(csaw_graph_load_split(path.c_str(), &options, &world, by_visits, &graph));
    EXPECT_EQ(*status == CSAW_OK, graph != nullptr);
    return {graph, csaw_graph_free};
}

template <class T> void expect_same_rows(const T *whole, const T *mine, uint64_t from, uint64_t to, const char *what) {
    ASSERT_EQ(whole == nullptr, mine == nullptr) << what;
    for (uint64_t e = from; whole && e < to; e++) ASSERT_EQ(whole[e], mine[e]) << what << " of arc " << e;
}

void expect_same(const csaw_graph *whole, const csaw_graph *mine) {
    const csaw_csr a = whole->csr, b = mine->csr;
    ASSERT_EQ(a.num_vertices, b.num_vertices);
    ASSERT_EQ(a.num_edges, b.num_edges);
    for (uint64_t v = 0; v <= a.num_vertices; v++) ASSERT_EQ(a.rowptr[v], b.rowptr[v]) << "row " << v;
    const csaw__held *const held = mine->held;
    const uint64_t from = held ? a.rowptr[held->first[held->rank]] : 0,
                   to = held ? a.rowptr[held->first[held->rank + 1]] : a.num_edges;
    EXPECT_EQ(a.num_edges, sum(to - from) / (held ? 1 : size_of()));
    if (to > from) expect_same_rows(a.col, b.col, from, to, "the end");
    expect_same_rows(a.weight, b.weight, from, to, "the weight");
    expect_same_rows(a.type, b.type, from, to, "the type");
    expect_same_rows(a.time, b.time, from, to, "the time");
    EXPECT_EQ(whole->max_degree, mine->max_degree);
    EXPECT_EQ(whole->parallel_arcs, mine->parallel_arcs);
    EXPECT_EQ(csaw_graph_checksum(whole), csaw_graph_checksum(mine));
    const csaw_names x = csaw_graph_names(whole), y = csaw_graph_names(mine);
    ASSERT_EQ(x.number == nullptr, y.number == nullptr);
    ASSERT_EQ(x.text == nullptr, y.text == nullptr);
    for (uint64_t v = 0; x.number && v < a.num_vertices; v++) ASSERT_EQ(x.number[v], y.number[v]);
}

// Whether ranks read shares of it.
bool is_split(const Graph &graph) { return graph->held != nullptr; }

uint64_t compare_loads(const std::string &path, const csaw_load_options &options, bool by_visits) {
    csaw_graph *alone = nullptr;
    csaw_status status;
    const csaw_status expected = csaw_graph_load(path.c_str(), &options, &alone);
    const std::string said = expected == CSAW_OK ? "" : csaw_last_error();
    const Graph whole(alone, csaw_graph_free), mine = load_split(path, options, by_visits, &status);
    EXPECT_EQ(expected, status) << csaw_last_error();
    if (expected != CSAW_OK) {
        EXPECT_EQ(said, csaw_last_error());
    }
    if (whole && mine) expect_same(whole.get(), mine.get());
    return mine && is_split(mine);
}

TEST(LoadSplit, IsTheGraphOfOneProcess) {
    const Folder folder;
    uint64_t split = 0;
    for (const File &file : files()) {
        const std::string path = path_of(folder, file);
        for (int which : {0, 1, 2, 5, 7, 8, 11}) {
            SCOPED_TRACE(file.first + ", options " + std::to_string(which));
            split += compare_loads(path, options_of(which, nullptr), which == 5);
        }
    }
    if (size_of() > 1) {
        EXPECT_GT(split, 80u) << "so few were read by shares";
    }
}

TEST(LoadSplit, WithTypesAndTimes) {
    const Folder folder;
    const std::string path = path_of(folder, {"all.txt", random_lines(7, 500, 12, "\n", 5)});
    for (const char *columns : {"src,dst,weight,type,time", "dst,src,-,time,type", "src,dst,-,type", "src,dst"})
        for (int which : {0, 1, 4, 7}) {
            SCOPED_TRACE(std::string(columns) + ", options " + std::to_string(which));
            const uint64_t split = compare_loads(path, options_of(which, columns), which == 1);
            EXPECT_EQ(size_of() > 1, split == 1);
        }
}

void pack(const std::string &path) {
    EXPECT_EQ(0, rank_of() ? 0 : system(("gzip -kf '" + path + "'").c_str()));
    MPI_Barrier(MPI_COMM_WORLD);
}

// Which rank 0 reads alone.
TEST(LoadSplit, PackedFilesToo) {
    const Folder folder;
    uint64_t split = 0;
    for (const File &file : files()) {
        const std::string path = path_of(folder, file);
        pack(path);
        for (int which : {0, 7, 8}) {
            SCOPED_TRACE(file.first + ".gz, options " + std::to_string(which));
            split += compare_loads(path + ".gz", options_of(which, nullptr), which == 7);
        }
    }
    EXPECT_EQ(size_of() > 1, split > 30u);
    const std::string path = path_of(folder, {"blocks.txt", random_lines(5, 200000, 1000, "\n", 2)}); // several of text
    pack(path);
    EXPECT_EQ(size_of() > 1, compare_loads(path + ".gz", options_of(4, nullptr), false) == 1);
    const std::string bad = path_of(folder, {"bad.txt", random_lines(5, 200000, 1000, "\n", 2) + "1 no\n"});
    pack(bad);
    compare_loads(bad + ".gz", options_of(8, nullptr), false);
}

TEST(LoadSplit, FilesOfOtherFormatsAreLoadedWhole) {
    const Folder folder;
    const Graph graph = rmat(2, true);
    csaw_status status;
    EXPECT_EQ(CSAW_OK, rank_of() ? CSAW_OK : csaw_graph_save(graph.get(), (folder / "g.csaw").c_str()));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(0u, compare_loads(folder / "g.csaw", options_of(0, nullptr), false));
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_graph *with_defaults = nullptr;
    EXPECT_EQ(CSAW_OK, csaw_graph_load_split((folder / "g.csaw").c_str(), nullptr, &world, false, &with_defaults))
        << csaw_last_error();
    csaw_graph_free(with_defaults);
    load_split(folder / "none.txt", options_of(0, nullptr), false, &status);
    EXPECT_EQ(CSAW_EIO, status);
    EXPECT_EQ(0u, std::string(csaw_last_error()).find(folder / "none.txt" + ": cannot be opened: "))
        << csaw_last_error();
}

// Blocks of the checksum, of a MiB each, that lie within a range and that ranges meet in; several blocks of text.
TEST(LoadSplit, OfManyBlocksInLittleMemory) {
    const uint64_t arcs = 600000;
    const Folder folder;
    const std::string path = path_of(folder, {"large.txt", random_lines(9, arcs, 3000, "\n", 2)});
    csaw_status status;
    csaw_load_options options = options_of(4, nullptr);
    csaw__fail_allocations_from(0);
    const Graph mine = load_split(path, options, false, &status);
    const uint64_t taken = csaw__bytes_counted();
    ASSERT_EQ(CSAW_OK, status) << csaw_last_error();
    csaw_graph *alone = nullptr;
    csaw__fail_allocations_from(0);
    ASSERT_EQ(CSAW_OK, csaw_graph_load(path.c_str(), &options, &alone));
    const uint64_t of_one = csaw__bytes_counted();
    const Graph whole(alone, csaw_graph_free);
    expect_same(whole.get(), mine.get());
    if (size_of() == 1) return;
    // Of an arc: 8 bytes parsed, 8 as sent, 8 as they came, 16 while rows are built; the share of the text; and blocks
    // of a MiB, of the file's beginning and of the checksum, and what little there is of the vertices. 4 bytes of each
    // arc of the graph would show.
    const uint64_t ranks = static_cast<uint64_t>(size_of()), fixed = uint64_t{11} << 18,
                   text = std::filesystem::file_size(path) / ranks;
    EXPECT_LT(taken, fixed + text + arcs * 40 / ranks) << "one process took " << of_one;
    EXPECT_GT(of_one, arcs * 24);
}

TEST(LoadSplit, WalksAreThoseOfOneProcess) {
    const Folder folder;
    const std::string path = path_of(folder, {"walks.txt", random_lines(4, 400, 30, "\n", 5)});
    const csaw_load_options options = options_of(0, "src,dst,weight,type,time");
    csaw_graph *alone = nullptr;
    csaw_status status;
    ASSERT_EQ(CSAW_OK, csaw_graph_load(path.c_str(), &options, &alone));
    const Graph whole(alone, csaw_graph_free), mine = load_split(path, options, false, &status);
    compare(plan_alone(whole), plan_of_split(mine), {CSAW_SELECT_AUTO});
}

TEST(LoadSplit, OtherUsesAreRefused) {
    if (size_of() == 1) GTEST_SKIP() << "one rank holds it whole";
    const Folder folder;
    const std::string path = path_of(folder, {"some.txt", random_lines(4, 50, 30, "\n", 2)});
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_status status;
    const Graph mine = load_split(path, options_of(0, nullptr), true, &status);
    csaw_graph *other = nullptr;
    csaw_plan *plan = nullptr;
    csaw_plan_options options = {};
    options.size = sizeof options;
    EXPECT_EQ(CSAW_EINVAL, csaw_plan_create(mine.get(), &options, &plan));
    options.communicator = &world;
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_plan_create(mine.get(), &options, &plan)));
    options.split = true;
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_plan_create(mine.get(), &options, &plan)));
    EXPECT_NE(nullptr, strstr(csaw_last_error(), "by_visits true")) << csaw_last_error();
    options.by_visits = true;
    EXPECT_EQ(CSAW_OK, same_status(csaw_plan_create(mine.get(), &options, &plan))) << csaw_last_error();
    csaw_plan_free(plan);
    EXPECT_EQ(CSAW_EINVAL, csaw_graph_save(mine.get(), (folder / "x.csaw").c_str()));
    EXPECT_EQ(CSAW_EINVAL, csaw_graph_transpose(mine.get(), &other));
    EXPECT_EQ(CSAW_EINVAL, csaw_graph_by_degree(mine.get(), &other));
    EXPECT_EQ(nullptr, csaw_graph_sparse(mine.get()).col);
    EXPECT_EQ(0u, csaw_graph_sparse(mine.get()).rows);
    EXPECT_STREQ("csaw_graph_by_degree needs all arcs, but csaw_graph_load_split() gave this rank a part of them; load "
                 "the graph with csaw_graph_load()",
                 csaw_last_error());
}

// Each allocation of the last rank fails in turn.
TEST(LoadSplit, WithoutMemoryOnOneRankAllAreTold) {
    if (size_of() == 1 || size_of() > 3) GTEST_SKIP() << "two and three ranks do for it";
    const Folder folder;
    const std::string path = path_of(folder, {"some.txt", random_lines(4, 60, 30, "\n", 5)});
    const int last = size_of() - 1;
    csaw_status status = CSAW_ENOMEM;
    uint64_t n = 0;
    while (status == CSAW_ENOMEM && ++n < 500) {
        if (rank_of() == last) csaw__fail_allocations_from(n);
        const Graph mine = load_split(path, options_of(1, "src,dst,weight,type,time"), false, &status);
        csaw__fail_allocations_from(0);
        if (status != CSAW_OK && rank_of() != last) {
            EXPECT_EQ(0u, std::string(csaw_last_error()).find("rank " + std::to_string(last) + " on "))
                << csaw_last_error();
        }
    }
    EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
    EXPECT_GT(n, 30u);
}

TEST(LoadSplit, AnotherFileOnOneRankIsSaid) {
    if (size_of() == 1) GTEST_SKIP() << "one rank has one file";
    const Folder folder;
    const std::string a = path_of(folder, {"a.txt", "1 2\n"}), b = path_of(folder, {"b.txt", "1 2\n2 3\n"});
    csaw_status status;
    load_split(rank_of() == size_of() - 1 ? b : a, options_of(0, nullptr), false, &status);
    EXPECT_EQ(CSAW_EINVAL, status);
    EXPECT_EQ("rank " + std::to_string(size_of() - 1) + " has another graph than rank 0; give every rank the same file",
              csaw_last_error());
    const std::string c = path_of(folder, {"c.txt", "2 1\n"}); // as long
    load_split(rank_of() == 0 ? c : a, options_of(0, nullptr), false, &status);
    EXPECT_EQ(CSAW_EINVAL, status);
    EXPECT_NE(nullptr, strstr(csaw_last_error(), " another graph than rank 0; give every rank the same file"));
    load_split(a, options_of(rank_of() == 0, nullptr), false, &status);
    EXPECT_EQ(CSAW_EINVAL, status);
    EXPECT_NE(nullptr, strstr(csaw_last_error(), "another way to load the graph than rank 0"));
    load_split(a, options_of(0, nullptr), rank_of() == 0, &status);
    EXPECT_EQ(CSAW_EINVAL, status);
    EXPECT_NE(nullptr, strstr(csaw_last_error(), "another choice of by_visits than rank 0"));
    load_split(a, options_of(0, nullptr), false, &status);
    EXPECT_EQ(CSAW_OK, status) << csaw_last_error();
}

// Fails on the last rank alone, which has the arguments that `wrong` makes of those of all.
template <class Wrong> void expect_refused(const char *message, Wrong wrong) {
    struct {
        const char *path;
        csaw_load_options options;
        csaw_graph **out;
    } given = {};
    const Folder folder;
    const std::string path = path_of(folder, {"a.txt", "1 2\n"});
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_graph *graph = nullptr;
    given = {path.c_str(), options_of(0, nullptr), &graph};
    if (rank_of() == size_of() - 1) wrong(given);
    EXPECT_EQ(CSAW_EINVAL, same_status(csaw_graph_load_split(given.path, &given.options, &world, false, given.out)));
    EXPECT_NE(nullptr, strstr(csaw_last_error(), message)) << csaw_last_error();
    EXPECT_EQ(nullptr, graph);
    EXPECT_EQ(CSAW_OK, same_status(csaw_graph_load_split(path.c_str(), nullptr, &world, false, &graph)));
    csaw_graph_free(graph);
}

TEST(LoadSplit, NoPathOnOneRankIsSaidOnAll) {
    expect_refused("the path of the graph is NULL; pass the name of a file", [](auto &given) { given.path = nullptr; });
}

TEST(LoadSplit, NoPlaceForTheGraphOnOneRankIsSaidOnAll) {
    expect_refused("csaw_graph_load_split needs a place for the graph; out is NULL",
                   [](auto &given) { given.out = nullptr; });
}

TEST(LoadSplit, WhatIsStoppedOnOneRankIsStoppedOnAll) {
    const Folder folder;
    const std::string path = path_of(folder, {"a.txt", "1 2\n2 3\n"});
    csaw_status status;
    uint64_t stopped = 0;
    struct {
        uint64_t left, asked; // calls until this rank says no
    } watch = {};
    const auto go_on = [](void *user) {
        auto *const w = static_cast<decltype(watch) *>(user);
        return w->asked++ < w->left;
    };
    for (uint64_t left = 0; left < 100; left++) {
        watch = {rank_of() == size_of() - 1 ? left : 100, 0};
        csaw_watch(go_on, &watch);
        load_split(path, options_of(0, nullptr), false, &status);
        csaw_watch(nullptr, nullptr);
        if (status == CSAW_OK) break;
        EXPECT_EQ(CSAW_ESTOPPED, status) << csaw_last_error();
        stopped++;
    }
    EXPECT_EQ(CSAW_OK, status);
    EXPECT_GT(stopped, 0u);
}

TEST(LoadSplit, OptionsOfAnotherCsawOnOneRankAreSaidOnAll) {
    expect_refused("the size field of csaw_load_options is 4096, but this csaw knows sizes up to ",
                   [](auto &given) { given.options.size = 4096; });
}

} // namespace
