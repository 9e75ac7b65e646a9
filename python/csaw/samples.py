# SPDX-License-Identifier: MIT
"""Samples: what a run gave, as arrays, layered blocks and subgraphs. Arrays are views of the library's memory."""
import ctypes
import math
import os
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _structs as s
from ._arrays import DeviceArray, view
from ._lib import Handle, as_path, as_text, check, create, invalid, lib
from ._lib import options as make_options
from ._progress import Interruptible
from .graph import Graph

_HOST, _DEVICE = s.ENUMS["csaw_space"]["CSAW_HOST"], s.ENUMS["csaw_space"]["CSAW_DEVICE"]


class Walks(NamedTuple):
    """path: [walks, length + 1] uint32, csaw.NONE after a walk's end. edge: [walks, length] uint64, csaw.NO_EDGE
    where a step followed no arc; None unless the run kept edges. first: instance of walk 0. On the host NumPy
    arrays, on a GPU DeviceArray (step by step in memory)."""

    path: Union[np.ndarray, DeviceArray]
    edge: Union[np.ndarray, DeviceArray, None]
    first: int


class Arcs(NamedTuple):
    """The arcs that were sampled: arcs offset[i] .. offset[i + 1] - 1 are those of instance first + i.

    src, dst: [arcs] uint32, vertices: src was expanded, dst was picked. edge: [arcs] uint64, place in the graph. depth:
    [arcs] uint32. offset, seed_offset: [instances + 1] uint64. seed: [seed_offset[-1]] uint32, first frontiers.
    """

    src: np.ndarray
    dst: np.ndarray
    edge: np.ndarray
    depth: np.ndarray
    offset: np.ndarray
    seed: np.ndarray
    seed_offset: np.ndarray
    first: int


class Block(NamedTuple):
    """One layer of a minibatch, a CSR matrix [num_dst, num_src]: rows receive, columns send; the first num_dst
    columns are the rows. vertex: [num_src] uint32, numbers in the graph. rowptr: [num_dst + 1] uint64. col: [edges]
    uint32, local. edge: [edges] uint64, place in the graph. On the host NumPy arrays, on a GPU DeviceArray."""

    num_dst: int
    num_src: int
    vertex: Union[np.ndarray, DeviceArray]
    rowptr: Union[np.ndarray, DeviceArray]
    col: Union[np.ndarray, DeviceArray]
    edge: Union[np.ndarray, DeviceArray]

    def row(self) -> np.ndarray:
        """[edges] int64, the row of every edge; of arrays on the host."""
        if isinstance(self.rowptr, DeviceArray):
            raise invalid("the block is on a GPU, but its rows are counted on the host; take repeat_interleave() of "
                          "PyTorch with the differences of rowptr")
        rowptr = self.rowptr.astype(np.int64)
        return np.repeat(np.arange(self.num_dst, dtype=np.int64), rowptr[1:] - rowptr[:-1])


def _leave(_pointer):
    """What an owner frees."""


class Blocks:
    """Minibatches in layers, one for every instance; len() is their number. blocks[i, d] is the Block of instance i
    with the picks of depth d: a network runs from the last depth to 0. Arrays of a block keep them alive; those on a
    GPU are to be kept until no stream reads them any more."""

    def __init__(self, pointer, device: str = "cpu", owner: Any = None):
        """owner: what frees them, if others are to outlive them."""
        self._handle = Handle(pointer, _leave if owner is not None else lib.csaw_blocks_free, owner)
        self._device = device
        self.depth: int = lib.csaw_blocks_depth(pointer)

    def __len__(self):
        return lib.csaw_blocks_instances(self._handle.pointer)

    def __getitem__(self, place) -> Block:
        if not isinstance(place, tuple) or len(place) != 2:
            raise TypeError(f"blocks[{place!r}]: a block is of an instance and a depth; give blocks[i, d]")
        instance, depth = place
        if not 0 <= instance < len(self) or not 0 <= depth < self.depth:
            raise IndexError(
                f"there is no block of instance {instance}, depth {depth}; there are {len(self)} instances of "
                f"depth {self.depth}")
        out = s.csaw_block_view()
        check(lib.csaw_blocks_look(self._handle.pointer, instance, depth, ctypes.byref(out)))
        return block_from(out, self._handle, self._device)

    __iter__ = None  # by instance, or by depth? blocks[i, d] says

    def __repr__(self):
        return f"Blocks({len(self)} instances, depth {self.depth})"

    def weights(self, graph: Graph, instance: int, depth: int) -> np.ndarray:
        """[edges] float32, the weights of a block's arcs in the graph that was sampled, 1 where it has none."""
        out = s.csaw_block_view()
        check(lib.csaw_blocks_look(self._handle.pointer, instance, depth, ctypes.byref(out)))
        weight = np.empty(out.num_edges, np.float32)
        check(lib.csaw_block_weights(graph._handle.pointer, ctypes.byref(out), weight.ctypes.data))
        return weight


