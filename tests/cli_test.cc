/* SPDX-License-Identifier: MIT */
/* tests/cli_test.cc - the csaw program from outside: what it prints, writes and returns. Walks on a path of two
 * vertices and on a directed cycle are forced, so their bytes are known without the program. */
#include <csaw/csaw.h>
#include <zlib.h>

#include <cstring>
#include <regex>
#include <vector>

#include "cli_run.h"

namespace {

/* ---- help and wrong command lines ---- */

TEST_F(Cli, version_is_the_librarys) {
    Outcome got = run("--version");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, std::string("csaw ") + csaw_version() + "\n");
    EXPECT_EQ(got.err, "");
}

TEST_F(Cli, overview) {
    const std::string overview =
        "csaw: random walks on graphs, from small C callbacks, on CPUs and GPUs\n\n"
        "usage: csaw COMMAND ...\n\n"
        "  walk       sample random walks: node2vec, DeepWalk, or your own sampler\n"
        "  sample     sample neighbourhoods, layers, fires: several arcs a step\n"
        "  subgraph   sample, and write what was visited as a graph of its own\n"
        "  spmm       aggregate features over a graph: checked, then timed\n"
        "  info       describe a graph file\n"
        "  convert    turn a graph file into a .csaw file, which opens at once\n"
        "  generate   write a synthetic graph\n"
        "  plan       say how a graph would be worked on, without doing it\n"
        "  verify     check walks against a graph and against their law\n"
        "  bench      measure how fast walks are made here, verified first\n"
        "  devices    list where walks can run: the CPU and the GPUs\n"
        "  help       explain a command: csaw help walk\n"
        "  --version  print the version and what is built in\n\n"
        "A first walk, ten times 80 steps from every vertex of a graph that comes with csaw:\n"
        "  csaw walk data/karate.txt --undirected --algo node2vec --p 4 --q 1 -o walks.txt\n\n"
        "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 verification failed, 128 + n stopped by signal n\n"
        "(130 by Ctrl-C).\n";
    for (const char *words : {"help", "--help", "-h"}) {
        Outcome got = run(words);
        EXPECT_EQ(got.code, 0);
        EXPECT_EQ(got.out, overview);
        EXPECT_EQ(got.err, "");
    }
    Outcome bare = run("");
    EXPECT_EQ(bare.code, 2);
    EXPECT_EQ(bare.out, "");
    EXPECT_EQ(bare.err, overview);
}

TEST_F(Cli, help_of_a_command) {
    Outcome got = run("help plan");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(
        got.out,
        "usage: csaw plan GRAPH [options]\n\n"
        "Reads a graph and prints where walks from every vertex would run, how much memory that takes,\n"
        "and what is moved, one line per decision. The options mean what they mean to csaw walk.\n\n"
        "Options:\n"
        "  --device cpu|cuda:N|all  where to run (default cpu); cuda:0,cuda:1: both share the work; all: every GPU, "
        "of ranks one each; simulated: a GPU played through\n"
        "  --threads N              CPU threads (default: all cores; of partitions one); the result is the same\n"
        "  --partitions N           cut the graph into N parts; the result is the same\n"
        "  --gpu-memory SIZE        of a GPU to use, such as 4GiB (default: all); parts of a larger graph come and "
        "go\n"
        "  --resident N             parts in that memory at a time (default: by its size)\n"
        "  --streams N              of a GPU on which parts are copied and run (default: one each, at most 4)\n"
        "  --split                  each rank of mpirun, or its GPU, holds a part of GRAPH, .csaw or text; so does "
        "each of several GPUs\n"
        "  --exchange               with --split on several GPUs: walkers go to the GPU that has their row (default: "
        "rows "
        "are read there)\n"
        "  --by-visits              with --split: ranks have as many arcs each, and so walkers' visits (default: as "
        "many "
        "bytes)\n"
        "  --walk-length N          steps of a walk, so N+1 vertices (default 80)\n"
        "  --num-walks N            walks from every start vertex (default 10)\n"
        "  --undirected             every line of the file is an edge both ways\n"
        "  --keep-loops             keep edges from a vertex to itself (default: drop them)\n"
        "  --keep-duplicates        keep repeated edges apart (default: one edge, weights summed)\n"
        "  --keep-gaps              ids are vertex numbers as they stand (default: close up, keep names)\n"
        "  --columns LIST           of src dst weight type time -, such as src,dst,time\n"
        "  --format NAME            text csv mtx npz gr csaw (default: by content and name)\n"
        "  --describe LIST          plan for other machines, such as gpu=2,memory=16GiB or ranks=16; no GPU is asked\n"
        "  --json                   print one JSON object instead\n"
        "  --help                   this text\n\n"
        "Examples:\n"
        "  csaw plan graph.txt --undirected\n"
        "  csaw plan graph.txt --partitions 4\n"
        "  csaw plan graph.txt --device cuda:0\n"
        "  csaw plan graph.txt --describe ranks=16\n"
        "  csaw plan graph.txt --describe gpu=8,memory=80GiB\n"
        "  csaw plan graph.csaw --split --describe ranks=16\n"
        "  csaw plan graph.txt --describe gpu=1,memory=16GiB --gpu-memory 4GiB --num-walks 1\n");
    for (const char *command : {"walk", "sample", "subgraph", "info", "generate", "plan", "verify"}) {
        Outcome help = run(std::string("help ") + command), option = run(std::string(command) + " --help");
        EXPECT_EQ(help.code, 0);
        EXPECT_EQ(option.code, 0);
        EXPECT_EQ(help.out, option.out);
        EXPECT_NE(help.out.find(std::string("\nExamples:\n  csaw ") + command), std::string::npos);
    }
}

