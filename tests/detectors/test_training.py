"""The training loop that all networks share, and the losses and scores of ours against their formulas."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

from tsadeval.detectors import make
from tsadeval.detectors._torch import training
from tsadeval.detectors._torch.training import descend, find_device, score, seeded, split, train, windows_of
from tsadeval.detectors.base import DeepDetector
from tsadeval.errors import InvalidInputError, InvalidParameterError

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")
SERIES = np.sin(np.arange(300)[:, None] / 5) + 0.1 * np.random.default_rng(0).normal(size=(300, 2))


def test_windows_are_views_of_one_tensor():
    found = windows_of(SERIES, 10, CPU)
    assert len(found) == 291
    assert found.untyped_storage().nbytes() == 300 * 2 * 4
    batches = list(training.Steps(lambda batch: batch, found, 2, False).results(torch.tensor([3, 0, 290])))
    assert [tuple(b.shape) for b in batches] == [(2, 10, 2), (1, 10, 2)]
    np.testing.assert_allclose(batches[0][0], SERIES[3:13], rtol=1e-6)


def test_descend_shortens_long_gradients():
    weight = nn.Parameter(torch.tensor([1.0]))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    descend(optimizer, weight.sum())
    assert weight.item() == 0.0
    descend(optimizer, (1000 * weight).sum())
    assert weight.item() == pytest.approx(-5.0)


def test_devices(monkeypatch):
    assert find_device("cpu") == CPU
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto") == CPU
    with pytest.raises(InvalidParameterError, match="torch finds no GPU"):
        find_device("cuda")


def test_seeded_is_local():
    before = torch.get_rng_state()
    with seeded(5, CPU):
        first = torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded(5, CPU):
        assert torch.equal(torch.rand(3), first)


@pytest.mark.parametrize("spec", ["usad(window=8)", "donut(window=8)", "lstm_ad(window=8)"])
def test_recorded_steps_learn_what_plain_steps_learn(spec, monkeypatch):
    """Without a GPU the recording is the step itself; what is tested is all around it."""
    recorded = []

    def record(step):
        recorded.append(step)
        return step

    monkeypatch.setattr(training, "record", record)
    monkeypatch.setattr(training, "_on_a_stream", lambda step: step())
    detector = make(f"{spec[:-1]}, epochs=3, batch_size=16, device=cpu)")
    assert detector.static_step
    plain, history = train(detector, SERIES)
    scores = score(detector, plain, SERIES)
    assert not recorded
    groups = []

    def prepare(optimizers, device):
        assert training_prepare(optimizers, device)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                assert group["capturable"]
                assert group["fused"]
                group.update(capturable=False, fused=False)  # which torch refuses on a CPU
                groups.append(group)
        return True

    training_prepare = training.prepare
    monkeypatch.setattr(training, "prepare", prepare)
    monkeypatch.setattr(training, "records", lambda detector, device: True)
    monkeypatch.setattr(training, "RECORDED_FROM", 0)
    module, found = train(detector, SERIES)
    assert len(recorded) == 2  # steps of learning and of validation
    assert groups[0]["lr"] == pytest.approx(detector.learning_rate)
    np.testing.assert_allclose(found, history, rtol=1e-5)
    for a, b in zip(module.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(score(detector, plain, SERIES), scores, rtol=1e-5)
    assert len(recorded) == 3


def test_steps_are_recorded_on_a_gpu_only():
    detector = make("usad(window=8, device=cpu)")
    assert not training.records(detector, CPU)
    assert training.records(detector, torch.device("cuda"))
    assert not training.records(make("timesnet"), torch.device("cuda"))  # a step depends on the periods found
    assert not training.prepare((torch.optim.SGD([nn.Parameter(torch.zeros(()))]),), CPU)


def test_fast_products_are_left_as_they_were(monkeypatch):
    gpu = torch.device("cuda")
    assert torch.get_float32_matmul_precision() == "highest"
    with training.products(CPU):
        assert torch.get_float32_matmul_precision() == "highest"
    outer = training.products(gpu)
    with outer:
        with training.products(gpu):
            assert torch.get_float32_matmul_precision() == "high"
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    "spec",
    [
        "usad(window=8)",
        "donut(window=8)",
        "lstm_ad(window=8)",
        "anomaly_transformer(window=8)",
        "timesnet(window=20, d_model=16, d_ff=16)",
    ],
)
def test_recorded_steps_on_a_gpu(spec, monkeypatch):
    detector = make(f"{spec[:-1]}, epochs=3, batch_size=32, device=cuda)")
    module, history = train(detector, SERIES)
    monkeypatch.setattr(type(detector), "static_step", False)
    plain, expected = train(detector, SERIES)
    np.testing.assert_allclose(history, expected, rtol=1e-3)
    for a, b in zip(module.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-4)


class Stubborn(DeepDetector):
    """A network of one number, with validation losses by plan."""

    record = make("lstm_ad").record

    def plan(self, *losses):
        self.planned = losses
        return self

    def build(self, columns):
        module = nn.Module()
        module.weight = nn.Parameter(torch.zeros(()))
        return module

    def loss(self, module, batch, epoch, turn):
        return -module.weight  # Adam moves it up by about the learning rate a step

    def validation_loss(self, module, batch, epoch):
        return torch.tensor(self.planned[epoch - 1])

    def learning_rate_at(self, epoch):
        return 1.0

    def window_scores(self, module, batch):
        return batch.mean(dim=(1, 2))


def stubborn(*losses, **options):
    return Stubborn(**{"window": 10, "epochs": len(losses), "device": "cpu", **options}).plan(*losses)


def test_early_stopping_restores_the_best_weights():
    detector = stubborn(3.0, 2.0, 2.5, 2.0, 2.2, 1.0, patience=3, batch_size=1000)
    module, history = train(detector, SERIES)
    assert [h.validation for h in history] == pytest.approx([3.0, 2.0, 2.5, 2.0, 2.2])  # equal is not lower
    assert module.weight.item() == pytest.approx(2.0, rel=1e-3)  # one step an epoch, two until the best
    assert not module.training


def test_patience_starts_again_with_every_best():
    _, history = train(stubborn(3.0, 3.5, 2.0, 2.5, 1.0, 9.0, patience=2), SERIES)
    assert len(history) == 6


def test_an_epoch_takes_at_most_max_windows():
    for most, steps in ((None, 213), (50, 50), (1000, 213)):  # 71 windows in the first 80 of each 100 points
        module, _ = train(stubborn(1.0, max_windows=most, batch_size=1), SERIES)
        assert module.weight.item() == pytest.approx(steps, rel=0.01)


def test_short_series_are_not_split():
    detector = make("lstm_ad(window=10, epochs=2, device=cpu)").fit(SERIES[:40])
    assert [h.validation for h in detector.history_] == [None, None]
    assert all(math.isfinite(h.training) for h in detector.history_)
    assert make("lstm_ad(window=10, epochs=2, device=cpu)").fit(SERIES[:60]).history_[0].validation is not None


@pytest.mark.parametrize(("n", "window"), [(50, 10), (99, 10), (400, 10), (5000, 100), (5831, 100), (2001, 2)])
def test_no_point_is_learned_from_and_held_back(n, window):
    learning, held_back = split(n, window)
    points = [{start + i for start in starts.tolist() for i in range(window)} for starts in (learning, held_back)]
    assert not points[0] & points[1]
    assert len(points[1]) == pytest.approx(0.2 * n, rel=0.05, abs=3)


def test_a_loss_that_is_no_number_ends_the_training():
    with pytest.raises(InvalidInputError, match=r"loss of nan in epoch 1\); lower learning_rate"):
        train(stubborn(math.nan), SERIES)
    module, history = train(stubborn(1.0, math.nan, 0.5), SERIES)
    assert len(history) == 2
    first, _ = train(stubborn(1.0), SERIES)
    assert module.weight.item() == first.weight.item()


def test_scores_that_are_no_numbers_are_not_given_out():
    detector = make("lstm_ad(window=10, epochs=1, device=cpu)").fit(SERIES)
    with torch.no_grad():
        detector.module_.forecast.bias.fill_(math.nan)
    with pytest.raises(InvalidInputError, match="no finite score"):
        detector.score(SERIES)


def test_a_bar_only_when_asked(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    make("lstm_ad(window=10, epochs=1, device=cpu)").fit(SERIES)
    assert capfd.readouterr() == ("", "")
    make("lstm_ad(window=10, epochs=1, device=cpu, progress=True)").fit(SERIES)
    out, err = capfd.readouterr()
    assert out == ""
    assert "lstm_ad" in err


def test_the_parts_that_a_network_must_have():
    with pytest.raises(TypeError, match=r"abstract methods '?_?build'?, '?loss'?, '?window_scores"):
        DeepDetector()


def batch_of(detector, n=7):
    return windows_of(detector.scaler_(SERIES), detector.window, CPU)[torch.arange(n)]


def test_usad_losses_and_scores():
    detector = make("usad(window=8, epochs=1, alpha=0.3, device=cpu)").fit(SERIES)
    module, batch = detector.module_, batch_of(detector)
    flat = batch.flatten(1)
    first = module.first(module.encoder(flat))
    second = module.second(module.encoder(flat))
    again = module.second(module.encoder(first))

    def error(other):
        return ((flat - other) ** 2).mean()

    for epoch in (1, 4):
        expected = error(first) / epoch + (1 - 1 / epoch) * error(again)
        torch.testing.assert_close(detector.loss(module, batch, epoch, 0), expected)
        expected = error(second) / epoch - (1 - 1 / epoch) * error(again)
        torch.testing.assert_close(detector.loss(module, batch, epoch, 1), expected)
    expected = 0.3 * ((flat - first) ** 2).mean(1) + 0.7 * ((flat - again) ** 2).mean(1)
    torch.testing.assert_close(detector.window_scores(module, batch), expected)


def test_usad_trains_each_decoder_for_its_own_loss():
    detector = make("usad(window=8, device=cpu)")
    with seeded(0, CPU):
        module = detector.build(2)
    both = detector.optimizers(module)
    owned = [{id(p) for group in optimizer.param_groups for p in group["params"]} for optimizer in both]
    encoder = {id(p) for p in module.encoder.parameters()}
    assert owned[0] & owned[1] == encoder
    assert owned[0] - encoder == {id(p) for p in module.first.parameters()}
    assert owned[1] - encoder == {id(p) for p in module.second.parameters()}


def test_donut_loss_is_the_modified_elbo():
    detector = make("donut(window=8, epochs=1, missing=0.3, device=cpu)").fit(SERIES)
    module, batch = detector.module_.train(), batch_of(detector)
    with seeded(1, CPU):
        found = detector.loss(module, batch, 1, 0)
    with seeded(1, CPU):  # the same draws, in the same order
        values = batch.flatten(1)
        there = torch.rand(values.shape) >= 0.3
        noise = torch.randn(len(values), detector.latent)
    assert 0 < there.float().mean() < 1
    mean, deviation = module.encode(torch.where(there, values, 0.0))
    hidden = mean + deviation * noise
    value_mean, value_deviation = module.decode(hidden)
    log_p = torch.distributions.Normal(value_mean, value_deviation).log_prob(values)
    prior = torch.distributions.Normal(0.0, 1.0).log_prob(hidden).sum(1)
    posterior = torch.distributions.Normal(mean, deviation).log_prob(hidden).sum(1)
    elbo = torch.where(there, log_p, 0.0).sum(1) + there.float().mean(1) * prior - posterior
    torch.testing.assert_close(found, -elbo.mean())


def test_donut_scores_are_log_probabilities():
    detector = make("donut(window=8, epochs=1, samples=500, device=cpu)").fit(SERIES)
    module, batch = detector.module_, batch_of(detector)
    values = batch.flatten(1)
    with torch.no_grad(), seeded(2, CPU):
        found = detector.window_scores(module, batch)
        mean, deviation = module.encode(values)
        draws = mean + deviation * torch.randn(500, *mean.shape)
        expected = -torch.distributions.Normal(*module.decode(draws)).log_prob(values).mean(dim=(0, 2))
    torch.testing.assert_close(found, expected, rtol=0.02, atol=0.02)


def test_lstm_ad_scores_are_the_errors_of_the_next_point():
    detector = make("lstm_ad(window=8, epochs=1, device=cpu)").fit(SERIES)
    scores = detector.score(SERIES[:12])
    scaled = torch.tensor(detector.scaler_(SERIES[:12]), dtype=torch.float32)
    with torch.no_grad():
        from_start = detector.module_(scaled[None, :7])[0]
        later = detector.module_(scaled[None, 4:11])[0]
    expected = ((from_start[3:] - scaled[4:8]) ** 2).mean(1).tolist()
    expected += ((later[3:] - scaled[8:12]) ** 2).mean(1).tolist()
    np.testing.assert_allclose(scores[4:], expected, rtol=1e-4)
    np.testing.assert_array_equal(scores[:4], scores[4])  # no history yet
