#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpu_scales.sh OUT [WALK_BENCH]: walks on R-MAT graphs larger than a GPU's caches, edge factor 32, vertices by falling
# degree, beside kernels written by hand on the same graph in the same run. Each graph is generated on the machine itself.
# SCALES (22 24 26), REPEAT (9), ONLY (walks, with commas between), DEVICE (cuda:0) and COMMIT (as git has it) come from the
# environment. YARDSTICK names a .cu file with kernels of its own: it is compiled here and run on the same graph after the
# others, which is exported for it to OUT, 8 bytes an arc and 4 a vertex, and removed again. Writes a log and a JSON file for
# each scale to OUT; exits non-zero if a scale failed.
set -u
out=${1:?give a folder for the results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
bench=${2:-build/gpu/bench/walk_bench}
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
failed=0
graph=${YARDSTICK:+$out/graph} # exported to
if [ -n "$graph" ]; then
    nvcc -O3 -std=c++17 --extended-lambda -arch=native "$YARDSTICK" -o "$out/yardstick" || exit 1
fi
scale_of() { # SCALE
    [ -z "$graph" ] || mkdir -p "$graph"
    "$bench" --device "${DEVICE:-cuda:0}" --scale "$1" --edge-factor 32 --order degree --repeat "${REPEAT:-9}" \
        ${ONLY:+--only "$ONLY"} ${graph:+--export "$graph"} --commit "$commit" --json "$out/scale_$1.json" || return 1
    [ -z "$graph" ] || "$out/yardstick" "$graph" 1
}
for scale in ${SCALES:-22 24 26}; do
    start=$SECONDS
    if scale_of "$scale" >"$out/scale_$scale.log" 2>&1; then
        echo "ok     scale $scale ($((SECONDS - start)) s)"
    else
        echo "FAILED scale $scale ($((SECONDS - start)) s)"
        failed=1
    fi
    [ -z "$graph" ] || rm -rf "$graph"
    cat "$out/scale_$scale.log"
done
exit $failed
