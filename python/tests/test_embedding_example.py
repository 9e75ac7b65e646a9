# SPDX-License-Identifier: MIT
"""examples/node2vec_embeddings.py: its measures by hand, and all of it on a graph of communities that overlap."""
import importlib.util
import itertools
import json
import runpy
import sys

import numpy as np
import pytest

from conftest import ROOT

VERTICES, LABELS = 240, 4
PLOTS = importlib.util.find_spec("matplotlib") is not None


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module("node2vec_embeddings")


def test_f1_by_hand(example):
    wanted = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]], bool)
    given = np.array([[1, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0]], bool)
    # label 0: 2 right of 3 wanted and 3 given; 1: none of 2 and 1; 2: none of 0 and 1
    macro, micro = example.f1(wanted, given)
    assert macro == pytest.approx((4 / 6 + 0 + 0) / 3) and micro == pytest.approx(2 * 2 / (5 + 5))
    score = np.array([[0.1, 0.7, 0.7], [3, 2, 1], [0, 0, 0]])
    assert np.array_equal(example.most_probable(score, np.array([1, 2, 0])), [[0, 1, 0], [1, 1, 0], [0, 0, 0]])


def test_logistic_regression_is_at_the_minimum(example):
    """The cost is strictly convex: where its slope vanishes it is least. Also where the labels are separable."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((60, 5)) * [0.1, 1, 5, 20, 100]
    for wanted in (rng.random(60) < 0.2, x[:, 4] > 0, np.zeros(60, bool)):
        w = example.logistic(x, wanted)

        def cost(w):
            return np.logaddexp(0, np.where(wanted, -1, 1) * (x @ w)).sum() + w @ w / 2

        for column, way in itertools.product(range(5), (-1, 1)):
            assert cost(w + way * 1e-3 * np.eye(5)[column]) > cost(w)


@pytest.mark.parametrize("package", ("torch", "gensim"))
def test_vectors_tell_communities_apart(monkeypatch, capsys, tmp_path, package):
    """Each vertex is of one or two communities, and three edges in four stay within one of them."""
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
    pytest.importorskip(package, reason=f"{package} is not installed")
    import scipy.io

    rng = np.random.default_rng(1)
    y = np.eye(LABELS, dtype=bool)[np.arange(VERTICES) % LABELS] | (rng.random((VERTICES, LABELS)) < 0.08)
    src, dst = rng.integers(0, VERTICES, (2, 12000))
    keep = (src != dst) & ((y[src] & y[dst]).any(axis=1) | (rng.random(12000) < 0.1))
    a = sparse.csr_matrix((np.ones(keep.sum()), (src[keep], dst[keep])), (VERTICES, VERTICES))
    scipy.io.savemat(tmp_path / "tiny.mat", {"network": sparse.csc_matrix((a + a.T) != 0).astype(float),
                                             "group": sparse.csc_matrix(y.astype(float))})
    arguments = ["--data", tmp_path / "tiny.mat", "--dimensions", 16, "--num-walks", 4, "--walk-length", 20, "--window",
                 4, "--epochs", 4, "--rate", 0.1, "--shares", 0.25, 0.5, "--splits", 3, "--skip-gram", package]
    records = []
    for way in range(2):
        out = ["--json", tmp_path / f"{way}.json", *(["--plot", tmp_path] if PLOTS and way else [])]
        monkeypatch.syspath_prepend(str(ROOT / "examples"))
        monkeypatch.setattr(sys, "argv", ["node2vec_embeddings.py", *map(str, arguments + out)])
        runpy.run_path(str(ROOT / "examples/node2vec_embeddings.py"), run_name="__main__")
        records.append(json.loads((tmp_path / f"{way}.json").read_text()))
    table = capsys.readouterr().out
    record = records[0]
    assert (record["vertices"], record["labels"], record["published"]) == (VERTICES, LABELS, {})
    assert [(way["walks"], way["p"], way["q"]) for way in record["ways"]] == [("DeepWalk", 1, 1),
                                                                              ("node2vec", 0.25, 0.25)]
    for way, again in zip(record["ways"], records[1]["ways"]):
        assert [row["share"] for row in way["at"]] == [0.25, 0.5] and way["at"] == again["at"], "equal seeds"
        for row in way["at"]:  # labels drawn blindly are right for about one in four
            assert row["macro_f1"]["mean"] > 0.8 and row["micro_f1"]["mean"] > 0.8
    assert "tiny: 240 vertices" in table and table.count("50%") == 4
    if PLOTS:
        assert "<svg" in (tmp_path / "node2vec-tiny.svg").read_text()[:1000]


def test_what_is_missing_is_said(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("CSAW_DATA", raising=False)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    for arguments, said in (([], "--data FILE"), (["--data", "x.mat", "--shares", "1.5"], "between 0 and 1")):
        monkeypatch.setattr(sys, "argv", ["node2vec_embeddings.py", *arguments])
        with pytest.raises(SystemExit) as caught:
            runpy.run_path(str(ROOT / "examples/node2vec_embeddings.py"), run_name="__main__")
        assert caught.value.code == 2 and said in capsys.readouterr().err
