# SPDX-License-Identifier: MIT
"""NeighborLoader(device="cuda:N"): the CPU's batches bit for bit, in the current stream, and memory that is kept as
long as somebody uses it, and then used again."""
import gc

import numpy as np
import pytest

import csaw
from loader_cases import bits, in_tensors, made_up, same

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU"),
    pytest.mark.skipif("cuda" not in csaw.version(), reason=f"the library is built without CUDA: {csaw.version()}")]

OPTIONS = dict(num_neighbors=[5, 3], batch_size=64, shuffle=True, seed=9)
SLEEP = 40_000_000  # clock ticks of a GPU, about 20 ms


@pytest.fixture(scope="module")
def data():
    return in_tensors(made_up(3000, 60000, 37))


@pytest.fixture(scope="module")
def want(data):
    """Two epochs of the CPU."""
    loader = csaw.NeighborLoader(data, **OPTIONS)
    return [list(loader), list(loader)]


def lying(x, place):
    return {"gpu": x.cuda, "pinned": x.pin_memory}.get(place, x.clone)()


def with_x(data, x):
    return type(data)(**{**vars(data), "x": x})


@pytest.mark.parametrize("in_flight", [1, 2, 4])
@pytest.mark.parametrize("place, cache", [("gpu", None), ("host", None), ("pinned", None), ("host", 100_000),
                                          ("pinned", "1GiB")])
def test_the_batches_of_the_cpu(data, want, place, cache, in_flight):
    loader = csaw.NeighborLoader(with_x(data, lying(data.x, place)), device="cuda:0", in_flight=in_flight,
                                 cache_bytes=cache, **OPTIONS)
    for epoch in want:
        batches = list(loader)  # all are kept
        same(batches, epoch)
        for batch in batches:
            places = {str(batch[name].device) for name in ("n_id", "e_id", "edge_index", "x", "y", "edge_attr")}
            assert places == {"cuda:0"} and batch.input_id.device.type == "cpu"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64], ids=str)
@pytest.mark.parametrize("place", ["gpu", "host"])
def test_features_of_any_dtype(data, dtype, place):
    given = with_x(data, (100 * data.x).to(dtype))
    there = with_x(data, lying(given.x, place))
    same(list(csaw.NeighborLoader(there, device="cuda:0", **OPTIONS)), list(csaw.NeighborLoader(given, **OPTIONS)))


@pytest.mark.parametrize("options", [
    dict(replace=True),
    dict(weight_attr="edge_attr", num_neighbors=[4, -1, 2]),
    dict(drop_last=True, input_nodes=np.arange(0, 3000, 7)),
], ids=str)
def test_options(data, options):
    options = {**OPTIONS, **options}
    same(list(csaw.NeighborLoader(data, device="cuda:0", **options)), list(csaw.NeighborLoader(data, **options)))


def test_part_of_rows_and_vertices_without_edges(data):
    given = with_x(data, data.x[:, 2:20])
    given.edge_index = data.edge_index.clone()
    given.edge_index[1, given.edge_index[1] == 7] = 8  # 7 receives nothing
    for x in (given.x, data.x.cuda()[:, 2:20]):
        loader = csaw.NeighborLoader(with_x(given, x), device="cuda:0", **OPTIONS)
        assert loader._features is not None
        same(list(loader), list(csaw.NeighborLoader(given, **OPTIONS)))
        one, = csaw.NeighborLoader(with_x(given, x), [3, 2], torch.tensor([7]), device="cuda:0")
        assert one.n_id.tolist() == [7] and one.edge_index.shape == (2, 0) and one.e_id.device == one.x.device


@pytest.mark.parametrize("place", ["gpu", "pinned"])
@pytest.mark.parametrize("own", [False, True])
def test_the_current_stream_is_waited_for(data, want, place, own):
    """What is done with a batch stands in the stream behind a wait, when the batch's memory has long been let go: were
    it used for another batch, the copy would be of that one."""
    loader = csaw.NeighborLoader(with_x(data, lying(data.x, place)), device="cuda:0", in_flight=2, **OPTIONS)
    stream, copies = torch.cuda.Stream() if own else torch.cuda.current_stream(), []
    with torch.cuda.stream(stream):
        batches = iter(loader)
        while True:
            batch = next(batches, None)
            if batch is None:
                break
            torch.cuda._sleep(SLEEP)
            copies.append((batch.x.clone(), batch.n_id.clone(), batch.edge_index.clone()))
            del batch
    torch.cuda.synchronize()
    assert len(copies) == len(want[0])
    for copied, batch in zip(copies, want[0]):
        for one, other in zip(copied, (batch.x, batch.n_id, batch.edge_index)):
            np.testing.assert_array_equal(bits(one), bits(other))