class Subgraph:
    """Graphs with vertices numbered by first visit. vertex: [vertices] uint32 by place, numbers in the graph that was
    sampled; graph g has places vertex_offset[g] .. vertex_offset[g + 1] - 1. rowptr [vertices + 1] uint64, col [arcs]
    uint32 (local to each graph), edge [arcs] uint64. len() is the number of graphs."""

    def __init__(self, pointer, graph: Graph):
        self._handle = Handle(pointer, lib.csaw_subgraph_free, graph._handle)
        look = lib.csaw_subgraph_look(pointer)
        self._count, self.first = look.num_graphs, look.first
        self._names = graph._given_names
        self.vertex_offset = view(look.vertex_offset, (look.num_graphs + 1,), np.uint64, self._handle)
        places = int(self.vertex_offset[-1])
        self.vertex = view(look.vertex, (places,), np.uint32, self._handle)
        self.rowptr = view(look.rowptr, (places + 1,), np.uint64, self._handle)
        arcs = int(self.rowptr[-1])
        self.col = view(look.col, (arcs,), np.uint32, self._handle)
        self.edge = view(look.edge, (arcs,), np.uint64, self._handle)

    def __len__(self):
        return self._count

    def __repr__(self):
        return f"Subgraph({len(self)} graphs, {len(self.vertex)} vertices, {len(self.col)} arcs)"

    def graph(self, place: int = 0) -> Graph:
        """Graph `place` as a Graph of its own, with weights, types, times and names."""
        out = Graph._adopt(create(lib.csaw_subgraph_graph, self._handle.pointer, place))
        if self._names is not None:
            out._given_names = [self._names[v] for v in self.vertex[int(self.vertex_offset[place]):
                                                                    int(self.vertex_offset[place + 1])]]
        return out

    def save(self, path: Union[str, os.PathLike], *, format: Optional[str] = None) -> None:
        """text, npz, graphml or csaw; None = by suffix."""
        options = make_options(s.csaw_save_options, format=as_text(format, "format"))
        check(lib.csaw_subgraph_save(self._handle.pointer, as_path(path), ctypes.byref(options)))


