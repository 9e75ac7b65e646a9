# SPDX-License-Identifier: MIT
"""Graph: an immutable graph in CSR, from files, arrays, SciPy, NetworkX and generators."""
import ctypes
import os
import tempfile
import threading
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _structs as s
from ._arrays import as_count, as_floats, as_integers, as_numpy, pointer, view
from ._lib import Handle, as_path, as_text, check, create, invalid, lib
from ._lib import options as make_options
from ._progress import Interruptible

MAX_VERTICES = 2**32 - 2


def import_scipy_sparse():
    """scipy.sparse, or an ImportError that says what to install."""
    try:
        import scipy.sparse
    except ImportError:
        raise ImportError("this needs SciPy, which is not installed; pip install scipy") from None
    return scipy.sparse


def _columns(num_edges, weight, type, time):
    weight = None if weight is None else as_floats(weight, "weight", num_edges)
    type = None if type is None else as_integers(type, "type", np.uint32, (num_edges,), what="one type per edge")
    time = None if time is None else as_integers(time, "time", np.int64, (num_edges,), what="one time per edge")
    return weight, type, time


def _number(u, v, data, weight) -> float:
    """The weight of an edge of networkx."""
    try:
        return float(data.get(weight, 1))
    except (TypeError, ValueError):
        raise invalid(f"edge {u!r} -> {v!r} has the {weight} {data[weight]!r}, which is no number; give it one, or "
                      "weight=None to read none") from None


