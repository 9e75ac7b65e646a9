/* SPDX-License-Identifier: MIT */
/* tests/ranks/ranks.h - what the tests that run under mpirun share: every rank runs every test, in step, and compares
 * its share with what it makes alone. A test never leaves between two calls that all ranks make. */
#ifndef CSAW_TESTS_RANKS_H
#define CSAW_TESTS_RANKS_H

#include <csaw/csaw.h>
#include <csaw/samplers.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <map>
#include <string>
#include <vector>

namespace ranks {

inline int rank_of(MPI_Comm comm = MPI_COMM_WORLD) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm = MPI_COMM_WORLD) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

inline uint64_t sum(uint64_t mine, MPI_Comm comm = MPI_COMM_WORLD) {
    uint64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    return all;
}

// Ranks agree on a status, and it is returned.
inline csaw_status same_status(csaw_status mine) {
    int lowest = mine, highest = mine;
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(lowest, highest) << "ranks ended with several statuses; this one: " << csaw_last_error();
    return mine;
}

// A folder that all ranks know, rank 0's to make and remove.
class Folder {
  public:
    Folder();
    ~Folder();
    std::string operator/(const std::string &name) const { return path + "/" + name; }

  private:
    std::string path;
};

std::string read_file(const std::string &path);

using Graph = std::shared_ptr<csaw_graph>;
using Plan = std::shared_ptr<csaw_plan>;

Graph rmat(uint64_t seed, bool weighted); // the same on every rank
Graph mixed();                            // weights, types, times, loops, parallel arcs, isolated vertices
Plan plan_alone(const Graph &graph, int partitions = 0);
Plan plan_of_all(const Graph &graph, int partitions = 0, MPI_Comm comm = MPI_COMM_WORLD);
Plan plan_of_split(const Graph &graph);                                // each rank has a part of the graph
Plan plan_on_gpus(const Graph &graph, const char *device, bool split); // of all ranks

// What every instance came to: of a walk its vertices and arcs, of a sample its arcs; by instance.
using Results = std::map<uint64_t, std::vector<uint64_t>>;
void add_results(csaw_samples *samples, Results *results);

struct Ask {
    const csaw_sampler *sampler;
    std::vector<char> params; // empty = its defaults
    csaw_seeds seeds;         // vertex NULL and count 0 = every vertex
    csaw_run_options options;
};
inline const void *params_of(const Ask &ask) { return ask.params.empty() ? nullptr : ask.params.data(); }
inline const csaw_seeds *seeds_of(const Ask &ask) { return ask.seeds.count ? &ask.seeds : nullptr; }

// That the plan of all ranks makes what that of one makes, or refuses it alike: shares.cc.
void compare(const Plan &alone, const Plan &all, const std::vector<csaw_select> &methods);

csaw_status run(csaw_plan *plan, const Ask &ask, Results *results);
csaw_status run_each(csaw_plan *plan, const Ask &ask, Results *results, uint64_t *batches);

} // namespace ranks

#endif
