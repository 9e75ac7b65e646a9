# SPDX-License-Identifier: MIT
"""csaw.torch's functions and their gradients against dense float64 references, on the CPU and on a GPU."""
import numpy as np
import pytest

import csaw

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
from torch_cases import REDUCES, TOLERANCE, check_gradients, dense_reduce, features, same  # noqa: E402

ct = csaw.torch


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("reduce", REDUCES)
def test_spmm(edges, reduce, dtype):
    a, weight = ct.matrix(edges, 30), features(150, 1)[:, 0]
    check_gradients(lambda x, w: ct.spmm(a, x, w, reduce), lambda x, w: dense_reduce(edges, x, w[:, None], reduce, 30),
                    [features(30, 7, dtype=dtype), weight], dtype)
    same(ct.spmm(edges, features(30, 7, dtype=dtype), reduce=reduce),
         dense_reduce(edges, features(30, 7, dtype=dtype), torch.ones(150, 1), reduce, 30), dtype)


@pytest.mark.parametrize("reduce", REDUCES)
def test_spmm_with_heads(edges, reduce):
    a, weight = ct.matrix(edges, 30), features(150, 3)
    check_gradients(lambda x, w: ct.spmm(a, x, w, reduce, heads=3),
                    lambda x, w: dense_reduce(edges, x, w.repeat_interleave(2, 1), reduce, 30),
                    [features(30, 6), weight])
    one = ct.spmm(a, features(30, 6), weight[:, 0], heads=3)
    assert torch.equal(one, ct.spmm(a, features(30, 6), weight[:, 0]))


def test_views_and_strides(edges):
    a, x = ct.matrix(edges, 30), features(30, 12)
    for part in (x[:, 2:9], x[:, ::2], features(7, 30).T):
        assert torch.equal(ct.spmm(a, part), ct.spmm(a, part.contiguous()))
    y = ct.spmm(a, x[:, 2:9].requires_grad_())
    assert torch.autograd.grad(y.sum(), [y])[0].shape == (30, 7)


OF_FLOATS = dict(eps=0.05, atol=1e-3, rtol=1e-3, nondet_tol=0.0)  # linear or piecewise linear: a large step tells


@pytest.mark.filterwarnings("ignore:Input .* requires gradient and is not a double")
def test_gradcheck(edges):
    a, x, w = ct.matrix(edges, 30), features(30, 2).requires_grad_(), features(150, 1)[:, 0].requires_grad_()
    for reduce in ("sum", "mean"):
        assert torch.autograd.gradcheck(lambda x, w: ct.spmm(a, x, w, reduce), (x, w), **OF_FLOATS)
    heads = features(150, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: ct.spmm(a, x, w, heads=2), (x, heads), **OF_FLOATS)
    assert torch.autograd.gradcheck(lambda x, w: ct.es_spmm(a, x, w, 3, epoch=2), (x, w), **OF_FLOATS)
    assert torch.autograd.gradcheck(lambda x, y: ct.sddmm(a, x, y), (x, features(30, 2, 3).requires_grad_()),
                                    **OF_FLOATS)
    spread = torch.stack([torch.randperm(6) for _ in range(30)]).float().requires_grad_()  # no step swaps two
    assert torch.autograd.gradcheck(lambda x: ct.maxk_spmm(a, *ct.maxk(x, 2), 6), (spread,), **OF_FLOATS)


@pytest.mark.filterwarnings("ignore:Input .* requires gradient and is not a double")
@pytest.mark.parametrize("reduce", ("max", "min"))
def test_gradcheck_where_a_step_changes_no_winner(edges, reduce):
    """Products of whole numbers, different ones in a column, that differ by 1 and change by at most 30 * 0.05 / 8 in a
    step."""
    a, weight = ct.matrix(edges, 30), torch.ones(150)
    x = torch.stack([torch.randperm(30) for _ in range(2)], dim=1).float().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: ct.spmm(a, x, weight, reduce), (x,), **OF_FLOATS)
    w = (1 + torch.arange(150) / 8192).requires_grad_()
    step = {**OF_FLOATS, "eps": 2**-16}  # below half the difference of two parallel edges' products
    far = (2.0**torch.arange(30) % 127 + 1)[:, None]
    assert torch.autograd.gradcheck(lambda w: ct.spmm(a, far, w, reduce), (w,), **{**step, "atol": 2e-2, "rtol": 2e-2})


@pytest.mark.filterwarnings("ignore:Input .* requires gradient and is not a double")
def test_gradcheck_of_softmax(edges):
    """Smooth, so the step is small: its error is eps^2 / 6 = 1e-4 of a third derivative below 1, and the rounding of
    outputs below 1, 2^-24 / eps = 2e-6."""
    a = ct.matrix(edges, 30)
    for heads in (1, 2):
        score = features(150, heads).requires_grad_()
        assert torch.autograd.gradcheck(lambda score: ct.edge_softmax(a, score), (score,), eps=0.025, atol=5e-4,
                                        rtol=1e-3, nondet_tol=0.0)


