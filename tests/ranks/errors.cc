// SPDX-License-Identifier: MIT
// tests/ranks/errors.cc - a rank that fails, wherever it is, fails all, and none waits for ever: broken hooks, batch
// and progress functions, memory, and ranks that differ.
#include "ranks.h"

#include <csaw/training.h>

#include <algorithm>
#include <chrono>
#include <thread>

extern "C" {
#include "runtime/base/memory.h"
}

CSAW_DECLARE_SAMPLER(faulty);

namespace {

struct faulty_params { // as in tests/samplers/faulty.c
    uint32_t rule, vertex, depth;
};

using namespace ranks;

csaw_run_options options_of() {
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 6;
    options.walks_per_seed = 2;
    options.batch_bytes = 600 / static_cast<uint64_t>(size_of()); // several rounds
    return options;
}

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

csaw_status nothing(void *, csaw_samples *) { return CSAW_OK; }

// The lowest instance's fault, wherever it lies, in the words of one process.
void hooks(const Plan &alone, const Plan &all, const std::vector<uint32_t> &rules) {
    int found = 0;
    for (uint32_t rule : rules)
        for (csaw_vertex vertex : {3u, 12u, 30u})
            for (uint32_t depth : {0u, 4u}) {
                const faulty_params params = {rule, vertex, depth};
                csaw_run_options options = options_of();
                options.check = rule == 4;
                csaw_samples *samples = nullptr;
                const csaw_status wanted = csaw_sample(alone.get(), &faulty, &params, nullptr, &options, &samples);
                const std::string message = csaw_last_error();
                csaw_samples_free(samples);
                samples = nullptr;
                EXPECT_EQ(same_status(csaw_sample(all.get(), &faulty, &params, nullptr, &options, &samples)), wanted);
                EXPECT_TRUE(wanted == CSAW_OK || ends_with(csaw_last_error(), message))
                    << csaw_last_error() << "\nbut alone\n"
                    << message;
                csaw_samples_free(samples);
                EXPECT_EQ(
                    same_status(csaw_sample_each(all.get(), &faulty, &params, nullptr, &options, nothing, nullptr)),
                    wanted);
                EXPECT_TRUE(wanted == CSAW_OK || ends_with(csaw_last_error(), message)) << csaw_last_error();
                found += wanted != CSAW_OK;
            }
    EXPECT_GT(found, 10);
}

TEST(Errors, of_hooks_are_those_of_one_process) {
    const Graph graph = rmat(6, true);
    hooks(plan_alone(graph), plan_of_all(graph), {1, 2, 4, 6});
}

TEST(Errors, of_hooks_on_a_split_graph_are_those_of_one_process) { // without rule 4, the debug mode's
    const Graph graph = rmat(6, true);
    hooks(plan_alone(graph), plan_of_split(graph), {1, 2, 6});
}

struct Watch {
    int left; // calls until this rank says no; -1 = never
};

csaw_status stop_batch(void *user, csaw_samples *) {
    auto *watch = static_cast<Watch *>(user);
    return watch->left >= 0 && watch->left-- == 0 ? CSAW_EIO : CSAW_OK;
}

bool stop_progress(void *user, uint64_t, uint64_t) {
    auto *watch = static_cast<Watch *>(user);
    return watch->left < 0 || watch->left-- != 0;
}

void batch_and_progress_functions(const Plan &all) {
    for (int victim = 0; victim < size_of(); victim++)
        for (int left : {0, 1, 3}) {
            csaw_run_options options = options_of();
            Watch watch = {rank_of() == victim ? left : -1};
            EXPECT_EQ(
                same_status(csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, stop_batch, &watch)),
                CSAW_EIO);
            const std::string name = size_of() > 1 ? "rank " + std::to_string(victim) + " on " : "";
            EXPECT_EQ(std::string(csaw_last_error()).find(name), 0u) << csaw_last_error();
            watch.left = rank_of() == victim ? left : -1;
            options.progress = stop_progress;
            options.user = &watch;
            EXPECT_EQ(
                same_status(csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, nothing, nullptr)),
                CSAW_ESTOPPED);
            EXPECT_EQ(std::string(csaw_last_error()).find(name), 0u) << csaw_last_error();
        }
}

TEST(Errors, of_batch_and_progress_functions_end_the_run_everywhere) {
    const Graph graph = rmat(6, true);
    batch_and_progress_functions(plan_of_all(graph));
    batch_and_progress_functions(plan_of_split(graph));
}

struct Heard {
    std::vector<uint64_t> done;
    bool late; // this rank is
};

