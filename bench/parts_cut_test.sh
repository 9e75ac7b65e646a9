#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/parts_cut_test.sh BENCH OUT: parts_bench that is killed leaves JSON of the ways that it told until then, and says
# that it is not whole; a pipe gets all of it once.
set -u
bench=$1 out=$2
mkdir -p "$out" && rm -f "$out/cut.json"
"$bench" --scale 12 --device simulated --partitions 4 --resident 2 --streams 2 --only uniform --length 400 --few 0 \
    --repeat 15 --json "$out/cut.json" >"$out/cut.log" 2>&1 &
for _ in {1..600}; do # until the first way is told; the second takes as long, which is seconds
    grep -q '"by"' "$out/cut.json" 2>/dev/null && break
    kill -0 $! 2>/dev/null || break
    sleep 0.05
done
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
python3 - "$out/cut.json" <<'PYTHON' || exit 1
import json, sys
report = json.load(open(sys.argv[1]))
sys.exit(0 if report["rows"] and report["whole"] is False else f"{len(report['rows'])} rows, whole: {report['whole']}")
PYTHON
"$bench" --scale 8 --device simulated --partitions 4 --resident 2 --streams 2 --only uniform --length 4 --few 0 --repeat 1 \
    --json >(cat >"$out/pipe.json") >"$out/pipe.log" 2>&1 || exit 1
wait # for cat
python3 -c 'import json, sys; sys.exit(0 if json.load(open(sys.argv[1]))["whole"] is True else "not whole")' "$out/pipe.json"
