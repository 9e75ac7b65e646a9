# SPDX-License-Identifier: MIT
"""An epoch's batches made ahead, on the CPU or on a GPU, by the thread of a csaw_loader (csaw/training.h).

The loader is given the epoch's seeds in their order, so that its batches are those of _drawing.py, bit for bit. A batch
is borrowed from it until the next one is asked for; if anybody still has arrays of it then, its memory is taken from
the loader and given back when the last of them goes.
"""
import ctypes
import weakref
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from . import _structs as s
from ._arrays import on_device, pointer, shared_tensor
from ._data import is_tensor
from ._drawing import Drawer, Drawn, epoch_seed
from ._lib import Handle, check, create, invalid, lib
from ._lib import options as make_options
from .runs import Seeds, counts_by_hop, fanout_of, neighbor_sample_of
from .sampler import Sampler
from .samples import Blocks, array_in

_STORAGE = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16}  # in csaw_dtype's order, and bits


def _interface(x: Any) -> Tuple[int, Tuple[int, ...], Tuple[int, ...], str]:
    """Address, shape, strides in elements and dtype of a matrix of NumPy, PyTorch or with the CUDA array interface; of
    others a shape that no features have."""
    none = 0, (), (), ""
    if is_tensor(x):
        if str(x.layout) != "torch.strided":
            return none
        return x.data_ptr(), tuple(x.shape), x.stride(), str(x.dtype).partition(".")[2]
    found = getattr(x, "__cuda_array_interface__", None) or getattr(x, "__array_interface__", None)
    if found is None or len(found["shape"]) != 2:
        return none
    dtype, shape = np.dtype(found["typestr"]), tuple(found["shape"])
    strides = found.get("strides") or (shape[1] * dtype.itemsize, dtype.itemsize)
    if not dtype.isnative or any(n % dtype.itemsize for n in strides):
        return none
    return found["data"][0], shape, tuple(n // dtype.itemsize for n in strides), dtype.name


class Features:
    """Rows that the loader gathers for each batch, where they lie: in memory of the GPU or of the host."""

    def __init__(self, x: Any):
        self.array = x  # keeps the memory
        _, (_, self.cols), _, self.dtype = _interface(x)

    def dense(self) -> Any:
        """csaw_dense."""
        address, (rows, cols), (stride, _), dtype = _interface(self.array)
        return s.csaw_dense(rows, cols, stride if rows > 1 else 0, list(_STORAGE).index(dtype), address)

    @staticmethod
    def are(x: Any, device: str) -> bool:
        """Whether a loader on that device gathers rows of x: [n, m] float32, float16 or bfloat16, elements of a row
        side by side, in memory of the host or of that device; of a tensor without gradients."""
        _, shape, strides, dtype = _interface(x)
        if is_tensor(x):
            reachable = str(x.device) in ("cpu", device) and not x.requires_grad  # else rows are selected, with gradients
        else:
            reachable = not on_device(x) or device != "cpu"  # which GPU it is, the library finds out
        return len(shape) == 2 and 0 not in shape and dtype in _STORAGE and strides[1] == 1 and \
            strides[0] >= shape[1] and reachable

    def of(self, made: "Made", as_tensors: bool) -> Any:
        """Those of a batch, [nodes, m]: its own memory."""
        shape, bits = (made.num_vertices, self.cols), _STORAGE[self.dtype]
        array = array_in(made.space, made.features, shape, bits, made.memory, made.device, writable=True)
        return shared_tensor(array, self.dtype) if as_tensors else array


class _Memory:
    """A batch's: the loader's while handle is None. What shows it keeps this."""

    __slots__ = ("handle", "__weakref__")

    def __init__(self):
        self.handle: Optional[Handle] = None


class Made(NamedTuple):
    """A batch as the loader made it, whose arrays are memory's."""

    number: int
    num_seeds: int
    num_vertices: int
    space: int
    device: str
    features: Optional[int]
    blocks: Blocks
    memory: _Memory


class Ahead:
    """The batches of an epoch, an iterator. seeds: [n] uint32 in the epoch's order. fill: what it gives of each Made.
    current_stream: of the caller, who does not change it while he iterates."""

    def __init__(self, drawer: Drawer, epoch: int, seeds: np.ndarray, fill: Callable[[Made], Any],
                 features: Optional[Features], current_stream: Callable[[], Optional[int]], **options):
        plan, hops, given = drawer.own_plan(), fanout_of(drawer.fanout), Seeds(seeds, None, len(seeds))
        self._fill, self._current_stream, self._device = fill, current_stream, drawer.device
        self._stream = current_stream()
        x = features.dense() if features else None
        self._held: Optional["weakref.ref[_Memory]"] = None  # of the batch given last
        self._loader: Optional[Handle] = None
        made_of = make_options(s.csaw_loader_options, keep_order=True, seed=epoch_seed(drawer.seed, epoch),
                               sampler=Sampler("neighbor_once")._handle.pointer, depth=len(hops), fanout=pointer(hops),
                               replace=drawer.replace, stream=self._stream,
                               features=ctypes.addressof(x) if x else None, **options)
        self._loader = Handle(
            create(lib.csaw_loader_open, plan._handle.pointer, ctypes.byref(given.struct), ctypes.byref(made_of)),
            lib.csaw_loader_close, (plan._handle, features))

    def __iter__(self):
        return self

    def __next__(self) -> Any:
        try:
            self._keep_what_is_used()
            if self._current_stream() != self._stream:
                raise invalid("the current stream is another than when the iteration began, in which the GPU may still "
                              "be at work on batches; iterate in one stream")
            out = ctypes.c_void_p()
            check(lib.csaw_loader_next(self._loader.pointer, ctypes.byref(out)))
            if out.value:
                return self._give(s.csaw_minibatch.from_address(out.value))
        except BaseException:
            self.close()
            raise
        self.close()
        raise StopIteration

    def _give(self, view: Any) -> Any:
        memory = _Memory()
        self._held = weakref.ref(memory)
        return self._fill(
            Made(view.number, view.num_seeds, view.num_vertices, view.space, self._device, view.features.data,
                 Blocks(view.blocks, self._device, memory), memory))

    def _keep_what_is_used(self) -> None:
        memory = self._held and self._held()
        self._held = None
        if memory:
            memory.handle = Handle(create(lib.csaw_loader_take, self._loader.pointer), lib.csaw_minibatch_free)

    def close(self) -> None:
        """Ends the loader's thread; what is used of its batches stays."""
        if self._loader is None:  # it could not be opened
            return
        try:
            if self._loader.pointer:
                self._keep_what_is_used()
        finally:
            self._loader.free()

    __del__ = close  # by an exception thrown into the generator that iterates, too


def arrays_of(blocks: Blocks) -> Drawn:
    """A batch on the host."""
    one = neighbor_sample_of(blocks)
    return Drawn(one.n_id, one.edge_index, one.e_id, one.num_sampled_nodes, one.num_sampled_edges)


def tensors_of(blocks: Blocks) -> Drawn:
    """A batch on a GPU, as tensors; the host waits for nothing."""
    import torch

    layers = [blocks[0, d] for d in range(blocks.depth)]
    nodes, edges = counts_by_hop(layers)
    col = torch.cat([shared_tensor(layer.col, "int32") for layer in layers]).long()
    number = torch.arange(max(edges), device=col.device)
    row = [torch.bucketize(number[:m], shared_tensor(layer.rowptr, "int64")[1:], right=True)
           for layer, m in zip(layers, edges)]
    edge = torch.cat([shared_tensor(layer.edge, "int64") for layer in layers])
    return Drawn(shared_tensor(layers[-1].vertex, "int32").long(), torch.stack([col, torch.cat(row)]), edge, nodes,
                 edges)
