#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/likeness.py FOLDER - samples beside the graphs they were drawn from, from the JSON files of likeness_bench in FOLDER.

Writes likeness.md (how samples were drawn, and two tables for each graph) and, for each graph, NAME-degrees.svg and
NAME-clustering.svg to FOLDER: one small plot for each sampler. Python's standard library alone.
"""
import argparse
import json
import pathlib
import statistics
import sys

from svg_plot import COLORS, Axis, number_text, picture, text

READINGS = (("sampled", "arcs sampled", COLORS[0]), ("induced", "induced", COLORS[1]))
GREY = "#a9a9a9"
COLUMNS, PANEL, HEIGHT, GAP = 5, 210, 158, 16  # plots in a row, their size, room to the right of each
LEFT, TOP, HEAD, FOOT = 84, 66, 26, 62  # room around all; for the name above each; below
FEW = 10  # vertices: means of fewer are not drawn


def read_reports(folder):
    reports = []
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text())
        if report.get("kind") == "likeness":
            reports.append(report)
    if not reports:
        sys.exit(f"likeness.py: {folder} holds no JSON of likeness_bench; write one there with its --json")
    for key in ("version", "commit", "share", "seeds"):
        if any(report[key] != reports[0][key] for report in reports):
            sys.exit(f"likeness.py: reports differ in '{key}': read them from folders of their own")
    return reports


def has_edges(shape):
    return shape["edges"] > 0


# ---- the plots ----


class Linear:
    """From 0 to 1."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + value * (self.end - self.begin)


class Degrees:
    """Which vertices have at least a degree."""

    file, curve, distance = "degrees", "tail", "d_degree"
    title = "How many vertices have at least a given degree"
    of, across, label = "degrees", "degree", "share of vertices of at least that degree"

    def __init__(self, report):
        self.least = 1 / report["whole"]["vertices"]
        self.most = report["whole"]["tail"][-1][0] * 1.1

    def axes(self, left, top):
        return Axis([1, self.most], left, left + PANEL), Axis([self.least, 1], top + HEIGHT, top)

    def ticks(self, axis):
        return [10.0**power for power in range(-9, 1) if 10.0**power >= self.least]

    @staticmethod
    def tick_text(value):
        return f"{100 * value:g}%"

    @staticmethod
    def pieces(shape):
        return [[point for point in shape["tail"] if point[1] > 0]]


class Clustering:
    """Mean local coefficient at a degree."""

    file, distance = "clustering", "d_clustering"
    title = "Mean local clustering coefficient of the vertices of a degree"
    of, across, label = "local coefficients", f"degree (in bins of {FEW} vertices or more)", "mean local clustering coefficient"

    def __init__(self, report):
        self.most = report["whole"]["tail"][-1][0] * 1.1

    def axes(self, left, top):
        return Axis([1, self.most], left, left + PANEL), Linear(top + HEIGHT - 6, top + 6)

    @staticmethod
    def ticks(axis):
        return [0, 0.25, 0.5, 0.75, 1]

    @staticmethod
    def tick_text(value):
        return f"{value:g}"

    @staticmethod
    def pieces(shape):
        """A line ends where too few vertices have the degree."""
        pieces = [[]]
        for point in shape["bins"]:
            if point and point[2] >= FEW:
                pieces[-1].append(point[:2])
            elif pieces[-1]:
                pieces.append([])
        return pieces


def line(pieces, x, y, color, width, dots):
    out = []
    for piece in pieces:
        places = [(x.at(point[0]), y.at(point[1])) for point in piece]
        if len(places) > 1:
            path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
            out.append(f'<path d="M{path}" stroke="{color}" stroke-width="{width}" stroke-linejoin="round" '
                       'stroke-linecap="round" fill="none"/>')
        if dots or len(places) == 1:
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{width / 2 + 1.4:g}" fill="{color}"/>' for a, b in places]
    return out


def frame(kind, x, y, left, top, place, count):
    """Grid and border; numbers at the left of each row and below each column."""
    out = []
    for tick in [10.0**power for power in range(10) if 10.0**power <= kind.most]:
        out.append(f'<path d="M{x.at(tick):.1f} {top}v{HEIGHT}" stroke="#ececec"/>')
        if place + COLUMNS >= count:
            out.append(text(x.at(tick), top + HEIGHT + 16, number_text(tick).replace(" ", ""), 11))
    for tick in kind.ticks(y):
        out.append(f'<path d="M{left} {y.at(tick):.1f}h{PANEL}" stroke="#ececec"/>')
        if place % COLUMNS == 0:
            out.append(text(left - 7, y.at(tick) + 4, kind.tick_text(tick), 11, "end"))
    out.append(f'<rect x="{left}" y="{top}" width="{PANEL}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>')
    return out


def notes(x, y, anchor, lines):
    """Words under each other, each in the colour of its curve, with white around."""
    out = []
    for row, (words, color) in enumerate(lines):
        place = (x, y + 16 * row, words, 12, anchor, 'font-weight="bold"')
        out.append(text(*place, color="#ffffff").replace("<text ", '<text stroke="#ffffff" stroke-width="4" '))
        out.append(text(*place, color=color))
    return out


