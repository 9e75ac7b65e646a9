/* SPDX-License-Identifier: MIT */
/* tests/cli_spmm_test.cc - csaw spmm: every product that it can be asked for is found right, what it says of it, and
 * what it refuses. */
#include "tests/cli_run.h"

#include <regex>

namespace {

// The number behind "key": in JSON, the first one.
std::string value_of(const std::string &json, const std::string &key) {
    std::smatch found;
    return std::regex_search(json, found, std::regex("\"" + key + "\": ([^,}]+)")) ? found[1].str() : "none";
}

TEST_F(Cli, spmm_of_every_kind_is_right) {
    for (const char *kind : {"sum", "mean", "sum --backward", "mean --backward --prepare", "max", "min --prepare",
                             "max --backward", "min --backward --prepare"})
        for (const char *storage : {"f32", "f16", "bf16"})
            for (const char *features : {"1", "33"}) {
                const std::string words = "spmm " + lesmis + " --reduce " + kind + " --storage " + storage +
                                          " --features " + features + " --repeats 1";
                const Outcome got = run(words);
                EXPECT_EQ(got.code, 0) << words << got.err;
                EXPECT_NE(got.out.find("forward   77 rows right"), std::string::npos) << words << got.out;
                EXPECT_EQ(got.out.find("backward  77 rows right") != std::string::npos,
                          words.find("--backward") != std::string::npos)
                    << got.out;
                EXPECT_EQ(got.err, "");
            }
}

TEST_F(Cli, spmm_of_samples_is_right) {
    for (const char *method : {"stratified", "bucket", "fastrand"})
        for (const char *reduce : {"sum", "mean"}) {
            const std::string words = "spmm " + karate + " --sample 4 --method " + method + " --reduce " + reduce +
                                      " --backward --seed 3 --repeats 2 --json";
            const Outcome got = run(words);
            EXPECT_EQ(got.code, 0) << words << got.err;
            EXPECT_EQ(value_of(got.out, "verified"), "true");
            EXPECT_EQ(value_of(got.out, "rows"), "34");
            EXPECT_EQ(value_of(got.out, "arcs"), "156");
            EXPECT_EQ(value_of(got.out, "arcs_taken"), "105"); // of 4 at most in each row
            EXPECT_EQ(value_of(got.out, "gathered_bytes"), "26880");
        }
}

TEST_F(Cli, spmm_says_what_it_did) {
    const Outcome got = run("spmm " + karate + " --rows 10 --repeats 1");
    EXPECT_EQ(got.code, 0) << got.err;
    const std::regex text("graph     .*karate.txt: 34 vertices, 156 arcs\n"
                          "product   sum over rows of 64 columns, f32, on the CPU\n"
                          "forward   [0-9]+ rows right, worst error 0\\.000 of its bound; .* GB/s gathered\n");
    EXPECT_TRUE(std::regex_match(got.out, text)) << got.out;
}

// What its storage does not hold is no fault of the product, and JSON has no infinity.
TEST_F(Cli, spmm_leaves_out_what_is_beyond_range) {
    write("large.txt", "0 1 3e38\n0 2 3e38\n1 0 1\n");
    Outcome got = run("spmm large.txt");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find("2 rows right"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("1 rows not checked: their weights make sums that float32 may not hold; scale the weights"),
              std::string::npos)
        << got.out;
    for (const char *kind : {"sum", "mean", "max", "sum --storage f16", "max --storage bf16"}) {
        got = run(std::string("spmm large.txt --backward --json --reduce ") + kind);
        EXPECT_EQ(got.code, 0) << kind << got.err;
        EXPECT_EQ(value_of(got.out, "verified"), "true") << kind << got.out;
        EXPECT_EQ(got.out.find("inf"), std::string::npos) << kind << got.out;
        EXPECT_EQ(got.out.find("nan"), std::string::npos) << kind << got.out;
    }
}

TEST_F(Cli, spmm_of_a_graph_without_arcs) {
    write("one.txt", "0 0\n");
    const Outcome got = run("spmm one.txt --backward");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_NE(got.out.find("0 arcs"), std::string::npos) << got.out;
}

TEST_F(Cli, spmm_refuses) {
    const std::pair<const char *, const char *> wrong[] = {
        {"--reduce fred", "--reduce fred: give sum, mean, max or min"},
        {"--storage f64", "--storage f64: give f32, f16 or bf16"},
        {"--sample 4 --method any", "--method any: give stratified, bucket or fastrand"},
        {"--method bucket", "--method bucket: give auto, crc, cwm2, cwm4, subwarp16, subwarp8, subwarp4, hubs"},
        {"--reduce min --sample 4", "--sample is of sum and mean"},
        {"--sample 4 --prepare", "--prepare is of whole products"},
        {"--features 0", "--features"},
    };
    for (const auto &[words, says] : wrong) {
        const Outcome got = run("spmm " + karate + " " + words);
        EXPECT_EQ(got.code, 2) << words;
        EXPECT_EQ(got.out, "") << words;
        EXPECT_NE(got.err.find(says), std::string::npos) << got.err;
    }
    EXPECT_EQ(run("spmm nothing.txt").code, 1);
    EXPECT_EQ(run("spmm " + karate + " --method auto").code, 0);
    const Outcome got = run("spmm " + karate + " --method crc");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("method 'crc' is a kernel of GPUs, but the device is the CPU"), std::string::npos)
        << got.err;
}

// With a GPU the product runs there; without one, or in a build without CUDA, a message says so, before anything else.
TEST_F(Cli, spmm_on_a_device) {
    const Outcome unknown = run("spmm " + karate + " --device gpu");
    EXPECT_EQ(unknown.code, 1);
    EXPECT_EQ(unknown.out, "");
    EXPECT_NE(unknown.err.find("device 'gpu' is not known; give 'cpu' or 'cuda:N'"), std::string::npos) << unknown.err;
    EXPECT_EQ(value_of(run("spmm " + karate + " --device cpu --json").out, "device"), "\"cpu\"");
    for (const char *kind : {"sum --backward", "max --backward --prepare", "mean --sample 4 --backward"}) {
        const std::string words = "spmm " + karate + " --reduce " + kind + " --device cuda:0 --json";
        const Outcome got = run(words);
        if (got.code == 0) {
            EXPECT_EQ(value_of(got.out, "device"), "\"cuda:0\"") << words;
            EXPECT_EQ(value_of(got.out, "verified"), "true") << words;
            continue;
        }
        const bool says = got.err.find("this csaw was built without CUDA") != std::string::npos ||
                          got.err.find("no CUDA device was found") != std::string::npos;
        EXPECT_TRUE(says && got.err.find("'cpu'") != std::string::npos) << words << got.err;
        EXPECT_EQ(got.code, 1) << words;
        EXPECT_EQ(got.out, "") << words;
    }
}

} // namespace
