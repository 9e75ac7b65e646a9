#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/peers/loader_peers.py - csaw.NeighborLoader beside PyTorch Geometric's: minibatches for GraphSAGE, by phase.

  loader_peers.py --scale 22 --device cpu --device cuda:0 --json out.json --markdown out.md
  loader_peers.py --graph rmat --scale 22 --graph reddit --graph flickr.npz ... (names: loader_graphs.py)

Two hops, fanout 15 and 10, uniform without replacement, each vertex expanded where it is first reached; batches of
1,024 seeds, 128 float32 features. Peers are a plain vectorised PyTorch sampler of loader_adapters.py and, where it and
pyg-lib or torch-sparse (torch_sparse.sh) can be imported, torch_geometric.loader.NeighborLoader without and with
--workers; which of them is said. On a GPU csaw and the plain sampler sample there, PyTorch Geometric on the CPU.
Phases, each by itself and waited for:

  sample     batches without features
  gather     the features of batches that are there
  load       batches with features; csaw's on a GPU, or made ahead, are gathered while the next one is sampled
  aggregate  the mean over the outer layer of batches that are there: csaw.torch.spmm and torch.sparse; the product
             alone, and with the matrix made of edge_index
  epoch      load, and GraphSAGE (two layers, --hidden wide) forward, backward and Adam; csaw with overlap off and on
             (in_flight 1 and 2). On a GPU it then goes on for --busy seconds, in which NVML tells how busy the GPU is:
             the share of time in which any kernel ran, of which one that fills a corner of the GPU is all

A run has --batches batches: of a small graph several epochs, each with what it takes to begin; of batches that are
there, the same ones over and over.

First all is verified: every edge of a batch is one of the graph and none comes twice, a vertex has min(fanout, degree)
at its hop, vertices are distinct, features are theirs; products and layers agree with the edge-by-edge sums in float64.
Exits 3 if not. Contenders are timed in turn, --repeat times after one round of warm-up; medians with the range.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import time
import warnings

import csaw
import torch
from loader_adapters import Csaw, Workload, by_layer, csr_of, peer_conv, peers
from loader_graphs import SIZES, graph_of
from loader_training import Sage, Training, busy, exact_output
from loader_verify import VERIFIED, Verifier, Wrong, exact_mean, near

HELD = 20  # batches at most that gather and aggregate are given
PAUSE = 0.02  # seconds before each run, so that the threads of the one before have gone to sleep


# ---- aggregation ----


class CsawMean:
    name = "csaw.torch.spmm"

    def matrix(self, batch):
        return csaw.torch.layers(batch)[0]

    def product(self, a, x):
        return csaw.torch.spmm(a, x, reduce="mean")


class TorchMean:
    name = "torch.sparse"

    def matrix(self, batch):
        rows, cols, edges = by_layer(batch)[0]
        rowptr, sender = csr_of(batch, rows, edges)
        weight = (1 / rowptr.diff().clamp(min=1).float()).repeat_interleave(rowptr.diff(), output_size=edges)
        return torch.sparse_csr_tensor(rowptr, sender.contiguous(), weight, (rows, cols))

    def product(self, a, x):
        return a @ x


# ---- time ----


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize(device)


def seconds_of(device, function):
    wait(device)
    time.sleep(PAUSE)
    begin = time.perf_counter()
    function()
    wait(device)
    return time.perf_counter() - begin


def figure(seconds, batches):
    return {"median_s": statistics.median(seconds), "min_s": min(seconds), "max_s": max(seconds), "seconds": seconds,
            "batches_per_s": batches / statistics.median(seconds)}


def in_turn(device, jobs, repeat, batches):
    """{name: figure} of jobs {name: function}, one of each after the other; the first round is not counted."""
    taken = {name: [] for name in jobs}
    for _ in range(repeat + 1):
        for name, function in jobs.items():
            taken[name].append(seconds_of(device, function))
    return {name: figure(seconds[1:], batches) for name, seconds in taken.items()}


def drain(batches):
    for _ in batches:
        pass