class Graph:
    """An immutable graph. Made by load, from_csr, from_edge_index, from_scipy, from_networkx, rmat and the like.

    One rule of direction: the arc u -> v stands in row u. It is column (u, v) of an edge_index [2, m] (source, target)
    as PyTorch Geometric has it, entry (u, v) of a matrix, the line "u v" of a file, the edge u -> v of networkx. Walks
    and samples go along arcs: row u picks among its v. Messages go along arcs too: in loaders and in csaw.torch v
    receives from u, and neighbours are picked among the arcs into v. undirected=True makes every edge two arcs, u -> v
    and v -> u, and a loop one.

    May be shared between threads. Arrays below are views of its memory, read-only, and keep it alive. Arc e of vertex v
    stands at rowptr[v] <= e < rowptr[v + 1]; rows are ascending, parallel arcs in input order.
    """

    _handle: Handle
    _csr: s.csaw_csr
    _given_names: Optional[List[Any]]
    _names: Optional[List[str]]
    _kept: Dict[str, Any]  # what was made of the graph: its arcs by target, vertices by name; matrices of csaw.torch
    _plans: threading.local

    def __init__(self, *_, **__):
        raise invalid("a Graph comes from Graph.load, from_csr, from_edge_index, from_scipy, from_networkx or rmat")

    @classmethod
    def _adopt(cls, pointer, keep=(), names=None) -> "Graph":
        self = object.__new__(cls)
        self._handle = Handle(pointer, lib.csaw_graph_free, keep)
        self._csr = lib.csaw_graph_csr(pointer)
        self._given_names = names
        self._names = None
        self._kept = {}
        self._plans = threading.local()
        return self

    @classmethod
    def _made(cls, function, *arguments, keep=(), names=None) -> "Graph":
        with Interruptible():
            return cls._adopt(create(function, *arguments), keep, names)

    # ---- where graphs come from

    @classmethod
    def load(cls, path: Union[str, os.PathLike], *, undirected: bool = False, keep_loops: bool = False,
             keep_duplicates: bool = False, keep_gaps: bool = False, format: Optional[str] = None,
             columns: Optional[str] = None) -> "Graph":
        """Reads a file: text (SNAP), csv, mtx, npz (scipy.sparse), gr (DIMACS), csaw; gzip and xz too.

        undirected: add the reverse of every edge that is not a loop. Loops are dropped, repeated edges merged (weights
        summed) and ids closed up (original ones become names) unless the keep_ options say otherwise. format: None = by
        content and suffix. columns: of text and csv, such as "src,dst,time".
        """
        options = make_options(
            s.csaw_load_options, format=as_text(format, "format"), columns=as_text(columns, "columns"),
            undirected=undirected, keep_loops=keep_loops, keep_duplicates=keep_duplicates, keep_gaps=keep_gaps)
        return cls._made(lib.csaw_graph_load, as_path(path), ctypes.byref(options))

    @classmethod
    def from_csr(cls, rowptr, col, weight=None, type=None, time=None, *, copy: bool = True) -> "Graph":
        """From CSR arrays: rowptr [n + 1] integers, col [m] integers, each row ascending; weight [m] float32, type [m]
        uint32, time [m] int64.

        copy=False borrows arrays of the right dtype (uint64, uint32, float32, uint32, int64; contiguous) and keeps them
        alive; they must stay as they are.
        """
        given = (rowptr, col, weight, type, time)
        rowptr = as_integers(rowptr, "rowptr", np.uint64, what="row offsets")
        if not len(rowptr):
            raise invalid("rowptr is empty; it has one entry more than the graph has vertices")
        col = as_integers(col, "col", np.uint32, what="columns")
        weight, type, time = _columns(len(col), weight, type, time)
        arrays = (rowptr, col, weight, type, time)
        if not copy:
            for name, have, want in zip(("rowptr", "col", "weight", "type", "time"), given, arrays):
                if want is not None and want.size and not np.shares_memory(as_numpy(have, name), want):
                    raise invalid(f"copy=False, but {name} is no contiguous array of {want.dtype}; convert it, or copy")
        csr = s.csaw_csr(len(rowptr) - 1, len(col), *map(pointer, arrays))
        make = lib.csaw_graph_from_csr if copy else lib.csaw_graph_borrow_csr
        return cls._made(make, ctypes.byref(csr), keep=() if copy else arrays)

    @classmethod
    def from_edge_index(cls, edge_index, num_nodes: Optional[int] = None, weight=None, type=None, time=None, *,
                        undirected: bool = False, keep_loops: bool = True,
                        keep_duplicates: Optional[bool] = None) -> "Graph":
        """From edge_index [2, m] of integers, as PyTorch Geometric has it: edge k goes from edge_index[0, k] to
        edge_index[1, k]. weight [m] float32, type [m] uint32, time [m] int64.

        num_nodes: None = largest id + 1. undirected: add the reverse of every edge that is not a loop. keep_duplicates:
        None = all edges are kept, unless undirected is set: then equal arcs are merged, weights summed, as
        torch_geometric.utils.to_undirected does, so that an edge_index that has both directions is not doubled.
        """
        if keep_duplicates is None:
            keep_duplicates = not undirected
        array = as_integers(edge_index, "edge_index", np.uint32, (2, None), below=MAX_VERTICES, what="vertex numbers")
        src, dst = array  # rows of a contiguous array are contiguous
        weight, type, time = _columns(len(src), weight, type, time)
        if num_nodes is not None:
            num_nodes = as_count(num_nodes, "num_nodes", 0, MAX_VERTICES)
        if num_nodes == 0 and not len(src):
            return cls.from_csr(np.zeros(1, np.uint64), np.zeros(0, np.uint32))
        if num_nodes == 0:
            raise invalid(f"num_nodes is 0, but edge_index has {len(src)} edges; give the largest id + 1, or leave it out")
        edges = s.csaw_edges(num_nodes or 0, len(src), *map(pointer, (src, dst, weight, type, time)))
        options = make_options(s.csaw_load_options, undirected=undirected, keep_loops=keep_loops,
                            keep_duplicates=keep_duplicates)
        return cls._made(lib.csaw_graph_from_edges, ctypes.byref(edges), ctypes.byref(options))

    @classmethod
    def from_scipy(cls, matrix, *, weighted: Optional[bool] = None, undirected: bool = False) -> "Graph":
        """From a square scipy.sparse matrix or array: entry (u, v) is the arc u -> v.

        undirected: as in from_edge_index(), for a matrix that has each edge once, such as a triangle.
        weighted: whether entries are weights (float32); None = unless the matrix is boolean or all entries are 1.
        Explicit zeros are arcs of weight 0.
        """
        sparse = import_scipy_sparse()
        if not sparse.issparse(matrix):
            raise invalid(f"from_scipy takes a sparse matrix, not {matrix.__class__.__name__}; make it a "
                          "scipy.sparse.csr_matrix")
        if matrix.shape[0] != matrix.shape[1]:
            raise invalid(f"the matrix is {matrix.shape[0]} x {matrix.shape[1]}, but that of a graph is square")
        csr = sparse.csr_matrix(matrix)
        if not csr.has_sorted_indices:
            csr = csr.sorted_indices()
        if weighted is None:
            weighted = csr.dtype != bool and not np.all(csr.data == 1)
        weight = csr.data if weighted else None
        if undirected:
            index = np.stack([np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr)), csr.indices])
            return cls.from_edge_index(index, csr.shape[0], weight, undirected=True)
        return cls.from_csr(csr.indptr, csr.indices, weight)

    @classmethod
    def from_networkx(cls, graph, weight: Optional[str] = "weight") -> "Graph":
        """From a networkx graph: vertex i is the i-th node, and names are the nodes. Edges of a DiGraph are arcs
        u -> v, those of a Graph arcs both ways; parallel ones of a multigraph are kept. weight: the edge attribute that
        holds weights, 1 where an edge has none; no edge has it, or None: no weights."""
        if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
            raise invalid(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
        nodes = list(graph.nodes())
        number = {node: i for i, node in enumerate(nodes)}
        edges = list(graph.edges(data=True))
        index = np.array([[number[u] for u, _, _ in edges], [number[v] for _, v, _ in edges]], np.int64).reshape(2, -1)
        has_weight = weight is not None and any(weight in data for _, _, data in edges)
        values = np.array([_number(u, v, data, weight) for u, v, data in edges]) if has_weight else None
        out = cls.from_edge_index(index, len(nodes), values, undirected=not graph.is_directed(),
                                  keep_duplicates=True)
        if nodes != list(range(len(nodes))):
            out._given_names = nodes
        return out

    @classmethod
    def rmat(cls,
             scale: int = 16,
             edge_factor: int = 16,
             *,
             a: float = 0.0,
             b: float = 0.0,
             c: float = 0.0,
             seed: int = 0,
             weighted: bool = False,
             directed: bool = False,
             keep_isolated: bool = False) -> "Graph":
        """An R-MAT graph of 2^scale vertices and edge_factor edges each, before isolated vertices, loops and duplicates
        go; a, b, c: quadrant probabilities, all 0 = .57, .19, .19."""
        scale, edge_factor = as_count(scale, "scale", 1, 31), as_count(edge_factor, "edge_factor", 1)  # 0: C's defaults
        options = make_options(s.csaw_rmat_options, scale=scale, edge_factor=edge_factor, a=a, b=b, c=c, seed=seed,
                            weighted=weighted, directed=directed, keep_isolated=keep_isolated)
        return cls._made(lib.csaw_graph_rmat, ctypes.byref(options))

    @classmethod
    def erdos_renyi(cls, num_vertices: int, num_edges: int, *, seed: int = 0, weighted: bool = False,
                    directed: bool = False) -> "Graph":
        """G(n, m): num_edges distinct edges, no loops."""
        options = make_options(s.csaw_random_graph_options, num_vertices=num_vertices, num_edges=num_edges, seed=seed,
                            weighted=weighted, directed=directed)
        return cls._made(lib.csaw_graph_erdos_renyi, ctypes.byref(options))

    @classmethod
    def configuration(cls, degree, *, seed: int = 0, weighted: bool = False) -> "Graph":
        """The configuration model of these degrees, [n] integers of even sum; loops and parallel edges are dropped."""
        degree = as_integers(degree, "degree", np.uint32, what="degrees")
        options = make_options(s.csaw_random_graph_options, degree=pointer(degree), num_degrees=len(degree), seed=seed,
                            weighted=weighted)
        return cls._made(lib.csaw_graph_configuration, ctypes.byref(options))

    # ---- what it holds

    @property
    def num_vertices(self) -> int:
        return self._csr.num_vertices

    num_nodes = num_vertices

    @property
    def num_edges(self) -> int:
        """Number of arcs; an undirected edge counts twice."""
        return self._csr.num_edges

    def _array(self, place, count, dtype):
        return view(place, (count,), dtype, self._handle)

    @property
    def rowptr(self) -> np.ndarray:
        """[num_vertices + 1] uint64."""
        return self._array(self._csr.rowptr, self.num_vertices + 1, np.uint64)

    @property
    def col(self) -> np.ndarray:
        """[num_edges] uint32."""
        return self._array(self._csr.col, self.num_edges, np.uint32)

    @property
    def weight(self) -> Optional[np.ndarray]:
        """[num_edges] float32; None = all 1."""
        return self._array(self._csr.weight, self.num_edges, np.float32) if self._csr.weight else None

    @property
    def type(self) -> Optional[np.ndarray]:
        """[num_edges] uint32; None = all 0."""
        return self._array(self._csr.type, self.num_edges, np.uint32) if self._csr.type else None

    @property
    def time(self) -> Optional[np.ndarray]:
        """[num_edges] int64; None = all 0."""
        return self._array(self._csr.time, self.num_edges, np.int64) if self._csr.time else None

    @property
    def degree(self) -> np.ndarray:
        """[num_vertices] int64, the length of each row."""
        return np.diff(self.rowptr.astype(np.int64))

    def neighbors(self, vertex: int) -> np.ndarray:
        """[degree] uint32: where the arcs of a vertex lead, ascending; a view of col."""
        v = as_count(vertex, "vertex", 0, self.num_vertices - 1)
        return self.col[int(self.rowptr[v]):int(self.rowptr[v + 1])]

    @property
    def names(self) -> Union[np.ndarray, List[Any], None]:
        """What vertices are called: [num_vertices] int64, or a list of words (of nodes, from networkx). None: vertex v
        is called v."""
        if self._given_names is not None:
            return self._given_names
        names = lib.csaw_graph_names(self._handle.pointer)
        if names.number:
            return self._array(names.number, self.num_vertices, np.int64)
        if names.text and self._names is None:
            offset = self._array(names.offset, self.num_vertices + 1, np.uint64).tolist()
            text = ctypes.string_at(names.text, offset[-1])
            self._names = [text[i:j].decode("utf-8", "replace") for i, j in zip(offset, offset[1:])]
        return self._names

    def find(self, name) -> int:
        """The vertex of that name."""
        if self._given_names is not None:
            if "vertex of a name" not in self._kept:  # of equal names the first
                last_first = range(self.num_vertices - 1, -1, -1)
                self._kept["vertex of a name"] = {self._given_names[v]: v for v in last_first}
            try:
                return self._kept["vertex of a name"][name]
            except (KeyError, TypeError):  # TypeError: what cannot be a node
                raise invalid(f"no vertex is called {name!r}") from None
        out = ctypes.c_uint32()
        check(lib.csaw_graph_find(self._handle.pointer, as_text(str(name), "name"), ctypes.byref(out)))
        return out.value

    def checksum(self) -> int:
        """64 bits that equal graphs share: rows, weights, types, times and names."""
        return lib.csaw_graph_checksum(self._handle.pointer)

    # ---- other forms

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the graph: .csaw (opens without reading), else an edge list, compressed if path ends in .gz. For .npz
        and .mtx take SciPy's functions and to_scipy(). Names that came from networkx are not written."""
        with Interruptible():
            check(lib.csaw_graph_save(self._handle.pointer, as_path(path)))

    def transpose(self) -> "Graph":
        """Every arc reversed."""
        return Graph._made(lib.csaw_graph_transpose, self._handle.pointer, names=self._given_names)

    def _receiving(self, weighted: bool) -> "Graph":
        """The transpose with or without weights; its times say which arc of this graph each of its arcs is. Made
        once."""
        key = f"receiving, weighted {weighted}"
        if key not in self._kept:
            numbered = Graph.from_csr(self.rowptr, self.col, self.weight if weighted else None,
                                      time=np.arange(self.num_edges), copy=False)
            self._kept[key] = numbered.transpose()
        return self._kept[key]

    def _incoming(self) -> Tuple["Graph", np.ndarray]:
        """The transpose, and [num_edges] int64: which arc of this graph each of its arcs is. Made once."""
        if "incoming" not in self._kept:
            place = self._receiving(False).time
            self._kept["incoming"] = self.transpose(), np.zeros(0, np.int64) if place is None else place
        return self._kept["incoming"]

    def by_degree(self) -> "Graph":
        """Vertices renumbered by falling degree, ties by old number; names lead back."""
        out = Graph._made(lib.csaw_graph_by_degree, self._handle.pointer)
        if self._given_names is not None:
            numbers = lib.csaw_graph_names(out._handle.pointer).number
            order = out._array(numbers, out.num_vertices, np.int64) if numbers else range(out.num_vertices)
            out._given_names = [self._given_names[v] for v in order]
        return out

    def to_scipy(self):
        """scipy.sparse.csr_matrix [num_vertices, num_vertices] float32: entry (u, v) is the weight of u -> v;
        a copy."""
        sparse = import_scipy_sparse()
        data = np.ones(self.num_edges, np.float32) if self.weight is None else self.weight
        return sparse.csr_matrix((data, self.col.astype(np.int64), self.rowptr.astype(np.int64)),
                                 shape=(self.num_vertices,) * 2)

    def edge_index(self) -> np.ndarray:
        """[2, num_edges] int64, as PyTorch Geometric has it: sources and targets of the arcs, in their order."""
        rows = np.repeat(np.arange(self.num_vertices, dtype=np.int64), self.degree)
        return np.stack([rows, self.col.astype(np.int64)])

    def __reduce__(self):
        folder = tempfile.mkdtemp(prefix="csaw-")
        path = os.path.join(folder, "graph.csaw")
        try:
            self.save(path)
            with open(path, "rb") as file:
                return _unpickle, (file.read(), self._given_names)
        finally:
            if os.path.exists(path):
                os.unlink(path)
            os.rmdir(folder)

    def __repr__(self):
        extra = [name for name in ("weight", "type", "time") if getattr(self._csr, name)]
        columns = f", with {', '.join(extra)}" if extra else ""
        return f"Graph({self.num_vertices} vertices, {self.num_edges} arcs{columns})"


def _unpickle(content: bytes, names: Optional[List[Any]]) -> Graph:
    folder = tempfile.mkdtemp(prefix="csaw-")
    path = os.path.join(folder, "graph.csaw")
    try:
        with open(path, "wb") as file:
            file.write(content)
        graph = Graph.load(path)  # mapped: the name may go
    finally:
        if os.path.exists(path):
            os.unlink(path)
        os.rmdir(folder)
    graph._given_names = names
    return graph
