# SPDX-License-Identifier: MIT
"""Structs and enums of csaw's public headers for ctypes, field by field in the headers' order and under their names.

tests/test_abi.py compiles the headers and compares every size, offset, kind and value with these.
"""
from ctypes import CFUNCTYPE, Structure, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64
from ctypes import c_void_p
from typing import Dict, Type

NONE = 0xFFFFFFFF  # CSAW_NONE: no vertex
NO_EDGE = 0xFFFFFFFFFFFFFFFF  # CSAW_NO_EDGE: no edge
ALL = 0xFFFFFFFF  # CSAW_ALL: of a fanout, every arc

PROGRESS = CFUNCTYPE(c_bool, c_void_p, c_uint64,
                     c_uint64)  # bool (*progress)(void *user, uint64_t done, uint64_t total)
BATCH = CFUNCTYPE(c_int, c_void_p, c_void_p)  # csaw_status (*batch)(void *user, csaw_samples *samples)
WATCH = CFUNCTYPE(c_bool, c_void_p)  # bool (*go_on)(void *user)

ENUMS = {
    "csaw_status": {
        "CSAW_OK": 0, "CSAW_EINVAL": 1, "CSAW_ENOMEM": 2, "CSAW_EDEVMEM": 3, "CSAW_EIO": 4, "CSAW_EFORMAT": 5,
        "CSAW_EBIAS": 6, "CSAW_ECUDA": 7, "CSAW_ECOMPILE": 8, "CSAW_EUNSUPPORTED": 9, "CSAW_ESTOPPED": 10,
        "CSAW_EMPI": 11,
    },
    "csaw_type": {
        "CSAW_TYPE_FLOAT": 0, "CSAW_TYPE_DOUBLE": 1, "CSAW_TYPE_INT32": 2, "CSAW_TYPE_UINT32": 3, "CSAW_TYPE_INT64": 4,
        "CSAW_TYPE_UINT64": 5,
    },
    "csaw_select": {
        "CSAW_SELECT_AUTO": 0, "CSAW_SELECT_UNIFORM": 1, "CSAW_SELECT_ITS": 2, "CSAW_SELECT_ALIAS": 3,
        "CSAW_SELECT_REJECT": 4, "CSAW_SELECT_RACE": 5,
    },
    "csaw_space": {"CSAW_HOST": 0, "CSAW_DEVICE": 1},
    "csaw_dtype": {"CSAW_F32": 0, "CSAW_F16": 1, "CSAW_BF16": 2},
    "csaw_reduce": {"CSAW_SUM": 0, "CSAW_MEAN": 1, "CSAW_MAX": 2, "CSAW_MIN": 3},
    "csaw_spmm_method": {
        "CSAW_SPMM_AUTO": 0, "CSAW_SPMM_CRC": 1, "CSAW_SPMM_CWM2": 2, "CSAW_SPMM_CWM4": 3, "CSAW_SPMM_SUBWARP16": 4,
        "CSAW_SPMM_SUBWARP8": 5, "CSAW_SPMM_SUBWARP4": 6, "CSAW_SPMM_HUBS": 7, "CSAW_SPMM_STRETCHES": 8,
    },
    "csaw_edges_method": {"CSAW_EDGES_STRATIFIED": 0, "CSAW_EDGES_BUCKET": 1, "CSAW_EDGES_FASTRAND": 2},
    "csaw_format": {"CSAW_COO": 0, "CSAW_CSR": 1},
    "csaw_saint_kind": {
        "CSAW_SAINT_NODE": 0, "CSAW_SAINT_EDGE": 1, "CSAW_SAINT_WALK": 2, "CSAW_SAINT_FRONTIER": 3,
    },
}

STRUCTS: Dict[str, Type[Structure]] = {}


def _struct(name, *fields):
    STRUCTS[name] = type(name, (Structure,), {"_fields_": list(fields)})
    return STRUCTS[name]


# ---- csaw/types.h, csaw/csaw.h; a pointer to an array is c_void_p, a string c_char_p
csaw_param = _struct(
    "csaw_param", ("name", c_char_p), ("type", c_int), ("offset", c_uint32), ("value", c_double),
    ("condition", c_char_p), ("holds", c_void_p), ("help", c_char_p))
csaw_csr = _struct(
    "csaw_csr", ("num_vertices", c_uint64), ("num_edges", c_uint64), ("rowptr", c_void_p), ("col", c_void_p),
    ("weight", c_void_p), ("type", c_void_p), ("time", c_void_p))
csaw_edges = _struct(
    "csaw_edges", ("num_vertices", c_uint64), ("num_edges", c_uint64), ("src", c_void_p), ("dst", c_void_p),
    ("weight", c_void_p), ("type", c_void_p), ("time", c_void_p))
csaw_load_options = _struct(
    "csaw_load_options", ("size", c_size_t), ("format", c_char_p), ("columns", c_char_p), ("undirected", c_bool),
    ("keep_loops", c_bool), ("keep_duplicates", c_bool), ("keep_gaps", c_bool))
