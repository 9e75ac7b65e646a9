/* SPDX-License-Identifier: MIT */
/* tests/real_graphs_test.cc - two real graphs from their text to verified walks, through the program as a user runs
 * it. The truth comes from `xz -dc` and the plain code below, which share nothing with csaw: counts of vertices, arcs,
 * loops and dead ends; every step an arc in the names of the text; every walk whole, or ended at a dead end. Needs
 * CSAW_DATA and xz. */
#include "tests/data_folder.h"
#include <stdio.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cli_run.h"

namespace {

constexpr uint32_t NONE = 4294967295u;

/* A directed graph as the text has it. Vertices are their names; loops and repeated edges are left out. */
struct Truth {
    std::vector<uint32_t> names; /* ascending */
    std::vector<std::pair<uint32_t, uint32_t>> arcs;
    std::vector<size_t> row; /* arcs of name n: row[n] .. row[n + 1] */
    uint64_t lines = 0, loops = 0;

    bool has_arc(uint32_t from, uint32_t to) const {
        if (from + size_t{1} >= row.size()) return false;
        const auto begin = arcs.begin();
        return std::binary_search(begin + static_cast<ptrdiff_t>(row[from]),
                                  begin + static_cast<ptrdiff_t>(row[from + 1]), std::make_pair(from, to));
    }
    bool dead_end(uint32_t name) const { return row[name] == row[name + 1]; }
    uint64_t dead_ends() const {
        return static_cast<uint64_t>(std::count_if(names.begin(), names.end(), [&](auto n) { return dead_end(n); }));
    }
};

std::string unpack(const std::string &path) {
    std::string text;
    std::vector<char> some(1 << 20);
    FILE *pipe = popen(("xz -dc '" + path + "'").c_str(), "r");
    for (size_t n; pipe && (n = fread(some.data(), 1, some.size(), pipe)) > 0;) text.append(some.data(), n);
    EXPECT_TRUE(pipe && pclose(pipe) == 0) << path;
    return text;
}

template <typename T> void sort_unique(std::vector<T> &list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/* Lines "from to"; with `undirected` each is an arc both ways. */
Truth read_truth(const std::string &path, bool undirected) {
    Truth truth;
    const std::string text = unpack(path);
    std::vector<uint32_t> loops;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        if (end == at || text[at] == '#') continue;
        char *rest;
        const unsigned long from = strtoul(text.c_str() + at, &rest, 10), to = strtoul(rest, &rest, 10);
        EXPECT_TRUE(rest <= text.c_str() + end && from < NONE - 1 && to < NONE - 1) << text.substr(at, end - at);
        const auto a = static_cast<uint32_t>(from), b = static_cast<uint32_t>(to);
        truth.lines++;
        truth.names.push_back(a);
        truth.names.push_back(b);
        if (a == b) {
            loops.push_back(a);
            continue;
        }
        truth.arcs.emplace_back(a, b);
        if (undirected) truth.arcs.emplace_back(b, a);
    }
    sort_unique(truth.names);
    sort_unique(truth.arcs);
    sort_unique(loops);
    truth.loops = loops.size();
    truth.row.resize(truth.names.back() + size_t{2});
    for (const auto &[from, to] : truth.arcs) truth.row[from + size_t{1}]++;
    for (size_t n = 1; n < truth.row.size(); n++) truth.row[n] += truth.row[n - 1];
    return truth;
}

/* [count, columns] row-major, in names; NONE after a walk's end. */
struct Walks {
    size_t count = 0, columns;
    std::vector<uint32_t> place;
    uint32_t *of(size_t walk) { return place.data() + walk * columns; }
};

Walks read_text(const std::string &text, size_t columns) {
    Walks walks = {0, columns, {}};
    for (const char *at = text.c_str(), *end = at + text.size(); at < end; walks.count++) {
        size_t used = 0;
        for (bool line_over = false; !line_over; used++) {
            char *rest;
            const unsigned long name = strtoul(at, &rest, 10);
            EXPECT_TRUE(*at >= '0' && *at <= '9' && (*rest == ' ' || *rest == '\n')) << "line " << walks.count + 1;
            if (rest == at || used == columns) return walks; /* too long: the count is wrong then */
            walks.place.push_back(static_cast<uint32_t>(name));
            line_over = *rest == '\n';
            at = rest + 1;
        }
        walks.place.resize((walks.count + 1) * columns, NONE);
    }
    return walks;
}

/* An array of '<u4', its numbers turned to names. */
Walks read_npy(const std::string &bytes, const std::vector<uint32_t> &name_of) {
    Walks walks = {0, 0, {}};
    const size_t start =
        10 + (static_cast<unsigned char>(bytes[8]) | size_t{static_cast<unsigned char>(bytes[9])} << 8);
    const std::string header = bytes.substr(10, start - 10);
    EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
    EXPECT_NE(header.find("'descr': '<u4', 'fortran_order': False"), std::string::npos) << header;
    const size_t shape = header.find("'shape': (");
    if (shape == std::string::npos ||
        sscanf(header.c_str() + shape, "'shape': (%zu, %zu)", &walks.count, &walks.columns) != 2)
        ADD_FAILURE() << header;
    walks.place.resize(walks.count * walks.columns);
    EXPECT_EQ(bytes.size() - start, walks.place.size() * sizeof(uint32_t));
    if (bytes.size() - start == walks.place.size() * sizeof(uint32_t))
        memcpy(walks.place.data(), bytes.data() + start, bytes.size() - start);
    for (uint32_t &v : walks.place)
        if (v != NONE) v = v < name_of.size() ? name_of[v] : NONE - 1; /* no vertex: no step to it is an arc */
    return walks;
}

uint64_t number_in(const std::string &json, const std::string &key) {
    const size_t at = json.find("\"" + key + "\": ");
    EXPECT_NE(at, std::string::npos) << key << " in " << json;
    return at == std::string::npos ? UINT64_MAX : std::stoull(json.substr(at + key.size() + 4));
}

struct Source {
    const char *name, *file, *reading, *converting; /* reading: options that say how the text is meant */
    size_t walks_each, length;
};

[[maybe_unused]] void PrintTo(const Source &source, std::ostream *out) { *out << source.file; }

class RealGraphs : public Cli, public ::testing::WithParamInterface<Source> {
  protected:
    void SetUp() override {
        Cli::SetUp();
        const char *data = data_folder();
        if (!data) GTEST_SKIP() << "skipped: set CSAW_DATA to the folder of real graphs";
#ifndef CSAW_WITH_XZ
        GTEST_SKIP() << "skipped: csaw is built without liblzma, so it does not read .xz";
#endif
        if (system("xz --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no xz program to unpack the text";
        path = std::string(data) + "/edge-lists/" + GetParam().file;
        truth = read_truth(path, strstr(GetParam().reading, "--undirected"));
        ASSERT_GT(truth.arcs.size(), 0u);
    }

    /* Text to .csaw; names of the vertices by number to name_of. */
    void convert() {
        Outcome got =
            run("convert '" + path + "' g.csaw --names names.txt " + GetParam().reading + GetParam().converting);
        ASSERT_EQ(got.code, 0) << got.err;
        std::istringstream lines(read("names.txt"));
        for (uint32_t name; lines >> name;) name_of.push_back(name);
        ASSERT_TRUE(lines.eof());
        std::vector<uint32_t> sorted = name_of;
        std::sort(sorted.begin(), sorted.end());
        ASSERT_TRUE(sorted == truth.names);
    }

    void expect_counts() {
        Outcome got = run("info g.csaw --verify --json");
        ASSERT_EQ(got.code, 0) << got.err;
        EXPECT_EQ(number_in(got.out, "vertices"), truth.names.size());
        EXPECT_EQ(number_in(got.out, "arcs"), truth.arcs.size());
        EXPECT_EQ(number_in(got.out, "dead_ends"), truth.dead_ends());
        EXPECT_EQ(number_in(got.out, "loops"), 0u);
        EXPECT_EQ(number_in(got.out, "parallel"), 0u);
        got = run("info '" + path + "' --keep-loops --keep-duplicates --json"); /* directed, line for line */
        ASSERT_EQ(got.code, 0) << got.err;
        EXPECT_EQ(number_in(got.out, "vertices"), truth.names.size());
        EXPECT_EQ(number_in(got.out, "arcs"), truth.lines);
        EXPECT_EQ(number_in(got.out, "loops"), truth.loops);
    }

    /* Every walk: it starts where it should, every step is an arc, it has all its steps or ends at a dead end. */
    void expect_walks(Walks &walks, const std::string &summary) {
        ASSERT_EQ(walks.count, name_of.size() * GetParam().walks_each);
        ASSERT_EQ(walks.columns, GetParam().length + 1);
        uint64_t steps = 0, early = 0, wrong = 0, wrong_end = 0, wrong_start = 0;
        for (size_t w = 0; w < walks.count; w++) {
            const uint32_t *walk = walks.of(w);
            size_t s = 0;
            wrong_start += walk[0] != name_of[w % name_of.size()];
            for (; s + 1 < walks.columns && walk[s + 1] != NONE; s++) wrong += !truth.has_arc(walk[s], walk[s + 1]);
            steps += s;
            if (s == GetParam().length) continue;
            early++;
            wrong_end +=
                !std::binary_search(truth.names.begin(), truth.names.end(), walk[s]) || !truth.dead_end(walk[s]);
            for (size_t after = s + 1; after < walks.columns; after++) wrong_end += walk[after] != NONE;
        }
        EXPECT_EQ(wrong_start, 0u);
        EXPECT_EQ(wrong, 0u) << "steps along no arc";
        EXPECT_EQ(wrong_end, 0u) << "walks that end where there is a way on";
        EXPECT_EQ(early > 0, truth.dead_ends() > 0);
        EXPECT_EQ(number_in(summary, "walks"), walks.count);
        EXPECT_EQ(number_in(summary, "steps"), steps);
        EXPECT_EQ(number_in(summary, "ended_early"), early);
    }

    /* With one vertex of a whole walk altered, csaw verify finds that walk and that step. put: of the file's bytes, a
     * walk and the number of a vertex, makes those in which the vertex stands at the walk's place 2. */
    template <typename Put> void expect_refused(Walks &walks, const std::string &file, Put put) {
        size_t w = walks.count / 2;
        while (walks.of(w)[2] == NONE) w++;
        const uint32_t *walk = walks.of(w);
        size_t stranger = 0; /* no neighbour of where the walk stands before its second step */
        while (truth.has_arc(walk[1], name_of[stranger])) stranger++;
        write(file, put(read(file), w, stranger));
        Outcome got = run("verify " + file + " --graph g.csaw");
        EXPECT_EQ(got.code, 3) << got.out << got.err;
        EXPECT_NE(got.out.find("line " + std::to_string(w + 1) + ", step 2: " + std::to_string(walk[1]) + " -> " +
                               std::to_string(name_of[stranger]) + " is not an arc  FAILED\nwrong   1 of "),
                  std::string::npos)
            << got.out;
    }

    std::string path;
    Truth truth;
    std::vector<uint32_t> name_of;
};

/* Of the text of walks: walk w, place 2, becomes name. */
std::string with_word(const std::string &text, size_t w, uint32_t name) {
    size_t at = 0;
    for (size_t line = 0; line < w; line++) at = text.find('\n', at) + 1;
    for (int word = 0; word < 2; word++) at = text.find(' ', at) + 1;
    return text.substr(0, at) + std::to_string(name) + text.substr(text.find_first_of(" \n", at));
}

TEST_P(RealGraphs, from_text_to_verified_walks) {
    const size_t columns = GetParam().length + 1;
    ASSERT_NO_FATAL_FAILURE(convert());
    expect_counts();
    for (const std::string algo : {" --algo node2vec --p 0.5 --q 2", " --algo uniform"}) {
        const std::string words = "walk g.csaw --seed 11 --json --num-walks " + std::to_string(GetParam().walks_each) +
                                  " --walk-length " + std::to_string(GetParam().length) + algo;
        Outcome text_run = run(words + " -o w.txt"), npy_run = run(words + " -o w.npy");
        ASSERT_EQ(text_run.code, 0) << text_run.err;
        ASSERT_EQ(npy_run.code, 0) << npy_run.err;
        Walks text = read_text(read("w.txt"), columns), npy = read_npy(read("w.npy"), name_of);
        ASSERT_NO_FATAL_FAILURE(expect_walks(text, text_run.out)) << algo;
        EXPECT_TRUE(text.count == npy.count && text.place == npy.place) << algo; /* so those are right as well */
        EXPECT_EQ(run("verify w.txt --graph '" + path + "'" + GetParam().reading).code, 0) << read(".out");
        EXPECT_EQ(run("verify w.npy --graph g.csaw" + algo).code, 0) << read(".out");
        EXPECT_EQ(run("verify w.npy --graph g.csaw --algo node2vec --p 0.5 --q 1.5").code, 3) << read(".out");
        expect_refused(text, "w.txt", [&](const std::string &bytes, size_t w, size_t stranger) {
            return with_word(bytes, w, name_of[stranger]);
        });
        expect_refused(npy, "w.npy", [&](std::string bytes, size_t w, size_t stranger) {
            const auto number = static_cast<uint32_t>(stranger);
            memcpy(&bytes[bytes.size() - (npy.count - w) * columns * 4 + 2 * 4], &number, sizeof number);
            return bytes;
        });
    }
}

INSTANTIATE_TEST_SUITE_P(
    , RealGraphs,
    ::testing::Values(Source{"web_NotreDame", "web-NotreDame.txt.xz", "", "", 1, 20}, /* many dead ends */
                      Source{"soc_Slashdot", "soc-Slashdot0902.txt.xz", " --undirected", " --order degree", 2, 40}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
