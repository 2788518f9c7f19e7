"""Seconds that the networks take to learn and score the ten series of docs/real-data.md, beside those of the first run.

    python benchmarks/training.py --data DATA [--store runs/real] [--datasets ...] [--detectors ...] [--device cpu]

One pair after the other, in one process; compiling kernels and loading libraries count. With a store the scores are
kept there, in the folder scores/, for `tsadeval detect` and docs/make_real_data.py. Needs NumPy,
scikit-learn and torch; the package need not be installed: the script finds src/ beside it.
"""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tsadeval.experiments.specs import DetectorSpec, Source, keep_scores

DATASETS = ["msl", "smd/2-1", "ucr/123", "ucr/124", "ucr/125", "ucr/126", "ucr/152", "ucr/153", "ucr/154", "ucr/155"]
# Seconds of training and of scoring all ten on an NVIDIA H200, five at a time, before steps were recorded.
BEFORE = {
    "lstm_ad": (156.3, 1.3),
    "usad": (533.4, 18.2),
    "donut": (87.6, 18.6),
    "anomaly_transformer": (261.8, 0.6),
    "timesnet": (456.8, 5.4),
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the data sets; else the environment variable TSADEVAL_DATA")
    parser.add_argument("--store", help="where to keep the scores")
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--detectors", nargs="+", default=list(BEFORE))
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    datasets = [Source.of(name, asked.data).load() for name in asked.datasets]
    with tempfile.TemporaryDirectory() as folder:
        rows = [of_detector(text, datasets, asked.store or folder, asked.device) for text in asked.detectors]
    print(f"\n{'':24}{'series':>8}{'training, s':>14}{'scoring, s':>14}{'before':>16}{'ratio':>8}")
    for text, (fit, score) in zip(asked.detectors, rows, strict=True):
        before = BEFORE.get(text) if asked.datasets == DATASETS else None
        words = "".join(f"{x:>8}" for x in before) if before else ""
        ratio = f"{sum(before) / (fit + score):.1f}" if before else ""
        print(f"{text:24}{len(datasets):>8}{fit:>14.1f}{score:>14.1f}{words:>16}{ratio:>8}")
    print(f"{'all':24}{'':>8}{sum(r[0] for r in rows):>14.1f}{sum(r[1] for r in rows):>14.1f}")
    print(f"\n{time.perf_counter() - start:.0f} s in all, with reading the data")


def of_detector(text, datasets, store, device):
    spec, times = DetectorSpec.of(text, 0), []
    for dataset in datasets:
        about = keep_scores(dataset, spec, store, name=dataset.name, device=device).provenance
        times.append((about["fit_seconds"], about["score_seconds"]))
        print(f"{dataset.name}  {text}  fit {times[-1][0]:.2f} s, score {times[-1][1]:.2f} s", flush=True)
    return tuple(map(sum, zip(*times, strict=True)))


if __name__ == "__main__":
    main()
