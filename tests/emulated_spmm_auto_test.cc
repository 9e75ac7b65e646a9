/* SPDX-License-Identifier: MIT */
/* tests/emulated_spmm_auto_test.cc - AUTO's table (spmm/device_auto.h): what it takes was fastest as measured, by the
 * reports in docs/measured that its lines name. */
#include "tests/spmm_cases.h"

#include "tests/emulated_gpu.h"

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "spmm/device_auto.h"

namespace {

using namespace spmm_cases;

// Of one operation, a report of spmm_gpu_bench: milliseconds by columns and storage, then by method.
struct Report {
    uint64_t vertices = 0, edges = 0;
    std::map<std::pair<uint64_t, std::string>, std::map<std::string, double>> rows;
};

Report Measured(const std::string &graph, const std::string &op = "sum") {
    std::ifstream file(CSAW_SOURCE_DIR "/docs/measured/" + graph + ".json");
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    std::smatch found;
    Report out;
    if (!std::regex_search(all, found, std::regex("\"vertices\": (\\d+), \"edges\": (\\d+)"))) return out;
    out.vertices = std::stoull(found[1]), out.edges = std::stoull(found[2]);
    const std::regex row(
        "\"op\": \"" + op +
        "\", \"by\": \"([^\"]*)\", \"storage\": \"([^\"]*)\", \"columns\": (\\d+), \"median_s\": ([^,]*),");
    for (std::sregex_iterator at(all.begin(), all.end(), row), end; at != end; ++at)
        out.rows[{std::stoull((*at)[3]), (*at)[2]}][(*at)[1]] = std::stod((*at)[4]) * 1e3;
    return out;
}

csaw__auto_way WayOf(uint64_t rows, uint64_t edges, uint64_t cols, csaw_dtype dtype, uint64_t l2_bytes = 60 << 20,
                     csaw_reduce reduce = CSAW_SUM, bool listed = false, bool moved = false, uint32_t heads = 1) {
    const csaw__listed_unit unit = {};
    csaw__product p = {};
    p.units = listed ? &unit : nullptr;
    p.reduce = reduce;
    p.rows = rows, p.num_edges = edges, p.heads = heads;
    p.x = {rows, cols * heads, cols * heads, dtype, nullptr}, p.y = p.x;
    csaw__lay_vectors(&p);
    return csaw__auto_way_of(&p, moved, l2_bytes);
}

csaw_spmm_method AutoOf(uint64_t rows, uint64_t edges, uint64_t cols, csaw_dtype dtype, uint64_t l2_bytes = 60 << 20) {
    return WayOf(rows, edges, cols, dtype, l2_bytes).method;
}

// Of every width and storage of a report, AUTO's choice takes less than so many times any method's time. All methods
// are in the report, but HUBS, one that was not run, and STRETCHES, which is judged by reports of its own: where AUTO
// takes it, this report is left out.
void ExpectTheFastest(const std::string &file, size_t kinds, double most, csaw_spmm_method not_run) {
    const Report report = Measured(file);
    ASSERT_EQ(report.rows.size(), kinds) << file;
    for (const auto &[of, ms] : report.rows) {
        const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : of.second == "f16" ? CSAW_F16 : CSAW_BF16;
        const std::string chosen = csaw_spmm_method_name(AutoOf(report.vertices, report.edges, of.first, dtype));
        if (chosen == "stretches") continue;
        ASSERT_EQ(ms.count(chosen), 1u) << chosen;
        for (int i = CSAW_SPMM_AUTO; i <= CSAW_SPMM_STRETCHES; i++) {
            const auto other = static_cast<csaw_spmm_method>(i);
            const char *const name = csaw_spmm_method_name(other);
            if (other == CSAW_SPMM_AUTO || other == CSAW_SPMM_HUBS || other == CSAW_SPMM_STRETCHES || other == not_run)
                continue; // AUTO: as it was
            ASSERT_EQ(ms.count(name), 1u) << name;
            EXPECT_LT(ms.at(chosen), most * ms.at(name))
                << file << ", " << of.first << " columns, " << of.second << ": " << chosen << ", not " << name;
        }
    }
}

// The reports that AUTO's table names; of the second ones CWM4 was not run, which holds 512 columns a warp.
TEST(EmulatedSpmmAuto, TakesWhatWasFastest) {
    for (const char *graph : {"reddit", "products", "arxiv"})
        ExpectTheFastest(std::string("2026-11-23-gpu-6-spmm-") + graph, 6, 1.02, CSAW_SPMM_AUTO);
    for (const char *graph : {"amazon_cs", "coauthor_phy", "flickr", "soc-Slashdot0902"})
        ExpectTheFastest(std::string("2026-11-26-gpu-14-spmm-ways-") + graph, 10, 1.08, CSAW_SPMM_CWM4);
}

// Of reports of 64, 128 and 256 columns that have each other method which AUTO would take.
TEST(EmulatedSpmmAuto, TakesStretchesWhereTheyWereFaster) {
    for (const char *graph : {"amazon_cs", "coauthor_phy", "flickr", "soc-Slashdot0902", "arxiv"}) {
        const Report report = Measured(std::string("2026-11-26-gpu-16-spmm-ways-") + graph);
        ASSERT_EQ(report.rows.size(), 6u) << graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            EXPECT_EQ(AutoOf(report.vertices, report.edges, of.first, dtype), CSAW_SPMM_STRETCHES) << graph;
            ASSERT_EQ(ms.count("stretches"), 1u) << graph;
            for (const char *by : {"crc", "cwm2", "subwarp16", "subwarp8"}) {
                ASSERT_EQ(ms.count(by), 1u) << graph;
                EXPECT_LT(ms.at("stretches"), 1.02 * ms.at(by)) << graph << ", " << of.first << ", " << by;
            }
        }
    }
    for (const char *graph : {"products", "reddit"}) { // no faster there, where it matters
        const Report report = Measured(std::string("2026-11-26-gpu-16-spmm-ways-") + graph);
        ASSERT_EQ(report.rows.size(), 6u) << graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            EXPECT_NE(AutoOf(report.vertices, report.edges, of.first, dtype), CSAW_SPMM_STRETCHES) << graph;
            EXPECT_LT(ms.at("auto"), 1.03 * ms.at("stretches")) << graph << ", " << of.first;
        }
    }
}

