# SPDX-License-Identifier: MIT
"""csaw.torch in PyTorch: torch.compile, autocast, the rules of operators; matrices of all kinds; what is refused."""
import pickle
import sys
import warnings

import numpy as np
import pytest

import csaw
from loader_cases import in_tensors, made_up

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
from torch_cases import BACKENDS, features, same  # noqa: E402

ct = csaw.torch


def everything(a, graphs, x, weight):
    """Each operator once."""
    values, index = ct.maxk(x, 4)
    alpha = ct.edge_softmax(a, ct.sddmm(a, x, x, 2))
    return (ct.spmm(a, x, weight, "max") + ct.spmm(a, x, weight) + ct.spmm(a, x, alpha, heads=2) +
            ct.es_spmm(a, x, weight, 3, epoch=1) + ct.maxk_spmm(a, values, index, x.shape[1], weight) +
            ct.maxk_dense(values, index, x.shape[1]) + ct.batched_spmm(graphs, x))


@pytest.mark.parametrize("backend", BACKENDS)
def test_compile(edges, backend):
    a, graphs = ct.matrix(edges, 30), ct.GraphBatch(edges, torch.tensor([0, 30]))
    compiled = torch.compile(everything, backend=backend, fullgraph=True)
    results = []
    for function in (everything, compiled):
        x, w = features(30, 8).requires_grad_(), features(150, 1)[:, 0].requires_grad_()
        y = function(a, graphs, x, w)
        results.append([y.detach(), *torch.autograd.grad(y.square().sum(), [x, w])])
    for plain, traced in zip(*results):
        torch.testing.assert_close(traced, plain, rtol=1e-6, atol=1e-6)


def test_operators_follow_their_rules(edges):
    a, x, w = ct.matrix(edges, 30), features(30, 6).requires_grad_(), features(150, 1)[:, 0].requires_grad_()
    ops = torch.ops.csaw
    values, index = ct.maxk(x.detach(), 2)
    graphs = ct.GraphBatch(edges, torch.tensor([0, 30]))
    calls = [(ops.spmm, (a.rowptr, a.col, w, x, reduce, 1)) for reduce in ("sum", "max")]
    calls += [(ops.es_spmm, (a.rowptr, a.col, w, x, 3, "bucket", "sum", 0, 0)), (ops.maxk, (x, 2)),
              (ops.maxk_dense, (values.requires_grad_(), index, 6)),
              (ops.maxk_spmm, (a.rowptr, a.col, w, values, index, 6, "sum")), (ops.sddmm, (a.rowptr, a.col, x, x, 2)),
              (ops.edge_softmax, (a.rowptr, a.col, features(150, 2).requires_grad_(), 30)),
              (ops.batched_spmm, (graphs.offset, graphs.edge_offset, graphs.row, graphs.col, w, x, "mean"))]
    for op, arguments in calls:
        torch.library.opcheck(op.default, arguments)


def test_operators_without_dispatch_have_its_bits_and_errors(edges):
    """Called as functions and as operators; a gradient of a gradient is refused by both."""
    a, graphs = ct.matrix(edges, 30), ct.GraphBatch(edges, torch.tensor([0, 30]))
    seen = ct._operator._somebody_looks_on
    results, dispatched = [], []
    run = ct._spmm.spmm_op._op
    ct._spmm.spmm_op._op = lambda *arguments: dispatched.append(1) or run(*arguments)
    for looks_on in (False, True):
        ct._operator._somebody_looks_on = lambda: looks_on
        try:
            x, w = features(30, 8).requires_grad_(), features(150, 1)[:, 0].requires_grad_()
            y = everything(a, graphs, x, w)
            results.append([y.detach(), *torch.autograd.grad(y.square().sum(), [x, w])])
            assert not ct.spmm(a, x.detach()).requires_grad
            with torch.no_grad():
                assert not ct.spmm(a, x).requires_grad
            first, = torch.autograd.grad(ct.spmm(a, x, w).square().sum(), x, create_graph=True)
            with pytest.raises(RuntimeError, match="no autograd formula"):
                first.sum().backward()
        finally:
            ct._operator._somebody_looks_on = seen
        assert bool(dispatched) == looks_on
    ct._spmm.spmm_op._op = run
    for one, other in zip(*results):
        assert torch.equal(one, other)


