/* SPDX-License-Identifier: MIT */
/* tests/selection_law_test.cc - selections of k among n have the law of successive sampling, as sequences and as sets,
 * by every method; with replacement, that of independent draws. The wrong ones are rejected by the same chi-square:
 * bipartite region search as printed, and picks put in the order of their slots. */
#include "tests/selection_law.h"

#include "tests/reference/select.h"

#include <gtest/gtest.h>

#include <random>

using namespace selection_law;
using reference::Candidates;
using reference::Method;
using reference::Numbers;
using reference::Pick;

namespace {

const uint64_t trials = 40000;

int64_t by_alias(const reference::AliasTable &table, uint64_t number) {
    const uint64_t n = table.alias.size(), i = reference::below(number, n);
    return (number * n) >> 32 < table.threshold[i] ? static_cast<int64_t>(i) : table.alias[i];
}

// For REJECT an arc of bias 0 has factor 0 and is proposed all the same; every other factor is 1.
Candidates candidates_of(const std::vector<double> &bias, Method method) {
    Candidates out;
    if (method == Method::uniform) return reference::alike(static_cast<uint32_t>(bias.size()));
    out.bias = bias;
    out.masses = reference::masses_of(bias);
    const auto table = reference::alias_table_of(out.masses);
    out.alias = [=](uint64_t number) { return by_alias(table, number); };
    std::vector<double> proposed = bias;
    for (double &b : proposed)
        if (b == 0) b = 1;
    const auto proposals = reference::alias_table_of(reference::masses_of(proposed));
    out.attempt = [=](const reference::Block &block) {
        const int64_t i = by_alias(proposals, reference::half(block, 0));
        return bias[static_cast<size_t>(i)] > 0 ? i : reference::failed;
    };
    return out;
}

Numbers numbers_of(uint64_t instance) { return {0x9e3779b97f4a7c15, instance, 3, 5, 0}; }

Sequence in_order(const std::vector<Pick> &picks) {
    Sequence out;
    for (const Pick &pick : picks) out.push_back(pick.candidate);
    return out;
}

Selection selection_of(const Case &of, Method method, bool replace) {
    const Candidates from = candidates_of(of.bias, method);
    return [=](uint64_t instance) { return in_order(select(method, from, of.k, replace, numbers_of(instance))); };
}

std::vector<Method> methods_of(const Case &of, bool replace) {
    std::vector<Method> out = {Method::its, Method::alias, Method::reject};
    if (!replace) out.push_back(Method::race);
    if (all_equal(of.bias)) out.push_back(Method::uniform);
    return out;
}

std::string name_of(const Case &of, Method method) {
    return std::string(of.name) + ", method " + std::to_string(static_cast<int>(method));
}

TEST(SelectionLaw, WithoutReplacementIsSuccessiveSampling) {
    for (const Case &of : cases()) {
        const Law law = law_of(of, false);
        for (Method method : methods_of(of, false)) {
            const Fit fit = fit_of(law, selection_of(of, method, false), trials);
            EXPECT_LT(std::fabs(fit.sequences), threshold) << name_of(of, method) << ", z of sequences";
            EXPECT_LT(std::fabs(fit.sets), threshold) << name_of(of, method) << ", z of sets";
        }
    }
}

TEST(SelectionLaw, WithReplacementIsIndependentDraws) {
    for (const Case &of : cases()) {
        const Law law = law_of(of, true);
        for (Method method : methods_of(of, true)) {
            const Fit fit = fit_of(law, selection_of(of, method, true), trials);
            EXPECT_LT(std::fabs(fit.sequences), threshold) << name_of(of, method) << ", z of sequences";
            EXPECT_LT(std::fabs(fit.sets), threshold) << name_of(of, method) << ", z of sets";
        }
    }
}

// Where two giants are taken, every round fails but for 2 in 10^6: the picks after the rounds are part of what the laws
// above were tested on. Elsewhere one round or a few do.
TEST(SelectionLaw, RoundsAreUsedAndExceeded) {
    for (const Case &of : cases()) {
        const std::string name = of.name;
        for (Method method : {Method::its, Method::alias, Method::reject}) {
            const uint32_t rounds = method == Method::reject ? 16 : 8;
            const Candidates from = candidates_of(of.bias, method);
            uint64_t picks = 0, later = 0, after = 0;
            for (uint64_t instance = 0; instance < 1000; instance++) {
                for (const Pick &pick : select(method, from, of.k, false, numbers_of(instance))) {
                    picks++;
                    later += pick.round > 0;
                    after += pick.round == rounds;
                }
            }
            if (name == "two giants") {
                EXPECT_GT(after, 1990u) << name_of(of, method);
            }
            if (name == "figure 1") {
                EXPECT_GT(later, 0u) << name_of(of, method);
                EXPECT_LT(after, picks / 100) << name_of(of, method);
            }
            if (name == "skewed, all but one") {
                EXPECT_GT(after, 100u) << name_of(of, method);
                EXPECT_LT(after, picks / 2) << name_of(of, method);
            }
        }
    }
}

TEST(SelectionLaw, AsManyAsThereAreIsAllInOrder) {
    const Case zeros = {"zeros", {0, 3, 0, 1, 2, 0, 5, 0}, 8};
    const Sequence all = {1, 3, 4, 6};
    for (uint32_t k : {8u, 9u, CSAW_ALL}) {
        for (Method method : {Method::its, Method::alias, Method::reject, Method::race})
            EXPECT_EQ(in_order(select(method, candidates_of(zeros.bias, method), k, false, numbers_of(0))), all);
        const Sequence alike = {0, 1, 2};
        EXPECT_EQ(in_order(select(Method::uniform, reference::alike(3), k, false, numbers_of(0))), alike);
    }
    EXPECT_EQ(in_order(select(Method::its, candidates_of(zeros.bias, Method::its), CSAW_ALL, true, numbers_of(0))),
              all);
    for (Method method : {Method::its, Method::alias, Method::reject})
        for (bool replace : {false, true})
            EXPECT_TRUE(select(method, candidates_of({0, 0, 0}, method), 2, replace, numbers_of(0)).empty());
}

// ---- wrong selections -------------------------------------------------------------

// Bipartite region search as printed (C-SAW, SC'20, section IV-B): r' that hits a taken region of width delta goes on
// as r = r' * (1 - delta), plus delta if that is not left of the region; if it hits a taken region again, from anew.
// All in shares of the sum.
class PrintedSearch {
  public:
    explicit PrintedSearch(const std::vector<double> &bias) {
        long double sum = 0, prefix = 0;
        for (double b : bias) sum += b;
        for (double b : bias) {
            edge.push_back(prefix / sum);
            prefix += b;
        }
        edge.push_back(1);
    }