def panel(kind, report, method, left, top, place, count):
    x, y = kind.axes(left, top)
    out = frame(kind, x, y, left, top, place, count)
    whole = line(kind.pieces(report["whole"]), x, y, GREY, 5, False)
    if method is None:
        key = [("whole graph", "#777777")] + [(words, color) for _, words, color in READINGS]
        out += [text(left, top - 8, "how to read", 13, "start", color="#777777")] + whole
        return out + notes(left + 10, top + HEIGHT - 48, "start", key)
    out += [text(left, top - 8, method["sampler"], 13, "start", 'font-weight="bold"')] + whole
    said = []
    for reading, _, color in READINGS:
        shape = method["runs"][0][reading]
        if has_edges(shape):
            out += line(kind.pieces(shape), x, y, color, 2, kind.file == "clustering")
        if not has_edges(shape):
            said.append(("no arcs", color))
        elif shape[kind.distance] is not None:
            said.append((f"D {shape[kind.distance]:.2f}", color))
    return out + notes(left + PANEL - 9, top + 18, "end", said)


def draw(path, kind, report):
    panels = [None] + report["methods"]
    rows = -(-len(panels) // COLUMNS)
    width = LEFT + COLUMNS * (PANEL + GAP) + 8
    height = TOP + rows * (HEAD + HEIGHT) + FOOT
    out = []
    for place, method in enumerate(panels):
        left = LEFT + place % COLUMNS * (PANEL + GAP)
        top = TOP + place // COLUMNS * (HEAD + HEIGHT) + HEAD
        out += panel(kind, report, method, left, top, place, len(panels))
    middle = TOP + rows * (HEAD + HEIGHT) / 2 + HEAD / 2
    out.append(text((LEFT + width) / 2, height - 18, kind.across, 14))
    out.append(text(20, middle, kind.label, 14, more=f'transform="rotate(-90 20 {middle:.1f})"'))
    subtitle = (f"samples of about {100 * report['share']:g}% of {report['whole']['vertices']:,} vertices, seed 1; induced: all "
                f"arcs between the vertices sampled; D: Kolmogorov-Smirnov distance from the whole graph's {kind.of}")
    path.write_text(picture(width, height, LEFT, f"{kind.title}: {report['name']}", subtitle, out))


# ---- the tables ----


def mean_degree(shape):
    return 2 * shape["edges"] / shape["vertices"]


def median(method, reading, key):
    values = [run[reading][key] for run in method["runs"]]
    return None if None in values else statistics.median(values)


def ranged(method, reading, key):
    values = [run[reading][key] for run in method["runs"]]
    return "-" if None in values else f"{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f})"


def plain(value):
    return "-" if value is None else f"{value:.4f}"


def rows_of(report, reading):
    whole = report["whole"]
    lines = ["| sampler | vertices | edges | mean degree | D of degrees | D of clustering | average clustering | transitivity |",
             "|---|---|---|---|---|---|---|---|",
             f"| whole graph | {whole['vertices']:,} | {whole['edges']:,} | {mean_degree(whole):.2f} | 0 "
             f"| 0 | {plain(whole['average'])} | {plain(whole['transitivity'])} |"]
    for method in report["methods"]:
        if not all(has_edges(run[reading]) for run in method["runs"]):
            continue
        vertices, edges = (median(method, reading, key) for key in ("vertices", "edges"))
        degree = statistics.median(mean_degree(run[reading]) for run in method["runs"])
        lines.append(f"| {method['sampler']} | {vertices:,.0f} | {edges:,.0f} | {degree:.2f} "
                     f"| {ranged(method, reading, 'd_degree')} | {ranged(method, reading, 'd_clustering')} "
                     f"| {plain(median(method, reading, 'average'))} | {plain(median(method, reading, 'transitivity'))} |")
    return lines


def numbers(counts):
    return f"{counts[0]:,} each" if len(set(counts)) == 1 else ", ".join(f"{n:,}" for n in counts)


def drawn(reports):
    """How each sampler's samples were drawn, and how many were needed."""
    lines = ["| sampler | drawn | " + " | ".join(f"n, {report['name']}" for report in reports) + " |",
             "|---|---|" + "---|" * len(reports)]
    found = {}
    for report in reports:
        for method in report["methods"]:
            found.setdefault((method["sampler"], method["how"]), {})[report["name"]] = [run["n"] for run in method["runs"]]
    for (sampler, how), counts in found.items():
        cells = [numbers(counts[report["name"]]) if report["name"] in counts else "-" for report in reports]
        lines.append(f"| {sampler} | {how} | " + " | ".join(cells) + " |")
    return lines


def report_text(reports):
    first = reports[0]
    seeds = "with seed 1" if first["seeds"] == 1 else f"with the seeds 1 to {first['seeds']}: median (least .. most)"
    lines = ["# Samples beside their graphs", "", f"csaw {first['version']}, commit {first['commit']}", "",
             f"Samples of about {100 * first['share']:g}% of the vertices, {first['seeds']} of each sampler, {seeds}. The pool that "
             "layer and multidimensional begin with is a tenth of that at most. D of clustering compares the local coefficients "
             "of vertices of degree 2 and more; the average counts the others as 0.", "", "## How they were drawn", "",
             *drawn(reports)]
    for report in reports:
        lines += ["", f"## {report['name']}", "", f"![degrees]({report['name']}-degrees.svg)", "",
                  f"![clustering]({report['name']}-clustering.svg)"]
        for reading, words in (("sampled", "The arcs that were sampled"), ("induced", "All arcs between the vertices sampled")):
            lines += ["", f"{words}:", "", *rows_of(report, reading)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    reports = read_reports(folder)
    for report in reports:
        for kind in (Degrees(report), Clustering(report)):
            draw(folder / f"{report['name']}-{kind.file}.svg", kind, report)
    (folder / "likeness.md").write_text(report_text(reports))
    print(f"wrote   {folder}/likeness.md and two plots of each of {', '.join(report['name'] for report in reports)}")


if __name__ == "__main__":
    main()
