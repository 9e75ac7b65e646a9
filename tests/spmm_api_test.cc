/* SPDX-License-Identifier: MIT */
/* spmm_api_test.cc - what aggregation refuses, what it does when memory ends, how graphs and blocks become matrices,
 * and the elements of 16-bit storage. */
#include "tests/spmm_cases.h"

#include <csaw/training.h>

#include <algorithm>
#include <functional>

namespace {

using namespace spmm_cases;

struct Arguments { // of every call, all right at first
    Sparse matrix = random_sparse("matrix", {3, 0, 2}, 4, true);
    csaw_sparse a = matrix.view();
    std::vector<float> memory = std::vector<float>(400, 1.0f), dweight = std::vector<float>(40);
    csaw_dense x{4, 6, 0, CSAW_F32, memory.data()}, y{3, 6, 0, CSAW_F32, memory.data() + 100};
    csaw_dense dx{4, 6, 0, CSAW_F32, memory.data() + 200};
    csaw_edge arg[18] = {};
    csaw_spmm_options options = options_of(CSAW_SUM);
    csaw_edge_options edges = {sizeof(csaw_edge_options), nullptr, 0, false, nullptr};
};

using Change = std::function<void(Arguments *)>;

struct Refusal {
    Change change;
    csaw_status status;
    const char *word; // of the message
};

const std::vector<Refusal> of_matrices = {
    {[](Arguments *k) { k->a.rowptr = nullptr; }, CSAW_EINVAL, "rowptr"},
    {[](Arguments *k) { k->a.col = nullptr; }, CSAW_EINVAL, "col"},
    {[](Arguments *k) { k->a.cols = 1ull << 32; }, CSAW_EINVAL, "4294967296 columns"},
    {[](Arguments *k) { k->a.rows = UINT64_MAX; }, CSAW_EINVAL, "rows"},
    {[](Arguments *k) { k->a.num_edges = 6; }, CSAW_EINVAL, "ends with 5"},
    {[](Arguments *k) { k->matrix.rowptr[0] = 1; }, CSAW_EINVAL, "begins with 1"},
    {[](Arguments *k) { k->matrix.rowptr[1] = 4; }, CSAW_EINVAL, "falls from 4 to 3 at row 1"},
    {[](Arguments *k) { k->x.rows = 5; }, CSAW_EINVAL, "x is 5 x 6"},
    {[](Arguments *k) { k->y.rows = 4; }, CSAW_EINVAL, "y is 4 x 6"},
    {[](Arguments *k) { k->y.cols = 5; }, CSAW_EINVAL, "x 5"},
    {[](Arguments *k) { k->x.stride = 5; }, CSAW_EINVAL, "stride of x is 5"},
    {[](Arguments *k) { k->y.stride = 1ull << 61; }, CSAW_EINVAL, "address space"},
    {[](Arguments *k) { k->x.dtype = static_cast<csaw_dtype>(3); }, CSAW_EINVAL, "dtype of x is 3"},
    {[](Arguments *k) { k->y.dtype = static_cast<csaw_dtype>(-1); }, CSAW_EINVAL, "dtype of y is -1"},
    {[](Arguments *k) { k->x.data = nullptr; }, CSAW_EINVAL, "data of x"},
    {[](Arguments *k) { k->y.data = nullptr; }, CSAW_EINVAL, "data of y"},
    {[](Arguments *k) { k->options.heads = k->edges.heads = 4; }, CSAW_EINVAL, "4 heads"},
#ifndef CSAW_WITH_CUDA
    {[](Arguments *k) { k->options.device = k->edges.device = "cuda:0"; }, CSAW_EUNSUPPORTED, "built without CUDA"},
#endif
    {[](Arguments *k) { k->options.device = k->edges.device = "gpu"; }, CSAW_EINVAL, "'gpu' is not known"},
    {[](Arguments *k) { k->options.device = k->edges.device = "cuda:1x"; }, CSAW_EINVAL, "'cuda:1x' is not known"},
    {[](Arguments *k) { k->options.stream = k->edges.stream = k; }, CSAW_EINVAL, "the device is the CPU"},
    {[](Arguments *k) { k->options.size = k->edges.size = 4; }, CSAW_EINVAL, "size"},
    {[](Arguments *k) { k->options.size = k->edges.size = 4000; }, CSAW_EINVAL, "size"},
};

const std::vector<Refusal> of_spmm = {
    {[](Arguments *k) { k->options.reduce = static_cast<csaw_reduce>(4); }, CSAW_EINVAL, "reduce is 4"},
    {[](Arguments *k) { k->options.arg = k->arg; }, CSAW_EINVAL, "CSAW_MAX and CSAW_MIN"},
    {[](Arguments *k) { k->y.data = k->x.data; }, CSAW_EINVAL, "share memory"},
    {[](Arguments *k) { k->options.method = CSAW_SPMM_CWM2; }, CSAW_EUNSUPPORTED, "'cwm2' is a kernel of GPUs"},
    {[](Arguments *k) { k->options.method = static_cast<csaw_spmm_method>(9); }, CSAW_EINVAL, "method is 9"},
    {[](Arguments *k) { k->options.method = static_cast<csaw_spmm_method>(-1); }, CSAW_EINVAL, "method is -1"},
};

void expect(csaw_status got, const Refusal &want) {
    EXPECT_EQ(got, want.status) << want.word;
    EXPECT_NE(std::string(csaw_last_error()).find(want.word), std::string::npos) << csaw_last_error();
}

void poison(Arguments *k) { // outputs of the backward pass and of attention: no result has these bits
    std::fill(k->memory.begin() + 200, k->memory.begin() + 224, -12345.0f);
    std::fill(k->dweight.begin(), k->dweight.end(), -12345.0f);
}

TEST(SpmmApi, what_csaw_spmm_refuses) {
    for (const auto *list : {&of_matrices, &of_spmm})
        for (const Refusal &refusal : *list) {
            Arguments k;
            EXPECT_EQ(csaw_spmm(&k.a, &k.x, &k.options, &k.y), CSAW_OK);
            refusal.change(&k);
            const std::vector<float> before = k.memory;
            expect(csaw_spmm(&k.a, &k.x, &k.options, &k.y), refusal);
            EXPECT_EQ(k.memory, before);
        }
    Arguments k;
    EXPECT_EQ(csaw_spmm(nullptr, &k.x, nullptr, &k.y), CSAW_EINVAL);
    EXPECT_EQ(csaw_spmm(&k.a, nullptr, nullptr, &k.y), CSAW_EINVAL);
    EXPECT_EQ(csaw_spmm(&k.a, &k.x, nullptr, nullptr), CSAW_EINVAL);
}

// In the backward pass y is called dy.
std::string called_dy(std::string word) {
    if (const size_t at = word.find("y is"); at != std::string::npos) return word.insert(at, "d");
    if (const size_t at = word.find("of y"); at != std::string::npos) return word.insert(at + 3, "d");
    return word;
}

TEST(SpmmApi, what_the_backward_pass_refuses) {
    std::vector<Refusal> list = of_matrices;
    list.push_back({[](Arguments *k) { k->options.reduce = static_cast<csaw_reduce>(4); }, CSAW_EINVAL, "reduce is 4"});
    list.push_back({[](Arguments *k) { k->options.arg = k->arg; }, CSAW_EINVAL, "CSAW_MAX and CSAW_MIN"});
    list.push_back({[](Arguments *k) { k->options.method = CSAW_SPMM_HUBS; }, CSAW_EUNSUPPORTED, "'hubs' is a kernel"});
    list.push_back({[](Arguments *k) { k->dx.data = k->x.data; }, CSAW_EINVAL, "dx and x share memory"});
    list.push_back({[](Arguments *k) { k->dx.data = k->y.data; }, CSAW_EINVAL, "dx and dy share memory"});
    list.push_back({[](Arguments *k) { k->a.weight = k->dweight.data(); }, CSAW_EINVAL, "dweight and weight share"});
    list.push_back({[](Arguments *k) { k->dx.stride = 2; }, CSAW_EINVAL, "stride of dx is 2"});
    list.push_back({[](Arguments *k) { k->options = options_of(CSAW_MAX); }, CSAW_EINVAL, "arg of the backward pass"});
    for (const Refusal &refusal : list) {
        Arguments k;
        EXPECT_EQ(csaw_spmm_backward(&k.a, &k.x, &k.y, &k.options, &k.dx, k.dweight.data()), CSAW_OK);
        refusal.change(&k);
        poison(&k);
        const std::vector<float> memory = k.memory, dweight = k.dweight;
        const std::string word = called_dy(refusal.word);
        expect(csaw_spmm_backward(&k.a, &k.x, &k.y, &k.options, &k.dx, k.dweight.data()),
               {nullptr, refusal.status, word.c_str()});
        EXPECT_TRUE(k.memory == memory && k.dweight == dweight) << word;
    }
    Arguments k;
    EXPECT_EQ(csaw_spmm_backward(&k.a, nullptr, &k.y, nullptr, &k.dx, nullptr), CSAW_OK);
    EXPECT_EQ(csaw_spmm_backward(&k.a, nullptr, &k.y, nullptr, nullptr, k.dweight.data()), CSAW_EINVAL);
    EXPECT_EQ(csaw_spmm_backward(&k.a, &k.x, nullptr, nullptr, &k.dx, nullptr), CSAW_EINVAL);
}

TEST(SpmmApi, what_attention_refuses) {
    for (const Refusal &refusal : of_matrices) {
        Arguments k;
        const csaw_dense by_row = k.y, by_column = k.x;
        k.x = by_row, k.y = by_column; // x has the rows of a, y its columns
        EXPECT_EQ(csaw_sddmm(&k.a, &k.x, &k.y, &k.edges, k.dweight.data()), CSAW_OK);
        refusal.change(&k);
        const std::string named = refusal.word, word = named == "y is 4 x 6" ? "" : named;
        if (word.empty()) k.y.rows = 3; // 4 rows are right here
        poison(&k);
        const std::vector<float> memory = k.memory, dweight = k.dweight;
        expect(csaw_sddmm(&k.a, &k.x, &k.y, &k.edges, k.dweight.data()),
               {nullptr, refusal.status, word.empty() ? "y is 3 x 6" : refusal.word});
        EXPECT_TRUE(k.memory == memory && k.dweight == dweight) << refusal.word;
    }
    Arguments k;
    float *const m = k.memory.data(), *const out = k.dweight.data();
    const auto refused = [&](const Refusal &want, const std::function<csaw_status()> &call) {
        poison(&k);
        const std::vector<float> memory = k.memory, dweight = k.dweight;
        expect(call(), want);
        EXPECT_TRUE(k.memory == memory && k.dweight == dweight) << want.word;
    };
    const auto softmax = [&](const float *score, float *to) { return csaw_edge_softmax(&k.a, score, &k.edges, to); };
    const auto gradient = [&](const float *p, const float *dp, float *to) {
        return csaw_edge_softmax_backward(&k.a, p, dp, &k.edges, to);
    };
    const auto both_refuse = [&](const Refusal &want) {
        refused(want, [&] { return softmax(m, out); });
        refused(want, [&] { return gradient(m, m + 50, out); });
    };
    EXPECT_EQ(softmax(m, out), CSAW_OK);
    EXPECT_EQ(gradient(m, m + 50, out), CSAW_OK);
    refused({nullptr, CSAW_EINVAL, "out is NULL"}, [&] { return csaw_sddmm(&k.a, &k.y, &k.x, nullptr, nullptr); });
    refused({nullptr, CSAW_EINVAL, "out and x share"}, [&] { return csaw_sddmm(&k.a, &k.y, &k.x, nullptr, m + 100); });
    refused({nullptr, CSAW_EINVAL, "score is NULL"}, [&] { return softmax(nullptr, out); });
    refused({nullptr, CSAW_EINVAL, "out is NULL"}, [&] { return softmax(m, nullptr); });
    refused({nullptr, CSAW_EINVAL, "out and score share"}, [&] { return softmax(m, m); });
    refused({nullptr, CSAW_EINVAL, "dout is NULL"}, [&] { return gradient(m, nullptr, out); });
    refused({nullptr, CSAW_EINVAL, "dscore is NULL"}, [&] { return gradient(m, m + 50, nullptr); });
    refused({nullptr, CSAW_EINVAL, "dscore and out share"}, [&] { return gradient(m, m + 50, m); });
    refused({nullptr, CSAW_EINVAL, "dscore and dout share"}, [&] { return gradient(m, m + 50, m + 50); });
    k.edges.exact = true;
    both_refuse({nullptr, CSAW_EINVAL, "exact is set"});
    k.edges.exact = false, k.edges.device = "gpu";
    both_refuse({nullptr, CSAW_EINVAL, "'gpu' is not known"});
    k.edges.device = nullptr, k.edges.stream = &k;
    both_refuse({nullptr, CSAW_EINVAL, "the device is the CPU"});
    k.edges.stream = nullptr, k.matrix.rowptr[1] = 4;
    both_refuse({nullptr, CSAW_EINVAL, "falls from 4 to 3 at row 1"});
}

TEST(SpmmApi, check_and_prepare_read_every_column) {
    for (uint64_t at : {0, 3, 69999}) {
        Sparse a = random_sparse("long", {4, 69996}, 9, false);
        csaw_sparse view = a.view();
        csaw_spmm_plan *plan = nullptr;
        EXPECT_EQ(csaw_sparse_check(&view), CSAW_OK);
        a.col[at] = 9;
        for (csaw_status status : {csaw_sparse_check(&view), csaw_spmm_prepare(&view, nullptr, &plan)}) {
            EXPECT_EQ(status, CSAW_EINVAL);
            EXPECT_NE(std::string(csaw_last_error()).find("edge " + std::to_string(at) + " has column 9"),
                      std::string::npos);
        }
        EXPECT_EQ(plan, nullptr);
    }
}

TEST(SpmmApi, methods_have_names) {
    const std::string names[] = {"auto",     "crc",      "cwm2", "cwm4",     "subwarp16",
                                 "subwarp8", "subwarp4", "hubs", "stretches"};
    for (int i = 0; i < 9; i++) EXPECT_EQ(csaw_spmm_method_name(static_cast<csaw_spmm_method>(i)), names[i]);
    for (int i : {-1, 9}) EXPECT_EQ(csaw_spmm_method_name(static_cast<csaw_spmm_method>(i)), nullptr);
}

TEST(SpmmApi, hubs_are_prepared_for_gpus_alone) {
    const Sparse a = power_law(true);
    const csaw_sparse view = a.view();
    csaw_spmm_plan *plan = nullptr;
    csaw_prepare_options options = {};
    options.size = sizeof options;
    options.hubs = true;
    EXPECT_EQ(csaw_spmm_prepare(&view, &options, &plan), CSAW_EUNSUPPORTED);
    EXPECT_TRUE(graph_cases::message_has({"hubs", "the CPU", "'cuda:N'"}));
    EXPECT_EQ(plan, nullptr);
}

// What the call takes of csaw__alloc(), byte by byte; of dx without a plan no less.
TEST(SpmmApi, work_bytes_are_what_calls_take) {
    const auto taken_by = [](const std::function<csaw_status()> &call) {
        csaw__fail_allocations_from(0);
        EXPECT_EQ(call(), CSAW_OK) << csaw_last_error();
        return csaw__bytes_counted();
    };
    use_threads(3);
    uint64_t most = 0;
    for (Sparse a : {random_sparse("long rows", {5, 40000, 70000}, 30, false),
                     random_sparse("long columns", std::vector<uint64_t>(40000, 2), 2, false), power_law(false)})
        for (uint32_t heads : {1, 2}) {
            give_weights(&a, heads, 1);
            const csaw_sparse view = a.view();
            const csaw_prepare_options prepare = {sizeof prepare, nullptr, true, heads, nullptr, false, false};
            csaw_spmm_plan *fixed = nullptr, *plan = nullptr;
            ASSERT_EQ(csaw_spmm_prepare(&view, &prepare, &fixed), CSAW_OK);
            ASSERT_EQ(csaw_spmm_prepare(&view, nullptr, &plan), CSAW_OK);
            Dense x(random_matrix(a.cols, 6, 1), CSAW_F32), y(a.rows, 6, CSAW_F32), dx(a.cols, 6, CSAW_F32);
            std::vector<csaw_edge> arg(a.rows * 6);
            std::vector<float> dweight(a.col.size() * heads);
            for (csaw_reduce reduce : reduces)
                for (bool exact : {false, true})
                    for (const csaw_spmm_plan *with : {plan, fixed, static_cast<csaw_spmm_plan *>(nullptr)}) {
                        const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
                        csaw_spmm_options options = options_of(reduce, heads, picks ? arg.data() : nullptr, with);
                        options.exact = exact;
                        uint64_t bytes = 0;
                        ASSERT_EQ(csaw_spmm_work_bytes(&view, x.view(), &options, y.view(), &bytes), CSAW_OK);
                        EXPECT_EQ(bytes, taken_by([&] { return csaw_spmm(&view, x.view(), &options, y.view()); }));
                        most = std::max(most, bytes);
                        for (int wanted = 1; wanted <= 3; wanted++) {
                            const csaw_dense *to_x = wanted & 1 ? dx.view() : nullptr;
                            float *to_weight = wanted & 2 ? dweight.data() : nullptr;
                            ASSERT_EQ(csaw_spmm_backward_work_bytes(&view, x.view(), y.view(), &options, to_x,
                                                                    to_weight, &bytes),
                                      CSAW_OK);
                            const uint64_t taken = taken_by([&] {
                                return csaw_spmm_backward(&view, x.view(), y.view(), &options, to_x, to_weight);
                            });
                            if (with || !to_x) {
                                EXPECT_EQ(bytes, taken) << a.name << ", reduce " << reduce << ", wanted " << wanted;
                            } else {
                                EXPECT_GE(bytes, taken) << a.name;
                            }
                        }
                    }
            csaw_spmm_plan_free(fixed);
            csaw_spmm_plan_free(plan);
        }
    use_threads(0);
    EXPECT_EQ(most, 2 * 8 + 274 * 6 * 12u); // the longest row has 274 chunks; partial results and places of MAX, exact
    Arguments k;
    EXPECT_EQ(csaw_spmm_work_bytes(&k.a, &k.x, &k.options, &k.y, nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_spmm_backward_work_bytes(&k.a, &k.x, &k.y, &k.options, &k.dx, nullptr, nullptr), CSAW_EINVAL);
    uint64_t untouched = 99;
    k.x.rows = 5;
    EXPECT_EQ(csaw_spmm_work_bytes(&k.a, &k.x, &k.options, &k.y, &untouched), CSAW_EINVAL);
    EXPECT_EQ(untouched, 99u);
}

TEST(SpmmApi, a_plan_of_another_matrix_is_refused) {
    const Sparse a = power_law(true), b = a; // equal, elsewhere
    const csaw_sparse of = a.view(), other = b.view();
    csaw_spmm_plan *plan = nullptr;
    ASSERT_EQ(csaw_spmm_prepare(&of, nullptr, &plan), CSAW_OK);
    Dense x(random_matrix(a.cols, 2, 1), CSAW_F32), y(a.rows, 2, CSAW_F32);
    const csaw_spmm_options options = options_of(CSAW_SUM, 1, nullptr, plan);
    EXPECT_EQ(csaw_spmm(&of, x.view(), &options, y.view()), CSAW_OK);
    EXPECT_EQ(csaw_spmm(&other, x.view(), &options, y.view()), CSAW_EINVAL);
    EXPECT_EQ(csaw_spmm_backward(&other, nullptr, y.view(), &options, x.view(), nullptr), CSAW_EINVAL);
    csaw_spmm_plan_free(plan);
    csaw_spmm_plan_free(nullptr);
}

// Every allocation of every call fails in turn, and outputs stay as they were; AddressSanitizer finds what is not
// freed.
TEST(SpmmApi, each_allocation_fails_in_turn) {
    const Sparse a = random_sparse("hubs", {5, 40000}, 3, true); // long rows both ways
    const csaw_sparse view = a.view();
    Dense x(random_matrix(3, 4, 1), CSAW_F32), y(random_matrix(2, 4, 1), CSAW_F32), dx(3, 4, CSAW_F32),
        y_out(2, 4, CSAW_F32);
    std::vector<float> dweight(a.col.size()), score(a.col.size(), 1);
    for (csaw_reduce reduce : reduces) {
        const bool picks = reduce == CSAW_MAX || reduce == CSAW_MIN;
        std::vector<csaw_edge> arg = reference::spmm(view, x.values(), reduce, 1).arg;
        csaw_spmm_options options = options_of(reduce, 1, picks ? arg.data() : nullptr);
        options.exact = true;
        const std::vector<std::function<csaw_status()>> calls = {
            [&] { return csaw_spmm(&view, x.view(), &options, y_out.view()); },
            [&] { return csaw_spmm_backward(&view, x.view(), y.view(), &options, dx.view(), dweight.data()); },
            [&] { return csaw_edge_softmax(&view, score.data(), nullptr, dweight.data()); },
            [&] { return csaw_sddmm(&view, y.view(), x.view(), nullptr, dweight.data()); },
            [&] {
                csaw_spmm_plan *plan = nullptr;
                const csaw_prepare_options prepare = {sizeof prepare, nullptr, true, 1, nullptr, false, false};
                const csaw_status status = csaw_spmm_prepare(&view, &prepare, &plan);
                EXPECT_EQ(plan == nullptr, status != CSAW_OK);
                csaw_spmm_plan_free(plan);
                return status;
            }};
        for (const auto &call : calls) {
            csaw__fail_allocations_from(0);
            ASSERT_EQ(call(), CSAW_OK);
            const uint64_t needed = csaw__allocations_counted();
            EXPECT_GE(needed, 1u);
            const auto clear = [&](float *memory, uint64_t count) { std::fill(memory, memory + count, -12345.0f); };
            clear(static_cast<float *>(dx.view()->data), 12); // 3 x 4; no result has these bits
            clear(dweight.data(), dweight.size());
            clear(static_cast<float *>(y_out.view()->data), 8);
            const std::vector<unsigned char> y_before = y_out.raw(), dx_before = dx.raw();
            const std::vector<float> dweight_before = dweight;
            const std::vector<csaw_edge> arg_before = arg;
            for (uint64_t n = 1; n <= needed; n++) {
                csaw__fail_allocations_from(n);
                EXPECT_EQ(call(), CSAW_ENOMEM) << n << " of " << needed;
                EXPECT_TRUE(y_out.raw() == y_before && dx.raw() == dx_before && dweight == dweight_before &&
                            arg == arg_before)
                    << n << " of " << needed;
            }
            csaw__fail_allocations_from(0);
        }
    }
}

TEST(SpmmApi, graphs_and_blocks_as_matrices) {
    const graph_cases::Graph graph = graph_cases::make(graph_cases::WEIGHT, graph_cases::NONE);
    const csaw_csr csr = csaw_graph_csr(graph.get());
    const csaw_sparse whole = csaw_graph_sparse(graph.get());
    EXPECT_EQ(csaw_sparse_check(&whole), CSAW_OK);
    EXPECT_TRUE(whole.rows == csr.num_vertices && whole.cols == csr.num_vertices && whole.num_edges == csr.num_edges);
    EXPECT_TRUE(whole.rowptr == csr.rowptr && whole.col == csr.col && whole.weight == csr.weight);
    csaw_plan *plan = nullptr;
    csaw_samples *samples = nullptr;
    csaw_blocks *blocks = nullptr;
    csaw_block_view block;
    const csaw_vertex seeds[] = {7, 0, 2};
    const uint64_t offset[] = {0, 3};
    const csaw_seeds pool = {seeds, 1, offset};
    const uint32_t fanout[] = {3, 4};
    csaw_run_options run = {};
    run.size = sizeof run, run.depth = 2, run.fanout = fanout;
    ASSERT_EQ(csaw_plan_create(graph.get(), nullptr, &plan), CSAW_OK);
    ASSERT_EQ(csaw_sample(plan, &csaw_neighbor_once, nullptr, &pool, &run, &samples), CSAW_OK) << csaw_last_error();
    ASSERT_EQ(csaw_blocks_create(samples, &blocks), CSAW_OK);
    ASSERT_EQ(csaw_blocks_look(blocks, 0, 1, &block), CSAW_OK);
    std::vector<float> weight(block.num_edges, NAN);
    ASSERT_GT(block.num_edges, 5u);
    ASSERT_EQ(csaw_block_weights(graph.get(), &block, weight.data()), CSAW_OK);
    const csaw_sparse a = csaw_block_sparse(&block, weight.data());
    EXPECT_EQ(csaw_sparse_check(&a), CSAW_OK);
    Dense x(random_matrix(a.cols, 3, 1), CSAW_F32), y(a.rows, 3, CSAW_F32);
    ASSERT_EQ(csaw_spmm(&a, x.view(), nullptr, y.view()), CSAW_OK);
    for (uint64_t i = 0; i < block.num_dst; i++) // by the graph's own arcs
        for (uint64_t c = 0; c < 3; c++) {
            double sum = 0;
            for (uint64_t k = block.rowptr[i]; k < block.rowptr[i + 1]; k++)
                sum += static_cast<double>(csr.weight[block.edge[k]]) * x.get(block.col[k], c);
            EXPECT_NEAR(y.get(i, c), sum, 1e-5);
        }
    const graph_cases::Graph plain = graph_cases::make(0, graph_cases::NONE, 50, 3),
                             other = graph_cases::make(0, graph_cases::NONE);
    EXPECT_EQ(csaw_block_weights(plain.get(), &block, weight.data()), CSAW_EINVAL); // too few edges
    EXPECT_EQ(csaw_block_weights(other.get(), &block, weight.data()), CSAW_OK);
    block.space = CSAW_DEVICE;
    EXPECT_EQ(csaw_block_weights(graph.get(), &block, weight.data()), CSAW_EUNSUPPORTED);
    EXPECT_TRUE(graph_cases::message_has({"memory of a GPU", "host", "csaw_plan_weights()"}));
    EXPECT_EQ(csaw_plan_weights(plan, &block, nullptr, weight.data()), CSAW_EUNSUPPORTED);
    EXPECT_TRUE(graph_cases::message_has({"memory of a GPU", "made by"}));
    EXPECT_EQ(weight, std::vector<float>(block.num_edges, 1.0f));
    block.space = CSAW_HOST;
    EXPECT_EQ(csaw_plan_weights(plan, &block, &block, weight.data()), CSAW_EINVAL);
    EXPECT_TRUE(graph_cases::message_has({"a stream is given"}));
    EXPECT_EQ(csaw_plan_weights(plan, &block, nullptr, nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_plan_weights(nullptr, &block, nullptr, weight.data()), CSAW_EINVAL);
    ASSERT_EQ(csaw_plan_weights(plan, &block, nullptr, weight.data()), CSAW_OK);
    for (uint64_t k = 0; k < block.num_edges; k++) EXPECT_EQ(weight[k], csr.weight[block.edge[k]]);
    csaw_blocks_free(blocks);
    csaw_samples_free(samples);
    csaw_plan_free(plan);
}

TEST(Element, every_half_to_float_and_back) {
    for (uint32_t bits = 0; bits <= 0xffff; bits++)
        for (csaw_dtype dtype : {CSAW_F16, CSAW_BF16}) {
            const auto half = static_cast<uint16_t>(bits);
            const float got = dtype == CSAW_F16 ? csaw__from_f16(half) : csaw__from_bf16(half);
            const double want = reference::value_of_half(half, dtype);
            ASSERT_TRUE(static_cast<double>(got) == want || (std::isnan(got) && std::isnan(want))) << bits;
            const uint16_t back = dtype == CSAW_F16 ? csaw__to_f16(got) : csaw__to_bf16(got);
            if (std::isnan(want))
                ASSERT_TRUE(std::isnan(reference::value_of_half(back, dtype))) << bits;
            else
                ASSERT_EQ(back, half);
        }
}

// Around every midpoint of neighbours: to the nearer one, a tie to the even one; past the largest: infinity.
TEST(Element, rounds_to_nearest_even) {
    for (csaw_dtype dtype : {CSAW_F16, CSAW_BF16}) {
        const uint16_t infinite = dtype == CSAW_F16 ? 0x7c00 : 0x7f80;
        const auto to_half = [&](float x) { return dtype == CSAW_F16 ? csaw__to_f16(x) : csaw__to_bf16(x); };
        for (uint16_t low = 0; low < infinite; low++) {
            const auto high = static_cast<uint16_t>(low + 1);
            const double above = high == infinite ? 2 * reference::value_of_half(low, dtype) -
                                                        reference::value_of_half(static_cast<uint16_t>(low - 1), dtype)
                                                  : reference::value_of_half(high, dtype);
            const double middle = (reference::value_of_half(low, dtype) + above) / 2;
            if (middle > 3.4e38) continue; // no float32 there
            const auto tie = static_cast<float>(middle);
            if (static_cast<double>(tie) == middle) { // not so for the smallest of bfloat16
                ASSERT_EQ(to_half(tie), low % 2 ? high : low);
                ASSERT_EQ(to_half(-tie), (low % 2 ? high : low) | 0x8000);
            }
            ASSERT_EQ(to_half(std::nextafterf(tie, INFINITY)), high);
            ASSERT_EQ(to_half(std::nextafterf(tie, 0)), low);
            // float64 a little beside a tie, which float32 would make a tie: rounded once
            const double up = std::nextafter(middle, INFINITY), down = std::nextafter(middle, 0);
            ASSERT_EQ(to_half(csaw__to_odd(up)), high);
            ASSERT_EQ(to_half(csaw__to_odd(down)), low);
            ASSERT_EQ(to_half(csaw__to_odd(-down)), low | 0x8000);
        }
    }
}

} // namespace
