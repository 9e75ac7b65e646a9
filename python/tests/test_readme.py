# SPDX-License-Identifier: MIT
"""README.md's blocks as they stand: the three uses of its first screen, in C, shell and Python, and the program in C.
What each says it does is measured; one change to its text makes it wrong, and the same check rejects it."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import csaw
from csaw._lib import lib
from csaw.__main__ import program

from conftest import ROOT

README = (ROOT / "README.md").read_text()
SCREEN = README[:README.index("## Two commands")]


def blocks(text):
    """[(language, block)]"""
    return re.findall(r"```(\w+)\n(.*?)```", text, re.S)


def the(language):
    block, = [block for name, block in blocks(SCREEN) if name == language]
    return block


def changed(block, old, new):
    assert block.count(old) == 1, f"{block}\nholds {old!r} {block.count(old)} times"
    return block.replace(old, new)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a newcomer stands: data is there, and csaw on the PATH."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(program()).parent), os.environ["PATH"]]))
    return tmp_path


def verify(file, *sampler):
    options = ["--graph", "data/karate.txt", "--undirected", "--algo", *sampler]
    done = subprocess.run(["csaw", "verify", file, *options], capture_output=True, text=True)
    return done.returncode == 0 and "340 walks, 27,200 steps" in done.stdout


def walks_are_right(c_block, sh_block):
    """my_walk.c and the walks of the shell block: every command ends well, and every file has the law it is said to
    have."""
    Path("my_walk.c").write_text(c_block)
    if subprocess.run(["sh", "-eu", "-c", sh_block], capture_output=True).returncode:
        return False
    same = csaw.node2vec_walk(csaw.Graph.load("data/karate.txt", undirected=True), 4, 1, walks_per_seed=10, seed=7)
    lines = [line.split() for line in Path("node2vec.txt").read_text().splitlines()]
    return (lines == same.astype(str).tolist() and verify("deepwalk.txt", "uniform")
            and all(verify(file, "node2vec", "--p", "4", "--q", "1") for file in ("node2vec.txt", "mine.txt")))


def test_the_first_screen_is_three_uses_of_ten_lines():
    assert [name for name, _ in blocks(SCREEN)] == ["c", "sh", "python"]
    for _, block in blocks(SCREEN):
        assert len([line for line in block.split("\n") if line.strip()]) <= 10


def test_a_sampler_and_walks(folder):
    assert walks_are_right(the("c"), the("sh"))


@pytest.mark.parametrize("old, new", [("node2vec --p 4 --q 1 --seed", "node2vec --p 1 --q 4 --seed"),
                                      ("--algo deepwalk", "--algo biased_by_degree"),
                                      ("--num-walks 10", "--num-walks 9"), ("-o mine.txt", "-o ours.txt"),
                                      ("--undirected ", "")])
def test_wrong_commands_are_rejected(folder, old, new):
    assert not walks_are_right(the("c"), changed(the("sh"), old, new))


@pytest.mark.parametrize("old, new", [("return 1 / n->p;", "return n->p;"), ("CSAW_SAMPLER(", "CSAW_WALK(")])
def test_a_wrong_sampler_is_rejected(folder, old, new):
    assert not walks_are_right(changed(the("c"), old, new), the("sh"))


def accuracy(block):
    """What the weights that the block trained say of the whole graph: is a vertex' degree above 4?"""
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    graph = csaw.Graph.load("data/karate.txt", undirected=True)
    sums = np.zeros((34, 34))
    np.add.at(sums, tuple(graph.edge_index()), 1)
    return ((sums @ names["w"] > 0) == (graph.degree > 4)).mean()


def test_training_learns(folder):
    assert accuracy(the("python")) > 0.95


@pytest.mark.parametrize("old, new", [("sender, receiver =", "receiver, sender ="), ("w += h", "w -= h"),
                                      ("graph.degree > 4", "graph.degree > 2"),
                                      ("epoch in range(30)", "epoch in range(0)")])
def test_wrong_training_is_rejected(folder, old, new):
    assert accuracy(changed(the("python"), old, new)) < 0.9


@pytest.fixture
def compiler():
    found = os.environ.get("CSAW_C_COMPILER") or shutil.which("cc")
    if not found:
        pytest.skip("no C compiler: CSAW_C_COMPILER names none, and cc is not there")
    return found


def walks_of_program(compiler, block):
    """The block within main(), compiled against the library; its walks as text, or None where it does not compile or
    fails."""
    include, body = block.split("\n\n", 1)
    text = f"""{include}
#include <stdio.h>
int main(void) {{
{body}
    csaw_walks walks;
    if (csaw_samples_walks(samples, CSAW_HOST, &walks)) return 1;
    for (uint64_t w = 0; w < walks.num_walks; w++)
        for (uint64_t s = 0; s <= walks.length; s++)
            printf("%u%c", walks.path[w * walks.path_walk_stride + s], s < walks.length ? ' ' : '\\n');
    csaw_samples_free(samples);
    csaw_plan_free(plan);
    csaw_graph_free(graph);
    return 0;
}}
"""
    Path("program.c").write_text(text)
    command = [compiler, "-std=c11", "-Wall", "-Werror", f"-I{ROOT / 'include'}", "program.c", "-o", "program",
               lib._name, f"-Wl,-rpath,{Path(lib._name).parent}"]
    if subprocess.run(command, capture_output=True).returncode:
        return None
    done = subprocess.run(["./program"], capture_output=True, text=True)
    return None if done.returncode else np.array([line.split() for line in done.stdout.splitlines()], np.uint32)


def test_the_program_in_c(folder, compiler, karate):
    block, = [block for name, block in blocks(README[len(SCREEN):]) if name == "c"]
    want = csaw.node2vec_walk(karate, 4, 1, walks_per_seed=10, seed=7)
    np.testing.assert_array_equal(walks_of_program(compiler, block), want)
    assert not np.array_equal(walks_of_program(compiler, changed(block, ".q = 1", ".q = 2")), want)
    assert walks_of_program(compiler, changed(block, "CSAW_RUN", "CSAW_WALK")) is None
