# SPDX-License-Identifier: MIT
"""Runs: walks and samples from a graph or a plan."""
import ctypes
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as s
from ._arrays import as_count, as_integers, on_host, pointer
from ._lib import ENOMEM, ESTOPPED, CsawError, check, invalid, lib
from ._lib import options as make_options
from ._progress import Callbacks, ProgressOption
from .graph import Graph
from .plan import Plan, plan_of
from .sampler import Sampler, sampler_of
from .samples import Block, Blocks, Samples, Walks, walks_from

GraphOrPlan = Union[Graph, Plan]
SamplerLike = Union[str, Sampler]
_DIRECT_BYTES = 8 << 20  # paths of this size are drawn in one call; more in batches of it, so that Ctrl-C is heard soon


class Seeds:
    """Seeds for a run: one vertex each, or pools. Keeps the arrays that the struct points to."""

    def __init__(self, vertex: Optional[np.ndarray], offset: Optional[np.ndarray], count: int):
        self.vertex, self.offset, self.count = vertex, offset, count
        self.struct = s.csaw_seeds(pointer(vertex), count, pointer(offset))


def _is_pools(seeds):
    return isinstance(seeds, (list, tuple)) and len(seeds) > 0 and not np.isscalar(seeds[0]) and \
        getattr(seeds[0], "ndim", 1) == 1


def seeds_of(seeds: Any) -> Optional[Seeds]:
    """None: every vertex in order. An array [n]: one seed each. A list of arrays: a pool each. Of a GPU: copied."""
    if seeds is None:
        return None
    what = "vertex numbers"
    if not _is_pools(seeds):
        vertex = as_integers(on_host(seeds), "seeds", np.uint32, what=what)
        return Seeds(vertex, None, len(vertex))
    pools = [as_integers(on_host(pool), f"pool {j} of seeds", np.uint32, what=what) for j, pool in enumerate(seeds)]
    offset = np.zeros(len(pools) + 1, np.uint64)
    offset[1:] = np.cumsum([len(pool) for pool in pools])
    return Seeds(np.concatenate(pools), offset, len(pools))


def _select(name: str) -> int:
    names: List[str] = []
    while lib.csaw_select_name(len(names)) is not None:
        names.append(lib.csaw_select_name(len(names)).decode())
    if name not in names:
        raise invalid(f"select is {name!r}; it is one of {', '.join(names)}")
    return names.index(name)


def fanout_of(fanout: Any) -> np.ndarray:
    """[hops] uint32 from whole numbers; -1 = all neighbours."""
    if hasattr(fanout, "tolist"):  # of NumPy, PyTorch
        fanout = fanout.tolist()
    if isinstance(fanout, Mapping):
        raise invalid("fanout is by type of edges, but a graph here has one; give a number for each hop, such as [15, 10]")
    values = list(fanout) if isinstance(fanout, Iterable) else [] if fanout is None else [fanout]
    if not values:
        raise invalid("fanout is empty; give the number of neighbours for each hop, such as [15, 10]")
    return np.array([s.ALL if v == -1 else as_count(v, "an entry of fanout (-1 = all)", 0, s.ALL - 1) for v in values],
                    np.uint32)


def run_options(*, seed=0, walks_per_seed=1, depth=None, fanout=None, replace=False, select="auto", edges=False,
                check=False, first=0, batch_bytes=0) -> Tuple[Any, Any]:
    """A csaw_run_options, and the array that it points to."""
    hops = None if fanout is None else fanout_of(fanout)
    if depth is None and hops is not None:
        depth = len(hops)
    if hops is not None and depth != len(hops):
        raise invalid(f"depth is {depth}, but fanout has {len(hops)} entries, one for each hop; give as many")
    most = 2**24 - 1
    options = make_options(
        s.csaw_run_options, seed=as_count(seed, "seed", 0, 2**64 - 1),
        walks_per_seed=as_count(walks_per_seed, "walks_per_seed", 1), replace=bool(replace), select=_select(select),
        depth=None if depth is None else as_count(depth, "depth", 1, most), edges=bool(edges), check=bool(check),
        fanout=pointer(hops), first=first, batch_bytes=batch_bytes)
    return options, hops


