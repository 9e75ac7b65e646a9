#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_walks.py FOLDER - what a step of a walk costs, from the JSON files of walk_bench in FOLDER.

Writes walks.md (a table of every row), walks_by_size.svg (graphs of one edge factor) and walks_by_degree.svg (graphs of one
scale) to FOLDER. Python's standard library alone.
"""
import argparse
import json
import pathlib
import sys

from svg_plot import COLORS, Axis, number_text, picture, text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 520, 80, 320, 60, 80


def read_runs(folder):
    runs = []
    for path in sorted(folder.glob("*.json")):
        run = json.loads(path.read_text())
        if "rows" in run and run.get("graph", {}).get("kind") == "rmat":
            runs.append(run)
    return sorted(runs, key=lambda run: (run["graph"]["scale"], run["graph"]["edge_factor"]))


def check_alike(runs):
    """One plot shows one machine, one version and one way of measuring."""
    for key in ("version", "commit", "machine", "threads", "device", "length", "warm_up", "repeat", "seed"):
        if any(run[key] != runs[0][key] for run in runs):
            sys.exit(f"plot_walks.py: runs differ in '{key}': plot them from folders of their own")


def mean_degree(run):
    return run["graph"]["arcs"] / run["graph"]["vertices"]


def nanoseconds(row, key="median_s"):
    return 1e9 * row[key] / row["steps"]


def curves(runs, place):
    """{(walk, by): [(x, median, least, most)]} in nanoseconds a step, x = place(run)."""
    found = {}
    for run in runs:
        for row in run["rows"]:
            point = (place(run), *(nanoseconds(row, key) for key in ("median_s", "min_s", "max_s")))
            found.setdefault((row["walk"], row["by"]), []).append(point)
    return {key: sorted(points) for key, points in found.items()}


# ---- the plot ----


def marker(x, y, by, color):
    fill = color if by == "csaw" else "#ffffff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{color}" stroke-width="1.8"/>'


def stroke(by, color):
    return f'stroke="{color}" stroke-width="2" fill="none"' + ("" if by == "csaw" else ' stroke-dasharray="6 4"')


def draw_axes(x, y, x_label, y_label):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    out = [f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#888888"/>']
    for tick in x.ticks():
        at = x.at(tick)
        out.append(f'<path d="M{at:.1f} {TOP}V{bottom}" stroke="#e4e4e4"/>' + text(at, bottom + 20, number_text(tick)))
    for tick in y.ticks():
        at = y.at(tick)
        out.append(f'<path d="M{LEFT} {at:.1f}H{right}" stroke="#e4e4e4"/>'
                   + text(LEFT - 8, at + 4, number_text(tick), anchor="end"))
    middle = (TOP + bottom) / 2
    out.append(text((LEFT + right) / 2, HEIGHT - 28, x_label, 14))
    out.append(text(24, middle, y_label, 14, more=f'transform="rotate(-90 24 {middle:.1f})"'))
    return out


def draw_curve(points, by, color, x, y):
    path = "L".join(f"{x.at(point[0]):.1f} {y.at(point[1]):.1f}" for point in points)
    out = [f'<path d="M{path}" {stroke(by, color)}/>']
    for place, median, least, most in points:
        at = x.at(place)
        out.append(f'<path d="M{at:.1f} {y.at(least):.1f}V{y.at(most):.1f}" stroke="{color}" stroke-width="1.2"/>')
        out.append(marker(at, y.at(median), by, color))
    return out


def draw(path, title, subtitle, x_label, y_label, found):
    x = Axis([point[0] for points in found.values() for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([value for points in found.values() for point in points for value in point[1:]], HEIGHT - BOTTOM, TOP)
    walks = list(dict.fromkeys(walk for walk, _ in found))
    out = draw_axes(x, y, x_label, y_label)
    for row, (walk, by) in enumerate(found):
        color = COLORS[walks.index(walk) % len(COLORS)]
        out += draw_curve(found[walk, by], by, color, x, y)
        left, at = WIDTH - RIGHT + 16, TOP + 12 + 22 * row
        out.append(f'<path d="M{left} {at}h36" {stroke(by, color)}/>' + marker(left + 18, at, by, color))
        out.append(text(left + 44, at + 4, f"{walk}, {'csaw' if by == 'csaw' else 'by hand'}", 12, "start"))
    path.write_text(picture(WIDTH, HEIGHT, LEFT, title, subtitle, out))


# ---- the table ----


def table(runs):
    run = runs[0]
    machine = run["machine"]
    lines = [
        "# What a step of a walk costs on a CPU", "",
        "| | |", "|---|---|",
        f"| csaw | {run['version']}, commit {run['commit']} |",
        f"| machine | {machine['processor']}, {machine['cores']} cores; {run['threads']} threads |",
        f"| graphs | R-MAT, weights uniform on [1, 5), seed {run['graph']['seed']} |",
        f"| walks | {run['length']} steps, paths kept in memory, seed {run['seed']} |",
        f"| measured | wall time of a whole run over its steps, by all threads together; {run['warm_up']} warm-up, whose walks "
        f"are verified, then median (least to most) of {run['repeat']} |", "",
        "\"By hand\" is a loop of `bench/hand_walks.c` for that one walk, with a cheaper generator, its path array allocated "
        "beforehand and in huge pages as csaw's are.", "",
        "| scale | edge factor | vertices | arcs | mean degree | walks | walk | csaw, ns a step | by hand, ns a step | by hand / csaw |",
        "|---|---|---|---|---|---|---|---|---|---|"]
    for run in runs:
        graph = run["graph"]
        rows = {(row["walk"], row["by"]): row for row in run["rows"]}
        for walk in dict.fromkeys(row["walk"] for row in run["rows"]):
            cells = []
            for by in ("csaw", "hand"):
                row = rows.get((walk, by))
                cells.append("-" if not row else f"{nanoseconds(row):.3g} ({nanoseconds(row, 'min_s'):.3g} to "
                             f"{nanoseconds(row, 'max_s'):.3g})")
            both = (walk, "csaw") in rows and (walk, "hand") in rows
            ratio = f"{rows[walk, 'hand']['median_s'] / rows[walk, 'csaw']['median_s']:.2f}" if both else "-"
            lines.append(f"| {graph['scale']} | {graph['edge_factor']} | {graph['vertices']:,} | {graph['arcs']:,} | "
                         f"{mean_degree(run):.1f} | {run['start_vertices'] * run['walks_per_vertex']:,} | {walk} | {cells[0]} | "
                         f"{cells[1]} | {ratio} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--edge-factor", type=int, default=16, help="of the graphs in the plot by size (default 16)")
    parser.add_argument("--scale", type=int, default=18, help="of the graphs in the plot by degree (default 18)")
    given = parser.parse_args()
    runs = read_runs(given.folder)
    by_size = [run for run in runs if run["graph"]["edge_factor"] == given.edge_factor]
    by_degree = [run for run in runs if run["graph"]["scale"] == given.scale]
    if not by_size or not by_degree:
        sys.exit(f"plot_walks.py: {given.folder} holds no run of walk_bench with edge factor {given.edge_factor}, or none "
                 f"with scale {given.scale}; give others with --edge-factor and --scale")
    check_alike(runs)
    first, scales = runs[0], [run["graph"]["scale"] for run in by_size]
    factors = [run["graph"]["edge_factor"] for run in by_degree]
    subtitle = (f"{first['machine']['processor']}, {first['threads']} threads; walks of {first['length']} steps; median of "
                f"{first['repeat']}, bars from least to most; commit {first['commit']}")
    cost = "wall time per step, all threads together (ns)"
    draw(given.folder / "walks_by_size.svg", "Cost of a step against the size of the graph", subtitle,
         f"arcs of the graph (R-MAT, scale {min(scales)} to {max(scales)}, edge factor {given.edge_factor})", cost,
         curves(by_size, lambda run: run["graph"]["arcs"]))
    draw(given.folder / "walks_by_degree.svg", "Cost of a step against the mean degree", subtitle,
         f"mean degree (R-MAT, scale {given.scale}, edge factor {min(factors)} to {max(factors)})", cost,
         curves(by_degree, mean_degree))
    (given.folder / "walks.md").write_text(table(runs) + "\n![by size](walks_by_size.svg)\n\n![by degree](walks_by_degree.svg)\n")
    print(f"wrote   {given.folder}/walks.md, walks_by_size.svg, walks_by_degree.svg")


if __name__ == "__main__":
    main()
