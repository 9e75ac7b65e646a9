#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_selection.py FOLDER - picks without replacement counted, from the JSON files of selection_bench in FOLDER.

Writes selection.md (three tables) and three plots biased by degree, a panel for each graph, to FOLDER: selection-trials.svg
(C-SAW's figure 11), selection-looks.svg (figure 12) and selection-waits.svg. Python's standard library alone.
"""
import argparse
import json
import pathlib
import statistics
import sys

from svg_plot import COLORS, Axis, number_text, picture, text, ticks

WAYS = ("repeated", "updated", "printed", "fresh")
COLOR = dict(zip(WAYS, (COLORS[0], "#777777", COLORS[1], COLORS[2])))
THRESHOLD = 4  # of |z|, as in selection.c
COLUMNS, PANEL, HEIGHT, GAP = 4, 214, 170, 18  # plots in a row, their size, room to the right of each
LEFT, TOP, HEAD, FOOT = 74, 62, 30, 56  # room around all; for the name above each; below


def read_reports(folder):
    reports = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    reports = [report for report in reports if report.get("kind") == "selection"]
    if not any(report["rows"] for report in reports):
        sys.exit(f"plot_selection.py: {folder} holds no JSON of selection_bench with rows; write one there with its --json")
    for key in ("version", "commit", "drawn", "spare"):
        if any(report[key] != reports[0][key] for report in reports):
            sys.exit(f"plot_selection.py: reports differ in '{key}': read them from folders of their own")
    return reports


def drawn(report):
    """Which rows were picked from."""
    return f"those of k + {report['spare']} neighbours or more among {report['drawn']:,} random ones".replace("k + 0", "k")


# ---- the plots ----


class Share:
    """From none to all."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + value * (self.end - self.begin)

    @staticmethod
    def ticks():
        return [0, 0.25, 0.5, 0.75, 1]


class Few(Axis):
    """Logarithmic, with fewer numbers where it is long."""

    def ticks(self):
        return super().ticks() if self.high - self.low < 2.5 else ticks(10**self.low, 10**self.high, (1, 3))


def curve(name, color, value, dashed=False, hollow=False):
    return {"name": name, "color": color, "value": value, "dashed": dashed, "hollow": hollow}


def of_way(way, key):
    return lambda row: row["ways"][way][key]


def lanes(key):
    return lambda row: row[key] / row["k"]


PLOTS = {
    "trials": ("Trials a pick: turns of the loop that draws a candidate and looks whether it is taken", "trials a pick", Few,
               [curve(way, COLOR[way], of_way(way, "trials")) for way in ("repeated", "updated", "fresh")]
               + [curve("printed: not the law", COLOR["printed"], of_way("printed", "trials"), True, True)]),
    "looks": ("Looks a pick at what is taken: a linear search among the picks, or a bit of a bitmap", "looks a pick", Few,
              [curve("repeated, linear", COLOR["repeated"], of_way("repeated", "linear"), True, True),
               curve("repeated, bitmap", COLOR["repeated"], of_way("repeated", "searches")),
               curve("fresh, linear", COLOR["fresh"], of_way("fresh", "linear"), True, True),
               curve("fresh, bitmap", COLOR["fresh"], of_way("fresh", "searches"))]),
    "waits": ("Lanes that wait for another's bit in the same 8-bit word, in a first round of k lanes", "share of the lanes", Share,
              [curve("contiguous", COLORS[3], lanes("contiguous")), curve("strided", COLORS[4], lanes("strided")),
               curve("the same candidate", "#777777", lanes("same"), True, True)]),
}


def mark(x, y, of):
    fill = "#ffffff" if of["hollow"] else of["color"]
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{fill}" stroke="{of["color"]}" stroke-width="1.6"/>'


def stroke(of):
    return f'stroke="{of["color"]}" stroke-width="2" fill="none"' + (' stroke-dasharray="5 4"' if of["dashed"] else "")


def panel(report, curves, x, y, left, top, place, count):
    """Numbers at the left of each row and below each column."""
    out = [text(left, top - 9, report["name"], 13, "start", 'font-weight="bold"')]
    for tick in (2, 4, 8, 16, 32):
        out.append(f'<path d="M{x.at(tick):.1f} {top}v{HEIGHT}" stroke="#ececec"/>')
        if place + COLUMNS >= count:
            out.append(text(x.at(tick), top + HEIGHT + 16, str(tick), 11))
    for tick in y.ticks():
        out.append(f'<path d="M{left} {y.at(tick):.1f}h{PANEL}" stroke="#ececec"/>')
        if place % COLUMNS == 0:
            out.append(text(left - 7, y.at(tick) + 4, number_text(tick), 11, "end"))
    out.append(f'<rect x="{left}" y="{top}" width="{PANEL}" height="{HEIGHT}" fill="none" stroke="#bbbbbb"/>')
    rows = [row for row in report["rows"] if row["bias"] == "degree"]
    for of in curves:
        places = [(x.at(row["k"]), y.at(of["value"](row))) for row in rows]
        if places:
            out.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in places)}" {stroke(of)}/>')
        out += [mark(a, b, of) for a, b in places]
    return out


