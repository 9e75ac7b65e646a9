# SPDX-License-Identifier: MIT
"""Batch: what a loader gives."""
from typing import Any, Iterator, List, Tuple

from ._data import is_tensor


class Batch:
    """A minibatch: attributes by name, also batch["x"]; as in PyTorch Geometric len() is their number, and iterating
    gives pairs of name and value. Arrays of vertices are those of n_id, of edges those of e_id."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def keys(self) -> List[str]:
        return list(self.__dict__)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.__dict__[name]
        except KeyError:
            raise KeyError(self._has_not(name)) from None

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __iter__(self) -> Iterator[Tuple[str, Any]]:
        return iter(list(self.__dict__.items()))

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._has_not(name))

    def _has_not(self, name: str) -> str:
        return f"this batch has no '{name}'; it has {', '.join(self.__dict__)}"

    @property
    def num_nodes(self) -> int:
        return len(self.n_id)

    @property
    def num_edges(self) -> int:
        return len(self.e_id)

    def _with_tensors(self, function) -> "Batch":
        return Batch(**{name: function(x) if is_tensor(x) else x for name, x in self.__dict__.items()})

    def to(self, device, non_blocking: bool = False) -> "Batch":
        """A batch whose tensors are on that device."""
        return self._with_tensors(lambda x: x.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "Batch":
        return self._with_tensors(lambda x: x.pin_memory())

    def __repr__(self):
        shown = [
            f"{name}={list(x.shape)}" if hasattr(x, "shape") else f"{name}={x!r}" for name, x in self.__dict__.items()
        ]
        return f"Batch({', '.join(shown)})"
