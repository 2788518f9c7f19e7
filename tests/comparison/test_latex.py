"""LaTeX of comparisons: marks that lead to the right conclusion, words for print, and tables that compile."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import tsadeval as te
from commands import run
from tsadeval.comparison.description import entry_of, parse_reference
from tsadeval.core.metric import METRICS as ALL
from tsadeval.errors import ThresholdWarning

GAINS = {"LOF": 0.6, "mine_2": 0.5, "IForest": 0.3, "noise": 0.0}
METRICS = ["vus_pr", "f1", "detection_delay", "cce(tau=0.4)", "cce"]


@pytest.fixture(scope="module")
def runs():
    """Detectors on two data sets of ten series."""
    rng = np.random.default_rng(2)
    y = (np.arange(200) // 20 % 5 == 2).astype(int)
    names = [f"{dataset}/s{k}" for dataset in ("msl", "smd") for k in range(10)]
    return [(s, name, y, rng.random(200) + gain * y) for s in names for name, gain in GAINS.items()]


@pytest.fixture(scope="module")
def found(runs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThresholdWarning)  # noise alarms everywhere somewhere
        return te.compare(runs, metrics=METRICS)


def marks(text):
    """By detector what stands in the first column of values: bold, dagger."""
    rows = [line.split(" & ") for line in text.splitlines() if " & " in line and "%" not in line][1:]
    return {row[0]: ("textbf" in row[1], "dagger" in row[1]) for row in rows}


def test_the_reference_is_the_bold_one_and_itself_marked(found):
    text = found.to_latex(layout="metrics")
    shown = marks(text)
    apart = {r["rival"]: r["different"] for r in found.significance("vus_pr").rows if r["detector"] == "LOF"}
    assert shown["LOF"] == (True, True)
    for name, (bold, dagger) in shown.items():
        if name != "LOF":
            assert (bold, dagger) == (False, not apart[name.replace("\\", "")])
    assert "dagger: not significantly different from the bold one, itself included" in text
    assert "over 20 series, at 0.05" in text


def test_bold_and_best_mean_rank_may_be_different_detectors():
    """One detector is best on most series by a little and very bad on one: its rank is best, its mean is not."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 0], 50)
    entries = []
    for k in range(12):
        steady = y + 0.8 * rng.normal(size=150)
        better = steady + 0.15 * y if k else -steady
        entries += [
            (f"s{k}", d, y, x) for d, x in (("better", better), ("steady", steady), ("poor", rng.normal(size=150)))
        ]
    found = te.compare(entries, metrics="auc_roc")
    assert found.ranks().rows[0]["detector"] == "better"
    shown = marks(found.to_latex(layout="metrics"))
    apart = {frozenset((r["detector"], r["rival"])): r["different"] for r in found.significance().rows}
    assert shown["steady"] == (True, True)
    assert shown["better"] == (False, not apart[frozenset(("better", "steady"))])
    assert shown["poor"] == (False, False)


def test_more_than_many_detectors_are_tested_against_the_bold_one(found, monkeypatch):
    expected = found.to_latex(layout="metrics")
    monkeypatch.setattr("tsadeval.comparison.statistics.MANY", 2)
    assert marks(found.to_latex(layout="metrics")) == marks(expected)


def test_captions_say_what_marks_mean_and_notes_are_two_sentences(found):
    text = found.to_latex(layout="metrics", caption="Ours", notes=True)
    assert r"\caption{Ours. Bold: first in its column; underlined: second; $^{\dagger}$: not significantly" in text
    note = re.search(r"footnotesize (.*)\}$", text, re.M)[1]
    assert note == (
        "Lower is better for Delay; thresholds were chosen with the labels, an upper bound; "
        "never first: noise (not above chance)."
    )
    lines = text.splitlines()
    assert all(line.startswith("%") for line in lines[lines.index(r"\end{table*}") + 1 :])
    assert r"\caption{Whose? Bold" in found.to_latex(caption="Whose?")
    ruled = te.compare(list(found.scorings())[:8], metrics="f1", threshold="sigma(1)").to_latex(notes=True)
    assert "footnotesize Thresholds: sigma(1); never first" in ruled
    y = [0, 0, 1, 1, 0, 0]
    binary = te.compare({"a": y, "b": [0, 1, 0, 0, 0, 1]}, y, "f1", baseline=True).to_latex(notes=True)
    assert (
        r"footnotesize Scores of 0 and 1 are alarms as they are; never first: b (not above chance); random: " in binary
    )


