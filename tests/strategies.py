"""Random labels, scores and predictions that reach the corners: ties, borders, gaps of 1, single points."""

import os

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

# The share of the examples that is tried: a few in `make test` and fewer in `make quick`, always the same ones, and
# many other ones each time in `make thorough`.
FACTOR = float(os.environ.get("TSADEVAL_EXAMPLES", "0.2"))
FEW = 10 if FACTOR >= 0.1 else 3


def examples(n):
    """Try n examples in a test, or a share of them, but not less than a few."""
    return settings(max_examples=max(min(n, FEW), round(FACTOR * n)))


@st.composite
def labels(draw, min_size=2, max_size=40, both=False):
    """0/1 labels made of runs, so that long events, single points, gaps of 1 and events at the ends all occur.

    With `both`, each class has at least one point.
    """
    first = draw(st.integers(0, 1))
    runs = draw(st.lists(st.one_of(st.just(1), st.integers(1, 8)), min_size=1, max_size=max_size))
    y = np.repeat((np.arange(len(runs)) + first) % 2, runs)[:max_size]
    if len(y) < min_size:
        y = np.concatenate([y, np.full(min_size - len(y), y[-1])])
    if both and y.min() == y.max():
        y[draw(st.integers(0, len(y) - 1))] ^= 1
    return y.astype(np.int64)


@st.composite
def scores(draw, n, ties=None):
    """n finite scores: smooth, with many ties, or binary."""
    kind = draw(st.sampled_from(["smooth", "ties", "binary"])) if ties is None else ("ties" if ties else "smooth")
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return rng.integers(0, 2, n).astype(float)
    if kind == "ties":
        return rng.integers(0, draw(st.integers(1, 6)) + 1, n) / 4
    return rng.random(n)


@st.composite
def scorings(draw, min_size=2, max_size=40, both=True):
    """Labels and scores of the same points."""
    y = draw(labels(min_size=min_size, max_size=max_size, both=both))
    return y, draw(scores(len(y)))


@st.composite
def predictions(draw, min_size=2, max_size=40, both=True):
    """Labels and binary predictions of the same points; all or none predicted also occurs."""
    y = draw(labels(min_size=min_size, max_size=max_size, both=both))
    kind = draw(st.sampled_from(["runs", "runs", "points", "none", "all", "perfect"]))
    if kind == "runs":
        p = draw(labels(min_size=len(y), max_size=len(y)))
    elif kind == "points":
        p = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, 2, len(y))
    else:
        p = {"none": np.zeros_like(y), "all": np.ones_like(y), "perfect": y.copy()}[kind]
    return y, p.astype(np.int64)
