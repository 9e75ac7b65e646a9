# SPDX-License-Identifier: MIT
"""Samples: arcs, blocks, subgraphs and sample_neighbors() against the csaw program and against each other."""
import gc
import weakref

import numpy as np
import pytest

import csaw

from conftest import ROOT


def arcs_of_program(cli, *arguments):
    """[arcs, 5]: instance, src, dst, edge, depth. A line with - is a seed without arcs."""
    text = cli("sample", ROOT / "data/karate.txt", "--undirected", "--no-header", *arguments).decode()
    lines = [line.split() for line in text.splitlines()]
    return np.array([line for line in lines if "-" not in line], np.int64).reshape(-1, 5)


def as_table(arcs):
    counts = np.diff(arcs.offset.astype(np.int64))
    instance = np.repeat(np.arange(len(counts)) + arcs.first, counts)
    return np.stack([instance, arcs.src, arcs.dst, arcs.edge, arcs.depth], axis=1).astype(np.int64)


@pytest.mark.parametrize("algo", ["neighbor", "neighbor_once", "neighbor_again"])
@pytest.mark.parametrize("replace", [False, True])
def test_neighbours_are_those_of_the_program(karate, cli, algo, replace):
    pools = [np.arange(b, min(b + 8, 34)) for b in range(0, 34, 8)]
    got = csaw.sample(karate, algo, pools, fanout=[3, -1, 2], seed=9, replace=replace).arcs()
    want = arcs_of_program(cli, "--algo", algo, "--fanout", "3,all,2", "--batch-size", 8, "--seed", 9,
                           *(["--replace"] if replace else []))
    np.testing.assert_array_equal(as_table(got), want)
    np.testing.assert_array_equal(got.seed, np.arange(34))
    assert got.seed_offset.tolist() == [0, 8, 16, 24, 32, 34]


def test_samplers_that_count_by_themselves(karate, cli, tmp_path):
    got = csaw.sample(karate, csaw.Sampler("forest_fire", p=0.5), [0, 33], depth=3, walks_per_seed=2, seed=1).arcs()
    (tmp_path / "seeds").write_text("0 33\n")
    want = arcs_of_program(cli, "--algo", "forest_fire", "--p", 0.5, "--depth", 3, "--samples", 2, "--seed", 1,
                           "--seeds", tmp_path / "seeds")
    assert len(want)
    np.testing.assert_array_equal(as_table(got), want)
    one_pool = csaw.sample(karate, csaw.Sampler("random_edge"), [np.arange(34)], fanout=[7], seed=3).arcs()
    np.testing.assert_array_equal(
        as_table(one_pool), arcs_of_program(cli, "--algo", "random_edge", "--fanout", 7, "--one-pool", "--seed", 3))


def test_arcs_of_walks(karate):
    walks = csaw.sample(karate, "uniform", [3, 4], depth=5, edges=True)
    arcs, paths = walks.arcs(), walks.walks()
    np.testing.assert_array_equal(arcs.src, paths.path[:, :-1].reshape(-1))
    np.testing.assert_array_equal(arcs.dst, paths.path[:, 1:].reshape(-1))


def test_a_sample_is_no_walk(karate):
    with pytest.raises(csaw.CsawError, match="no walks"):
        csaw.sample(karate, "neighbor", [[1, 2]], fanout=[2]).walks()


