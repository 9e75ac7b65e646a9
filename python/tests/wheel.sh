#!/bin/bash
# SPDX-License-Identifier: MIT
# wheel.sh PYTHON SOURCE - builds the wheel, without CUDA, installs it into an environment of its own, and uses it there:
# the program, a walk, a custom sampler. Its library needs neither MPI nor anything of CUDA. Skipped (77) where pip
# cannot fetch what the build needs.
set -euo pipefail
python=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH CSAW_LIBRARY CSAW_PROGRAM
"$python" -m venv "$work/venv" 2>"$work/log" || { echo "skipped: $python makes no environment: $(tail -n 1 "$work/log")"; exit 77; }
own=$work/venv/bin/python
"$own" -m pip download --quiet --dest "$work/fetched" scikit-build-core numpy 2>"$work/log" || {
    echo "skipped: pip cannot fetch scikit-build-core and numpy: $(tail -n 1 "$work/log")"
    exit 77
}
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) "$own" -m pip wheel --no-deps --wheel-dir "$work/wheels" "$source" \
    --config-settings=build-dir="$work/build" --config-settings=cmake.define.CSAW_CUDA=OFF
"$own" -m pip install --quiet --no-index --find-links "$work/wheels" --find-links "$work/fetched" csaw

cd "$work"
"$own" -m csaw --version
"$own" - <<'END'
import subprocess
from pathlib import Path

import numpy as np

import csaw

here = Path(csaw.__file__).parent
assert "site-packages" in str(here), here
library = here / "lib" / "libcsaw.so"
needed = [line for line in subprocess.check_output(["readelf", "-d", library], text=True).splitlines() if "NEEDED" in line]
assert needed and not any(name in line for line in needed for name in ("mpi", "cuda", "nvrtc")), needed
ring = csaw.Graph.from_edge_index(np.array([[0, 1, 2, 3], [1, 2, 3, 0]]))
paths = csaw.random_walk(ring, length=5)
assert np.array_equal(paths, (np.arange(4)[:, None] + np.arange(6)) % 4), paths
Path("to_three.c").write_text("""#include <csaw/sampler.h>
CSAW_FN float bias(const csaw_site *site, const csaw_arc *arc) { (void)site; return arc->dst ? 1.0f : 0.0f; }
CSAW_SAMPLER(to_three, csaw_no_params, .edge_bias = bias);
""")
ends = csaw.random_walk(ring, [1], length=4, sampler="to_three.c")
assert ends.tolist() == [[1, 2, 3, csaw.NONE, csaw.NONE]], ends
print(f"csaw {csaw.__version__} from a wheel: {len(paths) + len(ends)} walks are right")
END
