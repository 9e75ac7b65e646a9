# SPDX-License-Identifier: MIT
"""Layers with the arguments, parameters and outputs of PyTorch Geometric's: GCNConv, SAGEConv, GINConv, GATConv; MaxK.

    conv = csaw.torch.SAGEConv(128, 64)
    out = conv(x, edges)          # edges: whatever csaw.torch.matrix() takes

x: [vertices, n]. With a Block, x is of its num_src vertices and the output of its num_dst, the first of them; so it is
with x a pair (x_src, x_dst). A state_dict() of PyTorch Geometric's layer fits. maxk=k: what is sent over the edges
keeps the k largest elements of each row (Peng et al., MaxK-GNN, ASPLOS 2024), and is multiplied as such.
"""
from typing import Callable, Optional, Tuple, Union

import torch
from torch import Tensor, nn

from .._arrays import as_count
from .._lib import invalid
from ._attention import edge_softmax_op, sddmm_op
from ._maxk import maxk_dense_op, maxk_spmm_op
from ._spmm import spmm_op
from .functional import maxk as take_maxk
from .matrix import Adjacency, Matrix
from .normalize import gcn_norm, matrix_for, with_loops

Features = Union[Tensor, Tuple[Tensor, Optional[Tensor]]]


def _glorot(x: Tensor) -> None:
    bound = (6.0 / (x.shape[-2] + x.shape[-1]))**0.5
    nn.init.uniform_(x, -bound, bound)


def _pair(x: Features) -> Tuple[Tensor, Optional[Tensor]]:
    if isinstance(x, Tensor):
        return x, None
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise invalid(f"x is a {type(x).__name__}; give a tensor, such as torch.as_tensor(x), or a pair (x_src, x_dst)")
    return x[0], x[1]


def _linear(in_channels: int, out_channels: int, bias: bool) -> nn.Linear:
    if in_channels < 0:
        raise invalid(f"in_channels is {in_channels}; layers are not made at their first use: give the columns of x")
    return nn.Linear(in_channels, out_channels, bias=bias)


def _shown(**fields) -> str:
    """What a layer prints of itself beside its parts."""
    return ", ".join(f"{name}={value}" for name, value in fields.items() if value is not None)


def _own(x: Features, a: Matrix) -> Tensor:
    """Features of the receivers."""
    x_src, x_dst = _pair(x)
    return x_src[:a.shape[0]] if x_dst is None else x_dst


def _fits(a: Matrix, x: Tensor) -> None:
    if x.shape[0] != a.shape[1]:
        raise invalid(
            f"x has {x.shape[0]} rows, but the matrix is {a.shape[0]} x {a.shape[1]}; give a row for each column")


def _send(a: Matrix, x: Tensor, weight: Optional[Tensor], reduce: str) -> Tensor:
    _fits(a, x)
    return spmm_op(a.rowptr, a.col, weight, x, reduce, 1)[0]


def _send_maxk(a: Matrix, values: Tensor, index: Tensor, cols: int, weight: Optional[Tensor], reduce: str) -> Tensor:
    _fits(a, values)
    return maxk_spmm_op(a.rowptr, a.col, weight, values, index, cols, reduce)


class MaxK(nn.Module):
    """The k largest elements of each row, 0 elsewhere: a nonlinearity in place of ReLU. x: [rows, n]."""

    def __init__(self, k: int):
        super().__init__()
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        values, index = take_maxk(x, self.k)
        return maxk_dense_op(values, index, x.shape[-1])

    def extra_repr(self) -> str:
        return f"k={self.k}"


