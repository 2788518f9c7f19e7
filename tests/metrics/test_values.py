"""No metric changes its value by accident: the golden values of this version."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from tsadeval.core.metric import METRICS

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("make_values", ROOT / "tests" / "golden" / "make_values.py")
golden = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(golden)
STORED = golden.read()


def test_every_metric_and_variant_has_its_values():
    assert sorted(STORED) == sorted(golden.texts()), "run: python tests/golden/make_values.py"


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_values_are_those_of_the_file(metric):
    names = [text for text in STORED if text.partition("(")[0] == metric]
    assert names
    for text in names:
        found = golden.values(text)
        assert found.keys() == STORED[text].keys(), "run: python tests/golden/make_values.py"
        changed = {case: (old, found[case]) for case, old in STORED[text].items() if not golden.same(old, found[case])}
        assert not changed, f"{text}: a changed value is a decision, see tests/golden/make_values.py"


def test_the_inputs_are_the_same_for_ever():
    y, s, p = golden.inputs("noisy")
    assert (int(y.sum()), float(s.sum()), int(p.sum())) == (104, 180.7119903564453, 121)


def test_a_changed_value_must_be_accepted_by_name(tmp_path, monkeypatch):
    path = tmp_path / "values.json"
    monkeypatch.setattr(golden, "PATH", path)
    monkeypatch.setattr(golden, "texts", lambda: ["f1", "recall"])
    golden.write()
    stored = json.loads(path.read_text())
    for case in ("noisy", "noisy, best"):
        stored["f1"][case] += 1e-6
        stored["f1"]["version"] = "r1"
        path.write_text(json.dumps(stored))
        with pytest.raises(SystemExit, match=rf"f1 on '{case}' was .* raise the version of the metric, .* from 'r1'"):
            golden.write(frozenset({"f1"}))
        stored["f1"]["version"] = "r0"
        path.write_text(json.dumps(stored))
        with pytest.raises(SystemExit, match=rf"f1 on '{case}' was .* --accept \"f1\""):
            golden.write()
        golden.write(frozenset({"f1"}))
        stored = json.loads(path.read_text())
        assert stored["f1"] == golden.values("f1")


def test_values_that_differ_between_versions_are_in_the_changelog():
    """Every value that an older file has otherwise is named under Values in a later section of CHANGELOG.md."""
    files = sorted(golden.FOLDER.glob("values-*.json"), key=lambda p: [int(n) for n in re.findall(r"\d+", p.stem)])
    assert files[-1] == golden.PATH
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    said = "\n".join(re.findall(r"^### Values\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    for older in files[:-1]:
        for metric, old in json.loads(older.read_text(encoding="utf-8")).items():
            new = STORED.get(metric, {})
            if golden.changed(old, new):
                assert f"`{metric.partition('(')[0]}" in said, f"{metric} differs from {older.stem}"
