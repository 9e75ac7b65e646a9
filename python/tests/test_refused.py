# SPDX-License-Identifier: MIT
"""What is wrong is refused: one class of error, with the status and a message that names the fault."""
import pickle

import numpy as np
import pytest

import csaw
from csaw import datasets

EDGES = np.array([[0, 1], [1, 0]])


def refused(status, words, call):
    with pytest.raises(csaw.CsawError) as caught:
        call()
    assert caught.value.status_name == status
    assert words in caught.value.message and status in str(caught.value)


@pytest.mark.parametrize("words, seeds", [
    ("float64", [0.5]), ("bool, but", np.array([True, False])), ("-1 at place 1", [0, -1]),
    ("if it is a mask, give numpy.flatnonzero(seeds)", np.array([True, False])), ("seed 1 is vertex 34", [0, 34]),
    ("4294967296", [2**32]), ("shape [1, 2]", np.array([[0, 1]])), ("shape []", 3), ("<U1", ["a"]),
    ("seeds is a set, which is not an array; give list(seeds)", {0, 1}),
    ("seeds is a generator, which is not an array; give list(seeds)", (v for v in range(2))),
])
def test_seeds(karate, words, seeds):
    refused("EINVAL", words, lambda: csaw.random_walk(karate, seeds, 2))


@pytest.mark.parametrize("words, options", [
    ("length is 0", dict(length=0)), ("length is -1", dict(length=-1)), ("length is 2.0", dict(length=2.0)),
    ("length is True", dict(length=True)), ("length is 16777216", dict(length=2**24)), ("seed is -1", dict(seed=-1)),
    ("seed is 18446744073709551616", dict(seed=2**64)), ("walks_per_seed is 0", dict(walks_per_seed=0)),
    ("select is 'best'", dict(select="best")), ("there is no sampler 'walk'", dict(sampler="walk")),
    ("sampler is int", dict(sampler=3)), ("progress is 5; it is True, or a function", dict(progress=5)),
])
def test_options_of_walks(karate, words, options):
    refused("EINVAL", words, lambda: csaw.random_walk(karate, **options))


def test_walks_that_are_none(karate):
    for progress in (False, lambda done, total: None):
        refused("EINVAL", "these samples are no walks (pools, a fanout or flags were asked for): csaw.sample(...).arcs() "
                "shows them",
                lambda: csaw.random_walk(karate, length=2, sampler="random_node", progress=progress))


@pytest.mark.parametrize("edges", (False, True))
def test_more_walks_than_memory(karate, edges):
    refused("ENOMEM", "there is no memory for 146028888030 walks of length 16777215, 9799832786876497920 bytes; give fewer",
            lambda: csaw.random_walk(karate, length=2**24 - 1, walks_per_seed=2**32 - 1))
    refused("ENOMEM", "there is no memory for 35651584 walks of length 16777215, ",
            lambda: csaw.random_walk(karate, length=2**24 - 1, walks_per_seed=2**20, edges=edges))


def test_length_of_sentences(karate):
    refused("EINVAL", "length is 0", lambda: csaw.walks_for_gensim(karate, length=0))


def test_what_the_library_refuses(karate, digraph):
    refused("EINVAL", "alias", lambda: csaw.node2vec_walk(karate, length=2, select="alias"))
    refused("EINVAL", "p is -1", lambda: csaw.node2vec_walk(karate, p=-1))
    refused("EINVAL", "has no parameter 'r'; it has p, q", lambda: csaw.Sampler("node2vec", r=1))
    refused("EINVAL", "p is '4'", lambda: csaw.Sampler("node2vec", p="4"))
    refused("EINVAL", "p is True", lambda: csaw.Sampler("node2vec", p=True))
    refused("EINVAL", "size", lambda: csaw.Sampler("random_node", size=2.5))
    refused("EINVAL", "device", lambda: csaw.plan(karate, "tpu"))
    refused("EINVAL", "threads is 4294967297", lambda: csaw.plan(karate, threads=2**32 + 1))
    refused("EINVAL", "gpu_memory is '4 x'", lambda: csaw.plan(karate, gpu_memory="4 x"))
    refused("EINVAL", "csaw.Graph or csaw.Plan", lambda: csaw.random_walk(np.eye(3)))


def test_neighbours(karate):
    refused("EINVAL", "seeds are empty", lambda: csaw.sample_neighbors(karate, [], [2]))
    refused("EINVAL", "fanout is empty", lambda: csaw.sample_neighbors(karate, [1], []))
    refused("EINVAL", "fanout is empty", lambda: csaw.sample_neighbors(karate, [1], None))
    refused("EINVAL", "-2", lambda: csaw.sample_neighbors(karate, [1], [-2]))
    refused("EINVAL", "is 2.5", lambda: csaw.sample_neighbors(karate, [1], 2.5))
    want = csaw.sample_neighbors(karate, [1], [3, 2]).n_id
    for hops in (np.array([3, 2]), (3, 2), iter([3, 2])):
        np.testing.assert_array_equal(csaw.sample_neighbors(karate, [1], hops).n_id, want)
    refused("EINVAL", "depth is 3, but fanout has 2", lambda: csaw.sample(karate, "neighbor", fanout=[2, 2], depth=3))