TEST_F(Cli, wrong_command_lines) {
    write("g.txt", "0 1\n");
    const struct {
        const char *words, *message;
    } cases[] = {
        {"wlak", "csaw: there is no command 'wlak'; did you mean walk?\nSee: csaw help\n"},
        {"help xyzzyx", "csaw: there is no command 'xyzzyx'\nSee: csaw help\n"},
        {"walk", "csaw walk: GRAPH is missing: which file holds the graph?\nSee: csaw help walk\n"},
        {"walk g.txt more",
         "csaw walk: one word too many: 'more'; the line is csaw walk GRAPH [options]\nSee: csaw help walk\n"},
        {"walk g.txt --walk-length 0",
         "csaw walk: --walk-length 0: give a whole number from 1 to 16777215\nSee: csaw help walk\n"},
        {"walk g.txt --walk-length 12x",
         "csaw walk: --walk-length 12x: give a whole number from 1 to 16777215\nSee: csaw help walk\n"},
        {"walk g.txt --seed 18446744073709551616",
         "csaw walk: --seed 18446744073709551616: give a whole number from 0 to 18446744073709551615\n"
         "See: csaw help walk\n"},
        {"walk g.txt --num-walks -5",
         "csaw walk: --num-walks -5: give a whole number from 1 to 4294967295\nSee: csaw help walk\n"},
        {"walk g.txt --walk-lenght 3",
         "csaw walk: there is no option --walk-lenght; did you mean --walk-length?\nSee: csaw help walk\n"},
        {"walk --undirceted g.txt",
         "csaw walk: there is no option --undirceted; did you mean --undirected?\nSee: csaw help walk\n"},
        {"info g.txt --p 4", "csaw info: there is no option --p\nSee: csaw help info\n"},
        {"walk g.txt -x", "csaw walk: there is no option -x\nSee: csaw help walk\n"},
        {"walk g.txt -o", "csaw walk: --output needs a value: --output FILE\nSee: csaw help walk\n"},
        {"walk g.txt --check=yes", "csaw walk: --check takes no value; drop '=yes'\nSee: csaw help walk\n"},
        {"walk g.txt --p", "csaw walk: --p needs a value: --p VALUE\nSee: csaw help walk\n"},
        {"walk g.txt --quiet -o w.txt", "csaw walk: there is no option --quiet\nSee: csaw help walk\n"},
        {"walk --quiet -o w.txt g.txt", "csaw walk: there is no option --quiet\nSee: csaw help walk\n"},
        {"walk -o w.txt g.txt --quiet", "csaw walk: there is no option --quiet\nSee: csaw help walk\n"},
        {"walk --quiet g.txt -o w.txt", "csaw walk: there is no option --quiet\nSee: csaw help walk\n"},
        {"sample g.txt --quiet -o w.txt", "csaw sample: there is no option --quiet\nSee: csaw help sample\n"},
        {"verify --quiet w.txt --graph g.txt", "csaw verify: there is no option --quiet\nSee: csaw help verify\n"},
        {"walk g.txt --p -o w.txt", "csaw walk: --p needs a value: --p VALUE\nSee: csaw help walk\n"},
        {"walk g.txt --param p", "csaw walk: --param p: write NAME=VALUE, such as p=4\nSee: csaw help walk\n"},
        {"walk g.txt --algo uniform --q 2",
         "csaw walk: --q is a parameter of node2vec, but the sampler is uniform; add --algo node2vec\n"
         "See: csaw help walk\n"},
        {"walk g.txt --algo node2vek",
         "csaw walk: there is no sampler 'node2vek'; did you mean node2vec?\nSee: csaw help walk\n"},
        {"walk g.txt --algo node2vec --sampler my.c",
         "csaw walk: --algo and --sampler exclude each other; drop one\nSee: csaw help walk\n"},
        {"walk g.txt --select alais",
         "csaw walk: --select alais: give one of auto, uniform, its, alias, reject, race; did you mean alias?\n"
         "See: csaw help walk\n"},
        {"walk g.txt --json",
         "csaw walk: --json takes standard output; send the walks to a file with -o FILE\nSee: csaw help walk\n"},
        {"walk g.txt --draw g.png",
         "csaw walk: --draw g.png: the picture is SVG; let its name end in .svg\nSee: csaw help walk\n"},
        {"walk g.txt --format xml",
         "csaw walk: --format xml: give text, csv, mtx, npz, gr or csaw\nSee: csaw help walk\n"},
        {"generate", "csaw generate: which model? Give rmat, erdos-renyi or configuration\nSee: csaw help generate\n"},
        {"generate rmat", "csaw generate: -o FILE is missing: where should the graph go?\nSee: csaw help generate\n"},
        {"verify w.txt",
         "csaw verify: --graph FILE is missing: on which graph should the walks be?\nSee: csaw help verify\n"},
        {"verify w.txt --graph g.txt --p 4",
         "csaw verify: --p is a parameter of the law; add --algo node2vec to test it\nSee: csaw help verify\n"},
        {"verify w.txt --graph g.txt --algo neighbor",
         "csaw verify: --algo neighbor draws samples, and verify reads walks; leave --algo out, or name one of those "
         "that csaw help verify lists\nSee: csaw help verify\n"},
        {"walk g.txt --algo metapath --t0 -1",
         "csaw walk: parameter t0 is '-1'; give a whole number from 0 to 4294967295\nSee: csaw help walk\n"},
        {"walk g.txt --algo temporal --start 0.5",
         "csaw walk: parameter start is '0.5'; give a whole number from -9223372036854775808 to 9223372036854775807\n"
         "See: csaw help walk\n"},
        {"walk g.txt --algo metapath --length x",
         "csaw walk: parameter length is 'x'; give a whole number from 0 to 4294967295 with length >= 1 && length <= "
         "8\nSee: csaw help walk\n"},
        {"plan g.txt --describe ranks=0",
         "csaw plan: --describe ranks=0: ranks is 0; give 1 or more, or leave it out\nSee: csaw help plan\n"},
    };
    for (const auto &each : cases) {
        Outcome got = run(each.words);
        EXPECT_EQ(got.code, 2) << each.words;
        EXPECT_EQ(got.out, "") << each.words;
        EXPECT_EQ(got.err, each.message) << each.words;
    }
    for (const char *value : {"0", "-1", "-.5", "4x", "nan", "inf", "''"}) { /* the sampler's own condition */
        Outcome got = run(std::string("walk g.txt --p ") + value);
        EXPECT_EQ(got.code, 2) << value;
        EXPECT_NE(got.err.find("p >= 1e-30"), std::string::npos) << got.err;
    }
    write("g.txt", "0 1\n");
    for (const char *value : {"1e30", "1e-30"}) // the limits themselves, which no float is
        EXPECT_EQ(run(std::string("walk g.txt --p ") + value).code, 0) << value;
}

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

