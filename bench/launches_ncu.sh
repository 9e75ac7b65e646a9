#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/launches_ncu.sh OUT BENCH [options of BENCH]: what kernels move and what limits them, by Nsight Compute, on a machine
# with a GPU whose counters may be read: of spmm_gpu_bench or maxk_gpu_bench each launch of a run that is verified, in their
# order (k by k, and of a k the largest, forward, backward by atomic additions, with a plan, deterministic), on the whole
# graph. maxk_gpu_bench prints the bytes by the formulas of MaxK-GNN (section 4.3 and Table 2) that L2 and DRAM are to be set
# beside. Writes OUT.csv (all metrics), OUT.txt (what BENCH printed, whose times are those under the profiler and mean
# nothing) and OUT.md: of each launch microseconds, GB from and to memory and through L2, hit rates, and % of issue slots,
# warps, L1, L2 and DRAM. KERNELS is a regular expression of names, NCU the profiler. Exits non-zero without a figure.
set -u
out=${1:?give the start of the names of results} bench=${2:?give spmm_gpu_bench or maxk_gpu_bench}
shift 2
mkdir -p "$(dirname "$out")"
metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,l1tex__t_sector_hit_rate.pct
metrics+=,lts__t_sector_hit_rate.pct,sm__inst_issued.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active,l1tex__throughput.avg.pct_of_peak_sustained_active
metrics+=,lts__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,launch__registers_per_thread
"${NCU:-ncu}" --csv --page raw --print-units base --kernel-name-base function --profile-from-start off \
    --clock-control none --metrics "$metrics" --kernel-name "regex:${KERNELS:-^csaw__}" --log-file "$out.csv" \
    "$bench" "$@" >"$out.txt" 2>&1
status=$?
python3 - "$out.csv" >"$out.md" <<'PYTHON' || { tail -n 5 "$out.txt" "$out.csv"; exit 1; }
import csv
import re
import sys

SHARES = ['l1tex__t_sector_hit_rate.pct', 'lts__t_sector_hit_rate.pct', 'sm__inst_issued.avg.pct_of_peak_sustained_active',
          'sm__warps_active.avg.pct_of_peak_sustained_active', 'l1tex__throughput.avg.pct_of_peak_sustained_active',
          'lts__throughput.avg.pct_of_peak_sustained_elapsed', 'dram__throughput.avg.pct_of_peak_sustained_elapsed']


def number(row, name):
    try:
        return float(row[name].replace(',', ''))
    except (KeyError, ValueError):
        return float('nan')


with open(sys.argv[1], errors='replace') as file:
    lines = [line for line in file if line.startswith('"')]
rows = [row for row in csv.DictReader(lines) if row['ID']]  # below the names stand their units
print('| kernel | us | memory, GB | L2, GB | L1 hits % | L2 hits % | issue slots % | warps % | L1 % | L2 % | DRAM % | registers |')
print('|---|---|---|---|---|---|---|---|---|---|---|---|')
for row in rows:
    name = re.sub(r'^void |\(.*$', '', row['Kernel Name'])
    memory = number(row, 'dram__bytes_read.sum') + number(row, 'dram__bytes_write.sum')
    shares = ' | '.join(f'{number(row, share):.0f}' for share in SHARES)
    print(f'| `{name}` | {number(row, "gpu__time_duration.sum") / 1e3:.1f} | {memory / 1e9:.3f} | '
          f'{number(row, "lts__t_bytes.sum") / 1e9:.3f} | {shares} | {row["launch__registers_per_thread"]} |')
sys.exit(not rows)
PYTHON
cat "$out.md"
exit $status
