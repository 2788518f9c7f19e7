"""Does an installed package work? Needs NumPy and the package, nothing else:  python tests/smoke.py

Imports it, compares every metric with the golden values of the version, and prints where it was imported from. Wheels
are tested with it in an empty environment (`make dist`, cibuildwheel).
"""

import importlib.util
from pathlib import Path

import tsadeval as te


def main() -> None:
    here = Path(__file__).resolve().parent
    # The package of the checkout has its kernels in place: a test of it would say nothing about the wheel.
    assert here.parent / "src" not in Path(te.__file__).resolve().parents, f"not the installed package: {te.__file__}"
    spec = importlib.util.spec_from_file_location("make_values", here / "golden" / "make_values.py")
    golden = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(golden)
    stored = golden.read()
    assert stored.keys() == set(golden.texts())
    wrong = []
    for text, old in stored.items():
        new = golden.values(text)
        if not all(golden.same(value, new[case]) for case, value in old.items()):
            wrong.append(text)
    assert not wrong, f"other values than those of the golden file: {wrong}"
    y_true, y_score, _ = golden.inputs("noisy")
    assert repr(te.evaluate(y_true, y_score))
    assert repr(te.cce_breakdown(y_true, y_score))
    assert te.best_threshold("f1", y_true, y_score).value > 0
    print(f"tsadeval {te.__version__} in {te.__file__}: {len(stored)} metrics and variants give their values")


if __name__ == "__main__":
    main()