def test_sample_neighbors_says_what_the_arcs_say(digraph):
    graph, _, _ = digraph
    seeds, fanout = np.array([9, 0, 3, 30]), [4, 3]
    batch = csaw.sample_neighbors(graph, seeds, fanout, seed=6)
    arcs = csaw.sample(graph, "neighbor_once", [seeds], fanout=fanout, seed=6).arcs()
    np.testing.assert_array_equal(batch.n_id[batch.edge_index[0]], arcs.dst)  # the sender is the neighbour
    np.testing.assert_array_equal(batch.n_id[batch.edge_index[1]], arcs.src)
    np.testing.assert_array_equal(batch.e_id, arcs.edge)
    assert len(set(batch.n_id)) == len(batch.n_id) and batch.n_id[:4].tolist() == seeds.tolist()
    first = {v: k for k, v in reversed(list(enumerate([*seeds, *arcs.dst])))}
    assert [first[v] for v in batch.n_id] == sorted(first.values())  # in the order of first visit
    assert sum(batch.num_sampled_nodes) == len(batch.n_id) and sum(batch.num_sampled_edges) == len(batch.e_id)
    assert batch.num_sampled_edges[0] == (arcs.depth == 0).sum()
    assert batch.num_sampled_nodes[0] == 4


def test_sample_neighbors_along_in_takes_the_arcs_into_a_vertex(digraph):
    graph, _, _ = digraph
    seeds, fanout = np.array([9, 0, 3, 30]), [4, 3]
    batch = csaw.sample_neighbors(graph, seeds, fanout, seed=6, along="in")
    np.testing.assert_array_equal(graph.edge_index()[:, batch.e_id], batch.n_id[batch.edge_index])
    turned = csaw.sample_neighbors(graph.transpose(), seeds, fanout, seed=6)
    np.testing.assert_array_equal(batch.n_id, turned.n_id)
    np.testing.assert_array_equal(graph.weight[batch.e_id], graph.transpose().weight[turned.e_id])  # parallel arcs too
    loader = csaw.NeighborLoader(graph, fanout, seeds, batch_size=4, seed=6, weight_attr="weight")
    of_loader = next(iter(loader))
    np.testing.assert_array_equal(of_loader.n_id, batch.n_id)
    np.testing.assert_array_equal(of_loader.e_id, batch.e_id)
    with pytest.raises(csaw.CsawError, match="'out' or 'in'"):
        csaw.sample_neighbors(graph, seeds, fanout, along="both")
    with pytest.raises(csaw.CsawError, match="in place of the plan"):
        csaw.sample_neighbors(csaw.plan(graph), seeds, fanout, along="in")


def test_sample_neighbors_by_numbers_of_neighbours(karate):
    everything = csaw.sample_neighbors(karate, [0], -1)
    assert sorted(everything.n_id[1:]) == karate.col[karate.rowptr[0]:karate.rowptr[1]].tolist()
    assert csaw.sample_neighbors(karate, [0], [3], replace=True).edge_index.shape == (2, 3)
    assert csaw.sample_neighbors(karate, [11], [3]).edge_index.shape == (2, 1)
    assert csaw.sample_neighbors(karate, [11], [3], replace=True).edge_index.shape == (2, 3)


def test_blocks(digraph):
    graph, _, _ = digraph
    blocks = csaw.sample(graph, "neighbor_again", [np.array([5, 6]), np.array([9])], fanout=[3, 2], seed=1).blocks()
    gc.collect()  # blocks keep nothing of the samples
    assert len(blocks) == 2 and blocks.depth == 2
    for i, seeds in enumerate(([5, 6], [9])):
        inner, outer = blocks[i, 0], blocks[i, 1]
        assert inner.vertex[:inner.num_dst].tolist() == seeds
        assert outer.num_dst == inner.num_src
        np.testing.assert_array_equal(graph.col[outer.edge], outer.vertex[outer.col])
        np.testing.assert_array_equal(graph.edge_index()[0][outer.edge], outer.vertex[outer.row()])
        np.testing.assert_array_equal(blocks.weights(graph, i, 1), graph.weight[outer.edge])
    with pytest.raises(IndexError):
        blocks[2, 0]


