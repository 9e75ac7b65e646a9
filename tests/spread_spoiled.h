/* SPDX-License-Identifier: MIT */
/* tests/spread_spoiled.h - messages that are spoiled on their way from rank to rank: each is refused by a
 * message that names what it came to say, and the next run on the same plans is right. */
#ifndef CSAW_SPREAD_SPOILED_H
#define CSAW_SPREAD_SPOILED_H

#include "tests/spread_between.h"
#include "tests/spread_cases.h"

namespace spread {

// Of the first message of a kind, one of the 4-byte words: some bits are kept, others set.
struct Spoil {
    const char *said; // then
    uint32_t kind;
    size_t word;
    uint32_t keep, set;
};

class Spoiling : public Between {
  public:
    const Spoil *spoil = nullptr; // until it is done

  protected:
    void came(unsigned char *batch, uint64_t bytes) override {
        for (uint64_t at = 0, head; spoil && at < bytes; at += csaw__message_bytes(head)) {
            std::memcpy(&head, batch + at, sizeof head);
            if (csaw__message_kind(head) != spoil->kind) continue;
            uint32_t value;
            unsigned char *const place = batch + at + 4 * spoil->word;
            std::memcpy(&value, place, sizeof value);
            value = (value & spoil->keep) | spoil->set;
            std::memcpy(place, &value, sizeof value);
            spoil = nullptr;
        }
    }
};

inline Spoil bytes_are(const char *said, uint32_t kind, uint32_t bytes) {
    return {said, kind, 1, ~(0xffffu << 12), bytes / 8 << 12};
}

// Of 34 walks of 6 steps on karate, whose vertices are 34; rank 1 of 2 holds the last of them.
inline std::vector<Spoil> of_walkers_and_records() {
    return {{"a record of walk 17, ", CSAW__RECORD, 0, 0, 17},
            {", depth 0, vertex", CSAW__RECORD, 2, 0, 0},
            {", depth 7, vertex", CSAW__RECORD, 2, 0, 7},
            {", vertex 34, but", CSAW__RECORD, 3, 0, 34},
            bytes_are("a record of 16 bytes, but those of this run have 24", CSAW__RECORD, 16),
            {"a message of kind 5, ", CSAW__RECORD, 1, ~0u, 4u << 28},
            {"walk 34, ", CSAW__WALKER, 0, 0, 34},
            {"at vertex 33 after", CSAW__WALKER, 2, 0, 33},
            {"after 34, ", CSAW__WALKER, 3, 0, 34},
            {"root 34, ", CSAW__WALKER, 4, 0, 34},
            {"depth 6, at", CSAW__WALKER, 5, 0, 6},
            bytes_are("a walker of 16 bytes, but those of this run have 24", CSAW__WALKER, 16)};
}

using Draw = std::function<csaw_status(csaw_plan *plan, csaw_samples **out)>;
// How many instances a rank delivers, if they are right; else 0.
using Right = std::function<uint64_t(csaw_samples *samples)>;

// Rank 0 is the one that it comes to. instances: of all ranks.
inline void ExpectRefused(const csaw_csr &csr, const Split &split, const std::vector<Spoil> &spoils, const Draw &draw,
                          const Right &right, uint64_t instances) {
    for (const Spoil &spoil : spoils) {
        SCOPED_TRACE(spoil.said);
        std::vector<Spoiling> exchanges(split.ranks);
        std::vector<std::string> message(split.ranks);
        std::vector<uint64_t> compared(split.ranks);
        const auto outcomes = on_ranks(
            csr, split,
            [&](uint32_t rank, csaw_plan *plan) {
                csaw_samples *samples = nullptr;
                const csaw_status first = draw(plan, &samples);
                message[rank] = first == CSAW_EINVAL ? csaw_last_error() : csaw_status_text(first);
                csaw_samples_free(samples);
                CSAW_TRY(draw(plan, &samples));
                compared[rank] = right(samples);
                csaw_samples_free(samples);
                return CSAW_OK;
            },
            [&](const csaw__exchange &inner) {
                if (inner.rank == 0) exchanges[0].spoil = &spoil;
                return exchanges[inner.rank].view(inner);
            });
        uint64_t delivered = 0;
        for (uint32_t rank = 0; rank < split.ranks; rank++) {
            EXPECT_EQ(0u, message[rank].find("rank 0: rank 1 ")) << message[rank];
            EXPECT_NE(std::string::npos, message[rank].find(spoil.said)) << message[rank];
            EXPECT_NE(std::string::npos, message[rank].find("; run the same build of csaw")) << message[rank];
            EXPECT_EQ(CSAW_OK, outcomes[rank].status) << outcomes[rank].message;
            delivered += compared[rank];
        }
        EXPECT_EQ(instances, delivered);
    }
}

// Of walks. run: of the ranks; expected: what one process draws.
inline void ExpectRefused(const csaw_csr &csr, const Split &split, const Run &run, const reference::Request &request,
                          const reference::Walks &expected, const std::vector<Spoil> &spoils) {
    const csaw_run_options options = options_of(run, request);
    const auto draw = [&](csaw_plan *plan, csaw_samples **out) {
        const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
        return csaw_sample(plan, run.sampler, run.params, &seeds, &options, out);
    };
    const auto right = [&](csaw_samples *samples) {
        csaw_walks got;
        require(csaw_samples_walks(samples, CSAW_HOST, &got));
        const uint64_t places = got.length + uint64_t{1};
        const bool same = std::equal(got.path, got.path + got.num_walks * places, &expected.path[got.first * places]);
        return same ? got.num_walks : 0;
    };
    ExpectRefused(csr, split, spoils, draw, right, expected.count);
}

} // namespace spread

#endif
