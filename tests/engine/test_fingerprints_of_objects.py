"""Keys of objects that user code is configured with: what differs is told apart, and a copy is the same."""

import copy
import functools
import io
import logging
import os
import re
import sys
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.special
from sklearn.ensemble import IsolationForest

import tsadeval as te
from detecting import write_series
from tsadeval.engine.fingerprints import fingerprint


class Config:
    def __init__(self, sign):
        self.sign = sign


@dataclass
class Record:
    sign: float
    names: tuple[str, ...] = ()


class Slotted:
    __slots__ = ("sign",)

    def __init__(self, sign):
        self.sign = sign


class Sign(Enum):
    PLUS = 1
    MINUS = -1


class Pair(NamedTuple):
    a: int
    b: object


class Array(np.ndarray):
    """NumPy's own reduction leaves out its attributes."""


class Masked(np.ma.MaskedArray):
    """As above."""


def signed(kind, sign):
    found = np.ones(2).view(kind)
    found.sign = sign
    return found


class Configured:
    """Scores are the distance from zero times the sign of a configuration object."""

    def __init__(self, config):
        self.config = config

    def fit(self, X):
        return self

    def score(self, X):
        return self.config.sign * np.abs(X).sum(axis=1)


def test_objects_in_a_constructor_are_told_apart_and_do_not_collapse_into_one_row(tmp_path):
    path = write_series(tmp_path, "a", 0)
    result = te.detect(path, [Configured(Config(1)), Configured(Config(-1))], "auc_roc")
    first, second = result.to_frame()["value"]
    assert first > 0.9
    assert second == pytest.approx(1 - first)


def variants():
    """Pairs of objects that differ in one thing."""
    frame = pytest.importorskip("pandas").DataFrame
    yield from [
        (Config(1), Config(-1)),
        (Record(1.0), Record(2.0)),
        (Record(1.0, ("a",)), Record(1.0, ("b",))),
        (Slotted(1), Slotted(2)),
        (Sign.PLUS, Sign.MINUS),
        (Pair(1, Config(1)), Pair(1, Config(2))),
        (np.ones(3), np.zeros(3)),
        (np.ones(4), np.ones((2, 2))),
        (np.ones(3), np.ones(3, np.float32)),
        (np.array([Config(1), None]), np.array([Config(2), None])),
        (np.zeros(2, [("a", "i4")]), np.zeros(2, [("b", "i4")])),
        (np.float32(1), np.float64(1)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (np.random.RandomState(1), np.random.RandomState(2)),
        ({"a": 1}, {"a": 2}),
        ({"a": [1, {2: {3}}]}, {"a": [1, {2: {4}}]}),
        ({1, 2}, {1, 3}),
        (1, 1.0),
        (True, 1),
        (0.0, -0.0),
        ("1", 1),
        (10**5000, 10**5000 + 1),
        (["ab", "c"], ["a", "bc"]),
        ([[1], 2], [[1, 2]]),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (Path("a"), Path("b")),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (functools.partial(max, 1), functools.partial(min, 1)),
        (lambda y, s: 1, lambda y, s: 2),
        (lambda y, s, k=1: k, lambda y, s, k=2: k),
        (IsolationForest(max_features=0.5), IsolationForest(max_features=0.6)),
        (int, str),
        (np.add, np.multiply),
        (scipy.special.expit, scipy.special.logit),
        (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
        (np.datetime64("2020-01-01"), np.datetime64("2020-01-02")),
        (np.array(["2020"], "M8[Y]"), np.array(["2021"], "M8[Y]")),
        (logging.getLogger("a"), logging.getLogger("b")),
        (frame({"a": [1, 2]}), frame({"a": [1, 3]})),
    ]


def tensors():
    import torch

    models = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        models.append(torch.nn.Linear(2, 2))
    pairs = [(torch.ones(2), torch.zeros(2)), tuple(models)]
    brief = torch.ones(2, dtype=torch.bfloat16)
    pairs += [(brief, 2 * brief), (brief, torch.ones(2)), (torch.eye(2).to_sparse(), 2 * torch.eye(2).to_sparse())]
    return [*pairs, (torch.eye(2), torch.eye(2).to_sparse())]


@pytest.mark.parametrize("pairs", [variants, pytest.param(tensors, marks=pytest.mark.torch)])
def test_every_difference_is_seen_and_a_copy_is_the_same(pairs):
    for one, other in pairs():
        assert fingerprint(one) != fingerprint(other), one
        assert fingerprint(one) == fingerprint(copy.deepcopy(one)), one
        assert fingerprint(Configured(one)) != fingerprint(Configured(other)), one


@pytest.mark.parametrize("kind", [Array, Masked])
def test_attributes_of_subclasses_of_arrays_count(kind):
    assert fingerprint(signed(kind, 1)) == fingerprint(signed(kind, 1)) != fingerprint(signed(kind, 2))


def test_a_function_of_arrays_without_a_name_of_its_own_is_never_reused():
    """Of `np.frompyfunc` only the name of the function inside can be asked for."""
    keys = {fingerprint(np.frompyfunc(inside, 1, 1)) for inside in (lambda x: x, lambda x: x + 1, len)}
    assert all(key.startswith("unkeyed-") for key in keys)


def test_a_star_before_an_argument_counts():
    def plain(y_true, y_score):
        return y_score

    def starred(y_true, *y_score):
        return y_score

    starred.__name__, starred.__qualname__ = plain.__name__, plain.__qualname__
    assert fingerprint(plain) != fingerprint(starred)


def test_the_same_object_twice_is_as_good_as_two_equal_ones():
    shared = [1, 2]
    assert fingerprint([shared, shared]) == fingerprint([[1, 2], [1, 2]])
    loop = []
    loop.append(loop)
    deeper = [[loop]]
    assert fingerprint(loop) == fingerprint(loop) != fingerprint(deeper)


def test_locks_and_loggers_are_no_state():
    one, other = Configured(threading.Lock()), Configured(threading.Lock())
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    "what", [lambda: (i for i in range(3)), lambda: io.FileIO(os.devnull), lambda: sys._getframe()]
)
def test_what_has_no_description_is_never_reused(tmp_path, what):
    held = what()
    detector = Configured(Config(1))
    detector.held = held
    keys = {fingerprint(detector) for _ in range(3)}
    assert len(keys) == 3
    assert all(key.startswith("unkeyed-") for key in keys)
    if hasattr(held, "close"):
        held.close()


def test_values_of_what_has_no_key_are_computed_again_and_shown(tmp_path):
    calls = tmp_path / "calls"

    held = (i for i in range(3))

    def counted(y_true, y_score, held=held):
        with calls.open("a") as file:
            file.write("x")
        return 1.0

    some = {"cases": ["10k-20seg-50H"], "tasks": ["AccQ"], "store": tmp_path / "store"}
    for run in (1, 2):
        with pytest.warns(UserWarning, match="counted: holds what cannot be described for certain"):
            values = te.rankeval.run("quick", counted, **some).to_frame()
        assert set(values["value"]) == {1.0}
        assert len(calls.read_text()) == run * len(values)


def test_pickling_an_object_changes_the_key_of_nothing():
    """Python notes the slots of a class when it first takes an object of it apart."""

    class Model:
        def __init__(self):
            self.depth = 3

    before = fingerprint(Model)
    Model().__reduce_ex__(4)
    assert "__slotnames__" in vars(Model)
    assert fingerprint(Model) == before
