#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/mapped_report.sh OUT [BUILD]: a graph mapped from a .csaw file that is larger than what is left of the host's memory:
# walks on partitions that come to DEVICE, and on the CPU over the file as it lies, byte by byte those of runs with all memory.
# Memory is bounded by a control group of LEFT MiB below the own one, in which every page of the file that is read counts, and
# is dropped for another; where none can be made, and a GPU is to see that it may not lock the file's pages, /proc/meminfo
# tells of LEFT MiB in a mount namespace: then the device's copies go by way of blocks, though memory is not short. HOW names
# the ways that are tried, in order. On a GPU parts_bench says what the copies move, with pages locked and refused. Writes
# OUT/mapped.md, logs and the graph, which is kept; exits 77 where memory can be bounded in no way, non-zero if anything failed.
set -u
out=${1:?give a folder for the results}
build=${2:-build/cpu}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
: "${CSAW:=$build/cli/csaw}" "${PARTS_BENCH:=$build/bench/parts_bench}" # built programs
: "${DEVICE=simulated}"             # or cuda:0
: "${SCALE=21}" "${FACTOR=24}"      # of R-MAT: 368 MiB
: "${SHARE=8}"                      # gpu memory is this part of the file
: "${LEFT=}"                        # MiB; default: five eighths of the file
: "${LENGTH=10}"                    # steps of walks
: "${WALKS=50000}"                  # of which those begin, evenly over the vertices, for which partitions come
: "${FEW=500}"                      # likewise, which read the file as it lies, a page a step
: "${HOW=group told}"
graph=$out/mapped.csaw
failed=0

if [ ! -r "$graph" ]; then
    "$CSAW" generate rmat --scale "$SCALE" --edge-factor "$FACTOR" --seed 1 -o "$graph" >"$out/generate.log" 2>&1 || {
        tail -n 3 "$out/generate.log"
        exit 1
    }
fi
bytes=$(stat -c %s "$graph")
[ -n "$LEFT" ] || LEFT=$((bytes * 5 / 8 >> 20))
left=$((LEFT << 20)) gpu_memory=$((bytes / SHARE >> 10)) # bytes, KiB
if [ "$left" -ge "$bytes" ]; then
    echo "mapped_report.sh: LEFT is $LEFT MiB, but the file has $((bytes >> 20)); give less" >&2
    exit 1
fi

# ---- memory that is bounded ----

group='' told='' peak='' full=''
make_group() { # below the own one, of either version
    local own
    own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
    group=/sys/fs/cgroup/memory$own/csaw_mapped_$$ peak=memory.max_usage_in_bytes full=memory.failcnt
    if [ -n "$own" ] && mkdir "$group" 2>/dev/null; then
        echo "$left" 2>/dev/null >"$group/memory.limit_in_bytes" && bounded true && return 0
        rmdir "$group"
    fi
    own=$(sed -n 's/^0:://p' /proc/self/cgroup)
    group=/sys/fs/cgroup${own%/}/csaw_mapped_$$ peak=memory.peak full=memory.events
    if [ -e "/sys/fs/cgroup${own%/}/cgroup.procs" ] && mkdir "$group" 2>/dev/null; then
        [ -e "$group/memory.max" ] && echo "$left" 2>/dev/null >"$group/memory.max" && bounded true && return 0
        rmdir "$group"
    fi
    group=''
    return 1
}
make_told() { # for whoever asks how much is left
    told=$out/meminfo
    sed "s/^MemAvailable:.*/MemAvailable: $((left >> 10)) kB/" /proc/meminfo >"$told"
    bounded grep -q "^MemAvailable: $((left >> 10)) kB" /proc/meminfo 2>/dev/null && return 0
    told=''
    return 1
}
bounded() { # COMMAND: within the bound
    if [ -n "$group" ]; then
        # shellcheck disable=SC2016 # of the inner shell
        sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
    else
        # shellcheck disable=SC2016
        unshare --mount sh -c 'mount --bind "$0" /proc/meminfo && exec "$@"' "$told" "$@"
    fi
}
trap '[ -z "$group" ] || rmdir "$group" 2>/dev/null' EXIT
trap 'exit 1' INT TERM
for how in $HOW; do
    case $how in
    group) make_group && break ;;
    told) [ "$DEVICE" = simulated ] || ! make_told || break ;;
    *) echo "mapped_report.sh: HOW names '$how'; give group, told, or both" >&2 && exit 1 ;;
    esac
done
if [ -z "$group$told" ]; then
    echo "skipped: neither a control group nor a mount namespace bounds memory here"
    exit 77
fi

# ---- runs ----