/* ---- failures of the work itself ---- */

TEST_F(Cli, bad_input_is_exit_1) {
    write("g.txt", "0 1\n");
    write("seeds.txt", "# vertices\n0 1\n7\n");
    write("words.txt", "0 one\n");
    write("none.txt", "# nothing\n");
    const struct {
        const char *words, *message;
    } cases[] = {
        {"walk g.txt --seeds seeds.txt",
         "csaw: seeds.txt line 3: vertex 7, but the graph has 2 vertices, numbered from 0; drop or fix the line\n"},
        {"walk g.txt --seeds words.txt",
         "csaw: words.txt line 1: 'one' is not a vertex; give whole numbers with blanks between\n"},
        {"walk g.txt --seeds none.txt", "csaw: seeds file none.txt holds no vertex; give at least one\n"},
        {"walk g.txt --seeds gone.txt", "csaw: seeds file gone.txt: No such file or directory\n"},
        {"verify none.txt --graph g.txt",
         "csaw: none.txt line 1: '#' is not a vertex; a walk is whole numbers with blanks between\n"},
        {"verify gone.txt --graph g.txt", "csaw: walks gone.txt: No such file or directory\n"},
    };
    for (const auto &each : cases) {
        Outcome got = run(each.words);
        EXPECT_EQ(got.code, 1) << each.words;
        EXPECT_EQ(got.out, "") << each.words;
        EXPECT_EQ(got.err, each.message) << each.words;
    }
    for (const char *words : {"walk gone.txt", "info gone.txt", "walk words.txt --keep-gaps", "walk g.txt --device gpu",
                              "walk g.txt --select alias", "walk g.txt --sampler gone.c", "plan gone.txt"}) {
        Outcome got = run(std::string(words) + " -o w.txt");
        if (!strncmp(words, "walk", 4)) {
            EXPECT_EQ(got.code, 1) << words;
            EXPECT_FALSE(exists("w.txt")) << words;
        }
        got = run(words);
        EXPECT_EQ(got.code, 1) << words;
        EXPECT_EQ(got.out, "") << words;
        EXPECT_EQ(got.err.rfind("csaw: ", 0), 0u) << got.err;
    }
}