bool hear_progress(void *user, uint64_t done, uint64_t) {
    auto *heard = static_cast<Heard *>(user);
    heard->done.push_back(done);
    if (heard->late) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    heard->late = false;
    return true;
}

TEST(Progress, does_not_go_back_while_a_rank_waits_for_others) {
    const Graph graph = rmat(6, true);
    csaw_run_options options = options_of();
    options.progress = hear_progress;
    for (const Plan &all : {plan_of_all(graph), plan_of_split(graph)})
        for (bool each : {false, true}) {
            Heard heard = {{}, rank_of() == size_of() - 1};
            options.user = &heard;
            csaw_samples *samples = nullptr;
            EXPECT_EQ(same_status(each ? csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, nothing,
                                                          nullptr)
                                       : csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples)),
                      CSAW_OK);
            csaw_samples_free(samples);
            EXPECT_TRUE(std::is_sorted(heard.done.begin(), heard.done.end())) << testing::PrintToString(heard.done);
            EXPECT_EQ(heard.done.back(), 2 * csaw_graph_csr(graph.get()).num_vertices);
        }
}

csaw_status put(void *user, csaw_samples *samples) {
    return csaw_writer_write(static_cast<csaw_writer *>(user), samples);
}

csaw_status put_arcs(void *user, csaw_samples *samples) {
    return csaw_arc_writer_write(static_cast<csaw_arc_writer *>(user), samples);
}

csaw_plan_options options_of_job(const MPI_Comm *comm, bool split) {
    csaw_plan_options options = {};
    options.size = sizeof options;
    options.threads = 1;
    options.communicator = comm;
    options.split = split;
    return options;
}

using Job = csaw_status(MPI_Comm comm, const csaw_graph *graph, const std::string &path, bool split);

// A writer's end: closed after a run that ended well, else discarded.
template <class Writer>
csaw_status ended(csaw_status status, Writer *writer, csaw_status (*close)(Writer *), void (*discard)(Writer *)) {
    if (status == CSAW_OK) return close(writer);
    discard(writer);
    return status;
}

// All that a job of samples does, from the communicator on.
csaw_status job_of_samples(MPI_Comm comm, const csaw_graph *graph, const std::string &path, bool split) {
    const csaw_plan_options plan_options = options_of_job(&comm, split);
    csaw_save_options save_options = {};
    save_options.size = sizeof save_options;
    save_options.communicator = &comm;
    csaw_plan *plan = nullptr;
    csaw_arc_writer *writer = nullptr;
    csaw_run_options options = options_of();
    const uint32_t fanout[] = {3, 2};
    options.depth = 2;
    options.fanout = fanout;
    const csaw_vertex seeds[8] = {3, 12, 30, 41, 5, 50, 22, 17};
    const csaw_seeds from = {seeds, 8, nullptr};
    csaw_status status = csaw_plan_create(graph, &plan_options, &plan);
    if (status == CSAW_OK) status = csaw_arc_writer_open(graph, path.c_str(), &save_options, &writer);
    if (status == CSAW_OK)
        status = ended(csaw_sample_each(plan, &csaw_neighbor, nullptr, &from, &options, put_arcs, writer), writer,
                       csaw_arc_writer_close, csaw_arc_writer_discard);
    csaw_plan_free(plan);
    return status;
}

// The same of walks.
csaw_status job_of_walks(MPI_Comm comm, const csaw_graph *graph, const std::string &path, bool split) {
    const csaw_plan_options plan_options = options_of_job(&comm, split);
    csaw_write_options write_options = {};
    write_options.size = sizeof write_options;
    write_options.num_walks = 40;
    write_options.length = 6;
    write_options.job = "a job";
    write_options.communicator = &comm;
    csaw_plan *plan = nullptr;
    csaw_writer *writer = nullptr;
    csaw_run_options options = options_of();
    const csaw_vertex seeds[20] = {};
    const csaw_seeds from = {seeds, 20, nullptr};
    csaw_status status = csaw_plan_create(graph, &plan_options, &plan);
    if (status == CSAW_OK) status = csaw_writer_open(path.c_str(), &write_options, &writer);
    if (status == CSAW_OK)
        status = ended(csaw_sample_each(plan, &csaw_biased, nullptr, &from, &options, put, writer), writer,
                       csaw_writer_close, csaw_writer_discard);
    csaw_plan_free(plan);
    return status;
}

