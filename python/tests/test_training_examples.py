# SPDX-License-Identifier: MIT
"""examples/edge_sampled_accuracy.py, maxk_training.py and edge_sampled_error.py on a tiny graph: they learn, and their
tables and JSON say what they should."""
import importlib.util
import json
import runpy
import statistics
import sys

import numpy as np
import pytest

from conftest import ROOT

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
PLOTS = importlib.util.find_spec("matplotlib") is not None
EDGES, VERTICES, CLASSES = 900, 150, 3


@pytest.fixture(scope="module")
def degree(tmp_path_factory):
    """Writes tiny.npz, three communities with noisy features, in a folder `gnn`; the degrees, and the folder."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, CLASSES, VERTICES)
    src, dst = rng.integers(0, VERTICES, (2, 4 * EDGES))
    keep = np.flatnonzero((y[src] == y[dst]) | (rng.random(4 * EDGES) < 0.1))[:EDGES]
    a = sparse.csr_matrix((np.ones(len(keep)), (src[keep], dst[keep])), (VERTICES, VERTICES))
    x = sparse.csr_matrix(rng.standard_normal((CLASSES, 20))[y] + rng.standard_normal((VERTICES, 20)))
    folder = tmp_path_factory.mktemp("gnn")
    parts = {f"{name}_{part}": getattr(m, part) for name, m in (("adj", a), ("attr", x))
             for part in ("data", "indices", "indptr", "shape")}
    np.savez(folder / "tiny.npz", labels=y, **parts)
    both = a + a.T
    both.setdiag(0)
    both.eliminate_zeros()
    return np.diff(both.indptr), folder


def run(monkeypatch, capsys, tmp_path, name, *arguments, plots=()):
    """The example's JSON, and what it prints."""
    out, folder = tmp_path / "out.json", tmp_path / "plots"
    drawn = ["--plot", folder] if PLOTS else []
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments), "--json", str(out), *map(str, drawn)])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    for plot in plots if PLOTS else ():
        assert "<svg" in (folder / plot).read_text()[:1000], plot
    return json.loads(out.read_text()), capsys.readouterr().out


def numbers(spread):
    assert set(spread) >= {"mean", "deviation"} and 0 <= spread["mean"] <= 1 and spread["deviation"] >= 0
    return spread["mean"]


def common(folder):
    return ["--data", folder, "--graphs", "tiny", "--device", "cpu", "--seeds", 0, 1, "--repeat", 2, "--hidden", 16]


def test_edge_sampled_accuracy(monkeypatch, capsys, tmp_path, degree):
    degree, folder = degree
    widths = [4, 8, 64]
    assert degree.max() < 63
    record, table = run(monkeypatch, capsys, tmp_path, "edge_sampled_accuracy.py", *common(folder), "--epochs", 40,
                        "--widths", *widths, "--train-widths", 4,
                        plots=[f"edge-sampled-{what}-{net}.svg" for what in ("accuracy", "times")
                               for net in ("gcn", "sage")])
    graph, = record["graphs"]
    assert (graph["vertices"], graph["arcs"], graph["longest_row"]) == (VERTICES, degree.sum(), degree.max())
    assert [net["net"] for net in graph["nets"]] == ["gcn", "sage"]
    for net, length in zip(graph["nets"], (degree + 1, degree)):  # GCN has a loop at each vertex
        for s, row in zip(widths, net["rows"]):
            assert row["S"] == s and row["longer"] == (length > s).sum() and row["repeating"] == 0
            assert row["taken"] == pytest.approx(np.minimum(length, s).sum() / length.sum(), rel=1e-6)
            assert row["as_bucket"] == sum(1 for n in length if n > s and 576 % n == 0)
        assert [t["with"] for t in net["trained"]] == ["all", "stratified"]
        for trained in net["trained"]:
            right = {(t["method"], t["S"]): numbers(t) for t in trained["test"]}
            assert set(right) == {("all", 0)} | {(m, s) for m in ("bucket", "fastrand", "stratified") for s in widths}
            assert right["all", 0] > 0.8, "chance is a third"
            for method in ("bucket", "fastrand", "stratified"):  # every row is whole: but for rounding nothing differs
                assert right[method, 64] == pytest.approx(right["all", 0], abs=0.02)
        assert all(t["aggregation_ms"] > 0 and t["inference_ms"] > 0 for t in net["times"])
        assert len(net["times"]) == 2 + 3 * len(widths)
        ms = {(t["method"], t["S"]): t["aggregation_ms"] for t in net["times"]}
        assert len(net["table_v"]) == 2 * 3
        for row in net["table_v"]:
            trained, = (t for t in net["trained"] if (t["with"], t["S"]) == (row["with"], row["trained_S"]))
            mean = {(t["method"], t["S"]): t["mean"] for t in trained["test"]}
            cheap = [s for s in widths if mean["all", 0] - mean[row["method"], s] < 0.01]
            assert (row["S"] is None) == (not cheap)
            if cheap:
                least = min(ms[row["method"], s] for s in cheap)
                assert row["S"] in cheap and ms[row["method"], row["S"]] == least
                assert row["aggregation_of_peer"] == ms["torch.sparse", 0] / least
    assert table.count("test accuracy") == 4 and "S=64" in table and "tiny: 150 vertices" in table
    example = importlib.import_module("edge_sampled_accuracy")
    data = example.load("tiny", folder, torch.device("cpu"))
    h = torch.randn(VERTICES, 5)
    for kind in ("gcn", "sage"):  # what is timed beside csaw's is the same product
        near = example.Neighbours(kind, data)
        torch.testing.assert_close(near.by_torch()(h, 0), near.all()(h, 0))