def test_what_does_not_fit_is_refused(edges):
    """ctypes would cut numbers off, and take memory of another device for the host's."""
    a, x = ct.matrix(edges, 30), features(30, 8)
    for words, call in (("heads is 4294967297; it is a whole number from 1 to", lambda: ct.spmm(a, x, heads=2**32 + 1)),
                        ("heads is 2.5; it is a whole number", lambda: ct.spmm(a, x, heads=2.5)),
                        ("heads is 0; it is a whole number from 1", lambda: ct.spmm(a, x, heads=0)),
                        ("heads is 0; it is a whole number from 1", lambda: ct.sddmm(a, x, x, heads=0)),
                        ("heads is -1; it is a whole number from 1", lambda: ct.sddmm(a, x, x, heads=-1)),
                        ("heads is 0; it is a whole number from 1", lambda: ct.GATConv(4, 3, heads=0)),
                        ("width is -3; it is a whole number of 32 bits", lambda: ct.es_spmm(a, x, width=-3)),
                        ("width is 0, but", lambda: ct.es_spmm(a, x, width=0)),
                        ("x is a ndarray; give a tensor", lambda: ct.spmm(a, x.cpu().numpy())),
                        ("receiver -1 of edge_index is outside 0 .. 29", lambda: ct.spmm(torch.tensor([[0], [-1]]), x)),
                        ("sender 30 of edge_index is outside 0 .. 29", lambda: ct.spmm(torch.tensor([[30], [0]]), x)),
                        ("seed is -1; it is a whole number of 64 bits", lambda: ct.es_spmm(a, x, seed=-1)),
                        ("and meta; move them to one device", lambda: ct.spmm(a, x.to("meta")))):
        with pytest.raises(csaw.CsawError, match=words):
            call()
    assert torch.equal(ct.spmm(a, x, heads=np.int64(2)), ct.spmm(a, x, heads=2))


def test_gradients_after_inference(edges):
    """What sums share was made in inference mode, if that came first; gradients keep it nevertheless."""
    a, x = ct.matrix(edges, 30), features(30, 8)
    ct._spmm._no_args.clear()
    with torch.inference_mode():
        y = ct.spmm(a, x)
    x = x.requires_grad_()
    gradient, = torch.autograd.grad(ct.spmm(a, x).sum(), x)
    torch.testing.assert_close(gradient, a.dense().sum(0)[:, None].expand(30, 8))
    torch.testing.assert_close(y, a.dense() @ x.detach())


def test_what_looks_on_sees_operators(edges):
    from torch.fx.experimental.proxy_tensor import make_fx

    a, x = ct.matrix(edges, 30), features(30, 8)
    graph = make_fx(lambda x: ct.spmm(a, x), tracing_mode="real")(x)
    assert "csaw.spmm" in graph.code
    torch.testing.assert_close(graph(2 * x), ct.spmm(a, 2 * x))


def product(name, edges):
    """A product of h [30, 8] with the edges, that keeps its dtype."""
    if name == "batched":
        graphs = ct.GraphBatch(edges, torch.tensor([0, 30]))
        return lambda h: ct.batched_spmm(graphs, h, reduce="mean")
    a = ct.matrix(edges, 30)
    if name == "maxk":
        return lambda h: ct.maxk_spmm(a, *ct.maxk(h, 3), 8, reduce="mean")
    if name == "gin":
        conv = ct.GINConv(torch.nn.Linear(8, 8), eps=0.5)
        return lambda h: conv(h, a) / 8
    return lambda h: ct.spmm(a, h, reduce=name)


PRODUCTS = ("mean", "max", "batched", "maxk", "gin")


@pytest.mark.parametrize("name", PRODUCTS)
def test_autocast(edges, name):
    """The gradient of a weight under autocast is near that without: bfloat16 has 8 bits."""
    y_of, lin, x = product(name, edges), torch.nn.Linear(8, 8), features(30, 8)
    with torch.autocast(edges.device.type, dtype=torch.bfloat16):
        h = lin(x)
        y = y_of(h)
        assert y.dtype == h.dtype == torch.bfloat16
        loss = y.float().square().mean()
    loss.backward()
    exact = lin(x)
    straight = h.detach().float() + (exact - exact.detach())  # the same numbers, so that the same ones are largest
    plain = torch.autograd.grad(y_of(straight).square().mean(), lin.weight)[0]
    torch.testing.assert_close(lin.weight.grad, plain, rtol=0.1, atol=0.02)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU")
