# SPDX-License-Identifier: MIT
"""Many small graphs at once: GraphBatch, and operator csaw::batched_spmm with its gradients (csaw/batched.h)."""
import weakref
from ctypes import byref
from typing import Any, Optional, Tuple

import torch
from torch import Tensor

from .. import _structs as s
from .._lib import Handle, create, invalid, lib
from .._lib import options as make_options
from ._call import DTYPES, address, call, place_of, reduce_of, rows_of, same_device
from ._operator import operator

_COO = s.ENUMS["csaw_format"]["CSAW_COO"]
_joined: "weakref.WeakValueDictionary[Any, Handle]" = weakref.WeakValueDictionary()


def join(offset: Tensor, edge_offset: Tensor, row: Tensor, col: Tensor) -> Handle:
    """The csaw_batch of these arrays, without weights, which each product is given: one that is kept, or a new one,
    which reads all of them once."""
    arrays = (offset, edge_offset, row, col)
    key = tuple((address(a), a.shape, a.device) for a in arrays)
    handle = _joined.get(key)
    if handle is None:
        same_device(*arrays)
        graphs = s.csaw_small_graphs(num_graphs=len(offset) - 1,
                                     format=_COO,
                                     row_offset=address(offset),
                                     row=address(row),
                                     col=address(col),
                                     edge_offset=address(edge_offset))
        setattr(graphs, "global", True)  # rows and columns count through the batch; the name is a word of Python
        options = make_options(s.csaw_batch_options, **place_of(offset))
        handle = Handle(create(lib.csaw_batch_join, byref(graphs), byref(options)), lib.csaw_batch_free, arrays)
        _joined[key] = handle
    return handle


class GraphBatch:
    """Graphs joined as PyTorch Geometric's Batch joins them.

    edge_index: [2, edges] integers (sender, receiver), numbered through the batch, graph after graph. ptr:
    [graphs + 1], graph g has vertices ptr[g] .. ptr[g + 1] - 1. weight: [edges] float32 that stays as it is, or None;
    one that is trained is given to batched_spmm() instead.
    """

    def __init__(self, edge_index: Tensor, ptr: Tensor, weight: Optional[Tensor] = None):
        self.offset = ptr.to(torch.int64).contiguous()
        col, row = edge_index.to(torch.int64).contiguous()
        graph = torch.bucketize(row, self.offset[1:], right=True)
        if len(graph) and bool((graph[1:] < graph[:-1]).any()):
            raise invalid("edges are not graph after graph; sort edge_index and weight by the graph of the receiver")
        self.edge_offset = torch.searchsorted(graph, torch.arange(len(self.offset), device=graph.device))
        self.row, self.col = row.to(torch.int32).contiguous(), col.to(torch.int32).contiguous()
        if weight is not None and weight.numel() != len(self.row):
            raise invalid(f"weight has shape {list(weight.shape)}, but there are {len(self.row)} edges; give one "
                          "number for each")
        self.weight = None if weight is None else weight.detach().to(torch.float32).contiguous()
        self._joined = join(self.offset, self.edge_offset, self.row, self.col)

    def __reduce__(self):
        return GraphBatch, (torch.stack([self.col, self.row]), self.offset, self.weight)

    def __repr__(self):
        return f"GraphBatch({len(self.offset) - 1} graphs, {len(self.row)} edges)"


def _dense(x: Tensor):
    rows, cols = x.shape
    return byref(s.csaw_batched_dense(rows, cols, x.stride(0) if rows > 1 else 0, DTYPES[x.dtype], x.data_ptr(), None))


def _arg_shape(x: Tensor, reduce: str) -> Tuple[int, int]:
    return (x.shape[0], x.shape[1]) if reduce in ("max", "min") else (0, 0)


def _fields(x, arg, reduce, weight):
    place = place_of(x)
    return dict(reduce=reduce_of(reduce), arg=address(arg) if arg.numel() else None, stream=place.get("stream"),
                weight=address(weight))


@operator("csaw::batched_spmm")
def batched_spmm_op(offset: Tensor, edge_offset: Tensor, row: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor,
                    reduce: str) -> Tuple[Tensor, Tensor]:
    """y as x; of max and min also which entry of its graph each element came from, int32, -1 in empty rows."""
    same_device(offset, weight, x)
    batch, x = join(offset, edge_offset, row, col), rows_of(x, "x")
    y, arg = x.new_empty(x.shape), x.new_empty(_arg_shape(x, reduce), dtype=torch.int32)
    call(lib.csaw_batched_spmm, s.csaw_batched_options, _fields(x, arg, reduce, weight), batch.pointer, _dense(x), ...,
         _dense(y))
    return y, arg


@batched_spmm_op.register_fake
def _(offset, edge_offset, row, col, weight, x, reduce):
    return x.new_empty(x.shape), x.new_empty(_arg_shape(x, reduce), dtype=torch.int32)


@operator("csaw::batched_spmm_backward")
def batched_spmm_backward_op(offset: Tensor, edge_offset: Tensor, row: Tensor, col: Tensor, weight: Optional[Tensor],
                             x: Tensor, dy: Tensor, arg: Tensor, reduce: str, with_x: bool,
                             with_weight: bool) -> Tuple[Tensor, Tensor]:
    batch = join(offset, edge_offset, row, col)
    x, dy = rows_of(x, "x"), rows_of(dy, "the gradient")
    dx = torch.empty(x.shape if with_x else 0, dtype=x.dtype, device=x.device)
    dw = x.new_empty(row.shape[0] if with_weight else 0, dtype=torch.float32)
    call(lib.csaw_batched_spmm_backward, s.csaw_batched_options, _fields(x, arg, reduce, weight), batch.pointer,
         _dense(x), _dense(dy), ..., _dense(dx) if with_x else None, address(dw) if with_weight else None)
    return dx, dw


@batched_spmm_backward_op.register_fake
def _(offset, edge_offset, row, col, weight, x, dy, arg, reduce, with_x, with_weight):
    return (x.new_empty(x.shape if with_x else 0), x.new_empty(row.shape[0] if with_weight else 0, dtype=torch.float32))


def _setup(ctx, inputs, output):
    *tensors, ctx.reduce = inputs
    ctx.save_for_backward(*tensors, output[1])


def _backward(ctx, dy, _):
    *graphs, weight, x, arg = ctx.saved_tensors
    with_weight, with_x = ctx.needs_input_grad[4], ctx.needs_input_grad[5]
    dx, dw = batched_spmm_backward_op(*graphs, weight, x, dy, arg, ctx.reduce, with_x, with_weight)
    return (None,) * 4 + (dw.reshape(weight.shape) if with_weight else None, dx if with_x else None, None)


batched_spmm_op.register_autograd(_backward, setup_context=_setup)