forget_file() { # so that what is read counts where it is read
    dd if="$graph" iflag=nocache count=0 status=none
}
summary() { sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' "$1"; }
walk() { # NAME OPTIONS: --json to OUT/NAME.json, walks to OUT/NAME.bin
    local name=$1
    shift
    "$within" "$CSAW" walk "$graph" --algo uniform --num-walks 1 --walk-length "$LENGTH" --json \
        -o "$out/$name.bin" "$@" >"$out/$name.json" 2>"$out/$name.log"
}
# shellcheck disable=SC2317 # walk() and the loop below call it by name
free() { "$@"; }
peaks() { # of the group since this was asked last: MiB at most, how often there was no room
    if [ -n "$group" ]; then
        printf '%s | %s' "$(($(cat "$group/$peak" 2>/dev/null || echo 0) >> 20))" \
            "$(sed -n 's/^max //p; /^[0-9]*$/p' "$group/$full" | head -n 1)"
    else
        printf 'not bounded | '
    fi
    [ -z "$group" ] || { echo 0 >"$group/$peak"; echo 0 >"$group/$full"; } 2>/dev/null
}
compare() { # NAME OPTIONS: free on the CPU, then within the bound on TO
    local name=$1 same=yes
    shift
    within=free walk "whole-$name" --device cpu "$@" || { tail -n 3 "$out/whole-$name.log"; failed=1; return; }
    forget_file
    within=bounded walk "bounded-$name" "${to[@]}" "$@" || { tail -n 3 "$out/bounded-$name.log"; failed=1; }
    cmp -s "$out/whole-$name.bin" "$out/bounded-$name.bin" || { same=NO; failed=1; }
    printf '| %s | %s | %s | %s | %s | %s |\n' "$name" "$(stat -c %s "$out/whole-$name.bin")" "$same" \
        "$(summary "$out/whole-$name.json")" "$(summary "$out/bounded-$name.json")" "$(peaks)" >>"$out/mapped.md"
    rm -f "$out/whole-$name.bin" "$out/bounded-$name.bin"
}
{
    echo "# A file of $((bytes >> 20)) MiB, of the host's memory $LEFT MiB are left"
    echo
    echo "R-MAT $SCALE, edge factor $FACTOR; $DEVICE has $((gpu_memory >> 10)) MiB; memory is bounded by" \
        "$([ -n "$group" ] && echo "a control group" || echo "what /proc/meminfo tells")."
    echo
    echo "| walks | bytes of walks | the same bytes | seconds, all memory, CPU | seconds, bounded | MiB at most | times full |"
    echo "|---|---|---|---|---|---|---|"
} >"$out/mapped.md"
vertices=$("$CSAW" plan "$graph" | sed -n 's/^graph *\([0-9]*\) vertices.*/\1/p')
seeds() { # COUNT: to OUT/seeds.txt, evenly over the vertices
    seq 0 $((vertices / $1 > 0 ? vertices / $1 : 1)) $((vertices - 1)) >"$out/seeds.txt"
}
to=(--device "$DEVICE" --gpu-memory "${gpu_memory}KiB")
seeds "$WALKS"
compare partitions --seeds "$out/seeds.txt"
if [ -n "$group" ]; then
    to=(--device cpu)
    seeds "$FEW"
    compare in-place --seeds "$out/seeds.txt"
fi
if [ "$DEVICE" != simulated ]; then
    bounded "$CSAW" plan "$graph" --device "$DEVICE" --gpu-memory "${gpu_memory}KiB" --num-walks 1 --walk-length "$LENGTH" \
        >"$out/plan.txt" 2>&1
    grep "^locked" "$out/plan.txt" | tee -a "$out/mapped.md"
    grep -q "^locked      nothing" "$out/plan.txt" || { echo "FAILED pages were locked within the bound"; failed=1; }
    printf '\n' >>"$out/mapped.md"
    for within in free bounded; do # of pages that are in memory, where that is not short
        cat "$graph" >/dev/null
        "$within" "$PARTS_BENCH" --graph "$graph" --device "$DEVICE" --memory "$gpu_memory" --only uniform --length "$LENGTH" \
            --walks $((20 * WALKS)) --ways partitions --in-memory 0 --json "$out/parts-$within.json" >"$out/parts-$within.log" 2>&1 ||
            { tail -n 3 "$out/parts-$within.log"; failed=1; continue; }
        python3 -B - "$out/parts-$within.json" "$within" <<'PYTHON' | tee -a "$out/mapped.md"
import json, sys
report = json.load(open(sys.argv[1]))
for row in report["rows"]:
    print(f"- parts_bench, {sys.argv[2]}, {row['by']}: {row['bytes_moved'] / 1e9:.2f} GB in {row['seconds']:.3f} s, "
          f"{row['bytes_moved'] / row['seconds'] / 1e9:.2f} GB/s of {report['copy_bytes_per_s'] / 1e9:.2f}")
PYTHON
    done
fi
cat "$out/mapped.md"
[ $failed = 0 ] && echo "ok     the same bytes" || echo "FAILED $out has the logs"
exit $failed
