# SPDX-License-Identifier: MIT
"""What the experiments of this folder write: how far they are, means over runs, JSON, plots. Needs nothing but, for
plots, matplotlib."""
import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, TypeVar

T = TypeVar("T")


def told(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items; on standard error how many of `total` are done: each second on a terminal, where the line is wiped at
    the end, and each 30 seconds elsewhere."""
    line = sys.stderr.isatty()
    last, shown = time.monotonic(), 0
    for done, item in enumerate(items):
        if time.monotonic() - last >= (1 if line else 30):
            text = f"  {what}: {done} of {total}"
            print(f"\r{text}" if line else text, end="" if line else "\n", file=sys.stderr, flush=True)
            last, shown = time.monotonic(), len(text)
        yield item
    if line and shown:
        print("\r" + " " * shown, end="\r", file=sys.stderr, flush=True)


def parse_outputs(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with --json and --plot."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="write SVG plots there; needs matplotlib")
    options = parser.parse_args()
    if options.plot and importlib.util.find_spec("matplotlib") is None:
        parser.error("--plot needs matplotlib; pip install matplotlib, or leave it out")
    return options


def spread(values: List[float]) -> Dict[str, float]:
    """Mean, and standard deviation over runs (0 of one run)."""
    return {"mean": statistics.fmean(values), "deviation": statistics.stdev(values) if len(values) > 1 else 0.0}


def percent(s: Dict[str, float]) -> str:
    return f"{100 * s['mean']:.1f} ± {100 * s['deviation']:.1f}"


def write_json(path: Optional[Path], record: Dict[str, Any]) -> None:
    if path:
        path.write_text(json.dumps(record, indent=1) + "\n")


def axes_for(rows: int, columns: int, width: float = 4.0, height: float = 3.2):
    """A figure of plots of that size, and the plots, row by row."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "csaw"  # equal figures, equal files
    import matplotlib.pyplot as plot

    figure, axes = plot.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False,
                                 constrained_layout=True)
    return figure, list(axes.flat)


def save(figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
