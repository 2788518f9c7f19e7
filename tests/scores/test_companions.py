"""What belongs to scores but lies elsewhere is joined by names and stamps; mistakes in names are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app
from tsadeval.errors import InputWarning, InvalidInputError, InvalidParameterError, UnknownNameError

N = 30
STAMPS = pd.date_range("2026-01-01", periods=N, freq="min")


def labels_of(k):
    y = np.zeros(N, int)
    y[5 + k : 9 + k] = y[20 + k] = 1
    return y


def scores_of(seed):
    return np.round(np.random.default_rng(seed).normal(size=N), 3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Scores of two detectors in a folder each, on two servers; pca lacks the first rows. Labels beside them."""
    (tmp_path / "labels").mkdir()
    for k, server in enumerate(("web", "db")):
        about = pd.DataFrame({"time": STAMPS, "label": labels_of(k)})
        about.to_csv(tmp_path / "labels" / f"{server}.csv", index=False)
        for j, (detector, rows) in enumerate((("lof", slice(None)), ("pca", slice(4, None)))):
            (tmp_path / "scores" / detector).mkdir(parents=True, exist_ok=True)
            table = about.assign(score=scores_of(10 * j + k))[rows]
            table.to_csv(tmp_path / "scores" / detector / f"{server}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers(scores):
    return {(one.series, one.detector): (one.given.y_true.tolist(), one.given.y_score.tolist()) for one in scores}


def expected(lack=4):
    found = {}
    for k, server in enumerate(("web", "db")):
        for j, detector in enumerate(("lof", "pca")):
            scores = scores_of(10 * j + k)
            scores[: lack * j] = np.nan
            found[server, detector] = labels_of(k).tolist(), scores.tolist()
    return found


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for name, arrays in wanted.items():
        for mine, theirs in zip(found[name], arrays, strict=True):
            np.testing.assert_array_equal(mine, theirs, err_msg=str(name))


@pytest.mark.parametrize(
    "reading",
    [{}, {"by": ["file", "folder"], "detector": "folder"}, {"by": "folder", "detector": "folder"}],
)
def test_detectors_in_folders_are_aligned_by_their_stamps(folder, reading):
    found = te.Scores("scores", time="time", **reading)
    assert_same(numbers(found), expected())
    assert "missing: 8 scores of pca" in repr(found)
    with pytest.raises(InvalidInputError, match=r"have 30 and 26 points on series 'db': give time stamps \(time=\)"):
        te.compare("scores", metrics="f1", **reading)


def test_files_that_are_a_detector_each_have_the_same_series(folder):
    for detector in ("lof", "pca"):
        parts = [pd.read_csv(f"scores/{detector}/{server}.csv").assign(server=server) for server in ("web", "db")]
        pd.concat(parts).to_csv(f"{detector}.csv", index=False)
    found = te.Scores(["lof.csv", "pca.csv"], by=["file", "server"], detector="file", time="time")
    assert_same(numbers(found), expected())
    alone = [f"scores/{detector}/web.csv" for detector in ("lof", "pca")]
    for detector, path in zip(("lof", "pca"), alone, strict=True):
        pd.read_csv(path).to_csv(f"{detector}.csv", index=False)
    found = te.Scores(["lof.csv", "pca.csv"], by="file", detector="file", time="time")
    assert found.series == [""]
    assert next(one.given.y_score.tolist() for one in found) == scores_of(0).tolist()


def test_one_series_whose_detectors_disagree_is_left_out(folder):
    table = pd.read_csv("scores/pca/db.csv")
    table.assign(label=1 - table["label"]).to_csv("scores/pca/db.csv", index=False)
    with pytest.warns(InputWarning, match="'lof' and 'pca' have different labels on series 'db'"):
        found = te.compare("scores", metrics="f1", time="time", threshold=0.5)
    assert {row["series"] for row in found.rows if row["status"] == "ok"} == {"web"}
    arrays = {"a": labels_of(0), "b": labels_of(1)}
    runs = [(s, "lof", y, scores_of(1)) for s, y in arrays.items()] + [("a", "pca", arrays["a"], scores_of(2))]
    with pytest.warns(InputWarning, match="have different labels on series 'b'"):
        found = te.compare([*runs, ("b", "pca", 1 - arrays["b"], scores_of(3))], metrics="f1", threshold=0.5)
    assert {row["series"] for row in found.rows if row["status"] == "ok"} == {"a"}


@pytest.mark.parametrize("time", ["time", None])
def test_labels_elsewhere_are_joined_by_names_and_stamps(folder, time):
    for detector in ("lof", "pca"):
        for server in ("web", "db"):
            path = folder / "scores" / detector / f"{server}.csv"
            table = pd.read_csv(path).drop(columns="label")
            table = table if time else table.reindex(range(-4 * (detector == "pca"), len(table))).reset_index(drop=True)
            table.to_csv(path, index=False)
    assert_same(numbers(te.Scores("scores", "labels", time=time)), expected())
    one = te.Scores(["scores/lof/web.csv", "scores/pca/web.csv"], "labels/web.csv", time=time)
    assert_same(numbers(one), {key: found for key, found in expected().items() if key[0] == "web"})
    long = pd.concat([pd.read_csv(f"labels/{server}.csv").assign(server=server) for server in ("web", "db")])
    long.to_csv("labels.csv", index=False)
    table = pd.concat([pd.read_csv(f"scores/lof/{server}.csv").assign(server=server) for server in ("web", "db")])
    lof = {(server, "score"): found for (server, detector), found in expected().items() if detector == "lof"}
    for labels in ("labels.csv", "labels", long):
        assert_same(numbers(te.Scores(table, labels, by="server", time=time)), lof)
    valued = te.Scores(table.assign(value=np.arange(2 * N)), long, by="server", time=time, values="value")
    assert [one.given.values.tolist() for one in valued] == [list(range(N)), list(range(N, 2 * N))]
    with pytest.raises(InvalidInputError, match="there are no labels of 'db': valid names: web"):
        list(te.Scores(["scores/lof/db.csv", "scores/lof/web.csv"], ["labels/web.csv"], strict=True))
    with pytest.raises(InvalidInputError, match=r"labels/web.csv: no column 'server' to group by"):
        te.Scores(table, "labels/web.csv", by="server")


def test_scores_to_fit_on_may_lie_in_folders_too(folder):
    found = te.Scores("scores", time="time", fit="scores")
    assert {(one.series, one.detector): one.given.fit.tolist() for one in found} == {
        name: scores[4 if name[1] == "pca" else 0 :] for name, (_, scores) in expected().items()
    }


def test_labels_elsewhere_on_the_command_line(folder):
    asked = ["--time", "time", "--metrics", "f1,event_recall", "--threshold", "0.5", "--format", "json"]

    def values(*more, command="compare"):
        done = CliRunner().invoke(app, [command, "scores", *asked, *more])
        assert done.exit_code == 0, done.output
        return [row["value"] for row in json.loads(done.stdout)]

    own = values(), values(command="score")
    for path in folder.glob("scores/*/*.csv"):
        pd.read_csv(path).drop(columns="label").to_csv(path, index=False)
    assert (values("--labels", "labels"), values("--labels", "labels", command="score")) == own
    kept = ["--labels", "labels", "--store", "store"]
    assert values(*kept, command="score") == own[1]
    labels = pd.read_csv("labels/web.csv")
    labels.assign(label=np.roll(labels["label"], 7)).to_csv("labels/web.csv", index=False)
    assert values(*kept, command="score") != own[1]  # other labels are other cells
    missing = CliRunner().invoke(app, ["compare", "scores", "--labels", "lables.csv"])
    assert "lables.csv" in str(missing.exception)
    stream = CliRunner().invoke(app, ["score", "scores/lof/web.csv", "--stream", "--labels", "labels/web.csv"])
    assert "not from --incidents or --labels" in str(stream.exception)


def test_names_that_are_not_there_are_refused():
    found = te.Scores({"lof": {"web": scores_of(1)}, "pca": {"web": scores_of(2)}}, {"web": labels_of(0)})
    for wrong in (
        lambda: found.select(detectors=["lod"]),
        lambda: found.select(detectors="lod"),
        lambda: found.rename(detectors={"lod": "LOF"}),
    ):
        with pytest.raises(UnknownNameError, match="no detector 'lod' here: did you mean lof"):
            wrong()
    for wrong in (
        lambda: found.select(series=["web", "wep"]),
        lambda: found.rename(series={"wep": "x"}),
        lambda: found.split(series=["wep"]),
        lambda: found["wep"],
    ):
        with pytest.raises(UnknownNameError, match="no series 'wep' here: did you mean web"):
            wrong()
    assert found.select(detectors="lof", series="web").detectors == ["lof"]
    assert found.rename(series={"": "nothing"}).series == ["web"]  # a series without a name need not be there


def test_what_is_left_out_can_still_be_named():
    found = te.Scores({"lof": scores_of(1), "bad": np.full(N, np.inf)}, labels_of(0))
    assert found.rename(detectors={"bad": "worse"}).left_out.rows[0]["detector"] == "worse"


def test_nothing_usable_is_an_error_with_the_reasons(tmp_path):
    (tmp_path / "a.csv").write_text("label,score\n0,1\n7,2\n")
    for scores in (te.Scores(tmp_path / "a.csv"), te.Scores({"bad": np.full(N, np.inf)}, labels_of(0))):
        for use in (repr, list, len, lambda given: given.facts, lambda given: list(given.by_series())):
            with pytest.raises(InvalidInputError, match=r"y_true must be 0|y_score must be finite"):
                use(scores)
    with pytest.raises(InvalidInputError, match="no detector has a score on any series"):
        repr(te.Scores({"quiet": np.full(N, np.nan)}, labels_of(0)))
    with pytest.raises(InvalidInputError, match="no point of it is in this part"):
        repr(te.Scores({"lof": scores_of(1)}, labels_of(0), time=STAMPS).split(at="2030-01-01")[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda y, s: te.choose_threshold(y, s, max_false_alarm=1),
            r"te.choose_threshold .*did you mean max_false_alarms",
        ),
        (lambda y, s: te.report({"a": s}, "page.html", y, titel="x"), r"te.report has no option 'titel': .* title"),
        (lambda y, s: te.compare({"a": s}, y, metric="f1"), r"te.compare has no option 'metric': did you mean metrics"),
        (lambda y, s: te.curve("f1", y, s, point=5), r"te.curve has no option 'point': did you mean points"),
        (lambda y, s: te.Scores(s, y, times_=3), r"te.Scores has no option 'times_': did you mean time"),
    ],
)
def test_an_option_misspelt_is_answered_with_those_of_the_function_that_was_called(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call(labels_of(0), scores_of(1))


def test_many_files_say_what_they_are_before_and_after_they_are_read(tmp_path):
    for k in range(10):
        pd.DataFrame({"label": labels_of(0), "score": scores_of(k)}).to_csv(tmp_path / f"s{k}.csv", index=False)
    found = te.Scores(tmp_path)
    assert repr(found) == "10 files, not read yet: what is in them is said once they are"
    assert len(list(found)) == 10
    assert repr(found).startswith("10 series, 1 detector (score), 300 points")
    once = te.Scores(iter([("a", labels_of(0), scores_of(1)), ("b", labels_of(1), scores_of(2))]))
    assert repr(once) == "scorings of an iterator, not read yet"
    assert len(te.compare(once, metrics="f1", threshold=0.5).series) == 2
    assert repr(once).startswith("2 series, 1 detector (score), 60 points")


def test_incidents_of_all_series_and_without_an_end():
    times = np.arange(6) * 60.0
    rows = [(s, t, 0.5) for s in ("a", "b", "c") for t in times]
    table = pd.DataFrame(rows, columns=["series", "time", "score"])
    incidents = pd.DataFrame(
        {"series": ["a", "*", None, "b"], "start": [0, 120, 240, 290.0], "end": [60, 180, 300, None]}
    )
    maintenance = {"series": ["", "c"], "start": [60, 180], "stop": [120, 240]}
    scores = te.Scores(table, by="series", time="time", incidents=incidents, ignore=maintenance)
    assert {one.series: np.asarray(one.given.y_true).tolist() for one in scores} == {
        "a": [1, 0, 1, 0, 1, 0],
        "b": [0, 0, 1, 0, 1, 1],
        "c": [0, 0, 1, 0, 1, 0],
    }
    assert {one.series: np.flatnonzero(one.given.ignore).tolist() for one in scores} == {
        "a": [1],
        "b": [1],
        "c": [1, 3],
    }
    assert any("1 still open was taken to last until the data ends" in note for note in scores.notes)
    with pytest.warns(InputWarning, match="no incidents of 'd' alone"):
        assert te.labels(incidents, times, key="d").tolist() == [0, 0, 1, 0, 1, 0]
    with pytest.warns(InputWarning, match=r"still open \(1\)"):
        assert te.labels([(60, None)], times).tolist() == [0, 1, 1, 1, 1, 1]


def test_an_open_incident_that_begins_after_the_data_is_outside():
    scores = te.Scores({"d": [1.0, 2, 3]}, time=[0, 1, 2], incidents=[(1, 2), (9, None)], y_true=[0, 0, 0])
    assert [note for note in scores.notes if "still open" in note] == []
    assert any("1 outside the data was dropped" in note for note in scores.notes)
