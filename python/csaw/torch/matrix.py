# SPDX-License-Identifier: MIT
"""Matrix: a sparse matrix as tensors, from whatever names edges. Rows receive, columns send, as in csaw/spmm.h."""
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import torch
from torch import Tensor

from .._arrays import as_integers, shared_tensor
from .._lib import invalid
from ..graph import Graph
from ..samples import Block
from ._call import check_sparse as _check
from ._call import prepare as _prepare

MAX_COLS = 2**31 - 1


class _InOrder(torch.autograd.Function):
    """values[edge], where place is the inverse of edge: so that gradients are selected, too, not added up."""

    @staticmethod
    def forward(ctx, values, edge, place):
        ctx.save_for_backward(place)
        return values.index_select(0, edge)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.index_select(0, ctx.saved_tensors[0]), None, None


class Matrix:
    """CSR tensors, checked once, with what products need kept beside them (12 bytes an edge, 8 a column; on a
    GPU more: csaw/spmm.h has it in full).

    rowptr: [rows + 1] int64; col: [edges] int32; weight: [edges] float32, or None = all 1; edge: [edges] int64, where
    each entry was among the edges given, None = in the same order. Tensors must stay as they are. prepare=False: a
    matrix of one training step. Nothing is kept, so that each product finds out what it needs, and on a GPU nothing is
    checked and nothing waits; all bits are the same. means=True: on a GPU 4 bytes an edge are kept as well, by
    which gradients of "mean" without weights take less time.
    """

    def __init__(self, rowptr: Tensor, col: Tensor, weight: Optional[Tensor] = None, num_cols: Optional[int] = None,
                 edge: Optional[Tensor] = None, prepare: bool = True, means: bool = False):
        if means and weight is not None:
            raise invalid("means=True keeps weights of a matrix that has none, but weight is given; leave one of them out")
        if means and not prepare:
            raise invalid("means=True keeps something, but prepare=False keeps nothing; leave one of them out")
        self.rowptr, self.col = rowptr.contiguous(), col.contiguous()
        self.weight = None if weight is None else weight.to(torch.float32).contiguous()
        self.edge = edge
        rows = self.rowptr.shape[0] - 1
        self.shape: Tuple[int, int] = (rows, rows if num_cols is None else int(num_cols))
        if self.shape[1] > MAX_COLS:
            raise invalid(f"the matrix has {self.shape[1]} columns; PyTorch's indices allow {MAX_COLS}")
        self.means = means
        parts = self.rowptr, self.col, self.shape[1]
        self._plan = _prepare(*parts, means) if prepare else _check(*parts)
        self._row: Optional[Tensor] = None
        self._place: Optional[Tensor] = None
        self.derived: Dict[Any, Any] = {}  # what layers made of it: with loops, normalised

    @property
    def num_edges(self) -> int:
        return self.col.shape[0]

    @property
    def device(self) -> torch.device:
        return self.col.device

    def row(self) -> Tensor:
        """[edges] int64, the row of each edge; kept."""
        if self._row is None:
            rows = torch.arange(self.shape[0], device=self.device)
            self._row = torch.repeat_interleave(rows, self.rowptr.diff(), output_size=self.num_edges)
        return self._row

    def place(self) -> Tensor:
        """[edges] int64, where each of the edges given stands in this matrix; kept. Not with edge None."""
        if self._place is None:
            count = torch.arange(self.num_edges, device=self.device)
            place = torch.empty_like(count).scatter_(0, self.edge, count)
            if not torch.equal(place.index_select(0, self.edge), count):
                raise invalid("edge names one of the edges given twice; give each entry of the matrix another")
            self._place = place
        return self._place

    def in_order(self, values: Tensor) -> Tensor:
        """An array of the edges as given, in the order of this matrix."""
        if values.shape[0] != self.num_edges:
            raise invalid(f"there are {values.shape[0]} values for {self.num_edges} edges; give one for each")
        return values if self.edge is None else _InOrder.apply(values, self.edge, self.place())

    def to(self, device) -> "Matrix":
        """The same matrix on that device."""
        if torch.device(device) == self.device:
            return self
        weight, edge = (None if x is None else x.to(device) for x in (self.weight, self.edge))
        return Matrix(self.rowptr.to(device), self.col.to(device), weight, self.shape[1], edge, self.prepared,
                      self.means)

    def dense(self) -> Tensor:
        """[rows, cols] float32, repeated entries added."""
        out = torch.zeros(self.shape, device=self.device)
        weight = torch.ones(self.num_edges, device=self.device) if self.weight is None else self.weight
        return out.index_put_((self.row(), self.col.long()), weight, accumulate=True)

    @property
    def prepared(self) -> bool:
        """Whether what products need is kept."""
        return self._plan is not None

    def __reduce__(self):
        return Matrix, (self.rowptr, self.col, self.weight, self.shape[1], self.edge, self.prepared, self.means)

    def __repr__(self):
        return f"Matrix({self.shape[0]} x {self.shape[1]}, {self.num_edges} edges, {self.device})"


