#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_scales.sh OUT [WALK_BENCH]: walks on R-MAT graphs larger than a GPU's caches, edge factor 32, vertices by falling
# degree, beside kernels written by hand on the same graph in the same run. Each graph is generated on the machine itself.
# SCALES (22 24 26), REPEAT (9) and ONLY (walks, with commas between) come from the environment. Writes a log and a JSON
# file for each scale to OUT; exits non-zero if a scale failed.
set -u
out=${1:?give a folder for the results}
cd "$(dirname "$0")/.."
bench=${2:-build/gpu/bench/walk_bench}
mkdir -p "$out"
failed=0
for scale in ${SCALES:-22 24 26}; do
    start=$SECONDS
    if "$bench" --device "${DEVICE:-cuda:0}" --scale "$scale" --edge-factor 32 --order degree --repeat "${REPEAT:-9}" \
        ${ONLY:+--only "$ONLY"} --json "$out/scale_$scale.json" >"$out/scale_$scale.log" 2>&1; then
        echo "ok     scale $scale ($((SECONDS - start)) s)"
    else
        echo "FAILED scale $scale ($((SECONDS - start)) s)"
        failed=1
    fi
    cat "$out/scale_$scale.log"
done
exit $failed