def test_groups_take_the_place_of_series(found):
    blocks = found.to_latex(groups="dataset").split(r"\midrule")
    assert [re.search(r"emph\{(.*?)\}", block)[1] for block in blocks[1:]] == [
        "msl", "smd", "average over 2 groups of 20 series"
    ]  # fmt: skip
    value = found.average(groups={s: s[:3] for s in found.series})["LOF"]["vus_pr"]
    assert rf"LOF & \textbf{{{value:.3f}}}" in blocks[3]
    assert rf"LOF & \textbf{{{found.group('msl')['LOF']['vus_pr']:.3f}}}" in blocks[1]
    rows = found.to_latex(groups="dataset", layout="series", metric="f1", spread=True).splitlines()
    assert [row.partition(" & ")[0] for row in rows[2:8] if " & " in row] == ["F1", "msl", "smd", "average"]
    assert r"\dagger" in rows[4]
    assert rows[4].count(r"\pm") == len(GAINS)
    whole = found.to_latex(layout="metrics", groups=lambda series: "all")
    assert whole == found.to_latex(layout="metrics")


def test_groups_on_the_command_line(tmp_path, found, runs):
    import pandas as pd

    table = pd.concat(pd.DataFrame({"series": s, "detector": d, "label": y, "score": v}) for s, d, y, v in runs)
    table.to_csv(tmp_path / "all.csv", index=False)
    done = run("compare", tmp_path / "all.csv", "--by", "series,detector", "--metrics", ",".join(METRICS), "--format",
               "latex", "--groups", "dataset")  # fmt: skip
    assert done.stdout.rstrip("\n") == found.to_latex(groups="dataset")
    table["half"] = [s.partition("/")[0] for s in table.series]
    table["series"] = [s.partition("/")[2] for s in table.series]
    table.to_csv(tmp_path / "all.csv", index=False)
    what = ["compare", tmp_path / "all.csv", "--by", "half,series,detector", "--metrics", ",".join(METRICS)]
    done = run(*what, "--format", "latex", "--groups", "half")
    assert done.stdout.rstrip("\n") == found.to_latex(groups=lambda series: series.partition("/")[0])
    done = run(*what, "--groups", "series")
    assert "--groups is dataset or the first column of --by" in done.stderr


def test_heads_are_labels(found, runs):
    assert r"Detector & VUS-PR & F1 & Delay & CCE(tau=0.4) & CCE \\" in found.to_latex(layout="metrics")
    assert "VUS-PR & LOF" in found.ranks("vus_pr").to_latex() + found.ranks().to_latex()
    one = te.evaluate(runs[0][2], runs[0][3], ["vus_pr(window=10)", "f1"]).to_latex()
    assert "VUS-PR & " in one
    assert "window" not in one
    many = te.evaluate_many([(s, y, v) for s, d, y, v in runs if d == "LOF"], ["vus_pr", "f1"]).to_latex()
    assert r"series & VUS-PR & F1 \\" in many


def test_intervals_stand_below_the_values(found):
    table = found.average(interval=0.9)
    rows = found.to_latex(layout="metrics", spread=0.9, notes=True).splitlines()
    place = next(i for i, row in enumerate(rows) if row.startswith("LOF &"))
    first = next(row for row in table.rows if (row["detector"], row["metric"]) == ("LOF", "vus_pr"))
    assert rows[place] == next(row for row in found.to_latex(layout="metrics").splitlines() if row.startswith("LOF &"))
    interval = rf"\scriptsize [{first['low']:.3f}, {first['high']:.3f}]"
    assert rows[place + 1].split(" & ")[:2] == [r"\addlinespace[-3pt]", interval]
    assert sum("scriptsize" in row for row in rows) == len(GAINS)
    assert r"in brackets: 90 \% bootstrap intervals over series.}" in "\n".join(rows)
    assert "in brackets: 90 % bootstrap intervals over series" in repr(table)
    assert "% in brackets: 90 % bootstrap intervals over series" in table.to_latex()


def test_intervals_are_refused_where_they_cannot_be(found, tmp_path):
    for options in ({"layout": "series"}, {"layout": "tables"}, {"layout": "metrics", "groups": "dataset"}):
        with pytest.raises(te.errors.InvalidParameterError, match=r"intervals (are )?of (macro )?averages"):
            found.to_latex(spread=0.9, **options)
    with pytest.raises(te.errors.InvalidParameterError, match="interval must be a number in"):
        found.to_latex(layout="metrics", spread=1.5)
    (tmp_path / "a.csv").write_text("label,score\n0,0.1\n1,0.5\n")
    for more in (["--statistics"], ["--interval", "0.9"], ["--rules", "best"], ["--describe"]):
        done = run("compare", tmp_path / "a.csv", "--format", "csv", *more)
        assert "do not go with --format csv" in done.stderr


