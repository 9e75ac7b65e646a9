# SPDX-License-Identifier: MIT
"""libcsaw: where it is, and its functions. Together with _structs.py the one place that knows the C interface.

A ctypes.CDLL releases the GIL during every call. The library is, first that exists: $CSAW_LIBRARY, lib/libcsaw.so in
this package (a wheel), whatever the dynamic linker finds by the name libcsaw.so.
"""
import contextlib
import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

from . import _structs as s

_HERE = Path(__file__).resolve().parent
_P = c_void_p  # an object, an array, or a place for a result

FUNCTIONS = {  # name: (result, arguments), in the order of the headers
    # csaw/csaw.h
    "csaw_version": (c_char_p, []),
    "csaw_status_text": (c_char_p, [c_int]),
    "csaw_last_error": (c_char_p, []),
    "csaw_watch": (None, [s.WATCH, _P]),
    "csaw_graph_load": (c_int, [c_char_p, _P, _P]),
    "csaw_graph_load_split": (c_int, [c_char_p, _P, _P, c_bool, _P]),
    "csaw_graph_from_edges": (c_int, [_P, _P, _P]),
    "csaw_graph_from_csr": (c_int, [_P, _P]),
    "csaw_graph_borrow_csr": (c_int, [_P, _P]),
    "csaw_graph_save": (c_int, [_P, c_char_p]),
    "csaw_graph_csr": (s.csaw_csr, [_P]),
    "csaw_graph_free": (None, [_P]),
    "csaw_graph_names": (s.csaw_names, [_P]),
    "csaw_graph_find": (c_int, [_P, c_char_p, _P]),
    "csaw_graph_transpose": (c_int, [_P, _P]),
    "csaw_graph_by_degree": (c_int, [_P, _P]),
    "csaw_graph_checksum": (c_uint64, [_P]),
    "csaw_graph_verify_file": (c_int, [c_char_p]),
    "csaw_graph_rmat": (c_int, [_P, _P]),
    "csaw_graph_erdos_renyi": (c_int, [_P, _P]),
    "csaw_graph_configuration": (c_int, [_P, _P]),
    "csaw_plan_create": (c_int, [_P, _P, _P]),
    "csaw_plan_explain": (c_char_p, [_P]),
    "csaw_plan_free": (None, [_P]),
    "csaw_sampler_compile": (c_int, [c_char_p, _P]),
    "csaw_sampler_unload": (None, [_P]),
    "csaw_sampler_find": (_P, [c_char_p]),
    "csaw_sampler_at": (_P, [c_uint32]),
    "csaw_sampler_hash": (c_uint64, [_P]),
    "csaw_sampler_name": (c_char_p, [_P]),
    "csaw_sampler_params_size": (c_uint32, [_P]),
    "csaw_sampler_params": (POINTER(s.csaw_param), [_P, _P]),
    "csaw_sampler_defaults": (None, [_P, _P]),
    "csaw_sampler_set": (c_int, [_P, _P, c_char_p, c_char_p]),
    "csaw_select_name": (c_char_p, [c_int]),
    "csaw_sample": (c_int, [_P, _P, _P, _P, _P, _P]),
    "csaw_sample_each": (c_int, [_P, _P, _P, _P, _P, s.BATCH, _P]),
    "csaw_samples_walks": (c_int, [_P, c_int, _P]),
    "csaw_samples_arcs": (c_int, [_P, c_int, _P]),
    "csaw_samples_free": (None, [_P]),
    "csaw_subgraph_create": (c_int, [_P, _P, _P, _P]),
    "csaw_subgraph_look": (s.csaw_subgraph_view, [_P]),
    "csaw_subgraph_graph": (c_int, [_P, c_uint64, _P]),
    "csaw_subgraph_free": (None, [_P]),
    "csaw_blocks_create": (c_int, [_P, _P]),
    "csaw_blocks_create_in": (c_int, [_P, c_int, _P]),
    "csaw_blocks_instances": (c_uint64, [_P]),
    "csaw_blocks_depth": (c_uint32, [_P]),
    "csaw_blocks_look": (c_int, [_P, c_uint64, c_uint32, _P]),
    "csaw_blocks_free": (None, [_P]),
    "csaw_samples_save": (c_int, [_P, _P, c_char_p, _P]),
    "csaw_subgraph_save": (c_int, [_P, c_char_p, _P]),
    "csaw_arc_writer_open": (c_int, [_P, c_char_p, _P, _P]),
    "csaw_arc_writer_write": (c_int, [_P, _P]),
    "csaw_arc_writer_close": (c_int, [_P]),
    "csaw_arc_writer_discard": (None, [_P]),
    "csaw_writer_open": (c_int, [c_char_p, _P, _P]),
    "csaw_writer_done": (c_uint64, [_P]),
    "csaw_writer_write": (c_int, [_P, _P]),
    "csaw_writer_close": (c_int, [_P]),
    "csaw_writer_discard": (None, [_P]),
    # csaw/spmm.h
    "csaw_graph_sparse": (s.csaw_sparse, [_P]),
    "csaw_block_sparse": (s.csaw_sparse, [_P, _P]),
    "csaw_block_weights": (c_int, [_P, _P, _P]),
    "csaw_plan_weights": (c_int, [_P, _P, _P, _P]),
    "csaw_sparse_check": (c_int, [_P]),
    "csaw_spmm_prepare": (c_int, [_P, _P, _P]),
    "csaw_spmm_plan_free": (None, [_P]),
    "csaw_spmm": (c_int, [_P, _P, _P, _P]),
    "csaw_spmm_backward": (c_int, [_P, _P, _P, _P, _P, _P]),
    "csaw_spmm_method_name": (c_char_p, [c_int]),
    "csaw_spmm_work_bytes": (c_int, [_P, _P, _P, _P, _P]),
    "csaw_spmm_backward_work_bytes": (c_int, [_P, _P, _P, _P, _P, _P, _P]),
    "csaw_reducer_compile": (c_int, [c_char_p, _P]),
    "csaw_reducer_unload": (None, [_P]),
    "csaw_sddmm": (c_int, [_P, _P, _P, _P, _P]),
    "csaw_edge_softmax": (c_int, [_P, _P, _P, _P]),
    "csaw_edge_softmax_backward": (c_int, [_P, _P, _P, _P, _P]),
    # csaw/edge_sampled.h
    "csaw_es_spmm": (c_int, [_P, _P, _P, _P]),
    "csaw_es_spmm_backward": (c_int, [_P, _P, _P, _P, _P, _P]),
    "csaw_edge_sample": (c_int, [_P, _P, _P, _P, _P]),
    # csaw/batched.h
    "csaw_batch_list": (c_int, [_P, c_uint64, _P, _P]),
    "csaw_batch_join": (c_int, [_P, _P, _P]),
    "csaw_batch_free": (None, [_P]),
    "csaw_batch_count": (s.csaw_batch_totals, [_P]),
    "csaw_batched_spmm": (c_int, [_P, _P, _P, _P]),
    "csaw_batched_spmm_backward": (c_int, [_P, _P, _P, _P, _P, _P]),
    # csaw/maxk.h
    "csaw_cbsr_index_bytes": (c_size_t, [c_uint64]),
    "csaw_cbsr_check": (c_int, [_P]),
    "csaw_maxk": (c_int, [_P, _P, _P]),
    "csaw_maxk_dense": (c_int, [_P, _P, _P]),
    "csaw_maxk_gather": (c_int, [_P, _P, _P]),
    "csaw_maxk_spmm": (c_int, [_P, _P, _P, _P]),
    "csaw_maxk_spmm_backward": (c_int, [_P, _P, _P, _P]),
    "csaw_maxk_spmm_backward_weight": (c_int, [_P, _P, _P, _P, _P]),
    # csaw/training.h
    "csaw_gather": (c_int, [_P, _P, c_uint64, _P, _P]),
    "csaw_loader_open": (c_int, [_P, _P, _P, _P]),
    "csaw_loader_batches": (c_uint64, [_P]),
    "csaw_loader_next": (c_int, [_P, _P]),
    "csaw_loader_take": (c_int, [_P, _P]),
    "csaw_minibatch_free": (None, [_P]),
    "csaw_loader_restart": (c_int, [_P, _P, c_uint64]),
    "csaw_loader_close": (None, [_P]),
    "csaw_saint_sample": (c_int, [_P, _P, _P]),
    "csaw_saint_count": (None, [_P, _P, _P]),
    "csaw_saint_coefficients": (c_int, [_P, c_uint64, _P, _P, _P, _P]),
    "csaw_visits_create": (c_int, [_P, _P, _P, _P]),
    "csaw_visits_look": (s.csaw_visits_view, [_P]),
    "csaw_visits_free": (None, [_P]),
    "csaw_negatives_create": (c_int, [_P, _P, _P]),
    "csaw_negatives_draw": (c_int, [_P, c_uint64, c_uint64, _P, c_uint64, c_uint32, _P]),
    "csaw_negatives_free": (None, [_P]),
    "csaw_memory_alloc": (c_int, [c_char_p, c_uint64, _P]),
    "csaw_memory_free": (None, [c_char_p, _P]),
    "csaw_memory_write": (c_int, [c_char_p, _P, _P, c_uint64]),
    "csaw_memory_read": (c_int, [c_char_p, _P, _P, c_uint64]),
    "csaw_memory_wait": (c_int, [c_char_p]),
}


