# SPDX-License-Identifier: MIT
"""SaintLoader: GraphSAINT's subgraphs with their coefficients, under PyTorch Geometric's names (csaw/training.h)."""
import ctypes
import os
from typing import Any, Callable, Dict, Iterator, Optional

import numpy as np

from . import _structs as s
from ._arrays import pointer
from ._data import GraphData
from ._drawing import epoch_seed, induced_of
from ._lib import check, create, invalid, lib
from ._lib import options as make_options
from .batch import Batch
from .plan import Plan
from .runs import _count
from .samples import Subgraph

KINDS = {"node": 0, "edge": 1, "walk": 2, "frontier": 3}  # csaw_saint_kind
_MOST = 2**23
_COVERAGE = 2**63 - 1  # the epoch whose seed the subgraphs for the coefficients have


class SaintLoader:
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

    Iterating gives num_steps batches, other ones each time (an epoch); equal seeds give equal batches.
    """

    def __init__(self, data: Any, kind: str, batch_size: int, walk_length: int = 0, num_steps: int = 1,
                 sample_coverage: float = 0, *, transform: Optional[Callable[[Batch], Any]] = None, seed: int = 0,
                 threads: int = 0):
        if kind not in KINDS:
            raise invalid(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
        if not 0 <= sample_coverage < float("inf"):
            raise invalid(
                f"sample_coverage is {sample_coverage!r}; it is the number of times that a vertex is to be in "
                "the subgraphs counted, on average, 0 = no coefficients")
        self.data = GraphData(data, None)
        self._levels = self.data.levels()
        self._graph = self.data.receiving_graph()
        self._place: Any = self._graph.time  # [edges] of each arc: its place in edge_index
        self._plan = Plan(self._graph, threads=threads)
        self._group = 4 * (threads or os.cpu_count() or 1)
        self._fields: Dict[str, Any] = dict(kind=KINDS[kind], budget=_count(batch_size, "batch_size", 1, _MOST),
                                            depth=_count(walk_length, "walk_length"))
        self.kind, self.num_steps, self.transform = kind, _count(num_steps, "num_steps", 1), transform
        self.seed, self._epoch = _count(seed, "seed", 0, 2**64 - 1), 0
        self.node_norm: Optional[np.ndarray] = None
        self.edge_norm: Optional[np.ndarray] = None
        if sample_coverage:
            self._estimate(sample_coverage)

    def _draw(self, seed: int, first: int, count: int) -> Subgraph:
        options = make_options(s.csaw_saint_options, seed=seed, first=first, count=count, **self._fields)
        with self._plan._lock:
            return Subgraph(create(lib.csaw_saint_sample, self._plan._handle.pointer, ctypes.byref(options)),
                            self._graph)

    def _estimate(self, coverage: float) -> None:
        """node_norm [vertices], edge_norm [edges] in edge_index's order, from subgraphs of a seed of their own."""
        n, m = self.data.num_nodes, self.data.num_edges
        vertex_count, edge_count = np.zeros(n, np.uint64), np.zeros(m, np.uint64)
        seed, drawn, total = epoch_seed(self.seed, _COVERAGE), 0, 0
        while total < coverage * n:
            graphs = self._draw(seed, drawn, self._group)
            lib.csaw_saint_count(graphs._handle.pointer, pointer(vertex_count), pointer(edge_count))
            drawn, total = drawn + len(graphs), total + len(graphs.vertex)
        alpha, share = np.empty(m, np.float32), np.empty(n, np.float32)
        check(
            lib.csaw_saint_coefficients(self._graph._handle.pointer, drawn, pointer(vertex_count), pointer(edge_count),
                                        pointer(alpha), pointer(share)))
        self.node_norm = 1 / (share * np.float32(n))
        self.edge_norm = np.empty(m, np.float32)
        self.edge_norm[self._place] = 1 / alpha

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch; the one after it, the next."""
        self._epoch = _count(epoch, "epoch")

    def __len__(self) -> int:
        return self.num_steps

    def __iter__(self) -> Iterator[Any]:
        first = self._epoch * self.num_steps
        self._epoch += 1
        for begin in range(0, self.num_steps, self._group):
            graphs = self._draw(self.seed, first + begin, min(self._group, self.num_steps - begin))
            for g in range(len(graphs)):
                yield self._batch(graphs, g)

    def _batch(self, graphs: Subgraph, g: int) -> Any:
        drawn = induced_of(graphs, g)
        n_id, e_id = drawn.n_id, self._place[drawn.edge]
        arrays: Dict[str, np.ndarray] = dict(n_id=n_id, e_id=e_id, edge_index=drawn.edge_index)
        if self.node_norm is not None and self.edge_norm is not None:
            arrays.update(node_norm=self.node_norm[n_id], edge_norm=self.edge_norm[e_id])
        batch = Batch(**self.data.select(n_id, e_id, self._levels), **self.data.as_given(arrays))
        return batch if self.transform is None else self.transform(batch)

    def __reduce__(self):
        raise TypeError("a SaintLoader draws in its own process, by several threads; give it to no DataLoader")

    def __repr__(self):
        sizes = f"{self.data.num_nodes} vertices, {self.data.num_edges} edges"
        return f"SaintLoader({sizes}, {self.kind}, {self.num_steps} batches)"
