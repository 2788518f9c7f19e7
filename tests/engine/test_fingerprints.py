"""Keys of user code: any change that can change a value gives another key, and nothing else does."""

import functools
import hashlib
import importlib
import os
import subprocess
import sys
from dataclasses import replace

import pytest

import tsadeval as te
from detecting import write_series
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.core.names import import_object
from tsadeval.detectors import DETECTORS
from tsadeval.engine import fingerprints
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidParameterError
from tsadeval.experiments.specs import DetectorSpec

MODULE = """
import functools
import numpy as np
import {helper}

LIMIT = 1.0

def helper(x):
    return x * 2

def outer(factor):
    def inner(y_true, y_score):
        return factor * y_score[y_true == 1].mean()
    return inner

def metric(y_true, y_score, scale=1.0):
    return scale * helper(LIMIT) * {helper}.shift(y_score).mean()

def chosen(y_true, y_score):
    return globals()["hel" + "per"](1.0)

def late(y_true, y_score):
    import {helper}
    return {helper}.shift(1.0)

class Base:
    def fit(self, X):
        return self

class Detector(Base):
    sign = 1.0

    def __init__(self, config=None):
        self.config = config

    def score(self, X):
        return self.sign * helper(np.abs(X).sum(axis=1))

class Callable:
    def __init__(self, power):
        self.power = power

    def __call__(self, y_true, y_score):
        return (y_score**self.power).mean()
"""
HELPER = "def shift(x):\n    return x + 1\n"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a module and its helper, with replacements, and import both anew: what a new process would see."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = ["identity_module", "identity_helper"]

    def fresh(*changes, helper=HELPER):
        text = MODULE.format(helper=names[1])
        for old, new in changes:
            assert text.count(old) >= 1, old
            text = text.replace(old, new, 1)
        (tmp_path / f"{names[0]}.py").write_text(text)
        (tmp_path / f"{names[1]}.py").write_text(helper)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(names[0])

    yield fresh
    for name in names:
        sys.modules.pop(name, None)


EDITS = {
    "class attribute": ("sign = 1.0", "sign = -1.0"),
    "helper": ("return x * 2", "return x * 3"),
    "constant": ("LIMIT = 1.0", "LIMIT = 2.0"),
    "default": ("scale=1.0", "scale=0.5"),
    "base": ("        return self\n\nclass Detector", "        self.fitted = 1\n        return self\n\nclass Detector"),
    "method": (".sum(axis=1)", ".max(axis=1)"),
    "call": ("**self.power", "**-self.power"),
}
THINGS = {
    "metric": lambda m: m.metric,
    "looked up": lambda m: m.chosen,
    "closure": lambda m: m.outer(2.0),
    "partial": lambda m: functools.partial(m.metric, scale=3.0),
    "callable": lambda m: m.Callable(2),
    "bound": lambda m: m.Callable(2).__call__,
    "detector": lambda m: m.Detector(),
    "late import": lambda m: m.late,
}


@pytest.mark.parametrize("thing", THINGS)
def test_an_edit_of_the_module_or_of_what_it_imports_is_another_key(load, thing):
    make = THINGS[thing]
    before = fingerprint(make(load()))
    assert fingerprint(make(load())) == before
    for edit in EDITS.values():
        assert fingerprint(make(load(edit))) != before
    assert fingerprint(make(load(helper=HELPER.replace("+ 1", "+ 2")))) != before
    assert fingerprint(make(load())) == before


