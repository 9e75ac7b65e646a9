# SPDX-License-Identifier: MIT
"""What the experiments of this folder share: data sets as matrices, splits, full-batch training, times.

Graphs are made undirected, without loops. Features are kept as a sparse matrix too, rows divided by their Euclidean
length, so that the first product of a net is csaw.torch.spmm(features, weights). Of FOLDER/NAME.npz 60% of the vertices
train, 20% choose the epoch and 20% give the accuracy, by a permutation that the seed draws; of
FOLDER/planetoid/ind.NAME.* the public split is taken, whatever the seed.
"""
import argparse
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import csaw.torch
from csaw.datasets.dataset import undirected
from reports import parse_outputs, told

Parts = Tuple[Tensor, Tensor, Tensor]  # vertices that train, that choose the epoch, that are counted


@dataclass
class Data:
    name: str
    a: csaw.torch.Matrix  # [vertices, vertices], both directions of each edge
    x: csaw.torch.Matrix  # [vertices, features]
    y: Tensor  # [vertices]
    classes: int
    public: Optional[Parts]

    def split(self, seed: int) -> Parts:
        if self.public:
            return self.public
        order = torch.from_numpy(np.random.default_rng(seed).permutation(len(self.y))).to(self.y.device)
        train, valid = len(order) * 6 // 10, len(order) * 8 // 10
        return order[:train], order[train:valid], order[valid:]


def load(name: str, folder: Path, device: torch.device) -> Data:
    if (folder / "planetoid" / f"ind.{name}.graph").exists():
        data = csaw.datasets.planetoid(folder / "planetoid", name)
        masks = (data.train_mask, data.val_mask, data.test_mask)
        public = tuple(torch.from_numpy(np.flatnonzero(mask)).to(device) for mask in masks)
    else:
        data = csaw.datasets.attributed_npz(folder / f"{name}.npz")
        public = None
    return data_of(name, data.edge_index, data.x, data.y, device, public)


def data_of(name: str, edge_index: Any, x: Any, y: Any, device: torch.device, public: Optional[Parts] = None) -> Data:
    """edge_index: [2, edges], each edge once or both ways. x: [vertices, features], sparse or not. y: [vertices]."""
    import scipy.sparse

    x = scipy.sparse.csr_matrix(x)
    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1), np.float64))
    x = scipy.sparse.csr_matrix(x.multiply(1 / np.where(length > 0, length, 1)))
    edges = torch.from_numpy(undirected(np.asarray(edge_index, np.int64), x.shape[0]))
    rowptr, col, weight = (torch.from_numpy(part.astype(dtype)) for part, dtype in
                           ((x.indptr, np.int64), (x.indices, np.int32), (x.data, np.float32)))
    labels = torch.from_numpy(np.asarray(y, np.int64)).to(device)
    features = csaw.torch.Matrix(rowptr.to(device), col.to(device), weight.to(device), x.shape[1])
    return Data(name, csaw.torch.matrix(edges.to(device), x.shape[0]), features, labels, int(labels.max()) + 1, public)


class FeatureLinear(nn.Module):
    """x W of the sparse features x, W: [features, outputs]."""

    def __init__(self, features: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: csaw.torch.Matrix) -> Tensor:
        return csaw.torch.spmm(x, self.weight)


# ---- training -------------------------------------------------------------------------------------------------------

@dataclass
class Result:
    test: float  # accuracy on the test vertices, at the first epoch that is best on those that choose
    best: Dict[str, Tensor]  # the net's state there
    curve: List[Tuple[int, float, float, float]]  # epoch, loss, accuracy on those that choose, and on the test vertices


def accuracy(logits: Tensor, y: Tensor, part: Tensor) -> float:
    return (logits.index_select(0, part).argmax(1) == y.index_select(0, part)).float().mean().item()


