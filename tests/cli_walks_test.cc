/* SPDX-License-Identifier: MIT */
/* tests/cli_walks_test.cc - every built-in walk through the program: walk, then verify with the law; and walks that
 * verify must refuse. Walks written by hand are small enough to judge by eye. Fixed seeds; the program's own threshold
 * is z = 5. */
#include <map>
#include <vector>

#include "cli_run.h"

namespace {

const char *const events = "0 1 0 1\n1 2 1 2\n2 0 0 3\n0 2 1 2\n2 1 0 2\n1 0 1 5\n0 1 1 9\n2 0 1 1\n";
const std::string as_events = " --columns src,dst,type,time --keep-duplicates";

TEST_F(Cli, every_walk_is_verified_on_every_method) {
    const struct {
        const char *algo, *selects;
    } cases[] = {{"uniform", "auto its race alias uniform"},
                 {"biased", "auto its race alias"},
                 {"biased_by_degree", "auto its race alias"},
                 {"node2vec --p 4 --q 0.5", "auto its race reject"},
                 {"metropolis_hastings", "auto its race uniform"},
                 {"jump --jump 0.2", "auto its race alias"},
                 {"restart --restart 0.3", "auto its race alias"},
                 {"ppr --alpha 0.05", "auto its race alias"},
                 {"metapath", "auto its race reject"},
                 {"temporal", "auto its race reject"}};
    for (const auto &each : cases) {
        std::stringstream selects(each.selects);
        for (std::string select; selects >> select;) {
            const std::string algo = " --algo " + std::string(each.algo);
            ASSERT_EQ(run("walk " + lesmis + algo + " --select " + select + " --num-walks 3 --seed 5 -o w.txt").code, 0)
                << algo << select << read(".err");
            Outcome got = run("verify w.txt --graph " + lesmis + algo);
            EXPECT_EQ(got.code, 0) << algo << " " << select << "\n" << got.out << got.err;
        }
    }
}

/* Each law refuses the walks of each other sampler; where a law is not known, the steps do. */
TEST_F(Cli, laws_refuse_each_others_walks) {
    const std::vector<std::string> algos = {"uniform",          "biased",
                                            "biased_by_degree", "metropolis_hastings",
                                            "jump --jump 0.2",  "restart --restart 0.2",
                                            "ppr --alpha 0.1"};
    for (const std::string &walked : algos) {
        ASSERT_EQ(run("walk " + lesmis + " --algo " + walked + " --seed 6 -o w.npy").code, 0);
        for (const std::string &told : algos) {
            Outcome got = run("verify w.npy --graph " + lesmis + " --algo " + told);
            EXPECT_EQ(got.code, walked == told ? 0 : 3) << walked << " told to be " << told << "\n" << got.out;
        }
    }
}

TEST_F(Cli, parameters_are_verified_too) {
    const struct {
        const char *algo, *right, *wrong;
    } cases[] = {{"jump", " --jump 0.2", " --jump 0.22"},
                 {"restart", " --restart 0.2", " --restart 0.22"},
                 {"ppr", " --alpha 0.02", " --alpha 0.03"}};
    for (const auto &each : cases) {
        const std::string algo = " --algo " + std::string(each.algo);
        ASSERT_EQ(run("walk " + karate + algo + each.right + " --num-walks 100 --seed 7 -o w.npy").code, 0);
        EXPECT_EQ(run("verify w.npy --graph " + karate + algo + each.right).code, 0) << read(".out");
        EXPECT_EQ(run("verify w.npy --graph " + karate + algo + each.wrong).code, 3) << read(".out");
    }
}

TEST_F(Cli, typed_and_timed_walks_are_verified) {
    write("e.txt", events);
    for (const char *algo : {" --algo metapath --length 2 --t0 0 --t1 1", " --algo temporal",
                             " --algo temporal --start 2", " --algo temporal --window 1"}) {
        ASSERT_EQ(run("walk e.txt" + as_events + algo + " --num-walks 200 -o w.txt").code, 0) << read(".err");
        Outcome got = run("verify w.txt --graph e.txt" + as_events + algo);
        EXPECT_EQ(got.code, 0) << algo << "\n" << got.out << got.err;
    }
    ASSERT_EQ(run("walk e.txt" + as_events + " --algo uniform -o w.txt").code, 0);
    for (const char *algo : {"metapath --length 2 --t0 0 --t1 1", "temporal"})
        EXPECT_EQ(run("verify w.txt --graph e.txt" + as_events + " --algo " + algo).code, 3) << algo;
}

TEST_F(Cli, steps_that_cannot_be_are_named) {
    write("e.txt", events);
    write("p.txt", "0 1\n1 2\n2 3\n");
    const struct {
        const char *walks, *rest, *found; /* found: "" = verified */
    } cases[] = {
        {"0 1 1 0\n", "p.txt --undirected --algo metropolis_hastings", "never   1 steps have probability 0"},
        {"0 0 1 1\n", "p.txt --undirected --algo metropolis_hastings", "never   1 steps have probability 0"},
        {"0 0 0 1\n", "p.txt --undirected --algo metropolis_hastings", ""},
        {"0 1 0 0\n", "p.txt --undirected --algo restart", ""},
        {"1 2 1 1\n", "p.txt --undirected --algo restart", ""},
        {"1 2 3 0\n", "p.txt --undirected --algo restart",
         "line 1, step 3: 3 -> 0 is not an arc, nor a return to the root"},
        {"0 3 0 3\n", "p.txt --undirected --algo jump", ""},
        {"0 1\n0 1 2\n", "p.txt --undirected --algo jump",
         "line 1, ends after 1 of 2 steps at vertex 1, which has a way on"},
        {"0 1\n0\n0 1 2\n", "p.txt --undirected --algo ppr", ""},
        {"0 1 0 1\n", "e.txt --algo metapath --length 2 --t0 0 --t1 1", ""},
        {"0 2 0\n", "e.txt --algo metapath --length 2 --t0 0 --t1 1", "line 1, step 1: 0 -> 2 is not an arc of type 0"},
        {"0 1 2 0 1\n", "e.txt --algo temporal", ""}, /* times 1 2 3 9 */
        {"0 1 0 2\n", "e.txt --algo temporal", "line 1, step 3: 0 -> 2 has no arc at a time that may follow"},
        {"0 2 1\n", "e.txt --algo temporal", ""},                                                 /* times 2 2 */
        {"0 1 2 0 1\n", "e.txt --algo temporal --window 5", "line 1, step 4: 0 -> 1 has no arc"}, /* 3, then 9 */
        {"0 1 2 0 1\n", "e.txt --algo temporal --window 6", ""},
        {"2 0 1\n0 1\n", "e.txt --algo temporal --start 3", ""}, /* 3 9; 9 */
        {"0 2 0\n", "e.txt --algo temporal --start 3", "line 1, step 1: 0 -> 2 has no arc"},
        {"0 2\n2 0 1\n", "e.txt --algo temporal", "line 1, ends after 1 of 2 steps at vertex 2, which has a way on"},
    };
    for (const auto &each : cases) {
        write("w.txt", each.walks);
        const bool typed = each.rest[0] == 'e';
        Outcome got = run("verify w.txt --graph " + std::string(each.rest) + (typed ? as_events : ""));
        EXPECT_EQ(got.code, *each.found ? 3 : 0) << each.walks << each.rest << "\n" << got.out << got.err;
        EXPECT_NE(got.out.find(each.found), std::string::npos) << each.walks << each.rest << "\n" << got.out;
    }
}

/* Each counts, but those as long as the longest are whole; the first in the file is told. On the path 0 1 2 3. */
TEST_F(Cli, walks_that_stop_early_are_counted) {
    write("p.txt", "0 1\n1 2\n2 3\n");
    const std::string way_on = ", which has a way on  FAILED\nwrong   ";
    const struct {
        const char *walks;
        std::string found;
    } cases[] = {
        {"0 1\n0 1 2\n1\n2 3\n", "line 1, ends after 1 of 2 steps at vertex 1" + way_on + "3 of 4 walks\n"},
        {"0 1 2\n0 1\n1\n2 3 2\n2 3\n", "line 2, ends after 1 of 2 steps at vertex 1" + way_on + "3 of 5 walks\n"},
        {"0 1 2\n1\n0 1\n", "line 2, ends after 0 of 2 steps at vertex 1" + way_on + "2 of 3 walks\n"},
        {"0 1\n0 1 2\n0 1 2 3\n", "line 1, ends after 1 of 3 steps at vertex 1" + way_on + "2 of 3 walks\n"},
        {"0 1\n0 3\n0 1 2\n", "line 1, ends after 1 of 2 steps at vertex 1" + way_on + "2 of 3 walks\n"},
        {"0 3\n0 1\n0 1 2\n", "line 1, step 1: 0 -> 3 is not an arc  FAILED\nwrong   2 of 3 walks\n"},
        {"0 1 2\n2 1 0\n", "verified\n"},
    };
    for (const auto &each : cases) {
        write("w.txt", each.walks);
        Outcome got = run("verify w.txt --graph p.txt --undirected --algo uniform");
        EXPECT_EQ(got.code, each.found == "verified\n" ? 0 : 3) << each.walks;
        EXPECT_NE(got.out.find(each.found), std::string::npos) << each.walks << got.out;
    }
}

/* On paths of three vertices how often a walk comes back to a step hangs together with where the step went. Chi-square
 * over all of a walk's steps found z = 7.5 and -6.0 in such walks; over each walk's first step from a place, it holds.
 */
TEST_F(Cli, walks_that_come_back_are_no_false_alarm) {
    std::string paths;
    for (int v = 0; v < 9000; v += 3)
        for (int u = v; u < v + 2; u++) paths += std::to_string(u) + " " + std::to_string(u + 1) + "\n";
    write("p.txt", paths);
    for (const char *more : {"--walk-length 12 --num-walks 1 --seed 1", "--walk-length 20 --num-walks 1 --seed 2",
                             "--walk-length 12 --num-walks 20 --seed 1"}) {
        ASSERT_EQ(run("walk p.txt --undirected --p 0.5 -o w.npy " + std::string(more)).code, 0);
        EXPECT_EQ(run("verify w.npy --graph p.txt --undirected --p 0.5 --algo node2vec").code, 0) << read(".out");
        EXPECT_EQ(run("verify w.npy --graph p.txt --undirected --p 0.6 --algo node2vec").code, 3) << read(".out");
    }
}

TEST_F(Cli, a_law_that_is_not_known_is_told) {
    write("e.txt", events);
    write("w.txt", "0 2 1\n");
    Outcome got = run("verify w.txt --graph e.txt --algo temporal --start 0" + as_events);
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find("law     temporal (start = 0, window = 0): only the steps are checked"), std::string::npos)
        << got.out;
    EXPECT_EQ(got.out.find("chi2"), std::string::npos);
    got = run("verify w.txt --graph e.txt --algo temporal --json" + as_events);
    EXPECT_NE(got.out.find("\"law_tested\": false, \"verified\": true}"), std::string::npos) << got.out;
}

