# SPDX-License-Identifier: MIT
"""Graphs from every source against plain Python, and their way back."""
import gc
import pickle

import numpy as np
import pytest

import csaw


def rows_of(edge_index, columns, num_vertices):
    """CSR by Python's stable sort: rowptr, col and the columns in its order."""
    m = edge_index.shape[1]
    order = sorted(range(m), key=lambda k: (edge_index[0, k], edge_index[1, k]))
    rowptr = [0] * (num_vertices + 1)
    for u in edge_index[0]:
        rowptr[u + 1] += 1
    return np.cumsum(rowptr), edge_index[1, order], {name: values[order] for name, values in columns.items()}


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) if getattr(b, name) is not None
               else getattr(a, name) is None for name in ("rowptr", "col", "weight", "type", "time"))


def test_from_edge_index_keeps_every_edge(digraph):
    graph, edge_index, columns = digraph
    rowptr, col, sorted_columns = rows_of(edge_index, columns, 40)
    assert (graph.num_vertices, graph.num_edges) == (40, edge_index.shape[1])
    np.testing.assert_array_equal(graph.rowptr, rowptr)
    np.testing.assert_array_equal(graph.col, col)
    for name, values in sorted_columns.items():
        np.testing.assert_array_equal(getattr(graph, name), values)
    np.testing.assert_array_equal(graph.degree, np.diff(rowptr))
    assert graph.degree[11] == 0


def test_dtypes_of_arrays(digraph):
    graph, _, _ = digraph
    assert [getattr(graph, name).dtype for name in ("rowptr", "col", "weight", "type", "time")] == \
        [np.uint64, np.uint32, np.float32, np.uint32, np.int64]


def test_edge_index_and_back(digraph):
    graph, _, columns = digraph
    again = csaw.Graph.from_edge_index(graph.edge_index(), 40, graph.weight, graph.type, graph.time)
    assert same(again, graph)


def test_one_direction_whatever_a_graph_comes_from(tmp_path):
    """0 -> 1, 0 -> 2, 2 -> 1 with weights 2, 3, 4: the arc u -> v stands in row u."""
    source, target, weight = np.array([0, 0, 2]), np.array([1, 2, 1]), np.array([2, 3, 4], np.float32)
    made = [csaw.Graph.from_edge_index(np.stack([source, target])[:, ::-1], weight=weight[::-1]),
            csaw.Graph.from_csr([0, 2, 2, 3], target, weight)]
    (tmp_path / "graph.txt").write_text("".join(f"{u} {v} {w}\n" for u, v, w in zip(source, target, weight)))
    made.append(csaw.Graph.load(tmp_path / "graph.txt"))
    (tmp_path / "graph.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 3\n"
                                        "1 2 2\n1 3 3\n3 2 4\n")
    made.append(csaw.Graph.load(tmp_path / "graph.mtx"))
    try:
        import scipy.sparse
        made.append(csaw.Graph.from_scipy(scipy.sparse.coo_matrix((weight, (source, target)), shape=(3, 3))))
        assert made[0].to_scipy().toarray().tolist() == [[0, 2, 3], [0, 0, 0], [0, 4, 0]]
    except ImportError:
        pass
    try:
        import networkx
        digraph = networkx.DiGraph()
        digraph.add_nodes_from(range(3))
        digraph.add_weighted_edges_from(zip(source.tolist(), target.tolist(), weight.tolist()))
        made.append(csaw.Graph.from_networkx(digraph))
    except ImportError:
        pass
    for graph in made:
        assert graph.edge_index().tolist() == [source.tolist(), target.tolist()]
        assert graph.weight.tolist() == weight.tolist()
        assert csaw.random_walk(graph, [2], length=2).tolist() == [[2, 1, csaw.NONE]]  # along the arc


