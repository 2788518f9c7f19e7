"""What streams are read from: names of series, times that go back, tables, options that would not be looked at."""

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.scores.tabular import scorings
from tsadeval.streams.stream import Stream
from tsadeval.tables import batches as reading
from tsadeval.tables import read_table

LABEL = np.array([0, 0, 1, 1, 0, 0, 1, 0])
SCORE = np.array([0.1, 0.2, 0.9, 0.4, 0.3, 0.6, 0.2, 0.1])


def write_arrow(path, rows=3, **columns):
    table = pa.table({**columns, "label": LABEL, "score": SCORE})
    with ipc.new_file(path, table.schema) as file:
        for batch in table.to_batches(max_chunksize=rows):
            file.write_batch(batch)
    return path


def write_parquet(path, **columns):
    columns = {"label": LABEL, "score": SCORE, **columns}
    pq.write_table(pa.table(columns), path, row_group_size=3)
    return path


def test_rows_of_a_series_whose_name_a_dictionary_has_twice_keep_their_order(tmp_path):
    names = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0, 2, 1, 0, 2]), pa.array(["a", "b", "a"]))
    path = write_arrow(tmp_path / "a.arrow", 8, who=names)
    parts = scorings(read_table(path), by="who")
    found = {}
    for name, labels, scores in te.batches(path, by="who"):
        kept = found.setdefault(name, ([], []))
        kept[0].extend(labels.tolist())
        kept[1].extend(scores.tolist())
    assert found == {part.keys["who"]: (part.labels.tolist(), part.scores.tolist()) for part in parts}


@pytest.mark.parametrize(
    "names",
    [
        pa.array([1.0, 2.0, float("nan"), 1.0, 1.0, 2.0, 2.0, 2.0]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, 0, 1, 0, 1]), pa.array(["a", None])),
        pa.array(["a", None, "a", "a", "a", "a", "a", "a"]),
    ],
)
def test_rows_without_a_name_are_refused_as_in_one_piece(tmp_path, names):
    path = write_arrow(tmp_path / "a.arrow", who=names)
    with pytest.raises(InvalidInputError, match="expected a value in every row of column 'who'"):
        te.evaluate_stream(path, "auc_roc", by="who")
    with pytest.raises(InvalidInputError, match="expected a value in every row of column 'who'"):
        list(scorings(read_table(path), by="who"))


def test_a_series_may_have_an_empty_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("who,label,score\n,0,0.1\nb,0,0.4\n,1,0.9\nb,1,0.3\n")
    found = te.evaluate_stream(path, "auc_roc", by="who")
    assert {row["series"]: row["value"] for row in found.rows} == {"": 1.0, "b": 0.0}


@pytest.mark.parametrize(
    "option", [{"by": "who"}, {"score": "other"}, {"label": "other"}, {"time": "at"}, {"one_series": True}]
)
def test_what_is_said_of_columns_beside_batches_is_refused(option):
    source = te.batches({"label": LABEL, "score": SCORE, "other": LABEL, "who": LABEL})
    with pytest.raises(InvalidParameterError, match=r"pass it to te\.batches"):
        te.evaluate_stream(source, "auc_roc", **option)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_rows_are_lost_beside_a_shorter_column(monkeypatch, n_jobs):
    monkeypatch.setattr(reading, "_ROWS", 2)
    table = {"label": LABEL, "score": SCORE, "short": np.zeros(5), "setting": 3}
    assert te.evaluate_stream(table, "auc_roc", n_jobs=n_jobs)["auc_roc"] == te.metrics.auc_roc(LABEL, SCORE)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("content", [None, b"PAR1xxx"])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, n_jobs, content):
    path = tmp_path / "a.parquet"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"a\.parquet: (no such file|damaged or truncated)"):
        te.evaluate_stream(path, "auc_roc", n_jobs=n_jobs)


FRAMES = {
    "pandas": pd.DataFrame({"score": SCORE, "label": LABEL}, index=np.arange(8) / 2 + 5),
    "arrow": pa.table({"score": SCORE, "label": LABEL}),
    "lists": {"score": SCORE.tolist(), "label": LABEL.tolist()},
    "series": {
        name: pd.Series(values, index=np.arange(8) / 2) for name, values in (("label", LABEL), ("score", SCORE))
    },
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_tables_are_read_by_the_names_of_their_columns_and_by_place(frame):
    expected = te.metrics.auc_roc(LABEL, SCORE)
    assert te.evaluate_stream(frame, "auc_roc")["auc_roc"] == expected
    assert te.evaluate_stream(te.batches(frame, rows=3), "auc_roc")["auc_roc"] == expected


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (pa.table({"score": 1 - LABEL, "label": LABEL}).to_batches(), "RecordBatch"),  # its columns in their order
        ([{"label": LABEL, "score": SCORE}], "dict"),
        ([(LABEL, SCORE, np.arange(8))], "tuple of 3"),
        ([(0, 0.1), (1, 0.9)], "tuple of 2"),
        (("a.csv" for _ in range(2)), "str"),
    ],
)
def test_batches_that_are_no_pairs_are_refused(source, found):
    with pytest.raises(InvalidInputError, match=f"batches must be tuples .*, but one is a {found}"):
        te.evaluate_stream(source, "auc_roc")


def test_the_number_and_the_text_are_one_name_and_a_series_needs_points():
    half = [(1, LABEL[:4], SCORE[:4]), ("1", LABEL[4:], SCORE[4:])]
    (row,) = te.evaluate_stream(half, "auc_roc", by="series").rows
    assert (row["series"], row["value"]) == ("1", te.metrics.auc_roc(LABEL, SCORE))
    with pytest.raises(InvalidInputError, match="series 'b': has no points"):
        te.evaluate_stream([*half, ("b", [], [])], "auc_roc", by="series")
    with pytest.raises(InvalidInputError, match="with a text or an integer as the name"):
        te.evaluate_stream([(None, LABEL, SCORE)], "auc_roc", by="series")


