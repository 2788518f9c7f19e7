"""What is to be judged in a table: groups of rows, columns of scores, names of series and detectors."""

import shutil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import published
import tsadeval as te
from data_files import write
from tsadeval.errors import InvalidInputError
from tsadeval.scores.forms import Source, find_shards
from tsadeval.scores.options import Options
from tsadeval.scores.scored import LeftOut
from tsadeval.scores.tabular import scorings
from tsadeval.tables import read_table, table_files

WIDE = {"label": [0, 1, 0], "lof": [0.1, 0.9, 0.2], "pca": [1, 2, 3], "note": ["x", "y", "z"]}


class Run(NamedTuple):
    series: str
    detector: str
    y_true: Any
    y_score: Any


def runs(data, *, y_true="label", y_score="score", **reading):
    """Read each scoring by itself, without the other detectors of its series."""
    options = Options.of({"label": y_true, "score": y_score, **reading})
    for shard in find_shards(Source(data, None, None, options)).shards:
        for one in shard.read():
            if isinstance(one, LeftOut):
                raise InvalidInputError(str(one))
            yield Run(one.series, one.detector, one.y_true, one.y_score)


def plain(parts):
    return [(part.keys, part.score, part.labels.tolist(), part.scores.tolist()) for part in parts]


def test_a_wide_table_has_a_column_for_each_detector():
    table = read_table(WIDE)
    lof, pca = ({}, "lof", [0, 1, 0], [0.1, 0.9, 0.2]), ({}, "pca", [0, 1, 0], [1, 2, 3])
    assert plain(scorings(table, score=["pca", "lof"])) == [pca, lof]
    assert plain(scorings(table, score="lof")) == [lof]
    assert plain(scorings(table, score="*")) == [lof, pca]
    assert plain(scorings(table, score=["pca", "[lp]*"])) == [pca, lof]
    with pytest.raises(InvalidInputError, match=r"no column of numbers matches 'n\*'"):
        next(scorings(table, score="n*"))
    with pytest.raises(InvalidInputError, match="name at least one column of scores"):
        next(scorings(table, score=[]))
    for options, message in [
        ({"label": "lable"}, "no column 'lable' for the labels: did you mean label?"),
        ({"score": ["lof", "pac"]}, "no column 'pac' for the scores: did you mean pca?"),
        ({"score": "lof", "by": "notes"}, "no column 'notes' to group by: did you mean note?"),
        ({"score": "lof", "time": "when"}, "no column 'when' for the times: valid names: label, lof, pca, note"),
        ({"score": "note"}, "expected numbers in column 'note', found 'x'"),
        ({"score": "lof", "label": "note"}, "expected numbers in column 'note', found 'x'"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            list(scorings(table, **options))


def test_patterns_leave_out_what_is_no_score(tmp_path):
    frame = pd.DataFrame(WIDE, index=pd.Index([3, 1, 2], name="row")).assign(
        time=[1, 2, 3], when=pd.date_range("2024", periods=3), empty=np.nan
    )
    assert [p.score for p in scorings(read_table(frame), score="*")] == ["lof", "pca", "empty"]
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.parquet", "a.csv"):
        assert [p.score for p in scorings(read_table(tmp_path / name), score="*")] == ["lof", "pca", "empty"]
    frame["l*"] = 0
    assert [p.score for p in scorings(read_table(frame), score="l*")] == ["l*"]


FORMS = [pd.DataFrame, pl.DataFrame, pa.table, dict, lambda d: pd.DataFrame(d).astype({"series": "category"})]


@pytest.mark.parametrize("form", FORMS)
def test_groups_come_in_the_order_of_their_first_rows(form):
    data = {
        "series": ["b", "a", "b", "a", "b"],
        "detector": ["y", "y", "x", "y", "y"],
        "label": [0, 1, 1, 0, 1],
        "score": [0.5, 0.25, 1.0, None, 2.0],
    }
    found = list(scorings(read_table(form(data)), by=["series", "detector"]))
    assert [part.keys for part in found] == [
        {"series": "b", "detector": "y"},
        {"series": "a", "detector": "y"},
        {"series": "b", "detector": "x"},
    ]
    assert [part.labels.tolist() for part in found] == [[0, 1], [1, 0], [1]]
    np.testing.assert_array_equal(np.concatenate([part.scores for part in found]), [0.5, 2, 0.25, np.nan, 1])


@given(st.data())
def test_groups_are_those_of_a_plain_loop(data):
    n = data.draw(st.integers(1, 30))
    columns = {
        "u": data.draw(st.lists(st.sampled_from(["a", "b", "c", "01", "1"]), min_size=n, max_size=n)),
        "v": data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)),
        "w": data.draw(st.lists(st.booleans(), min_size=n, max_size=n)),
    }
    by = data.draw(st.permutations(["u", "v", "w"]))[: data.draw(st.integers(0, 3))]
    label = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    score = list(range(n))
    expected = {}
    for i in range(n):
        expected.setdefault(tuple(str(columns[name][i]) for name in by), []).append(i)
    form = data.draw(st.sampled_from([dict, pd.DataFrame, pl.DataFrame, pa.table]))
    found = list(scorings(read_table(form({**columns, "label": label, "score": score})), by=by))
    assert [tuple(part.keys.values()) for part in found] == list(expected)
    for part, rows in zip(found, expected.values(), strict=True):
        assert part.scores.tolist() == rows
        assert part.labels.tolist() == [label[i] for i in rows]


