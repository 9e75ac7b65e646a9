#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/out_of_memory_report.sh OUT [BUILD]: on a machine with a GPU, what docs/out-of-memory.md has of graphs larger than
# its memory: tests of partitions; walks and samples of R-MAT 24 with a quarter of its bytes, and in cyclic order; layers by
# partitions and read in place; rows of second order (ITS) that are read in place, beside REJECT's questions; a mapped file
# whose pages are not locked (mapped_report.sh); and C-SAW's figures 13 to 15 (parts_report.sh), with real graphs from the
# folder that CSAW_DATA names. BUILD is where csaw is built, build/gpu as gpu_report.sh has it unless given; where it lacks a
# program all are built first, which no limit counts. A phase is a line; what it takes on an H100 or H200, about, and its limit
# are in the table below, and LIMIT bounds all together. Writes logs, JSON, tables and plots to OUT; exits non-zero if
# anything failed. ONLY names the phases to run, with blanks between. COMMIT names the commit where git cannot.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=${2:-build/gpu}
cd "$(dirname "$0")/.." || exit 1
: "${LIMIT:=535}"     # seconds
: "${DEVICE:=cuda:0}" # simulated: the same on a CPU, of small graphs; tests of a GPU are left out
: "${FEW:=500}" "${REPEAT:=3}"
: "${ONLY:=tests rmat24 layer rows mapped figures}"
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
scale=24 memory=1019904 less=2 # of graphs; KiB; the other graphs' scale is so much less, or one more
[ "$DEVICE" != simulated ] || { scale=12 memory=100 less=1; }
programs=(parts_gpu_test parts_samples_gpu_test parts_bench csaw_cli)
failed=0

build() {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCSAW_CUDA=ON -DCSAW_TESTS=GPU \
        -DCMAKE_CUDA_ARCHITECTURES=90-real && cmake --build "$build" --parallel --target "${programs[@]}"
}
if [ "$DEVICE" != simulated ] && ! { [ -x "$build/bench/parts_bench" ] && [ -x "$build/cli/csaw" ] &&
    [ -x "$build/tests/parts_gpu_test" ] && [ -x "$build/tests/parts_samples_gpu_test" ]; }; then
    build >"$out/build.log" 2>&1 || {
        tail -n 25 "$out/build.log"
        exit 1
    }
    echo "ok     build ($SECONDS s)"
fi
SECONDS=0

phase() { # NAME SECONDS LIMIT COMMAND: what it takes, about, and may take
    local name=$1 about=$2 limit=$3 start=$SECONDS status
    shift 3
    [[ " $ONLY " == *" $name "* ]] || return 0
    [ $((LIMIT - SECONDS)) -ge "$limit" ] || limit=$((LIMIT - SECONDS))
    if [ "$limit" -lt 5 ]; then
        echo "FAILED $name: no time is left of $LIMIT s"
        failed=1
        return
    fi
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
    status=$?
    case $status in
    0) echo "ok     $name ($((SECONDS - start)) s, about $about were expected)" ;;
    77) echo "skip   $name: $(tail -n 1 "$out/$name.log")" ;;
    124 | 137) echo "FAILED $name: not done in $limit s" && failed=1 ;;
    *) echo "FAILED $name ($((SECONDS - start)) s)" && tail -n 12 "$out/$name.log" && failed=1 ;;
    esac
}
bench() { # NAME OPTIONS
    local name=$1
    shift
    echo "$build/bench/parts_bench" --device "$DEVICE" --in-memory 0 --commit "'$commit'" --json "'$out/$name.json'" "$@"
}
ways="--ways 'as the plan chooses;cyclic order (WS off)' --few 0"
brought="--ways 'partitions;read in place' --ablation 0 --few 0"

#     name    about limit
[ "$DEVICE" = simulated ] ||
    phase tests 45 100 bash -c "'$build/tests/parts_gpu_test' && '$build/tests/parts_samples_gpu_test'"
phase rmat24 140 200 bash -c "$(bench rmat24 --scale $scale --edge-factor 32 --memory $memory "$ways" --p 0.25 --q 4)"
# With weights, which take as much as arcs. An instance has 16 vertices: 2,048 instances.
phase layer 40 70 bash -c "$(bench layer --scale $((scale - 1)) --edge-factor 32 --weighted 1 --memory $memory --only layer \
    --walks 32768 "$brought" --repeat 3)"
phase rows 25 50 bash -c "$(bench rows-its --scale $((scale - less)) --edge-factor 32 --memory $((memory / (1 << less))) \
    --only node2vec --walks 10000 --length 20 --select its "$brought") &&
    $(bench rows-reject --scale $((scale - less)) --edge-factor 32 --memory $((memory / (1 << less))) \
    --only node2vec --walks 10000 --length 20 --select reject "$brought")"
# A file of 2 GiB, and its quarter for partitions.
mapped=(SCALE=23 FACTOR=32 SHARE=4 LEFT=1400)
[ "$DEVICE" != simulated ] || mapped=(SCALE=18 FACTOR=32 WALKS=5000 FEW=100)
phase mapped 60 100 env -u ONLY "DEVICE=$DEVICE" "${mapped[@]}" bench/mapped_report.sh "$out/mapped" "$build"
rm -f "$out/mapped/mapped.csaw"
phase figures 200 240 env -u ONLY "DEVICE=$DEVICE" "FEW=$FEW" "REPEAT=$REPEAT" bench/parts_report.sh "$out/figures" "$build"
if [[ " $ONLY " == *" figures "* ]] && [ ! -r "$out/figures/parts.md" ]; then # of the graphs that there was time for
    python3 -B bench/plot_parts.py "$out/figures" || failed=1
fi
for log in rmat24 layer rows; do [ ! -r "$out/$log.log" ] || cat "$out/$log.log"; done
[ ! -r "$out/mapped/mapped.md" ] || cat "$out/mapped/mapped.md"
exit $failed
