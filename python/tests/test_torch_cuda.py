# SPDX-License-Identifier: MIT
"""csaw.torch on a GPU: the CPU's bits, in the current stream, without waiting, again and again, in a CUDA graph."""
import numpy as np
import pytest

import csaw

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
from torch_cases import REDUCES, TOLERANCE, features  # noqa: E402

ct = csaw.torch
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU"),
    pytest.mark.skipif("cuda" not in csaw.version(), reason=f"the library is built without CUDA: {csaw.version()}")]

ROWS, EDGES = 700, 20000


@pytest.fixture(autouse=True)
def deterministic():
    """Else the gradient of MaxK aggregation adds by atomic additions."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="module")
def edge_index():
    """A multigraph with a hub that sends and receives, 3,000 edges each way, and rows that receive nothing."""
    rng = np.random.default_rng(11)
    pairs = rng.integers(0, ROWS - 5, (2, EDGES))
    pairs[0, :3000] = pairs[1, 3000:6000] = 3
    return torch.from_numpy(pairs)


def spmm(reduce, heads=1):
    return lambda a, g, x, w: ct.spmm(a, x, w[:, :heads].contiguous(), reduce, heads)


def attention(a, g, x, w):
    return ct.spmm(a, x, ct.edge_softmax(a, ct.sddmm(a, x, x, 2)), heads=2)


def sampled(method):
    return lambda a, g, x, w: ct.es_spmm(a, x, w[:, 0].contiguous(), 7, method, "mean", 5, 8)


def largest(reduce):
    return lambda a, g, x, w: ct.maxk_spmm(a, *ct.maxk(x, 9), x.shape[1], w[:, 0].contiguous(), reduce)


def dense_largest(a, g, x, w):
    return ct.maxk_dense(*ct.maxk(x, 9), x.shape[1])


def batched(reduce):  # with weights of the call, which need no new batch
    return lambda a, g, x, w: ct.batched_spmm(g, x, w[:, 0], reduce)


OPERATIONS = {f"spmm {reduce}": spmm(reduce) for reduce in REDUCES}
OPERATIONS |= {"spmm heads": spmm("sum", 2), "attention": attention, "maxk dense": dense_largest}
OPERATIONS |= {f"es_spmm {method}": sampled(method) for method in ("stratified", "bucket", "fastrand")}
OPERATIONS |= {f"maxk_spmm {reduce}": largest(reduce) for reduce in ("sum", "mean")}
OPERATIONS |= {f"batched {reduce}": batched(reduce) for reduce in REDUCES}


class Case:
    """An operation's inputs on a device, and its output and gradients."""

    def __init__(self, name, edge_index, device, dtype=torch.float32, prepare=True):
        self.operation = OPERATIONS[name]
        index = edge_index.to(device)
        self.x = features(ROWS, 32, dtype=dtype).to(device).requires_grad_()
        self.w = features(EDGES, 2, seed=3).to(device).requires_grad_()
        self.a = ct.matrix(index, ROWS)
        if not prepare:
            self.a = ct.Matrix(self.a.rowptr.clone(), self.a.col.clone(), edge=self.a.edge, prepare=False)
        self.graphs = ct.GraphBatch(index, torch.tensor([0, ROWS], device=device), self.w[:, 0])
        self.dy = features(ROWS, 32, seed=4, dtype=dtype).to(device)

    def run(self):
        y = self.operation(self.a, self.graphs, self.x, self.w)
        return [y.detach(), *(g for g in torch.autograd.grad(y, [self.x, self.w], self.dy, allow_unused=True)
                              if g is not None)]


def bits(tensors):
    return [x.cpu().contiguous().view(torch.uint8) for x in tensors]


def same_bits(got, want):
    assert len(got) == len(want) >= 2
    for one, exact in zip(bits(got), bits(want)):
        assert torch.equal(one, exact)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_bits_are_the_cpu_s(edge_index, name, dtype):
    same_bits(Case(name, edge_index, "cuda", dtype).run(), Case(name, edge_index, "cpu", dtype).run())


@pytest.mark.parametrize("prepare", (True, False))
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_bits_are_the_same_every_time(edge_index, name, prepare):
    first = Case(name, edge_index, "cuda").run()
    case = Case(name, edge_index, "cuda", prepare=prepare)
    for _ in range(5):
        same_bits(case.run(), first)


@pytest.mark.parametrize("name", ("maxk_spmm sum", "maxk_spmm mean"))
def test_sums_in_any_order_where_pytorch_allows_them(edge_index, name):
    """Near the CPU's sums: of 3,000 products of size 1 and random sign, whose partial sums stay below 1,000 and are
    rounded by 2^-24 of that, 3,000 times, by chance half of them up."""
    torch.use_deterministic_algorithms(False)
    for got, want in zip(Case(name, edge_index, "cuda").run(), Case(name, edge_index, "cpu").run()):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("prepare", (True, False))
