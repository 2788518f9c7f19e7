"""The losses: their values by their definitions, and their first and second derivatives against finite differences."""

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
import tsadeval.torch as tt
from strategies import examples
from tsadeval.errors import InvalidInputError, InvalidParameterError

pytestmark = pytest.mark.torch

LABELS = torch.tensor([[0, 0, 1, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]])
LENGTHS = torch.tensor([9, 7, 5])
CCE_OPTIONS = [
    {},
    {"scale": None},
    {"pool": "series", "reduction": "sum"},
    {"uncertainty": "pointwise", "gamma": 3.0, "tau": 0.3},
    {"event_weight": 0.9, "global_weight": 0.0, "reduction": "none", "pool": "series"},
]
AUC_OPTIONS = [{}, {"margin": 0.3}, {"pool": "series"}, {"pool": "series", "reduction": "none", "buffer": 1}]
LOSSES = [(tt.CCELoss, o) for o in CCE_OPTIONS] + [(tt.EventAUCLoss, o) for o in AUC_OPTIONS]
every_loss = pytest.mark.parametrize(("loss", "options"), LOSSES)


def scores(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(LABELS.shape, dtype=torch.float64, generator=generator, requires_grad=True)


@every_loss
def test_first_and_second_derivatives(loss, options):
    def value(preds):
        return loss(**options)(preds, LABELS, lengths=LENGTHS)

    # Finite differences need a step away from the kinks of the hinge, of which there are few.
    assert torch.autograd.gradcheck(value, scores())
    assert torch.autograd.gradgradcheck(value, scores())


@every_loss
def test_padding_has_no_part(loss, options):
    function = loss(**options)
    inside = torch.arange(9) < LENGTHS[:, None]
    preds = scores()
    padded = preds.detach().masked_fill(~inside, torch.nan).requires_grad_()
    expected = function(preds, LABELS, lengths=LENGTHS)
    garbage = LABELS.masked_fill(~inside, 7)
    for where in ({"lengths": LENGTHS}, {"mask": inside}, {"lengths": LENGTHS.tolist(), "mask": inside}):
        found = function(padded, garbage, **where)
        torch.testing.assert_close(found, expected)
    found.sum().backward()
    assert (padded.grad[~inside] == 0).all()
    assert padded.grad[inside].isfinite().all()


@every_loss
def test_precisions(loss, options):
    exact = loss(**options)(scores().detach(), LABELS)
    for dtype, tolerance in ((torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)):
        found = loss(**options)(scores().detach().to(dtype), LABELS.bool())
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), exact, rtol=0, atol=tolerance)


@examples(50)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.2]), st.sampled_from(["beta", "pointwise"]))
def test_cce_loss_is_what_cce_lacks_to_its_best_value(seed, tau, uncertainty):
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, (4, 30)), rng.random((4, 30))
    y[:, :2] = 0, 1
    how = {"tau": tau, "uncertainty": uncertainty, "gamma": 4.0, "event_weight": 0.7, "global_weight": 0.1}
    each = tt.CCELoss(scale=None, pool="series", reduction="none", **how)(torch.tensor(s), torch.tensor(y))
    expected = [2 * (1 - tau) - te.cce(a, b, normalize=None, **how) for a, b in zip(y, s, strict=True)]
    np.testing.assert_allclose(each, expected, atol=1e-12)
    scaled = tt.CCELoss(scale="minmax", pool="series", reduction="none", **how)(
        torch.tensor(7 * s - 3), torch.tensor(y)
    )
    expected = [2 * (1 - tau) - te.cce(a, b, **how) for a, b in zip(y, s, strict=True)]
    np.testing.assert_allclose(scaled, expected, atol=1e-12)
    logits = torch.logit(torch.tensor(s))
    torch.testing.assert_close(tt.CCELoss(pool="series", reduction="none", **how)(logits, torch.tensor(y)), each)


