#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/selection_report.sh OUT: what it costs to pick k neighbours without replacement, in trials, searches, looks and
# time, and which ways have the law (C-SAW's figures 10 to 12), on GRAPHS, edge lists, read as undirected. Builds csaw, runs
# selection_bench for each graph, and writes JSON, logs, tables (selection.md) and three plots to OUT. Half a minute on one
# core; the same counts on any machine. Exits non-zero if anything failed. The settings below may be given as variables.
set -euo pipefail
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
if [ -z "${GRAPHS:-}" ] && [ -n "${CSAW_DATA:-}" ]; then
    for name in web-cnr-2000.txt.xz web-uk-2007-100k.txt.xz soc-Epinions1.txt.gz soc-Slashdot0902.txt.xz ego-twitter.txt.xz \
        wiki-Vote.txt.gz cit-HepPh.txt.gz; do
        GRAPHS="${GRAPHS:-} $CSAW_DATA/edge-lists/$name"
    done
fi
: "${GRAPHS=data/karate.txt data/lesmis.txt}" # without CSAW_DATA, the folder of real graphs
: "${VERTICES=20000}" "${SPARE=1}"            # rows: of that many random vertices those of k + SPARE neighbours or more
: "${SELECTION_BENCH:=}"                      # a built selection_bench; else it is built here

for graph in $GRAPHS; do
    [ -r "$graph" ] || {
        echo "selection_report.sh: $graph is not there; set CSAW_DATA to the folder of real graphs, or GRAPHS to files" >&2
        exit 1
    }
done
if [ -z "$SELECTION_BENCH" ]; then
    SELECTION_BENCH=build/selection_report/bench/selection_bench
    cmake -S . -B build/selection_report -DCMAKE_BUILD_TYPE=Release -DCSAW_TESTS=OFF >"$out/build.log"
    cmake --build build/selection_report --parallel --target selection_bench >>"$out/build.log" 2>&1 || {
        tail -n 25 "$out/build.log"
        exit 1
    }
fi
commit=$(git describe --always --dirty --abbrev=12 2>/dev/null) || commit="no commit known"
rm -f "$out"/selection_*.json # of a run before: they would be in the report
place=0
for graph in $GRAPHS; do
    name=$(basename "$graph")
    name=${name%%.*}
    begun=$SECONDS place=$((place + 1))
    file=$out/selection_$(printf %02d $place)_$name # in the order of GRAPHS
    "$SELECTION_BENCH" "$graph" --vertices "$VERTICES" --spare "$SPARE" --name "$name" --commit "$commit" \
        --json "$file.json" >"$file.log" 2>&1 || {
        echo "FAILED $name"
        rm -f "$file.json"
        cat "$file.log"
        exit 1
    }
    echo "ok     $name ($((SECONDS - begun)) s)"
done
python3 -B bench/plot_selection.py "$out"
