"""Some seconds of what `make fuzz` does for an hour."""

import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import tsadeval as te
from strategies import FACTOR
from tsadeval.errors import InvalidInputError, TsadevalError

sys.path.insert(0, str(Path(__file__).parent))
import fuzz


def test_random_input_gives_a_result_or_one_clear_line():
    seconds = os.environ.get("TSADEVAL_FUZZ_SECONDS", str(max(1.0, 10 * FACTOR)))
    command = [sys.executable, Path(__file__).with_name("fuzz.py"), seconds]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.endswith(" trials, 0 findings\n")


@pytest.mark.parametrize(("name", "seed"), [("datasets", 20275036), ("tables", 20278104)])
def test_what_was_found_once_is_not_found_again(tmp_path, name, seed):
    """Damaged Parquet files whose numbers into a dictionary point outside of it."""
    with suppress(TsadevalError):
        fuzz.TRIALS[name](random.Random(seed), tmp_path)


@pytest.mark.parametrize("suffix", ["arrow", "feather"])
def test_numbers_into_a_dictionary_that_point_outside_of_it(tmp_path, suffix):
    outside = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array([0.5, 1.0]), safe=False)
    path = tmp_path / f"a.{suffix}"
    with pa.ipc.new_file(path, pa.schema([("label", pa.int8()), ("score", outside.type)])) as file:
        file.write_batch(pa.record_batch([pa.array([0, 1], pa.int8()), outside], ["label", "score"]))
    for read in (lambda: te.evaluate_stream(path, "auc_roc"), lambda: te.tables.read_table(path)):
        with pytest.raises(InvalidInputError, match=r"(?i)dictionary ind"):
            read()
