"""One of two processes of a gloo group: scores its share of the windows and prints what the metrics give.

python torch_process.py RANK FOLDER CASE
"""

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torchmetrics import MetricCollection

import tsadeval.torch as tt

WINDOW, STRIDE, POINTS = 20, 7, 150


def series(number):
    """Labels and scores of a series that every process can make by itself."""
    generator = torch.Generator().manual_seed(number)
    labels = (torch.arange(POINTS) % 37 > 30).long()
    return torch.rand(POINTS, generator=generator) + 0.4 * labels, labels


def windows():
    """All windows of three series: scores (that differ from window to window), labels, series, position."""
    rows = []
    for number in range(3):
        scores, labels = series(number)
        for start in range(0, POINTS - WINDOW + 1, STRIDE):
            inside = slice(start, start + WINDOW)
            rows.append((scores[inside] + 0.01 * start, labels[inside], number, start))
    scores, labels, numbers, starts = zip(*rows, strict=True)
    return torch.stack(scores), torch.stack(labels), torch.tensor(numbers), torch.tensor(starts)


def metrics():
    return MetricCollection(
        [tt.CCE(), tt.AUCROC(), tt.AUCPR(), tt.BestF1(), tt.VUSPR(window=5), tt.PATE(early=5, delay=5), tt.F1PA()]
    )


def main(rank, folder, case):
    rank = int(rank)
    dist.init_process_group("gloo", init_method=f"file://{Path(folder) / 'meet'}", rank=rank, world_size=2)
    found = metrics()
    data = TensorDataset(*windows())
    if case == "sampler":
        # An odd number of windows, shuffled: the sampler repeats one so that both processes have as many.
        sampler = DistributedSampler(data, num_replicas=2, rank=rank, shuffle=True, seed=1)
        for batch in DataLoader(data, batch_size=8, sampler=sampler):
            found.update(*batch)
    elif rank == 1:  # the other process has nothing
        found.update(*data[:])
    values = {name: value.item() for name, value in found.compute().items()}
    print(json.dumps(values))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