@pytest.mark.latex
def test_three_metrics_with_intervals_fit_into_a_column(runs, tmp_path):
    """Nothing is wider than a column of the class article (229.5 pt), nor of print in general (240 pt)."""
    if shutil.which("pdflatex") is None:
        pytest.skip("needs a LaTeX: make test-latex")
    found = te.compare(list(runs), metrics=["vus_pr", "f1", "auc_roc"], baseline=True)
    wide = te.compare(list(runs), metrics=["vus_pr", "vus_roc", "auc_roc", "auc_pr", "ears", "cce"], baseline=True)
    texts = [
        found.to_latex(layout="metrics", spread=0.95, caption="Ours", notes=True),
        wide.to_latex(layout="metrics", spread=0.95, caption="Theirs", notes=True),
        wide.to_latex(layout="metrics", caption="Theirs"),
        wide.to_latex(layout="series", groups="dataset", notes=True),
    ]
    floats = [re.findall(r"(?:begin|end)\{(table\*?)\}", text) for text in texts]
    assert floats == [["table"] * 2, ["table*"] * 2, ["table*"] * 2, ["table"] * 2]
    assert ["random: the scores" in text for text in texts] == [True, True, False, False]
    texts.append(found.average(interval=0.95).to_latex())
    many = [(s, f"{name} {k}", y, scores) for s, name, y, scores in runs for k in "abc"]
    texts.append(te.compare(many, metrics="vus_pr").to_latex(layout="series", groups="dataset", caption="Twelve"))
    assert texts[-1].startswith("\\begin{table*}")
    source = "\\documentclass[twocolumn]{article}\n\\usepackage{booktabs}\n\\begin{document}\\parindent0pt\n"
    (tmp_path / "c.tex").write_text(source + "\n\n".join(texts) + "\n\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "c.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, done.stdout[-2000:]


@pytest.mark.latex
def test_tables_compile(found, runs, tmp_path):
    """All layouts and the other tables, names that are hard on LaTeX among them, in one document."""
    if (
        shutil.which("kpsewhich") is None
        or not subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).stdout
    ):
        pytest.skip("needs a LaTeX: make test-latex")
    hard = {"[a]_%": runs[0][3], "*b & <c>": runs[1][3], "x^2 ~ \\y{#$}": runs[2][3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThresholdWarning)
        single = te.compare(hard, runs[0][2], [*METRICS, "auc_roc"])
        beside = te.compare(list(runs), metrics=["vus_pr", "f1"], baseline=True)
    options = {"caption": "Ours \\& theirs", "label": "tab:x", "notes": True}
    texts = [one.to_latex(layout=layout, groups=groups, **more)
             for one in (found, single) for layout in ("tables", "metrics", "series") for groups in (None, "dataset")
             for more in ({}, options)]  # fmt: skip
    texts += [found.to_latex(layout="metrics", percent=True, spread=True), found.table("msl/s0").to_latex()]
    texts += [beside.to_latex(layout="metrics"), beside.average(interval=0.95).to_latex()]
    texts += [beside.to_latex(layout="metrics", spread=0.95, **options)]
    texts += [one.to_latex() for one in (beside.above_random(), beside.robustness(["best", "sigma(1)"]),
              found.ranks(), found.significance("f1"), found.disagreement(),
              found.by_category(), found.differences("LOF", "noise"), te.events(*runs[0][2:]),
              te.evaluate(*runs[0][2:], baseline=True))]  # fmt: skip
    pages = "\n\\clearpage\n".join(re.sub("tab:x", f"tab:{i}", text) for i, text in enumerate(texts))
    head = "\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage[margin=1cm]{geometry}\n"
    source = f"{head}\\begin{{document}}\n{pages}\n\\end{{document}}\n"
    (tmp_path / "all.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "multiply defined" not in done.stdout


@pytest.mark.latex
def test_the_paragraph_and_its_references_compile(found, tmp_path):
    """Every citation is found, and every entry is one that BibTeX takes."""
    if shutil.which("bibtex") is None:
        pytest.skip("needs a LaTeX: make test-latex")
    head = "\\documentclass{article}\n\\usepackage{booktabs,url}\n\\begin{document}\n"
    body = "\n\n".join(found.describe(metric, latex=True) for metric in found.metrics)
    tail = "\\nocite{*}\n\\bibliographystyle{plain}\n\\bibliography{refs}\n\\end{document}\n"
    (tmp_path / "p.tex").write_text(f"{head}{body}\n{tail}", encoding="utf-8")
    entries = {parse_reference(text)["key"]: entry_of(text) for metric in ALL.values() for text in metric.references}
    others = [entry for key, entry in entries.items() if f"{{{key}," not in found.cite()]
    (tmp_path / "refs.bib").write_text("\n\n".join([found.cite(), *others]), encoding="utf-8")
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = ["-interaction=nonstopmode", "-halt-on-error"] if command == "pdflatex" else []
        done = subprocess.run([command, *options, "p"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Warning--" not in done.stdout.replace("Warning--to sort", ""), done.stdout
    assert "undefined" not in done.stdout, done.stdout[-2000:]