def _check_edges(row: Tensor, col: Tensor, shape: Tuple[int, int]) -> None:
    if not row.numel():
        return
    row_least, row_most, col_least, col_most = torch.stack([*row.aminmax(), *col.aminmax()]).tolist()  # waits once
    for least, most, count, what in ((row_least, row_most, shape[0], "receiver"),
                                     (col_least, col_most, shape[1], "sender")):
        if least < 0 or most >= count:
            raise invalid(f"{what} {least if least < 0 else most} of edge_index is outside 0 .. {count - 1}; there are "
                          f"{count}: fix the edge, or give num_nodes, or x, of as many vertices")


def from_coo(row: Tensor, col: Tensor, weight: Optional[Tensor], shape: Tuple[int, int],
             prepare: bool = True) -> Matrix:
    """From edges in any order, within the shape; of a row they keep theirs."""
    narrow = row.int() if shape[0] <= MAX_COLS else row  # half the passes of a radix sort
    sorted_row, edge = torch.sort(narrow, stable=True)
    weight = None if weight is None else weight.index_select(0, edge)
    return Matrix(_starts(sorted_row, shape[0]), col.index_select(0, edge).to(torch.int32), weight, shape[1], edge,
                  prepare)


def _starts(row: Tensor, rows: int) -> Tensor:
    """rowptr of rows that ascend."""
    return torch.searchsorted(row, torch.arange(rows + 1, dtype=row.dtype, device=row.device))


Adjacency = Union[Matrix, Graph, Block, Tensor, Any]


def _from_tensor(x: Tensor, size: Union[None, int, Tuple[int, int]]) -> Matrix:
    if x.layout == torch.sparse_csr:
        values = x.values()
        if values.dim() != 1:
            raise invalid(f"the values of a sparse CSR tensor have shape {list(values.shape)}; csaw takes one an edge")
        weight = None if not values.requires_grad and bool((values == 1).all()) else values
        return Matrix(x.crow_indices().to(torch.int64), x.col_indices().to(torch.int32), weight, x.shape[1])
    if x.layout != torch.strided or x.dim() != 2 or x.shape[0] != 2 or x.is_floating_point():
        raise invalid(f"a tensor {list(x.shape)} {x.dtype} {x.layout} names no edges; give edge_index [2, edges] of "
                      "integers, or a sparse CSR tensor (x.to_sparse_csr())")
    if size is None:
        size = 1 + int(x.max()) if x.numel() else 0
    rows, cols = (size, size) if isinstance(size, int) else size
    row, col = x[1].long(), x[0].long()
    _check_edges(row, col, (rows, cols))
    return from_coo(row, col, None, (rows, cols))


def _from_graph(graph: Graph) -> Matrix:
    turned, place = graph._incoming()
    weight = None if turned.weight is None else shared_tensor(turned.weight, "float32")
    return Matrix(shared_tensor(turned.rowptr, "int64"), shared_tensor(turned.col, "int32"), weight,
                  turned.num_vertices, shared_tensor(place, "int64"))


