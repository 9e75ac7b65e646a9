# SPDX-License-Identifier: MIT
"""visits() against a count of the same walks by hand; negatives() against the rows of the graph and its law."""
import gc
import importlib

import numpy as np
import pytest

import csaw
from csaw._lib import check, lib


def by_hand(path, start, top):
    """(vertex, count) of one seed, of [walks, steps + 1] vertices: most visits first, of equals the lower number."""
    seen = path[:, 1:]
    vertex, count = np.unique(seen[(seen != csaw.NONE) & (seen != start)], return_counts=True)
    order = np.lexsort((vertex, -count))[:top]
    return vertex[order], count[order]


@pytest.mark.parametrize("sampler", (None, csaw.Sampler("uniform"), csaw.Sampler("node2vec", p=0.2)), ids=str)
@pytest.mark.parametrize("seeds", (None, [3, 11, 3, 39]), ids=str)
def test_visits_are_counted(digraph, sampler, seeds):
    graph, _, _ = digraph
    options = {} if sampler is None else dict(sampler=sampler)
    found = csaw.visits(graph, seeds, walks=20, depth=6, top=5, seed=7, **options)
    start = np.arange(40) if seeds is None else np.array(seeds)
    walks = csaw.random_walk(graph, np.repeat(start, 20), 6, seed=7, sampler=sampler or "restart").reshape(-1, 20, 7)
    assert len(found.offset) == len(start) + 1 and found.offset.dtype == np.uint64
    assert found.vertex.dtype == found.count.dtype == np.uint32 and found.weight.dtype == np.float32
    for i, v in enumerate(start):
        mine = slice(int(found.offset[i]), int(found.offset[i + 1]))
        vertex, count = by_hand(walks[i], v, 5)
        np.testing.assert_array_equal(found.vertex[mine], vertex)
        np.testing.assert_array_equal(found.count[mine], count)
        np.testing.assert_allclose(found.weight[mine], count / count.sum(), rtol=1e-6)
    assert len(np.unique(np.diff(found.offset.astype(int)))) > 1 if seeds is None else True  # 11 has no arcs


def test_visits_in_pieces(karate):
    whole = csaw.visits(karate, seed=3, walks=4)
    parts = [csaw.visits(karate, np.arange(begin, begin + 17), seed=3, walks=4, first=begin) for begin in (0, 17)]
    gc.collect()
    for name in ("vertex", "count", "weight"):
        np.testing.assert_array_equal(getattr(whole, name), np.concatenate([getattr(p, name) for p in parts]))
    other = csaw.visits(karate, np.arange(17, 34), seed=3, walks=4)
    assert not np.array_equal(other.vertex, parts[1].vertex)


def test_progress_of_visits(karate):
    told = []
    csaw.visits(karate, [0, 5, 7], walks=3, depth=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (3, 3)]
    with pytest.raises(csaw.CsawError) as caught:
        csaw.visits(karate, progress=lambda done, total: False)
    assert caught.value.status_name == "ESTOPPED"


def test_ctrl_c_stops_visits(python):
    out = python("""
import csaw, os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
graph = csaw.Graph.rmat(14, 8, seed=1)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    csaw.visits(graph, walks=100000, depth=10)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - begun < 20, len(csaw.visits(graph, [0]).offset))
""")
    assert out == "stopped True 2\n"


def chi2(counts, probability):
    expected = counts.sum() * probability
    return ((counts - expected)**2 / expected).sum()


@pytest.mark.parametrize("power, other", ((0.0, 0.75), (0.75, 0.0), (2.0, 1.0)))
@pytest.mark.parametrize("anything", (False, True))
def test_negatives_have_their_law(digraph, power, other, anything):
    """P(x) ~ degree(x)^power among the vertices allowed; the bound that the law passes, another power does not."""
    graph, edge_index, _ = digraph
    drawn = csaw.negatives(graph, [5, 7, 11], 20000, power=power, any=anything, seed=4)
    assert drawn.shape == (3, 20000) and drawn.dtype == np.uint32
    for v, row in zip((5, 7, 11), drawn):
        allowed = np.ones(40, bool)
        if not anything:
            allowed[edge_index[1, edge_index[0] == v]] = allowed[v] = False
        with np.errstate(divide="ignore"):
            laws = [np.where(allowed, graph.degree.astype(float)**p, 0) for p in (power, other)]
        laws = [law / law.sum() for law in laws]
        counts = np.bincount(row, minlength=40)
        assert not counts[laws[0] == 0].any()
        inside = (laws[0] > 0) & (laws[1] > 0)
        free = (laws[0] > 0).sum() - 1
        bound = free + 5 * np.sqrt(2 * free)  # five standard deviations
        assert chi2(counts[laws[0] > 0], laws[0][laws[0] > 0]) < bound
        assert chi2(counts[inside], laws[1][inside] / laws[1][inside].sum()) > 2 * bound


def test_negatives_in_pieces_and_their_table(karate):
    whole = csaw.negatives(karate, np.arange(34), 3, power=0.75, seed=9)
    kept = [x for name, x in karate._kept.items() if name.startswith("negatives")]
    parts = [csaw.negatives(karate, np.arange(begin, begin + 17), 3, power=0.75, seed=9, first=begin)
             for begin in (0, 17)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert [x for name, x in karate._kept.items() if name.startswith("negatives")] == kept and len(kept) == 1
    assert not np.array_equal(whole, csaw.negatives(karate, np.arange(34), 3, power=0.75, seed=10))
    assert csaw.negatives(karate, np.zeros(0, int), 3).shape == (0, 3)


def test_negatives_drawn_in_memory_of_a_device(karate):
    """By way of a stand-in: what is drawn for a GPU is drawn in memory that csaw_memory_alloc() gives, here of the
    host. On a GPU: test_cupy.py, test_loader_cuda.py."""
    src = np.arange(34, dtype=np.uint32)
    want = csaw.negatives(karate, src, 3, power=0.75, seed=9, first=5)
    made, = (x for name, x in karate._kept.items() if name.startswith("negatives"))
    got = importlib.import_module("csaw.negatives")._drawn_there(made, "cpu", 9, 5, src, 3)
    assert got.shape == (34, 3) and got.strides == (3, 1) and got.dtype == np.uint32
    here = np.zeros((34, 3), np.uint32)
    check(lib.csaw_memory_read(b"cpu", here.ctypes.data, got.pointer, here.nbytes))
    np.testing.assert_array_equal(here, want)


def test_refused(karate):
    everything = csaw.Graph.from_edge_index(np.array([[0, 0], [0, 1]]))
    for words, call in (("power", lambda: csaw.negatives(karate, [1], power=5)),
                        ("Plan", lambda: csaw.negatives(csaw.plan(karate), [1])),
                        ("34", lambda: csaw.negatives(karate, [34])),
                        ("each is 0", lambda: csaw.negatives(karate, [1], 0)),
                        ("device is 3", lambda: csaw.negatives(karate, [1], device=3)),
                        ("gpu7", lambda: csaw.negatives(karate, [1], device="gpu7")),
                        ("0", lambda: csaw.negatives(everything, [0])),
                        ("one vertex each", lambda: csaw.visits(karate, [[1, 2]])),
                        ("34", lambda: csaw.visits(karate, [34])),
                        ("top is 0", lambda: csaw.visits(karate, [1], top=0))):
        with pytest.raises(csaw.CsawError) as caught:
            call()
        assert words in caught.value.message, caught.value
