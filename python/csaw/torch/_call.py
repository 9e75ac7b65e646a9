# SPDX-License-Identifier: MIT
"""Tensors as the structs of the C interface: addresses, storage, device and stream.

The operators of this package see a matrix as tensors: rowptr [rows + 1] int64, col [edges] int32 and weight [edges] or
[edges, heads] float32, or None. What was found out about it beforehand (a csaw_spmm_plan) is looked up here by the
addresses of rowptr and col, so that torch.compile sees tensors alone.
"""
import ctypes
import weakref
from typing import Any, Dict, Optional

import torch
from torch import Tensor

from .. import _structs as s
from .._lib import Handle, check, create, invalid, lib
from .._lib import options as make_options

DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}  # csaw_dtype
REDUCES = {"sum": 0, "add": 0, "mean": 1, "max": 2, "min": 3}  # csaw_reduce


def reduce_of(name: str) -> int:
    if name not in REDUCES:
        raise invalid(f"reduce is {name!r}; it is one of {', '.join(REDUCES)}")
    return REDUCES[name]


def place_of(x: Tensor) -> Dict[str, Any]:
    """Fields `device` and `stream` of an options struct: where x is, and the current stream there."""
    if x.device.type == "cpu":
        return {}
    if x.device.type != "cuda":
        raise invalid(f"a tensor is on {x.device}; csaw computes on the CPU and on CUDA GPUs: move it with .to()")
    return {"device": str(x.device).encode(), "stream": torch.cuda.current_stream(x.device).cuda_stream or None}


def same_device(*tensors: Optional[Tensor]) -> None:
    devices = {x.device for x in tensors if x is not None}
    if len(devices) > 1:
        raise invalid(f"tensors are on {' and '.join(sorted(map(str, devices)))}; move them to one device")


def address(x: Optional[Tensor]) -> Optional[int]:
    return None if x is None else x.data_ptr()


def rows_of(x: Tensor, name: str) -> Tensor:
    """x [n, m] with elements of a row side by side, in a storage that csaw has."""
    if x.dim() != 2:
        raise invalid(f"{name} has shape {list(x.shape)}; it is a matrix [rows, columns]")
    if x.dtype not in DTYPES:
        raise invalid(f"{name} holds {x.dtype}; csaw stores float32, float16 and bfloat16: convert it with .float()")
    return x if x.stride(1) == 1 and x.stride(0) >= x.shape[1] else x.contiguous()


def dense(x: Tensor) -> Any:
    """x, of rows_of() or fresh, as a csaw_dense."""
    stride = x.stride(0) if x.shape[0] > 1 else 0
    return s.csaw_dense(x.shape[0], x.shape[1], stride, DTYPES[x.dtype], x.data_ptr())


def sparse(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], cols: int) -> Any:
    if rowptr.dtype != torch.int64 or col.dtype != torch.int32 or not rowptr.is_contiguous() or not col.is_contiguous():
        raise invalid(f"rowptr is {rowptr.dtype} and col {col.dtype}; they are contiguous int64 and int32, as in a "
                      "csaw.torch.Matrix")
    if weight is not None and (weight.dtype != torch.float32 or not weight.is_contiguous() or len(weight) != len(col)):
        raise invalid(
            f"weight is {list(weight.shape)} {weight.dtype}; it is contiguous float32, one row for each of the "
            f"{len(col)} edges")
    return s.csaw_sparse(len(rowptr) - 1, cols, len(col), rowptr.data_ptr(), col.data_ptr(), address(weight))


def call(function, struct, fields: Dict[str, Any], *arguments) -> None:
    """function(..., options, ...): `struct` filled from fields stands where Ellipsis does; other structs go by
    reference."""
    options = make_options(struct, **fields)
    given = [options if a is Ellipsis else a for a in arguments]
    check(function(*(ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in given)))


# ---- plans of matrices, by address: a plan keeps rowptr and col, so while it lives no other matrix has their addresses
_plans: "weakref.WeakValueDictionary[Any, Handle]" = weakref.WeakValueDictionary()


def _key(rowptr: Tensor, col: Tensor, cols: int):
    return rowptr.data_ptr(), col.data_ptr(), rowptr.shape[0], col.shape[0], cols, rowptr.device


def prepare(rowptr: Tensor, col: Tensor, cols: int) -> Handle:
    """Checks the matrix and finds out what products with it need. Keep the result as long as it is to be used."""
    a = sparse(rowptr, col, None, cols)
    options = make_options(s.csaw_prepare_options, **place_of(rowptr))
    pointer = create(lib.csaw_spmm_prepare, ctypes.byref(a), ctypes.byref(options))
    handle = Handle(pointer, lib.csaw_spmm_plan_free, (rowptr, col))
    _plans[_key(rowptr, col, cols)] = handle
    return handle


def check_sparse(rowptr: Tensor, col: Tensor, cols: int) -> None:
    """On the host; on a GPU only what shows without a look at its memory."""
    same_device(rowptr, col)
    a = sparse(rowptr, col, None, cols)
    if not rowptr.is_cuda:
        check(lib.csaw_sparse_check(ctypes.byref(a)))


def plan_of(rowptr: Tensor, col: Tensor, cols: int) -> Optional[Handle]:
    """The plan made for this matrix, if there is one; to be held during the call."""
    return _plans.get(_key(rowptr, col, cols))


def pointer_of(handle: Optional[Handle]) -> Optional[int]:
    return None if handle is None else handle.pointer