TEST_F(Cli, full_disk_is_exit_1) {
    write("g.txt", "0 1\n");
    for (const char *words : {"walk g.txt --undirected", "info g.txt", "plan g.txt", "help"}) {
        Outcome got = run(words, "", ">/dev/full");
        EXPECT_EQ(got.code, 1) << words;
        EXPECT_NE(got.err.find("No space left on device"), std::string::npos) << got.err;
    }
    Outcome got = run("walk g.txt --undirected -o /dev/full");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("No space left on device"), std::string::npos) << got.err;
}

/* ---- walks ---- */

TEST_F(Cli, forced_walks_as_text) {
    write("path.txt", "0 1\n");
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    Outcome got = run("walk path.txt --undirected --walk-length 3 --num-walks 2");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n");
    EXPECT_EQ(got.err.rfind("graph   path.txt: 2 vertices, 2 arcs, undirected, without weights\n"
                            "walks   4 of 3 steps by node2vec (p = 1, q = 1), seed 0, on cpu\nsteps   12 in ",
                            0),
              0u)
        << got.err;
    for (const char *algo : {"node2vec --p 9 --q 0.1", "uniform", "deepwalk", "node2vec --param p=3 --param q=2"}) {
        got = run(std::string("walk cycle.txt --walk-length 4 --num-walks 1 --algo ") + algo);
        EXPECT_EQ(got.code, 0);
        EXPECT_EQ(got.out, "0 1 2 0 1\n1 2 0 1 2\n2 0 1 2 0\n") << algo;
    }
}

TEST_F(Cli, forced_walks_as_npy) {
    write("path.txt", "0 1\n");
    Outcome got = run("walk path.txt --walk-length 2 --num-walks 1 -o w.npy");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "");
    std::string file = read("w.npy");
    const uint32_t expected[6] = {0, 1, CSAW_NONE, 1, CSAW_NONE, CSAW_NONE};
    ASSERT_GE(file.size(), 10u + sizeof expected);
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    size_t header = (unsigned char)file[8] + 256u * (unsigned char)file[9];
    ASSERT_EQ(file.size(), 10 + header + sizeof expected);
    EXPECT_EQ((10 + header) % 64, 0u); /* the format's alignment */
    std::string dictionary = file.substr(10, header);
    EXPECT_NE(dictionary.find("'descr': '<u4'"), std::string::npos);
    EXPECT_NE(dictionary.find("'fortran_order': False"), std::string::npos);
    EXPECT_NE(dictionary.find("'shape': (2, 3)"), std::string::npos);
    EXPECT_EQ(0, memcmp(file.data() + 10 + header, expected, sizeof expected));
    EXPECT_EQ(run("verify w.npy --graph path.txt --algo uniform").code, 0);
}

