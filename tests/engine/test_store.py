"""The store: which cells are missing, which row of a cell counts, merged parts, damaged parts."""

import os
import shutil
import subprocess
import sys
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storing import LAYOUT, Cell, draws, row
from strategies import FACTOR
from tsadeval.engine import store as module
from tsadeval.engine.cells import Layout
from tsadeval.engine.parts import Index, Keys
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, StoreError
from tsadeval.tables.files import write_whole

NEW = ("seconds", "versions")  # columns that an earlier version did not write


def missing(store, plan):
    return list(compress(plan, store.missing(plan)))


def parts(folder):
    return sorted((folder / "parts").glob("*.parquet"))


def test_a_cell_holds_texts_and_numbers_only():
    class Flagged(NamedTuple):
        name: str
        kept: bool

    with pytest.raises(TypeError, match=r"Flagged\.kept is bool: a field of a cell is str, int or float"):
        Layout.of(Flagged, "tsadeval score")
    assert Layout.of(Flagged, "tsadeval score", kept="bool_").columns["kept"] == "bool_"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("inside", [True, False])
def test_missing_cells_and_best_rows_are_those_of_a_plain_dictionary(tmp_path, seed, inside):
    rows, plan = draws(seed)
    store = Store(tmp_path if inside else None, LAYOUT)
    for i in range(0, len(rows), 7):
        store.add(rows[i : i + 7])
    best = {}
    for one in rows:  # the first value counts; without one, the last error
        cell = Cell(*(one[name] for name in Cell._fields))
        if cell not in best or best[cell]["status"] == "error":
            best[cell] = one
    wanted = [cell for cell in plan if cell not in best or best[cell]["status"] == "error"]
    assert missing(store, plan) == wanted
    assert missing(store, tuple(plan)) == wanted
    assert store.missing(iter(plan)) == store.missing(plan)
    frame = store.frame(iter(plan))
    assert frame["value"].tolist() == [best[cell]["value"] for cell in plan if cell in best]
    assert frame["message"].tolist() == [best[cell]["message"] for cell in plan if cell in best]


def test_batches_of_a_long_plan(tmp_path, monkeypatch):
    rows, plan = draws(1)
    store = Store(None, LAYOUT)
    store.add(rows)
    whole = store.missing(plan), store.frame(plan)
    monkeypatch.setattr(module, "_BATCH", 7)
    assert store.missing(plan) == whole[0]
    assert store.frame(plan).equals(whole[1])


def test_an_empty_store(tmp_path):
    plan = [Cell("a", None, 0, None)]
    for store in (Store(tmp_path, LAYOUT), Store(None, LAYOUT)):
        assert missing(store, plan) == plan
        assert store.missing([]) == b""
        assert store.frame(plan).empty
        assert list(store.frame([]).columns) == list(LAYOUT.columns)
        store.add([])
    assert parts(tmp_path) == []


@pytest.mark.slow
def test_small_parts_are_merged_and_nothing_changes(tmp_path, monkeypatch):
    rows, plan = draws(2)
    plain = Store(tmp_path / "plain", LAYOUT)
    for one in rows[:50]:
        plain.add([one])
    assert len(parts(tmp_path / "plain")) == 50
    monkeypatch.setattr(module, "_MANY", 16)
    merged = Store(tmp_path / "merged", LAYOUT)
    for one in rows[:50]:
        merged.add([one])
    assert len(parts(tmp_path / "merged")) == 50 // 16 + 50 % 16
    assert merged.frame(plan).equals(plain.frame(plan))
    before = plain.frame(plan)
    plain.compact()
    assert len(parts(tmp_path / "plain")) == 1
    assert plain.frame(plan).equals(before)
    assert Store(tmp_path / "plain", LAYOUT).missing(plan) == merged.missing(plan)
    plain.compact()
    assert len(parts(tmp_path / "plain")) == 1


def test_a_part_with_columns_of_another_version_and_a_large_one_are_not_merged(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 4)
    store = Store(tmp_path, LAYOUT)
    for i in range(3):
        store.add([row(Cell("a", None, i, None), 1.0)])
    table = pq.read_table(parts(tmp_path)[0])
    pq.write_table(table.append_column("more", pa.array(["x"])), tmp_path / "parts" / "other.parquet")
    monkeypatch.setattr(module, "_LARGE", 5)
    big = [row(Cell("b", None, i, None), 1.0) for i in range(6)]
    Store(tmp_path, LAYOUT).add(big)
    store.compact()
    left = parts(tmp_path)
    assert len(left) == 3
    assert tmp_path / "parts" / "other.parquet" in left