@pytest.mark.parametrize("name", PRODUCTS)
def test_scaled_gradients_in_float16(device, edges, name):
    """GradScaler's loss is 2^16 times as large: unscaled, the gradient is that without a scale, and a step is taken; of
    a loss that overflows none is."""
    if device.type != "cuda":
        pytest.skip("GradScaler is for CUDA")
    y_of, lin, x = product(name, edges), torch.nn.Linear(8, 8), features(30, 8)
    optimizer, scaler = torch.optim.SGD(lin.parameters(), 0.1), torch.amp.GradScaler("cuda", init_scale=2.0**16)
    for factor in (1.0, 1e9):
        before = lin.weight.detach().clone()
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            y = y_of(lin(x))
            assert y.dtype == torch.float16
            loss = y.float().square().mean() * factor
        plain = torch.autograd.grad(loss, lin.weight, retain_graph=True)[0]
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if factor == 1:
            torch.testing.assert_close(lin.weight.grad, plain, rtol=0.02, atol=0.002)
        scaler.step(optimizer)
        scaler.update()
        assert torch.equal(lin.weight, before) == (factor > 1)
    assert scaler.get_scale() == 2.0**15


def test_matrices_are_one_matrix_whatever_they_come_from(device, digraph):
    graph, edge_index, columns = digraph
    x = features(40, 5)
    want = torch.zeros(40, 40, device="cpu")  # row: target, column: source
    place = tuple(torch.from_numpy(edge_index[::-1].copy()))
    want.index_put_(place, torch.from_numpy(columns["weight"]), accumulate=True)
    want = want.to(device)
    for source in (ct.matrix(graph).to(device), want.to_sparse_csr()):
        same(ct.spmm(source, x), want.double() @ x.double())
    same(ct.spmm(torch.from_numpy(edge_index).to(device), x, torch.from_numpy(columns["weight"]).to(device)),
         want.double() @ x.double())
    of_arcs = torch.from_numpy(graph.weight.copy()).to(device)  # weights in the order of the graph's arcs
    same(ct.spmm(ct.matrix(graph).to(device), x, of_arcs), want.double() @ x.double())


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint32"])
def test_edges_of_numpy_are_those_of_pytorch(digraph, dtype):
    _, edge_index, _ = digraph
    edges = edge_index.astype(dtype)
    edges.setflags(write=False)
    got, want = ct.matrix(edges), ct.matrix(torch.from_numpy(edge_index))
    assert got.shape == want.shape and torch.equal(got.dense(), want.dense()) and torch.equal(got.edge, want.edge)
    x = features(got.shape[1], 4)
    assert torch.equal(ct.GINConv(torch.nn.Identity())(x, edges), ct.GINConv(torch.nn.Identity())(x, want))
    with pytest.raises(csaw.CsawError, match=r"edge_index has shape \[3, 2\]"):
        ct.matrix(np.zeros((3, 2), dtype))


def test_graphs_and_blocks_are_matrices(digraph):
    graph, _, _ = digraph
    x = features(40, 5)
    same(ct.spmm(graph, x), torch.from_numpy(graph.to_scipy().toarray()).double().T @ x.double())
    assert ct.matrix(graph) is ct.matrix(graph), "made once"
    block = csaw.sample_neighbors(graph, [3, 9], [4]).blocks[0, 0]
    y = ct.spmm(block, x[torch.from_numpy(block.vertex.astype(np.int64))])
    out = np.zeros((block.num_dst, 5))
    np.add.at(out, block.row(), x.numpy()[block.vertex[block.col]])
    same(y, torch.from_numpy(out))