def test_features_that_are_still_being_written(data, want):
    x = torch.zeros_like(data.x, device="cuda")
    loader = csaw.NeighborLoader(with_x(data, x), device="cuda:0", **OPTIONS)
    stream, there = torch.cuda.Stream(), data.x.cuda()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10 * SLEEP)
        x.copy_(there)
        batches = list(loader)
    torch.cuda.synchronize()
    same(batches, want[0])


def test_another_stream_is_refused(data):
    batches = iter(csaw.NeighborLoader(data, device="cuda:0", **OPTIONS))
    next(batches)
    with torch.cuda.stream(torch.cuda.Stream()), pytest.raises(csaw.CsawError, match="iterate in one stream"):
        next(batches)


def test_gradients_of_batches_that_are_gone(data, want):
    """A product keeps what its gradient needs: the batch's x, and so its memory."""
    loader = csaw.NeighborLoader(data, device="cuda:0", **OPTIONS)
    weight, losses = torch.ones(37, 5, device="cuda", requires_grad=True), []
    for batch in loader:
        losses.append((batch.x @ weight).sum())
        del batch
    gc.collect()
    torch.stack(losses).sum().backward()
    exact = sum(batch.x.double().sum(0) for batch in want[0])
    torch.testing.assert_close(weight.grad.cpu().double(), exact[:, None].expand(37, 5), rtol=1e-4, atol=0)


def test_iterations_that_end_early(data, want):
    loader = csaw.NeighborLoader(data, device="cuda:0", **OPTIONS)
    for number, batch in enumerate(loader):
        if number == 3:
            break
    same([batch], [want[0][3]])
    loader.set_epoch(0)
    same(list(loader), want[0])
    same([batch], [want[0][3]])
    del loader
    same([batch], [want[0][3]])


@pytest.mark.parametrize("place, kept", [("gpu", True), ("pinned", True), ("host", False)])
def test_a_loader_is_kept_from_epoch_to_epoch(data, want, place, kept, monkeypatch):
    """But one that has locked pages of x, which CUDA would not copy together with others between epochs."""
    from csaw import _ahead

    opened, function = [], _ahead.lib.csaw_loader_open
    monkeypatch.setattr(_ahead.lib, "csaw_loader_open", lambda *given: opened.append(1) or function(*given))
    loader = csaw.NeighborLoader(with_x(data, lying(data.x, place)), device="cuda:0", **OPTIONS)
    for epoch in want:
        same(list(loader), epoch)
        assert torch.equal(loader.data.attributes["x"].cuda().cpu(), data.x)
    assert len(opened) == (1 if kept else 2)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # another one is opened for it
        loader.set_epoch(0)
        same(list(loader), want[0])
    torch.cuda.synchronize()


def test_layers_of_a_batch(data):
    """GraphSAGE layer by layer has the seeds' outputs of the whole batch, without waiting; and on the CPU."""
    convs = [csaw.torch.SAGEConv(37, 8).cuda(), csaw.torch.SAGEConv(8, 4).cuda()]
    for batch in csaw.NeighborLoader(data, device="cuda:0", **OPTIONS):
        h, whole = batch.x, batch.x
        for conv, a in zip(convs, csaw.torch.layers(batch)):
            h, whole = conv(h, a), conv(whole, batch.edge_index)
        torch.testing.assert_close(h, whole[:batch.batch_size], rtol=1e-4, atol=1e-5)
        on_host = csaw.torch.layers(batch.to("cpu"))
        for a, b in zip(csaw.torch.layers(batch), on_host):
            assert a.shape == b.shape and torch.equal(a.rowptr.cpu(), b.rowptr) and torch.equal(a.col.cpu(), b.col)


@pytest.mark.parametrize("place", ["gpu", "host"])
def test_device_arrays_without_tensors(data, want, place):
    """x of NumPy, or of another library by the CUDA array interface; batches by both protocols."""
    x = data.x.numpy()
    if place == "gpu":
        there = data.x.cuda()
        torch.cuda.synchronize()
        x = csaw.DeviceArray(there.data_ptr(), (3000, 37), (37, 1), "float32", there)
    given = dict(edge_index=data.edge_index.numpy(), num_nodes=3000, x=x)
    batches = list(csaw.NeighborLoader(given, device="cuda:0", **OPTIONS))
    assert len(batches) == len(want[0])
    for batch, exact in zip(batches, want[0]):
        assert isinstance(batch.x, csaw.DeviceArray) and isinstance(batch.n_id, csaw.DeviceArray)
        for taken in (torch.from_dlpack(batch.x), torch.as_tensor(batch.x, device="cuda")):
            assert taken.data_ptr() == batch.x.pointer and torch.equal(taken.cpu(), exact.x)
        assert torch.equal(torch.from_dlpack(batch.n_id.view("int32")).cpu().long(), exact.n_id)
        assert np.array_equal(batch.input_id, exact.input_id)


