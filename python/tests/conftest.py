# SPDX-License-Identifier: MIT
"""What the tests share. csaw is the one on PYTHONPATH or installed; CSAW_LIBRARY and CSAW_PROGRAM name those of a
build."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import csaw
from csaw.__main__ import program

ROOT = Path(os.environ.get("CSAW_SOURCE_DIR", Path(__file__).resolve().parents[2]))
DATA = os.environ.get("CSAW_DATA")


@pytest.fixture
def karate():
    return csaw.Graph.load(ROOT / "data/karate.txt", undirected=True)


@pytest.fixture
def lesmis():
    return csaw.Graph.load(ROOT / "data/lesmis.txt", undirected=True)


@pytest.fixture
def cli():
    """Runs the csaw program; returns its standard output."""

    def run(*arguments):
        return subprocess.run([program(), *map(str, arguments)], check=True, capture_output=True).stdout

    return run


@pytest.fixture
def python():
    """Runs a program text in a process of its own; returns what it prints."""

    def run(text, **options):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", text],
                              capture_output=True,
                              text=True,
                              env=environment,
                              timeout=120,
                              **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def digraph():
    """A directed multigraph with a loop, a dead end, weights, types and times, and its edges as they were given."""
    rng = np.random.default_rng(5)
    edge_index = np.concatenate([rng.integers(0, 40, (2, 300)), [[7, 3, 3], [7, 4, 4]]], axis=1)
    edge_index = edge_index[:, edge_index[0] != 11]  # 11 is a dead end
    m = edge_index.shape[1]
    columns = dict(weight=rng.random(m).astype(np.float32) + 0.5, type=rng.integers(0, 3, m).astype(np.uint32),
                   time=rng.integers(-50, 50, m))
    return csaw.Graph.from_edge_index(edge_index, 40, **columns), edge_index, columns


def real(*path):
    """A file of the real graphs, or a skip."""
    if not DATA:
        pytest.skip("CSAW_DATA names no folder of real graphs")
    file = Path(DATA, *path)
    if not file.exists():
        pytest.skip(f"{file} is not there")
    return file


@pytest.fixture(params=("cpu", "cuda"))
def device(request):
    """A test that takes it runs on the CPU and on a GPU: it is where PyTorch makes tensors during the test. On a GPU
    sums in one order are asked for."""
    torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    if request.param == "cuda" and "cuda" not in csaw.version():
        pytest.skip(f"the library is built without CUDA: {csaw.version()}")
    place = torch.device("cuda", torch.cuda.current_device()) if request.param == "cuda" else torch.device("cpu")
    torch.use_deterministic_algorithms(request.param == "cuda", warn_only=True)
    with place:
        yield place
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def edges(device):
    """edge_index of PyTorch, [2, 150]: a multigraph of 30 vertices with loops; 28 and 29 receive nothing."""
    import torch

    rng = np.random.default_rng(4)
    return torch.from_numpy(np.stack([rng.integers(0, 30, 150), rng.integers(0, 28, 150)])).to(device)
