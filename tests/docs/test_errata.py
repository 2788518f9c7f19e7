"""docs/errata.md says what `errata_claims` computes, and no number in it is without a claim."""

import re

import pytest

from errata_claims import CLAIMS, ERRATA
from errata_tools import GIVEN, holds, missing

pytestmark = pytest.mark.slow

# Decimal numbers and those with an exponent; not versions (0.3.3), nor the numbers in names of tests.
NUMBER = re.compile(r"(?<![\w.])(?:-?\d[\d,]*\.\d+|-?\.\d+|-?\d+(?:\.\d+)?(?=e))(?:e-?\d+)?(?![\w.]*\d)")


def items():
    """The text of each item; 12.5 is the paragraph before 13, 0 the last section."""
    text = ERRATA.read_text().replace("\N{MINUS SIGN}", "-")
    body, last = text.split("## Definitions that do not give")
    found = {int(m[1]): m[2] for m in re.finditer(r"^(\d+)\. (.*?)(?=^\d+\. |^## |\Z)", body, re.M | re.S)}
    found[12.5] = body.split("## The metrics that CCE is compared with")[1].split("\n13. ")[0]
    return {**found, 0: last}


ITEMS = items()


@pytest.mark.parametrize("one", CLAIMS, ids=lambda one: f"{one.item:g}: {one.printed}")
def test_a_number_is_what_comes_out(one):
    why = missing(one)
    if why:
        pytest.skip(why)
    assert holds(one), one.compute()


@pytest.mark.parametrize("item", ITEMS)
def test_every_number_has_a_claim(item):
    text = re.sub(r"`[^`]*`|\*\([^)]*\)\*|\*\*[^*]*\*\*", " ", ITEMS[item])  # code, tests, titles with versions
    text = re.sub(r"faster-etapr [\d.]+", " ", text)
    claimed = {one.printed for one in CLAIMS if one.item == item} | GIVEN.get(item, set())
    assert set(NUMBER.findall(text)) - claimed == set()


def test_every_claim_is_in_the_text():
    for one in CLAIMS:
        if re.search(r"[.e,]", one.printed) and one.printed != "0.0":
            assert one.printed in ITEMS[one.item], one
