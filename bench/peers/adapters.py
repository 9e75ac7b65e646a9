# SPDX-License-Identifier: MIT
"""bench/peers/adapters.py - the graph, and every peer behind one face, for neighbor_peers.py.

A peer has JOBS, (law, weights, what) as the head of neighbor_peers.py explains; run(job, batch[, frontier]), which is
timed and returns the peer's own result; frontier(job, batch), the vertices of hop 2 for jobs that are told them;
ends(job, batch, result), the arcs [(expanded, picked)] of every hop in vertices of the graph, to verify; batch(array),
the peer's own kind of array. REPEATS: a vertex may pick an arc twice. WAYS: the ways it can use two threads.
"""
import importlib.metadata
import importlib.util
import os
import pathlib
import struct
import sys

import numpy as np

FANOUT = (15, 10)
WAYS = ("inside", "threads", "processes")


# ---- the graph and the seeds ----


class Graph:
    def __init__(self, path):
        if str(path).endswith(".npz"):
            with np.load(path) as z:
                self.rowptr, self.col = z["indptr"].astype(np.int64), z["indices"].astype(np.int64)
                self.weight = z["data"].astype(np.float32)
        else:
            self.read_csaw(path)
        self.vertices, self.arcs = len(self.rowptr) - 1, len(self.col)

    def read_csaw(self, path):
        """docs/csaw_file.md: sections 1, 2, 3 are row offsets, destinations, weights."""
        with open(path, "rb") as file:
            head = file.read(4096)
        if head[:8] != b"\x89CSAW\r\n\x1a":
            sys.exit(f"neighbor_peers.py: {path} is neither a .csaw file nor .npz; make one with csaw generate")
        section = {}
        for i in range(struct.unpack_from("<Q", head, 64)[0]):
            kind, size, begin, count, _ = struct.unpack_from("<IIQQQ", head, 72 + 32 * i)
            section[kind] = (begin, count // size)
        if 3 not in section:
            sys.exit(f"neighbor_peers.py: {path} has no weights; make it with csaw generate --weighted")

        def read(kind, dtype):
            return np.fromfile(path, dtype=dtype, offset=section[kind][0], count=section[kind][1])

        self.rowptr, self.col, self.weight = (read(1, "<u8").astype(np.int64), read(2, "<u4").astype(np.int64),
                                              read(3, "<f4"))

    def batches(self, seeds, size):
        """The seeds of bench/samples.c."""
        every = (np.arange(seeds, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(self.vertices)).astype(np.int64)
        return [every[i:i + size] for i in range(0, seeds, size)]


# ---- the peers. run(job, batch): one batch's result; ends(job, batch, result): [(src, dst) of every hop] ----


def torch_of(array):
    import torch
    return torch.from_numpy(array)


def version_of(package):
    return importlib.metadata.version(package)


def compiled_part(package, name):
    """Samplers are loaded without the packages around them, which want others that sampling does not need."""
    spec = importlib.util.find_spec(package)
    found = list(pathlib.Path(spec.submodule_search_locations[0]).glob(name + "*.so")) if spec else []
    if not found:
        raise ImportError(f"no module {package} with {name}")
    return found[0]


def load_part(package, name):
    spec = importlib.util.spec_from_file_location(name, compiled_part(package, name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Graphbolt:
    JOBS = [(law, weights, what) for weights in ("uniform", "biased")
            for law, what in (("neighbor", "given"), ("neighbor", "arcs"), ("again", "blocks"))]

    def __init__(self, graph):
        os.environ.setdefault("DGLBACKEND", "pytorch")
        import dgl
        import dgl.graphbolt
        import torch
        self.gb, self.torch = dgl.graphbolt, torch
        self.version = f"dgl.graphbolt {dgl.__version__}, torch {torch.__version__}"
        self.graph = self.gb.fused_csc_sampling_graph(torch_of(graph.rowptr), torch_of(graph.col),
                                                      edge_attributes={"w": torch_of(graph.weight)})
        self.fanout = [torch.tensor([k]) for k in FANOUT]
        self.none = torch.empty(0, dtype=torch.int64)

    def hop(self, job, vertices, depth):
        return self.graph.sample_neighbors(vertices, self.fanout[depth], False,
                                           "w" if job[1] == "biased" else None).sampled_csc

    def distinct(self, vertices):
        return self.torch.ops.graphbolt.unique_and_compact(vertices, self.none, self.none)[0]

    def frontier(self, job, batch):
        return self.distinct(self.hop(job, batch, 0).indices)

    def run(self, job, batch, frontier=None):
        if job[2] == "blocks":
            layers = []
            for depth in range(2):
                sampled = self.hop(job, batch, depth)
                vertices, compact = self.gb.unique_and_compact_csc_formats(sampled, batch)
                layers.append((vertices, compact))
                batch = vertices
            return layers
        first = self.hop(job, batch, 0)
        if frontier is None:
            frontier = self.distinct(first.indices)
        return first, frontier, self.hop(job, frontier, 1)

    def ends(self, job, batch, result):
        if job[2] == "blocks":
            return [(v.numpy()[np.repeat(np.arange(len(c.indptr) - 1), np.diff(c.indptr.numpy()))],
                     v.numpy()[c.indices.numpy()]) for v, c in result]
        first, frontier, second = result
        return [(np.repeat(rows.numpy(), np.diff(s.indptr.numpy())), s.indices.numpy())
                for rows, s in ((batch, first), (frontier, second))]

    def batch(self, array):
        return torch_of(array)


class Dgl:
    JOBS = Graphbolt.JOBS

    def __init__(self, graph):
        os.environ.setdefault("DGLBACKEND", "pytorch")
        import dgl
        import torch
        self.dgl, self.torch = dgl, torch
        self.version = f"dgl {dgl.__version__}, torch {torch.__version__}"
        arrays = torch_of(graph.rowptr), torch_of(graph.col), torch.empty(0, dtype=torch.int64)
        self.graph = dgl.graph(("csc", arrays), num_nodes=graph.vertices).formats("csc")
        self.graph.edata["w"] = torch_of(graph.weight)
        self.sampler = {prob: dgl.dataloading.NeighborSampler(list(reversed(FANOUT)), prob=prob)
                        for prob in (None, "w")}

    def hop(self, job, vertices, depth):
        prob = "w" if job[1] == "biased" else None
        return self.dgl.sampling.sample_neighbors(self.graph, vertices, FANOUT[depth], prob=prob)

    def frontier(self, job, batch):
        return self.torch.unique(self.hop(job, batch, 0).edges()[0])

    def run(self, job, batch, frontier=None):
        if job[2] == "blocks":
            return self.sampler["w" if job[1] == "biased" else None].sample_blocks(self.graph, batch)
        first = self.hop(job, batch, 0)
        if frontier is None:
            frontier = self.torch.unique(first.edges()[0])
        return first, self.hop(job, frontier, 1)

    def ends(self, job, batch, result):
        """Messages run from the vertex picked to the one expanded, so DGL's dst is csaw's src."""
        if job[2] == "blocks":
            found = []
            for block in reversed(result[2]):
                picked, expanded = block.edges()
                rows, columns = block.dstdata[self.dgl.NID], block.srcdata[self.dgl.NID]
                found.append((rows[expanded].numpy(), columns[picked].numpy()))
            return found
        return [(hop.edges()[1].numpy(), hop.edges()[0].numpy()) for hop in result]

    def batch(self, array):
        return torch_of(array)


class TorchSparse:
    JOBS = [("once", "uniform", "blocks"), ("again", "uniform", "blocks")]

    def __init__(self, graph):
        import torch
        folder = compiled_part("torch_sparse", "_neighbor_sample_cpu").parent
        for part in ("_neighbor_sample_cpu", "_sample_cpu"):
            torch.ops.load_library(str(next(folder.glob(part + "*.so"))))
        self.ops = torch.ops.torch_sparse
        self.version = f"torch-sparse {version_of('torch-sparse')}, torch {torch.__version__}"
        self.rowptr, self.col = torch_of(graph.rowptr), torch_of(graph.col)

    def run(self, job, batch):
        if job[0] == "once":
            return self.ops.neighbor_sample(self.rowptr, self.col, batch, list(FANOUT), False, True)
        layers = []
        for k in FANOUT:
            rowptr, col, vertices, edge = self.ops.sample_adj(self.rowptr, self.col, batch, k, False)
            layers.append((rowptr, col, vertices, edge))
            batch = vertices
        return layers

    def ends(self, job, batch, result):
        if job[0] == "once":  # arcs come hop by hop, those of the seeds first
            vertices, picked, expanded = (t.numpy() for t in result[:3])
            first = expanded < len(batch)
            return [(vertices[expanded[hop]], vertices[picked[hop]]) for hop in (first, ~first)]
        return [(np.repeat(v.numpy()[:len(r) - 1], np.diff(r.numpy())), v.numpy()[c.numpy()]) for r, c, v, _ in result]

    def batch(self, array):
        return torch_of(array)


class Graphlearn:
    REPEATS = True  # rows longer than the fanout are sampled with replacement
    JOBS = [("neighbor", weights, what) for weights in ("uniform", "biased") for what in ("given", "arcs")] + [
        ("once", weights, "blocks") for weights in ("uniform", "biased")]

    def __init__(self, graph):
        import torch
        self.torch = torch
        self.glt = load_part("graphlearn_torch", "py_graphlearn_torch")
        self.version = f"graphlearn-torch {version_of('graphlearn-torch')}, torch {torch.__version__}"
        self.arrays = [torch_of(graph.rowptr), torch_of(graph.col), torch.arange(graph.arcs), torch_of(graph.weight)]
        self.handle = self.glt.Graph()
        self.handle.init_cpu_from_csr(*self.arrays)
        self.sampler = {"uniform": self.glt.CPURandomSampler(self.handle),
                        "biased": self.glt.CPUWeightedSampler(self.handle)}

    def frontier(self, job, batch):
        return self.torch.unique(self.sampler[job[1]].sample(batch, FANOUT[0])[0])

    def run(self, job, batch, frontier=None):
        sampler = self.sampler[job[1]]
        if job[2] == "blocks":
            inducer = self.glt.CPUInducer(len(batch))
            rows = inducer.init_node(batch)
            hops, vertices = [], [rows]
            for k in FANOUT:
                picked, counts = sampler.sample(rows, k)
                fresh, expanded, places = inducer.induce_next(rows, picked, counts)
                hops.append((expanded, places))
                vertices.append(fresh)
                rows = fresh
            return self.torch.cat(vertices), hops
        first, counts = sampler.sample(batch, FANOUT[0])
        if frontier is None:
            frontier = self.torch.unique(first)
        return (batch, first, counts), (frontier, *sampler.sample(frontier, FANOUT[1]))

    def ends(self, job, batch, result):
        if job[2] == "blocks":
            vertices = result[0].numpy()
            return [(vertices[expanded.numpy()], vertices[picked.numpy()]) for expanded, picked in result[1]]
        return [(np.repeat(rows.numpy(), counts.numpy()), picked.numpy()) for rows, picked, counts in result]

    def batch(self, array):
        return torch_of(array)


class Kumo:
    WAYS = ("inside", "processes")  # it has no threads, and two Python threads crash it
    JOBS = [("single", "uniform", "blocks")]

    def __init__(self, graph):
        module = load_part("kumo_relational_engine", "relationallib")
        self.version = f"kumo-relational-engine {version_of('kumo-relational-engine')}"
        self.arc = "v__to__v"
        self.sampler = module.NeighborSampler(["v"], [("v", "to", "v")], {self.arc: graph.rowptr},
                                              {self.arc: graph.col}, {}, 1)

    def run(self, job, batch):
        return self.sampler.sample({self.arc: list(FANOUT)}, {}, "v", batch, np.full(len(batch), 2**62))

    def ends(self, job, batch, result):
        picked, expanded = (result[i][self.arc] for i in (0, 1))
        vertices, hops = result[2]["v"], result[5][self.arc]
        sample = result[3]["v"][expanded]
        return [(vertices[expanded[a:b]], vertices[picked[a:b]], sample[a:b])
                for a, b in ((0, hops[0]), (hops[0], hops[0] + hops[1]))]

    def batch(self, array):
        return array


PEERS = {"graphbolt": Graphbolt, "dgl": Dgl, "torch_sparse": TorchSparse, "graphlearn": Graphlearn, "kumo": Kumo}
