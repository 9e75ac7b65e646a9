#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MaxK against ReLU in full-batch training of GCN, GraphSAGE and GIN: time of an epoch, accuracy, convergence.

    CSAW_DATA=folder python examples/maxk_training.py --json maxk.json --plot plots
    python examples/maxk_training.py --data folder/gnn --graphs flickr --nets sage --k 16 64 --epochs 20 --seeds 0

As Figures 9 and 10 and Table 5 of Peng et al., MaxK-GNN, ASPLOS 2024, on other graphs. A layer is
z = LayerNorm(h W + b), its nonlinearity s = ReLU(z) or MaxK(z), aggregation (gcn: A' s; sage: s U + mean(s) V; gin: an
MLP of (1 + eps) s + sum(s)) and dropout; LayerNorm and a linear layer give the classes. So nets differ in the
nonlinearity alone, and MaxK's aggregation reads k numbers a vertex (csaw.torch.maxk_spmm) where ReLU's reads all
(csaw.torch.spmm).

On a GPU steps are recorded as a CUDA graph, for training and for times alike, unless --launched. Printed, and written
as JSON: accuracy over --seeds, time of a step (forward, backward, Adam), how many times as fast as
ReLU's, and the limit of that by Amdahl's law, 1 / (1 - p): p is the share of ReLU's step that its aggregations, forward
and backward, take when they run alone. At a rate of 0.003 GraphSAGE and GIN stay at the largest class of amazon_cs for
hundreds of epochs (docs/measured/2026-11-23-gpu-10.md); at 0.001 they leave it. Splits: node_classification.py. Needs PyTorch, SciPy and, for plots, matplotlib.
"""
import argparse
from typing import Any, Dict, List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import csaw.torch
from node_classification import (Data, FeatureLinear, common_options, describe, fit, heading, load, make_step,
                                 milliseconds, parse, recorded)
from reports import axes_for, percent, save, spread, write_json

NETS = ("gcn", "sage", "gin")


class Aggregation:
    """What a net multiplies by: matrix, weights, and how sums are reduced."""

    def __init__(self, kind: str, data: Data):
        self.a, self.weight = csaw.torch.gcn_norm(data.a) if kind == "gcn" else (data.a, None)
        self.reduce = "mean" if kind == "sage" else "sum"

    def __call__(self, s: Tensor) -> Tensor:
        return csaw.torch.spmm(self.a, s, self.weight, self.reduce)

    def of_largest(self, z: Tensor, k: int):
        """(A MaxK(z), MaxK(z) dense)"""
        values, index = csaw.torch.maxk(z, k)
        y = csaw.torch.maxk_spmm(self.a, values, index, z.shape[1], self.weight, self.reduce)
        return y, csaw.torch.maxk_dense(values, index, z.shape[1])


class Combine(nn.Module):
    """What a layer makes of its aggregation y and the vertex's own s; no bias, since LayerNorm follows."""

    def __init__(self, kind: str, hidden: int):
        super().__init__()
        self.kind = kind
        if kind == "sage":
            self.near, self.own = (nn.Linear(hidden, hidden, bias=False) for _ in range(2))
        elif kind == "gin":
            self.eps = nn.Parameter(torch.zeros(1))
            self.mlp = nn.Sequential(nn.Linear(hidden, hidden, bias=False), nn.ReLU(),
                                     nn.Linear(hidden, hidden, bias=False))

    def forward(self, y: Tensor, s: Tensor) -> Tensor:
        if self.kind == "sage":
            return self.near(y) + self.own(s)
        return self.mlp((1 + self.eps) * s + y) if self.kind == "gin" else y


class Net(nn.Module):

    def __init__(self, kind: str, data: Data, k: Optional[int], options: argparse.Namespace):
        super().__init__()
        hidden, layers = options.hidden, options.layers
        self.k, self.dropout = k, options.dropout
        self.first, self.bias = FeatureLinear(data.x.shape[1], hidden), nn.Parameter(torch.zeros(hidden))
        self.linear = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(layers - 1)])
        self.combine = nn.ModuleList([Combine(kind, hidden) for _ in range(layers)])
        self.norm = nn.ModuleList([nn.LayerNorm(hidden) for _ in range(layers + 1)])
        self.out = nn.Linear(hidden, data.classes)

    def forward(self, x: csaw.torch.Matrix, aggregate: Aggregation) -> Tensor:
        z = self.first(x) + self.bias
        for layer, combine in enumerate(self.combine):
            z = self.norm[layer](z)
            if self.k is None:
                s = z.relu()
                y = aggregate(s)
            else:
                y, s = aggregate.of_largest(z, self.k)
            h = F.dropout(combine(y, s), self.dropout, self.training)
            z = self.linear[layer](h) if layer < len(self.linear) else h
        return self.out(self.norm[-1](z))


def train(kind: str, data: Data, aggregate: Aggregation, k: Optional[int], seed: int, options: argparse.Namespace):
    torch.manual_seed(seed)
    net, parts = Net(kind, data, k, options).to(options.device), data.split(seed)

    def forward() -> Tensor:
        return net(data.x, aggregate)

    step = make_step(forward, net, data, parts, options)
    return fit(recorded(step, options.device, options), forward, net, data, parts, options), step


