"""Train detectors on data sets and keep their scores, on any machine that has NumPy, scikit-learn and torch.

    python examples/train_scores.py --data DATA --store runs/real --datasets ucr/125 msl --detectors lstm_ad usad

For a machine with a GPU that the rest of tsadeval is not installed on: neither the compiled kernels nor pandas are
needed (`PYTHONPATH=src`). Copy `runs/real/scores` into the store at home; `tsadeval detect` with the same data sets
and detectors finds the scores there and only judges them. Scores that are kept already are left as they are, so the
script can be killed and started again.
"""

import argparse
import signal
import sys
import time
from contextlib import contextmanager

from tsadeval.core.names import format_call
from tsadeval.experiments.specs import DetectorSpec, Source, keep_scores


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help="folder of the data sets; else the environment variable TSADEVAL_DATA")
    parser.add_argument("--store", required=True, help="the scores go to its folder scores/")
    parser.add_argument("--datasets", nargs="+", required=True)
    parser.add_argument("--detectors", nargs="+", required=True)
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=0.0, help="seconds for each pair; 0: no limit")
    asked = parser.parse_args(arguments)
    specs = [DetectorSpec.of(detector, asked.seed) for detector in asked.detectors]
    failed = 0
    for source in [Source.of(name, asked.data) for name in asked.datasets]:
        dataset = source.load()
        name = format_call(dataset.name, source.options.items())
        for spec in specs:
            start = time.perf_counter()
            try:
                with at_most(asked.limit):
                    kept = keep_scores(dataset, spec, asked.store, name=name, device=asked.device)
            except Exception as error:  # the other pairs are worth having
                failed += 1
                words = f"failed after {time.perf_counter() - start:.1f} s: {type(error).__name__}: {error}"
            else:
                about = kept.provenance
                words = f"fit {about['fit_seconds']:.1f} s, score {about['score_seconds']:.1f} s, {about['device']}"
                words += "" if kept.fresh else " (kept already)"
            print(f"{name}  {spec.text}  {words}", flush=True)
    return 1 if failed else 0


@contextmanager
def at_most(seconds):
    """Raise TimeoutError once so many seconds have passed."""

    def stop(*_):
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
