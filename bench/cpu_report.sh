#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/cpu_report.sh OUT: what a step costs on this machine's CPU, by csaw and by loops written by hand, against the size
# of the graph (SCALES at one edge factor) and against its mean degree (FACTORS at one scale). Builds csaw, runs walk_bench
# for each graph, and writes JSON, logs, a table (walks.md) and two plots to OUT. About ten minutes and 12 GB of memory on
# 2 cores; nothing else should run. Exits non-zero if anything failed. The settings below may be given as variables.
set -euo pipefail
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
: "${SCALES=16 17 18 19 20 21 22 23}" "${FACTOR=16}" # sizes: 2^SCALE vertices, FACTOR edges drawn per vertex
: "${FACTORS=2 4 8 16 32 64}" "${SCALE=18}"          # degrees
: "${START=131072}" "${LENGTH=80}" "${REPEAT=3}"     # one walk from each of START vertices at most, LENGTH steps
: "${WALK_BENCH=}"                                   # a built walk_bench; else it is built here
walks="uniform,weighted,node2vec p=2 q=0.5,weighted node2vec p=2 q=0.5"

if [ -z "$WALK_BENCH" ]; then
    WALK_BENCH=build/cpu_report/bench/walk_bench
    cmake -S . -B build/cpu_report -DCMAKE_BUILD_TYPE=Release -DCSAW_TESTS=OFF >"$out/build.log"
    cmake --build build/cpu_report --parallel --target walk_bench >>"$out/build.log" 2>&1 || {
        tail -n 25 "$out/build.log"
        exit 1
    }
fi
commit=$(git describe --always --dirty --abbrev=12 2>/dev/null) || commit="no commit known"
rm -f "$out"/walks_s*_e*.json # of a run before: they would be in the plots
graphs=$(
    for scale in $SCALES; do echo "$scale $FACTOR"; done
    for factor in $FACTORS; do echo "$SCALE $factor"; done
)
sort -u -k1,1n -k2,2n <<<"$graphs" | while read -r scale factor; do
    name=walks_s${scale}_e$factor
    begun=$SECONDS
    "$WALK_BENCH" --scale "$scale" --edge-factor "$factor" --vertices "$START" --length "$LENGTH" --repeat "$REPEAT" \
        --only "$walks" --commit "$commit" --json "$out/$name.json" >"$out/$name.log" 2>&1 || {
        echo "FAILED $name"
        rm -f "$out/$name.json"
        cat "$out/$name.log"
        exit 1
    }
    echo "ok     $name ($((SECONDS - begun)) s, $(tail -n 1 "$out/$name.log"))"
done
python3 -B bench/plot_walks.py "$out" --edge-factor "$FACTOR" --scale "$SCALE"