def test_a_flipped_bit_never_changes_a_value(tmp_path):
    """Every flip is refused with one clear line, wherever it is: the checksums of Parquet are of its pages alone."""
    rows, plan = draws(3, 40)
    store = Store(tmp_path, LAYOUT)
    store.add(rows)
    (part,) = parts(tmp_path)
    good = part.read_bytes()
    rng = np.random.default_rng(0)
    refused = []
    for _ in range(400):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        part.write_bytes(bad)
        with pytest.raises(InvalidInputError) as error:
            Store(tmp_path, LAYOUT).frame(plan)
        refused.append(str(error.value))
    for line in refused:
        assert "\n" not in line
        assert str(part) in line


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "end cut off": lambda content: content[:-1],
    "foreign": lambda content: b"not a Parquet file at all",
    "zeros": lambda content: b"\0" * len(content),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_named_with_what_to_do(tmp_path, damage):
    store = Store(tmp_path, LAYOUT)
    rows, plan = draws(4, 40)
    store.add(rows[:20])
    store.add(rows[20:])
    part = parts(tmp_path)[1]
    part.write_bytes(DAMAGES[damage](part.read_bytes()))
    for call in (store.missing, store.frame):
        with pytest.raises(InvalidInputError, match=r"is damaged, or not a part .*; move it away and run") as said:
            call(plan)
        assert str(part) in str(said.value)
        assert "\n" not in str(said.value)
    part.unlink()
    assert len(store.frame(plan)) > 0


def test_a_column_of_another_type_is_named(tmp_path):
    store = Store(tmp_path, LAYOUT)
    store.add([row(Cell("a", None, 0, None), 1.0)])
    (part,) = parts(tmp_path)
    table = pq.read_table(part)
    part.unlink()
    part = part.with_name("other.parquet")  # without a checksum in its name
    texts = table.set_column(table.schema.get_field_index("value"), "value", pa.array(["1.0"]))
    pq.write_table(texts, part)
    with pytest.raises(InvalidInputError, match=r"column 'value' is string, expected double"):
        store.frame([])
    for required in ("repeat", "status"):
        pq.write_table(table.drop_columns(required), part)
        with pytest.raises(
            InvalidInputError, match=rf"parquet is damaged, or not a part .*it has no column {required}"
        ):
            store.frame([])


def test_a_store_of_a_version_with_fewer_columns_is_read_and_merged_with_nulls(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 31)
    before = Layout(Cell, {name: kind for name, kind in LAYOUT.columns.items() if name not in NEW}, "a test")
    cells = [Cell("a", 0.5, number, None) for number in range(40)]
    old = Store(tmp_path, before)
    for cell in cells[:30]:
        kept = {key: value for key, value in row(cell, 1.0).items() if key in before.columns}
        old.add([kept])
    store = Store(tmp_path, LAYOUT)
    store.add([{**row(cell, 2.0), "seconds": 0.25} for cell in cells[30:]])
    for _ in range(2):
        assert sum(store.missing(cells)) == 0
        frame = store.frame(cells)
        assert frame["value"].tolist() == [1.0] * 30 + [2.0] * 10
        assert frame["seconds"].isna().tolist() == frame["versions"].isna().tolist() == [True] * 30 + [False] * 10
        texts = store.scan(cells, ["versions", "value"], lambda tables: [t for one in tables for t in one["versions"]])
        assert [text.as_py() for text in texts].count(None) == 30
        store.compact()
    assert len(parts(tmp_path)) == 1


def test_a_home_folder_that_no_shell_has_put_in_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match="~nobody/store: write the home folder out"):
        Store("~nobody/store", LAYOUT)
    assert list(tmp_path.iterdir()) == []


def test_a_store_stays_where_it_is_when_the_current_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store("here", LAYOUT)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.add([row(Cell("a", None, 0, None), 1.0)])
    assert len(parts(tmp_path / "here")) == 1


def test_a_write_that_fails_leaves_nothing_behind_and_says_what_is_kept(tmp_path, monkeypatch):
    store = Store(tmp_path, LAYOUT)
    store.add([row(Cell("a", None, 0, None), 1.0)])

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\): all values so far are kept"):
        store.add([row(Cell("a", None, 1, None), 1.0)])
    monkeypatch.undo()
    assert len(list((tmp_path / "parts").iterdir())) == 1
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "nowhere" / "file", b"")


def test_rows_that_are_merged_while_they_are_read_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 4)
    rows, plan = draws(5)
    store, other = Store(tmp_path, LAYOUT), Store(tmp_path, LAYOUT)
    for i in range(3):
        store.add(rows[100 * i : 100 * i + 100])
    expected = store.frame(plan)
    begun = []

    def into(tables):
        begun.append(len(parts(tmp_path)))
        found = [next(tables)]
        if len(begun) == 1:
            other.add(rows[:1])
            other.compact()
        return pa.concat_tables([*found, *tables])

    found = store.scan(plan, ["message", "value"], into)
    assert begun == [3, 1]
    rows = zip(found["message"].to_pylist(), found["value"].to_pylist(), strict=True)
    assert sorted(rows) == sorted(zip(expected["message"], expected["value"], strict=True))