@pytest.mark.parametrize("words, make", [
    ("shape [3, 1]", lambda: csaw.Graph.from_edge_index([[0], [1], [2]])),
    ("shape [2]", lambda: csaw.Graph.from_edge_index([0, 1])),
    ("float64", lambda: csaw.Graph.from_edge_index(EDGES.astype(float))),
    ("4294967295", lambda: csaw.Graph.from_edge_index([[0], [2**32 - 1]])),
    ("weight has shape [1]", lambda: csaw.Graph.from_edge_index(EDGES, weight=[1.0])),
    ("weight holds <U1", lambda: csaw.Graph.from_edge_index(EDGES, weight=["a", "b"])),
    ("weight holds 1e+39 at place 1, beyond what a float32 holds, 3.4e38; scale all",
     lambda: csaw.Graph.from_edge_index(EDGES, weight=[1.0, 1e39])),
    ("weight holds -1e-50 at place 1, which a float32 has as 0; give 0 or drop such edges",
     lambda: csaw.Graph.from_edge_index(EDGES, weight=[3e38, -1e-50])),
    ("type holds float64", lambda: csaw.Graph.from_edge_index(EDGES, type=[1.0, 2.0])),
    ("type holds -1", lambda: csaw.Graph.from_edge_index(EDGES, type=[1, -1])),
    ("num_vertices", lambda: csaw.Graph.from_edge_index(EDGES, num_nodes=1)),
    ("rowptr is empty", lambda: csaw.Graph.from_csr([], [])),
    ("rowptr[1]", lambda: csaw.Graph.from_csr([0, 3], [0])),
    ("num_nodes is -1", lambda: csaw.Graph.from_edge_index(EDGES, num_nodes=-1)),
    ("num_nodes is 3.0; it is a whole number", lambda: csaw.Graph.from_edge_index(EDGES, num_nodes=3.0)),
    ("num_nodes is '3'", lambda: csaw.Graph.from_edge_index(EDGES, num_nodes="3")),
    ("takes a networkx graph, not ndarray", lambda: csaw.Graph.from_networkx(EDGES)),
    ("row 0 is not ascending: col[1] = 0 comes after 1; sort the row, or use Graph.from_edge_index(), which sorts",
     lambda: csaw.Graph.from_csr([0, 2, 2], [1, 0])),
    ("num_nodes is 0, but edge_index has 2 edges", lambda: csaw.Graph.from_edge_index(EDGES, num_nodes=0)),
    ("scale is -1; it is a whole number from 1 to 31", lambda: csaw.Graph.rmat(-1)),
    ("it is a whole number from 1 to 31", lambda: csaw.Graph.rmat(np.int64(-1))),
    ("scale is 0; it is a whole number from 1 to 31", lambda: csaw.Graph.rmat(0)),
    ("scale is 32; it is a whole number from 1 to 31", lambda: csaw.Graph.rmat(32)),
    ("edge_factor is 0; it is a whole number from 1", lambda: csaw.Graph.rmat(4, 0)),
    ("seed is -1; it is a whole number of 64 bits", lambda: csaw.Graph.rmat(4, seed=-1)),
    ("seed is 18446744073709551616", lambda: csaw.Graph.rmat(4, seed=2**64)),
    ("scale is 'x'; it is a whole number", lambda: csaw.Graph.rmat("x")),
    ("num_edges is 2.5, a float", lambda: csaw.Graph.erdos_renyi(10, 2.5)),
    ("comes from", lambda: csaw.Graph()),
])
def test_arrays_of_a_graph(words, make):
    refused("EINVAL", words, make)


def test_nan_and_negative_weights_are_refused_where_they_are_used():
    for wrong in (np.nan, -1.0, np.inf):
        graph = csaw.Graph.from_edge_index([[0, 0], [0, 1]], weight=[1.0, wrong])
        csaw.random_walk(graph, [0], 2)  # uniform: no weight is read
        for select in ("auto", "its", "race"):
            refused("EBIAS", "biased", lambda: csaw.random_walk(graph, [0], 2, sampler="biased", select=select))


def test_missing_weights_are_ones(karate):
    assert karate.weight is None
    np.testing.assert_array_equal(csaw.random_walk(karate, length=5, sampler="biased"),
                                  csaw.random_walk(karate, length=5))
    refused("EINVAL", "weight_attr is 'weight', but", lambda: csaw.NeighborLoader(karate, [2], weight_attr="weight"))


