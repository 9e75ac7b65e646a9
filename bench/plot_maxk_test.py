#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/plot_maxk_test.py - bench/plot_maxk.py on two reports with made-up times: its lines and marks, what they stand for, and
files that it refuses."""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import plot_maxk  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def row(k, what, seconds):
    return {"k": k, "what": what, "median_s": seconds, "min_s": seconds, "max_s": seconds, "paper_bytes": 0, "beside": "",
            "beside_s": 0}


def report(name, peers=True):
    rows = [row(256, "csaw_spmm, dense", 8.0), row(256, "csaw_spmm_backward, dense", 6.0)]
    rows += [row(256, "cuSPARSE ALG1, dense", 20.0), row(256, "cuSPARSE ALG2, dense", 10.0)] if peers else []
    for k, seconds in ((32, 2.0), (8, 1.0)):
        rows += [row(k, "forward", seconds), row(k, "forward", seconds), row(k, "backward, atomic", seconds),
                 row(k, "backward, prepared", 2 * seconds), row(k, "backward, deterministic", 3 * seconds)]
    return {"version": "0", "commit": "abc1234", "device": "a GPU", "graph": {"kind": name, "vertices": 4, "edges": 40}, "cols": 256,
            "rows": rows}


def check(condition, what):
    if not condition:
        sys.exit(f"plot_maxk_test.py: {what}")


def run(folder, *reports):
    paths = []
    for place, one in enumerate(reports):
        paths.append(folder / f"{place}.json")
        paths[-1].write_text(json.dumps(one))
    script = pathlib.Path(__file__).with_name("plot_maxk.py")
    return subprocess.run([sys.executable, "-B", script, folder / "out.svg", *paths], capture_output=True, text=True)


def main():
    one = report("one")
    check(plot_maxk.speedups(one, "forward", plot_maxk.PEERS[0]) == [(8, 8.0), (32, 4.0)], "8 s over 1 and 2 s, by k")
    check(plot_maxk.speedups(one, "backward", plot_maxk.PEERS[0]) == [(8, 3.0), (32, 1.5)], "6 s over 2 and 4 s")
    check(plot_maxk.speedups(one, "backward, deterministic", plot_maxk.PEERS[0]) == [(8, 2.0), (32, 1.0)], "6 s over 3 and 6 s")
    check(plot_maxk.speedups(one, "forward", plot_maxk.PEERS[1])[0] == (8, 10.0), "the faster algorithm of cuSPARSE")
    check(plot_maxk.speedups(report("x", peers=False), "forward", plot_maxk.PEERS[1]) == [], "cuSPARSE was not timed")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run(folder, one, report("other", peers=False))
        check(done.returncode == 0, done.stderr)
        root = ElementTree.parse(folder / "out.svg").getroot()
        check(len([line for line in root.iter(SVG + "polyline") if line.get("points")]) == 9, "two graphs, cuSPARSE of one")
        check(len(list(root.iter(SVG + "circle"))) == 18, "two k a line")
        check("abc1234" in (folder / "out.svg").read_text(), "the commit")
        refused = run(folder, one, {**report("other"), "device": "another GPU"})
        check(refused.returncode == 1 and "plot them apart" in refused.stderr, "two GPUs in one plot")
        refused = run(folder, {"device": "a GPU", "rows": []})
        check(refused.returncode == 1 and "no forward product" in refused.stderr, "a file of something else")


if __name__ == "__main__":
    main()