@pytest.mark.torch
def test_tensors_with_gradients_are_scores():
    torch = pytest.importorskip("torch")
    batch = torch.tensor(LABEL), torch.tensor(SCORE, requires_grad=True)
    assert te.evaluate_stream([batch], "auc_roc")["auc_roc"] == te.metrics.auc_roc(LABEL, SCORE)


DAYS = np.datetime64("2026-01-01") + np.array([0, 1, 2, 3] * 2)
CLOCKS = {
    "timestamp": DAYS,
    "time": np.array([0, 1, 2, 3] * 2),
    "when": DAYS.astype("M8[s]"),
    "index": np.arange(8)[::-1].copy(),
}


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", CLOCKS)
def test_series_one_after_the_other_are_told_by_their_times(tmp_path, name, n_jobs):
    path = write_parquet(tmp_path / "a.parquet", **{name: CLOCKS[name]})
    message = rf"column '{name}',? repeat or go back.*by=\['series'\].*one_series=True"
    with pytest.raises(InvalidInputError, match=message):
        te.evaluate_stream(path, "auc_roc", n_jobs=n_jobs)
    assert te.evaluate_stream(path, "auc_roc", one_series=True, n_jobs=n_jobs)["auc_roc"] > 0.7


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_times_that_increase_in_each_series_are_none_of_several(tmp_path, n_jobs):
    who = np.array(["a", "b"] * 4)
    path = write_parquet(tmp_path / "a.parquet", timestamp=np.arange(8) // 2, who=who)
    assert len(te.evaluate_stream(path, "auc_roc", by="who", n_jobs=n_jobs).rows) == 2
    path = write_parquet(tmp_path / "b.parquet", timestamp=np.arange(8))
    te.evaluate_stream(path, "auc_roc", n_jobs=n_jobs)


def test_a_clock_that_was_set_back_once_is_no_other_series():
    n = 1000
    stamps = np.arange(n)
    stamps[500:] -= 5
    table = {"label": np.arange(n) % 7 == 0, "score": np.arange(n) % 5, "time": stamps}
    assert 0 < te.evaluate_stream(te.batches(table, rows=300), "auc_roc")["auc_roc"] < 1
    day = {"label": LABEL, "score": SCORE, "date": np.arange(8) // 4, "time": np.arange(8) % 4}
    te.evaluate_stream(day, "auc_roc")  # together they increase


def test_a_folder_with_tsv_in_its_name_says_nothing_about_the_file(tmp_path):
    folder = tmp_path / "x.tsv.files"
    folder.mkdir()
    (folder / "a.csv").write_text("label,score\n0,0.1\n1,0.9\n")
    assert te.evaluate_stream(folder / "a.csv", "auc_roc")["auc_roc"] == 1.0


def test_options_are_checked_where_they_do_not_matter():
    with pytest.raises(InvalidParameterError, match="order must be one of 'sort', 'bins', but is 'disk'"):
        te.evaluate_stream([(LABEL, SCORE)], "f1", threshold=0.5, order="disk")
    with pytest.raises(InvalidParameterError, match="n_jobs must be an integer other than 0"):
        te.evaluate_stream({"label": LABEL, "score": SCORE}, n_jobs=0)
    with pytest.raises(InvalidParameterError, match="rows must be an integer >= 1"):
        te.batches({"label": LABEL, "score": SCORE}, rows=-1)


def test_states_are_not_shared_and_no_points_count_twice():
    one = Stream(["f1", "event_f1"], threshold=0.5).update(LABEL, SCORE)
    before = dict(one.result())
    copy.copy(one).update(1 - LABEL, SCORE)
    assert dict(one.result()) == before
    with pytest.raises(InvalidInputError, match="cannot be merged with itself"):
        one.merge(one)


def test_the_default_metrics_are_those_of_every_door():
    """What a stream cannot give of a set is a row that says so; what was named by itself is refused."""
    y, s = np.tile(LABEL, 9), np.tile(SCORE, 9)
    with pytest.warns(UndefinedMetricWarning) as said:
        found = te.evaluate_stream([(y, s)])
    ears, ranks, others = (str(warning.message) for warning in said)  # once for each reason
    assert "normalize='robust' needs all scores at once" in ranks
    assert ears.startswith("ears is undefined, so NaN: it needs all points at once")
    assert others.startswith("event_f1, f1, detection_delay, false_alarms are undefined, so NaN: it takes alarms: pass")
    with pytest.warns(UndefinedMetricWarning, match="ears is undefined, so NaN: it needs all points|normalize="):
        judged = te.evaluate_stream([(y, s)], threshold=0.5)
    batch = te.evaluate(y, s, threshold=0.5)
    whole = {"ears", "cce(normalize='robust')"}
    assert list(found) == list(judged) == list(batch)
    assert {name: value for name, value in judged.items() if name not in whole} == pytest.approx(
        {name: value for name, value in batch.items() if name not in whole}
    )
    defined = [row["metric"] for row in found.rows if row["status"] == "ok"]
    assert defined == ["vus_pr"]
    assert {row["reason"] for row in found.rows} == {None, "not in a stream"}
    assert all(row["rule"] is None for row in found.rows)
    message = "f1: it takes alarms: pass threshold=.*; ears, pate: it needs all points at once.*; these can be streamed"
    with pytest.raises(InvalidParameterError, match=message):
        te.evaluate_stream([(y, s)], ["f1", "ears", "pate"])
    with pytest.raises(InvalidParameterError, match="ears: it needs all points at once"):
        te.evaluate_stream([(y, s)], "recommended,ears", threshold=0.5)
