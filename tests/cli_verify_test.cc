/* SPDX-License-Identifier: MIT */
/* tests/cli_verify_test.cc - csaw verify: which walks it finds right, which wrong, and what it takes. */
#include <csaw/csaw.h>

#include <cstring>

#include "cli_run.h"

namespace {

// Every sampler that help lists is one that walks are verified by.
TEST_F(Cli, verify_takes_what_its_help_lists) {
    write("g.txt", "0 1\n1 0\n");
    write("w.txt", "0 1 0 1\n");
    const std::string help = run("help verify").out;
    const csaw_sampler *sampler;
    int listed = 0;
    for (uint32_t i = 0; (sampler = csaw_sampler_at(i)); i++) {
        const std::string full = csaw_sampler_name(sampler), name = full.rfind("csaw_", 0) ? full : full.substr(5);
        const bool lists = help.find("\n  " + name + "\n") != std::string::npos;
        const Outcome got = run("verify w.txt --graph g.txt --algo " + name);
        listed += lists;
        EXPECT_EQ(got.code == 2, !lists) << name << got.err; // of a law that this cannot be, 3
        EXPECT_LT(got.code, 4) << name;
    }
    EXPECT_EQ(listed, 10);
}

TEST_F(Cli, verify_reports_on_right_walks) {
    write("path.txt", "0 1\n");
    write("w.txt", "0 1 0\n1 0 1\n");
    Outcome got = run("verify w.txt --graph path.txt --undirected");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.err, "");
    EXPECT_EQ(got.out, "walks   w.txt: 2 walks, 4 steps\n"
                       "graph   path.txt: 2 vertices, 2 arcs\n"
                       "arcs    every step follows an arc of the graph\n"
                       "verified\n");
    got = run("verify w.txt --graph path.txt --undirected --algo node2vec --p 4");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "walks   w.txt: 2 walks, 4 steps\n"
                       "graph   path.txt: 2 vertices, 2 arcs\n"
                       "arcs    every step follows an arc of the graph\n"
                       "law     node2vec (p = 4, q = 1), 4 steps tested; a |z| above 5 fails\n"
                       "chi2    not tested: no step is expected 5 times; give more walks\n"
                       "back    2 steps, 2.0 expected, z = 0.00\n"
                       "near    0 steps, 0.0 expected, z = 0.00\n"
                       "away    0 steps, 0.0 expected, z = 0.00\n"
                       "verified\n");
}

TEST_F(Cli, verify_finds_walks_that_fit_too_well) {
    // Every arc of the complete graph of 4 vertices 400 times: chi-square 0 with 8 degrees of freedom, z = -5.8.
    std::string walks;
    for (int round = 0; round < 400; round++)
        for (int v = 0; v < 4; v++)
            for (int u = 0; u < 4; u++)
                if (u != v) walks += std::to_string(v) + " " + std::to_string(u) + "\n";
    write("k4.txt", "0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n");
    write("w.txt", walks.c_str());
    Outcome got = run("verify w.txt --graph k4.txt --undirected --algo uniform");
    EXPECT_EQ(got.code, 3) << got.out;
    EXPECT_NE(got.out.find("FAILED"), std::string::npos) << got.out;
}

TEST_F(Cli, verify_finds_wrong_walks) {
    write("g.txt", "0 1\n1 2\n2 0\n0 3\n"); /* 3 is a dead end */
    const struct {
        const char *walks, *found;
    } cases[] = {
        {"0 1 2 0\n1 2 0 3\n2 1 0\n0 2\n",
         "arcs    line 3, step 1: 2 -> 1 is not an arc  FAILED\nwrong   2 of 4 walks\n"},
        {"0 1 2\n0 1 4\n", "arcs    line 2, place 2: vertex 4, but the graph has 4 vertices, numbered from 0  FAILED\n"
                           "wrong   1 of 2 walks\n"},
        {"0 1 2 0\n0 1\n2 0 3\n",
         "arcs    line 2, ends after 1 of 3 steps at vertex 1, which has a way on  FAILED\nwrong   1 of 3 walks\n"},
    };
    for (const auto &each : cases) {
        write("w.txt", each.walks);
        Outcome got = run("verify w.txt --graph g.txt --algo uniform");
        EXPECT_EQ(got.code, 3) << each.walks;
        EXPECT_NE(got.out.find(each.found), std::string::npos) << got.out;
        EXPECT_EQ(got.out.substr(got.out.size() - 13), "NOT VERIFIED\n");
        EXPECT_EQ(run("verify w.txt --graph g.txt --algo uniform --json").code, 3);
    }
    write("w.txt", "0 1 2 0\n2 0 3\n3\n");
    EXPECT_EQ(run("verify w.txt --graph g.txt --algo uniform").code, 0);
}