def test_gradcheck_sees_a_wrong_gradient(edges):
    """Of a product whose gradient is another one's."""
    a, x = ct.matrix(edges, 30), features(30, 2).requires_grad_()

    class Wrong(torch.autograd.Function):

        @staticmethod
        def forward(ctx, x):
            return ct.spmm(a, x)

        @staticmethod
        def backward(ctx, dy):
            return ct.spmm(a, dy)  # not by the transpose

    with pytest.warns(UserWarning, match="double precision"), pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (x,), **OF_FLOATS)


@pytest.mark.parametrize("reduce", ("sum", "mean", "max"))
def test_gradcheck_of_batches(reduce):
    """Graphs of 4, 1 and 3 vertices, all pairs of each, as above. Products of a row and column differ by 2 at least, and
    a step moves one of them by 0.05 * 16 at most, so that none wins in another's place."""
    ptr = torch.tensor([0, 4, 5, 8])
    pairs = [(j, i) for lo, hi in zip(ptr[:-1], ptr[1:]) for i in range(lo, hi) for j in range(lo, hi)]
    graphs = ct.GraphBatch(torch.tensor(pairs).T, ptr)
    of_column = [torch.cat([4.0 * (1 + torch.randperm(int(hi - lo))) for lo, hi in zip(ptr[:-1], ptr[1:])])
                 for _ in range(3)]
    x = torch.stack(of_column, dim=1).requires_grad_()
    weight = (1 + 0.1 * torch.rand(len(pairs))).requires_grad_()
    with pytest.warns(UserWarning, match="double precision"):
        assert torch.autograd.gradcheck(lambda x, w: ct.batched_spmm(graphs, x, w, reduce), (x, weight), eps=0.05,
                                        atol=1e-3, rtol=1e-3, nondet_tol=0.0)


def sampled(a, width, method, reduce, seed, epoch):
    """The sampled matrix of csaw_edge_sample(), (edge, row, factor) of each entry, as the C interface gives it on the
    host."""
    import ctypes

    from csaw import _structs as s
    from csaw._lib import check, lib, options
    from csaw.torch._call import sparse
    from csaw.torch._spmm import METHODS

    given = options(s.csaw_es_options,
                    width=width,
                    method=METHODS[method],
                    reduce=("sum", "mean").index(reduce),
                    seed=seed,
                    epoch=epoch)
    place, a = a.device, a.to("cpu")
    matrix = sparse(a.rowptr, a.col, None, a.shape[1])
    rowptr = np.zeros(a.shape[0] + 1, np.uint64)
    check(lib.csaw_edge_sample(matrix, ctypes.byref(given), rowptr.ctypes.data, None, None))
    edge, factor = np.zeros(int(rowptr[-1]), np.uint64), np.zeros(int(rowptr[-1]), np.float32)
    check(lib.csaw_edge_sample(matrix, ctypes.byref(given), rowptr.ctypes.data, edge.ctypes.data, factor.ctypes.data))
    row = np.repeat(np.arange(a.shape[0]), np.diff(rowptr.astype(np.int64)))
    return [torch.from_numpy(out).to(place) for out in (edge.astype(np.int64), row, factor)]


@pytest.mark.parametrize("method", ("stratified", "bucket", "fastrand"))
@pytest.mark.parametrize("reduce", ("sum", "mean"))
def test_es_spmm(edges, method, reduce):
    a = ct.matrix(edges, 30)
    edge, row, factor = sampled(a, 3, method, reduce, 5, 8)
    assert len(edge) < 150

    def reference(x, w):
        products = (w[a.edge[edge]] * factor)[:, None] * x[a.col.long()[edge]]
        return torch.zeros(30, 4, dtype=x.dtype).index_add(0, row, products)

    check_gradients(lambda x, w: ct.es_spmm(a, x, w, 3, method, reduce, 5, 8), reference,
                    [features(30, 4), features(150, 1)[:, 0]])


