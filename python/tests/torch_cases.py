# SPDX-License-Identifier: MIT
"""What the tests of csaw.torch share: inputs, and references in float64."""
import torch

TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}  # of storage: 2^-24, 2^-11, 2^-8, few sums
BACKENDS = ("eager", "aot_eager", "inductor")  # of torch.compile; the last compiles C++ on the CPU, Triton on a GPU
REDUCES = ("sum", "mean", "max", "min")


def features(n, m, seed=1, dtype=torch.float32):
    """Equal numbers on every device, on the default one."""
    on_host = torch.randn(n, m, generator=torch.Generator("cpu").manual_seed(seed), device="cpu")
    return on_host.to(torch.empty(0).device, dtype)


def dense_reduce(edges, x, weight, reduce, rows):
    """What spmm means, edge by edge, in float64."""
    products = x.double()[edges[0]] * weight.double()
    empty = torch.zeros(x.shape[1], dtype=torch.float64)
    out = []
    for i in range(rows):
        mine = products[edges[1] == i]
        of = {"sum": mine.sum, "mean": mine.mean, "max": mine.amax, "min": mine.amin}[reduce]
        out.append(of(dim=0) if len(mine) else empty)
    return torch.stack(out)


def same(got, want, dtype=torch.float32):
    torch.testing.assert_close(got.double(), want.double(), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def check_gradients(function, reference, inputs, dtype=torch.float32):
    """Outputs and gradients of function(*inputs) are those of reference in float64."""
    mine = [x.clone().requires_grad_() for x in inputs]
    theirs = [x.double().requires_grad_() for x in inputs]
    got, want = function(*mine), reference(*theirs)
    assert got.dtype == dtype
    same(got.detach(), want.detach(), dtype)
    dy = features(*got.shape, seed=9).to(dtype)
    for g, w, x in zip(torch.autograd.grad(got, mine, dy), torch.autograd.grad(want, theirs, dy.double()), inputs):
        assert g.dtype == x.dtype and g.shape == x.shape
        same(g, w, dtype)
