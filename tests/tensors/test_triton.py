"""The Triton kernels of CCE in Triton's interpreter, which needs no GPU."""

import pytest

from triton_process import interpreted

pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton comes with torch's builds for GPUs only")

pytestmark = pytest.mark.torch

CHECK = """
import warnings
import numpy as np, torch
import tsadeval as te
from tsadeval.torch import _cce, _triton, cce

warnings.simplefilter("ignore")  # of series with one class
_cce.kernels_for = lambda scores: _triton
rng = np.random.default_rng(0)
# Rows of whole blocks, of several and a part, of less than one; of lengths that four labels at a time divide or not.
shapes = [(1, 1000), (1, 1001), (3, 512), (3, 300), (2, 64), (5, 63), (4, 9), (1, 1), (3, 1)]
cases = [(*shape, longest) for shape in shapes for longest in (1, 7, 400)]
for number, (rows, points, longest) in enumerate(cases):
    _triton.SMALL, _triton.SIZE = 16, (64, 256)[number % 2]
    dtype = ("f4", "f8")[number // 2 % 2]
    labels = np.repeat(rng.integers(0, 2, (rows, points)), rng.integers(1, longest + 1), axis=1)[:, :points]
    if number % 3 == 0:
        labels[:, 0], labels[:, -1] = 0, 1
    scores = (rng.random((rows, points)) * 10.0 ** rng.integers(-3, 3, (rows, 1)) + 5).astype(dtype)
    lengths = rng.integers(1, points + 1, rows) if number % 5 < 2 else np.full(rows, points)
    given = torch.from_numpy(scores), torch.from_numpy(labels)
    padding = {"lengths": lengths} if number % 5 < 2 else {}
    found = cce(*given, **padding).double().numpy()
    expected = [te.cce(y[:n], s[:n]) for y, s, n in zip(labels, scores, lengths)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if dtype == "f4" else 1e-9)
    for scale, added in ((False, None), (True, None), (True, torch.rand(rows).double())):
        where = given[0], given[1] == 1, torch.from_numpy(lengths), scale, added
        (*exact, means, variances, weights), (*same, m, v, w) = _triton.run_moments(*where), _cce.by_torch(*where)
        assert all(torch.equal(a, b) for a, b in zip(exact, same))
        inside = w[:, 0] > 0
        limit = 1e-11 if scale else 1e-7  # of the largest squares
        for a, b in ((means, m), (variances, v), (weights, w)):
            np.testing.assert_allclose(a[inside], b[inside], rtol=1e-11, atol=limit)
        assert not weights[~inside].any()
# Labels that begin at an odd byte.
labels = torch.from_numpy(rng.random(1000) < 0.5)[None, 1:]
where = torch.rand(1, 999), labels, torch.tensor([999]), True, None
assert torch.equal(_triton.run_moments(*where)[4][:, 1], _cce.by_torch(*where)[4][:, 1])
# Rows that begin within four labels: the last label of a block, of the second row, is another one.
_triton.SIZE = 64
labels = torch.zeros(3, 301, dtype=torch.bool)
labels[1, 63] = True
where = torch.rand(3, 301), labels, torch.full((3,), 301), True, None
assert torch.equal(_triton.run_moments(*where)[4][:, 1], _cce.by_torch(*where)[4][:, 1])
for value in (torch.nan, torch.inf, -torch.inf):
    for broken in (torch.rand(1, 500), torch.ones(1, 500)):
        broken[0, 77] = value
        try:
            cce(broken, torch.arange(500)[None] % 100 < 9)
        except te.errors.InvalidInputError as error:
            assert "point 77" in str(error), error
        else:
            raise AssertionError(f"a score of {value} passed")
print("equal")
"""


@pytest.mark.slow
def test_the_kernels_give_what_torch_gives():
    done = interpreted(CHECK)
    assert done.stdout == "equal\n", done.stderr