// Two and three edges a row and column on average: arxiv's, sampled, and gradients of that. Of fewer than one it is not
// taken.
TEST(EmulatedSpmmAuto, TakesStretchesOfFewEdgesARow) {
    std::ifstream file(CSAW_SOURCE_DIR "/docs/measured/2026-11-27-gpu-20-few-edges.json");
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    const std::regex row("\"op\": \"(y|dx)\", \"by\": \"([^\"]*), A' prepared, ([^\"]*)\", \"storage\": \"([^\"]*)\", "
                         "\"S\": (\\d+), .*\"taken\": ([^,]*), \"columns\": (\\d+), \"median_s\": ([^,]*),");
    std::map<std::string, std::map<std::string, double>> seconds; // of a product, by method
    for (std::sregex_iterator at(all.begin(), all.end(), row), end; at != end; ++at) {
        const csaw_dtype dtype = (*at)[4] == "f32" ? CSAW_F32 : CSAW_F16;
        const uint64_t rows = 169343, edges = static_cast<uint64_t>(std::stod((*at)[6]) * 1162991);
        const bool fewer = edges < rows;
        EXPECT_EQ(AutoOf(rows, edges, std::stoull((*at)[7]), dtype) == CSAW_SPMM_STRETCHES, !fewer);
        if (fewer) continue;
        seconds[(*at)[1].str() + ' ' + (*at)[2].str() + ' ' + (*at)[4].str() + ' ' + (*at)[5].str() + ' ' +
                (*at)[7].str()][(*at)[3]] = std::stod((*at)[8]);
    }
    ASSERT_EQ(seconds.size(), 2u * 3 * 2 * 2 * 3); // both ways, methods, storages, S of 2 and 4, columns
    for (const auto &[of, by] : seconds)
        for (const char *method : {"crc", "cwm2", "subwarp16", "subwarp8", "subwarp4"}) {
            ASSERT_EQ(by.count(method), 1u) << of;
            EXPECT_LT(by.at("stretches"), 1.02 * by.at(method)) << of << ", " << method;
        }
}

