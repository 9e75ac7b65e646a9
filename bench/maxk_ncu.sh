#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/maxk_ncu.sh BENCH OUT [options of BENCH]: what MaxK's kernels move and what limits them, by Nsight Compute. BENCH:
# maxk_gpu_bench, which verifies, and prints the bytes of the paper's formulas (MaxK-GNN, section 4.3 and Table 2)
# that dram__bytes and lts__t_bytes are to be set beside. One launch of each of the k largest, forward, outer and gathered
# kernels, of the shapes that k = 8, 16, 32 and 64 have (64's outer product is two launches of 32's kernel: 32's alone
# is measured). Chunks of long rows are merged by csaw__merge, measured too. Writes OUT/maxk.ncu-rep (all sections:
# ncu -i OUT/maxk.ncu-rep), OUT/maxk_ncu.csv (a row a kernel and metric) and OUT/maxk_ncu.txt (what BENCH printed, whose
# times are those under the profiler and mean nothing). NCU names another ncu.
set -eu
bench=${1:?give maxk_gpu_bench} out=${2:?give a folder for the results}
shift 2
metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum
metrics=$metrics,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum
metrics=$metrics,lts__t_sectors_lookup_hit.sum,lts__t_sectors_lookup_miss.sum,l1tex__data_bank_conflicts_pipe_lsu.sum
metrics=$metrics,smsp__inst_executed.sum,smsp__inst_issued.avg.pct_of_peak_sustained_active
ncu=${NCU:-ncu}
mkdir -p "$out"
"$ncu" --force-overwrite --export "$out/maxk" --kernel-name-base function \
    --kernel-id '::regex:^csaw__(maxk_(in_warp|in_block|forward|outer|gathered)|merge)$:1' \
    --section SpeedOfLight --section MemoryWorkloadAnalysis --section MemoryWorkloadAnalysis_Tables \
    --section WarpStateStats --section SchedulerStats --section Occupancy --section LaunchStats --metrics "$metrics" \
    "$bench" --graph reddit --what figure --k 8,16,32,64 --repeat 1 "$@" | tee "$out/maxk_ncu.txt"
"$ncu" --import "$out/maxk.ncu-rep" --csv --page details --print-metric-name name >"$out/maxk_ncu.csv"
"$ncu" --import "$out/maxk.ncu-rep" --csv --page raw --metrics "$metrics" --print-kernel-base mangled