    uint32_t region_of(long double r) const {
        return static_cast<uint32_t>(std::upper_bound(edge.begin(), edge.end() - 1, r) - edge.begin()) - 1;
    }

    uint32_t pick(const std::vector<bool> &taken, std::mt19937_64 *random) const {
        for (;;) {
            const long double r = std::ldexp(static_cast<long double>((*random)() >> 11), -53);
            const uint32_t hit = region_of(r);
            if (!taken[hit]) return hit;
            const uint32_t other = region_of(mapped(r, hit));
            if (!taken[other]) return other;
        }
    }

    // The law of one pick, by the lengths of what leads to each candidate.
    std::vector<long double> law(const std::vector<bool> &taken) const {
        std::vector<long double> out(taken.size(), 0);
        for (uint32_t s = 0; s < taken.size(); s++) {
            if (!taken[s]) {
                out[s] += edge[s + 1] - edge[s];
                continue;
            }
            std::vector<long double> cut = {edge[s], edge[s + 1]}; // where what it leads to changes, in r'
            const long double delta = edge[s + 1] - edge[s];
            for (long double border : edge)
                for (long double from : {border / (1 - delta), (border - delta) / (1 - delta)})
                    if (from > edge[s] && from < edge[s + 1]) cut.push_back(from);
            std::sort(cut.begin(), cut.end());
            for (size_t c = 0; c + 1 < cut.size(); c++) {
                const uint32_t other = region_of(mapped((cut[c] + cut[c + 1]) / 2, s));
                if (!taken[other]) out[other] += cut[c + 1] - cut[c];
            }
        }
        long double sum = 0;
        for (long double p : out) sum += p;
        for (long double &p : out) p /= sum;
        return out;
    }

