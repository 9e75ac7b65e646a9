#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GraphSAGE of two layers on sampled neighbours, on GraphSAINT's subgraphs and on the full graph: accuracy and time.

    python sage_minibatch.py                                 a planted partition, generated
    CSAW_DATA=folder python sage_minibatch.py coauthor_phy   gnn/coauthor_phy.npz in that folder; so amazon_cs, flickr

60% of the vertices train, 20% choose the epoch, and 20% give the accuracy that is printed. A subgraph of GraphSAINT
(Zeng et al., ICLR 2020) is induced by what --saint draws; its arcs have the weights of the full graph's means, its
vertices their loss, both divided by how often subgraphs have them. Needs PyTorch and SciPy.
"""
import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

import csaw
import csaw.torch
from csaw.datasets.dataset import undirected


def planted_partition(seed, n=4000, classes=8, degree=12, inside=0.6, words=64):
    """Vertices of `classes` kinds; `inside` of their edges stay within their kind, and their features are noisy."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    order = np.argsort(y, kind="stable")
    start = np.searchsorted(y[order], np.arange(classes + 1))
    src = rng.integers(0, n, n * degree // 2)
    own = order[rng.integers(start[y[src]], start[y[src] + 1])]
    dst = np.where(rng.random(len(src)) < inside, own, rng.integers(0, n, len(src)))
    x = 0.25 * rng.standard_normal((classes, words))[y] + rng.standard_normal((n, words))
    return np.stack([src, dst]), x, y


def load(name, seed):
    """edge_index, x and y as tensors, both directions of each edge."""
    if name == "generated":
        edge_index, x, y = planted_partition(seed)
    else:
        if "CSAW_DATA" not in os.environ:
            raise SystemExit(
                f"{name}: CSAW_DATA names no folder of data sets; leave out the name for a generated graph")
        data = csaw.datasets.attributed_npz(Path(os.environ["CSAW_DATA"], "gnn", name + ".npz"))
        edge_index, x, y = data.edge_index, data.x, data.y
        x = x.toarray() if hasattr(x, "toarray") else x
    index = undirected(np.asarray(edge_index, np.int64), len(y))
    return torch.from_numpy(index), torch.from_numpy(np.asarray(x,
                                                                np.float32)), torch.from_numpy(np.asarray(y, np.int64))


class Sage(torch.nn.Module):

    def __init__(self, features, hidden, classes):
        super().__init__()
        self.first = csaw.torch.SAGEConv(features, hidden)
        self.second = csaw.torch.SAGEConv(hidden, classes)

    def forward(self, x, edges, weight=None):
        """weight: [edges], of sums in the place of means."""
        h = F.dropout(self.layer(self.first, x, edges, weight).relu(), 0.5, self.training)
        return self.layer(self.second, h, edges, weight)

    @staticmethod
    def layer(conv, x, edges, weight):
        if weight is None:
            return conv(x, edges)
        return conv.lin_l(csaw.torch.spmm(edges, x, weight)) + conv.lin_r(x)


def evaluate(model, x, y, a, masks):
    model.eval()
    with torch.no_grad():
        right = model(x, a).argmax(1) == y
    return [right[mask].float().mean().item() for mask in masks]


def of_blocks(data, masks, options):
    """(what gives the batches of an epoch, the loss of a batch): each training vertex is once a seed."""
    loader = csaw.NeighborLoader(data, options.fanout, masks[0], batch_size=options.batch_size, shuffle=True,
                                 seed=options.seed)

    def loss(model, batch):
        seeds = slice(batch.batch_size)
        block = csaw.torch.matrix(batch.edge_index, batch.num_nodes)  # once for both layers
        return F.cross_entropy(model(batch.x, block)[seeds], batch.y[seeds])

    return loader, loss


def of_subgraphs(data, masks, options):
    """An epoch has about as many vertices as the graph: of walks, which have three."""
    n, depth = len(data["y"]), {"node": 0, "edge": 0, "walk": 2, "frontier": options.saint_budget}[options.saint]
    loader = csaw.SaintLoader(dict(data, train=masks[0]), options.saint, options.saint_budget, depth,
                              max(1, n // (3 * options.saint_budget)), sample_coverage=50, seed=options.seed)
    degree = torch.bincount(data["edge_index"][1], minlength=n)

    def loss(model, batch):
        subgraph = csaw.torch.matrix(batch.edge_index, batch.num_nodes)
        weight = batch.edge_norm / degree[batch.n_id[batch.edge_index[1]]]
        each = F.cross_entropy(model(batch.x, subgraph, weight), batch.y, reduction="none")
        return (batch.node_norm * each)[batch.train].sum() * (n / masks[0].sum())

    return loader, loss


def of_all(data, masks, options):
    a = csaw.torch.matrix(data["edge_index"], len(data["y"]))
    return [None], lambda model, _: F.cross_entropy(model(data["x"], a)[masks[0]], data["y"][masks[0]])


def train(data, masks, options, epochs, how):
    """(accuracy on the test vertices at the best epoch by validation, seconds an epoch of drawing, and of training)."""
    torch.manual_seed(options.seed)
    x, y = data["x"], data["y"]
    model = Sage(x.shape[1], options.hidden, int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), 0.01, weight_decay=5e-4)
    a = csaw.torch.matrix(data["edge_index"], len(y))
    loader, loss_of = how(data, masks, options)
    best, drawing, training = (0.0, 0.0), 0.0, 0.0
    for _ in range(epochs):
        batches = iter(loader)
        model.train()
        while True:
            begin = time.perf_counter()
            batch = next(batches, False)
            drawn = time.perf_counter()
            drawing += drawn - begin
            if batch is False:
                break
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            training += time.perf_counter() - drawn
        _, validation, test = evaluate(model, x, y, a, masks)
        best = max(best, (validation, test))
    return best[1], drawing / epochs, training / epochs


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", nargs="?", default="generated", help="generated, or a data set of $CSAW_DATA/gnn")
    parser.add_argument("--epochs", type=int, default=15, help="on minibatches, and on subgraphs")
    parser.add_argument("--full-epochs", type=int, default=100, help="on the full graph, one step each")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--fanout", type=int, nargs="+", default=[10, 10])
    parser.add_argument("--saint", choices=("node", "edge", "walk", "frontier"), default="walk", help="what GraphSAINT "
                        "draws; walks have 2 steps, the frontier --saint-budget; default %(default)s")
    parser.add_argument("--saint-budget", type=int, default=500, help="vertices, arcs, roots or walkers of a subgraph")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    edge_index, x, y = load(options.data, options.seed)
    part = np.random.default_rng(options.seed).permutation(len(y)) / len(y)
    masks = [torch.from_numpy(m) for m in (part < 0.6, (part >= 0.6) & (part < 0.8), part >= 0.8)]
    print(
        f"{options.data}: {len(y)} vertices, {edge_index.shape[1]} arcs, {x.shape[1]} features"
    )
    print(f"{'training':12} {'epochs':>6} {'test accuracy':>14} {'draw s/epoch':>13} {'train s/epoch':>14}")
    data = dict(edge_index=edge_index, x=x, y=y)
    for name, how, epochs in (("minibatches", of_blocks, options.epochs),
                              ("GraphSAINT", of_subgraphs, options.epochs),
                              ("full graph", of_all, options.full_epochs)):
        accuracy, drawing, training = train(data, masks, options, epochs, how)
        print(f"{name:12} {epochs:6} {accuracy:14.4f} {drawing:13.3f} {training:14.3f}")


if __name__ == "__main__":
    main()
