# SPDX-License-Identifier: MIT
"""The threads of the library's OpenMP runtime sleep between loops, unless the user says otherwise; nothing else does."""
import os
import subprocess
import sys

import pytest

import csaw

POLICY = "OMP_WAIT_POLICY"


def said(**more):
    """What the runtime shows of itself as it is loaded, and the environment afterwards."""
    environment = {name: value for name, value in os.environ.items() if name != POLICY}
    code = ("import os, numpy; early = 'libgomp' in open('/proc/self/maps').read(); import csaw; "
            f"print(early, os.environ.get('{POLICY}'))")
    done = subprocess.run([sys.executable, "-c", code], check=True, env=dict(environment, OMP_DISPLAY_ENV="true", **more),
                          capture_output=True, text=True)
    early, kept = done.stdout.split()
    if early == "True":
        pytest.skip("NumPy brought the runtime before")
    return done.stderr, kept


@pytest.mark.skipif("openmp" not in csaw.version(), reason="the library has no OpenMP")
@pytest.mark.parametrize("wanted, policy", [({}, "PASSIVE"), ({POLICY: "active"}, "ACTIVE")])
def test_threads_sleep_between_loops(wanted, policy):
    shown, kept = said(**wanted)
    assert f"{POLICY} = '{policy}'" in shown
    assert kept == str(wanted.get(POLICY))
