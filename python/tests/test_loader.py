# SPDX-License-Identifier: MIT
"""NeighborLoader: its fields, the bits of the csaw program, and the same batches whoever draws them."""
import pickle
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import csaw
from csaw._drawing import epoch_seed

FIELDS = ("n_id", "e_id", "edge_index", "input_id")


@pytest.fixture
def data():
    """A directed multigraph with loops; features and labels tell which vertex and which edge they belong to."""
    rng = np.random.default_rng(2)
    edge_index = rng.integers(0, 60, (2, 500))
    return SimpleNamespace(edge_index=edge_index, x=np.arange(60)[:, None] * [1.0, -1.0], y=np.arange(60),
                           edge_attr=np.arange(500) * 3, num_nodes=60, name="made up")


def check(batch, data, seeds):
    """A batch is a subgraph of data: edges are those it says, numbers lead back."""
    n_id, e_id, edge_index = (np.asarray(batch[name]) for name in ("n_id", "e_id", "edge_index"))
    assert n_id[:batch.batch_size].tolist() == list(seeds)
    assert len(set(n_id)) == len(n_id) and n_id.dtype == e_id.dtype == edge_index.dtype == np.int64
    np.testing.assert_array_equal(n_id[edge_index], np.asarray(data.edge_index)[:, e_id])
    np.testing.assert_array_equal(np.asarray(batch.x), np.asarray(data.x)[n_id])
    np.testing.assert_array_equal(np.asarray(batch.y), n_id)
    np.testing.assert_array_equal(np.asarray(batch.edge_attr), 3 * e_id)


def test_fields(data):
    nodes = np.array([50, 4, 17, 8, 33])
    loader = csaw.NeighborLoader(data, [3, 2], nodes, batch_size=2, seed=1)
    batches = list(loader)
    assert len(batches) == len(loader) == 3
    for b, batch in enumerate(batches):
        check(batch, data, nodes[2 * b:2 * b + 2])
        assert batch.input_id.tolist() == list(range(2 * b, min(2 * b + 2, 5)))
        assert len(set(batch.e_id)) == len(batch.e_id), "picked without replacement"
        incoming = np.bincount(batch.edge_index[1], minlength=len(batch.n_id))
        assert incoming.max() <= 3
        hop = batch.num_sampled_edges[0]
        want = [min(3, (data.edge_index[1] == v).sum()) for v in nodes[2 * b:2 * b + 2]]
        assert np.bincount(batch.edge_index[1][:hop], minlength=batch.batch_size).tolist() == want
        assert sum(batch.num_sampled_nodes) == len(batch.n_id) == batch.num_nodes and sum(
            batch.num_sampled_edges) == batch.num_edges
        assert batch.name == "made up" and "num_nodes" not in batch and "x" in batch


def test_a_batch_is_its_names_and_values(data):
    batch = next(iter(csaw.NeighborLoader(data, [3], batch_size=4)))
    assert [name for name, _ in batch] == batch.keys() and len(batch) == len(batch.keys())
    assert all(value is batch[name] for name, value in batch)
    batch["x"] = batch.x[:1]
    batch["fresh"] = 3
    assert len(batch.x) == 1 and batch.fresh == 3 and "fresh" in batch
    for look in (lambda: batch["lost"], lambda: batch.lost):
        with pytest.raises((KeyError, AttributeError), match="this batch has no 'lost'; it has .*edge_index"):
            look()


def test_batches_are_the_program_s_samples(data, cli, tmp_path):
    np.savetxt(tmp_path / "graph.txt", data.edge_index.T, "%d")
    seeds = np.random.default_rng(3).permutation(60)[:23]
    np.savetxt(tmp_path / "seeds.txt", seeds, "%d")
    text = cli("sample", tmp_path / "graph.txt", "--keep-loops", "--keep-duplicates", "--keep-gaps", "--algo",
               "neighbor_once", "--along", "in", "--fanout", "4,all,2", "--batch-size", 7, "--seeds",
               tmp_path / "seeds.txt", "--seed", 12, "--no-header").decode()
    lines = [line.split() for line in text.splitlines() if "-" not in line]
    want = np.array([[line[i] for i in (0, 1, 2, 4)] for line in lines], np.int64)
    got = []
    for b, batch in enumerate(csaw.NeighborLoader(data, [4, -1, 2], seeds, batch_size=7, seed=12)):
        sender, receiver = batch.n_id[batch.edge_index]
        depth = np.repeat(np.arange(3), batch.num_sampled_edges)
        got.append(np.stack([np.full(len(sender), b), receiver, sender, depth], axis=1))
    np.testing.assert_array_equal(np.concatenate(got), want)


