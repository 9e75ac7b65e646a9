/* SPDX-License-Identifier: MIT */
/* tests/cli_convert_test.cc - csaw convert, and what csaw info says of what it made. Expectations are worked out by
 * hand from graphs of a few arcs. */
#include <csaw/csaw.h>
#include <zlib.h>

#include <cstring>

#include "cli_run.h"

namespace {

/* a hub z, its neighbours a, b, c and the arc a -> b: out-degrees a 2, b 1, c 1, z 3 */
const std::string star = "z a\nz b\nz c\na z\nb z\nc z\na b\n";

std::string arcs_of(const std::string &text) { /* without the heading */
    return text.substr(text.find('\n') + 1);
}

TEST_F(Cli, convert_makes_a_file_that_holds_the_same) {
    write("g.txt", star);
    Outcome got = run("convert g.txt g.csaw");
    EXPECT_EQ(got.code, 0);
    EXPECT_EQ(got.out, "");
    EXPECT_EQ(got.err, "wrote   g.csaw: 4 vertices, 7 arcs, names\n");
    EXPECT_EQ(read("g.csaw").substr(0, 5), "\x89"
                                           "CSAW");
    EXPECT_EQ(run("convert g.csaw back.txt").code, 0);
    EXPECT_EQ(arcs_of(read("back.txt")), "a b\na z\nb z\nc z\nz a\nz b\nz c\n");
    /* equal graphs, equal checksums and facts, whatever the file */
    std::string text = run("info g.txt").out, binary = run("info g.csaw").out;
    EXPECT_EQ(text.substr(text.find("vertices")), binary.substr(binary.find("vertices")));
    EXPECT_EQ(run("walk g.csaw --seed 3").out, run("walk g.txt --seed 3").out);
}

TEST_F(Cli, convert_by_degree_keeps_names) {
    write("g.txt", star);
    Outcome got = run("convert g.txt g.csaw --order degree --names names.txt");
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(read("names.txt"), "z\na\nb\nc\n");
    EXPECT_EQ(run("convert g.csaw back.txt").code, 0);
    EXPECT_EQ(arcs_of(read("back.txt")), "z a\nz b\nz c\na z\na b\nb z\nc z\n");
    EXPECT_EQ(run("info g.csaw --verify").code, 0);
    /* vertices without names get their old numbers */
    write("n.txt", "0 1\n2 0\n2 1\n1 0\n2 3\n");
    EXPECT_EQ(run("convert n.txt n.csaw --order degree --names -").out, "2\n0\n1\n3\n");
    EXPECT_EQ(run("convert n.txt n.csaw --names -").out, "0\n1\n2\n3\n");
}

TEST_F(Cli, convert_transposes_and_keeps_columns) {
    write("g.txt", "5 7 2.5 1 100\n5 9 1 0 -3\n");
    Outcome got = run("convert g.txt g.csaw --columns src,dst,weight,type,time --transpose");
    EXPECT_EQ(got.err, "wrote   g.csaw: 3 vertices, 2 arcs, weights, types, times, names\n");
    EXPECT_EQ(run("convert g.csaw back.txt").code, 0);
    EXPECT_EQ(run("convert back.txt again.csaw").code, 0); /* the heading tells the columns */
    EXPECT_EQ(read("again.csaw"), read("g.csaw"));
    EXPECT_EQ(read("back.txt"), "# csaw graph: columns src,dst,weight,type,time\n"
                                "7 5 2.5 1 100\n9 5 1 0 -3\n");
    got = run("info g.csaw");
    for (const char *line : {"weights     from 1 to 2.5\n", "types       from 0 to 1\n", "times       from -3 to 100\n",
                             "names       numbers, vertex 0 is called 5\n", "symmetric   no",
                             "dead ends   1 vertices without arcs out, 0 "})
        EXPECT_NE(got.out.find(line), std::string::npos) << line << got.out;
    got = run("info g.csaw --json");
    for (const char *part : {"\"weighted\": true, \"weight_least\": 1, \"weight_most\": 2.5, \"typed\": true, "
                             "\"type_least\": 0, \"type_most\": 1, \"timed\": true, \"time_least\": -3, "
                             "\"time_most\": 100, \"names\": \"numbers\""})
        EXPECT_NE(got.out.find(part), std::string::npos) << got.out;
}

TEST_F(Cli, info_verify_finds_damage) {
    write("g.txt", star);
    ASSERT_EQ(run("convert g.txt g.csaw").code, 0);
    Outcome got = run("info g.csaw --verify");
    EXPECT_EQ(got.code, 0);
    EXPECT_NE(got.out.find("verified    every checksum of the file is right\n"), std::string::npos) << got.out;
    std::string bytes = read("g.csaw");
    bytes[2 * 4096] ^= 1; /* of the arcs */
    write("g.csaw", bytes);
    got = run("info g.csaw --verify");
    EXPECT_EQ(got.code, 3);
    EXPECT_EQ(got.out, "");
    EXPECT_EQ(got.err.rfind("csaw: g.csaw: damaged between bytes 8192 and 8220: ", 0), 0u) << got.err;
    write("g.csaw", bytes.substr(0, 5000));
    got = run("info g.csaw");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("cut short"), std::string::npos) << got.err;
    EXPECT_EQ(run("info g.txt --verify").code, 3);
}

