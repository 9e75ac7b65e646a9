#!/bin/bash
# SPDX-License-Identifier: MIT
# ranks_machines.sh PROGRAM LIBRARY MPIRUN - csaw on two machines, near and far: network namespaces with an address
# each, joined by a veth pair, and with a host name, disks and System V memory of their own, so that messages have but
# TCP to travel by. Ranks alternate between them. Compares the bytes with one process's, and reads what is said where the
# machines do not see the same graph, output or version. The namespaces lie in others that this script alone is in
# (unshare): the host's network is not touched, and all of it ends with the script's last process. Skipped (77) where
# namespaces may not be made, or mpirun is not OpenMPI 4's.
set -euo pipefail
skip() { echo "skipped: $1"; exit 77; }

if [ "${1:-}" != --inside ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    program=$1 library=$2 mpirun=$3
    [[ $("$program" --version) == *mpi* ]] || skip "csaw was built without MPI"
    [[ $("$mpirun" --version 2>&1) == *"(Open"*") 4."* ]] || skip "$mpirun is not OpenMPI 4's"
    command -v ip >/dev/null || skip "ip is not here (iproute2)"
    own=(unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc)
    [ "$(id -u)" = 0 ] || own+=(--user --map-root-user)
    "${own[@]}" ip link add near0 type veth peer name far0 2>/dev/null ||
        skip "network namespaces or veth pairs may not be made here"
    work=$(mktemp -d /tmp/csaw_XXXXXX) # short: OpenMPI puts sockets below
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM
    "${own[@]}" "$here/ranks_machines.sh" --inside "$program" "$library" "$mpirun" "$here/../data/lesmis.txt" "$work" &
    wait $!
    exit
fi

program=$2 library=$3 mpirun=$4 data=$5
cd "$6"

# ---- the machines

mkdir near_disk far_disk disk # disk: each machine's own
mkfifo ready
unshare --net --uts --ipc --mount sh -c 'hostname far; mount --bind far_disk disk; echo >ready; exec sleep infinity' &
far=$!
read -r <ready
hostname near
mount --bind near_disk disk
at_far() { nsenter --target $far --net --uts --ipc --mount --wd="$PWD" "$@"; }
ip link add near0 type veth peer name far0 netns $far
ip address add 10.77.0.1/24 dev near0
at_far ip address add 10.77.0.2/24 dev far0
for link in lo near0; do ip link set $link up; done
for link in lo far0; do at_far ip link set $link up; done

# What mpirun starts instead of ssh: HOST COMMAND ...
cat >agent <<END
#!/bin/sh
[ "\$1" = 10.77.0.2 ] || { echo "no machine \$1" >&2; exit 1; }
shift
exec nsenter --target $far --net --uts --ipc --mount --wd="$PWD" sh -c "\$*"
END
chmod +x agent
printf '10.77.0.1 slots=4\n10.77.0.2 slots=4\n' >hosts

export TMPDIR=$PWD OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_plm=rsh OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_base_help_aggregate=0
export OMPI_MCA_odls_base_sigkill_timeout=0 # after a rank has failed mpirun waits thrice that long; nobody is left to wait for
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 # MPI's own, of libraries that it unloads
on() { # ranks, words of csaw: their standard output is in out, what they say in err, and how it ended in code
    local ranks=$1
    shift
    code=0
    timeout 60 "$mpirun" --hostfile hosts --map-by node -n "$ranks" "$program" "$@" >out 2>err </dev/null || code=$?
}

# ---- what is expected

failures=0
fail() {
    echo "FAILED: $1"
    sed 's/^/    /' err
    failures=$((failures + 1))
}
alone() { "$program" "$@" 2>err || { fail "one process: csaw $*" && exit 1; }; }
crossed() { awk '$1 == "near0:" { print $2 + $10 }' /proc/net/dev; } # bytes, both ways
same() { # what, file, that of one process
    [ "$code" = 0 ] || fail "$1: exit code $code"
    cmp "$2" "$3" || fail "$1: other bytes than those of one process"
}
refused() { # what, the message, which is said once; mpirun was not timed out, and no output stays
    [ "$code" = 1 ] || fail "$1: exit code $code, not 1"
    [ "$(grep -c -F "$2" err)" = 1 ] || fail "$1: not said once: $2"
    [ ! -e w.txt ] && [ ! -e w.txt.part ] || fail "$1: there is output"
}

# ---- the bytes of one process

walk=(walk "$data" --undirected --num-walks 10 --p 0.5 --q 2)
sample=(sample "$data" --undirected --fanout 4,2 --batch-size 5)
alone "${walk[@]}" -o walks.txt
alone "${sample[@]}" -o samples.txt
[ "$(wc -l <walks.txt)" = 770 ] || fail "one process did not write 770 walks"

on 3 "${walk[@]}" --batch 100 -o w.txt
same "walks" w.txt walks.txt
on 4 "${sample[@]}" -o -
same "samples, sent to rank 0" out samples.txt

# lesmis has 77 vertices: 61,600 steps, of which each that leaves its rank takes 16 bytes or more. With ranks 0 and 2 here
# and 1 and 3 there about half of them cross, unless there is another way than the wire.
before=$(crossed)
on 4 "${walk[@]}" --split -o w2.txt
same "walks of a split graph" w2.txt walks.txt
bytes=$(($(crossed) - before))
[ $bytes -gt $((61600 * 4)) ] || fail "a split graph's walks sent $bytes bytes only from machine to machine"
on 3 "${sample[@]}" --split -o s.txt
same "samples of a split graph" s.txt samples.txt
rm -f w.txt w2.txt s.txt

# ---- machines that do not see the same

alone generate rmat --scale 6 --seed 1 -o a.csaw
alone generate rmat --scale 6 --seed 2 -o b.csaw
cp a.csaw near_disk/g.csaw
on 4 walk disk/g.csaw -o w.txt
refused "a graph that near alone has" "rank 1 on far: csaw: disk/g.csaw: cannot be opened: No such file"
cp b.csaw far_disk/g.csaw
for split in "" --split; do
    on 4 walk disk/g.csaw $split -o w.txt
    refused "two graphs of one name $split" "csaw: ranks 1, 3 have another graph than rank 0; give every rank the same file"
done
rm near_disk/g.csaw
on 4 walk disk/g.csaw --split -o w.txt
refused "a graph that far alone has" "csaw: rank 0 on near: disk/g.csaw: cannot be opened: No such file"

on 3 walk a.csaw -o disk/w.txt
refused "an output that near alone has" "csaw: rank 1 on far: disk/w.txt.part is not there, though rank 0 made it"
[ ! -e near_disk/w.txt ] || fail "an output that near alone has is finished"

version=$("$program" --version)
version=${version#csaw } version=${version%% *}
LC_ALL=C sed "s/${version//./\\.} (/${version//[0-9]/9} (/" "$library" >other.so
at_far mount --bind other.so "$library"
at_far "$program" --version | grep -q -F "${version//[0-9]/9}" || fail "far has no other version of csaw"
on 2 walk a.csaw -o w.txt
refused "two versions of csaw" "csaw: rank 1 has another version of csaw than rank 0; install the same everywhere"

at_far umount "$library"

# ---- a machine that is lost: the job ends, what is written stays, and near alone completes it

long=(walk a.csaw --num-walks 2000 --walk-length 20 --batch 50)
alone "${long[@]}" -o walks.txt
lose_far() {
    for ((i = 0; i < 2000; i++)); do ! grep -q -s '^walks [1-9]' w.txt.resume || break; sleep 0.02; done
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/ns/net")" != "$(readlink /proc/$far/ns/net)" ] || [ "${process#/proc/}" = $far ] ||
            kill -9 "${process#/proc/}" 2>/dev/null || true
    done
}
lose_far &
on 4 "${long[@]}" -o w.txt
wait $!
[ "$code" != 0 ] && [ "$code" != 124 ] || fail "far is lost: exit code $code"
alone "${long[@]}" --resume -o w.txt
grep -q '^resumed ' err || fail "near alone did not go on with what was written"
code=0
same "what near alone completes" w.txt walks.txt

[ $failures = 0 ] && echo "passed in $SECONDS s"