class Rows:
    """What was measured on a device: a row for each phase and contender."""

    def __init__(self, device, args):
        self.device, self.args, self.rows = device, args, []

    def add(self, phase, jobs, batches):
        """jobs {name: function}, each of so many batches, and run as often as makes --batches of them."""
        times = -(-self.args.batches // batches)
        runs = {name: lambda job=job: [job() for _ in range(times)] for name, job in jobs.items()}
        for name, found in in_turn(self.device, runs, self.args.repeat, times * batches).items():
            self.rows.append({"device": self.device, "phase": phase, "by": name, "csaw": name.startswith("csaw"),
                              **found})


def aggregate(rows, held):
    means, made = (CsawMean(), TorchMean()), {}
    for mean in means:
        made[mean.name] = [(mean.matrix(batch), batch.x) for batch in held]
        for (a, x), batch in zip(made[mean.name][:VERIFIED], held):
            near(mean.product(a, x), exact_mean(batch), mean.name)
    rows.add("aggregate", {mean.name: lambda mean=mean: [mean.product(a, x) for a, x in made[mean.name]]
                           for mean in means}, len(held))
    rows.add("aggregate, matrix made", {mean.name: lambda mean=mean: [mean.product(mean.matrix(b), b.x) for b in held]
                                        for mean in means}, len(held))


def train(rows, work, csaws, others, batch):
    state = Sage(csaws[-1].conv, work.args).state_dict()
    trainings = [Training(who, in_flight, state) for who in csaws + others
                 for in_flight in ((1, 2) if who is csaws[-1] else (0,))]
    for training in trainings:
        near(training.output(batch).detach(), exact_output(state, batch, work.args), f"GraphSAGE of {training.name}")
    rows.add("epoch", {training.name: training.run for training in trainings}, work.batches)
    if csaws[0].device == "cpu" or not work.args.busy:
        return {}
    return {training.name: busy(training, work.args.busy) for training in trainings}


def measure(work, device, args):
    """The rows of a device, and what is to be said."""
    rows, verifier = Rows(device, args), Verifier(work)
    others, said = peers(work, device)
    csaws = [Csaw(work, device, ahead) for ahead in ((False, True) if device == "cpu" else (True,))]
    both = csaws + others
    sizes = {who.name: verifier.contender(who) for who in both}
    del verifier
    rows.add("sample", {who.name: lambda who=who: drain(who.epoch(with_x=False)) for who in both}, work.batches)
    rows.add("load", {who.name: lambda who=who: drain(who.epoch()) for who in both}, work.batches)
    held = [batch for _, batch in zip(range(HELD), csaws[-1].epoch())]
    rows.add("gather", {who.name: lambda who=who: [who.gather(batch.n_id) for batch in held]
                        for who in (csaws[-1], others[0])}, len(held))
    aggregate(rows, held)
    shares = train(rows, work, csaws, others, held[0])
    return rows.rows, {"said": said, "sizes": sizes, "versions": sorted({who.version for who in both}),
                       "conv": peer_conv()[1], "gpu_utilisation": shares}


# ---- the report ----


def machine(devices):
    with open("/proc/cpuinfo") as file:
        model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")),
                     platform.machine())
    gpus = [f"{d}: {torch.cuda.get_device_name(d)}" for d in devices if d != "cpu"]
    return ", ".join([f"{model}, {len(os.sched_getaffinity(0))} cores", *gpus])


