#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Edge-sampled inference and training of GCN and GraphSAGE: what sampling costs in accuracy, and saves in time.

    CSAW_DATA=folder python examples/edge_sampled_accuracy.py --json es.json --plot plots
    python examples/edge_sampled_accuracy.py --data folder/gnn --graphs cora --epochs 20 --widths 4 8

Nets of two layers are trained on full batches with all edges, and with stratified sampling of every S of
--train-widths, other edges every step. Each is then asked for the classes of the test vertices with all edges, and with
at most S of each row by Bucket and FastRand (Lin, Luo, Ceze, ES-SpMM) and by stratified sampling (one draw):
docs/edge-sampled.md. Both nets take means, GCN's of its normalised weights times the row's length, so that Bucket and
FastRand divide by what they took, as section VI-A of the paper asks. A row's edges stand by neighbour, GCN's loop comes
last. Splits: node_classification.py.

Printed, and written as JSON: accuracy, mean and deviation over --seeds; how many rows FastRand fails; times of the two
aggregations of an inference, and of the whole of it, beside those with torch.sparse.mm() (cuSPARSE on a GPU, MKL on the
CPU) for all edges; and the paper's Table V: of each method the fastest S that costs less than a percent of accuracy,
and how many times as fast as that product it is. Needs PyTorch, SciPy and, for plots, matplotlib.
"""
import argparse
from typing import Any, Callable, Dict, List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import csaw.torch
from node_classification import (Data, FeatureLinear, accuracy, common_options, describe, fit, heading, load, make_step,
                                 milliseconds, parse)
from reports import axes_for, percent, save, spread, write_json

NETS = ("gcn", "sage")
METHODS = ("bucket", "fastrand", "stratified")
PEER = "torch.sparse"  # the method of times with all edges by torch.sparse.mm()
Send = Callable[[Tensor, int], Tensor]  # (features, layer): of each vertex, the mean over its neighbours


class Neighbours:
    """The matrix of a net, and the means that it takes: over all edges, or over sampled ones."""

    def __init__(self, kind: str, data: Data):
        self.a, self.weight = (csaw.torch.gcn_norm(data.a) if kind == "gcn" else (data.a, None))
        if self.weight is not None:
            self.weight = self.weight * self.a.rowptr.diff()[self.a.row()]

    def all(self) -> Send:
        return lambda h, layer: csaw.torch.spmm(self.a, h, self.weight, "mean")

    def by_torch(self) -> Send:
        length = self.a.rowptr.diff()
        mean = (1 if self.weight is None else self.weight) / length.clamp(min=1)[self.a.row()].float()
        matrix = torch.sparse_csr_tensor(self.a.rowptr.int(), self.a.col.int(), mean, size=self.a.shape)
        return lambda h, layer: torch.sparse.mm(matrix, h)

    def sampled(self, method: str, width: int, seed: int, step: int) -> Send:
        return lambda h, layer: csaw.torch.es_spmm(self.a, h, self.weight, width, method, "mean", seed,
                                                   2 * step + layer)

    def taken(self, width: int) -> float:
        """Share of the edges."""
        return (self.a.rowptr.diff().clamp(max=width).sum() / self.a.num_edges).item()


class Net(nn.Module):
    """gcn: the mean of h W, + b; sage: that of h W, + h V + b."""

    def __init__(self, kind: str, data: Data, hidden: int, dropout: float):
        super().__init__()
        features, classes, self.dropout = data.x.shape[1], data.classes, dropout
        self.first, self.second = FeatureLinear(features, hidden), nn.Linear(hidden, classes, bias=False)
        self.own_first = FeatureLinear(features, hidden) if kind == "sage" else None
        self.own_second = nn.Linear(hidden, classes, bias=False) if kind == "sage" else None
        self.bias = nn.ParameterList([torch.zeros(hidden), torch.zeros(classes)])

    def forward(self, x: csaw.torch.Matrix, send: Send) -> Tensor:
        h = send(self.first(x), 0) + self.bias[0]
        h = F.dropout((h if self.own_first is None else h + self.own_first(x)).relu(), self.dropout, self.training)
        out = send(self.second(h), 1) + self.bias[1]
        return out if self.own_second is None else out + self.own_second(h)


def train(kind: str, data: Data, near: Neighbours, width: Optional[int], seed: int, options: argparse.Namespace):
    """(net, test accuracies: {(method, S): accuracy}, all edges under ("all", 0)); width: of sampling in training."""
    torch.manual_seed(seed)
    net, parts = Net(kind, data, options.hidden, options.dropout).to(options.device), data.split(seed)
    steps = 0

    def forward() -> Tensor:
        nonlocal steps
        if width is None or not net.training:
            return net(data.x, near.all())
        steps += 1
        return net(data.x, near.sampled("stratified", width, seed, steps))

    result = fit(make_step(forward, net, data, parts, options), forward, net, data, parts, options)
    net.load_state_dict(result.best)
    net.eval()
    right = {("all", 0): result.test}
    with torch.no_grad():
        for method in METHODS:
            for s in options.widths:
                send = near.sampled(method, s, seed, options.epochs + 1)  # a step that training did not draw
                right[method, s] = accuracy(net(data.x, send), data.y, parts[2])
    return net, right


@torch.no_grad()
def times(net: Net, data: Data, near: Neighbours, options: argparse.Namespace) -> List[Dict[str, Any]]:
    """Milliseconds of the aggregations of one inference, and of all of it."""
    h = [torch.randn(data.a.shape[0], n, device=options.device) for n in (options.hidden, data.classes)]
    ways = [("all", 0, near.all()), (PEER, 0, near.by_torch())]
    ways += [(m, s, near.sampled(m, s, 0, 0)) for m in METHODS for s in options.widths]
    out = []
    for method, s, send in ways:
        aggregation = milliseconds(lambda: [send(h[0], 0), send(h[1], 1)], options.device, options)
        inference = milliseconds(lambda: net(data.x, send), options.device, options)
        out.append({"method": method, "S": s, "aggregation_ms": aggregation, "inference_ms": inference})
    return out


def best_under_a_percent(net: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Table V: of each training and method the fastest S whose mean accuracy is less than a hundredth below that with
    all edges of the same training, with its speed in times of PEER's and of all edges by csaw; S None = none is."""
    out = []
    of = {(t["method"], t["S"]): t for t in net["times"]}
    taken = {row["S"]: row["taken"] for row in net["rows"]}
    for trained in net["trained"]:
        mean = {(t["method"], t["S"]): t["mean"] for t in trained["test"]}
        for method in METHODS:
            row: Dict[str, Any] = {"with": trained["with"], "trained_S": trained["S"], "method": method, "S": None}
            losses = {s: mean["all", 0] - mean[method, s] for s in taken}
            fit_ones = [s for s in taken if losses[s] < 0.01]
            if fit_ones:
                s = min(fit_ones, key=lambda s: of[method, s]["aggregation_ms"])
                row.update(S=s, taken=taken[s], loss=losses[s])
                for what in ("aggregation", "inference"):
                    own = of[method, s][what + "_ms"]
                    row[what + "_of_peer"] = of[PEER, 0][what + "_ms"] / own
                    row[what + "_of_all"] = of["all", 0][what + "_ms"] / own
            out.append(row)
    return out


