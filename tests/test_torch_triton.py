"""The Triton kernel of CCE in Triton's interpreter, which needs no GPU."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton comes with torch's builds for GPUs only")

CHECK = """
import numpy as np, torch
import tsadeval as te
from tsadeval.torch import _moments, _triton, cce

_moments._block_sums = lambda s, y, o: _moments._one_pass(s, y, *_triton.block_sums(s, y, _moments.SIZE))
rng = np.random.default_rng(0)
shapes = (1, 5000, "f4"), (3, 2048, "f4"), (3, 1700, "f4"), (2, 1024, "f8"), (1, 1024, "f4"), (4, 9, "f4")
for rows, points, dtype in shapes:
    labels = np.repeat(rng.integers(0, 2, (rows, points // 4 + 1)), 7, axis=1)[:, :points]
    labels[:, 0], labels[:, -1] = 0, 1
    scores = (rng.random((rows, points)) * 10.0 ** rng.integers(-3, 3, (rows, 1)) + 5).astype(dtype)
    found = cce(torch.from_numpy(scores), torch.from_numpy(labels)).double().numpy()
    expected = [te.cce(y, s) for y, s in zip(labels, scores)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if dtype == "f4" else 1e-9)
print("equal")
"""


def test_the_kernel_gives_what_torch_gives():
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "equal\n", done.stderr