class GCNConv(nn.Module):
    """out = A' x W + bias, A' the normalised matrix with loops (Kipf, Welling, ICLR 2017). edge_weight: [edges], in the
    order in which the edges were given. With maxk: A' MaxK(x W) + bias. Of a block, degrees are those in the block."""

    def __init__(self, in_channels: int, out_channels: int, improved: bool = False, add_self_loops: bool = True,
                 normalize: bool = True, bias: bool = True, maxk: Optional[int] = None):
        super().__init__()
        self.improved, self.add_self_loops, self.normalize, self.maxk = improved, add_self_loops, normalize, maxk
        self.lin = _linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def extra_repr(self) -> str:
        return _shown(maxk=self.maxk)

    def reset_parameters(self) -> None:
        _glorot(self.lin.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edges: Adjacency, edge_weight: Optional[Tensor] = None) -> Tensor:
        if not isinstance(x, Tensor):
            raise invalid(f"x is a {type(x).__name__}; give a tensor, such as torch.as_tensor(x)")
        a = matrix_for(edges, x, None)
        weight = a.weight if edge_weight is None else a.in_order(edge_weight).to(torch.float32).contiguous()
        if self.normalize:
            a, weight = gcn_norm(a, edge_weight, improved=self.improved, add_self_loops=self.add_self_loops)
        h = self.lin(x)
        out = _send(a, h, weight, "sum") if self.maxk is None else _send_maxk(a, *take_maxk(h, self.maxk), h.shape[1],
                                                                              weight, "sum")
        return out if self.bias is None else out + self.bias


class SAGEConv(nn.Module):
    """out = lin_l(reduce of the neighbours' x) + lin_r(own x) (Hamilton, Ying, Leskovec, NIPS 2017). aggr: "mean",
    "sum" ("add"), "max" or "min"; weights of the matrix are not read. With maxk: the layer of MaxK(x)."""

    def __init__(self, in_channels: Union[int, Tuple[int, int]], out_channels: int, aggr: str = "mean",
                 normalize: bool = False, root_weight: bool = True, bias: bool = True, maxk: Optional[int] = None):
        super().__init__()
        aggr = "sum" if aggr == "add" else aggr
        if aggr not in ("mean", "sum", "max", "min") or (maxk is not None and aggr not in ("mean", "sum")):
            raise invalid(f"aggr is {aggr!r}; it is 'mean', 'sum', 'max' or 'min', with maxk 'mean' or 'sum'")
        self.aggr, self.normalize, self.maxk = aggr, normalize, maxk
        of_src, of_dst = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_l = _linear(of_src, out_channels, bias=bias)
        self.lin_r = _linear(of_dst, out_channels, bias=False) if root_weight else None

    def extra_repr(self) -> str:
        return _shown(aggr=self.aggr, maxk=self.maxk)

    def reset_parameters(self) -> None:
        self.lin_l.reset_parameters()
        if self.lin_r is not None:
            self.lin_r.reset_parameters()

    def forward(self, x: Features, edges: Adjacency) -> Tensor:
        x_src, x_dst = _pair(x)
        a = matrix_for(edges, x_src, x_dst)
        if self.maxk is None:
            out, own = _send(a, x_src, None, self.aggr), _own(x, a)
        else:
            values, index = take_maxk(x_src, self.maxk)
            out = _send_maxk(a, values, index, x_src.shape[1], None, self.aggr)
            own = _own_maxk(x_dst, values, index, x_src.shape[1], a, self.maxk)
        out = self.lin_l(out)
        if self.lin_r is not None:
            out = out + self.lin_r(own)
        return nn.functional.normalize(out, p=2.0, dim=-1) if self.normalize else out


def _own_maxk(x_dst: Optional[Tensor], values: Tensor, index: Tensor, cols: int, a: Matrix, k: int) -> Tensor:
    """MaxK of the receivers' features, dense."""
    if x_dst is None:
        return maxk_dense_op(values[:a.shape[0]], index[:a.shape[0]], cols)
    return maxk_dense_op(*take_maxk(x_dst, k), x_dst.shape[1])