def sample(graph: GraphOrPlan, sampler: SamplerLike, seeds: Any = None, *, depth: Optional[int] = None,
           fanout: Optional[Sequence[int]] = None, walks_per_seed: int = 1, replace: bool = False, select: str = "auto",
           edges: bool = False, check: bool = False, seed: int = 0, progress: ProgressOption = False) -> Samples:
    """Runs any sampler. seeds: None = every vertex; an array [n] = one seed each; a list of arrays = a pool each.

    depth: steps of a walk, hops of a sample (default 80, or the length of fanout). fanout: arcs to pick per vertex
    at each hop, -1 = all. select: "auto", "uniform", "its", "alias", "reject" or "race". edges: walks keep their
    arcs. check: compare hooks with traits (slow). Equal arguments give equal samples, on every plan.
    """
    plan, sampler, given = plan_of(graph), sampler_of(sampler), seeds_of(seeds)
    options, _hops = run_options(seed=seed, walks_per_seed=walks_per_seed, depth=depth, fanout=fanout, replace=replace,
                                 select=select, edges=edges, check=check)
    callbacks = Callbacks(progress)
    options.progress = callbacks.progress
    out = ctypes.c_void_p()
    with plan._lock, callbacks:
        status = lib.csaw_sample(plan._handle.pointer, sampler._handle.pointer, sampler._params,
                                 given and ctypes.byref(given.struct), ctypes.byref(options), ctypes.byref(out))
        samples = None if status else Samples(out.value, plan, sampler)  # freed if a callback raised
        callbacks.finish(status)
    return samples  # type: ignore[return-value]


def each_batch(graph: GraphOrPlan, sampler: SamplerLike, seeds: Optional[Seeds], options: Any,
               batch: Callable[[int], Optional[bool]], progress: ProgressOption = False) -> None:
    """Runs in bounded memory: batch(pointer of csaw_samples) for each batch, in order; False stops the run, quietly."""
    plan, sampler = plan_of(graph), sampler_of(sampler)
    callbacks = Callbacks(progress)
    options.progress = callbacks.progress
    enough = False

    def take(_user, samples):
        nonlocal enough
        enough = callbacks.guard(batch, samples) is False
        return ESTOPPED if enough or callbacks.stop else 0

    with plan._lock, callbacks:
        status = lib.csaw_sample_each(plan._handle.pointer, sampler._handle.pointer, sampler._params,
                                      seeds and ctypes.byref(seeds.struct), ctypes.byref(options), s.BATCH(take), None)
        callbacks.finish(0 if enough else status)


def require_all(got: int, wanted: int) -> None:
    """A signal handler that raises can do so where ctypes drops the exception, and with it a batch: that is an
    error."""
    if got != wanted:
        raise CsawError(
            ESTOPPED, f"{got} of {wanted} instances arrived: an exception was raised at the entry of a callback, "
            "where Python drops it; raise none from signal handlers during a run")


def host_walks(samples_pointer: int) -> Walks:
    """Walks of a batch, valid during the batch function: copy what is to stay."""
    out = s.csaw_walks()
    check(lib.csaw_samples_walks(samples_pointer, 0, ctypes.byref(out)))
    return walks_from(out, None, "cpu")


def random_walk(graph: GraphOrPlan, seeds: Any = None, length: int = 80, walks_per_seed: int = 1, seed: int = 0, *,
                sampler: SamplerLike = "uniform", select: str = "auto", edges: bool = False, check: bool = False,
                progress: ProgressOption = False) -> Any:
    """Walks of `length` steps, [walks, length + 1] uint32; csaw.NONE stands after a walk's end.

    seeds: [n] vertices, None = every vertex. Walk w of seed j is row w * n + j. sampler: a name, a .c file or a
    Sampler. edges: also return [walks, length] uint64, the arc of each step (csaw.NO_EDGE where there was none).
    Ctrl-C and progress are heard between batches of 8 MiB of paths (on a GPU 64), on the CPU also within them.
    """
    length = as_count(length, "length", 1, 2**24 - 1)
    plan, sampler, given = plan_of(graph), sampler_of(sampler), seeds_of(seeds)
    if given and given.offset is not None:
        raise invalid("seeds of walks are one vertex each, [n]; csaw.sample takes pools")
    walks_per_seed = as_count(walks_per_seed, "walks_per_seed", 1)
    total = (given.count if given else plan.graph.num_vertices) * walks_per_seed
    same: Dict[str, Any] = dict(walks_per_seed=walks_per_seed, select=select, edges=edges, check=check, seed=seed)
    bytes_of_walk = 4 * (length + 1) + (8 * length if edges else 0)
    if not progress and total * bytes_of_walk <= _DIRECT_BYTES:
        walks = sample(plan, sampler, seeds, depth=length, **same).walks()
        return (walks.path, walks.edge) if edges else walks.path
    try:
        path = np.empty((total, length + 1), np.uint32)
        edge = np.empty((total, length), np.uint64) if edges else None
    except (ValueError, MemoryError):  # ValueError: more than an address space
        raise CsawError(
            ENOMEM, f"there is no memory for {total} walks of length {length}, {total * bytes_of_walk} bytes; give "
            "fewer seeds or walks_per_seed, a smaller length, or take csaw.walks_for_gensim(), which has a batch at a "
            "time") from None
    taken = []

    def take(samples):
        part = host_walks(samples)
        taken.append(len(part.path))
        rows = slice(part.first, part.first + len(part.path))
        path[rows] = part.path
        if edges:
            edge[rows] = part.edge

    batch_bytes = _DIRECT_BYTES if plan.device == "cpu" else 0  # a GPU wants larger ones
    options, _ = run_options(depth=length, batch_bytes=batch_bytes, **same)
    each_batch(plan, sampler, given, options, take, progress)
    require_all(sum(taken), total)
    return (path, edge) if edges else path