def fastrand_faults(near: Neighbours, width: int) -> Dict[str, int]:
    """Rows of more than S entries, and what FastRand does to rows by their length (docs/edge-sampled.md)."""
    n = near.a.rowptr.diff()
    n, longer = n[n > 0], n[n > width]
    distinct = n // torch.gcd(n, torch.full_like(n, 577))
    return {"longer": len(longer), "as_bucket": int((576 % longer == 0).sum()),
            "backwards": int((578 % longer == 0).sum()), "repeating": int((distinct < n.clamp(max=width)).sum())}


def run(name: str, options: argparse.Namespace) -> Dict[str, Any]:
    data = load(name, options.data, options.device)
    out = {**describe(data), "nets": []}
    peer = "cuSPARSE" if options.device.type == "cuda" else "torch.sparse.mm()"
    for kind in NETS:
        near = Neighbours(kind, data)
        rows = [{"S": s, "taken": near.taken(s), **fastrand_faults(near, s)} for s in options.widths]
        record: Dict[str, Any] = {"net": kind, "peer": peer, "rows": rows, "trained": []}
        for width in (None, *options.train_widths):
            right: List[Dict[Any, float]] = []
            for seed in options.seeds:
                net, one = train(kind, data, near, width, seed, options)
                right.append(one)
            record["trained"].append({
                "with": "all" if width is None else "stratified", "S": width or 0,
                "test": [{"method": m, "S": s, **spread([r[m, s] for r in right])} for m, s in right[0]]})
        record["times"] = times(net, data, near, options)
        record["table_v"] = best_under_a_percent(record)
        out["nets"].append(record)
    return out


# ---- what is shown --------------------------------------------------------------------------------------------------

def line(label: str, cells: List[str]) -> None:
    print(f"  {label:24}" + "".join(f"{cell:>14}" for cell in cells))