  private:
    long double mapped(long double r, uint32_t hit) const {
        const long double delta = edge[hit + 1] - edge[hit], x = r * (1 - delta);
        return x >= edge[hit] ? x + delta : x;
    }
    std::vector<long double> edge; // of regions, [n + 1]
};

void extend_printed(Law *law, const PrintedSearch &search, uint32_t k, std::vector<bool> *taken, Sequence *head,
                    long double probability) {
    if (head->size() == k) {
        (*law)[*head] += probability;
        return;
    }
    const std::vector<long double> next = search.law(*taken);
    for (uint32_t i = 0; i < next.size(); i++) {
        if (next[i] == 0) continue;
        head->push_back(i);
        (*taken)[i] = true;
        extend_printed(law, search, k, taken, head, probability * next[i]);
        (*taken)[i] = false;
        head->pop_back();
    }
}

Law printed_law(const Case &of) {
    Law law;
    std::vector<bool> taken(of.bias.size(), false);
    Sequence head;
    extend_printed(&law, PrintedSearch(of.bias), of.k, &taken, &head, 1);
    return law;
}

Selection printed_selection(const Case &of) {
    const PrintedSearch search(of.bias);
    const auto random = std::make_shared<std::mt19937_64>(7);
    return [=](uint64_t) {
        Sequence out;
        std::vector<bool> taken(of.bias.size(), false);
        while (out.size() < of.k) {
            out.push_back(search.pick(taken, random.get()));
            taken[out.back()] = true;
        }
        return out;
    };
}

TEST(WrongSelection, BipartiteRegionSearchAsPrintedIsRejected) {
    const Case figure1 = cases()[0], skewed = cases()[2];
    for (const Case &of : {figure1, skewed}) {
        const Fit fit = fit_of(law_of(of, false), printed_selection(of), trials);
        EXPECT_GT(fit.sequences, wrong) << of.name;
        EXPECT_GT(fit.sets, wrong) << of.name;
        const Fit own = fit_of(printed_law(of), printed_selection(of), trials); // it has the law that we say it has
        EXPECT_LT(std::fabs(own.sequences), threshold) << of.name;
    }
    // docs/bipartite-region-search.md, of sets
    const auto distance = [](const Case &of) {
        return static_cast<double>(total_variation(of_sets(printed_law(of)), of_sets(law_of(of, false))));
    };
    EXPECT_NEAR(distance(figure1), .1075, .0001);
    EXPECT_NEAR(distance(skewed), .2954, .0001);
}

TEST(WrongSelection, OrderOfSlotsIsRejectedAsASequence) {
    const Case of = cases()[2]; // with two picks slot 0 is always first, so three
    const Candidates from = candidates_of(of.bias, Method::its);
    const auto by_slot = [&](uint64_t instance) {
        std::vector<Pick> picks = select(Method::its, from, of.k, false, numbers_of(instance));
        std::sort(picks.begin(), picks.end(), [](const Pick &a, const Pick &b) { return a.slot < b.slot; });
        return in_order(picks);
    };
    const Fit fit = fit_of(law_of(of, false), by_slot, 4 * trials); // a small difference: about 10 by trials alone
    EXPECT_GT(fit.sequences, wrong);
    EXPECT_LT(std::fabs(fit.sets), threshold); // as sets they are the same
}

// Slots that fail give up: C-SAW's after 400 attempts, here after the rounds.
TEST(WrongSelection, GivingUpAfterTheRoundsIsRejected) {
    const Case of = cases()[3];
    const Candidates from = candidates_of(of.bias, Method::its);
    const auto without_the_last = [&](uint64_t instance) {
        std::vector<Pick> picks = select(Method::its, from, of.k, false, numbers_of(instance));
        while (!picks.empty() && picks.back().round == 8) picks.pop_back();
        return in_order(picks);
    };
    EXPECT_GT(fit_of(law_of(of, false), without_the_last, trials).sequences, wrong);
}

TEST(WrongSelection, IndependentDrawsAndSuccessiveSamplingAreToldApart) {
    const Case of = cases()[0];
    EXPECT_GT(fit_of(law_of(of, true), selection_of(of, Method::its, false), trials).sequences, wrong);
    EXPECT_GT(fit_of(law_of(of, false), selection_of(of, Method::its, true), trials).sequences, wrong);
}

} // namespace