def test_a_matrix_that_is_not_prepared(edges):
    a = ct.matrix(edges, 30)
    anew = ct.Matrix(a.rowptr.clone(), a.col.clone(), edge=a.edge, prepare=False)
    assert a.prepared and not anew.prepared and not pickle.loads(pickle.dumps(anew)).prepared
    graphs, results = ct.GraphBatch(edges, torch.tensor([0, 30])), []
    for matrix in (a, anew):
        x, w = features(30, 8).requires_grad_(), features(150, 1)[:, 0].requires_grad_()
        y = everything(matrix, graphs, x, w)
        results.append([y.detach(), *torch.autograd.grad(y.square().sum(), [x, w])])
        normal, of_normal = ct.gcn_norm(matrix)
        assert normal.prepared == matrix.prepared
        results[-1].append(of_normal)
    for one, other in zip(*results):
        assert torch.equal(one, other)
    with pytest.raises(csaw.CsawError, match="7"):  # on a GPU nothing is checked of such a matrix
        ct.Matrix(torch.tensor([0, 2], device="cpu"), torch.tensor([0, 7], dtype=torch.int32, device="cpu"), num_cols=3,
                  prepare=False)


def test_a_matrix_prepared_for_gradients(edges, monkeypatch):
    module = sys.modules["csaw.torch._call"]
    real, asked = module.make_options, []

    def make_options(struct, **fields):
        options = real(struct, **fields)
        if struct is module.s.csaw_prepare_options:
            asked.append(options.means)
        return options

    monkeypatch.setattr(module, "make_options", make_options)
    a = ct.matrix(edges, 30)
    assert a.weight is None
    b = ct.Matrix(a.rowptr.clone(), a.col.clone(), None, 30, a.edge, means=True)
    assert b.means and pickle.loads(pickle.dumps(b)).means and not a.means
    assert asked == [False, True, True]
    gradients = []
    for matrix in (a, b):
        x = features(30, 8).requires_grad_()
        gradients += torch.autograd.grad(ct.spmm(matrix, x, reduce="mean").square().sum(), x)
    assert torch.equal(*gradients)
    with pytest.raises(csaw.CsawError, match="prepare=False"):
        ct.Matrix(a.rowptr, a.col, prepare=False, means=True)
    with pytest.raises(csaw.CsawError, match="weight is given"):
        ct.Matrix(a.rowptr, a.col, torch.ones(a.num_edges), means=True)


