# SPDX-License-Identifier: MIT
"""NeighborLoader(device=...): batches made ahead by the library have the bits of those drawn here, and their memory is
somebody's as long as it is used. Those of a GPU are read through a stand-in: memory of the host that is handed out as
a GPU's is. On a GPU: test_loader_cuda.py."""
import copy
import gc
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import csaw
from csaw import _ahead, _arrays, _data, samples
from csaw._drawing import Drawer
from loader_cases import in_tensors, made_up, same

@pytest.fixture
def data():
    return made_up()


@pytest.mark.parametrize("options", [
    dict(),
    dict(in_flight=1, drop_last=True),
    dict(in_flight=5, shuffle=True, seed=2**64 - 3, threads=1),
    dict(replace=True, shuffle=True),
    dict(num_neighbors=[4, -1, 2], weight_attr="edge_attr"),
    dict(input_nodes=np.arange(0, 60, 3)),
], ids=str)
@pytest.mark.parametrize("tensors", [False, True])
def test_the_batches_of_the_other_loader(data, options, tensors):
    given = in_tensors(data) if tensors else data
    options = {"num_neighbors": [3, 2], "batch_size": 7, **options}
    ahead = csaw.NeighborLoader(given, device="cpu", **options)
    options.pop("in_flight", None)
    plain = csaw.NeighborLoader(given, **options)
    for _ in range(3):
        same(list(ahead), list(plain))
    ahead.set_epoch(1), plain.set_epoch(1)
    same(list(pickle.loads(pickle.dumps(ahead))), list(plain))


@pytest.mark.parametrize("form", ["float16", "float64", "part of rows", "turned", "a column", "none"])
def test_features_of_any_form(data, form):
    x = data.x.astype(form) if form.startswith("float") else data.x
    data.x = {"part of rows": x[:, :2], "turned": np.asfortranarray(x), "a column": x[:, 0],
              "none": np.zeros((60, 0), np.float32)}.get(form, x)
    loader = csaw.NeighborLoader(data, [3, 2], batch_size=20, device="cpu")
    assert (loader._features is not None) == (form in ("float16", "part of rows"))
    same(list(loader), list(csaw.NeighborLoader(data, [3, 2], batch_size=20)))


def test_bfloat16(data):
    given = in_tensors(data)
    given.x = given.x.bfloat16()
    batches = list(csaw.NeighborLoader(given, [3, 2], batch_size=20, device="cpu"))
    for batch in batches:
        assert batch.x.dtype == given.x.dtype and batch.x.equal(given.x[batch.n_id])


def test_rows_that_came_from_the_cache_are_told(data, monkeypatch):
    """On the CPU there is no cache; a stand-in says how many rows one gave. On a GPU: test_loader_cuda.py."""
    assert [batch.num_cached for batch in csaw.NeighborLoader(data, [3, 2], batch_size=20, device="cpu")] == [0, 0, 0]
    of_view = _ahead.Ahead._give

    def give(self, view):
        view.cached = 5 + view.number
        return of_view(self, view)

    monkeypatch.setattr(_ahead.Ahead, "_give", give)
    assert [batch.num_cached for batch in csaw.NeighborLoader(data, [3, 2], batch_size=20, device="cpu")] == [5, 6, 7]
    data.x = data.x.astype(np.float64)  # not gathered by the library
    assert "num_cached" not in next(iter(csaw.NeighborLoader(data, [3, 2], batch_size=20, device="cpu")))


def test_blocks_are_the_hops(data):
    for batch in csaw.NeighborLoader(data, [3, 2], batch_size=20, device="cpu"):
        layers = [batch.blocks[0, d] for d in range(2)]
        np.testing.assert_array_equal(np.concatenate([layer.col for layer in layers]), batch.edge_index[0])
        np.testing.assert_array_equal(np.concatenate([layer.row() for layer in layers]), batch.edge_index[1])


def test_without_edges_or_seeds(data):
    empty = dict(edge_index=np.zeros((2, 0), np.int64), num_nodes=4)
    loader = csaw.NeighborLoader(empty, [2], batch_size=3, device="cpu")
    assert [batch.n_id.tolist() for batch in loader] == [[0, 1, 2], [3]]
    assert list(csaw.NeighborLoader(data, [2], np.zeros(0, np.int64), device="cpu")) == []


