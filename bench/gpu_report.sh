#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_report.sh OUT [YARDSTICK.cu]: on a machine with a GPU, builds csaw, runs every GPU test, and times walks
# through the public API on R-MAT 20, beside hand-written kernels if a file with some is given (compiled here, fed the same
# graph); then samples of R-MAT 20 and 16 by many instances, the ways to pick without replacement (C-SAW's figures 10 to
# 12), and walks from file to file, phase by phase; at last the GPU tests once more under compute-sanitizer (SANITIZERS
# names the tools). For the two phases before it takes real graphs from the folder that CSAW_DATA names, else R-MAT 16.
# Writes logs and JSON to OUT; exits non-zero if anything failed. ONLY names the phases to run, with blanks between;
# without it all run. BUILT=1 leaves the build out. COMMIT names the commit where git cannot.
set -u
out=${1:?give a folder for the results}
yardstick=${2:-}
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$out"
failed=0
phase() {
    local name=$1 start=$SECONDS
    shift
    [[ -z "${ONLY:-}" || " $ONLY build " == *" $name "* ]] || return 0
    if "$@" >"$out/$name.log" 2>&1; then echo "ok     $name ($((SECONDS - start)) s)"; else
        echo "FAILED $name ($((SECONDS - start)) s)"
        tail -n 25 "$out/$name.log"
        failed=1
    fi
}
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
gpu_tests() { ctest --test-dir build/gpu -L gpu -LE slow --output-on-failure --no-tests=error; }
. bench/gpu_tests.sh
sanitize() { # every GPU test program whole, since racecheck patches all kernels of a process anew, under every tool,
    # SANITIZE_JOBS at a time, dealt to all GPUs
    local tool program
    for tool in ${SANITIZERS:-memcheck racecheck initcheck synccheck}; do
        for program in ${SANITIZE_PROGRAMS:-build/gpu/tests/*_gpu_test}; do printf '%s\0%s\0%s\0' "$tool" "$program" 1/1; done
    done | xargs -0 -n 3 -P "${SANITIZE_JOBS:-$(nproc)}" --process-slot-var=place bash -c 'sanitize_one "$@"' sanitize_one
}
instances() { # SCALE
    build/gpu/bench/sample_bench --device cuda:0 --scale "$1" --instances "${INSTANCES:-2000,20000,200000,2000000}" \
        --repeat 15 --commit "$commit" --json "$out/instances_$1.json"
}
selection() { # GRAPH
    build/gpu/bench/selection_bench "$1" --device cuda:0 --name "$(name_of "$1")" \
        --instances "${INSTANCES:-2000,20000,200000,2000000}" --commit "$commit" --json "$out/selection_$(name_of "$1").json"
}
end_to_end() { # ALGO FILE SUFFIX [PARAMETERS]: of a .csaw file or an edge list, to .npy or text
    local walks=$out/graph/walks.$3 direction=--undirected
    [[ $2 == *.csaw ]] && direction=
    # shellcheck disable=SC2086
    build/gpu/cli/csaw walk "$2" $direction --algo "$1" ${4:-} --num-walks 10 --device cuda:0 -o "$walks" --json \
        >"$out/file_to_file_$1_${2##*.}_$3.json" && cat "$out/file_to_file_$1_${2##*.}_$3.json" && rm -f "$walks"
}
name_of() {
    local name
    name=$(basename "$1")
    echo "${name%%.*}"
}
small_graph() { build/gpu/cli/csaw generate rmat --scale 16 --seed 1 -o "$out/graph/rmat16.txt"; }
one_file() { build/gpu/cli/csaw convert "$1" "$out/graph/graph.csaw" --undirected; }
kernels() { nvcc -O3 -std=c++17 --extended-lambda -arch=native "$yardstick" -o build/gpu/yardstick && build/gpu/yardstick "$out/graph" 1 10; }

{
    echo "$commit"
    date -u +%F
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    nvcc --version | tail -n 2 | head -n 1
} >"$out/machine.txt"
[ -n "${BUILT:-}" ] || phase build build
phase gpu_tests gpu_tests
mkdir -p "$out/graph"
phase walks_1 build/gpu/bench/walk_bench --device cuda:0 --repeat 15 --files . --export "$out/graph" --commit "$commit" --json "$out/walks_1.json"
phase walks_10 build/gpu/bench/walk_bench --device cuda:0 --repeat 9 --walks-per-vertex 10 --commit "$commit" --json "$out/walks_10.json"
phase samples build/gpu/bench/sample_bench --device cuda:0 --repeat 31 --commit "$commit" --json "$out/samples.json"
phase samples_cpu build/gpu/bench/sample_bench --repeat 11 --commit "$commit" --json "$out/samples_cpu.json"
[ -z "$yardstick" ] || phase yardstick kernels
for scale in 16 20; do phase "instances_$scale" instances "$scale"; done
if [ -n "${CSAW_DATA:-}" ]; then
    picked_from="$CSAW_DATA/edge-lists/web-cnr-2000.txt.xz $CSAW_DATA/edge-lists/web-uk-2007-100k.txt.xz
        $CSAW_DATA/edge-lists/soc-Epinions1.txt.gz $CSAW_DATA/edge-lists/wiki-Vote.txt.gz"
    largest=$CSAW_DATA/edge-lists/web-cnr-2000.txt.xz
else
    phase small_graph small_graph
    picked_from=$out/graph/rmat16.txt largest=$out/graph/rmat16.txt
    echo "CSAW_DATA is not set: R-MAT 16 in place of real graphs"
fi
for graph in $picked_from; do phase "selection_$(name_of "$graph")" selection "$graph"; done
phase selection_plot python3 -B bench/plot_selection_gpu.py "$out"
phase one_file one_file "$largest"
for from in "$largest" "$out/graph/graph.csaw"; do
    for to in npy txt; do
        phase "file_to_file_uniform_${from##*.}_$to" end_to_end uniform "$from" "$to"
        phase "file_to_file_node2vec_${from##*.}_$to" end_to_end node2vec "$from" "$to" "--p 2 --q 0.5"
    done
done
rm -rf "$out/graph"
phase sanitize sanitize
sort "$out/sanitize.log" 2>/dev/null
grep -h -E 'tests passed|tests failed' "$out/gpu_tests.log" 2>/dev/null
grep -hE 'of weights|arcs/s|^csaw|copy' "$out"/instances_*.log 2>/dev/null
grep -o '"phases": {[^}]*}' "$out"/file_to_file_*.json 2>/dev/null
grep -hE 'steps/s|^csaw' "$out"/walks_1.log "$out"/walks_10.log 2>/dev/null
grep -hE 'arcs/s|^csaw' "$out"/samples.log "$out"/samples_cpu.log 2>/dev/null
[ -z "$yardstick" ] || grep -h yardstick "$out/yardstick.log"
exit $failed