// Of up to 2^25 edges: in 16 bits up to 128 columns, else of rows of few edges.
TEST(EmulatedSpmmAuto, TakesStretchesOfMoreEdges) {
    const struct {
        const char *graph;
        size_t kinds;
        bool few; // edges a row
    } reports[] = {{"rmat", 3, false},   {"products", 3, false}, {"reddit", 3, false},
                   {"rmat-20", 6, true}, {"rmat-21", 6, true},   {"rmat-22", 6, true}};
    for (const auto &r : reports) {
        const Report report = Measured(std::string("2026-11-28-gpu-23-spmm-ways-") + r.graph);
        ASSERT_EQ(report.rows.size(), r.kinds) << r.graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            const csaw_spmm_method method = AutoOf(report.vertices, report.edges, of.first, dtype);
            const bool taken = method == CSAW_SPMM_STRETCHES;
            EXPECT_EQ(taken, r.few || of.first < 256) << r.graph << ", " << of.first;
            ASSERT_EQ(ms.count(csaw_spmm_method_name(method)), 1u) << r.graph;
            for (const char *by : {"crc", "cwm2", "subwarp16", "subwarp8", "stretches"}) {
                ASSERT_EQ(ms.count(by), 1u) << r.graph;
                EXPECT_LT(ms.at(csaw_spmm_method_name(method)), (taken ? 1.01 : 1.08) * ms.at(by))
                    << r.graph << ", " << of.first << ", " << by;
            }
        }
    }
    for (uint64_t cols : {64, 128, 256}) {
        EXPECT_NE(AutoOf(1 << 20, 1 << 25, cols, CSAW_F32), CSAW_SPMM_STRETCHES); // 32 a row
        for (csaw_dtype dtype : {CSAW_F32, CSAW_F16})
            EXPECT_EQ(AutoOf(1 << 21, 1 << 25, cols, dtype), CSAW_SPMM_STRETCHES);
        for (csaw_dtype dtype : {CSAW_F32, CSAW_F16})
            EXPECT_NE(AutoOf(1 << 21, (1 << 25) + 1, cols, dtype), CSAW_SPMM_STRETCHES);
    }
}

// Of units that a plan lists by length, sums: less than 1.1 times the best of the other methods, and so AUTO did when
// it was measured. Of up to a million edges, stretches.
TEST(EmulatedSpmmAuto, TakesListedUnits) {
    for (const char *graph : {"rmat-15-30", "rmat-16-30", "rmat-18-16", "rmat-20-10", "products-0.1", "reddit-0.1"}) {
        const Report report = Measured(std::string("2026-11-28-gpu-27-spmm-ways-") + graph);
        ASSERT_EQ(report.rows.size(), 6u) << graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            const csaw__auto_way way = WayOf(report.vertices, report.edges, of.first, dtype, 60 << 20, CSAW_SUM, true);
            const char *const chosen = csaw_spmm_method_name(way.method);
            ASSERT_GE(report.edges, CSAW__OFTEN * report.vertices);
            EXPECT_STREQ(chosen, dtype != CSAW_F32 && of.first == 64 ? "subwarp8" : "subwarp16");
            EXPECT_FALSE(way.resident);
            ASSERT_EQ(ms.count(chosen), 1u) << chosen;
            EXPECT_LT(ms.at("auto"), 1.03 * ms.at(chosen)) << graph << ", " << of.first;
            for (const char *by : {"crc", "cwm2", "subwarp16", "subwarp8", "stretches"}) {
                ASSERT_EQ(ms.count(by), 1u) << graph << ", " << by;
                EXPECT_LT(ms.at(chosen), 1.1 * ms.at(by))
                    << graph << ", " << of.first << ", " << of.second << ", " << by;
            }
        }
    }
    const auto listed = [](uint64_t rows, uint64_t edges, uint64_t cols, csaw_dtype dtype, csaw_reduce reduce) {
        return WayOf(rows, edges, cols, dtype, 60 << 20, reduce, true);
    };
    for (uint64_t cols : {64, 128, 256})
        for (csaw_dtype dtype : {CSAW_F32, CSAW_F16}) {
            EXPECT_EQ(listed(1 << 15, CSAW__LISTED_EDGES, cols, dtype, CSAW_SUM).method, CSAW_SPMM_STRETCHES);
            EXPECT_NE(listed(1 << 15, CSAW__LISTED_EDGES + 1, cols, dtype, CSAW_SUM).method, CSAW_SPMM_STRETCHES);
        }
    EXPECT_EQ(listed(1 << 17, 1 << 21, 256, CSAW_F16, CSAW_SUM).method, CSAW_SPMM_STRETCHES); // 16 a row
    EXPECT_EQ(listed(1 << 17, 1 << 21, 256, CSAW_F32, CSAW_SUM).method, CSAW_SPMM_SUBWARP16);
    EXPECT_TRUE(listed(1 << 18, (1 << 26) + 1, 64, CSAW_F16, CSAW_SUM).resident);
    const uint64_t rows = 232965, slice = rows * 8 * 16; // what 8 lanes read
    for (uint64_t cols : {64, 256})
        for (uint64_t l2 : {slice - 1, slice, 2 * slice - 1, 2 * slice})
            EXPECT_EQ(WayOf(rows, 1 << 26, cols, CSAW_F32, l2, CSAW_SUM, true).method,
                      l2 >= slice && l2 < 2 * slice ? CSAW_SPMM_SUBWARP8 : CSAW_SPMM_SUBWARP16);
}

