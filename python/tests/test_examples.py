# SPDX-License-Identifier: MIT
"""The examples of python/examples run and learn."""
import runpy
import sys

import pytest

from conftest import ROOT


def test_sage_minibatch(monkeypatch, capsys):
    """An untrained net is right for about one vertex in eight."""
    pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
    monkeypatch.setattr(sys, "argv", ["sage_minibatch.py", "--epochs", "5", "--full-epochs", "40"])
    runpy.run_path(str(ROOT / "python/examples/sage_minibatch.py"), run_name="__main__")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    minibatches, subgraphs, full = (float(row[-3]) for row in rows)
    assert minibatches > 0.9 and subgraphs > 0.9 and full > 0.9
