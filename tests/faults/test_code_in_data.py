"""Reading data never imports code, and what a text names is called only if it is what it must be."""

import json
import sys

import numpy as np
import pytest

import tsadeval as te
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.leaderboard.site import build_site

Y = np.tile([0, 0, 0, 1, 1], 20)
S = np.linspace(0, 1, 100)


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Give the module `evilmod`, which leaves a file behind when it is imported, and the path of that file."""
    (tmp_path / "evilmod.py").write_text(
        "from pathlib import Path\n"
        "Path(__file__).with_name('touched').touch()\n"
        "def task(random):\n"
        "    labels = [0, 1] * 50\n"
        "    return labels, [labels[::-1], labels]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path / "touched"
    sys.modules.pop("evilmod", None)


@pytest.mark.parametrize("rule", ["os:system('touch touched')", "sustained(os:system('touch touched'), 3)"])
def test_what_is_no_rule_is_not_called(rule, evil):
    with pytest.raises(InvalidParameterError, match="must be a class with a method decide"):
        te.evaluate(Y, S, "f1", threshold=rule)
    assert not evil.exists()


def test_what_is_no_detector_is_not_called(evil, tmp_path):
    (tmp_path / "mine.csv").write_text("value,label\n1,0\n2,1\n1,0\n")
    with pytest.raises(InvalidParameterError, match="must be a class with a method fit or"):
        te.detect("mine.csv", "subprocess:Popen('touch touched', shell=True)")
    assert not evil.exists()


@pytest.mark.parametrize("line", ['threshold = "evilmod:rule(1)"', 'metrics = ["f1", "evilmod:metric"]'])
def test_a_board_names_no_code(line, evil, tmp_path):
    labels = tmp_path / "board" / "labels" / "g"
    labels.mkdir(parents=True)
    np.savez(labels / "s.npz", label=Y)
    (tmp_path / "board" / "board.toml").write_text(line)
    with pytest.raises(InvalidInputError, match="names code"):
        build_site(tmp_path / "board", tmp_path / "site")
    assert not evil.exists()


def test_a_store_with_a_task_of_a_user_is_read_without_its_module(evil, tmp_path):
    first = te.rankeval.run("hard", "auc_roc", tasks="evilmod:task", repeats=2, store=tmp_path / "store")
    evil.unlink()
    sys.modules.pop("evilmod")
    kept = te.rankeval.read(tmp_path / "store")
    assert str(kept.table) == str(first.table)
    assert not evil.exists()
    assert "evilmod" not in sys.modules


def test_a_store_whose_rule_names_code_is_read_without_it(evil, tmp_path):
    te.rankeval.audit([("s", "d", Y, S)], "f1", store=tmp_path / "store")
    changed = 0
    for path in (tmp_path / "store").rglob("*.json"):
        record = json.loads(path.read_text())
        if isinstance(record, dict) and "rule" in record:
            path.write_text(json.dumps({**record, "rule": "evilmod:Rule(1)"}))
            changed += 1
    assert changed
    te.rankeval.read(tmp_path / "store")
    assert not evil.exists()
