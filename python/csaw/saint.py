# SPDX-License-Identifier: MIT
"""SaintLoader: GraphSAINT's subgraphs with their coefficients, under PyTorch Geometric's names (csaw/training.h)."""
import ctypes
import numbers
from typing import Any, Callable, Dict, Iterator, List, Optional

import numpy as np

from . import _structs as s
from ._arrays import as_count, pointer
from ._data import GraphData
from ._drawing import Drawn, PlanHere, epoch_seed, induced_of
from ._epochs import Epochs
from ._lib import check, create, invalid, lib
from ._lib import options as make_options
from .batch import Batch
from .graph import Graph
from .samples import Subgraph

KINDS = {"node": 0, "edge": 1, "walk": 2, "frontier": 3}  # csaw_saint_kind
_MOST = 2**23
_COVERAGE = 2**63 - 1  # the epoch whose seed the subgraphs for the coefficients have


def _steps(kind: str, walk_length: Any) -> int:
    steps = as_count(walk_length, "walk_length", 0, 2**24 - 1)
    if kind in ("walk", "frontier") and not steps:
        raise invalid(f"walk_length is 0, but kind '{kind}' needs a number of steps; give 1 .. 2^24 - 1")
    if kind in ("node", "edge") and steps:
        raise invalid(f"walk_length is {steps}, but kind '{kind}' takes no steps; leave it out, or take kind 'walk'")
    return steps


class _Drawer(PlanHere):
    """Draws subgraphs of a graph whose rows receive; fields: of csaw_saint_options."""

    def __init__(self, graph: Graph, threads: int, fields: Dict[str, Any]):
        super().__init__(graph, threads)
        self._fields = fields

    def draw(self, seed: int, first: int, count: int) -> Subgraph:
        options = make_options(s.csaw_saint_options, seed=seed, first=first, count=count, **self._fields)
        plan = self.own_plan()
        with plan._lock:
            return Subgraph(create(lib.csaw_saint_sample, plan._handle.pointer, ctypes.byref(options)), self.graph)


class SaintLoader(Epochs):
    """Subgraphs for training, as torch_geometric.loader.GraphSAINTNodeSampler and its like make them:

        for batch in SaintLoader(data, "walk", batch_size=6000, walk_length=2, num_steps=5, sample_coverage=100):
            loss = (batch.node_norm * losses(model(batch.x, batch.edge_index, batch.edge_norm * batch.weight))).sum()

    data: as for NeighborLoader. kind: "node" or "edge", batch_size arcs drawn; "walk", batch_size roots of walks of
    walk_length steps; "frontier", one multi-dimensional walk of batch_size walkers and walk_length steps in all. A
    batch is the subgraph induced by the vertices drawn: n_id, e_id, edge_index and the attributes of data, selected,
    as NeighborLoader has them, and with sample_coverage > 0 also

        node_norm [n] float32   1 / (number of vertices * P(vertex in a subgraph)): multiply the loss of a vertex by it
        edge_norm [m] float32   P(receiver in) / P(edge in): multiply the edge's weight in the full graph by it

    estimated from as many subgraphs as have sample_coverage vertices for each of the graph's. PyTorch Geometric takes
    the sender in edge_norm; here it is the receiver, as in section 3.2 of the paper (Zeng et al., ICLR 2020).

    Iterating gives num_steps batches, other ones each time (an epoch), with num_workers > 0 by the workers of PyTorch's
    DataLoader, which takes the further options; equal seeds give equal batches, whoever draws them.
    """

    def __init__(self, data: Any, kind: str, batch_size: int, walk_length: int = 0, num_steps: int = 1,
                 sample_coverage: float = 0, *, transform: Optional[Callable[[Batch], Any]] = None,
                 filter_per_worker: Optional[bool] = None, num_workers: int = 0, seed: int = 0, threads: int = 0,
                 **dataloader_options):
        """filter_per_worker, threads: as of NeighborLoader."""
        if kind not in KINDS:
            raise invalid(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
        if not isinstance(sample_coverage, numbers.Real) or not 0 <= sample_coverage < float("inf"):
            raise invalid(
                f"sample_coverage is {sample_coverage!r}; it is the number of times that a vertex is to be in "
                "the subgraphs counted, on average, 0 = no coefficients")
        self._start(threads, transform)
        self.data = GraphData(data, None)
        self._levels = self.data.levels()
        graph = self.data.receiving_graph()
        self._place: Any = graph.time  # [edges] of each arc: its place in edge_index
        budget, depth = as_count(batch_size, "batch_size", 1, _MOST), _steps(kind, walk_length)
        self._drawer = _Drawer(graph, threads, dict(kind=KINDS[kind], budget=budget, depth=depth))
        self.kind, self.num_steps = kind, as_count(num_steps, "num_steps", 1)
        self.seed = as_count(seed, "seed", 0, 2**64 - 1)
        self.node_norm: Optional[np.ndarray] = None
        self.edge_norm: Optional[np.ndarray] = None
        if sample_coverage:
            self._estimate(sample_coverage)
        self._use_workers(num_workers, filter_per_worker, dataloader_options)

    def _estimate(self, coverage: float) -> None:
        """node_norm [vertices], edge_norm [edges] in edge_index's order, from subgraphs of a seed of their own."""
        n, m = self.data.num_nodes, self.data.num_edges
        vertex_count, edge_count = np.zeros(n, np.uint64), np.zeros(m, np.uint64)
        seed, drawn, total = epoch_seed(self.seed, _COVERAGE), 0, 0
        while not drawn or total < coverage * n:  # of an empty graph drawing says what is wrong
            graphs = self._drawer.draw(seed, drawn, self._group)
            lib.csaw_saint_count(graphs._handle.pointer, pointer(vertex_count), pointer(edge_count))
            drawn, total = drawn + len(graphs), total + len(graphs.vertex)
        alpha, share = np.empty(m, np.float32), np.empty(n, np.float32)
        check(
            lib.csaw_saint_coefficients(self._drawer.graph._handle.pointer, drawn, pointer(vertex_count),
                                        pointer(edge_count), pointer(alpha), pointer(share)))
        self.node_norm = 1 / (share * np.float32(n))
        self.edge_norm = np.empty(m, np.float32)
        self.edge_norm[self._place] = 1 / alpha

    def __len__(self) -> int:
        return self.num_steps

    def _items(self) -> Iterator[int]:
        """Numbers of subgraphs."""
        first = self._epoch[0] * self.num_steps
        self._epoch[0] += 1
        yield from range(first, first + self.num_steps)

    def _draw(self, items: List[int]) -> List[Drawn]:
        graphs = self._drawer.draw(self.seed, items[0], len(items))
        return [induced_of(graphs, g) for g in range(len(graphs))]

    def _batch(self, _number: int, drawn: Drawn) -> Any:
        n_id, e_id = drawn.n_id, self._place[drawn.edge]
        arrays: Dict[str, np.ndarray] = dict(n_id=n_id, e_id=e_id, edge_index=drawn.edge_index)
        if self.node_norm is not None and self.edge_norm is not None:
            arrays.update(node_norm=self.node_norm[n_id], edge_norm=self.edge_norm[e_id])
        return self._transformed(Batch(**self.data.select(n_id, e_id, self._levels), **self.data.as_given(arrays)))

    def __repr__(self):
        sizes = f"{self.data.num_nodes} vertices, {self.data.num_edges} edges"
        return f"SaintLoader({sizes}, {self.kind}, {self.num_steps} batches)"
