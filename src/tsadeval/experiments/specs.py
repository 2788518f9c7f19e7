"""Specs of an experiment: its data sets and detectors, by name and options or in memory; training, cached scores.

Nothing here needs the compiled kernels, pandas or pyarrow, so that scores can be made on any machine.
"""

import copy
import platform
import re
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from tsadeval.core.names import format_call, import_object, parse_call
from tsadeval.datasets.dataset import DATASETS, Dataset, checksum_of
from tsadeval.datasets.loading import is_table, items, load, located, split_options
from tsadeval.detectors import DetectorRecord, parse_detector
from tsadeval.detectors.estimators import family_of, refuse_known
from tsadeval.detectors.wrapping import wrap, wrappable
from tsadeval.engine.cells import versions
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.scores.cache import CachedScores, checked_scores, read_scores, write_scores
from tsadeval.tables.files import Checksums

UNREADABLE = ""  # in place of the checksum of a data set that cannot be read


@dataclass(frozen=True)
class Source:
    """A data set that can be loaded anywhere the data are, or (where `held` is given) one that travels along."""

    name: str
    path: str
    options: dict[str, Any] = field(default_factory=dict, compare=False)  # which are in the name as well
    data: Path | None = None
    held: Dataset | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, dataset: Any, data: str | Path | None = None) -> Self:
        """Return the source that a name (with options in brackets), a path, or a loaded data set stands for."""
        if isinstance(dataset, (str, Path)):
            path, options = split_options(str(dataset))
            return cls(format_call(path, options.items()), path, options, None if data is None else Path(data))
        if is_table(dataset):
            dataset = load(dataset)
        if not hasattr(dataset, "test_labels"):
            raise InvalidParameterError(
                "a data set must be a name, a path, a data frame or a loaded data set (te.datasets.load), but one "
                f"is of type {type(dataset).__name__}"
            )
        return cls(dataset.name, dataset.name, held=dataset)

    def checked(self, checksums: Checksums, hold: int) -> tuple[Self, str]:
        """Return the source by its full name, and the checksum of its data.

        Where they must be read for that, data of up to `hold` bytes come along.
        """
        if self.held is not None:
            return self, self.load().description.checksum
        name, files = located(self.path, data=self.data)
        full = replace(self, name=format_call(name, self.options.items()))  # "UCR/125" and "ucr/125" are one
        read: list[Dataset] = []

        def take() -> str:
            read.append(self.load())
            return read[0].description.checksum

        # Another version may read the same files in another way.
        checksum = checksums.of(f"{full.name}, {versions()}", files, take)
        return replace(full, held=next((found for found in read if found.nbytes <= hold), None)), checksum

    def load(self) -> Dataset:
        """Return the data set, with features, or raise an error that says what is missing."""
        if self.held is None:
            found = load(self.path, data=self.data, **self.options)
        else:  # its arrays may have been changed since its checksum was taken
            now = checksum_of(self.held.train, self.held.test, self.held.test_labels)
            found = replace(self.held, description=replace(self.held.description, checksum=now))
        if found.train is None or found.test is None:
            raise InvalidInputError(
                f"{self.name} has labels only here, so no detector can be trained on it: "
                "`tsadeval datasets info` says which files are missing"
            )
        return found


def choose_datasets(datasets: Any, data: str | Path | None) -> tuple[Source, ...]:
    """Return the sources that a caller named, in order, each once; loaded ones of one name may be different data."""
    if isinstance(datasets, Mapping):
        sources: Iterable[Source] = [_called(str(name), Source.of(one, data)) for name, one in datasets.items()]
    else:
        if isinstance(datasets, (str, Path)) or not isinstance(datasets, Iterable) or is_table(datasets):
            datasets = [datasets]
        sources = (Source.of(one, data) for d in datasets for one in _spread(d, data))
    found = {(source.name, id(source.held)): source for source in sources}
    if not found:
        raise InvalidParameterError('datasets is empty: name at least one, such as "ucr/125"')
    return tuple(found.values())


def _called(name: str, source: Source) -> Source:
    """Return the source of a data frame or a loaded data set, under the name that a mapping gives it."""
    if source.held is None:
        raise InvalidParameterError(
            f"datasets: the keys of a mapping name data frames and loaded data sets, but {name!r} is {source.name!r}: "
            "load it with te.datasets.load first"
        )
    return replace(source, name=name, path=name, held=replace(source.held, name=name))


