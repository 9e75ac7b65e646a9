# SPDX-License-Identifier: MIT
"""bench/peers/loader_peers.py on a tiny graph: all that it compares is verified and timed; what is wrong is seen."""
import importlib
import importlib.util
import json
import runpy
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import csaw
from conftest import ROOT

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench" / "peers"))
    return importlib.import_module("loader_adapters"), importlib.import_module("loader_verify")


def test_it_runs(bench, karate, monkeypatch, capsys, tmp_path):
    karate.save(tmp_path / "karate.csaw")
    arguments = ("--graph", tmp_path / "karate.csaw", "--batch", 6, "--batches", 9, "--cols", 5, "--hidden", 4,
                 "--classes", 3, "--repeat", 2, "--workers", 0, "--json", tmp_path / "out.json", "--markdown",
                 tmp_path / "out.md")
    monkeypatch.setattr(sys, "argv", ["loader_peers.py", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "bench/peers/loader_peers.py"), run_name="__main__")
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "out.md").read_text() and "peer: " in printed
    graph, = json.loads((tmp_path / "out.json").read_text())["graphs"]
    assert graph["vertices"] == 34 and graph["batches"] == 6
    phases = {}
    for row in graph["rows"]:
        assert len(row["seconds"]) == 2 and row["min_s"] <= row["median_s"] <= row["max_s"]
        assert row["batches_per_s"] * row["median_s"] == pytest.approx(12)  # two epochs, or twice those that are there
        phases.setdefault(row["phase"], []).append(row["csaw"])
        assert f"| {row['phase']} | {row['by']} | " in printed
    assert list(phases) == ["sample", "load", "gather", "aggregate", "aggregate, matrix made", "epoch"]
    assert all({True, False} == set(who) for who in phases.values())


def wrong_batches(batch, seeds):
    """(what the verifier says, a batch that it is right of)."""
    some = lambda x, place, value: x.index_put((torch.tensor(place),), torch.tensor(value))  # noqa: E731
    sender, receiver = batch.edge_index
    absent = batch.edge_index.clone()
    absent[0, 0] = receiver[0]  # a loop
    cut = dict(edge_index=batch.edge_index[:, :-1])
    return [("begin with its seeds", dict(n_id=batch.n_id.flip(0))),
            ("a vertex twice", dict(n_id=some(batch.n_id, [-1], int(batch.n_id[-2])))),
            ("the graph does not have", dict(edge_index=absent)),
            ("an edge twice", dict(edge_index=torch.cat([batch.edge_index, batch.edge_index[:, :1]], 1))),
            ("more or fewer edges", cut),
            ("not hop by hop", dict(edge_index=batch.edge_index.flip(1))),
            ("features", dict(x=batch.x + 1)),
            ("counts by hop", dict(num_sampled_nodes=[*batch.num_sampled_nodes[:-1], 0]))]


@pytest.fixture
def backend(bench, monkeypatch):
    """torch-sparse or pyg-lib, where PyTorch Geometric has found one, else a neighbor_sample() of this file's."""
    typing = pytest.importorskip("torch_geometric.typing", reason="PyTorch Geometric is not installed")
    if bench[0].pyg_backend():
        yield bench[0].pyg_backend()
        return
    library = torch.library.Library("torch_sparse", "DEF")
    library.define("neighbor_sample(Tensor colptr, Tensor row, Tensor seed, int[] fanout, bool replace, bool directed) "
                   "-> (Tensor, Tensor, Tensor, Tensor)")
    library.impl("neighbor_sample", drawn, "CPU")
    monkeypatch.setattr(typing, "WITH_TORCH_SPARSE", True)
    yield "torch-sparse"
    library._destroy()


def drawn(colptr, row, seed, fanout, replace, directed):
    """torch_sparse::neighbor_sample() by its description: (n_id, sender, receiver, edge), hop by hop, each vertex
    expanded once, where it is first reached."""
    assert not replace and directed
    n_id, edges, begin = seed.tolist(), [], 0
    place = {v: i for i, v in enumerate(n_id)}
    for k in fanout:
        end = len(n_id)
        for receiver in range(begin, end):
            first, last = colptr[n_id[receiver]:n_id[receiver] + 2].tolist()
            for edge in (first + torch.randperm(last - first)[:k]).tolist():
                v = int(row[edge])
                if v not in place:
                    place[v] = len(n_id)
                    n_id.append(v)
                edges.append((place[v], receiver, edge))
        begin = end
    return (torch.tensor(n_id), *torch.tensor(edges, dtype=torch.int64).view(-1, 3).T.contiguous())


def small_work(adapters, workers=0):
    args = SimpleNamespace(seed=2, cols=4, classes=2, batch=20, batches=2, fanout=(3, 2), host_features=False,
                           workers=workers)
    return adapters.Workload(csaw.Graph.rmat(8, 8, seed=3), args)