def test_what_things_say_of_themselves(karate):
    made = csaw.sample(karate, csaw.Sampler("forest_fire", p=0.7), [[0, 5], [7]], depth=2)
    assert repr(made) == f"Samples(Sampler('forest_fire', p=0.7) of {karate!r})"
    assert repr(made.blocks()) == "Blocks(2 instances, depth 2)"
    sub = made.subgraph(per_instance=True)
    assert repr(sub) == f"Subgraph(2 graphs, {len(sub.vertex)} vertices, {len(sub.edge)} arcs)"
    corpus = csaw.walks_for_gensim(karate, length=3, walks_per_seed=2)
    assert repr(corpus) == f"WalkCorpus(68 walks of 3 steps, Sampler('uniform') of {karate!r})"


def test_parameters_of_32_bits_come_back_as_they_were_given():
    sampler = csaw.Sampler("node2vec", p=0.1, q=1e-7)
    assert sampler.params == dict(p=0.1, q=1e-7) and csaw.Sampler("node2vec", **sampler.params).params == sampler.params


def test_a_block_is_of_an_instance_and_a_depth(karate):
    blocks = csaw.sample_neighbors(karate, [0], [2]).blocks
    for wrong in (0, (0, 0, 0)):
        with pytest.raises(TypeError, match="give blocks"):
            blocks[wrong]
    with pytest.raises(TypeError, match="not iterable"):
        iter(blocks)


def test_subgraphs(digraph):
    graph, _, _ = digraph
    samples = csaw.sample(graph, "neighbor", [np.array([5, 6]), np.array([9])], fanout=[3, 2], seed=1)
    apart = samples.subgraph(per_instance=True, induced=True)
    assert len(apart) == 2
    edge_index = graph.edge_index()
    for g in range(2):
        vertex = apart.vertex[int(apart.vertex_offset[g]):int(apart.vertex_offset[g + 1])]
        inside = np.isin(edge_index, vertex).all(axis=0)
        one = apart.graph(g)
        assert one.num_edges == inside.sum()
        np.testing.assert_array_equal(np.sort(one.weight), np.sort(graph.weight[inside]))
        np.testing.assert_array_equal(one.names, vertex)
    union = samples.subgraph()
    arcs = samples.arcs()
    np.testing.assert_array_equal(np.sort(union.edge), np.unique(arcs.edge))
    assert set(union.vertex) == set(arcs.seed) | set(arcs.dst)


def test_save_is_the_program_s_file(karate, cli, tmp_path):
    samples = csaw.sample(karate, "neighbor", [np.arange(34)], fanout=[2, 2], seed=4)
    samples.save(tmp_path / "out.txt", header=False)
    want = cli("sample", ROOT / "data/karate.txt", "--undirected", "--no-header", "--fanout", "2,2", "--one-pool",
               "--seed", 4, "--algo", "neighbor")
    assert (tmp_path / "out.txt").read_bytes() == want
    samples.subgraph().save(tmp_path / "sub.csaw")
    assert csaw.Graph.load(tmp_path / "sub.csaw").num_vertices == len(samples.subgraph().vertex)


def test_arrays_keep_the_samples_alive(karate):
    arcs = csaw.sample(karate, "neighbor", [np.arange(34)] * 200, fanout=[5, 5], seed=4).arcs()
    want = arcs.dst.copy()
    gc.collect()
    for seed in range(3):
        csaw.sample(karate, "neighbor", [np.arange(34)] * 200, fanout=[5, 5], seed=seed)
    np.testing.assert_array_equal(arcs.dst, want)


def test_samples_keep_their_sampler_and_plan(karate, tmp_path):
    """A compiled sampler must not be unloaded before its samples are freed."""
    (tmp_path / "my.c").write_text("#include <csaw/sampler.h>\nCSAW_SAMPLER(my_walk, csaw_no_params);\n")
    sampler, plan = csaw.Sampler(tmp_path / "my.c"), csaw.plan(karate)
    handles = [weakref.ref(sampler._handle), weakref.ref(plan._handle)]
    path = csaw.sample(plan, sampler, depth=3).walks().path
    del sampler, plan
    gc.collect()
    assert None not in [handle() for handle in handles]
    del path
    gc.collect()
    assert [handle() for handle in handles] == [None, None]
