# SPDX-License-Identifier: MIT
"""csaw.torch: aggregation with gradients for PyTorch, and layers over it.

    import csaw.torch
    a = csaw.torch.matrix(edge_index, num_nodes)            # or a csaw.Graph, a sparse CSR tensor, a Block
    y = csaw.torch.spmm(a, x, reduce="mean")

Operators are torch.library's, so torch.compile traces them. On tensors of a GPU they run there, in the current stream.
"""
try:
    from torch.library import custom_op as _custom_op  # noqa: F401
except ImportError as error:
    raise ImportError(f"csaw.torch needs PyTorch 2.4 or later ({error}); pip install torch") from None

from ._batched import GraphBatch
from .functional import batched_spmm, edge_softmax, es_spmm, maxk, maxk_dense, maxk_spmm, sddmm, spmm
from .layers import GATConv, GCNConv, GINConv, MaxK, SAGEConv
from .matrix import Matrix, layers, matrix
from .normalize import gcn_norm

__all__ = [
    "GATConv",
    "GCNConv",
    "GINConv",
    "GraphBatch",
    "Matrix",
    "MaxK",
    "SAGEConv",
    "batched_spmm",
    "edge_softmax",
    "es_spmm",
    "gcn_norm",
    "layers",
    "matrix",
    "maxk",
    "maxk_dense",
    "maxk_spmm",
    "sddmm",
    "spmm",
]