def test_live_code_counts_where_the_file_was_edited_after_it_was_loaded(load, tmp_path):
    """A long session: the module is still the old one, so its values must not be filed under the new text."""
    old = load()
    edited = load(EDITS["helper"], EDITS["constant"])
    for thing in ("metric", "detector", "callable"):
        stale = fingerprint(THINGS[thing](old)), fingerprint(THINGS[thing](edited))
        assert stale[0] != stale[1] or thing == "callable"  # whose own code is the same
    edited.LIMIT = 7.0
    changed = fingerprint(edited.metric)
    edited.LIMIT = 2.0
    assert changed != fingerprint(edited.metric)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package of the same version, from a folder, from an index, or with another text."""
    monkeypatch.syspath_prepend(tmp_path)
    roots = (*fingerprints._roots(), f"{os.path.realpath(tmp_path)}/")
    monkeypatch.setattr(fingerprints, "_roots", lambda: roots)
    about = tmp_path / "identity_package-1.0.dist-info"
    about.mkdir()

    def install(text, *, url=True):
        (tmp_path / "identity_package.py").write_text(text)
        (about / "METADATA").write_text("Name: identity-package\nVersion: 1.0\n")
        (about / "top_level.txt").write_text("identity_package\n")
        (about / "RECORD").write_text(f"identity_package.py,sha256={hashlib.sha256(text.encode()).hexdigest()},\n")
        (about / "direct_url.json").unlink(missing_ok=True)
        if url:
            (about / "direct_url.json").write_text('{"url": "file:///identity", "dir_info": {}}')
        fingerprints._version.cache_clear()
        importlib.invalidate_caches()
        sys.modules.pop("identity_package", None)
        return importlib.import_module("identity_package")

    yield install
    sys.modules.pop("identity_package", None)
    fingerprints._version.cache_clear()


def test_a_package_that_was_installed_again_from_a_folder_is_another_key(package):
    text = "def metric(y_true, y_score):\n    return 1.0\n"
    first = fingerprint(package(text).metric)
    assert fingerprint(package(text).metric) == first
    assert fingerprint(package(text.replace("1.0", "2.0")).metric) != first
    # A version of an index is that version, and its key is what it was.
    of_index = fingerprint(package(text, url=False).metric)
    assert of_index == fingerprint(package(text.replace("1.0", "2.0"), url=False).metric)


def test_what_is_set_in_an_installed_module_counts(package):
    identity_package = package("LIMIT = 1.0\nOTHER = 2.0\ndef helper(x):\n    return x\n", url=False)

    space = {"used": identity_package, "__name__": "__main__"}
    exec("def metric(y_true, y_score):\n    return used.helper(y_score[0] * used.LIMIT)\n", space)
    metric = space["metric"]
    plain = fingerprint(metric)
    identity_package.OTHER = 3.0
    assert fingerprint(metric) == plain
    identity_package.LIMIT = 3.0
    changed = fingerprint(metric)
    assert changed != plain
    identity_package.LIMIT = 1.0
    assert fingerprint(metric) == plain
    identity_package.helper = lambda x: -x
    assert fingerprint(metric) not in (plain, changed)


@pytest.mark.slow
def test_keys_are_the_same_in_every_process(tmp_path):
    code = """
import sys, numpy as np, functools
sys.path.insert(0, sys.argv[1])
from tsadeval.engine.fingerprints import fingerprint
from identity_other import Detector, metric
held = {"b": {"x", "y", "z"}, "a": np.arange(3)}
things = [Detector(held), metric, functools.partial(metric, scale=2), {"a", "b", "c"}]
print([fingerprint(thing) for thing in things])
"""
    (tmp_path / "identity_other.py").write_text(MODULE.format(helper="identity_aid"))
    (tmp_path / "identity_aid.py").write_text(HELPER)
    said = {
        subprocess.run(
            [sys.executable, "-c", code, tmp_path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "unkeyed" not in said.pop()


@pytest.mark.slow
def test_other_lines_of_a_script_do_not_matter_but_what_the_code_uses_does(tmp_path):
    script = tmp_path / "script.py"

    def key(constant, elsewhere):
        script.write_text(f"""
from tsadeval.engine.fingerprints import fingerprint
LIMIT = {constant}
def aid(x):
    return x * LIMIT
def metric(y_true, y_score):
    return [aid(1) for _ in range(2)][0]