def test_blocks_are_matrices(data):
    batch = next(iter(csaw.NeighborLoader(data, device="cuda:0", **OPTIONS)))
    here = next(iter(csaw.NeighborLoader(data, device="cpu", **OPTIONS)))
    for hop in range(2):
        a, b = (csaw.torch.matrix(of.blocks[0, hop]) for of in (batch, here))
        assert a.device.type == "cuda" and a.shape == b.shape
        assert torch.equal(a.row().cpu(), b.row()) and torch.equal(a.col.cpu(), b.col)
        there, exact = (csaw.torch.spmm(m, of.x[:m.shape[1]], reduce="mean") for m, of in ((a, batch), (b, here)))
        assert torch.equal(there.cpu(), exact)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="this machine has one GPU")
def test_on_another_gpu_than_the_current_one(data, want):
    batches = list(csaw.NeighborLoader(data, device="cuda:1", **OPTIONS))
    same(batches, want[0])
    assert {str(batch.x.device) for batch in batches} == {"cuda:1"} and torch.cuda.current_device() == 0


def test_what_the_library_refuses(data):
    with pytest.raises(csaw.CsawError, match="cache_bytes"):
        list(csaw.NeighborLoader(with_x(data, data.x.cuda()), device="cuda:0", cache_bytes=100, **OPTIONS))
    with pytest.raises(csaw.CsawError):
        csaw.NeighborLoader(data, device="cuda:99", **OPTIONS)


@pytest.mark.parametrize("rows", [0, 300, 3000])
def test_rows_that_came_from_the_cache_are_told(data, rows):
    """The cache has the vertices that most arcs lead to in the graph that is sampled: the most frequent senders, of
    equals the lower number."""
    loader = csaw.NeighborLoader(with_x(data, data.x.pin_memory()), device="cuda:0",
                                 cache_bytes=rows * data.x.shape[1] * 4 or None, **OPTIONS)
    sent = np.bincount(data.edge_index[0].numpy(), minlength=3000)
    hot = np.argsort(-sent, kind="stable")[:rows]
    told = [(batch.num_cached, np.isin(batch.n_id.cpu().numpy(), hot).sum()) for batch in loader]
    assert told and all(cached == wanted for cached, wanted in told)


def test_seeds_on_the_gpu_are_copied(data):
    nodes = torch.arange(0, 3000, 7)
    options = {**OPTIONS, "input_nodes": nodes}
    want = list(csaw.NeighborLoader(data, **options))
    for device in (None, "cuda:0"):
        same(list(csaw.NeighborLoader(data, device=device, **{**options, "input_nodes": nodes.cuda()})), want)
    mask = torch.zeros(3000, dtype=torch.bool, device="cuda")
    mask[::7] = True
    same(list(csaw.NeighborLoader(data, **{**options, "input_nodes": mask})), want)
    graph = csaw.Graph.from_edge_index(data.edge_index, 3000)
    np.testing.assert_array_equal(csaw.random_walk(graph, nodes.cuda(), 4), csaw.random_walk(graph, nodes, 4))
    batch = next(iter(csaw.NeighborLoader(dict(edge_index=data.edge_index.numpy()), [3], device="cuda:0", batch_size=64)))
    np.testing.assert_array_equal(csaw.random_walk(graph, batch.n_id, 4),
                                  csaw.random_walk(graph, torch.from_dlpack(batch.n_id).cpu().numpy(), 4))


def test_negatives_are_the_cpu_s(karate):
    seeds = torch.arange(34, device="cuda")
    there = csaw.negatives(karate, seeds, 4, power=0.75, seed=3, device="cuda:0")
    drawn = torch.from_dlpack(there.view("int32"))
    del there
    assert drawn.is_cuda
    np.testing.assert_array_equal(drawn.cpu().numpy(), csaw.negatives(karate, np.arange(34), 4, power=0.75, seed=3))
    kept = drawn.clone()
    for seed in range(4, 40):  # memory that is still in use is not handed out again
        csaw.negatives(karate, seeds, 4, seed=seed, device="cuda:0")
    assert torch.equal(drawn, kept)