def make_step(forward: Callable[[], Tensor], net: nn.Module, data: Data, parts: Parts,
              options: argparse.Namespace) -> Callable[[], Tensor]:
    """One step of Adam over all vertices that train, as a function that gives the loss."""
    optimizer = torch.optim.Adam(net.parameters(), options.rate, weight_decay=options.weight_decay,
                                 capturable=data.y.is_cuda)
    wanted = data.y.index_select(0, parts[0])

    def step() -> Tensor:
        net.train()
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(forward().index_select(0, parts[0]), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def fit(step: Callable[[], Tensor], forward: Callable[[], Tensor], net: nn.Module, data: Data, parts: Parts,
        options: argparse.Namespace) -> Result:
    """Trains for options.epochs; looks at the accuracies, by forward() in eval mode, every options.every epochs."""
    result, chosen = Result(0.0, {}, []), -1.0
    for epoch in told(range(1, options.epochs + 1), options.epochs, "epochs"):
        loss = step()
        if epoch % options.every and epoch != options.epochs:
            continue
        net.eval()
        with torch.no_grad():
            logits = forward()
        valid, test = (accuracy(logits, data.y, part) for part in parts[1:])
        result.curve.append((epoch, loss.item(), valid, test))
        if valid > chosen:
            chosen, result.test = valid, test
            result.best = {name: x.clone() for name, x in net.state_dict().items()}
    return result


# ---- times ----------------------------------------------------------------------------------------------------------

WARM_UP = 3  # calls


def recorded(function: Callable[[], Any], device: torch.device, options: argparse.Namespace) -> Callable[[], Any]:
    """The function, whose work on a GPU is recorded as a CUDA graph by the call after WARM_UP, which replays it, as those
    that follow do: so nothing waits for the host. What the recorded call returned is written again by each. For a
    function that asks for the same work every time; with --launched it is left as it is."""
    if device.type != "cuda" or options.launched:
        return function
    calls, graph, result = 0, torch.cuda.CUDAGraph(), None

    def call() -> Any:
        nonlocal calls, result
        calls += 1
        if calls <= WARM_UP:  # in a stream of its own, as a recording asks for
            here, stream = torch.cuda.current_stream(device), torch.cuda.Stream(device)
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                result = function()
            here.wait_stream(stream)
            return result
        if calls == WARM_UP + 1:
            with torch.cuda.graph(graph):
                result = function()
        graph.replay()
        return result

    return call


def milliseconds(function: Callable[[], Any], device: torch.device, options: argparse.Namespace) -> float:
    """Median over options.repeat runs, of a function that is recorded() and has been replayed once."""
    function = recorded(function, device, options)
    for _ in range(WARM_UP + 1):
        function()
    if device.type != "cuda":
        return statistics.median(_on_host(function) for _ in range(options.repeat))
    times = []
    for _ in range(options.repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        function()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def _on_host(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - begin)


# ---- options --------------------------------------------------------------------------------------------------------

def common_options(parser: argparse.ArgumentParser, graphs: List[str], epochs: int, hidden: int,
                   dropout: float, rate: float, weight_decay: float) -> None:
    default = os.environ.get("CSAW_DATA")
    parser.add_argument("--data", type=Path, default=Path(default, "gnn") if default else None,
                        help="folder of the data sets; default $CSAW_DATA/gnn")
    parser.add_argument("--graphs", nargs="+", default=graphs, metavar="NAME", help="default %(default)s")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default %(default)s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="a split and a training each")
    parser.add_argument("--epochs", type=int, default=epochs, help="default %(default)s, one step each")
    parser.add_argument("--every", type=int, default=5, help="epochs from one look at the accuracies to the next")
    parser.add_argument("--hidden", type=int, default=hidden, help="default %(default)s")
    parser.add_argument("--dropout", type=float, default=dropout, help="default %(default)s")
    parser.add_argument("--rate", type=float, default=rate, help="of Adam; default %(default)s")
    parser.add_argument("--weight-decay", type=float, default=weight_decay, help="default %(default)s")
    parser.add_argument("--repeat", type=int, default=20, help="runs that a time is the median of")
    parser.add_argument("--launched", action="store_true", help="launch call by call, not as a recorded CUDA graph")


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    options = parse_outputs(parser)
    if any(name != "generated" for name in options.graphs) and not (options.data and options.data.is_dir()):
        parser.error(f"no folder of data sets{f' {options.data}' if options.data else ''}: give --data FOLDER, or let "
                     "CSAW_DATA name the folder above gnn")
    options.device = torch.device(options.device)
    if options.device.type == "cuda" and options.device.index is None:
        options.device = torch.device("cuda", torch.cuda.current_device())
    if options.device.type == "cuda" and "cuda" not in csaw.version():
        parser.error(f"the library is built without CUDA ({csaw.version()}); give --device cpu, or build it with "
                     "-D CSAW_CUDA=ON")
    return options


def heading(options: argparse.Namespace) -> Dict[str, Any]:
    """What a report must say of how it came about."""
    on_gpu = options.device.type == "cuda"
    return {
        "csaw": csaw.version(),
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(options.device) if on_gpu else f"cpu, {torch.get_num_threads()} threads",
        "options": {name: value if isinstance(value, (int, float, list)) else str(value)
                    for name, value in vars(options).items() if name not in ("json", "plot", "data")},
    }


def describe(data: Data) -> Dict[str, Any]:
    length = data.a.rowptr.diff().float()
    return {"graph": data.name, "vertices": data.a.shape[0], "arcs": data.a.num_edges, "features": data.x.shape[1],
            "classes": data.classes, "mean_degree": length.mean().item(), "longest_row": int(length.max().item())}
