"""The leaderboard: values follow from the files, builds are incremental, and pages lead to each other."""

import csv
import json
import math
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import boards
import commands
import policies
import tsadeval as te
from tsadeval.comparison import statistics
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.engine.cells import Chunk, compute_all
from tsadeval.engine.compute import compute
from tsadeval.leaderboard import board as ranking
from tsadeval.leaderboard.board import BoardCell, board_scorings
from tsadeval.leaderboard.site import build_site
from tsadeval.leaderboard.submissions import check_submission, read_board
from tsadeval.tables.files import file_digest


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    board = boards.make(tmp_path_factory.mktemp("board"))
    site = tmp_path_factory.mktemp("site")
    build_site(board, site)
    return board, site


def values(site):
    frame = pd.read_parquet(site / "data" / "values.parquet")
    return frame.set_index(["detector", "series", "metric"])["value"]


def data(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r"(?:= |\()(\{.*\})\)?;", text, re.S)[1])


def test_values_are_those_of_evaluate(built):
    board, site = built
    found = values(site)
    for one in read_board(board).submissions:
        for series, path in one.scores.items():
            y = np.load(board / "labels" / f"{series}.npz")["label"]
            expected = te.evaluate(y, np.load(path)["score"], boards.METRICS)
            for metric in boards.METRICS:
                assert found[one.name, series, metric] == expected[metric]
    csv = pd.read_csv(site / "data" / "values.csv")
    assert len(csv) == len(found)


def test_pages_run_none_but_the_scripts_of_the_site(built):
    pages = sorted(built[1].rglob("*.html"))
    assert {path.parent.name for path in pages} >= {"detectors", "series", "metrics"}
    for path in pages:
        assert not policies.check_policy(path).inline, path


def test_downloads_have_the_same_values(built):
    _, site = built
    with open(site / "data" / "values.csv", encoding="utf-8", newline="") as file:
        found = {(r["detector"], r["series"], r["metric"]): r["value"] for r in csv.DictReader(file)}
    expected = values(site).to_dict()
    assert found.keys() == expected.keys()
    assert {boards.NASTY, "uniform"} <= {key[0] for key in found}
    for key, value in expected.items():
        assert found[key] == "" if np.isnan(value) else float(found[key]) == value


def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    boards.submission(board, "x", "=cmd|' /C calc'!A0", series=("a/0", "a/1"))
    build_site(board, tmp_path / "site")
    with open(tmp_path / "site" / "data" / "values.csv", encoding="utf-8", newline="") as file:
        names = {row["detector"] for row in csv.DictReader(file)}
    assert "'=cmd|' /C calc'!A0" in names
    assert ("=cmd|' /C calc'!A0", "a/0", "auc_roc") in values(tmp_path / "site")


def test_baselines_are_rows_of_their_own(built):
    _, site = built
    board = data(site / "data" / "board.js")
    kinds = {d["name"]: d["kind"] for d in board["detectors"]}
    assert kinds["good"] == "submission"
    assert kinds["uniform"] == "no skill"
    assert kinds["moving variance"] == "one-liner"
    # A metric that scorers without skill cannot reach, and what a one-liner does on a series with a visible jump.
    facts = {m["name"]: m for m in board["metrics"]}
    assert facts["auc_roc"]["gameability"] == 0
    assert 0 <= facts["f1"]["one_liners"] <= 1
    # Scores that are drawn come from no file.
    for name, has in (("d0", True), ("baseline/uniform", False)):
        page = (site / "detectors" / f"{name}.html").read_text(encoding="utf-8")
        assert ("Score files" in page) is has


def test_the_board_counts_submissions_only(built):
    _, site = built
    text = (site / "index.html").read_text(encoding="utf-8")
    assert "3 detectors on 4 series with 1,600 points, by 4 metrics" in text


