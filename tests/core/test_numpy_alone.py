"""What `pip install tsadeval` brings is enough for the core: in processes that find NumPy and nothing else."""

import re
import subprocess
import sys

import pytest

# Everything but the standard library, NumPy and the package itself is as if it were not installed.
ALONE = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in {"numpy", "tsadeval"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=top)
sys.meta_path.insert(0, Blocked())

import warnings
warnings.simplefilter("error")
import numpy as np
import tsadeval as te
rng = np.random.default_rng(0)
y_true = np.zeros(300, int)
y_true[100:120] = y_true[200:210] = 1
y_score = rng.random(300) + 0.3 * y_true
y_score[95] = 1.2  # a warning
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", ALONE + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


@pytest.mark.slow
def test_every_metric_and_every_way_to_evaluate():
    out = run(
        """
import inspect
public = {name: getattr(te.metrics, name) for name in dir(te.metrics)}
names = {name for name, f in public.items() if list(inspect.signature(f).parameters)[:1] == ["y_true"]}
names -= {"channel_aware"}  # labels of several channels
for name in names:
    getattr(te.metrics, name)(y_true, y_score > 1)  # alarms are scores too
for threshold in ("quantile(0.9)", "best"):
    result = te.evaluate(y_true, y_score, threshold=threshold, baseline=True, draws=3)
    assert {name.partition("(")[0] for name in result} <= names
    repr(result), result.to_latex(), result.to_json()
assert te.best_threshold("f1", y_true, y_score).value == te.evaluate(y_true, y_score, "f1", threshold="best")["f1"]
repr(te.evaluate_many([("a", y_true, y_score), ("b", y_true, -y_score)], ["cce", "f1"]))
repr(te.compare({"one": y_score, "two": -y_score}, y_true, ["cce", "f1"]))
repr(te.cce_breakdown(y_true, y_score))
assert te.StreamingCCE().update(y_true, y_score).compute() == te.cce(y_true, y_score)
print(*sorted({m.partition(".")[0] for m in sys.modules} & {"numpy", "scipy", "pandas", "sklearn"}))
"""
    )
    assert out == ["numpy", ""]


@pytest.mark.slow
def test_what_needs_more_says_so():
    out = run(
        """
from tsadeval.rankeval.quality import ranking_quality
calls = [
    lambda: te.evaluate(y_true, y_score, "cce").to_frame(),
    lambda: te.detectors.make("lof"),
    lambda: ranking_quality(y_score[None, :4], y_score[:4]),
    lambda: te.rankeval.run("quick", "cce", cases=["10k-20seg-50H"], tasks=["AccQ"]),
    lambda: te.plot.series_with_scores((y_score, y_true), {"one": y_score}),
]
for call in calls:
    try:
        call()
    except te.errors.MissingExtraError as error:
        print(error)
"""
    )
    assert len(out) == 6
    for line in out[:-1]:
        assert re.fullmatch(r"this needs \w+, which is not installed: pip install 'tsadeval\[all\]'", line)


def test_modules_of_tensors_are_found_without_the_compiled_kernels(monkeypatch):
    import tsadeval.torch

    monkeypatch.setitem(sys.modules, "tsadeval.core.metric", None)  # which needs them
    with pytest.raises(AttributeError, match="has no '_nothing'"):
        _ = tsadeval.torch._nothing
