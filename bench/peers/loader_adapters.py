# SPDX-License-Identifier: MIT
"""bench/peers/loader_adapters.py - loaders of minibatches behind one face, for loader_peers.py.

A contender has name and device; epoch(with_x, in_flight), which iterates over the batches of the workload;
gather(n_id), rows of the features on the device; and layers(batch), the adjacency of both layers for its conv(in, out),
which takes (x, x of the receivers) and one of them. A batch has n_id (seeds first, then hop by hop), edge_index
(sender, receiver, hop by hop), batch_size, num_sampled_nodes, num_sampled_edges, and x. Each vertex is expanded once,
where it is first reached, as PyTorch Geometric does.
"""
import ctypes
import functools
import importlib.util
import shutil
import sys
from types import SimpleNamespace

import csaw
import csaw.torch
import torch
from csaw import _structs as s
from csaw._lib import check, lib, options


class Workload:
    """What all contenders load: a graph as edge_index, features, seeds. placed(device): the features where a loader on
    that device is to find them."""

    def __init__(self, graph, args):
        order = torch.Generator().manual_seed(args.seed)
        self.graph, self.args, self.fanout = graph, args, args.fanout
        self.edge_index = torch.from_numpy(graph.edge_index())
        into = graph.transpose()
        self.rowptr, self.col = into.rowptr.astype("int64"), into.col.astype("int64")  # row v: what v receives from
        self.x = torch.rand(graph.num_vertices, args.cols, generator=order)
        self.y = torch.randint(0, args.classes, (graph.num_vertices,), generator=order)
        self.seeds = torch.randperm(graph.num_vertices, generator=order)[:args.batch * args.batches]
        self._placed = {"cpu": self.x}

    @functools.cached_property
    def by_receiver(self):
        """edge_index in order of receivers: what PyTorch Geometric takes without a sort, is_sorted=True."""
        row = torch.arange(len(self.rowptr) - 1).repeat_interleave(torch.from_numpy(self.rowptr).diff())
        return torch.stack([torch.from_numpy(self.col), row])

    @property
    def batches(self):
        return -(-len(self.seeds) // self.args.batch)

    def placed(self, device):
        if device not in self._placed:
            self._placed[device] = self.x.pin_memory() if self.args.host_features else self.x.to(device)
        return self._placed[device]


def by_layer(batch):
    """(receivers, vertices, edges) of the outer and the inner layer: the first so many of each."""
    nodes, edges = (list(map(int, counts)) for counts in (batch.num_sampled_nodes, batch.num_sampled_edges))
    return [(nodes[0] + nodes[1], sum(nodes), sum(edges)), (nodes[0], nodes[0] + nodes[1], edges[0])]


def csr_of(batch, rows, edges):
    """rowptr and col of the first edges of a batch whose edges stand in order of their receivers."""
    sender, receiver = batch.edge_index[:, :edges]
    return torch.searchsorted(receiver.contiguous(), torch.arange(rows + 1, device=receiver.device)), sender


# ---- csaw ----


class Csaw:
    """ahead: made by the library's thread, as batches on a GPU always are."""

    def __init__(self, work, device, ahead):
        self.work, self.device = work, device
        self.name = "csaw" if device != "cpu" else "csaw, made ahead" if ahead else "csaw"
        self.version = f"csaw {csaw.version()}"
        self.ahead, self.x = ahead, work.placed(device)
        self.loaders = {}
        for with_x in (False, True):
            data = SimpleNamespace(edge_index=work.edge_index, num_nodes=work.graph.num_vertices)
            more = dict(device=device) if ahead else {}
            if with_x:
                data.x = self.x
                if device != "cpu" and work.args.host_features:
                    more["cache_bytes"] = work.args.cache
            self.loaders[with_x] = csaw.NeighborLoader(data, list(work.fanout), work.seeds, batch_size=work.args.batch,
                                                       seed=work.args.seed, **more)

    def epoch(self, with_x=True, in_flight=2):
        loader = self.loaders[with_x]
        if self.ahead:
            loader.in_flight = in_flight
        return loader

    def gather(self, n_id):
        """csaw_gather(), of which the Python package has no function of its own."""
        gpu = self.device != "cpu"
        # On the host by NumPy: PyTorch's threads would wait for more work, on the cores of those that gather
        vertex = n_id.int() if gpu else torch.from_numpy(n_id.numpy().astype("int32"))
        out = torch.empty(len(n_id), self.x.shape[1], device=self.device)
        how = options(s.csaw_gather_options, device=self.device.encode(),
                      stream=(torch.cuda.current_stream(self.device).cuda_stream or None) if gpu else None)
        x, y = (s.csaw_dense(*a.shape, 0, 0, a.data_ptr()) for a in (self.x, out))
        check(lib.csaw_gather(ctypes.byref(x), vertex.data_ptr(), len(n_id), ctypes.byref(how), ctypes.byref(y)))
        return out

    def layers(self, batch):
        return csaw.torch.layers(batch)

    conv = csaw.torch.SAGEConv


# ---- peers ----


class PlainConv(torch.nn.Module):
    """GraphSAGE's layer by index_add_, of edge_index: what PyTorch Geometric's does without its compiled parts."""

    def __init__(self, of, to):
        super().__init__()
        self.lin_l, self.lin_r = torch.nn.Linear(of, to), torch.nn.Linear(of, to, bias=False)

    def forward(self, x, edge_index):
        x, own = x
        total = own.new_zeros(len(own), x.shape[1]).index_add_(0, edge_index[1], x.index_select(0, edge_index[0]))
        degree = torch.bincount(edge_index[1], minlength=len(own)).clamp_(min=1)
        return self.lin_l(total / degree[:, None]) + self.lin_r(own)


def peer_conv():
    """PyTorch Geometric's layer where it is installed, else PlainConv; and its name."""
    try:
        from torch_geometric import __version__
        from torch_geometric.nn import SAGEConv
    except ImportError:
        return PlainConv, "PlainConv"
    return SAGEConv, f"SAGEConv of torch-geometric {__version__}"


class Peer:
    conv = staticmethod(peer_conv()[0])

    def __init__(self, work, device):
        self.work, self.device, self.x = work, device, work.placed(device)

    def gather(self, n_id):
        return self.x.index_select(0, n_id.to(self.x.device)).to(self.device)

    def layers(self, batch):
        return [batch.edge_index[:, :edges] for _, _, edges in by_layer(batch)]


class Plain(Peer):
    """Vectorised PyTorch: Floyd's algorithm (Bentley, Floyd, CACM 1987) picks min(fanout, degree) distinct arcs for all
    vertices at once, torch.unique relabels, an index gathers."""

    name = "plain PyTorch"

    def __init__(self, work, device):
        super().__init__(work, device)
        self.version = f"torch {torch.__version__}"
        self.rowptr, self.col = (torch.from_numpy(a).to(device) for a in (work.rowptr, work.col))
        self.place = torch.full((work.graph.num_vertices,), -1, device=device)  # in n_id

    def hop(self, vertices, k):
        """Positions in vertices, and the senders picked, by vertex."""
        begin = self.rowptr[vertices]
        degree = self.rowptr[vertices + 1] - begin
        pick = torch.arange(k, device=self.device).repeat(len(vertices), 1)
        many = (degree > k).nonzero()[:, 0]
        last = degree[many, None] - k + torch.arange(k, device=self.device)  # number i is drawn from 0 .. last[:, i]
        chosen = (torch.rand(last.shape, dtype=torch.float64, device=self.device) * (last + 1)).long()
        for i in range(1, k):
            again = (chosen[:, :i] == chosen[:, i, None]).any(1)
            chosen[:, i] = torch.where(again, last[:, i], chosen[:, i])
        pick[many] = chosen
        there = torch.arange(k, device=self.device) < degree[:, None]
        row = torch.arange(len(vertices), device=self.device)[:, None].expand_as(there)[there]
        return row, self.col[(begin[:, None] + pick)[there]]

    def batch(self, seeds, with_x):
        hops, vertices, found, count = [], seeds, [seeds], 0
        self.place[seeds] = torch.arange(len(seeds), device=self.device)
        for k in self.work.fanout:
            row, sender = self.hop(vertices, k)
            fresh = torch.unique(sender[self.place[sender] < 0])
            here = count + len(vertices)
            self.place[fresh] = torch.arange(here, here + len(fresh), device=self.device)
            hops.append(torch.stack([self.place[sender], row + count]))
            found.append(fresh)
            vertices, count = fresh, here
        n_id = torch.cat(found)
        self.place[n_id] = -1
        out = SimpleNamespace(n_id=n_id, edge_index=torch.cat(hops, 1), batch_size=len(seeds),
                              num_sampled_nodes=[len(v) for v in found], num_sampled_edges=[h.shape[1] for h in hops])
        if with_x:
            out.x = self.gather(n_id)
        return out

    def epoch(self, with_x=True, in_flight=1):
        for seeds in self.work.seeds.to(self.device).split(self.work.args.batch):
            yield self.batch(seeds, with_x)


class Pyg(Peer):
    """PyTorch Geometric's NeighborLoader, which samples on the CPU, in this process or in as many workers; its batches
    are copied to the device, from page-locked memory."""

    def __init__(self, work, device, workers):
        super().__init__(work, device)
        import torch_geometric
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        self.name = f"torch-geometric, {workers} workers"
        self.version = f"torch-geometric {torch_geometric.__version__} with {pyg_backend()}"
        more = dict(num_workers=workers, persistent_workers=workers > 0, pin_memory=device != "cpu")
        self.loaders = {}
        for with_x in (False, True):
            data = Data(edge_index=work.by_receiver, num_nodes=work.graph.num_vertices)
            if with_x:
                data.x = work.x
            self.loaders[with_x] = NeighborLoader(data, list(work.fanout), work.seeds, batch_size=work.args.batch,
                                                  is_sorted=True, transform=with_counts, **more)

    def epoch(self, with_x=True, in_flight=1):
        for batch in self.loaders[with_x]:
            yield batch.to(self.device, non_blocking=True)


def with_counts(batch):
    """Counts by hop, of two hops, where torch-sparse made the batch, which counts none. A transform: where there are
    workers, they do it."""
    if getattr(batch, "num_sampled_nodes", None) is None:
        sender, receiver = batch.edge_index
        size = batch.batch_size
        first = int((receiver < size).sum())
        reached = max(int(sender[:first].max()) + 1, size) if first else size
        batch.num_sampled_edges = [first, len(sender) - first]
        batch.num_sampled_nodes = [size, reached - size, len(batch.n_id) - reached]
    return batch


def pyg_backend():
    """The compiled part that PyTorch Geometric's NeighborLoader samples with, and its version; None: there is none, or
    no PyTorch Geometric. It is asked, since one that cannot be loaded it does without."""
    try:
        from torch_geometric import typing
    except ImportError:
        return None
    for name, has in (("pyg_lib", typing.WITH_PYG_LIB), ("torch_sparse", typing.WITH_TORCH_SPARSE)):
        if has:
            return f"{name.replace('_', '-')} {getattr(sys.modules.get(name), '__version__', '')}".strip()
    return None


SHARED = "/dev/shm"  # where workers leave their batches: past its end they die of SIGBUS, without a word


def shared_bytes(work, workers):
    """Of SHARED, at most: the graph, once, and two batches of each worker."""
    hops = [1]
    for k in work.fanout:
        hops.append(hops[-1] * k)
    vertices = min(sum(hops) * work.args.batch, work.graph.num_vertices)
    batch = vertices * (4 * work.args.cols + 8) + 3 * 8 * sum(hops[1:]) * work.args.batch
    return 16 * work.graph.num_edges + 8 * work.graph.num_vertices + 2 * workers * batch


def peers(work, device):
    """The peers that can be had here, and what is to be said of that. The plain sampler is always there, so that what
    one run says can be held against another."""
    found, backend = [Plain(work, device)], pyg_backend()
    if not backend:
        have = "is installed without pyg-lib and torch-sparse" if importlib.util.find_spec("torch_geometric") else \
            "is not installed"
        return found, f"peer: a plain vectorised PyTorch sampler of this benchmark's own, since torch-geometric {have}"
    said = f"peers: torch_geometric.loader.NeighborLoader, by {backend}, and a plain vectorised PyTorch sampler"
    workers, want = work.args.workers, shared_bytes(work, work.args.workers)
    have = shutil.disk_usage(SHARED).free
    if workers and have < want:
        said += (f"; {workers} workers were not timed, since they may need {want / 1e9:.1f} GB of {SHARED}, which has "
                 f"{have / 1e9:.1f}")
        workers = 0
    return found + [Pyg(work, device, count) for count in sorted({0, workers})], said
