#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_suite.sh OUT: on a machine with one GPU or several, builds csaw with its tests and benchmarks (build/gpu), runs
# every GPU test program, and then the programs that SANITIZE_PROGRAMS names under the tools of compute-sanitizer that
# SANITIZERS names; bench/gpu_report.sh measures beside that. A line for each process: what came of it, tests, seconds.
#
# Programs are dealt to the GPUs of CUDA_VISIBLE_DEVICES, JOBS_EACH (3) at a time on each, the long ones first and in
# shards, since a program runs one test after the other; each sees its own GPU first and the others behind it, for the
# tests that want two. MaxK's test of most of a GPU's memory comes after all others. ONLY="build tests sanitize" names the
# phases. Of the tests: PROGRAMS (all), LIMIT seconds for a process (230), CSAW_DATA the folder of real graphs. Under a
# tool: SANITIZE_EVERY and SANITIZE_LIMIT as gpu_report.sh has them, SANITIZE_JOBS at a time (as many as there are cores),
# SANITIZE_SHARDS of each program (as many as there are cores for). Logs and suite.json go to OUT. Exits non-zero if
# anything failed, found something or ran out of time.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
. bench/gpu_tests.sh
cores=$(nproc)
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
IFS=, read -ra all_gpus <<<"$gpus"
jobs=$((${JOBS_EACH:-3} * ${#all_gpus[@]}))
tests=build/gpu/tests
run_limit=${LIMIT:-230}
export OMP_NUM_THREADS=$((cores / jobs > 1 ? cores / jobs : 1)) OMP_WAIT_POLICY=passive run_limit
wanted() { [[ -z "${ONLY:-}" || " $ONLY " == *" $1 "* ]]; }

# Long programs, longest first, and how many shards of each; all others come after, whole.
long='hubs/8 parts/8 real_equality/6 samples_law/6 parts_samples/5 adversarial/4 sample_equality/4 equality/4 law/4
    multi/4 walks_law/2 loader/3 tables/2 spmm/2 maxk/2'
programs() { # NUL-separated pairs: PROGRAM, SHARD
    local each name program i of=' '
    for each in $long; do
        name=${each%/*}_gpu_test
        of+="$name "
        [[ -x $tests/$name && (-z ${PROGRAMS:-} || " $PROGRAMS " == *" $name "*) ]] || continue
        for ((i = 1; i <= ${each#*/}; i++)); do printf '%s\0%s\0' "$tests/$name" "$i/${each#*/}"; done
    done
    for program in "$tests"/*_gpu_test "$tests/inline_test"; do
        name=${program##*/}
        [[ "$of" == *" $name "* || ! -x $program ]] && continue
        [[ -z ${PROGRAMS:-} || " $PROGRAMS " == *" $name "* ]] && printf '%s\0%s\0' "$program" 1/1
    done
}
run_one() { # PROGRAM SHARD, and its place among those that run at a time
    local name=${1##*/} start=$SECONDS status said own all log i
    [[ $2 == 1/1 ]] || name+=_${2/\//_of_}
    [[ $GTEST_FILTER == -* ]] || name+=_large
    log=$out/$name.log
    IFS=, read -ra all <<<"$gpus"
    own=$((place % ${#all[@]}))
    CUDA_VISIBLE_DEVICES=$(for ((i = 0; i < ${#all[@]}; i++)); do echo "${all[(own + i) % ${#all[@]}]}"; done | paste -sd ,)
    export CUDA_VISIBLE_DEVICES
    CSAW_CACHE_DIR=$PWD/build/gpu/tests/cache GTEST_SHARD_INDEX=$((${2%/*} - 1)) GTEST_TOTAL_SHARDS=${2#*/} \
        timeout -k 10 "$run_limit" "$1" >"$log" 2>&1
    status=$?
    case $status in
    0) said=ok ;;
    124 | 137) said='out of time' ;;
    *) said=FAILED ;;
    esac
    echo "$said: $name ($(grep -c '^\[       OK \]' "$log") tests passed, $(grep -c '^\[  SKIPPED \] .* (' "$log") skipped, $(grep -c '^\[  FAILED  \] .* (' "$log") failed, $((SECONDS - start)) s, GPU ${all[own]})"
    [ $status = 0 ] || grep -B 20 -m 3 '^\[  FAILED  \] .* (' "$log" | grep -vE '^\[ +(OK|RUN)' | head -n 30
    return $((status != 0))
}
export -f run_one

failed=0
if wanted build; then
    start=$SECONDS
    if build >"$out/build.log" 2>&1; then echo "ok: build ($((SECONDS - start)) s)"; else
        echo "FAILED: build ($((SECONDS - start)) s)"
        tail -n 25 "$out/build.log"
        exit 1
    fi
fi
if wanted tests; then
    start=$SECONDS
    programs | GTEST_FILTER='-*Beyond32Bits*' xargs -0 -r -n 2 -P "$jobs" --process-slot-var=place bash -c 'run_one "$@"' run_one |
        tee "$out/tests.txt"
    [ "${PIPESTATUS[1]}" = 0 ] || failed=1
    if [[ -x $tests/maxk_gpu_test && (-z ${PROGRAMS:-} || " $PROGRAMS " == *" maxk_gpu_test "*) ]]; then
        GTEST_FILTER='*Beyond32Bits*' place=0 run_one "$tests/maxk_gpu_test" 1/1 >"$out/large.txt" || failed=1
        tee -a "$out/tests.txt" <"$out/large.txt"
    fi
    echo "tests: $((SECONDS - start)) s" | tee -a "$out/tests.txt"
fi
if wanted sanitize && [ -n "${SANITIZE_PROGRAMS:-}" ]; then
    start=$SECONDS
    export OMP_NUM_THREADS=1
    read -ra tools <<<"${SANITIZERS:-racecheck initcheck memcheck synccheck}"
    read -ra named <<<"$SANITIZE_PROGRAMS"
    shards=${SANITIZE_SHARDS:-$((cores / (${#tools[@]} * ${#named[@]})))}
    [ "$shards" -ge 1 ] || shards=1
    for tool in "${tools[@]}"; do
        for program in "${named[@]}"; do
            [[ $program == */* ]] || program=$tests/$program
            for ((i = 1; i <= shards; i++)); do printf '%s\0%s\0%s\0' "$tool" "$program" "$i/$shards"; done
        done
    done | xargs -0 -n 3 -P "${SANITIZE_JOBS:-$cores}" --process-slot-var=place bash -c 'sanitize_one "$@"' sanitize_one | tee "$out/sanitize.txt"
    [ "${PIPESTATUS[1]}" = 0 ] || failed=1
    echo "sanitize: $((SECONDS - start)) s" | tee -a "$out/sanitize.txt"
fi
COMMIT=$commit python3 - "$out" "$gpus" <<'PYTHON'
import json
import os
import re
import sys

out = sys.argv[1]


def lines_of(name):
    path = os.path.join(out, name)
    return open(path).read().splitlines() if os.path.exists(path) else []


TEST = re.compile(r'(ok|out of time|FAILED): (\S+) \((\d+) tests passed, (\d+) skipped, (\d+) failed, (\d+) s, GPU (\S+)\)')
TOOL = re.compile(r'(\w+check) (\S+): (.*) \((\d+) tests passed, (\d+) s\)')
tests = [{'program': m[2], 'outcome': m[1], 'passed': int(m[3]), 'skipped': int(m[4]), 'failed': int(m[5]),
          'seconds': int(m[6]), 'gpu': m[7]} for m in map(TEST.fullmatch, lines_of('tests.txt')) if m]
tools = [{'tool': m[1], 'program': m[2], 'outcome': m[3], 'passed': int(m[4]), 'seconds': int(m[5])}
         for m in map(TOOL.fullmatch, lines_of('sanitize.txt')) if m]
total = {'processes': len(tests), 'passed': sum(t['passed'] for t in tests), 'skipped': sum(t['skipped'] for t in tests),
         'failed': sum(t['failed'] for t in tests), 'not ok': [t['program'] for t in tests if t['outcome'] != 'ok']}
under = {'processes': len(tools), 'passed': sum(t['passed'] for t in tools),
         'not ok': [f"{t['tool']} {t['program']}" for t in tools if not t['outcome'].startswith('ok')]}
with open(os.path.join(out, 'suite.json'), 'w') as file:
    json.dump({'commit': os.environ['COMMIT'], 'gpus': sys.argv[2], 'tests': tests, 'total': total, 'sanitizers': tools,
               'sanitizers total': under}, file, indent=1)
if tests:
    print(f"total: {total['processes']} processes, {total['passed']} tests passed, {total['skipped']} skipped, "
          f"{total['failed']} failed; not ok: {', '.join(total['not ok']) or 'none'}")
    print('longest: ' + ', '.join(f"{t['program']} {t['seconds']} s" for t in sorted(tests, key=lambda t: -t['seconds'])[:6]))
if tools:
    print(f"under tools: {under['processes']} processes, {under['passed']} tests passed; not ok: {', '.join(under['not ok']) or 'none'}")
PYTHON
exit $failed