TEST_F(Cli, dead_ends_are_told_with_the_remedy) {
    write("path.txt", "0 1\n");
    Outcome got = run("walk path.txt --walk-length 2 --num-walks 1");
    EXPECT_EQ(got.out, "0 1\n1\n");
    EXPECT_NE(got.err.find("\nended   2 walks (100.0%) ended early, at a vertex without a way on\n"
                           "hint    the graph was read as directed; if its edges go both ways, add --undirected\n"),
              std::string::npos)
        << got.err;
    got = run("walk path.txt --undirected");
    EXPECT_EQ(got.err.find("ended"), std::string::npos) << got.err;
    EXPECT_EQ(got.err.find("hint"), std::string::npos) << got.err;
}

TEST_F(Cli, seeds_are_walked_in_their_order) {
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    write("seeds.txt", "% start here\n2 0\n2\n");
    Outcome got = run("walk cycle.txt --seeds seeds.txt --walk-length 1 --num-walks 2");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "2 0\n0 1\n2 0\n2 0\n0 1\n2 0\n");
}

TEST_F(Cli, seeds_in_quotes) {
    /* a ring of names that an edge list holds in quotes alone */
    const std::string names[] = {R"("a,b")", R"("c d")", R"("#e")", R"("q""r")", R"("""s""")", "plain"};
    std::string ring;
    for (int i = 0; i < 6; i++) ring += names[i] + " " + names[(i + 1) % 6] + "\n";
    write("ring.txt", ring);
    ASSERT_EQ(run("convert ring.txt ring.csaw --names names.txt").code, 0);
    std::istringstream lines(read("names.txt"));
    std::vector<std::string> called;
    for (std::string line; std::getline(lines, line);) called.push_back(line);
    ASSERT_EQ(called.size(), 6u);
    const std::string expected[] = {"a,b", "c d", "#e", "q\"r", "\"s\"", "plain"};
    for (const char *between : {"\n", " ", ",", " , ", "\t", "\r\n"}) {
        std::string seeds;
        for (const std::string &name : names) seeds += name + between;
        write("seeds.txt", seeds);
        Outcome got = run("walk ring.txt --seeds seeds.txt --walk-length 1 --num-walks 1 -o w.bin");
        ASSERT_EQ(got.code, 0) << got.err;
        got = run("walk ring.csaw --seeds seeds.txt --walk-length 1 --num-walks 1 -o w.npy");
        ASSERT_EQ(got.code, 0) << got.err;
        const std::string file = read("w.npy");
        const size_t header = 10 + (unsigned char)file[8] + 256u * (unsigned char)file[9];
        ASSERT_EQ(file.size(), header + 6 * 2 * sizeof(uint32_t));
        for (size_t i = 0; i < 6; i++) {
            uint32_t walk[2];
            memcpy(walk, file.data() + header + i * sizeof walk, sizeof walk);
            EXPECT_EQ(called.at(walk[0]), expected[i]);
            EXPECT_EQ(called.at(walk[1]), expected[(i + 1) % 6]);
        }
    }
    for (const char *text : {"plain\n\"c d\n", "\n\"c d\"e\n", "\n\"", "\n\"q\"r\"\n"}) {
        SCOPED_TRACE(text);
        write("seeds.txt", text);
        Outcome got = run("walk ring.txt --seeds seeds.txt -o w.npy");
        EXPECT_EQ(got.code, 1);
        EXPECT_EQ(got.err,
                  "csaw: seeds.txt line 2: a vertex begins with a quote that does not end it; close the quote in "
                  "the same line, and double quotes inside\n");
    }
    write("cycle.txt", "0 1\n1 2\n2 0\n");
    write("seeds.txt", "\"2\",0\n");
    EXPECT_EQ(run("walk cycle.txt --seeds seeds.txt --walk-length 1 --num-walks 1").out, "2 0\n0 1\n");
}

TEST_F(Cli, byte_order_marks_are_skipped) {
    const std::string mark = "\xef\xbb\xbf";
    write("cycle.txt", mark + "0 1\n1 2\n2 0\n");
    for (const char *text : {"2 0\n", "# first\n2\n0\n", "\n2\n0"}) {
        SCOPED_TRACE(text);
        write("seeds.txt", mark + text);
        Outcome got = run("walk cycle.txt --seeds seeds.txt --walk-length 1 --num-walks 1");
        EXPECT_EQ(got.code, 0) << got.err;
        EXPECT_EQ(got.out, "2 0\n0 1\n");
        EXPECT_EQ(run(std::string("generate configuration --degrees seeds.txt -o g.txt")).code, 0) << read(".err");
    }
    write("w.txt", mark + "2 0 1\n0 1\n");
    Outcome got = run("verify w.txt --graph cycle.txt");
    EXPECT_EQ(got.code, 0) << got.out << got.err;
    write("named.txt", "a b\nb a\n");
    write("w.txt", mark + "a b a\n");
    got = run("verify w.txt --graph named.txt");
    EXPECT_EQ(got.code, 0) << got.out << got.err;
    /* the first line alone has one; a file of nothing else is empty */
    write("seeds.txt", "0\n" + mark + "2\n");
    EXPECT_EQ(run("walk cycle.txt --seeds seeds.txt").code, 1);
    write("seeds.txt", mark);
    EXPECT_EQ(run("walk cycle.txt --seeds seeds.txt").err,
              "csaw: seeds file seeds.txt holds no vertex; give at least one\n");
}

TEST_F(Cli, json_is_one_object) {
    write("path \"x\".txt", "0 1\n");
    Outcome got = run("walk 'path \"x\".txt' --undirected --walk-length 3 --num-walks 1 --json --seed 9 -o w.txt");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.err, "");
    std::string masked =
        std::regex_replace(got.out, std::regex("\"(seconds|load|plan|walk|deliver|write)\": [0-9.]+"), "\"$1\": S");
    EXPECT_EQ(masked,
              std::string("{\"csaw\": \"") + csaw_version() +
                  "\", \"schema\": 1, \"command\": \"walk\", \"graph\": \"path \\\"x\\\".txt\", \"vertices\": 2, "
                  "\"arcs\": 2, \"undirected\": true, \"weighted\": false, \"sampler\": \"node2vec\", "
                  "\"parameters\": {\"p\": 1, \"q\": 1}, \"select\": \"auto\", \"device\": \"cpu\", \"seed\": 9, "
                  "\"walk_length\": 3, \"walks\": 2, \"steps\": 6, \"ended_early\": 0, \"seconds\": S, "
                  "\"phases\": {\"load\": S, \"plan\": S, \"walk\": S, \"deliver\": S, \"write\": S}, "
                  "\"ranks\": 1, \"resumed\": 0, \"edges\": false, \"output\": \"w.txt\", \"output_bytes\": 16}\n");
    EXPECT_EQ(read("w.txt"), "0 1 0 1\n1 0 1 0\n");
}

