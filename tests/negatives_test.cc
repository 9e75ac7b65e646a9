/* SPDX-License-Identifier: MIT */
/* tests/negatives_test.cc - negative samples: their law, by chi-square over every source against the formula, where
 * attempts suffice and where nearly all vertices are neighbours; |z| < 4 for each of 64 fits and 4 of pairs, wrong laws
 * z > 10 (tests/law.h). The numbers of docs/stream.md, any number of threads, any division into calls; what is refused.
 */
#include "tests/failing_allocations.h"
#include "tests/negatives_cases.h"
#include "tests/reference/philox.h"

using graph_cases::message_has;
using namespace negatives_cases;

namespace {

const Draw here = [](csaw_negatives *negatives, uint64_t seed, uint64_t first, const Vertices &src, uint32_t each) {
    Vertices dst(src.size() * each, CSAW_NONE);
    reference::require(csaw_negatives_draw(negatives, seed, first, src.data(), src.size(), each, dst.data()));
    return dst;
};

Vertices draw(const Negatives &negatives, uint64_t seed, uint64_t first, const Vertices &src, uint32_t each) {
    return here(negatives.get(), seed, first, src, each);
}

TEST(NegativesLaw, OfEverySource) {
    uint64_t seed = 500;
    for (const Graph &graph : graphs())
        for (const Rule &rule : rules) {
            const double z = z_of(graph, rule, rule, ++seed, 400, here);
            EXPECT_LT(std::fabs(z), law::threshold) << graph.name << ", power " << rule.power << ", any " << rule.any;
        }
}

TEST(NegativesLaw, WrongLawsAreRejected) {
    const Graph karate = reference::small_graph("karate"), near = nearly_complete();
    EXPECT_GT(z_of(karate, {0, true}, {0, false}, 1, 400, here), law::wrong) << "neighbours among them";
    EXPECT_GT(z_of(karate, {1, false}, {.75, false}, 1, 400, here), law::wrong) << "another power";
    EXPECT_GT(z_of(karate, {0, false}, {.75, false}, 1, 400, here), law::wrong) << "all alike";
    EXPECT_GT(z_of(near, {.75, false}, {0, false}, 1, 400, here), law::wrong) << "by degree";
}

// Pairs of draws: of one source, of sources side by side, of equal sources far apart.
TEST(NegativesLaw, DrawsAreIndependent) {
    const Graph graph = reference::small_graph("star");
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const Negatives negatives = create(borrowed.get(), {});
    const std::vector<long double> p = law_of(csr, {}, 3);
    std::vector<long double> pairs;
    for (long double a : p)
        for (long double b : p) pairs.push_back(a * b);
    const std::vector<csaw_vertex> dst = draw(negatives, 3, 0, std::vector<csaw_vertex>(20000, 3), 3);
    const auto z = [&](size_t step, size_t apart) {
        std::vector<uint64_t> seen(81);
        for (size_t i = 0; i + apart < dst.size(); i += step) seen.at(dst[i] * 9 + dst[i + apart])++;
        law::ChiSquare fit;
        fit.add(seen, pairs);
        return std::fabs(fit.z());
    };
    EXPECT_LT(z(3, 1), law::threshold);
    EXPECT_LT(z(3, 2), law::threshold);
    EXPECT_LT(z(6, 3), law::threshold);
    EXPECT_LT(z(6, 4), law::threshold);
    EXPECT_GT(z(6, 0), law::wrong); // a number used twice
}

TEST(Negatives, NumbersOfTheStream) {
    const Graph graph = nearly_complete();
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const std::vector<csaw_vertex> src = {0, 5, 0, 63, 0, 0, 12};
    const uint64_t first = (uint64_t{1} << 35) + 9, seed = 0x123456789abcdef0;
    const std::vector<csaw_vertex> dst = draw(create(borrowed.get(), {}), seed, first, src, 4);
    int exact = 0;
    for (size_t i = 0; i < src.size(); i++)
        for (uint32_t j = 0; j < 4; j++) {
            const auto number = [&](uint32_t t) {
                return reference::half(reference::draw(seed, first + i, 0, j, 0, (3u << 26) + 16 + t / 2), t % 2);
            };
            csaw_vertex expected = CSAW_NONE;
            for (uint32_t t = 0; t < 8 && expected == CSAW_NONE; t++) {
                const csaw_vertex x = static_cast<csaw_vertex>(reference::below(number(t), 64));
                if (allowed(csr, src[i], x)) expected = x;
            }
            if (expected == CSAW_NONE) {
                std::vector<csaw_vertex> left;
                for (csaw_vertex x = 0; x < 64; x++)
                    if (allowed(csr, src[i], x)) left.push_back(x);
                expected = left[reference::below(number(8), left.size())];
                exact++;
            }
            EXPECT_EQ(dst[i * 4 + j], expected) << i << ", " << j;
        }
    EXPECT_GT(exact, 4); // both ways were taken
    EXPECT_LT(exact, 20);
}

TEST(Negatives, TheSameOnAnyThreadsAndCalls) {
    const Graph graph = nearly_complete();
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    std::vector<csaw_vertex> src;
    for (csaw_vertex i = 0; i < 3000; i++) src.push_back(i * 7 % 64);
    for (double power : {0.0, .75}) {
        const std::vector<csaw_vertex> one = draw(create(borrowed.get(), {power, false, 1}), 8, 100, src, 3);
        EXPECT_EQ(draw(create(borrowed.get(), {power, false, 5}), 8, 100, src, 3), one);
        const std::vector<csaw_vertex> tail(src.begin() + 1000, src.end());
        const std::vector<csaw_vertex> later = draw(create(borrowed.get(), {power, false}), 8, 1100, tail, 3);
        EXPECT_TRUE(std::equal(later.begin(), later.end(), one.begin() + 3000));
        EXPECT_NE(draw(create(borrowed.get(), {power, false}), 9, 100, src, 3), one);
    }
}

TEST(Negatives, RefusesWhatCannotBe) {
    const Graph complete = reference::small_graph("complete"), star = reference::small_graph("star");
    const csaw_csr csr = complete.csr(), star_csr = star.csr();
    const auto graph = reference::borrow(csr), star_graph = reference::borrow(star_csr);
    csaw_vertex dst[4] = {}, src[] = {1, 2};
    const Negatives all = create(graph.get(), {}), any = create(graph.get(), {0, true});
    EXPECT_EQ(csaw_negatives_draw(all.get(), 0, 0, src, 2, 2, dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src[0] is vertex 1", "6", "leave it out, or set any"}));
    EXPECT_EQ(csaw_negatives_draw(any.get(), 0, 0, src, 2, 2, dst), CSAW_OK);
    EXPECT_EQ(csaw_negatives_draw(all.get(), 0, 0, nullptr, 0, 2, nullptr), CSAW_OK); // nothing is asked for
    EXPECT_EQ(csaw_negatives_draw(all.get(), 0, 0, src, 2, 0, nullptr), CSAW_OK);
    EXPECT_EQ(csaw_negatives_draw(nullptr, 0, 0, src, 2, 2, dst), CSAW_EINVAL);
    EXPECT_EQ(csaw_negatives_draw(all.get(), 0, 0, src, 2, 2, nullptr), CSAW_EINVAL);
    EXPECT_EQ(csaw_negatives_draw(any.get(), 0, (uint64_t{1} << 40) - 1, src, 2, 2, dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"2^40"}));
    src[1] = 6;
    EXPECT_EQ(csaw_negatives_draw(any.get(), 0, 0, src, 2, 2, dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src[1] is vertex 6", "6 vertices"}));
    const Negatives hub =
        create(star_graph.get(), {.75, false}); // the centre is everyone's neighbour, and joined to all
    src[0] = 3, src[1] = 0;
    EXPECT_EQ(csaw_negatives_draw(hub.get(), 0, 0, src, 2, 2, dst), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"src[1] is vertex 0", "that has a degree"}));
    csaw_negatives *out = nullptr;
    for (double power : {-1.0, 4.5, std::nan("")}) {
        const csaw_negative_options given = Rule{power}.given();
        EXPECT_EQ(csaw_negatives_create(graph.get(), &given, &out), CSAW_EINVAL);
        EXPECT_TRUE(message_has({"power is", "0.75"}));
    }
    csaw_negative_options given = Rule{0, false, -1}.given();
    EXPECT_EQ(csaw_negatives_create(graph.get(), &given, &out), CSAW_EINVAL);
    EXPECT_EQ(csaw_negatives_create(nullptr, nullptr, &out), CSAW_EINVAL);
    const csaw_edge none[] = {0, 0, 0};
    const csaw_csr lonely = {2, 0, none, nullptr, nullptr, nullptr, nullptr};
    const auto lonely_graph = reference::borrow(lonely);
    given = Rule{.75}.given();
    EXPECT_EQ(csaw_negatives_create(lonely_graph.get(), &given, &out), CSAW_EINVAL);
    EXPECT_TRUE(message_has({"none of the graph's 2 vertices", "power 0"}));
    src[0] = 1;
    EXPECT_EQ(csaw_negatives_draw(create(lonely_graph.get(), {}).get(), 0, 0, src, 1, 2, dst), CSAW_OK);
    EXPECT_EQ(dst[0], 0u); // all that is left
    const csaw_csr empty = {0, 0, none, nullptr, nullptr, nullptr, nullptr};
    const auto empty_graph = reference::borrow(empty);
    EXPECT_EQ(csaw_negatives_draw(create(empty_graph.get(), {}).get(), 0, 0, src, 1, 2, dst), CSAW_EINVAL);
    EXPECT_EQ(out, nullptr);
    csaw_negatives_free(nullptr);
}

TEST(Negatives, EveryAllocationMayFail) {
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const auto borrowed = reference::borrow(csr);
    const csaw_negative_options given = Rule{.75}.given();
    EXPECT_EQ(fail_every_allocation([&] {
                  csaw_negatives *out = nullptr;
                  const csaw_status status = csaw_negatives_create(borrowed.get(), &given, &out);
                  csaw_negatives_free(out);
                  return status;
              }),
              2u);
}

} // namespace
