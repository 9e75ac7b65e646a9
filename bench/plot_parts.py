#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_parts.py FOLDER - how partitions are scheduled, from the JSON files of parts_bench in FOLDER.

Writes parts.md (tables) and plots, a panel for each walk, to FOLDER: parts-speedup.svg (C-SAW's figure 13),
parts-deviation.svg (figure 14) and parts-transfers.svg (figure 15); the first two where a GPU was timed. Python's standard
library alone.
"""
import argparse
import json
import pathlib
import statistics
import sys

from svg_plot import COLORS, Axis, number_text, picture, text

BASE = "few: one at a time, cyclic, equal"
SPEEDUPS = {"BA": "few: cyclic, equal (WS, BAL off)", "BA, WS": "few: equal shares (BAL off)", "BA, WS, BAL": "few: partitions",
            "WS, BAL": "few: one at a time (BA off)", "read in place": "few: read in place"}
LAUNCHES = {"BAL off": "equal shares (BAL off)", "BAL on": "partitions"}
CYCLIC = "cyclic, equal (WS, BAL off)"
TRANSFERS = {"neither": CYCLIC, "BAL": "cyclic order (WS off)", "WS": "equal shares (BAL off)", "WS, BAL": "partitions"}
WALKS = ("biased-neighbor", "biased-walk", "forest-fire", "unbiased-neighbor", "uniform", "node2vec", "neighbor")
LEFT, TOP, GROUP, HEIGHT, HEAD, FOOT = 70, 84, 92, 150, 30, 92  # room at the left, on top; of a graph; of panels; around them


def read_reports(folder):
    reports = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    reports = [report for report in reports if report.get("kind") == "parts" and report["rows"]]
    if not reports:
        sys.exit(f"plot_parts.py: {folder} holds no JSON of parts_bench with rows; write one there with its --json")
    for key in ("version", "commit", "device", "partitions", "resident", "streams", "length", "p", "q", "repeat"):
        if any(report[key] != reports[0][key] for report in reports):
            sys.exit(f"plot_parts.py: reports differ in '{key}': read them from folders of their own")
    for report in reports:
        if not report.get("whole", True):
            report["graph"]["name"] += " (cut)"
    return reports


def is_timed(report):
    return report["device"] != "simulated"


def find(report, walk, by):
    return next((row for row in report["rows"] if (row["walk"], row["by"]) == (walk, by)), None)


def walks_of(reports):
    return [walk for walk in WALKS if any(row["walk"] == walk for report in reports for row in report["rows"])]


def walk_text(report, walk):
    steps = f"{report['length']} steps"
    return {"uniform": f"uniform walks of {steps}", "neighbor": "samples of 15 and 10 neighbours",
            "biased-neighbor": "samples of 2 and 2 neighbours by weight", "biased-walk": f"walks by weight of {steps}",
            "forest-fire": "forest fires, 2 depths", "unbiased-neighbor": "samples of 2 and 2 neighbours",
            "node2vec": f"node2vec, p = {report['p']}, q = {report['q']}, {steps}"}[walk]


# ---- what is shown: of a report, a walk and a way; None: it was not measured ----


def speedup(report, walk, by):
    base, row = find(report, walk, BASE), find(report, walk, by)
    return base["seconds"] / row["seconds"] if base and row and is_timed(report) else None


def deviation(report, walk, by):
    row = find(report, walk, by)
    return row["launch_deviation_s"] * 1e3 if row and row.get("launch_deviation_s") else None


def transfers(report, walk, by):
    base, row = find(report, walk, CYCLIC), find(report, walk, by)
    return row["transfers"] / base["transfers"] if base and row and base["transfers"] else None


# ---- the plots ----


class Linear:
    """From 0 to the largest value."""

    def __init__(self, values, begin, end):
        self.high, self.begin, self.end = 1.08 * max(values), begin, end

    def at(self, value):
        return self.begin + value / self.high * (self.end - self.begin)

    def ticks(self):
        step = next(step for step in (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100, 1000) if self.high / step <= 6 or step == 1000)
        return [step * i for i in range(int(self.high / step) + 1)]


PLOTS = {
    "speedup": ("C-SAW's figure 13: speed-up over one instance at a time, in turn, equal shares", "times as fast", SPEEDUPS, speedup),
    "deviation": ("C-SAW's figure 14: standard deviation of the times of launches (lower is better)", "ms", LAUNCHES, deviation),
    "transfers": ("C-SAW's figure 15: partitions brought, by order (lower is better)", "of those in cyclic order", TRANSFERS,
                  transfers),
}


def axis_of(name, values, bottom, top):
    if name == "transfers":
        return Linear([*values, 1], bottom, top)
    return Axis([*values, 1] if name == "speedup" else [*values, 1.25 * max(values)], bottom, top)


def mark(name, x, width, axis, value, color):
    """A bar; a dot on a logarithmic axis that has no place to begin at."""
    if name == "deviation":
        return f'<circle cx="{x + width / 2:.1f}" cy="{axis.at(value):.1f}" r="5" fill="{color}"/>'
    zero, at = axis.at(0 if name == "transfers" else 1), axis.at(value)
    return (f'<rect x="{x:.1f}" y="{min(zero, at):.1f}" width="{width:.1f}" height="{max(abs(zero - at), 0.5):.1f}" '
            f'fill="{color}"/>')


def panel(name, reports, walk, top, width):
    series, value = PLOTS[name][2:]
    found = [[value(report, walk, by) for by in series.values()] for report in reports]
    known = [v for group in found for v in group if v]
    out = [text(LEFT, top - 9, walk_text(reports[0], walk), 13, "start", 'font-weight="bold"')]
    if not known:
        return out + [text(LEFT + width / 2, top + HEIGHT / 2, "not measured", 13, color="#777777")]
    axis, bar = axis_of(name, known, top + HEIGHT, top), min(0.82 * GROUP / len(series), 18)
    for tick in axis.ticks():
        out.append(f'<path d="M{LEFT} {axis.at(tick):.1f}h{width}" stroke="#ececec"/>')
        out.append(text(LEFT - 7, axis.at(tick) + 4, number_text(tick), 11, "end"))
    for place, group in enumerate(found):
        for i, (number, color) in enumerate(zip(group, COLORS)):
            if number:
                out.append(mark(name, LEFT + (place + 0.5) * GROUP + (i - len(series) / 2) * bar, 0.92 * bar, axis, number, color))
    if name != "deviation":
        out.append(f'<path d="M{LEFT} {axis.at(1):.1f}h{width}" stroke="#777777" stroke-dasharray="4 3"/>')
    return out + [f'<rect x="{LEFT}" y="{top}" width="{width}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>']


def counts_text(reports, series):
    counts = {row["walks"] for report in reports for row in report["rows"] if row["by"] in series.values()}
    return f"{min(counts):,}" + (f" to {max(counts):,}" if len(counts) > 1 else "") + " instances"


def draw(path, name, reports):
    title, label, series, _ = PLOTS[name]
    walks, width = walks_of(reports), GROUP * len(reports)
    height = TOP + len(walks) * (HEAD + HEIGHT) + FOOT
    out, left = [], LEFT
    for key, color in zip(series, COLORS):
        out.append(f'<rect x="{left}" y="61" width="12" height="12" fill="{color}"/>' + text(left + 18, 71, key, 12, "start"))
        left += 38 + 7.4 * len(key)
    for place, walk in enumerate(walks):
        out += panel(name, reports, walk, TOP + place * (HEAD + HEIGHT) + HEAD, width)
    for place, report in enumerate(reports):
        x, y = LEFT + (place + 0.6) * GROUP, TOP + len(walks) * (HEAD + HEIGHT) + 16
        out.append(text(x, y, report["graph"]["name"], 11, "end", f'transform="rotate(-30 {x:.1f} {y:.1f})"'))
    middle = TOP + (height - TOP - FOOT + HEAD) / 2
    out.append(text(18, middle, label, 13, more=f'transform="rotate(-90 18 {middle:.1f})"'))
    first = reports[0]
    subtitle = f"{first['device']}; {first['partitions']} partitions, {first['resident']} resident, {first['streams']} streams; "
    subtitle += counts_text(reports, series)
    path.write_text(picture(max(LEFT + width + 20, 860), height, LEFT, title, subtitle, out))


# ---- the tables ----


def table(titles, lines):
    return ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|", *("| " + " | ".join(line) + " |" for line in lines)]


def cell(value, form=".2f"):
    return "" if value is None else f"{value:{form}}"


def mean_of(values):
    known = [value for value in values if value]
    return statistics.geometric_mean(known) if known else None


def ratios_table(reports, series, value):
    """Every graph, and the geometric mean of all."""
    lines = []
    for walk in walks_of(reports):
        rows = [(report["graph"]["name"], [value(report, walk, by) for by in series.values()]) for report in reports]
        lines += [[walk, name, *map(cell, values)] for name, values in rows]
        lines.append([walk, "geometric mean", *(cell(mean_of(column)) for column in zip(*(values for _, values in rows)))])
    return table(["walk", "graph", *series], lines)


def launches_table(reports):
    lines = []
    for report in reports:
        for row in report["rows"]:
            if row.get("launch_mean_s"):
                mean, spread = row["launch_mean_s"] * 1e3, row["launch_deviation_s"] * 1e3
                lines.append([row["walk"], report["graph"]["name"], row["by"], f"{row['launches']:,}", f"{mean:.4f}",
                              f"{spread:.4f}", f"{spread / mean:.2f}"])
    return table(["walk", "graph", "way", "launches", "mean, ms", "deviation, ms", "deviation / mean"], lines)


def rows_table(reports):
    timed = is_timed(reports[0])
    lines = []
    for report in reports:
        for row in report["rows"]:
            line = [row["walk"], report["graph"]["name"], row["by"], f"{row['walks']:,}", f"{row['transfers']:,}",
                    f"{row['bytes_moved'] / 1e6:,.1f}", f"{row['launches']:,}", f"{row['batches']:,}"]
            if timed:
                line += [f"{row['seconds']:.4g} ({row['least']:.4g} .. {row['most']:.4g})", f"{row['arcs_per_s'] / 1e6:.4g}",
                         cell(row["ratio"] or None)]
            lines.append(line)
    titles = ["walk", "graph", "way", "walks", "transfers", "MB moved", "launches", "batches"]
    return table(titles + ["seconds (least .. most)", "M arcs/s", "of the bytes' time"] * timed, lines)


def report_text(reports, plots):
    first = reports[0]
    graphs = [report["graph"] for report in reports]
    lines = [f"# {first['partitions']} partitions, {first['resident']} resident", "",
             f"csaw {first['version']}, commit {first['commit']}, on {first['device']}; {first['streams']} streams. BA: instances in "
             "batches; WS: the partition with most work first; BAL: thread blocks by what a launch has to do.", ""]
    lines += table(["graph", "vertices", "arcs", "MiB", "copy, GB/s"],
                   [[graph["name"], f"{graph['vertices']:,}", f"{graph['arcs']:,}", f"{graph['bytes'] / 2**20:.1f}",
                     f"{report['copy_bytes_per_s'] / 1e9:.1f}"] for graph, report in zip(graphs, reports)])
    sections = {
        "speedup": ("The same few walks, over those one after the other, partitions in cyclic order, equal shares:",
                    lambda: ratios_table(reports, SPEEDUPS, speedup)),
        "deviation": ("A launch's time is from where it begins to where it ends, others beside it or not:",
                      lambda: launches_table(reports)),
        "transfers": ("All walks; partitions brought, of those in cyclic order with equal shares:",
                      lambda: ratios_table(reports, TRANSFERS, transfers)),
    }
    for name in plots:
        said, made = sections[name]
        lines += ["", f"## {PLOTS[name][0]}", "", f"![{name}](parts-{name}.svg)", "", said, "", *made()]
    lines += ["", "## Every way", ""]
    if is_timed(first):
        lines += [f"Seconds: the median of {first['repeat']} runs; one run of those one after the other.", ""]
    return "\n".join(lines + rows_table(reports)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    reports = read_reports(folder)
    plots = []
    for name, (_, _, series, value) in PLOTS.items():
        if any(value(report, walk, by) for report in reports for walk in WALKS for by in series.values()):
            draw(folder / f"parts-{name}.svg", name, reports)
            plots.append(name)
    (folder / "parts.md").write_text(report_text(reports, plots))
    names = ", ".join(report["graph"]["name"] for report in reports)
    print(f"wrote   {folder}/parts.md and plots of {', '.join(plots) or 'nothing'} on {names}")


if __name__ == "__main__":
    main()
