# SPDX-License-Identifier: MIT
"""examples/sage_minibatch.py: rows of sparse features, and all its ways of training learn; its table, JSON and plots."""
import importlib.util
import json
import runpy
import sys

import pytest

from conftest import ROOT

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
pytest.importorskip("scipy", reason="SciPy is not installed")
WAYS = ["neighbours", *(f"GraphSAINT, {kind}" for kind in ("node", "edge", "walk", "frontier")), "full graph"]


def test_rows_of_sparse_features(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    example = runpy.run_path(str(ROOT / "examples/sage_minibatch.py"))
    data = example["planted_partition"](torch.device("cpu"), n=50, words=7)
    vertex = torch.tensor([3, 49, 0, 3])
    assert torch.equal(example["rows_of"](data.x, vertex).dense(), data.x.dense()[vertex])


def test_all_ways_learn(monkeypatch, capsys, tmp_path):
    """An untrained net is right for about one vertex in eight."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    plots = importlib.util.find_spec("matplotlib") is not None
    arguments = ["--graphs", "generated", "--device", "cpu", "--epochs", 6, "--full-epochs", 40, "--subgraph", 600,
                 "--json", tmp_path / "out.json", *(["--plot", tmp_path / "plots"] if plots else [])]
    monkeypatch.setattr(sys, "argv", ["sage_minibatch.py", *map(str, arguments)])
    runpy.run_path(str(ROOT / "examples/sage_minibatch.py"), run_name="__main__")
    graph, = json.loads((tmp_path / "out.json").read_text())["graphs"]
    assert [row["training"] for row in graph["ways"]] == WAYS
    lines = capsys.readouterr().out.splitlines()[2:]
    for row, line in zip(graph["ways"], lines):
        assert row["test"]["mean"] > 0.85, row["training"]
        assert line.startswith(f"  {row['training']} ") and f"{100 * row['test']['mean']:.1f} ±" in line
        assert all(row["seconds"][phase] > 0 for phase in ("sample", "gather", "train"))
        assert len(row["curve"]) == row["epochs"]
        spent = sum(row["seconds"].values()) * row["epochs"]
        assert row["curve"][-1]["seconds"] == pytest.approx(spent)
        assert row["test"]["mean"] == max(row["curve"], key=lambda look: look["valid"])["test"]
    for name in ("sage-accuracy.svg", "sage-phases.svg") if plots else ():
        assert "<svg" in (tmp_path / "plots" / name).read_text()[:1000]


@pytest.mark.parametrize("program", ["sage_minibatch", "maxk_training", "edge_sampled_accuracy"])
@pytest.mark.parametrize("arguments, words", [([], "no folder of data sets: give --data FOLDER"),
                                              (["--data", "/no/such"], "no folder of data sets /no/such: give")])
def test_without_data(monkeypatch, capsys, program, arguments, words):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.delenv("CSAW_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", [program, "--device", "cpu", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / f"examples/{program}.py"), run_name="__main__")
    assert caught.value.code == 2 and words in capsys.readouterr().err
