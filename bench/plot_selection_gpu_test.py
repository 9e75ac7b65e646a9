#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_selection_gpu_test.py - bench/plot_selection_gpu.py on two reports with made-up times: what its figures stand for, its
lines, and files that it refuses."""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import plot_selection_gpu  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
WAYS = ("repeated", "updated", "printed", "fresh")


def row(of, bias, instances, ns):
    ways = {way: {"trials": 2.0, "rounds_of_list": 1.0, "searches": 2.0, "z": 0.0,
                  **{looking: {"looks": 1.0, "ns": [time] * 3} for looking, time in
                     zip(("linear", "contiguous", "strided"), (ns / (place + 1), ns / (place + 2), ns / (place + 3)))}}
            for place, way in enumerate(WAYS)}
    return {"from": of, "instances": instances, "bias": bias, "k": 2, "lists": 10, "picks": 20, "longest": 9, "sums_ns": [1, 1, 1],
            "ways": ways}


def report(name, ns, commit="c"):
    rows = [row(of, bias, instances, ns) for instances in (2000, 20000)
            for of, bias in (("neighbor", "degree"), ("forest_fire", "none"), ("layer", "degree"), ("neighbor", "none"))]
    rows.append(row("vertices", "none", 0, ns))
    return {"kind": "selection_device", "version": "0", "commit": commit, "name": name,
            "machine": {"processor": "p", "cores": 1, "gpus": ["a GPU"]}, "rows": rows}


def check(condition, what):
    if not condition:
        sys.exit(f"plot_selection_gpu_test.py: {what}")


def run(*reports):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for place, one in enumerate(reports):
            (folder / f"{place}.json").write_text(json.dumps(one))
        script = pathlib.Path(__file__).with_name("plot_selection_gpu.py")
        done = subprocess.run([sys.executable, "-B", script, folder], capture_output=True, text=True)
        root = ElementTree.parse(folder / "selection-gpu.svg").getroot() if done.returncode == 0 else None
        return done, root, (folder / "selection-gpu.md").read_text() if root is not None else ""


def main():
    one, other = report("one", 8.0), report("other", 2.0)
    means = plot_selection_gpu.means([one, other], "forest fire", "repeated", "linear")
    check([(instances, round(mean)) for instances, mean in means] == [(2000, 250000000), (20000, 250000000)],
          "the geometric mean of 8 and 2 ns is 4")
    done, root, words = run(one, other)
    check(done.returncode == 0, done.stderr)
    check(len(list(root.iter(SVG + "polyline"))) == 16, "four settings of four applications")
    check(len(list(root.iter(SVG + "circle"))) == 32, "at two numbers of instances")
    check("| one | layer sampling, biased | 20,000 | 10 | 2 | 1000.0 | 125.0 | 2.00 | 3.00 | 4.00 | 5.00 | 6.00 |" in words, words)
    check(run(one, report("other", 2.0, "d"))[0].returncode == 1, "two commits in one plot")
    check("no JSON" in run({"kind": "selection", "rows": []})[0].stderr, "a file of something else")


if __name__ == "__main__":
    main()
