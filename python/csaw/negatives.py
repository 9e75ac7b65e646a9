# SPDX-License-Identifier: MIT
"""Negative samples for link prediction (csaw/training.h)."""
import ctypes
from typing import Any

import numpy as np

from . import _structs as s
from ._arrays import as_integers, on_host, pointer
from ._lib import Handle, check, create, invalid, lib
from ._lib import options as make_options
from .graph import Graph
from .runs import _count


def negatives(graph: Graph, src: Any, each: int = 1, *, power: float = 0.0, any: bool = False, seed: int = 0,
              first: int = 0) -> np.ndarray:
    """[n, each] uint32: for each src[i] of [n] vertices so many independent vertices x such that src[i] -> x is no arc
    and x is not src[i].

    power: P(x) is proportional to degree(x)^power, of arcs out; 0 = all alike, 0.75 is word2vec's. any: x may be a
    neighbour, or src[i] itself. first: src[i] is number first + i of the seed's stream; give other numbers to every
    batch. The graph keeps the table of a power other than 0, 8 bytes a vertex.
    """
    if not isinstance(graph, Graph):
        raise invalid(f"negatives are of a csaw.Graph, not of a {type(graph).__name__}")
    vertex = as_integers(on_host(src), "src", np.uint32, what="vertex numbers")
    key = f"negatives, power {float(power)!r}, any {bool(any)}"
    if key not in graph._kept:
        options = make_options(s.csaw_negative_options, power=float(power), any=bool(any))
        made = create(lib.csaw_negatives_create, graph._handle.pointer, ctypes.byref(options))
        graph._kept[key] = Handle(made, lib.csaw_negatives_free, graph._handle)
    out = np.empty((len(vertex), _count(each, "each", 1)), np.uint32)
    check(
        lib.csaw_negatives_draw(graph._kept[key].pointer, _count(seed, "seed", 0, 2**64 - 1),
                                _count(first, "first", 0, 2**40), pointer(vertex), len(vertex), out.shape[1],
                                out.ctypes.data))
    return out
