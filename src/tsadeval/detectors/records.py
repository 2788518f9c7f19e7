"""DetectorRecord: a record that describes one detector, and the registry of all detectors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tsadeval._optional import require
from tsadeval.core.names import Registry, parse_call
from tsadeval.core.parameters import Check, check_parameters, refuse_unknown
from tsadeval.errors import InvalidParameterError

if TYPE_CHECKING:
    from tsadeval.detectors.base import Detector

C = TypeVar("C", bound="type[Detector]")


def option(default: Any, check: Check, about: str) -> Any:
    """Declare a parameter of a detector: a dataclass field that knows what it may be, and says what it does."""
    return field(default=default, metadata={"check": check, "about": about})


# Options that change how a run looks or where it happens to report, but no score: no part of a detector's name.
_UNNAMED = {"progress"}


@dataclass(frozen=True)
class DetectorRecord:
    """All there is to know about one detector; `bound` holds the options that differ from the defaults."""

    name: str
    title: str  # as the tables of papers call it
    summary: str
    scoring: str  # what the score of a point is
    reference: str
    extra: str  # what `pip install 'tsadeval[...]'` must have brought
    make: "type[Detector]" = field(repr=False, compare=False)
    parameters: Mapping[str, Any] = field(repr=False, compare=False)
    checks: Mapping[str, Check] = field(repr=False, compare=False)
    about: Mapping[str, str] = field(repr=False, compare=False)
    bound: tuple[tuple[str, Any], ...] = ()
    revision: int = 1  # raised with every change of the scores: a store does not reuse those of another revision

    def with_options(self, **options: Any) -> "DetectorRecord":
        """Fix some options of the detector. Torch is not needed for this."""
        refuse_unknown(self.name, self.parameters, options)
        check_parameters(self.name, self.checks, options)
        merged = {**dict(self.bound), **options}
        changed = ((k, merged[k]) for k, default in self.parameters.items() if k in merged and merged[k] != default)
        return replace(self, bound=tuple(changed))

    def build(self) -> "Detector":
        """Build a detector with the bound options, ready to be fitted."""
        if self.extra == "torch":
            require("torch", extra="torch")
        return self.make(**dict(self.bound))

    def __str__(self) -> str:
        named = [f"{k}={v!r}" for k, v in self.bound if k not in _UNNAMED]
        return f"{self.name}({', '.join(named)})" if named else self.name


def detector(
    *, name: str, title: str, summary: str, scoring: str, reference: str, extra: str, revision: int = 1
) -> Callable[[C], C]:
    """Register a dataclass whose fields are made by `option`; see `DetectorRecord` for the description."""

    def decorate(made: C) -> C:
        options = fields(made)
        record = DetectorRecord(
            name=name,
            title=title,
            summary=summary,
            scoring=scoring,
            reference=reference,
            extra=extra,
            make=made,
            parameters={one.name: one.default for one in options},
            checks={one.name: one.metadata["check"] for one in options},
            about={one.name: one.metadata["about"] for one in options},
            revision=revision,
        )
        made.record = DETECTORS.add(name, record)
        return made

    return decorate


DETECTORS: Registry[DetectorRecord] = Registry("detector", "tsadeval.detectors")


def parse_detector(text: str, **overrides: Any) -> "DetectorRecord":
    """Find the record that a text like `lof` or `usad(window=50)` names; torch is not needed for this.

    >>> print(parse_detector("usad( latent = 5, random_state=0 )", window=50))
    usad(window=50, latent=5)
    """
    name, positional, options = parse_call(text)
    record = DETECTORS[name]
    if positional:
        raise InvalidParameterError(f"cannot read {text!r}: options of {name} need their names, option=value")
    return record.with_options(**{**options, **overrides})


def make(text: str, **overrides: Any) -> "Detector":
    """Make a new detector by name, ready to be fitted.

    Parameters
    ----------
    text : str
        "lof", "usad(window=50, random_state=3)": a name of `DETECTORS`, with options.
    **overrides : Any
        Options that win over those of the text.

    Examples
    --------
    >>> import tsadeval as te
    >>> scores = te.detectors.make("random", random_state=1).fit([0.1, 0.3, 0.2]).score([0.2, 0.9])
    >>> scores.shape
    (2,)
    """
    return parse_detector(text, **overrides).build()
