"""What must hold of every detector of the registry."""

import inspect
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tsadeval as te
from refused import refused_values
from tsadeval.core.parameters import Number
from tsadeval.detectors import DETECTORS, make, parse_detector
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

EVERY = list(DETECTORS)
# Small enough for seconds; a detector takes of these what it has.
SMALL = {"window": 16, "epochs": 2, "max_windows": 32, "batch_size": 16, "device": "cpu"}
SMALL |= {"clusters": 3, "trees": 10, "d_model": 8, "d_ff": 8, "num_kernels": 2, "top_k": 2, "n_layers": 1}
WINDOWED = [name for name in EVERY if "window" in DETECTORS[name].parameters]
DEEP = [name for name in EVERY if DETECTORS[name].extra == "torch"]


def marked(names):
    """Names as parameters, of which those of networks need torch."""
    return [pytest.param(name, marks=[pytest.mark.torch] if name in DEEP else []) for name in names]


def small(name, **options):
    known = DETECTORS[name].parameters
    return make(name, **{k: v for k, v in {**SMALL, **options}.items() if k in known})


def series(n, columns, seed):
    rng = np.random.default_rng(seed)
    waves = np.sin(np.arange(n)[:, None] * 2 * np.pi / np.array([10, 14, 23])[:columns])
    return waves + 0.1 * rng.normal(size=(n, columns))


TRAIN, TEST = series(200, 3, 0), series(150, 3, 1)


def test_the_registry_has_all_that_the_issue_names():
    assert {"lof", "iforest", "pca", "random", "lstm_ad", "usad", "donut"} <= set(EVERY)
    assert {"matrix_profile", "knn", "hbos", "ocsvm", "kmeans_ad", "poly", "ar", "moving_variance"} <= set(EVERY)
    assert len({DETECTORS[name].title for name in EVERY}) == len(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_records_are_complete(name):
    record = DETECTORS[name]
    assert record.name == name
    assert record.make.record is record
    assert record.summary.endswith(".")
    assert record.scoring
    assert record.reference
    assert record.extra in ("all", "torch")
    assert all(record.about.values())
    for option, default in record.parameters.items():
        assert record.checks[option].accepts(default), option
    assert list(record.parameters) == list(inspect.signature(record.make).parameters)
    assert inspect.getdoc(record.make)
    assert inspect.getmodule(record.make).__doc__
    for method in ("fit", "score", "span"):
        assert getattr(record.make, method).__doc__


@pytest.mark.parametrize("name", marked(EVERY))
@pytest.mark.parametrize("columns", [1, 3])
def test_one_finite_score_per_point(name, columns):
    detector = small(name)
    assert detector.fit(TRAIN[:, :columns]) is detector
    for n in (16, 17, 150):
        scores = detector.score(TEST[:n, :columns])
        assert scores.shape == (n,)
        assert scores.dtype == np.float64
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", marked(EVERY))
def test_the_same_seed_gives_the_same_scores(name):
    first = small(name, random_state=3).fit(TRAIN)
    scores = first.score(TEST)
    np.testing.assert_array_equal(first.score(TEST), scores)
    np.testing.assert_array_equal(small(name, random_state=3).fit(TRAIN).score(TEST), scores)
    np.testing.assert_array_equal(clone(first).fit(TRAIN).score(TEST), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).score(TEST), scores)


@pytest.mark.parametrize("name", marked(EVERY))
def test_global_generators_are_left_alone(name):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    small(name).fit(TRAIN).score(TEST)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.torch
@pytest.mark.parametrize("name", DEEP)
def test_the_generator_of_torch_is_left_alone_and_changes_nothing(name):
    import torch

    state = torch.get_rng_state()
    scores = small(name).fit(TRAIN).score(TEST)
    assert torch.equal(torch.get_rng_state(), state)
    with torch.random.fork_rng():
        torch.manual_seed(987)
        np.testing.assert_array_equal(small(name).fit(TRAIN).score(TEST), scores)


@pytest.mark.parametrize("name", marked(EVERY))
def test_the_form_of_the_input_does_not_matter(name):
    column = TRAIN[:, 0]
    detector = small(name).fit(column)
    scores = detector.score(TEST[:, 0])
    for form in (TEST[:, :1], TEST[:, 0].tolist(), pd.Series(TEST[:, 0])):
        np.testing.assert_array_equal(detector.score(form), scores)
    before = TEST.copy()
    small(name).fit(pd.DataFrame(TRAIN)).score(TEST)
    np.testing.assert_array_equal(TEST, before)


@pytest.mark.torch
@pytest.mark.parametrize("name", EVERY)
def test_tensors_are_as_good_as_arrays(name):
    import torch

    detector = small(name).fit(TRAIN[:, 0])
    tensor = torch.tensor(TEST[:, 0], requires_grad=True)
    np.testing.assert_array_equal(detector.score(tensor), detector.score(TEST[:, 0]))


@pytest.mark.parametrize("name", marked(EVERY))
def test_constant_and_extreme_columns(name):
    """Dead sensors, sensors that jump once they are scored, and values at the end of the range."""
    train, test = TRAIN.copy(), TEST.copy()
    train[:, 1], test[:, 1] = 7.0, 7.0
    test[60:70, 1] = 1e12
    train[:, 2] *= 1e300
    test[:, 2] *= 1e300
    assert np.isfinite(small(name).fit(train).score(test)).all()
    assert np.isfinite(small(name).fit(np.full(100, 3.7)).score(np.append(np.full(50, 3.7), 4.0))).all()