def test_cce_loss_of_a_batch_takes_windows_as_pieces_of_one_series():
    preds, labels = scores().detach(), LABELS.clone()
    found = tt.CCELoss(scale=None)(preds, labels)
    # A run ends with its window: a label of the other class between windows would do that, but count as a run.
    runs = [(y[a:b], s[a:b]) for y, s in zip(labels, preds, strict=True) for a, b in borders(y)]
    expected = 0.0
    for label in (0, 1):
        own = [s for y, s in runs if y[0] == label]
        for group, weight in ((own, 0.5 / len(own)), ([torch.cat(own)], 0.5)):
            for s in group:
                mean = s.mean() if label else 1 - s.mean()
                expected += weight * (0.5 - (mean - 0.5) * torch.exp(-s.var(correction=0)))
    torch.testing.assert_close(found, expected)


def borders(y):
    edges = [0, *(torch.nonzero(y.diff())[:, 0] + 1).tolist(), len(y)]
    return list(pairwise(edges))


def naive_event_auc(preds, labels, margin, buffer):
    """All pairs, event by event."""
    events = [(a, b) for a, b in borders(labels) if labels[a] == 1]
    near = {i for a, b in events for i in range(a - buffer, b + buffer)}
    normal = [i for i in range(len(labels)) if i not in near]
    if not events or not normal:
        return 0.0
    each = [
        np.mean([max(0.0, margin - (preds[i] - preds[j])) ** 2 for i in range(a, b) for j in normal]) for a, b in events
    ]
    return np.mean(each) / margin**2


