// SPDX-License-Identifier: MIT
// tests/ranks/files.cc - files that all ranks write: the bytes of one process, in every format, to files, compressed
// and to a stream; and what an error leaves is gone on with to the same bytes.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ranks.h"
extern "C" {
#include "runtime/engine/writer.h"
#include "runtime/ranks/ranks.h"
}

namespace {

using namespace ranks;

csaw_run_options walk_options() {
    csaw_run_options options = {};
    options.size = sizeof options;
    options.depth = 12;
    options.walks_per_seed = 2;
    options.seed = 5;
    options.edges = true;
    options.batch_bytes = 3000 / static_cast<uint64_t>(size_of()); // several rounds
    return options;
}

struct Writing {
    csaw_writer *writer;
    int stop_in; // rounds until the batch function of this rank fails; -1 = never
};

csaw_status take(void *user, csaw_samples *samples) {
    auto *to = static_cast<Writing *>(user);
    if (to->stop_in >= 0 && to->stop_in-- == 0) return CSAW_EIO;
    return csaw_writer_write(to->writer, samples);
}

// Opens, writes, and closes or gives up: the first failure, and its message.
csaw_status write_walks(csaw_plan *plan, const csaw_write_options &given, const std::string &path, int stop_in = -1) {
    Writing writing = {nullptr, stop_in};
    csaw_run_options options = walk_options();
    csaw_status status = csaw_writer_open(path.c_str(), &given, &writing.writer);
    if (status != CSAW_OK) return status;
    options.first = csaw_writer_done(writing.writer);
    status = csaw_sample_each(plan, &csaw_node2vec, nullptr, nullptr, &options, take, &writing);
    if (status == CSAW_OK) return csaw_writer_close(writing.writer);
    const std::string message = csaw_last_error();
    csaw_writer_discard(writing.writer);
    EXPECT_NE(message, "");
    return status;
}

csaw_write_options write_options(const csaw_graph *graph, const MPI_Comm *comm, bool edges = false) {
    csaw_write_options options = {};
    options.size = sizeof options;
    options.num_walks = csaw_graph_csr(graph).num_vertices * 2;
    options.length = 12;
    options.edges = edges;
    options.graph = graph;
    options.communicator = comm;
    return options;
}

TEST(Files, of_walks_are_those_of_one_process) {
    const Folder folder;
    const Graph graph = mixed();
    const Plan alone = plan_alone(graph), all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    for (const char *name : {"a.txt", "a.npy", "a.bin"})
        for (bool edges : {false, true})
            for (const char *job : {static_cast<const char *>(nullptr), "a job"}) {
                csaw_write_options options = write_options(graph.get(), nullptr, edges);
                options.job = job;
                if (rank_of() == 0) {
                    EXPECT_EQ(write_walks(alone.get(), options, folder / (std::string("one.") + name)), CSAW_OK);
                }
                options.communicator = &world;
                EXPECT_EQ(same_status(write_walks(all.get(), options, folder / name)), CSAW_OK) << csaw_last_error();
                EXPECT_EQ(read_file(folder / name), read_file(folder / (std::string("one.") + name))) << name;
                EXPECT_NE(access((folder / (std::string(name) + ".part")).c_str(), F_OK), 0);
                EXPECT_NE(access((folder / (std::string(name) + ".resume")).c_str(), F_OK), 0);
                MPI_Barrier(MPI_COMM_WORLD);
            }
}

csaw_status write_samples(csaw_plan *plan, const csaw_graph *graph, const csaw_save_options &given,
                          const std::string &path) {
    static const uint32_t fanout[] = {3, 2};
    csaw_arc_writer *writer = nullptr;
    csaw_run_options options = walk_options();
    options.fanout = fanout;
    options.depth = 2;
    csaw_status status = csaw_arc_writer_open(graph, path.c_str(), &given, &writer);
    if (status != CSAW_OK) return status;
    const auto put = [](void *user, csaw_samples *samples) {
        return csaw_arc_writer_write(static_cast<csaw_arc_writer *>(user), samples);
    };
    status = csaw_sample_each(plan, &csaw_neighbor, nullptr, nullptr, &options, put, writer);
    if (status == CSAW_OK) return csaw_arc_writer_close(writer);
    csaw_arc_writer_discard(writer);
    return status;
}

TEST(Files, of_samples_are_those_of_one_process) {
    const Folder folder;
    const Graph graph = mixed();
    const Plan alone = plan_alone(graph), all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    for (const char *name : {"a.txt", "a.txt.gz"})
        for (bool plain : {false, true}) {
            csaw_save_options options = {};
            options.size = sizeof options;
            options.plain = plain;
            if (rank_of() == 0) {
                EXPECT_EQ(write_samples(alone.get(), graph.get(), options, folder / (std::string("one.") + name)),
                          CSAW_OK);
            }
            options.communicator = &world;
            EXPECT_EQ(same_status(write_samples(all.get(), graph.get(), options, folder / name)), CSAW_OK)
                << csaw_last_error();
            EXPECT_EQ(read_file(folder / name), read_file(folder / (std::string("one.") + name))) << name;
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

// As csaw_writer_write() on a rank that fails once the round is on disk, when rank 0 has noted it.
csaw_status fail_behind_the_record(void *user, csaw_samples *samples) {
    csaw_writer *const writer = static_cast<Writing *>(user)->writer;
    csaw_walks walks;
    EXPECT_EQ(csaw_samples_walks(samples, CSAW_HOST, &walks), CSAW_OK);
    csaw__rank_round round = {};
    round.first = walks.first, round.count = walks.num_walks;
    csaw__output *const memory = csaw__rank_output_begin(writer->shared);
    for (uint64_t w = 0; w < walks.num_walks; w++)
        EXPECT_EQ(csaw__format_walk(&writer->format, &walks, w, memory), CSAW_OK);
    EXPECT_EQ(csaw__rank_output_end(writer->shared, CSAW_OK, &round), CSAW_OK) << csaw_last_error();
    EXPECT_TRUE(round.sync);
    return csaw__ranks_meet(writer->ranks, CSAW__AT_RECORDED, csaw__fail(CSAW_EIO, "failed behind it"), nullptr);
}

// What rank 0 has noted holds, though another rank fails before all know: of a first round, and of one behind others.
TEST(Files, keep_a_round_that_was_noted) {
    const Folder folder;
    const Graph graph = rmat(4, true);
    const Plan alone = plan_alone(graph), all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    const std::string path = folder / "w.txt";
    csaw_write_options options = write_options(graph.get(), nullptr);
    options.job = "a job";
    if (rank_of() == 0) {
        EXPECT_EQ(write_walks(alone.get(), options, folder / "one.txt"), CSAW_OK);
    }
    options.communicator = &world;
    uint64_t kept = 0;
    for (int turn = 0; turn < 2 && size_of() > 1; turn++) {
        Writing writing = {nullptr, -1};
        csaw_run_options run = walk_options();
        options.resume = turn > 0;
        ASSERT_EQ(same_status(csaw_writer_open(path.c_str(), &options, &writing.writer)), CSAW_OK) << csaw_last_error();
        run.first = csaw_writer_done(writing.writer);
        EXPECT_TRUE(turn ? run.first > 0 : run.first == 0);
        EXPECT_GE(run.first, kept);
        kept = run.first + 1; // more from turn to turn
        EXPECT_EQ(csaw_sample_each(all.get(), &csaw_node2vec, nullptr, nullptr, &run,
                                   rank_of() == size_of() - 1 ? fail_behind_the_record : take, &writing),
                  CSAW_EIO);
        csaw_writer_discard(writing.writer);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    options.resume = size_of() > 1;
    EXPECT_EQ(same_status(write_walks(all.get(), options, path)), CSAW_OK) << csaw_last_error();
    EXPECT_EQ(read_file(path), read_file(folder / "one.txt"));
    MPI_Barrier(MPI_COMM_WORLD);
}

// The batch function of each rank in turn fails in each round in turn; then all go on, or rank 0 alone does.
TEST(Files, that_were_stopped_are_gone_on_with) {
    const Folder folder;
    const Graph graph = rmat(4, true);
    const Plan alone = plan_alone(graph), all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_write_options options = write_options(graph.get(), nullptr);
    options.job = "a job";
    if (rank_of() == 0) {
        EXPECT_EQ(write_walks(alone.get(), options, folder / "one.txt"), CSAW_OK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string whole = read_file(folder / "one.txt");
    bool kept = false;
    for (int victim = 0; victim < size_of(); victim++)
        for (int round = 0; round < 3; round++) {
            const std::string path = folder / ("w" + std::to_string(victim) + std::to_string(round) + ".txt");
            options.communicator = &world;
            options.resume = false;
            const int stop_in = victim == rank_of() ? round : -1;
            EXPECT_EQ(same_status(write_walks(all.get(), options, path, stop_in)), CSAW_EIO) << csaw_last_error();
            MPI_Barrier(MPI_COMM_WORLD);
            EXPECT_NE(access(path.c_str(), F_OK), 0);
            kept = kept || access((path + ".resume").c_str(), F_OK) == 0;
            MPI_Barrier(MPI_COMM_WORLD);
            options.resume = true;
            if (round == 2) { // by one process
                options.communicator = nullptr;
                if (rank_of() == 0) {
                    EXPECT_EQ(write_walks(alone.get(), options, path), CSAW_OK) << csaw_last_error();
                }
                MPI_Barrier(MPI_COMM_WORLD);
            } else {
                EXPECT_EQ(same_status(write_walks(all.get(), options, path)), CSAW_OK) << csaw_last_error();
            }
            EXPECT_EQ(read_file(path), whole) << victim << " " << round;
        }
    EXPECT_TRUE(kept);
}

// A rank whose file may not grow beyond some bytes: what others wrote behind is no part of what is kept.
TEST(Files, that_a_rank_cannot_write_are_kept_as_far_as_they_are_good) {
    const Folder folder;
    const Graph graph = rmat(4, true);
    const Plan all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_write_options options = write_options(graph.get(), &world);
    options.job = "a job";
    EXPECT_EQ(same_status(write_walks(all.get(), options, folder / "whole.txt")), CSAW_OK) << csaw_last_error();
    const std::string whole = read_file(folder / "whole.txt");
    signal(SIGXFSZ, SIG_IGN);
    for (size_t most : {size_t{100}, whole.size() / 2, whole.size() - 10}) {
        const std::string path = folder / ("w" + std::to_string(most) + ".txt");
        const rlimit limited = {most, RLIM_INFINITY}, free = {RLIM_INFINITY, RLIM_INFINITY};
        options.resume = false;
        if (rank_of() == size_of() - 1) setrlimit(RLIMIT_FSIZE, &limited);
        const csaw_status status = write_walks(all.get(), options, path);
        const std::string message = csaw_last_error();
        setrlimit(RLIMIT_FSIZE, &free);
        EXPECT_EQ(same_status(status), CSAW_EIO) << message;
        EXPECT_NE(message.find("File too large"), std::string::npos) << message;
        if (size_of() > 1) {
            EXPECT_EQ(message.find("rank " + std::to_string(size_of() - 1) + " on "), 0u) << message;
        }
        options.resume = true;
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_EQ(same_status(write_walks(all.get(), options, path)), CSAW_OK) << csaw_last_error();
        EXPECT_EQ(read_file(path), whole) << most;
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

TEST(Files, on_a_full_device_fail_on_all_ranks) {
    const Graph graph = rmat(4, true);
    const Plan all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    const csaw_write_options options = write_options(graph.get(), &world);
    EXPECT_EQ(same_status(write_walks(all.get(), options, "/dev/full")), CSAW_EIO);
}

TEST(Files, of_another_job_or_folder_are_refused) {
    if (size_of() < 2) GTEST_SKIP() << "one rank has no other";
    const Folder folder, other;
    const Graph graph = rmat(4, true);
    const Plan all = plan_of_all(graph);
    const MPI_Comm world = MPI_COMM_WORLD;
    csaw_write_options options = write_options(graph.get(), &world);
    options.job = rank_of() == 1 ? "one job" : "a job";
    EXPECT_EQ(same_status(write_walks(all.get(), options, folder / "w.txt")), CSAW_EINVAL);
    EXPECT_EQ(csaw_last_error(), std::string("rank 1 has another job for the writer than rank 0; open it for the same "
                                             "on every rank"));
    options.job = "a job";
    const std::string path = (rank_of() == 1 ? other : folder) / "w.txt";
    for (bool decoy : {false, true}) { // a file of the same name
        if (decoy && rank_of() == 1) fclose(fopen((other / "w.txt.part").c_str(), "w"));
        EXPECT_EQ(same_status(write_walks(all.get(), options, path)), CSAW_EIO);
        EXPECT_NE(std::string(csaw_last_error()).find("one machine's alone"), std::string::npos) << csaw_last_error();
        EXPECT_EQ(std::string(csaw_last_error()).find("rank 1 on "), 0u) << csaw_last_error();
        MPI_Barrier(MPI_COMM_WORLD);
        EXPECT_NE(access((folder / "w.txt.part").c_str(), F_OK), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

} // namespace