@pytest.mark.parametrize("tensors", (False, True))
@pytest.mark.parametrize("device", (None, "cpu"))
def test_layers_of_a_batch(device, tensors):
    """What the seeds get is what they get from the whole batch, and an inner layer has no more than it needs."""
    data = made_up(400, 3000, 6)
    given = in_tensors(data) if tensors else data
    convs = [ct.SAGEConv(6, 5), ct.SAGEConv(5, 4), ct.SAGEConv(4, 3)]
    nodes = None if device else np.concatenate([np.arange(400), np.arange(100) // 9])  # the last batches repeat seeds
    for batch in csaw.NeighborLoader(given, [4, 3, 2], nodes, batch_size=64, device=device):
        index, h = (torch.as_tensor(x) for x in (batch.edge_index, batch.x))
        whole, layers = h, ct.layers(batch)
        for conv, a in zip(convs, layers):
            h, whole = conv(h, a), conv(whole, index)
            same(h.detach(), whole[:a.shape[0]].detach())
        assert len(h) == batch.batch_size
        assert [a.num_edges for a in layers] == np.cumsum(batch.num_sampled_edges).tolist()[::-1]
        assert layers[0].shape[1] == len(batch.n_id)
    with pytest.raises(csaw.CsawError, match="num_sampled_nodes"):
        ct.layers(next(iter(csaw.NeighborLoader(given, [2], batch_size=64, subgraph_type="induced"))))


@pytest.mark.parametrize("device", (None, "cpu"))
def test_layers_have_the_weights_of_a_batch(device):
    data = in_tensors(made_up(400, 3000, 6))
    data.edge_weight = torch.arange(3000, dtype=torch.float32) / 7
    for batch in csaw.NeighborLoader(data, [4, 3, 2], batch_size=64, device=device):
        assert torch.equal(batch.edge_weight, data.edge_weight[batch.e_id])
        for a in ct.layers(batch, batch.edge_weight):
            sender, receiver = batch.edge_index[:, :a.num_edges]
            want = torch.zeros(a.shape[0], 6).index_add_(0, receiver, batch.edge_weight[:a.num_edges, None] *
                                                         batch.x[sender])
            same(ct.spmm(a, batch.x[:a.shape[1]]), want)
    with pytest.raises(csaw.CsawError, match="weight has shape"):
        ct.layers(batch, batch.edge_weight[1:])


def test_plans_go_with_their_matrix(edges):
    import gc

    from csaw.torch import _call

    gc.collect()
    before = len(_call._plans)
    a = ct.matrix(edges, 30)
    assert _call.plan_of(a.rowptr, a.col, 30) is not None and len(_call._plans) == before + 1
    x = features(30, 3).requires_grad_()
    y = ct.spmm(a, x)
    del a
    gc.collect()
    assert len(_call._plans) == before
    y.sum().backward()  # without its plan
    same(x.grad, torch.bincount(edges[0], minlength=30)[:, None].expand(30, 3))


def test_nothing_gives_zeros(device):
    """No edges, no receivers, no columns of x."""
    none = torch.empty(2, 0, dtype=torch.int64)
    a, x = ct.matrix(none, 3), features(3, 4).requires_grad_()
    values, index = ct.maxk(x, 2)
    for y in (ct.spmm(a, x), ct.spmm(a, x, reduce="max"), ct.es_spmm(a, x), ct.maxk_spmm(a, values, index, 4),
              ct.batched_spmm(ct.GraphBatch(none, torch.tensor([0, 2, 3])), x)):
        assert torch.equal(y, torch.zeros(3, 4))
        assert torch.equal(torch.autograd.grad(y.sum(), x, retain_graph=True)[0], torch.zeros(3, 4))
    assert ct.edge_softmax(a, ct.sddmm(a, x, x, 2)).shape == (0, 2)
    assert ct.spmm(none, x[:0]).shape == (0, 4) and ct.spmm(a, x[:, :0]).shape == (3, 0)
    assert ct.GATConv(4, 2)(x, a).shape == ct.GCNConv(4, 2)(x, a).shape == (3, 2)


def test_refused(edges):
    a, x = ct.matrix(edges, 30), features(30, 4)
    for call, text in [
        (lambda: ct.spmm(a, x.double()), "float64"),
        (lambda: ct.spmm(a, x[:20]), "20 rows"),
        (lambda: ct.spmm(a, x, reduce="prod"), "prod"),
        (lambda: ct.spmm(a, x, torch.ones(149)), "149 values"),
        (lambda: ct.spmm(a, x, "mean"), "weight is 'mean', a str; give a tensor"),
        (lambda: ct.spmm(a, x, heads=3), "heads"),
        (lambda: ct.spmm(edges, x[:20]), "outside"),
        (lambda: ct.spmm(edges.float(), x), "names no edges"),
        (lambda: ct.spmm("cora", x), "str names no edges"),
        (lambda: ct.Matrix(torch.tensor([0, 2]), torch.tensor([0, 7], dtype=torch.int32), num_cols=3), "7"),
        (lambda: ct.Matrix(torch.tensor([0, 2]), torch.tensor([0, 1]), num_cols=3), "int32"),
        (lambda: ct.maxk(x, 5), "k is 5"),
        (lambda: ct.maxk_spmm(a, *ct.maxk(x, 2), 300), "300 columns"),
        (lambda: ct.es_spmm(a, x, method="first"), "first"),
        (lambda: ct.sddmm(a, x, features(30, 5)), "30 x 5"),
        (lambda: ct.edge_softmax(a, torch.ones(149)), "[150, heads]"),
    ]:
        with pytest.raises((csaw.CsawError, RuntimeError)) as caught:
            call()
        assert text in str(caught.value), str(caught.value)


def test_batches_of_edges_in_any_layout(edges):
    """PyTorch warns where it has to copy what is not contiguous, once a process: as errors each time."""
    sorted_edges = edges[:, edges[1].argsort(stable=True)]
    turned = sorted_edges.t().contiguous().t()
    assert not turned[1].is_contiguous()
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = ct.GraphBatch(turned, torch.tensor([0, 30]))
    finally:
        torch.set_warn_always(before)
    want = ct.GraphBatch(sorted_edges, torch.tensor([0, 30]))
    assert torch.equal(got.row, want.row) and torch.equal(got.col, want.col)
