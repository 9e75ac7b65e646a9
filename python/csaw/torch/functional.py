# SPDX-License-Identifier: MIT
"""Functions over matrices and tensors, with gradients. A matrix is whatever csaw.torch.matrix() takes.

Features are float32, float16 or bfloat16, and results have their dtype; weights and scores of edges are float32, in the
order in which the edges were given, sums are taken in float32. Under autocast the features' own dtype decides.
Gradients of gradients are not there.
"""
from typing import Optional, Tuple

import torch
from torch import Tensor

from .._arrays import as_count
from .._lib import invalid
from ._attention import edge_softmax_op, sddmm_op
from ._batched import GraphBatch, batched_spmm_op
from ._maxk import maxk_dense_op, maxk_op, maxk_spmm_op
from ._spmm import METHODS, es_spmm_op, spmm_op
from .matrix import Adjacency, Matrix, matrix


def _for(edges: Adjacency, x: Tensor) -> Matrix:
    """The matrix that takes x [columns, n]; of edge_index, square."""
    if not isinstance(x, Tensor):
        raise invalid(f"x is a {type(x).__name__}; give a tensor, such as torch.as_tensor(x)")
    a = matrix(edges, x.shape[0])
    if x.shape[0] != a.shape[1]:
        raise invalid(
            f"x has {x.shape[0]} rows, but the matrix is {a.shape[0]} x {a.shape[1]}; give a row for each column")
    return a


def _weight(a: Matrix, weight: Optional[Tensor]) -> Optional[Tensor]:
    if weight is None:
        return a.weight
    if not isinstance(weight, Tensor):  # PyTorch Geometric's spmm() has its reduction there
        raise invalid(f"weight is {weight!r}, a {type(weight).__name__}; give a tensor with one for each edge, and a "
                      "reduction by its name: reduce='mean'")
    return a.in_order(weight).to(torch.float32).contiguous()


def _known(value: str, names, what: str) -> str:
    if value not in names:
        raise invalid(f"{what} is {value!r}; it is one of {', '.join(names)}")
    return value


def spmm(edges: Adjacency, x: Tensor, weight: Optional[Tensor] = None, reduce: str = "sum", heads: int = 1) -> Tensor:
    """y[i] = reduce over the edges from j to i of weight * x[j]: [rows, n] from x [columns, n]; 0 in an empty row.

    reduce: "sum", "mean" (the sum divided by the number of edges), "max" or "min". weight: [edges], or [edges, heads]:
    head h is the h-th part of x's columns; None = the matrix's. Gradients for x and weight.
    """
    _known(reduce, ("sum", "mean", "max", "min"), "reduce")
    a = _for(edges, x)
    weight, heads = _weight(a, weight), as_count(heads, "heads", 1)
    if weight is not None and weight.numel() != a.num_edges * heads:
        if weight.dim() != 1:
            raise invalid(f"weight has shape {list(weight.shape)}, but there are {heads} heads: [edges, {heads}]")
        weight = weight[:, None].expand(-1, heads).contiguous()
    return spmm_op(a.rowptr, a.col, weight, x, reduce, heads)[0]


def es_spmm(edges: Adjacency, x: Tensor, weight: Optional[Tensor] = None, width: int = 128, method: str = "stratified",
            reduce: str = "sum", seed: int = 0, epoch: int = 0) -> Tensor:
    """spmm over at most `width` entries of each row (ES-SpMM, csaw/edge_sampled.h).

    method: "stratified", unbiased and anew for each (seed, epoch), "bucket" or "fastrand". reduce: "sum" or "mean".
    """
    a = _for(edges, x)
    if width == 0:  # which in C is the default
        raise invalid("width is 0, but it is how many entries a row has at most; give 1 or more")
    _known(method, METHODS, "method")
    return es_spmm_op(a.rowptr, a.col, _weight(a, weight), x, width, method, _known(reduce, ("sum", "mean"), "reduce"),
                      seed, epoch)


def batched_spmm(graphs: GraphBatch, x: Tensor, weight: Optional[Tensor] = None, reduce: str = "sum") -> Tensor:
    """spmm of every graph of a batch: [vertices, n] from x [vertices, n]. weight: [edges]; None = the batch's."""
    _known(reduce, ("sum", "mean", "max", "min"), "reduce")
    if weight is not None and weight.numel() != len(graphs.row):
        raise invalid(f"weight has shape {list(weight.shape)}, but the batch has {len(graphs.row)} edges; give one "
                      "number for each")
    weight = graphs.weight if weight is None else weight.to(torch.float32).contiguous()
    return batched_spmm_op(graphs.offset, graphs.edge_offset, graphs.row, graphs.col, weight, x, reduce)[0]


def maxk(x: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    """The k largest of each row, as CBSR: values [rows, k], and their columns [rows, k], ascending: uint8 for up to 256
    columns, else the bits of uint16 in int16. Gradients flow through values."""
    if not 1 <= k <= x.shape[-1]:
        raise invalid(f"k is {k}, but rows have {x.shape[-1]} elements; give 1 .. {x.shape[-1]}")
    return maxk_op(x, k)


def maxk_dense(values: Tensor, index: Tensor, cols: int) -> Tensor:
    """[rows, cols]: values in their columns and 0 elsewhere."""
    return maxk_dense_op(values, index, cols)


def maxk_spmm(edges: Adjacency, values: Tensor, index: Tensor, cols: int, weight: Optional[Tensor] = None,
              reduce: str = "sum") -> Tensor:
    """spmm(edges, maxk_dense(values, index, cols), weight, reduce) without the dense matrix: [rows, cols]. weight:
    [edges]; reduce: "sum" or "mean"."""
    a = _for(edges, values)
    return maxk_spmm_op(a.rowptr, a.col, _weight(a, weight), values, index, cols,
                        _known(reduce, ("sum", "mean"), "reduce"))


def sddmm(edges: Adjacency, x: Tensor, y: Tensor, heads: int = 1) -> Tensor:
    """<x[i, head], y[j, head]> of every edge from j to i: [edges, heads] float32 in the order of the Matrix (its .edge
    says which edge each is). x: [rows, n], y: [columns, n]."""
    a = matrix(edges, (x.shape[0], y.shape[0]))
    if y.shape[0] != a.shape[1]:
        raise invalid(f"y has {y.shape[0]} rows, but the matrix is {a.shape[0]} x {a.shape[1]}")
    return sddmm_op(a.rowptr, a.col, x, y, as_count(heads, "heads", 1))


def edge_softmax(edges: Matrix, score: Tensor) -> Tensor:
    """Softmax of score [edges, heads] over the edges of each row, in the order of the Matrix; [edges] is one head."""
    a = matrix(edges)
    whole = score.to(torch.float32)
    whole = whole if score.dim() == 2 else whole[:, None]
    return edge_softmax_op(a.rowptr, a.col, whole, a.shape[1]).reshape(score.shape)