def test_a_store_that_was_deleted_is_said(tmp_path):
    store = Store(tmp_path / "store", LAYOUT)
    rows, plan = draws(6, 20)
    store.add(rows)
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(InvalidInputError, match="store is not there any more"):
        store.frame(plan)


def test_merged_parts_stay_below_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MANY", 1000)
    store = Store(tmp_path, LAYOUT)
    plan = [Cell("a", None, i, None) for i in range(95)]
    for i in range(0, 95, 5):
        store.add([row(cell, 1.0) for cell in plan[i : i + 5]])
    monkeypatch.setattr(module, "_MANY", 2)
    monkeypatch.setattr(module, "_LARGE", 20)
    store.compact()
    assert [pq.read_metadata(path).num_rows for path in parts(tmp_path)] == [20, 20, 20, 20, 15]
    assert store.frame(plan)["repeat"].tolist() == list(range(95))


TEXTS = st.none() | st.sampled_from(["", "None", "nan", "a", "a\0"]) | st.text(max_size=3)
FLOATS = st.none() | st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0])
CELLS = st.builds(Cell, TEXTS, FLOATS, st.integers(-2, 2), st.none() | st.integers(0, 2))


@given(st.lists(CELLS, max_size=12))
def test_keys_are_equal_where_cells_are(cells):
    keys = Keys(LAYOUT)
    found = keys.of_cells(cells)
    schema = pa.schema([(name, getattr(pa, LAYOUT.columns[name])()) for name in Cell._fields])
    table = pa.Table.from_pylist([cell._asdict() for cell in cells], schema=schema)
    assert keys.of_table(table).tobytes() == found.tobytes()
    for i, one in enumerate(cells):
        for k, other in enumerate(cells):
            assert (found[i] == found[k]) == (one == other)


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=30))
def test_an_index_finds_the_first_value_or_the_last_error(rows):
    keys = np.random.default_rng(0).integers(0, 256, (10, 16)).astype(np.uint8)
    keys[:5, -3:] = 0  # numpy's texts end before zeros
    keys[0], keys[1] = 0, 255
    keys = keys.reshape(-1).view("S16")
    code, failed = np.array([k for k, _ in rows], np.int64), np.array([f for _, f in rows], np.bool_)
    places = 7 + np.arange(len(rows))
    half = len(rows) // 2
    index = Index((keys[code[part]], failed[part], places[part]) for part in (slice(half), slice(half, None)))
    best = {}
    for i, (k, one) in enumerate(rows):
        if k not in best or failed[best[k]]:
            best[k] = i
            assert one == failed[i]
    found, no_value = index.find(keys)
    assert found.tolist() == [7 + best[k] if k in best else -1 for k in range(10)]
    assert no_value.tolist() == [k not in best or bool(failed[best[k]]) for k in range(10)]
    assert sorted(index.best().tolist()) == sorted(7 + i for i in best.values())


SHARER = """
import sys, random
sys.path.insert(0, sys.argv[1])
from storing import LAYOUT, Cell, draws, row
from tsadeval.engine import store as module
from tsadeval.engine.store import Store
module._MANY = 8
who = int(sys.argv[3])
store = Store(sys.argv[2], LAYOUT)
for i in range(int(sys.argv[4])):
    store.add([row(Cell(f"{who}", None, i, None), float(i))])
    if i % 10 == 0:
        store.compact()
    if i % 25 == 0:  # a reader sees all that this process has written, whoever is merging now
        assert len(store.frame([Cell(f"{who}", None, k, None) for k in range(i + 1)])) == i + 1
"""


@pytest.mark.slow
def test_processes_that_write_merge_and_read_one_store_lose_nothing(tmp_path):
    count = max(60, round(200 * FACTOR))
    command = [sys.executable, "-c", SHARER, str(Path(__file__).parents[1]), str(tmp_path)]
    running = [
        subprocess.Popen([*command, str(who), str(count)], stderr=subprocess.PIPE, text=True) for who in range(3)
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    store = Store(tmp_path, LAYOUT)
    plan = [Cell(f"{who}", None, i, None) for who in range(3) for i in range(count)]
    frame = store.frame(plan)
    assert frame["value"].tolist() == [float(i) for _ in range(3) for i in range(count)]
    assert store.missing(plan) == bytes(3 * count)
    assert len(parts(tmp_path)) < 60
