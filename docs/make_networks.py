"""Train the networks of the paper's tables on ECG and Power demand as its authors did, over ten seeds.

    python docs/make_networks.py --peers FOLDER --data FOLDER --scores FOLDER [--seeds 10] [--workers 12]
    python docs/make_networks.py --data FOLDER --scores FOLDER --values

Writes `ecg.npz` and `power.npz`: scores of the test part, float32, of each network and seed ("USAD 42"). The networks
are the classes of TSB-AD, which the authors wrapped: FOLDER of `--peers` holds the package TSB_AD (`pip download
TSB-AD==1.5 --no-deps`, unpacked). The data folder holds the two texts of the UCR archive. Needs NumPy and torch only:
what else TSB-AD imports (progress bars, summaries, scikit-learn) is replaced where it is missing, and its loader of
batches by one that keeps the windows on the device. Minutes on a GPU, days on two cores.

With `--values` it judges the scores in the folder and below it, and writes src/tsadeval/reproduction/networks.csv, which
`tsadeval reproduce ecg` and `power` put beside the printed values.
"""

import argparse
import importlib
import importlib.util
import random
import sys
import time
import types
from importlib.machinery import ModuleSpec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

SERIES = {"ecg": "125_UCR_*.txt", "power": "154_UCR_*.txt"}
SEEDS = range(42, 52)  # the authors' is 42
# The options of the authors where they differ from the defaults of the classes; the longest first.
NETWORKS = {
    "TimesNet": ("TimesNet", {"win_size": 96, "epochs": 50}),
    "A.T.": ("AnomalyTransformer", {"win_size": 100}),
    "USAD": ("USAD", {"win_size": 5, "epochs": 100}),
    "LSTMAD": ("LSTMAD", {"window_size": 100}),
    "Donut": ("Donut", {"win_size": 120}),
}
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Batches:
    """The windows of a data set of TSB-AD in batches, on the device; its own loader stacks them one by one."""

    def __init__(self, dataset, batch_size, shuffle):
        self.parts = dataset.samples.to(DEVICE), dataset.targets.to(DEVICE)
        self.size, self.shuffle = batch_size, shuffle

    def __len__(self):
        return -(-len(self.parts[0]) // self.size)

    def __iter__(self):
        count = len(self.parts[0])
        order = torch.randperm(count, device=DEVICE) if self.shuffle else torch.arange(count, device=DEVICE)
        for chosen in order.split(self.size):
            yield tuple(part[chosen] for part in self.parts)


class Quiet:
    """Iterates as `tqdm.tqdm` does and shows nothing."""

    def __init__(self, iterable, **options):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def set_description(self, *words):
        """Show nothing."""

    def set_postfix(self, **values):
        """Show nothing."""


class Empty(types.ModuleType):
    """A module that has whatever is imported from it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def network(name, peers):
    """The class of TSB-AD, with its imports and its loader replaced."""
    sys.path.insert(0, str(peers))
    vars(np)["Inf"] = np.inf  # its old name
    base = sys.modules["TSB_AD.models.base"] = types.ModuleType("TSB_AD.models.base")
    base.BaseDetector = object
    for part in ("tqdm", "torchinfo", "sklearn"):
        if importlib.util.find_spec(part) is None:
            for inner in ("", ".utils", ".utils.validation", ".preprocessing"):
                sys.modules[part + inner] = Empty(part + inner)
                sys.modules[part + inner].__spec__ = ModuleSpec(part + inner, None)
    if DEVICE.type == "cpu":
        torch.Tensor.cuda = lambda self: self  # one class asks for a GPU whether there is one or not
    module = importlib.import_module(f"TSB_AD.models.{name}")
    module.get_gpu, module.DataLoader, module.tqdm = lambda wanted: DEVICE, Batches, types.SimpleNamespace(tqdm=Quiet)
    module.print = lambda *words: None
    return getattr(module, name)


def parts(data, series):
    """Training and test part, scaled by the training part, as columns."""
    path = next(Path(data).rglob(SERIES[series]))
    values, at = np.loadtxt(path).ravel(), int(path.stem.split("_")[-3])
    values = (values - values[:at].mean()) / values[:at].std()
    return values[:at, None], values[at:, None]


def scores(job):
    """Scores of one network with one seed."""
    series, name, seed, asked = job
    torch.set_num_threads(1)
    train, test = parts(asked.data, series)
    if asked.points:
        train, test = train[-asked.points :], test[: asked.points]
    kind, options = NETWORKS[name]
    make = network(kind, asked.peers)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what its classes draw from
    torch.manual_seed(seed)
    if asked.epochs:
        options = {**options, "num_epochs" if kind in ("AnomalyTransformer", "Donut") else "epochs": asked.epochs}
    start = time.perf_counter()
    made = make(**options)
    made.fit(train)
    found = np.asarray(made.decision_function(test), dtype=np.float32)
    if found.shape != (len(test),) or not np.isfinite(found).all():
        raise ValueError(f"scores of shape {found.shape}, {np.isnan(found).sum()} of them NaN")
    print(f"{series} {name} seed {seed}: {time.perf_counter() - start:.1f} s", flush=True)
    return found


def attempt(job):
    """The scores, or None where training failed: the others are worth having."""
    try:
        return *job[:3], scores(job)
    except Exception as error:
        print(f"{job[:3]} failed: {type(error).__name__}: {error}", flush=True)
        return *job[:3], None


def judge(folder, data):
    """Write the values of all scores there are."""
    from tsadeval.datasets import load
    from tsadeval.evaluation import evaluate
    from tsadeval.rankeval.suites.paper import PUBLISHED_RULE
    from tsadeval.reproduction import reproduce

    lines = []
    for path in sorted(folder.rglob("*.npz")):
        item = reproduce.SERIES[path.stem][0]
        labels = load(item, data=data, end="exclusive").test_labels
        for key, found in np.load(path).items():
            name, _, seed = key.rpartition(" ")
            values = evaluate(
                labels, found.astype(float), [*reproduce.ON_REAL.values()], threshold=PUBLISHED_RULE
            ).values()
            for column, value in zip(reproduce.ON_REAL, values, strict=True):
                lines.append(f"{path.stem},{name},{seed},{column},{100 * value:.4f}")
    text = "\n".join(["result,row,seed,column,value", *sorted(set(lines)), ""])
    (Path(reproduce.__file__).parent / "networks.csv").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--values", action="store_true", help="judge the scores, train nothing")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--points", type=int, help="of each part, to try the script")
    parser.add_argument("--epochs", type=int, help="to try the script")
    asked = parser.parse_args()
    if asked.values:
        judge(asked.scores, asked.data)
        return
    asked.scores.mkdir(parents=True, exist_ok=True)
    seeds = SEEDS[: asked.seeds]
    jobs = [(s, n, seed, asked) for n in NETWORKS if n in asked.networks for s in SERIES for seed in seeds]
    found = {series: {} for series in SERIES}
    start = time.perf_counter()
    with get_context("spawn").Pool(asked.workers) as pool:
        for series, name, seed, values in pool.imap_unordered(attempt, jobs):
            if values is not None:  # kept as they come: a run that is cut short leaves what it has
                found[series][f"{name} {seed}"] = values
                np.savez(asked.scores / f"{series}.npz", **found[series])
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
