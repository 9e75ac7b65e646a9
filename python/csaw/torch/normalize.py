# SPDX-License-Identifier: MIT
"""What GCN and GAT do to a matrix first: loops added, weights normalised; kept at the Matrix if nothing is trained."""
from typing import Optional, Tuple

import torch
from torch import Tensor

from ._spmm import spmm_op
from .matrix import Adjacency, Matrix, from_coo, matrix


@torch.compiler.disable
def _convert(edges, size) -> Matrix:
    return matrix(edges, size)


def matrix_for(edges: Adjacency, x_src: Tensor, x_dst: Optional[Tensor]) -> Matrix:
    """The Matrix that a layer works with; of edge_index, rows and columns are those of the features."""
    if isinstance(edges, Matrix):
        return edges
    return _convert(edges, (len(x_src if x_dst is None else x_dst), len(x_src)))


def _add_loops(a: Matrix, weight: Tensor, fill: float) -> Tuple[Matrix, Tensor]:
    """One loop at each row, after its other edges: with the weight of the last one it had, or fill."""
    count = min(a.shape)
    row, col, loop = a.row(), a.col.long(), torch.arange(count, device=a.device)
    other = row != col
    out = from_coo(torch.cat([row[other], loop]), torch.cat([col[other], loop]), None, a.shape, a.prepared)
    number = torch.arange(a.num_edges, device=a.device)
    last = torch.full((count,), -1, device=a.device).scatter_reduce(0, row[~other], number[~other], "amax")
    of_loop = torch.cat([weight, weight.new_full((1,), fill)])[torch.where(last < 0, a.num_edges, last)]
    return out, out.in_order(torch.cat([weight[other], of_loop]))


@torch.compiler.disable
def with_loops(a: Matrix) -> Matrix:
    """a without weights, and with one loop at each row."""
    if "loops" not in a.derived:
        a.derived["loops"] = _add_loops(a, torch.ones(a.num_edges, device=a.device), 1)[0]
    return a.derived["loops"]


def _inverse_root_of_sums(a: Matrix, weight: Tensor) -> Tensor:
    """1 / sqrt(sum of the weights of each row), 0 where that is 0. By a product with ones, since index_add() adds in
    any order on a GPU."""
    root = spmm_op(a.rowptr, a.col, weight.contiguous(), weight.new_ones(a.shape[1], 1), "sum", 1)[0][:, 0].pow(-0.5)
    return root.masked_fill(root == float("inf"), 0)


@torch.compiler.disable
def gcn_norm(edges: Adjacency, weight: Optional[Tensor] = None, *, improved: bool = False,
             add_self_loops: bool = True) -> Tuple[Matrix, Tensor]:
    """The matrix of GCN and its weights w / sqrt(d_i d_j) [edges of it], d the sums of weights by receiver.

    improved: loops weigh 2. Of a matrix that is not square, such as a block, d_j are the sums by column. With the
    Matrix's own weights the result is kept there. GCNConv(normalize=False) takes it as matrix and weight.
    """
    a = matrix(edges)
    key = ("gcn", improved, add_self_loops)
    own = weight is None and (a.weight is None or not a.weight.requires_grad)
    if own and key in a.derived:
        return a.derived[key]
    if weight is None:
        weight = torch.ones(a.num_edges, device=a.device) if a.weight is None else a.weight
    else:
        weight = a.in_order(weight.to(torch.float32))
    out = a
    if add_self_loops:
        out, weight = _add_loops(a, weight, 2.0 if improved else 1.0)
    row, col = out.row(), out.col.long()
    of_row = of_col = _inverse_root_of_sums(out, weight)
    if a.shape[0] != a.shape[1]:
        turned = from_coo(col, row, None, (a.shape[1], a.shape[0]), False)
        of_col = _inverse_root_of_sums(turned, turned.in_order(weight))
    made = Matrix(out.rowptr, out.col, None, out.shape[1], prepare=out.prepared), of_row[row] * weight * of_col[col]
    if own:
        a.derived[key] = made
    return made