def test_undirected_is_both_ways_from_everywhere(tmp_path):
    """0 - 1 given in both directions, 1 - 2 in one, a loop at 2: two arcs, two arcs, one arc."""
    index = np.array([[0, 1, 1, 2], [1, 0, 2, 2]])
    want = [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]
    graph = csaw.Graph.from_edge_index(index, undirected=True)
    assert graph.edge_index().tolist() == want
    summed = csaw.Graph.from_edge_index(index, weight=[1, 2, 4, 8], undirected=True)
    assert summed.edge_index().tolist() == want and summed.weight.tolist() == [3, 3, 4, 4, 8]
    assert csaw.Graph.from_edge_index(index, undirected=True, keep_duplicates=True).num_edges == 7
    (tmp_path / "graph.txt").write_text("0 1\n1 0\n1 2\n2 2\n")
    loaded = csaw.Graph.load(tmp_path / "graph.txt", undirected=True, keep_loops=True)
    assert loaded.edge_index().tolist() == want
    sparse = pytest.importorskip("scipy.sparse")
    ones = sparse.coo_matrix((np.ones(4), tuple(index)), shape=(3, 3))
    assert csaw.Graph.from_scipy(ones, undirected=True).edge_index().tolist() == want
    assert csaw.Graph.from_scipy(sparse.triu(graph.to_scipy()), undirected=True).checksum() == graph.checksum()


def test_undirected_and_merged():
    graph = csaw.Graph.from_edge_index([[0, 0, 1, 2], [1, 1, 0, 2]],
                                       weight=[1, 2, 4, 8],
                                       undirected=True,
                                       keep_loops=False,
                                       keep_duplicates=False)
    assert graph.edge_index().tolist() == [[0, 1], [1, 0]]
    assert graph.weight.tolist() == [7, 7]
    assert graph.num_vertices == 3


def test_from_csr_copies_or_borrows(digraph):
    graph, _, _ = digraph
    rowptr, col, weight = (np.array(x) for x in (graph.rowptr, graph.col, graph.weight))
    copied, borrowed = csaw.Graph.from_csr(rowptr, col, weight), csaw.Graph.from_csr(rowptr, col, weight, copy=False)
    assert np.shares_memory(borrowed.col, col) and not np.shares_memory(copied.col, col)
    assert borrowed.checksum() == copied.checksum()
    keep = borrowed.col
    del borrowed, rowptr, col, weight
    gc.collect()
    np.testing.assert_array_equal(keep, copied.col)


def test_from_csr_without_copy_wants_the_right_dtypes():
    with pytest.raises(csaw.CsawError, match="rowptr is no contiguous array of uint64"):
        csaw.Graph.from_csr(np.array([0, 1]), np.array([0], np.uint32), copy=False)


def test_views_keep_the_graph_alive_and_are_read_only():
    col = csaw.Graph.from_edge_index(np.arange(2000).reshape(2, -1)).col
    gc.collect()
    np.testing.assert_array_equal(col, np.arange(1000, 2000))
    with pytest.raises(ValueError):
        col[0] = 1


def test_transpose_and_by_degree(digraph):
    graph, edge_index, columns = digraph
    rowptr, col, sorted_columns = rows_of(graph.edge_index()[::-1], {"weight": graph.weight}, 40)
    np.testing.assert_array_equal(graph.transpose().rowptr, rowptr)
    np.testing.assert_array_equal(graph.transpose().col, col)
    np.testing.assert_array_equal(graph.transpose().weight, sorted_columns["weight"])
    ordered = graph.by_degree()
    np.testing.assert_array_equal(ordered.names, sorted(range(40), key=lambda v: (-graph.degree[v], v)))
    np.testing.assert_array_equal(ordered.degree, graph.degree[ordered.names])


