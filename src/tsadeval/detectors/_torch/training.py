"""Training loop of all networks: seeded, early stopping with the best weights restored; and batched scoring.

On a GPU a small network's step takes the time of asking for its hundreds of kernels, not that of running them. So
nothing is copied to the GPU but the order of an epoch's windows, nothing is asked back before the epoch ends, and where
a detector says that its step is always the same sequence of kernels, training, validation and scoring are recorded as
CUDA graphs.
"""

import copy
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from tsadeval._optional import require
from tsadeval.detectors.base import DeepDetector
from tsadeval.detectors.series import Floats, Index, score_points
from tsadeval.errors import InvalidInputError, InvalidParameterError

# Early stopping is decided on this share of the training series: the ends of up to so many blocks, because a series
# may be several machines' one behind the other, and the last of them alone would speak for all.
VALIDATION_SHARE = 0.2
BLOCKS = 10
# Gradients longer than this are shortened to it.
LONGEST_GRADIENT = 5.0
# Batches that are scored before their scores are fetched from the device.
SCORED_AT_ONCE = 64
# Steps before the first recording, in which libraries and the optimizer set up what they need.
WARM_UP = 3
# Scoring is recorded where it takes more batches than this.
RECORDED_FROM = 40


class Losses(NamedTuple):
    """The mean losses of one epoch; validation is None where the series is too short to hold a part back."""

    training: float
    validation: float | None


def windows_of(series: Floats, window: int, device: torch.device) -> Tensor:
    """All windows of a series as a view of one tensor: only the batch that is asked for is copied."""
    points = torch.from_numpy(np.ascontiguousarray(series, dtype=np.float32)).to(device)
    return points.unfold(0, window, 1).transpose(1, 2)


def descend(optimizer: Optimizer, loss: Tensor) -> None:
    """Take one step down the gradient of a loss, shortened where it is long."""
    optimizer.zero_grad()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    # Gradients of what the optimizer does not move are not computed.
    loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]  # untyped in torch
    nn.utils.clip_grad_norm_(parameters, LONGEST_GRADIENT)
    optimizer.step()


def find_device(name: str) -> torch.device:
    """Find the device that a detector's option names."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InvalidParameterError("device is 'cuda', but torch finds no GPU here: use device='auto' or 'cpu'")
    return torch.device(name)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Torch's own generators start from the seed inside, and are as they were afterwards."""
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if on_gpu else []):
        # Not torch.manual_seed, which seeds every device there is.
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            torch.cuda.manual_seed(seed)
        yield


class Products:
    """Inside, a GPU multiplies matrices with its TF32 units, as torch lets it convolve by default.

    Torch has one setting for all threads: it is put back when the last user leaves.
    """

    lock = threading.Lock()
    users = 0
    before = "highest"

    @classmethod
    @contextmanager
    def fast(cls) -> Iterator[None]:
        """Enter and leave."""
        with cls.lock:
            if cls.users == 0:
                cls.before = torch.get_float32_matmul_precision()
                if cls.before == "highest":
                    torch.set_float32_matmul_precision("high")
            cls.users += 1
        try:
            yield
        finally:
            with cls.lock:
                cls.users -= 1
                if cls.users == 0:
                    torch.set_float32_matmul_precision(cls.before)


def products(device: torch.device) -> AbstractContextManager[None]:
    """Faster products of matrices on a GPU; on a CPU nothing changes."""
    return Products.fast() if device.type == "cuda" else nullcontext()


