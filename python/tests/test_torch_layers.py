# SPDX-License-Identifier: MIT
"""Layers: the outputs and gradients of PyTorch Geometric's with the same parameters; blocks; the MaxK forms. On the CPU
and on a GPU."""
import numpy as np
import pytest

import csaw

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
from torch_cases import BACKENDS, features  # noqa: E402

ct = csaw.torch


def close(got, want):
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


@pytest.fixture
def edges(device):
    """A directed multigraph of 40 vertices, some loops; 38 and 39 receive nothing."""
    rng = np.random.default_rng(7)
    edge_index = np.stack([rng.integers(0, 40, 240), rng.integers(0, 38, 240)])
    return torch.from_numpy(np.concatenate([edge_index, [[3, 5, 5], [3, 5, 5]]], axis=1)).to(device)


@pytest.fixture
def x(device):
    return features(40, 12, seed=2)


@pytest.fixture
def pyg():
    return pytest.importorskip("torch_geometric.nn", reason="PyTorch Geometric is not installed")


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(12, 10), torch.nn.ReLU(), torch.nn.Linear(10, 8))


GCN = [dict(), dict(improved=True), dict(add_self_loops=False), dict(normalize=False), dict(bias=False)]
SAGE = [dict(aggr=aggr) for aggr in ("mean", "sum", "max", "min")] + [dict(normalize=True), dict(root_weight=False)]
GAT = [dict(), dict(heads=3), dict(heads=2, concat=False, negative_slope=0.1), dict(add_self_loops=False, heads=2)]
LAYERS = [("GCNConv", o) for o in GCN] + [("SAGEConv", o) for o in SAGE] + [("GATConv", o) for o in GAT]
LAYERS += [("GINConv", dict(eps=0.3)), ("GINConv", dict(train_eps=True))]


def pair(pyg, name, options):
    """PyTorch Geometric's layer and csaw's, with the same parameters, none of them zero."""
    torch.manual_seed(1)
    make = [(lambda: (mlp(),)) if name == "GINConv" else (lambda: (12, 8))] * 2
    theirs, mine = (getattr(of, name)(*arguments(), **options) for of, arguments in zip((pyg, ct), make))
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    mine.load_state_dict(theirs.state_dict())
    return theirs, mine


def everything(layer, x, *arguments):
    """Output, and gradients of x and of the parameters."""
    x = x.clone().requires_grad_()
    y = layer(x, *arguments)
    weight = torch.linspace(-1, 1, y.numel()).reshape(y.shape)
    return y, *torch.autograd.grad((y * weight).sum(), [x, *layer.parameters()])


