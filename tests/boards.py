"""Small boards for the tests of leaderboards."""

import numpy as np

NASTY = "<script>alert(1)</script>"
DETECTORS = {"good": 2.5, NASTY: 1.0, "poor": 0.1}
METRICS = ["auc_roc", "f1", "vus_pr", "detection_delay"]


def write(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


def labels(seed, n=400):
    y = np.zeros(n, np.uint8)
    y[50 : 52 + 8 * seed] = y[300:303] = 1
    return y


def submission(board, key, name=None, skill=1.0, series=("a/0", "a/1", "b/0", "b & <i>"), seed=0):
    folder = board / "submissions" / key
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "about.toml").write_text(
        f'name = """{name or key}"""\nauthor = "somebody"\ntraining = "none"\npaper = "https://example.org/p"\n',
        encoding="utf-8",
    )
    for i, one in enumerate(series):
        y = labels(i)
        scores = np.random.default_rng([seed, i]).normal(size=len(y)) + skill * y
        write(folder / "scores" / f"{one}.npz", score=scores)
    return folder


def make(folder, metrics=METRICS):
    for i, series in enumerate(("a/0", "a/1", "b/0", "b & <i>")):
        y = labels(i)
        write(folder / "labels" / f"{series}.npz", label=y, value=np.sin(np.arange(len(y)) / 9) + y)
    for i, (name, skill) in enumerate(DETECTORS.items()):
        submission(folder, f"d{i}", name, skill, seed=i)
    (folder / "board.toml").write_text(f'title = "A & B"\nmetrics = {metrics!r}\n', encoding="utf-8")
    return folder
