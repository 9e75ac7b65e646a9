# SPDX-License-Identifier: MIT
"""Neighbours by visit counts, as PinSage takes them (csaw/training.h)."""
import ctypes
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _structs as s
from ._arrays import as_count, view
from ._lib import Handle, invalid, lib
from ._lib import options as make_options
from ._progress import Callbacks, ProgressOption
from .plan import plan_of
from .runs import GraphOrPlan, SamplerLike, _select, seeds_of
from .sampler import sampler_of


class Visits(NamedTuple):
    """Neighbours of seed i are entries offset[i] .. offset[i + 1] - 1, most visits first, of equals the lower number.

    offset: [seeds + 1] uint64. vertex: [entries] uint32. count: [entries] uint32, visits by all walks of the seed.
    weight: [entries] float32, count divided by the sum of those kept.
    """

    offset: np.ndarray
    vertex: np.ndarray
    count: np.ndarray
    weight: np.ndarray


def visits(graph: GraphOrPlan, seeds: Any = None, *, walks: int = 10, depth: int = 10, top: int = 10,
           sampler: Optional[SamplerLike] = None, select: str = "auto", seed: int = 0, first: int = 0,
           progress: ProgressOption = False) -> Visits:
    """The `top` vertices that `walks` walks of `depth` steps from each seed visit most (Ying et al., KDD 2018).

    seeds: [n] vertices, which may repeat; None = every vertex. The seed itself does not count. sampler: a walk, default
    "restart". first: number of the first seed: a list in pieces, each with the number that its first seed has in the
    whole, gives what the whole gives. progress: True = tqdm's bar, or a function of (done, total) seeds, which stops by
    returning False.
    """
    plan, given = plan_of(graph), seeds_of(seeds)
    if given and given.offset is not None:
        raise invalid("seeds are one vertex each, [n]; give no list of arrays")
    walk = None if sampler is None else sampler_of(sampler)
    options = make_options(
        s.csaw_visit_options, sampler=walk and walk._handle.pointer, params=walk and ctypes.addressof(walk._params),
        walks=as_count(walks, "walks", 1), depth=as_count(depth, "depth", 1), top=as_count(top, "top", 1),
        seed=as_count(seed, "seed", 0, 2**64 - 1), first=as_count(first, "first", 0, 2**40), select=_select(select))
    callbacks = Callbacks(progress, " seeds")
    options.progress = callbacks.progress
    out = ctypes.c_void_p()
    with plan._lock, callbacks:
        status = lib.csaw_visits_create(plan._handle.pointer, given and ctypes.byref(given.struct),
                                        ctypes.byref(options), ctypes.byref(out))
        owner = None if status else Handle(out.value, lib.csaw_visits_free)  # freed if a callback raised
        callbacks.finish(status)
    look = lib.csaw_visits_look(owner.pointer)
    offset = view(look.offset, (look.num_seeds + 1,), np.uint64, owner)
    entries = (int(offset[-1]),)
    return Visits(offset, view(look.vertex, entries, np.uint32, owner), view(look.count, entries, np.uint32, owner),
                  view(look.weight, entries, np.float32, owner))
