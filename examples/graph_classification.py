#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""GIN classifies molecules and proteins: many small graphs a step, all multiplied by one csaw.torch.batched_spmm.

    CSAW_DATA=folder python examples/graph_classification.py --json gin.json --plot plots
    python examples/graph_classification.py --data folder/molecules --name Tox21_p53 --epochs 20 --folds 3

The net is GIN-0 of Xu, Hu, Leskovec, Jegelka, "How powerful are graph neural networks?", ICLR 2019: h becomes
MLP(h + sum of the neighbours' h), with batch normalisation, and every layer's sums over a graph's vertices give scores
of the classes, which are added. A vertex begins as its label, one-hot. Folds are stratified, by --seed; Adam, rates
halved every 50 epochs.

Printed, and written as JSON: accuracy over the folds, of Tox21's sets the area under the ROC curve (ROC-AUC), since
few molecules are toxic. "best epoch" is that of the mean over the folds, which is how the paper chooses: it has seen
the graphs that it is counted on. "last epoch" has not. Published: the paper's Table 1 (GIN-0).

A set is NAME.txt or NAME.zip in GIN's text format, or a folder or zip in TU's. Needs PyTorch and, for plots, matplotlib.
"""
import argparse
import os
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import csaw.torch
from reports import axes_for, parse_outputs, percent, save, spread, told, write_json

PUBLISHED = {"MUTAG": (0.894, 0.056), "PROTEINS": (0.762, 0.028), "NCI1": (0.827, 0.017)}  # mean, deviation over folds


# ---- graphs, and batches of them ------------------------------------------------------------------------------------

@dataclass
class Batch:
    graphs: csaw.torch.GraphBatch
    x: Tensor  # [vertices, labels]
    pool: csaw.torch.Matrix  # [graphs, vertices]: 1 where a vertex is of a graph


class Graphs:
    """All graphs of a set, on a device; y: [graphs] classes from 0."""

    def __init__(self, collection: csaw.datasets.Collection, device: torch.device):
        _, y = np.unique(collection.y, return_inverse=True)
        _, label = np.unique(collection.node_label, return_inverse=True)
        self.y = torch.from_numpy(y.astype(np.int64)).to(device)
        self.label = torch.from_numpy(label.astype(np.int64)).to(device)
        self.classes, self.labels = int(y.max()) + 1, int(label.max()) + 1
        self.edge_index = torch.from_numpy(collection.edge_index).to(device)
        self.node_offset, self.edge_offset = (torch.from_numpy(np.asarray(offset, np.int64)).to(device)
                                              for offset in (collection.node_offset, collection.edge_offset))

    def batch(self, chosen: Tensor) -> Batch:
        """Of the graphs `chosen` [n], in that order, their vertices numbered on."""
        node, nodes, ptr = _ranges(self.node_offset, chosen)
        edge, edges, _ = _ranges(self.edge_offset, chosen)
        moved = torch.repeat_interleave(ptr[:-1] - self.node_offset[chosen], edges)
        pool = csaw.torch.Matrix(ptr, torch.arange(len(node), dtype=torch.int32, device=ptr.device), num_cols=len(node))
        return Batch(csaw.torch.GraphBatch(self.edge_index[:, edge] + moved, ptr),
                     F.one_hot(self.label[node], self.labels).float(), pool)


def _ranges(offset: Tensor, chosen: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    """(places offset[g] .. offset[g + 1] - 1 of each chosen g, one after the other; how many each; their offsets)."""
    count = offset[chosen + 1] - offset[chosen]
    ptr = F.pad(count.cumsum(0), (1, 0))
    place = torch.arange(int(ptr[-1]), device=offset.device)
    return place + torch.repeat_interleave(offset[chosen] - ptr[:-1], count), count, ptr


def load(folder: Path, name: str) -> csaw.datasets.Collection:
    path = next((p for p in (folder / name, *(folder / (name + end) for end in (".zip", ".txt", ".txt.xz")))
                 if p.exists()), folder / f"{name}.zip")
    holds_tu = path.is_dir() or path.suffix == ".zip" and path.exists() and any(
        entry.endswith("_A.txt") for entry in zipfile.ZipFile(path).namelist())
    return csaw.datasets.tu(path) if holds_tu else csaw.datasets.gin(path)


# ---- the net --------------------------------------------------------------------------------------------------------

class Layer(nn.Module):

    def __init__(self, columns: int, hidden: int):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(columns, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU())

    def forward(self, h: Tensor, graphs: csaw.torch.GraphBatch) -> Tensor:
        return self.mlp(h + csaw.torch.batched_spmm(graphs, h))


class Gin(nn.Module):

    def __init__(self, labels: int, classes: int, options: argparse.Namespace):
        super().__init__()
        columns = [labels] + [options.hidden] * options.layers
        self.layers = nn.ModuleList([Layer(n, options.hidden) for n in columns[:-1]])
        self.scores = nn.ModuleList([nn.Linear(n, classes) for n in columns])
        self.dropout = options.dropout

    def forward(self, batch: Batch) -> Tensor:
        """[graphs, classes]"""
        h = batch.x
        out = self.scores[0](csaw.torch.spmm(batch.pool, h))
        for layer, score in zip(self.layers, self.scores[1:]):
            h = layer(h, batch.graphs)
            out = out + F.dropout(score(csaw.torch.spmm(batch.pool, h)), self.dropout, self.training)
        return out


# ---- folds and measures ---------------------------------------------------------------------------------------------

def folds_of(y: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """[graphs] the fold of each: each class is dealt out in an order drawn by the seed."""
    fold = np.empty(len(y), np.int64)
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold[order] = np.arange(len(y)) % folds
    return fold


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    """P(a positive scores higher than a negative), equal scores counted half: the area under the ROC curve."""
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # from 1, of equals the mean
    n = int(positive.sum())
    return float((rank[positive].sum() - n * (n + 1) / 2) / (n * (len(score) - n)))


def measure(net: Gin, batch: Batch, y: Tensor, by_auc: bool) -> float:
    net.eval()
    with torch.no_grad():
        logits = net(batch)
    if by_auc:
        return auc((logits[:, 1] - logits[:, 0]).double().cpu().numpy(), (y == 1).cpu().numpy())
    return (logits.argmax(1) == y).double().mean().item()


def train(graphs: Graphs, inside: Tensor, outside: Tensor, by_auc: bool, options: argparse.Namespace) -> List[float]:
    """The measure on the graphs `outside` after each epoch of training on `inside`."""
    net = Gin(graphs.labels, graphs.classes, options).to(inside.device)
    optimizer = torch.optim.Adam(net.parameters(), options.rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.5)
    held, wanted, curve = graphs.batch(outside), graphs.y[outside], []
    for _ in range(options.epochs):
        net.train()
        for part in inside[torch.randperm(len(inside)).to(inside.device)].split(options.batch_size):
            if len(part) == 1:
                continue  # a batch of one graph, perhaps of one vertex, cannot be normalised
            loss = F.cross_entropy(net(graphs.batch(part)), graphs.y[part])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        schedule.step()
        curve.append(measure(net, held, wanted, by_auc))
    return curve


# ---- the experiment -------------------------------------------------------------------------------------------------

def run(name: str, options: argparse.Namespace) -> Dict[str, Any]:
    collection, by_auc = load(options.data, name), name.startswith("Tox21")
    graphs = Graphs(collection, options.device)
    fold = folds_of(graphs.y.cpu().numpy(), options.folds, options.seed)
    begin, curves = time.perf_counter(), []
    for f in told(range(options.folds), options.folds, f"folds of {name}"):
        torch.manual_seed(options.seed * options.folds + f)
        inside, outside = (torch.from_numpy(np.flatnonzero(part)).to(options.device) for part in (fold != f, fold == f))
        curves.append(train(graphs, inside, outside, by_auc, options))
    best = int(np.mean(curves, axis=0).argmax())
    count = np.bincount(graphs.y.cpu().numpy())
    return {"name": name, "measure": "ROC-AUC" if by_auc else "accuracy", "graphs": len(collection),
            "vertices": len(graphs.label), "arcs": graphs.edge_index.shape[1], "labels": graphs.labels,
            "largest_class": float(count.max() / count.sum()), "best_epoch": best + 1,
            "best": spread([curve[best] for curve in curves]), "last": spread([curve[-1] for curve in curves]),
            "published": PUBLISHED.get(name), "epoch_s": (time.perf_counter() - begin) / options.epochs / options.folds,
            "curves": curves}


def show(sets: List[Dict[str, Any]]) -> None:
    print(f"{'set':12}{'graphs':>8}{'measure':>10}{'last epoch, %':>15}{'best epoch, %':>15}{'at':>5}"
          f"{'published, %':>15}{'s/epoch':>9}")
    for s in sets:
        published = "{:.1f} ± {:.1f}".format(*(100 * x for x in s["published"])) if s["published"] else ""
        print(f"{s['name']:12}{s['graphs']:8}{s['measure']:>10}{percent(s['last']):>15}{percent(s['best']):>15}"
              f"{s['best_epoch']:5}{published:>15}{s['epoch_s']:9.3f}")


def draw(sets: List[Dict[str, Any]], path: Path) -> None:
    """The measure by epoch, mean and deviation over the folds, and what is published."""
    figure, axes = axes_for(1, len(sets))
    for axis, s in zip(axes, sets):
        mean, deviation = np.mean(s["curves"], axis=0), np.std(s["curves"], axis=0)
        epochs = np.arange(1, len(mean) + 1)
        axis.plot(epochs, 100 * mean, color="tab:blue", label="mean over folds")
        axis.fill_between(epochs, 100 * (mean - deviation), 100 * (mean + deviation), color="tab:blue", alpha=0.2)
        if s["published"]:
            axis.axhline(100 * s["published"][0], color="gray", linestyle="--", linewidth=1, label="published")
        axis.set(title=s["name"], xlabel="epoch", ylabel=f"{s['measure']}, %")
        axis.legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    folder = os.environ.get("CSAW_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder, "molecules") if folder else None,
                        help="folder of the sets; default $CSAW_DATA/molecules")
    parser.add_argument("--name", nargs="+", default=["MUTAG", "PROTEINS", "NCI1", "Tox21_AHR"],
                        help="default %(default)s")
    parser.add_argument("--epochs", type=int, default=100, help="default %(default)s")
    parser.add_argument("--folds", type=int, default=10, help="default %(default)s")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of folds, nets and batches; default %(default)s")
    parser.add_argument("--layers", type=int, default=4, help="that send over edges; default %(default)s")
    parser.add_argument("--hidden", type=int, default=32, help="default %(default)s")
    parser.add_argument("--batch-size", type=int, default=32, help="graphs a step; default %(default)s")
    parser.add_argument("--dropout", type=float, default=0.5, help="of scores; default %(default)s")
    parser.add_argument("--rate", type=float, default=0.01, help="of Adam; default %(default)s")
    options = parse_outputs(parser)
    if options.data is None:
        parser.error("no folder of data sets: give --data FOLDER, or let CSAW_DATA name the folder above molecules")
    if options.epochs < 1 or options.folds < 2 or options.batch_size < 2:
        parser.error(f"--epochs is {options.epochs}, --folds {options.folds}, --batch-size {options.batch_size}; they "
                     "begin at 1, 2 and 2")
    options.device = torch.device(options.device)
    record: Dict[str, Any] = {
        "csaw": csaw.version(), "torch": torch.__version__, "sets": [],
        "options": {name: value if isinstance(value, (int, float, list)) else str(value)
                    for name, value in vars(options).items() if name not in ("json", "plot", "data")}}
    for name in options.name:
        record["sets"].append(run(name, options))
        write_json(options.json, record)
    show(record["sets"])
    if options.plot:
        draw(record["sets"], options.plot / "graph-classification.svg")


if __name__ == "__main__":
    main()
