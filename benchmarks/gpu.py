"""Tensor metrics and training on a GPU, beside a plain copy, our CPU kernels on all cores, and training without graphs.

    python benchmarks/gpu.py            on a machine with a GPU (about three minutes); --quick tries it anywhere
    python benchmarks/gpu.py --prepare  first, where kernels are built: collects their C sources in build/gpu-kernels,
                                        so that a machine without Cython can compile them (needs a C compiler); copy
                                        that folder there with the rest of the repository

Every number is the median of several runs after a warm-up, timed on the device. What a machine lacks (a GPU, Triton, a
C compiler) is said and left out. The package need not be installed: the script finds src/ beside it.
"""

import argparse
import importlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "build" / "gpu-kernels"
sys.path.insert(0, str(ROOT / "src"))

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")


def seconds(function, repeats=5):
    """Median time of a call on the device."""
    function()
    times = []
    for _ in range(repeats):
        if GPU:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            function()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) / 1e3)
        else:
            begin = time.perf_counter()
            function()
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def row(*cells):
    print("  " + "".join(f"{cell:<52}" if i == 0 else f"{cell:>16}" for i, cell in enumerate(cells)), flush=True)


def title(text):
    print(f"\n{text}", flush=True)


def example(rows, points, events, length):
    """Scores and labels with so many events of this length in every row."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    scores = torch.rand((rows, points), generator=generator, device=DEVICE)
    labels = torch.zeros((rows, points), dtype=torch.bool, device=DEVICE)
    starts = torch.randint(0, points - length, (rows, events), generator=generator, device=DEVICE)
    places = (starts[:, :, None] + torch.arange(length, device=DEVICE)).view(rows, -1)
    labels.scatter_(1, places, True)
    return scores, labels


# --- The same values on the GPU as on the CPU


def check(rows, points):
    import tsadeval.torch as tt

    title(f"the same {rows} padded series of up to {points} points on {DEVICE.type} and on the CPU: largest difference")
    scores, labels = (x.cpu() for x in example(rows, points, 6, 9))
    scores[::3] = (4 * scores[::3]).round()  # ties
    lengths = torch.randint(points // 2, points + 1, (rows,), generator=torch.Generator().manual_seed(1))
    short = {"window": 10}, {"early": 10, "delay": 10}
    for name, options in (
        ("auc_roc", {}),
        ("auc_pr", {}),
        ("best_f1", {}),
        ("f1_pa", {}),
        ("affiliation_f1", {}),
        ("cce", {}),
        ("cce", {"normalize": "rank"}),
        ("vus", short[0]),
        ("vus", {**short[0], "n_thresholds": None}),
        ("pate", short[1]),
        ("pate", {**short[1], "n_thresholds": None}),
    ):
        differences = []
        for dtype in (torch.float32, torch.float64):
            pair = scores.to(dtype), labels
            found = getattr(tt, name)(*(x.to(DEVICE) for x in pair), lengths=lengths.to(DEVICE), **options)
            expected = getattr(tt, name)(*pair, lengths=lengths, **options)
            if not torch.equal(found.isnan().cpu(), expected.isnan()):
                differences.append("NaN")
            else:
                differences.append(f"{(found.cpu() - expected).abs().nan_to_num().max():.1e}")
        text = ", ".join(f"{key}={value!r}" for key, value in options.items())
        row(f"{name}({text})", f"f32 {differences[0]}", f"f64 {differences[1]}")


# --- CCE against the bandwidth of the memory


def copy_seconds(scores):
    target = torch.empty_like(scores)
    return seconds(lambda: target.copy_(scores), 20)


def cce(points):
    import tsadeval.torch as tt

    scores, labels = example(1, points, 1000, max(points // 100_000, 1))
    title(f"CCE of one series of {points:,} points, float32 scores and bool labels: {5 * points / 1e9:g} GB to read")
    row("", "ms", "GB/s", "of the copy")
    best = 8 * points / copy_seconds(scores)

    def show(name, bytes_moved, time_taken):
        rate = bytes_moved / time_taken
        row(name, f"{1e3 * time_taken:.3f}", f"{rate / 1e9:.0f}", f"{100 * rate / best:.0f} %")

    show("copy of the scores (read and written)", 8 * points, 8 * points / best)
    show("sum of the scores (read)", 4 * points, seconds(lambda: scores.sum(), 20))
    reference = tt.cce(scores, labels)
    show("tsadeval.torch.cce", 5 * points, seconds(lambda: tt.cce(scores, labels), 20))
    if not GPU:
        print("  no GPU: the Triton kernel is left out")
        return
    from tsadeval.torch import _triton

    if not _triton.available():
        print("  no Triton: torch did it in several passes")
        return
    sweep = []
    for size, warps in ((2048, 4), (4096, 4), (4096, 8), (8192, 8), (8192, 16)):
        _triton.SIZE, _triton.WARPS = size, warps
        taken = seconds(lambda: tt.cce(scores, labels), 20)
        sweep.append((taken, size, warps))
        show(f"cce, blocks of {size}, {warps} warps", 5 * points, taken)
    _, _triton.SIZE, _triton.WARPS = min(sweep)
    for name, taken in passes(scores, labels).items():
        show(f"  its pass over the {name}", {"labels": 1, "scores": 4}[name] * points, taken)
    difference = abs((tt.cce(scores, labels) - reference).item())
    available, _triton.available = _triton.available, lambda: False
    part = scores[:, : points // 10].contiguous(), labels[:, : points // 10].contiguous()
    show("cce without Triton, a tenth of the points", points / 2, seconds(lambda: tt.cce(*part), 5))
    plain = tt.cce(*part)
    _triton.available = available
    difference = max(difference, abs((tt.cce(*part) - plain).item()))
    print(f"  largest difference between these ways: {difference:.1e}")


def passes(scores, labels):
    """Seconds of the two kernels that read everything."""
    from tsadeval.torch import _triton

    rows, columns = scores.shape
    size, flat = _triton.SIZE, labels.view(torch.uint8).view(-1)
    per_row = -(-columns // size)
    blocks, lengths = rows * per_row, torch.full((rows,), columns, device=DEVICE)
    counts = torch.empty(blocks, dtype=torch.int32, device=DEVICE)
    sums = torch.empty(2 * blocks, dtype=torch.float64, device=DEVICE)
    extremes = torch.empty(2 * blocks, device=DEVICE)
    how = {"SIZE": size, "SINGLE": rows == 1, "num_warps": _triton.WARPS}
    words = flat.view(torch.int32)
    count, total = _triton._count[(blocks,)], _triton._sum[(blocks,)]
    return {
        "labels": seconds(lambda: count(flat, words, lengths, counts, columns, per_row, **how, WIDE=True), 20),
        "scores": seconds(lambda: total(scores, sums, extremes, blocks, columns, per_row, **how), 20),
    }


# --- Batches against our CPU kernels


def kernels():
    """The compiled CPU metrics, built from C where they are not there; None where that fails."""
    for attempt in ("import", "cython", "c"):
        try:
            if attempt == "cython":
                importlib.import_module("Cython")
                build = [sys.executable, "setup.py", "build_ext", "--inplace"]
                subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
            elif attempt == "c":
                compile_sources()
            importlib.invalidate_caches()
            metrics = importlib.import_module("tsadeval.metrics")
            metrics.auc_roc([0, 1], [0.0, 1.0])  # families are loaded when first asked for
            return metrics
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            reason = (getattr(error, "stderr", None) or str(error).encode())[-300:].decode(errors="replace").strip()
            for name in [name for name in sys.modules if name.startswith(("tsadeval.metrics", "tsadeval.core"))]:
                del sys.modules[name]
    print(f"  CPU kernels are missing and could not be built ({reason}); their rows are left out")
    return None


def compile_sources():
    """Compile what --prepare collected, into src/."""
    import sysconfig

    sources = sorted(SOURCES.rglob("*.c"))
    if not sources:
        raise ImportError(f"no Cython, and no C sources in {SOURCES.relative_to(ROOT)}: run --prepare and copy them")
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise ImportError("no C compiler found")
    headers = {f"-I{sysconfig.get_path(name)}" for name in ("include", "platinclude")}
    suffix = sysconfig.get_config_var("EXT_SUFFIX")

    def build(source):
        target = (ROOT / "src" / source.relative_to(SOURCES)).with_suffix(suffix)
        subprocess.run(
            [compiler, "-O3", "-shared", "-fPIC", "-fwrapv", *headers, str(source), "-o", str(target)],
            check=True,
            capture_output=True,
        )

    with ThreadPoolExecutor() as pool:
        list(pool.map(build, sources))


def prepare():
    if SOURCES.exists():
        shutil.rmtree(SOURCES)
    found = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".c", ".h"))
    for source in found:
        target = SOURCES / source.relative_to(ROOT / "src")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    print(f"{len(found)} C sources and headers are in {SOURCES.relative_to(ROOT)}")


def on_all_cores(function, pairs):
    """Seconds for all pairs on as many threads as cores; kernels do not hold Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda pair: function(*pair), pairs[: 2 * os.cpu_count()]))
        start = time.perf_counter()
        values = list(pool.map(lambda pair: function(*pair), pairs))
        return time.perf_counter() - start, values


