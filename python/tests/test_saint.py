# SPDX-License-Identifier: MIT
"""SaintLoader: induced subgraphs, coefficients that make sums unbiased, equal batches from equal seeds."""
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import csaw

KINDS = [("node", 40, 0), ("edge", 25, 0), ("walk", 10, 3), ("frontier", 5, 20)]


@pytest.fixture
def data():
    """A directed multigraph with loops; attributes tell which vertex and which edge they belong to."""
    rng = np.random.default_rng(2)
    return SimpleNamespace(edge_index=rng.integers(0, 60, (2, 500)), x=np.arange(60)[:, None] * [1.0, -1.0],
                           edge_attr=np.arange(500) * 3, num_nodes=60, name="made up")


@pytest.mark.parametrize("kind, size, length", KINDS)
def test_batches_are_induced_subgraphs(data, kind, size, length):
    loader = csaw.SaintLoader(data, kind, size, length, num_steps=7, seed=3)
    batches = list(loader)
    assert len(batches) == len(loader) == 7
    assert 1 < len({tuple(batch.n_id) for batch in batches})
    for batch in batches:
        inside = np.isin(data.edge_index, batch.n_id).all(axis=0)
        assert sorted(batch.e_id) == np.flatnonzero(inside).tolist() and len(set(batch.n_id)) == len(batch.n_id)
        np.testing.assert_array_equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
        np.testing.assert_array_equal(batch.x, data.x[batch.n_id])
        np.testing.assert_array_equal(batch.edge_attr, 3 * batch.e_id)
        assert batch.name == "made up" and "node_norm" not in batch
        most = {"node": size, "edge": 2 * size, "walk": size * (length + 1), "frontier": size + length}[kind]
        assert 1 <= batch.num_nodes <= most


@pytest.mark.parametrize("kind, size, length", KINDS)
def test_coefficients_make_sums_unbiased(data, kind, size, length):
    """Over fresh subgraphs the mean of sum(node_norm f(v)) is the mean of f over the graph, and that of a receiver's
    sum of edge_norm f(e), where it is in, its sum in the graph. Bound: 5 standard errors, of the batches and of the
    subgraphs that the coefficients came from."""
    loader = csaw.SaintLoader(data, kind, size, length, num_steps=1500, sample_coverage=500, seed=1)
    assert loader.node_norm.dtype == loader.edge_norm.dtype == np.float32
    f, g = np.random.default_rng(0).random((2, 500))
    f = f[:60]
    means, sums, seen = [], np.zeros(60), np.zeros(60)
    squares = np.zeros(60)
    for batch in loader:
        assert batch.node_norm.shape == (batch.num_nodes, ) and batch.edge_norm.shape == (batch.num_edges, )
        means.append((batch.node_norm * f[batch.n_id]).sum())
        here = np.bincount(batch.edge_index[1], batch.edge_norm * g[batch.e_id], batch.num_nodes)
        sums[batch.n_id] += here
        squares[batch.n_id] += here**2
        seen[batch.n_id] += 1
    bound = 5 * np.std(means) * np.sqrt(1 / 1500 + 1 / 500)
    assert abs(np.mean(means) - f.mean()) < bound < 0.1 * f.mean()
    often = seen > 100
    assert often.sum() > 30
    want = np.bincount(data.edge_index[1], g, 60)
    spread = np.sqrt(np.maximum(squares / seen.clip(1) - (sums / seen.clip(1))**2, 0) / seen.clip(1))
    assert (np.abs(sums / seen.clip(1) - want) < 5 * np.sqrt(2) * spread + 1e-3)[often].all()


