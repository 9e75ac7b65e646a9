#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/out_of_memory_report.sh OUT [BUILD]: on a machine with a GPU, what docs/out-of-memory.md has of graphs larger than
# its memory: tests of partitions; walks of R-MAT 24 with a quarter of its bytes, and in cyclic order; neighbours, likewise;
# layers by partitions and read in place; rows of second order (ITS) that are read in place, beside REJECT's questions; a
# mapped file whose pages are not locked (mapped_report.sh); and C-SAW's figures 13 to 15 (parts_report.sh), with real graphs
# from the folder that CSAW_DATA names. BUILD is where csaw is built, build/gpu as gpu_report.sh has it unless given; where it
# lacks a program all are built first, which no limit counts. A phase is a line; what it takes on an H100 or H200, about, and
# its limit are in the table below, and LIMIT bounds all together; of a phase that is cut, logs and JSON have what was told
# until then. Writes logs, JSON, tables and plots to OUT; exits non-zero if anything failed. ONLY names the phases to run, with
# blanks between. COMMIT names the commit where git cannot. DEVICE=simulated: all but the tests on a CPU, of small graphs.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=${2:-build/gpu}
[ ! -d "$build" ] || build=$(cd "$build" && pwd) # as it is seen from here
cd "$(dirname "$0")/.." || exit 1
: "${LIMIT:=535}"     # seconds
: "${DEVICE:=cuda:0}"
: "${FEW:=500}" "${REPEAT:=3}" # of figures
phases="tests rmat24 neighbours layer rows mapped figures"
: "${ONLY:=$phases}"
for name in $ONLY; do
    [[ " $phases " == *" $name "* ]] || {
        echo "out_of_memory_report.sh: ONLY names '$name'; give some of: $phases" >&2
        exit 1
    }
done
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

# What variables of this script, or of a user's shell, would mean to the scripts that phases call: they are not theirs.
clean=(env -u ONLY -u LIMIT -u WALKS -u LENGTH -u SCALE -u FACTOR -u SHARE -u LEFT -u HOW -u WEIGHTED -u CSAW -u PARTS_BENCH)

running= # of a phase: its timeout, which ends with this script, as the graph that it maps does
trap '[ -z "$running" ] || kill $running; wait; rm -f "$out/mapped/mapped.csaw"' EXIT
trap 'exit 1' INT TERM
phase() { # NAME SECONDS LIMIT COMMAND..: what it takes, about, and may take; commands, one behind the other whatever they end with
    local name=$1 about=$2 limit=$3 start=$SECONDS status
    shift 3
    [[ " $ONLY " == *" $name "* ]] || return 0
    [ $((LIMIT - SECONDS)) -ge "$limit" ] || limit=$((LIMIT - SECONDS))
    if [ "$limit" -lt 5 ]; then
        echo "FAILED $name: no time is left of $LIMIT s"
        failed=1
        return
    fi
    # shellcheck disable=SC2016 # of the inner shell
    timeout -k 5 "$limit" "${clean[@]}" bash -c 'status=0
        for command in "$@"; do bash -c "$command" || status=$?; done
        exit $status' "$name" "$@" >"$out/$name.log" 2>&1 &
    running=$!
    wait $running
    status=$?
    running=
    case $status in
    0) echo "ok     $name ($((SECONDS - start)) s, about $about were expected)" ;;
    77) echo "skip   $name: $(tail -n 1 "$out/$name.log")" ;;
    124 | 137) echo "FAILED $name: not done in $limit s" && tail -n 3 "$out/$name.log" && failed=1 ;;
    *) echo "FAILED $name ($((SECONDS - start)) s)" && tail -n 12 "$out/$name.log" && failed=1 ;;
    esac
}
bench() { # NAME OPTIONS: a command
    local name=$1
    shift
    printf 'rm -f %q; ' "$out/$name.json" # of a run before
    printf '%q ' "$build/bench/parts_bench" --device "$DEVICE" --in-memory 0 --few 0 --commit "$commit" --json "$out/$name.json" "$@"
}
script() { # VARIABLE=VALUE.. SCRIPT OPTIONS: a command
    printf '%q ' env "$@"
}
ways=(--ways "as the plan chooses;cyclic order (WS off)")
[ "$DEVICE" != simulated ] || ways=(--ways "partitions;cyclic order (WS off)") # there is nothing to choose
brought=(--ways "partitions;read in place" --ablation 0)
second=(--scale $((scale - less)) --edge-factor 32 --memory $((memory / (1 << less))) --only node2vec --walks 10000 --length 20)

#     name    about limit
if [ "$DEVICE" = simulated ]; then
    phase tests 0 5 "echo 'they are of a GPU'; exit 77"
else
    phase tests 100 250 "'$build/tests/parts_gpu_test'" "'$build/tests/parts_samples_gpu_test'"
fi
phase rmat24 100 150 "$(bench rmat24 --scale $scale --edge-factor 32 --memory $memory --only uniform,node2vec "${ways[@]}")"
# In cyclic order 468 GB, 12 s at most (docs/measured/2026-11-23-gpu-10.md), beside three times the plan's 3, making and checking.
phase neighbours 50 90 "$(bench neighbours --scale $scale --edge-factor 32 --memory $memory --only neighbor "${ways[@]}")"
# With weights, which take as much as arcs. An instance has 16 vertices: 2,048 instances. As the plan chooses, in place.
phase layer 40 70 "$(bench layer --scale $((scale - 1)) --edge-factor 32 --weighted 1 --memory $memory --only layer \
    --walks 32768 --repeat 3 --ablation 0 --ways "as the plan chooses;partitions;read in place")"
phase rows 25 50 "$(bench rows-reject "${second[@]}" --select reject "${brought[@]}")" \
    "$(bench rows-its "${second[@]}" --select its "${brought[@]}")"
# A file of 2 GiB, and its quarter for partitions.
mapped=(SCALE=23 FACTOR=32 SHARE=4 LEFT=1400)
[ "$DEVICE" != simulated ] || mapped=(SCALE=18 FACTOR=32 WALKS=5000 FEW=100)
phase mapped 60 100 "$(script "DEVICE=$DEVICE" "${mapped[@]}" bench/mapped_report.sh "$out/mapped" "$build")"
figures=("DEVICE=$DEVICE" "FEW=$FEW" "REPEAT=$REPEAT" EACH=60)
[ "$DEVICE" != simulated ] || figures+=(SCALES=10 GRAPHS=data/karate.txt LENGTH=20)
phase figures 200 240 "$(script "${figures[@]}" bench/parts_report.sh "$out/figures" "$build")"
if [[ " $ONLY " == *" figures "* ]] && [ ! -r "$out/figures/parts.md" ]; then # of what there was time for
    python3 -B bench/plot_parts.py "$out/figures" || failed=1
fi
for name in $ONLY; do # what this run told, not one before
    case $name in
    rmat24 | neighbours | layer | rows) [ ! -r "$out/$name.log" ] || cat "$out/$name.log" ;;
    mapped) [ ! -r "$out/mapped/mapped.md" ] || cat "$out/mapped/mapped.md" ;;
    esac
done
exit $failed
