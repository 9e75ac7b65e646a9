# SPDX-License-Identifier: MIT
"""Operators csaw::sddmm and csaw::edge_softmax with their gradients: csaw/spmm.h, "attention"."""
import torch
from torch import Tensor

from .. import _structs as s
from .._lib import invalid, lib
from ._call import address, call, dense, place_of, rows_of, same_device, sparse
from ._operator import operator
from ._spmm import spmm_backward_op, spmm_op


@operator("csaw::sddmm")
def sddmm_op(rowptr: Tensor, col: Tensor, x: Tensor, y: Tensor, heads: int) -> Tensor:
    """[edges, heads] float32: <x[i, head], y[j, head]> of every edge from column j to row i."""
    same_device(rowptr, col, x, y)
    x, y = rows_of(x, "x"), rows_of(y, "y")
    if len(x) != len(rowptr) - 1:
        raise invalid(f"x has {len(x)} rows, but the matrix has {len(rowptr) - 1}")
    out = x.new_empty(col.shape[0], heads, dtype=torch.float32)
    call(lib.csaw_sddmm, s.csaw_edge_options, dict(heads=heads, **place_of(x)), sparse(rowptr, col, None, y.shape[0]),
         dense(x), dense(y), ..., address(out))
    return out


@sddmm_op.register_fake
def _(rowptr, col, x, y, heads):
    return x.new_empty(col.shape[0], heads, dtype=torch.float32)


def _sddmm_setup(ctx, inputs, output):
    *tensors, ctx.heads = inputs
    ctx.save_for_backward(*tensors)


def _sddmm_backward(ctx, dout):
    rowptr, col, x, y = ctx.saved_tensors
    weight, dx, dy = dout.contiguous(), None, None
    if ctx.needs_input_grad[2]:
        dx = spmm_op(rowptr, col, weight, y, "sum", ctx.heads)[0]
    if ctx.needs_input_grad[3]:
        none = x.new_empty(0, 0, dtype=torch.int64)
        dy = spmm_backward_op(rowptr, col, weight, y, x, none, "sum", ctx.heads, True, False)[0]
    return None, None, dx, dy, None


sddmm_op.register_autograd(_sddmm_backward, setup_context=_sddmm_setup)


def _edges(rowptr: Tensor, col: Tensor, cols: int, x: Tensor, function, *given: Tensor) -> Tensor:
    """An output [edges, heads] of a function over edge arrays of that shape."""
    same_device(rowptr, col, x, *given)
    arrays = [a.contiguous() for a in given]
    if any(a.dim() != 2 or a.dtype != torch.float32 or a.shape != x.shape or len(a) != len(col) for a in arrays):
        raise invalid(
            f"arrays of edges are float32 [{len(col)}, heads], of one shape; this is {list(x.shape)} {x.dtype}")
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    call(function, s.csaw_edge_options, dict(heads=x.shape[1], **place_of(x)), sparse(rowptr, col, None, cols),
         *map(address, arrays), ..., address(out))
    return out


@operator("csaw::edge_softmax")
def edge_softmax_op(rowptr: Tensor, col: Tensor, score: Tensor, cols: int) -> Tensor:
    return _edges(rowptr, col, cols, score, lib.csaw_edge_softmax, score)


@edge_softmax_op.register_fake
def _(rowptr, col, score, cols):
    return torch.empty_like(score, memory_format=torch.contiguous_format)


@operator("csaw::edge_softmax_backward")
def edge_softmax_backward_op(rowptr: Tensor, col: Tensor, out: Tensor, dout: Tensor, cols: int) -> Tensor:
    return _edges(rowptr, col, cols, out, lib.csaw_edge_softmax_backward, out, dout)


@edge_softmax_backward_op.register_fake
def _(rowptr, col, out, dout, cols):
    return torch.empty_like(out)


def _softmax_setup(ctx, inputs, output):
    rowptr, col, _, ctx.cols = inputs
    ctx.save_for_backward(rowptr, col, output)


def _softmax_backward(ctx, dout):
    rowptr, col, out = ctx.saved_tensors
    return None, None, edge_softmax_backward_op(rowptr, col, out, dout, ctx.cols), None


edge_softmax_op.register_autograd(_softmax_backward, setup_context=_softmax_setup)
