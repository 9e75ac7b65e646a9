# SPDX-License-Identifier: MIT
"""What a loader is given: a graph and arrays of its vertices and edges, from whatever object holds them."""
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from ._arrays import as_floats, as_integers, as_numpy
from ._lib import invalid
from .graph import MAX_VERTICES, Graph


def is_tensor(x: Any) -> bool:
    return type(x).__module__.split(".")[0] == "torch" and hasattr(x, "detach")


def _attributes(data: Any) -> Dict[str, Any]:
    if isinstance(data, Mapping):
        return dict(data)
    for method in ("to_dict", "_asdict"):  # of torch_geometric.data.Data; of a namedtuple
        if callable(getattr(data, method, None)):
            return dict(getattr(data, method)())
    slots = (getattr(kind, "__slots__", ()) for kind in type(data).__mro__)
    names = [*getattr(data, "__dict__", ()), *(name for of in slots for name in ([of] if isinstance(of, str) else of))]
    return {name: getattr(data, name) for name in names if not name.startswith("_") and hasattr(data, name)}


def _require_one_type(data: Any) -> None:
    """data of several types (torch_geometric.data.HeteroData) has an edge_index for each type of edges alone."""
    types = getattr(data, "edge_types", None)
    if types is None or not hasattr(data, "node_types"):
        return
    named = ", ".join("-".join(map(str, type)) for type in types[:3]) + (", ..." if len(types) > 3 else "")
    raise invalid(f"{type(data).__name__} has edges of {len(types)} types ({named}), each with vertices numbered by "
                  "themselves, but loaders sample one graph; give data.to_homogeneous(), whose batches have node_type and "
                  "edge_type, or the edge_index of one type between vertices of one type")


def _length(x: Any) -> Optional[int]:
    shape = getattr(x, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) else None


# Names that say what an attribute has rows for: of another length one would go along whole, unselected.
_ROWS_OF = {"x": "vertices", "edge_attr": "edges", "edge_weight": "edges"}