csaw_names = _struct("csaw_names", ("number", c_void_p), ("text", c_void_p), ("offset", c_void_p))
csaw_rmat_options = _struct(
    "csaw_rmat_options", ("size", c_size_t), ("scale", c_uint32), ("edge_factor", c_uint32), ("a", c_double),
    ("b", c_double), ("c", c_double), ("seed", c_uint64), ("weighted", c_bool), ("directed", c_bool),
    ("keep_isolated", c_bool))
csaw_random_graph_options = _struct(
    "csaw_random_graph_options", ("size", c_size_t), ("num_vertices", c_uint64), ("num_edges", c_uint64),
    ("degree", c_void_p), ("num_degrees", c_uint64), ("seed", c_uint64), ("weighted", c_bool), ("directed", c_bool))
csaw_plan_options = _struct(
    "csaw_plan_options", ("size", c_size_t), ("device", c_char_p), ("threads", c_int), ("partitions", c_int),
    ("gpu_memory", c_uint64), ("resident", c_int), ("streams", c_int), ("described_memory", c_uint64),
    ("walks_per_seed", c_uint32), ("depth", c_uint32), ("communicator", c_void_p), ("described_ranks", c_uint32),
    ("split", c_bool), ("exchange", c_bool), ("by_visits", c_bool))
csaw_seeds = _struct("csaw_seeds", ("vertex", c_void_p), ("count", c_uint64), ("offset", c_void_p))
csaw_run_options = _struct(
    "csaw_run_options", ("size", c_size_t), ("seed", c_uint64), ("walks_per_seed", c_uint32), ("depth", c_uint32),
    ("fanout", c_void_p), ("replace", c_bool), ("select", c_int), ("edges", c_bool), ("check", c_bool),
    ("first", c_uint64), ("batch_bytes", c_uint64), ("progress", PROGRESS), ("user", c_void_p))
csaw_walks = _struct(
    "csaw_walks", ("space", c_int), ("first", c_uint64), ("num_walks", c_uint64), ("length", c_uint32),
    ("path", c_void_p), ("path_walk_stride", c_uint64), ("path_step_stride", c_uint64), ("edge", c_void_p),
    ("edge_walk_stride", c_uint64), ("edge_step_stride", c_uint64))
csaw_arcs = _struct(
    "csaw_arcs", ("space", c_int), ("first", c_uint64), ("num_instances", c_uint64), ("offset", c_void_p),
    ("src", c_void_p), ("dst", c_void_p), ("edge", c_void_p), ("depth", c_void_p), ("seed_offset", c_void_p),
    ("seed", c_void_p))
csaw_subgraph_options = _struct(
    "csaw_subgraph_options", ("size", c_size_t), ("per_instance", c_bool), ("induced", c_bool), ("arcs_only", c_bool))
csaw_subgraph_view = _struct(
    "csaw_subgraph_view", ("num_graphs", c_uint64), ("first", c_uint64), ("vertex_offset", c_void_p),
    ("vertex", c_void_p), ("rowptr", c_void_p), ("col", c_void_p), ("edge", c_void_p))
csaw_block_view = _struct(
    "csaw_block_view", ("space", c_int), ("num_dst", c_uint64), ("num_src", c_uint64), ("num_edges", c_uint64),
    ("vertex", c_void_p), ("rowptr", c_void_p), ("col", c_void_p), ("edge", c_void_p))
csaw_save_options = _struct(
    "csaw_save_options", ("size", c_size_t), ("format", c_char_p), ("plain", c_bool), ("no_header", c_bool),
    ("communicator", c_void_p))
csaw_write_options = _struct(
    "csaw_write_options", ("size", c_size_t), ("num_walks", c_uint64), ("length", c_uint32), ("format", c_char_p),
    ("edges", c_bool), ("graph", c_void_p), ("job", c_char_p), ("resume", c_bool), ("communicator", c_void_p))

# ---- csaw/spmm.h
csaw_dense = _struct(
    "csaw_dense", ("rows", c_uint64), ("cols", c_uint64), ("stride", c_uint64), ("dtype", c_int), ("data", c_void_p))
csaw_sparse = _struct(
    "csaw_sparse", ("rows", c_uint64), ("cols", c_uint64), ("num_edges", c_uint64), ("rowptr", c_void_p),
    ("col", c_void_p), ("weight", c_void_p))
csaw_prepare_options = _struct(
    "csaw_prepare_options", ("size", c_size_t), ("device", c_char_p), ("fixed_weights", c_bool), ("heads", c_uint32),
    ("stream", c_void_p), ("hubs", c_bool), ("means", c_bool))
csaw_spmm_options = _struct(
    "csaw_spmm_options", ("size", c_size_t), ("reduce", c_int), ("device", c_char_p), ("heads", c_uint32),
    ("exact", c_bool), ("arg", c_void_p), ("plan", c_void_p), ("stream", c_void_p), ("reducer", c_void_p),
    ("method", c_int))
