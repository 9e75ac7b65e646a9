# SPDX-License-Identifier: MIT
"""Arrays in and out: no copies, DLPack, and memory of a GPU by way of stand-ins, as there may be no GPU here."""
import gc
import weakref

import numpy as np
import pytest

import csaw
from csaw import _arrays, _structs, samples

needs_dlpack = pytest.mark.skipif(not hasattr(np, "from_dlpack"), reason="NumPy is older than 1.23 and has no DLPack")


def test_walks_are_the_library_s_memory(karate):
    made = csaw.sample(karate, "uniform", depth=7)
    one, two = made.walks().path, made.walks().path
    assert one.ctypes.data == two.ctypes.data and one.flags.c_contiguous and one.flags.writeable
    handle = weakref.ref(made._handle)
    want = one.copy()
    del made, two
    gc.collect()
    assert handle() is not None
    np.testing.assert_array_equal(one, want)
    del one
    gc.collect()
    assert handle() is None


@needs_dlpack
def test_walks_go_out_by_dlpack(karate):
    walks = csaw.random_walk(karate, length=7)
    again = np.from_dlpack(walks)
    assert again.ctypes.data == walks.ctypes.data
    np.testing.assert_array_equal(again, walks)


class Tensor:
    """An array of another library, which speaks DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class OnGpu:
    """An array in a GPU's memory, as CuPy and Numba show it."""

    __cuda_array_interface__ = {"data": (4096, False), "shape": (2,), "typestr": "<i8", "version": 3}


@needs_dlpack
def test_arguments_come_in_by_dlpack(karate):
    seeds = np.array([3, 1, 2])
    want = csaw.random_walk(karate, seeds, 4)
    np.testing.assert_array_equal(csaw.random_walk(karate, Tensor(seeds), 4), want)
    for given in (seeds.astype(np.uint32), seeds.astype(np.uint8), [3, 1, 2], (3, 1, 2), range(3, 0,
                                                                                               -2), np.arange(9)[::-4]):
        assert csaw.random_walk(karate, given, 4).shape[1] == 5
    col = np.array([1, 0], np.uint32)
    assert np.shares_memory(_arrays.as_numpy(Tensor(col), "col"), col)


def test_arguments_on_a_gpu_are_refused_with_the_remedy(karate):
    class TensorOnGpu(Tensor):
        def __dlpack_device__(self):
            return (_arrays.DLPACK_CUDA, 0)

    for given in (OnGpu(), TensorOnGpu(np.arange(2))):
        assert _arrays.on_device(given)
        with pytest.raises(csaw.CsawError, match="memory of a GPU.*copy it"):
            csaw.random_walk(karate, given, 4)
    assert not _arrays.on_device(np.arange(2)) and not _arrays.on_device([1])


def device_walks(owner):
    """csaw_walks as a plan on cuda:1 fills it: 3 walks of 4 steps, step by step."""
    walks = _structs.csaw_walks(space=1,
                                first=0,
                                num_walks=3,
                                length=4,
                                path=0x10000,
                                path_walk_stride=1,
                                path_step_stride=3,
                                edge=0x20000,
                                edge_walk_stride=1,
                                edge_step_stride=3)
    return samples.walks_from(walks, owner, "cuda:1")


def test_walks_on_a_gpu_have_the_cuda_array_interface():
    walks = device_walks(None)
    interface = walks.path.__cuda_array_interface__
    assert interface["shape"] == (3, 5) and interface["strides"] == (4, 12) and interface["typestr"] == "<u4"
    assert interface["data"] == (0x10000, False) and interface["version"] == 3
    assert walks.edge.__cuda_array_interface__["strides"] == (8, 24) and walks.edge.shape == (3, 4)
    assert walks.path.view("int32").__cuda_array_interface__["typestr"] == "<i4"
    assert walks.path.__dlpack_device__() == (2, 1)
    with pytest.raises(csaw.CsawError, match="same size"):
        walks.path.view("int64")