@pytest.mark.parametrize("name", marked(EVERY))
def test_bad_input(name):
    detector = small(name)
    with pytest.raises(NotFittedError, match=f"{name}.*call fit"):
        detector.score(TEST)
    with pytest.raises(InvalidInputError, match="empty"):
        detector.fit([])
    bad = TRAIN.copy()
    bad[5, 2] = np.nan
    with pytest.raises(InvalidInputError, match="NaN at point 5, column 2"):
        detector.fit(bad)
    detector.fit(TRAIN)
    with pytest.raises(InvalidInputError, match=r"has 2 features.*fitted on 3 columns"):
        detector.score(TEST[:, :2])
    bad[5, 2] = -np.inf
    with pytest.raises(InvalidInputError, match="infinite at point 5"):
        detector.score(bad)


@pytest.mark.parametrize("name", marked(WINDOWED))
def test_series_shorter_than_the_window(name):
    with pytest.raises(InvalidInputError, match=r"X has 15 points.*16 at once.*smaller window"):
        small(name).fit(TRAIN[:15])
    detector = small(name).fit(TRAIN)
    with pytest.raises(InvalidInputError, match=r"X has 15 points.*16 at once"):
        detector.score(TEST[:15])


@pytest.mark.parametrize("name", marked(EVERY))
def test_every_option_refuses_bad_values(name):
    record = DETECTORS[name]
    for option, check in record.checks.items():
        for bad in refused_values(check):
            with pytest.raises(InvalidParameterError, match=option):
                record.with_options(**{option: bad})
            with pytest.raises(InvalidParameterError, match=option):  # scikit-learn's manner: when it is fitted
                record.make(**{option: bad}).fit(TRAIN)


@pytest.mark.parametrize("name", marked(EVERY))
def test_texts_are_read_back(name):
    record = DETECTORS[name]
    assert str(make(name)) == str(record) == name
    detector = small(name, random_state=5)
    text = str(detector)
    assert ("random_state=5" in text) == ("random_state" in record.parameters)
    again = make(text)
    assert again.get_params() == detector.get_params()
    assert str(parse_detector(text)) == text
    assert str(make(name, **record.parameters)) == name  # defaults are not named
    if "progress" in record.parameters:
        assert str(make(name, progress=True)) == name


def test_options_override_the_text():
    assert str(make("lof(window=50, random_state=1)", random_state=2)) == "lof(window=50, random_state=2)"


@pytest.mark.torch
def test_words_are_read_without_quotes():
    assert make("usad(device=cpu)").device == "cpu"


def test_names_that_are_not_known():
    with pytest.raises(UnknownNameError, match="unknown detector 'loff': did you mean lof"):
        make("loff")
    with pytest.raises(InvalidParameterError, match="no option 'windw': did you mean window"):
        make("lof(windw=3)")
    with pytest.raises(InvalidParameterError, match="need their names"):
        make("lof(50)")
    with pytest.raises(InvalidParameterError, match="cannot read"):
        make("lof(")
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        te.detectors.nothing  # noqa: B018


def test_public_names():
    assert te.detectors.__all__ == sorted(te.detectors.__all__)
    assert dir(te.detectors) == te.detectors.__all__
    assert issubclass(te.detectors.DeepDetector, te.detectors.Detector)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lof", "iforest", "pca"])
def test_windows_are_a_hundred_points_of_one_column_or_one_of_several(name):
    assert make(name).span(1) == 100
    assert make(name).span(2) == 1
    assert make(name, window=7).span(2) == 7
    few = make(name, max_windows=20).fit(TRAIN)
    assert not np.array_equal(few.score(TEST), make(name, max_windows=20, random_state=1).fit(TRAIN).score(TEST))
    every = make(name, max_windows=None).fit(TRAIN).score(TEST)
    np.testing.assert_array_equal(every, make(name).fit(TRAIN).score(TEST))  # there are fewer than the limit


def test_random_is_random():
    scores = make("random").fit(TRAIN).score(np.zeros((10_000, 3)))
    assert 0 <= scores.min() < 0.001
    assert 0.999 < scores.max() < 1
    assert abs(scores.mean() - 0.5) < 0.02


def test_a_detector_of_your_own():
    class Distance(te.detectors.Detector):
        """How far a point is from the mean."""

        power: float = te.detectors.option(1.0, Number(0, open_low=True), "of the distance")

        def _fit(self, series):
            self.mean_ = series.mean(axis=0)

        def _score(self, series):
            return np.abs(series - self.mean_).sum(axis=1) ** self.power

    describe = te.detectors.detector(
        name="distance", title="Distance", summary="Far is bad.", scoring="distance", reference="none", extra="all"
    )
    try:
        describe(dataclass(kw_only=True, eq=False, repr=False)(Distance))
        detector = make("distance(power=2)").fit([0.0, 2.0])
        assert detector.score([1.0, 4.0]).tolist() == [0.0, 9.0]
        assert str(detector) == "distance(power=2)"
    finally:
        DETECTORS._records.pop("distance", None)
