"""Values of suite "paper" beside those that the paper's authors published."""

import csv
import gzip
from functools import cache

from published import SHARED
from tsadeval.core.metric import parse_metric
from tsadeval.engine.cells import compute_all
from tsadeval.engine.compute import compute
from tsadeval.rankeval import SUITES
from tsadeval.rankeval.series import CASES
from tsadeval.rankeval.suites.paper import RankingCell

PAPER = SUITES["paper"]
LABELS = [
    *("CCE", "AUC-ROC", "F1", "F1-PA", "Reduced-F1", "R-based F1"),
    *("eTaPR", "Aff-F1", "UAff-F1", "VUS-ROC", "PATE"),
]
METRICS = dict(zip(LABELS, PAPER.paper, strict=True))
CASE_NAMES = {"SWAT": "SWaT", "NIPS_TS_Creditcard": "Creditcard"}
# Short series, so that thousands of values take seconds. Creditcard is left out: the published labels have 465 segments
# of at most 5 points, those of the data set 463 of at most 6, so that not a single value can be the same.
SHORT = [name for name in CASES if name.startswith("10k")]
CHECKED = [*SHORT, "SMD-1-1", "SMD-2-1", "SMD-3-1", "MSL"]


@cache
def compared(label, cases=tuple(CHECKED), at_least=100):
    """(cell, our value, published value) of one metric on some cases."""
    name = METRICS[label]
    takes_scores = parse_metric(name).kind == "scores"
    wanted = {}
    with gzip.open(SHARED / "published" / "values.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            case = CASE_NAMES.get(row["case"], row["case"])
            if row["metric"] != label or case not in cases:
                continue
            generator, sigma = row["model"].removesuffix("-R"), float(row["noise_std"] or 0)
            bare = name.partition("(")[0]
            threshold = None if takes_scores else PAPER.rule_for(bare, generator, sigma, CASES[case].synthetic)
            q, p = float(row["q"]), float(row["p"]) if row["p"] else None
            repeat = int(row["score_seed"]) - 2025
            cell = RankingCell(case, generator, q, p, sigma, repeat, "published", None, name, "1", threshold)
            wanted.setdefault(case, {})[cell] = float(row["value"] or "nan")
    found = []
    plan = PAPER.with_options(data=SHARED).bind(name)
    for cells in wanted.values():
        for chunk in plan.chunks(cells):
            for row in compute_all(compute, chunk):
                cell = RankingCell(*(row[field] for field in RankingCell._fields))
                found.append((cell, row["value"], cells[cell]))
    assert len(found) >= at_least
    return found