def aggregations_ms(data: Data, aggregate: Aggregation, options: argparse.Namespace) -> float:
    """Forward and backward of all aggregations of a ReLU net's step, alone."""
    s = torch.randn(data.a.shape[0], options.hidden, device=options.device).relu().requires_grad_()
    dy = torch.randn_like(s)
    return milliseconds(lambda: [torch.autograd.grad(aggregate(s), s, dy) for _ in range(options.layers)],
                        options.device, options)


def run_net(kind: str, data: Data, options: argparse.Namespace) -> Dict[str, Any]:
    aggregate = Aggregation(kind, data)
    ways: List[Dict[str, Any]] = []
    for k in (None, *options.k):
        results = []
        for seed in options.seeds:
            result, step = train(kind, data, aggregate, k, seed, options)
            results.append(result)
        curve = [{"epoch": looks[0][0], "loss": spread([look[1] for look in looks])["mean"],
                  "valid": spread([look[2] for look in looks])["mean"],
                  "test": spread([look[3] for look in looks])["mean"]} for looks in zip(*(r.curve for r in results))]
        epoch_ms = milliseconds(step, options.device, options)
        ways.append({"k": k, "test": spread([r.test for r in results]), "epoch_ms": epoch_ms,
                     "times_as_fast": (ways[0]["epoch_ms"] if ways else epoch_ms) / epoch_ms, "curve": curve})
    share = min(aggregations_ms(data, aggregate, options) / ways[0]["epoch_ms"], 1.0)
    return {"net": kind, "aggregation_share": share, "limit": 1 / (1 - share) if share < 1 else None, "ways": ways}


# ---- what is shown --------------------------------------------------------------------------------------------------

def show(graph: Dict[str, Any], net: Dict[str, Any]) -> None:
    limit = "none" if net["limit"] is None else f"{net['limit']:.2f}"
    print(f"{graph['graph']}, {net['net']}: aggregation is {100 * net['aggregation_share']:.0f}% of ReLU's epoch, "
          f"limit of the speed-up {limit}")
    print(f"  {'':8}{'test accuracy, %':>18}{'ms an epoch':>14}{'times as fast':>15}")
    for way in net["ways"]:
        name = "ReLU" if way["k"] is None else f"k={way['k']}"
        print(f"  {name:8}{percent(way['test']):>18}{way['epoch_ms']:14.3f}{way['times_as_fast']:15.2f}")


def draw_sweep(graphs: List[Dict[str, Any]], place: int, path) -> None:
    """Accuracy and speed by k, beside ReLU's accuracy and the limit of the speed (Figure 9)."""
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        net = graph["nets"][place]
        relu, *swept = net["ways"]
        ks = [way["k"] for way in swept]
        axis.errorbar(ks, [100 * way["test"]["mean"] for way in swept],
                      [100 * way["test"]["deviation"] for way in swept], color="tab:blue", marker=".", capsize=2)
        axis.axhline(100 * relu["test"]["mean"], color="tab:blue", linestyle="--", linewidth=1)
        axis.set_xscale("log", base=2)
        axis.set(title=f"{graph['graph']}, {net['net']}", xlabel="k")
        axis.set_ylabel("test accuracy, % (dashed: ReLU)", color="tab:blue")
        speed = axis.twinx()
        speed.plot(ks, [way["times_as_fast"] for way in swept], color="tab:red", marker=".")
        if net["limit"] is not None:
            speed.axhline(net["limit"], color="tab:red", linestyle="--", linewidth=1)
        speed.set_ylabel("times as fast as ReLU (dashed: limit)", color="tab:red")
    save(figure, path)


def draw_curves(graphs: List[Dict[str, Any]], place: int, path) -> None:
    """Test accuracy by epoch (Figure 10)."""
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        net = graph["nets"][place]
        for way in net["ways"]:
            relu = way["k"] is None
            axis.plot([look["epoch"] for look in way["curve"]], [100 * look["test"] for look in way["curve"]],
                      color="black" if relu else None, linewidth=1.6 if relu else 0.9,
                      label="ReLU" if relu else f"k={way['k']}")
        axis.set(title=f"{graph['graph']}, {net['net']}", xlabel="epoch", ylabel="test accuracy, %")
    axes[-1].legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    common_options(parser, ["coauthor_phy", "amazon_cs", "flickr"], epochs=400, hidden=256, dropout=0.2,
                   rate=0.001, weight_decay=0.0)
    parser.add_argument("--nets", nargs="+", default=list(NETS), choices=NETS)
    parser.add_argument("--layers", type=int, default=3, help="default %(default)s")
    parser.add_argument("--k", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64, 96, 128, 192])
    options = parse(parser)
    if max(options.k) > options.hidden or min(options.k) < 1:
        parser.error(f"--k is {' '.join(map(str, options.k))}, but of {options.hidden} columns (--hidden) 1 to "
                     f"{options.hidden} can be kept")
    record = {**heading(options), "graphs": []}
    for name in options.graphs:
        data = load(name, options.data, options.device)
        graph: Dict[str, Any] = {**describe(data), "nets": []}
        record["graphs"].append(graph)
        for kind in options.nets:
            graph["nets"].append(run_net(kind, data, options))
            show(graph, graph["nets"][-1])
            write_json(options.json, record)
    if options.plot:
        for place, kind in enumerate(options.nets):
            draw_sweep(record["graphs"], place, options.plot / f"maxk-{kind}.svg")
            draw_curves(record["graphs"], place, options.plot / f"maxk-convergence-{kind}.svg")


if __name__ == "__main__":
    main()
