"""Data sets of an experiment: chosen by name and options, or given in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from tsadeval.core.names import format_call
from tsadeval.datasets.dataset import DATASETS, Dataset, checksum_of
from tsadeval.datasets.loading import is_table, items, load, located, split_options
from tsadeval.engine.cells import versions
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.tables.checksums import Checksums

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