def two_layers(x, edge_index):
    """Twice the sum over the edges in and the vertex itself, as a network of two layers takes it."""
    for _ in range(2):
        out = x.copy()
        np.add.at(out, edge_index[1], x[edge_index[0]])
        x = out
    return x


def test_all_neighbours_give_what_the_whole_graph_gives(data):
    x = np.random.default_rng(0).integers(0, 100, (60, 3))
    data.x = x
    want = two_layers(x, data.edge_index)
    for batch in csaw.NeighborLoader(data, [-1, -1], batch_size=13):
        got = two_layers(batch.x, batch.edge_index)[:batch.batch_size]
        np.testing.assert_array_equal(got, want[batch.n_id[:batch.batch_size]])


def test_picks_are_uniform_among_the_arcs_in(data):
    loader = csaw.NeighborLoader(data, [1], np.array([5]), seed=0)
    arcs = np.flatnonzero(data.edge_index[1] == 5)
    counts = np.zeros(500)
    for _ in range(4000):
        for batch in loader:
            counts[batch.e_id] += 1
    assert counts.sum() == counts[arcs].sum() == 4000
    expected = 4000 / len(arcs)
    chi2 = ((counts[arcs] - expected) ** 2 / expected).sum()
    assert chi2 < len(arcs) - 1 + 5 * np.sqrt(2 * (len(arcs) - 1))  # five standard deviations


def test_by_weight(data):
    data.edge_weight = np.where(np.arange(500) % 2, 1.0, 0.0)
    for batch in csaw.NeighborLoader(data, [5], batch_size=20, weight_attr="edge_weight"):
        assert np.all(batch.e_id % 2 == 1) and np.all(batch.edge_weight == 1)
    graph = csaw.Graph.from_edge_index(data.edge_index, 60, data.edge_weight)
    for batch in csaw.NeighborLoader(graph, [5], batch_size=20, weight_attr="weight"):
        assert np.all(graph.weight[batch.e_id] == 1)


def test_replace(data):
    batch = next(iter(csaw.NeighborLoader(data, [200], np.array([5]), replace=True)))
    assert len(batch.e_id) == 200 > len(set(batch.e_id))


def test_induced_subgraphs(data):
    for batch in csaw.NeighborLoader(data, [3, 2], np.arange(20), batch_size=5, subgraph_type="induced"):
        check(batch, data, batch.n_id[:5])
        inside = np.flatnonzero(np.isin(data.edge_index, batch.n_id).all(axis=0))
        assert sorted(batch.e_id) == inside.tolist()


def test_graphs_dicts_and_tuples_mean_the_same(data):
    graph = csaw.Graph.from_edge_index(data.edge_index, 60)
    x = data.x
    want = [batch.n_id for batch in csaw.NeighborLoader(data, [3, 2], batch_size=25)]
    for given in (graph, (graph, x), (graph, {"x": x}), {"edge_index": data.edge_index, "x": x}):
        batches = list(csaw.NeighborLoader(given, [3, 2], batch_size=25))
        assert all(np.array_equal(batch.n_id, n_id) for batch, n_id in zip(batches, want))
        assert given is graph or np.array_equal(batches[1].x, x[want[1]])
        if given is graph or isinstance(given, tuple):
            for batch in batches:
                np.testing.assert_array_equal(batch.n_id[batch.edge_index], graph.edge_index()[:, batch.e_id])


class Slots:
    __slots__ = ("edge_index", "x", "_own", "unset")

    def __init__(self, edge_index, x):
        self.edge_index, self.x, self._own = edge_index, x, "nobody's"


class MoreSlots(Slots):
    __slots__ = "y"

    def __init__(self, edge_index, x, y):
        super().__init__(edge_index, x)
        self.y = y


class InStores:  # as torch_geometric.data.Data has them: attributes are elsewhere
    __slots__ = ("_store",)

    def __init__(self, **store):
        self._store = store

    def to_dict(self):
        return self._store


def test_objects_of_any_kind_mean_the_same(data):
    of = {"edge_index": data.edge_index, "x": data.x, "y": data.y}
    want = list(csaw.NeighborLoader(of, [3, 2], batch_size=25))
    for given in (SimpleNamespace(**of), namedtuple("Named", of)(**of), MoreSlots(**of), InStores(**of)):
        assert same(list(csaw.NeighborLoader(given, [3, 2], batch_size=25)), want)
        np.testing.assert_array_equal(next(iter(csaw.NeighborLoader(given, [2], batch_size=9))).y[:9], data.y[:9])


