#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/peers/neighbor_peers.py - csaw beside other CPU samplers: two hops, fanout 15 and 10, without replacement.

  csaw generate rmat --scale 20 --edge-factor 16 --seed 1 --weighted -o rmat20.csaw
  neighbor_peers.py rmat20.csaw --csaw build/cpu/bench/minibatch_bench --peer graphbolt --peer dgl --json out.json

GRAPH is a .csaw file or a scipy .npz (csr); it must be the graph that minibatch_bench makes of --scale and
--edge-factor, with weights. Every contender runs in a process of its own, loads the graph, is verified once, warmed up
three times, and is then asked for one run at a time, csaw and the peer in turn, since a machine may be shared. Printed
are medians with the range, and the median of the ratios of neighbouring runs.

What a job is: a law, weights or none, and how far the result is worked up.
  neighbor  every vertex picked at hop 1 is expanded at hop 2            arcs    the arcs, in vertices of the graph
  again     seeds and vertices picked are expanded at hop 2 (DGL)        given   as arcs, but the peer is told hop 2's
  once      vertices first reached at hop 1 are expanded at hop 2 (PyG)          vertices; csaw finds them itself
  single    as once, every seed a sample of its own                      blocks  relabelled: places, and their vertices
Ways of using two threads:
  inside     batch after batch, the peer's own threads within a batch (csaw: always all batches at once)
  threads    two Python threads, a batch each in turn
  processes  two processes with half of the batches each, one thread each; results stay in them