def both_volumes(metrics):
    """VUS-ROC and VUS-PR with the work shared, as `evaluate` does it."""
    try:
        from tsadeval.core.inputs import Scoring
        from tsadeval.metrics._vus import _areas
    except ImportError:
        return lambda y, s: (metrics.vus_roc(y, s), metrics.vus_pr(y, s))
    return lambda y, s: _areas(Scoring.of(y, s), True, 100, 250, "vus")


def batch(rows, points):
    import tsadeval.torch as tt

    scores, labels = example(rows, points, max(points // 5000, 2), 200 if points >= 1000 else 20)
    title(f"{rows:,} series of {points:,} points, float32, {max(points // 5000, 2)} events each (VUS: window 100)")
    metrics = kernels()
    where = f"{DEVICE.type}, ms"
    row("", where, f"{os.cpu_count()} cores, ms", "ratio", "difference")
    pairs = None
    if metrics is not None:
        table = labels.cpu().numpy().view(np.uint8), scores.cpu().numpy()
        pairs = list(zip(*table, strict=True))
    jobs = (
        ("AUC-ROC", tt.auc_roc, lambda: metrics.auc_roc),
        ("AUC-PR", tt.auc_pr, lambda: metrics.auc_pr),
        ("best F1", tt.best_f1, lambda: metrics.best_f1),
        ("VUS-ROC and VUS-PR", tt.vus, lambda: both_volumes(metrics)),
        ("PATE", tt.pate, lambda: metrics.pate),
        ("CCE", tt.cce, lambda: metrics.cce),
    )
    for name, function, on_cpu in jobs:
        try:
            taken = seconds(lambda function=function: function(scores, labels), 3)
            found = function(scores, labels).cpu().double().numpy()
        except torch.cuda.OutOfMemoryError:
            row(name, "out of memory")
            torch.cuda.empty_cache()
            continue
        if pairs is None:
            row(name, f"{1e3 * taken:.1f}")
            continue
        cpu, values = on_all_cores(on_cpu(), pairs)
        difference = np.abs(found - np.array(values).T).max()
        row(name, f"{1e3 * taken:.1f}", f"{1e3 * cpu:.1f}", f"{cpu / taken:.2f}", f"{difference:.1e}")
    if GPU:
        from tsadeval.torch._batch import sort_by_keys

        keys = seconds(lambda: sort_by_keys(scores, labels), 3)
        plain = seconds(lambda: scores.sort(dim=1), 3)
        row("sorting all rows: by packed keys", f"{1e3 * keys:.1f}")
        row("sorting all rows: torch.sort(dim=1)", f"{1e3 * plain:.1f}")
        print(f"  GPU memory used at most: {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


# --- Training


def series(points):
    """A periodic series of one column."""
    time_ = np.arange(points)
    noise = 0.1 * np.random.default_rng(0).normal(size=points)
    return (np.sin(2 * np.pi * time_ / 70) + 0.3 * np.sin(2 * np.pi * time_ / 23) + noise)[:, None]


def train(points, epochs):
    from tsadeval.detectors import make

    title(f"training on {points:,} points, {epochs} epochs, on {DEVICE.type}: plain steps beside recorded ones")
    row("", "plain, s", "recorded, s", "ratio", "difference")
    data = series(points)
    for name in ("usad", "donut", "lstm_ad", "anomaly_transformer", "timesnet"):
        small = epochs == 1 and name == "anomaly_transformer"
        options = ", d_model=16, d_ff=16, n_heads=2, max_windows=600" if small else ""
        try:
            taken, scores = {}, {}
            for static in (False, True):
                detector = make(f"{name}(epochs={epochs}, patience={epochs}, device={DEVICE.type}{options})")
                if static and not (detector.static_step and GPU):
                    continue
                kind = type("Plain", (type(detector),), {"static_step": static}) if GPU else type(detector)
                detector.__class__ = kind
                # The first epoch in a process also loads libraries.
                make(f"{name}(epochs=1, max_windows=600, device={DEVICE.type}{options})").fit(data[:2000])
                start = time.perf_counter()
                detector.fit(data)
                taken[static] = time.perf_counter() - start
                scores[static] = detector.score(data)
        except Exception as error:  # the other detectors are worth having
            row(name, f"{type(error).__name__}: {error}"[:300])
            continue
        if True not in taken:
            row(name, f"{taken[False]:.2f}")
            continue
        spread = np.abs(scores[True] - scores[False]).max() / np.ptp(scores[False])
        row(
            name,
            f"{taken[False]:.2f}",
            f"{taken[True]:.2f}",
            f"{taken[False] / taken[True]:.1f}",
            f"{100 * spread:.2g} %",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the script")
    parser.add_argument("--prepare", action="store_true", help="collect the C sources of the CPU kernels and stop")
    parser.add_argument("--parts", default="check,cce,batch,train", help="which parts to run")
    asked = parser.parse_args()
    if asked.prepare:
        return prepare()
    warnings.simplefilter("ignore")
    name = torch.cuda.get_device_name() if GPU else platform.processor() or platform.machine()
    print(f"{name}, {os.cpu_count()} cores, torch {torch.__version__}, Python {platform.python_version()}")
    if not GPU:
        print("torch finds no GPU: everything runs on the CPU, which shows that the script works and no more")
    jobs = {
        "check": lambda: check(200, 300),
        "cce": lambda: cce(10_000_000 if asked.quick else points_that_fit()),
        "batch": lambda: batch(*((20, 2_000) if asked.quick else (1_000, 100_000))),
        "train": lambda: train(*((1_500, 1) if asked.quick else (16_000, 5))),
    }
    start = time.perf_counter()
    for part in asked.parts.split(","):
        try:
            jobs[part]()
        except Exception as error:  # one part must not cost the others their numbers
            print(f"  {part} failed: {type(error).__name__}: {error}")
            import traceback

            traceback.print_exc()
    print(f"\n{time.perf_counter() - start:.0f} s in all")


def points_that_fit():
    """10^9 where the GPU holds them three times over."""
    if not GPU:
        return 100_000_000
    free, _ = torch.cuda.mem_get_info()
    return min(10**9, free // 20 // 1024 * 1024)


if __name__ == "__main__":
    main()
