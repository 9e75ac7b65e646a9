# SPDX-License-Identifier: MIT
"""NeighborLoader: minibatches of sampled neighbours, with the argument names and batch fields of PyTorch Geometric."""
import copy
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._ahead import Ahead, Features, Kept, Made, Numbers, arrays_of, tensors_of
from ._arrays import as_count, as_integers, as_numpy, on_host, shared_tensor
from ._data import GraphData, is_tensor, on, take
from ._drawing import Drawer, Drawn, distinct, repeated
from ._epochs import Epochs
from ._lib import invalid
from .batch import Batch
from .graph import Graph
from .plan import _bytes
from .runs import counts_by_hop, fanout_of


class _Item(NamedTuple):  # a batch that is to be drawn
    epoch: int
    number: int
    input_id: np.ndarray  # [seeds] places in input_nodes


# Arguments of PyTorch Geometric's NeighborLoader that have one value here, and what to do for another.
_OF_PYG = {
    "directed": (True, "give subgraph_type='induced'"),
    "disjoint": (False, "seeds of a batch share its vertices: give batch_size=1, or a pool for each seed to "
                 "csaw.sample()"),
    "time_attr": (None, "give the data of the edges up to one time, or sample by csaw.Sampler('temporal_neighbor', "
                  "until=...) with csaw.sample()"),
    "input_time": (None, "seeds have no times of their own: sample by csaw.Sampler('temporal_neighbor', until=...) with "
                   "csaw.sample()"),
    "temporal_strategy": ("uniform", "leave it out: there is no temporal sampling here"),
    "transform_sampler_output": (None, "give transform, which gets the batch"),
    "neighbor_sampler": (None, "leave it out, or give your own sampler to csaw.sample() and take blocks() of that"),
}


def _refuse_other(**given: Any) -> None:
    for name, value in given.items():
        only, remedy = _OF_PYG[name]
        if value is only or (isinstance(value, (bool, str)) and value == only):
            continue
        shown = f"{name}={value!r}" if isinstance(value, (bool, str)) else name
        raise invalid(f"NeighborLoader takes no {shown}; {remedy}")