class CsawError(RuntimeError):
    """Whatever went wrong: status (a number of csaw_status), status_name (such as "EINVAL") and message."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = int(status)
        self.status_name = STATUS_NAMES.get(self.status, str(self.status))
        self.message = message

    def __str__(self):
        return f"{self.message} [{self.status_name}]"

    def __reduce__(self):
        return CsawError, (self.status, self.message)


STATUS_NAMES = {value: name[len("CSAW_"):] for name, value in s.ENUMS["csaw_status"].items()}
EINVAL = s.ENUMS["csaw_status"]["CSAW_EINVAL"]
ENOMEM = s.ENUMS["csaw_status"]["CSAW_ENOMEM"]
ESTOPPED = s.ENUMS["csaw_status"]["CSAW_ESTOPPED"]


def invalid(message):
    """The error of an argument that Python itself refuses; same class and status as the library's."""
    return CsawError(EINVAL, message)


@contextlib.contextmanager
def _threads_that_sleep():
    """The OpenMP runtime that is loaded meanwhile has threads that sleep between two loops, unless the user wants it
    otherwise: PyTorch brings a runtime of its own, and threads that spin keep the other's from the cores."""
    name = "OMP_WAIT_POLICY"
    if name in os.environ:
        yield
        return
    os.environ[name] = "passive"
    try:
        yield
    finally:
        del os.environ[name]


