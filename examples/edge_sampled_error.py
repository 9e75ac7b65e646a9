#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Edge-sampled sums of one row: how far each method is off, on a row in order of communities, and by the row's length.

    python examples/edge_sampled_error.py --json error.json --plot plots

First a row of 1,000 entries, ten communities of 100 one after the other, S = 32. Estimated is how many entries each
community has. Mean square errors: of stratified sampling and of a random stride (place i * stride mod 1000) exactly, by
enumeration, and of stratified sampling also by the library, over --draws epochs; a library that is off the exact figure
by more than five standard errors ends the program.

Then rows of every length n up to --longest, and what Bucket, FastRand and one draw of stratified sampling do to each:
  distinct   different entries taken; min(n, S) is the most
  stretch    where values stand in order: the largest error, over all stretches of the row, of what share of the row the
             stretch is, by its share of what was taken
  noise      where they do not: the standard deviation of the error of the mean, in standard deviations of a value
Printed are rows about 577 k entries, of which FastRand takes k over and over (docs/edge-sampled.md).

Needs PyTorch and, for plots, matplotlib.
"""
import argparse
import math
from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import torch

import csaw.torch
from reports import axes_for, parse_outputs, save, write_json

ROW, COMMUNITIES, WIDTH = 1000, 10, 32
EACH = ROW // COMMUNITIES
METHODS = ("bucket", "fastrand", "stratified")
COLORS = ("tab:red", "tab:orange", "tab:blue")


def error_of_strata() -> np.ndarray:
    """[communities]: the variance of a sum over strata of size * (one uniform entry is in the community)."""
    bound = np.arange(WIDTH + 1) * ROW // WIDTH
    out = np.zeros(COMMUNITIES)
    for first, end in zip(bound[:-1], bound[1:]):
        share = np.bincount(np.arange(first, end) // EACH, minlength=COMMUNITIES) / (end - first)
        out += (end - first)**2 * share * (1 - share)
    return out


def error_of_strides() -> np.ndarray:
    """[communities]: over all strides 1 .. 999."""
    place = np.arange(1, ROW)[:, None] * np.arange(WIDTH) % ROW
    counts = np.stack([(place // EACH == c).sum(axis=1) for c in range(COMMUNITIES)])
    return ((counts * ROW / WIDTH - EACH)**2).mean(axis=1)


def draw_row(method: str, draws: int):
    """Mean square error of the library's estimates, and its standard error: [communities] each."""
    a = csaw.torch.Matrix(torch.tensor([0, ROW]), torch.arange(ROW, dtype=torch.int32), num_cols=ROW)
    x = torch.eye(COMMUNITIES).repeat_interleave(EACH, 0)
    share = torch.cat([csaw.torch.es_spmm(a, x, None, WIDTH, method, "mean", 7, draw) for draw in range(draws)])
    square = (share.double() * ROW - EACH).square().numpy()
    return square.mean(axis=0), square.std(axis=0) / math.sqrt(draws)


def communities(draws: int) -> Dict[str, Any]:
    exact, (mean, error) = error_of_strata(), draw_row("stratified", draws)
    if (abs(mean - exact) > 5 * error + 0.01).any():  # 0.01: estimates are rounded to float32
        raise SystemExit(f"stratified sampling misses its variance: {mean} by the library, {exact} by enumeration")
    out = {"stratified": exact, "stratified, drawn": mean, "stride": error_of_strides()}
    out.update({method: draw_row(method, 1)[0] for method in ("bucket", "fastrand")})
    return {"entries": ROW, "S": WIDTH, "draws": draws, "mean_square_error": {k: list(v) for k, v in out.items()}}


# ---- by length ------------------------------------------------------------------------------------------------------

def places(method: str, lengths: np.ndarray) -> List[np.ndarray]:
    """The places that the library takes of rows of these lengths, each with its part of the estimate: [n] each."""
    rowptr = torch.from_numpy(np.concatenate([[0], np.cumsum(lengths)]))
    col = torch.from_numpy(np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]))
    a = csaw.torch.Matrix(rowptr, col, num_cols=int(lengths.max()))
    weight = torch.ones(a.num_edges, requires_grad=True)
    y = csaw.torch.es_spmm(a, torch.ones(a.shape[1], 1), weight, WIDTH, method, "mean", 7)
    part = torch.autograd.grad(y.sum(), weight)[0].double().numpy()  # of each entry: its factor, added up
    return np.split(part, rowptr[1:-1].numpy())


