"""TimesNet's convolution of windows that are folded along periods of their own, as one GPU kernel for all windows.

Windows of one period could share a convolution; but how many there are differs from batch to batch, so a GPU would be
asked for hundreds of small kernels a step, and the step could not be recorded. Here each window is one program that
steps over the taps of its own picture: tap (i, j) of a window of period p is the point i p + j further on.

Triton may be missing; then windows are grouped by period, as on a CPU.
"""

# Triton has no types for the pointers and blocks that its kernels take, nor for its decorator.
# mypy: disable-error-code="untyped-decorator, no-untyped-def"

from typing import Any

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

# Numbers of a point that a program holds at once.
LARGEST = 128
# Parts of the windows whose weight gradients are summed by programs of their own.
PARTS = 8

if triton is not None:

    @triton.jit
    def _rounded(values, FAST: tl.constexpr):
        """To the 10 bits that TF32 units read, which would cut the others off: three times the error."""
        if FAST:
            bits = values.to(tl.int32, bitcast=True)
            values = ((bits + 0x1000) & -0x2000).to(tl.float32, bitcast=True)
        return values

    @triton.jit
    def _product(a, b, total, FAST: tl.constexpr):
        if FAST:
            total = tl.dot(_rounded(a, FAST), _rounded(b, FAST), total, input_precision="tf32")
        else:
            total = tl.dot(a, b, total, input_precision="ieee")
        return total

    @triton.jit
    def _convolve(
        x, weight, bias, periods, y, length, points, shared, n_in, n_out, reach,
        POINTS: tl.constexpr, IN: tl.constexpr, OUT: tl.constexpr, HAS_BIAS: tl.constexpr, FAST: tl.constexpr,
    ):  # fmt: skip
        """y of one picture; x has `points` points, of which `length` are filled, and is shared by so many pictures."""
        picture = tl.program_id(0).to(tl.int64)
        period = tl.load(periods + picture).to(tl.int32)
        high = (length + period - 1) // period
        at, ins, outs = tl.arange(0, POINTS), tl.arange(0, IN), tl.arange(0, OUT)
        row, column = at // period, at % period
        inside = row < high
        total = tl.zeros((POINTS, OUT), tl.float32)
        if HAS_BIAS:
            total += tl.load(bias + outs, mask=outs < n_out, other=0.0)[None, :]
        up, left = tl.minimum(reach, high - 1), tl.minimum(reach, period - 1)
        across = 2 * left + 1
        for tap in range((2 * up + 1) * across):
            i, j = tap // across - up, tap % across - left
            source = at + i * period + j
            met = inside & (row + i >= 0) & (row + i < high) & (column + j >= 0) & (column + j < period)
            met = met & (source < points)
            values = tl.load(
                x + ((picture // shared) * points + source[:, None]) * n_in + ins[None, :],
                mask=met[:, None] & (ins < n_in)[None, :],
                other=0.0,
            )
            kernel = tl.load(
                weight + (((i + reach) * (2 * reach + 1) + j + reach) * n_in + ins[:, None]) * n_out + outs[None, :],
                mask=(ins < n_in)[:, None] & (outs < n_out)[None, :],
                other=0.0,
            )
            total = _product(values, kernel, total, FAST)
        total = tl.where(inside[:, None], total, 0.0)
        tl.store(y + (picture * POINTS + at[:, None]) * n_out + outs[None, :], total, mask=(outs < n_out)[None, :])

    @triton.jit
    def _gradient(
        x, g, periods, result, pictures, length, points, shared, n_in, n_out, reach,
        POINTS: tl.constexpr, IN: tl.constexpr, OUT: tl.constexpr, PARTS: tl.constexpr, FAST: tl.constexpr,
    ):  # fmt: skip
        """The gradient of the weights of one tap, summed over every PARTS-th picture."""
        tap, part = tl.program_id(0), tl.program_id(1)
        i, j = tap // (2 * reach + 1) - reach, tap % (2 * reach + 1) - reach
        at, ins, outs = tl.arange(0, POINTS), tl.arange(0, IN), tl.arange(0, OUT)
        total = tl.zeros((IN, OUT), tl.float32)
        wide = tl.full([], 1, tl.int64)
        for picture in range(part, pictures, PARTS):
            period = tl.load(periods + picture).to(tl.int32)
            high = (length + period - 1) // period
            meets = (tl.abs(i) < high) & (tl.abs(j) < period)
            if meets:
                row, column = at // period, at % period
                source = at + i * period + j
                met = (row < high) & (row + i >= 0) & (row + i < high) & (column + j >= 0) & (column + j < period)
                met = met & (source < points)
                values = tl.load(
                    x + ((picture // shared) * wide * points + source[None, :]) * n_in + ins[:, None],
                    mask=met[None, :] & (ins < n_in)[:, None],
                    other=0.0,
                )
                slopes = tl.load(
                    g + (picture * wide * POINTS + at[:, None]) * n_out + outs[None, :],
                    mask=met[:, None] & (outs < n_out)[None, :],
                    other=0.0,
                )
                total = _product(values, slopes, total, FAST)
        taps = (2 * reach + 1) * (2 * reach + 1)
        tl.store(
            result + ((part * taps + tap) * n_in + ins[:, None]).to(tl.int64) * n_out + outs[None, :],
            total,
            mask=(ins < n_in)[:, None] & (outs < n_out)[None, :],
        )


def usable(window: int, *channels: int) -> bool:
    """Return True if there are kernels for windows of this many points and channels."""
    return triton is not None and torch.cuda.is_available() and max(room_for(window), *channels) <= LARGEST


def room_for(window: int) -> int:
    """Points of a window with what any of its periods fills up, as a power of two."""
    longest = max(-(-window // p) * p for p in {-(-window // f) for f in range(1, window // 2 + 1)})
    return max(16, 1 << (longest - 1).bit_length())


class FoldedConvolution(torch.autograd.Function):
    """Pictures (n, room, channels out) from windows (n / shared, points, channels in), folded by `periods` (n,).

    Weights are (out, in, size, size). Behind the end of its last period a picture is 0. TF32 is used where torch lets
    itself convolve with it, which it does by default.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, periods: Tensor, length: int) -> Tensor:
        """The same as `convolve` of the folded windows."""
        x, taps = x.contiguous(), weight.permute(2, 3, 1, 0).contiguous()
        ctx.save_for_backward(x, weight, periods)
        ctx.length = length
        return _launch(x, taps, bias, periods, length)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """A convolution of the gradient with the mirrored weights, and the products of both."""
        x, weight, periods = ctx.saved_tensors
        g, (rows, points, n_in), length = g.contiguous(), x.shape, ctx.length
        shared = len(periods) // rows
        turned = weight.flip(2, 3).permute(2, 3, 0, 1).contiguous()
        back = None
        if ctx.needs_input_grad[0]:
            back = _launch(g, turned, None, periods, length)[:, :points]
            back = back.reshape(rows, shared, points, n_in).sum(1)
        n_out, reach = weight.shape[0], weight.shape[2] // 2
        taps = (2 * reach + 1) ** 2
        parts = torch.empty((PARTS, taps, n_in, n_out), dtype=x.dtype, device=x.device)
        with torch.cuda.device_of(x):  # type: ignore[no-untyped-call]  # untyped in torch
            _gradient[(taps, PARTS)](
                x, g, periods, parts, len(periods), length, points, shared, n_in, n_out, reach,
                POINTS=g.shape[1], IN=_block(n_in), OUT=_block(n_out), PARTS=PARTS,
                FAST=torch.backends.cudnn.allow_tf32,
            )  # fmt: skip
        slopes = parts.sum(0).view(2 * reach + 1, 2 * reach + 1, n_in, n_out).permute(3, 2, 0, 1)
        return back, slopes, g.sum((0, 1)), None, None


def _launch(x: Tensor, taps: Tensor, bias: Tensor | None, periods: Tensor, length: int) -> Tensor:
    rows, points, n_in = x.shape
    n_out, reach, room = taps.shape[3], taps.shape[0] // 2, room_for(length)
    y = torch.empty((len(periods), room, n_out), dtype=x.dtype, device=x.device)
    with torch.cuda.device_of(x):  # type: ignore[no-untyped-call]  # untyped in torch
        _convolve[(len(periods),)](
            x, taps, taps if bias is None else bias, periods, y, length, points, len(periods) // rows,
            n_in, n_out, reach,
            POINTS=room, IN=_block(n_in), OUT=_block(n_out), HAS_BIAS=bias is not None,
            FAST=torch.backends.cudnn.allow_tf32,
        )  # fmt: skip
    return y


def _block(channels: int) -> int:
    return max(16, 1 << (channels - 1).bit_length())