def test_files(tmp_path, karate):
    refused("EIO", "nothing.txt", lambda: csaw.Graph.load(tmp_path / "nothing.txt"))
    karate.save(tmp_path / "graph.csaw")
    whole = (tmp_path / "graph.csaw").read_bytes()
    for length in (0, 5, 100, len(whole) - 1):
        (tmp_path / "cut.csaw").write_bytes(whole[:length])
        refused("EFORMAT", "cut.csaw", lambda: csaw.Graph.load(tmp_path / "cut.csaw", format="csaw"))
    (tmp_path / "bad.txt").write_text("0 1\n0 x y z\n")
    refused("EFORMAT", "line", lambda: csaw.Graph.load(tmp_path / "bad.txt", columns="src,dst,weight"))
    refused("EIO", "no/such", lambda: karate.save(tmp_path / "no/such/graph.csaw"))
    for suffix in (".csv", ".mtx", ".npz", ".gr", ".xz"):
        path = tmp_path / f"graph{suffix}"
        refused("EINVAL", f"csaw reads {suffix} files but does not write graphs to them", lambda: karate.save(path))
        assert not path.exists()


def test_texts(tmp_path, karate, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("0 1\n")
    samples = csaw.sample(karate, "neighbor", [0], fanout=[2])
    for call in (csaw.Graph.load, karate.save, samples.save, samples.subgraph().save):
        refused("EINVAL", "path is 'a\\x00b', but no file has NUL in its name", lambda: call("a\0b"))
        refused("EINVAL", "path is 3; it is a str or a pathlib.Path", lambda: call(3))
    assert (tmp_path / "a").read_text() == "0 1\n"
    for name in ("columns", "format"):
        for wrong in (["src", "dst"], "text\0", 3):
            refused("EINVAL", f"{name} is {wrong!r}; it is a str", lambda: csaw.Graph.load("a", **{name: wrong}))
    refused("EINVAL", "format is 3", lambda: samples.save("b", format=3))
    refused("EINVAL", "name is '1\\x00'", lambda: karate.find("1\0"))
    refused("EINVAL", "sampler is 'uniform\\x00'", lambda: csaw.Sampler("uniform\0"))
    refused("EINVAL", "path is 'a\\x00.c'", lambda: csaw.Sampler("a\0.c"))
    refused("EINVAL", "device is 'cpu\\x00'", lambda: csaw.plan(karate, "cpu\0"))
    refused("EINVAL", "device is 'cpu\\x00'", lambda: csaw.negatives(karate, [0], 2, device="cpu\0"))


def test_tensors_without_an_array():
    torch = pytest.importorskip("torch")
    for tensor, words in ((torch.eye(2).to_sparse(), "edge_index is not an array: can't convert Sparse"),
                          (torch.zeros(2, 2, dtype=torch.bfloat16), "edge_index is not an array: Got unsupported")):
        refused("EINVAL", words, lambda: csaw.Graph.from_edge_index(tensor))


def test_weights_of_networkx():
    networkx = pytest.importorskip("networkx")
    for wrong in (None, "far", [1]):
        graph = networkx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": wrong})])
        refused("EINVAL", f"edge 'b' -> 'c' has the weight {wrong!r}, which is no number",
                lambda: csaw.Graph.from_networkx(graph))
        assert csaw.Graph.from_networkx(graph, weight=None).weight is None


def test_what_a_loader_has_of_its_own(karate):
    pytest.importorskip("torch")
    for name in ("dataset", "sampler", "batch_sampler", "collate_fn"):
        refused("EINVAL", f"NeighborLoader takes no {name}", lambda: csaw.NeighborLoader(karate, [2], **{name: list}))
    refused("EINVAL", "persistent_workers option needs num_workers",
            lambda: csaw.NeighborLoader(karate, [2], persistent_workers=True))


def test_coefficients_of_an_empty_graph():
    empty = csaw.Graph.from_edge_index(np.zeros((2, 0), int), 0)
    refused("EINVAL", "nothing to draw", lambda: csaw.SaintLoader(empty, "node", 2, sample_coverage=2))
    refused("EINVAL", "sample_coverage is '2'", lambda: csaw.SaintLoader(empty, "node", 2, sample_coverage="2"))


def test_an_error_goes_to_other_processes():
    error = pickle.loads(pickle.dumps(csaw.CsawError(6, "a bias")))
    assert (error.status, error.status_name, error.message) == (6, "EBIAS", "a bias")
    assert isinstance(error, RuntimeError)


def test_a_plan_stays_where_it_is(karate):
    with pytest.raises(TypeError, match="pickle its graph"):
        pickle.dumps(csaw.plan(karate))


class Evil:
    def __reduce__(self):
        return print, ("run",)


def test_pickles_that_name_other_things_are_not_run(tmp_path, capsys):
    pytest.importorskip("scipy")
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph"):
        (tmp_path / f"ind.cora.{part}").write_bytes(pickle.dumps(Evil()))
    refused("EFORMAT", "builtins.print", lambda: datasets.planetoid(tmp_path, "cora"))
    np.savez(tmp_path / "evil.npz", adj_matrix=np.array(Evil(), dtype=object))
    refused("EFORMAT", "builtins.print", lambda: datasets.attributed_npz(tmp_path / "evil.npz"))
    assert capsys.readouterr().out == ""
