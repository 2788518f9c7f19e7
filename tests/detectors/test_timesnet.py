"""TimesNet's parts against plain definitions, and the detector built on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tsadeval as te

torch = pytest.importorskip("torch")

import tsadeval.detectors._torch.networks as network_module
from tsadeval.detectors._torch.networks import (
    Inception,
    TimesBlock,
    TimesNetNetwork,
    convolve,
    fold,
    strongest_periods,
    unfold,
)
from tsadeval.errors import InvalidParameterError

pytestmark = pytest.mark.torch


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(5)


def seeded(make):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return make().double()


def normal(generator, *shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def sine(period, length=100):
    return torch.sin(2 * math.pi * torch.arange(length, dtype=torch.float64) / period)


@pytest.mark.parametrize("period", [2.5, 4, 5, 10, 20, 25, 50])
def test_the_strongest_period_of_a_sine_is_its_own(period, generator):
    x = torch.stack([sine(period), 3 + 2 * sine(period)], dim=-1)[None] + 0.01 * normal(generator, 1, 100, 2)
    periods, amplitudes = strongest_periods(x, 3)
    assert periods[0, 0].item() == math.ceil(period)
    assert amplitudes[0, 0] > 10 * amplitudes[0, 1]


def test_periods_are_each_windows_own_strongest_first():
    x = torch.stack([sine(20) + 0.5 * sine(10), sine(50) + 0.3 * sine(4)])[..., None]
    periods, amplitudes = strongest_periods(x, 2)
    assert periods.tolist() == [[20, 10], [50, 4]]
    np.testing.assert_allclose(amplitudes.numpy(), [[50, 25], [50, 15]], atol=1e-9)


@pytest.mark.parametrize("length", [9, 10])
def test_periods_by_the_definition(length, generator):
    """Amplitudes by the sum that defines them; periods are length / frequency, rounded up."""
    x = normal(generator, 1, length, 2)
    amplitude = {}
    for f in range(1, length // 2 + 1):
        terms = np.exp(-2j * math.pi * f * np.arange(length) / length)
        amplitude[f] = float(np.mean([abs(np.sum(x[0, :, c].numpy() * terms)) for c in range(2)]))
    best = sorted(amplitude, key=lambda f: -amplitude[f])[:3]
    periods, amplitudes = strongest_periods(x, 3)
    assert periods[0].tolist() == [math.ceil(length / f) for f in best]
    np.testing.assert_allclose(amplitudes[0].numpy(), [amplitude[f] for f in best], rtol=1e-9)


@pytest.mark.parametrize("period", range(1, 13))
def test_fold_keeps_every_point_and_unfold_brings_it_back(period, generator):
    x = normal(generator, 2, 12, 3)
    grid = fold(x, period)
    n_rows = math.ceil(12 / period)
    assert grid.shape == (2, 3, n_rows, period)
    for t in range(n_rows * period):
        expected = x[:, t] if t < 12 else torch.zeros(2, 3, dtype=torch.float64)
        assert torch.equal(grid[:, :, t // period, t % period], expected)
    assert torch.equal(unfold(grid, 12), x)


def mean_of_convolutions(inception, grid):
    """The paper's inception block: one same-size convolution a kernel, then their mean."""
    conv2d = torch.nn.functional.conv2d
    return sum(conv2d(grid, w, inception.bias, padding="same") for w in inception.weights) / len(inception.weights)


