# SPDX-License-Identifier: MIT
"""walks_for_gensim: walks as sentences, in bounded memory, as often as they are asked for."""
from typing import Any, Iterator, List, Union

import numpy as np

from . import _structs as s
from ._arrays import as_count
from ._lib import invalid
from .plan import plan_of
from .runs import GraphOrPlan, SamplerLike, each_batch, host_walks, require_all, run_options, seeds_of
from .sampler import sampler_of


class WalkCorpus:
    """Iterates over walks, each a list of words; every iteration gives the same ones. len() is their number."""

    def __init__(self, graph, seeds, length, walks_per_seed, seed, sampler, select, words, batch_bytes):
        if words not in ("str", "int"):
            raise invalid(f"words is {words!r}; it is 'str' or 'int'")
        self._plan, self._sampler, self._seeds = plan_of(graph), sampler_of(sampler), seeds_of(seeds)
        if self._seeds and self._seeds.offset is not None:
            raise invalid("seeds of walks are one vertex each, [n]")
        self._run = dict(depth=as_count(length, "length", 1, 2**24 - 1), walks_per_seed=walks_per_seed, seed=seed,
                         select=select, batch_bytes=batch_bytes)
        run_options(**self._run)  # what is wrong is said now
        self._words, self._names = words, None
        names = self._plan.graph.names
        if words == "str":
            count = self._plan.graph.num_vertices
            self._names = np.array([str(name) for name in (range(count) if names is None else names)], dtype=object)
        elif names is not None and isinstance(names, np.ndarray):
            self._names = names

    def __len__(self):
        count = self._seeds.count if self._seeds else self._plan.graph.num_vertices
        return count * self._run["walks_per_seed"]

    def __repr__(self):
        return f"WalkCorpus({len(self)} walks of {self._run['depth']} steps, {self._sampler!r} of {self._plan.graph!r})"

    def __iter__(self) -> Iterator[List[Union[str, int]]]:
        done, total = 0, len(self)
        while done < total:
            path = self._batch(done)
            done += len(path)
            yield from self._sentences(path)

    def _batch(self, first) -> np.ndarray:
        """The batch that begins at walk `first`: a run that is stopped after it."""
        out = []

        def take(samples):
            out.append(host_walks(samples).path.copy())
            return False

        options, _ = run_options(first=first, **self._run)
        each_batch(self._plan, self._sampler, self._seeds, options, take)
        require_all(len(out), 1)
        return out[0]

    def _sentences(self, path):
        ends = (path != s.NONE).sum(axis=1)
        for walk, end in zip(path, ends.tolist()):
            part = walk[:end]
            yield part.tolist() if self._names is None else self._names[part].tolist()


def walks_for_gensim(graph: GraphOrPlan,
                     *,
                     length: int = 80,
                     walks_per_seed: int = 10,
                     seed: int = 0,
                     seeds: Any = None,
                     sampler: SamplerLike = "uniform",
                     select: str = "auto",
                     words: str = "str",
                     batch_bytes: int = 8 << 20) -> WalkCorpus:
    """Walks as sentences for gensim.models.Word2Vec(sentences): lists of vertex names, walks that ended short.

    words: "str", as gensim wants them, or "int" (names where they are numbers, else vertex numbers). Memory: a batch of
    batch_bytes, however many walks there are. A node2vec corpus: sampler=Sampler("node2vec", p=4, q=1).
    """
    return WalkCorpus(graph, seeds, length, walks_per_seed, seed, sampler, select, words, batch_bytes)
