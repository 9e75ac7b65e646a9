#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_maxk.py OUT.svg FILE... - MaxK-GNN's figure 8, from the JSON files of maxk_gpu_bench, one of each graph: how many
times as fast aggregation of k entries a row is as that of dense rows, by csaw_spmm() and by the fastest of cuSPARSE's algorithms
that is in the file, which is timed forward alone and stands for both; forward, backward as it goes with a plan, and backward
without atomic additions. Python's standard library alone.
"""
import argparse
import json
import pathlib
import sys

from svg_plot import COLORS, Axis, number_text, picture, text

LEFT, TOP, WIDTH, HEIGHT, GAP, FOOT = 74, 100, 350, 210, 84, 60  # room at the left, on top; of a panel; between; below
PASSES = {"forward": ("forward", "csaw_spmm, dense"), "backward": ("backward, prepared", "csaw_spmm_backward, dense"),
          "backward, deterministic": ("backward, deterministic", "csaw_spmm_backward, dense")}
PEERS = ("csaw_spmm() on dense rows", "cuSPARSE forward on dense rows")


def read_reports(paths):
    reports = [json.loads(path.read_text()) for path in paths]
    for path, report in zip(paths, reports):
        if not any(row["what"] == "forward" for row in report.get("rows", [])):
            sys.exit(f"plot_maxk.py: {path} holds no forward product; write it with --json of maxk_gpu_bench")
        if report["device"] != reports[0]["device"]:
            sys.exit(f"plot_maxk.py: {path} is of {report['device']}, others of {reports[0]['device']}: plot them apart")
    return reports


def seconds_of(report, what):
    """By k; the first of each."""
    found = {}
    for row in report["rows"]:
        if row["what"] == what:
            found.setdefault(row["k"], row["median_s"])
    return found


def dense_seconds(report, way, peer):
    if peer == PEERS[0]:
        return next(iter(seconds_of(report, PASSES[way][1]).values()), None)
    times = [row["median_s"] for row in report["rows"] if row["what"].startswith("cuSPARSE")]
    return min(times, default=None)


def speedups(report, way, peer):
    """[(k, times as fast)], by k."""
    dense = dense_seconds(report, way, peer)
    return [(k, dense / s) for k, s in sorted(seconds_of(report, PASSES[way][0]).items())] if dense else []


def panel(reports, way, peer, left, top):
    lines = [speedups(report, way, peer) for report in reports]
    points = [point for line in lines for point in line]
    out = [text(left, top - 9, f"{way}, over {peer}", 13, "start", 'font-weight="bold"')]
    if not points:
        return out + [text(left + WIDTH / 2, top + HEIGHT / 2, "not measured", 13, color="#777777")]
    across = Axis([k for k, _ in points], left, left + WIDTH)
    up = Axis([1, *(y for _, y in points)], top + HEIGHT, top)
    for tick in up.ticks():
        out.append(f'<path d="M{left} {up.at(tick):.1f}h{WIDTH}" stroke="#ececec"/>')
        out.append(text(left - 7, up.at(tick) + 4, number_text(tick), 11, "end"))
    for k in sorted({k for k, _ in points}):
        out.append(text(across.at(k), top + HEIGHT + 16, str(k), 11))
    out.append(f'<path d="M{left} {up.at(1):.1f}h{WIDTH}" stroke="#777777" stroke-dasharray="4 3"/>')
    for line, color in zip(lines, COLORS):
        places = [(across.at(k), up.at(y)) for k, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in places]
    return out + [f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>']


def draw(path, reports):
    out, left = [], LEFT
    for report, color in zip(reports, COLORS):
        graph = report["graph"]
        share = f"{graph['share']:g} of " if graph.get("share", 1) != 1 else ""
        name = f"{share}{graph['kind']}, {graph['edges'] / graph['vertices']:.0f} edges a row"
        out.append(f'<rect x="{left}" y="61" width="12" height="12" fill="{color}"/>' + text(left + 18, 71, name, 12, "start"))
        left += 36 + 6.6 * len(name)
    for row, way in enumerate(PASSES):
        for column, peer in enumerate(PEERS):
            out += panel(reports, way, peer, LEFT + column * (WIDTH + GAP), TOP + row * (HEIGHT + FOOT))
    width, height = LEFT + 2 * WIDTH + GAP + 24, TOP + len(PASSES) * (HEIGHT + FOOT)
    out.append(text(LEFT + WIDTH + GAP / 2, height - 12, "k, entries kept of a row", 13))
    middle = TOP + (len(PASSES) * (HEIGHT + FOOT) - FOOT) / 2
    out.append(text(18, middle, "times as fast", 13, more=f'transform="rotate(-90 18 {middle:.1f})"'))
    title = f"MaxK-GNN's figure 8: aggregation of k of {reports[0]['cols']} columns"
    commits = sorted({report["commit"] for report in reports if report["commit"]})
    under = "; ".join([reports[0]["device"], *commits, "float32, with a plan"])
    path.write_text(picture(width, height, LEFT, title, under, out))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.svg")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    options = parser.parse_args()
    draw(options.out, read_reports(options.files))


if __name__ == "__main__":
    main()