// Read once, from its first byte on.
TEST_F(Cli, verify_reads_pipes) {
    for (const char *name : {"w.txt", "w.npy"}) {
        ASSERT_EQ(run("walk " + karate + " --walk-length 5 --num-walks 1 -o " + name).code, 0);
        const std::string feed = "rm -f pipe; mkfifo pipe; { cat " + std::string(name) + " > pipe & };";
        const Outcome got = run("verify pipe --graph " + karate + " --json", feed);
        EXPECT_EQ(got.code, 0) << name << got.err;
        EXPECT_NE(got.out.find("\"walks\": 34, "), std::string::npos) << got.out;
        EXPECT_NE(got.out.find("\"steps\": 170, "), std::string::npos) << got.out;
    }
    write("n.npy", "\x93NUMBY and so on");
    const Outcome got = run("verify n.npy --graph " + karate);
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("n.npy: neither text nor a .npy file"), std::string::npos) << got.err;
}

TEST_F(Cli, verify_finds_a_corrupted_vertex) {
    for (const char *name : {"w.txt", "w.npy"}) {
        ASSERT_EQ(run("walk " + karate + " --seed 2 -o " + name).code, 0);
        ASSERT_EQ(run(std::string("verify ") + name + " --graph " + karate).code, 0);
        std::string file = read(name);
        if (!strcmp(name, "w.txt")) {
            file.replace(file.rfind(' ') + 1, std::string::npos, "999\n");
        } else {
            file[file.size() - 3] = 1; /* the last vertex is now 256 more */
        }
        write(name, file);
        Outcome got = run(std::string("verify ") + name + " --graph " + karate);
        EXPECT_EQ(got.code, 3);
        EXPECT_NE(got.out.find("arcs    line 340, place 80: vertex "), std::string::npos) << got.out;
        write(name, file.substr(0, file.size() - 2) + (strcmp(name, "w.npy") ? "x" : ""));
        EXPECT_EQ(run(std::string("verify ") + name + " --graph " + karate).code, 1); /* no walks any more */
    }
}

/* Fixed seeds; the program's stated threshold is z = 5. */
TEST_F(Cli, verify_tells_the_law) {
    for (const std::string &graph : {karate, lesmis}) {
        ASSERT_EQ(run("walk " + graph + " --p 4 --q 0.5 --seed 11 -o n.npy").code, 0);
        ASSERT_EQ(run("walk " + graph + " --algo uniform --seed 11 -o u.txt").code, 0);
        std::string node2vec = "verify n.npy --graph " + graph, uniform = "verify u.txt --graph " + graph;
        EXPECT_EQ(run(node2vec + " --algo node2vec --p 4 --q 0.5").code, 0);
        EXPECT_EQ(run(node2vec + " --algo node2vec --p 0.5 --q 4").code, 3); /* swapped, as in NextDoor */
        EXPECT_EQ(run(node2vec + " --algo node2vec --p 4 --q 1").code, 3);
        EXPECT_EQ(run(node2vec + " --algo node2vec --p 1 --q 0.5").code, 3);
        EXPECT_EQ(run(node2vec + " --algo uniform").code, 3);
        EXPECT_EQ(run(uniform + " --algo uniform").code, 0);
        EXPECT_EQ(run(uniform + " --algo node2vec --p 4").code, 3);
    }
    ASSERT_EQ(run("walk " + lesmis + " --algo node2vec --seed 12 -o w.txt").code, 0);
    EXPECT_EQ(run("verify w.txt --graph " + lesmis + " --algo node2vec").code, 0);
    EXPECT_EQ(run("verify w.txt --graph " + lesmis + " --columns src,dst --algo node2vec").code,
              3); /* weights ignored */
}

} // namespace
