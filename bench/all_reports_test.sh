#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/all_reports_test.sh FOLDER: all_reports.sh with phases that only pretend, on two GPUs that are not there.
set -u
bench=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1
cat >phases <<'END'
# name kind seconds command
slow   shared 9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu; touch ../slow; sleep 2; rm ../slow
fails  shared 9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu; exit 3
hangs  shared 1 echo kept >$dir/kept; sleep 30
leak   shared 9 test -z "${ONLY:-}${PARTS:-}${RUN:-}${LIMIT:-}${DEADLINE:-}"
both   all    9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu
large  alone  9 dd if=/dev/zero of=$dir/graph bs=1M count=9 status=none
lonely alone  9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu
END
sed -i "s|\.\./slow|$PWD/slow|g; s|^lonely.*|&; test ! -e $PWD/slow|" phases
printf %s "$(cat phases)" >whole && mv whole phases # the last line may end without a newline
mkdir -p out/both && touch out/both/stale
check() { "$@" || { echo "not so: $*"; cat out/summary.md; exit 1; }; }
export PHASES=phases CUDA_VISIBLE_DEVICES=4,7 BUILT=1
ONLY=x RUN=2 LIMIT=5 DEADLINE=60 "$bench/all_reports.sh" out && { echo "failed phases went unnoticed"; exit 1; }
check grep -q '^| slow | shared | [47] | [2-4] | 0 | ok |' out/summary.md
check grep -q '^| fails | shared | [47] | [01] | 3 | FAILED |' out/summary.md
check grep -q '^| hangs | shared | [47] | [1-3] | 124 | cut after 1 s |' out/summary.md
check grep -q '^| leak | .* | 0 | ok |' out/summary.md
check grep -q '^| lonely | alone | 4 | .* | 0 | ok |' out/summary.md
check [ "$(cat out/both/gpu)" = 4,7 ]
check [ "$(cat out/slow/gpu)" != "$(cat out/fails/gpu)" ]
check [ "$(tar -xzOf out/reports.tar.gz ./hangs/kept)" = kept ]
check [ "$(tar -xzOf out/reports.tar.gz ./lonely/gpu)" = 4 ]
check [ "$(tar -tzf out/reports.tar.gz | grep -c 'large/graph\|stale')" = 0 ]
check "$bench/all_reports.sh" one both
check [ "$(grep -c "^| [a-z]* | [a-z]* | [0-9]" one/summary.md)" = 1 ]
DEADLINE=1 "$bench/all_reports.sh" late both && exit 1
check grep -q '^| both | all | - | 0 | - | no time left |' late/summary.md
"$bench/all_reports.sh" none nosuch && exit 1

# The phases that there are: of a kind, with a limit, by scripts of this folder.
cd "$bench/.." || exit 1
grep -v '^#' bench/all_reports.phases | while read -r name kind seconds command; do
    script=$(grep -o 'bench/[a-z_/]*\.sh' <<<"$command")
    check [ -n "$(grep -Ex 'shared|alone|all' <<<"$kind")" ] && check [ "$seconds" -gt 0 ] && check bash -n -c "$command" &&
        check [ -x "${script:-python/tests}" ] || { echo "phase $name"; exit 1; }
done || exit 1
echo "phases are dealt, cut and told as they should be"