// One rank's allocations fail from the nth on, for each n and two ranks.
void memory(Job *job, bool split) {
    const Folder folder;
    const Graph graph = rmat(6, true);
    for (int victim : {0, size_of() - 1}) {
        uint64_t failures = 0;
        for (uint64_t n = 1;; n++) {
            MPI_Comm comm;
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            if (rank_of() == victim) csaw__fail_allocations_from(n);
            const csaw_status status = job(comm, graph.get(), folder / "w.txt", split);
            csaw__fail_allocations_from(0);
            MPI_Comm_free(&comm);
            if (same_status(status) == CSAW_OK) break;
            EXPECT_EQ(status, CSAW_ENOMEM) << n << ": " << csaw_last_error();
            failures++;
            ASSERT_LT(n, 500u);
        }
        EXPECT_GT(failures, 10u);
        EXPECT_EQ(read_file(folder / "w.txt").empty(), false);
    }
}

TEST(Errors, of_memory_on_one_rank_reach_all) {
    for (Job *job : {job_of_walks, job_of_samples})
        for (bool split : {false, true}) memory(job, split);
}

std::string refusal(csaw_status status) {
    EXPECT_EQ(same_status(status), CSAW_EINVAL) << csaw_last_error();
    return csaw_last_error();
}

TEST(Errors, of_ranks_that_differ_say_in_what) {
    if (size_of() < 2) GTEST_SKIP() << "one rank has no other";
    const bool other = rank_of() == 1;
    const Graph graph = rmat(6, true), another = rmat(7, true);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_plan_options plan_options = {};
    plan_options.size = sizeof plan_options;
    plan_options.communicator = &world;
    csaw_plan *plan = nullptr;
    EXPECT_EQ(refusal(csaw_plan_create((other ? another : graph).get(), &plan_options, &plan)),
              "rank 1 has another graph than rank 0; give every rank the same file, and the same load options");
    plan_options.split = other;
    EXPECT_EQ(refusal(csaw_plan_create(graph.get(), &plan_options, &plan)),
              "rank 1 has another choice of split than rank 0; give it to all ranks or to none");
    EXPECT_EQ(plan, nullptr);
    const Plan all = plan_of_all(graph);
    csaw_run_options options = options_of();
    csaw_samples *samples = nullptr;
    const auto draw = [&](const csaw_sampler *sampler, const void *params, const csaw_seeds *seeds) {
        return refusal(csaw_sample(all.get(), sampler, params, seeds, &options, &samples));
    };
    EXPECT_EQ(draw(other ? &csaw_biased : &csaw_uniform, nullptr, nullptr).find("rank 1 has another sampler than"), 0u);
    const csaw_node2vec_params params = {other ? 2.0f : 1.0f, 1};
    EXPECT_EQ(draw(&csaw_node2vec, &params, nullptr).find("rank 1 has another set of the sampler's parameters"), 0u);
    const csaw_vertex vertex[] = {1, 2, other ? 4u : 3u};
    const csaw_seeds seeds = {vertex, 3, nullptr};
    EXPECT_EQ(draw(&csaw_uniform, nullptr, &seeds).find("rank 1 has another list of seeds than"), 0u);
    options.seed = other;
    EXPECT_EQ(draw(&csaw_uniform, nullptr, nullptr).find("rank 1 has another set of run options than"), 0u);
    options.seed = 0;
    const std::string message =
        refusal(other ? csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, nothing, nullptr)
                      : csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples));
    EXPECT_EQ(message,
              "rank 0 is at the start of csaw_sample, but rank 1 is at the start of csaw_sample_each; on ranks "
              "every one of them makes the same calls in the same order");
    EXPECT_EQ(samples, nullptr);
    EXPECT_EQ(same_status(csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples)), CSAW_OK);
    csaw_samples_free(samples); // the plan is as good as before
}