def test_standings_are_those_of_the_statistics(built):
    _, site = built
    found = values(site)
    board = data(site / "data" / "board.js")
    standing = data(site / "data" / "standings" / "detection_delay.js")["groups"]["all series"]
    names = [board["detectors"][i]["name"] for i in standing["listed"]]
    series = [s["name"] for s in board["series"]]
    table = -np.array([[found.get((d, s, "detection_delay"), np.nan) for d in names] for s in series])
    table = table[np.isfinite(table).any(axis=1)]
    expected = statistics.mean_ranks(statistics.fill_missing(table, "worst"))
    assert standing["rank"] == pytest.approx(expected.mean.tolist(), rel=1e-5)
    assert set(board["groups"]) >= {"all series", "a", "sequence anomalies"}
    assert board["groups"]["a"] == 2


def test_a_second_build_computes_nothing_and_a_new_submission_only_itself(tmp_path):
    board, site = boards.make(tmp_path / "board", ["auc_roc", "f1"]), tmp_path / "site"
    calls = []

    def progress(done, total):
        calls.append((done, total))

    build_site(board, site, progress=progress)
    total = calls[-1][1]
    assert calls[0] == (0, total)
    first = (site / "index.html").stat().st_mtime_ns
    calls.clear()
    build_site(board, site, progress=progress)
    assert calls[0] == (total, total)
    assert (site / "index.html").stat().st_mtime_ns == first
    boards.submission(board, "new", skill=3.0, series=("a/0", "a/1"))
    calls.clear()
    build_site(board, site, progress=progress)
    assert calls[0] == (total, total + 4)
    # A changed score file is computed anew.
    boards.write(board / "submissions" / "new" / "scores" / "a" / "0.npz", score=np.arange(400.0))
    calls.clear()
    build_site(board, site, progress=progress)
    assert calls[0] == (total + 2, total + 4)
    assert values(site)["new", "a/0", "auc_roc"] == te.metrics.auc_roc(boards.labels(0), np.arange(400))


def pages(site):
    return {page.relative_to(site).as_posix(): page.read_bytes() for page in site.rglob("*") if page.is_file()}


def shown(site):
    return {name: content for name, content in pages(site).items() if not name.startswith("values/")}


