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
hangs  shared 1 echo kept >$dir/kept; timeout 60 bash -c 'echo $$ >$dir/stray; sleep 60; true'; true
leak   shared 9 test -z "${DEADLINE:-}${LIMIT:-}${ONLY:-}${PARTS:-}${RUN:-}"
both   all    9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu; truncate --size 32M $dir/graph
lonely alone  9 echo $CUDA_VISIBLE_DEVICES >$dir/gpu; tar -tzf $dir/../reports.tar.gz >$dir/before
END
truncate --size -1 phases # no newline at its end
sed -i "s|\.\./slow|$PWD/slow|g; s|^lonely.*|&; test ! -e $PWD/slow|" phases
check() { "$@" || { echo "not so: $*"; cat out/summary.md; exit 1; }; }
export PHASES=phases CUDA_VISIBLE_DEVICES=4,7 BUILT=1
mkdir -p out/fails && touch out/fails/old
DEADLINE=100 LIMIT=3 ONLY=x RUN=2 "$bench/all_reports.sh" out && { echo "failed phases went unnoticed"; exit 1; }
check grep -q '^| slow | shared | [47] | [2-4] | 0 | ok |' out/summary.md
check grep -q '^| fails | shared | [47] | [01] | 3 | FAILED |' out/summary.md
check grep -q '^| hangs | shared | [47] | [1-3] | 124 | cut after 1 s |' out/summary.md
check grep -q '^| leak | .* | 0 | ok |' out/summary.md
check grep -q '^| lonely | alone | 4 | .* | 0 | ok |' out/summary.md
check [ "$(cat out/both/gpu)" = 4,7 ]
check [ "$(cat out/slow/gpu)" != "$(cat out/fails/gpu)" ]
check [ "$(tar -xzOf out/reports.tar.gz ./hangs/kept)" = kept ]
check grep -qx ./hangs/kept out/lonely/before # a later phase finds in the archive what came before
check [ -z "$(tar -tzf out/reports.tar.gz | grep -E 'graph|lock|reports')" ]
check [ "$(tar -xzOf out/reports.tar.gz ./summary.md | grep -c '^| [a-z]* | [a-z]* | ')" = 7 ] # with the head
check [ ! -e out/fails/old ]
check [ "$(grep -sc sleep "/proc/$(cat out/hangs/stray)/cmdline")" != 1 ] # ended, though it may not be waited for
check "$bench/all_reports.sh" one both
check [ "$(grep -c "^| [a-z]* | [a-z]* | [0-9]" one/summary.md)" = 1 ]
DEADLINE=1 "$bench/all_reports.sh" late both && exit 1
check grep -q '^| both | all | - | 0 | - | no time left |' late/summary.md
"$bench/all_reports.sh" none nosuch && exit 1

# A run that is cut as a whole: what came before is in the archive, and the phase at hand ends with it.
cat >cut_phases <<'END'
first alone 9  echo kept >$dir/kept
stuck alone 60 echo $$ >$dir/stray; sleep 60; true
END
PHASES=cut_phases timeout 2 "$bench/all_reports.sh" cut
check [ "$(tar -xzOf cut/reports.tar.gz ./first/kept)" = kept ]
sleep 0.2
check [ "$(grep -sc sleep "/proc/$(cat cut/stuck/stray)/cmdline")" != 1 ]

# The phases that there are: of a kind, with a limit, by scripts of this folder.
cd "$bench/.." || exit 1
grep -v '^#' bench/all_reports.phases | while read -r name kind seconds command || [[ -n $name ]]; do
    script=$(grep -o 'bench/[a-z_/]*\.sh' <<<"$command")
    check [ -n "$(grep -Ex 'shared|alone|all' <<<"$kind")" ] && check [ "$seconds" -gt 0 ] && check bash -n -c "$command" &&
        check [ -x "${script:-python/tests}" ] || { echo "phase $name"; exit 1; }
done || exit 1
echo "phases are dealt, cut and told as they should be"
