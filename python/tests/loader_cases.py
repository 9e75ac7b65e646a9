# SPDX-License-Identifier: MIT
"""What the tests of batches made ahead share: inputs, and the comparison with another loader's."""
from types import SimpleNamespace

import numpy as np
import pytest

FIELDS = ("n_id", "e_id", "edge_index", "input_id", "x", "y", "edge_attr")


def made_up(vertices=60, edges=500, cols=3):
    """A directed multigraph with loops, and features that are gathered by the library."""
    rng = np.random.default_rng(2)
    return SimpleNamespace(edge_index=rng.integers(0, vertices, (2, edges)), x=rng.random((vertices, cols), np.float32),
                           y=np.arange(vertices), edge_attr=np.arange(edges) * 3, num_nodes=vertices, name="made up")


def in_tensors(data):
    torch = pytest.importorskip("torch")
    return SimpleNamespace(**{
        name: torch.from_numpy(x) if isinstance(x, np.ndarray) else x
        for name, x in vars(data).items()
    })


def bits(x):
    """On the host, as NumPy has them; of a dtype that it does not have, their bytes."""
    if isinstance(x, np.ndarray):
        return x
    x = x.cpu()
    return x.view(__import__("torch").int16).numpy() if "bfloat16" in str(x.dtype) else x.numpy()


def same(got, want):
    """Batches of two loaders, bit for bit."""
    assert len(got) == len(want)
    for one, other in zip(got, want):
        for name in FIELDS:
            a, b = bits(one[name]), bits(other[name])
            assert a.dtype == b.dtype and a.shape == b.shape, name
            np.testing.assert_array_equal(a, b, name)
        for name in ("batch_size", "num_sampled_nodes", "num_sampled_edges", "name"):
            assert one[name] == other[name]
        assert type(one.n_id) is type(other.n_id) and type(one.x) is type(other.x)
