# SPDX-License-Identifier: MIT
"""Plan: where the work runs."""
import ctypes
import os
import threading
from typing import Any, Union

from . import _structs as s
from ._arrays import as_count
from ._lib import CsawError, Handle, as_text, create, in_forked_child, invalid, lib
from ._lib import options as make_options
from .graph import Graph

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "kb": 10**3, "mb": 10**6, "gb": 10**9,
          "tb": 10**12}


def _bytes(size: Union[int, str], name: str) -> int:
    if not isinstance(size, str):
        return size
    number = size.strip().rstrip("KMGTkmgtiIbB ")
    unit = size.strip()[len(number):].strip().lower()
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError):
        raise invalid(f"{name} is {size!r}; give bytes, or a size such as '4GiB'") from None


def threads_of(threads: Any) -> int:
    try:
        return as_count(threads, "threads", 0, 4096)
    except CsawError:
        raise invalid(f"threads is {threads!r}; give 1 .. 4096, or 0 for all cores") from None


class Plan:
    """Where the work runs, for one graph. One thread draws from a plan at a time: others wait for it, so give each
    thread a plan of its own. The samples are the same on every plan."""

    def __init__(self, graph: Graph, device: str = "cpu", threads: int = 0, *, partitions: int = 0,
                 gpu_memory: Union[int, str] = 0, resident: int = 0, streams: int = 0,
                 described_memory: Union[int, str] = 0, walks_per_seed: int = 0, depth: int = 0, split: bool = False,
                 exchange: bool = False):
        """device: "cpu", "cuda:N", several of these with commas between, "all" or "simulated". threads: 0 = all cores.
        partitions: 0 = as few as fit gpu_memory, which is bytes or a text such as "4GiB"; resident, streams: of a GPU.
        split: several GPUs hold the graph together, as they do by themselves where one has no room for it; exchange:
        walkers then go to the GPU that has their row, and rows are not read from another's memory.
        described_memory, walks_per_seed, depth: what explain() speaks of. All as in csaw_plan_options."""
        if not isinstance(graph, Graph):
            raise invalid(f"a plan is for a csaw.Graph, not for {type(graph).__name__}")
        threads = threads_of(threads)
        if in_forked_child() and threads > 1 and not str(device).startswith(("cuda", "all")):
            raise invalid(f"threads is {threads}, but this process was forked and has one thread for csaw's work; give "
                          "1, or start processes by the method 'spawn'")
        options = make_options(
            s.csaw_plan_options, device=as_text(str(device), "device"), threads=threads, partitions=partitions, resident=resident,
            streams=streams, gpu_memory=_bytes(gpu_memory, "gpu_memory"), walks_per_seed=walks_per_seed, depth=depth,
            described_memory=_bytes(described_memory, "described_memory"), split=split,
            exchange=exchange)
        self.graph, self.device = graph, str(device)
        self._lock = threading.RLock()
        self._handle = Handle(create(lib.csaw_plan_create, graph._handle.pointer, ctypes.byref(options)),
                              lib.csaw_plan_free, graph._handle)

    def explain(self) -> str:
        """One line per decision, with the numbers."""
        return lib.csaw_plan_explain(self._handle.pointer).decode("utf-8", "replace")

    def __reduce__(self):
        raise TypeError("a plan belongs to its process; pickle its graph, and make a plan there")

    def __repr__(self):
        return f"Plan({self.graph!r}, {self.device!r})"


def plan(graph: Graph, device: str = "cpu", threads: int = 0, **options) -> Plan:
    """A Plan for graph; see there for the options."""
    return Plan(graph, device, threads, **options)


def plan_of(graph: Union[Graph, Plan]) -> Plan:
    """A plan as it is; of a graph, this thread's own with default options, which stays for the next calls."""
    if isinstance(graph, Plan):
        return graph
    if not isinstance(graph, Graph):
        raise invalid(f"this needs a csaw.Graph or csaw.Plan, not {type(graph).__name__}; csaw.Graph.from_scipy, "
                      "from_networkx, from_edge_index and load make one")
    kept = getattr(graph._plans, "kept", None)
    if kept is None or kept[0] != os.getpid():
        fresh = Plan(graph)
        kept = graph._plans.kept = (os.getpid(), fresh._handle, fresh._lock)  # no reference back to the graph
    out = object.__new__(Plan)
    out.graph, out.device, out._handle, out._lock = graph, "cpu", kept[1], kept[2]
    return out