def as_torch_sparse_does(edge_index, seeds, hops):
    """n_id, e_id, edge_index of all neighbours, as torch-sparse's neighbor_sample() finds them one by one: every seed is
    a vertex of the batch, equal ones too, and the first of these is the one that sends."""
    n_id, first, sender, receiver, e_id = list(seeds), {}, [], [], []
    for i, v in enumerate(seeds):
        first.setdefault(v, i)
    begin = 0
    for _ in range(hops):
        end = len(n_id)
        for i in range(begin, end):
            arcs = np.flatnonzero(edge_index[1] == n_id[i])
            for e in sorted(arcs, key=lambda e: (edge_index[0][e], e)):
                v = edge_index[0][e]
                if v not in first:
                    first[v] = len(n_id)
                    n_id.append(v)
                sender.append(first[v])
                receiver.append(i)
                e_id.append(e)
        begin = end
    return n_id, e_id, [sender, receiver]


@pytest.mark.parametrize("workers", [0, 1])
def test_repeated_seeds_are_vertices_of_their_own(data, workers):
    if workers:
        pytest.importorskip("torch")
    nodes = np.array([7, 3, 7, 7, 9, 3, 3, 3])
    batches = list(csaw.NeighborLoader(data, [-1, -1], nodes, batch_size=4, num_workers=workers))
    assert len(batches) == 2
    for b, batch in enumerate(batches):
        n_id, e_id, edge_index = as_torch_sparse_does(data.edge_index, nodes[4 * b:4 * b + 4], 2)
        assert batch.n_id.tolist() == n_id and batch.e_id.tolist() == e_id
        assert batch.edge_index.tolist() == edge_index and batch.batch_size == 4
        assert batch.x[:, 0].tolist() == n_id and batch.edge_attr.tolist() == [3 * e for e in e_id]
        assert batch.num_sampled_nodes[0] == 4 and sum(batch.num_sampled_nodes) == len(n_id)
        assert batch.num_sampled_edges == [np.sum(batch.edge_index[1] < 4), np.sum(batch.edge_index[1] >= 4)]


def test_repeated_seeds_share_the_picks_of_the_batch_without_them(data):
    once, = csaw.NeighborLoader(data, [3, 2], np.array([7, 3]), batch_size=4, seed=5)
    batch, = csaw.NeighborLoader(data, [3, 2], np.array([7, 3, 7, 7]), batch_size=4, seed=5)
    np.testing.assert_array_equal(batch.n_id, np.concatenate([[7, 3, 7, 7], once.n_id[2:]]))
    into = lambda batch, place: batch.e_id[batch.edge_index[1] == place].tolist()
    assert into(batch, 0) == into(batch, 2) == into(batch, 3) == into(once, 0) and into(batch, 1) == into(once, 1)
    assert sorted(set(batch.e_id)) == sorted(once.e_id) and len(into(once, 0)) == 3


def test_repeated_seeds_in_induced_subgraphs(data):
    batch, = csaw.NeighborLoader(data, [2], np.array([7, 7, 3]), batch_size=3, subgraph_type="induced")
    assert batch.n_id[:3].tolist() == [7, 7, 3] and "num_sampled_nodes" not in batch
    np.testing.assert_array_equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
    for place, v in enumerate(batch.n_id):
        want = np.flatnonzero((data.edge_index[1] == v) & np.isin(data.edge_index[0], batch.n_id))
        assert sorted(batch.e_id[batch.edge_index[1] == place]) == want.tolist()
    assert 1 not in batch.edge_index[0]


def test_masks_transform_and_drop_last(data):
    mask = np.arange(60) % 3 == 0
    loader = csaw.NeighborLoader(data, [2], mask, batch_size=6, drop_last=True, transform=lambda batch: batch.n_id[:6])
    assert [list(ids) for ids in loader] == np.arange(0, 54, 3).reshape(3, 6).tolist() and len(loader) == 3


def same(one, two):
    return len(one) == len(two) and all(
        np.array_equal(np.asarray(a[name]), np.asarray(b[name])) for a, b in zip(one, two) for name in FIELDS)