// Of single elements, 7 to 602 columns, and of 4 to 40 columns, planned sums: less than 1.12 times the best of all
// methods; what AUTO took before was up to 2.7 times as long.
TEST(EmulatedSpmmAuto, TakesWhatWasFastestOfSingleElementsAndNarrowRows) {
    const struct {
        const char *graph;
        size_t kinds;
    } reports[] = {
        {"single-arxiv", 16},        {"single-products-0.3", 8}, {"single-reddit-0.5", 14}, {"single-rmat-13-8", 14},
        {"single-rmat-16-16", 14},   {"single-rmat-20-10", 14},  {"narrow-arxiv", 12},      {"narrow-amazon_cs", 12},
        {"narrow-coauthor_phy", 12}, {"narrow-reddit-0.2", 12},  {"narrow-rmat-13-8", 12},  {"narrow-rmat-15-16", 12},
        {"narrow-rmat-16-16", 12},   {"narrow-rmat-19-2", 12},   {"narrow-rmat-20-10", 12}, {"narrow-rmat-21-4", 12}};
    for (const auto &r : reports) {
        const Report report = Measured(std::string("2026-11-29-gpu-28-spmm-") + r.graph);
        ASSERT_EQ(report.rows.size(), r.kinds) << r.graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            const bool listed = report.edges >= CSAW__LISTED_DEGREE * report.vertices;
            const char *const chosen = csaw_spmm_method_name(
                WayOf(report.vertices, report.edges, of.first, dtype, 60 << 20, CSAW_SUM, listed).method);
            ASSERT_EQ(ms.count(chosen), 1u) << r.graph << ", " << chosen;
            for (const char *by : {"crc", "cwm2", "cwm4", "subwarp16", "subwarp8", "subwarp4", "stretches"}) {
                if (by == std::string("cwm4") && r.graph[0] == 'n') continue; // not run of narrow rows
                ASSERT_EQ(ms.count(by), 1u) << r.graph << ", " << by;
                EXPECT_LT(ms.at(chosen), 1.12 * ms.at(by))
                    << r.graph << ", " << of.first << ", " << of.second << ": " << chosen << ", not " << by;
            }
        }
    }
    for (uint64_t cols : {8, 7, 32, 64}) // of eight heads, narrow ones, of which each is as many edges again
        for (bool more : {false, true})
            EXPECT_EQ(
                WayOf(1 << 12, (CSAW__LISTED_EDGES >> 3) + more, cols, CSAW_F32, 60 << 20, CSAW_SUM, true, false, 8)
                        .method == CSAW_SPMM_STRETCHES,
                !more || cols == 64)
                << cols;
}

