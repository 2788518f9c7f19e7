"""Networks of the detectors that train one, with the losses and scores that belong to them."""

import math
from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

# A deviation of 0 would make a probability infinite.
_FLOOR = 1e-4


class VariationalAutoencoder(nn.Module):
    """Two layers to the hidden numbers and two back; means and deviations at both ends."""

    def __init__(self, values: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.inward = _layers(values, hidden, hidden)
        self.latent_mean = nn.Linear(hidden, latent)
        self.latent_deviation = nn.Linear(hidden, latent)
        self.outward = _layers(latent, hidden, hidden)
        self.value_mean = nn.Linear(hidden, values)
        self.value_deviation = nn.Linear(hidden, values)

    def encode(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and deviation of the hidden numbers."""
        inner = self.inward(values)
        return self.latent_mean(inner), functional.softplus(self.latent_deviation(inner)) + _FLOOR

    def decode(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and deviation of the values."""
        inner = self.outward(hidden)
        return self.value_mean(inner), functional.softplus(self.value_deviation(inner)) + _FLOOR


def _layers(*sizes: int) -> nn.Sequential:
    """Return fully connected layers of these sizes, a ReLU behind each."""
    return nn.Sequential(*(part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU())))


# Embedding shared by AnomalyTransformer and TimesNet: values of the points of a window, and their positions.


def positions(window: int, d_model: int) -> Tensor:
    """Sines and cosines of each position at geometrically spaced frequencies, (window, d_model)."""
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angle = torch.arange(window).unsqueeze(1) * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]


class Embedding(nn.Module):
    """Each point with its two neighbours (the window's ends meet), mapped to `d_model` numbers, plus its position."""

    position: Tensor

    def __init__(self, n_columns: int, window: int, d_model: int, dropout: float) -> None:
        super().__init__()
        self.value = nn.Conv1d(n_columns, d_model, 3, padding=1, padding_mode="circular", bias=False)
        nn.init.kaiming_normal_(self.value.weight, mode="fan_in", nonlinearity="leaky_relu")
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position", positions(window, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, window, columns) to (batch, window, d_model)."""
        embedded: Tensor = self.dropout(self.value(x.transpose(1, 2)).transpose(1, 2) + self.position)
        return embedded


# The network of LSTM-AD.


