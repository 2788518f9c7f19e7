"""Comparisons in words, and what they are to cite."""

import re

import numpy as np
import pytest

import tsadeval as te
from commands import run
from tsadeval.comparison.description import FIELDS, METHODS, entry_of, parse_reference
from tsadeval.core.metric import METRICS
from tsadeval.errors import UndefinedMetricWarning
from tsadeval.thresholds.rules import RULES

GAINS = {"LOF": 0.6, "mine_2": 0.5, "IForest": 0.3}
# References that name no authors.
WITHOUT_AUTHORS = {"management"}


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(2)
    y = (np.arange(200) // 20 % 5 == 2).astype(int)
    names = [f"smd/s{k}" for k in range(12)]
    return [(s, name, y, rng.random(200) + gain * y) for s in names for name, gain in GAINS.items()]


@pytest.fixture(scope="module")
def found(runs):
    return te.compare(runs, metrics=["vus_pr", "f1", "false_alarms"])


def test_the_paragraph_has_the_numbers_of_the_tables(found):
    text = found.describe("vus_pr")
    first = found.ranks("vus_pr").rows[0]
    value = found.average()[first["detector"]]["vus_pr"]
    ranked = f"has the best mean rank, {first['rank']:.2f} (95 % interval [{first['low']:.2f}, {first['high']:.2f}])"
    assert f"{first['detector']} {ranked}, and a mean of {value:.3f}." in text
    pairs = [row for row in found.significance("vus_pr").rows if row["detector"] == first["detector"]]
    assert len(pairs) == 2
    for row in pairs:
        p = "p < 0.001" if row["p_value"] < 0.001 else f"p = {row['p_value']:.3f}"
        size = f"{row['difference']:.3f} [{row['low']:.3f}, {row['high']:.3f}], effect {row['effect']:.2f}"
        assert f"{row['rival']} (mean difference {size}, {p}, n = 12)" in text
    test = te.comparison.statistics.friedman(found.values("vus_pr"))
    assert f"rejects that all are equal (F(2, 22) = {test.f:.2f}, p < 0.001, n = 12)" in text
    assert "on 12 series of Server Machine Dataset [server] by VUS-PR [paparrizos2022volume]." in text


def test_it_says_what_does_not_follow(found, runs):
    text = found.describe("f1")
    assert "Its thresholds are chosen with the labels, so its values are upper bounds." in text
    assert "does not say that two detectors are equal" in text
    few = te.compare(runs[:9], metrics="f1").describe()
    assert "no significant difference is found between it and mine_2" in few
    assert "cannot differ significantly at 0.05 on fewer than 7 (here 3)." in few
    one = te.compare(runs[:3], metrics=["cce", "auc_roc"]).describe()
    assert "No test is possible" in one
    assert "Wilcoxon" not in one


def test_it_says_what_was_left_out_and_who_is_never_first(runs):
    y = runs[0][2]
    noise = [
        (s, "noise_1", y, np.random.default_rng(k).random(200)) for k, s in enumerate(f"smd/s{k}" for k in range(12))
    ]
    empty = [("smd/none", name, 0 * y, x) for _, name, _, x in runs[:3]]
    with pytest.warns(UndefinedMetricWarning):
        text = te.compare([*runs, *noise[:9], *empty], metrics="auc_roc").describe(latex=True)
    assert r"To note: never first: noise\_1 (not above chance); smd/none has no anomalous point: AUC-ROC is" in text
    assert "on 12 of 13 series (the others have no value)" in text
    assert r"; noise\_1: averages over 9 of 12 series." in text


def test_where_less_is_better_and_other_metrics_disagree(found):
    text = found.describe("false_alarms")
    assert "False alarms [hundman2018detecting], of which lower is better" in text
    best = found.ranks("false_alarms").rows[0]["detector"]
    assert f"and a mean of {found.average()[best]['false_alarms']:.3f}." in text


def test_other_metrics_that_disagree_are_named():
    """One detector finds every event by a single point, which point adjustment rewards."""
    rng = np.random.default_rng(3)
    y = (np.arange(200) // 20 % 5 == 2).astype(int)
    gains = {"spikes": 2.0 * (np.diff(y, prepend=0) > 0), "steps": 0.3 * y + 5.0 * (np.arange(200) == 5)}
    steps = [(f"s{k}", d, y, rng.random(200) + gain) for k in range(8) for d, gain in gains.items()]
    found = te.compare(steps, metrics=["auc_roc", "f1_pa"])
    assert found.describe().endswith("The order depends on the metric: first is spikes by F1-PA.")
    assert found.describe("f1_pa").endswith("The order depends on the metric: first is steps by AUC-ROC.")


def test_the_best_mean_is_named_where_another_is_first_by_rank():
    """One detector is best on most series by a little and very bad on one."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 0], 50)
    entries = []
    for k in range(12):
        steady = y + 0.8 * rng.normal(size=150)
        better = steady + 0.15 * y if k else -steady
        entries += [(f"s{k}", d, y, x) for d, x in (("better", better), ("steady", steady))]
    found = te.compare(entries, metrics="auc_roc")
    means = {d: values["auc_roc"] for d, values in found.average().items()}
    said = f"and a mean of {means['better']:.3f}; the best mean has steady, {means['steady']:.3f}."
    assert said in found.describe()


def test_latex_escapes_and_cites(found):
    text = found.describe("vus_pr", latex=True)
    assert r"mine\_2 (mean difference" in text
    assert r"VUS-PR~\cite{paparrizos2022volume}" in text
    assert r"95 \% interval" in text
    keys = set(re.findall(r"\[([a-z0-9]{4,})\]", found.describe("vus_pr")))
    assert keys == set(re.findall(r"cite\{(.*?)\}", text))
    assert len(keys) == 8


def test_every_mark_has_an_entry(found):
    entries = re.findall(r"^@\w+\{(.*),$", found.cite(), re.M)
    assert len(entries) == len(set(entries))
    for metric in found.metrics:
        assert set(re.findall(r"\[([a-z0-9]{4,})\]", found.describe(metric))) <= set(entries)
    assert "howpublished = {\\url{https://github.com/NetManAIOps/OmniAnomaly}}" in found.cite()
    assert "wilcoxon" not in te.compare({"a": [0.1, 0.9]}, [0, 1], "auc_roc").cite()


def test_entries_of_tests_have_the_fields_of_their_publishers(found):
    entries = dict(re.findall(r"^@(\w+)\{(.*),$", found.cite(), re.M)[::-1])
    assert set(entries) == {"misc", "article", "inproceedings"}
    (holm,) = (entry for entry in found.cite().split("\n\n") if "{holm1979simple," in entry)
    assert holm.splitlines() == [
        "@article{holm1979simple,",
        "  author = {Holm, Sture},",
        "  title = {{A simple sequentially rejective multiple test procedure}},",
        "  year = {1979},",
        "  journal = {Scandinavian Journal of Statistics},",
        "  volume = {6},",
        "  number = {2},",
        "  pages = {65--70},",
        "  url = {https://www.jstor.org/stable/4615733},",
        "}",
    ]
    texts = [*METHODS.values(), *(text for rule in RULES.values() for text in getattr(rule, "references", ()))]
    known = {parse_reference(text)["key"]: text for text in texts}
    assert set(FIELDS) == set(known)
    for key, fields in FIELDS.items():
        name = parse_reference(known[key])["authors"].partition(" ")[0]
        assert fields["author"].startswith(f"{name}, ")
        assert parse_reference(known[key])["venue"] in (*fields.values(), "KDD", "Communications in Statistics")


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_threshold_rules_are_cited(runs):
    found = te.compare(list(runs)[:4], metrics=["f1", "auc_roc"], threshold="sustained(pot(0.01), 2)")
    assert "@inproceedings{siffer2017anomaly," in found.cite()
    assert "hundman" not in found.cite()
    assert "Its thresholds are those of sustained(" in found.describe("f1")
    assert "[siffer2017anomaly]" in found.describe("f1")
    assert "siffer" not in found.describe("auc_roc")
    best = te.compare(list(runs)[:4], metrics=["f1", "auc_roc"])
    assert "siffer" not in best.cite()
    assert "those of" not in best.describe("f1")


def test_references_of_all_metrics_are_read():
    """Nothing is invented: all words of an entry stand in the text, and each key means one publication."""
    texts = {text for metric in METRICS.values() for text in metric.references}
    by_key = {}
    for text in texts:
        parts = parse_reference(text)
        key = parts.pop("key")
        by_key.setdefault(key, set()).add(tuple(parts.values()))
        assert parts["title"]
        assert bool(parts["authors"]) == (key not in WITHOUT_AUTHORS), text
        assert all(part in text for part in parts.values()), text
    assert "" not in by_key
    assert all(len(some) == 1 for some in by_key.values())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Xu et al., Unsupervised VAE, WWW 2018", ["Xu et al.", "Unsupervised VAE", "WWW", "2018"]),
        ("Ghorbani et al. (2024), PATE: A and B", ["Ghorbani et al.", "PATE: A and B", "", "2024"]),
        ("van Rijsbergen, Retrieval, 1979 (alarm rate)", ["van Rijsbergen", "Retrieval", "", "1979"]),
        ("Li et al., DQE: A, arXiv 26.06131, 2026 (of 1, 2)", ["Li et al.", "DQE: A", "arXiv 26.06131", "2026"]),
        ("1984", ["", "1984", "", ""]),
        ("A title\nof two lines", ["", "A title\nof two lines", "", ""]),
        ("Server Machine Dataset", ["", "Server Machine Dataset", "", ""]),
    ],
)  # fmt: skip
def test_texts_of_references(text, parts):
    assert [parse_reference(text)[name] for name in ("authors", "title", "venue", "year")] == parts


def test_entries_hold_what_is_known():
    text = "\n".join([entry_of("Huet, Navarro, Rossi, Local & global, KDD 2022"), entry_of("The A developers, x", "u")])
    assert text.splitlines() == [
        "@misc{huet2022local,",
        "  author = {Huet and Navarro and Rossi},",
        r"  title = {{Local \& global}},",
        "  howpublished = {KDD},",
        "  year = {2022},",
        "}",
        "@misc{a,",
        "  author = {{The A developers}},",
        "  title = {{x}},",
        r"  howpublished = {\url{u}},",
        "}",
    ]


def test_the_paragraph_and_the_references_on_the_command_line(tmp_path, found, runs):
    import pandas as pd

    table = pd.concat(pd.DataFrame({"series": s, "detector": d, "label": y, "score": v}) for s, d, y, v in runs)
    table.to_csv(tmp_path / "all.csv", index=False)
    what = ["compare", tmp_path / "all.csv", "--by", "series,detector", "--metrics", "vus_pr,f1,false_alarms"]
    done = run(*what, "--describe", "--bib", tmp_path / "refs.bib")
    assert done.stdout.rstrip("\n").endswith(found.describe())
    assert (tmp_path / "refs.bib").read_text(encoding="utf-8") == found.cite() + "\n"
    done = run(*what, "--describe", "--format", "latex")
    assert done.stdout.rstrip("\n").endswith(found.describe(latex=True))