def flip(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_files_that_change_while_a_board_is_built_have_no_values(tmp_path):
    board = boards.make(tmp_path, ["auc_roc"])
    labels, scores = board / "labels" / "a" / "0.npz", board / "submissions" / "d0" / "scores" / "a" / "0.npz"
    cell = BoardCell("d0", "submission", "a/0", file_digest(labels), file_digest(scores), "auc_roc", "r1", None)
    chunk = Chunk(board_scorings, (cell,), {"auc_roc": METRICS["auc_roc"]}, {}, {"a/0": (labels, {"d0": scores})})
    (row,) = compute_all(compute, chunk)
    assert row["status"] == "ok"
    for path in (scores, labels):
        content = path.read_bytes()
        boards.write(path, score=np.arange(400.0), label=boards.labels(1))
        (row,) = compute_all(compute, chunk)
        assert row["status"] == "error"
        assert f"{path} has changed since the run began" in row["message"]
        path.write_bytes(content)


def test_builds_from_what_is_kept_are_the_same_as_from_nothing(tmp_path):
    board, site = boards.make(tmp_path / "board", ["auc_roc", "f1"]), tmp_path / "site"
    build_site(board, site)
    first = shown(site)
    build_site(board, site)
    assert shown(site) == first
    # One file of scores and another submission change, one is gone, and what is kept is partly damaged.
    boards.write(board / "submissions" / "d1" / "scores" / "a" / "0.npz", score=np.arange(400.0))
    boards.submission(board, "a new one", skill=3.0)
    shutil.rmtree(board / "submissions" / "d2")
    flip(site / "values" / "standings", b"0.", b"1.")
    build_site(board, site)
    build_site(board, tmp_path / "other")
    assert shown(site) == shown(tmp_path / "other")
    assert shown(site) != first
    (site / "values" / "standings").write_bytes(b"no standings")
    (site / "values" / "files.json").write_text("nothing")
    build_site(board, site)
    assert shown(site) == shown(tmp_path / "other")


def test_pages_of_what_is_gone_are_removed_and_nothing_else(tmp_path):
    board, site = boards.make(tmp_path / "board", ["auc_roc", "f1"]), tmp_path / "site"
    build_site(board, site)
    outside = tmp_path / "mine.html"
    outside.write_text("mine")
    (site / "detectors" / "mine.html").write_text("mine")
    files = site / "values" / "files.json"
    files.write_text(json.dumps([*json.loads(files.read_text()), "../mine.html"]))
    shutil.rmtree(board / "submissions" / "d2")
    (board / "labels" / "b & <i>.npz").unlink()
    (board / "board.toml").write_text('metrics = ["f1"]')
    before = set(pages(site))
    build_site(board, site)
    gone = before - set(pages(site))
    expected = {"detectors/d2.html", "series/b+~26+~3Ci~3E.html", "metrics/auc_roc.html", "data/standings/auc_roc.js"}
    assert gone == expected
    assert outside.read_text() == (site / "detectors" / "mine.html").read_text() == "mine"


def test_standings_are_computed_again_where_values_changed(tmp_path, monkeypatch):
    board, site = boards.make(tmp_path / "board", ["auc_roc", "f1"]), tmp_path / "site"
    build_site(board, site)
    ranked = []
    of_group = ranking._standing
    monkeypatch.setattr(ranking, "_standing", lambda *given: ranked.append(given) or of_group(*given))
    build_site(board, site)
    assert ranked == []
    # AUC-ROC takes no threshold.
    (board / "board.toml").write_text('title = "A & B"\nmetrics = ["auc_roc", "f1"]\nthreshold = "quantile(0.8)"')
    build_site(board, site)
    assert len(ranked) == len(data(site / "data" / "board.js")["groups"])


PARTS = (slice(0, 3), slice(3, 5), slice(5, 6))  # detectors, scorers without skill, one-liners


def test_facts_of_metrics_are_those_of_an_audit():
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "u", "v", "l"]
    kinds = dict(zip(names, ["submission"] * 3 + ["no skill"] * 2 + ["one-liner"], strict=True))
    for metric in (parse_metric("f1"), parse_metric("detection_delay")):
        values = rng.integers(-3, 4, (200, 6)) / 2.0
        values[rng.random(values.shape) < 0.3] = np.nan
        values[:20, :3] = np.nan
        values[20:30, 4] = np.inf
        table = ranking.Table({str(metric): values}, {}, kinds, [], np.zeros(len(kinds), bool), {})
        sign = -1 if metric.direction == "lower" else 1
        reached, by_lines, above = [], [], []
        for row in (sign * values).tolist():
            real, blind, lines = ([v for v in row[part] if math.isfinite(v)] for part in PARTS)
            for found, given in ((reached, blind), (by_lines, lines)):
                if real and given and (max(real) or max(given) or sign < 0):  # 0 and 0: nothing to reach
                    best = max(real)
                    found.append(max(given) >= (0.9 * best if best >= 0 else best / 0.9))
            if real and blind:
                above.append(max(blind) > np.median(real))
        assert ranking.metric_facts(table, metric) == pytest.approx(
            {
                "gameability": np.mean(reached),
                "one_liners": np.mean(by_lines),
                "beats_median": np.mean(above),
            }
        )


def test_a_gap_makes_no_single_event_of_two(tmp_path):
    board = boards.make(tmp_path / "board", ["event_recall", "auc_roc"])
    y = boards.labels(0)
    edge = int(np.flatnonzero(np.diff(y))[1])  # the last point of the first event; one normal point, then another event
    y[edge + 1 : edge + 4] = [0, 1, 1]
    boards.write(board / "labels" / "a" / "0.npz", label=y)
    scores = np.where(np.arange(400) <= edge, y, 0.0) + np.linspace(0, 0.1, 400)
    scores[edge + 1] = np.nan
    boards.write(boards.submission(board, "one") / "scores" / "a" / "0.npz", score=scores)
    build_site(board, tmp_path / "site")
    found = values(tmp_path / "site")
    expected = te.compare([("a/0", "one", y, scores)], metrics=["event_recall", "auc_roc"])
    for row in expected.rows:
        assert found["one", "a/0", row["metric"]] == row["value"]


