# SPDX-License-Identifier: MIT
"""The Python of docs/python.md runs as it stands (README.md's: test_readme.py), and python -m csaw is the program."""
import re
import subprocess
import sys
from importlib.util import find_spec

import csaw

from conftest import ROOT


def examples(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S)


def test_examples_run(tmp_path, python):
    found = examples("docs/python.md")
    assert found
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    if find_spec("torch") is None:
        found = [text for text in found if "torch" not in text]
    python("\n".join(found), cwd=tmp_path)


def test_python_m_csaw(python):
    done = subprocess.run([sys.executable, "-m", "csaw", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"csaw {csaw.version()}\n"
    assert subprocess.run([sys.executable, "-m", "csaw", "nonsense"], capture_output=True).returncode == 2


def test_version():
    assert f"project(csaw VERSION {csaw.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_only_numpy_is_imported(python):
    """SciPy, PyTorch, NetworkX and tqdm come in when they are asked for."""
    out = python("import csaw, sys; print(sorted({'scipy', 'torch', 'networkx', 'tqdm'} & set(sys.modules)))")
    assert out == "[]\n"
