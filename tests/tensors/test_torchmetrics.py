"""The torchmetrics classes: series from windows in any order, in one process, in two, and in a Lightning loop."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

import torch
from torchmetrics import MetricCollection

import torch_process
import tsadeval.torch as tt
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning

pytestmark = pytest.mark.torch

CLASSES = {
    "AUCPR": ("auc_pr", {}),
    "AUCROC": ("auc_roc", {}),
    "AffiliationF1": ("affiliation_f1", {"beta": 2.0}),
    "BestF1": ("best_f1", {}),
    "CCE": ("cce", {"tau": 0.4}),
    "F1PA": ("f1_pa", {"threshold": 0.5}),
    "PATE": ("pate", {"early": 5, "delay": 5}),
    "VUSPR": ("vus_pr", {"window": 5}),
    "VUSROC": ("vus_roc", {"window": 5}),
}
every_class = pytest.mark.parametrize("name", CLASSES)


def make(name, **more):
    return getattr(tt, name)(**CLASSES[name][1], **more)


def direct(name, *series):
    """The value of whole series, by the function."""
    function, options = CLASSES[name]
    return torch.stack([getattr(tt, function)(s.double(), y, **options) for s, y in series]).float()


SERIES = [torch_process.series(number) for number in range(3)]


def test_every_class_is_tested():
    assert set(CLASSES) == {name for name in tt.__all__ if name[0].isupper() and not name.endswith("Loss")}


@every_class
def test_shuffled_overlapping_and_repeated_windows(name):
    rng = np.random.default_rng(0)
    places = [(i, start) for i in range(3) for start in (*range(0, 130, 10), 130)]
    metric = make(name, average="none")
    places = [*places, *(places[i] for i in rng.integers(0, len(places), 9))]  # some twice
    rng.shuffle(places)
    for at in range(0, len(places), 5):
        some = places[at : at + 5]
        metric.update(
            torch.stack([SERIES[i][0][start : start + 20] for i, start in some]),
            torch.stack([SERIES[i][1][start : start + 20] for i, start in some]),
            series=torch.tensor([i + 7 for i, _ in some]),
            position=[start for _, start in some],
        )
    torch.testing.assert_close(metric.compute(), direct(name, *SERIES))


@every_class
def test_pieces_in_the_order_in_which_they_come(name):
    metric = make(name)
    scores, labels = SERIES[0]
    for at in range(0, 150, 40):
        metric.update(scores[at : at + 40], labels[at : at + 40])
    torch.testing.assert_close(metric.compute(), direct(name, SERIES[0])[0])


@every_class
def test_rows_without_a_number_are_series_of_their_own(name):
    metric = make(name)
    metric.update(torch.stack([s for s, _ in SERIES[:2]]), torch.stack([y for _, y in SERIES[:2]]))
    padded = torch.cat([SERIES[2][0], torch.full((9,), torch.nan)])[None]
    metric.update(padded, torch.cat([SERIES[2][1], torch.full((9,), 3)])[None], lengths=[150])
    torch.testing.assert_close(metric.compute(), direct(name, *SERIES).mean())


def test_rows_of_a_series_without_positions_follow_each_other():
    metric = tt.CCE(average="none")
    for half in (slice(0, 75), slice(75, 150)):
        metric.update(
            torch.stack([s[half] for s, _ in SERIES]), torch.stack([y[half] for _, y in SERIES]), series=[2, 0, 1]
        )
    expected = torch.stack([tt.cce(*SERIES[i]) for i in (1, 2, 0)])
    torch.testing.assert_close(metric.compute(), expected)


def test_points_one_by_one():
    scores, labels = SERIES[0]
    order = torch.randperm(150, generator=torch.Generator().manual_seed(3))
    metric = tt.CCE()
    metric.update(scores[order[:90]], labels[order[:90]], position=order[:90])
    metric.update(scores[order[80:]], labels[order[80:]], position=order[80:])  # ten of them again
    torch.testing.assert_close(metric.compute(), tt.cce(scores, labels))


@pytest.mark.parametrize(("overlap", "middle"), [("mean", 0.5), ("max", 0.8), ("min", 0.2)])
def test_overlaps(overlap, middle):
    metric = tt.CCE(overlap=overlap)
    labels = torch.tensor([[0, 1, 1], [1, 1, 0]])
    metric.update(torch.tensor([[0.0, 0.3, 0.2], [0.8, 0.9, 0.1]]), labels, position=[4, 6])
    expected = tt.cce(torch.tensor([0.0, 0.3, middle, 0.9, 0.1]), torch.tensor([0, 1, 1, 1, 0]))
    torch.testing.assert_close(metric.compute(), expected)


def test_a_repeated_window_does_not_weigh_twice_in_an_overlap():
    scores, labels = torch.tensor([[0.0, 0.3, 0.2], [0.8, 0.9, 0.1]]), torch.tensor([[0, 1, 1], [1, 1, 0]])
    values = []
    for rows in ([0, 1], [0, 1, 0], [1, 0, 0]):
        metric = tt.CCE()
        metric.update(scores[rows], labels[rows], position=torch.tensor([4, 6])[rows])
        values.append(metric.compute())
    assert values[0] == values[1] == values[2]


@every_class
def test_what_torchmetrics_asks_of_a_class(name):
    metric = make(name)
    assert (metric.higher_is_better, metric.is_differentiable, metric.full_state_update) == (True, False, False)
    value = metric(*SERIES[0])
    torch.testing.assert_close(value, direct(name, SERIES[0])[0])
    metric(*SERIES[1])  # another piece of the same series
    whole = [torch.cat(both) for both in zip(SERIES[0], SERIES[1], strict=True)]
    torch.testing.assert_close(metric.compute(), direct(name, whole)[0])
    again = pickle.loads(pickle.dumps(metric))
    assert again.compute() == metric.compute()
    assert metric.clone().compute() == metric.compute()
    metric.reset()
    metric.update(*SERIES[2])
    torch.testing.assert_close(metric.compute(), direct(name, SERIES[2])[0])
    assert metric.set_dtype(torch.float64).compute().dtype == torch.float64
    matplotlib.use("agg")
    figure, axes = metric.plot([value, value])
    assert axes.get_ylim()[1] >= 1
    matplotlib.pyplot.close(figure)


def test_a_collection_keeps_the_windows_once():
    together = MetricCollection([make(name) for name in CLASSES])
    for scores, labels in SERIES:
        together.update(scores[None], labels[None])
    assert len(together.compute_groups) == 1
    for name, value in together.compute().items():
        torch.testing.assert_close(value, make(name)(*(torch.stack(x) for x in zip(*SERIES, strict=True))))


def test_series_that_are_undefined_are_left_out_of_the_mean():
    metric = tt.CCE()
    metric.update(torch.stack([s for s, _ in SERIES]), torch.stack([SERIES[0][1], SERIES[1][1], torch.zeros(150)]))
    with pytest.warns(
        UndefinedMetricWarning, match="CCE is undefined, so NaN: 1 of 3 series, which the mean leaves out"
    ):
        value = metric.compute()
    torch.testing.assert_close(value, torch.stack([tt.cce(*SERIES[0]), tt.cce(*SERIES[1])]).mean())


def test_bad_options_are_refused_at_once():
    with pytest.raises(InvalidParameterError, match="CCE: average must be one of 'mean', 'none', but is 'sum'"):
        tt.CCE(average="sum")
    with pytest.raises(InvalidParameterError, match="cce: tau must be"):
        tt.CCE(tau=3)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `windoww`"):
        tt.VUSPR(windoww=3)
    with pytest.raises(InvalidParameterError, match="threshold must be a number or 'best', not a tensor"):
        tt.F1PA(threshold=torch.zeros(3))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"position": [1]}, "position must be one integer or 2, one for each window, but has shape"),
        ({"series": [0.0, 1.0]}, "series must hold integers, but has dtype torch.float32"),
        ({"position": [3, -4]}, "position must not be negative, but is -4"),
        ({"lengths": [1, 99]}, "lengths must lie between 0 and the 5 points"),
    ],
)
def test_bad_updates(where, message):
    with pytest.raises(InvalidInputError, match=message):
        tt.CCE().update(torch.rand(2, 5), torch.zeros(2, 5), **where)


def test_contradictions_between_updates():
    metric = tt.CCE()
    metric.update(torch.rand(2, 5), torch.zeros(2, 5), position=[0, 5])
    metric.update(torch.rand(1, 5), torch.ones(1, 5), position=[3])
    with pytest.raises(
        InvalidInputError, match="target differs between windows that share a point: position 3 of series 0"
    ):
        metric.compute()
    metric.reset()
    metric.update(torch.rand(2, 5), torch.zeros(2, 5), series=[0, 0])
    metric.update(torch.rand(1, 5), torch.zeros(1, 5), series=[0], position=[0])
    with pytest.raises(InvalidInputError, match="some windows of a series came with a position and some without"):
        metric.compute()
    with pytest.raises(InvalidInputError, match="lengths is for preds of shape"):
        metric.update(torch.rand(5), torch.zeros(5), lengths=[5])
    metric.reset()
    with (
        pytest.warns(UserWarning, match="before the ``update`` method"),
        pytest.raises(InvalidInputError, match="no points"),
    ):
        metric.compute()


@pytest.mark.parametrize("case", ["sampler", "one process without data"])
def test_two_processes_give_what_one_gives(case, tmp_path):
    script = Path(torch_process.__file__)
    running = [
        subprocess.Popen(
            [sys.executable, script, str(rank), str(tmp_path), case],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    done = [process.communicate(timeout=240) for process in running]
    assert all(process.returncode == 0 for process in running), done
    alone = torch_process.metrics()
    alone.update(*torch_process.windows())
    expected = {name: pytest.approx(value.item(), abs=1e-6) for name, value in alone.compute().items()}
    for out, _ in done:
        assert json.loads(out) == expected


@pytest.mark.filterwarnings("ignore")
def test_in_a_lightning_loop(tmp_path):
    lightning = pytest.importorskip("lightning")
    scores, labels, numbers, starts = torch_process.windows()

    class Detector(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.loss = tt.CCELoss()
            self.judged = MetricCollection([tt.CCE(), tt.VUSPR(window=5)], prefix="val/")

        def training_step(self, batch):
            return self.loss(self.layer(batch[0][..., None])[..., 0], batch[1])

        def validation_step(self, batch):
            x, y, series, position = batch
            self.judged.update(self.layer(x[..., None])[..., 0], y, series, position)
            self.log_dict(self.judged)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=0.1)

    data = torch.utils.data.TensorDataset(scores, labels, numbers, starts)
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    model = Detector()
    trainer.fit(model, loader, loader)
    logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
    with torch.no_grad():
        final = model.layer(scores[..., None])[..., 0]
    expected = MetricCollection([tt.CCE(), tt.VUSPR(window=5)], prefix="val/")
    expected.update(final, labels, numbers, starts)
    assert logged == {name: pytest.approx(value.item(), abs=1e-6) for name, value in expected.compute().items()}
