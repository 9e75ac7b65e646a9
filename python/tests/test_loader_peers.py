# SPDX-License-Identifier: MIT
"""bench/peers/loader_peers.py on a tiny graph: all that it compares is verified and timed; what is wrong is seen."""
import importlib
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
            ("features", dict(x=batch.x + 1)),
            ("counts by hop", dict(num_sampled_nodes=[*batch.num_sampled_nodes[:-1], 0]))]


def test_what_is_wrong_is_seen(bench):
    adapters, verify = bench
    args = SimpleNamespace(seed=2, cols=4, classes=2, batch=20, batches=2, fanout=(3, 2), host_features=False)
    work = adapters.Workload(csaw.Graph.rmat(8, 8, seed=3), args)
    verifier = verify.Verifier(work)
    for who in (adapters.Csaw(work, "cpu", True), adapters.Plain(work, "cpu")):
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
