"""Fine-tune a small detector on labelled events, with losses of tsadeval.torch beside binary cross-entropy.

    python examples/finetune.py            (a few minutes on two cores; --seeds 3 for a first look)

A convolutional network learns to restore series with hidden stretches, without labels. Its copies are then fine-tuned
on labelled events of a few series, each with another loss, on the same windows in the same order, and judged on series
it has not seen. Every seed makes new series, new weights and a new order. The learning rate is chosen for each loss by
itself, by AUC-PR on series of their own; CCE and VUS-PR have no part in it.

The intervals are 95 % t-intervals of the mean over the seeds, and of the mean difference to BCE, seed by seed. With the
defaults neither loss improves on BCE beyond its interval, and CCELoss alone has a lower VUS-PR: see docs/torch.md.
"""

import argparse
import copy
import math
import statistics

import numpy as np
import torch
from torch import nn

import tsadeval.torch as tt

POINTS, WINDOW, BATCH = 3000, 250, 16
LEARNING_RATES = (2e-3, 1e-2)
LOSSES = {
    "BCE": lambda: nn.BCEWithLogitsLoss(),
    "CCELoss": lambda: tt.CCELoss(),
    "EventAUCLoss": lambda: tt.EventAUCLoss(),
    "BCE + CCELoss": lambda: Sum(nn.BCEWithLogitsLoss(), tt.CCELoss()),
}
METRICS = {"CCE": tt.cce, "VUS-PR": tt.vus_pr, "AUC-PR": tt.auc_pr}
# Quantiles of Student's t at 97.5 % for 1, 2, ... degrees of freedom.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10)


class Sum(nn.Module):
    """Two losses added up."""

    def __init__(self, *losses):
        super().__init__()
        self.losses = nn.ModuleList(losses)

    def forward(self, preds, target):
        return sum(loss(preds, target) for loss in self.losses)


def make_series(rng):
    """A periodic series with events of four kinds, long and short, some of them faint; and oddities that are none."""
    time = np.arange(POINTS)
    period = rng.uniform(30, 60)
    values = np.sin(2 * np.pi * time / period) + 0.4 * np.sin(4 * np.pi * time / period + rng.uniform(0, 6))
    values += 0.3 * np.cumsum(rng.normal(size=POINTS)) / math.sqrt(POINTS)
    values += 0.15 * rng.normal(size=POINTS)
    labels = np.zeros(POINTS, np.int64)
    for start in rng.integers(0, POINTS, 8):  # not every oddity is an event
        values[start] += rng.choice([-1.5, 1.5])
    for place in rng.permutation(10)[:6]:
        start = int(place * POINTS / 10 + rng.integers(0, POINTS // 10 - 110))
        length = int(rng.choice([6, 20, 50, 100]))
        inside = slice(start, start + length)
        size = rng.uniform(0.2, 0.8)
        kind = rng.integers(4)
        if kind == 0:  # a shift
            values[inside] += size * rng.choice([-1, 1])
        elif kind == 1:  # noise
            values[inside] += size * rng.normal(size=length)
        elif kind == 2:  # flat
            values[inside] = values[start] + 0.05 * rng.normal(size=length)
        else:  # another rhythm
            values[inside] += size * np.sin(2 * np.pi * np.arange(length) / 7)
        labels[inside] = 1
    values = (values - values.mean()) / values.std()
    return values.astype(np.float32), labels


def make_set(rng, count):
    values, labels = zip(*(make_series(rng) for _ in range(count)), strict=True)
    return torch.tensor(np.stack(values)), torch.tensor(np.stack(labels))


class Detector(nn.Module):
    """Convolutions of growing reach; one head restores values, the other scores points."""

    def __init__(self, channels=16):
        super().__init__()
        layers, width = [], 1
        for dilation in (1, 2, 4, 8):
            layers += [nn.Conv1d(width, channels, 7, padding=3 * dilation, dilation=dilation), nn.ReLU()]
            width = channels
        self.body = nn.Sequential(*layers)
        self.restore = nn.Conv1d(channels, 1, 1)
        self.score = nn.Conv1d(channels, 1, 1)

    def restored(self, values):
        return self.restore(self.body(values[:, None]))[:, 0]

    def forward(self, values):
        return self.score(self.body(values[:, None]))[:, 0]


def windows(values, labels, generator):
    """A batch of windows at random places."""
    series = torch.randint(len(values), (BATCH,), generator=generator)
    start = torch.randint(values.shape[1] - WINDOW, (BATCH,), generator=generator)
    places = start[:, None] + torch.arange(WINDOW)
    return values[series[:, None], places], labels[series[:, None], places]


def pretrain(values, labels, steps, generator):
    model = Detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        batch, _ = windows(values, labels, generator)
        hidden = torch.rand(batch.shape, generator=generator) < 0.2
        loss = ((model.restored(batch.masked_fill(hidden, 0)) - batch)[hidden] ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def finetune(start, loss, rate, data, steps, seed):
    model = copy.deepcopy(start)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        batch, labels = windows(*data, generator)
        value = loss(model(batch), labels.float())
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    return model.eval()


def judge(model, values, labels):
    """Mean over the series of every metric, of the probabilities that the model gives."""
    with torch.no_grad():
        scores = model(values).sigmoid()
    return {name: metric(scores, labels).mean().item() for name, metric in METRICS.items()}


def run(seed, steps):
    rng = np.random.default_rng(seed)
    training, choosing, held_out = make_set(rng, 3), make_set(rng, 4), make_set(rng, 12)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        start = pretrain(*training, steps, torch.Generator().manual_seed(seed))
    found = {"no fine-tuning": judge(start, *held_out)}
    for name, make in LOSSES.items():
        models = [finetune(start, make(), rate, training, steps, seed) for rate in LEARNING_RATES]
        best = max(models, key=lambda model: judge(model, *choosing)["AUC-PR"])
        found[name] = judge(best, *held_out)
    return found


def interval(values):
    """Mean and half the width of its 95 % interval."""
    if len(values) < 2:
        return values[0], math.nan
    quantile = STUDENT[min(len(values) - 1, len(STUDENT)) - 1]
    return statistics.mean(values), quantile * statistics.stdev(values) / math.sqrt(len(values))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=200, help="of training, before and after the labels come in")
    asked = parser.parse_args(arguments)
    results = []
    for seed in range(asked.seeds):
        results.append(run(seed, asked.steps))
        print(f"seed {seed}: " + ", ".join(f"{name} {r['VUS-PR']:.3f}" for name, r in results[-1].items()), flush=True)
    print(f"\nheld-out means of {asked.seeds} seeds with 95 % intervals; in brackets the difference to BCE\n")
    print(f"{'':20}" + "".join(f"{name:>36}" for name in METRICS))
    for name in results[0]:
        cells = []
        for metric in METRICS:
            mean, half = interval([r[name][metric] for r in results])
            more, spread = interval([r[name][metric] - r["BCE"][metric] for r in results])
            cells.append(f"{mean:.3f} ± {half:.3f} ({more:+.3f} ± {spread:.3f})")
        print(f"{name:20}" + "".join(f"{cell:>36}" for cell in cells))


if __name__ == "__main__":
    main()
