#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_parts_test.py - bench/plot_parts.py on reports with made-up times, as of a GPU and as of the simulated device:
which plots there are, how many marks they have, and what the tables say."""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
TIMES = {"few: one at a time, cyclic, equal": 6.0, "few: cyclic, equal (WS, BAL off)": 3.0, "few: equal shares (BAL off)": 2.0,
         "few: partitions": 1.5, "partitions": 4.0, "equal shares (BAL off)": 5.0, "cyclic order (WS off)": 6.0,
         "cyclic, equal (WS, BAL off)": 8.0}


def report(name, device, walks):
    rows = []
    for walk in walks:
        for by, seconds in TIMES.items():
            rows.append({"walk": walk, "by": by, "walks": 10, "steps": 800, "seconds": seconds, "least": seconds, "most": seconds,
                         "arcs_per_s": 800 / seconds, "bytes_moved": 1000, "transfers": int(10 * seconds), "launches": 7,
                         "batches": 1, "seconds_of_bytes": 1, "ratio": seconds, "in_memory_s": 0, "peak_bytes": 0})
            if device != "simulated" and walk != "neighbor":  # rows without times are tolerated
                rows[-1] |= {"launch_mean_s": 2e-3, "launch_deviation_s": 1e-3 * (2 if "BAL off" in by else 0.5)}
    return {"kind": "parts", "version": "0", "commit": "none", "device": device,
            "graph": {"kind": "file", "name": name, "vertices": 3, "arcs": 4, "bytes": 40}, "gpu_memory": 0, "partitions": 4,
            "resident": 2, "streams": 2, "seed": 1, "length": 80, "p": "1", "q": "1", "repeat": 1, "copy_bytes_per_s": 1e9, "rows": rows}


def plotted(device):
    """parts.md, and of each plot its root."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for graph, walks in (("one", ["uniform", "neighbor"]), ("other", ["uniform"])):
            (folder / f"{graph}.json").write_text(json.dumps(report(graph, device, walks)))
        cut, none = report("third", device, ["uniform"]), report("fourth", device, [])
        (folder / "third.json").write_text(json.dumps(cut | {"rows": cut["rows"][-1:], "whole": False}))
        (folder / "fourth.json").write_text(json.dumps(none | {"whole": False}))
        subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("plot_parts.py"), folder], check=True)
        plots = {path.stem: ElementTree.parse(path).getroot() for path in folder.glob("*.svg")}
        return (folder / "parts.md").read_text(), plots


def bars(root):
    """But for the frame and the colours' key, which are as wide as high, or wider than a bar."""
    return [rect for rect in root.iter(SVG + "rect") if rect.get("x") and rect.get("fill") != "none" and rect.get("y") != "61"]


def check(condition, what):
    if not condition:
        sys.exit(f"plot_parts_test.py: {what}")


def main():
    said, plots = plotted("a GPU")
    check(sorted(plots) == ["parts-deviation", "parts-speedup", "parts-transfers"], f"plots {sorted(plots)}")
    check("| uniform | one | 2.00 | 3.00 | 4.00 |  |  |" in said, "6 s over 3, 2 and 1.5 s")
    check("| uniform | geometric mean | 1.00 | 0.75 | 0.62 | 0.50 |" in said, "80 transfers, 60, 50 and 40")
    check("| uniform | other | equal shares (BAL off) | 7 | 2.0000 | 2.0000 | 1.00 |" in said, "deviation of 2 ms")
    check(len(bars(plots["parts-speedup"])) == 9, "three ways of three pairs of walk and graph")
    check(len(bars(plots["parts-transfers"])) == 13, "four ways of three pairs, and one that was cut")
    check(len(list(plots["parts-deviation"].iter(SVG + "circle"))) == 4, "two ways on two graphs; neighbours have no times")
    check("| uniform | third (cut) | 1.00 |  |  |  |" in said, "a report that was cut has the ways it has")
    check("fourth" not in said, "one that was cut before its first way")
    said, plots = plotted("simulated")
    check(sorted(plots) == ["parts-transfers"], f"plots {sorted(plots)} of a device without time")
    check("seconds" not in said, "seconds of the simulated device")
    print("plots and tables are as they should be")


if __name__ == "__main__":
    main()