# ---- whose memory it is


@pytest.fixture
def counted(monkeypatch):
    """How many batches were taken from loaders and given back."""
    count = dict(csaw_loader_take=0, csaw_minibatch_free=0, csaw_loader_close=0)

    def watch(name):
        function = getattr(_ahead.lib, name)

        def counting(*arguments):
            count[name] += 1
            return function(*arguments)

        monkeypatch.setattr(_ahead.lib, name, counting)

    for name in count:
        watch(name)
    return lambda: tuple(count.values())


def test_a_copy_has_a_loader_of_its_own(data):
    """The first keeps its own between epochs, and the plan that it was opened for."""
    train = csaw.NeighborLoader(data, [3, 2], batch_size=7, device="cpu")
    want = [np.array(batch.n_id) for batch in train]
    other = copy.copy(train)
    other.set_epoch(0)
    for one, same in zip(want, other):
        assert np.array_equal(one, np.array(same.n_id))
    assert len(list(train)) == len(want)


def test_what_is_kept_stays_and_is_given_back(data, counted):
    want = [batch.x for batch in csaw.NeighborLoader(data, [3, 2], batch_size=7)]
    kept = [batch.x for batch in csaw.NeighborLoader(data, [3, 2], batch_size=7, in_flight=1, device="cpu")]
    assert counted() == (9, 0, 1)
    for one, other in zip(kept, want):
        np.testing.assert_array_equal(one, other)
        assert one.flags.writeable
    part = kept[3][:, 1:]
    del kept, one
    gc.collect()
    assert counted() == (9, 8, 1), "a view of a batch keeps it"
    np.testing.assert_array_equal(part, want[3][:, 1:])
    del part
    gc.collect()
    assert counted() == (9, 9, 1)


def test_what_nobody_keeps_is_not_taken(data, counted):
    batches = iter(csaw.NeighborLoader(data, [3, 2], batch_size=7, device="cpu"))
    while next(batches, None) is not None:
        pass
    assert counted() == (0, 0, 1)


def test_an_iteration_may_end_early(data, counted):
    loader, plain = (csaw.NeighborLoader(data, [3, 2], batch_size=7, device=d) for d in ("cpu", None))
    for batch in loader:
        break
    assert counted() == (1, 0, 1)
    same([batch], [next(iter(plain))])
    same(list(loader), list(plain))


def test_an_exception_thrown_into_an_iteration(data, counted):
    iteration = iter(csaw.NeighborLoader(data, [3, 2], batch_size=7, device="cpu"))
    batch = next(iteration)
    kept = np.array(batch.x)
    with pytest.raises(ValueError):
        iteration.throw(ValueError("of the caller"))
    assert counted() == (1, 0, 1)  # taken and closed: its memory is there
    assert np.array_equal(kept, np.array(batch.x))


def test_gradients_reach_x():
    torch = pytest.importorskip("torch")
    data = in_tensors(made_up())
    data.x.requires_grad_()
    batch = next(iter(csaw.NeighborLoader(data, [3, 2], batch_size=7, device="cpu")))
    batch.x.sum().backward()
    want = torch.zeros(data.num_nodes).index_add_(0, batch.n_id, torch.ones(len(batch.n_id)))
    assert torch.equal(data.x.grad, want[:, None].expand_as(data.x))


def test_x_keeps_its_type():
    data = in_tensors(made_up())
    data.x = data.x.numpy()
    ahead, plain = (next(iter(csaw.NeighborLoader(data, [3, 2], batch_size=7, device=d))) for d in ("cpu", None))
    same([ahead], [plain])


def test_one_iteration_at_a_time(data):
    loader = csaw.NeighborLoader(data, [3, 2], batch_size=7, device="cpu")
    first = iter(loader)
    next(first)
    with pytest.raises(csaw.CsawError, match="loader"):
        next(iter(loader))
    del first
    assert len(list(loader)) == 9


def test_an_error_ends_the_iteration(data, counted):
    def fail(batch):
        raise ValueError("of the transform")

    loader = csaw.NeighborLoader(data, [3, 2], transform=fail, device="cpu")
    with pytest.raises(ValueError, match="of the transform"):
        list(loader)
    assert counted()[2] == 1


