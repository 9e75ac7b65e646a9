# SPDX-License-Identifier: MIT
"""Operators csaw::spmm and csaw::es_spmm with their gradients: csaw/spmm.h and csaw/edge_sampled.h.

Gradients are operators of their own, so that torch.compile traces through them; they have no gradients themselves.
"""
import weakref
from typing import Any, Dict, NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .. import _structs as s
from .._lib import Handle, lib
from ._call import (address, call, dense, place_of, plan_of, pointer_of, prepare, reduce_of, rows_of, same_device,
                    sparse)
from ._operator import operator


def _arg_shape(rowptr: Tensor, x: Tensor, reduce: str) -> Tuple[int, int]:
    return (rowptr.shape[0] - 1, x.shape[1]) if reduce in ("max", "min") else (0, 0)


_no_args: Dict[torch.device, Tensor] = {}  # [0, 0] int64: the arg of all sums and means on a device


def _arg(rowptr: Tensor, x: Tensor, reduce: str) -> Tensor:
    if reduce in ("max", "min"):
        return x.new_empty(_arg_shape(rowptr, x, reduce), dtype=torch.int64)
    none = _no_args.get(x.device)
    if none is None:
        with torch.inference_mode(False):  # or gradients could not keep it later
            none = _no_args[x.device] = torch.empty(0, 0, dtype=torch.int64, device=x.device)
    return none


def _fields(plan: Optional[Handle], arg: Tensor, reduce: str, heads: int, x: Tensor) -> Dict[str, Any]:
    return dict(reduce=reduce_of(reduce), heads=heads, plan=pointer_of(plan), arg=arg.data_ptr() or None, **place_of(x))


@operator("csaw::spmm")
def spmm_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor, reduce: str,
            heads: int) -> Tuple[Tensor, Tensor]:
    """y [rows, n] of x's dtype; of max and min also the edge of each element, [rows, n] int64, -1 in empty rows."""
    same_device(rowptr, col, weight, x)
    x = rows_of(x, "x")
    y = x.new_empty(rowptr.shape[0] - 1, x.shape[1])
    arg = _arg(rowptr, x, reduce)
    plan = plan_of(rowptr, col, x.shape[0])
    call(lib.csaw_spmm, s.csaw_spmm_options, _fields(plan, arg, reduce, heads, x),
         sparse(rowptr, col, weight, x.shape[0]), dense(x), ..., dense(y))
    return y, arg


@spmm_op.register_fake
def _(rowptr, col, weight, x, reduce, heads):
    return (x.new_empty(rowptr.shape[0] - 1, x.shape[1]),
            x.new_empty(_arg_shape(rowptr, x, reduce), dtype=torch.int64))


@operator("csaw::spmm_backward")
def spmm_backward_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor, dy: Tensor, arg: Tensor,
                     reduce: str, heads: int, with_x: bool, with_weight: bool) -> Tuple[Tensor, Tensor]:
    """Gradients of x, as x, and of weight, [edges, heads] float32; empty where not wanted."""
    same_device(rowptr, col, weight, x, dy, arg)
    x, dy = rows_of(x, "x"), rows_of(dy, "the gradient")
    dx = torch.empty(x.shape if with_x else 0, dtype=x.dtype, device=x.device)
    dw = x.new_empty((col.shape[0], heads) if with_weight else 0, dtype=torch.float32)
    plan = plan_of(rowptr, col, x.shape[0])
    call(lib.csaw_spmm_backward, s.csaw_spmm_options, _fields(plan, arg, reduce, heads, x),
         sparse(rowptr, col, weight, x.shape[0]), dense(x), dense(dy), ..., dense(dx) if with_x else None,
         address(dw) if with_weight else None)
    return dx, dw


@spmm_backward_op.register_fake
def _(rowptr, col, weight, x, dy, arg, reduce, heads, with_x, with_weight):
    return (x.new_empty(x.shape if with_x else 0), x.new_empty((col.shape[0], heads) if with_weight else 0,
                                                               dtype=torch.float32))


def _spmm_setup(ctx, inputs, output):
    rowptr, col, weight, x, ctx.reduce, ctx.heads = inputs
    ctx.save_for_backward(rowptr, col, weight, x, output[1])


def _spmm_backward(ctx, dy, _):
    rowptr, col, weight, x, arg = ctx.saved_tensors
    with_weight, with_x = ctx.needs_input_grad[2], ctx.needs_input_grad[3]
    dx, dw = spmm_backward_op(rowptr, col, weight, x, dy, arg, ctx.reduce, ctx.heads, with_x, with_weight)
    return None, None, dw.reshape(weight.shape) if with_weight else None, dx if with_x else None, None, None


spmm_op.register_autograd(_spmm_backward, setup_context=_spmm_setup)

METHODS = {"stratified": 0, "bucket": 1, "fastrand": 2}  # csaw_edges_method


def _es_fields(width, method, reduce, seed, epoch, x):
    return dict(method=METHODS[method], width=width, reduce=reduce_of(reduce), seed=seed, epoch=epoch, **place_of(x))


