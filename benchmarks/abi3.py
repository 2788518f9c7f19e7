"""What Python's limited API (one abi3 wheel for all versions) costs the kernels, as ratios of CPU time.

    python benchmarks/abi3.py

Builds the kernels twice from the same sources, as `setup.py` does and with `TSADEVAL_LIMITED_API=1`, into a temporary
folder. Processes take turns, twelve rounds, and the best round of each metric counts; the usual build runs twice, so
that the noise is seen. Needs Python 3.11 or later: the buffers of typed memoryviews came to the limited API with it.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = (1_000, 100_000)
ROUNDS = 12

# Run in a process of its own: CPU seconds of one call of each metric, the best of a few.
TIMER = """
import json, sys, time
import numpy as np
import tsadeval as te
from tsadeval.core.metric import METRICS
assert ("abi3" in sys.modules["tsadeval.core._scan"].__file__) == (sys.argv[1] == "limited")
found = {}
for size in map(int, sys.argv[2:]):
    rng = np.random.default_rng(0)
    y = np.zeros(size, int)
    for start in rng.integers(0, size - 20, max(2, size // 1000)):
        y[start : start + 20] = 1
    s = rng.random(size) + 0.5 * y
    p = (s > np.quantile(s, 0.95)).astype(int)
    for name, metric in METRICS.items():
        other = s if metric.kind == "scores" else p
        best, spent, calls = float("inf"), 0.0, 0
        while calls < 3 or (spent < 0.02 and calls < 200):
            start = time.process_time_ns()
            metric(y, other)
            took = (time.process_time_ns() - start) / 1e9
            best, spent, calls = min(best, took), spent + took, calls + 1
        found[f"{name} {size}"] = best
print(json.dumps(found))
"""


def build(folder: Path, *, limited: bool) -> Path:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    env = {**os.environ, "TSADEVAL_LIMITED_API": "1" if limited else ""}
    subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    return folder / "src"


def timed(source: Path, kind: str) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", "-c", TIMER, kind, *map(str, SIZES)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for kind in ("usual", "limited"):
            (Path(folder) / kind).mkdir()
            sources[kind] = build(Path(folder) / kind, limited=kind == "limited")
        sources["again"] = sources["usual"]
        best: dict[str, dict[str, float]] = {kind: {} for kind in sources}
        for turn in range(ROUNDS):
            for kind in sorted(sources, reverse=bool(turn % 2)):
                for name, seconds in timed(sources[kind], kind).items():
                    best[kind][name] = min(best[kind].get(name, math.inf), seconds)
    for size in SIZES:
        names = [name for name in best["usual"] if name.endswith(f" {size}")]
        for kind in ("again", "limited"):
            ratios = {name.split()[0]: best[kind][name] / best["usual"][name] for name in names}
            most = ", ".join(f"{name} {ratios[name]:.2f}" for name in sorted(ratios, key=ratios.get, reverse=True)[:8])
            print(f"{size:,} points, {kind} over usual: median {statistics.median(ratios.values()):.3f}; most: {most}")


if __name__ == "__main__":
    main()
