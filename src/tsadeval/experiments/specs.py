"""Entrants: detectors under trial, by name or as anybody's objects, with the text that stands for each."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tsadeval.core.text import parse_call
from tsadeval.engine.identity import fingerprint, imported
from tsadeval.errors import InvalidParameterError

__all__ = ["Entrant", "choose_detectors"]

# Where and how a detector runs, not what it computes: no part of its text. The seed has a place of its own.
_APART = {"device", "progress", "seed"}


@dataclass(frozen=True)
class Entrant:
    """A detector under trial.

    `text` names it in stores: of a detector of the registry its name and the options that differ from the defaults;
    of anybody's object its class and options, and after an `@` a mark of its code, so that an edited detector is not
    taken for the old one. `seed` is None for a detector that takes none; `apart` are options that change no score.
    """

    text: str
    title: str
    seed: int | None = None
    apart: tuple[tuple[str, Any], ...] = field(default=(), compare=False, repr=False)
    guest: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, detector: Any, seed: int = 0) -> Entrant:
        """The entrant that a text ("lof(window=50)", "module:Class"), or an object, stands for."""
        if isinstance(detector, Entrant):
            return detector
        if isinstance(detector, str):
            return _imported(detector) if ":" in detector.partition("(")[0] else _named(detector, seed)
        record = getattr(detector, "record", None)
        if record is not None and hasattr(detector, "get_params"):  # one of ours, made already
            options = detector.get_params(deep=False)
            bare = record.with_options(**{k: v for k, v in options.items() if k not in _APART})
            return cls(_text(bare), _title(bare), options.get("seed"), guest=detector)
        return _guest(detector)

    def make(self, device: str = "auto") -> Any:
        """A new detector, ready to be fitted."""
        if self.guest is not None:
            return copy.deepcopy(self.guest)
        from tsadeval.detectors import parse_detector

        record = parse_detector(self.text.partition("@")[0])
        given = {"device": device, **dict(self.apart), "seed": self.seed}
        return record.with_options(**{k: v for k, v in given.items() if k in record.parameters}).build()


def choose_detectors(detectors: Any, seeds: Iterable[int]) -> tuple[Entrant, ...]:
    """The entrants that a caller named, with every seed where they take one.

    One or several texts or objects; or a mapping, whose keys are what tables call them.
    """
    if isinstance(detectors, Mapping):
        given = [(str(title), detector) for title, detector in detectors.items()]
    else:
        # An ensemble of scikit-learn is iterable, but it is one detector.
        one = isinstance(detectors, str) or not isinstance(detectors, Iterable) or hasattr(detectors, "fit")
        given = [("", detector) for detector in ([detectors] if one else detectors)]
    found: dict[tuple[str, int | None], Entrant] = {}
    for title, detector in given:
        for seed in seeds:
            entrant = Entrant.of(detector, seed)
            entrant = replace(entrant, title=title or entrant.title)
            before = found.setdefault((entrant.text, entrant.seed), entrant)
            if title and before.title != title:
                raise InvalidParameterError(f"{before.title!r} and {title!r} are the same detector: {entrant.text}")
    if not found:
        raise InvalidParameterError("detectors is empty: name at least one, such as lof")
    return tuple(found.values())


def _named(text: str, seed: int) -> Entrant:
    from tsadeval.detectors import parse_detector

    record = parse_detector(text)
    bare = replace(record, bound=tuple((k, v) for k, v in record.bound if k not in _APART))
    apart = {k: v for k, v in record.bound if k in _APART}
    # A seed in the text wins over that of the run.
    own = apart.pop("seed", seed) if "seed" in record.parameters else None
    return Entrant(_text(bare), _title(bare), own, tuple(apart.items()))


def _text(record: Any) -> str:
    """What stands for a detector of the registry in stores; a later revision of its code is another detector."""
    return f"{record}@r{record.revision}" if record.revision > 1 else str(record)


def _title(record: Any) -> str:
    """As papers print it, with the options that differ from the defaults."""
    return f"{record.title}{str(record).removeprefix(record.name)}"


def _imported(text: str) -> Entrant:
    path, bracket, options = text.partition("(")
    made = imported(path, "detector")
    _, positional, named = parse_call(f"f{bracket}{options}")
    try:
        entrant = _guest(made(*positional, **named))
    except TypeError as error:
        raise InvalidParameterError(f"detector {text!r} cannot be made: {error}") from None
    mark = entrant.text.rpartition("@")[2]
    return replace(entrant, text=f"{text}@{mark}", title=text.partition(":")[2])


def _guest(detector: Any) -> Entrant:
    if isinstance(detector, type) or not all(callable(getattr(detector, name, None)) for name in ("fit", "score")):
        raise InvalidParameterError(
            f"a detector must be a name such as 'lof', or an object with fit(X) and score(X), but one is {detector!r}"
        )
    name = type(detector).__name__
    # scikit-learn's own repr has the options that differ from the defaults; any other may hold an address.
    shown = " ".join(repr(detector).split()) if hasattr(detector, "get_params") else name
    return Entrant(f"{shown}@{fingerprint(detector)}", shown, guest=detector)
