# SPDX-License-Identifier: MIT
"""What loaders share: epochs of batches, drawn in this process, several at a time, or by the workers of PyTorch's
DataLoader, one by one. Who draws a batch changes no bit of it."""
import copy
import os
from typing import Any, Callable, Dict, Iterator, List, Optional

from ._arrays import as_count
from ._data import GraphData, is_tensor
from ._drawing import Drawn
from ._lib import invalid
from .batch import Batch
from .plan import threads_of


class _Order:
    """What the batches of the next epoch are drawn from; DataLoader's sampler."""

    def __init__(self, loader: "Epochs"):
        self._loader = loader

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        return self._loader._items()


class _Items:
    """DataLoader's dataset: an item becomes a batch, or what was drawn for it if the main process is to fill it."""

    def __init__(self, loader: "Epochs", fill: bool):
        self._loader, self._fill = loader, fill

    def __getitem__(self, item: Any):
        drawn = self._loader._draw([item])[0]
        return self._loader._batch(item, drawn) if self._fill else (item, drawn)


def _as_it_is(x):
    return x


class Epochs:
    """A loader. It has _items(), small things that the batches of the next epoch are drawn from, a generator, which
    counts the epoch when it begins: DataLoader asks for more than it iterates; _draw() of some of these that follow
    each other; and _batch() of one and what was drawn."""

    data: GraphData
    transform: Optional[Callable[[Batch], Any]]
    num_workers: int
    _filled: bool  # by workers
    _dataloader: Any

    def _start(self, threads: int, transform: Optional[Callable[[Batch], Any]]) -> None:
        self.transform, self.num_workers, self._dataloader, self._filled = transform, 0, None, False
        self._epoch = [0]  # of all copies of the loader
        self._group = 4 * (threads_of(threads) or os.cpu_count() or 1)

    def _use_workers(self, num_workers: int, filter_per_worker: Optional[bool], options: Dict[str, Any]) -> None:
        """The last step of a loader's making: PyTorch's DataLoader, if workers or its options are asked for."""
        self.num_workers = as_count(num_workers, "num_workers")
        if filter_per_worker is None:
            filter_per_worker = not any(is_tensor(x) and x.device.type != "cpu" for x in self.data.attributes.values())
        self._filled = filter_per_worker
        if not self.num_workers and not options:
            return
        taken = sorted({"dataset", "sampler", "batch_sampler", "collate_fn"} & set(options))
        if taken:
            raise invalid(f"{type(self).__name__} takes no {', '.join(taken)}, which it has of its own; a batch can be "
                          "changed by transform")
        try:
            from torch.utils.data import DataLoader
        except ImportError:
            raise ImportError(
                f"num_workers={self.num_workers} and {sorted(options)} need PyTorch, which is not installed; pip "
                "install torch, or leave them out: batches are drawn by several threads without it") from None
        alike = copy.copy(self)  # shares all, the epoch too, but not the DataLoader: in a cycle its workers end late
        try:
            self._dataloader = DataLoader(_Items(alike, self._filled), batch_size=None, sampler=_Order(alike),
                                          collate_fn=_as_it_is, num_workers=self.num_workers, **options)
        except (TypeError, ValueError) as error:
            raise invalid(f"{error}; what is no argument of {type(self).__name__} goes to PyTorch's DataLoader") from None

    def __getstate__(self):
        return {**self.__dict__, "_dataloader": None}  # a worker draws, and loads nothing

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is this epoch; the one after it, the next."""
        self._epoch[0] = as_count(epoch, "epoch")

    def __len__(self) -> int:
        raise NotImplementedError

    def _items(self) -> Iterator[Any]:
        raise NotImplementedError

    def _draw(self, items: List[Any]) -> List[Drawn]:
        raise NotImplementedError

    def _batch(self, item: Any, drawn: Drawn) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        if self._dataloader is not None:
            for out in self._dataloader:
                yield out if self._filled else self._batch(*out)
            return
        items = list(self._items())
        for begin in range(0, len(items), self._group):
            some = items[begin:begin + self._group]
            for item, drawn in zip(some, self._draw(some)):
                yield self._batch(item, drawn)

    def _transformed(self, batch: Batch) -> Any:
        return batch if self.transform is None else self.transform(batch)