@examples(50)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 5.0]), st.sampled_from([0, 1, 3]))
def test_event_auc_loss_is_the_mean_over_events_of_their_pairs(seed, margin, buffer):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(0, 2, (4, 10)), 3, axis=1)
    s = rng.integers(0, 8, (4, 30)) / 4 if seed % 2 else rng.normal(size=(4, 30))
    found = tt.EventAUCLoss(margin=margin, buffer=buffer, pool="series", reduction="none")(
        torch.tensor(s), torch.tensor(y)
    )
    expected = [naive_event_auc(b, torch.tensor(a), margin, buffer) for a, b in zip(y, s, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_event_auc_loss_of_a_batch_pairs_points_of_all_windows():
    preds, labels = scores().detach(), LABELS
    gap = torch.zeros(3, 1, dtype=torch.int64)  # windows end events, which normal points between them do too
    joined = torch.cat([labels, gap], 1).flatten()
    inside = torch.cat([torch.ones_like(labels), gap], 1).flatten().bool()
    expected = tt.EventAUCLoss(pool="series")(torch.cat([preds, gap.double()], 1).flatten(), joined, mask=inside)
    torch.testing.assert_close(tt.EventAUCLoss()(preds, labels), expected)


@pytest.mark.parametrize("loss", [tt.CCELoss, tt.EventAUCLoss])
def test_no_gradient_flows_through_the_range(loss):
    preds = (5 * scores().detach() - 2).requires_grad_()
    found = loss(scale="minmax")(preds, LABELS)
    low, high = preds.detach().min(), preds.detach().max()
    unit = ((preds.detach() - low) / (high - low)).requires_grad_()
    expected = loss(scale=None)(unit, LABELS)
    torch.testing.assert_close(found, expected)
    found.backward()
    expected.backward()
    torch.testing.assert_close(preds.grad, unit.grad / (high - low))
    constant = torch.ones(2, 9, requires_grad=True)
    loss(scale="minmax")(constant, LABELS[:2]).backward()
    assert constant.grad.isfinite().all()


@every_loss
def test_a_missing_class_costs_nothing_and_breaks_nothing(loss, options):
    for labels in (torch.zeros_like(LABELS), torch.ones_like(LABELS)):
        preds = scores()
        found = loss(**options)(preds, labels)
        found.sum().backward()
        assert found.isfinite().all()
        assert preds.grad.isfinite().all()
    if loss is tt.EventAUCLoss:
        assert (found == 0).all()


@pytest.mark.parametrize("loss", [tt.CCELoss, tt.EventAUCLoss])
def test_perfect_scores_cost_nothing(loss):
    logits = 40.0 * (2 * LABELS - 1)
    assert loss()(logits.float(), LABELS).item() == pytest.approx(0, abs=1e-6)
    assert loss()(-logits.float(), LABELS).item() > 1


@pytest.mark.parametrize("loss", [tt.CCELoss, tt.EventAUCLoss])
def test_training_with_it_separates_the_classes(loss):
    data = torch.randn(8, 50, 3, generator=torch.Generator().manual_seed(0))
    labels = (data[..., 0] > 1).long()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        loss()(model(data)[..., 0], labels).backward()
        optimizer.step()
    assert tt.auc_roc(model(data)[..., 0].flatten(), labels.flatten()) > 0.99


@pytest.mark.parametrize("loss", [tt.CCELoss, tt.EventAUCLoss])
def test_bad_input(loss):
    function = loss()
    with pytest.raises(InvalidInputError, match=r"preds must be a tensor of a floating dtype, but is torch\.int64"):
        function(LABELS, LABELS)
    with pytest.raises(InvalidInputError, match=r"preds has shape \(3, 9\) but target"):
        function(scores(), LABELS[:2])
    with pytest.raises(InvalidInputError, match=r"mask has shape \(2, 9\), but preds \(3, 9\)"):
        function(scores(), LABELS, mask=LABELS[:2].bool())
    with pytest.raises(InvalidInputError, match=r"lengths must be 3 integers, one for each series"):
        function(scores(), LABELS, lengths=[3, 4])
    for option, value in (("pool", "all"), ("reduction", "max"), ("scale", "rank")):
        with pytest.raises(InvalidParameterError, match=f"{loss.__name__}: {option} must be one of"):
            loss(**{option: value})


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(tt.CCELoss(tau=0.3, scale=None)) == "CCELoss(scale=None, tau=0.3)"
    assert repr(tt.EventAUCLoss()) == "EventAUCLoss()"
    one = tt.CCELoss()(scores()[0], LABELS[0], mask=torch.ones(9, dtype=torch.bool))
    torch.testing.assert_close(one, tt.CCELoss()(scores()[:1], LABELS[:1]))


@pytest.mark.parametrize("loss", [tt.CCELoss(), tt.EventAUCLoss()])
def test_labels_that_are_none_are_refused(loss):
    preds, target = torch.randn(2, 20), torch.zeros(2, 20)
    target[:, 5:9] = 1
    with pytest.raises(InvalidInputError, match=r"but is 0\.5 at 8 of the points: events have no soft labels"):
        loss(preds, 0.5 * target)
    with pytest.raises(InvalidInputError, match=r"preds must be a tensor of a floating dtype.*In torch's order preds"):
        loss(target.long(), preds)
    with pytest.raises(InvalidInputError, match=r"target must be 0 .* In torch's order preds come first"):
        loss(target, preds)
    ignored = target.clone()
    ignored[:, 0] = -100
    inside = ignored >= 0
    assert loss(preds, ignored, mask=inside) == loss(preds, target, mask=inside)


def test_logits_are_no_probabilities():
    preds, target = torch.linspace(-1, 3, 20), torch.arange(20) > 15
    with pytest.raises(InvalidInputError, match=r'reach from -1 to 3; of logits use scale="sigmoid"'):
        tt.CCELoss(scale=None)(preds, target)
    assert torch.equal(tt.CCELoss(scale=None)(preds.sigmoid(), target), tt.CCELoss()(preds, target))


def test_an_option_of_the_metric_is_called_by_its_name_in_the_loss():
    with pytest.raises(TypeError, match=r"CCELoss\(\) has no option 'normalize': scale=\"minmax\" and scale=None are"):
        tt.CCELoss(normalize="minmax")
    with pytest.raises(TypeError, match=r"CCELoss\(\) has no option 'gama': did you mean gamma"):
        tt.CCELoss(gama=1.0)
