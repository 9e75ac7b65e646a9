# SPDX-License-Identifier: MIT
"""Arrays across the border: memory of the library as NumPy arrays, arguments of any library as NumPy arrays.

In: NumPy arrays, lists, and whatever has __dlpack__ (PyTorch, JAX, CuPy on the host) without a copy where dtype and
layout fit. Out: NumPy views that keep their owner alive (NumPy exports them by DLPack), and DeviceArray for memory of a
GPU, with __dlpack__ and __cuda_array_interface__.
"""
import contextlib
import ctypes
import operator
import sys
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from ._lib import invalid

DLPACK_CPU, DLPACK_CUDA = 1, 2


class _Memory:
    """What NumPy makes a view of; the view's base, so that it keeps the owner."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface, owner):
        self.__array_interface__, self.owner = interface, owner


def as_count(value: Any, name: str, least: int = 0, most: int = 2**32 - 1) -> int:
    """A whole number from least to most, of Python, NumPy or a tensor."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not least <= number <= most:
        raise invalid(f"{name} is {value!r}; it is a whole number from {least} to {most}")
    return number


def view(pointer: Optional[int], shape, dtype, owner: Any, writable: bool = False) -> np.ndarray:
    """C-contiguous memory of the library as an array that keeps owner alive; an empty array where there is none."""
    dtype = np.dtype(dtype)
    shape = tuple(int(n) for n in shape)
    if not pointer or 0 in shape:
        return np.empty(shape, dtype)
    interface = {"data": (pointer, not writable), "shape": shape, "typestr": dtype.str, "version": 3}
    return np.asarray(_Memory(interface, owner))


def on_device(x: Any) -> bool:
    """Whether x is memory of a GPU: it has the CUDA array interface, or says so by DLPack."""
    if getattr(x, "__cuda_array_interface__", None) is not None:
        return True
    device = getattr(x, "__dlpack_device__", None)
    return device is not None and not isinstance(x, np.ndarray) and device()[0] not in (DLPACK_CPU, 3)  # 3: pinned host


def as_numpy(x: Any, name: str) -> np.ndarray:
    """x as an array, without a copy where it is one already, of whatever library."""
    if isinstance(x, np.ndarray):
        return x
    if on_device(x):
        raise invalid(f"{name} is memory of a GPU, but is read on the host; copy it there first (.cpu() in PyTorch, "
                      ".get() in CuPy)")
    try:
        if hasattr(x, "detach"):  # a tensor of PyTorch: shares its memory also where NumPy is older than DLPack
            return x.detach().numpy()
        if hasattr(x, "__dlpack__") and hasattr(np, "from_dlpack"):
            return np.from_dlpack(x)
        array = np.asarray(x)
    except (ValueError, TypeError) as error:
        raise invalid(f"{name} is not an array: {error}") from None
    if array.ndim == 0 and array.dtype == object:  # NumPy's shell around what is no sequence
        plain = hasattr(x, "__iter__") and not hasattr(x, "shape")  # a set, a generator
        remedy = f"list({name})" if plain else "an array or a list"
        raise invalid(f"{name} is a {type(x).__name__}, which is not an array; give {remedy}")
    return array


def on_host(x: Any) -> Any:
    """x, or a copy if it is on a GPU and its library is known; what the current stream has yet to write is waited
    for."""
    if isinstance(x, np.ndarray) or not on_device(x):
        return x
    for copied in (lambda: x.detach().cpu().numpy(), lambda: x.get()):  # PyTorch, CuPy
        with contextlib.suppress(AttributeError):
            return copied()
    if isinstance(x, DeviceArray):
        if "torch" in sys.modules:
            return sys.modules["torch"].from_dlpack(x).cpu().numpy()
        if "cupy" in sys.modules:
            return sys.modules["cupy"].asarray(x).get()
    return x  # as_numpy() says what to do


def _plain(x, name, shape, what):
    array = as_numpy(x, name)
    if array.ndim != len(shape) or any(want is not None and want != got for want, got in zip(shape, array.shape)):
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        raise invalid(f"{name} has shape {list(array.shape)}, but {what} have shape [{wanted}]")
    return array


def as_integers(x: Any, name: str, dtype, shape: Tuple[Optional[int], ...] = (None,), below: Optional[int] = None,
                what: str = "integers") -> np.ndarray:
    """x as contiguous integers of dtype; refuses other kinds, other shapes, and values that do not fit.

    below: values are less than it; None = whatever dtype holds.
    """
    array = _plain(x, name, shape, what)
    dtype = np.dtype(dtype)
    if array.size == 0 and not isinstance(x, np.ndarray):
        array = array.astype(dtype)
    if array.dtype.kind == "b":
        raise invalid(f"{name} holds bool, but {what} are integers; if it is a mask, give numpy.flatnonzero({name})")
    if array.dtype.kind not in "iu":
        raise invalid(f"{name} holds {array.dtype}, but {what} are integers; convert them with astype('{dtype}')")
    limits = np.iinfo(dtype)
    most = limits.max if below is None else below - 1
    may_miss = np.iinfo(array.dtype).min < limits.min or np.iinfo(array.dtype).max > most
    if array.size and may_miss:
        lowest, highest = int(array.min()), int(array.max())
        if lowest < limits.min or highest > most:
            wrong = lowest if lowest < limits.min else highest
            place = int(np.argmax(array.reshape(-1) == wrong))
            raise invalid(
                f"{name} holds {wrong} at place {place}, but {what} are {limits.min} .. {most}; fix or drop it")
    return np.ascontiguousarray(array, dtype)