OTHER = {elsewhere}
print(fingerprint(metric))
""")
        return subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout

    first = key(1, 1)
    assert key(1, 2) == first
    assert key(2, 1) != first


def test_an_edited_module_is_computed_anew(tmp_path, load, monkeypatch):
    series = write_series(tmp_path, "a", 0)
    store = tmp_path / "store"
    first = te.detect(series, "identity_module:Detector", "auc_roc", store=store) if load() else None
    load(EDITS["class attribute"])
    second = te.detect(series, "identity_module:Detector", "auc_roc", store=store)
    assert second.to_frame()["value"][0] == pytest.approx(1 - first.to_frame()["value"][0])


def test_a_revision_is_part_of_the_key(tmp_path, monkeypatch):
    assert parse_metric("cce(tau=0.4)").version == "r1"
    some = {"cases": ["10k-20seg-50H"], "tasks": ["AccQ"], "store": tmp_path}
    told = []
    before = te.rankeval.run("quick", "cce", **some).to_frame()
    later = [(METRICS, "cce", {"version": "r2"}), (te.rankeval.series.GENERATORS, "AccQ", {"revision": 2})]
    for owner, name, change in later:
        told.clear()
        monkeypatch.setitem(owner._records, name, replace(owner[name], **change))
        te.rankeval.run("quick", "cce", progress=lambda *now: told.append(now), **some)
        assert told[0] == (0, len(before))  # nothing of the old revision is reused
    later = replace(DETECTORS["lof"], revision=2)
    monkeypatch.setitem(DETECTORS._records, "lof", later)
    spec = DetectorSpec.of("lof(window=50)")
    assert spec.text == "lof(window=50)@r2"
    assert spec.make().window == 50


def test_values_of_an_older_revision_are_computed_anew(tmp_path, monkeypatch):
    changed = ["event_f1(variant='discounted')", "affiliation_recall", "range_recall", "expected_cost"]
    assert {parse_metric(text).version for text in changed} == {"r2"}
    (tmp_path / "a.csv").write_text("label,score\n0,0.1\n1,0.9\n0,0.3\n")
    told = []
    options = {"store": tmp_path / "store", "progress": lambda *now: told.append(now)}
    with monkeypatch.context() as old:
        for text in changed:
            name = text.partition("(")[0]
            old.setitem(METRICS._records, name, replace(METRICS[name], version="r1"))
        te.score_files(tmp_path / "a.csv", [*changed, "f1"], **options)
    told.clear()
    te.score_files(tmp_path / "a.csv", [*changed, "f1"], **options)
    assert told[0] == (1, 5)  # only f1 is still what it was


def test_a_stray_file_in_the_current_folder_does_not_replace_a_package(tmp_path, monkeypatch):
    for name in ("json", "identity_here"):
        (tmp_path / f"{name}.py").write_text("def metric(y_true, y_score):\n    return 1.0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    assert import_object("identity_here:metric", "metric")(0, 0) == 1.0
    assert sys.path[-1] == str(tmp_path)
    sys.modules.pop("identity_here")
    with pytest.raises(InvalidParameterError, match="module 'json' has no 'metric'"):
        import_object("json:metric", "metric")


@pytest.mark.slow
def test_a_stray_file_does_not_replace_a_package_of_the_module_as_a_command(tmp_path):
    (tmp_path / "sklearn.py").write_text("open('executed', 'w').close()\n")
    write_series(tmp_path, "a", 0)
    command = [sys.executable, "-m", "tsadeval", "detect", "a.csv", "--detectors", "moving_variance", "--metrics", "f1"]
    done = subprocess.run([*command, "--store", "store"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "executed").exists()


def test_a_module_that_raises_is_named(tmp_path, monkeypatch):
    (tmp_path / "identity_broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"'identity_broken' of metric .* raised ZeroDivisionError"):
        import_object("identity_broken:metric", "metric")
