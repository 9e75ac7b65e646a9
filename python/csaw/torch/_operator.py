# SPDX-License-Identifier: MIT
"""Operators of torch.library, called without its dispatch where nothing looks on.

torch.compile, tracing, dispatch modes and function transforms see an operator csaw::name. Otherwise the function runs
at once, within one torch.autograd.Function where gradients are wanted: the dispatch of an operator that is written in
Python takes several times as long as the launches of a minibatch's product.
"""
from typing import Any, Callable, Optional

import torch
from torch import Tensor
from torch.library import custom_op

_PLAIN = (Tensor, torch.nn.Parameter)
_KNOWN = frozenset((*_PLAIN, type(None), bool, int, str))


def _somebody_looks_on() -> bool:
    return (torch._C._len_torch_dispatch_stack() > 0 or torch._C._are_functorch_transforms_active() or
            torch.jit.is_tracing())


try:
    _somebody_looks_on()
except AttributeError:  # a PyTorch that has these under other names

    def _somebody_looks_on() -> bool:
        return True


def _seen(arguments) -> bool:
    if _somebody_looks_on():
        return True
    if _KNOWN.issuperset(map(type, arguments)):
        return False
    return any(isinstance(a, Tensor) and type(a) not in _PLAIN for a in arguments)


def _want_gradients(arguments) -> bool:
    for a in arguments:  # any() of a generator takes twice as long
        if type(a) in _PLAIN and a.requires_grad:
            return True
    return False


class Operator:
    """csaw::name of a function of tensors and numbers; as custom_op(name, mutates_args=()) makes it."""

    def __init__(self, name: str, function: Callable):
        self._op, self._run = custom_op(name, function, mutates_args=()), function
        self._differentiable: Optional[Any] = None  # a torch.autograd.Function
        self.register_fake = self._op.register_fake

    def register_autograd(self, backward: Callable, *, setup_context: Callable) -> None:
        self._op.register_autograd(backward, setup_context=setup_context)

        def forward(ctx, *arguments):  # with a setup_context() of its own PyTorch looks up the signature in each call
            output = self._run(*arguments)
            setup_context(ctx, arguments, output)
            return output

        self._differentiable = type(self._run.__name__, (torch.autograd.Function,),
                                    {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def __call__(self, *arguments):
        if torch.compiler.is_compiling() or _seen(arguments):
            return self._op(*arguments)
        if not torch.is_grad_enabled() or not _want_gradients(arguments):
            return self._run(*arguments)
        if self._differentiable is None:  # the operator says what is missing when its gradient is asked for
            return self._op(*arguments)
        return self._differentiable.apply(*arguments)


def operator(name: str) -> Callable[[Callable], Operator]:
    return lambda function: Operator(name, function)
