/* SPDX-License-Identifier: MIT */
/* tests/far_rounds_test.cc - selection among candidates whose masses are elsewhere (samplers/select/far_rounds.h): the
 * picks are those of csaw__pick_by_mass() where masses are at hand, and nothing is asked about what is known. */
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

extern "C" {
#include "samplers/select/far_rounds.h"
#include "samplers/select/rounds.h"
}

namespace {

struct Masses {
    std::vector<uint64_t> upto; // inclusive sums
    explicit Masses(const std::vector<uint64_t> &mass) {
        uint64_t sum = 0;
        for (uint64_t m : mass) upto.push_back(sum += m);
    }
    csaw__choice Choice(uint64_t instance) const {
        return {42, instance, 1, 0, 0, upto.size(), upto.data(), nullptr, nullptr, upto.back()};
    }
    std::vector<uint64_t> Near(uint64_t instance, uint32_t k, bool replace) const {
        const csaw__choice choice = Choice(instance);
        std::vector<uint64_t> tree(upto.size() + 1), taken(4 * size_t{k} + 8), pick(k);
        std::vector<uint32_t> open(k);
        csaw__scratch scratch = {};
        scratch.tree = tree.data();
        scratch.taken = taken.data();
        scratch.pick = pick.data();
        scratch.open = open.data();
        pick.resize(csaw__pick_by_mass(&choice, &scratch, k, replace));
        return pick;
    }
};

struct Asked {
    uint32_t times = 0, after_rounds = 0;
};

// The candidate's number is its rank.
std::vector<uint64_t> Far(const Masses &masses, uint64_t instance, uint32_t k, bool replace, Asked *asked) {
    std::vector<csaw__hit> hit(k), pick(k);
    std::vector<csaw__stretch> taken(k);
    std::vector<uint32_t> open(k);
    csaw__far_choice c = {};
    c.choice = masses.Choice(instance);
    c.choice.upto = nullptr;
    c.k = k;
    c.replace = replace;
    c.hit = hit.data();
    c.pick = pick.data();
    c.taken = taken.data();
    c.open = open.data();
    std::set<uint64_t> known;
    for (csaw__far_begin(&c); csaw__far_ask(&c); csaw__far_take(&c)) {
        asked->times++;
        asked->after_rounds += c.round == CSAW__ROUNDS;
        for (uint32_t i = 0; i < c.num_hits; i++) {
            uint64_t below;
            csaw__hit &h = c.hit[i];
            const csaw__choice choice = masses.Choice(instance);
            EXPECT_TRUE(i == 0 || c.hit[i - 1].x <= h.x);
            h.rank = static_cast<uint32_t>(csaw__choice_find(&choice, h.x, &below));
            h.low = below;
            h.mass = csaw__choice_mass(&choice, h.rank);
            EXPECT_FALSE(!replace && known.count(h.rank)) << "asked about what is taken";
        }
        for (uint32_t i = 0; i < c.num_hits; i++) known.insert(c.hit[i].rank);
    }
    std::vector<uint64_t> out;
    for (uint32_t j = 0; j < c.got; j++) out.push_back(pick[j].rank);
    return out;
}

std::vector<uint64_t> RandomMasses(std::mt19937_64 &random, size_t n, int skew) {
    std::vector<uint64_t> mass(n);
    for (uint64_t &m : mass) m = random() % 4 ? (random() >> 24 >> random() % static_cast<unsigned>(skew)) : 0;
    mass[n / 2] = uint64_t{1} << 45; // one that takes most numbers where the others are small
    return mass;
}

// Few picks and many, up to all but one; masses alike and far apart, a quarter of them 0.
TEST(FarRounds, ThePicksAreThoseOfMassesAtHand) {
    std::mt19937_64 random(5);
    Asked asked;
    for (uint64_t instance = 0; instance < 300; instance++) {
        const size_t n = 2 + random() % 90;
        const Masses masses(RandomMasses(random, n, instance % 2 ? 3 : 36));
        for (uint32_t k : {uint32_t{1}, static_cast<uint32_t>(n / 2), static_cast<uint32_t>(n - 1)})
            for (bool replace : {false, true})
                EXPECT_EQ(masses.Near(instance, k, replace), Far(masses, instance, k, replace, &asked))
                    << n << " candidates, " << k << " picks, instance " << instance << (replace ? ", replacing" : "");
    }
    EXPECT_GT(asked.after_rounds, 300u) << "what is left after the rounds is to be tested";
}

TEST(FarRounds, WithReplacementItAsksOnce) {
    std::mt19937_64 random(6);
    Asked asked;
    const Masses masses(RandomMasses(random, 50, 3));
    EXPECT_EQ(Far(masses, 1, 1000, true, &asked).size(), 1000u);
    EXPECT_EQ(asked.times, 1u);
}

// Of a candidate that has all of the mass there is one pick, and nothing is left to ask about.
TEST(FarRounds, OneThatHasAllIsPickedAlone) {
    Asked asked;
    EXPECT_EQ(Far(Masses({0, 0, 7, 0, 0}), 1, 3, false, &asked), (std::vector<uint64_t>{2}));
    EXPECT_EQ(asked.times, 1u);
    EXPECT_TRUE(Far(Masses({0, 0}), 1, 1, false, &asked).empty());
}

} // namespace
