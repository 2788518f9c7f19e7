"""The page of a choice: its first sentence beside a plain computation, incidents and false pages of all series."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from commands import run
from tsadeval.errors import InvalidParameterError

WEEK = 2016  # points every five minutes
INDEX = pd.date_range("2026-03-16", periods=4 * WEEK, freq="5min", tz="Europe/Berlin")  # the clock changes in it


def make(seed=0):
    """Three servers, two detectors, incidents with kinds; the third server has none, and there are gaps."""
    rng = np.random.default_rng(seed)
    incidents, frames = [], []
    there = np.r_[0:3000, 3200 : len(INDEX)]
    for server in ("web", "db", "quiet"):
        scores = {"sharp": rng.normal(size=len(INDEX)), "dull": rng.normal(size=len(INDEX))}
        for start in [] if server == "quiet" else rng.choice(np.arange(100, len(INDEX) - 100, 200), 8, replace=False):
            kind = str(rng.choice(["disk", "network"]))
            incidents.append((server, INDEX[start], INDEX[start + 10], kind))
            scores["sharp"][start + 2 : start + 10] += 9 if kind == "disk" else 2
            scores["dull"][start + 3 : start + 10] += 4
        frames.append(pd.DataFrame({"server": server, "time": INDEX, **scores}).iloc[there])
    return pd.concat(frames), pd.DataFrame(incidents, columns=["server", "start", "stop", "kind"])


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    table, incidents = make()
    table.to_csv(folder / "scores.csv", index=False)
    incidents.to_csv(folder / "incidents.csv", index=False)
    line = ["report", "scores.csv", "--by", "server", "--score", "sharp,dull", "--time", "time"]
    done = run(*line, "--incidents", "incidents.csv", "--budget", "1/week", "--cooldown", "30min", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, table, incidents


def page_of(path):
    text = path.read_text(encoding="utf-8")
    return text, json.loads(re.search(r'id="data">(.*?)</script>', text, flags=re.S)[1])


def plain(table, incidents, detector, threshold):
    """Incidents with data, those found, and false pages of a threshold: with NumPy and loops."""
    known, found, pages = 0, 0, 0
    for server, part in table.groupby("server", sort=False):
        time = part["time"].dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        alarms = part[detector].to_numpy() > threshold
        right = np.zeros(len(part), bool)
        for one in incidents[incidents.server == server].itertuples():
            start, stop = (x.tz_convert("UTC").tz_localize(None).to_datetime64() for x in (one.start, one.stop))
            inside = (time >= start) & (time < stop)
            right |= inside & alarms
            known += bool(inside.any())
            found += bool((inside & alarms).any())
        last, hit = None, True
        for i in np.flatnonzero(alarms):
            if last is None or time[i] - time[last] > np.timedelta64(35, "m"):
                pages += not hit
                hit = False
            last, hit = i, hit or bool(right[i])
        pages += not hit
    return known, found, pages


def test_the_first_sentence_is_that_of_a_plain_computation(story):
    folder, table, incidents = story
    budget, best = 3 * 4 * (1 - 200 / len(INDEX)), {}
    for detector in ("sharp", "dull"):
        levels = np.unique(np.concatenate([part[detector].to_numpy() for _, part in table.groupby("server")]))
        for threshold in levels[-400:][::-1]:
            known, found, pages = plain(table, incidents, detector, np.nextafter(threshold, -np.inf))
            if pages > budget:
                break
            if (found, -pages) > best.get(detector, ((-1, 0), 0))[0]:
                best[detector] = (found, -pages), threshold
    winner = max(best, key=lambda name: best[name][0])
    (found, pages), _ = best[winner]
    text, data = page_of(folder / "report.html")
    sentence = re.search(r'<p id="decision">(.*?)</p>', text)[1]
    assert sentence.startswith(f"{winner} at ")
    assert f": {found} of {known} incidents, " in sentence
    assert text.index(sentence) < text.index("<h2")
    chosen = next(row for row in data["operations"]["rows"] if row["detector"] == winner)
    assert (chosen["detected"], chosen["false_alarms"]) == (found, -pages)
    assert data["detectors"] == [winner]  # which alone is drawn and counted
    first = data["series"][data["operations"]["first"]]["name"]
    assert first in set(incidents["server"])


def test_incidents_and_false_pages_are_where_they_are(story):
    folder, table, incidents = story
    _, data = page_of(folder / "report.html")
    scores = te.Scores(table, by="server", score=["sharp", "dull"], time="time", incidents=incidents)
    choice = te.choose_threshold(scores, max_false_alarms="1/week", cooldown="30min")
    found, pages = 0, 0
    for one, named in zip(data["operations"]["series"], data["series"], strict=True):
        part = table[table.server == named["name"]]
        values, stamps = part[choice.detector].to_numpy(), part["time"].to_numpy("datetime64[ms]").astype(float)
        for incident in one["incidents"]:
            start, stop, begin, end = incident["span"]
            assert (begin, end) == (stamps[start], stamps[stop - 1] + 300_000)
            assert incident["found"] == (values[start:stop] > choice.threshold).any()
            assert set(incident["about"]) == {"server", "kind"}
            found += incident["found"]
        for start, stop, *_ in one["pages"]:
            assert values[start] > choice.threshold
            assert values[stop - 1] > choice.threshold
        pages += len(one["pages"])
    assert (found, pages) == (choice.detected, choice.false_alarms)
    listed = [incident for one in data["operations"]["series"] for incident in one["incidents"]]
    for row in (row for row in choice.by_kind().rows if row["detector"] == choice.detector):
        own = [incident for incident in listed if incident["about"]["kind"] == row["kind"]]
        late = [incident["delay"] for incident in own if incident["found"]]
        assert (len(own), len(late)) == (row["events"], row["detected"])
        assert sum(incident["cost"] for incident in own) == pytest.approx(row["cost"])
        assert np.median(late) == pytest.approx(row["median"], nan_ok=True)


def test_a_page_of_what_was_held_out(tmp_path):
    table, incidents = make(1)
    scores = te.Scores(table, by="server", score=["sharp", "dull"], time="time", incidents=incidents)
    first, second = scores.split(share=0.5)
    choice = te.choose_threshold(first, max_false_alarms="1/week", test=second)
    _, data = page_of(te.report(second, tmp_path / "page.html", choice=choice))
    listed = [incident for one in data["operations"]["series"] for incident in one["incidents"]]
    row = next(row for row in choice.rows if row["detector"] == choice.detector and row["part"] == "held out")
    assert (len(listed), sum(one["found"] for one in listed)) == (row["events"], row["detected"])
    assert [row["detector"] for row in data["operations"]["rows"]] == [row["detector"] for row in choice.rows[:2]]
    assert data["comparison"]["detectors"] == ["sharp", "dull"]
    assert data["series"][0]["detectors"][choice.detector]["threshold"] == choice.threshold
    done = run("report", "scores.csv", "--split", "0.5", cwd=tmp_path)
    assert done.returncode == 2
    assert "--cooldown and --split are for --budget" in done.stderr


def test_no_threshold_keeps_the_budget(tmp_path):
    y, s = [0, 1, 0, 1, 0, 0], {"low": [3, 1, 3, 1, 3, 0.0], "lower": [5, 1, 5, 1, 5, 0.0]}
    choice = te.choose_threshold(te.Scores(s, y), max_false_alarms=0)
    text, data = page_of(te.report(s, tmp_path / "page.html", y_true=y, choice=choice))
    assert "no threshold that finds an event keeps the budget" in text
    assert [len(one["pages"]) for one in data["operations"]["series"]] == [0]
    for wrong in (te.choose_threshold(y, s["low"]), "1/week"):
        with pytest.raises(InvalidParameterError, match=r"choice must be what te\.choose_threshold returns"):
            te.report(s, tmp_path / "page.html", y_true=y, choice=wrong)