@operator("csaw::es_spmm")
def es_spmm_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor, width: int, method: str, reduce: str,
               seed: int, epoch: int) -> Tensor:
    same_device(rowptr, col, weight, x)
    x = rows_of(x, "x")
    y = x.new_empty(rowptr.shape[0] - 1, x.shape[1])
    call(lib.csaw_es_spmm, s.csaw_es_options, _es_fields(width, method, reduce, seed, epoch, x),
         sparse(rowptr, col, weight, x.shape[0]), dense(x), ..., dense(y))
    return y


@es_spmm_op.register_fake
def _(rowptr, col, weight, x, width, method, reduce, seed, epoch):
    return x.new_empty(rowptr.shape[0] - 1, x.shape[1])


class _Sampled(NamedTuple):
    """The sampled matrix of a method that takes the same entries each time: its rows, and a plan with its transpose."""

    rowptr: Tensor  # [rows + 1] int64
    col: Tensor  # [entries] int32
    plan: Handle


_sampled: "weakref.WeakKeyDictionary[Handle, Dict[Any, _Sampled]]" = weakref.WeakKeyDictionary()  # by plan of the whole


def _sampled_of(rowptr: Tensor, col: Tensor, x: Tensor, width: int, method: str) -> Optional[_Sampled]:
    """Kept as long as the plan of the matrix; None if there is no plan, or other entries are taken each time."""
    owner = plan_of(rowptr, col, x.shape[0])
    if owner is None or method == "stratified":
        return None
    kept = _sampled.setdefault(owner, {})
    if (width, method) not in kept:
        rows = torch.empty_like(rowptr)
        given = _es_fields(width, method, "sum", 0, 0, x), sparse(rowptr, col, None, x.shape[0])
        call(lib.csaw_edge_sample, s.csaw_es_options, given[0], given[1], ..., address(rows), None, None)
        edge = torch.empty(int(rows[-1]), dtype=torch.int64, device=col.device)
        call(lib.csaw_edge_sample, s.csaw_es_options, given[0], given[1], ..., address(rows), address(edge), None)
        taken = col.index_select(0, edge)
        kept[width, method] = _Sampled(rows, taken, prepare(rows, taken, x.shape[0]))
    return kept[width, method]


def _sampled_backward(of: _Sampled, rowptr: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor, dy: Tensor,
                      fields: Dict[str, Any]) -> Tensor:
    """The gradient of x by the transpose that is kept: the bits of csaw_es_spmm_backward(), which makes it anew."""
    factor, rows = x.new_empty(len(of.col), dtype=torch.float32), torch.empty_like(of.rowptr)
    call(lib.csaw_edge_sample, s.csaw_es_options, fields, sparse(rowptr, col, weight, x.shape[0]), ...,
         address(rows), None, address(factor))
    none = x.new_empty(0, 0, dtype=torch.int64)
    return spmm_backward_op(of.rowptr, of.col, factor, x, dy, none, "sum", 1, True, False)[0]


@operator("csaw::es_spmm_backward")
def es_spmm_backward_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], x: Tensor, dy: Tensor, width: int,
                        method: str, reduce: str, seed: int, epoch: int, with_x: bool,
                        with_weight: bool) -> Tuple[Tensor, Tensor]:
    same_device(rowptr, col, weight, x, dy)
    x, dy = rows_of(x, "x"), rows_of(dy, "the gradient")
    fields = _es_fields(width, method, reduce, seed, epoch, x)
    of = _sampled_of(rowptr, col, x, width, method) if with_x else None
    if of is not None:
        dx = _sampled_backward(of, rowptr, col, weight, x, dy, fields)
    else:
        dx = torch.empty(x.shape if with_x else 0, dtype=x.dtype, device=x.device)
    dw = x.new_empty(col.shape[0] if with_weight else 0, dtype=torch.float32)
    if with_weight or (with_x and of is None):
        call(lib.csaw_es_spmm_backward, s.csaw_es_options, fields, sparse(rowptr, col, weight, x.shape[0]), dense(x),
             dense(dy), ..., dense(dx) if with_x and of is None else None, address(dw) if with_weight else None)
    return dx, dw


@es_spmm_backward_op.register_fake
def _(rowptr, col, weight, x, dy, width, method, reduce, seed, epoch, with_x, with_weight):
    return (x.new_empty(x.shape if with_x else 0), x.new_empty(col.shape[0] if with_weight else 0, dtype=torch.float32))


def _es_setup(ctx, inputs, output):
    rowptr, col, weight, x, *ctx.drawn = inputs
    ctx.save_for_backward(rowptr, col, weight, x)


def _es_backward(ctx, dy):
    rowptr, col, weight, x = ctx.saved_tensors
    with_weight, with_x = ctx.needs_input_grad[2], ctx.needs_input_grad[3]
    dx, dw = es_spmm_backward_op(rowptr, col, weight, x, dy, *ctx.drawn, with_x, with_weight)
    return (None, None, dw.reshape(weight.shape) if with_weight else None, dx if with_x else None) + (None,) * 5


es_spmm_op.register_autograd(_es_backward, setup_context=_es_setup)
