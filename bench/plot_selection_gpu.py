#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_selection_gpu.py FOLDER - C-SAW's figures 10 to 12 on a GPU, from the JSON files of selection_bench --device in FOLDER.

Writes selection-gpu.md, tables of what the bipartite search and the bitmap bring, each on and off, and selection-gpu.svg to
FOLDER: picks a second over instances, the geometric mean of the graphs, a panel for each application. Python's standard
library alone.
"""
import argparse
import json
import pathlib
import statistics
import sys

from svg_plot import COLORS, Axis, number_text, picture, text

SETTINGS = (("neither", "repeated", "linear"), ("bitmap", "repeated", "strided"), ("search", "fresh", "linear"),
            ("both", "fresh", "strided"))  # csaw's search and the strided bitmap
PANEL, HEIGHT, LEFT, TOP, GAP = 300, 200, 66, 92, 60


def read_reports(folder):
    reports = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    reports = [report for report in reports if report.get("kind") == "selection_device"]
    if not any(sampled(report) for report in reports):
        sys.exit(f"plot_selection_gpu.py: {folder} holds no JSON of selection_bench --device with rows of instances")
    for key in ("version", "commit", "machine"):
        if any(report[key] != reports[0][key] for report in reports):
            sys.exit(f"plot_selection_gpu.py: reports differ in '{key}': read them from folders of their own")
    return reports


def sampled(report):
    return [row for row in report["rows"] if row["instances"]]


def application(row):
    return {"neighbor": "neighbour sampling", "forest_fire": "forest fire", "layer": "layer sampling"}[row["from"]] + (
        ", biased" if row["bias"] == "degree" else "")


def applications(reports):
    return list(dict.fromkeys(application(row) for report in reports for row in sampled(report)))


def rate(row, way, looking):
    """Picks a second."""
    return 1e9 / row["ways"][way][looking]["ns"][0]


def means(reports, of, way, looking):
    """(instances, mean over the graphs that have them)"""
    rates = {}
    for report in reports:
        for row in sampled(report):
            if application(row) == of:
                rates.setdefault(row["instances"], []).append(rate(row, way, looking))
    return [(instances, statistics.geometric_mean(every)) for instances, every in sorted(rates.items())]


def panel(reports, of, axes, left):
    x, y = axes
    out = [text(left, TOP - 8, of, 13, "start", 'font-weight="bold"'),
           f'<rect x="{left}" y="{TOP}" width="{PANEL}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>']
    for tick in y.ticks():
        out.append(f'<path d="M{left} {y.at(tick):.1f}h{PANEL}" stroke="#ececec"/>')
        out.append(text(left - 6, y.at(tick) + 4, number_text(tick), 11, "end"))
    for (name, way, looking), color in zip(SETTINGS, COLORS):
        places = [(x.at(instances), y.at(mean)) for instances, mean in means(reports, of, way, looking)]
        out.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in places)}" stroke="{color}" stroke-width="2" '
                   f'fill="none"><title>{name}</title></polyline>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{color}"/>' for a, b in places]
    return out


def draw(path, reports):
    every = [point for of in applications(reports) for _, way, looking in SETTINGS for point in means(reports, of, way, looking)]
    y = Axis([mean for _, mean in every], TOP + HEIGHT, TOP)
    counts = sorted({instances for instances, _ in every})
    shapes = []
    for place, of in enumerate(applications(reports)):
        left = LEFT + place * (PANEL + GAP)
        x = Axis([min(counts), max(counts) * (1 if len(counts) > 1 else 10)], left, left + PANEL)
        shapes += panel(reports, of, (x, y), left)
        shapes += [text(x.at(tick), TOP + HEIGHT + 16, number_text(tick), 11) for tick in counts]
    for place, ((name, _, _), color) in enumerate(zip(SETTINGS, COLORS)):
        shapes.append(text(LEFT + 90 * place, TOP + HEIGHT + 58, name, 13, "start", 'font-weight="bold"', color))
    shapes.append(text(LEFT, TOP + HEIGHT + 38, "instances", 12, "start"))
    width = LEFT + len(applications(reports)) * (PANEL + GAP)
    subtitle = f"{', '.join(reports[0]['machine']['gpus'])}; geometric mean of {', '.join(report['name'] for report in reports)}"
    path.write_text(picture(width, TOP + HEIGHT + 74, LEFT, "Picks a second without replacement: C-SAW's optimisations on and off",
                            subtitle, shapes))


def heads(report, row):
    return f"| {report['name']} | {application(row)} | {row['instances']:,} |"


def table(titles, lines):
    return ["| graph | application | instances | " + " | ".join(titles) + " |", "|---" * (len(titles) + 3) + "|", *lines]


def speeds(reports):
    """Figure 10."""
    lines = []
    for report in reports:
        for row in sampled(report):
            base = rate(row, "repeated", "linear")
            others = [("updated", "linear"), ("repeated", "strided"), ("fresh", "linear"), ("fresh", "contiguous"), ("fresh", "strided")]
            ratios = " | ".join(f"{rate(row, *each) / base:.2f}" for each in others)
            lines.append(f"{heads(report, row)} {row['lists']:,} | {row['k']:.3g} | {1e9 / row['sums_ns'][0] / 1e6:.1f} | {base / 1e6:.1f} "
                         f"| {ratios} |")
    return table(["lists", "picks a list", "sums alone, M picks/s", "neither, M picks/s", "updated / neither", "bitmap", "search",
                  "search, contiguous bitmap", "both"], lines)


def counts(reports):
    """Figures 11 and 12."""
    lines = []
    for report in reports:
        for row in sampled(report):
            repeated, fresh, printed = (row["ways"][way] for way in ("repeated", "fresh", "printed"))
            lines.append(f"{heads(report, row)} {repeated['trials']:.3f} | {fresh['trials']:.3f} | {repeated['trials'] / fresh['trials']:.2f} "
                         f"| {fresh['linear']['looks']:.3f} | {fresh['strided']['looks']:.3f} | {repeated['z']:.1f} | {fresh['z']:.1f} "
                         f"| {printed['z']:.1f} |")
    return table(["trials a pick: repeated", "fresh", "ratio", "looks a pick: linear", "bitmap", "z of the law: repeated", "fresh",
                  "printed"], lines)


def report_text(reports):
    first = reports[0]
    return "\n".join([
        "# Picks without replacement on a GPU", "",
        f"csaw {first['version']}, commit {first['commit']}; {', '.join(first['machine']['gpus'])}, {first['machine']['processor']}.", "",
        "![picks a second](selection-gpu.svg)", "",
        "Neither: a taken candidate is drawn again (`repeated`), and looked for among the picks. Search: the bipartite region search with "
        "a fresh number. Bitmap: a bit a candidate, strided. Ratios to neither; sums of biases are part of all:", "", *speeds(reports),
        "", "Trials, looks at what is taken, and z of chi-square against the law, of lists that were checked:", "", *counts(reports)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    reports = read_reports(folder)
    draw(folder / "selection-gpu.svg", reports)
    (folder / "selection-gpu.md").write_text(report_text(reports))
    print(f"wrote   {folder}/selection-gpu.md and a plot of {', '.join(report['name'] for report in reports)}")


if __name__ == "__main__":
    main()
