# SPDX-License-Identifier: MIT
"""Sampler: a built-in sampler by name, or a C file compiled now, with its parameters by name."""
import ctypes
import numbers
import os
from typing import Any, Dict, List, NamedTuple, Union

import numpy as np

from ._lib import Handle, as_path, as_text, check, create, invalid, lib

_TYPES = (ctypes.c_float, ctypes.c_double, ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64)
_TYPE_NAMES = ("float", "double", "int32", "uint32", "int64", "uint64")


class Parameter(NamedTuple):
    """A parameter of a sampler: type as in C, default, the condition that a value meets, one line of help."""

    name: str
    type: str
    default: Union[int, float]
    condition: str
    help: str


def _no_free(_pointer):
    """Built-in samplers stay."""


def _plain_name(pointer) -> str:
    name = lib.csaw_sampler_name(pointer).decode()
    return name[len("csaw_"):] if name.startswith("csaw_") else name


def samplers() -> List[str]:
    """Names of the built-in samplers."""
    out: List[str] = []
    while True:
        pointer = lib.csaw_sampler_at(len(out))
        if not pointer:
            return out
        out.append(_plain_name(pointer))


class Sampler:
    """Sampler("node2vec", p=4.0, q=1.0), or Sampler("my.c", p=4.0): a file that ends in .c is compiled with the
    machine's C compiler (csaw/sampler.h says what it may use) and cached."""

    def __init__(self, source: Union[str, os.PathLike], **params):
        self.source = os.fspath(source)
        if self.source.endswith(".c"):
            pointer = create(lib.csaw_sampler_compile, as_path(self.source))
            self._handle = Handle(pointer, lib.csaw_sampler_unload)
        else:
            pointer = lib.csaw_sampler_find(as_text(self.source if self.source != "deepwalk" else "uniform", "sampler"))
            if not pointer:
                raise invalid(
                    f"there is no sampler '{self.source}'; there are {', '.join(samplers())}, and files that end "
                    "in .c")
            self._handle = Handle(pointer, _no_free)
        count = ctypes.c_uint32()
        table = lib.csaw_sampler_params(pointer, ctypes.byref(count))
        self._fields = {table[i].name.decode(): (table[i].type, table[i].offset, i) for i in range(count.value)}
        self._table = table
        self._params = ctypes.create_string_buffer(max(lib.csaw_sampler_params_size(pointer), 1))
        lib.csaw_sampler_defaults(pointer, self._params)
        for name, value in params.items():
            self._set(name, value)

    def _set(self, name, value):
        if name not in self._fields:
            has = ", ".join(self._fields) or "none"
            raise invalid(f"sampler '{self.name}' has no parameter '{name}'; it has {has}")
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            raise invalid(f"{name} is {value!r}; a parameter is a number")
        whole = isinstance(value, numbers.Integral)
        if self._fields[name][0] >= 2 and not whole and float(value).is_integer():
            value, whole = int(value), True  # 3.0 for a whole number
        text = str(int(value)) if whole else repr(float(value))
        check(lib.csaw_sampler_set(self._handle.pointer, self._params, name.encode(), text.encode()))

    @property
    def name(self) -> str:
        return _plain_name(self._handle.pointer)

    @property
    def params(self) -> Dict[str, Union[int, float]]:
        """Parameters as they are set."""
        values = {name: _TYPES[type].from_buffer(self._params, offset).value
                  for name, (type, offset, _) in self._fields.items()}
        # of float32 the shortest number that is the same one: 0.7, and not 0.699999988079071
        return {name: float(str(np.float32(x))) if self._fields[name][0] == 0 else x for name, x in values.items()}

    @property
    def parameters(self) -> List[Parameter]:
        """What can be set."""
        out = []
        for name, (type, _, i) in self._fields.items():
            entry = self._table[i]
            value = int(entry.value) if type >= 2 else entry.value
            out.append(Parameter(name, _TYPE_NAMES[type], value, entry.condition.decode(), entry.help.decode()))
        return out

    def __reduce__(self):
        return _again, (self.source, self.params)

    def __repr__(self):
        return f"Sampler({', '.join([repr(self.source), *(f'{name}={x!r}' for name, x in self.params.items())])})"


def _again(source, params):
    return Sampler(source, **params)


def sampler_of(sampler: Any) -> Sampler:
    """A Sampler as it is; of a name or a .c file, one with its defaults."""
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, (str, os.PathLike)):
        return Sampler(sampler)
    raise invalid(f"sampler is {type(sampler).__name__}; give a csaw.Sampler, a built-in name or a .c file")
