#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/gpus.sh OUT [BUILD]: walks and neighbour samples on 1, 2 and 4 GPUs of this machine, as many of these as there are,
# from 2,000, 8,000 and 2,000,000 instances on R-MAT 20, each verified against the CPU's, and the last of the walks with the
# graph held by all of them together (--split), rows read where they are and walkers exchanged (--exchange); then a table
# of speeds and how many times that of one GPU each is. SCALE (20), REPEAT (15), GPUS (1 2 4), COMMIT (as git has it) and
# LIMIT, the seconds after which nothing more is begun, come from the environment. Writes a log and a JSON file for each
# to OUT, the table to OUT/gpus.txt; exits non-zero if anything failed or had no time.
set -u
out=${1:?give a folder for the results}
cd "$(dirname "$0")/.." || exit 1
build=${2:-build/gpu}
commit=${COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo "no commit known")}
mkdir -p "$out"
mapfile -t there < <(if [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then tr , '\n' <<<"$CUDA_VISIBLE_DEVICES"; else nvidia-smi --query-gpu=index --format=csv,noheader; fi)
failed=0
run() { # NAME COMMAND ...
    local name=$1 start=$SECONDS
    local left=$((${LIMIT:-86400} - SECONDS))
    shift
    if [ $left -lt 5 ]; then
        echo "LATE   $name: no time was left"
        failed=1
    elif timeout "$left" "$@" --scale "${SCALE:-20}" --repeat "${REPEAT:-15}" --commit "$commit" \
        --json "$out/$name.json" >"$out/$name.log" 2>&1; then
        echo "ok     $name ($((SECONDS - start)) s)"
    else
        echo "FAILED $name ($((SECONDS - start)) s)"
        tail -n 5 "$out/$name.log"
        rm -f "$out/$name.json"
        failed=1
    fi
}
walks() { # GPUS VERTICES WALKS_PER_VERTEX [split | exchange]
    local options=()
    case ${4:-} in split) options=(--split 1) ;; exchange) options=(--split 1 --exchange 1) ;; esac
    run "walks${4:+_$4}_$(($2 * $3))_$1" "$build/bench/walk_bench" --device all "${options[@]}" \
        --only "uniform,weighted,node2vec p=2 q=0.5,weighted node2vec p=0.25 q=4" --vertices "$2" --walks-per-vertex "$3"
}
each() { # a function, with numbers of GPUs that are there
    for gpus in ${GPUS:-1 2 4}; do
        [ "$gpus" -le "${#there[@]}" ] || continue
        CUDA_VISIBLE_DEVICES=$(IFS=,; echo "${there[*]:0:$gpus}") "$1" "$gpus"
    done
}
many() { walks "$1" 500000 4; }
held() { [ "$1" = 1 ] || { walks "$1" 500000 4 split; walks "$1" 500000 4 exchange; }; }
few() {
    walks "$1" 2000 1
    walks "$1" 8000 1
}
samples() {
    local bench=("$build/bench/sample_bench" --device all --only neighbor,neighbor_biased)
    run "samples_$1" "${bench[@]}" --instances 2000,8000,2000000
    run "samples_in_turn_$1" "${bench[@]}" --instances 2000000 --in-turn 1 --in-place 1
    run "samples_eights_$1" "${bench[@]}" --instances 2000,8000,2000000 --fanout 8,8,8 --in-place 1
}
each many
each held
each samples
each few
python3 - "$out" <<'END' | tee "$out/gpus.txt" || failed=1
import glob, json, os, re, sys

speed = {}  # what: {gpus: items a second}
runs = set()  # commit and GPUs
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json"))):
    walks = re.fullmatch(r"walks_(split_|exchange_)?(\d+)_(\d+)\.json", os.path.basename(path))
    samples = re.fullmatch(r"samples_(?:in_turn_|eights_)?(\d+)\.json", os.path.basename(path))
    if not walks and not samples:
        continue
    with open(path) as file:
        report = json.load(file)
    runs.add((report["commit"], *sorted(set(report["machine"]["gpus"]))))
    if walks:
        for row in report["rows"]:
            instances = report["start_vertices"] * report["walks_per_vertex"]
            what = (f"walk, {row['walk']}{', ' + walks[1][:-1] if walks[1] else ''}", instances, "M steps/s")
            speed.setdefault(what, {})[int(walks[3])] = row["steps_per_s"]
    else:
        for row in report["instances"]:
            seeds = ", in turn" if row.get("seeds") == "in turn" else ""
            what = (f"{row['sampler']}, {row['select']}, {row['fanout']}, until {row['until']}{seeds}", row["instances"],
                    "M arcs/s")
            speed.setdefault(what, {})[int(samples[1])] = row["seps"]
if not speed:
    sys.exit("no results")
for run in sorted(runs):
    print("commit", ", ".join(run))
for (what, *rest), by in speed.items():
    for way in (", split", ", exchange"):
        if what.endswith(way):
            by.update({n: rate for n, rate in speed.get((what[: -len(way)], *rest), {}).items() if n == 1})
for what, by in speed.items():
    cells = [f"{n} GPU{'s' * (n > 1)} {rate / 1e6:9.1f}" + (f" ({rate / by[1]:.2f}x)" if n > 1 and 1 in by else "")
             for n, rate in sorted(by.items())]
    print(f"{what[0]:52} {what[1]:8} instances  {what[2]:9}  " + "  ".join(cells))
END
exit $failed