class GraphData:
    """num_nodes, num_edges; attributes: arrays and whatever else the batches carry along."""

    def __init__(self, data: Any, weight_attr: Optional[str]):
        if isinstance(data, Graph):
            data = (data,)
        self.graph: Optional[Graph] = None  # if it is what was given
        self._ends: Any = None  # [2, edges] uint32 of other data: senders, receivers
        index, weight, rows_of = None, None, dict(_ROWS_OF)
        if isinstance(data, tuple) and data and isinstance(data[0], Graph):
            self.attributes = self._of_tuple(data[1:])
            self.graph = data[0]
            if len(data) == 3:
                rows_of["y"] = "vertices"
            if weight_attr == "weight" and weight_attr not in self.attributes:
                weight = self.graph.weight
        else:
            _require_one_type(data)
            self.attributes = _attributes(data)
            index = self.attributes.pop("edge_index", None)
            if index is None:
                raise invalid(
                    f"{type(data).__name__} has no edge_index; give an object or a dict with edge_index [2, edges] "
                    "and arrays such as x, a csaw.Graph, or a tuple (graph, x, y)")
        self.with_torch = is_tensor(index) or any(map(is_tensor, self.attributes.values()))
        if self.graph is not None:
            self.num_nodes, self.num_edges = self.graph.num_vertices, self.graph.num_edges
        else:
            self._ends = as_integers(index, "edge_index", np.uint32, (2, None), MAX_VERTICES, "vertex numbers")
            self.num_edges = self._ends.shape[1]
            self.num_nodes = self._count_nodes(data)
        for name, whose in rows_of.items():
            self._require_rows(name, whose)
        self._is_the_graph_s = self.graph is not None and (not weight_attr or weight is not None)
        if weight_attr and weight is None:
            if weight_attr not in self.attributes:
                raise invalid(f"weight_attr is '{weight_attr}', but the data has no such attribute")
            weight = as_floats(self.attributes[weight_attr], weight_attr, self.num_edges)
        self.weight = weight

    def __getstate__(self):  # without what the receiving graph was made of
        return {**self.__dict__, "graph": None, "_ends": None}

    @staticmethod
    def _of_tuple(rest: Tuple) -> Dict[str, Any]:
        if len(rest) == 1 and isinstance(rest[0], Mapping):
            return dict(rest[0])
        if len(rest) > 2:
            raise invalid(f"a tuple is (graph, x, y) or (graph, dict of arrays), but this has {len(rest) + 1} entries")
        return {name: value for name, value in zip(("x", "y"), rest) if value is not None}

    def _count_nodes(self, data) -> int:
        least = 1 + int(self._ends.max()) if self.num_edges else 0
        given = self.attributes.pop("num_nodes", None)
        if given is None and not isinstance(data, Mapping):
            given = getattr(data, "num_nodes", None)
        if given is None:
            given = _length(self.attributes.get("x"))
        given = least if given is None else int(given)
        if given < least:
            raise invalid(
                f"edge_index names vertex {least - 1}, but there are {given} vertices (num_nodes, or rows of x)")
        return given

    def _require_rows(self, name: str, whose: str) -> None:
        given, count = self.attributes.get(name), self.num_nodes if whose == "vertices" else self.num_edges
        if given is None or _length(given) == count:
            return
        what = f"shape {list(given.shape)}" if hasattr(given, "shape") else f"no shape ({type(given).__name__})"
        raise invalid(f"{name} has {what}, but the graph has {count} {whose}; give an array or tensor of {count} rows")

    def receiving_graph(self) -> Graph:
        """The graph whose rows are the receivers: to sample along it is to go against the messages. Its times are
        the places of its arcs in edge_index. A Graph that was given keeps it."""
        if self.graph is not None and self._is_the_graph_s:
            return self.graph._receiving(self.weight is not None)
        ends = self._ends if self.graph is None else self.graph.edge_index()
        return Graph.from_edge_index(ends[::-1], self.num_nodes, self.weight,
                                     time=np.arange(self.num_edges, dtype=np.int64))

    def level(self, name: str) -> str:
        """"node", "edge" or "graph": what an attribute has an entry for."""
        length = _length(self.attributes[name])
        order = [("edge", self.num_edges), ("node", self.num_nodes)]
        if "edge" not in name and name != "e_id":
            order.reverse()
        for level, count in order:
            if length is not None and length == count:
                return level
        return "graph"

    def levels(self) -> Dict[str, str]:
        return {name: self.level(name) for name in self.attributes}

    def move(self, names, device: str) -> None:
        """These attributes become tensors on that device."""
        for name in names:
            self.attributes[name] = on(device, self.attributes[name], name)

    def select(self, n_id: Any, e_id: Any, levels: Dict[str, str]) -> Dict[str, Any]:
        """The attributes of these vertices and edges, [n] int64 and [m] int64; those of the graph as they are."""
        kept: Dict[int, Any] = {}
        chosen = {"node": n_id, "edge": e_id}
        return {
            name: take(self.attributes[name], chosen[level], kept) if level in chosen else self.attributes[name]
            for name, level in levels.items()
        }

    def as_given(self, arrays: Dict[str, Any]) -> Dict[str, Any]:
        """Arrays as tensors, if the data holds tensors."""
        return {name: as_tensor(x) for name, x in arrays.items()} if self.with_torch else arrays


def as_tensor(array: Any) -> Any:
    """Of the same memory; a tensor as it is."""
    if is_tensor(array):
        return array
    import torch

    return torch.from_numpy(np.ascontiguousarray(array))


def on(device: str, array: Any, name: str) -> Any:
    """As a tensor on that device."""
    import torch

    if is_tensor(array) and array.requires_grad and str(array.device) != device:
        raise invalid(f"{name} has gradients and is on {array.device}, but batches are made on {device}; put it there, "
                      "or leave it out and select from it by n_id")
    try:
        return torch.as_tensor(array).to(device)
    except (TypeError, RuntimeError) as error:
        raise invalid(f"{name} cannot be copied to {device}: {error}") from None


def take(array: Any, index: Any, kept: Dict[int, Any]) -> Any:
    """array[index]; of a tensor on its own device. kept: index as tensors, by id, for the next attribute."""
    if is_tensor(array):
        key = id(index)
        if key not in kept:
            kept[key] = as_tensor(index)
        place = kept[key] if array.device.type == "cpu" else kept[key].to(array.device)
        return array.index_select(0, place)
    if hasattr(array, "tocsr"):  # scipy.sparse
        return array.tocsr()[index]
    return as_numpy(array, "an attribute")[index]