def show(graph: Dict[str, Any]) -> None:
    print(f"{graph['graph']}: {graph['vertices']} vertices, {graph['arcs']} arcs, longest row {graph['longest_row']}")
    for net in graph["nets"]:
        widths = [row["S"] for row in net["rows"]]
        print(f"\n {net['net']}")
        line("at most S edges a row", [f"S={s}" for s in widths] + ["all"])
        line("edges taken, %", [f"{100 * row['taken']:.1f}" for row in net["rows"]])
        line("rows longer than S", [str(row["longer"]) for row in net["rows"]])
        line("  FastRand is Bucket", [str(row["as_bucket"]) for row in net["rows"]])
        line("  FastRand repeats", [str(row["repeating"]) for row in net["rows"]])
        for trained in net["trained"]:
            how = "all edges" if trained["with"] == "all" else f"stratified S={trained['S']}"
            print(f"  test accuracy, %, trained with {how}")
            of = {(t["method"], t["S"]): percent(t) for t in trained["test"]}
            for m in METHODS:
                line(f"  {m}", [of[m, s] for s in widths] + [of["all", 0]])
        for what in ("aggregation", "inference"):
            print(f"  {what}, ms")
            of = {(t["method"], t["S"]): f"{t[what + '_ms']:.3f}" for t in net["times"]}
            for m in METHODS:
                line(f"  {m}", [of[m, s] for s in widths] + [of["all", 0]])
            line("  torch.sparse.mm", [""] * len(widths) + [of[PEER, 0]])
        print("  fastest S that costs less than 1 % of accuracy; times as fast as torch.sparse.mm, as csaw with all")
        line("  trained with, method", ["S", "taken, %", "loss, %", "aggregation", "inference"])
        for row in net["table_v"]:
            label = f"  {'all' if row['with'] == 'all' else 'S=' + str(row['trained_S'])}, {row['method']}"
            if row["S"] is None:
                line(label, ["none"])
                continue
            times_as_fast = [f"{row[what + '_of_peer']:.2f}, {row[what + '_of_all']:.2f}"
                             for what in ("aggregation", "inference")]
            line(label, [str(row["S"]), f"{100 * row['taken']:.1f}", f"{100 * row['loss']:.2f}", *times_as_fast])
    print()


def draw_accuracy(graphs: List[Dict[str, Any]], place: int, path) -> None:
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        net = graph["nets"][place]
        for trained in net["trained"]:
            exact = trained["with"] == "all"
            of = [t for t in trained["test"]]
            for color, m in zip(("tab:red", "tab:orange", "tab:blue"), METHODS):
                if not exact and m != "stratified":
                    continue
                points = [t for t in of if t["method"] == m]
                axis.errorbar([t["S"] for t in points], [100 * t["mean"] for t in points],
                              [100 * t["deviation"] for t in points], color=color, marker=".", capsize=2,
                              linestyle="-" if exact else "--",
                              label=m if exact else f"{m}, trained with S={trained['S']}")
            if exact:
                axis.axhline(100 * of[0]["mean"], color="gray", linewidth=1, label="all edges")
        axis.set_xscale("log", base=2)
        axis.set(title=f"{graph['graph']}, {net['net']}", xlabel="S, edges a row", ylabel="test accuracy, %")
    axes[0].legend(fontsize=7)
    save(figure, path)


def draw_times(graphs: List[Dict[str, Any]], place: int, path) -> None:
    figure, axes = axes_for(1, len(graphs))
    for axis, graph in zip(axes, graphs):
        net = graph["nets"][place]
        of = {t["method"]: t for t in net["times"]}
        base = of[PEER]
        for color, m in zip(("tab:red", "tab:orange", "tab:blue"), METHODS):
            points = [t for t in net["times"] if t["method"] == m]
            for what, style in (("aggregation_ms", "-"), ("inference_ms", ":")):
                axis.plot([t["S"] for t in points], [base[what] / t[what] for t in points], color=color, marker=".",
                          linestyle=style, label=f"{m}, {what[:-3]}")
        for what, style in (("aggregation_ms", "-"), ("inference_ms", ":")):
            axis.axhline(base[what] / of["all"][what], color="black", linestyle=style, linewidth=1,
                         label=f"all edges by csaw, {what[:-3]}")
        axis.axhline(1, color="gray", linewidth=1)
        axis.set_xscale("log", base=2)
        axis.set(title=f"{graph['graph']}, {net['net']}", xlabel="S, edges a row",
                 ylabel=f"times as fast as {net['peer']}")
    axes[0].legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    common_options(parser, ["coauthor_phy", "amazon_cs", "flickr", "cora"], epochs=300, hidden=128, dropout=0.5,
                   rate=0.01, weight_decay=5e-5)
    parser.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512], metavar="S")
    parser.add_argument("--train-widths", type=int, nargs="*", default=[16], metavar="S")
    options = parse(parser)
    record = {**heading(options), "graphs": []}
    for name in options.graphs:
        record["graphs"].append(run(name, options))
        show(record["graphs"][-1])
        write_json(options.json, record)
    if options.plot:
        for place, kind in enumerate(NETS):
            draw_accuracy(record["graphs"], place, options.plot / f"edge-sampled-accuracy-{kind}.svg")
            draw_times(record["graphs"], place, options.plot / f"edge-sampled-times-{kind}.svg")


if __name__ == "__main__":
    main()