def matrix(edges: Adjacency, size: Union[None, int, Tuple[int, int]] = None) -> Matrix:
    """A Matrix of
    - edge_index [2, edges], (sender, receiver) as PyTorch Geometric has it, a tensor or an array: row = receiver.
      size: number of vertices,
      or (receivers, senders); None = largest number + 1
    - a torch sparse CSR tensor: its rows receive; all values 1 = no weights
    - a csaw.Graph: that of its edge_index(), so v receives along the arcs u -> v; with its weights. Made once and kept
      with the graph
    - a Block of a minibatch: its rows receive; not prepared. layers() has the matrices of a whole network
    Make it once and give it to ops and layers: to check, to sort and to transpose takes longer than a product."""
    if isinstance(edges, Matrix):
        return edges
    if isinstance(edges, np.ndarray):
        edges = shared_tensor(as_integers(edges, "edge_index", np.int64, (2, None), what="vertex numbers"), "int64")
    if isinstance(edges, Tensor):
        return _from_tensor(edges, size)
    if isinstance(edges, Graph):
        if "matrix" not in edges._kept:
            edges._kept["matrix"] = _from_graph(edges)
        return edges._kept["matrix"]
    if isinstance(edges, Block):
        return Matrix(shared_tensor(edges.rowptr, "int64"), shared_tensor(edges.col, "int32"), None, edges.num_src,
                      prepare=False)
    raise invalid(f"{type(edges).__name__} names no edges; give edge_index [2, edges], a sparse CSR tensor, a "
                  "csaw.Graph, a Block or a csaw.torch.Matrix")


def layers(batch: Any, weight: Optional[Tensor] = None) -> List[Matrix]:
    """The matrix of each layer of a network on a batch of csaw.NeighborLoader, outer hop first:

        for conv, a in zip(convs, csaw.torch.layers(batch)):
            x = conv(x, a)                          # [a.shape[1], n] -> [a.shape[0], n]

    Layer i of k has the edges of all hops but the last i: rows are the vertices that the layers after it read, columns
    its own vertices. x is batch.x at first, and in the end has batch_size rows. weight: [edges of the batch], such as
    batch.edge_weight, None = all 1. Of loaders with
    subgraph_type="directional", whose edge_index nobody changed: on a GPU it is not looked at."""
    if getattr(batch, "num_sampled_nodes", None) is None:
        raise invalid("the batch has no num_sampled_nodes, so that its layers are not known; layers() is for batches "
                      "of a csaw.NeighborLoader with subgraph_type='directional'")
    if getattr(batch, "edge_index", None) is None:
        raise invalid("the batch has no edge_index; layers() is for batches of data with tensors")
    sender, receiver = (torch.as_tensor(x) for x in batch.edge_index)
    nodes, edges = list(batch.num_sampled_nodes), list(batch.num_sampled_edges)
    if len(receiver) != sum(edges) or (receiver.device.type == "cpu" and bool((receiver[1:] < receiver[:-1]).any())):
        raise invalid(f"edge_index has {len(receiver)} edges, or another order than the batch came with, which has "
                      f"{sum(edges)}; call layers() before edges are added or sorted")
    weight = None if weight is None else torch.as_tensor(weight)
    if weight is not None and weight.shape != receiver.shape:
        raise invalid(f"weight has shape {list(weight.shape)}, but the batch has {len(receiver)} edges; give one number "
                      "for each")
    rowptr, col = _starts(receiver, sum(nodes[:-1])), sender.int()
    out = []
    for hops in range(len(edges), 0, -1):
        rows, count = sum(nodes[:hops]), sum(edges[:hops])
        of_edges = None if weight is None else weight[:count]
        out.append(Matrix(rowptr[:rows + 1], col[:count], of_edges, rows + nodes[hops], prepare=False))
    return out
