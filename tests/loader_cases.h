/* SPDX-License-Identifier: MIT */
/* tests/loader_cases.h - a loader over a small graph, and its batches as plain values. */
#ifndef CSAW_TESTS_LOADER_CASES_H
#define CSAW_TESTS_LOADER_CASES_H

#include "tests/graph_cases.h"
#include "tests/reference/public_api.h"

#include <csaw/training.h>

namespace loader_cases {

struct Block {
    uint64_t num_dst, num_src;
    std::vector<uint64_t> rowptr;
    std::vector<csaw_vertex> col;
    std::vector<csaw_edge> edge;
    bool operator==(const Block &o) const {
        return num_dst == o.num_dst && num_src == o.num_src && rowptr == o.rowptr && col == o.col && edge == o.edge;
    }
};

struct Batch {
    uint64_t epoch, number;
    std::vector<csaw_vertex> seeds, vertices;
    std::vector<Block> blocks;
    std::vector<char> features; // rows one after the other
    std::vector<int64_t> label;
    bool operator==(const Batch &o) const {
        return epoch == o.epoch && number == o.number && seeds == o.seeds && vertices == o.vertices &&
               blocks == o.blocks && features == o.features && label == o.label;
    }
};

// Out of device memory. That of an emulated GPU is the host's; tests on a GPU say otherwise.
inline void (*fetch)(void *to, const void *from, size_t bytes) = [](void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
};

template <class T> std::vector<T> list(csaw_space space, const T *from, uint64_t count) {
    std::vector<T> out(count);
    if (count && space == CSAW_DEVICE) fetch(out.data(), from, count * sizeof *from);
    if (count && space == CSAW_HOST) std::copy(from, from + count, out.begin());
    return out;
}

inline std::vector<Block> blocks_of(const csaw_blocks *blocks, uint64_t place = 0) {
    std::vector<Block> out;
    for (uint32_t d = 0; d < csaw_blocks_depth(blocks); d++) {
        csaw_block_view b = {};
        reference::require(csaw_blocks_look(blocks, place, d, &b));
        out.push_back({b.num_dst, b.num_src, list(b.space, b.rowptr, b.num_dst + 1), list(b.space, b.col, b.num_edges),
                       list(b.space, b.edge, b.num_edges)});
    }
    return out;
}

inline Batch value_of(const csaw_minibatch &m) {
    Batch out = {m.epoch,
                 m.number,
                 list(m.space, m.vertex, m.num_seeds),
                 list(m.space, m.vertex, m.num_vertices),
                 blocks_of(m.blocks),
                 {},
                 {}};
    EXPECT_EQ(csaw_blocks_instances(m.blocks), 1u);
    if (m.features.data) {
        const uint64_t bytes = m.features.cols * (m.features.dtype == CSAW_F32 ? 4 : 2);
        EXPECT_EQ(m.features.rows, m.num_vertices);
        EXPECT_EQ(m.features.stride, 0u);
        out.features = list(m.space, static_cast<const char *>(m.features.data), m.num_vertices * bytes);
    }
    if (m.label) out.label = list(m.space, m.label, m.num_seeds);
    return out;
}

using Loader = std::unique_ptr<csaw_loader, decltype(&csaw_loader_close)>;

inline Loader open(csaw_plan *plan, const std::vector<csaw_vertex> &seeds, const csaw_loader_options &options) {
    const csaw_seeds view = {seeds.data(), seeds.size(), nullptr};
    csaw_loader *out = nullptr;
    reference::require(csaw_loader_open(plan, seeds.empty() ? nullptr : &view, &options, &out));
    return Loader(out, csaw_loader_close);
}

// To its end; pause is called with each batch, while the next may be made.
inline std::vector<Batch> all_of(csaw_loader *loader, const std::function<void(const Batch &)> &pause = nullptr) {
    std::vector<Batch> out;
    for (const csaw_minibatch *m = nullptr;;) {
        reference::require(csaw_loader_next(loader, &m));
        if (!m) return out;
        const Batch batch = value_of(*m);
        if (pause) pause(batch);
        EXPECT_TRUE(value_of(*m) == batch) << "a batch changed under the caller";
        out.push_back(batch);
    }
}

// A plan, a loader and all of its batches; what came of it. Nothing is left of them.
inline csaw_status run_through(const csaw_graph *graph, const csaw_plan_options *on, const csaw_seeds *seeds,
                               const csaw_loader_options &options) {
    csaw_plan *plan = nullptr;
    csaw_loader *loader = nullptr;
    csaw_status status = csaw_plan_create(graph, on, &plan);
    if (status == CSAW_OK) status = csaw_loader_open(plan, seeds, &options, &loader);
    const csaw_minibatch none = {}, *m = &none;
    while (status == CSAW_OK && m) status = csaw_loader_next(loader, &m);
    csaw_loader_close(loader);
    csaw_plan_free(plan);
    return status;
}

// Two batches; then, however often, the bias of instance 2 that breaks its rules, and no batch.
inline void expect_the_third_to_fail(csaw_loader *loader) {
    const csaw_minibatch none = {}, *m = nullptr;
    for (uint64_t b = 0; b < 2; b++) {
        ASSERT_EQ(csaw_loader_next(loader, &m), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(m->number, b);
    }
    for (int again = 0; again < 3; again++) {
        m = &none;
        EXPECT_EQ(csaw_loader_next(loader, &m), CSAW_EBIAS);
        EXPECT_TRUE(graph_cases::message_has({"instance 2", "neighbor_again"}));
        EXPECT_EQ(m, &none); // untouched
    }
}

} // namespace loader_cases

#endif