def test_a_row_without_a_group():
    for missing in (None, np.nan):
        table = read_table(pd.DataFrame({"series": ["a", missing], "label": [0, 1], "score": [0, 1]}))
        with pytest.raises(
            InvalidInputError, match=r"expected a value in every row of column 'series', .* none in row 2"
        ):
            list(scorings(table, by="series"))


def test_groups_by_their_text():
    """Values that are equal and read the same are one group; those that only read the same are refused."""
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "a"]))
    for values, expected in [
        ([1, np.int64(1), 2, 1], {"1": [0, 1, 3], "2": [2]}),
        (encoded, {"a": [0, 2, 3], "b": [1]}),
        (np.array(["2024-01-01"] * 4, "M8[ns]"), {"2024-01-01T00:00:00.000000000": [0, 1, 2, 3]}),
        (pa.array([[1], [2], [1], [1]]), {"[1]": [0, 2, 3], "[2]": [1]}),
        (pa.array([2**60] * 4, pa.timestamp("s")), {str(2**60): [0, 1, 2, 3]}),  # no year that Python knows
    ]:
        found = scorings(read_table({"u": values, "label": [0] * 4, "score": range(4)}), by="u")
        assert {part.keys["u"]: part.scores.tolist() for part in found} == expected
    mixed = [1, "1", 2, 1]
    for alike in (mixed, pd.Series(mixed, dtype=object), pd.Series(mixed).astype("category"), [True, "True", 2, 2]):
        with pytest.raises(InvalidInputError, match=r"column 'u': (1 and '1'|True and 'True') are the same as text"):
            list(scorings(read_table({"u": alike, "label": [0] * 4, "score": range(4)}), by="u"))
    for missing in (pa.array([1.0, np.nan]), pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))):
        with pytest.raises(InvalidInputError, match="expected a value in every row of column 'u'"):
            list(scorings(read_table({"u": missing, "label": [0, 1], "score": [0, 1]}), by="u"))


def test_series_of_a_csv_are_told_apart_as_text(tmp_path):
    path = write(tmp_path / "a.csv", "series,label,score\n01,0,1\n1,1,2\n01,1,3\n")
    assert [(run.series, run.y_score.tolist()) for run in runs(path, by="series")] == [("01", [1, 3]), ("1", [2])]


def test_arrays_of_different_lengths(tmp_path):
    np.savez(tmp_path / "a.npz", label=[0, 1], score=[0.5, 0.6, 0.7], grid=np.zeros((2, 2)), column=np.zeros((2, 1)))
    table = read_table(tmp_path / "a.npz")
    assert [len(part.scores) for part in scorings(table, score=["score", "column"])] == [3, 2]  # judging refuses them
    with pytest.raises(InvalidInputError, match=r"expected one value a row in 'grid', found shape \(2, 2\)"):
        list(scorings(table, score="grid"))
    with pytest.raises(InvalidInputError, match=r"column 'score' has 3 rows, but column 'label' has 2"):
        list(scorings(table, by="label"))
    with pytest.raises(InvalidInputError, match=r"expected one name a row in column 'grid'"):
        list(scorings(table, by="grid"))
    with pytest.raises(InvalidInputError, match=r"column 'score' has 3 rows, but column 'label' has 2"):
        list(scorings(table, by=["label", "score"]))


# Long tables judged as one series

TIMES = pd.date_range("2024", periods=50, freq="h")


