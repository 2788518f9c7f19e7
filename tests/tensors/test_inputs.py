"""What the tensor metrics accept and refuse, their shapes and dtypes, and how they do their work."""

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import tsadeval as te
import tsadeval.torch as tt
from refused import refused_values
from tsadeval.core.metric import METRICS
from tsadeval.core.parameters import AUC_PR_CHECKS, CCE_CHECKS, PATE_CHECKS, VUS_TENSOR_CHECKS
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.torch import _batch, _vus
from tsadeval.torch._batch import sort_by_keys

pytestmark = pytest.mark.torch

OPTIONS = {
    "affiliation_f1": {},
    "auc_pr": {},
    "auc_roc": {},
    "best_f1": {},
    "cce": {},
    "f1_pa": {},
    "pate": {"early": 20, "delay": 20, "n_thresholds": 30},
    "vus_pr": {"window": 20, "n_thresholds": 30},
    "vus_roc": {"window": 20, "n_thresholds": 30},
}
every = pytest.mark.parametrize("name", OPTIONS)


def example(rows, points, seed=0, dtype=torch.float32):
    rng = np.random.default_rng(seed)
    labels = np.zeros((rows, points), np.int64)
    for row in labels:
        for start in rng.integers(0, points - 1, max(2, points // 200)):
            row[start : start + rng.integers(1, 40)] = 1
    scores = rng.random((rows, points)) + 0.3 * labels
    return torch.tensor(scores, dtype=dtype), torch.tensor(labels)


def call(name, preds, target, **where):
    return getattr(tt, name)(preds, target, **OPTIONS[name], **where)


def on_cpu(name, labels, scores):
    metric = METRICS[name].with_options(**OPTIONS[name])
    if metric.kind == "scores":
        return metric(labels, scores)
    return te.best_threshold(metric, labels, scores).value


@every
def test_long_series_equal_the_cpu_kernels(name):
    scores, labels = example(3, 5000, dtype=torch.float64)
    expected = [on_cpu(name, y.numpy(), s.numpy()) for y, s in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(call(name, scores, labels).numpy(), expected, rtol=0, atol=1e-9)


@every
def test_blocks_of_rows_change_nothing(name, monkeypatch):
    scores, labels = example(7, 300)
    labels[:, 30:40] = 1
    whole = call(name, scores, labels, lengths=[300, 299, 250, 200, 150, 100, 90])
    for module in (_batch, _vus):
        monkeypatch.setattr(module, "room", lambda device: 700)
    parts = call(name, scores, labels, lengths=[300, 299, 250, 200, 150, 100, 90])
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-7)


@every
def test_one_series_needs_no_batch_dimension(name):
    scores, labels = example(1, 200)
    alone, batch = call(name, scores[0], labels[0]), call(name, scores, labels)
    assert alone.shape == ()
    assert batch.shape == (1,)
    assert alone == batch[0]
    assert call(name, scores[0], labels[0], mask=torch.ones(200, dtype=torch.bool)) == alone
    assert call(name, scores[0], labels[0], lengths=torch.tensor(200)) == alone


@every
def test_dtypes(name):
    scores, labels = example(2, 100)
    coarse = (scores * 8).round() / 8  # exact in every dtype
    reference = call(name, coarse.double(), labels)
    assert reference.dtype == torch.float64
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        found = call(name, coarse.to(dtype), labels)
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), reference, rtol=0, atol=1e-6)
    for dtype in (torch.bool, torch.uint8, torch.float32, torch.int32):
        assert torch.equal(call(name, coarse, labels.to(dtype)), call(name, coarse, labels))


@every
def test_gradients_are_not_followed(name):
    scores, labels = example(2, 100)
    assert not call(name, scores.requires_grad_(), labels).requires_grad


