# SPDX-License-Identifier: MIT
"""Negative samples for link prediction (csaw/training.h)."""
import ctypes
import functools
from typing import Any, Tuple, Union

import numpy as np

from . import _structs as s
from ._arrays import DeviceArray, as_count, as_integers, on_host, pointer
from ._lib import Handle, as_text, check, create, invalid, lib
from ._lib import options as make_options
from ._progress import Interruptible
from .graph import Graph
from .samples import _device_number


def _memory(device: str, size: int) -> Handle:
    """So many bytes of that device, freed with the last reference."""
    name = device.encode()
    return Handle(create(lib.csaw_memory_alloc, name, size), functools.partial(lib.csaw_memory_free, name))


def _drawn_there(made: Handle, device: str, seed: int, first: int, vertex: np.ndarray, each: int) -> DeviceArray:
    """dst in memory of the device that made's table is on; there when this returns."""
    src, dst = _memory(device, vertex.nbytes), _memory(device, vertex.nbytes * each)
    check(lib.csaw_memory_write(device.encode(), src.pointer, pointer(vertex), vertex.nbytes))
    check(lib.csaw_negatives_draw(made.pointer, seed, first, src.pointer, len(vertex), each, dst.pointer))
    return DeviceArray(dst.pointer, (len(vertex), each), (each, 1), np.uint32, dst, _device_number(device))


def _drawn(graph: Graph, device: str, law: Tuple[float, bool], seed: int, first: int, vertex: np.ndarray,
           each: int) -> Union[np.ndarray, DeviceArray]:
    power, any = law
    key = f"negatives, power {power!r}, any {any}, {device}"
    if key not in graph._kept:
        options = make_options(s.csaw_negative_options, power=power, any=any, device=as_text(device, "device"))
        created = create(lib.csaw_negatives_create, graph._handle.pointer, ctypes.byref(options))
        graph._kept[key] = Handle(created, lib.csaw_negatives_free, graph._handle)
    made = graph._kept[key]
    if device != "cpu":
        return _drawn_there(made, device, seed, first, vertex, each)
    out = np.empty((len(vertex), each), np.uint32)
    check(lib.csaw_negatives_draw(made.pointer, seed, first, pointer(vertex), len(vertex), each, out.ctypes.data))
    return out


def negatives(graph: Graph, src: Any, each: int = 1, *, power: float = 0.0, any: bool = False, seed: int = 0,
              first: int = 0, device: str = "cpu") -> Union[np.ndarray, DeviceArray]:
    """[n, each] uint32: for each src[i] of [n] vertices so many independent vertices x such that src[i] -> x is no arc
    and x is not src[i].

    power: P(x) is proportional to degree(x)^power, of arcs out; 0 = all alike, 0.75 is word2vec's. any: x may be a
    neighbour, or src[i] itself. first: src[i] is number first + i of the seed's stream; give other numbers to every
    batch. device: "cuda:0" draws there, the same vertices, and gives a DeviceArray, for torch.from_dlpack() and
    cupy.asarray(); src is copied there. The graph keeps the table of a power other than 0, 8 bytes a vertex, and on a
    GPU, unless any is set, a copy of its rows, 8 bytes a vertex and 4 an arc.
    """
    if not isinstance(graph, Graph):
        raise invalid(f"negatives are of a csaw.Graph, not of a {type(graph).__name__}")
    if not isinstance(device, str):
        raise invalid(f"device is {device!r}; give its name, such as 'cuda:0', or 'cpu'")
    vertex = as_integers(on_host(src), "src", np.uint32, what="vertex numbers")
    seed, first = as_count(seed, "seed", 0, 2**64 - 1), as_count(first, "first", 0, 2**40)
    with Interruptible():
        return _drawn(graph, device, (float(power), bool(any)), seed, first, vertex, as_count(each, "each", 1))