def train(detector: DeepDetector, series: Floats) -> tuple[nn.Module, list[Losses]]:
    """Fit a network to the windows of a scaled series; returns it and the losses of every epoch."""
    device = find_device(detector.device)
    windows = windows_of(series, detector.window, device)
    learning, held_back = split(len(series), detector.window)
    most = detector.max_windows if detector.max_windows is not None else len(learning)
    if held_back is not None and len(held_back) > most:
        # The same evenly spread windows in every epoch, so that losses can be compared.
        held_back = held_back[torch.linspace(0, len(held_back) - 1, most, dtype=torch.float64).long()]
    order = torch.Generator().manual_seed(detector.random_state)
    history: list[Losses] = []
    best, best_loss, waited = None, math.inf, 0
    with seeded(detector.random_state, device), products(device), _bar(detector) as show:
        module = detector.build(series.shape[1]).to(device)
        optimizers = detector.optimizers(module)
        recorded = records(detector, device) and prepare(optimizers, device)
        # Recorded steps read the epoch from a tensor.
        now: Any = torch.zeros((), device=device) if recorded else 0
        learn = Steps(
            lambda batch: detector.train_step(module, optimizers, batch, now), windows, detector.batch_size, recorded
        )
        check = Steps(
            lambda batch: detector.validation_loss(module, batch, now), windows, detector.batch_size, recorded
        )
        for epoch in range(1, detector.epochs + 1):
            now = now.fill_(epoch) if recorded else epoch
            _set_rate(optimizers, detector.learning_rate_at(epoch))
            positions = learning[torch.randperm(len(learning), generator=order)[:most]]
            module.train()
            trained = learn.mean(positions)
            module.eval()
            losses = Losses(trained, None if held_back is None else _validate(detector, check, held_back))
            history.append(losses)
            watched = losses.training if losses.validation is None else losses.validation
            if not math.isfinite(watched):
                if best is not None:
                    break  # what was learned before that is still good
                raise InvalidInputError(
                    f"{detector}: training diverged (a loss of {watched} in epoch {epoch}); lower learning_rate"
                )
            show(epoch, watched)
            waited += 1
            if watched < best_loss:
                best, best_loss, waited = copy.deepcopy(module.state_dict()), watched, 0
            if waited == detector.patience:
                break
    assert best is not None  # the first finite loss is below infinity
    module.load_state_dict(best)
    return module.eval(), history