class Samples:
    """What csaw.sample() gave. Arrays that it hands out keep it alive."""

    def __init__(self, pointer, plan, sampler):
        self.graph = plan.graph
        self._device, self._sampler = plan.device, repr(sampler)
        # memory goes back to the plan; the sampler's code outlives what it made
        self._handle = Handle(pointer, lib.csaw_samples_free, (plan._handle, sampler._handle))

    def __repr__(self):
        return f"Samples({self._sampler} of {self.graph!r})"

    def walks(self, device: bool = False) -> Walks:
        """The run as walks: one seed each, no fanout. device: leave them on the GPU."""
        out = s.csaw_walks()
        check(lib.csaw_samples_walks(self._handle.pointer, _DEVICE if device else _HOST, ctypes.byref(out)))
        return walks_from(out, self._handle, self._device)

    def arcs(self) -> Arcs:
        """All arcs that were sampled; of walks, if the run kept their edges."""
        out = s.csaw_arcs()
        check(lib.csaw_samples_arcs(self._handle.pointer, _HOST, ctypes.byref(out)))
        owner, n = self._handle, out.num_instances
        offset = view(out.offset, (n + 1,), np.uint64, owner)
        seed_offset = view(out.seed_offset, (n + 1,), np.uint64, owner)
        m, seeds = int(offset[-1]), int(seed_offset[-1])
        return Arcs(view(out.src, (m,), np.uint32, owner), view(out.dst, (m,), np.uint32, owner),
                    view(out.edge, (m,), np.uint64, owner), view(out.depth, (m,), np.uint32, owner), offset,
                    view(out.seed, (seeds,), np.uint32, owner), seed_offset, out.first)

    def blocks(self, device: bool = False) -> Blocks:
        """Minibatches in layers, relabelled, seeds first. device: made on the GPU that sampled, and left there."""
        made = create(lib.csaw_blocks_create_in, self._handle.pointer, _DEVICE if device else _HOST)
        return Blocks(made, self._device)

    def subgraph(self, *, per_instance: bool = False, induced: bool = False, arcs_only: bool = False) -> Subgraph:
        """One graph of all instances, or one of each. induced: all arcs between the vertices. arcs_only: vertices
        are the ends of sampled arcs alone."""
        options = make_options(s.csaw_subgraph_options, per_instance=per_instance, induced=induced, arcs_only=arcs_only)
        with Interruptible():
            return Subgraph(create(lib.csaw_subgraph_create, self.graph._handle.pointer, self._handle.pointer,
                                   ctypes.byref(options)), self.graph)

    def save(self, path: Union[str, os.PathLike], *, format: Optional[str] = None, plain: bool = False,
             header: bool = True) -> None:
        """text, npz or graphml; None = by suffix."""
        options = make_options(s.csaw_save_options, format=as_text(format, "format"), plain=plain,
                               no_header=not header)
        check(lib.csaw_samples_save(self.graph._handle.pointer, self._handle.pointer, as_path(path),
                                    ctypes.byref(options)))


def _device_number(device: str) -> int:
    return int(device.partition(":")[2] or 0)


def array_in(space: int, place, shape, dtype, owner, device: str,
             writable: bool = False) -> Union[np.ndarray, DeviceArray]:
    """C-contiguous memory of a csaw_space, which owner keeps; device: of the plan, such as "cuda:0". writable: where
    NumPy can say so."""
    if space == _HOST:
        return view(place, shape, dtype, owner, writable)
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return DeviceArray(place, shape, strides, dtype, owner, _device_number(device))


def block_from(out: "s.csaw_block_view", owner, device: str) -> Block:
    """The block of a filled csaw_block_view, whose memory owner keeps; device: of the plan, such as "cuda:0"."""

    def array(place, count, dtype):
        return array_in(out.space, place, (count,), dtype, owner, device)

    return Block(out.num_dst, out.num_src, array(out.vertex, out.num_src, np.uint32),
                 array(out.rowptr, out.num_dst + 1, np.uint64), array(out.col, out.num_edges, np.uint32),
                 array(out.edge, out.num_edges, np.uint64))


def walks_from(out: "s.csaw_walks", owner, device: str) -> Walks:
    """Walks of a filled csaw_walks, whose memory owner keeps; device: of the plan, such as "cuda:0"."""

    def array(place, steps, walk_stride, step_stride, dtype):
        shape = (out.num_walks, steps)
        if out.space == _DEVICE:
            return DeviceArray(place, shape, (walk_stride, step_stride), dtype, owner, _device_number(device))
        if (walk_stride, step_stride) != (steps, 1):
            raise invalid("walks on the host are expected walk by walk")
        return view(place, shape, dtype, owner, writable=True)

    path = array(out.path, out.length + 1, out.path_walk_stride, out.path_step_stride, np.uint32)
    edge = array(out.edge, out.length, out.edge_walk_stride, out.edge_step_stride, np.uint64) if out.edge else None
    return Walks(path, edge, out.first)
