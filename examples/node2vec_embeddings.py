#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""node2vec: walks by csaw, vectors by skip-gram, labels of vertices by logistic regression; F1 beside the paper's.

    CSAW_DATA=folder python examples/node2vec_embeddings.py --json node2vec.json --plot plots
    python examples/node2vec_embeddings.py --data folder/formats/blogcatalog.mat --p 0.5 --q 2 --num-walks 2

The protocol of Grover, Leskovec, "node2vec", KDD 2016, section 4.3: a share of the vertices, drawn at random, trains a
logistic regression for each label (one against the rest, L2, C = 1); of every other vertex the number of labels is
known, and it gets that many, the most probable ones. Macro-F1 is the mean of the labels' F1, Micro-F1 that of all
decisions together; both over --splits draws. DeepWalk's walks (p = q = 1) run beside node2vec's; skip_gram.py says how
vectors are trained. Published: the paper's Table 2, BlogCatalog at 50%, p = q = 0.25, found on a grid with 10% of the
labels.

The file is a .mat of MATLAB with a sparse matrix `network` and labels `group`. Needs SciPy, gensim or PyTorch, and, for
plots, matplotlib.
"""
import argparse
import os
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

import csaw
import skip_gram
from reports import axes_for, parse_outputs, percent, save, spread, told, write_json

PUBLISHED = {"blogcatalog": {"DeepWalk": 0.2110, "node2vec": 0.2581}}  # Macro-F1 at 50%


# ---- labels from vectors --------------------------------------------------------------------------------------------

def logistic(x: np.ndarray, wanted: np.ndarray, strength: float = 1.0) -> np.ndarray:
    """[columns]: the w that minimises strength * sum log(1 + exp(-+ x w)) + |w|^2 / 2, by Newton's method, to where a
    step changes nothing that a double shows. x: [rows, columns]; wanted: [rows] bool."""
    sign = np.where(wanted, 1.0, -1.0)

    def cost(w):
        return strength * np.logaddexp(0, -sign * (x @ w)).sum() + w @ w / 2

    w = np.zeros(x.shape[1])
    value = cost(w)
    while True:
        share = 1 / (1 + np.exp(np.clip(-(x @ w), -500, 500)))
        slope = strength * (x.T @ (share - wanted)) + w
        curve = strength * (x.T * (share * (1 - share))) @ x + np.eye(len(w))
        step, length = np.linalg.solve(curve, slope), 1.0
        while length > 1e-10 and cost(w - length * step) >= value:
            length /= 2
        if length <= 1e-10 or slope @ step < 1e-9 * max(value, 1):
            return w
        w = w - length * step
        value = cost(w)


def most_probable(score: np.ndarray, number: np.ndarray) -> np.ndarray:
    """[rows, labels] bool: of row v the number[v] highest scores; of equals the lower label."""
    rank = np.argsort(np.argsort(-score, axis=1, kind="stable"), axis=1)
    return rank < number[:, None]


def f1(wanted: np.ndarray, given: np.ndarray) -> Tuple[float, float]:
    """(Macro-F1, Micro-F1) of [rows, labels] bool; a label that is neither wanted nor given has 0."""
    right, both = (wanted & given).sum(0), wanted.sum(0) + given.sum(0)
    return float(np.mean(2 * right / np.maximum(both, 1))), float(2 * right.sum() / max(both.sum(), 1))


def classify(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Tuple[float, float]:
    """F1s on `test` of what `train` taught, both [n] vertices. x: [vertices, columns]; y: [vertices, labels] bool."""
    x = np.concatenate([np.asarray(x, np.float64), np.ones((len(x), 1))], axis=1)  # a column for the bias
    w = np.stack([logistic(x[train], y[train, label]) for label in range(y.shape[1])], axis=1)
    return f1(y[test], most_probable(x[test] @ w, y[test].sum(1)))


# ---- the experiment -------------------------------------------------------------------------------------------------

def run(name: str, graph: csaw.Graph, y: np.ndarray, p: float, q: float, options: argparse.Namespace) -> Dict[str, Any]:
    begin = time.perf_counter()
    x = skip_gram.embed(graph, p, q, options)
    seconds = time.perf_counter() - begin
    labelled = np.flatnonzero(y.any(axis=1))
    at: List[Dict[str, Any]] = []
    for share in options.shares:
        rows = []
        for split in told(range(options.splits), options.splits, f"splits of {100 * share:.0f}%"):
            order = np.random.default_rng([options.seed, split]).permutation(labelled)
            middle = round(share * len(order))
            rows.append(classify(x, y, order[:middle], order[middle:]))
        macro, micro = (spread([row[i] for row in rows]) for i in range(2))
        at.append({"share": share, "macro_f1": macro, "micro_f1": micro})
    return {"walks": name, "p": p, "q": q, "seconds": seconds, "at": at}


def show(record: Dict[str, Any], way: Optional[Dict[str, Any]] = None) -> None:
    """A part of the table; no way: its heading."""
    o = record["options"]
    if way is None:
        print(f"{record['graph']}: {record['vertices']} vertices, {record['arcs']} arcs, {record['labels']} labels")
        print(f"{o['num_walks']} walks of {o['walk_length']} steps a vertex, skip-gram by {o['skip_gram']}, "
              f"{o['dimensions']} dimensions, {o['epochs']} epochs; {o['splits']} splits")
        print(f"  {'walks':22}{'labels known':>13}{'Macro-F1, %':>15}{'Micro-F1, %':>15}{'published Macro':>17}", flush=True)
        return
    name = f"{way['walks']} p={way['p']:g} q={way['q']:g}"
    for row in way["at"]:
        published = record["published"].get(way["walks"]) if row["share"] == 0.5 else None
        print(f"  {name:22}{100 * row['share']:12.0f}%"
              f"{percent(row['macro_f1']):>15}{percent(row['micro_f1']):>15}"
              f"{'' if published is None else format(100 * published, '.2f'):>17}")
    print(f"    walks and vectors took {way['seconds']:.1f} s", flush=True)


def draw(record: Dict[str, Any], path: Path) -> None:
    """Figure 4 of the paper: F1 by the share of labels known."""
    figure, axes = axes_for(1, 2)
    for axis, key, title in zip(axes, ("macro_f1", "micro_f1"), ("Macro-F1", "Micro-F1")):
        for color, way in zip(("tab:gray", "tab:blue"), record["ways"]):
            axis.errorbar([100 * row["share"] for row in way["at"]], [100 * row[key]["mean"] for row in way["at"]],
                          [100 * row[key]["deviation"] for row in way["at"]], color=color, marker=".", capsize=2,
                          label=f"{way['walks']}, p={way['p']:g}, q={way['q']:g}")
            if key == "macro_f1" and way["walks"] in record["published"]:
                axis.plot([50], [100 * record["published"][way["walks"]]], "x", color=color,
                          label=f"{way['walks']}, published")
        axis.set(title=f"{record['graph']}, {title}", xlabel="vertices whose labels are known, %", ylabel=f"{title}, %")
    axes[0].legend(fontsize=7)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    folder = os.environ.get("CSAW_DATA")
    parser.add_argument("--data", type=Path, default=Path(folder, "formats", "blogcatalog.mat") if folder else None,
                        metavar="FILE", help="a .mat file; default $CSAW_DATA/formats/blogcatalog.mat")
    parser.add_argument("--p", type=float, default=0.25, help="return parameter; default %(default)s")
    parser.add_argument("--q", type=float, default=0.25, help="in-out parameter; default %(default)s")
    skip_gram.add_options(parser)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.5, 0.9], metavar="SHARE",
                        help="of vertices whose labels are known; default %(default)s")
    parser.add_argument("--splits", type=int, default=10, help="draws of those vertices; default %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    options = parse_outputs(parser)
    if options.data is None:
        parser.error("no graph: give --data FILE, or let CSAW_DATA name the folder above formats/blogcatalog.mat")
    if not all(0 < share < 1 for share in options.shares):
        parser.error(f"--shares is {' '.join(map(str, options.shares))}; each lies between 0 and 1")
    skip_gram.resolve(parser, options)

    data = csaw.datasets.matlab(options.data)
    graph = data.graph()
    if not hasattr(data, "y"):
        parser.error(f"{options.data} has no labels `group`; take a file that has")
    record: Dict[str, Any] = {
        "csaw": csaw.version(), "graph": options.data.stem, "vertices": graph.num_vertices, "arcs": graph.num_edges,
        "labels": data.y.shape[1], "published": PUBLISHED.get(options.data.stem, {}), "ways": [],
        "options": {name: value for name, value in vars(options).items() if name not in ("json", "plot", "data")}}
    show(record)
    for name, p, q in (("DeepWalk", 1.0, 1.0), ("node2vec", options.p, options.q)):
        record["ways"].append(run(name, graph, data.y, p, q, options))
        show(record, record["ways"][-1])
        write_json(options.json, record)
    if options.plot:
        draw(record, options.plot / f"node2vec-{record['graph']}.svg")


if __name__ == "__main__":
    main()
