"""What type checkers and editors see: the stub of the metrics, and a user's script under pyright's strict rules."""

import ast
import importlib.util
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "typing" / "user_script.py"

# Each of these must be an error for the checker.
MISTAKES = """\
te.evalute(y, s)
te.metrics.auc_rok(y, s)
te.metrics.f1(y, s, 2.0)
te.metrics.vus_pr(y, s, windw=10)
te.metrics.vus_pr(y, s, window=1.5)
te.metrics.f1_pa_k(y, s, k="high")
te.metrics.cce(y, s, normalize="ranks")
te.metrics.point(y, s).f2
te.cce(y)
te.detectors.Detectr
te.rankeval.runs("quick")
from tsadeval.metrics import auc_rok
""".splitlines()


def test_the_stub_is_the_registry():
    spec = importlib.util.spec_from_file_location("make_stubs", ROOT / "docs" / "make_stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.STUB.read_text(encoding="utf-8") == module.stub(), "run: make generated"


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What pyright has to say about the script, with the type of every variable asked for, and about the mistakes."""
    folder = tmp_path_factory.mktemp("typing")
    text = SCRIPT.read_text(encoding="utf-8")
    names = dict.fromkeys(
        n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and type(n.ctx) is ast.Store
    )
    asked = text + "".join(f"reveal_type({name})\n" for name in names)
    (folder / "script.py").write_text(asked, encoding="utf-8")
    head = ["import tsadeval as te", "y = [0, 1, 0]", "s = [0.1, 0.9, 0.2]"]
    (folder / "mistakes.py").write_text("\n".join([*head, *MISTAKES]), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "script.py",
        "mistakes.py",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    by_file = {name: [r for r in found if Path(r["file"]).name == name] for name in ("script.py", "mistakes.py")}
    assert len(by_file["script.py"]) >= len(names), done.stdout + done.stderr
    return {**by_file, "head": len(head)}


@pytest.mark.slow
def test_a_users_script_is_fully_typed(reports):
    assert SCRIPT.read_text(encoding="utf-8").startswith("# pyright: strict\n")
    types = [r["message"] for r in reports["script.py"] if r["severity"] == "information"]
    # How many dimensions an array has is the one thing that NumPy's own types leave open.
    unclear = [t for t in types if "Unknown" in t or "Any" in t.replace("tuple[Any, ...]", "")]
    assert not unclear
    others = [r["message"] for r in reports["script.py"] if r["severity"] != "information"]
    assert not others


@pytest.mark.slow
def test_mistakes_are_seen(reports):
    lines = {r["range"]["start"]["line"] for r in reports["mistakes.py"] if r["severity"] == "error"}
    missed = [text for number, text in enumerate(MISTAKES, reports["head"]) if number not in lines]
    assert not missed


@pytest.mark.slow
def test_the_script_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it writes
    assert runpy.run_path(str(SCRIPT))["value"] > 0


def test_an_error_that_is_ignored_has_its_reason_beside_it():
    bare = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "# type: ignore" in line and not re.search(r"# type: ignore\[[\w, -]+\]  # \S", line)
    ]
    assert not bare
