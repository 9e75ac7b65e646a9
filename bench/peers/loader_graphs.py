# SPDX-License-Identifier: MIT
"""bench/peers/loader_graphs.py - graphs by name or from files, for loader_peers.py.

  rmat     R-MAT of --scale and --edge-factor, seed 1
  reddit, products, arxiv
           as large as those data sets, made up by the recipe of bench/zipf.h with numbers of PyTorch's: both ends of an
           edge fall off as rank^-0.6, ranks are dealt to vertices at random, repeated edges merged
  a file   whatever csaw reads; an .npz with adj_matrix or adj_data, such as GraphData's flickr.npz, is one of
           csaw.datasets.attributed_npz(), which needs SciPy: its edges are taken, without loops and repeated ones, and
           none of its attributes
"""
import pathlib
import zipfile

import csaw
import numpy as np
import torch

SIZES = {"reddit": (232965, 114615892), "products": (2449029, 123718280), "arxiv": (169343, 1166243)}  # vertices, draws


def zipf(vertices, draws):
    order = torch.Generator().manual_seed(0)
    of_rank = torch.randperm(vertices, generator=order, dtype=torch.int32)
    ends = torch.empty(2, draws, dtype=torch.int32)
    for row in ends:
        u = torch.rand(draws, generator=order, dtype=torch.float64)
        rank = (u.square().mul_(u.sqrt_()).mul_(vertices)).long().clamp_(max=vertices - 1)
        torch.index_select(of_rank, 0, rank, out=row)
    return csaw.Graph.from_edge_index(ends.numpy(), vertices, keep_duplicates=False)


def is_attributed(path):
    if path.suffix != ".npz" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return bool({"adj_matrix.npy", "adj_data.npy"} & set(archive.namelist()))


def from_file(path, undirected):
    if not is_attributed(path):
        return csaw.Graph.load(path, undirected=undirected)
    data = csaw.datasets.attributed_npz(path)
    return csaw.Graph.from_edge_index(data.edge_index, data.num_nodes, undirected=undirected, keep_loops=False,
                                      keep_duplicates=False)


def graph_of(name, args):
    """(what the report calls it, csaw.Graph)."""
    if name == "rmat":
        graph = csaw.Graph.rmat(args.scale, args.edge_factor, seed=1)
        return f"R-MAT {args.scale}, edge factor {args.edge_factor}", graph
    if name in SIZES:
        return f"as large as {name}", zipf(*SIZES[name])
    path = pathlib.Path(name)
    return path.stem, from_file(path, args.undirected)
