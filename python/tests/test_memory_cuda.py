# SPDX-License-Identifier: MIT
"""Memory stays what it is over 10,000 batches made on a GPU, its own and the host's. Nobody else is to use the GPU
meanwhile."""
import gc

import numpy as np
import pytest

import csaw
from loader_cases import in_tensors, made_up
from test_memory import MIB, resident

torch = pytest.importorskip("torch", "2.4", reason="PyTorch 2.4 or later is not installed")
pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU"),
    pytest.mark.skipif("cuda" not in csaw.version(), reason=f"the library is built without CUDA: {csaw.version()}")]

BATCHES = 10_000
MOST_ON_GPU = 64 * MIB  # 6.6 KiB a batch; pools grow by 32 MiB
MOST_ON_HOST = 16 * MIB  # 1.6 KiB a batch


def taken():
    """Bytes, on the GPU and on the host, less a constant."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return np.array([-torch.cuda.mem_get_info()[0], resident()])


class Epochs:
    """Batches of a loader that goes on, a few kept for a while; of every tenth a layer, forward and backward."""

    def __init__(self):
        data = in_tensors(made_up(3000, 60000, 37))
        data.x = data.x.cuda()
        self.loader = csaw.NeighborLoader(data, [5, 3], batch_size=64, shuffle=True, seed=9, device="cuda:0",
                                          in_flight=3)
        self.conv, self.bytes_of_x = csaw.torch.SAGEConv(37, 8).cuda(), 0

    def grow(self, batches, leak=lambda batch: None):
        """(bytes on the GPU, on the host) that so many batches leave behind."""
        before, made, kept = taken(), 0, []
        while made < batches:
            for batch in self.loader:
                kept = [*kept[-4:], batch.x]
                self.bytes_of_x += batch.x.nbytes
                if made % 10 == 0:
                    self.conv(batch.x, csaw.torch.layers(batch)[0]).sum().backward()
                leak(batch)
                made += 1
        del kept, batch
        return taken() - before


def test_ten_thousand_batches():
    epochs, leaked = Epochs(), []
    epochs.grow(1000)
    epochs.bytes_of_x = 0
    on_gpu, on_host = epochs.grow(BATCHES)
    print(f"{BATCHES} batches left {on_gpu / MIB:.1f} MiB on the GPU and {on_host / MIB:.1f} MiB on the host")
    assert on_gpu < MOST_ON_GPU and on_host < MOST_ON_HOST
    assert epochs.bytes_of_x > 10 * MOST_ON_GPU  # what would stay if no batch's x were given back

    def leak(batch):  # 8 KiB each; what the host's heap has free takes the first of them
        leaked.append((torch.empty(2048, device="cuda"), np.ones(1024)))

    on_gpu, on_host = epochs.grow(BATCHES, leak)
    assert on_gpu > MOST_ON_GPU and on_host > MOST_ON_HOST