def _spread(dataset: Any, data: str | Path | None) -> list[Any]:
    """Return the items that "ucr/*" or "ucr/15*" stands for; anything else is itself."""
    head, _, pattern = dataset.partition("/") if isinstance(dataset, str) else ("", "", "")
    item, bracket, options = pattern.partition("(")
    if head.lower() not in DATASETS or not set(item) & set("*?["):
        return [dataset]
    name = head.lower()
    found = [one for one in items(name, data=data) if fnmatchcase(one, f"{name}/{item}")]
    if not found:
        raise InvalidInputError(
            f"no item of {name} with features is called {item!r}: `tsadeval datasets info {name}` lists them"
        )
    return [f"{one}{bracket}{options}" for one in found]


ON_TEST = "@test"  # ends the text of a detector that is fitted on the test part
# Where and how a detector runs, not what it computes: no part of its text. The seed has a place of its own.
_APART = {"device", "progress", "random_state"}
# A class that a text names must have one of them before it is called.
_METHODS = ("fit", "fit_predict", "score", "score_samples", "decision_function", "predict")


@dataclass(frozen=True)
class DetectorSpec:
    """A detector to be run.

    `text` names it in stores: of a detector of the registry its name and the options that differ from the defaults;
    of a user's object its class and options, and after an `@` a key of its code, so that an edited detector is not
    taken for the old one. One that is fitted on the test part ends with "@test". `seed` is None for a detector that
    takes none or has its own; `apart` are options that change no score.
    """

    text: str
    title: str
    seed: int | None = None
    apart: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    instance: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, detector: Any, seed: int = 0) -> "DetectorSpec":
        """Return the spec that a text ("lof(window=50)", "module:Class"), or an object, stands for."""
        if isinstance(detector, DetectorSpec):
            return detector
        if isinstance(detector, str) and ":" in detector.partition("(")[0]:
            return _imported(detector, seed)
        if isinstance(detector, str):
            return _of_record(parse_detector(detector), parse_call(detector).options.get("random_state", seed))
        record = getattr(detector, "record", None)
        if record is not None and hasattr(detector, "get_params"):  # one of ours, made already
            options = detector.get_params(deep=False)
            return _of_record(record.with_options(**options), options.get("random_state"), instance=detector)
        return _of_object(detector, seed)

    @property
    def on_test(self) -> bool:
        """True if it is fitted on the series that it scores."""
        return self.text.endswith(ON_TEST)

    def make(self, device: str = "auto") -> Any:
        """Return a new detector, ready to be fitted."""
        if self.instance is not None:
            return copy.deepcopy(self.instance)
        record = parse_detector(self.text.partition("@")[0])
        given = {"device": device, **self.apart, "random_state": self.seed}
        return record.with_options(**{k: v for k, v in given.items() if k in record.parameters}).build()


def choose_detectors(detectors: Any, seeds: Iterable[int], fit: str = "train") -> tuple[DetectorSpec, ...]:
    """Return the specs that a caller named, with every seed where they take one.

    One or several texts or objects; or a mapping, whose keys are what tables call them. With `fit="test"` they are
    fitted on the part that they score.
    """
    if isinstance(detectors, Mapping):
        given = [(str(title), detector) for title, detector in detectors.items()]
    else:
        # An ensemble of scikit-learn is iterable, but it is one detector.
        one = isinstance(detectors, str) or not isinstance(detectors, Iterable) or hasattr(detectors, "fit")
        given = [("", detector) for detector in ([detectors] if one else detectors)]
    found: dict[tuple[str, int | None], DetectorSpec] = {}
    for title, detector in given:
        for seed in seeds:
            spec = DetectorSpec.of(detector, seed)
            end = ON_TEST if fit == "test" else ""
            spec = replace(
                spec, text=spec.text + end, title=(title or spec.title) + (end and ", fitted on the test part")
            )
            before = found.setdefault((spec.text, spec.seed), spec)
            if title and before.title != spec.title:
                raise InvalidParameterError(f"{before.title!r} and {spec.title!r} are the same detector: {spec.text}")
    if not found:
        raise InvalidParameterError("detectors is empty: name at least one, such as lof")
    return tuple(found.values())


def _of_record(record: DetectorRecord, seed: int | None, instance: Any = None) -> DetectorSpec:
    """Return the spec of a detector of the registry; a later revision of its code is another detector."""
    bound = dict(record.bound)
    apart = {name: bound.pop(name) for name in _APART & bound.keys()}
    bare = replace(record, bound=tuple(bound.items()))
    seed = seed if "random_state" in record.parameters else None
    text = f"{bare}@r{record.revision}" if record.revision > 1 else str(bare)
    return DetectorSpec(text, f"{record.title}{str(bare).removeprefix(record.name)}", seed, apart, instance)