def node2vec_walk(graph: GraphOrPlan, p: float = 1.0, q: float = 1.0, seeds: Any = None, length: int = 80,
                  walks_per_seed: int = 1, seed: int = 0, **options) -> Any:
    """node2vec walks: p, the return parameter, q, the in-out parameter; all else as random_walk()."""
    return random_walk(graph, seeds, length, walks_per_seed, seed, sampler=Sampler("node2vec", p=p, q=q), **options)


class NeighborSample(NamedTuple):
    """A minibatch of sampled neighbours. Edges go from the neighbour that was picked to the vertex that receives.

    n_id: [nodes] int64, vertices, seeds first. edge_index: [2, edges] int64, (sender, receiver) as places in n_id,
    hop by hop. e_id: [edges] int64, arcs of the graph. num_sampled_nodes [hops + 1] and num_sampled_edges [hops]:
    counts by hop. blocks: the same in layers, blocks[0, d] for hop d, whose edges are arcs of the graph that was
    sampled: of its transpose if along is "in".
    """

    n_id: np.ndarray
    edge_index: np.ndarray
    e_id: np.ndarray
    num_sampled_nodes: List[int]
    num_sampled_edges: List[int]
    blocks: Blocks


def counts_by_hop(layers: Sequence[Block], num_seeds: Optional[int] = None) -> Tuple[List[int], List[int]]:
    """num_sampled_nodes and num_sampled_edges of the blocks of an instance."""
    nodes = [layers[0].num_dst if num_seeds is None else num_seeds]
    for layer in layers:
        nodes.append(layer.num_src - sum(nodes))
    return nodes, [len(layer.col) for layer in layers]


def neighbor_sample_of(blocks: Blocks, instance: int = 0, num_seeds: Optional[int] = None) -> NeighborSample:
    """An instance of blocks as arrays."""
    layers = [blocks[instance, d] for d in range(blocks.depth)]
    src = np.concatenate([layer.col for layer in layers]).astype(np.int64)
    dst = np.concatenate([layer.row() for layer in layers])
    return NeighborSample(layers[-1].vertex.astype(np.int64), np.stack([src, dst]),
                          np.concatenate([layer.edge for layer in layers]).astype(np.int64),
                          *counts_by_hop(layers, num_seeds), blocks)


def sample_neighbors(graph: GraphOrPlan, seeds: Any, fanout: Union[int, Sequence[int]], *, replace: bool = False,
                     sampler: SamplerLike = "neighbor_once", select: str = "auto", seed: int = 0,
                     along: str = "out") -> NeighborSample:
    """Neighbours of all seeds together, [n] vertices, of equal ones the first: fanout[d] arcs at most of every vertex
    at hop d, -1 = all; by weight where the graph has weights.

    along: "out", the arcs out of a vertex, as every sample goes; "in", the arcs into it, as NeighborLoader and PyTorch
    Geometric go, so that the batch's edge_index runs along arcs. The two differ for directed graphs alone. sampler:
    "neighbor_once" expands a vertex where it is first reached (PyTorch Geometric), "neighbor_again" at every hop (DGL),
    "neighbor" where it was just picked.
    """
    if along not in ("out", "in"):
        raise invalid(f"along is {along!r}; it is 'out' or 'in'")
    place = None
    if along == "in":
        if not isinstance(graph, Graph):
            raise invalid("along='in' needs the graph, whose arcs are turned round; give it in place of the plan, or "
                          "make the plan of graph.transpose() and leave along out")
        graph, place = graph._incoming()
    vertex = as_integers(on_host(seeds), "seeds", np.uint32, what="vertex numbers")
    if not len(vertex):
        raise invalid("seeds are empty; give at least one vertex")
    hops = () if fanout is None else fanout  # no default of sample()
    made = sample(graph, sampler, [vertex], fanout=hops, replace=replace, select=select, seed=seed)
    out = neighbor_sample_of(made.blocks())
    return out if place is None else out._replace(e_id=place[out.e_id])