TEST_F(Cli, walks_in_names_are_verified) {
    write("n.txt", "10 20\n20 1000000000000\n");
    ASSERT_EQ(run("walk n.txt --undirected --algo uniform -o w.txt").code, 0);
    EXPECT_EQ(run("verify w.txt --graph n.txt --undirected --algo uniform").code, 0) << read(".out") << read(".err");
    write("w.txt", "10 20 1000000000000\n20 10 21\n");
    Outcome got = run("verify w.txt --graph n.txt --undirected");
    EXPECT_EQ(got.code, 3);
    EXPECT_NE(got.out.find("line 2, place 2: '21' is not a vertex of the graph"), std::string::npos) << got.out;
    write("w.txt", "10 1000000000000\n");
    got = run("verify w.txt --graph n.txt --undirected");
    EXPECT_EQ(got.code, 3);
    EXPECT_NE(got.out.find("line 1, step 1: 10 -> 1000000000000 is not an arc"), std::string::npos) << got.out;
}

TEST_F(Cli, help_lists_samplers_and_parameters) {
    Outcome got = run("help walk");
    const std::map<std::string, std::vector<std::string>> listed = {{"uniform", {}},
                                                                    {"biased", {}},
                                                                    {"biased_by_degree", {}},
                                                                    {"node2vec", {"p", "q"}},
                                                                    {"metropolis_hastings", {}},
                                                                    {"jump", {"jump"}},
                                                                    {"restart", {"restart"}},
                                                                    {"ppr", {"alpha"}},
                                                                    {"metapath", {"length", "t0", "t7"}},
                                                                    {"temporal", {"start", "window"}}};
    for (const auto &[name, params] : listed) {
        const size_t at = got.out.find("\n  " + name + "\n");
        ASSERT_NE(at, std::string::npos) << name;
        for (const std::string &param : params)
            EXPECT_NE(got.out.find("\n    --" + param + " ", at), std::string::npos) << name << " " << param;
    }
    EXPECT_EQ(run("walk g.txt --algo jump --restart 0.5").err,
              "csaw walk: --restart is a parameter of restart, but the sampler is jump; add --algo restart\n"
              "See: csaw help walk\n");
}

} // namespace