def measures(part: np.ndarray) -> Dict[str, float]:
    off = part - 1 / len(part)
    sums = np.concatenate([[0], np.cumsum(off)])
    return {"distinct": int((part > 0).sum()), "stretch": float(sums.max() - sums.min()),
            "noise": math.sqrt(np.square(off).sum())}


def by_length(longest: int) -> Dict[str, Any]:
    lengths = np.arange(1, longest + 1)
    out: Dict[str, Any] = {"S": WIDTH, "length": lengths.tolist()}
    for method in METHODS:
        rows = [measures(part) for part in places(method, lengths)]
        out[method] = {what: [row[what] for row in rows] for what in rows[0]}
    return out


# ---- what is shown --------------------------------------------------------------------------------------------------

def show(record: Dict[str, Any]) -> None:
    errors = record["communities"]["mean_square_error"]
    print(f"mean square error of a community's count, row of {ROW} entries, S = {WIDTH}")
    print(f"  {'community':>9}" + "".join(f"{name:>19}" for name in errors))
    for c in range(COMMUNITIES):
        print(f"  {c + 1:9}" + "".join(f"{values[c]:19.1f}" for values in errors.values()))
    print(f"  {'average':>9}" + "".join(f"{np.mean(values):19.1f}" for values in errors.values()))
    rows = record["by_length"]
    print(f"\nrows by length, S = {WIDTH}: distinct, stretch, noise")
    print(f"  {'n':>9}" + "".join(f"{method:>22}" for method in METHODS))
    longest = len(rows["length"])
    for n in [n for k in range(1, longest // 577 + 1) for n in (577 * k - 1, 577 * k, 577 * k + 1) if n <= longest]:
        print(f"  {n:9}" + "".join(f"{rows[m]['distinct'][n - 1]:8}{rows[m]['stretch'][n - 1]:7.3f}"
                                   f"{rows[m]['noise'][n - 1]:7.3f}" for m in METHODS))
    few = [n for n in rows["length"] if rows["fastrand"]["distinct"][n - 1] < min(n, WIDTH)]
    print(f"  FastRand takes entries again at n = {', '.join(map(str, few)) or 'none'}")


def draw(record: Dict[str, Any], folder: Path) -> None:
    errors = record["communities"]["mean_square_error"]
    figure, (axis,) = axes_for(1, 1, 6, 3.6)
    for name, color in (("stride", "tab:gray"), ("stratified", "tab:blue")):
        axis.plot(range(1, COMMUNITIES + 1), errors[name], color=color, marker=".",
                  label="random stride" if name == "stride" else name)
    axis.plot(range(1, COMMUNITIES + 1), errors["stratified, drawn"], "x", color="black", label="stratified, drawn")
    axis.set(xlabel="community, in the order of the row", ylabel="mean square error", yscale="log",
             title=f"Row of {ROW} entries, S = {WIDTH}: a community's count")
    axis.legend()
    save(figure, folder / "edge-sampled-variance.svg")

    rows = record["by_length"]
    figure, axes = axes_for(3, 1, 8, 2.2)
    for axis, what, label in zip(axes, ("distinct", "stretch", "noise"),
                                 ("different entries", "error of a stretch", "noise of the mean")):
        for method, color in zip(METHODS, COLORS):
            axis.plot(rows["length"], rows[method][what], color=color, linewidth=0.8, label=method)
        axis.set_ylabel(label)
    axes[0].legend()
    axes[2].set_xlabel(f"entries of the row; S = {WIDTH}")
    save(figure, folder / "edge-sampled-lengths.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--draws", type=int, default=20000, help="epochs; default %(default)s")
    parser.add_argument("--longest", type=int, default=4000, help="row; default %(default)s")
    options = parse_outputs(parser)
    record = {"csaw": csaw.version(), "communities": communities(options.draws),
              "by_length": by_length(options.longest)}
    show(record)
    write_json(options.json, record)
    if options.plot:
        draw(record, options.plot)


if __name__ == "__main__":
    main()
