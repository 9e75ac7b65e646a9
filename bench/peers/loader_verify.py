# SPDX-License-Identifier: MIT
"""bench/peers/loader_verify.py - what every contender of loader_peers.py has to have right before it is timed."""
import numpy as np
import torch
from loader_adapters import by_layer

VERIFIED = 3  # batches of each contender


class Wrong(Exception):
    """A contender's result is not what it should be."""


# ---- verification, the same for all ----


class Verifier:
    def __init__(self, work):
        self.work, n = work, work.graph.num_vertices
        self.degree = np.diff(work.rowptr)
        self.key = np.repeat(np.arange(n), self.degree) * n + work.col  # ascends: rows do
        if (np.diff(self.key) == 0).any():
            raise Wrong("the graph has an edge twice; load it without keep_duplicates")

    def batch(self, batch, number, device):
        """Raises Wrong, or returns (vertices, edges)."""
        n_id, (sender, receiver) = batch.n_id.cpu().numpy(), batch.edge_index.cpu().numpy()
        size, fanout = self.work.args.batch, self.work.fanout
        seeds = self.work.seeds[number * size:(number + 1) * size].numpy()
        if batch.batch_size != len(seeds) or not np.array_equal(n_id[:len(seeds)], seeds):
            raise Wrong("a batch does not begin with its seeds")
        if len(np.unique(n_id)) != len(n_id):
            raise Wrong("a vertex twice in n_id")
        key = n_id[receiver] * self.work.graph.num_vertices + n_id[sender]
        place = np.searchsorted(self.key, key)
        if (place == len(self.key)).any() or (self.key[place] != key).any():
            raise Wrong("an edge that the graph does not have")
        if len(np.unique(key)) != len(key):
            raise Wrong("an edge twice")
        if batch.x.device != torch.device(device) or not torch.equal(batch.x.cpu(), self.work.x[n_id]):
            raise Wrong("features are not those of n_id")
        hop = np.full(len(n_id), len(fanout))
        hop[:len(seeds)] = 0
        for d in range(len(fanout)):
            reached = sender[hop[receiver] == d]
            hop[reached] = np.minimum(hop[reached], d + 1)
        if (np.diff(hop[receiver]) < 0).any():
            raise Wrong("edges that are not hop by hop")
        want = np.minimum(np.append(fanout, 0)[hop], self.degree[n_id])
        if not np.array_equal(np.bincount(receiver, minlength=len(n_id)), want):
            raise Wrong("a vertex with more or fewer edges than min(fanout, degree)")
        for d, (nodes, edges) in enumerate(zip(batch.num_sampled_nodes, [*batch.num_sampled_edges, 0])):
            if int(nodes) != (hop == d).sum() or int(edges) != (hop[receiver] == d).sum():
                raise Wrong("counts by hop that are not the batch's")
        return len(n_id), len(sender)

    def contender(self, who):
        """(vertices, edges) of a batch, on average."""
        sizes = []
        for number, batch in enumerate(who.epoch()):
            if number < VERIFIED:
                sizes.append(self.batch(batch, number, who.device))
                if not torch.equal(who.gather(batch.n_id).cpu(), self.work.x[batch.n_id.cpu()]):
                    raise Wrong("rows gathered are not those of n_id")
        if number + 1 != self.work.batches:
            raise Wrong(f"{number + 1} batches instead of {self.work.batches}")
        return np.mean(sizes, 0).tolist()


def near(got, exact, what):
    """Normwise, to 1e-5 of float64: sums of up to 25 products, in float32."""
    error = float((got.double() - exact).norm() / exact.norm().clamp_(min=1e-30))
    if not error < 1e-5:
        raise Wrong(f"{what} is off by {error:.1e}")


def exact_mean(batch):
    """[rows, cols] float64, edge by edge."""
    rows, _, edges = by_layer(batch)[0]
    sender, receiver = batch.edge_index[:, :edges]
    total = torch.zeros(rows, batch.x.shape[1], dtype=torch.float64, device=batch.x.device)
    total.index_add_(0, receiver, batch.x.double()[sender])
    return total / torch.bincount(receiver, minlength=rows).clamp(min=1)[:, None]
