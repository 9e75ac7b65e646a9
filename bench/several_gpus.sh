#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/several_gpus.sh OUT [BUILD]: what two GPUs or more of one machine have to show, in LIMIT (540) seconds, the build
# among them: copies and reads between them; walks on a graph that all hold, read in place and exchanged; a rank each
# beside all in one process; files equal to the CPU's byte by byte, one of them killed on all and completed on one; tests
# on several GPUs; and the speeds of gpus.sh in the time that is left. Every part has a limit of its own, so one that
# hangs costs no other; parts stand in the order of what is to be known first. ONE (cuda:0) and TWO (cuda:0,cuda:1, or
# more) are the devices, EACH (all) that of ranks, of which there are as many as TWO has: TWO=cuda:0,cuda:0 shows all but
# the speed on a single GPU. COMMIT names the commit where git cannot, SCALE (20) is that of the graphs that are timed,
# PARTS the parts to run, with blanks between, BUILT=1 leaves the build out. Logs and JSON go to OUT, with a line a part in
# OUT/summary.txt; exits non-zero if anything failed.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
build=${2:-build/gpu}
case $build in /*) ;; *) build=$PWD/$build ;; esac
one=${ONE:-cuda:0} two=${TWO:-cuda:0,cuda:1} each=${EACH:-all} scale=${SCALE:-20}
IFS=, read -ra all <<<"$two"
many=${#all[@]}
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
export out build one two many each scale commit COMMIT=$commit CSAW_CACHE_DIR=$build/cache OMP_WAIT_POLICY=passive
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
limit=${LIMIT:-540}
failed=0
: >"$out/summary.txt"

say() { echo "$*" | tee -a "$out/summary.txt"; }
# NAME SECONDS: runs the function of that name, whose log is its own; its last line goes to the summary.
part() {
    local name=$1 start=$SECONDS left=$((limit - SECONDS)) most=$2 code
    [[ -z "${PARTS:-}" || " $PARTS " == *" $name "* ]] || return 0
    if [ "$left" -lt 5 ]; then say "LATE    $name: no time was left" && failed=1 && return; fi
    [ "$left" -lt "$most" ] && most=$left
    seconds=$most timeout -k 5 "$most" bash -c "set -u; $name" >"$out/$name.log" 2>&1
    code=$?
    case $code in
    0) say "ok      $name ($((SECONDS - start)) s): $(tail -n 1 "$out/$name.log")" ;;
    124 | 137) failed=1 && say "LATE    $name ($((SECONDS - start)) s): $(tail -n 1 "$out/$name.log")" ;;
    *) failed=1 && say "FAILED  $name ($((SECONDS - start)) s): $(tail -n 1 "$out/$name.log")" ;;
    esac
}

targets="csaw_cli walk_bench sample_bench exchange_bench peer_bench ranks_bench multi_gpu_test parts_gpu_test"
build_all() {
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCSAW_CUDA=ON -DCSAW_TESTS=GPU \
        -DCMAKE_CUDA_ARCHITECTURES=90-real || exit 1
    local known=() target
    for target in $targets; do grep -q "^build $target: phony" "$build/build.ninja" && known+=("$target"); done
    ninja -C "$build" -k 0 "${known[@]}" || exit 1 # all that can be built is
    echo "${known[*]}"
}

machine() {
    nvidia-smi
    nvidia-smi topo -m
    nvidia-smi topo -p2p r
    nproc
    mpirun --version
    ompi_info --parsable --all 2>/dev/null | grep cuda_support
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | paste -sd ';'
}

peers() {
    local first=${two%%,*} second=${two##*,}
    "$build/bench/peer_bench" --first "${first#cuda:}" --second "${second#cuda:}" --commit "$commit" --json "$out/peers.json"
}

# Of a row of peers.json, in millions; 0 where it is not there.
million_of() { # WHAT KEY
    python3 -c 'import json, sys
print(next((round(row[sys.argv[3]] / 1e6) for row in json.load(open(sys.argv[1]))["rows"]
            if row["what"] == sys.argv[2]), 0))' "$out/peers.json" "$1" "$2" 2>/dev/null || echo 0
}

exchange() {
    "$build/bench/exchange_bench" --device "$two" --scale "$scale" --commit "$commit" --json "$out/exchange.json" \
        --peer-mb "$(million_of 'copies both ways, a direction' bytes_per_s)" \
        --peer-reads "$(million_of "4-byte reads of the peer's memory, both GPUs, each" reads_per_s)" || exit 1
    python3 -c 'import json, sys
print("; ".join("%s, %s: %.1f ms, %.2f of one GPU, %s of the best" % (
    row["walk"], row["by"], row["median_s"] * 1e3, row["ratio_to_one"], row.get("ratio_to_best", "?"))
    for row in json.load(open(sys.argv[1]))["rows"] if row["gpus"] > 1))' "$out/exchange.json"
}

# NAME RANKS OPTIONS ...
ranks_row() {
    local name=$1 count=$2
    shift 2
    timeout -k 5 60 mpirun -n "$count" "$build/bench/ranks_bench" --scale "$scale" --vertices 500000 --walks-per-vertex 4 \
        --only uniform,node2vec --commit "$commit" --json "$out/ranks_$name.json" "$@" && return
    echo "ranks_$name failed"
    rm -f "$out/ranks_$name.json"
    return 1
}
ranks() {
    local wrong=0
    if ! command -v mpirun >/dev/null || [ ! -x "$build/bench/ranks_bench" ]; then echo "MPI is not here" && exit 1; fi
    ranks_row process 1 --device "$two" || wrong=1
    ranks_row each "$many" --device "$each" || wrong=1
    ranks_row process_split 1 --device "$two" --split 1 --length 20 || wrong=1
    ranks_row each_split "$many" --device "$each" --split 1 --length 20 --repeat 2 || wrong=1
    python3 -c 'import glob, json, os, sys
print("; ".join("%s, %s: %.1f M steps/s" % (os.path.basename(path)[6:-5], row["walk"], row["steps_per_s"] / 1e6)
                for path in sorted(glob.glob(sys.argv[1] + "/ranks_*.json")) for row in json.load(open(path))["rows"]))' "$out"
    exit "$wrong"
}

# Files by devices, and by ranks with a GPU each, are the CPU's.
bytes() {
    local csaw=$build/cli/csaw wrong=0 same=0 options
    cd "$(mktemp -d)" || exit 1
    trap 'rm -rf "$PWD"' EXIT
    "$csaw" generate rmat --scale 17 --weighted -o g.csaw || exit 1
    compare() { # WHAT COMMAND ...
        local what=$1
        shift
        if timeout 40 "$@" -o w.txt && cmp one.txt w.txt; then
            same=$((same + 1))
            echo "same: $what"
        else
            wrong=1
            echo "NOT THE SAME: $what"
        fi
        rm -f w.txt*
    }
    local walk=("$csaw" walk g.csaw --p 0.25 --q 4 --num-walks 1 --batch 20000)
    local sample=("$csaw" sample g.csaw --fanout 5,3 --batch-size 64)
    "${walk[@]}" -o one.txt || exit 1
    for options in "--device $two" "--device $two --split" "--device $two --split --exchange"; do
        compare "walk $options" "${walk[@]}" $options
    done
    if command -v mpirun >/dev/null; then
        compare "walk, $many ranks" mpirun -n "$many" "${walk[@]}" --device "$each"
        compare "walk, $many ranks, --split" mpirun -n "$many" "${walk[@]}" --device "$each" --split
    fi
    "${sample[@]}" -o one.txt || exit 1
    for options in "--device $two" "--device $two --split" "--device $two --split --exchange"; do
        compare "sample $options" "${sample[@]}" $options
    done
    echo "$same files are the same bytes$([ "$wrong" = 0 ] || echo ", others are not")"
    exit "$wrong"
}

# Killed on both GPUs as soon as a batch is kept, completed on one.
killed() {
    local csaw=$build/cli/csaw walks=
    cd "$(mktemp -d)" || exit 1
    trap 'rm -rf "$PWD"' EXIT
    "$csaw" generate rmat --scale 17 -o g.csaw || exit 1
    local walk=("$csaw" walk g.csaw --num-walks 20 --batch 20000)
    "${walk[@]}" -o one.txt || exit 1
    "${walk[@]}" --device "$two" -o w.txt &
    for _ in $(seq 2000); do
        [ -e w.txt.resume ] && walks=$(sed -n '/^walks /{s///p;q;}' w.txt.resume)
        [ "${walks:-0}" -gt 0 ] && break
        sleep 0.01
    done
    kill -9 $! && wait $! 2>/dev/null
    [ "${walks:-0}" -gt 0 ] && [ ! -e w.txt ] || { echo "it was not killed in the middle" && exit 1; }
    "${walk[@]}" --device "$one" --resume -o w.txt || exit 1
    cmp one.txt w.txt || { echo "what was completed on one is not the same" && exit 1; }
    echo "killed on $two when $walks walks were kept, completed on $one: the same bytes"
}

# Tests that a GPU's share is right, all at once; then, alone, the one that asks how much of a GPU's memory is free.
tests() {
    local shard code=0 pids=() pid log alone='MultiGpu.WhatIsHeldTogetherIsGivenBack'
    for shard in 0 1 2 3 4 5; do
        GTEST_TOTAL_SHARDS=6 GTEST_SHARD_INDEX=$shard timeout -k 5 $((seconds - 18)) "$build/tests/multi_gpu_test" \
            --gtest_filter="-$alone" >"$out/multi_$shard.log" 2>&1 &
        pids+=($!)
    done
    for shard in 0 1 2 3 4; do
        GTEST_TOTAL_SHARDS=5 GTEST_SHARD_INDEX=$shard timeout -k 5 $((seconds - 18)) "$build/tests/parts_gpu_test" \
            --gtest_filter='SpreadGpu.*' >"$out/spread_$shard.log" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || code=1; done
    timeout -k 5 10 "$build/tests/multi_gpu_test" --gtest_filter="$alone" >"$out/multi_6.log" 2>&1 || code=1
    for log in "$out"/multi_?.log "$out"/spread_?.log; do
        grep -E '^\[ +(OK|FAILED|SKIPPED) +\] .*\(' "$log"
        [ "$(grep -c '^\[ RUN ' "$log")" = "$(grep -cE '^\[ +(OK|FAILED|SKIPPED) +\] .*\(' "$log")" ] ||
            echo "$(basename "$log") ended in: $(grep '^\[ RUN ' "$log" | tail -n 1)"
    done
    counted() { cat "$out"/multi_?.log "$out"/spread_?.log | grep -cE "^\[ +$1 +\] .*\("; }
    echo "$(counted OK) passed, $(counted FAILED) failed, $(counted SKIPPED) skipped"
    exit "$code"
}

gpus() { # one process at a time, so threads wait as they do by default
    SCALE=$scale REPEAT=${REPEAT:-7} GPUS=${GPUS:-1 2} LIMIT=$((seconds - 5)) env -u OMP_WAIT_POLICY bench/gpus.sh "$out/gpus" "$build"
    local code=$?
    cat "$out/gpus/gpus.txt"
    echo "$(grep -c x\) "$out/gpus/gpus.txt") rows of 2 GPUs and more, in gpus/gpus.txt"
    exit "$code"
}
export -f build_all machine peers million_of exchange ranks_row ranks bytes killed tests gpus
export targets

if [ -z "${BUILT:-}" ]; then part build_all 330; fi
[ -x "$build/cli/csaw" ] || { tail -n 30 "$out/build_all.log" && exit 1; }
part machine 20
part peers 45
part exchange 100
part bytes 80
part killed 60
part tests 150
part ranks 130
part gpus 300
echo "== $SECONDS s"
cat "$out/summary.txt"
exit $failed