@pytest.mark.parametrize("name, options", LAYERS)
def test_layers_are_pyg_s(pyg, edges, x, name, options):
    theirs, mine = pair(pyg, name, options)
    # without weights PyTorch Geometric ignores improved on an edge_index; ones are what it means
    want = everything(theirs, x, edges, *([torch.ones(edges.shape[1])] if "improved" in options else []))
    assert [n for n, _ in mine.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    graph = csaw.Graph.from_edge_index(edges.cpu(), 40)
    turned = graph.transpose()
    on_host = [torch.from_numpy(a.astype(np.int64)) for a in (turned.rowptr, turned.col)]
    csr = torch.sparse_csr_tensor(*(a.to(edges.device) for a in on_host), torch.ones(graph.num_edges), (40, 40))
    for source in (edges, ct.matrix(edges, 40), ct.matrix(graph).to(edges.device), csr):
        for got, exact in zip(everything(mine, x, source), want):
            close(got, exact)


@pytest.mark.parametrize("options", GCN)
def test_gcn_with_weights_is_pyg_s(pyg, edges, x, options):
    theirs, mine = pair(pyg, "GCNConv", options)
    weight = features(edges.shape[1], 1, seed=5)[:, 0].abs() + 0.1
    weight[-2] = weight[-1]  # of two loops at a vertex PyTorch Geometric takes, on a GPU, either
    grads = []
    for layer, source in ((theirs, edges), (mine, edges), (mine, ct.matrix(edges, 40))):
        w = weight.clone().requires_grad_()
        y = layer(x, source, w)
        grads.append([y, *torch.autograd.grad(y.square().sum(), [w, layer.lin.weight])])
    if mine.normalize and mine.add_self_loops:
        grads[0][1][-2] = 0  # the loop that is not taken, which PyTorch Geometric gives the other's gradient
    for got in grads[1:]:
        for one, exact in zip(got, grads[0]):
            close(one, exact)
    kept = csaw.Graph.from_edge_index(edges.cpu(), 40, weight.cpu())
    a = ct.matrix(kept).to(edges.device)
    close(mine(x, a), grads[0][0])
    assert torch.equal(mine(x, a), mine(x, a)) and (not mine.normalize or len(a.derived) == 1), "normalised once"


@pytest.mark.parametrize("name", ("SAGEConv", "GINConv", "GATConv"))
def test_pairs_are_pyg_s(pyg, device, x, name):
    """Senders and receivers apart: 40 send to 15."""
    rng = np.random.default_rng(3)
    edges = torch.from_numpy(np.stack([rng.integers(0, 40, 90), rng.integers(0, 15, 90)])).to(device)
    theirs, mine = pair(pyg, name, dict(add_self_loops=False) if name == "GATConv" else {})
    close(mine((x, x[:15]), edges), theirs((x, x[:15]), edges, size=(40, 15)))


@pytest.mark.parametrize("name, options", [("SAGEConv", {}), ("GINConv", {}), ("GATConv", dict(heads=2)),
                                           ("GCNConv", dict(normalize=False))])
def test_blocks_of_all_neighbours_give_the_whole_graph_s(name, options):
    torch.manual_seed(0)
    graph, x = csaw.Graph.rmat(7, 4, seed=2), torch.randn(csaw.Graph.rmat(7, 4, seed=2).num_vertices, 12)
    first = getattr(ct, name)(mlp() if name == "GINConv" else 12, *(() if name == "GINConv" else (8,)), **options)
    width = first(x, graph).shape[1]
    second = ct.SAGEConv(width, 3)
    seeds = np.array([5, 0, 9, 30])
    whole = second(first(x, graph).relu(), graph)[torch.from_numpy(seeds)]
    made = csaw.sample(graph, "neighbor_again", [seeds], fanout=[-1, -1]).blocks()
    inner, outer = made[0, 1], made[0, 0]
    h = first(x[torch.from_numpy(inner.vertex.astype(np.int64))], inner).relu()
    close(second(h, outer), whole)


def test_gcn_of_a_block_normalises_within_it():
    graph = csaw.Graph.rmat(6, 4, seed=1)
    block = csaw.sample_neighbors(graph, [2, 7, 11], [5]).blocks[0, 0]
    conv, h = ct.GCNConv(12, 4), torch.randn(block.num_src, 12)
    a = ct.matrix(block).dense()
    a[torch.arange(3), torch.arange(3)] = 1
    a = a / a.sum(1).sqrt()[:, None] / a.sum(0).clamp(min=1).sqrt()
    close(conv(h, block), a @ h @ conv.lin.weight.T)


@pytest.mark.parametrize("name", ("GCNConv", "SAGEConv", "GINConv", "GATConv"))
def test_maxk_forms(edges, x, name):
    """The layer with maxk is the one whose features over the edges went through MaxK, made dense."""
    torch.manual_seed(3)
    if name == "GINConv":
        mine, plain = ct.GINConv(mlp(), maxk=5), ct.GINConv(mlp())
    elif name == "GATConv":
        mine, plain = ct.GATConv(12, 8, heads=2, maxk=3), ct.GATConv(12, 8, heads=2)
    else:
        mine, plain = getattr(ct, name)(12, 8, maxk=5), getattr(ct, name)(12, 8)
    plain.load_state_dict(mine.state_dict())
    got = everything(mine, x, edges)

    def dense(x, edges):
        if name in ("SAGEConv", "GINConv"):
            return plain(ct.MaxK(5)(x), edges)
        h = plain.lin(x)
        if name == "GCNConv":
            a, weight = ct.gcn_norm(ct.matrix(edges, 40))
            return ct.spmm(a, ct.MaxK(5)(h), weight) + plain.bias
        a = ct.normalize.with_loops(ct.matrix(edges, 40))
        alpha = plain._alpha(a, h.view(40, 2, 8), h.view(40, 2, 8))
        kept = ct.MaxK(3)(h.reshape(80, 8)).reshape(40, 16)
        return ct.spmm(ct.Matrix(a.rowptr, a.col), kept, alpha, heads=2) + plain.bias

    z = x.clone().requires_grad_()
    y = dense(z, edges)
    weight = torch.linspace(-1, 1, y.numel()).reshape(y.shape)
    for one, exact in zip(got, [y, *torch.autograd.grad((y * weight).sum(), [z, *plain.parameters()])]):
        close(one, exact)


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled(edges, x, backend):
    class Net(torch.nn.Module):

        def __init__(self):
            super().__init__()
            self.first, self.second = ct.SAGEConv(12, 16, maxk=6), ct.GATConv(16, 4, heads=2)
            self.third, self.relu = ct.GINConv(torch.nn.Linear(8, 3)), ct.MaxK(5)

        def forward(self, x, edges):
            return self.third(self.relu(self.second(self.first(x, edges), edges)), edges)

    torch.manual_seed(0)
    net, a = Net(), ct.matrix(edges, 40)
    for got, want in zip(everything(torch.compile(net, backend=backend), x, a), everything(net, x, a)):
        close(got, want)
    conv = ct.GCNConv(12, 3)
    close(torch.compile(conv, backend=backend)(x, edges), conv(x, edges))


def test_training_under_autocast_learns(edges, x):
    torch.manual_seed(0)
    a, target = ct.matrix(edges, 40), torch.arange(40) % 2
    net = torch.nn.ModuleList([ct.SAGEConv(12, 32), ct.GATConv(32, 2)])
    optimizer = torch.optim.Adam(net.parameters(), 0.02)
    losses = []
    for _ in range(60):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            out = net[1](net[0](x, a).relu(), a)
        loss = torch.nn.functional.cross_entropy(out.float(), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]


def test_minibatches_of_the_loader(edges, x):
    data = dict(edge_index=edges.cpu(), x=x.cpu())
    loader = csaw.NeighborLoader(data, [-1, -1], torch.arange(10, device="cpu"), batch_size=5)
    conv = ct.SAGEConv(12, 8)
    whole = conv(x, edges).cpu()
    for batch in loader:
        got = conv(batch.x.to(x.device), batch.edge_index.to(x.device)).cpu()
        close(got[:batch.batch_size], whole[batch.n_id[:batch.batch_size]])


@pytest.mark.parametrize("name", ("GCNConv", "SAGEConv", "GINConv", "GATConv"))
def test_reset_parameters_draws_weights_anew(device, name):
    for arguments in [(mlp(),), (torch.nn.Linear(12, 8),)] if name == "GINConv" else [(12, 8)]:
        layer = getattr(ct, name)(*arguments)
        before = {n: p.detach().clone() for n, p in layer.named_parameters()}
        with torch.no_grad():
            [p.fill_(7) for p in layer.parameters()]
        layer.reset_parameters()
        for n, p in layer.named_parameters():
            assert not (p == 7).any() and (n == "bias" or not torch.equal(p, before[n])), n


def test_refused(edges, x):
    for call, text in [(lambda: ct.SAGEConv(12, 8, aggr="lstm"), "lstm"),
                       (lambda: ct.SAGEConv(12, 8, "max", maxk=3), "maxk"),
                       (lambda: ct.GCNConv(12, 8)(x, edges, torch.ones(3)), "3 values"),
                       (lambda: ct.GATConv(12, 8)(x, ct.matrix(edges, 41)), "40 rows"),
                       (lambda: ct.GINConv(mlp(), maxk=13)(x, edges), "k is 13")]:
        with pytest.raises(csaw.CsawError, match=text):
            call()


def test_arguments_that_are_no_layer_s(edges, x):
    for conv in (ct.GCNConv(8, 4), ct.SAGEConv(8, 4), ct.GINConv(torch.nn.Linear(8, 4)), ct.GATConv(8, 4)):
        with pytest.raises(csaw.CsawError, match="x is a ndarray; give a tensor"):
            conv(np.zeros((30, 8), np.float32), edges)
    for conv in (ct.GCNConv, ct.SAGEConv, ct.GATConv):
        with pytest.raises(csaw.CsawError, match="in_channels is -1"):
            conv(-1, 4)


@pytest.mark.parametrize("conv, words", [
    (ct.GCNConv(8, 4, maxk=2), "maxk=2"), (ct.SAGEConv(8, 4), "aggr=mean"), (ct.GATConv(8, 4, heads=3), "heads=3"),
    (ct.SAGEConv(8, 4, aggr="add", maxk=2), "aggr=sum, maxk=2"), (ct.GINConv(torch.nn.Identity(), maxk=5), "maxk=5"),
])
def test_layers_print_what_they_do(conv, words):
    assert conv.extra_repr() == words and words in repr(conv)
