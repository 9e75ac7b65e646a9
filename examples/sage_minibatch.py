#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GraphSAGE of two layers on sampled neighbours, on GraphSAINT's subgraphs and on the full graph: accuracy, and time of
an epoch by phase.

    python examples/sage_minibatch.py --graphs generated                             a planted partition, made here
    CSAW_DATA=folder python examples/sage_minibatch.py --json sage.json --plot plots

Hamilton, Ying, Leskovec, "Inductive representation learning on large graphs", NIPS 2017, mean aggregator: the first
layer multiplies the features, which are sparse, before it takes means. A subgraph of GraphSAINT (Zeng et al., ICLR
2020) is induced by what its sampler draws, about --subgraph vertices; its arcs have the weights of the full graph's
means, its vertices their loss, both divided by how often subgraphs have them.

Phases: sample, a batch's vertices and edges; gather, its rows of features; train, forward, backward and Adam. Nothing
is made ahead, so that each has its own time. Splits: node_classification.py. Needs PyTorch, SciPy and, for plots,
matplotlib.
"""
import argparse
import os
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import csaw
import csaw.torch
from node_classification import Data, FeatureLinear, Parts, accuracy, data_of, describe, heading, load, parse
from reports import axes_for, percent, save, spread, told, write_json

PHASES = ("sample", "gather", "train")
SAINT = ("node", "edge", "walk", "frontier")


def planted_partition(device: torch.device, seed=0, n=4000, classes=8, degree=12, inside=0.6, words=64) -> Data:
    """Vertices of `classes` kinds; `inside` of their edges stay within their kind, and their features are noisy."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    order = np.argsort(y, kind="stable")
    start = np.searchsorted(y[order], np.arange(classes + 1))
    src = rng.integers(0, n, n * degree // 2)
    own = order[rng.integers(start[y[src]], start[y[src] + 1])]
    dst = np.where(rng.random(len(src)) < inside, own, rng.integers(0, n, len(src)))
    x = 0.25 * rng.standard_normal((classes, words))[y] + rng.standard_normal((n, words))
    return data_of("generated", np.stack([src, dst]), x, y, device)


def rows_of(x: csaw.torch.Matrix, vertex: Tensor) -> csaw.torch.Matrix:
    """x[vertex], of sparse rows."""
    begin = x.rowptr[vertex]
    count = x.rowptr[vertex + 1] - begin
    rowptr = F.pad(count.cumsum(0), (1, 0))
    place = torch.repeat_interleave(begin - rowptr[:-1], count)
    place += torch.arange(len(place), device=place.device)
    return csaw.torch.Matrix(rowptr, x.col[place], x.weight[place], x.shape[1], prepare=False)


class Sage(nn.Module):

    def __init__(self, data: Data, hidden: int, dropout: float):
        super().__init__()
        self.near, self.own = (FeatureLinear(data.x.shape[1], hidden) for _ in range(2))
        self.bias, self.dropout = nn.Parameter(torch.zeros(hidden)), dropout
        self.second = csaw.torch.SAGEConv(hidden, data.classes)

    def forward(self, x: csaw.torch.Matrix, layers: List[csaw.torch.Matrix], weight: Optional[Tensor] = None) -> Tensor:
        """layers: the matrix of each, outer hop first. weight: [edges], of sums in the place of means."""
        first, second = layers
        reduce = "mean" if weight is None else "sum"
        h = csaw.torch.spmm(first, self.near(x), weight, reduce) + self.own(x)[:first.shape[0]] + self.bias
        h = F.dropout(h.relu(), self.dropout, self.training)
        near = csaw.torch.spmm(second, h, weight, reduce)
        return self.second.lin_l(near) + self.second.lin_r(h[:second.shape[0]])


class Way(NamedTuple):
    """How a net is trained."""

    epochs: int
    batches: Iterable[Any]  # of an epoch, each time it is iterated
    gather: Callable[[Any], csaw.torch.Matrix]
    loss: Callable[[nn.Module, Any, csaw.torch.Matrix], Tensor]


def on_neighbors(data: Data, parts: Parts, seed: int, options: argparse.Namespace) -> Way:
    """Each vertex that trains is once a seed."""
    graph = csaw.Graph.from_edge_index(torch.stack([data.a.col.long(), data.a.row()]).cpu(), len(data.y))
    on_gpu = dict(device=str(options.device), in_flight=1) if options.device.type == "cuda" else {}
    loader = csaw.NeighborLoader((graph, {"y": data.y}), options.fanout, parts[0], batch_size=options.batch_size,
                                 shuffle=True, seed=seed, **on_gpu)

    def loss(net: nn.Module, batch: Any, x: csaw.torch.Matrix) -> Tensor:
        return F.cross_entropy(net(x, csaw.torch.layers(batch)), batch.y[:batch.batch_size])

    return Way(options.epochs, loader, lambda batch: rows_of(data.x, batch.n_id), loss)


def on_subgraphs(data: Data, parts: Parts, seed: int, options: argparse.Namespace, kind: str) -> Way:
    """The subgraphs of an epoch have about as many vertices as the graph; of a small graph there are more epochs, for
    as many steps as the full graph has."""
    n, size = len(data.y), options.subgraph
    steps = max(1, n // size)
    epochs = options.saint_epochs or max(options.epochs, -(-options.full_epochs // steps))
    budget, depth = {"node": (size, 0), "edge": (-(-size // 2), 0), "walk": (-(-size // 3), 2),
                     "frontier": (-(-size // 10), size - size // 10)}[kind]
    trains = torch.zeros(n)
    trains[parts[0].cpu()] = 1
    edge_index = torch.stack([data.a.col.long(), data.a.row()]).cpu()
    loader = csaw.SaintLoader(dict(edge_index=edge_index, y=data.y.cpu(), trains=trains), kind, budget, depth,
                              steps, options.coverage, seed=seed)
    degree, share = data.a.rowptr.diff(), n / len(parts[0])

    def loss(net: nn.Module, batch: Any, x: csaw.torch.Matrix) -> Tensor:
        a = csaw.torch.matrix(batch.edge_index, batch.num_nodes)
        weight = batch.edge_norm / degree[batch.n_id[batch.edge_index[1]]]
        each = F.cross_entropy(net(x, [a, a], weight), batch.y, reduction="none")
        return (batch.node_norm * batch.trains * each).sum() * share

    class Moved:  # GraphSAINT's subgraphs are drawn on the host

        def __iter__(self):
            return (batch.to(options.device) for batch in loader)

    return Way(epochs, Moved(), lambda batch: rows_of(data.x, batch.n_id), loss)


def on_all(data: Data, parts: Parts, seed: int, options: argparse.Namespace) -> Way:
    wanted = data.y[parts[0]]
    return Way(options.full_epochs, [None], lambda _: data.x,
               lambda net, _, x: F.cross_entropy(net(x, [data.a, data.a])[parts[0]], wanted))


def timed(function: Callable[[], Any], device: torch.device) -> Tuple[Any, float]:
    begin = time.perf_counter()
    out = function()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return out, time.perf_counter() - begin


def train(data: Data, parts: Parts, way: Way, seed: int, options: argparse.Namespace) -> Dict[str, Any]:
    """Accuracy on the test vertices at the epoch that is best on those that choose; seconds of phases an epoch."""
    torch.manual_seed(seed)
    net = Sage(data, options.hidden, options.dropout).to(options.device)
    optimizer = torch.optim.Adam(net.parameters(), options.rate, weight_decay=options.weight_decay)

    def step(batch: Any, x: csaw.torch.Matrix) -> None:
        loss = way.loss(net, batch, x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    seconds, curve = dict.fromkeys(PHASES, 0.0), []
    for epoch in told(range(1, way.epochs + 1), way.epochs, "epochs"):
        batches = iter(way.batches)
        net.train()
        while True:
            batch, spent = timed(lambda: next(batches, False), options.device)
            seconds["sample"] += spent
            if batch is False:
                break
            x, spent = timed(lambda: way.gather(batch), options.device)
            seconds["gather"] += spent
            seconds["train"] += timed(lambda: step(batch, x), options.device)[1]
        net.eval()
        with torch.no_grad():
            logits = net(data.x, [data.a, data.a])
        valid, test = (accuracy(logits, data.y, part) for part in parts[1:])
        curve.append({"epoch": epoch, "seconds": sum(seconds.values()), "valid": valid, "test": test})
    best = max(curve, key=lambda look: look["valid"])
    return {"test": best["test"], "curve": curve, **{name: spent / way.epochs for name, spent in seconds.items()}}


def run_graph(data: Data, options: argparse.Namespace) -> List[Dict[str, Any]]:
    ways = {"neighbours": on_neighbors,
            **{f"GraphSAINT, {kind}": lambda *given, kind=kind: on_subgraphs(*given, kind) for kind in options.saint},
            "full graph": on_all}
    rows = []
    for name, make in ways.items():
        results = []
        for seed in options.seeds:
            parts = data.split(seed)
            way = make(data, parts, seed, options)
            results.append(train(data, parts, way, seed, options))
        rows.append({"training": name, "epochs": way.epochs, "test": spread([r["test"] for r in results]),
                     "seconds": {phase: spread([r[phase] for r in results])["mean"] for phase in PHASES},
                     "curve": results[0]["curve"]})
        show(rows[-1])
    return rows


# ---- what is shown --------------------------------------------------------------------------------------------------

def show(row: Optional[Dict[str, Any]] = None) -> None:
    """A line of the table; None: its heading."""
    if row is None:
        print(f"  {'':22}{'epochs':>7}{'test accuracy, %':>18}" + "".join(f"{f'{p}, s/epoch':>16}" for p in PHASES))
        return
    print(f"  {row['training']:22}{row['epochs']:7}{percent(row['test']):>18}" +
          "".join(f"{row['seconds'][phase]:16.3f}" for phase in PHASES), flush=True)


def draw_accuracy(graphs: List[Dict[str, Any]], path: Path) -> None:
    """Test accuracy by the time that training has taken, of the first seed."""
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        for row in graph["ways"]:
            axis.plot([look["seconds"] for look in row["curve"]], [100 * look["test"] for look in row["curve"]],
                      marker=".", markersize=3, linewidth=0.9, label=row["training"])
        axis.set(title=graph["graph"], xlabel="seconds of training", ylabel="test accuracy, %", xscale="log")
    axes[-1].legend(fontsize=7)
    save(figure, path)


def draw_phases(graphs: List[Dict[str, Any]], path: Path) -> None:
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        names, left = [row["training"] for row in graph["ways"]], np.zeros(len(graph["ways"]))
        for phase in PHASES:
            width = np.array([row["seconds"][phase] for row in graph["ways"]])
            axis.barh(names, width, left=left, label=phase)
            left += width
        axis.invert_yaxis()
        axis.set(title=graph["graph"], xlabel="seconds an epoch")
    axes[-1].legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    default = os.environ.get("CSAW_DATA")
    parser.add_argument("--data", type=Path, default=Path(default, "gnn") if default else None,
                        help="folder of the data sets; default $CSAW_DATA/gnn")
    parser.add_argument("--graphs", nargs="+", default=["coauthor_phy", "amazon_cs", "flickr"], metavar="NAME",
                        help="default %(default)s; generated: made by the program, without data")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default %(default)s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="a split and a training each")
    parser.add_argument("--epochs", type=int, default=15, help="on neighbours, and on subgraphs at least; default "
                        "%(default)s")
    parser.add_argument("--full-epochs", type=int, default=100, help="on the full graph, one step each; default "
                        "%(default)s")
    parser.add_argument("--saint-epochs", type=int, help="on subgraphs of GraphSAINT; default: --epochs, or as many as "
                        "have --full-epochs steps")
    parser.add_argument("--hidden", type=int, default=64, help="default %(default)s")
    parser.add_argument("--dropout", type=float, default=0.5, help="default %(default)s")
    parser.add_argument("--rate", type=float, default=0.01, help="of Adam; default %(default)s")
    parser.add_argument("--weight-decay", type=float, default=1e-4, help="default %(default)s")
    parser.add_argument("--batch-size", type=int, default=512, help="seeds of a batch; default %(default)s")
    parser.add_argument("--fanout", type=int, nargs=2, default=[10, 10], help="neighbours of a vertex at each hop")
    parser.add_argument("--saint", nargs="*", choices=SAINT, default=list(SAINT), help="GraphSAINT's samplers; default "
                        "all")
    parser.add_argument("--subgraph", type=int, default=3000, help="vertices that a subgraph of GraphSAINT has about; "
                        "default %(default)s")
    parser.add_argument("--coverage", type=float, default=50, help="times that a vertex is in the subgraphs that "
                        "GraphSAINT's coefficients are counted in; default %(default)s")
    options = parse(parser)
    record: Dict[str, Any] = {**heading(options), "graphs": []}
    for name in options.graphs:
        data = planted_partition(options.device) if name == "generated" else load(name, options.data, options.device)
        print(f"{name}: {len(data.y)} vertices, {data.a.num_edges} arcs, {data.x.shape[1]} features")
        show()
        record["graphs"].append({**describe(data), "ways": run_graph(data, options)})
        write_json(options.json, record)
    if options.plot:
        draw_accuracy(record["graphs"], options.plot / "sage-accuracy.svg")
        draw_phases(record["graphs"], options.plot / "sage-phases.svg")


if __name__ == "__main__":
    main()