def key(curves, left, top):
    out = []
    for row, of in enumerate(curves):
        at = top + 22 + 26 * row
        out.append(f'<path d="M{left + 10} {at}h36" {stroke(of)}/>' + mark(left + 28, at, of))
        out.append(text(left + 56, at + 4, of["name"], 13, "start", color=of["color"]))
    return out


def draw(path, name, reports):
    title, label, axis, curves = PLOTS[name]
    count = len(reports) + 1
    rows, columns = -(-count // COLUMNS), min(count, COLUMNS)
    width, height = max(LEFT + columns * (PANEL + GAP) + 4, 720), TOP + rows * (HEAD + HEIGHT) + FOOT
    values = [of["value"](row) for of in curves for report in reports for row in report["rows"] if row["bias"] == "degree"]
    out = []
    for place in range(count):
        left, top = LEFT + place % COLUMNS * (PANEL + GAP), TOP + place // COLUMNS * (HEAD + HEIGHT) + HEAD
        if place == len(reports):
            out += key(curves, left, top)
            break
        y = axis(values, top + HEIGHT, top) if axis is Few else axis(top + HEIGHT - 8, top + 8)
        out += panel(reports[place], curves, Axis([2, 32], left, left + PANEL), y, left, top, place, len(reports))
    middle = TOP + rows * (HEAD + HEIGHT) / 2 + HEAD / 2
    out.append(text(LEFT + (columns * (PANEL + GAP) - GAP) / 2, height - 16, "k, neighbours picked", 14))
    out.append(text(20, middle, label, 14, more=f'transform="rotate(-90 20 {middle:.1f})"'))
    subtitle = f"k picked without replacement, biased by degree; vertices: {drawn(reports[0])}"
    path.write_text(picture(width, height, LEFT, title, subtitle, out))


# ---- the tables ----


def every_row(reports):
    return [(report, row) for report in reports for row in report["rows"]]


def heads(report, row):
    return f"| {report['name']} | {row['bias']} | {row['k']} |"


def table(titles, lines):
    return ["| graph | bias | k | " + " | ".join(titles) + " |", "|---" * (len(titles) + 3) + "|", *lines]


def of_ways(row, key, form, ways=WAYS):
    return " ".join(f"{row['ways'][way][key]:{form}} |" for way in ways)


def trials_table(reports):
    lines = []
    for report, row in every_row(reports):
        ways = row["ways"]
        trials = " ".join(f"{ways[way]['trials']:.3f}" + (f" ± {ways[way]['error']:.3f} |" if ways[way]["error"] else " |")
                          for way in WAYS)
        lines.append(f"{heads(report, row)} {row['rows']:,} | {trials} {ways['repeated']['trials'] / ways['fresh']['trials']:.2f} "
                     f"| {of_ways(row, 'searches', '.3f', ('repeated', 'printed', 'fresh'))} {of_ways(row, 'z', '.1f')}")
    return table(["rows", *WAYS, "repeated / fresh", "searches: repeated", "printed", "fresh", "z: repeated", *WAYS[1:]], lines)


def looks_table(reports):
    lines = []
    for report, row in every_row(reports):
        cells = []
        for way in ("repeated", "fresh"):
            linear, bitmap = row["ways"][way]["linear"], row["ways"][way]["searches"]
            cells.append(f"{linear:.3f} | {bitmap:.3f} | {bitmap / linear:.2f}")
        lines.append(f"{heads(report, row)} {' | '.join(cells)} | {row['contiguous']:.3f} | {row['strided']:.3f} | "
                     f"{row['same']:.3f} | {1 - row['strided'] / row['contiguous']:.1%} |")
    return table(["repeated: linear", "bitmap", "ratio", "fresh: linear", "bitmap", "ratio", "lanes wait: contiguous", "strided",
                  "same candidate", "saved by strides"], lines)


def times_table(reports):
    lines = []
    for report, row in every_row(reports):
        times = {way: row["ways"][way]["ns"][0] for way in WAYS}
        lines.append(f"{heads(report, row)} {row['sums_ns'][0]:.1f} | " + " ".join(f"{times[way]:.1f} |" for way in WAYS)
                     + f" {times['repeated'] / times['updated']:.2f} | {times['repeated'] / times['fresh']:.2f} |")
    return table(["sums alone", *WAYS, "repeated / updated", "repeated / fresh"], lines)


def spreads(reports):
    times = [time for _, row in every_row(reports) for time in [row["sums_ns"]] + [way["ns"] for way in row["ways"].values()]]
    spread = [most / least for _, least, most in times]
    return f"most / least is {statistics.median(spread):.2f} in the median row and {max(spread):.2f} in the worst"


def means(reports):
    """Over the graphs, at each k: geometric."""
    lines = ["| bias | k | graphs | trials, repeated / fresh | searches, repeated / fresh | bitmap / linear, fresh "
             "| strided / contiguous | time, repeated / fresh |", "|---|---|---|---|---|---|---|---|"]
    for bias, k in dict.fromkeys((row["bias"], row["k"]) for _, row in every_row(reports)):
        rows = [row for _, row in every_row(reports) if (row["bias"], row["k"]) == (bias, k)]
        both = [(row["ways"]["repeated"], row["ways"]["fresh"], row) for row in rows]
        ratios = ([a["trials"] / b["trials"] for a, b, _ in both], [a["searches"] / b["searches"] for a, b, _ in both],
                  [b["searches"] / b["linear"] for _, b, _ in both], [row["strided"] / row["contiguous"] for row in rows],
                  [a["ns"][0] / b["ns"][0] for a, b, _ in both])
        cells = " | ".join(f"{statistics.geometric_mean(ratio):.2f} ({min(ratio):.2f} .. {max(ratio):.2f})" for ratio in ratios)
        lines.append(f"| {bias} | {k} | {len(rows)} | {cells} |")
    return lines


def off(reports):
    rows = [row for _, row in every_row(reports)]
    return {way: sum(abs(row["ways"][way]["z"]) >= THRESHOLD for row in rows) for way in WAYS}, len(rows)


def report_text(reports):
    first = reports[0]
    wrong, count = off(reports)
    lines = ["# Picks without replacement, counted", "", f"csaw {first['version']}, commit {first['commit']}", "",
             f"Vertices: {drawn(first)}. Off the law (|z| of {THRESHOLD} or more), of {count} rows of the table: "
             + ", ".join(f"{way} {wrong[way]}" for way in WAYS) + ".", "",
             "| graph | vertices | arcs | largest degree |", "|---|---|---|---|"]
    lines += [f"| {report['name']} | {report['vertices']:,} | {report['arcs']:,} | {report['widest']:,} |" for report in reports]
    lines += ["", "## Over the graphs", "", "Geometric mean (least .. most):", "", *means(reports)]
    for name, said, made in (
            ("trials", "Trials a pick ± standard error, searches of the sums a pick, and z of chi-square against the law:", trials_table),
            ("looks", "Looks a pick, ratio: bitmap / linear; lanes that wait in a round of k lanes:", looks_table)):
        lines += ["", f"## {name.capitalize()}", "", f"![{name}](selection-{name}.svg)", "", said, "", *made(reports)]
    lines += ["", "## Lanes that wait", "", "![waits](selection-waits.svg)", "", "## Time", "",
              f"Sums and picks, CPU time of one thread, ns a pick, 1 warm-up, median of 5; {spreads(reports)}:", "", *times_table(reports)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    reports = read_reports(folder)
    for name in PLOTS:
        draw(folder / f"selection-{name}.svg", name, reports)
    (folder / "selection.md").write_text(report_text(reports))
    wrong, count = off(reports)
    print(f"wrote   {folder}/selection.md and three plots of {', '.join(report['name'] for report in reports)}; printed is off "
          f"the law in {wrong['printed']} of {count} rows")


if __name__ == "__main__":
    main()