TEST_F(Cli, convert_refuses_what_it_cannot_do) {
    write("g.txt", star);
    const struct {
        const char *words;
        int code;
        const char *message;
    } cases[] = {
        {"convert", 2, "csaw convert: IN is missing: the line is csaw convert IN OUT\nSee: csaw help convert\n"},
        {"convert g.txt", 2, "csaw convert: OUT is missing: the line is csaw convert IN OUT\nSee: csaw help convert\n"},
        {"convert g.txt out.npz", 2,
         "csaw convert: out.npz: csaw reads .npz files but does not write them; give OUT.csaw, OUT.txt or OUT.txt.gz\n"
         "See: csaw help convert\n"},
        {"convert g.txt out.npz.gz", 2,
         "csaw convert: out.npz.gz: csaw reads .npz.gz files but does not write them; give OUT.csaw, OUT.txt or "
         "OUT.txt.gz\nSee: csaw help convert\n"},
        {"convert g.txt out.csaw.gz", 2,
         "csaw convert: out.csaw.gz: csaw files are not compressed; leave .gz off the name\nSee: csaw help convert\n"},
        {"convert g.txt out.csaw --order size", 2,
         "csaw convert: --order size: give degree, or leave it out to keep the order\nSee: csaw help convert\n"},
        {"convert g.txt out.txt --order degree", 2,
         "csaw convert: --order is about vertex numbers, and an edge list keeps names alone; give OUT.csaw\n"
         "See: csaw help convert\n"},
        {"convert g.txt out.txt --names n.txt", 2,
         "csaw convert: --names is about vertex numbers, and an edge list keeps names alone; give OUT.csaw\n"
         "See: csaw help convert\n"},
        {"convert gone.txt out.csaw", 1, nullptr},
        {"convert g.txt nowhere/out.csaw", 1, nullptr},
        {"convert g.txt out.csaw --names nowhere/names.txt", 1, nullptr},
    };
    for (const auto &test : cases) {
        SCOPED_TRACE(test.words);
        Outcome got = run(test.words);
        EXPECT_EQ(got.code, test.code);
        EXPECT_EQ(got.out, "");
        EXPECT_FALSE(got.err.empty());
        if (test.message) {
            EXPECT_EQ(got.err, test.message);
        }
    }
    ASSERT_EQ(run("convert g.txt g.csaw").code, 0);
    for (const char *link : {"same.txt", "same.svg"}) std::filesystem::create_symlink("g.txt", folder / link);
    for (const char *words : {"walk g.txt -o ./g.txt", "walk same.txt -o g.txt", "convert g.txt out.csaw --names g.txt",
                              "walk g.txt -o same.txt", "walk g.txt -o walks.txt --draw same.svg",
                              "sample g.txt --fanout 2 -o g.txt", "subgraph g.txt --fanout 2 -o g.txt"}) {
        SCOPED_TRACE(words);
        EXPECT_EQ(run(words).code, 2);
        EXPECT_EQ(read("g.txt"), star);
    }
    EXPECT_EQ(run("walk g.txt -o same.txt").err,
              "csaw walk: --output same.txt: that is the graph that is read, and would be lost; give another name\n"
              "See: csaw help walk\n");
    Outcome got = run("info g.csaw --undirected");
    EXPECT_EQ(got.code, 1);
    EXPECT_EQ(got.err, "csaw: g.csaw: option undirected counts when a .csaw file is made; drop it here, and give it to "
                       "csaw convert\n");
}

