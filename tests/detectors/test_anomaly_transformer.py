"""The Anomaly Transformer's formulas against plain loops, its two phases, and the detector built on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tsadeval as te

torch = pytest.importorskip("torch")

from tsadeval.detectors._torch.networks import (
    TINY,
    AnomalyTransformerNetwork,
    anomaly_score,
    association_discrepancy,
    minimax_loss,
    positions,
    prior_association,
    widths,
)
from tsadeval.errors import InvalidParameterError

pytestmark = pytest.mark.torch

BATCH, WINDOW, COLUMNS, HEADS = 3, 12, 2, 2


def rows(generator, *shape):
    """Random rows that sum to one."""
    return torch.softmax(2 * torch.randn(*shape, generator=generator, dtype=torch.float64), dim=-1)


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(5)


@pytest.fixture
def network(generator):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return AnomalyTransformerNetwork(
            COLUMNS, WINDOW, d_model=8, n_heads=HEADS, d_ff=8, n_layers=2, dropout=0.0
        ).double()


@pytest.fixture
def x(generator):
    return torch.randn(BATCH, WINDOW, COLUMNS, generator=generator, dtype=torch.float64)


def discrepancy_by_loops(prior, series):
    """KL(P || S) + KL(S || P) of every row, one term at a time, mean over the heads."""
    found = np.zeros((prior.shape[0], prior.shape[2]))
    for b, h, i, j in np.ndindex(*prior.shape):
        p, s = prior[b, h, i, j], series[b, h, i, j]
        forth = p * (math.log(p + TINY) - math.log(s + TINY))
        back = s * (math.log(s + TINY) - math.log(p + TINY))
        found[b, i] += (forth + back) / prior.shape[1]
    return found


def test_discrepancy_equals_the_loops(generator):
    prior, series = rows(generator, 2, HEADS, 5, 5), rows(generator, 2, HEADS, 5, 5)
    found = association_discrepancy(prior, series)
    np.testing.assert_allclose(found.numpy(), discrepancy_by_loops(prior.numpy(), series.numpy()), rtol=1e-12)
    assert (found > 0).all()
    assert torch.equal(found, association_discrepancy(series, prior))
    assert (association_discrepancy(prior, prior) == 0).all()


def test_prior_equals_the_gaussian(generator):
    sigma = 0.1 + 2 * torch.rand(1, 1, 6, generator=generator, dtype=torch.float64)
    place = torch.arange(6, dtype=torch.float64)
    found = prior_association(sigma, (place[:, None] - place).square())[0, 0].numpy()
    for i in range(6):
        s = sigma[0, 0, i].item()
        density = [math.exp(-((j - i) ** 2) / (2 * s**2)) / (math.sqrt(2 * math.pi) * s) for j in range(6)]
        np.testing.assert_allclose(found[i], np.array(density) / sum(density), rtol=1e-12)


def test_prior_of_the_narrowest_gaussian_is_finite():
    sigma = widths(torch.tensor([[[-1e6] * 100]]))
    place = torch.arange(100.0)
    found = prior_association(sigma, (place[:, None] - place).square())
    assert torch.equal(found[0, 0], torch.eye(100))
    assert association_discrepancy(found, torch.full_like(found, 0.01)).isfinite().all()


def test_widths_stay_between_zero_and_two():
    found = widths(torch.tensor([-100.0, -1.0, 0.0, 1.0, 100.0]))
    assert (found > 0).all()
    assert (found < 2.001).all()
    assert (found.diff() > 0).all()
    assert found[2].item() == pytest.approx(math.sqrt(3) - 1, abs=1e-4)


@pytest.mark.parametrize("d_model", [5, 6])
def test_positions(d_model):
    found = positions(4, d_model)
    assert found.shape == (4, d_model)
    for place in range(4):
        for column in range(d_model):
            angle = place / 10000 ** (column // 2 * 2 / d_model)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert found[place, column].item() == pytest.approx(expected, abs=1e-6)


def test_network_shapes_and_rows_that_sum_to_one(network, x):
    reconstruction, layers = network(x)
    assert reconstruction.shape == x.shape
    assert len(layers) == 2
    for associations in layers:
        for association in associations:
            assert association.shape == (BATCH, HEADS, WINDOW, WINDOW)
            torch.testing.assert_close(association.sum(dim=-1), torch.ones(BATCH, HEADS, WINDOW, dtype=torch.float64))


def gradients(network, loss):
    found = torch.autograd.grad(loss, list(network.parameters()), retain_graph=True, allow_unused=True)
    names = [name for name, _ in network.named_parameters()]
    return {name: torch.zeros(()) if g is None else g for name, g in zip(names, found, strict=True)}


def phases(network, x, weight):
    """The paper's two losses as written there: one holds S, the other holds P."""
    reconstruction, layers = network(x)
    error = ((x - reconstruction) ** 2).mean()
    to_series = sum(association_discrepancy(p, s.detach()).mean() for p, s in layers) / len(layers)
    from_prior = sum(association_discrepancy(p.detach(), s).mean() for p, s in layers) / len(layers)
    return error + weight * to_series, error - weight * from_prior


def test_one_backward_pass_gives_the_gradients_of_both_phases(network, x):
    minimise, maximise = phases(network, x, 3.0)
    first, second = gradients(network, minimise), gradients(network, maximise)
    found = gradients(network, minimax_loss(x, *network(x), 3.0))
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, first[name] + second[name], msg=name)
        assert (gradient != 0).any() or name.endswith("key.bias"), name  # a key's bias shifts whole rows of a softmax


