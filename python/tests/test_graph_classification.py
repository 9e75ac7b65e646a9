# SPDX-License-Identifier: MIT
"""examples/graph_classification.py: batches are their graphs, the area under the curve by counting, and both measures
on made-up sets of rings and stars."""
import argparse
import importlib
import importlib.util
import json
import runpy
import sys

import numpy as np
import pytest

from conftest import ROOT

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
PLOTS = importlib.util.find_spec("matplotlib") is not None


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module("graph_classification")


def made_up():
    """Rings (class -1) and stars (class 1) of 4 to 9 vertices with random labels: [(class, labels, edges)]."""
    rng = np.random.default_rng(6)
    out = []
    for g in range(80):
        n, ring = int(rng.integers(4, 10)), g % 4 != 0
        edges = [(v, (v + 1) % n) for v in range(n)] if ring else [(0, v) for v in range(1, n)]
        out.append((-1 if ring else 1, rng.integers(3, 5, n), edges + [(v, u) for u, v in edges]))
    return out


@pytest.fixture
def folder(tmp_path):
    """The same graphs as Rings.txt in GIN's format, and as Tox21_rings/ in TU's."""
    lines, arcs, indicator, first = ["80"], [], [], 1
    (tmp_path / "Tox21_rings").mkdir()
    for g, (y, label, edges) in enumerate(made_up()):
        lines.append(f"{len(label)} {y}")
        for v, tag in enumerate(label):
            near = [b for a, b in edges if a == v]
            lines.append(" ".join(map(str, [tag, len(near), *near])))
        arcs += [f"{a + first}, {b + first}" for a, b in edges]
        indicator += [str(g + 1)] * len(label)
        first += len(label)
    (tmp_path / "Rings.txt").write_text("\n".join(lines) + "\n")
    for part, rows in (("A", arcs), ("graph_indicator", indicator), ("graph_labels", [y for y, _, _ in made_up()]),
                       ("node_labels", [tag for _, label, _ in made_up() for tag in label])):
        (tmp_path / "Tox21_rings" / f"Tox21_rings_{part}.txt").write_text("\n".join(map(str, rows)) + "\n")
    return tmp_path


def test_a_batch_is_its_graphs(example, folder):
    """Scores of graphs in one batch, in any order, are those of each alone; and both formats hold the same."""
    cpu = torch.device("cpu")
    sets = [example.Graphs(example.load(folder, name), cpu) for name in ("Rings", "Tox21_rings")]
    torch.manual_seed(3)
    options = argparse.Namespace(hidden=8, layers=2, dropout=0.5)
    net = example.Gin(sets[0].labels, sets[0].classes, options).eval()
    chosen = torch.randperm(80)[:30]
    with torch.no_grad():
        together = [net(graphs.batch(chosen)) for graphs in sets]
        alone = torch.cat([net(sets[0].batch(chosen[i:i + 1])) for i in range(30)])
    assert torch.equal(together[0], together[1]) and torch.allclose(together[0], alone, atol=1e-5)
    dense = []
    with torch.no_grad():
        for g in chosen.tolist():
            _, label, edges = made_up()[g]
            h, a = torch.eye(2)[torch.from_numpy(label - 3)], torch.zeros(len(label), len(label))
            for u, v in edges:
                a[v, u] += 1
            out = net.scores[0](h.sum(0))
            for layer, score in zip(net.layers, net.scores[1:]):
                h = layer.mlp(h + a @ h)
                out = out + score(h.sum(0))
            dense.append(out)
    assert torch.allclose(together[0], torch.stack(dense), atol=1e-4)


def test_area_under_the_curve_by_counting(example):
    rng = np.random.default_rng(8)
    score, positive = rng.integers(0, 12, 50) / 4, rng.random(50) < 0.3
    pairs = [(a > b) + (a == b) / 2 for a in score[positive] for b in score[~positive]]
    assert example.auc(score, positive) == pytest.approx(np.mean(pairs))


def test_folds_are_stratified(example):
    y = np.array([0] * 40 + [1] * 17)
    fold = example.folds_of(y, 5, 1)
    assert {(y[fold == f] == 0).sum() for f in range(5)} == {8} and {(y[fold == f]).sum() for f in range(5)} == {3, 4}
    assert not np.array_equal(fold, example.folds_of(y, 5, 2))


def test_it_learns(monkeypatch, capsys, folder):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    arguments = ["--data", folder, "--name", "Rings", "Tox21_rings", "--epochs", 15, "--folds", 3, "--layers", 2,
                 "--hidden", 16, "--device", "cpu", "--json", folder / "out.json",
                 *(["--plot", folder] if PLOTS else [])]
    monkeypatch.setattr(sys, "argv", ["graph_classification.py", *map(str, arguments)])
    runpy.run_path(str(ROOT / "examples/graph_classification.py"), run_name="__main__")
    record, table = json.loads((folder / "out.json").read_text()), capsys.readouterr().out
    assert [(s["name"], s["measure"], s["graphs"]) for s in record["sets"]] == [("Rings", "accuracy", 80),
                                                                               ("Tox21_rings", "ROC-AUC", 80)]
    for s in record["sets"]:
        assert s["largest_class"] == 0.75 and s["best"]["mean"] > 0.9, "three in four are rings"
        assert np.shape(s["curves"]) == (3, 15) and s["best"]["mean"] >= s["last"]["mean"]
        assert s["last"]["mean"] == pytest.approx(np.mean([curve[-1] for curve in s["curves"]]))
        assert s["name"] in table
    if PLOTS:
        assert "<svg" in (folder / "graph-classification.svg").read_text()[:1000]


def test_without_a_folder_it_says_what_to_give(monkeypatch, capsys):
    monkeypatch.delenv("CSAW_DATA", raising=False)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setattr(sys, "argv", ["graph_classification.py"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / "examples/graph_classification.py"), run_name="__main__")
    assert caught.value.code == 2 and "--data FOLDER" in capsys.readouterr().err
