# SPDX-License-Identifier: MIT
"""csaw: graph sampling and random walks, from small C callbacks, on CPUs and GPUs.

    import csaw
    graph = csaw.Graph.load("graph.txt", undirected=True)
    walks = csaw.node2vec_walk(graph, p=4, q=1, length=80, walks_per_seed=10, seed=7)   # [walks, 81] uint32

Equal graph, sampler, parameters, seeds and seed number give equal samples, on every plan. Errors are CsawError. Calls
release the GIL; a Graph may be shared between threads, a Plan is drawn from by one thread at a time.
"""
from . import datasets
from ._arrays import DeviceArray
from ._lib import CsawError, version
from ._structs import ALL, NO_EDGE, NONE
from .batch import Batch
from .corpus import WalkCorpus, walks_for_gensim
from .graph import Graph
from .loader import NeighborLoader
from .negatives import negatives
from .plan import Plan, plan
from .runs import NeighborSample, node2vec_walk, random_walk, sample, sample_neighbors
from .saint import SaintLoader
from .sampler import Parameter, Sampler, samplers
from .samples import Arcs, Block, Blocks, Samples, Subgraph, Walks
from .visits import Visits, visits

__version__ = version().split()[0]
__all__ = [
    "ALL",
    "Arcs",
    "Batch",
    "Block",
    "Blocks",
    "CsawError",
    "DeviceArray",
    "Graph",
    "NO_EDGE",
    "NONE",
    "NeighborLoader",
    "NeighborSample",
    "Parameter",
    "Plan",
    "SaintLoader",
    "Sampler",
    "Samples",
    "Subgraph",
    "Visits",
    "WalkCorpus",
    "Walks",
    "datasets",
    "negatives",
    "node2vec_walk",
    "plan",
    "random_walk",
    "sample",
    "sample_neighbors",
    "samplers",
    "version",
    "visits",
    "walks_for_gensim",
]


def __getattr__(name):  # csaw.torch imports PyTorch: at its first use
    if name == "torch":
        import importlib

        return importlib.import_module("csaw.torch")
    raise AttributeError(f"module 'csaw' has no attribute {name!r}")
