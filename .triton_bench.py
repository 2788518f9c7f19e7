"""Time of tsadeval.torch.cce with and without its Triton kernels.

    PYTHONPATH=src python triton_bench.py        in a tree that still has src/tsadeval/torch/_triton.py

Needs torch and NumPy only (and Triton, which torch's CUDA builds bring); no compiled kernel of tsadeval is imported.
`cce` is a metric: it detaches its input and has no backward pass. What trains is `CCELoss`, which never used Triton;
its forward and backward time stands beside for scale. Times are medians of 20 calls, in milliseconds: "call" is
host time of a synchronised call, as a user sees it, "device" the time between two CUDA events.
"""

import statistics
import sys
import time

import torch

import tsadeval.torch as tt
import tsadeval.torch._triton as _triton  # by its own name: the package would ask compiled code about it

SHAPES = [(32, 100), (32, 1000), (256, 1000), (32, 10_000), (256, 10_000), (1000, 100_000), (1, 10**5), (1, 10**6),
          (1, 10**7), (1, 10**8)]


def example(rows, points, seed=0):
    make = torch.Generator(device="cuda").manual_seed(seed)
    scores = torch.rand(rows, points, device="cuda", generator=make)
    labels = torch.zeros(rows, points, dtype=torch.bool, device="cuda")
    step = max(points // 10, 20)
    for at in range(step // 2, points, step):  # about ten events of a tenth of a step
        labels[:, at : at + max(step // 10, 1)] = True
    return scores, labels


def measure(call, repeats=20):
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    host, device = [], []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        began = time.perf_counter()
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        host.append(1e3 * (time.perf_counter() - began))
        device.append(start.elapsed_time(stop))
    return statistics.median(host), statistics.median(device)


def main():
    if not torch.cuda.is_available():
        sys.exit("no GPU")
    if not _triton.available():
        sys.exit("Triton is not installed: there is nothing to compare")
    loaded = [name for name in sys.modules if "_kernels" in name]
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "compiled kernels loaded:", loaded or "none")
    print(f"{'series x points':>18} {'Triton call':>12} {'torch call':>12} {'ratio':>7} {'Triton dev':>11} "
          f"{'torch dev':>10} {'ratio':>7} {'difference':>11} {'peak MB':>15} {'CCELoss f+b':>12}")
    has = _triton.available
    for rows, points in SHAPES:
        scores, labels = example(rows, points)
        times, values, peaks = [], [], []
        for available in (has, lambda: False):
            _triton.available = available
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            values.append(tt.cce(scores, labels).double())
            peaks.append((torch.cuda.max_memory_allocated() - before) / 1e6)
            times.append(measure(lambda: tt.cce(scores, labels)))
        _triton.available = has
        difference = (values[0] - values[1]).abs().max().item()
        trained = "-"
        if rows * points <= 10**7:
            loss = tt.CCELoss(scale="minmax")
            logits = scores.clone().requires_grad_()

            def step():
                logits.grad = None
                loss(logits, labels).backward()

            trained = f"{measure(step)[0]:.3f}"
        (a, c), (b, d) = times
        print(f"{rows:>8} x {points:>7} {a:12.3f} {b:12.3f} {b / a:7.2f} {c:11.3f} {d:10.3f} {d / c:7.2f} "
              f"{difference:11.1e} {peaks[0]:7.1f}/{peaks[1]:<7.1f} {trained:>12}", flush=True)


main()
