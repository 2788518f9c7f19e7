"""`--time --incidents --ignore` of `tsadeval compare` and `tsadeval report`: as `tsadeval score` has them."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app

MINUTES = pd.date_range("2026-03-28 23:00", periods=400, freq="min", tz="Europe/Berlin")
SERVERS = ("web-1", "web-2")
EVENTS = {"web-1": [(30, 40), (150, 160), (300, 320)], "web-2": [(60, 70)]}
METRICS = ["f1", "event_recall", "false_alarms(per='h')", "detection_delay(unit='min')"]
ASKED = ["--time", "time", "--metrics", ",".join(METRICS), "--threshold", "1.5", "--score", "lof,knn"]


def spans(path, entries):
    rows = [
        {"server": server, "start": MINUTES[a].isoformat(), "stop": (MINUTES[0] + pd.Timedelta(minutes=b)).isoformat()}
        for server, pairs in entries.items()
        for a, b in pairs
    ]
    pd.DataFrame(rows).to_csv(path, index=False)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A file of scores for each server, one of incidents, and an hour of maintenance with alarms."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "per").mkdir()
    tables = []
    for seed, server in enumerate(SERVERS):
        rng = np.random.default_rng(seed)
        inside = np.zeros(len(MINUTES), bool)
        for a, b in EVENTS[server]:
            inside[a + 2 : b] = True
        found = {"time": [when.isoformat() for when in MINUTES]}
        for name in ("lof", "knn"):
            found[name] = rng.random(len(MINUTES)) + inside
            found[name][100:160] += rng.integers(0, 3, 60)
        tables.append(pd.DataFrame(found).assign(server=server, cpu=rng.random(len(MINUTES))))
        tables[-1].drop(columns="server").to_csv(f"per/{server}.csv", index=False)
    pd.concat(tables).to_csv("all.csv", index=False)
    spans("incidents.csv", EVENTS)
    spans("maintenance.csv", {server: [(100, 160)] for server in SERVERS})
    return tables


def call(command, *arguments):
    return CliRunner().invoke(app, [command, *arguments])


def expected(shop, ignore=True):
    runs, times = [], {}
    for server, table in zip(SERVERS, shop, strict=True):
        times[server] = MINUTES
        labels = te.labels([(MINUTES[a], MINUTES[b]) for a, b in EVENTS[server]], MINUTES)
        runs += [(server, name, labels, table[name].to_numpy()) for name in ("lof", "knn")]
    nights = [(MINUTES[100], MINUTES[160])] if ignore else None
    found = te.compare(runs, metrics=METRICS, time=times, ignore=nights, threshold=1.5)
    return {(row["series"], row["detector"], row["metric"]): row["value"] for row in found.rows}


@pytest.mark.parametrize("files", [["all.csv", "--by", "server"], ["per/web-1.csv", "per/web-2.csv"], ["per"]])
@pytest.mark.parametrize("ignore", [True, False])
def test_compare_takes_incidents_and_maintenance(shop, files, ignore):
    beside = ["--incidents", "incidents.csv", *(["--ignore", "maintenance.csv"] if ignore else [])]
    done = call("compare", *files, *ASKED, *beside, "--format", "csv")
    assert done.exit_code == 0, done.output
    rows = csv.DictReader(io.StringIO(done.stdout))
    found = {(row["series"], row["detector"], row["metric"]): float(row["value"]) for row in rows}
    assert found == pytest.approx(expected(shop, ignore))


@pytest.mark.parametrize("files", [["all.csv", "--by", "server"], ["per"]])
def test_a_report_takes_incidents_and_maintenance(shop, files):
    beside = ["--incidents", "incidents.csv", "--ignore", "maintenance.csv", "--value", "cpu"]
    done = call("report", *files, *ASKED, *beside)
    assert done.exit_code == 0, done.output
    text = Path("report.html").read_text(encoding="utf-8")
    page = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    found = {
        (one["name"], detector, metric["name"]): row["value"]
        for one in page["series"]
        for detector, shown in one["detectors"].items()
        for metric, row in zip(page["metrics"], shown["metrics"], strict=True)
    }
    assert found == pytest.approx(expected(shop))
    assert all(one["ignored"] and one["values"] for one in page["series"])
    assert "120 points that were to be ignored are not judged, and with them 1 whole event" in text


def test_what_does_not_fit_is_cut_and_said(shop):
    spans("incidents.csv", {"web-1": [(30, 40), (390, 800)], "web-2": [(60, 70)], "web-9": [(1, 2)]})
    files = ["all.csv", "--by", "server", *ASKED, "--incidents", "incidents.csv"]
    done = call("compare", *files)
    assert done.exit_code == 0
    assert "1 that reaches beyond the data was cut" in done.stderr
    done = call("report", *files)
    assert done.exit_code == 0
    assert "1 that reaches beyond the data was cut" in done.stderr
    text = Path("report.html").read_text(encoding="utf-8")
    assert "1 that reaches beyond the data was cut" in text
    assert "intervals of web-9 are not used" in text


@pytest.mark.parametrize("command", ["compare", "report"])
def test_intervals_need_time_stamps(shop, command):
    done = call(command, "per", "--score", "lof", "--incidents", "incidents.csv")
    assert "name their column with --time" in str(done.exception)