def long(**more):
    """Three series of the same 50 time stamps, one below the other."""
    return pd.DataFrame({"label": [0, 1, 0] * 50, "score": np.arange(150.0), **more})


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("series", ["a"] * 149 + ["b"], r"column 'series' has several values, so these are several .*by=\['series'\]"),
        (
            "Model",
            ["a", "b", "c"] * 50,
            r"column 'Model' has several .*by=\['Model'\], or, if they are one",
        ),
        ("file", [1, 2, 3] * 50, r"column 'file' has several values"),
        ("timestamp", np.tile(TIMES, 3), r"time stamps repeat in column 'timestamp', so .* by=\['series'\]"),
        ("when", np.repeat(TIMES, 3), "time stamps repeat in column 'when'"),
        ("time", np.tile(np.arange(50), 3), "time stamps repeat in column 'time'"),
        ("date", np.tile(TIMES.astype(str), 3), "time stamps repeat in column 'date'"),
        ("index", np.tile(np.arange(50), 3), "time stamps repeat in column 'index'"),
    ],
)
@pytest.mark.parametrize("form", [lambda f: f, pl.from_pandas, "csv", "parquet"])
def test_a_long_table_is_not_one_series(tmp_path, column, values, message, form):
    frame = long(**{column: values})
    if isinstance(form, str):
        getattr(frame, f"to_{form}")(tmp_path / f"a.{form}", index=False)
        table = read_table(tmp_path / f"a.{form}")
    else:
        table = read_table(form(frame))
    with pytest.raises(InvalidInputError, match=message):
        list(scorings(table))
    assert len(list(scorings(table, one_series=True))) == 1


def test_groups_that_still_hold_several_series():
    series, detector = np.repeat(["a", "b"], 100), np.tile(np.repeat(["lof", "pca"], 50), 2)
    frame = pd.DataFrame({"s": series, "who": detector, "label": 0, "score": 0.5, "time": np.tile(TIMES, 4)})
    with pytest.raises(
        InvalidInputError, match=r"time stamps repeat in column 'time' within a group, .*by=\['s', 'who'\]"
    ):
        list(scorings(read_table(frame), by="s"))
    assert len(list(scorings(read_table(frame), by=["s", "who"]))) == 4
    mixed = frame.sort_values("time", kind="stable")  # the rows of the groups lie among each other
    assert len(list(scorings(read_table(mixed), by=["s", "who"]))) == 4
    with pytest.raises(
        InvalidInputError, match=r"column 'model' has several values within a group, .*by=\['s', 'model'\]"
    ):
        list(scorings(read_table(frame.rename(columns={"who": "model"})), by="s"))


def test_words_of_labels_that_are_missing_do_not_count():
    words = pa.array(["normal"] * 3 + ["fault"] + [None] * 5).dictionary_encode()
    table = pa.table({"label": words, "score": np.arange(9.0)})
    with pytest.raises(InvalidInputError, match=r"e\.g\. \(table\['label'\] == 'fault'\)"):
        list(scorings(read_table(table)))


def test_one_series_is_one_series():
    hours = TIMES.append(TIMES[-2:]).append(pd.date_range(TIMES[-1], periods=500, freq="h"))[:500]  # a clock set back
    days = pd.DataFrame({"date": TIMES.date.astype(str), "time": TIMES.time.astype(str)})
    for columns in (
        {"timestamp": hours},
        {"date": days["date"], "time": days["time"]},
        {"date": np.repeat(np.arange(25), 2), "time": np.tile([8, 20], 25)},  # more days than times of a day
        {"time": [None] * 50},
        {"series": ["a"] * 50},
        {"model": np.random.default_rng(0).random(50)},  # a detector may be called so
    ):
        n = len(next(iter(columns.values())))
        table = read_table({"label": np.arange(n) % 2, "score": np.arange(n), **columns})
        assert len(list(scorings(table))) == 1


