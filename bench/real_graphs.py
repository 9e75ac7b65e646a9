#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real graphs as edge lists, gzipped, for benchmarks: also on a machine that reads neither .xz nor the files of the GNN
world.

    CSAW_LIBRARY=build/cpu/libcsaw.so PYTHONPATH=python python bench/real_graphs.py DATA OUT NAME ...

DATA/gnn/NAME.npz (csaw.datasets.attributed_npz; needs SciPy) or DATA/edge-lists/NAME.txt.xz or .gz becomes
OUT/NAME.txt.gz, which `spmm_gpu_bench --graph OUT/NAME.txt.gz --undirected 1` reads.
"""
import gzip
import lzma
import sys
from pathlib import Path

import csaw


def text_of(data: Path, name: str) -> bytes:
    """The edges of a graph, one a line."""
    folder = data / "edge-lists"
    if (data / "gnn" / f"{name}.npz").exists():
        src, dst = csaw.datasets.attributed_npz(data / "gnn" / f"{name}.npz").edge_index.tolist()
        return "".join(f"{u} {v}\n" for u, v in zip(src, dst)).encode()
    for ending, read in ((".txt.xz", lzma.decompress), (".txt.gz", gzip.decompress)):
        if (folder / (name + ending)).exists():
            return read((folder / (name + ending)).read_bytes())
    sys.exit(f"real_graphs.py: {data} has neither gnn/{name}.npz nor edge-lists/{name}.txt.xz or .gz")


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit((__doc__ or "").strip())
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:]:
        path = out / f"{name}.txt.gz"
        path.write_bytes(gzip.compress(text_of(data, name), mtime=0))  # equal graphs, equal files
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
