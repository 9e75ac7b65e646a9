#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/all_reports.sh OUT [PHASE...]: runs phases of the reports in bench/ over all GPUs of this machine. PHASES is a file
# (all_reports.phases) with a phase a line: NAME KIND SECONDS COMMAND, where $dir in COMMAND is the phase's folder for
# results, and # begins a comment. KIND is `shared` (one GPU; each GPU takes the next such phase as it becomes free, so host
# times are those of cores that others use too), `alone` (one GPU, nothing beside it: host time is part of what it measures)
# or `all` (all GPUs, nothing beside it). Shared phases come first, in their order, then the others. PHASE picks by name;
# none means all. No phase runs longer than its SECONDS, nor past DEADLINE, the seconds for everything, where that is given;
# with a phase that is cut, all that it started ends. BUILT=1 leaves out the build (BUILD_COMMAND, else that of
# bench/gpu_suite.sh). GPUs are those of CUDA_VISIBLE_DEVICES, else all. Writes OUT/NAME/ with log and results, in place of
# those of a run before, and as each phase ends OUT/summary.md and, but for files of 32 MiB or more (graphs), all of OUT to
# OUT/reports.tar.gz. Exits non-zero if a phase failed, was cut or had no time.
set -u
if [[ ${1:-} == --help || $# == 0 ]]; then
    sed -n '3,/^set/{/^set/d;s/^# //;p}' "$0"
    exit $(($# == 0 ? 2 : 0))
fi
phases=$(realpath "${PHASES:-$(dirname "$0")/all_reports.phases}") || exit 2
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/.." || exit 2
gpus=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=index --format=csv,noheader | paste -sd ,)}
[ -n "$gpus" ] || { echo "no GPU: nvidia-smi names none and CUDA_VISIBLE_DEVICES is empty; set CUDA_VISIBLE_DEVICES" >&2; exit 2; }
count=$(tr , '\n' <<<"$gpus" | wc -l)
deadline=${DEADLINE:-86400}
end=$(($(date +%s) + deadline))
export out gpus end phases
unset DEADLINE LIMIT ONLY PARTS RUN PROGRAMS # a phase's own command sets what it selects

names() { # KINDS, with | between; then the phases that are wanted, or none for all
    local kinds=$1 name kind rest
    shift
    while read -r name kind rest || [[ -n $name ]]; do
        [[ -n $name && $name != \#* && "|$kinds|" == *"|$kind|"* ]] || continue
        [[ $# == 0 || " $* " == *" $name "* ]] && echo "$name"
    done <"$phases"
}
archive() { # of what there is so far; other phases may be writing
    cd "$out" || return
    find . -type f ! -name .lock ! -name 'reports.tar.gz*' -size -32768k -print0 |
        tar --null --no-recursion --ignore-failed-read -T - -czf reports.tar.gz.new
    [ "${PIPESTATUS[1]}" -le 1 ] && mv reports.tar.gz.new reports.tar.gz # 1: a file grew as it was read
}
row() { # NAME KIND GPU SECONDS EXIT SAID
    echo "$6: $1 (GPU $3, $4 s, exit code $5)"
    (
        flock 9
        printf '| %s | %s | %s | %s | %s | %s |\n' "$@" >>"$out/summary.md"
        archive 2>>"$out/archive.log" || { echo "FAILED: $out/reports.tar.gz; $out/archive.log says why" >&2; exit 1; }
    ) 9>"$out/.lock"
}
phase() { # NAME
    local name kind seconds command gpu=$gpus start session status said left
    read -r name kind seconds command < <(awk -v name="$1" '$1 == name { print; exit }' "$phases")
    [[ $kind == all ]] || gpu=$(cut -d , -f $((${place:-0} + 1)) <<<"$gpus")
    start=$(date +%s)
    left=$((end - start))
    rm -rf "${out:?}/$name"
    if [ $left -lt 2 ]; then
        row "$name" "$kind" - 0 - 'no time left'
        return 1
    fi
    mkdir -p "$out/$name"
    dir=$out/$name CUDA_VISIBLE_DEVICES=$gpu setsid timeout -k 5 $((seconds < left ? seconds : left)) \
        bash -c "$command" >"$out/$name/log" 2>&1 &
    session=$!
    trap 'pkill -KILL -s "$session"; exit 1' INT TERM
    wait "$session"
    status=$?
    pkill -KILL -s "$session" # what timeouts within the phase had taken out of its process group
    case $status in
    0) said=ok ;;
    124 | 137) said="cut after $((seconds < left ? seconds : left)) s" ;;
    *) said=FAILED ;;
    esac
    row "$name" "$kind" "$gpu" $(($(date +%s) - start)) $status "$said" || return 1
    return $((status != 0))
}
export -f archive phase row

failed=0
for name in "$@"; do
    names 'shared|alone|all' "$name" | grep -q . || { echo "no phase $name in $phases; there are: $(names 'shared|alone|all' | paste -sd ' ')" >&2; exit 2; }
done
printf '%s\n' "GPUs $gpus. Host times of shared phases are those of cores that other phases used too." '' \
    '| phase | kind | GPU | seconds | exit code | outcome |' '|---|---|---|---|---|---|' >"$out/summary.md"
if [ -z "${BUILT:-}" ]; then
    timeout -k 5 "$deadline" bash -c "${BUILD_COMMAND:-ONLY=build bench/gpu_suite.sh \"\$out/build\"}" >"$out/build.log" 2>&1 ||
        { tail -n 20 "$out/build.log"; echo "FAILED: build" | tee -a "$out/summary.md"; exit 1; }
fi
names shared "$@" | xargs -r -n 1 -P "$count" --process-slot-var=place bash -c 'phase "$1"' phase || failed=1
names 'alone|all' "$@" | xargs -r -n 1 bash -c 'phase "$1"' phase || failed=1
exit $failed
