#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench/peers/torch_sparse.sh SDISTS OUT: torch-scatter and torch-sparse (Fey), which torch_geometric's NeighborLoader
# samples with where pyg-lib is not there, for the PyTorch of PYTHON (python3), into OUT, a folder for PYTHONPATH. SDISTS
# has their sdists, torch_scatter-*.tar.gz and torch_sparse-*.tar.gz, one of each, such as come from
#
#   pip download --no-deps --no-binary :all: --no-build-isolation torch-scatter==2.1.2 torch-sparse==0.6.18
#
# Their parts for the CPU alone, all that sampling has, with CXX (g++) and JOBS (all cores) files at a time: setup.py
# compiles two. Needs no ninja, no headers of Python and no network; headers of PyTorch are precompiled, or else each of
# the 30 files takes the better part of a minute. Then NeighborLoader draws a batch, if torch_geometric is there.
# OUT/log has what the compiler said; a folder that is complete already is left as it is.
set -eu
sdists=${1:?give the folder of the sdists}
out=${2:?give a folder for the packages}
python=${PYTHON:-python3} cxx=${CXX:-g++} jobs=${JOBS:-$(nproc)}
if [ -e "$out/complete" ]; then echo "$out is complete"; exit 0; fi
mkdir -p "$out/build"
sdists=$(cd "$sdists" && pwd) out=$(cd "$out" && pwd)
begin=$SECONDS
trap 'tail -n 20 "$out/log" >&2; echo "torch_sparse.sh: not built; $out/log has all of it" >&2' ERR

# ---- what torch was built with: its own builder of extensions knows
"$python" - > "$out/build/flags" <<'END'
import inspect
import re
from torch import __config__, _C
from torch.utils import cpp_extension
standard = re.search(r"-std=(c\+\+\d\d)", inspect.getsource(cpp_extension)).group(1)
flags = [f"-std={standard}", f"-D_GLIBCXX_USE_CXX11_ABI={int(_C._GLIBCXX_USE_CXX11_ABI)}"]
if "backend: OpenMP" in __config__.parallel_info():
    flags += ["-DAT_PARALLEL_OPENMP", "-fopenmp"]
print(*flags, *(f"-isystem {path}" for path in cpp_extension.include_paths()))
print(*(f"-L{path} -Wl,-rpath,{path}" for path in cpp_extension.library_paths()))
END
{ read -r flags; read -r libraries; } < "$out/build/flags"
flags="-O3 -fPIC $flags" # -O3 as setup.py has it
cd "$out/build"
printf '#include <torch/torch.h>\n#include <torch/script.h>\n' > pre.h
# shellcheck disable=SC2086 # flags are several words
"$cxx" $flags -x c++-header pre.h -o pre.h.gch > "$out/log" 2>&1

# ---- every file, then every library
files=() names=()
for package in torch_scatter torch_sparse; do
    archive=$(ls "$sdists/$package"-*.tar.gz)
    tar -xzf "$archive"
    source=$out/build/$(basename "$archive" .tar.gz)
    rm -rf "${out:?}/$package"
    cp -r "$source/$package" "$out/$package"
    for file in "$source"/csrc/*.cpp; do
        name=$(basename "$file" .cpp)
        names+=("$package/_$name")
        files+=("$file" "${package}_$name.o" "$source")
        half=$source/csrc/cpu/${name}_cpu.cpp
        if [ -e "$half" ]; then files+=("$half" "${package}_$name.cpu.o" "$source"); fi
    done
done
# shellcheck disable=SC2016 # $0 and $1 are the inner shell's
printf '%s\0' "${files[@]}" | xargs -0 -n 3 -P "$jobs" sh -c "exec \"$cxx\" $flags -include pre.h -I\"\$2/csrc\" \
    -I\"\$2/third_party/parallel-hashmap\" -c \"\$0\" -o \"\$1\"" >> "$out/log" 2>&1
for name in "${names[@]}"; do
    # shellcheck disable=SC2086
    "$cxx" -shared -s -fopenmp "${name//\/_/_}".*o -o "$out/${name}_cpu.so" $libraries -ltorch -ltorch_cpu -lc10 \
        >> "$out/log" 2>&1
done

# ---- a batch
PYTHONPATH=$out${PYTHONPATH:+:$PYTHONPATH} "$python" - <<'END'
import importlib.util
import torch
import torch_scatter
import torch_sparse
print("torch-scatter", torch_scatter.__version__, "and torch-sparse", torch_sparse.__version__, "of torch",
      torch.__version__)
if importlib.util.find_spec("torch_geometric"):
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader
    ring = torch.arange(12)
    data = Data(edge_index=torch.stack([ring, (ring + 1) % 12]), num_nodes=12)
    batch = next(iter(NeighborLoader(data, [1, 1], torch.tensor([5]), batch_size=1)))
    assert batch.n_id.tolist() == [5, 4, 3] and batch.edge_index.tolist() == [[1, 2], [0, 1]], batch
END
cd "$out"
rm -r build
touch complete
echo "$out after $((SECONDS - begin)) s"
