# SPDX-License-Identifier: MIT
"""Ctrl-C during calls that take long: they end soon, leave nothing behind, and what was made before is as it was."""
import signal
import threading

import numpy as np
import pytest

import csaw
from csaw._lib import lib
from csaw._progress import Interruptible

# Each would take two threads more than ten seconds.
LONG = {
    "rmat": "csaw.Graph.rmat(24, 16)",
    "erdos_renyi": "csaw.Graph.erdos_renyi(1 << 25, 1 << 28)",
    "negatives": "csaw.negatives(graph, np.zeros(1 << 25, np.uint32), 32)",
    "negatives by degree": "csaw.negatives(graph, np.zeros(1 << 25, np.uint32), 32, power=0.75)",
}


@pytest.mark.parametrize("call", LONG)
def test_ctrl_c_ends_a_long_call(python, call):
    out = python(f"""
import os
os.environ["OMP_NUM_THREADS"] = "2"
import csaw, signal, threading, time
import numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)
resident = lambda: 4096 * int(open("/proc/self/statm").read().split()[1])
graph = csaw.Graph.rmat(14, 8, seed=1)
before, sent = resident(), []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1, interrupt).start()
try:
    {LONG[call]}
    late = float("inf")
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
more = resident() - before  # without what the exception's frames held
print("stopped", "soon" if late < 3 else late, more if more > 1 << 25 else "left nothing")
print(graph.num_edges == csaw.Graph.rmat(14, 8, seed=1).num_edges)
""")
    assert out == "stopped soon left nothing\nTrue\n"


def interrupt_every_call(monkeypatch):
    """As if Ctrl-C came at the beginning of each."""
    enter = Interruptible.__enter__

    def and_note(self):
        enter(self)
        self._note(None, None)
        return self

    monkeypatch.setattr(Interruptible, "__enter__", and_note)


@pytest.fixture
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", ["load", "from_csr", "from_edge_index", "rmat", "erdos_renyi", "configuration", "save",
                                  "transpose", "by_degree", "negatives", "subgraph", "tables"])
def test_every_long_call_asks(monkeypatch, default_handler, tmp_path, name):
    graph = csaw.Graph.rmat(6, 4, seed=1, weighted=True)
    graph.save(tmp_path / "graph.txt")
    samples = csaw.sample(graph, "neighbor", fanout=[2])
    calls = {
        "load": lambda: csaw.Graph.load(tmp_path / "graph.txt"),
        "from_csr": lambda: csaw.Graph.from_csr(graph.rowptr, graph.col),
        "from_edge_index": lambda: csaw.Graph.from_edge_index(graph.edge_index()),
        "rmat": lambda: csaw.Graph.rmat(6),
        "erdos_renyi": lambda: csaw.Graph.erdos_renyi(20, 30),
        "configuration": lambda: csaw.Graph.configuration(np.full(10, 2)),
        "save": lambda: graph.save(tmp_path / "other.txt"),
        "transpose": graph.transpose,
        "by_degree": graph.by_degree,
        "negatives": lambda: csaw.negatives(graph, [0]),
        "subgraph": samples.subgraph,
        "tables": lambda: csaw.random_walk(csaw.plan(graph), length=1, sampler="biased"),
    }
    calls[name]()  # goes through when nobody interrupts
    with pytest.raises(csaw.CsawError):
        csaw.Graph.load(tmp_path / "absent")  # another last error
    interrupt_every_call(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        calls[name]()
    assert b"csaw_watch" in lib.csaw_last_error()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.undo()
    calls[name]()


def test_a_handler_of_the_program_stays(python):
    out = python("""
import csaw, os, signal, threading
def mine(*_): print("mine")
signal.signal(signal.SIGINT, mine)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
graph = csaw.Graph.rmat(18, 16)
while not graph.num_edges: pass
threading.Event().wait(0.5)
print(signal.getsignal(signal.SIGINT) is mine)
""")
    assert out == "mine\nTrue\n"


def test_other_threads_are_not_interrupted():
    """Only the main thread gets signals; calls of others leave the handler alone."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append((csaw.Graph.rmat(8).num_edges, signal.getsignal(signal.SIGINT))))
    before = signal.getsignal(signal.SIGINT)
    thread.start()
    thread.join()
    assert seen[0][0] > 0 and seen[0][1] is before