TEST_F(Cli, equal_bytes_on_every_plan) {
    for (const char *algo : {" --algo node2vec --p 4 --q 0.5", " --algo uniform", " --select its --p 0.25"}) {
        std::string words = "walk " + lesmis + algo + " --seed 7 --num-walks 3";
        Outcome whole = run(words + " --threads 1");
        ASSERT_EQ(whole.code, 0) << whole.err;
        ASSERT_EQ(std::count(whole.out.begin(), whole.out.end(), '\n'), 3 * 77);
        EXPECT_EQ(run(words + " --threads 2").out, whole.out) << algo;
        EXPECT_EQ(run(words + " --partitions 3").out, whole.out) << algo;
        EXPECT_EQ(run(words + " --check").out, whole.out) << algo;
        EXPECT_NE(run(words + " --seed 8").out, whole.out) << algo;
    }
}

TEST_F(Cli, a_sampler_file_equals_the_built_in_one) {
    std::string words = "walk " + lesmis + " --p 4 --q 0.5 --seed 3 --num-walks 2";
    Outcome built_in = run(words + " --algo node2vec");
    Outcome compiled = run(words + " --sampler '" CSAW_SOURCE_DIR "/examples/my_node2vec.c'");
    EXPECT_EQ(built_in.code, 0);
    EXPECT_EQ(compiled.code, 0) << compiled.err;
    EXPECT_EQ(compiled.out, built_in.out);
    EXPECT_NE(compiled.err.find("by my_node2vec (p = 4, q = 0.5), seed 3"), std::string::npos) << compiled.err;
    Outcome unknown = run("walk " + lesmis + " --r 4 --sampler '" CSAW_SOURCE_DIR "/examples/my_node2vec.c'");
    EXPECT_EQ(unknown.code, 2);
    EXPECT_EQ(unknown.err, "csaw walk: there is no option --r\nSee: csaw help walk\n");
}

