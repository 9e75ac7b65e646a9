#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/ncu.sh OUT [BUILD]: what limits each kernel whose file has no figure of it yet, by Nsight Compute, on a machine
# with a GPU whose counters may be read: programs of a CUDA build (build/gpu unless BUILD is given, as bench/gpu_report.sh
# makes it) run once each with early launches of their kernels profiled, and of every kernel the longest of these is
# told: microseconds, % of the issue slots, of the warps, of the throughput of L1, L2 and DRAM, and registers a thread.
# Writes OUT/PROGRAM.N.csv, N the number of the run, and OUT/kernels.md; kernels that no program launched are named. ONLY names the programs to run,
# with blanks between; SCALE (18) and SHARE (0.05) say how large graphs are, tests take every EVERY-th case (4); NCU is the
# profiler; LIMIT seconds (40) are for a program, TOTAL (200) for all: those of the engine come first.
# Exits non-zero where a program gave no figure at all.
set -u
out=${1:?give a folder for the results}
build=$(cd "${2:-build/gpu}" && pwd) || exit 1
scale=${SCALE:-18}
share=${SHARE:-0.05}
SECONDS=0
mkdir -p "$out"
failed=0
turn=0
metrics=gpu__time_duration.sum,sm__inst_issued.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,l1tex__throughput.avg.pct_of_peak_sustained_active
metrics+=,lts__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,launch__registers_per_thread

profile() { # KERNELS, with | between; PROGRAM and its arguments
    local kernels=$1 program=$2 path log
    shift 2
    [[ -z "${ONLY:-}" || " $ONLY " == *" $program "* ]] || return 0
    path=$(find "$build/bench" "$build/tests" "$build/cli" -maxdepth 1 -name "$program" -type f 2>/dev/null | head -n 1)
    if [[ -z $path ]]; then
        echo "FAILED $program is not in $build"
        failed=1
        return
    fi
    log=$out/$program.$((++turn)).csv
    local start=$SECONDS limit=$((${TOTAL:-200} - SECONDS))
    [ "$limit" -le "${LIMIT:-40}" ] || limit=${LIMIT:-40}
    if [ "$limit" -lt 5 ]; then
        echo "FAILED $program: no time is left; TOTAL is ${TOTAL:-200} s"
        failed=1
        return
    fi
    CSAW_TEST_EVERY=${EVERY:-4} timeout -k 10 "$limit" "${NCU:-ncu}" --csv --page raw --print-units base --print-kernel-base function --target-processes all --clock-control none \
        --metrics "$metrics" --kernel-id "::regex:^($kernels)$:1|2|3|5|9|20" --log-file "$log" "$path" "$@" \
        >"${log%.csv}.log" 2>&1
    if ! KERNELS=$kernels python3 - "$log" "$program" >>"$out/kernels.md" <<'PYTHON'
import csv
import os
import re
import sys

TIME = 'gpu__time_duration.sum'
SHARES = ['sm__inst_issued.avg.pct_of_peak_sustained_active', 'sm__warps_active.avg.pct_of_peak_sustained_active',
          'l1tex__throughput.avg.pct_of_peak_sustained_active', 'lts__throughput.avg.pct_of_peak_sustained_elapsed',
          'dram__throughput.avg.pct_of_peak_sustained_elapsed']


def number(text):
    try:
        return float(text.replace(',', ''))
    except ValueError:
        return float('nan')


with open(sys.argv[1], errors='replace') as file:
    lines = [line for line in file if line.startswith('"')]
rows = [row for row in csv.DictReader(lines) if row['ID']]  # below the names stand their units
longest = {}
for row in rows:
    names = re.findall(rf'\b({os.environ["KERNELS"]})\b', row['Kernel Name'])  # it may stand in a namespace
    if not names:
        continue
    name = names[0]
    if name not in longest or number(row[TIME]) > number(longest[name][TIME]):
        longest[name] = row
for name in sorted(longest):
    row = longest[name]
    shares = ' | '.join(f'{number(row[share]):.0f}' for share in SHARES)
    print(f'| {sys.argv[2]} | `{name}` | {number(row[TIME]) / 1e3:.1f} | {shares} | {row["launch__registers_per_thread"]} |')
for name in sorted(set(os.environ['KERNELS'].split('|')) - set(longest)):
    print(f'| {sys.argv[2]} | `{name}` | not launched | | | | | | |')
sys.exit(not longest)
PYTHON
    then
        echo "FAILED $program: no figure; the end of $log and of its log:"
        tail -n 3 "$log" "${log%.csv}.log" 2>/dev/null
        failed=1
    else
        echo "ok     $program ($((SECONDS - start)) s)"
    fi
}

printf '%s\n' '| program | kernel | us | issue slots % | warps % | L1 % | L2 % | DRAM % | registers |' \
    '|---|---|---|---|---|---|---|---|---|' >"$out/kernels.md"
zipf=(--graph reddit --share "$share" --repeat 1)
graph=$out/rmat.csaw
# The engine: what leaves partitions, pools of a batch, walks that go to the host.
profile 'rooms_of_list|find_places|put_offsets' parts_samples_gpu_test --gtest_filter='*BatchesShareWhatIsBrought'
profile 'weigh_layers|mark_parts|take_far|place_pieces' parts_bench --in-memory 0 --few 0 --scale $((scale + 2)) --edge-factor 32 \
    --weighted 1 --only layer --walks 2048 --ablation 0 --ways "as the plan chooses;partitions"
profile 'csaw__kernel_select' pools_gpu_test --gtest_filter='*EveryAllocationFails'
if [[ -z "${ONLY:-}" || " $ONLY " == *" csaw "* ]]; then
    "$build/cli/csaw" generate rmat --scale "$scale" -o "$graph" >"$out/generate.log" 2>&1 || failed=1
    profile 'csaw__transpose_tiles' csaw walk "$graph" --algo uniform --num-walks 10 --device cuda:0 -o "$out/walks.npy"
    rm -f "$graph" "$out/walks.npy"
fi
# Aggregation.
profile 'csaw__stretches|csaw__merge_stretches|csaw__find_first_rows' \
    spmm_gpu_bench --graph arxiv --repeat 1 --columns 64,256 --storage float32 --ops sum
profile 'csaw__find_winners|csaw__gather_winners|csaw__scatter_weights' \
    spmm_gpu_bench --graph arxiv --repeat 1 --columns 64 --storage float32 --ops max,dx-of-max,dweight-of-max
profile 'csaw__maxk_in_warps' maxk_gpu_bench "${zipf[@]}" --what rows --cols 4096 --k 64
profile 'csaw__batch_check|csaw__batch_entries|csaw__batch_means|csaw__batch_rows|csaw__batch_level|csaw__batch_spread' \
    batched_gpu_bench --repeat 1 --places 1
cat "$out/kernels.md"
exit $failed