def test_gaps_up_to_one_percent_are_left_out(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    y = boards.labels(0)
    scores = np.random.default_rng(0).normal(size=400) + y
    for key, missing in (("few", 4), ("more", 5)):
        folder = boards.submission(board, key)
        boards.write(folder / "scores" / "a" / "0.npz", score=np.where(np.arange(400) < missing, np.nan, scores))
    build_site(board, tmp_path / "site")
    found = values(tmp_path / "site")
    assert found["few", "a/0", "auc_roc"] == te.metrics.auc_roc(y[4:], scores[4:])
    assert np.isnan(found["more", "a/0", "auc_roc"])
    with open(tmp_path / "site" / "data" / "values.csv", encoding="utf-8", newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["detector"], r["series"]) == ("more", "a/0"))
    assert row["value"] == ""
    page = (tmp_path / "site" / "detectors" / "more.html").read_text(encoding="utf-8")
    assert "1.2% of the points have no score" in page


def test_score_files_may_be_tables_of_any_kind(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    folder = boards.submission(board, "kinds", series=("b/0",))
    y = boards.labels(0)
    scores = np.random.default_rng(5).normal(size=len(y)) + y
    (folder / "scores" / "a").mkdir()
    pd.DataFrame({"score": scores}).to_parquet(folder / "scores" / "a" / "0.parquet")
    other = np.round(np.random.default_rng(6).normal(size=len(y)) + boards.labels(1), 3)
    pd.DataFrame({"score": other}).to_csv(folder / "scores" / "a" / "1.csv", index=False)
    assert [line for line in check_submission(folder, board) if not line.startswith("note:")] == []
    build_site(board, tmp_path / "site")
    assert values(tmp_path / "site")["kinds", "a/0", "auc_roc"] == te.metrics.auc_roc(y, scores)
    assert values(tmp_path / "site")["kinds", "a/1", "auc_roc"] == te.metrics.auc_roc(boards.labels(1), other)


def test_addresses_do_not_depend_on_other_pages(tmp_path, built):
    """Names that differ in signs only have pages of their own, and a new one does not move the others."""
    before = {page.relative_to(built[1]) for page in built[1].rglob("*.html")}
    board = boards.make(tmp_path / "board")
    for key, name in (("d-0", "GOOD"), ("d 0", "good!"), ("uniform", "a uniform one")):
        boards.submission(board, key, name, series=("a/0",))
    build_site(board, tmp_path / "site")
    after = {page.relative_to(tmp_path / "site") for page in (tmp_path / "site").rglob("*.html")}
    assert {path.as_posix() for path in after - before} == {f"detectors/{x}.html" for x in ("d-0", "d+0", "uniform")}
    assert before < after


def test_a_board_opens_with_series_that_nobody_lacks(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    assert data_of(board, tmp_path / "site")["first_group"] == "all series"
    for key in ("x", "y", "z", "u", "v"):  # half of the series only
        boards.submission(board, key, series=("a/0", "a/1"))
    found = data_of(board, tmp_path / "site")
    assert found["first_group"] == "a"
    assert [m["name"] for m in found["metrics"]] == ["auc_roc"]


def data_of(board, site):
    build_site(board, site)
    return data(site / "data" / "board.js")


def test_the_page_of_a_detector_has_its_places(built):
    _, site = built
    found = json.loads(
        re.search(r'id="data">(.*?)</script>', (site / "detectors" / "d0.html").read_text(encoding="utf-8"))[1]
    )
    metrics = [m["name"] for m in data(site / "data" / "board.js")["metrics"]]
    # The recommended ones first.
    assert metrics == ["vus_pr", "f1", "detection_delay", "auc_roc"]
    row = next(row for row in found["standings"]["all series"] if metrics[row[0]] == "vus_pr")
    one = data(site / "data" / "standings" / "vus_pr.js")["groups"]["all series"]
    assert row == [0, one["mean"][0], row[2], 9, one["rank"][0], one["low"][0], one["high"][0]]
    assert row[2] == sorted(one["rank"]).index(one["rank"][0]) + 1


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for key, value in attributes if key in ("href", "src")]


def test_every_link_leads_to_a_file_and_nothing_is_loaded_from_elsewhere(built):
    _, site = built
    pages = list(site.rglob("*.html"))
    assert len(pages) == 1 + 1 + (3 + 6) + 4 + 4
    for page in pages:
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        for link in links.found:
            if link.startswith(("data:", "https://example.org")):
                continue
            assert not link.startswith(("http", "//", "/")), link
            target = link.partition("#")[0]
            assert not target or (page.parent / target).is_file(), (page, link)


def test_names_are_escaped(built):
    _, site = built
    for page in site.rglob("*.html"):
        assert boards.NASTY not in page.read_text(encoding="utf-8")
    for script in (site / "data").rglob("*.js"):
        assert "<script" not in script.read_text(encoding="utf-8")


def test_the_board_of_metrics_comes_from_stores(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-2seg-50L"], tasks=["AccQ"], store=tmp_path / "store")
    build_site(board, tmp_path / "site", rankeval=[tmp_path / "store"])
    text = (tmp_path / "site" / "rankeval.html").read_text(encoding="utf-8")
    policies.check_policy(tmp_path / "site" / "rankeval.html")
    assert "RankEval, suite quick" in text
    assert "1 case" in text
    assert "AccQ" in text
    assert 'href="metrics/auc_roc.html">auc_roc</a>' in text
    assert "metrics/cce.html" not in text  # the board has no such page
    assert "rankeval.html" in (tmp_path / "site" / "about.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_commands(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])

    def run(*arguments):
        return commands.run("leaderboard", *arguments)

    done = run("build", board, "-o", tmp_path / "site", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "site" / "index.html")
    assert run("check", board / "submissions" / "d0", "--board", board).stdout == "the submission can be taken\n"
    (board / "submissions" / "d1" / "about.toml").unlink()
    done = run("check", board / "submissions" / "d1", "--board", board)
    assert (done.returncode, "no such file" in done.stdout) == (1, True)
    done = run("build", board, "-o", tmp_path / "site", "--jobs", "1")
    assert done.returncode == 1
    assert "left out: d1" in done.stderr
    assert run("build", tmp_path / "nowhere").returncode == 2


def test_nobody_without_skill_stands_before_the_first(tmp_path):
    """An alarm at all points is the best event recall there is, and the lowest delay."""
    board, site = boards.make(tmp_path / "board", ["event_recall", "auc_roc"]), tmp_path / "site"
    for path in (boards.submission(board, "flat") / "scores").rglob("*.npz"):
        boards.write(path, score=np.full(400, 0.5))
    found = build_site(board, site)
    table = ranking.Table.of(found, ranking.compute_values(found, site / "values"))
    names, every = list(table.kinds), range(len(table.series))
    flaws = dict(zip(names, table.flaws("event_recall", every), strict=True))
    assert flaws["flat"] == "alarm at all points"
    assert all(flaws[name] for name, kind in table.kinds.items() if kind == "no skill")
    assert not all(flaws[name] for name, kind in table.kinds.items() if kind == "submission")
    one = ranking._standing(table.values["event_recall"], False, list(flaws.values()))
    order = ranking.stands(one)
    first = min(range(len(order)), key=order.__getitem__)
    assert one["flaws"][first] is None
    assert one["best"]
    assert all(one["flaws"][i] is None for i in one["best"])