// MAX, with a plan and without: less than 1.15 times the best of all methods.
TEST(EmulatedSpmmAuto, TakesWhatWasFastestOfExtremes) {
    const struct {
        const char *graph;
        size_t kinds;
        bool planned;
    } reports[] = {{"arxiv", 14, true},        {"arxiv-23", 2, true},          {"arxiv-bare", 14, false},
                   {"reddit", 4, true},        {"products", 4, true},          {"amazon_cs", 16, true},
                   {"coauthor_phy", 16, true}, {"flickr", 10, true},           {"reddit-0.2", 12, true},
                   {"reddit-0.2-23", 2, true}, {"reddit-0.2-bare", 10, false}, {"rmat-13-8", 14, true},
                   {"rmat-14-16", 16, true},   {"rmat-15-16", 16, true},       {"rmat-16-16", 14, true},
                   {"rmat-16-16-23", 2, true}, {"rmat-16-16-bare", 14, false}, {"rmat-19-2", 14, true},
                   {"rmat-20-10", 14, true},   {"rmat-20-10-23", 2, true},     {"rmat-20-10-bare", 14, false},
                   {"rmat-21-4", 16, true}};
    for (const auto &r : reports) {
        const Report report = Measured(std::string("2026-11-29-gpu-30-spmm-max-") + r.graph, "max");
        ASSERT_EQ(report.rows.size(), r.kinds) << r.graph;
        for (const auto &[of, ms] : report.rows) {
            const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
            const bool listed = r.planned && report.edges >= CSAW__LISTED_DEGREE * report.vertices;
            const csaw__auto_way way =
                WayOf(report.vertices, report.edges, of.first, dtype, 60 << 20, CSAW_MAX, listed);
            EXPECT_FALSE(way.resident) << "of sums alone";
            const std::string bare = r.planned ? "" : ", not prepared";
            const std::string chosen = csaw_spmm_method_name(way.method) + bare;
            ASSERT_EQ(ms.count(chosen), 1u) << r.graph << ", " << chosen;
            for (const char *method : {"crc", "cwm2", "subwarp16", "subwarp8", "subwarp4", "stretches"}) {
                const std::string by = method + bare;
                ASSERT_EQ(ms.count(by), 1u) << r.graph << ", " << by;
                EXPECT_LT(ms.at(chosen), 1.15 * ms.at(by))
                    << r.graph << ", " << of.first << ", " << of.second << ": " << chosen << ", not " << by;
            }
        }
    }
}

// Of communities, whose rows a plan brings near, sums: the best of all methods but for 1%.
TEST(EmulatedSpmmAuto, TakesStretchesOfMovedRows) {
    const Report report = Measured("2026-11-28-gpu-27-spmm-ways-planted");
    ASSERT_EQ(report.rows.size(), 6u);
    ASSERT_GT(report.edges, CSAW__LISTED_EDGES);
    for (const auto &[of, ms] : report.rows) {
        const csaw_dtype dtype = of.second == "f32" ? CSAW_F32 : CSAW_F16;
        const auto takes = [&, cols = of.first](uint64_t edges, csaw_reduce reduce) {
            return WayOf(report.vertices, edges, cols, dtype, 60 << 20, reduce, true, true).method;
        };
        const char *const chosen = csaw_spmm_method_name(takes(report.edges, CSAW_SUM));
        EXPECT_STREQ(chosen, dtype != CSAW_F32 && of.first == 64 ? "subwarp8" : "stretches");
        for (const char *by : {"crc", "cwm2", "subwarp16", "subwarp8", "stretches"}) {
            ASSERT_EQ(ms.count(by), 1u) << by;
            EXPECT_LT(ms.at(chosen), 1.01 * ms.at(by)) << of.first << ", " << of.second << ", " << by;
        }
        EXPECT_NE(takes(CSAW__STRETCH_EDGES + 1, CSAW_SUM), CSAW_SPMM_STRETCHES);
        EXPECT_NE(takes(report.edges, CSAW_MAX), CSAW_SPMM_STRETCHES);
    }
}

// Of 64 columns of 16 bits and rows as reddit and products have them.
TEST(EmulatedSpmmAuto, TakesBlocksThatStayWhereTheyWereFaster) {
    const struct {
        uint64_t rows, edges;
        bool faster;
    } graphs[] = {
        {2449029, 123446522, true}, {232965, 110442342, true}, {169343, 1162991, false}, {13471, 491722, false}};
    for (const auto &g : graphs)
        for (uint64_t cols : {16, 64, 256})
            for (csaw_dtype dtype : dtypes) {
                const csaw__auto_way way = WayOf(g.rows, g.edges, cols, dtype);
                EXPECT_EQ(way.resident, g.faster && cols == 64 && dtype != CSAW_F32) << g.rows << ", " << cols;
                if (way.resident) EXPECT_EQ(way.method, CSAW_SPMM_SUBWARP8);
            }
    EXPECT_FALSE(WayOf(100000, 50000000, 13, CSAW_F32).resident); // single elements
}