def _load():
    given = os.environ.get("CSAW_LIBRARY")
    path = given or str(_HERE / "lib" / "libcsaw.so")
    if not given and not os.path.exists(path):
        path = "libcsaw.so"
    try:
        with _threads_that_sleep():
            library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libcsaw could not be loaded: {error}; install the package (pip install .), or let "
                          "CSAW_LIBRARY name a libcsaw.so that was built") from None
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is another version of csaw than this package") from None
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


# What messages of the library advise, by names that callers know.
_IN_PYTHON = {
    "csaw_samples_arcs": "csaw.sample(...).arcs()",
    "csaw_graph_from_edges()": "Graph.from_edge_index()",
    "csaw_sample_each": "csaw.walks_for_gensim() or csaw.NeighborLoader",
}


def check(status):
    """Raises CsawError with this thread's message unless status is CSAW_OK."""
    if status:
        message = lib.csaw_last_error().decode("utf-8", "replace")
        for name, here in _IN_PYTHON.items():
            message = message.replace(name, here)
        raise CsawError(status, message)


def as_text(value, name):
    """A str as C has it; None stays."""
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise invalid(f"{name} is {value!r}; it is a str, without NUL")
    return value.encode()


def as_path(path):
    """A file's name as C has it."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise invalid(f"path is {path!r}; it is a str or a pathlib.Path") from None
    if b"\0" in name:
        raise invalid(f"path is {path!r}, but no file has NUL in its name; take it out")
    return name


def create(function, *arguments):
    """Calls a function whose last argument is a place for an object; returns the pointer."""
    out = c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out.value


def options(struct, **values):
    """An options struct with its size and these fields set; a value of None leaves the default (zero)."""
    out = struct(size=ctypes.sizeof(struct))
    for name, value in values.items():
        if value is None:
            continue
        whole = value.__index__() if hasattr(value, "__index__") else value
        try:
            setattr(out, name, whole)
        except TypeError:
            raise invalid(f"{name} is {value!r}, a {type(value).__name__}, which it cannot be") from None
        if isinstance(whole, int) and getattr(out, name) != whole:  # ctypes cuts off what does not fit
            raise invalid(f"{name} is {value!r}; it is a whole number of {8 * getattr(struct, name).size} bits")
    return out


def version() -> str:
    """Version of the library and what is built in, such as "0.1.0 (openmp, cuda 13.0)"."""
    return lib.csaw_version().decode()


class Handle:
    """An object of the library, freed with its function when the last reference goes.

    keep: what must outlive the object. A handle of that, keep itself or one of a tuple, is freed after this one even if
    both are in a cycle, of which Python calls the finalizers in any order, as it does when a program ends. A process
    that was forked leaves its parent's objects alone.
    """

    __slots__ = ("pointer", "keep", "_free", "_process", "_kept_by", "_is_over", "__weakref__")

    def __init__(self, pointer, free, keep=()):
        self.pointer, self.keep, self._free, self._process = pointer, keep, free, os.getpid()
        self._kept_by, self._is_over = set(), False  # of handles: their id()
        for kept in keep if isinstance(keep, tuple) else (keep,):
            if isinstance(kept, Handle):
                kept._kept_by.add(id(self))

    def is_of_this_process(self) -> bool:
        return self._process == os.getpid()

    def free(self, getpid=os.getpid):
        """Now, and not only when the last reference goes; once nothing that keeps it is left."""
        self._is_over = True
        if self._kept_by:
            return
        pointer, self.pointer = self.pointer, None
        keep, self.keep = self.keep, ()
        if pointer and self._process == getpid():
            self._free(pointer)
        for kept in keep if isinstance(keep, tuple) else (keep,):
            if isinstance(kept, type(self)):  # names of the module may be gone at a program's end
                kept._kept_by.discard(id(self))
                if kept._is_over:
                    kept.free()

    __del__ = free


# ---- fork: a thread pool does not come along, and waiting for its threads would last for ever
_forked = False


def _after_fork():
    global _forked
    _forked = True
    set_threads = getattr(lib, "omp_set_num_threads", None)  # of the OpenMP library that libcsaw uses
    if set_threads is not None:
        set_threads(1)


os.register_at_fork(after_in_child=_after_fork)


def in_forked_child() -> bool:
    """Whether this process was forked after csaw was loaded: it has one thread for csaw's work."""
    return _forked
