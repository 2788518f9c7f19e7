"""TimesNet's network: windows folded along their own periods into pictures, and convolved there.

A point's neighbours in a folded window are the points beside it and the points one period away, so one
two-dimensional convolution sees the variation within a period and between periods.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from tsadeval.detectors._torch.networks import Embedding

# A convolution's weight (out, in, height, width) and bias (out,).
Kernel = tuple[Tensor, Tensor]


def strongest_periods(x: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """Periods and amplitudes of each window's `top_k` strongest frequencies, strongest first: (batch, top_k) each."""
    length = x.shape[1]
    amplitude = torch.fft.rfft(x, dim=1).abs().mean(dim=-1)
    # Frequency 0 is the mean, not a period.
    strongest, index = amplitude[:, 1:].topk(top_k, dim=1)
    frequency = index + 1
    return (length + frequency - 1) // frequency, strongest


def fold(x: Tensor, period: int) -> Tensor:
    """(batch, length, channels) to (batch, channels, periods, period), filled up with zeros behind the end."""
    missing = -x.shape[1] % period
    filled = functional.pad(x, (0, 0, 0, missing))
    return filled.reshape(len(x), -1, period, x.shape[2]).permute(0, 3, 1, 2)


def unfold(grid: Tensor, length: int) -> Tensor:
    """The inverse of `fold`: what was filled up is cut off."""
    return grid.permute(0, 2, 3, 1).flatten(1, 2)[:, :length]


class Inception(nn.Module):
    """The mean of several square convolutions of sizes 1, 3, 5, ...: written as the one convolution it equals.

    Convolution is linear, so the mean of the results is the result of the mean kernel, the smaller kernels set into
    the middle of the largest. One pass of 121 weights stands for six of 286 in all.
    """

    def __init__(self, n_in: int, n_out: int, num_kernels: int) -> None:
        super().__init__()
        sizes = range(1, 2 * num_kernels, 2)
        self.weights = nn.ParameterList(torch.empty(n_out, n_in, size, size) for size in sizes)
        for weight in self.weights:
            nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu")
        self.bias = nn.Parameter(torch.zeros(n_out))

    def merged(self) -> Kernel:
        """The mean kernel and the bias."""
        reach = len(self.weights) - 1
        middled = [functional.pad(weight, (reach - i,) * 4) for i, weight in enumerate(self.weights)]
        return torch.stack(middled).mean(dim=0), self.bias


def convolve(grid: Tensor, kernel: Kernel) -> Tensor:
    """Same-size convolution, the kernel cut to what can meet the grid: beyond that it would meet only the padding."""
    weight, bias = kernel
    reach = weight.shape[-1] // 2
    high, wide = (min(reach, size - 1) for size in grid.shape[-2:])
    cut = functional.pad(weight, (wide - reach, wide - reach, high - reach, high - reach))
    return functional.conv2d(grid, cut, bias, padding=(high, wide))


class TimesBlock(nn.Module):
    """The window plus what its strongest periods say of it, each weighted by the softmax of its amplitude.

    Each window is folded along its own periods, as in the paper: what a window gives does not depend on which others
    share its batch. (The published code takes the periods of the batch's mean.) Windows of one period go together.
    """

    def __init__(self, d_model: int, d_ff: int, top_k: int, num_kernels: int) -> None:
        super().__init__()
        self.top_k = top_k
        self.first = Inception(d_model, d_ff, num_kernels)
        self.second = Inception(d_ff, d_model, num_kernels)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, d_model) to the same."""
        periods, amplitudes = strongest_periods(x, self.top_k)
        weights = torch.softmax(amplitudes, dim=1)
        first, second = self.first.merged(), self.second.merged()
        result = x
        # Where one amplitude towers over the others, their weights underflow. They would change nothing but the time:
        # gradients too small for normal floats slow a CPU's convolutions fifty times.
        counts = weights > torch.finfo(x.dtype).eps
        for period, rows, weight in _by_period(torch.where(counts, periods, 0), weights):
            grid = fold(x.index_select(0, rows), period)
            grid = convolve(functional.gelu(convolve(grid, first)), second)
            result = result.index_add(0, rows, weight[:, None, None] * unfold(grid, x.shape[1]))
        return result


def _by_period(periods: Tensor, weights: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Each period except 0, the windows that have it and their weights, from (batch, top_k) of both.

    The periods are fetched once for all windows: a GPU that is asked for each period by itself mostly waits.
    """
    count = len(periods)
    pairs, order = (periods * count + torch.arange(count, device=periods.device)[:, None]).flatten().sort()
    # Two frequencies of one window can have the same period: then their weights add up.
    pairs, place = torch.unique_consecutive(pairs, return_inverse=True)
    weight = weights.new_zeros(len(pairs)).index_add(0, place, weights.flatten()[order])
    found, sizes = torch.unique_consecutive(pairs // count, return_counts=True)
    rows, shares = (torch.split(x, sizes.tolist()) for x in (pairs % count, weight))
    for period, own, share in zip(found.tolist(), rows, shares, strict=True):
        if period > 0:
            yield period, own, share


class TimesNetNetwork(nn.Module):
    """Reconstructs windows, each normalised by its own mean and deviation on the way in and back on the way out."""

    def __init__(
        self,
        n_columns: int,
        window: int,
        d_model: int,
        d_ff: int,
        n_layers: int,
        top_k: int,
        num_kernels: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding = Embedding(n_columns, window, d_model, dropout)
        self.blocks = nn.ModuleList(TimesBlock(d_model, d_ff, top_k, num_kernels) for _ in range(n_layers))
        self.static = False  # a step depends on the periods found
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.projection = nn.Linear(d_model, n_columns)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, window, columns) to its reconstruction."""
        mean = x.mean(dim=1, keepdim=True)
        # The small term keeps constant columns, whose deviation is zero, out of a division by zero.
        deviation = (x.var(dim=1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        hidden = self.embedding((x - mean) / deviation)
        for block, norm in zip(self.blocks, self.norms, strict=True):
            hidden = norm(block(hidden))
        reconstruction: Tensor = self.projection(hidden) * deviation + mean
        return reconstruction