@pytest.mark.parametrize("workers", (0, 2))
def test_pytorch_geometric_is_a_peer(bench, backend, monkeypatch, workers):
    """Beside the plain sampler, by its compiled part, with batches that are verified like the others'; without workers
    where they would not find room."""
    adapters, verify = bench
    work = small_work(adapters, workers)
    found, said = adapters.peers(work, "cpu")
    assert [who.name for who in found] == ["plain PyTorch", *(f"torch-geometric, {n} workers" for n in {0, workers})]
    assert f"NeighborLoader, by {backend}" in said and f"with {backend}" in found[-1].version
    verifier = verify.Verifier(work)
    for who in found:
        vertices, edges = verifier.contender(who)
        assert 20 < vertices <= 20 * (1 + 3 + 6) and edges <= 20 * (3 + 6)
    monkeypatch.setattr(adapters.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    found, said = adapters.peers(work, "cpu")
    assert len(found) == 2 and ("2 workers were not timed" in said) == (workers == 2)


def test_edges_by_receiver(bench):
    """What PyTorch Geometric is given as sorted is: else it would sample from other rows."""
    work = small_work(bench[0])
    sender, receiver = work.by_receiver.numpy()
    order = np.lexsort(work.edge_index.numpy())  # by receiver, then by sender
    assert np.array_equal(work.edge_index.numpy()[:, order], [sender, receiver])


def test_without_a_compiled_part_there_is_no_pytorch_geometric(bench, monkeypatch):
    typing = pytest.importorskip("torch_geometric.typing", reason="PyTorch Geometric is not installed")
    monkeypatch.setattr(typing, "WITH_PYG_LIB", False)
    monkeypatch.setattr(typing, "WITH_TORCH_SPARSE", False)
    found, said = bench[0].peers(small_work(bench[0]), "cpu")
    assert [who.name for who in found] == ["plain PyTorch"] and "without pyg-lib and torch-sparse" in said


def test_what_is_wrong_is_seen(bench, request):
    adapters, verify = bench
    work = small_work(adapters)
    verifier = verify.Verifier(work)
    who_all = [adapters.Csaw(work, "cpu", True), adapters.Plain(work, "cpu")]
    if importlib.util.find_spec("torch_geometric"):
        request.getfixturevalue("backend")
        who_all.append(adapters.Pyg(work, "cpu", 0))
    for who in who_all:
        vertices, edges = verifier.contender(who)
        assert 20 < vertices <= 20 * (1 + 3 + 6) and edges <= 20 * (3 + 6)
        batch = next(iter(who.epoch()))
        for words, change in wrong_batches(batch, work.seeds[:20]):
            fields = {name: batch[name] if isinstance(batch, csaw.Batch) else getattr(batch, name)
                      for name in ("n_id", "edge_index", "x", "batch_size", "num_sampled_nodes", "num_sampled_edges")}
            with pytest.raises(verify.Wrong, match=words):
                verifier.batch(SimpleNamespace(**{**fields, **change}), 0, "cpu")


def test_the_plain_sampler_is_uniform(bench):
    """Each of 12 arcs is picked 5 times in 12: a peer that leaves some out has less to do."""
    adapters, _ = bench
    star = csaw.Graph.from_edge_index(np.stack([np.arange(1, 13), np.zeros(12, np.int64)]), 13)
    args = SimpleNamespace(seed=2, cols=1, classes=2, batch=1, batches=1, fanout=(5, 1), host_features=False)
    plain = adapters.Plain(adapters.Workload(star, args), "cpu")
    torch.manual_seed(3)
    row, picked = plain.hop(torch.zeros(2400, dtype=torch.int64), 5)
    assert torch.equal(row, torch.arange(2400).repeat_interleave(5))
    assert all(len(set(five)) == 5 for five in picked.view(2400, 5).tolist())
    counts = torch.bincount(picked, minlength=13)
    assert counts[0] == 0
    deviation = (counts[1:] - 1000) / (2400 * 5 / 12 * 7 / 12) ** 0.5
    assert float(deviation.abs().max()) < 5


def test_graphs_by_name_and_from_files(bench, tmp_path):
    pytest.importorskip("scipy", reason="SciPy is not installed")
    graphs = importlib.import_module("loader_graphs")
    made = graphs.zipf(1000, 5000)
    again = graphs.zipf(1000, 5000)
    assert made.num_vertices == 1000 and 4000 < made.num_edges <= 5000
    assert np.array_equal(made.rowptr, again.rowptr) and np.array_equal(made.col, again.col)
    # Rank 0 is an end with probability 1000^-0.4 = 0.063: 315 of 5,000 sources, less the edges that come twice
    assert 200 < made.degree.max() < 400 and np.median(made.degree) < 5
    np.savez(tmp_path / "some.npz", adj_data=np.ones(3), adj_indices=[1, 2, 2], adj_indptr=[0, 1, 2, 3, 3],
             adj_shape=[4, 4])
    name, graph = graphs.graph_of(str(tmp_path / "some.npz"), SimpleNamespace(undirected=True))
    assert name == "some" and graph.edge_index().tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]] and graph.num_vertices == 4
    assert not graphs.is_attributed(ROOT / "data/karate.txt")


def test_how_busy_the_gpu_is(bench, monkeypatch):
    """The mean of what NVML tells once it has forgotten what was before; None where it does not tell."""
    training = importlib.import_module("loader_training")
    monkeypatch.setattr(training, "LEAD", 0.02)
    monkeypatch.setattr(training, "ASKED", 0.001)
    steps, told = [], []

    def tell(device):
        told.append(10 * len(told) % 100)
        return told[-1]

    some = SimpleNamespace(in_flight=1, step=steps.append,
                           who=SimpleNamespace(device="cuda:0", epoch=lambda in_flight: range(5)))
    monkeypatch.setattr(torch.cuda, "utilization", tell)
    assert training.busy(some, 0.02) == pytest.approx(np.mean(told) / 100)
    assert len(steps) > len(told) > 0
    monkeypatch.delattr(torch.cuda, "utilization")
    assert training.busy(some, 0.02) is None