def test_each_phase_moves_its_own_association(network, x):
    """In the last layer sigma is the prior's alone, query and key are the series' alone."""
    with_prior, with_series = phases(network, x, 3.0)
    error = ((x - network(x)[0]) ** 2).mean()
    minimise, maximise, plain = (gradients(network, loss) for loss in (with_prior, with_series, error))
    last = "layers.1.attention."
    for part in ("query.weight", "key.weight"):
        torch.testing.assert_close(minimise[last + part], plain[last + part])
        assert not torch.allclose(maximise[last + part], plain[last + part])
    assert (plain[last + "sigma.weight"] == 0).all()
    assert (maximise[last + "sigma.weight"] == 0).all()
    assert (minimise[last + "sigma.weight"] != 0).any()


def test_a_step_of_each_phase_goes_its_way(network, x):
    """Down the loss: the prior's own weights shrink the discrepancy, the series' own enlarge it."""

    def discrepancy():
        return association_discrepancy(*network(x)[1][-1]).mean()

    before = discrepancy()
    reconstruction, layers = network(x)
    only = minimax_loss(reconstruction.detach(), reconstruction.detach(), layers, 3.0)
    attention = network.layers[-1].attention
    for parameter, way in ((attention.sigma.weight, -1), (attention.query.weight, 1)):
        (gradient,) = torch.autograd.grad(only, parameter, retain_graph=True)
        with torch.no_grad():
            parameter -= 1e-3 * gradient / gradient.norm()
            assert math.copysign(1, discrepancy() - before) == way
            parameter += 1e-3 * gradient / gradient.norm()


def test_score_equals_its_formula(network, x):
    with torch.no_grad():
        reconstruction, layers = network(x)
        found = anomaly_score(x, reconstruction, layers, temperature=0.5).numpy()
    total = sum(discrepancy_by_loops(p.numpy(), s.numpy()) for p, s in layers)
    for b in range(BATCH):
        weight = np.exp(-0.5 * total[b])
        error = ((x[b] - reconstruction[b]) ** 2).mean(dim=-1).numpy()
        np.testing.assert_allclose(found[b], weight / weight.sum() * error, rtol=1e-9)


def test_a_window_does_not_depend_on_its_batch(network, x):
    with torch.no_grad():
        together = anomaly_score(x, *network(x), temperature=5.0)
        alone = anomaly_score(x[1:2], *network(x[1:2]), temperature=5.0)
    torch.testing.assert_close(alone, together[1:2])


SMALL = "anomaly_transformer(window=40, d_model=64, d_ff=64, learning_rate=2e-4, batch_size=32, epochs=1)"


@pytest.mark.slow
def test_the_detector_finds_where_a_rhythm_rests():
    """Resting points have none of their kind elsewhere in the window; their values are nothing unusual."""
    rng = np.random.default_rng(0)
    train = np.sin(2 * math.pi * np.arange(800) / 20) + 0.1 * rng.normal(size=800)
    test, labels = np.sin(2 * math.pi * np.arange(900) / 20), np.zeros(900, dtype=bool)
    for start in (150, 400, 650):
        test[start : start + 30], labels[start : start + 30] = 0, True
    test += 0.1 * rng.normal(size=900)
    detector = te.detectors.make(SMALL).fit(train)
    found = te.metrics.auc_roc(labels, detector.score(test))
    assert found > 0.8  # 0.87 to 0.92 for seeds 0 to 4
    assert found > te.metrics.auc_roc(labels, te.detectors.make("random").fit(train).score(test)) + 0.2
    by_errors_alone = detector.set_params(temperature=0.0).score(test)
    assert found > te.metrics.auc_roc(labels, by_errors_alone) + 0.2


def test_most_weights_of_a_window_are_told_apart():
    """At the usual temperature single precision would round most of them to zero."""
    discrepancy = torch.linspace(0, 4, 50)
    prior = torch.softmax(discrepancy[:, None] * torch.eye(50), dim=-1)[None, None]
    series = torch.full_like(prior, 1 / 50)
    x = torch.ones(1, 50, 1)
    found = anomaly_score(x, torch.zeros_like(x), [(prior, series)] * 3, temperature=50.0)
    assert torch.softmax(-150 * association_discrepancy(prior, series), dim=-1).unique().numel() < 50
    assert found.unique().numel() == 50


@pytest.mark.parametrize(("coverage", "stride"), [(1, 40), (2, 20), (3, 13), (40, 1), (100, 1)])
def test_coverage_says_how_far_windows_are_apart(coverage, stride):
    assert te.detectors.make("anomaly_transformer", window=40, coverage=coverage).scoring_stride == stride


def test_the_learning_rate_halves_from_the_third_epoch_on():
    detector = te.detectors.make("anomaly_transformer")
    assert [detector.learning_rate_at(epoch) for epoch in range(1, 6)] == [1e-4, 1e-4, 5e-5, 2.5e-5, 1.25e-5]


def test_heads_must_share_the_units_evenly():
    with pytest.raises(InvalidParameterError, match="d_model must be a multiple of n_heads, but is 10 with 4 heads"):
        te.detectors.make("anomaly_transformer(window=5, d_model=10, n_heads=4)").fit(np.arange(20.0))
