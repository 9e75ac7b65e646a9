# SPDX-License-Identifier: MIT
"""Objects of the library are freed once, and what keeps another before that, in whatever order Python lets them go."""
import gc
import itertools

import csaw
import numpy as np
from csaw._lib import Handle


class Cycle:
    pass


def chain(freed):
    """Three handles, each kept by the next; freed: gets their numbers."""
    first = Handle(1, freed.append)
    second = Handle(2, freed.append, (first, "no handle"))
    return first, second, Handle(3, freed.append, second)


def test_in_any_order():
    for order in itertools.permutations(range(3)):
        freed = []
        handles = list(chain(freed))
        for i in order:
            handles[i].free()
        assert freed == [3, 2, 1], order
        del handles
        assert freed == [3, 2, 1]


def test_when_the_last_reference_goes():
    freed = []
    last = chain(freed)[2]
    assert freed == []
    del last
    assert freed == [3, 2, 1]


def test_in_a_cycle_of_garbage():
    freed, cycle = [], Cycle()
    cycle.itself, cycle.handles = cycle, chain(freed)
    del cycle
    gc.collect()
    assert freed == [3, 2, 1]


def test_one_kept_twice():
    freed = []
    plan = Handle(1, freed.append)
    samples = [Handle(n, freed.append, plan) for n in (2, 3)]
    plan.free()
    samples[0].free()
    assert freed == [2]
    samples[1].free()
    assert freed == [2, 3, 1]


def test_a_loader_before_its_plan():
    """Python finalizes what is older first; a plan that goes before the thread that draws with it is read when it is
    gone."""
    calls = []
    gc.collect()  # what tests before this one left
    graph = csaw.Graph.rmat(8, 4, seed=1)
    loader = csaw.NeighborLoader(graph, [3, 2], np.arange(50), batch_size=10, device="cpu")
    assert sum(1 for _ in loader) == 5

    def watch(handle):
        name, free = handle._free.__name__, handle._free
        handle._free = lambda pointer: (calls.append(name), free(pointer))

    for found in gc.get_objects():
        if isinstance(found, Handle) and found._free in (csaw._lib.lib.csaw_loader_close, csaw._lib.lib.csaw_plan_free):
            watch(found)
    cycle = Cycle()
    cycle.itself, cycle.loader = cycle, loader
    del cycle, loader, found
    gc.collect()
    assert calls == ["csaw_loader_close", "csaw_plan_free"]
