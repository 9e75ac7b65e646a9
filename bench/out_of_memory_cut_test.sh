#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/out_of_memory_cut_test.sh FOLDER: out_of_memory_report.sh that is ended while it makes the graph that it maps leaves
# neither that nor the program that wrote it, here one that only pretends.
set -u
bench=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1" && mkdir -p "$1/build/cli" && cd "$1" || exit 1
cat >build/cli/csaw <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo $$ >"$2"
sleep 60
true
END
chmod +x build/cli/csaw
DEVICE=simulated ONLY=mapped "$bench/out_of_memory_report.sh" out build >log 2>&1 &
for _ in {1..200}; do
    [ -s out/mapped/mapped.csaw ] && break
    sleep 0.05
done
writer=$(cat out/mapped/mapped.csaw) || { cat log; exit 1; }
kill $!
wait $! && { echo "that it was ended went unnoticed"; exit 1; }
[ ! -e out/mapped/mapped.csaw ] || { echo "the graph is left"; exit 1; }
! grep -sq csaw "/proc/$writer/cmdline" || { echo "what wrote it runs on"; exit 1; }