def test_seeds_and_epochs(data):
    def drawn(loader):
        return [batch.n_id.tolist() for batch in loader]

    one, two = (csaw.SaintLoader(data, "walk", 10, 3, 9, seed=4, threads=t) for t in (1, 2))
    first, second = drawn(one), drawn(one)
    assert first != second and drawn(two) == first and drawn(two) == second
    two.set_epoch(0)
    assert drawn(two) == first
    assert drawn(csaw.SaintLoader(data, "walk", 10, 3, 9, seed=5)) != first
    assert drawn(csaw.SaintLoader(data, "walk", 10, 3, 9, 50, seed=4)) == first, "coefficients draw no batch"


def test_tensors_where_data_holds_tensors(data):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data.x = torch.from_numpy(data.x)
    batch = next(iter(csaw.SaintLoader(data, "edge", 25, sample_coverage=5)))
    for name, dtype in dict(n_id=torch.int64, edge_index=torch.int64, node_norm=torch.float32,
                            edge_norm=torch.float32).items():
        assert batch[name].dtype == dtype
    assert torch.equal(batch.x[:, 0], batch.n_id.double())


def test_refused(data):
    for change, text in [(dict(kind="tree"), "tree"), (dict(batch_size=0), "batch_size"), (dict(num_steps=0), "num_steps"),
                         (dict(sample_coverage=-1), "sample_coverage"), (dict(sample_coverage=float("nan")), "nan")]:
        with pytest.raises(csaw.CsawError, match=text):
            list(csaw.SaintLoader(data, **{"kind": "node", "batch_size": 9, **change}))


@pytest.mark.parametrize("kind, length, words", [
    ("node", 2, "walk_length is 2, but kind 'node' takes no steps"), ("edge", 3, "walk_length is 3, but kind 'edge' takes"),
    ("walk", 0, "walk_length is 0, but kind 'walk' needs a number"), ("frontier", 0, "walk_length is 0, but kind 'front"),
    ("walk", 2**24, "walk_length is 16777216; it is a whole number from 0 to 16777215"),
])
def test_steps_that_a_kind_does_not_take_are_refused_at_once(data, kind, length, words):
    with pytest.raises(csaw.CsawError) as caught:
        csaw.SaintLoader(data, kind, 9, length)
    assert words in caught.value.message


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other):
        assert a.keys() == b.keys()
        for name in a.keys():
            np.testing.assert_array_equal(np.asarray(a[name]), np.asarray(b[name]), name)


@pytest.mark.parametrize("kind, size, length, method", [*((*case, "fork") for case in KINDS), (*KINDS[2], "spawn")])
def test_workers_draw_the_same(data, kind, size, length, method):
    torch = pytest.importorskip("torch")
    for name in ("edge_index", "x", "edge_attr"):
        setattr(data, name, torch.from_numpy(getattr(data, name)))
    plain = csaw.SaintLoader(data, kind, size, length, num_steps=7, sample_coverage=5, seed=3)
    epochs = [list(plain) for _ in range(2)]
    loader = csaw.SaintLoader(data, kind, size, length, num_steps=7, sample_coverage=5, seed=3, num_workers=2,
                              multiprocessing_context=method, persistent_workers=True)
    for epoch in epochs:
        same(list(loader), epoch)
    loader.set_epoch(1)
    same(list(loader), epochs[1])
    assert not np.array_equal(epochs[0][0].n_id, epochs[1][0].n_id)


def test_what_the_main_process_fills(data):
    pytest.importorskip("torch")
    plain = list(csaw.SaintLoader(data, "walk", 10, 3, num_steps=5, sample_coverage=5))
    unfilled = csaw.SaintLoader(data, "walk", 10, 3, num_steps=5, sample_coverage=5, num_workers=1,
                                filter_per_worker=False, transform=lambda batch: (batch, "here"))
    batches = list(unfilled)
    assert all(here == "here" for _, here in batches)
    same([batch for batch, _ in batches], plain)


def test_a_loader_is_pickled(data):
    loader = csaw.SaintLoader(data, "edge", 25, num_steps=3, sample_coverage=5)
    same(list(pickle.loads(pickle.dumps(loader))), list(loader))