def _imported(text: str, seed: int) -> DetectorSpec:
    path, positional, named = parse_call(text)
    # A function is the detector itself; of a class, the call gives it.
    made = import_object(path, "detector", _METHODS if "(" in text else ())
    if isinstance(made, type):
        try:
            made = made(*positional, **named)
        except Exception as error:  # whatever a user's constructor raises
            kind = "" if isinstance(error, TypeError) else f"{type(error).__name__}: "
            words = " ".join(str(error).split())
            raise InvalidParameterError(f"detector {text!r} cannot be made: {kind}{words}") from None
    spec = _of_object(made, seed)
    return replace(spec, text=f"{text}@{spec.text.rpartition('@')[2]}", title=text.partition(":")[2])


def _of_object(detector: Any, seed: int) -> DetectorSpec:
    name = getattr(detector, "__name__", type(detector).__name__)
    # scikit-learn's own repr has the options that differ from the defaults; any other may hold an address.
    shown = " ".join(repr(detector).split()) if hasattr(detector, "get_params") else name
    # Pipelines have a `score` whatever their last step is, so models of known packages come first.
    known = family_of(detector) in ("sklearn", "pyod", "aeon", "sktime")
    ours = not known and all(callable(getattr(detector, part, None)) for part in ("fit", "score"))
    if isinstance(detector, type) or not (ours or wrappable(detector)):
        refuse_known(detector)
        lacks = [part for part in ("fit", "score") if not callable(getattr(detector, part, None))]
        raise InvalidParameterError(
            "a detector must be a name such as 'lof', an object with fit(X) and score(X), or what "
            "te.detectors.wrap takes (an outlier detector of scikit-learn, PyOD, aeon or sktime, a function), "
            f"but {name} has no {' and no '.join(lacks)}"
        )
    made = detector if ours else wrap(detector)
    text = f"{shown}@{fingerprint(made)}"
    seeded = all(callable(getattr(made, part, None)) for part in ("get_params", "set_params"))
    given = made.get_params() if seeded else {}
    # Those of its parts as well: without a seed no run could be repeated.
    unseeded = [k for k, v in given.items() if k.rpartition("__")[2] == "random_state" and v is None]
    if not unseeded:
        return DetectorSpec(text, shown, instance=made)
    made = copy.deepcopy(made).set_params(**dict.fromkeys(unseeded, seed))
    return DetectorSpec(text, shown, seed, instance=made)


def keep_scores(
    dataset: Dataset, detector: Any, folder: str | Path, *, name: str | None = None, seed: int = 0, device: str = "auto"
) -> CachedScores:
    """Train a detector on a data set, score its test part and keep the scores; or read them where they are kept.

    `name` is that of the data set in the store (the folder), by default its own; `seed` and `device` are for a detector
    given by its name, as far as it takes them.
    """
    spec = DetectorSpec.of(detector, seed)
    name = dataset.name if name is None else name
    cached = read_scores(folder, name, dataset.description.checksum, spec.text, spec.seed, dataset.test_labels)
    if cached is not None:
        return cached
    if dataset.train is None or dataset.test is None:
        raise InvalidInputError(f"{name} has labels only here, so no detector can be trained on it: add its features")
    made = spec.make(device)
    # A user's detector may change its input, and the next detector, or its own scoring, must not see that.
    train, test = (part if spec.instance is None else part.copy() for part in (dataset.train, dataset.test))
    start = time.perf_counter()
    made.fit(test if spec.on_test else train)
    between = time.perf_counter()
    scores = checked_scores(made.score(test), spec.title, len(dataset.test_labels))
    provenance = {
        "dataset": name,
        "checksum": dataset.description.checksum,
        "detector": spec.text,
        "seed": spec.seed,
        "fit_seconds": between - start,
        "score_seconds": time.perf_counter() - between,
        "device": _device(made),
        "versions": _versions(),
    }
    write_scores(folder, scores, dataset.test_labels, provenance)
    return CachedScores(scores, dataset.test_labels, provenance, fresh=True)


def _device(detector: Any) -> str:
    """Return the name of the GPU where the network is on one, else of the processor."""
    module: Any = getattr(detector, "module_", None)
    where = next(iter(module.parameters())).device if hasattr(module, "parameters") else None
    if where is not None and where.type == "cuda":
        return str(sys.modules["torch"].cuda.get_device_name(where))
    about = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", about.read_text() if about.is_file() else "", re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def _versions() -> str:
    """Return the versions of tsadeval and of the libraries that are loaded."""
    libraries = {"sklearn": "scikit-learn", "torch": "torch"}
    found = [f"{title} {sys.modules[name].__version__}" for name, title in libraries.items() if name in sys.modules]
    return ", ".join([versions(), *found])
