"""Exceptions and warnings of tsadeval.

TsadevalError
├── InvalidInputError (ValueError)      labels, scores or predictions that cannot be judged
│   └── InvalidParameterError           an option out of its range
├── UnknownNameError (KeyError)         a name that is not in a registry or result, with the nearest valid ones
├── MissingExtraError (ImportError)     an optional dependency is not installed
├── StoreError (OSError)                results cannot be written: the disk is full, or the folder read-only
└── UndefinedError                      raised inside a metric; callers of the public functions never see it
UndefinedMetricWarning (UserWarning)    what they see instead, with NaN as the value
FailedMetricWarning (UserWarning)       a metric or rule raised on some scorings of several; NaN is the value there
ThresholdWarning (UserWarning)          a threshold rule raised no alarm at all, or alarmed everywhere
"""

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "FailedMetricWarning",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingExtraError",
    "StoreError",
    "ThresholdWarning",
    "TsadevalError",
    "UndefinedError",
    "UndefinedMetricWarning",
    "UnknownNameError",
]


class TsadevalError(Exception):
    """Base of every error that tsadeval raises on purpose."""


class InvalidInputError(TsadevalError, ValueError):
    """Labels, scores or predictions that cannot be judged; the message says what to do."""


class InvalidParameterError(InvalidInputError):
    """An option of a metric (or of anything else) that is out of its range."""


class UnknownNameError(TsadevalError, KeyError):
    """A name that is not in a registry or in a result."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the message


class MissingExtraError(TsadevalError, ImportError):
    """An optional dependency is not installed."""


class StoreError(TsadevalError, OSError):
    """Results cannot be written; what was written before is kept."""


class UndefinedError(TsadevalError):
    """A metric has no meaning on this input. Metric functions turn it into NaN and a warning.

    `reason` is one of `tsadeval.core.facts.Reason`.
    """

    def __init__(self, message: str, reason: str = "undefined") -> None:
        super().__init__(message)
        self.reason = reason


class UndefinedMetricWarning(UserWarning):
    """The metric has no meaning on this input, so its value is NaN."""


class FailedMetricWarning(UserWarning):
    """A metric or rule raised on some of several scorings: it is NaN there, and the other values stand."""


class InputWarning(UserWarning):
    """Data can be read in two ways, and one of them was taken."""


class ThresholdWarning(UserWarning):
    """A threshold rule raised no alarm at all, or alarmed everywhere: metrics of predictions say little there."""


_COMMAND_LINE = "TSADEVAL_COMMAND_LINE"  # in the environment, which worker processes inherit


def hint(python: str, command: str) -> str:
    """Return how to do something in Python, or on the command line where messages are for its users."""
    return command if _COMMAND_LINE in os.environ else python


@contextmanager
def for_command_line() -> Iterator[None]:
    """Let messages name options of the command line instead of arguments."""
    before = os.environ.get(_COMMAND_LINE)
    os.environ[_COMMAND_LINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_COMMAND_LINE]


def describe_error(error: Exception) -> str:
    """Return what an exception is and, unless its message is for users, where it was raised."""
    where = ""
    if not isinstance(error, TsadevalError) and (frames := traceback.extract_tb(error.__traceback__)):
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})"
    return f"{type(error).__name__}: {error}{where}"


@contextmanager
def without_exit(name: str) -> Iterator[None]:
    """Make an error of a user's code that ends the program: other values, and the exit code, are not its own."""
    try:
        yield
    except SystemExit as error:
        raise InvalidParameterError(f"{name} called sys.exit({'' if error.code is None else error.code!r})") from error


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the caller's own code that led here, however many calls inside the library lie between."""
    level, frame, inside = 2, sys._getframe(1), (__package__, "functools")  # which makes cached properties
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_undefined(metric: str, reason: str, *, on: str = "") -> None:
    """Say at the caller's line why a metric (or several, with commas between) is NaN, and on which series."""
    are = "are" if "," in metric.partition("(")[0] else "is"
    warn(f"{metric} {are} undefined{f' on {on}' if on else ''}, so NaN: {reason}", UndefinedMetricWarning)
