"""The GPU kernels of TimesNet's convolution in Triton's interpreter, against the convolution of folded windows."""

import pytest

from triton_process import interpreted

pytest.importorskip("torch")
pytest.importorskip("triton", reason="Triton comes with torch's builds for GPUs only")

pytestmark = pytest.mark.torch

CHECK = """
import torch
from tsadeval.detectors._torch import folding, timesnet

torch.backends.cudnn.allow_tf32 = False
generator = torch.Generator().manual_seed(0)
rand = lambda *shape: torch.randn(shape, generator=generator, requires_grad=True)
for length, n_in, n_out, reach, shared in ((20, 3, 5, 2, 2), (13, 16, 4, 1, 1)):
    x, weight, bias = rand(3, length, n_in), rand(n_out, n_in, 2 * reach + 1, 2 * reach + 1), rand(n_out)
    periods = torch.tensor([length, 7, 2, 3, 5, 4][: 3 * shared])
    found = folding.FoldedConvolution.apply(x, weight, bias, periods, length)
    room = folding.room_for(length)
    assert found.shape == (3 * shared, room, n_out)
    parts = []
    for number, period in enumerate(periods.tolist()):
        grid = timesnet.fold(x[number // shared][None], period)
        grid = timesnet.convolve(grid, (weight, bias))
        flat = timesnet.unfold(grid, grid.shape[2] * period)
        parts.append(torch.nn.functional.pad(flat, (0, 0, 0, room - flat.shape[1])))
    expected = torch.cat(parts)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    slopes = torch.randn(found.shape, generator=generator) * (expected.detach() != 0)
    a = torch.autograd.grad((found * slopes).sum(), (x, weight, bias))
    b = torch.autograd.grad((expected * slopes).sum(), (x, weight, bias))
    for one, other in zip(a, b):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
block = timesnet.TimesBlock(20, 4, 6, 3, 2)
x = rand(5, 20, 4)
periods, amplitudes = timesnet.strongest_periods(x, 3)
weights = torch.softmax(amplitudes, dim=1)
found = x + timesnet._all_at_once(x, periods, weights, block.first.merged(), block.second.merged())
torch.testing.assert_close(found, block(x), rtol=1e-4, atol=1e-4)
torch.backends.cudnn.allow_tf32 = True
x, weight, bias = rand(1, 20, 3), rand(5, 3, 3, 3), rand(5)
found = folding.FoldedConvolution.apply(x, weight, bias, torch.tensor([7]), 20)
expected = timesnet.unfold(timesnet.convolve(timesnet.fold(x, 7), (weight, bias)), 21)
away = (found[:, :21] - expected).norm() / expected.norm()
assert 1e-5 < away < 5e-4, away  # as of products with 10 bits, rounded
print("equal")
"""


@pytest.mark.slow
def test_the_kernels_convolve_as_torch_does():
    done = interpreted(CHECK)
    assert done.stdout == "equal\n", done.stderr
