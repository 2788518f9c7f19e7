"""Without torch all else works, and a deep detector says what to install. In processes of their own: really without."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name={missing!r})
sys.meta_path.insert(0, Blocked())
"""


def run(code, missing):
    """What a process prints in which a package cannot be found."""
    code = BLOCK.format(missing=missing) + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_torch():
    out = run(
        """
import numpy as np
import tsadeval as te
from tsadeval.errors import MissingExtraError
series = np.sin(np.arange(200.0))
for name, record in te.detectors.DETECTORS.items():
    assert str(te.detectors.parse_detector(name)) == name
    if record.extra == "all":
        assert te.detectors.make(name).fit(series).score(series).shape == (200,)
    if record.extra != "torch":
        continue
    for call in (lambda: te.detectors.make(name), lambda: record.make(window=10).fit(series)):
        try:
            call()
        except MissingExtraError as error:
            print(error)
        else:
            raise AssertionError(name)
""",
        "torch",
    )
    assert set(out.splitlines()) == {"this needs torch, which is not installed: pip install 'tsadeval[torch]'"}


def test_without_scikit_learn():
    out = run(
        """
import tsadeval as te
try:
    te.detectors.make("lof")
except te.errors.MissingExtraError as error:
    print(error)
""",
        "sklearn",
    )
    assert out == "this needs sklearn, which is not installed: pip install 'tsadeval[all]'"


@pytest.mark.parametrize("text", ["lof(window=5)", pytest.param("usad(window=5, epochs=1)", marks=pytest.mark.torch)])
def test_listing_loads_no_torch_and_scoring_no_compiled_code(text):
    """So that scores can be made where there is a GPU but neither our kernels nor the tools for tables."""
    out = run(
        f"text = {text!r}"
        """
# What may be found but not be loaded: torch asks whether there is a pandas.
blocked = ["tsadeval.core._scan", "tsadeval.metrics", "pandas", "pyarrow", "rich"]
sys.modules.update(dict.fromkeys(blocked))
import tsadeval as te
te.detectors
assert "sklearn" not in sys.modules
list(te.detectors.DETECTORS)
assert "torch" not in sys.modules
print(te.detectors.make(text).fit([1.0, 2.0, 4.0] * 5).score([1.0, 2.0] * 5).shape)
""",
        "typer",
    )
    assert out == "(10,)"