def as_floats(x: Any, name: str, count: int) -> np.ndarray:
    """x as [count] contiguous float32. Integers and float64 are converted; other kinds are refused, and numbers that
    would become infinite or 0."""
    array = _plain(x, name, (count,), "one number per edge")
    if array.dtype.kind not in "iuf":
        raise invalid(f"{name} holds {array.dtype}, but weights are numbers; convert them with astype('float32')")
    with np.errstate(over="ignore", under="ignore"):
        out = np.ascontiguousarray(array, np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        for lost, what in ((np.isinf(out) & np.isfinite(array), "beyond what a float32 holds, 3.4e38; scale all"),
                           ((out == 0) & (array != 0),
                            "which a float32 has as 0; give 0 or drop such edges, or, if all are as small, scale all")):
            if lost.any():
                place = int(np.argmax(lost))
                raise invalid(f"{name} holds {array[place]} at place {place}, {what}")
    return out


def pointer(array: Optional[np.ndarray]) -> Optional[int]:
    """Address of a contiguous array's first element; None for None."""
    return None if array is None else array.ctypes.data


# ---- memory of a GPU ------------------------------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_DLManagedTensor))
_DLManagedTensor._fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]

_exported: Dict[int, Tuple] = {}  # address of a managed tensor: all that must live until its deleter is called
_CAPSULE = b"dltensor"
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_api = ctypes.pythonapi
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)(
    ("PyCapsule_New", _api))
_capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@_DELETER
def _delete(managed):
    _exported.pop(ctypes.addressof(managed.contents), None)


@_DESTRUCTOR
def _drop_capsule(capsule):  # a capsule that nobody took: a consumer renames what it takes
    if _capsule_is(capsule, _CAPSULE):
        _exported.pop(_capsule_pointer(capsule, _CAPSULE), None)


class DeviceArray:
    """Memory of a GPU that the library owns, for PyTorch, CuPy and others: torch.from_dlpack(a), cupy.asarray(a).

    shape: lengths; strides: in elements; dtype: of NumPy; device: number of the GPU. The array keeps its owner alive.
    PyTorch before 2.3 knows no uint32: take view("int32") there.
    """

    def __init__(self, pointer, shape, strides, dtype, owner, device=0, device_type=DLPACK_CUDA):
        self.pointer, self.shape, self.strides = pointer, tuple(map(int, shape)), tuple(map(int, strides))
        self.dtype, self.owner, self.device, self.device_type = np.dtype(dtype), owner, device, device_type

    def view(self, dtype) -> "DeviceArray":
        """The same memory as another dtype of the same size."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise invalid(f"view({dtype}) of {self.dtype}: both must have the same size")
        return DeviceArray(self.pointer, self.shape, self.strides, dtype, self.owner, self.device, self.device_type)

    def __len__(self):
        return self.shape[0]

    @property
    def __cuda_array_interface__(self):
        if self.device_type != DLPACK_CUDA:
            raise AttributeError("__cuda_array_interface__: not memory of an NVIDIA GPU")
        size = self.dtype.itemsize
        return {"data": (self.pointer or 0, False), "shape": self.shape, "typestr": self.dtype.str,
                "strides": tuple(size * n for n in self.strides), "stream": None, "version": 3}

    def __dlpack_device__(self):
        return self.device_type, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            raise BufferError("csaw copies no device memory; take copy=None")
        n = len(self.shape)
        managed = _DLManagedTensor()
        shape, strides = (ctypes.c_int64 * n)(*self.shape), (ctypes.c_int64 * n)(*self.strides)
        code = {"i": 0, "u": 1, "f": 2}[self.dtype.kind]
        managed.tensor = _DLTensor(self.pointer, self.device_type, self.device, n, code, 8 * self.dtype.itemsize, 1,
                                   shape, strides, 0)
        managed.deleter = _delete
        address = ctypes.addressof(managed)
        _exported[address] = (managed, shape, strides, self.owner)
        return _new_capsule(address, _CAPSULE, _drop_capsule)

    def __repr__(self):
        return f"DeviceArray(shape={list(self.shape)}, dtype={self.dtype}, device={self.device})"


# ---- tensors of PyTorch ---------------------------------------------------------------------------------------------


class _Writable:  # PyTorch warns of read-only arrays; these keep their owner
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def shared_tensor(array: Union[np.ndarray, DeviceArray], dtype: str):
    """A tensor of the same memory, which it keeps; its bits taken as dtype of PyTorch, of the same size."""
    import torch

    on_gpu = isinstance(array, DeviceArray) and array.device_type == DLPACK_CUDA
    want = getattr(torch, dtype)
    if 0 in array.shape:
        return torch.empty(array.shape, dtype=want, device=f"cuda:{array.device}" if on_gpu else "cpu")
    bits = f"int{8 * array.dtype.itemsize}"
    if isinstance(array, DeviceArray):
        return torch.from_dlpack(array.view(bits)).view(want)
    return torch.from_numpy(np.asarray(_Writable(array)).view(bits)).view(want)