def test_maxk_training(monkeypatch, capsys, tmp_path, degree):
    arguments = [*common(degree[1]), "--epochs", 40, "--every", 8, "--k", 2, 8, "--layers", 2]
    plots = [f"maxk-{what}{net}.svg" for what in ("", "convergence-") for net in ("gcn", "sage", "gin")]
    record, table = run(monkeypatch, capsys, tmp_path, "maxk_training.py", *arguments, plots=plots)
    graph, = record["graphs"]
    assert [net["net"] for net in graph["nets"]] == ["gcn", "sage", "gin"] and record["options"]["layers"] == 2
    for net in graph["nets"]:
        relu, *swept = net["ways"]
        assert [way["k"] for way in net["ways"]] == [None, 2, 8] and relu["times_as_fast"] == 1
        for way in net["ways"]:
            assert numbers(way["test"]) > 0.7, "chance is a third"
            assert [look["epoch"] for look in way["curve"]] == [8, 16, 24, 32, 40]
            assert way["curve"][-1]["loss"] < way["curve"][0]["loss"]
            assert way["times_as_fast"] == pytest.approx(relu["epoch_ms"] / way["epoch_ms"])
        assert 0 < net["aggregation_share"] <= 1
        if net["limit"] is not None:
            assert net["limit"] == pytest.approx(1 / (1 - net["aggregation_share"]))
    assert table.count("ReLU  ") == 3 and table.count("k=8") == 3

    again, _ = run(monkeypatch, capsys, tmp_path, "maxk_training.py", *arguments, "--nets", "sage")
    curves = [[way["curve"] for way in net["ways"]] for net in (graph["nets"][1], again["graphs"][0]["nets"][0])]
    assert curves[0] == curves[1], "equal seeds train equally"


def test_edge_sampled_error(monkeypatch, capsys, tmp_path):
    record, table = run(monkeypatch, capsys, tmp_path, "edge_sampled_error.py", "--draws", 400, "--longest", 1200,
                        plots=["edge-sampled-variance.svg", "edge-sampled-lengths.svg"])
    errors = record["communities"]["mean_square_error"]
    assert np.allclose(errors["stratified"][:3], [175, 409, 462], atol=0.5)  # by bench/edge_sampled.c
    assert np.allclose(errors["stride"][:3], [7103, 2229, 1933], atol=0.5)
    assert statistics.fmean(errors["stride"]) == pytest.approx(3106, abs=0.5)
    assert np.allclose(errors["bucket"][:2], [810000, 10000], rtol=1e-5) and max(errors["fastrand"]) < 1500
    rows = record["by_length"]
    assert rows["length"] == list(range(1, 1201))
    most = [min(n, 32) for n in rows["length"]]
    assert rows["bucket"]["distinct"] == rows["stratified"]["distinct"] == most
    fast = rows["fastrand"]["distinct"]
    assert [n for n in rows["length"] if fast[n - 1] < most[n - 1]] == [577, 1154] and fast[576:577] == [1]
    for method in ("bucket", "fastrand", "stratified"):
        for what in ("stretch", "noise"):
            assert max(rows[method][what][:32]) < 1e-5, "of whole rows nothing is off"
    for n in (33, 100, 576, 1200):
        assert rows["bucket"]["stretch"][n - 1] == pytest.approx(1 - 32 / n, abs=1e-5)
        assert rows["bucket"]["noise"][n - 1] == pytest.approx((1 / 32 - 1 / n)**0.5, abs=1e-5)
    assert rows["fastrand"]["stretch"][575] == rows["bucket"]["stretch"][575]
    assert rows["fastrand"]["stretch"][576] == pytest.approx(1 - 1 / 577, abs=1e-5)
    assert rows["fastrand"]["noise"][1153] == pytest.approx((1 / 2 - 1 / 1154)**0.5, abs=1e-5)
    assert max(rows["stratified"]["stretch"]) <= 4 / 32, "at most two strata at each end"
    assert "577" in table


@pytest.mark.parametrize("name", ("edge_sampled_accuracy.py", "maxk_training.py"))
def test_without_a_folder_they_say_what_to_give(monkeypatch, capsys, name):
    monkeypatch.delenv("CSAW_DATA", raising=False)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setattr(sys, "argv", [name])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert caught.value.code == 2 and "--data FOLDER" in capsys.readouterr().err