def test_files_and_names(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("bee ant\nant cow\n")
    graph = csaw.Graph.load(path)
    assert graph.names == ["ant", "bee", "cow"]
    assert graph.find("cow") == 2
    assert graph.edge_index().tolist() == [[0, 1], [2, 0]]
    with pytest.raises(csaw.CsawError):
        graph.find("dog")
    (tmp_path / "gaps.csv").write_text("src,dst,time\n10,30,5\n30,20,-7\n")
    gaps = csaw.Graph.load(tmp_path / "gaps.csv")
    assert gaps.names.tolist() == [10, 20, 30] and gaps.time.tolist() == [5, -7]
    assert csaw.Graph.load(tmp_path / "gaps.csv", keep_gaps=True).num_vertices == 31


@pytest.mark.parametrize("name", ["graph.csaw", "graph.txt", "graph.txt.gz"])
def test_save_and_load(karate, lesmis, tmp_path, name):
    for graph in (karate, lesmis):
        graph.save(tmp_path / name)
        assert csaw.Graph.load(tmp_path / name).checksum() == graph.checksum()


def test_pickle_keeps_all(digraph):
    graph, _, _ = digraph
    again = pickle.loads(pickle.dumps(graph))
    assert again.checksum() == graph.checksum() and same(again, graph) and again.names is None


def test_scipy_both_ways(digraph):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(1)
    matrix = sparse.random(50, 50, 0.1, format="coo", random_state=rng)
    graph = csaw.Graph.from_scipy(matrix)
    assert graph.num_edges == matrix.nnz
    np.testing.assert_allclose(graph.to_scipy().toarray(), matrix.toarray().astype(np.float32))
    pattern = csaw.Graph.from_scipy(matrix > 0)
    assert pattern.weight is None and np.array_equal(pattern.col, graph.col)
    unsorted = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    assert csaw.Graph.from_scipy(unsorted).weight.tolist() == [2, 1]


def test_networkx_keeps_nodes_as_names():
    networkx = pytest.importorskip("networkx")
    given = networkx.Graph([("a", "b"), ("b", ("c", 1))])
    given["a"]["b"]["weight"] = 3
    graph = csaw.Graph.from_networkx(given)
    assert graph.names == ["a", "b", ("c", 1)] and graph.find("b") == 1
    assert graph.edge_index().tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.weight.tolist() == [3, 3, 1, 1]
    assert pickle.loads(pickle.dumps(graph)).names == graph.names
    assert graph.by_degree().names == ["b", "a", ("c", 1)] and graph.transpose().names == graph.names
    directed = csaw.Graph.from_networkx(networkx.MultiDiGraph([(0, 1), (0, 1), (1, 1)]))
    assert directed.edge_index().tolist() == [[0, 0, 1], [1, 1, 1]] and directed.names is None


def test_find_among_equal_names_takes_the_first():
    networkx = pytest.importorskip("networkx")
    graph = csaw.Graph.from_networkx(networkx.path_graph(["x", "y", "z"]))
    graph._given_names = ["x", "y", "x"]
    assert [graph.find("x"), graph.find("y")] == [0, 1]
    for unknown in ("z", ["x"]):
        with pytest.raises(csaw.CsawError, match="no vertex is called"):
            graph.find(unknown)


def test_neighbors(digraph):
    graph, (source, target), _ = digraph
    for v in range(graph.num_vertices):
        np.testing.assert_array_equal(graph.neighbors(v), np.sort(target[source == v]))
    assert np.shares_memory(graph.neighbors(source[0]), graph.col)
    for wrong in (-1, graph.num_vertices, 0.0):
        with pytest.raises(csaw.CsawError, match="vertex is"):
            graph.neighbors(wrong)


def test_generators_are_those_of_the_program(cli, tmp_path):
    path = tmp_path / "graph.csaw"
    cli("generate", "rmat", "--scale", 8, "--edge-factor", 4, "--seed", 3, "-o", path)
    assert csaw.Graph.rmat(8, 4, seed=3).checksum() == csaw.Graph.load(path).checksum()
    graph = csaw.Graph.erdos_renyi(np.int64(100), np.uint8(200) + np.uint64(100), seed=1, directed=True)
    assert (graph.num_vertices, graph.num_edges) == (100, 300)
    assert csaw.Graph.erdos_renyi(100, 300, seed=2, directed=True).checksum() != graph.checksum()
    degrees = csaw.Graph.configuration(np.full(60, 3), seed=1).degree
    assert degrees.max() <= 3 and degrees.sum() > 100


def test_empty_graph():
    graph = csaw.Graph.from_edge_index(np.zeros((2, 0), np.int64), num_nodes=3)
    assert (graph.num_vertices, graph.num_edges, len(graph.col)) == (3, 0, 0)
    assert csaw.random_walk(graph, length=2).tolist() == [[v, csaw.NONE, csaw.NONE] for v in range(3)]
    nothing = csaw.Graph.from_edge_index(np.zeros((2, 0), np.int64), num_nodes=0)
    assert nothing.num_vertices == 0 and csaw.random_walk(nothing, length=2).shape == (0, 3)
