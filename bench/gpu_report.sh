#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_report.sh OUT [YARDSTICK.cu]: on a machine with a GPU, builds csaw, runs every GPU test, runs them again under
# compute-sanitizer, and times walks through the public API on R-MAT 20, beside hand-written kernels if a file with some is
# given (compiled here, fed the same graph). Writes logs and JSON to OUT; exits non-zero if anything failed.
set -u
out=${1:?give a folder for the results}
yardstick=${2:-}
cd "$(dirname "$0")/.."
mkdir -p "$out"
failed=0
phase() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$out/$name.log" 2>&1; then echo "ok     $name ($((SECONDS - start)) s)"; else
        echo "FAILED $name ($((SECONDS - start)) s)"
        tail -n 25 "$out/$name.log"
        failed=1
    fi
}
build() { cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DCSAW_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real && ninja -C build/gpu; }
gpu_tests() { ctest --test-dir build/gpu -L gpu -LE slow --output-on-failure --no-tests=error; }
sanitize() { # TOOL: over the tests that launch kernels; the law test's many draws add nothing there
    local program
    for program in build/gpu/tests/{equality,sample,math}_gpu_test; do
        CSAW_DATA='' compute-sanitizer --tool "$1" --error-exitcode 9 "$program" --gtest_brief=1 \
            --gtest_filter=-SampleGpu.TooManyWalks* || return 1 # a refused request for memory is a finding to memcheck
    done
    CSAW_DATA='' compute-sanitizer --tool "$1" --error-exitcode 9 build/gpu/tests/sample_equality_gpu_test \
        --gtest_brief=1 --gtest_filter='*EveryPathOnce'
}
kernels() { nvcc -O3 -std=c++17 --extended-lambda -arch=native "$yardstick" -o build/gpu/yardstick && build/gpu/yardstick "$out/graph" 1 10; }

{
    git rev-parse HEAD 2>/dev/null || echo "no commit known"
    date -u +%F
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    nvcc --version | tail -n 2 | head -n 1
} >"$out/machine.txt"
phase build build
phase gpu_tests gpu_tests
mkdir -p "$out/graph"
phase walks_1 build/gpu/bench/walk_bench --device cuda:0 --repeat 15 --sampler examples/my_node2vec.c --export "$out/graph" --json "$out/walks_1.json"
phase walks_10 build/gpu/bench/walk_bench --device cuda:0 --repeat 9 --walks-per-vertex 10 --json "$out/walks_10.json"
phase samples build/gpu/bench/sample_bench --device cuda:0 --repeat 31 --json "$out/samples.json"
phase samples_cpu build/gpu/bench/sample_bench --repeat 11 --json "$out/samples_cpu.json"
[ -z "$yardstick" ] || phase yardstick kernels
rm -rf "$out/graph"
for tool in ${SANITIZERS:-memcheck racecheck initcheck synccheck}; do phase "$tool" sanitize "$tool"; done
grep -h -E 'tests passed|tests failed' "$out/gpu_tests.log"
grep -hE 'steps/s|^csaw' "$out"/walks_1.log "$out"/walks_10.log
grep -hE 'arcs/s|^csaw' "$out"/samples.log "$out"/samples_cpu.log
[ -z "$yardstick" ] || grep -h yardstick "$out/yardstick.log"
exit $failed
