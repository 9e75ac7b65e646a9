#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/likeness_report.sh OUT: degrees and clustering of every sampler's samples beside those of the graphs they were drawn
# from (GRAPHS, edge lists, read as undirected). Builds csaw, runs likeness_bench for each graph, and writes JSON, logs,
# tables (likeness.md) and two plots a graph to OUT. Three minutes on 2 cores; the same samples on any machine. Exits
# non-zero if anything failed. The settings below may be given as variables.
set -euo pipefail
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
: "${CSAW_DATA=../shared/data}"
: "${GRAPHS=$CSAW_DATA/edge-lists/ego-twitter.txt.xz $CSAW_DATA/edge-lists/web-cnr-2000.txt.xz}"
: "${SHARE=0.15}" "${SEEDS=5}" # of the vertices a sample should have; samples of each sampler
: "${LIKENESS_BENCH=}"         # a built likeness_bench; else it is built here

for graph in $GRAPHS; do
    [ -r "$graph" ] || {
        echo "likeness_report.sh: $graph is not there; set CSAW_DATA to the folder of real graphs, or GRAPHS to files" >&2
        exit 1
    }
done
if [ -z "$LIKENESS_BENCH" ]; then
    LIKENESS_BENCH=build/likeness_report/bench/likeness_bench
    cmake -S . -B build/likeness_report -DCMAKE_BUILD_TYPE=Release -DCSAW_TESTS=OFF >"$out/build.log"
    cmake --build build/likeness_report --parallel --target likeness_bench >>"$out/build.log" 2>&1 || {
        tail -n 25 "$out/build.log"
        exit 1
    }
fi
commit=$(git describe --always --dirty --abbrev=12 2>/dev/null) || commit="no commit known"
rm -f "$out"/likeness_*.json # of a run before: they would be in the report
for graph in $GRAPHS; do
    name=$(basename "$graph")
    name=${name%%.*}
    begun=$SECONDS
    "$LIKENESS_BENCH" "$graph" --share "$SHARE" --seeds "$SEEDS" --name "$name" --commit "$commit" \
        --json "$out/likeness_$name.json" >"$out/likeness_$name.log" 2>&1 || {
        echo "FAILED $name"
        rm -f "$out/likeness_$name.json"
        cat "$out/likeness_$name.log"
        exit 1
    }
    echo "ok     $name ($((SECONDS - begun)) s)"
done
python3 -B bench/likeness.py "$out"