// An x as large as reddit's of 64 columns, 60 MB, by a cache of 50 MiB, which holds half of it, and of 60 MiB.
TEST(EmulatedSpmmAuto, HalvesColumnsWhereTheL2CacheHoldsHalf) {
    const uint64_t rows = 232965, small = 50 << 20, large = 60 << 20;
    const auto takes = [&](uint64_t edges, uint64_t cols, csaw_dtype dtype, uint64_t l2) {
        const csaw__auto_way way = WayOf(rows, edges, cols, dtype, l2);
        return std::pair(way.method, way.resident);
    };
    for (uint64_t edges : {15000000, 57000000}) {
        EXPECT_EQ(takes(edges, 64, CSAW_F32, small), std::pair(CSAW_SPMM_SUBWARP8, false));
        EXPECT_EQ(takes(edges, 64, CSAW_F32, large), std::pair(CSAW_SPMM_SUBWARP16, false));
    }
    EXPECT_EQ(takes(110442342, 64, CSAW_F32, small), std::pair(CSAW_SPMM_SUBWARP16, false)); // 1% faster so
    EXPECT_EQ(takes(110442342, 256, CSAW_F32, small), std::pair(CSAW_SPMM_SUBWARP8, false));
    EXPECT_EQ(takes(110442342, 256, CSAW_F32, large), std::pair(CSAW_SPMM_SUBWARP16, false));
    EXPECT_EQ(takes(57000000, 60, CSAW_F32, small),
              std::pair(CSAW_SPMM_SUBWARP16, false)); // 15 vectors are no two halves
    EXPECT_EQ(takes(110442342, 72, CSAW_F32, small), std::pair(CSAW_SPMM_SUBWARP16, false));
    EXPECT_EQ(takes(57000000, 64, CSAW_F16, small), std::pair(CSAW_SPMM_SUBWARP8, true));
    EXPECT_EQ(WayOf(rows, 57000000, 64, CSAW_F32, small, CSAW_MAX).method, CSAW_SPMM_SUBWARP16); // measured by sums
    EXPECT_EQ(WayOf(rows, 110442342, 256, CSAW_F32, small, CSAW_MAX).method, CSAW_SPMM_SUBWARP16);
    EXPECT_EQ(takes(57000000, 64, CSAW_F32, small / 2), std::pair(CSAW_SPMM_SUBWARP16, false)); // nor half of it
}

// In float32, of x that is read often: a warp's slice if the cache holds it, narrower ones else.
TEST(EmulatedSpmmAuto, SlicesColumnsByTheL2Cache) {
    const uint64_t l2 = 1 << 30, fits = l2 / (32 * 16);
    EXPECT_EQ(AutoOf(fits, fits * 500, 256, CSAW_F32, l2), CSAW_SPMM_CRC);
    EXPECT_EQ(AutoOf(fits + 1, (fits + 1) * 500, 256, CSAW_F32, l2), CSAW_SPMM_SUBWARP16);
    EXPECT_EQ(AutoOf(fits + 1, (fits + 1) * 31, 256, CSAW_F32, l2), CSAW_SPMM_CWM2); // not read often
    EXPECT_EQ(AutoOf(fits + 1, (fits + 1) * 31, 252, CSAW_F32, l2), CSAW_SPMM_CRC);
    EXPECT_EQ(AutoOf(fits + 1, (fits + 1) * 500, 255, CSAW_F32, l2), CSAW_SPMM_CWM4); // single elements
}

TEST(EmulatedSpmmAuto, TakesTheNarrowestThatHoldsAllColumns) {
    for (uint64_t cols = 1; cols <= 1024; cols++)
        for (uint64_t degree : {0, 1, 31, 32, 1000})
            for (csaw_dtype dtype : dtypes) {
                const uint64_t most = dtype == CSAW_F32 ? 4 : 8;
                const uint64_t vector = cols % most == 0 ? most : cols % 4 == 0 ? 4 : 1, vectors = cols / vector;
                const csaw_spmm_method method = AutoOf(1 << 26, degree << 26, cols, dtype, ~uint64_t{0});
                const uint64_t lanes = csaw__shape_of(method).lanes;
                EXPECT_TRUE(lanes >= std::min<uint64_t>(vectors, 32) && (lanes == 4 || lanes / 2 < vectors))
                    << cols << " columns, degree " << degree << ", storage " << dtype;
            }
}

} // namespace