@pytest.mark.parametrize("name", OPERATIONS)
def test_in_the_current_stream_and_without_waiting(edge_index, name, prepare):
    """x is written by the stream after a wait of the GPU: who reads it in another stream reads zeros, and who waits for
    the GPU finds the event passed."""
    case = Case(name, edge_index, "cuda", prepare=prepare)
    want, x = case.run(), case.x.detach().clone()
    with torch.no_grad():
        case.x.zero_()
    torch.cuda.synchronize()
    stream, passed = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(400_000_000)  # clock ticks, about 0.2 s
        with torch.no_grad():
            case.x.copy_(x)
        got = case.run()
        passed.record()
    waited = passed.query()
    torch.cuda.synchronize()
    assert not waited
    same_bits(got, want)


@pytest.mark.parametrize("prepare", (True, False))
@pytest.mark.parametrize("name", OPERATIONS)
def test_in_a_cuda_graph(edge_index, name, prepare):
    case = Case(name, edge_index, "cuda", prepare=prepare)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        case.run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = case.run()
    with torch.no_grad():
        case.x.copy_(-case.x)
    for _ in range(2):
        graph.replay()
    torch.cuda.synchronize()
    same_bits(got, case.run())


def test_backward_makes_no_transpose(edge_index):
    """The Matrix has one: no kernel of a step sorts. Gradients of edge-sampled products do, each of another matrix."""
    from torch.profiler import ProfilerActivity, profile

    sorts = {}
    for name in ("spmm sum", "spmm mean", "maxk_spmm sum", "maxk_spmm mean", "es_spmm stratified"):
        case = Case(name, edge_index, "cuda")
        case.run()
        with profile(activities=[ProfilerActivity.CUDA]) as record:
            case.run()
            torch.cuda.synchronize()
        sorts[name] = sum("RadixSort" in event.key for event in record.key_averages())
    assert sorts.pop("es_spmm stratified") > 0 and not any(sorts.values()), sorts


def test_a_matrix_of_one_step_is_made_without_waiting(edge_index):
    a = ct.matrix(edge_index.cuda(), ROWS)
    x, dy = features(ROWS, 32).cuda().requires_grad_(), features(ROWS, 32, seed=4).cuda()
    ct.spmm(a, x).backward(dy)  # kernels are loaded
    torch.cuda.synchronize()
    torch.cuda._sleep(4_000_000_000)  # clock ticks, about 2 s
    slept = torch.cuda.Event()
    slept.record()
    for _ in range(20):
        ct.spmm(ct.Matrix(a.rowptr, a.col.clone(), prepare=False), x).backward(dy)
    waited = slept.query()
    torch.cuda.synchronize()
    assert not waited


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="this machine has one GPU")
@pytest.mark.parametrize("name", OPERATIONS)
def test_on_another_gpu_than_the_current_one(edge_index, name):
    same_bits(Case(name, edge_index, "cuda:1").run(), Case(name, edge_index, "cuda:0").run())
    assert torch.cuda.current_device() == 0


def test_tensors_of_two_devices_are_refused(edge_index):
    here, there = Case("spmm sum", edge_index, "cpu"), Case("spmm sum", edge_index, "cuda")
    for a, x in ((here.a, there.x), (there.a, here.x)):
        with pytest.raises(csaw.CsawError, match="move them to one device"):
            ct.spmm(a, x)


@pytest.mark.parametrize("kind", ("GCNConv", "SAGEConv", "GINConv", "GATConv"))
@pytest.mark.parametrize("maxk", (None, 5))
def test_layers_train_to_the_same_bits(edge_index, kind, maxk):
    """Two trainings from one seed: nothing in a layer, its gradients or the matrix it makes adds in any order."""
    weights = []
    for _ in range(2):
        torch.manual_seed(4)
        a, x = ct.matrix(edge_index.cuda(), ROWS), features(ROWS, 12).cuda()
        inner = torch.nn.Linear(12, 8)
        layer = (ct.GINConv(inner, maxk=maxk) if kind == "GINConv" else getattr(ct, kind)(12, 8, maxk=maxk)).cuda()
        optimizer = torch.optim.SGD(layer.parameters(), 0.01)
        for _ in range(5):
            optimizer.zero_grad()
            layer(x, a).square().mean().backward()
            optimizer.step()
        weights.append([p.detach() for p in layer.parameters()])
    for one, other in zip(*weights):
        assert torch.equal(one, other)


def test_normalising_adds_in_one_order(edge_index):
    """Weights that are trained, in a graph with several loops at a vertex."""
    index = torch.cat([edge_index, torch.tensor([[7, 7, 9], [7, 7, 9]])], dim=1)
    weight = features(index.shape[1], 1, seed=6)[:, 0].abs() + 0.1
    results = []
    for place in ("cuda", "cuda", "cpu"):
        w = weight.to(place).requires_grad_()
        a, normal = ct.gcn_norm(ct.matrix(index.to(place), ROWS), w)
        results.append([x.cpu() for x in (a.col, normal.detach(), torch.autograd.grad(normal.square().sum(), w)[0])])
    for one, other, host in zip(*results):
        assert torch.equal(one, other)
        torch.testing.assert_close(one, host, rtol=1e-5, atol=1e-6)