@pytest.mark.parametrize("shape", [(1, 20), (20, 1), (2, 10), (4, 5), (7, 9), (1, 1)])
def test_the_merged_convolution_is_the_mean_of_them_all(shape, generator):
    inception = seeded(lambda: Inception(2, 3, num_kernels=4))
    torch.nn.init.normal_(inception.bias, generator=generator)
    grid = normal(generator, 2, 2, *shape)
    plain = mean_of_convolutions(inception, grid)
    merged = convolve(grid, inception.merged())
    torch.testing.assert_close(merged, plain)
    parameters = list(inception.parameters())
    for ours, theirs in zip(
        torch.autograd.grad(merged.square().sum(), parameters),
        torch.autograd.grad(plain.square().sum(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


def block_by_loops(block, x):
    """The paper's block, a window and a frequency at a time, every convolution on its own."""
    found = []
    for window in x:
        periods, amplitudes = strongest_periods(window[None], block.top_k)
        weights = torch.softmax(amplitudes[0], dim=0)
        total = window[None]
        for period, weight in zip(periods[0].tolist(), weights, strict=True):
            grid = fold(window[None], period)
            for i, inception in enumerate((block.first, block.second)):
                grid = mean_of_convolutions(inception, grid)
                grid = torch.nn.functional.gelu(grid) if i == 0 else grid
            total = total + weight * unfold(grid, len(window))
        found.append(total)
    return torch.cat(found)


def test_block_equals_the_loops(generator):
    block = seeded(lambda: TimesBlock(3, 4, top_k=4, num_kernels=3))
    x = normal(generator, 5, 13, 3)
    # Frequencies 5 and 6 of 13 points both round up to a period of 3: the case of two weights on one period.
    x[0] += 20 * (sine(13 / 5, 13) + sine(13 / 6, 13))[:, None]
    assert strongest_periods(x, 4)[0][0, :2].tolist() == [3, 3]
    ours, theirs = block(x), block_by_loops(block, x)
    torch.testing.assert_close(ours, theirs)
    parameters = list(block.parameters())
    for a, b in zip(
        torch.autograd.grad(ours.square().mean(), parameters),
        torch.autograd.grad(theirs.square().mean(), parameters),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def small_network(n_columns=2, dropout=0.0):
    return seeded(
        lambda: TimesNetNetwork(n_columns, 20, d_model=4, d_ff=4, n_layers=2, top_k=2, num_kernels=3, dropout=dropout)
    )


def test_network_shape_and_gradients(generator):
    network, x = small_network(), normal(generator, 3, 20, 2)
    reconstruction = network(x)
    assert reconstruction.shape == x.shape
    (reconstruction - x).square().mean().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert (parameter.grad != 0).any(), name


def test_network_follows_each_windows_level_and_scale(generator):
    """Instance normalisation: what is shifted and scaled on the way in is so on the way out."""
    network, x = small_network(), normal(generator, 3, 20, 2)
    shift, scale = torch.tensor([100.0, -7.0]), torch.tensor([50.0, 3.0])
    torch.testing.assert_close(network(x * scale + shift), network(x) * scale + shift, rtol=1e-3, atol=1e-3)


def test_network_takes_constant_windows(generator):
    network = small_network()
    reconstruction = network(torch.full((2, 20, 2), 5.0, dtype=torch.float64))
    reconstruction.sum().backward()
    torch.testing.assert_close(reconstruction, torch.full_like(reconstruction, 5.0), rtol=0, atol=0.1)
    assert all(p.grad.isfinite().all() for p in network.parameters())


def test_a_window_does_not_depend_on_its_batch(generator):
    network, x = small_network(), normal(generator, 6, 20, 2)
    torch.testing.assert_close(network(x)[2:3], network(x[2:3]))


def test_weights_that_underflow_are_skipped(generator, monkeypatch):
    """One amplitude far above the others: only its period is convolved, and that changes nothing."""
    block = seeded(lambda: TimesBlock(3, 4, top_k=2, num_kernels=2))
    x = 100 * sine(5, 20)[None, :, None] + normal(generator, 1, 20, 3)
    expected, folded = block_by_loops(block, x), []
    monkeypatch.setattr(network_module, "fold", lambda x, period: folded.append(period) or fold(x, period))
    torch.testing.assert_close(block(x), expected)
    assert folded == [5]


SMALL = "timesnet(window=40, d_model=8, d_ff=8, num_kernels=3, learning_rate=3e-3, batch_size=32, epochs=1)"


@pytest.mark.slow
def test_the_detector_finds_another_rhythm():
    rng = np.random.default_rng(0)

    def wave(n, period):
        return np.sin(2 * math.pi * np.arange(n)[:, None] / period + np.arange(2))

    train = wave(1200, 20) + 0.1 * rng.normal(size=(1200, 2))
    test, labels = wave(900, 20), np.zeros(900, dtype=bool)
    for start in (150, 400, 650):
        test[start : start + 30], labels[start : start + 30] = wave(30, 7), True
    test += 0.1 * rng.normal(size=test.shape)
    found = te.metrics.auc_roc(labels, te.detectors.make(SMALL).fit(train).score(test))
    assert found > 0.85  # 0.91 to 0.97 for seeds 0 to 3
    assert found > te.metrics.auc_roc(labels, te.detectors.make("random").fit(train).score(test)) + 0.2


@pytest.mark.parametrize(("coverage", "stride"), [(1, 40), (10, 4), (40, 1), (100, 1)])
def test_coverage_says_how_far_windows_are_apart(coverage, stride):
    assert te.detectors.make("timesnet", window=40, coverage=coverage).scoring_stride == stride


def test_the_learning_rate_halves_from_the_third_epoch_on():
    detector = te.detectors.make("timesnet")
    assert [detector.learning_rate_at(epoch) for epoch in range(1, 5)] == [1e-4, 1e-4, 5e-5, 2.5e-5]


def test_a_window_has_only_so_many_periods():
    with pytest.raises(InvalidParameterError, match="at most half the window, but is 3 with a window of 5"):
        te.detectors.make("timesnet(window=5)").fit(np.arange(20.0))