class GINConv(nn.Module):
    """out = nn((1 + eps) own x + sum of the neighbours' x) (Xu et al., ICLR 2019); weights of the matrix are not read.
    With maxk: the layer of MaxK(x)."""

    def __init__(self, nn: Callable[[Tensor], Tensor], eps: float = 0.0, train_eps: bool = False,
                 maxk: Optional[int] = None):
        super().__init__()
        self.nn, self.initial_eps, self.maxk = nn, eps, maxk
        start = torch.full((1,), float(eps))
        if train_eps:
            self.eps = torch.nn.Parameter(start)
        else:
            self.register_buffer("eps", start)

    def extra_repr(self) -> str:
        return _shown(maxk=self.maxk)

    def reset_parameters(self) -> None:
        for module in self.nn.modules() if isinstance(self.nn, nn.Module) else ():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        self.eps.data.fill_(self.initial_eps)

    def forward(self, x: Features, edges: Adjacency) -> Tensor:
        x_src, x_dst = _pair(x)
        a = matrix_for(edges, x_src, x_dst)
        if self.maxk is None:
            out, own = _send(a, x_src, None, "sum"), _own(x, a)
        else:
            values, index = take_maxk(x_src, self.maxk)
            out = _send_maxk(a, values, index, x_src.shape[1], None, "sum")
            own = _own_maxk(x_dst, values, index, x_src.shape[1], a, self.maxk)
        return self.nn(out + (1 + self.eps) * own)


class GATConv(nn.Module):
    """out = sum of alpha_ij x_j W by head, alpha the softmax of leaky_relu(att_src x_j W + att_dst x_i W) over the
    edges into i (Velickovic et al., ICLR 2018); weights of the matrix are not read. With maxk: MaxK of each head's
    x_j W."""

    def __init__(self, in_channels: int, out_channels: int, heads: int = 1, concat: bool = True,
                 negative_slope: float = 0.2, dropout: float = 0.0, add_self_loops: bool = True, bias: bool = True,
                 maxk: Optional[int] = None):
        super().__init__()
        heads = as_count(heads, "heads", 1)
        self.out_channels, self.heads, self.concat, self.maxk = out_channels, heads, concat, maxk
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.lin = _linear(in_channels, heads * out_channels, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.bias = nn.Parameter(torch.empty(heads * out_channels if concat else out_channels)) if bias else None
        self.reset_parameters()

    def extra_repr(self) -> str:
        return _shown(heads=self.heads, maxk=self.maxk)

    def reset_parameters(self) -> None:
        for weight in (self.lin.weight, self.att_src, self.att_dst):
            _glorot(weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def _alpha(self, a: Matrix, src: Tensor, dst: Tensor) -> Tensor:
        """[edges, heads] float32 from features by head [vertices, heads, out_channels]."""
        of_src, of_dst = (src * self.att_src).sum(-1), (dst * self.att_dst).sum(-1)
        one_src, one_dst = torch.ones_like(of_src), torch.ones_like(of_dst)
        # of_dst[i] + of_src[j] as the dot products <(of_dst[i], 1), (1, of_src[j])>, whose gradients are products with
        # the matrix: those of indexing would be added in any order on a GPU
        score = sddmm_op(a.rowptr, a.col, torch.stack([of_dst, one_dst], -1).flatten(1),
                         torch.stack([one_src, of_src], -1).flatten(1), self.heads)
        score = nn.functional.leaky_relu(score, self.negative_slope)
        alpha = edge_softmax_op(a.rowptr, a.col, score, a.shape[1])
        return nn.functional.dropout(alpha, self.dropout, self.training)

    def forward(self, x: Features, edges: Adjacency) -> Tensor:
        x_src, x_dst = _pair(x)
        a = matrix_for(edges, x_src, x_dst)
        _fits(a, x_src)
        if self.add_self_loops:
            a = with_loops(a)
        h = self.lin(x_src)
        src = h.view(-1, self.heads, self.out_channels)
        dst = src[:a.shape[0]] if x_dst is None else self.lin(x_dst).view(-1, self.heads, self.out_channels)
        alpha = self._alpha(a, src, dst)
        if self.maxk is None:
            out = spmm_op(a.rowptr, a.col, alpha, h, "sum", self.heads)[0]
        else:
            out = torch.cat([_send_maxk(a, *take_maxk(src[:, head], self.maxk), self.out_channels,
                                        alpha[:, head].contiguous(), "sum") for head in range(self.heads)], dim=1)
        if not self.concat:
            out = out.view(-1, self.heads, self.out_channels).mean(dim=1)
        return out if self.bias is None else out + self.bias