TEST_F(Cli, compressed_input_is_the_same_graph) {
    std::string text = read_all(CSAW_SOURCE_DIR "/data/karate.txt");
    gzFile file = gzopen((folder / "karate.gz").c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, text.data(), (unsigned)text.size()), (int)text.size());
    ASSERT_EQ(gzclose(file), Z_OK);
    Outcome plain = run("walk " + karate + " --seed 1"), compressed = run("walk karate.gz --undirected --seed 1");
    EXPECT_EQ(compressed.code, 0) << compressed.err;
    EXPECT_FALSE(plain.out.empty());
    EXPECT_EQ(compressed.out, plain.out);
}

/* ---- info, plan, generate ---- */

TEST_F(Cli, info_of_a_small_graph) {
    write("g.txt", "# a graph\n0 1 2\n1 0 0.5\n1 1 3\n1 3 1\n3 0 1\n");
    Outcome got = run("info g.txt --keep-loops --keep-gaps");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.err, "");
    got.out = std::regex_replace(got.out, std::regex("[0-9a-f]{16}"), "SUM");
    EXPECT_EQ(got.out, "graph       g.txt\n"
                       "vertices    4\n"
                       "arcs        5\n"
                       "symmetric   no: some arcs go one way only; --undirected would add the other\n"
                       "weights     from 0.5 to 3\n"
                       "names       none: vertices are called by their numbers\n"
                       "out-degree  least 0, median 1, mean 1.25, most 3\n"
                       "quantiles   25% of out-degrees are at most 0, 75% 1, 99% 1\n"
                       "dead ends   1 vertices without arcs out, 1 of them without arcs in\n"
                       "loops       1\n"
                       "parallel    0 arcs repeat another\n"
                       "memory      80 bytes\n" /* 5 * 8 + 5 * 4 + 5 * 4 */
                       "checksum    SUM\n");
    got = run("info g.txt --columns src,dst --undirected --keep-duplicates --keep-gaps --json");
    got.out = std::regex_replace(got.out, std::regex("[0-9a-f]{16}"), "SUM");
    EXPECT_EQ(got.out,
              std::string("{\"csaw\": \"") + csaw_version() +
                  "\", \"schema\": 1, \"command\": \"info\", \"graph\": \"g.txt\", \"vertices\": 4, \"arcs\": 8, "
                  "\"symmetric\": true, \"weighted\": false, \"typed\": false, \"timed\": false, \"names\": \"none\", "
                  "\"degree_least\": 0, \"degree_25\": 0, \"degree_median\": 2, \"degree_75\": 3, \"degree_99\": 3, "
                  "\"degree_mean\": 2, \"degree_most\": 3, \"dead_ends\": 1, \"isolated\": 1, \"loops\": 0, "
                  "\"parallel\": 2, \"bytes\": 72, \"checksum\": \"SUM\", \"verified\": false}\n");
}

TEST_F(Cli, shipped_graphs_are_whole) {
    Outcome got = run("info " + karate); /* Zachary 1977: 34 members, 78 ties, degrees up to 17 */
    EXPECT_NE(got.out.find("vertices    34\narcs        156\nsymmetric   yes"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("least 1, median 3, mean 4.588, most 17\n"), std::string::npos) << got.out;
    got = run("info " + lesmis); /* Knuth 1993: 77 characters, 254 pairs; Valjean meets 36, Cosette 31 times */
    EXPECT_NE(got.out.find("vertices    77\narcs        508\nsymmetric   yes"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("weights     from 1 to 31\n"), std::string::npos) << got.out;
    EXPECT_NE(got.out.find("most 36\n"), std::string::npos) << got.out;
}

TEST_F(Cli, plan_tells_the_numbers) {
    Outcome got = run("plan " + karate + " --partitions 3");
    EXPECT_EQ(got.code, 0);
    EXPECT_NE(got.out.find("34 vertices, 156 arcs"), std::string::npos) << got.out;
    EXPECT_EQ(got.out.back(), '\n');
    Outcome json = run("plan " + karate + " --json");
    EXPECT_EQ(
        json.out.rfind(std::string("{\"csaw\": \"") + csaw_version() + "\", \"schema\": 1, \"command\": \"plan\"", 0),
        0u);
    EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 1);
}

TEST_F(Cli, generated_graphs_read_back) {
    Outcome got = run("generate rmat --scale 8 --edge-factor 4 --seed 5 --weighted -o g.txt");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "");
    EXPECT_EQ(run("generate rmat --scale 8 --edge-factor 4 --seed 5 --weighted -o g.gz").code, 0);
    EXPECT_EQ(read("g.gz").substr(0, 2), "\x1f\x8b");
    std::string plain = run("info g.txt").out, compressed = run("info g.gz").out;
    EXPECT_NE(plain.find("symmetric   yes"), std::string::npos) << plain;
    EXPECT_EQ(compressed.substr(compressed.find("vertices")), plain.substr(plain.find("vertices")));
    EXPECT_EQ(run("walk g.txt --seed 1").out, run("walk g.gz --seed 1").out);
    EXPECT_EQ(run("generate rmat --scale 8 --edge-factor 4 --seed 6 --weighted -o other.txt").code, 0);
    EXPECT_NE(read("other.txt"), read("g.txt"));
}