class Calls(TorchDispatchMode):
    """Counts the operations that torch is asked for."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.number += 1
        return function(*arguments, **(options or {}))


@every
def test_work_is_not_done_series_by_series_or_point_by_point(name):
    numbers = []
    for rows, points in ((2, 200), (50, 200), (2, 4000)):
        scores, labels = example(rows, points)
        with Calls() as calls:
            call(name, scores, labels, lengths=torch.full((rows,), points))
        numbers.append(calls.number)
    assert max(numbers[1:]) <= 1.2 * numbers[0] + 60  # searches halve: a few more steps for 20 times the points


@every
def test_undefined_is_nan_with_a_warning(name):
    scores, labels = example(2, 50)
    labels[1] = 0
    with pytest.warns(UndefinedMetricWarning, match=f"{name} is undefined, so NaN: target has a series without"):
        found = call(name, scores, labels)
    assert found.isnan().tolist() == [False, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(name, scores, labels, validate=False).isnan().tolist() == [False, True]
    with pytest.warns(UndefinedMetricWarning):
        assert call(name, scores, labels, lengths=[0, 50]).isnan().all()


@every
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, y: ((s.numpy(), y), {}), "preds must be a torch.Tensor, but is a ndarray"),
        (lambda s, y: ((s, y.tolist()), {}), "target must be a torch.Tensor, but is a list"),
        (lambda s, y: ((s, y[:, :9]), {}), r"preds has shape \(2, 30\) but target \(2, 9\)"),
        (lambda s, y: ((s[None], y[None]), {}), r"preds must have shape \(points,\) or \(series, points\)"),
        (lambda s, y: ((s[:, :0], y[:, :0]), {}), "at least one point"),
        (lambda s, y: ((s, y + 1), {}), r"target must be 0 \(normal\) or 1 \(anomalous\), but is 2 at point"),
        (lambda s, y: ((y.float(), s), {}), "target must be 0"),
        (
            lambda s, y: ((s.index_fill(1, torch.tensor([4]), torch.nan), y), {}),
            "preds must be finite, but is nan at point 4",
        ),
        (lambda s, y: ((s.index_fill(1, torch.tensor([4]), torch.inf), y), {}), "but is inf at point 4 of series 0"),
        (lambda s, y: ((s.to(torch.complex64), y), {}), "preds must hold real numbers"),
        (lambda s, y: ((s, y), {"lengths": [30]}), "lengths must be 2 integers, one for each series"),
        (lambda s, y: ((s, y), {"lengths": [30.0, 30.0]}), "lengths must be 2 integers"),
        (lambda s, y: ((s, y), {"lengths": [30, 31]}), "lengths must lie between 0 and the 30 points"),
        (lambda s, y: ((s, y), {"mask": y}), "mask must be a bool tensor"),
        (lambda s, y: ((s, y), {"mask": y[:1].bool()}), r"mask has shape \(1, 30\), but preds \(2, 30\)"),
    ],
)
def test_bad_input_is_one_clear_line(name, change, message):
    scores, labels = example(2, 30)
    arguments, where = change(scores, labels)
    with pytest.raises(InvalidInputError, match=message) as caught:
        call(name, *arguments, **where)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", OPTIONS)
def test_what_has_no_values_is_refused(name):
    call, labels = getattr(tt, name), torch.tensor([0, 1, 1, 0, 0])
    with pytest.raises(InvalidInputError, match="preds has no series"):
        call(torch.zeros(0, 5), torch.zeros(0, 5), **OPTIONS[name])
    with pytest.raises(InvalidInputError, match=r"preds must be a dense tensor .* of layout torch\.sparse_coo"):
        call(torch.rand(5).to_sparse(), labels, **OPTIONS[name])
    with pytest.raises(InvalidInputError, match=r"preds must be a dense tensor .* on the meta device"):
        call(torch.rand(5, device="meta"), labels.to("meta"), **OPTIONS[name])


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint64])
def test_large_integers_do_not_tie(dtype):
    labels = torch.tensor([0, 0, 1, 1, 0])
    scores = (2**60 + labels).to(dtype)
    with pytest.raises(InvalidInputError, match="values beyond 2\\^53, which 64-bit floats would round"):
        tt.auc_roc(scores, labels)
    metric = tt.AUCROC()
    with pytest.raises(InvalidInputError, match="values beyond 2\\^53, which 64-bit floats would round"):
        metric.update(scores, labels)
    small = torch.tensor([1, 2, 3, 2**60, 2**60]).to(dtype)  # the last two are padding
    assert tt.auc_roc(small, labels, lengths=[3]) == 1


@pytest.mark.parametrize("name", ["f1_pa", "affiliation_f1", "affiliation"])
def test_thresholds_and_alarms_are_checked(name):
    scores, labels = example(2, 30)
    function = getattr(tt, name)
    for threshold in ("median", None, torch.zeros(3), float("nan"), True):
        with pytest.raises(InvalidParameterError, match="threshold must be a number, a tensor with one"):
            function(scores, labels, threshold=threshold)
    with pytest.raises(InvalidParameterError, match=r"but is a tensor of shape \(3,\)$"):
        function(scores, labels, threshold=torch.zeros(3))
    with pytest.raises(InvalidInputError, match="preds must be 0 or 1 where it is of an integer dtype, but is 2"):
        function(labels * 2, labels)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["f1_pa", "affiliation_f1"])
def test_scores_at_the_threshold_are_compared_as_those_of_arrays(name, dtype):
    rng = np.random.default_rng(0)
    labels = torch.tensor(rng.random((9, 60)) < 0.3)
    scores = torch.tensor(rng.integers(0, 11, (9, 60)) / 10, dtype=dtype)
    limits = torch.arange(1, 10, dtype=torch.float64) / 10
    found = getattr(tt, name)(scores, labels, threshold=limits)
    rows = zip(labels.numpy(), scores.numpy(), limits.tolist(), strict=True)
    expected = [te.evaluate(y, s, name, threshold=limit)[name] for y, s, limit in rows]
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


def test_the_best_threshold_is_for_one_value():
    with pytest.raises(InvalidParameterError, match="use affiliation_f1"):
        tt.affiliation(*example(2, 30), threshold="best")


@pytest.mark.parametrize(
    ("name", "checks"),
    [("auc_pr", AUC_PR_CHECKS), ("cce", CCE_CHECKS), ("pate", PATE_CHECKS), ("vus_roc", VUS_TENSOR_CHECKS)],
)
def test_options_are_those_of_the_cpu_metrics(name, checks):
    assert checks.keys() == METRICS[name].checks.keys()
    for option, check in checks.items():
        for value in refused_values(check):
            with pytest.raises(InvalidParameterError, match=f"{name}: {option} must be"):
                getattr(tt, name)(*example(2, 30), **{option: value})


def test_the_period_of_a_series_is_for_the_cpu_metric_to_find():
    with pytest.raises(InvalidParameterError, match=r"vus_pr: window must be an integer .* but is 'period'"):
        tt.vus_pr(*example(2, 30), window="period")


@pytest.mark.parametrize("name", ["best_f1", "f1_pa", "affiliation_f1"])
def test_beta_is_checked(name):
    with pytest.raises(InvalidParameterError, match=f"{name}: beta must be a number > 0"):
        call(name, *example(2, 30), beta=0)


@pytest.mark.parametrize("descending", [False, True])
def test_rows_sorted_by_keys(descending):
    rng = np.random.default_rng(0)
    scores = torch.tensor(np.concatenate([rng.normal(size=(4, 50)), rng.integers(-3, 4, (4, 50))]), dtype=torch.float32)
    scores[0, :6] = torch.tensor([-0.0, 0.0, torch.inf, -torch.inf, 1e-45, -1e-45])
    labels = torch.tensor(rng.integers(0, 2, (8, 50)), dtype=torch.bool)
    ordered, marks = sort_by_keys(scores, labels, descending=descending)
    assert torch.equal(ordered, scores.sort(dim=1, descending=descending).values)
    for a, b, c, d in zip(ordered, marks, scores, labels, strict=True):
        assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == sorted(
            zip((c + 0.0).tolist(), d.tolist(), strict=True)
        )


def test_both_volumes_at_once():
    scores, labels = example(3, 200)
    both = tt.vus(scores, labels, window=10)
    assert torch.equal(both, torch.stack([tt.vus_roc(scores, labels, window=10), tt.vus_pr(scores, labels, window=10)]))


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("normalize", ["minmax", "published", "rank", "quantile"])
def test_cce_of_extreme_magnitudes(scale, normalize):
    scores, labels = example(2, 100, dtype=torch.float64)
    scores = (scores - 0.5) * scale
    expected = [te.cce(y.numpy(), s.numpy(), normalize=normalize) for y, s in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(tt.cce(scores, labels, normalize=normalize).numpy(), expected, rtol=0, atol=1e-9)


def test_cce_of_probabilities():
    scores, labels = example(2, 100, dtype=torch.float64)
    scores = scores / 2
    expected = [te.cce(y.numpy(), s.numpy(), normalize=None) for y, s in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(tt.cce(scores, labels, normalize=None).numpy(), expected, rtol=0, atol=1e-9)
    with pytest.raises(InvalidInputError, match=r"preds must lie in \[0, 1\] when normalize=None, but range from"):
        tt.cce(scores + 1, labels, normalize=None)


def test_cce_at_a_large_offset():
    scores, labels = example(2, 3000, dtype=torch.float64)
    scores = 1e5 + 1e-3 * scores
    expected = [te.cce(y.numpy(), s.numpy()) for y, s in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(tt.cce(scores, labels).numpy(), expected, rtol=0, atol=1e-9)


def test_the_stub_is_that_of_the_functions():
    pytest.importorskip("torchmetrics")
    root = Path(__file__).parents[2]
    spec = importlib.util.spec_from_file_location("make_stubs", root / "docs" / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.TORCH_STUB.read_text(encoding="utf-8") == module.torch_stub(), "run: make generated"


def test_unknown_options_are_named():
    scores, labels = example(2, 30)
    with pytest.raises(TypeError, match=r"vus_pr\(\) has no option 'windw': did you mean window"):
        tt.vus_pr(scores, labels, windw=3)
    with pytest.raises(TypeError, match=r"auc_roc\(\) has no option 'length': did you mean lengths"):
        tt.auc_roc(scores, labels, length=[30, 30])


def test_public_names():
    assert sorted(tt.__all__) == dir(tt) == sorted(tt._HOMES)
    for name in tt.__all__:
        assert getattr(tt, name).__name__ == name
        assert getattr(tt, name).__doc__
    with pytest.raises(AttributeError, match=r"tsadeval\.torch has no 'vus_rpc': did you mean"):
        tt.vus_rpc  # noqa: B018  (asking for it is the test)


@pytest.mark.parametrize(("missing", "name"), [("torch", "cce"), ("torchmetrics", "CCE")])
def test_without_the_package_an_error_names_the_extra(missing, name):
    code = f"import sys; sys.modules[{missing!r}] = None; import tsadeval.torch as tt; tt.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"this needs {missing}, which is not installed: pip install 'tsadeval[torch]'" in done.stderr


def test_nothing_else_imports_it():
    code = "import sys, tsadeval as te; te.evaluate, te.detect, te.compare; print('tsadeval.torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_compiled_kernels_are_not_needed():
    code = (
        "import sys; sys.modules['tsadeval.core._scan'] = sys.modules['tsadeval.metrics._kernels'] = None\n"
        "import torch, tsadeval.torch as tt\n"
        "print(tt.vus_pr(torch.rand(9), torch.arange(9) % 3 == 0, window=2).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "torch.Size([])\n"


def test_swapped_arguments_and_names_of_other_metrics():
    labels, scores = torch.tensor([0, 1, 1, 0]), torch.tensor([0.1, 0.9, 0.8, 0.2])
    with pytest.raises(
        InvalidInputError, match=r"target must be 0 .* are the two swapped\? In torch's order preds come"
    ):
        tt.auc_roc(labels, scores)
    with pytest.raises(InvalidInputError) as raised:
        tt.auc_roc(scores, 3 * labels)
    assert "swapped" not in str(raised.value)
    with pytest.raises(
        AttributeError, match=r"has no 'ears': of tensors use te\.metrics\.ears\(target, preds\), on the"
    ):
        tt.ears  # noqa: B018


@pytest.mark.parametrize("normalize", ["minmax", "rank", "robust", "quantile", "published"])
def test_a_mask_parts_the_events_of_cce_as_ignore_does(normalize):
    scores, labels = example(4, 300, dtype=torch.float64)
    labels[:, 0], labels[:, 40:60] = 0, 1
    mask = torch.from_numpy(np.random.default_rng(0).random((4, 300)) < 0.9)
    mask[0, 45:50], mask[1, :30], mask[2, -20:] = False, False, False
    metric = METRICS["cce"].with_options(normalize=normalize)
    where = zip(labels.numpy(), scores.numpy(), mask.numpy(), strict=True)
    expected = [te.evaluate(y, s, metric, ignore=~kept).rows[0]["value"] for y, s, kept in where]
    found = tt.cce(scores, labels, mask=mask, normalize=normalize)
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=1e-9)
    one = tt.cce(scores[0], labels[0], mask=mask[0], normalize=normalize)
    assert one.item() == pytest.approx(expected[0], abs=1e-9)
