# SPDX-License-Identifier: MIT
"""Skip-gram with negative sampling (Mikolov et al., NIPS 2013) over node2vec walks (Grover, Leskovec, KDD 2016).

embed() takes gensim where it is installed, and PyTorch otherwise. PyTorch's is the same objective in matrix products: a
context at distance o counts (window + 1 - o) / window, which is how often word2vec's random window reaches it, and the
negatives of a batch of walks are shared by its vertices, each counted so that a pair has `negative` of them on average.
Steps are those of word2vec, its rate times the gradient of every pair, but that those of a few walks are summed before
they are taken. Few, since a hub is in many of their pairs, whose steps add up.
"""
import argparse
import importlib.util

import numpy as np

import csaw
from reports import told


def add_options(parser: argparse.ArgumentParser) -> None:
    """Defaults are the paper's (section 4.1 and the authors' program)."""
    parser.add_argument("--dimensions", type=int, default=128, help="of a vertex's vector; default %(default)s")
    parser.add_argument("--num-walks", type=int, default=10, help="from each vertex; default %(default)s")
    parser.add_argument("--walk-length", type=int, default=80, help="steps; default %(default)s")
    parser.add_argument("--window", type=int, default=10, help="farthest context; default %(default)s")
    parser.add_argument("--negative", type=int, default=5, help="negatives a pair; default %(default)s")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the walks; default %(default)s")
    parser.add_argument("--rate", type=float, default=0.025, help="first of the learning rates, which fall to 0")
    parser.add_argument("--skip-gram", choices=("gensim", "torch"), help="default: gensim where it is installed")
    parser.add_argument("--device", default="cpu", help="of PyTorch's skip-gram; default %(default)s")


def resolve(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Chooses the package, or says what is missing."""
    wanted = [options.skip_gram] if options.skip_gram else ["gensim", "torch"]
    there = [name for name in wanted if importlib.util.find_spec(name)]
    if not there:
        parser.error(f"{' and '.join(wanted)} cannot be imported; pip install gensim, or PyTorch")
    options.skip_gram = there[0]
    if options.walk_length < 1 or options.window < 1:
        parser.error(f"--walk-length is {options.walk_length} and --window {options.window}; both begin at 1")


def embed(graph: csaw.Graph, p: float, q: float, options: argparse.Namespace) -> np.ndarray:
    """[vertices, dimensions] float32."""
    return (_by_gensim if options.skip_gram == "gensim" else _by_torch)(graph, p, q, options)


class _Told:
    """Sentences that are gone through several times, which says how many have been."""

    def __init__(self, sentences, total: int):
        self.sentences, self.total = sentences, total

    def __iter__(self):
        return told(self.sentences, self.total, "walks of this pass")


def _by_gensim(graph: csaw.Graph, p: float, q: float, options: argparse.Namespace) -> np.ndarray:
    from gensim.models import Word2Vec

    sentences = csaw.walks_for_gensim(graph, length=options.walk_length, walks_per_seed=options.num_walks,
                                      seed=options.seed, sampler=csaw.Sampler("node2vec", p=p, q=q))
    told_of = _Told(sentences, graph.num_vertices * options.num_walks)
    model = Word2Vec(told_of, vector_size=options.dimensions, window=options.window, min_count=0, sg=1,
                     negative=options.negative, epochs=options.epochs, alpha=options.rate, seed=options.seed,
                     workers=1)  # more would add in any order
    return model.wv[[str(v) for v in range(graph.num_vertices)]]


def _by_torch(graph: csaw.Graph, p: float, q: float, options: argparse.Namespace) -> np.ndarray:
    import torch
    from torch.nn.functional import softplus

    device, shared, batch = torch.device(options.device), 512, 16
    walks = csaw.node2vec_walk(graph, p, q, length=options.walk_length, walks_per_seed=options.num_walks,
                               seed=options.seed)
    count = np.bincount(walks[walks != csaw.NONE], minlength=graph.num_vertices)
    torch.manual_seed(options.seed)
    vertex, context = (torch.nn.Embedding(graph.num_vertices, options.dimensions, sparse=True, device=device)
                       for _ in range(2))
    torch.nn.init.uniform_(vertex.weight, -0.5 / options.dimensions, 0.5 / options.dimensions)
    torch.nn.init.zeros_(context.weight)
    optimizer = torch.optim.SGD([vertex.weight, context.weight], options.rate)
    steps = options.epochs * -(-len(walks) // batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1 / steps, steps)

    below = torch.from_numpy(np.cumsum(count**0.75)).to(device)  # negatives are drawn by count^0.75
    place = torch.arange(walks.shape[1], device=device)
    away = (place[:, None] - place).abs()
    band = ((options.window + 1 - away) / options.window).clamp(min=0) * (away > 0)  # [places, places]
    for _ in range(options.epochs):
        for part in told(torch.randperm(len(walks)).split(batch), -(-len(walks) // batch), "batches of this epoch"):
            walk = torch.from_numpy(walks[part.numpy()].astype(np.int64)).to(device)
            there = (walk != csaw.NONE).float()  # [walks, places]
            walk = walk.masked_fill(walk == csaw.NONE, 0)
            u, c = vertex(walk), context(walk)  # [walks, places, dimensions]
            pairs = band * there[:, :, None] * there[:, None, :]
            near = (pairs * softplus(-u @ c.mT)).sum()
            drawn = torch.rand(shared, dtype=below.dtype, device=device) * below[-1]
            negatives = context(torch.searchsorted(below, drawn, right=True).clamp(max=graph.num_vertices - 1))
            far = (pairs.sum(2, keepdim=True) * softplus(u @ negatives.T)).sum() * (options.negative / shared)
            optimizer.zero_grad()
            (near + far).backward()
            optimizer.step()
            schedule.step()
    return vertex.weight.detach().cpu().numpy()