@pytest.mark.parametrize("method", ("bucket", "fastrand"))
@pytest.mark.parametrize("reduce", ("sum", "mean"))
@pytest.mark.parametrize("weighted", (False, True))
def test_es_spmm_keeps_the_transpose_of_its_entries(edges, method, reduce, weighted):
    """Of a Matrix they are sorted once, and the gradients have the bits of a call that sorts."""
    from csaw.torch import _call, _spmm

    a, x, dy = ct.matrix(edges, 30), features(30, 40), features(30, 40, 3)
    weight = features(150, 1)[:, 0] if weighted else None
    given = (3, method, reduce, 0, 0, True, weighted)
    anew = torch.ops.csaw.es_spmm_backward(a.rowptr.clone(), a.col.clone(), weight, x, dy, *given)
    made = []
    for scale in (1, 2, 1):  # weights that are trained: the entries stay
        got = torch.ops.csaw.es_spmm_backward(a.rowptr, a.col, weight * scale if weighted else None, x, dy, *given)
        made.append([kept for kept in _spmm._sampled[_call.plan_of(a.rowptr, a.col, 30)].values()])
    assert all(torch.equal(g, w) for g, w in zip(got, anew))
    assert len(made[0]) == 1 and all(kept[0] is made[0][0] for kept in made)
    before = len(_spmm._sampled)
    del a, made
    assert len(_spmm._sampled) == before - 1


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_batched_spmm(device, reduce, dtype):
    ptr = torch.tensor([0, 4, 4, 5, 11])
    rng = np.random.default_rng(6)
    parts = [rng.integers(lo, hi, (2, m)) for lo, hi, m in ((0, 4, 9), (4, 5, 2), (5, 11, 14))]
    edge_index = torch.from_numpy(np.concatenate(parts, axis=1)).to(device)
    graphs, weight = ct.GraphBatch(edge_index, ptr), features(25, 1)[:, 0]
    check_gradients(lambda x, w: ct.batched_spmm(graphs, x, w, reduce),
                    lambda x, w: dense_reduce(edge_index, x, w[:, None], reduce, 11),
                    [features(11, 5, dtype=dtype), weight], dtype)
    kept = ct.GraphBatch(edge_index, ptr, weight)
    x = features(11, 5, dtype=dtype)
    assert torch.equal(ct.batched_spmm(kept, x, reduce=reduce), ct.batched_spmm(graphs, x, weight, reduce))
    from csaw.torch import _batched

    before = len(_batched._joined)  # the batch is made once, whatever weights it is given
    held = [ct.batched_spmm(graphs, x.requires_grad_(), weight * k, reduce) for k in range(3)]
    assert len(_batched._joined) == before == 2 and len(held) == 3
    with pytest.raises(csaw.CsawError, match="has 25 edges"):
        ct.batched_spmm(graphs, x, weight[:24])
    with pytest.raises(csaw.CsawError, match="there are 25 edges"):
        ct.GraphBatch(edge_index, ptr, weight[:24])
    with pytest.raises(csaw.CsawError, match="graph after graph"):
        ct.GraphBatch(edge_index.flip(1), ptr)


def dense_maxk(x, k):
    order = torch.argsort(x, dim=1, descending=True, stable=True)[:, :k]
    return torch.zeros_like(x).scatter(1, order, x.gather(1, order))


@pytest.mark.parametrize("cols", (12, 300))
@pytest.mark.parametrize("reduce", ("sum", "mean"))
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_maxk(edges, cols, reduce, dtype):
    a, x, weight = ct.matrix(edges, 30), features(30, cols, dtype=dtype), features(150, 1)[:, 0]
    values, index = ct.maxk(x, 4)
    assert index.dtype == (torch.uint8 if cols == 12 else torch.int16) and values.shape == index.shape == (30, 4)
    assert torch.equal(ct.maxk_dense(values, index, cols), dense_maxk(x, 4))
    check_gradients(lambda x: ct.maxk_dense(*ct.maxk(x, 4), cols), lambda x: dense_maxk(x, 4), [x], dtype)
    check_gradients(lambda x, w: ct.maxk_spmm(a, *ct.maxk(x, 4), cols, w, reduce),
                    lambda x, w: dense_reduce(edges, dense_maxk(x, 4), w[:, None], reduce, 30), [x, weight], dtype)


@pytest.mark.parametrize("heads", (1, 2))
def test_sddmm_and_softmax(edges, heads):
    a = ct.matrix(edges, 30)
    row, col = a.row(), a.col.long()

    def dots(x, y):
        return (x[row] * y[col]).reshape(150, heads, -1).sum(-1)

    check_gradients(lambda x, y: ct.sddmm(a, x, y, heads), dots, [features(30, 8), features(30, 8, 2)])

    def softmax(score):
        exp = score.exp()
        return exp / torch.zeros(30, heads, dtype=exp.dtype).index_add(0, row, exp)[row]

    check_gradients(lambda score: ct.edge_softmax(a, score), softmax, [features(150, heads)])
    assert torch.equal(ct.edge_softmax(a, features(150, 1)[:, 0]), ct.edge_softmax(a, features(150, 1))[:, 0])


def test_sddmm_in_half_precision(edges):
    a, x, y = ct.matrix(edges, 30), features(30, 8, dtype=torch.float16), features(30, 8, 2, torch.float32)
    x.requires_grad_(), y.requires_grad_()
    out = ct.sddmm(a, x, y)
    assert out.dtype == torch.float32
    gx, gy = torch.autograd.grad(out.sum(), [x, y])
    assert gx.dtype == torch.float16 and gy.dtype == torch.float32
    want = torch.zeros(30, 8).index_add(0, a.row(), y.detach()[a.col.long()])
    same(gx, want, torch.float16)


def test_values_in_the_order_of_a_matrix_and_back():
    a = ct.matrix(torch.tensor([[0, 1, 2, 0], [2, 0, 2, 1]]), 3)
    values = torch.arange(4.0, requires_grad=True)
    torch.testing.assert_close(a.in_order(values), values[a.edge])
    (gradient,) = torch.autograd.grad(a.in_order(values), values, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    torch.testing.assert_close(gradient[a.edge], torch.tensor([1.0, 2.0, 3.0, 4.0]))
    twice = ct.Matrix(a.rowptr, a.col, edge=torch.tensor([0, 1, 1, 2]), num_cols=3)
    with pytest.raises(csaw.CsawError, match="twice"):
        twice.in_order(values)
