"""References: the texts of records ("Authors, Title, Venue Year (note)") as entries of BibTeX with a key each."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, Self

from tsadeval.core.results import latex_text

# Of a text, who wrote it: surnames with commas and "and" between them, or the first of them "et al.".
_AUTHORS = re.compile(r"(The [^,]+|[\w ]+ et al\.|(?:van )?\w+(?:, \w+)*(?: and \w+)?)(?: \((\d{4})\))?, ")
# How it ends: the year, and a note in brackets.
_END = re.compile(r"(?:,? (\d{4}))?(?: \([^()]*\))?$")


class Reference(NamedTuple):
    """What a text says of a publication; parts that it does not say are empty."""

    authors: str
    title: str
    venue: str = ""
    year: str = ""
    url: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a text.

        >>> Reference.of("Wu and Keogh, Benchmarks are Flawed, TKDE 2021 (a note)")
        Reference(authors='Wu and Keogh', title='Benchmarks are Flawed', venue='TKDE', year='2021', url='')
        """
        found, end = _AUTHORS.match(text), _END.search(text)
        authors, early = found.groups("") if found else ("", "")
        year = (end and end[1]) or early
        rest = text[found.end() if found else 0 : end.start() if end else None]
        title, comma, venue = rest.rpartition(", ")
        return cls(authors, title, venue, year) if comma and found else cls(authors, rest, "", year)

    @property
    def key(self) -> str:
        """The key of its entry, such as wu2021benchmarks."""
        first = re.sub(r"^(The|van) | et al\.$", "", self.authors).partition(",")[0].partition(" ")[0]
        words = [word for word in re.split(r"\W+", self.title) if len(word) > 3 and word != first]
        text = unicodedata.normalize("NFKD", f"{first}{self.year}{''.join(words[:1])}".lower().replace("ø", "o"))
        return re.sub("[^a-z0-9]", "", text)

    def entry(self) -> str:
        """Return the entry of BibTeX: everything that is known, and nothing else."""
        names = self.authors.replace(" et al.", " and others").replace(", ", " and ")
        fields = {
            "author": f"{{{names}}}" if names.startswith("The ") else names,
            "title": f"{{{latex_text(self.title)}}}",
            "howpublished": ", ".join(filter(None, [latex_text(self.venue), rf"\url{{{self.url}}}" * bool(self.url)])),
            "year": self.year,
        }
        lines = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])


def bibtex(references: Iterable[Reference]) -> str:
    """Write the entries of some references, each once."""
    return "\n\n".join({one.key: one.entry() for one in references}.values())
