# SPDX-License-Identifier: MIT
"""CuPy: the library's arrays of a GPU in CuPy without a copy, and CuPy's as features and as seeds."""
import numpy as np
import pytest

import csaw
from loader_cases import made_up

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")


def gpus():
    try:
        return cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


pytestmark = [
    pytest.mark.skipif(not gpus(), reason="CuPy finds no GPU"),
    pytest.mark.skipif("cuda" not in csaw.version(), reason=f"the library is built without CUDA: {csaw.version()}")]


@pytest.fixture
def data():
    return made_up(300, 4000, 6)


def shared(array):
    """array in CuPy: the same memory."""
    out = cupy.asarray(array)
    assert out.data.ptr == array.pointer and out.dtype == array.dtype and out.shape == array.shape
    return out


def test_walks(karate):
    plan = csaw.plan(karate, device="cuda:0")
    made, want = csaw.sample(plan, "uniform", depth=9, edges=True, seed=3), csaw.sample(karate, "uniform", depth=9,
                                                                                       edges=True, seed=3).walks()
    got = made.walks(device=True)
    np.testing.assert_array_equal(shared(got.path).get(), want.path)
    np.testing.assert_array_equal(shared(got.edge).get(), want.edge)


def test_blocks(karate):
    run = dict(fanout=[3, 2], seed=5)
    blocks = csaw.sample(csaw.plan(karate, device="cuda:0"), "neighbor_once", [[0, 33]], **run).blocks(device=True)
    want = csaw.sample(karate, "neighbor_once", [[0, 33]], **run).blocks()
    for depth in range(2):
        for name in ("vertex", "rowptr", "col", "edge"):
            np.testing.assert_array_equal(shared(getattr(blocks[0, depth], name)).get(), getattr(want[0, depth], name))


@pytest.mark.parametrize("dtype", ("float32", "float16"))
def test_features(data, dtype):
    x = data.x.astype(dtype)
    given = dict(edge_index=data.edge_index, x=cupy.asarray(x))
    batches = list(csaw.NeighborLoader(given, [3, 2], batch_size=70, device="cuda:0"))
    plain = list(csaw.NeighborLoader(dict(edge_index=data.edge_index, x=x), [3, 2], batch_size=70))
    assert len(batches) == len(plain) == 5
    for one, other in zip(batches, plain):
        np.testing.assert_array_equal(shared(one.n_id).get(), other.n_id)
        np.testing.assert_array_equal(shared(one.x).get(), other.x)


def test_memory_lives_as_long_as_cupy_has_it(data):
    given = dict(edge_index=data.edge_index, x=cupy.asarray(data.x))
    kept = [cupy.asarray(batch.x) for batch in csaw.NeighborLoader(given, [3, 2], batch_size=70, device="cuda:0")]
    for one, other in zip(kept, csaw.NeighborLoader(dict(edge_index=data.edge_index, x=data.x), [3, 2], batch_size=70)):
        np.testing.assert_array_equal(one.get(), other.x)


def test_seeds(karate, data):
    """Copied, when the stream that writes them has done so."""
    seeds = np.array([4, 0, 33, 7])
    there = cupy.asarray(seeds)
    np.testing.assert_array_equal(csaw.random_walk(karate, there, 5), csaw.random_walk(karate, seeds, 5))
    for name in ("n_id", "e_id", "edge_index"):
        np.testing.assert_array_equal(getattr(csaw.sample_neighbors(karate, there, [3, 2]), name),
                                      getattr(csaw.sample_neighbors(karate, seeds, [3, 2]), name))
    np.testing.assert_array_equal(csaw.sample(karate, "neighbor", [there, seeds[:1]], fanout=[2]).arcs().dst,
                                  csaw.sample(karate, "neighbor", [seeds, seeds[:1]], fanout=[2]).arcs().dst)
    np.testing.assert_array_equal(csaw.negatives(karate, there, 3), csaw.negatives(karate, seeds, 3))
    for power in (0, 0.75):  # the same bits, in memory of the GPU
        drawn = csaw.negatives(karate, there, 3, power=power, seed=2, first=7, device="cuda:0")
        want = csaw.negatives(karate, seeds, 3, power=power, seed=2, first=7)
        np.testing.assert_array_equal(shared(drawn).get(), want)
    for one, other in zip(*(csaw.NeighborLoader(data, [3], nodes, batch_size=2) for nodes in (there, seeds))):
        np.testing.assert_array_equal(one.n_id, other.n_id)
    walks = csaw.sample(csaw.plan(karate, device="cuda:0"), "uniform", seeds, depth=4).walks(device=True)
    ends = cupy.asarray(walks.path)[:, -1]
    np.testing.assert_array_equal(csaw.random_walk(karate, ends, 5), csaw.random_walk(karate, ends.get(), 5))