@pytest.mark.parametrize("words, options", [
    ("device is 'gpu'", dict(device="gpu")),
    ("device is 'cuda,cpu'", dict(device="cuda,cpu")),
    ("subgraph_type='induced'", dict(device="cpu", subgraph_type="induced")),
    ("leave out num_workers, pin_memory, which are", dict(device="cpu", num_workers=2, pin_memory=True)),
    ("leave out prefetch_factor, which is", dict(device="cpu", prefetch_factor=2)),
    ("give device", dict(in_flight=2)),
    ("give device", dict(cache_bytes="1GiB")),
    ("in_flight is 0", dict(device="cpu", in_flight=0)),
    ("cache_bytes is 'much'", dict(device="cpu", cache_bytes="much")),
    ("y, edge_attr: without PyTorch", dict(device="cuda:0")),
])
def test_refused(data, words, options):
    with pytest.raises(csaw.CsawError) as caught:
        csaw.NeighborLoader(data, [2], **options)
    assert words in caught.value.message


def test_what_the_library_refuses(data):
    with pytest.raises(csaw.CsawError, match="cache_bytes"):
        list(csaw.NeighborLoader(data, [2], device="cpu", cache_bytes=100))
    with pytest.raises(csaw.CsawError, match="(?i)cuda"):
        csaw.NeighborLoader(dict(edge_index=data.edge_index, x=data.x), [2], device="cuda:99")


# ---- a GPU's batches, by memory of the host


@pytest.fixture
def gpu(monkeypatch):
    """Memory of the host is handed out as a GPU's."""
    true = samples.array_in

    def array_in(space, place, shape, dtype, owner, device, **more):
        if device == "cpu":
            return true(space, place, shape, dtype, owner, device, **more)
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        return _arrays.DeviceArray(place, shape, strides, dtype, owner, 0, _arrays.DLPACK_CPU)

    monkeypatch.setattr(samples, "array_in", array_in)
    monkeypatch.setattr(_ahead, "array_in", array_in)
    monkeypatch.setattr(Drawer, "own_plan", lambda drawer: csaw.Plan(drawer.graph))


@pytest.fixture
def torch_gpu(gpu, monkeypatch):
    """The same for PyTorch; returns what its current stream is."""
    torch = pytest.importorskip("torch")
    stream = SimpleNamespace(cuda_stream=0, synchronize=lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: stream)
    monkeypatch.setattr(csaw.loader, "on", lambda device, array, name: torch.as_tensor(array))
    monkeypatch.setattr(_data, "on", lambda device, array, name: torch.as_tensor(array))
    return stream


@pytest.mark.parametrize("dtype, weight", [("float32", None), ("float64", "edge_attr")])
def test_tensors_of_a_gpu(data, torch_gpu, dtype, weight):
    data.x = data.x.astype(dtype)
    data.edge_index[1, data.edge_index[1] == 7] = 8  # 7 receives nothing
    given = in_tensors(data)
    options = dict(num_neighbors=[3, 2], batch_size=7, shuffle=True, weight_attr=weight)
    ahead, plain = (csaw.NeighborLoader(given, device=device, **options) for device in ("cuda:0", None))
    for _ in range(2):
        same(list(ahead), list(plain))
    alone = csaw.NeighborLoader(given, [3, 2], np.array([7]), device="cuda:0")
    batch, = alone
    assert batch.n_id.tolist() == [7] and batch.edge_index.shape == (2, 0) and batch.x.equal(given.x[7:8])


