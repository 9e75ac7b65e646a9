# SPDX-License-Identifier: MIT
"""An epoch's batches made ahead, on the CPU or on a GPU, by the thread of a csaw_loader (csaw/training.h).

The loader is given the epoch's seeds in their order, so that its batches are those of _drawing.py, bit for bit. A batch
is borrowed from it until the next one is asked for; if anybody still has arrays of it then, its memory is taken from
the loader and given back when the last of them goes.
"""
import ctypes
import weakref
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _structs as s
from ._arrays import DeviceArray, on_device, pointer, shared_tensor
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

    def are_locked_by(self, device: str) -> bool:
        """Whether a loader on that device locks their pages, of which CUDA copies none together with others."""
        x = self.array
        pinned = is_tensor(x) and (x.device.type != "cpu" or x.is_pinned())
        return device != "cpu" and not pinned and not on_device(x)

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
    cached: int  # rows of features from the cache
    blocks: Blocks
    memory: _Memory


class Kept:
    """A loader between two epochs."""

    def __init__(self) -> None:
        self._opened_for: Any = None
        self._handle: Optional[Handle] = None

    def put(self, handle: Handle, opened_for: Any) -> None:
        self._handle, self._opened_for = handle, opened_for

    def take(self, wanted: Any) -> Optional[Handle]:
        """The one opened for the same, in this process; others are closed."""
        handle, self._handle = self._handle, None
        if handle is None or (self._opened_for == wanted and handle.is_of_this_process()):
            return handle
        handle.free()
        return None


class Ahead:
    """The batches of an epoch, an iterator. seeds: [n] uint32 in the epoch's order. fill: what it gives of each Made.
    current_stream: of the caller, who does not change it while he iterates. kept: where the loader is from, and goes at
    the end of the epoch; None: it is opened and closed."""

    def __init__(self, drawer: Drawer, epoch: int, seeds: np.ndarray, fill: Callable[[Made], Any],
                 features: Optional[Features], current_stream: Callable[[], Optional[int]], kept: Optional[Kept] = None,
                 **options):
        given, seed = Seeds(seeds, None, len(seeds)), epoch_seed(drawer.seed, epoch)
        self._fill, self._current_stream, self._device = fill, current_stream, drawer.device
        self._stream = current_stream()
        self._held: Optional["weakref.ref[_Memory]"] = None  # of the batch given last
        self._kept, self._opened_for = kept, (self._stream, sorted(options.items()))
        self._loader = kept and kept.take(self._opened_for)
        if self._loader:
            check(lib.csaw_loader_restart(self._loader.pointer, ctypes.byref(given.struct), seed))
            return
        plan, hops, x = drawer.own_plan(), fanout_of(drawer.fanout), features.dense() if features else None
        made_of = make_options(s.csaw_loader_options, keep_order=True, seed=seed,
                               sampler=Sampler("neighbor_once")._handle.pointer, depth=len(hops), fanout=pointer(hops),
                               replace=drawer.replace, stream=self._stream,
                               features=ctypes.addressof(x) if x else None, **options)
        self._loader = Handle(
            create(lib.csaw_loader_open, plan._handle.pointer, ctypes.byref(given.struct), ctypes.byref(made_of)),
            lib.csaw_loader_close, (plan._handle, features))

    def __iter__(self):
        return self

    def __next__(self) -> Any:
        if self._loader is None:  # all have been given
            raise StopIteration
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
        if self._kept and self._loader.pointer:
            self._kept.put(self._loader, self._opened_for)
            self._loader = None
        raise StopIteration

    def _give(self, view: Any) -> Any:
        memory = _Memory()
        self._held = weakref.ref(memory)
        return self._fill(
            Made(view.number, view.num_seeds, view.num_vertices, view.space, self._device, view.features.data,
                 view.cached, Blocks(view.blocks, self._device, memory), memory))

    def _keep_what_is_used(self) -> None:
        memory = self._held and self._held()
        self._held = None
        if memory:
            memory.handle = Handle(create(lib.csaw_loader_take, self._loader.pointer), lib.csaw_minibatch_free)

    def close(self) -> None:
        """Ends the loader's thread; what is used of its batches stays."""
        if self._loader is None:  # it could not be opened, or is kept
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


class Numbers:
    """0, 1, 2 ... as a tensor, kept for the batches of an epoch, whose stream is one."""

    def __init__(self) -> None:
        self._kept: Any = None

    def up_to(self, count: int, device: Any) -> Any:
        if self._kept is None or len(self._kept) < count:
            import torch

            self._kept = torch.arange(2 * count, device=device)
        return self._kept[:count]


def _whole(array: DeviceArray, count: int) -> DeviceArray:
    """So many elements from the beginning of array."""
    return DeviceArray(array.pointer, (count,), (1,), array.dtype, array.owner, array.device, array.device_type)


def _tensors(arrays: Sequence[DeviceArray]) -> List[Any]:
    """As int32 or int64. Those that lie side by side, as all of a batch on a GPU do, are handed over at once."""
    import torch

    sizes = [len(a) * a.dtype.itemsize for a in arrays]
    first, place = arrays[0], arrays[0].pointer or 0
    for a, size in zip(arrays, sizes):
        if a.pointer != place:
            return [shared_tensor(a, f"int{8 * a.dtype.itemsize}") for a in arrays]
        place += size
    words = DeviceArray(first.pointer, (sum(sizes) // 4,), (1,), np.int32, first.owner, first.device, first.device_type)
    parts = shared_tensor(words, "int32").split([size // 4 for size in sizes])
    return [part.view(torch.int64) if a.dtype.itemsize == 8 else part for part, a in zip(parts, arrays)]


def tensors_of(blocks: Blocks, numbers: Numbers) -> Drawn:
    """A batch on a GPU, as tensors; the host waits for nothing. Of an instance libcsaw's arrays of all depths stand one
    after the other."""
    import torch

    layers = [blocks[0, d] for d in range(blocks.depth)]
    nodes, edges = counts_by_hop(layers)
    count = sum(edges)
    edge, rowptr, col, vertex = _tensors(
        [_whole(layers[0].edge, count), _whole(layers[0].rowptr, sum(layer.num_dst + 1 for layer in layers)),
         _whole(layers[0].col, count), layers[-1].vertex])
    index = torch.empty(2, count, dtype=torch.int64, device=vertex.device)
    index[0].copy_(col)
    begin = row = 0
    for layer, m in zip(layers, edges):
        ends, into = rowptr[row + 1:row + layer.num_dst + 1], index[1, begin:begin + m]
        torch.bucketize(numbers.up_to(m, col.device), ends, right=True, out=into)
        begin, row = begin + m, row + layer.num_dst + 1
    return Drawn(vertex.long(), index, edge, nodes, edges)