csaw_edge_options = _struct(
    "csaw_edge_options", ("size", c_size_t), ("device", c_char_p), ("heads", c_uint32), ("exact", c_bool),
    ("stream", c_void_p))

# ---- csaw/edge_sampled.h
csaw_es_options = _struct(
    "csaw_es_options", ("size", c_size_t), ("device", c_char_p), ("method", c_int), ("width", c_uint32),
    ("reduce", c_int), ("exact", c_bool), ("seed", c_uint64), ("epoch", c_uint64), ("stream", c_void_p))

# ---- csaw/batched.h
csaw_small = _struct(
    "csaw_small", ("rows", c_uint64), ("cols", c_uint64), ("num_edges", c_uint64), ("format", c_int),
    ("row", c_void_p), ("rowptr", c_void_p), ("col", c_void_p), ("index_stride", c_uint64), ("weight", c_void_p))
csaw_small_graphs = _struct(
    "csaw_small_graphs", ("num_graphs", c_uint64), ("format", c_int), ("row_offset", c_void_p),
    ("col_offset", c_void_p), ("edge_offset", c_void_p), ("row", c_void_p), ("rowptr", c_void_p), ("col", c_void_p),
    ("index_stride", c_uint64), ("weight", c_void_p), ("global", c_bool))
csaw_batch_options = _struct("csaw_batch_options", ("size", c_size_t), ("device", c_char_p), ("stream", c_void_p))
csaw_batch_totals = _struct(
    "csaw_batch_totals", ("graphs", c_uint64), ("rows", c_uint64), ("cols", c_uint64), ("edges", c_uint64))
csaw_batched_dense = _struct(
    "csaw_batched_dense", ("rows", c_uint64), ("cols", c_uint64), ("stride", c_uint64), ("dtype", c_int),
    ("data", c_void_p), ("each", c_void_p))
csaw_batched_options = _struct(
    "csaw_batched_options", ("size", c_size_t), ("reduce", c_int), ("arg", c_void_p), ("stream", c_void_p),
    ("weight", c_void_p), ("exact", c_bool))

# ---- csaw/maxk.h
csaw_cbsr = _struct(
    "csaw_cbsr", ("rows", c_uint64), ("cols", c_uint64), ("k", c_uint64), ("dtype", c_int), ("values", c_void_p),
    ("index", c_void_p))
csaw_maxk_options = _struct("csaw_maxk_options", ("size", c_size_t), ("device", c_char_p), ("stream", c_void_p))
csaw_maxk_spmm_options = _struct(
    "csaw_maxk_spmm_options", ("size", c_size_t), ("device", c_char_p), ("reduce", c_int), ("transpose", c_void_p),
    ("stream", c_void_p), ("deterministic", c_bool), ("plan", c_void_p))

# ---- csaw/training.h
csaw_gather_options = _struct(
    "csaw_gather_options", ("size", c_size_t), ("threads", c_int), ("device", c_char_p), ("stream", c_void_p))
csaw_loader_options = _struct(
    "csaw_loader_options", ("size", c_size_t), ("batch_size", c_uint64), ("drop_last", c_bool), ("keep_order", c_bool),
    ("epochs", c_uint64), ("seed", c_uint64), ("sampler", c_void_p), ("params", c_void_p), ("depth", c_uint32),
    ("fanout", c_void_p), ("replace", c_bool), ("select", c_int), ("features", c_void_p), ("label", c_void_p),
    ("in_flight", c_uint32), ("cache_bytes", c_uint64), ("stream", c_void_p))
csaw_minibatch = _struct(
    "csaw_minibatch", ("space", c_int), ("epoch", c_uint64), ("number", c_uint64), ("num_seeds", c_uint64), ("input", c_void_p),
    ("num_vertices", c_uint64), ("vertex", c_void_p), ("blocks", c_void_p), ("features", csaw_dense),
    ("label", c_void_p), ("cached", c_uint64))
csaw_saint_options = _struct(
    "csaw_saint_options", ("size", c_size_t), ("kind", c_int), ("budget", c_uint32), ("depth", c_uint32),
    ("seed", c_uint64), ("first", c_uint64), ("count", c_uint64))
csaw_visit_options = _struct(
    "csaw_visit_options", ("size", c_size_t), ("sampler", c_void_p), ("params", c_void_p), ("walks", c_uint32),
    ("depth", c_uint32), ("top", c_uint32), ("seed", c_uint64), ("first", c_uint64), ("select", c_int),
    ("progress", PROGRESS), ("user", c_void_p))
csaw_visits_view = _struct(
    "csaw_visits_view", ("num_seeds", c_uint64), ("offset", c_void_p), ("vertex", c_void_p), ("count", c_void_p),
    ("weight", c_void_p))
csaw_negative_options = _struct(
    "csaw_negative_options", ("size", c_size_t), ("power", c_double), ("any", c_bool), ("threads", c_int),
    ("device", c_char_p), ("stream", c_void_p))