TEST_F(Cli, generate_refuses_options_of_another_model) {
    write("d.txt", "2 2 2\n");
    const struct {
        const char *model, *needs, *takes;
    } models[] = {{"rmat", "--scale 3", "--scale, --edge-factor, --directed, --keep-isolated"},
                  {"erdos-renyi", "--vertices 9 --edges 4", "--vertices, --edges, --directed"},
                  {"configuration", "--degrees d.txt", "--degrees"}};
    const struct {
        const char *name, *value, *owners;
    } options[] = {{"scale", " 3", "rmat's"},
                   {"edge-factor", " 16", "rmat's"},
                   {"vertices", " 9", "erdos-renyi's"},
                   {"edges", " 4", "erdos-renyi's"},
                   {"degrees", " d.txt", "configuration's"},
                   {"directed", "", "rmat's and erdos-renyi's"},
                   {"keep-isolated", "", "rmat's"}};
    for (const auto &model : models) {
        const std::string words = std::string("generate ") + model.model + " " + model.needs + " -o g.txt";
        EXPECT_EQ(run(words + " --seed 1 --weighted").code, 0) << words;
        for (const auto &option : options) {
            SCOPED_TRACE(words + " --" + option.name);
            const bool own = std::string(option.owners).find(std::string(model.model) + "'s") != std::string::npos;
            std::filesystem::remove(folder / "g.txt");
            Outcome got = run(words + " --" + option.name + option.value);
            EXPECT_EQ(got.code, own ? 0 : 2);
            EXPECT_EQ(exists("g.txt"), own);
            if (!own) {
                EXPECT_EQ(got.err, std::string("csaw generate: --") + option.name + " is " + option.owners + "; " +
                                       model.model + " takes " + model.takes +
                                       ", besides --seed and --weighted\nSee: csaw help generate\n");
            }
        }
    }
}

/* ---- verify ---- */

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

/* ---- picture ---- */

TEST_F(Cli, picture_shows_the_walks) {
    write("cycle <&>.txt", "0 1\n1 2\n2 0\n");
    Outcome got = run("walk 'cycle <&>.txt' --walk-length 3 --num-walks 1 --draw a.svg");
    EXPECT_EQ(got.code, 0) << got.err;
    std::string picture = read("a.svg");
    EXPECT_EQ(picture.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0u);
    EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
    for (const char *text : {"walk 0: 0 1 2 0<", "walk 1: 1 2 0 1<", "walk 2: 2 0 1 2<",
                             "node2vec walks on cycle &#60;&#38;&#62;.txt<", "3 of 3 vertices shown"})
        EXPECT_NE(picture.find(text), std::string::npos) << text;
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    EXPECT_EQ(run("walk 'cycle <&>.txt' --walk-length 3 --num-walks 1 --threads 1 --draw b.svg").code, 0);
    EXPECT_EQ(read("b.svg"), picture);
}

TEST_F(Cli, picture_of_a_large_graph_is_small) {
    ASSERT_EQ(run("generate rmat --scale 11 -o g.txt").code, 0);
    ASSERT_EQ(run("walk g.txt --draw a.svg -o w.txt").code, 0);
    std::string picture = read("a.svg");
    EXPECT_LT(picture.size(), 200000u);
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    std::string first = read("w.txt").substr(0, read("w.txt").find('\n'));
    size_t end = 0; /* the first 13 vertices of the first walk */
    for (int i = 0; i < 13; i++) end = first.find(' ', end + 1);
    EXPECT_NE(picture.find("walk 0: " + first.substr(0, end) + " ..."), std::string::npos);
}

} // namespace
