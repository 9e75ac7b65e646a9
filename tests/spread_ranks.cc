/* SPDX-License-Identifier: MIT */
/* tests/spread_ranks.cc - a program for mpirun: walks and samples on a graph that is split over the ranks of an MPI
 * job, each of which compares what it delivers with what one process draws. Exit code 0: all is equal.
 * spread_mpi_test.cc runs it.
 *
 *   spread_ranks equal|fault|other|nested|lost|batches|bounded|half|left */
#include "tests/spread_cases.h"

#include "partition/exchange_mpi.h"
#include "runtime/base/memory.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

CSAW_DECLARE_SAMPLER(roamer);

using reference::Graph;
using reference::Method;
using reference::Request;
using reference::require;

namespace {

int wrong = 0;

void expect(bool right, const std::string &what) {
    if (right) return;
    wrong++;
    std::fprintf(stderr, "spread_ranks: %s: %s\n", what.c_str(), csaw_last_error());
}

struct Rank {
    csaw__exchange on;
    csaw_plan *plan = nullptr;
    Rank(const csaw__exchange &exchange, const csaw_graph *graph, const csaw__spread_options &options) : on(exchange) {
        require(csaw__spread_plan(graph, &on, &options, &plan));
    }
    ~Rank() { csaw_plan_free(plan); }
};

bool as_one(const Rank &rank, const csaw_csr &csr, const spread::Run &run, const Request &request) {
    const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
    const reference::Walks expected = whole.walks(run.sampler, run.params, run.method, request);
    const csaw_run_options options = spread::options_of(run, request);
    const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
    csaw_samples *samples = nullptr;
    csaw_walks got;
    if (csaw_sample(rank.plan, run.sampler, run.params, &seeds, &options, &samples) != CSAW_OK) return false;
    require(csaw_samples_walks(samples, CSAW_HOST, &got));
    const uint64_t places = got.length + uint64_t{1};
    const bool equal =
        std::equal(got.path, got.path + got.num_walks * places, &expected.path[got.first * places]) &&
        std::equal(got.edge, got.edge + got.num_walks * got.length, &expected.edge[got.first * got.length]);
    csaw_samples_free(samples);
    return equal;
}

// The same of a sample: what this rank delivers, against that part of one process's.
bool sample_as_one(const Rank &rank, const csaw_csr &csr, const csaw_sampler *sampler) {
    static const uint32_t fanout[] = {3, CSAW_ALL};
    const reference::Library whole(csr, reference::plan_on("cpu", 1, 0));
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 2;
    options.fanout = fanout;
    options.seed = 8;
    const csaw_seeds seeds = {nullptr, csr.num_vertices, nullptr};
    csaw_samples *all = nullptr, *mine = nullptr;
    csaw_arcs a, b;
    require(csaw_sample(whole.get(), sampler, nullptr, &seeds, &options, &all));
    require(csaw_samples_arcs(all, CSAW_HOST, &a));
    bool equal = csaw_sample(rank.plan, sampler, nullptr, &seeds, &options, &mine) == CSAW_OK;
    if (equal) {
        require(csaw_samples_arcs(mine, CSAW_HOST, &b));
        const uint64_t from = a.offset[b.first], count = b.offset[b.num_instances];
        equal = count == a.offset[b.first + b.num_instances] - from && std::equal(b.src, b.src + count, a.src + from) &&
                std::equal(b.dst, b.dst + count, a.dst + from) && std::equal(b.edge, b.edge + count, a.edge + from) &&
                std::equal(b.depth, b.depth + count, a.depth + from);
    }
    csaw_samples_free(all);
    csaw_samples_free(mine);
    return equal;
}

void equal(csaw__mpi *mpi, const csaw__spread_options &options) {
    const csaw__exchange on = csaw__mpi_rank(mpi);
    for (const char *name : {"karate", "zero_rows"}) {
        const Graph graph = reference::small_graph(name);
        const csaw_csr csr = graph.csr();
        const spread::Share share(csr, on.size, on.rank, options.by_visits);
        const Rank rank(on, share.get(), options);
        const Request request = equality::one_walk_each(csr, 11);
        const csaw_node2vec_params node2vec = {.25f, 4};
        const csaw_jump_params jump = {.3f};
        for (const csaw_sampler *sampler : {&csaw_neighbor, &csaw_neighbor_biased, &csaw_neighbor_once, &csaw_layer})
            expect(sample_as_one(rank, csr, sampler), std::string(csaw_sampler_name(sampler)) + " on " + name);
        for (Method method : {Method::automatic, Method::its}) {
            expect(as_one(rank, csr, {&csaw_uniform, nullptr, method}, request), std::string("uniform on ") + name);
            expect(as_one(rank, csr, {&csaw_biased, nullptr, method}, request), std::string("biased on ") + name);
            expect(as_one(rank, csr, {&csaw_node2vec, &node2vec, method}, request), std::string("node2vec on ") + name);
            expect(as_one(rank, csr, {&csaw_jump, &jump, method}, request), std::string("jump on ") + name);
            expect(as_one(rank, csr, {&roamer, nullptr, method}, request), std::string("roamer on ") + name);
        }
    }
}

// One rank asks for another seed; or, from some message on, has no memory.
void fails(csaw__mpi *mpi, const char *what) {
    const csaw__exchange on = csaw__mpi_rank(mpi);
    const Graph graph = reference::small_graph("karate");
    const csaw_csr csr = graph.csr();
    const spread::Share share(csr, on.size, on.rank, false);
    const Rank rank(on, share.get(), {});
    const Request request = equality::one_walk_each(csr, 6);
    const csaw_node2vec_params node2vec = {.25f, 4};
    const spread::Run run = {&csaw_node2vec, &node2vec, Method::its};
    const csaw_seeds seeds = {request.roots.data(), request.roots.size(), nullptr};
    csaw_run_options options = spread::options_of(run, request);
    csaw_samples *samples = nullptr;
    if (std::strcmp(what, "other") == 0) {
        options.seed += on.rank == 1;
        expect(csaw_sample(rank.plan, run.sampler, run.params, &seeds, &options, &samples) == CSAW_EINVAL, "other");
        return;
    }
    if (std::strcmp(what, "nested") == 0) { // rank 0's batch function draws from its plan, and is refused alone
        const auto batch = [](void *user, csaw_samples *) {
            const Rank *rank = static_cast<const Rank *>(user);
            csaw_samples *inner = nullptr;
            if (csaw_sample(rank->plan, &csaw_uniform, nullptr, nullptr, nullptr, &inner) == CSAW_EINVAL)
                return CSAW_OK;
            csaw_samples_free(inner);
            return CSAW_EIO;
        };
        const auto nothing = [](void *, csaw_samples *) { return CSAW_OK; };
        csaw_status (*const mine)(void *, csaw_samples *) = on.rank == 0 ? +batch : +nothing;
        expect(csaw_sample_each(rank.plan, run.sampler, run.params, &seeds, &options, mine,
                                const_cast<Rank *>(&rank)) == CSAW_OK,
               "nested");
        expect(as_one(rank, csr, run, request), "after a nested run");
        return;
    }
    if (std::strcmp(what, "lost") == 0 && on.rank == 1) std::raise(SIGKILL);
    uint64_t n = 1;
    for (bool whole = false; !whole; n++) {
        if (on.rank == 1) csaw__fail_allocations_from(n);
        const csaw_status status = csaw_sample(rank.plan, run.sampler, run.params, &seeds, &options, &samples);
        const std::string message = status == CSAW_OK ? "" : csaw_last_error();
        csaw__fail_allocations_from(0);
        csaw_samples_free(samples);
        samples = nullptr;
        whole = status == CSAW_OK;
        expect(whole || (status == CSAW_ENOMEM && message.find("rank 1: no memory for") == 0), "fault: " + message);
        expect(as_one(rank, csr, run, request), "after a fault");
    }
    expect(n > 5, "fault: so few allocations");
}

bool stay(void *) { return false; }

// What nobody takes in stays with the sender: as many batches as may be under way, however small.
void bounded(csaw__mpi *mpi) {
    const csaw__exchange on = csaw__mpi_rank(mpi);
    int sent = 0;
    void *to = nullptr;
    for (; on.rank == 0 && sent < 100; sent++) {
        for (int look = 0; look < 1000; look++) {
            require(on.room(on.self, 1, &to));
            if (to) break;
            on.idle(on.self);
        }
        if (!to) break;
        std::memset(to, 0, 8);
        require(on.send(on.self, 1, 8));
    }
    if (on.rank == 0) expect(sent == CSAW__BATCHES_UNDER_WAY, "sent " + std::to_string(sent));
    MPI_Barrier(MPI_COMM_WORLD);
    uint32_t from;
    const void *data;
    uint64_t bytes;
    for (int got = 0; on.rank == 1 && got < CSAW__BATCHES_UNDER_WAY; got += data != nullptr) {
        require(on.receive(on.self, &from, &data, &bytes));
        if (data) expect(from == 0 && bytes == 8, "a batch");
    }
    require(on.settle(on.self, stay, nullptr));
}

// Of a large batch the head has come, and not the rest: its sender is busy, or was killed. Nobody waits for it.
void half_sent(csaw__mpi *mpi) {
    const csaw__exchange on = csaw__mpi_rank(mpi);
    const auto now = std::chrono::steady_clock::now;
    const auto begun = now();
    auto longest = begun - begun;
    void *to = nullptr;
    const void *data = nullptr;
    if (on.rank == 1) {
        require(on.room(on.self, 0, &to));
        std::memset(to, 7, on.batch);
        require(on.send(on.self, 0, on.batch));
        std::this_thread::sleep_for(std::chrono::seconds(2)); // without a call of MPI
    }
    while (on.rank == 0 && !data && now() - begun < std::chrono::seconds(20)) {
        uint32_t from;
        uint64_t bytes;
        const auto asked = now();
        require(on.receive(on.self, &from, &data, &bytes));
        longest = std::max(longest, now() - asked);
        if (data) expect(bytes == on.batch && static_cast<const char *>(data)[bytes - 1] == 7, "a large batch");
        if (!data) on.idle(on.self);
    }
    expect(on.rank == 1 || data, "a large batch never came");
    expect(longest < std::chrono::seconds(1), "a call waited for the rest of a batch");
    require(on.settle(on.self, stay, nullptr));
}

// Settling waits for ranks that are gone, unless it is told not to. Ends the program: the exchange is of no more use.
void left_alone(csaw__mpi *mpi) {
    const csaw__exchange on = csaw__mpi_rank(mpi);
    int asked = 0;
    if (on.rank == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
    const auto leave = [](void *user) { return ++*static_cast<int *>(user) == 20; };
    expect(on.settle(on.self, leave, &asked) == CSAW_ESTOPPED && asked == 20, "settle");
    MPI_Abort(MPI_COMM_WORLD, wrong ? 1 : 42);
}

} // namespace

int main(int argc, char **argv) {
    const char *const what = argc > 1 ? argv[1] : "equal";
    MPI_Init(&argc, &argv);
    const MPI_Comm world = MPI_COMM_WORLD;
    int number = 0;
    MPI_Comm_rank(world, &number);
    if (std::strcmp(what, "batches") == 0) { // of another size on one rank
        csaw__mpi *mpi = nullptr;
        expect(csaw__mpi_create(&world, number == 1 ? 96 : 0, 0, &mpi) == CSAW_EINVAL, "batches");
        expect(std::string(csaw_last_error()).find("ranks give batches of 96 to ") == 0, csaw_last_error());
        MPI_Finalize();
        return wrong ? 1 : 0;
    }
    const bool tiny = std::strcmp(what, "equal") == 0; // with tiny batches, too
    for (uint64_t batch : tiny ? std::vector<uint64_t>{0, 96} : std::vector<uint64_t>{0}) {
        csaw__mpi *mpi = nullptr;
        require(csaw__mpi_create(&world, batch, batch ? 1 : 0, &mpi));
        csaw__spread_options options = {};
        options.window = batch ? 3 : 0;
        options.room = batch ? 1 : 0;
        options.by_visits = batch != 0;
        if (std::strcmp(what, "equal") == 0)
            equal(mpi, options);
        else if (std::strcmp(what, "bounded") == 0)
            bounded(mpi);
        else if (std::strcmp(what, "half") == 0)
            half_sent(mpi);
        else if (std::strcmp(what, "left") == 0)
            left_alone(mpi);
        else
            fails(mpi, what);
        csaw__mpi_free(mpi);
    }
    MPI_Finalize();
    return wrong ? 1 : 0;
}