def markdown(run):
    lines = [f"{run['machine']}; commit {run['commit']}; seed {run['seed']}; batches of {run['batch']} seeds, "
             f"{run['cols']} features, {run['place']}; {run['repeat']} runs after one of warm-up"]
    for graph in run["graphs"]:
        for device, about in graph["devices"].items():
            size = next(iter(about["sizes"].values()))
            lines += ["", f"## {graph['name']}, {device}", "",
                      f"{graph['vertices']:,} vertices, {graph['edges']:,} edges; {graph['batches']} batches of "
                      f"{size[0]:,.0f} vertices and {size[1]:,.0f} edges. {', '.join(about['versions'])}; "
                      f"{about['said']}; its layers: {about['conv']}.", "",
                      "| phase | by | batches/s | range | of the best peer | of torch-geometric |",
                      "|---|---|---|---|---|---|"]
            rows = [row for row in graph["rows"] if row["device"] == device]
            for row in rows:
                theirs = {r["by"]: r["batches_per_s"] for r in rows if r["phase"] == row["phase"] and not r["csaw"]}
                best = max(theirs.values())
                pyg = max((rate for by, rate in theirs.items() if by.startswith("torch-geometric")), default=None)
                fast, slow = (row["batches_per_s"] * row["median_s"] / row[key] for key in ("min_s", "max_s"))
                ratio = "" if pyg is None else f"{row['batches_per_s'] / pyg:.2f}"
                lines.append(f"| {row['phase']} | {row['by']} | {row['batches_per_s']:,.1f} | "
                             f"{slow:,.1f} .. {fast:,.1f} | {row['batches_per_s'] / best:.2f} | {ratio} |")
            shares = ", ".join(f"{name} {'not told' if share is None else format(share, '.2f')}"
                               for name, share in about["gpu_utilisation"].items())
            lines += ["", f"GPU busy, of the time of an epoch (NVML): {shares}."] if shares else []
    return "\n".join(lines) + "\n"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", action="append", metavar="NAME|FILE",
                        help=f"rmat, {', '.join(SIZES)} (as large as these), or what csaw reads, such as .csaw, or "
                        "flickr.npz of GraphData; repeatable (default rmat)")
    parser.add_argument("--undirected", action="store_true", help="add the reverse of every edge of the files")
    parser.add_argument("--scale", type=int, default=20, help="of R-MAT: 2^scale vertices (default 20)")
    parser.add_argument("--edge-factor", type=int, default=16, help="of R-MAT (default 16)")
    parser.add_argument("--device", action="append", metavar="cpu|cuda:N", help="repeatable (default cpu)")
    parser.add_argument("--host-features", action="store_true",
                        help="with a GPU: features stay in page-locked memory of the host")
    parser.add_argument("--cache", default="0", metavar="BYTES",
                        help="of csaw, with --host-features: the GPU's memory for hot rows, such as 1GiB (default 0)")
    parser.add_argument("--batch", type=int, default=1024, help="seeds of a batch (default 1024)")
    parser.add_argument("--batches", type=int, default=100,
                        help="of a run, and of an epoch as far as the graph goes (default 100)")
    parser.add_argument("--cols", type=int, default=128, help="features (default 128)")
    parser.add_argument("--hidden", type=int, default=256, help="columns between the layers (default 256)")
    parser.add_argument("--classes", type=int, default=47, help="(default 47)")
    parser.add_argument("--workers", type=int, default=min(8, os.cpu_count() or 1),
                        help="of PyTorch Geometric's loader, measured without, too (default: cores, 8 at most)")
    parser.add_argument("--repeat", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--busy", type=float, default=3, metavar="SECONDS",
                        help="on a GPU, of each kind of epoch, for NVML's figure, after one more; needs nvidia-ml-py "
                        "(default 3; 0: none)")
    parser.add_argument("--seed", type=int, default=1, help="(default 1)")
    parser.add_argument("--commit", default="unknown", help="of csaw, for the report")
    parser.add_argument("--json", type=pathlib.Path, help="write all of it, every run's time too")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table, which is printed, too")
    args = parser.parse_args()
    args.device, args.fanout = args.device or ["cpu"], (15, 10)
    return args


def main():
    args = parse()
    torch.manual_seed(args.seed)
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
    place = "in page-locked memory of the host" if args.host_features else "on the device"
    run = {"commit": args.commit, "machine": machine(args.device), "threads": torch.get_num_threads(),
           "seed": args.seed, "batch": args.batch, "fanout": args.fanout, "cols": args.cols, "hidden": args.hidden,
           "place": place, "cache": args.cache, "repeat": args.repeat, "graphs": []}
    for given in args.graph or ["rmat"]:
        begin = time.perf_counter()
        name, graph = graph_of(given, args)
        work = Workload(graph, args)
        found = {"name": name, "vertices": graph.num_vertices, "edges": graph.num_edges, "batches": work.batches,
                 "devices": {}, "rows": []}
        for device in args.device:
            try:
                rows, about = measure(work, device, args)
            except Wrong as wrong:
                print(f"loader_peers.py: {name}, {device}: {wrong}", file=sys.stderr)
                return 3
            found["rows"] += rows
            found["devices"][device] = about
        found["seconds"] = time.perf_counter() - begin
        run["graphs"].append(found)
        if args.json:  # whole after each graph, for a run that is cut short
            args.json.write_text(json.dumps(run, indent=1) + "\n")
        if args.markdown:
            args.markdown.write_text(markdown(run))
    print(markdown(run), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
