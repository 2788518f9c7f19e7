"""Options of `te.Scores`: their names, types, defaults and checks, once for everything that reads scores."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypedDict, cast

from tsadeval.core.durations import find_zone
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import OneOf, check_parameters, refuse_unknown
from tsadeval.core.setting import MISSING, Missing
from tsadeval.tables.one_series import DETECTORS

LABEL, SCORE = "label", "score"  # the columns of labels and scores where none is named


class Reading(TypedDict, total=False):
    """The options of `te.Scores`, as functions pass them on."""

    label: str
    score: str | Sequence[str]
    by: str | Sequence[str]
    detector: str | None
    time: Any
    tz: Any
    values: Any
    incidents: Any
    ignore: Any
    fit: Any
    missing: Missing
    one_series: bool
    shared: bool
    strict: bool
    max_bytes: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """The options of one `te.Scores`, checked."""

    label: str | None = LABEL  # None: there are no labels in it
    score: tuple[str, ...] = (SCORE,)
    by: tuple[str, ...] = ()
    detector: str | None = None
    time: Any = None
    tz: Any = None
    values: Any = None
    incidents: Any = None
    ignore: Any = None
    fit: Any = None
    missing: Missing = "skip"
    one_series: bool = False
    shared: bool = False
    strict: bool = False
    max_bytes: float | None = None

    @classmethod
    def of(cls, reading: Reading, others: Self | None = None) -> Self:
        """Check options, beside `others` that stay; messages name the function that was called, and its own options."""
        given = dict(cast(Mapping[str, Any], reading))
        function, own = _called()
        known = [field.name for field in fields(cls)]
        hints = {name: did_you_mean(name, list(dict.fromkeys([*own, *known]))) for name in given if name not in known}
        refuse_unknown(f"te.{function}", known, given, hints)
        check_parameters(function, {"missing": OneOf(MISSING)}, {"missing": given.get("missing", "skip")})
        if given.get("tz") is not None:
            find_zone(given["tz"])
        for name in ("score", "by"):
            if name in given:
                given[name] = (given[name],) if isinstance(given[name], str) else tuple(given[name])
        if given.get("label", LABEL) is None:
            del given["label"]
        return replace(others or cls(), **given)

    @property
    def series_columns(self) -> list[str]:
        """The columns that name the series."""
        return [name for name in self.columns if name != self.named_by]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that name series and detectors; "file" and "folder" may be among them."""
        own = self.detector
        return (*self.by, own) if own is not None and own not in self.by else self.by

    @property
    def named_by(self) -> str | None:
        """The column that names the detector: the one given, or the first of `by` that is called so."""
        return self.detector or next((name for name in self.by if name.lower() in DETECTORS), None)


def _called() -> tuple[str, list[str]]:
    """Return the name of the function of the library that the user has called, and its own parameters."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_back.f_globals.get("__name__", "").partition(".")[0] == "tsadeval":
        frame = frame.f_back
    code = frame.f_code
    own = [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]
    return "Scores" if code.co_name == "__init__" else code.co_name, own