class Forecaster(nn.Module):
    """Stacked LSTM layers; at each step a forecast of the next point."""

    def __init__(self, columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.memory = nn.LSTM(columns, hidden, num_layers=layers, batch_first=True)
        self.forecast = nn.Linear(hidden, columns)

    def forward(self, points: Tensor) -> Tensor:
        """Forecast what comes after each point of (batch, points, columns)."""
        states, _ = self.memory(points)
        expected: Tensor = self.forecast(states)
        return expected


# The network of USAD.


class Autoencoders(nn.Module):
    """One encoder, two decoders, all of three fully connected layers."""

    def __init__(self, window: int, columns: int, latent: int) -> None:
        super().__init__()
        whole = window * columns
        half, quarter = max(1, min(whole // 2, 512)), max(1, min(whole // 4, 256))
        self.encoder = _layers(whole, half, quarter, latent)
        self.first, self.second = (
            nn.Sequential(*_layers(latent, quarter, half), nn.Linear(half, whole), nn.Sigmoid()) for _ in range(2)
        )

    def forward(self, batch: Tensor, which: int) -> Tensor:
        """Reconstruct the windows by autoencoder 0 or 1."""
        decoder = self.first if which == 0 else self.second
        reconstructed: Tensor = decoder(self.encoder(batch.flatten(start_dim=1)))
        return reconstructed.view(batch.shape)


# The Anomaly Transformer's network, its loss and its score.
# Each point of a window looks at the others twice: through attention (the series association S) and through a
# Gaussian of the distance in time whose width it learns (the prior association P). A rare point finds little of its
# kind elsewhere in the window, so its S stays near its P: a small discrepancy between the two marks it.


# Added inside the logarithms. The tails of a narrow Gaussian are exactly zero in single precision; without this the
# divergence would be infinite there, and long before that it would drown the reconstruction error in training.
TINY = 1e-4

# The two associations of one layer, (batch, heads, window, window) each; their rows sum to one.
Associations = tuple[Tensor, Tensor]


def widths(raw: Tensor) -> Tensor:
    """Compute the Gaussians' sigma from the layer's raw outputs: positive, at most about 2 points."""
    return torch.pow(3.0, torch.sigmoid(5.0 * raw) + 1e-5) - 1.0


def prior_association(sigma: Tensor, squared_distance: Tensor) -> Tensor:
    """Gaussians of the distance, each row divided by its sum (so their common factor cancels)."""
    # A point's distance to itself is zero, so no row is all zeros, however narrow the Gaussian.
    return torch.softmax(-squared_distance / (2.0 * sigma.square().unsqueeze(-1)), dim=-1)


def association_discrepancy(prior: Tensor, series: Tensor) -> Tensor:
    """KL(P || S) + KL(S || P) of each point, mean over the heads: (batch, window)."""
    divergence = (prior - series) * (torch.log(prior + TINY) - torch.log(series + TINY))
    return divergence.sum(dim=-1).mean(dim=1)


def minimax_loss(x: Tensor, reconstruction: Tensor, layers: list[Associations], weight: float) -> Tensor:
    """Compute a loss whose one backward pass gives the summed gradients of the paper's two phases.

    The minimise phase, `error + weight * discrepancy(P, S fixed)`, draws P to S; the maximise phase,
    `error - weight * discrepancy(P fixed, S)`, drives S from P. The two discrepancies are equal in value, so one is
    enough if the gradient that enters S is negated: `2 S.detach() - S` equals S and does that.
    """
    discrepancies = [association_discrepancy(prior, 2.0 * series.detach() - series) for prior, series in layers]
    error = (x - reconstruction).square().mean()
    return 2.0 * error + weight * torch.stack(discrepancies).mean()


def anomaly_score(x: Tensor, reconstruction: Tensor, layers: list[Associations], temperature: float) -> Tensor:
    """Reconstruction error of each point times the softmax of minus its discrepancy over the window."""
    error = (x - reconstruction).square().mean(dim=-1)
    discrepancy = torch.stack([association_discrepancy(prior, series) for prior, series in layers]).sum(dim=0)
    # In double precision, for at the usual temperature most weights of a window are below what single precision holds:
    # they would all be zero, and their points tied.
    return torch.softmax(-temperature * discrepancy.double(), dim=-1) * error


class AnomalyAttention(nn.Module):
    """Attention that also returns its series association and the learned Gaussian beside it."""

    squared_distance: Tensor

    def __init__(self, window: int, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.sigma = nn.Linear(d_model, n_heads)
        self.out = nn.Linear(d_model, d_model)
        place = torch.arange(window, dtype=torch.float32)
        self.register_buffer("squared_distance", (place[:, None] - place).square(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Associations]:
        """(batch, window, d_model) to the same, with (prior, series)."""
        mapped = (layer(x) for layer in (self.query, self.key, self.value))
        query, key, value = (one.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for one in mapped)
        series = torch.softmax(query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5, dim=-1)
        prior = prior_association(widths(self.sigma(x).transpose(1, 2)), self.squared_distance)
        mixed = (series @ value).transpose(1, 2).flatten(2)
        return self.out(mixed), (prior, series)


class EncoderLayer(nn.Module):
    """Attention, then two maps point by point; each is added to its input and normalised."""

    def __init__(self, window: int, d_model: int, n_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention = AnomalyAttention(window, d_model, n_heads)
        self.forward_map = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )
        self.first_norm = nn.LayerNorm(d_model)
        self.second_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> tuple[Tensor, Associations]:
        """(batch, window, d_model) to the same, with (prior, series)."""
        attended, associations = self.attention(x)
        x = self.first_norm(x + self.dropout(attended))
        return self.second_norm(x + self.forward_map(x)), associations


class AnomalyTransformerNetwork(nn.Module):
    """Reconstructs windows and tells the associations of every layer."""

    def __init__(
        self, n_columns: int, window: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = Embedding(n_columns, window, d_model, dropout)
        self.layers = nn.ModuleList(EncoderLayer(window, d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.projection = nn.Linear(d_model, n_columns)

    def forward(self, x: Tensor) -> tuple[Tensor, list[Associations]]:
        """(batch, window, columns) to its reconstruction, with (prior, series) of each layer."""
        hidden, associations = self.embedding(x), []
        for layer in self.layers:
            hidden, found = layer(hidden)
            associations.append(found)
        return self.projection(self.norm(hidden)), associations


# TimesNet's network: windows folded along their own periods into pictures, and convolved there.
# A point's neighbours in a folded window are the points beside it and the points one period away, so one
# two-dimensional convolution sees the variation within a period and between periods.


# A convolution's weight (out, in, height, width) and bias (out,).
Kernel = tuple[Tensor, Tensor]


def strongest_periods(x: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """Periods and amplitudes of each window's `top_k` strongest frequencies, strongest first: (batch, top_k) each."""
    length = x.shape[1]
    amplitude = torch.fft.rfft(x, dim=1).abs().mean(dim=-1)
    # Frequency 0 is the mean, not a period.
    strongest, index = amplitude[:, 1:].topk(top_k, dim=1)
    frequency = index + 1
    return (length + frequency - 1) // frequency, strongest


def fold(x: Tensor, period: int) -> Tensor:
    """(batch, length, channels) to (batch, channels, periods, period), filled up with zeros behind the end."""
    missing = -x.shape[1] % period
    filled = functional.pad(x, (0, 0, 0, missing))
    return filled.reshape(len(x), -1, period, x.shape[2]).permute(0, 3, 1, 2)


def unfold(grid: Tensor, length: int) -> Tensor:
    """Undo `fold`: what was filled up is cut off."""
    return grid.permute(0, 2, 3, 1).flatten(1, 2)[:, :length]


class Inception(nn.Module):
    """The mean of several square convolutions of sizes 1, 3, 5, ...: written as the one convolution it equals.

    Convolution is linear, so the mean of the results is the result of the mean kernel, the smaller kernels set into
    the middle of the largest. One pass of 121 weights stands for six of 286 in all.
    """

    def __init__(self, n_in: int, n_out: int, num_kernels: int) -> None:
        super().__init__()
        sizes = range(1, 2 * num_kernels, 2)
        self.weights = nn.ParameterList(torch.empty(n_out, n_in, size, size) for size in sizes)
        for weight in self.weights:
            nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu")
        self.bias = nn.Parameter(torch.zeros(n_out))

    def merged(self) -> Kernel:
        """Compute the mean kernel and the bias."""
        reach = len(self.weights) - 1
        middled = [functional.pad(weight, (reach - i,) * 4) for i, weight in enumerate(self.weights)]
        return torch.stack(middled).mean(dim=0), self.bias


def convolve(grid: Tensor, kernel: Kernel) -> Tensor:
    """Same-size convolution, the kernel cut to what can meet the grid: beyond that it would meet only the padding."""
    weight, bias = kernel
    reach = weight.shape[-1] // 2
    high, wide = (min(reach, size - 1) for size in grid.shape[-2:])
    cut = functional.pad(weight, (wide - reach, wide - reach, high - reach, high - reach))
    return functional.conv2d(grid, cut, bias, padding=(high, wide))


class TimesBlock(nn.Module):
    """The window plus what its strongest periods say of it, each weighted by the softmax of its amplitude.

    Each window is folded along its own periods, as in the paper: what a window gives does not depend on which others
    share its batch. (The published code takes the periods of the batch's mean.) Windows of one period go together.
    """

    def __init__(self, d_model: int, d_ff: int, top_k: int, num_kernels: int) -> None:
        super().__init__()
        self.top_k = top_k
        self.first = Inception(d_model, d_ff, num_kernels)
        self.second = Inception(d_ff, d_model, num_kernels)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, d_model) to the same."""
        periods, amplitudes = strongest_periods(x, self.top_k)
        weights = torch.softmax(amplitudes, dim=1)
        first, second = self.first.merged(), self.second.merged()
        result = x
        # Where one amplitude towers over the others, their weights underflow. They would change nothing but the time:
        # gradients too small for normal floats slow a CPU's convolutions fifty times.
        counts = weights > torch.finfo(x.dtype).eps
        for period, rows, weight in _by_period(torch.where(counts, periods, 0), weights):
            grid = fold(x.index_select(0, rows), period)
            grid = convolve(functional.gelu(convolve(grid, first)), second)
            result = result.index_add(0, rows, weight[:, None, None] * unfold(grid, x.shape[1]))
        return result


def _by_period(periods: Tensor, weights: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Each period except 0, the windows that have it and their weights, from (batch, top_k) of both.

    The periods are fetched once for all windows: a GPU that is asked for each period by itself mostly waits.
    """
    count = len(periods)
    pairs, order = (periods * count + torch.arange(count, device=periods.device)[:, None]).flatten().sort()
    # Two frequencies of one window can have the same period: then their weights add up.
    pairs, place = torch.unique_consecutive(pairs, return_inverse=True)
    weight = weights.new_zeros(len(pairs)).index_add(0, place, weights.flatten()[order])
    found, sizes = torch.unique_consecutive(pairs // count, return_counts=True)
    rows, shares = (torch.split(x, sizes.tolist()) for x in (pairs % count, weight))
    for period, own, share in zip(found.tolist(), rows, shares, strict=True):
        if period > 0:
            yield period, own, share


class TimesNetNetwork(nn.Module):
    """Reconstructs windows, each normalised by its own mean and deviation on the way in and back on the way out."""

    def __init__(
        self,
        n_columns: int,
        window: int,
        d_model: int,
        d_ff: int,
        n_layers: int,
        top_k: int,
        num_kernels: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding = Embedding(n_columns, window, d_model, dropout)
        self.blocks = nn.ModuleList(TimesBlock(d_model, d_ff, top_k, num_kernels) for _ in range(n_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.projection = nn.Linear(d_model, n_columns)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, window, columns) to its reconstruction."""
        mean = x.mean(dim=1, keepdim=True)
        # The small term keeps constant columns, whose deviation is zero, out of a division by zero.
        deviation = (x.var(dim=1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        hidden = self.embedding((x - mean) / deviation)
        for block, norm in zip(self.blocks, self.norms, strict=True):
            hidden = norm(block(hidden))
        reconstruction: Tensor = self.projection(hidden) * deviation + mean
        return reconstruction