// What draws in one process alone, of a plan that is not of one; and the remedy that the message names.
TEST(Errors, of_training_on_a_plan_of_ranks_name_the_remedy) {
    const Graph graph = rmat(6, true);
    const uint32_t fanout[] = {3};
    csaw_loader_options loading = {};
    loading.size = sizeof loading;
    loading.depth = 1;
    loading.fanout = fanout;
    csaw_saint_options drawing = {};
    drawing.size = sizeof drawing;
    drawing.budget = 5;
    const auto all_three = [&](csaw_plan *plan, csaw_status wanted) {
        csaw_loader *loader = nullptr;
        csaw_subgraph *subgraph = nullptr;
        csaw_visits *visits = nullptr;
        const auto expect = [&](csaw_status status, const std::string &name) {
            EXPECT_EQ(same_status(status), wanted) << name;
            if (wanted == CSAW_OK) return;
            EXPECT_EQ(csaw_last_error(), name + " works in one process, but the plan shares its work among " +
                                             std::to_string(size_of()) +
                                             " ranks; on each rank make a plan without a communicator, and ask it for "
                                             "that rank's part");
        };
        expect(csaw_loader_open(plan, nullptr, &loading, &loader), "csaw_loader_open");
        const bool opened = loader != nullptr;
        csaw_loader_close(loader); // which had the plan to itself
        expect(csaw_saint_sample(plan, &drawing, &subgraph), "csaw_saint_sample");
        expect(csaw_visits_create(plan, nullptr, nullptr, &visits), "csaw_visits_create");
        EXPECT_EQ(opened && subgraph != nullptr && visits != nullptr, wanted == CSAW_OK);
        csaw_subgraph_free(subgraph);
        csaw_visits_free(visits);
    };
    const csaw_status wanted = size_of() > 1 ? CSAW_EUNSUPPORTED : CSAW_OK;
    all_three(plan_of_all(graph).get(), wanted);
    all_three(plan_of_split(graph).get(), wanted);
    all_three(plan_alone(graph).get(), CSAW_OK);
}

// An argument that one rank alone gets wrong, before anything was said to the others.
TEST(Errors, of_arguments_on_one_rank_reach_all) {
    const int last = size_of() - 1;
    const Graph graph = rmat(6, true);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_plan_options plan_options = {};
    plan_options.size = sizeof plan_options;
    plan_options.communicator = &world;
    plan_options.threads = rank_of() == last ? -1 : 1;
    csaw_plan *plan = nullptr;
    EXPECT_NE(refusal(csaw_plan_create(graph.get(), &plan_options, &plan)).find("threads is -1"), std::string::npos);
    plan_options.threads = 1;
    EXPECT_EQ(same_status(csaw_plan_create(rank_of() == last ? nullptr : graph.get(), &plan_options, &plan)),
              CSAW_EINVAL);
    const Plan all = plan_of_all(graph);
    csaw_run_options options = options_of();
    options.depth = rank_of() == last ? 1u << 30 : 5;
    csaw_samples *samples = nullptr;
    EXPECT_NE(refusal(csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples)).find("depth is"),
              std::string::npos);
    options.depth = 5;
    options.first = rank_of() == last ? uint64_t{1} << 50 : 0;
    EXPECT_NE(refusal(csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, nothing, nullptr))
                  .find("first is"),
              std::string::npos);
    options.first = 0;
    csaw_samples **const out = rank_of() == last ? nullptr : &samples;
    EXPECT_NE(refusal(csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, out)).find("out is NULL"),
              std::string::npos);
    csaw_status (*const batch)(void *, csaw_samples *) = rank_of() == last ? nullptr : nothing;
    EXPECT_NE(refusal(csaw_sample_each(all.get(), &csaw_uniform, nullptr, nullptr, &options, batch, nullptr))
                  .find("needs a batch function"),
              std::string::npos);
    EXPECT_EQ(samples, nullptr);
    ASSERT_EQ(same_status(csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples)), CSAW_OK);
    csaw_samples_free(samples); // the plan is as good as before
}

TEST(Errors, of_arguments_of_a_writer_of_arcs_on_one_rank_reach_all) {
    const bool last = rank_of() == size_of() - 1;
    const Folder folder;
    const Graph graph = rmat(6, true);
    const Plan all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_save_options save_options = {};
    save_options.size = sizeof save_options;
    save_options.communicator = &world;
    csaw_arc_writer *writer = nullptr;
    const std::string path = folder / "a.txt";
    EXPECT_NE(refusal(csaw_arc_writer_open(last ? nullptr : graph.get(), path.c_str(), &save_options, &writer))
                  .find("needs the graph that is sampled"),
              std::string::npos);
    EXPECT_EQ(writer, nullptr);
    csaw_samples *samples = nullptr;
    const uint32_t fanout[] = {2};
    csaw_run_options options = options_of();
    options.depth = 1;
    options.fanout = fanout;
    ASSERT_EQ(same_status(csaw_sample(all.get(), &csaw_uniform, nullptr, nullptr, &options, &samples)), CSAW_OK);
    ASSERT_EQ(same_status(csaw_arc_writer_open(graph.get(), path.c_str(), &save_options, &writer)), CSAW_OK);
    EXPECT_NE(refusal(csaw_arc_writer_write(writer, last ? nullptr : samples)).find("needs samples; they are NULL"),
              std::string::npos);
    csaw_arc_writer_discard(writer);
    csaw_samples_free(samples);
}

} // namespace