def split(n: int, window: int) -> tuple[Tensor, Tensor | None]:
    """Split windows into those to learn from and those held back, by their starts; None if the series is too short.

    No point is in both kinds of windows.

    >>> learning, held_back = split(100, 4)
    >>> learning.tolist() == [*range(37), *range(50, 87)]
    True
    >>> held_back.tolist() == [*range(40, 47), *range(90, 97)]
    True
    """
    share = int(VALIDATION_SHARE * n)
    if share < window:
        return torch.arange(n - window + 1), None
    # Ends of at least two windows: with less, most of the windows would straddle a border and be lost.
    edges = np.linspace(0, n, max(1, min(BLOCKS, share // (2 * window))) + 1).astype(int).tolist()
    learning, held_back = [], []
    for start, stop in pairwise(edges):
        at = stop - max(window, int(VALIDATION_SHARE * (stop - start)))
        learning.append(torch.arange(start, at - window + 1))
        held_back.append(torch.arange(at, stop - window + 1))
    return torch.cat(learning), torch.cat(held_back)


class Steps:
    """A function of one batch of windows after the other; recorded, it runs as a CUDA graph from the fourth on.

    What differs from step to step is then read from tensors: the positions of the windows, the epoch and the learning
    rate. Only whole batches are replayed.
    """

    def __init__(self, function: Callable[[Tensor], Tensor], windows: Tensor, size: int, recorded: bool) -> None:
        self.function, self.windows, self.size, self.done = function, windows, size, 0
        self.positions = torch.zeros(size, dtype=torch.int64, device=windows.device) if recorded else None
        self.replay: Callable[[], Tensor] | None = None

    def results(self, order: Tensor) -> Iterator[Tensor]:
        """Yield what the function gives for each batch of the windows at these positions; use it before the next."""
        order = order.to(self.windows.device)  # once: each copy to a GPU waits until it is idle
        for at in range(0, len(order), self.size):
            positions = order[at : at + self.size]
            if self.positions is None or len(positions) < self.size:
                yield self.function(self.windows[positions])
            else:
                self.positions.copy_(positions)
                yield self._next(self.positions)

    def _next(self, positions: Tensor) -> Tensor:
        self.done += 1
        if self.done <= WARM_UP:
            return _on_a_stream(lambda: self.function(self.windows[positions]))
        if self.replay is None:
            self.replay = record(lambda: self.function(self.windows[positions]))  # which does not do the step
        return self.replay()

    def mean(self, order: Tensor) -> float:
        """Average the results over the windows; summed on the device: asking for each would make a GPU wait."""
        total: Any = 0.0
        for number, result in enumerate(self.results(order)):
            total = total + result * min(self.size, len(order) - number * self.size)
        return float(total) / len(order)


def records(detector: DeepDetector, device: torch.device) -> bool:
    """Return True if the detector's steps can be recorded on the device."""
    return device.type == "cuda" and detector.static_step


def prepare(optimizers: tuple[Optimizer, ...], device: torch.device) -> bool:
    """Make optimizers ready for being recorded, with few kernels; False where they cannot be."""
    groups = _groups(optimizers)
    if not all("capturable" in group for group in groups):
        return False
    rate = torch.zeros((), device=device)
    for group in groups:
        group.update(capturable=True, lr=rate)
        if "fused" in group:
            group.update(fused=True, foreach=False)
    return True


def _groups(optimizers: tuple[Optimizer, ...]) -> list[dict[str, Any]]:
    return [group for optimizer in optimizers for group in optimizer.param_groups]


def _set_rate(optimizers: tuple[Optimizer, ...], rate: float) -> None:
    for group in _groups(optimizers):
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def _on_a_stream(step: Callable[[], Tensor]) -> Tensor:
    """Run a step before the recording, on a stream of its own as recording asks for."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # untyped in torch
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        loss = step()
    torch.cuda.current_stream().wait_stream(stream)
    return loss


def record(step: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Record a step; the function returned repeats its work on the GPU without the Python that asked for it."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay() -> Tensor:
        graph.replay()
        return loss

    return replay


def _validate(detector: DeepDetector, check: Steps, positions: Tensor) -> float:
    # The same noise in every epoch, and none that training would have drawn.
    with torch.inference_mode(), seeded(detector.random_state, check.windows.device):
        return check.mean(positions)


def score(detector: DeepDetector, module: nn.Module, series: Floats) -> Floats:
    """One score per point of a scaled series."""
    device = next(module.parameters()).device
    windows = windows_of(series, detector.window, device)
    # Recording takes the time of some dozens of steps.
    worth = len(windows) > RECORDED_FROM * detector.batch_size * detector.scoring_stride
    steps = Steps(
        lambda batch: detector.window_scores(module, batch),
        windows,
        detector.batch_size,
        worth and records(detector, device),
    )

    def of_windows(starts: Index) -> Any:
        found = [part.clone() for part in steps.results(torch.from_numpy(starts))]
        return torch.cat(found).double().cpu().numpy()

    module.eval()
    at_once = SCORED_AT_ONCE * detector.batch_size
    with torch.inference_mode(), seeded(detector.random_state, device), products(device):
        return score_points(len(series), detector.window, of_windows, batch=at_once, stride=detector.scoring_stride)


@contextmanager
def _bar(detector: DeepDetector) -> Iterator[Callable[[int, float], None]]:
    """Give a function that shows an epoch and its loss: on a bar if the detector was asked for one, else nowhere."""
    if not detector.progress:
        yield lambda epoch, loss: None
        return
    console = require("rich.console", extra="all").Console(stderr=True)  # what is printed to stdout may be a table
    with require("rich.progress", extra="all").Progress(console=console, transient=True) as bar:
        task = bar.add_task(str(detector), total=detector.epochs)

        def show(epoch: int, loss: float) -> None:
            bar.update(task, completed=epoch, description=f"{detector} loss {loss:.4g}")

        yield show
