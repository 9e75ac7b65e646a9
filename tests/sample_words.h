/* SPDX-License-Identifier: MIT */
/* tests/sample_words.h - what a batch delivers, as words in its order, and the comparison of two runs in batches. */
#ifndef CSAW_TESTS_SAMPLE_WORDS_H
#define CSAW_TESTS_SAMPLE_WORDS_H

#include <csaw/csaw.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "runtime/base/status.h"
}

namespace sample_words {

// Appends the walks of a batch, or its samples: all that csaw_walks and csaw_arcs have of them.
inline csaw_status take_words(csaw_samples *samples, bool walk, std::vector<uint64_t> *words) {
    csaw_walks w = {};
    csaw_arcs arcs = {};
    CSAW_TRY(walk ? csaw_samples_walks(samples, CSAW_HOST, &w) : csaw_samples_arcs(samples, CSAW_HOST, &arcs));
    for (uint64_t i = 0; walk && i < w.num_walks; i++) {
        const csaw_vertex *path = w.path + i * w.path_walk_stride;
        const csaw_edge *edge = w.edge + i * w.edge_walk_stride;
        words->push_back(w.first + i);
        words->insert(words->end(), path, path + w.length + 1);
        words->insert(words->end(), edge, edge + w.length);
    }
    for (uint64_t i = 0; !walk && i < arcs.num_instances; i++) {
        words->push_back(arcs.first + i);
        words->insert(words->end(), arcs.seed + arcs.seed_offset[i], arcs.seed + arcs.seed_offset[i + 1]);
        for (uint64_t a = arcs.offset[i]; a < arcs.offset[i + 1]; a++)
            words->insert(words->end(), {arcs.src[a], arcs.dst[a], arcs.edge[a], arcs.depth[a]});
    }
    return CSAW_OK;
}

// one(&a) and other(&b), which begin alike, come to the same, to the message. What it is.
template <class WATCH, class ONE, class OTHER>
csaw_status expect_same(WATCH *a, WATCH *b, const ONE &one, const OTHER &other) {
    const csaw_status status = one(a);
    const std::string said = csaw_last_error();
    EXPECT_EQ(status, other(b)) << csaw_last_error();
    if (status != CSAW_OK) {
        EXPECT_EQ(said, csaw_last_error());
    }
    EXPECT_EQ(a->batches, b->batches);
    EXPECT_EQ(a->done, b->done);
    EXPECT_EQ(a->got, b->got);
    return status;
}

} // namespace sample_words

#endif
