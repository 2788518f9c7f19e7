"""Detectors and series of the tests of `te.detect`, small enough to know what comes out."""

import numpy as np


class Distance:
    """How far a point is from the mean of the training part; `log` is a file that gets a line for each training."""

    def __init__(self, log=None, sign=1.0):
        self.log = None if log is None else str(log)
        self.sign = sign

    def fit(self, X):
        if self.log:
            with open(self.log, "a") as file:
                file.write("fit\n")
        self.middle = X.mean(axis=0)
        return self

    def score(self, X):
        return self.sign * np.abs(X - self.middle).sum(axis=1)


class Broken(Distance):
    def score(self, X):
        raise RuntimeError("out of paper")


def write_series(folder, name, seed, columns=2, n=240):
    """A csv file of noise with two bumps in its second half."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, columns))
    label = np.zeros(n, int)
    for start in (n // 2 + 20, n - 30):
        label[start : start + 8] = 1
    values[label == 1] += 4
    head = ",".join([*(f"x{i}" for i in range(columns)), "label"])
    path = folder / f"{name}.csv"
    np.savetxt(path, np.column_stack([values, label]), delimiter=",", header=head, comments="", fmt="%.6g")
    return path


def trainings(log):
    return len(log.read_text().splitlines())
