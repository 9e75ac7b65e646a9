# SPDX-License-Identifier: MIT
"""What loaders share: minibatches of an epoch drawn as the instances of one run.

Batch b of an epoch is instance b of csaw_sample() with the epoch's batches as pools, whoever draws it: the main
process several at a time, or a worker one by one. So the number of workers changes no bit. A run that is to begin at
batch b has empty pools before it.
"""
import ctypes
import os
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _structs as s
from ._lib import create, in_forked_child, lib
from ._lib import options as make_options
from .graph import Graph
from .plan import Plan
from .runs import Seeds, each_batch, neighbor_sample_of, require_all, run_options
from .sampler import Sampler
from .samples import Blocks, Subgraph

_MASK = 2**64 - 1


def epoch_seed(seed: int, epoch: int) -> int:
    """The seed of an epoch's run: the loader's own in epoch 0, then numbers mixed from both (SplitMix64: Steele, Lea,
    Flood, OOPSLA 2014)."""
    if epoch == 0:
        return seed
    z = (seed + epoch * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class Drawn(NamedTuple):
    """A minibatch as arrays: n_id [nodes], edge_index [2, edges] (sender, receiver) as places in n_id, edge [edges]
    of the graph that was sampled, all int64; counts by hop, None of induced subgraphs."""

    n_id: np.ndarray
    edge_index: np.ndarray
    edge: np.ndarray
    num_sampled_nodes: Optional[List[int]]
    num_sampled_edges: Optional[List[int]]


def distinct(seeds: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The different ones in the order of their first places, and of each of seeds which of these it is."""
    _, first, which = np.unique(seeds, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return seeds[first[order]], rank[which]


def repeated(drawn: Drawn, which: np.ndarray) -> Drawn:
    """The batch whose seed i is seed which[i] of drawn, all of whose seeds are among these, in the order of their
    first places. Each seed is a vertex that receives what that one does; edges come from the first that is alike."""
    sender, receiver = drawn.edge_index  # receivers ascend
    others = np.arange(which.max() + 1, len(drawn.n_id))
    old = np.concatenate([which, others])  # [nodes]
    begin = np.searchsorted(receiver, np.arange(len(drawn.n_id) + 1))
    count = np.diff(begin)[old]
    end = np.cumsum(count)
    edge = np.arange(end[-1]) + np.repeat(begin[old] - (end - count), count)
    _, first = np.unique(old, return_index=True)
    nodes, edges = drawn.num_sampled_nodes, drawn.num_sampled_edges
    if nodes is not None and edges is not None:
        nodes, edges = [len(which), *nodes[1:]], [int(end[len(which) - 1]), *edges[1:]]
    return Drawn(drawn.n_id[old], np.stack([first[sender[edge]], np.repeat(np.arange(len(old)), count)]),
                 drawn.edge[edge], nodes, edges)


class PlanHere:
    """A graph that goes to other processes, with a plan in each that draws."""

    def __init__(self, graph: Graph, threads: int, device: str = "cpu"):
        self.graph, self.threads, self.device = graph, threads, device
        self._plan: Any = None

    def __getstate__(self):
        return {**self.__dict__, "_plan": None}

    def own_plan(self) -> Plan:
        if self._plan is None or self._plan[0] != os.getpid():
            threads = 1 if in_forked_child() else self.threads
            self._plan = (os.getpid(), Plan(self.graph, self.device, threads))
        return self._plan[1]


class Drawer(PlanHere):
    """Draws batches of a graph whose rows receive."""

    def __init__(self, graph: Graph, fanout, replace: bool, induced: bool, seed: int, threads: int,
                 device: str = "cpu"):
        super().__init__(graph, threads, device)
        self.fanout, self.replace, self.induced, self.seed = fanout, replace, induced, seed

    def draw(self, epoch: int, first: int, pools: List[np.ndarray]) -> List[Drawn]:
        """Batches first, first + 1, ... of an epoch, whose vertices (uint32, distinct) are pools."""
        offset = np.zeros(first + len(pools) + 1, np.uint64)
        offset[first + 1:] = np.cumsum([len(pool) for pool in pools])
        seeds = Seeds(np.concatenate(pools), offset, len(offset) - 1)
        seed = epoch_seed(self.seed, epoch)
        options, _hops = run_options(seed=seed, fanout=self.fanout, replace=self.replace, first=first)
        out: List[Drawn] = []
        take: Callable = self._take_induced if self.induced else _take_blocks
        each_batch(self.own_plan(), Sampler("neighbor_once"), seeds, options, lambda samples: take(samples, out))
        require_all(len(out), len(pools))
        return out

    def _take_induced(self, samples, out):
        options = make_options(s.csaw_subgraph_options, per_instance=True, induced=True)
        graphs = Subgraph(create(lib.csaw_subgraph_create, self.graph._handle.pointer, samples, ctypes.byref(options)),
                          self.graph)
        out += [induced_of(graphs, g) for g in range(len(graphs))]


def induced_of(graphs: Subgraph, g: int) -> Drawn:
    """Graph g, whose rows receive, as a minibatch."""
    begin, end = int(graphs.vertex_offset[g]), int(graphs.vertex_offset[g + 1])
    rows = graphs.rowptr[begin:end + 1].astype(np.int64)
    receiver = np.repeat(np.arange(end - begin, dtype=np.int64), np.diff(rows))
    arcs = slice(rows[0], rows[-1])
    return Drawn(graphs.vertex[begin:end].astype(np.int64), np.stack([graphs.col[arcs].astype(np.int64), receiver]),
                 graphs.edge[arcs].astype(np.int64), None, None)


def _take_blocks(samples, out):
    blocks = Blocks(create(lib.csaw_blocks_create, samples))
    for i in range(len(blocks)):
        one = neighbor_sample_of(blocks, i)
        out.append(Drawn(one.n_id, one.edge_index, one.e_id, one.num_sampled_nodes, one.num_sampled_edges))