Peers, each wherever --peer NAME=PYTHON says it is installed:
  dgl, graphbolt   python3.11 -m venv A
                   A/bin/pip install torch==2.2.1 'numpy<2' pydantic==2.7.1 pandas==2.2.2 networkx==3.2.1 \\
                       torchdata==0.7.1 scipy psutil tqdm requests pyyaml packaging
                   A/bin/pip install --no-deps dgl==2.1.0
  torch_sparse     A/bin/pip install 'setuptools<75' wheel
                   FORCE_ONLY_CPU=1 MAX_JOBS=1 A/bin/pip install --no-deps --no-build-isolation torch-sparse==0.6.18
                   (compiles; of its csrc/*.cpp only neighbor_sample.cpp and sample.cpp are needed here)
  graphlearn       python3.11 -m venv B && B/bin/pip install torch==2.4.1 'numpy<2'
                   B/bin/pip install --no-deps graphlearn-torch==0.2.4
  kumo             B/bin/pip install --no-deps kumo-relational-engine==1.0.2
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from adapters import FANOUT, PEERS, WAYS, Graph

WARM_UP = 3
QUIET = 0.05  # seconds without another process, where --quiet asks for them
PAUSE = 0.02  # seconds between runs, so that the threads of the one before have gone to sleep


# ---- a worker: one peer in a process of its own; jobs as minibatch_bench reads them ----


def write_dump(path, per_batch):
    """per_batch: [[(src, dst) of hop 0, of hop 1]]; the format of bench/minibatches.c."""
    offset = np.cumsum([0] + [sum(len(hop[0]) for hop in hops) for hops in per_batch]).astype("<u8")
    every = [(hop[0], hop[1], np.full(len(hop[0]), depth)) for hops in per_batch for depth, hop in enumerate(hops)]
    with open(path, "wb") as file:
        np.array([len(per_batch)], "<u8").tofile(file)
        offset.tofile(file)
        for part in range(3):
            np.concatenate([arrays[part] for arrays in every]).astype("<u4").tofile(file)


def by_sample(hops, samples):
    """Hops of (src, dst, sample), in order of sample."""
    sorted_hops = []
    for src, dst, sample in hops:
        order = np.argsort(sample, kind="stable")
        sorted_hops.append((src[order], dst[order], np.searchsorted(sample[order], np.arange(samples + 1))))
    return [[(src[c[i]:c[i + 1]], dst[c[i]:c[i + 1]]) for src, dst, c in sorted_hops] for i in range(samples)]


def serve(args):
    graph = Graph(args.graph)
    try:
        peer = PEERS[args.serve](graph)
    except (ImportError, OSError) as error:
        print(f"! {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)
        return 0
    batches = [peer.batch(b) for b in graph.batches(args.seeds, args.batch)][args.part::args.parts]
    pool = concurrent.futures.ThreadPoolExecutor(2) if args.way == "threads" else None
    print(graph.vertices, graph.arcs, peer.version, flush=True)
    frontiers = {}
    for line in sys.stdin:
        *job, path = (line.split() + [""])[:4]
        job = tuple(job)
        more = [()] * len(batches)
        if job[2] == "given":
            if job not in frontiers:
                frontiers[job] = [(peer.frontier(job, batch),) for batch in batches]
            more = frontiers[job]
        start = time.perf_counter()
        if pool:
            results = list(pool.map(lambda batch, rest: peer.run(job, batch, *rest), batches, more))
        else:
            results = [peer.run(job, batch, *rest) for batch, rest in zip(batches, more)]
        seconds = time.perf_counter() - start
        if path:
            ends = [peer.ends(job, batch, result) for batch, result in zip(batches, results)]
            if job[0] == "single":
                ends = [sample for batch, hops in zip(batches, ends) for sample in by_sample(hops, len(batch))]
            write_dump(path, ends)
        print(f"{seconds:.9f}", flush=True)
        del results
    return 0


# ---- verification, the same for all ----


class Verifier:
    def __init__(self, graph, seeds, size):
        self.graph, self.seeds, self.size = graph, seeds, size
        rows = np.repeat(np.arange(graph.vertices), np.diff(graph.rowptr))
        self.key = rows * graph.vertices + graph.col  # ascends: rows do

    def check(self, path, law, what, repeats):
        """Says what is wrong, or returns (arcs, mean weight of arcs from rows longer than the fanout). repeats: a
        vertex may pick an arc twice."""
        count = int(np.fromfile(path, "<u8", 1)[0])
        offset = np.fromfile(path, "<u8", count + 1, offset=8).astype(np.int64)
        src, dst, depth = np.fromfile(path, "<u4", offset=8 * (count + 2)).reshape(3, -1).astype(np.int64)
        batch = np.repeat(np.arange(count), np.diff(offset))
        key = src * self.graph.vertices + dst
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        if (self.key[place] != key).any():
            return "arcs that the graph does not have"
        group = (batch * 2 + depth) * self.graph.vertices + src
        order = np.lexsort((dst, group))
        if not repeats and ((np.diff(group[order]) == 0) & (np.diff(dst[order]) == 0)).any():
            return "an arc twice"
        group, first, number = np.unique(group, return_index=True, return_counts=True)
        degree = np.diff(self.graph.rowptr)[src[first]]
        fanout = np.array(FANOUT)[depth[first]]
        if (number != np.minimum(degree, fanout)).any():
            return "a vertex with more or fewer arcs than min(fanout, degree)"
        batches = self.graph.batches(self.seeds, 1 if law == "single" else self.size)
        if count != len(batches):
            return f"{count} batches instead of {len(batches)}"
        if what != "given":  # there the hops were drawn apart
            seeds = np.concatenate([i * self.graph.vertices + np.unique(b) for i, b in enumerate(batches)])
            of = [batch[depth == d] * self.graph.vertices for d in range(2)]
            if not np.array_equal(np.unique(of[0] + src[depth == 0]), np.unique(seeds)):
                return "hop 1 does not begin at the seeds"
            picked = np.unique(of[0] + dst[depth == 0])
            want = {"neighbor": picked, "again": np.union1d(picked, seeds)}.get(law)
            want = np.setdiff1d(picked, seeds) if want is None else want
            if not np.array_equal(np.unique(of[1] + src[depth == 1]), want):
                return "hop 2 does not begin where the law says"
        long_rows = np.diff(self.graph.rowptr)[src] > np.array(FANOUT)[depth]
        return len(src), float(self.graph.weight[place][long_rows].mean())


# ---- the driver ----


class Contender:
    """A worker, or two with half of the batches each."""

    def __init__(self, commands, threads, wait):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads),
                           DGLBACKEND="pytorch", PYTHONWARNINGS="ignore")
        environment.pop("OMP_WAIT_POLICY", None)
        if wait == "passive":
            environment["OMP_WAIT_POLICY"] = wait
        self.processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                           env=environment) for command in commands]
        self.hello = [self.answer(p) for p in self.processes][0]

    @staticmethod
    def answer(process):
        while True:
            line = process.stdout.readline()
            if not line:
                sys.exit(f"neighbor_peers.py: {' '.join(process.args)} ended early; run it by hand to see why")
            if line[0].isdigit() or line[0] == "!":  # dgl prints of its own
                return line.strip()

    def run(self, job, path=""):
        time.sleep(PAUSE)
        start = time.perf_counter()
        for process in self.processes:
            process.stdin.write(f"{' '.join(job)} {path}\n")
            process.stdin.flush()
        answers = [self.answer(process) for process in self.processes]
        return float(answers[0].split()[0]) if len(answers) == 1 else time.perf_counter() - start

    def close(self):
        for process in self.processes:
            process.stdin.close()
            process.wait()


def others_run():
    with open("/proc/stat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("procs_running")) > 1


def wait_for_quiet(most):
    """Waits until nothing else has run for a while, most seconds at most; says whether that came."""
    give_up = time.monotonic() + most
    since = time.monotonic()
    while time.monotonic() < give_up:
        if others_run():
            since = time.monotonic()
        elif time.monotonic() - since > QUIET:
            return True
        time.sleep(0.002)
    return False


def csaw_job(law, weights, what):
    name = {"neighbor": "neighbor" if weights == "uniform" else "neighbor_biased", "single": "neighbor_once"}.get(law)
    return name or f"neighbor_{law}", weights, "blocks" if what == "blocks" else "arcs"


def figure(seconds):
    return {"median_s": statistics.median(seconds), "min_s": min(seconds), "max_s": max(seconds), "seconds": seconds}


def milliseconds(f):
    return f"{1e3 * f['median_s']:.1f} ({1e3 * f['min_s']:.1f} .. {1e3 * f['max_s']:.1f})"


def verified(verifier, contender, job, law, what, folder, who):
    path = folder / "dump"
    contender.run(job, path)
    found = verifier.check(path, law, what, getattr(PEERS.get(who), "REPEATS", False))
    if isinstance(found, str):
        sys.exit(f"neighbor_peers.py: {who}, {' '.join(job)}: {found}")
    return found


def compare(args, name, python, verifier, folder, rows):
    me = [python, str(pathlib.Path(__file__).resolve()), str(args.graph), "--seeds", str(args.seeds), "--batch",
          str(args.batch), "--serve", name]
    single = PEERS[name].JOBS[0][0] == "single"
    command = [str(args.csaw), "--scale", str(args.scale), "--edge-factor", str(args.edge_factor), "--seeds",
            str(args.seeds), "--batch", "1" if single else str(args.batch)]
    csaw = Contender([command], 2, args.wait)
    version = ""
    for way in (way for way in args.way if way in getattr(PEERS[name], "WAYS", WAYS)):
        parts = 2 if way == "processes" else 1
        peer = Contender([[*me, "--way", way, "--parts", str(parts), "--part", str(p)] for p in range(parts)],
                         2 if way == "inside" else 1, args.wait)
        if peer.hello[0] == "!":
            print(f"{name}: not installed in {python}: {peer.hello[2:]}")
            return None
        if peer.hello.split()[:2] != csaw.hello.split()[:2]:
            sys.exit(f"neighbor_peers.py: csaw made '{csaw.hello}' of --scale {args.scale} --edge-factor "
                     f"{args.edge_factor}, but {args.graph} is '{peer.hello}'; give the graph of that scale")
        version = " ".join(peer.hello.split()[2:])
        for job in (job for job in PEERS[name].JOBS if not args.job or ":".join(job) in args.job):
            law, weights, what = job
            ours = csaw_job(*job)
            row = {"peer": name, "law": law, "weights": weights, "what": what, "way": way}
            row["csaw_arcs"], row["csaw_mean_weight"] = verified(verifier, csaw, ours, law, "arcs", folder, "csaw")
            if parts == 1:  # halves are the same code on fewer batches
                row["peer_arcs"], row["peer_mean_weight"] = verified(verifier, peer, job, law, what, folder, name)
                apart = abs(row["peer_mean_weight"] / row["csaw_mean_weight"] - 1)
                if apart > 0.01 and not getattr(PEERS[name], "REPEATS", False):
                    sys.exit(f"neighbor_peers.py: {name}, {' '.join(job)}: mean weights {row} differ by over 1%: "
                             "another law")
            for _ in range(WARM_UP):
                csaw.run(ours), peer.run(job)
            pairs = []
            row["quiet"] = 0
            for _ in range(args.repeat):
                row["quiet"] += wait_for_quiet(args.quiet)
                pairs.append((csaw.run(ours), peer.run(job)))
            row["csaw"], row["by_peer"] = figure([p[0] for p in pairs]), figure([p[1] for p in pairs])
            row["peer_over_csaw"] = statistics.median(p[1] / p[0] for p in pairs)
            rows.append(row)
            print(f"{name:12} {law:8} {weights:7} {what:6} {way:9} peer {milliseconds(row['by_peer']):28} csaw "
                  f"{milliseconds(row['csaw']):26} peer / csaw {row['peer_over_csaw']:.2f}", flush=True)
        peer.close()
    csaw.close()
    return version


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path, help="weighted .csaw or .npz")
    parser.add_argument("--csaw", type=pathlib.Path, help="minibatch_bench of a release build")
    parser.add_argument("--peer", action="append", metavar="NAME[=PYTHON]",
                        help=f"one of {', '.join(PEERS)}, and the Python that has it; repeatable (default: all, here)")
    parser.add_argument("--way", action="append", choices=WAYS, help="(default: all)")
    parser.add_argument("--job", action="append", metavar="LAW:WEIGHTS:WHAT",
                        help="neighbor:uniform:arcs, again:biased:blocks, ...; repeatable (default: all the peer has)")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=10000)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=11, help="pairs of runs (default 11)")
    parser.add_argument("--quiet", type=float, default=0, metavar="SECONDS",
                        help="wait so long, before each pair, for the machine to be idle (default 0)")
    parser.add_argument("--wait", choices=("default", "passive"), default="default",
                        help="OpenMP's threads on either side, where they wait for each other: as OpenMP has it, which "
                        "spins, or asleep. Spinning is quicker on an idle machine and costs a time slice a barrier on "
                        "a busy one (default: default)")
    parser.add_argument("--json", type=pathlib.Path, help="write all of it, every run's time too")
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--part", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--parts", type=int, default=1, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        args.way = args.way[0] if args.way else "inside"
        return serve(args)
    if not args.csaw:
        parser.error("--csaw: the path of minibatch_bench is needed")
    args.way = args.way or WAYS
    verifier = Verifier(Graph(args.graph), args.seeds, args.batch)
    rows, versions = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for choice in args.peer or list(PEERS):
            name, _, python = choice.partition("=")
            if name not in PEERS:
                parser.error(f"--peer {name}: choose from {', '.join(PEERS)}")
            version = compare(args, name, python or sys.executable, verifier, pathlib.Path(folder), rows)
            if version:
                versions[name] = version
    if not rows:
        print("neighbor_peers.py: no peer is installed; the head of this file says how (--help)", file=sys.stderr)
        return 1
    if args.json:
        run = {"graph": {"scale": args.scale, "edge_factor": args.edge_factor}, "seeds": args.seeds,
               "batch": args.batch, "fanout": FANOUT, "threads": 2, "wait": args.wait, "warm_up": WARM_UP,
               "repeat": args.repeat, "versions": versions, "rows": rows}
        args.json.write_text(json.dumps(run, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
