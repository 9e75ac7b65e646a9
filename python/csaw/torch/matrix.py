# SPDX-License-Identifier: MIT
"""Matrix: a sparse matrix as tensors, from whatever names edges. Rows receive, columns send, as in csaw/spmm.h."""
from typing import Any, Dict, Optional, Tuple, Union

import torch
from torch import Tensor

from .._arrays import shared_tensor
from .._lib import invalid
from ..graph import Graph
from ..samples import Block
from ._call import prepare

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
    """CSR tensors, checked once, with what products need kept beside them (12 bytes an edge, 8 a column).

    rowptr: [rows + 1] int64; col: [edges] int32; weight: [edges] float32, or None = all 1; edge: [edges] int64, where
    each entry was among the edges given, None = in the same order. Tensors must stay as they are.
    """

    def __init__(self, rowptr: Tensor, col: Tensor, weight: Optional[Tensor] = None, num_cols: Optional[int] = None,
                 edge: Optional[Tensor] = None):
        self.rowptr, self.col = rowptr.contiguous(), col.contiguous()
        self.weight = None if weight is None else weight.to(torch.float32).contiguous()
        self.edge = edge
        rows = self.rowptr.shape[0] - 1
        self.shape: Tuple[int, int] = (rows, rows if num_cols is None else int(num_cols))
        if self.shape[1] > MAX_COLS:
            raise invalid(f"the matrix has {self.shape[1]} columns; PyTorch's indices allow {MAX_COLS}")
        self._plan = prepare(self.rowptr, self.col, self.shape[1])
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
        return Matrix(self.rowptr.to(device), self.col.to(device), weight, self.shape[1], edge)

    def dense(self) -> Tensor:
        """[rows, cols] float32, repeated entries added."""
        out = torch.zeros(self.shape, device=self.device)
        weight = torch.ones(self.num_edges, device=self.device) if self.weight is None else self.weight
        return out.index_put_((self.row(), self.col.long()), weight, accumulate=True)

    def __reduce__(self):
        return Matrix, (self.rowptr, self.col, self.weight, self.shape[1], self.edge)

    def __repr__(self):
        return f"Matrix({self.shape[0]} x {self.shape[1]}, {self.num_edges} edges, {self.device})"


def from_coo(row: Tensor, col: Tensor, weight: Optional[Tensor], shape: Tuple[int, int]) -> Matrix:
    """From edges in any order; of a row they keep theirs."""
    for index, count, what in ((row, shape[0], "receiver"), (col, shape[1], "sender")):
        if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < count:
            raise invalid(f"a {what} of edge_index is outside 0 .. {count - 1}; there are {count}")
    edge = torch.argsort(row, stable=True)
    rowptr = torch.zeros(shape[0] + 1, dtype=torch.int64, device=row.device)
    rowptr[1:] = torch.bincount(row, minlength=shape[0]).cumsum(0)
    weight = None if weight is None else weight.index_select(0, edge)
    return Matrix(rowptr, col.index_select(0, edge).to(torch.int32), weight, shape[1], edge)


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
    return from_coo(x[1].long(), x[0].long(), None, (rows, cols))


def _from_graph(graph: Graph) -> Matrix:
    turned, place = graph._incoming()
    weight = None if turned.weight is None else shared_tensor(turned.weight, "float32")
    return Matrix(shared_tensor(turned.rowptr, "int64"), shared_tensor(turned.col, "int32"), weight,
                  turned.num_vertices, shared_tensor(place, "int64"))


def matrix(edges: Adjacency, size: Union[None, int, Tuple[int, int]] = None) -> Matrix:
    """A Matrix of
    - edge_index [2, edges], (sender, receiver) as PyTorch Geometric has it: row = receiver. size: number of vertices,
      or (receivers, senders); None = largest number + 1
    - a torch sparse CSR tensor: its rows receive; all values 1 = no weights
    - a csaw.Graph: that of its edge_index(), so v receives along the arcs u -> v; with its weights. Made once and kept
      with the graph
    - a Block of a minibatch: its rows receive
    Make it once and give it to ops and layers: to check, to sort and to transpose takes longer than a product."""
    if isinstance(edges, Matrix):
        return edges
    if isinstance(edges, Tensor):
        return _from_tensor(edges, size)
    if isinstance(edges, Graph):
        if "matrix" not in edges._kept:
            edges._kept["matrix"] = _from_graph(edges)
        return edges._kept["matrix"]
    if isinstance(edges, Block):
        return Matrix(shared_tensor(edges.rowptr, "int64"), shared_tensor(edges.col, "int32"), None, edges.num_src)
    raise invalid(f"{type(edges).__name__} names no edges; give edge_index [2, edges], a sparse CSR tensor, a "
                  "csaw.Graph, a Block or a csaw.torch.Matrix")