TEST_F(Cli, compressed_csaw_files_are_told) {
    write("g.txt", star);
    ASSERT_EQ(run("convert g.txt g.csaw").code, 0);
    const std::string bytes = read("g.csaw");
    gzFile file = gzopen((folder / "g.csaw.gz").c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, bytes.data(), (unsigned)bytes.size()), (int)bytes.size());
    ASSERT_EQ(gzclose(file), Z_OK);
    std::filesystem::copy(folder / "g.csaw.gz", folder / "packed");
    const std::string told =
        ": holds a .csaw file, compressed or through a pipe, and that is read as it is; uncompress "
        "it first (gunzip, or xz -d), into a file\n";
    for (const char *words : {"info g.csaw.gz", "walk g.csaw.gz", "info packed", "info packed --format csaw"}) {
        SCOPED_TRACE(words);
        const std::string name = strstr(words, "packed") ? "packed" : "g.csaw.gz";
        Outcome got = run(words);
        EXPECT_EQ(got.code, 1);
        EXPECT_EQ(got.err, "csaw: " + name + told);
    }

    EXPECT_EQ(run("info g.csaw --format text").err,
              "csaw: g.csaw: is a .csaw file, not of format \"text\"; leave out the format\n");
}

TEST_F(Cli, outputs_over_what_is_read_or_written_are_refused) {
    const struct {
        const char *line, *kept, *message;
    } tests[] = {
        {"convert g.txt o.csaw --names o.csaw", NULL, "convert: --names o.csaw: that is the graph that is written"},
        {"walk w.part -o w", "w.part", "walk: --output w: w.part is the graph that is read"},
        {"walk w.resume -o w", "w.resume", "walk: --output w: w.resume is the graph that is read"},
        {"walk g.txt --seeds names -o names", "names", "walk: --output names: that is the file of --seeds"},
        {"walk g.txt --sampler my.c -o ./my.c", "my.c", "walk: --output ./my.c: that is the file of --sampler"},
        {"walk g.txt -o p.svg --draw p.svg", NULL, "walk: --draw p.svg: that is the file of --output"},
        {"sample g.txt --fanout 2 --seeds names -o names", "names",
         "sample: --output names: that is the file of --seeds"},
        {"generate configuration --degrees d -o d", "d", "generate: --output d: that is the file of --degrees"},
    };
    write("g.txt", star);
    for (const char *file : {"w.part", "w.resume"}) write(file, star);
    write("names", "a\nb\n");
    write("my.c", "#include <csaw/sampler.h>\nCSAW_SAMPLER(my_own, csaw_no_params);\n");
    write("d", "1 1\n");
    for (const auto &test : tests) {
        SCOPED_TRACE(test.line);
        const std::string before = test.kept ? read(test.kept) : "";
        const Outcome got = run(test.line);
        EXPECT_EQ(got.code, 2);
        EXPECT_EQ(got.err.find(std::string("csaw ") + test.message + ", and would be lost; give another name\n"), 0u)
            << got.err;
        if (test.kept) {
            EXPECT_EQ(read(test.kept), before);
        }
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "o.csaw"));
    EXPECT_FALSE(std::filesystem::exists(folder / "p.svg"));
    EXPECT_EQ(run("walk g.txt --seeds names -o walks.txt --draw p.svg").code, 0);
}

TEST_F(Cli, convert_over_its_own_input) {
    write("g.txt", star);
    ASSERT_EQ(run("convert g.txt g.csaw").code, 0);
    ASSERT_EQ(run("convert g.csaw g.csaw --transpose").code, 0);
    ASSERT_EQ(run("info g.csaw --verify").code, 0);
    ASSERT_EQ(run("convert g.csaw back.txt").code, 0);
    EXPECT_EQ(arcs_of(read("back.txt")), "a z\nb a\nb z\nc z\nz a\nz b\nz c\n");
}

TEST_F(Cli, convert_says_that_the_disk_is_full) {
    write("g.txt", star);
    if (system("test -w /dev/full") != 0) GTEST_SKIP() << "no /dev/full here";
    std::filesystem::create_symlink("/dev/full", folder / "full.csaw");
    Outcome got = run("convert g.txt full.csaw");
    EXPECT_EQ(got.code, 1);
    EXPECT_NE(got.err.find("No space left"), std::string::npos) << got.err;
}

} // namespace