def test_arrays_side_by_side_are_handed_over_at_once(monkeypatch):
    """As those of a batch on a GPU lie; others, and those of which a part is left out, one by one."""
    torch = pytest.importorskip("torch")
    memory, handed = np.arange(40, dtype=np.uint32), []
    monkeypatch.setattr(_ahead, "shared_tensor", lambda *a: handed.append(a) or _arrays.shared_tensor(*a))

    def parts(*of):
        return [_arrays.DeviceArray(memory.ctypes.data + 4 * begin, (n,), (1,), dtype, memory, 0, _arrays.DLPACK_CPU)
                for begin, n, dtype in of]

    for count, of in ((1, [(0, 4, np.uint64), (8, 3, np.uint64), (14, 5, np.uint32), (19, 2, np.uint32)]),
                      (3, [(0, 4, np.uint64), (9, 5, np.uint32), (14, 2, np.uint32)]),
                      (2, [(14, 5, np.uint32), (2, 3, np.uint64)])):
        handed.clear()
        got = _ahead._tensors(parts(*of))
        assert len(handed) == count
        for x, (begin, n, dtype) in zip(got, of):
            words = memory[begin:begin + n * np.dtype(dtype).itemsize // 4]
            assert x.dtype == (torch.int64 if dtype is np.uint64 else torch.int32)
            np.testing.assert_array_equal(x.numpy().view(np.uint32), words)


def test_epochs_share_a_loader(data, monkeypatch):
    opened, function = [], _ahead.lib.csaw_loader_open
    monkeypatch.setattr(_ahead.lib, "csaw_loader_open", lambda *given: opened.append(1) or function(*given))
    ahead, plain = (csaw.NeighborLoader(data, [3, 2], batch_size=7, shuffle=True, device=d) for d in ("cpu", None))
    for _ in range(3):
        same(list(ahead), list(plain))
    assert len(opened) == 1
    for batch in ahead:  # ended early: that loader is closed
        break
    next(iter(plain))
    same(list(ahead), list(plain))
    assert len(opened) == 2
    ahead.in_flight = 3  # another loader
    same(list(ahead), list(plain))
    assert len(opened) == 3


def test_another_stream_is_refused(data, torch_gpu):
    batches = iter(csaw.NeighborLoader(in_tensors(data), [3, 2], batch_size=7, device="cuda:0"))
    next(batches)
    torch_gpu.cuda_stream = 7
    with pytest.raises(csaw.CsawError, match="iterate in one stream"):
        next(batches)


def test_device_arrays_without_torch(data, gpu):
    given = dict(edge_index=data.edge_index, x=data.x, name="made up")
    options = dict(num_neighbors=[3, 2], batch_size=7)
    ahead = list(csaw.NeighborLoader(given, device="cuda:0", **options))
    plain = list(csaw.NeighborLoader(given, **options))
    assert len(ahead) == len(plain)
    for one, other in zip(ahead, plain):
        assert isinstance(one.n_id, csaw.DeviceArray) and one.n_id.dtype == np.uint32
        assert one.x.shape == other.x.shape and one.x.dtype == np.float32 and one.x.strides == (3, 1)
        assert one.num_nodes == len(one.n_id) == other.num_nodes
        np.testing.assert_array_equal(np.from_dlpack(one.n_id), other.n_id)
        np.testing.assert_array_equal(np.from_dlpack(one.x), other.x)
        np.testing.assert_array_equal(one.input_id, other.input_id)
        for name in ("batch_size", "num_sampled_nodes", "num_sampled_edges", "name"):
            assert one[name] == other[name]
        col = np.concatenate([np.from_dlpack(one.blocks[0, d].col) for d in range(2)])
        np.testing.assert_array_equal(col, other.edge_index[0])
        with pytest.raises(AttributeError, match="no 'edge_index'"):
            one.edge_index


def test_a_block_of_a_gpu_is_a_matrix(data, gpu):
    torch = pytest.importorskip("torch", "2.4")
    given = dict(edge_index=data.edge_index, x=data.x)
    batch, = csaw.NeighborLoader(given, [3, 2], np.arange(9), batch_size=9, device="cuda:0")
    plain, = csaw.NeighborLoader(given, [3, 2], np.arange(9), batch_size=9)
    hop = slice(0, plain.num_sampled_edges[0])
    a = csaw.torch.matrix(batch.blocks[0, 0])
    assert a.shape == (9, sum(plain.num_sampled_nodes[:2]))
    assert torch.stack([a.col, a.row()]).numpy().tolist() == plain.edge_index[:, hop].tolist()


def test_tensors_need_a_torch_that_finds_the_gpu(data, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(csaw.CsawError, match="finds no GPU"):
        csaw.NeighborLoader(in_tensors(data), [2], device="cuda:0")
