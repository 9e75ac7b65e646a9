# SPDX-License-Identifier: MIT
"""Operators csaw::maxk, csaw::maxk_dense and csaw::maxk_spmm with their gradients: csaw/maxk.h.

A CBSR matrix is two tensors: values [rows, k] and index [rows, k], uint8 for up to 256 columns, else int16, whose bits
are those of a uint16.
"""
from ctypes import byref
from typing import Optional, Tuple

import torch
from torch import Tensor

from .. import _structs as s
from .._lib import invalid, lib
from ._call import (DTYPES, address, call, dense, place_of, plan_of, pointer_of, reduce_of, rows_of, same_device,
                    sparse)
from ._operator import operator


def _index_dtype(cols: int) -> torch.dtype:
    return torch.uint8 if cols <= 256 else torch.int16


def _cbsr(values: Tensor, index: Tensor, cols: int):
    rows, k = values.shape
    return byref(s.csaw_cbsr(rows, cols, k, DTYPES[values.dtype], values.data_ptr(), index.data_ptr()))


def _whole(values: Tensor, index: Tensor, cols: int) -> Tuple[Tensor, Tensor]:
    if values.shape != index.shape or index.dtype != _index_dtype(cols):
        raise invalid(
            f"values are {list(values.shape)}, the index {list(index.shape)} {index.dtype}; of {cols} columns "
            f"both have one shape and the index is {_index_dtype(cols)}, as csaw.torch.maxk() makes them")
    return rows_of(values, "values").contiguous(), index.contiguous()


@operator("csaw::maxk")
def maxk_op(x: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    x = rows_of(x, "x")
    values = x.new_empty(x.shape[0], k)
    index = x.new_empty(x.shape[0], k, dtype=_index_dtype(x.shape[1]))
    call(lib.csaw_maxk, s.csaw_maxk_options, place_of(x), dense(x), ..., _cbsr(values, index, x.shape[1]))
    return values, index


@maxk_op.register_fake
def _(x, k):
    return x.new_empty(x.shape[0], k), x.new_empty(x.shape[0], k, dtype=_index_dtype(x.shape[1]))


@operator("csaw::maxk_dense")
def maxk_dense_op(values: Tensor, index: Tensor, cols: int) -> Tensor:
    values, index = _whole(values, index, cols)
    out = values.new_empty(values.shape[0], cols)
    call(lib.csaw_maxk_dense, s.csaw_maxk_options, place_of(values), _cbsr(values, index, cols), ..., dense(out))
    return out


@maxk_dense_op.register_fake
def _(values, index, cols):
    return values.new_empty(values.shape[0], cols)


@operator("csaw::maxk_gather")
def maxk_gather_op(x: Tensor, index: Tensor) -> Tensor:
    x, index = rows_of(x, "x"), index.contiguous()
    values = x.new_empty(index.shape)
    call(lib.csaw_maxk_gather, s.csaw_maxk_options, place_of(x), dense(x), ..., _cbsr(values, index, x.shape[1]))
    return values


@maxk_gather_op.register_fake
def _(x, index):
    return x.new_empty(index.shape)


def _maxk_setup(ctx, inputs, output):
    ctx.save_for_backward(output[1])
    ctx.cols = inputs[0].shape[1]


maxk_op.register_autograd(lambda ctx, dvalues, _: (maxk_dense_op(dvalues, ctx.saved_tensors[0], ctx.cols), None),
                          setup_context=_maxk_setup)


def _dense_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])


maxk_dense_op.register_autograd(lambda ctx, dout: (maxk_gather_op(dout, ctx.saved_tensors[0]), None, None),
                                setup_context=_dense_setup)


def _gather_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])
    ctx.cols = inputs[0].shape[1]


maxk_gather_op.register_autograd(lambda ctx, dvalues: (maxk_dense_op(dvalues, ctx.saved_tensors[0], ctx.cols), None),
                                 setup_context=_gather_setup)


@operator("csaw::maxk_spmm")
def maxk_spmm_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], values: Tensor, index: Tensor, cols: int,
                 reduce: str) -> Tensor:
    same_device(rowptr, col, weight, values, index)
    values, index = _whole(values, index, cols)
    y = values.new_empty(rowptr.shape[0] - 1, cols)
    plan = plan_of(rowptr, col, values.shape[0])
    fields = dict(reduce=reduce_of(reduce), plan=pointer_of(plan), **place_of(values))
    call(lib.csaw_maxk_spmm, s.csaw_maxk_spmm_options, fields,
         sparse(rowptr, col, weight, values.shape[0]), _cbsr(values, index, cols), ..., dense(y))
    return y


@maxk_spmm_op.register_fake
def _(rowptr, col, weight, values, index, cols, reduce):
    return values.new_empty(rowptr.shape[0] - 1, cols)


@operator("csaw::maxk_spmm_backward")
def maxk_spmm_backward_op(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], values: Tensor, index: Tensor,
                          dy: Tensor, reduce: str, with_values: bool, with_weight: bool) -> Tuple[Tensor, Tensor]:
    """Gradients of values and of weight; empty where not wanted."""
    same_device(rowptr, col, weight, values, index, dy)
    dy, cols = rows_of(dy, "the gradient"), dy.shape[1]
    values, index = _whole(values, index, cols)
    a = sparse(rowptr, col, weight, values.shape[0])
    plan = plan_of(rowptr, col, values.shape[0])
    fields = dict(reduce=reduce_of(reduce), plan=pointer_of(plan), **place_of(values))
    dvalues = torch.empty(values.shape if with_values else 0, dtype=values.dtype, device=values.device)
    dw = values.new_empty(col.shape[0] if with_weight else 0, dtype=torch.float32)
    if with_values:
        fields["deterministic"] = torch.are_deterministic_algorithms_enabled()
        call(lib.csaw_maxk_spmm_backward, s.csaw_maxk_spmm_options, fields, a, dense(dy), ...,
             _cbsr(dvalues, index, cols))
    if with_weight:
        call(lib.csaw_maxk_spmm_backward_weight, s.csaw_maxk_spmm_options, fields, a, dense(dy),
             _cbsr(values, index, cols), ..., address(dw))
    return dvalues, dw


@maxk_spmm_backward_op.register_fake
def _(rowptr, col, weight, values, index, dy, reduce, with_values, with_weight):
    return (values.new_empty(values.shape if with_values else 0),
            values.new_empty(col.shape[0] if with_weight else 0, dtype=torch.float32))


def _spmm_setup(ctx, inputs, output):
    *tensors, _, ctx.reduce = inputs
    ctx.save_for_backward(*tensors)


def _spmm_backward(ctx, dy):
    weight = ctx.saved_tensors[2]
    with_weight, with_values = ctx.needs_input_grad[2], ctx.needs_input_grad[3]
    dvalues, dw = maxk_spmm_backward_op(*ctx.saved_tensors, dy, ctx.reduce, with_values, with_weight)
    return (None, None, dw.reshape(weight.shape) if with_weight else None, dvalues if with_values else None, None, None,
            None)


maxk_spmm_op.register_autograd(_spmm_backward, setup_context=_spmm_setup)
