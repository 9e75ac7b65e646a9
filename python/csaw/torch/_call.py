# SPDX-License-Identifier: MIT
"""Tensors as the structs of the C interface: addresses, storage, device and stream.

The operators of this package see a matrix as tensors: rowptr [rows + 1] int64, col [edges] int32 and weight [edges] or
[edges, heads] float32, or None. What was found out about it beforehand (a csaw_spmm_plan) is looked up here by the
addresses of rowptr and col, so that torch.compile sees tensors alone.
"""
import weakref
from ctypes import byref, sizeof
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


_names: Dict[torch.device, bytes] = {}  # of GPUs, as an options struct has them
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # without the torch.cuda.Stream around it


def place_of(x: Tensor) -> Dict[str, Any]:
    """Fields `device` and `stream` of an options struct: where x is, and the current stream there."""
    if x.is_cpu:
        return {}
    device = x.device
    if device.type != "cuda":
        raise invalid(f"a tensor is on {device}; csaw computes on the CPU and on CUDA GPUs: move it with .to()")
    name = _names.get(device)
    if name is None:
        name = _names[device] = str(device).encode()
    stream = _raw_stream(device.index) if _raw_stream else torch.cuda.current_stream(device).cuda_stream
    return {"device": name, "stream": stream or None}


def same_device(first: Tensor, *others: Optional[Tensor]) -> None:
    device = first.device
    for x in others:
        if x is not None and x.device != device:
            devices = {str(x.device) for x in (first, *others) if x is not None}
            raise invalid(f"tensors are on {' and '.join(sorted(devices))}; move them to one device")


def address(x: Optional[Tensor]) -> Optional[int]:
    return None if x is None else x.data_ptr()


def rows_of(x: Tensor, name: str) -> Tensor:
    """x [n, m] with elements of a row side by side, in a storage that csaw has."""
    if x.dim() != 2:
        raise invalid(f"{name} has shape {list(x.shape)}; it is a matrix [rows, columns]")
    if x.dtype not in DTYPES:
        raise invalid(f"{name} holds {x.dtype}; csaw stores float32, float16 and bfloat16: convert it with .float()")
    if x.is_contiguous():
        return x
    return x if x.stride(1) == 1 and x.stride(0) >= x.shape[1] else x.contiguous()


def dense(x: Tensor) -> Any:
    """x, of rows_of() or fresh, as a csaw_dense, by reference."""
    rows, cols = x.shape
    stride = 0 if rows <= 1 or x.is_contiguous() else x.stride(0)
    return byref(s.csaw_dense(rows, cols, stride, DTYPES[x.dtype], x.data_ptr()))


def sparse(rowptr: Tensor, col: Tensor, weight: Optional[Tensor], cols: int) -> Any:
    """As a csaw_sparse, by reference."""
    edges = col.shape[0]
    if rowptr.dtype != torch.int64 or col.dtype != torch.int32 or not rowptr.is_contiguous() or not col.is_contiguous():
        raise invalid(f"rowptr is {rowptr.dtype} and col {col.dtype}; they are contiguous int64 and int32, as in a "
                      "csaw.torch.Matrix")
    if weight is not None and (weight.dtype != torch.float32 or not weight.is_contiguous() or
                               weight.shape[0] != edges):
        raise invalid(
            f"weight is {list(weight.shape)} {weight.dtype}; it is contiguous float32, one row for each of the "
            f"{edges} edges")
    return byref(s.csaw_sparse(rowptr.shape[0] - 1, cols, edges, rowptr.data_ptr(), col.data_ptr(), address(weight)))


_NUMBERS = ("heads", "width", "seed", "epoch")  # fields that callers give: ctypes would cut off what is too long


def _filled(struct, fields: Dict[str, Any]) -> Any:
    """make_options(struct, **fields), which says what is wrong, in half the time where nothing is."""
    try:
        options = struct(sizeof(struct), **fields)
    except TypeError:
        return make_options(struct, **fields)
    for name in _NUMBERS:
        if name in fields and getattr(options, name) != fields[name]:
            return make_options(struct, **fields)
    return options


def call(function, struct, fields: Dict[str, Any], *arguments) -> None:
    """function(..., options, ...): `struct` filled from fields stands where Ellipsis does; other structs are there by
    reference."""
    options = byref(_filled(struct, fields))
    status = function(*[options if a is ... else a for a in arguments])
    if status:
        check(status)


# ---- plans of matrices, by address: a plan keeps rowptr and col, so while it lives no other matrix has their
# addresses, and no two devices share any
_plans: "weakref.WeakValueDictionary[Any, Handle]" = weakref.WeakValueDictionary()


def _key(rowptr: Tensor, col: Tensor, cols: int):
    return rowptr.data_ptr(), col.data_ptr(), rowptr.shape[0], col.shape[0], cols


def prepare(rowptr: Tensor, col: Tensor, cols: int, means: bool = False) -> Handle:
    """Checks the matrix and finds out what products with it need. Keep the result as long as it is to be used."""
    a = sparse(rowptr, col, None, cols)
    options = make_options(s.csaw_prepare_options, means=means, **place_of(rowptr))
    pointer = create(lib.csaw_spmm_prepare, a, byref(options))
    handle = Handle(pointer, lib.csaw_spmm_plan_free, (rowptr, col))
    _plans[_key(rowptr, col, cols)] = handle
    return handle


def check_sparse(rowptr: Tensor, col: Tensor, cols: int) -> None:
    """On the host; on a GPU only what shows without a look at its memory."""
    same_device(rowptr, col)
    a = sparse(rowptr, col, None, cols)
    if not rowptr.is_cuda:
        check(lib.csaw_sparse_check(a))


def plan_of(rowptr: Tensor, col: Tensor, cols: int) -> Optional[Handle]:
    """The plan made for this matrix, if there is one; to be held during the call."""
    return _plans.get(_key(rowptr, col, cols))


def pointer_of(handle: Optional[Handle]) -> Optional[int]:
    return None if handle is None else handle.pointer