def test_times_beside_labels_and_scores(tmp_path):
    frame = pd.DataFrame({"series": ["a", "b", "a"], "label": [0, 1, 1], "score": [1.0, 2, 3], "when": TIMES[:3]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    aware = frame.assign(when=frame["when"].dt.tz_localize("UTC"))
    for source in (frame, pl.from_pandas(frame), tmp_path / "a.csv", tmp_path / "a.parquet", aware):
        found = [part.times for part in scorings(read_table(source), by="series", time="when")]
        assert [times.dtype.kind for times in found] == ["M", "M"]
        assert [times.astype("M8[h]").tolist() for times in found] == [
            TIMES[[0, 2]].to_numpy().astype("M8[h]").tolist(),
            TIMES[[1]].to_numpy().astype("M8[h]").tolist(),
        ]
    (part,) = scorings(read_table({"label": [0, 1], "score": [1, 2], "t": [0.5, 0.75]}), time="t")
    assert part.times.tolist() == [0.5, 0.75]
    words = read_table({"label": pa.array([0, 1]), "score": pa.array([1, 2]), "t": pa.array(["x", "y"])})
    assert next(scorings(words, time="t")).times.tolist() == ["x", "y"]


def test_very_many_columns():
    """40,000 columns took 17 s where each looked at all the others; no time is asserted, a square would hang."""
    table = read_table({"label": np.arange(3) % 2, **{f"d{i}": np.arange(3.0) for i in range(40_000)}})
    assert sum(part.scores[2] for part in scorings(table, score="d*")) == 80_000


# Runs: names of series and detectors


def names(found):
    return [(run.series, run.detector) for run in found]


def test_runs_of_long_and_wide_tables():
    long = pd.DataFrame(
        {"series": list("aabb"), "detector": list("xyxy"), "label": [0, 0, 1, 1], "score": [1, 2, 3, 4]}
    )
    expected = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    for form in (long, pl.from_pandas(long), pa.Table.from_pandas(long), long.set_index(["series", "detector"])):
        found = list(runs(form, by=["series", "detector"]))
        assert names(found) == expected
        assert [run.y_score.tolist() for run in found] == [[1], [2], [3], [4]]
    wide = long.rename(columns={"score": "u"}).assign(v=1)
    assert names(runs(wide, by=["series", "detector"], y_score=["u", "v"]))[:2] == [("a", "x/u"), ("a", "x/v")]
    assert names(runs(wide[::2], by="series", y_score=["u", "v"])) == [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v")]
    who = long.rename(columns={"detector": "who"})
    assert names(runs(who, by="series", detector="who")) == expected
    assert names(runs(who, by=["who", "series"], detector="who")) == expected
    assert names(runs(who, by=["who", "series"]))[0] == ("x/a", "score")
    assert names(runs(WIDE, y_score=["lof", "pca"])) == [("", "lof"), ("", "pca")]
    assert isinstance(next(runs(WIDE, y_score="pca")), Run)
    with pytest.raises(InvalidInputError, match=r"column 'series' has several values, .*by=\['series', 'detector'\]"):
        list(runs(long, y_true="label"))


@pytest.fixture
def folder(tmp_path):
    """Scores of two detectors, each with a folder of its own, on two series; and things that are no tables."""
    for detector in ("lof", "pca"):
        for series in ("s1", "s2"):
            write(tmp_path / "scores" / detector / f"{series}.csv", "label,score\n0,1\n1,2\n")
    write(tmp_path / "scores" / "README.md", "scores")
    write(tmp_path / "scores" / ".hidden" / "a.csv", "no table")
    return tmp_path / "scores"


def test_runs_of_a_folder(folder, monkeypatch):
    by_folder = [("s1", "lof"), ("s2", "lof"), ("s1", "pca"), ("s2", "pca")]
    assert names(runs(folder)) == by_folder  # the same names in both folders: these are detectors
    assert names(runs(folder, by=["file", "folder"], detector="folder")) == by_folder
    assert names(runs(folder, by="file", detector="folder")) == by_folder
    monkeypatch.chdir(folder)
    assert names(runs(["lof/s1.csv", "lof/s2.csv"])) == [("s1", "score"), ("s2", "score")]
    assert names(runs(["lof/s1.csv", "pca/s1.csv"])) == [("s1", "lof"), ("s1", "pca")]
    write(folder / "other" / "lone.csv", "label,score\n0,1\n1,2\n")
    assert names(runs(["lof/s1.csv", "other/lone.csv"])) == [("lof/s1", "score"), ("other/lone", "score")]
    two = te.Scores(folder, by="folder").read()
    with pytest.raises(
        InvalidInputError, match=r"s1.csv and .*lof/s2.csv: there are two scorings of detector 'score' on series 'lof'"
    ):
        list(two)
    shutil.rmtree(folder / "other")
    (folder / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"empty: this is a folder, and there are no tables in it"):
        list(runs("empty"))
    assert [path.name for path in table_files(folder)] == ["s1.csv", "s2.csv"] * 2


def test_a_bad_file_does_not_stop_the_others(folder):
    write(folder / "lof" / "s1.csv", "label,score\n0,1,2\n")
    write(folder / "pca" / "s2.csv", "label,scores\n0,1\n")
    with pytest.raises(InvalidInputError, match=r"s1.csv: row 1 has 3 fields"):
        list(runs(folder))
    scores = te.Scores(folder)
    assert names(scores) == [("s1", "pca"), ("s2", "lof")]  # series by series
    assert [row["place"].rpartition("/")[2] for row in scores.left_out.rows] == ["s1.csv", "s2.csv"]
    with pytest.raises(InvalidInputError, match=r"s1.csv: row 1 has 3 fields"):
        list(te.Scores(folder, strict=True))


theseus = published.SHARED / "scores" / "Theseus"
nab = published.SHARED / "scores" / "NAB_results"
needs_scores = pytest.mark.skipif(not theseus.is_dir(), reason="the published scores are not here")


@pytest.mark.slow
@needs_scores
def test_published_scores_of_theseus():
    """All 220 series and 12 detectors; scores that are missing are NaN, as the list beside them says."""
    files = sorted(theseus.glob("*.parquet"))
    detectors = ["AE", "CNN", "HBOS", "IFOREST", "IFOREST1", "LOF", "LSTM", "MP", "NORMA", "OCSVM", "PCA", "POLY"]
    irregular = pd.read_csv(theseus / "irregular.csv")
    irregular = {(f"{row['data set']}/{row.series}", row.detector): row.what for _, row in irregular.iterrows()}
    auc = pd.read_csv(theseus / "published_auc_roc.csv")
    auc = {(f"{row.dataset}/{row.series}", row.detector): row.auc_roc for _, row in auc.iterrows()}
    seen, compared, without = set(), 0, []
    for series, detector, y_true, y_score in runs(files, by=["file", "series"], y_score=detectors):
        seen.add((series, detector))
        missing = np.isnan(y_score)
        assert missing.any() == ((series, detector) in irregular)
        if missing.all():
            without.append((series, detector))
        elif (series, detector) in auc and compared < 300:
            compared += 1
            assert te.metrics.auc_roc(y_true[~missing], y_score[~missing]) == pytest.approx(
                auc[series, detector], abs=1e-9
            )
    assert len(seen) == 220 * 12
    assert without == [name for name, what in irregular.items() if what == "no scores"]
    assert without
    assert compared == 300


@needs_scores
def test_published_scores_of_nab():
    """58 series whose time stamps partly repeat, where clocks were set back; a detector is called "null"."""
    found = list(runs(nab / "scores.parquet", by="series", y_score="[!v]*"))
    assert len({run.series for run in found}) == 58
    assert {run.detector for run in found} >= {"null", "random", "windowedGaussian"}
    assert sum(len(run.y_true) for run in found if run.detector == "null") == 365_558
    with pytest.raises(InvalidInputError, match=r"column 'series' has several values, .*by=\['series'\]"):
        list(runs(nab / "scores.parquet", y_score="random"))


def test_labels_that_are_words_are_refused_with_what_to_write(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("label,score\nok,1\nok,2\nbad,3\n")
    hint = r"expected numbers in column 'label', found 'ok'; .* \(table\['label'\] == 'bad'\).astype\(int\)"
    with pytest.raises(InvalidInputError, match=hint):
        te.compare(path, metrics="f1")


@pytest.mark.parametrize(
    "order", [np.arange(50)[::-1], np.random.default_rng(0).permutation(50), sorted(range(50), key=str)]
)
@pytest.mark.parametrize("times", [TIMES, np.arange(50)])
def test_rows_that_are_not_in_the_order_of_time_are_refused(order, times):
    frame = pd.DataFrame({"s": "a", "label": [0, 1] * 25, "score": np.arange(50.0), "time": times}).iloc[order]
    for by, who in (("s", " of a"), ([], "")):
        with pytest.raises(InvalidInputError, match=f"the rows{who} are not in the order of time: column 'time' goes"):
            list(scorings(read_table(frame), by=by))
    assert len(list(scorings(read_table(frame), one_series=True))) == 1
    assert len(list(scorings(read_table(frame.sort_values("time")), by="s"))) == 1


def test_a_pattern_leaves_out_the_series_itself_and_says_so():
    table = {"label": [0, 1, 0], "lof": [1.0, 2.0, 1.0], "pca": [2.0, 1.0, 1.0], "value": [5.0, 6.0, 7.0]}
    with pytest.warns(UserWarning, match="'\\*' leaves out value, by its name the series itself: name it to have it"):
        assert te.Scores(table, score="*").detectors == ["lof", "pca"]
    assert te.Scores(table, score=["*a", "value"]).detectors == ["pca", "value"]
    with pytest.warns(UserWarning, match="leaves out value"):
        assert te.Scores(table, score=["value", "*"]).detectors == ["value", "lof", "pca"]
    assert te.Scores(table, score="val*").detectors == ["value"]
