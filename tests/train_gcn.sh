#!/bin/bash
# SPDX-License-Identifier: MIT
# train_gcn.sh PROGRAM PYTHON - examples/train_gcn.c on Cora's public split: above 80% in the mean of three seeds, or it fails.
# Skipped (77) without CSAW_DATA or SciPy.
set -euo pipefail
planetoid=${CSAW_DATA:-}/gnn/planetoid
[ -f "$planetoid/ind.cora.x" ] || { echo "skipped: no $planetoid/ind.cora.x; set CSAW_DATA"; exit 77; }
python=${2:-python3}
"$python" -c 'import numpy, scipy' 2>/dev/null || { echo "skipped: $python has no NumPy with SciPy"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$(dirname "$0")/../examples/planetoid.py" "$planetoid" cora >"$work/cora.txt"
"$1" "$work/cora.txt" "$work/cora.svg"
[ "$(grep -c '<polyline' "$work/cora.svg")" = 3 ]
