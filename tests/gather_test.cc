/* SPDX-License-Identifier: MIT */
/* tests/gather_test.cc - csaw_gather(): rows are copied as they are stored, of any storage and stride, on any number of
 * threads, and nothing beside them is written; what is refused. */
#include "tests/graph_cases.h"

#include <csaw/training.h>

#include <cstring>
#include <random>

using graph_cases::message_has;

namespace {

TEST(Gather, RowsAsTheyAreStored) {
    std::mt19937_64 random(3);
    for (csaw_dtype dtype : {CSAW_F32, CSAW_F16, CSAW_BF16})
        for (uint64_t cols : {1u, 7u, 300u}) {
            const uint64_t bytes = dtype == CSAW_F32 ? 4 : 2, rows = 90, count = 2000, wide = cols + 3;
            std::vector<unsigned char> x(rows * wide * bytes);
            for (unsigned char &b : x) b = static_cast<unsigned char>(random());
            std::vector<csaw_vertex> vertex(count);
            for (csaw_vertex &v : vertex) v = static_cast<csaw_vertex>(random() % rows);
            const csaw_dense from = {rows, cols, wide, dtype, x.data()};
            for (uint64_t stride : {uint64_t{0}, cols + 1})
                for (int threads : {0, 1, 3}) {
                    const csaw_gather_options how = {sizeof how, threads, nullptr, nullptr};
                    const uint64_t step = stride ? stride : cols;
                    std::vector<unsigned char> y(count * step * bytes, 0xee);
                    const csaw_dense to = {count, cols, stride, dtype, y.data()};
                    ASSERT_EQ(csaw_gather(&from, vertex.data(), count, &how, &to), CSAW_OK) << csaw_last_error();
                    for (uint64_t i = 0; i < count; i++) {
                        const unsigned char *row = &y[i * step * bytes];
                        ASSERT_EQ(memcmp(row, &x[vertex[i] * wide * bytes], cols * bytes), 0);
                        if (stride) {
                            ASSERT_EQ(row[cols * bytes], 0xee) << "written beside the row";
                        }
                    }
                }
        }
}

TEST(Gather, RefusesWhatCannotBe) {
    const csaw_gather_options backwards = {sizeof backwards, -1, nullptr, nullptr},
                              unknown = {4000, 0, nullptr, nullptr};
    float x[6] = {}, y[6] = {};
    const csaw_vertex vertex[] = {1, 3};
    csaw_dense from = {3, 2, 0, CSAW_F32, x}, to = {2, 2, 0, CSAW_F32, y};
    EXPECT_EQ(csaw_gather(&from, vertex, 2, nullptr, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"vertex[1] is 3", "3 rows"}));
    EXPECT_EQ(csaw_gather(&from, vertex, 1, nullptr, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"y is 2 x 2", "1 x 2"}));
    EXPECT_EQ(csaw_gather(nullptr, vertex, 2, nullptr, &to), CSAW_EINVAL);
    EXPECT_EQ(csaw_gather(&from, nullptr, 2, nullptr, &to), CSAW_EINVAL);
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &backwards, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"threads is -1"}));
    EXPECT_EQ(csaw_gather(&from, vertex, 2, &unknown, &to), CSAW_EINVAL);
    to.dtype = CSAW_F16;
    EXPECT_EQ(csaw_gather(&from, vertex, 2, nullptr, &to), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"dtype 0", "dtype 1"}));
    to = {2, 2, 0, CSAW_F32, x};
    EXPECT_EQ(csaw_gather(&from, vertex, 2, nullptr, &to), CSAW_EINVAL);
    to = {0, 2, 0, CSAW_F32, y};
    EXPECT_EQ(csaw_gather(&from, nullptr, 0, nullptr, &to), CSAW_OK);
}

} // namespace
