# SPDX-License-Identifier: MIT
# bench/gpu_tests.sh - what bench/gpu_report.sh and bench/gpu_suite.sh have in common, sourced by them in the repository's
# root with `out` set to a folder: the build, and one GPU test program under a tool of compute-sanitizer. A shard is I/N:
# every N-th test, from the I-th on (GoogleTest's).
build() { cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DCSAW_CUDA=ON -DCSAW_TESTS=GPU -DCMAKE_CUDA_ARCHITECTURES=90-real && ninja -C build/gpu; }
# Tests that are not run again under compute-sanitizer. Those of real graphs skip without CSAW_DATA. Those that run out of
# memory on purpose do run: what CUDA refuses is no finding of memcheck's then (--report-api-errors no). The others take a
# share of their cases (tests/share.h), and those that judge counts of draws a share of these.
left_out=(
    '*KernelError*'                                                       # kernels fail on purpose
    '*WrongOnGpu*' '*WrongLawsAreRejected'                                # a share of the draws is too few to reject
    '*Beyond32Bits'                                                       # most of a GPU's memory
    '*IsBuiltAtOnce' 'TablesOfAZero*' '*ThanAtATime' '*OfSeveralLaunches' # millions of arcs, or of places to fill
)
filter=-$(IFS=:; echo "${left_out[*]}")
limit=${SANITIZE_LIMIT:-3000} # seconds, of a program under a tool
every=${SANITIZE_EVERY:-300}  # of the cases of a test; see tests/share.h
gpus=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd ,)}
export out filter limit every gpus
sanitize_one() { # TOOL PROGRAM SHARD, and the environment's place among those that run at a time: what came of it
    local name=${2##*/} start=$SECONDS status tests said options=() all
    [[ $3 == 1/1 ]] || name+=_${3/\//_of_}
    local log=$out/$1_$name.log
    [[ $1 != memcheck ]] || options=(--report-api-errors no)
    IFS=, read -ra all <<<"$gpus"
    CSAW_DATA='' CSAW_TEST_EVERY=$every CSAW_CACHE_DIR=$PWD/build/gpu/tests/cache CUDA_VISIBLE_DEVICES=${all[place % ${#all[@]}]} \
        GTEST_SHARD_INDEX=$((${3%/*} - 1)) GTEST_TOTAL_SHARDS=${3#*/} timeout -k 10 "$limit" compute-sanitizer --tool "$1" "${options[@]}" --error-exitcode 9 "$2" \
        --gtest_filter="$filter" >"$log" 2>&1
    status=$?
    tests=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log")
    case $status in
    0) said=ok ;;
    9) said=finding ;;
    124 | 137) said='out of time' tests=$(grep -c '^\[       OK \]' "$log") ;;
    *)
        said="failed, status $status" # a tool that saw no GPU call fails, too
        ! grep -q 'terminated before first instrumented API call' "$log" || grep -q FAILED "$log" || { said='ok, no GPU call' status=0; }
        ;;
    esac
    echo "$1 $name: $said (${tests:-0} tests passed, $((SECONDS - start)) s)"
    return $((status != 0))
}
export -f sanitize_one