class NeighborLoader(Epochs):
    """Minibatches for training, as torch_geometric.loader.NeighborLoader makes them:

        for batch in NeighborLoader(data, [15, 10], input_nodes=train_mask, batch_size=1024, shuffle=True):
            out = model(batch.x, batch.edge_index)[:batch.batch_size]

    data: an object or dict with edge_index [2, edges] (sender, receiver) and arrays such as x [nodes, n] and y [nodes];
    a csaw.Graph; or a tuple (graph, x, y) or (graph, dict). Of every vertex num_neighbors[d] of the arcs into it are
    picked at hop d, -1 = all; each vertex is expanded once, where it is first reached.

    A batch has n_id [n] vertices, seeds first; edge_index [2, m] as places in n_id, hop by hop; e_id [m] places in
    data.edge_index (of a Graph: its arcs); batch_size; input_id, places in input_nodes; num_sampled_nodes and
    num_sampled_edges by hop; and every attribute of data, those of vertices and edges selected. Index arrays are int64:
    NumPy arrays, or tensors if data holds a tensor. A vertex that input_nodes has several times is, in a batch, as many
    seeds, each a vertex of n_id that receives what the first of them does, which alone sends (PyTorch Geometric has them
    receive from picks of their own); with device each vertex once.

    seed decides all: equal seeds give equal batches with any num_workers, threads, prefetching and device. Every
    iteration is a new epoch; set_epoch() chooses one. num_workers > 0 needs PyTorch, whose DataLoader takes the further
    options.

    With device="cuda:0" batches are made on that GPU and stay there, ahead of the caller, by a thread of the library
    ("cpu": the same on the CPU), with the bits of all other loaders; its loader goes on from epoch to epoch, but where
    it locks pages of x. x, a matrix of float32, float16 or bfloat16, stays
    where it is, on the GPU or on the host, whose pages are locked during an epoch; a batch's x is the loader's
    memory, given back when the last tensor of it dies. Other attributes of vertices and edges are copied to the GPU
    once. batch.blocks are the hops as csaw.Blocks, whose edges are those of the graph turned round. Tensors are made in
    the stream that is PyTorch's current one when the iteration begins, and batches are to be used in it, or it is to
    wait for where they are used. input_id stays on the host. If data holds no tensor, a batch on a GPU has x, n_id and
    the arrays of blocks as csaw.DeviceArray, with __dlpack__ and __cuda_array_interface__, n_id in uint32; e_id,
    edge_index and other attributes need PyTorch. One iteration at a time.
    """

    def __init__(self,
                 data: Any,
                 num_neighbors: Union[int, Sequence[int]],
                 input_nodes: Any = None,
                 *,
                 replace: bool = False,
                 subgraph_type: str = "directional",
                 weight_attr: Optional[str] = None,
                 transform: Optional[Callable[[Batch], Any]] = None,
                 is_sorted: bool = False,
                 directed: bool = True,
                 disjoint: bool = False,
                 time_attr: Optional[str] = None,
                 input_time: Any = None,
                 temporal_strategy: str = "uniform",
                 transform_sampler_output: Optional[Callable] = None,
                 neighbor_sampler: Any = None,
                 filter_per_worker: Optional[bool] = None,
                 batch_size: int = 1,
                 shuffle: bool = False,
                 drop_last: bool = False,
                 num_workers: int = 0,
                 seed: int = 0,
                 threads: int = 0,
                 device: Any = None,
                 in_flight: Optional[int] = None,
                 cache_bytes: Union[int, str, None] = None,
                 **dataloader_options):
        """subgraph_type: "directional", the arcs that were picked, or "induced", all arcs between the vertices.
        weight_attr: the edge attribute by which arcs are picked (of a Graph: "weight"). filter_per_worker: whether
        workers select attributes and apply transform; default: unless a tensor is on a GPU. threads: for drawing in
        this process. device: None, "cpu", "cuda:N"; of the last two in_flight, batches at most that exist at a time,
        the caller's last one included, but not those that he keeps, as a loop's variable does while the next one is
        waited for (default 2; 1: none is made ahead). cache_bytes: of
        the GPU's memory for rows of x that most arcs lead to, of an x on the host, such as "4GiB". is_sorted may be
        said or not: edges are sorted in any case, of a Graph once for all loaders. Of directed, disjoint, time_attr,
        input_time, temporal_strategy, transform_sampler_output and neighbor_sampler the defaults are all there is."""
        _refuse_other(directed=directed, disjoint=disjoint, time_attr=time_attr, input_time=input_time,
                      temporal_strategy=temporal_strategy, transform_sampler_output=transform_sampler_output,
                      neighbor_sampler=neighbor_sampler)
        if subgraph_type not in ("directional", "induced"):
            raise invalid(f"subgraph_type is {subgraph_type!r}; it is 'directional' or 'induced'")
        self._start(threads, transform)
        self.data = GraphData(data, weight_attr)
        graph = self.data.receiving_graph()
        self._place: Any = graph.time  # [edges] of each arc that is sampled: its place in edge_index
        hops = [-1 if int(v) == 2**32 - 1 else int(v) for v in fanout_of(num_neighbors)]
        self._drawer = Drawer(graph, hops, replace, subgraph_type == "induced", as_count(seed, "seed", 0, 2**64 - 1),
                              threads)
        self._levels = self.data.levels()
        self._features: Optional[Features] = None  # of batches made ahead
        self._kept: Optional[Kept] = None  # their loader, from one epoch to the next
        self.input_nodes = self._take_input(input_nodes)
        self._repeats = len(np.unique(self.input_nodes)) < len(self.input_nodes)
        self.batch_size, self.shuffle, self.drop_last = as_count(batch_size, "batch_size",
                                                               1), bool(shuffle), bool(drop_last)
        self.device = None if device is None else str(device)
        self.in_flight = None if in_flight is None else as_count(in_flight, "in_flight", 1)
        self.cache_bytes = None if cache_bytes is None else _bytes(cache_bytes, "cache_bytes")
        if self.device is not None:
            if num_workers or dataloader_options:
                named = ", ".join(["num_workers"] * bool(num_workers) + sorted(dataloader_options))
                raise invalid(f"device is {self.device!r}, where a thread of the library makes the batches; leave out "
                              f"{named}, which {'are' if ',' in named else 'is'} for PyTorch's DataLoader")
            self._go_to(self.device)
            return
        if in_flight is not None or cache_bytes is not None:
            raise invalid("in_flight and cache_bytes are for batches made ahead; give device, 'cpu' or 'cuda:N', too")
        self._use_workers(num_workers, filter_per_worker, dataloader_options)

    def _go_to(self, device: str) -> None:
        if not re.fullmatch(r"cpu|cuda:\d+", device):
            raise invalid(f"device is {device!r}; it is 'cpu' or 'cuda:N'")
        if self._repeats:
            values, counts = np.unique(self.input_nodes, return_counts=True)
            raise invalid(f"input_nodes holds vertex {values[counts > 1][0]} more than once, which batches that "
                          f"device={device!r} makes ahead cannot; leave device out, or give each vertex once")
        if self._drawer.induced:
            raise invalid("subgraph_type='induced' is for batches that are not made ahead; leave device out")
        self._drawer.device = device
        if self._levels.get("x") == "node" and Features.are(self.data.attributes["x"], device):
            self._features = Features(self.data.attributes["x"])
            del self._levels["x"]
        if device != "cpu":
            self._move(device, [name for name, level in self._levels.items() if level != "graph"])
        if self._features is None or not (self.cache_bytes or self._features.are_locked_by(device)):
            self._kept = Kept()  # else the cache would not see that x has changed, or x could not be moved
        self._drawer.own_plan()  # which says what is wrong with the device

    def _move(self, device: str, names: List[str]) -> None:
        """What batches on a GPU need there: the graph alone, without what its arcs are called, and attributes."""
        graph = self._drawer.graph
        self._drawer.graph = Graph.from_csr(graph.rowptr, graph.col, graph.weight, copy=False)
        if self.data.with_torch:
            import torch

            if not torch.cuda.is_available():
                raise invalid(f"device is '{device}' and data holds tensors, but this PyTorch finds no GPU; install "
                              "one with CUDA, or give arrays of NumPy")
            if self.data.num_nodes > 2**31:
                raise invalid(f"there are {self.data.num_nodes} vertices; on a GPU PyTorch's indices allow 2^31")
            self.data.move(names, device)
            self._place = on(device, shared_tensor(self._place, "int64"), "edge_index")
        elif names:
            raise invalid(f"{', '.join(names)}: without PyTorch a batch on a GPU has x alone, float32 or float16; give "
                          "tensors, or leave them out and take them by n_id")

    def _take_input(self, nodes) -> np.ndarray:
        count = self.data.num_nodes
        if nodes is None:
            return np.arange(count, dtype=np.uint32)
        if isinstance(nodes, str) or (isinstance(nodes, tuple) and nodes and isinstance(nodes[0], str)):
            raise invalid(f"input_nodes names the type {nodes if isinstance(nodes, str) else nodes[0]!r}, but a graph here "
                          "has one type of vertices; give vertices, or a mask of them, such as node_type == 0 of "
                          "HeteroData.to_homogeneous()")
        nodes = on_host(nodes)
        array = as_numpy(nodes, "input_nodes")
        if array.dtype == bool:
            if array.shape != (count,):
                raise invalid(f"input_nodes is a mask of shape {list(array.shape)}, but there are {count} vertices")
            return np.flatnonzero(array).astype(np.uint32)
        given = array if array.size else nodes  # NumPy makes an empty list float64
        return as_integers(given, "input_nodes", np.uint32, below=count, what="vertices of the graph")

    def __getstate__(self):
        state = super().__getstate__()
        if self.device is not None:  # a plan of its own: that of the first is lent to the loader that it keeps
            state.update(_kept=self._kept and Kept(), _drawer=copy.copy(self._drawer))
        return state

    # ---- epochs

    def __len__(self) -> int:
        whole, rest = divmod(len(self.input_nodes), self.batch_size)
        return whole + bool(rest and not self.drop_last)

    def _next_epoch(self) -> Tuple[int, np.ndarray]:
        """Its number, and [seeds] places in input_nodes, in its order."""
        epoch = self._epoch[0]
        self._epoch[0] += 1
        order = np.arange(len(self.input_nodes))
        if self.shuffle:
            order = np.random.default_rng([self._drawer.seed, epoch]).permutation(order)
        return epoch, order

    def _item(self, epoch: int, number: int, order: np.ndarray) -> _Item:
        return _Item(epoch, number, order[number * self.batch_size:(number + 1) * self.batch_size])

    def _items(self) -> Iterator[_Item]:
        epoch, order = self._next_epoch()
        for b in range(len(self)):
            yield self._item(epoch, b, order)

    def __iter__(self) -> Iterator[Any]:
        if self.device is not None:
            yield from self._made_ahead(*self._next_epoch())
            return
        yield from super().__iter__()

    # ---- batches

    def _draw(self, items: List[_Item]) -> List[Drawn]:
        pools = [self.input_nodes[item.input_id] for item in items]
        if not self._repeats:
            return self._drawer.draw(items[0].epoch, items[0].number, pools)
        seeds = [distinct(pool) for pool in pools]
        drawn = self._drawer.draw(items[0].epoch, items[0].number, [vertex for vertex, _ in seeds])
        return [repeated(one, which) for one, (_, which) in zip(drawn, seeds)]

    def _batch(self, item: _Item, drawn: Drawn, **ready: Any) -> Any:
        n_id, e_id = drawn.n_id, take(self._place, drawn.edge, {})
        index = dict(n_id=n_id, e_id=e_id, edge_index=drawn.edge_index, input_id=item.input_id)
        out = self.data.select(n_id, e_id, self._levels)
        out.update(self.data.as_given(index), batch_size=len(item.input_id), **ready)
        if drawn.num_sampled_nodes is not None:
            out.update(num_sampled_nodes=drawn.num_sampled_nodes, num_sampled_edges=drawn.num_sampled_edges)
        return self._transformed(Batch(**out))

    def _current_stream(self) -> Any:
        """PyTorch's on the device, if tensors are made there."""
        if self.device == "cpu" or not self.data.with_torch:
            return None
        import torch

        return torch.cuda.current_stream(torch.device(self.device))

    def _made_ahead(self, epoch: int, order: np.ndarray) -> Iterator[Any]:
        stream = self._current_stream()
        if stream is not None:
            stream.synchronize()  # x and the other attributes may be on their way there

        def current():
            stream = self._current_stream()
            return stream and (stream.cuda_stream or None)  # 0 and NULL are the default stream

        numbers = Numbers()
        return Ahead(self._drawer, epoch, self.input_nodes[order], lambda made: self._fill(made, epoch, order, numbers),
                     self._features, current, self._kept, batch_size=self.batch_size, drop_last=self.drop_last,
                     in_flight=self.in_flight, cache_bytes=self.cache_bytes)

    def _fill(self, made: Made, epoch: int, order: np.ndarray, numbers: Numbers) -> Any:
        item, blocks = self._item(epoch, made.number, order), made.blocks
        ready: Dict[str, Any] = dict(blocks=blocks)
        if self._features is not None:
            ready["num_cached"] = made.cached
            ready["x"] = self._features.of(made, self.data.with_torch if self.device != "cpu" else
                                           is_tensor(self._features.array))
        if self.device == "cpu":
            return self._batch(item, arrays_of(blocks), **ready)
        if self.data.with_torch:
            return self._batch(item, tensors_of(blocks, numbers), **ready)
        layers = [blocks[0, d] for d in range(blocks.depth)]
        nodes, edges = counts_by_hop(layers)
        kept = {name: self.data.attributes[name] for name in self._levels}
        return self._transformed(
            Batch(**kept, n_id=layers[-1].vertex, input_id=item.input_id, batch_size=made.num_seeds,
                  num_sampled_nodes=nodes, num_sampled_edges=edges, **ready))

    def __repr__(self):
        sizes = f"{self.data.num_nodes} vertices, {self.data.num_edges} edges, {len(self.input_nodes)} seeds"
        return f"NeighborLoader({sizes} in batches of {self.batch_size})"
