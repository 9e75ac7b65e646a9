#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/peers/loader_peers.sh OUT [DEVICE]: loader_peers.py on R-MAT 22 with 128 features, on a graph as large as reddit,
# and on the real graphs flickr.npz, coauthor_phy.npz and amazon_cs.npz in CSAW_DATA/gnn (of GraphData; every edge in
# both directions), whose edges loader_peers.py reads as they are; those that are not there are left out. DEVICE
# (cuda:0) may be cpu. SCALE (22), GRAPHS (the names, or files, with blanks between), BATCHES (50), REPEAT (3), BUSY (0.5:
# seconds of NVML's figure for each kind of epoch), WORKERS (of PyTorch Geometric's loader: cores, 8 at most) and PYTHON
# (python3) come from the environment, and so do CSAW_LIBRARY and PYTHONPATH of a csaw that is not installed, and of
# torch-sparse (torch_sparse.sh). Writes OUT/loader_peers.json and .md; prints the table.
set -eu
out=${1:?give a folder for the results}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
if [ -z "${GRAPHS:-}" ]; then
    GRAPHS="rmat reddit"
    for name in flickr coauthor_phy amazon_cs; do
        file=${CSAW_DATA:-}/gnn/$name.npz
        if [ -e "$file" ]; then GRAPHS="$GRAPHS $file"; else echo "$file is not there: left out" >&2; fi
    done
fi
graphs=()
for graph in $GRAPHS; do graphs+=(--graph "$graph"); done
"${PYTHON:-python3}" "$here/loader_peers.py" "${graphs[@]}" --undirected --scale "${SCALE:-22}" --device "${2:-cuda:0}" \
    ${WORKERS:+--workers "$WORKERS"} --batches "${BATCHES:-50}" --repeat "${REPEAT:-3}" --busy "${BUSY:-0.5}" --json "$out/loader_peers.json" \
    --markdown "$out/loader_peers.md" \
    --commit "$(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
