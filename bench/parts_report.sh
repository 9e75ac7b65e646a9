#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/parts_report.sh OUT [BUILD]: C-SAW's figures 13 to 15: walks and samples with 4 partitions of which 2 are resident,
# on 2 streams, by every way of the scheduler with and without batches (BA), order by work (WS) and balance (BAL), and beside
# them reading the graph in place, on R-MAT graphs and on GRAPHS, read as undirected. BUILD is a folder where csaw is built;
# without it parts_bench is built here. Writes JSON, logs, tables (parts.md) and plots to OUT; exits non-zero if anything
# failed, and goes on with the other graphs. The settings below may be given as variables. DEVICE=simulated needs no GPU, and
# tells transfers alone.
set -u
out=${1:?give a folder for the results}
build=${2:-}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
[ -z "$build" ] || build=$(cd "$build" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
if [ -z "${GRAPHS+given}" ] && [ -n "${CSAW_DATA:-}" ]; then
    for name in edge-lists/web-cnr-2000.txt.xz edge-lists/web-uk-2007-100k.txt.xz edge-lists/ego-twitter.txt.xz \
        edge-lists/soc-Epinions1.txt.gz edge-lists/soc-Slashdot0902.txt.xz road/USA-road-d.NY.gr.gz; do
        GRAPHS="${GRAPHS:-} $CSAW_DATA/$name"
    done
fi
: "${GRAPHS=}"         # files; without CSAW_DATA, the folder of real graphs, R-MAT alone
: "${SCALES=20}"       # of R-MAT graphs, edge factor 16
: "${DEVICE=cuda:0}"   # where partitions come to
: "${ONLY=biased-neighbor,biased-walk,forest-fire,unbiased-neighbor}" # C-SAW's; uniform, node2vec, neighbor, too
: "${WEIGHTED=1}"      # 0: by the structure alone, for ONLY without biases
: "${LENGTH=80}" "${WALKS=0}" # WALKS: 0 = one from each vertex
: "${FEW=500}"         # walks of the ways that figure 13 compares, one of which draws them one after the other
: "${REPEAT=3}"        # runs of all other ways, of which the median is told
: "${EACH=0}"          # seconds that a graph may take, of which then those ways are told that have run; 0 = any number
: "${PARTS_BENCH:=${build:+$build/bench/parts_bench}}" # a built parts_bench

failed=0
if [ -z "$PARTS_BENCH" ]; then
    PARTS_BENCH=build/parts_report/bench/parts_bench cuda=ON
    [ "$DEVICE" != simulated ] || cuda=OFF
    { cmake -S . -B build/parts_report -DCMAKE_BUILD_TYPE=Release -DCSAW_TESTS=OFF -DCSAW_CUDA=$cuda &&
        cmake --build build/parts_report --parallel --target parts_bench; } >"$out/build.log" 2>&1 || {
        tail -n 25 "$out/build.log"
        exit 1
    }
fi
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
rm -f "$out"/parts_*.json "$out"/parts-*.svg "$out/parts.md" # of a run before: they would be in the report
place=0
measure() { # NAME OPTIONS: of one graph
    local name=$1 begun=$SECONDS file status
    shift
    place=$((place + 1))
    file=$out/parts_$(printf %02d $place)_${name// /-}
    timeout --foreground -k 5 "$EACH" "$PARTS_BENCH" "$@" --name "$name" --device "$DEVICE" --partitions 4 --resident 2 --streams 2 --only "$ONLY" \
        --weighted "$WEIGHTED" \
        --length "$LENGTH" --walks "$WALKS" --few "$FEW" --repeat "$REPEAT" --commit "$commit" --json "$file.json" \
        >"$file.log" 2>&1
    status=$?
    case $status in
    0) echo "ok     $name ($((SECONDS - begun)) s)" ;;
    124 | 137) echo "FAILED $name: not done in $EACH s" && failed=1 ;;
    *) echo "FAILED $name ($((SECONDS - begun)) s)" && rm -f "$file.json" && tail -n 5 "$file.log" && failed=1 ;;
    esac
}
for scale in $SCALES; do measure "R-MAT $scale" --scale "$scale"; done
for graph in $GRAPHS; do
    name=$(basename "$graph")
    [ -r "$graph" ] || {
        echo "FAILED $name: $graph is not there; set CSAW_DATA to the folder of real graphs, or GRAPHS to files"
        failed=1
        continue
    }
    measure "${name%%.*}" --graph "$graph" --undirected 1
done
python3 -B bench/plot_parts.py "$out" || failed=1
exit $failed
