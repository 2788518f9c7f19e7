"""Readers of users' files on arbitrary and on damaged content: a table or one clear line, nothing else.

The number of examples grows with TSADEVAL_EXAMPLES, as in all tests with random examples.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damaging import SEEDS, damaged, use
from data_files import write
from strategies import examples


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tsadeval.tables.text_files._BLOCK", 100)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", SEEDS)
@examples(100)
@given(st.data())
def test_damaged_files(folder, name, data):
    use(write(folder / name, data.draw(damaged(SEEDS[name]))))


@pytest.mark.parametrize("name", SEEDS)
@examples(30)
@given(st.binary(max_size=300))
def test_arbitrary_bytes(folder, name, content):
    use(write(folder / name, content))
    start = SEEDS[name][0][:8]
    use(write(folder / name, start + content))


@pytest.mark.parametrize("name", SEEDS)
def test_files_cut_off_anywhere(folder, name):
    """Binary files are refused at every length; text may break off between two rows."""
    for seed in SEEDS[name]:
        for n in range(0, len(seed), max(1, len(seed) // 100)):
            problems = use(write(folder / name, seed[:n]))
            assert problems or name in ("a.csv", "a.tsv", "a.jsonl")


@examples(100)
@given(st.text(alphabet='ab1,."\n\r\t \u2028é', max_size=60))
def test_text(folder, content):
    use(write(folder / "a.csv", content))
    use(write(folder / "a.jsonl", content))