def test_seed_and_epoch_decide(data):
    make = lambda seed, **options: csaw.NeighborLoader(data, [3, 2], batch_size=7, shuffle=True, seed=seed, **options)
    loader = make(5)
    epochs = [list(loader) for _ in range(3)]
    assert not same(epochs[0], epochs[1]) and not same(epochs[1], epochs[2])
    again = make(5, threads=1)
    assert same(list(again), epochs[0]) and same(list(again), epochs[1])
    again.set_epoch(0)
    assert same(list(again), epochs[0])
    assert not same(list(make(6)), epochs[0])
    seen = np.concatenate([batch.n_id[:batch.batch_size] for batch in epochs[2]])
    assert sorted(seen) == list(range(60)) and seen.tolist() != sorted(seen)


def test_epochs_differ_in_their_picks_too(data):
    loader = csaw.NeighborLoader(data, [1], batch_size=60)
    assert not np.array_equal(next(iter(loader)).e_id, next(iter(loader)).e_id)


def test_seeds_of_epochs():
    """SplitMix64's outputs for seed 1234567, as published with its reference code."""
    assert epoch_seed(1234567, 0) == 1234567
    assert [epoch_seed(1234567, epoch) for epoch in (1, 2, 3)] == \
        [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_vertices_without_arcs_in(data):
    data.edge_index = np.array([[0, 1], [1, 2]])
    data.edge_attr = np.arange(2) * 3
    batches = list(csaw.NeighborLoader(data, [2, 2], np.array([0, 30, 2]), batch_size=2))
    assert batches[0].n_id.tolist() == [0, 30] and batches[0].edge_index.shape == (2, 0)
    assert batches[1].n_id.tolist() == [2, 1, 0] and batches[1].e_id.tolist() == [1, 0]
    assert batches[1].edge_index.tolist() == [[1, 2], [0, 1]]


def test_without_edges_or_seeds(data):
    empty = dict(edge_index=np.zeros((2, 0), np.int64), num_nodes=4)
    assert [batch.n_id.tolist() for batch in csaw.NeighborLoader(empty, [2], batch_size=3)] == [[0, 1, 2], [3]]
    assert list(csaw.NeighborLoader(data, [2], np.zeros(0, np.int64))) == []


@pytest.mark.parametrize("words, options", [
    ("subgraph_type", dict(subgraph_type="bidirectional")),
    ("vertex 3 more than once, which batches that device='cpu'", dict(input_nodes=[3, 4, 3], device="cpu")),
    ("input_nodes holds 60", dict(input_nodes=[60])),
    ("mask of shape [3]", dict(input_nodes=np.ones(3, bool))),
    ("batch_size is 0", dict(batch_size=0)),
    ("no such attribute", dict(weight_attr="w")),
    ("fanout is empty", dict(num_neighbors=[])),
    ("by type of edges, but a graph here has one", dict(num_neighbors={("a", "to", "b"): [2]})),
    ("names the type 'a', but a graph here has one type", dict(input_nodes=("a", np.arange(3)))),
    ("names the type 'a', but a graph here has one type", dict(input_nodes="a")),
    ("no directed=False; give subgraph_type='induced'", dict(directed=False)),
    ("no disjoint=True; seeds of a batch share", dict(disjoint=True)),
    ("no time_attr='time'; give the data", dict(time_attr="time", input_time=np.arange(60))),
    ("no input_time; seeds have no times", dict(input_time=np.arange(60))),
    ("no temporal_strategy='last'", dict(temporal_strategy="last")),
    ("no transform_sampler_output; give transform", dict(transform_sampler_output=lambda out: out)),
    ("no neighbor_sampler; leave it out", dict(neighbor_sampler=object())),
])
def test_refused(data, words, options):
    with pytest.raises(csaw.CsawError) as caught:
        csaw.NeighborLoader(data, **{"num_neighbors": [2], **options})
    assert words in caught.value.message


@pytest.mark.parametrize("words, of", [
    ("x has shape [59, 2], but the graph has 60 vertices", lambda d: {**vars(d), "x": d.x[1:]}),
    ("x has no shape (list), but the graph has 60 vertices", lambda d: {**vars(d), "x": d.x.tolist()}),
    ("edge_attr has shape [499], but the graph has 500 edges", lambda d: {**vars(d), "edge_attr": d.edge_attr[1:]}),
    ("edge_weight has shape [60], but the graph has 500", lambda d: {**vars(d), "edge_weight": np.ones(60)}),
    ("y has shape [3], but the graph has 60", lambda d: (csaw.Graph.from_edge_index(d.edge_index, 60), d.x, d.y[:3])),
    ("SimpleNamespace has edges of 1 types (a-to-b), each with vertices numbered by themselves, but loaders sample one "
     "graph; give data.to_homogeneous()", lambda d: SimpleNamespace(node_types=["a", "b"], edge_types=[("a", "to", "b")])),
    ("NoneType has no edge_index", lambda d: None),
    ("str has no edge_index", lambda d: "cora"),
])
def test_data_that_do_not_fit_are_refused(data, words, of):
    for make in (lambda: csaw.NeighborLoader(of(data), [2]), lambda: csaw.SaintLoader(of(data), "node", 5)):
        with pytest.raises(csaw.CsawError) as caught:
            make()
        assert words in caught.value.message


def test_what_is_of_the_whole_graph_goes_along(data):
    given = {**vars(data), "y": np.array([7]), "edge_label_index": np.zeros((2, 3), int)}
    batch = next(iter(csaw.NeighborLoader(given, [2], batch_size=5)))
    assert batch.y.tolist() == [7] and batch.edge_label_index.shape == (2, 3) and len(batch.x) == batch.num_nodes


def test_arguments_of_pyg_that_say_what_is_done_anyway(data):
    plain = list(csaw.NeighborLoader(data, [3, 2], batch_size=9))
    said = csaw.NeighborLoader(data, [3, 2], batch_size=9, is_sorted=True, directed=True, disjoint=False, time_attr=None,
                               input_time=None, temporal_strategy="uniform", transform_sampler_output=None,
                               neighbor_sampler=None)
    assert same(list(said), plain)


def test_what_is_said_to_do_without_temporal_sampling(data):
    """Both remedies of time_attr: data of the edges up to a time, and csaw_temporal_neighbor."""
    time = np.random.default_rng(8).integers(0, 100, 500)
    until = np.flatnonzero(time <= 40)
    cut = dict(edge_index=data.edge_index[:, until], num_nodes=60, place=until)
    for batch in csaw.NeighborLoader(cut, [3, 2], batch_size=9):
        assert np.all(time[until[batch.e_id]] <= 40)
    graph = csaw.Graph.from_edge_index(data.edge_index[::-1], 60, time=time)
    arcs = csaw.sample(graph, csaw.Sampler("temporal_neighbor", until=40), [[v] for v in range(60)], fanout=[3, 2]).arcs()
    assert len(arcs.edge) and np.all(graph.time[arcs.edge] <= 40) and time.max() > 40


@pytest.mark.parametrize("threads", (-1, 1.5, "2", True, 4097))
def test_threads_that_no_plan_has_are_refused_at_once(data, threads):
    for make in (lambda: csaw.NeighborLoader(data, [3], threads=threads),
                 lambda: csaw.NeighborLoader(data, [3], threads=threads, num_workers=1),
                 lambda: csaw.SaintLoader(data, "node", 3, threads=threads),
                 lambda: csaw.plan(csaw.Graph.from_edge_index(data.edge_index), threads=threads)):
        with pytest.raises(csaw.CsawError) as caught:
            make()
        assert caught.value.message == f"threads is {threads!r}; give 1 .. 4096, or 0 for all cores"


@pytest.mark.parametrize("device", (None, "cpu"))
def test_no_seeds(data, device):
    for nodes in ([], (), np.zeros(0, np.int64), np.zeros(60, bool)):
        loader = csaw.NeighborLoader(data, [3], nodes, device=device)
        assert len(loader) == 0 and list(loader) == []
    for wrong, words in ((np.zeros(0), "float64"), ([[]], "shape")):
        with pytest.raises(csaw.CsawError, match=words):
            csaw.NeighborLoader(data, [3], wrong, device=device)


def test_loaders_of_a_graph_share_its_sorted_form(data, monkeypatch):
    graph = csaw.Graph.from_edge_index(data.edge_index, 60, np.arange(1.0, 501.0))
    plain = [list(csaw.NeighborLoader(data, [3, 2], batch_size=9))]
    made = []
    create, turn = csaw.Graph.from_edge_index, csaw.Graph.transpose
    monkeypatch.setattr(csaw.Graph, "from_edge_index", lambda *given, **more: made.append(1) or create(*given, **more))
    monkeypatch.setattr(csaw.Graph, "transpose", lambda graph: made.append(1) or turn(graph))
    loaders = [csaw.NeighborLoader(given, [3, 2], batch_size=9, weight_attr=weight) for given in (graph, (graph, data.x))
               for weight in (None, "weight")]
    csaw.SaintLoader(graph, "walk", 3, 2)
    assert len(made) == 2  # without weights, and with them
    for loader in loaders[::2]:
        for got, want in zip(loader, plain[0]):
            np.testing.assert_array_equal(got.n_id, want.n_id)
    for one, other in zip(loaders[1], loaders[3]):
        np.testing.assert_array_equal(one.e_id, other.e_id)
    csaw.NeighborLoader((graph, {"w": np.ones(500)}), [3], weight_attr="w")  # weights of the loader's own
    assert len(made) == 3


def test_data_that_does_not_fit(data):
    data.num_nodes, data.x = 10, None
    with pytest.raises(csaw.CsawError, match="there are 10 vertices"):
        csaw.NeighborLoader(data, [2])
    with pytest.raises(csaw.CsawError, match="no edge_index"):
        csaw.NeighborLoader({"x": np.zeros(3)}, [2])


def test_workers_need_torch(data, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.data", None)
    with pytest.raises(ImportError, match="pip install torch"):
        csaw.NeighborLoader(data, [2], num_workers=1)


# ---- with PyTorch, where it is installed


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def in_tensors(torch, data):
    return SimpleNamespace(**{
        name: torch.from_numpy(x) if isinstance(x, np.ndarray) else x
        for name, x in vars(data).items()
    })


def test_tensors(torch, data):
    given = in_tensors(torch, data)
    mask = torch.zeros(60, dtype=torch.bool)
    mask[[4, 8, 50]] = True
    batch, = csaw.NeighborLoader(given, [3, 2], mask, batch_size=3)
    check(batch, given, [4, 8, 50])
    for name in (*FIELDS, "x", "y", "edge_attr"):
        assert isinstance(batch[name], torch.Tensor), name
    assert batch.edge_index.is_contiguous() and batch.to("cpu").x.equal(batch.x)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_draw_the_same(torch, data, method):
    given = in_tensors(torch, data)
    options = dict(batch_size=7, shuffle=True, seed=3)
    plain = csaw.NeighborLoader(given, [3, 2], **options)
    epochs = [list(plain) for _ in range(2)]
    loader = csaw.NeighborLoader(given, [3, 2], **options, num_workers=2, multiprocessing_context=method, threads=2,
                                 persistent_workers=True)
    for epoch in epochs:
        batches = list(loader)
        assert same(batches, epoch)
        for batch in batches:
            check(batch, given, np.asarray(batch.n_id[:batch.batch_size]))


def test_hetero_data_of_pyg(torch):
    """Refused, and what the error says to do works."""
    pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed").data
    data = pyg.HeteroData()
    data["a"].x, data["b"].x = torch.arange(8.0).view(4, 2), 10 + torch.arange(6.0).view(3, 2)
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 2]])
    data["b", "from", "a"].edge_index = torch.tensor([[0, 1, 2, 2], [2, 0, 3, 1]])
    for make in (lambda d: csaw.NeighborLoader(d, [-1], batch_size=7), lambda d: csaw.SaintLoader(d, "node", 50)):
        with pytest.raises(csaw.CsawError, match=r"HeteroData has edges of 2 types \(a-to-b, b-from-a\).*to_homogeneous"):
            make(data)
        for batch in make(data.to_homogeneous()):
            assert batch.node_type.tolist() == (batch.n_id >= 4).tolist() and len(batch.node_type) == 7
            assert batch.x.equal(torch.cat([data["a"].x, data["b"].x])[batch.n_id])
            assert batch.edge_type.tolist() == (batch.e_id >= 4).tolist() and len(batch.edge_type) == 8


def test_an_argument_that_nobody_has(torch, data):
    for make in (lambda: csaw.NeighborLoader(data, [2], batchsize=3), lambda: csaw.SaintLoader(data, "node", 3, step=3)):
        with pytest.raises(csaw.CsawError, match="unexpected keyword argument.*PyTorch's DataLoader"):
            make()


def test_options_of_the_dataloader_in_one_process(torch, data):
    given = in_tensors(torch, data)
    plain = list(csaw.NeighborLoader(given, [3, 2], batch_size=9))
    assert same(list(csaw.NeighborLoader(given, [3, 2], batch_size=9, timeout=0)), plain)
    unfilled = csaw.NeighborLoader(given, [3, 2], batch_size=9, num_workers=1, filter_per_worker=False,
                                   transform=lambda batch: (batch, "here"))
    assert same([batch for batch, _ in unfilled], plain)


def test_a_loader_is_pickled(data):
    loader = csaw.NeighborLoader(data, [3, 2], batch_size=9, shuffle=True)
    assert same(list(pickle.loads(pickle.dumps(loader))), list(loader))