def test_blocks_on_a_gpu_have_the_cuda_array_interface():
    view = _structs.csaw_block_view(space=1,
                                    num_dst=3,
                                    num_src=8,
                                    num_edges=7,
                                    vertex=0x10000,
                                    rowptr=0x20000,
                                    col=0x30000,
                                    edge=0x40000)
    block = samples.block_from(view, None, "cuda:1")
    assert (block.num_dst, block.num_src) == (3, 8)
    for array, place, count, dtype in ((block.vertex, 0x10000, 8, "<u4"), (block.rowptr, 0x20000, 4, "<u8"),
                                       (block.col, 0x30000, 7, "<u4"), (block.edge, 0x40000, 7, "<u8")):
        interface = array.__cuda_array_interface__
        assert interface["data"] == (place, False) and interface["shape"] == (count,)
        assert interface["typestr"] == dtype and array.__dlpack_device__() == (2, 1)
    with pytest.raises(csaw.CsawError, match="on a GPU"):
        block.row()


def test_blocks_on_a_gpu_need_samples_of_one():
    graph = csaw.Graph.from_edge_index([[0, 1], [1, 0]], 2)
    with pytest.raises(csaw.CsawError, match="cuda:N"):
        csaw.sample(graph, "neighbor", [0], fanout=[1]).blocks(device=True)


class Owner:
    """What memory belongs to."""


def host_memory(owner):
    """A DeviceArray of memory that can be read here: 3 walks of 5 vertices, step by step."""
    memory = np.arange(15, dtype=np.uint32)
    owner.memory = memory
    return _arrays.DeviceArray(memory.ctypes.data, (3, 5), (1, 3), np.uint32, owner, 0, _arrays.DLPACK_CPU), memory


@needs_dlpack
def test_dlpack_of_a_device_array_is_read_by_another_library():
    owner = Owner()
    array, memory = host_memory(owner)
    taken = np.from_dlpack(array)
    np.testing.assert_array_equal(taken, memory.reshape(5, 3).T)
    assert taken.ctypes.data == memory.ctypes.data
    alive = weakref.ref(owner)
    del owner, array
    gc.collect()
    assert alive() is not None, "what was taken keeps the owner"
    del taken
    gc.collect()
    assert alive() is None and not _arrays._exported


def test_a_capsule_that_nobody_took_lets_go():
    owner = Owner()
    array, _ = host_memory(owner)
    capsule = array.__dlpack__()
    assert len(_arrays._exported) == 1
    del capsule
    gc.collect()
    assert not _arrays._exported


def test_on_the_host_there_is_no_device_view(karate):
    with pytest.raises(csaw.CsawError) as caught:
        csaw.sample(karate, "uniform", depth=3).walks(device=True)
    assert caught.value.status_name == "EUNSUPPORTED"


def test_torch_shares_the_memory(karate):
    torch = pytest.importorskip("torch")
    walks = csaw.random_walk(karate, torch.tensor([1, 2]), 4).view(np.int32)
    tensor = torch.from_dlpack(walks)
    assert tensor.data_ptr() == walks.ctypes.data and tensor.shape == (2, 5)
    assert isinstance(csaw.Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]])), csaw.Graph)


class CopiedFromGpu:
    """A GPU's array as far as it tells: what it holds comes by one method."""

    __cuda_array_interface__ = {"version": 3}

    def __init__(self, content, method):
        setattr(self, method, lambda: content)

    def __dlpack_device__(self):
        return 2, 0


def test_seeds_of_a_gpu_are_copied(karate):
    """By CuPy's get() or PyTorch's cpu(), for which stand-ins; on a GPU: test_cupy.py, test_loader_cuda.py."""
    seeds = np.array([4, 0, 33, 7])
    of_cupy = CopiedFromGpu(seeds, "get")
    of_torch = CopiedFromGpu(CopiedFromGpu(type("Tensor", (), {"numpy": lambda self: seeds})(), "cpu"), "detach")
    want = csaw.random_walk(karate, seeds, 5)
    for there in (of_cupy, of_torch):
        np.testing.assert_array_equal(csaw.random_walk(karate, there, 5), want)
        loader = csaw.NeighborLoader(karate, [2], there, batch_size=4)
        assert next(iter(loader)).n_id[:4].tolist() == seeds.tolist()
        assert csaw.negatives(karate, there).shape == (4, 1)
        np.testing.assert_array_equal(csaw.sample_neighbors(karate, there, [2]).n_id[:4], seeds)
        arcs = csaw.sample(karate, "neighbor", [there, seeds[:2]], fanout=[2]).arcs()
        assert arcs.seed.tolist() == [*seeds, *seeds[:2]]
    with pytest.raises(csaw.CsawError, match="memory of a GPU, but is read on the host"):
        csaw.Graph.from_csr(of_cupy, [0])
