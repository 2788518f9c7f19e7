"""Detectors that reconstruct windows by a network: Donut, USAD, Anomaly Transformer and TimesNet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import DeepDetector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats, Scaler
from tsadeval.errors import InvalidParameterError

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer


@detector(
    name="donut",
    title="Donut",
    summary="A variational autoencoder of windows that shrugs off missing points.",
    scoring="negative log-probability of a window given its hidden numbers, mean over covering windows",
    reference="Xu et al., Unsupervised Anomaly Detection via Variational Auto-Encoder for Seasonal KPIs in Web "
    "Applications, WWW 2018",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class Donut(DeepDetector):
    """Donut: a variational autoencoder of windows, trained so that missing points do not disturb it.

    Xu, Chen, Zhao, Li, Bu, Li, Liu, Zhao, Pei, Feng, Chen, Wang, Qiao: Unsupervised Anomaly Detection via Variational
    Auto-Encoder for Seasonal KPIs in Web Applications, WWW 2018.

    An encoder q(z | x) gives mean and deviation of a few hidden numbers z, a decoder p(x | z) mean and deviation of
    every value of the window. While training, a random share of the values is set to 0 (the mean), as if missing. With
    a = 0 for those values and 1 for the others, and b the mean of a, the network learns to make the modified ELBO
    large:

        E_q [ sum of a(w) log p(x(w) | z)  +  b log p(z)  -  log q(z | x) ]

    The score is - E_q [ log p(x | z) ] (the paper's "reconstruction probability"), the mean over samples of z.

    As in the paper: two hidden layers of 100 units, deviations by softplus plus a small floor, 1 % of the values
    injected as missing, a weight decay of 1e-3, batches of 256. Where we deviate: windows of 100 points (120 in the
    paper); windows of several columns are flattened (the paper has one column); a point's score is the mean over all
    values of all windows that cover it, not its own in the one window that it ends (chosen on UCR 125 and 154, where it
    is the better one); 16 samples of z instead of 1,024; values that are missing in the data are not imputed by Markov
    chains, since a series here has none; early stopping instead of a schedule.
    """

    batch_size: int = option(256, Number(1, integer=True), "batch size in windows")
    hidden: int = option(100, Number(1, integer=True), "units of a layer")
    latent: int = option(8, Number(1, integer=True), "hidden numbers of a window")
    missing: float = option(0.01, Number(0, 0.5), "share of the values that training pretends are missing")
    samples: int = option(16, Number(1, integer=True), "draws of the hidden numbers for a score")

    static_step = True
    weight_decay = 1e-3

    def build(self, columns: int) -> nn.Module:
        """Build an encoder and a decoder of fully connected layers."""
        from tsadeval.detectors._torch.networks import VariationalAutoencoder

        return VariationalAutoencoder(self.window * columns, self.hidden, self.latent)

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Minus the modified ELBO, by one sample of z for each window."""
        import torch

        values = batch.flatten(start_dim=1)
        share = self.missing if module.training else 0.0
        there = (torch.rand(values.shape, device=values.device) >= share).to(values.dtype)
        mean, deviation = module.encode(values * there)
        noise = torch.randn_like(mean)
        hidden = mean + deviation * noise
        reconstructed = (there * _log_normal(values * there, *module.decode(hidden))).sum(dim=1)
        prior = _log_normal(hidden, torch.zeros_like(mean), torch.ones_like(mean)).sum(dim=1)
        posterior = _log_normal(hidden, mean, deviation).sum(dim=1)
        return -(reconstructed + there.mean(dim=1) * prior - posterior).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Minus the mean log-probability of the values of each window."""
        import torch

        values = batch.flatten(start_dim=1)
        mean, deviation = module.encode(values)
        total = torch.zeros_like(values)
        for _ in range(self.samples):
            total += _log_normal(values, *module.decode(mean + deviation * torch.randn_like(mean)))
        return -total.mean(dim=1) / self.samples


def _log_normal(value: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    return -0.5 * ((value - mean) / deviation).square() - deviation.log() - 0.5 * math.log(2 * math.pi)


@detector(
    name="usad",
    title="USAD",
    summary="Two autoencoders with one encoder, trained against each other.",
    scoring="weighted squared errors of a window's reconstruction and of that one's, mean over covering windows",
    reference="Audibert et al., USAD: UnSupervised Anomaly Detection on Multivariate Time Series, KDD 2020",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class USAD(DeepDetector):
    """USAD: two autoencoders that share an encoder and are trained against each other.

    Audibert, Michiardi, Guyard, Marti, Zuluaga: USAD: UnSupervised Anomaly Detection on Multivariate Time Series,
    KDD 2020.

    With W a window, A1 and A2 the two autoencoders, |.| the mean square and n the epoch (from 1):

    - A1 learns to make |W - A1(W)| / n + (1 - 1/n) |W - A2(A1(W))| small: to reconstruct, and to fool A2;
    - A2 learns to make |W - A2(W)| / n - (1 - 1/n) |W - A2(A1(W))| small: to reconstruct, and to tell A1's output from
      real windows;
    - the score is alpha |W - A1(W)| + beta |W - A2(A1(W))|, alpha + beta = 1.

    As in the paper: columns on 0 ... 1 by the training part, layers of half and a quarter of the input, ReLU, a sigmoid
    at the end, alpha = beta. Where we deviate: windows of 100 points as in most benchmarks (the paper has 5 to 12); the
    layers have at most 512 and 256 units, so that wide windows stay trainable; a point's score is the mean score of all
    windows that cover it; early stopping watches |W - A1(W)|, which means the same in every epoch.
    """

    epochs: int = option(100, Number(1, integer=True), "at most so many passes over the training windows")
    patience: int = option(10, Number(1, integer=True), "stop after so many epochs without a lower validation loss")
    latent: int = option(10, Number(1, integer=True), "numbers that a window is squeezed into")
    alpha: float = option(0.5, Number(0, 1), "weight of the first autoencoder's error; the rest is beta")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """Build an encoder and two decoders of fully connected layers."""
        from tsadeval.detectors._torch.networks import Autoencoders

        return Autoencoders(self.window, columns, self.latent)

    def scaler(self, series: Floats) -> Scaler:
        """To 0 ... 1, where the sigmoids at the end can follow."""
        return Scaler.minmax(series)

    def optimizers(self, module: Any) -> tuple[Optimizer, ...]:
        """One for each autoencoder; both move the encoder."""
        from torch.optim import Adam

        shared = list(module.encoder.parameters())
        decoders = (module.first, module.second)
        return tuple(Adam([*shared, *decoder.parameters()], lr=self.learning_rate) for decoder in decoders)

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Return the two losses of the paper."""
        sign = 1 if turn == 0 else -1
        first = module(batch, 0)
        reconstructed = first if turn == 0 else module(batch, 1)
        again = module(first, 1)
        return (_errors(batch, reconstructed) / epoch + sign * (1 - 1 / epoch) * _errors(batch, again)).mean()

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """How well the first reconstructs: the game against the second has no minimum to wait for."""
        return _errors(batch, module(batch, 0)).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Return the weighted errors of the windows."""
        first = module(batch, 0)
        again = module(first, 1)
        return self.alpha * _errors(batch, first) + (1 - self.alpha) * _errors(batch, again)


def _errors(batch: Tensor, other: Tensor) -> Tensor:
    return (batch - other).square().mean(dim=(1, 2))


@dataclass(kw_only=True, eq=False, repr=False)
class DecayingDetector(DeepDetector):
    """A detector that learns for few epochs, more slowly from the third on."""

    epochs: int = option(10, Number(1, integer=True), "at most so many passes over the training windows")
    learning_rate: float = option(1e-4, Number(0, open_low=True), "Adam learning rate of the first two epochs")
    decay: float = option(0.5, Number(0, 1, open_low=True), "of the learning rate, in each epoch from the third on")

    def learning_rate_at(self, epoch: int) -> float:
        """Full for two epochs, then a fraction of the one before."""
        return float(self.learning_rate * self.decay ** max(epoch - 2, 0))


@detector(
    name="anomaly_transformer",
    title="A.T.",
    summary="A transformer that compares each point's attention with a learned Gaussian around it.",
    scoring="squared error of its reconstruction, weighted by the softmax of minus its association discrepancy in its "
    "window; windows lie side by side",
    reference="Xu et al., Anomaly Transformer: Time Series Anomaly Detection with Association Discrepancy, ICLR 2022",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyTransformer(DecayingDetector):
    """Anomaly Transformer: points whose associations in a window are merely local are anomalous.

    Xu, Wu, Wang and Long: Anomaly Transformer: Time Series Anomaly Detection with Association Discrepancy, ICLR 2022.

    Every layer of a transformer gives each point i of a window two distributions over the window's points: the series
    association S_i (the attention) and the prior association P_i (a Gaussian of the distance in time, of learned width
    sigma_i). With X a window, R its reconstruction and |.| the mean square:

    - D_i = KL(P_i || S_i) + KL(S_i || P_i), mean over heads and layers, is the association discrepancy;
    - the minimise phase makes |X - R| + k D small through P, S held fixed; the maximise phase makes |X - R| - k D small
      through S, P held fixed. One step goes down the sum of both gradients;
    - the score of point i is |X_i - R_i| times the softmax over the window of -D_i.

    As in the published code: windows of 100 points, three layers, 512 units, 8 heads, k = 3, Adam with a learning rate
    of 1e-4 for two epochs and half of the one before in each further, batches of 256, no dropout; logarithms of p +
    1e-4; sigma = 3^(sigmoid(5 s) + 1e-5) - 1 from the layer's raw output s; in the score, D summed over the layers and
    multiplied by a temperature of 50, which the paper's formula does not have.

    Windows are scored side by side, each point in one of them, as there: a window's weights sum to one, so a point's
    weight says how it compares with the others of that window, and means over windows that overlap would blur it. A
    last window that does not fit ends with the series and overlaps the one before, where the published code leaves the
    rest unscored. `coverage` asks for more windows over each point.

    Where we deviate: early stopping watches |X - R| on a part of the training series (the published code watches both
    phases' losses, on the test series); long gradients are cut, as for all networks here; the score is one of each
    point and no labels are used to adjust it (the published results count a whole event as found where one of its
    points is: point adjustment, which rewards even random scores).

    A training step of 256 windows takes about 6 GB; a smaller `batch_size` takes less.
    """

    batch_size: int = option(256, Number(1, integer=True), "batch size in windows")
    d_model: int = option(512, Number(1, integer=True), "numbers that describe a point inside; a multiple of n_heads")
    d_ff: int = option(512, Number(1, integer=True), "units of the map between attentions")
    n_heads: int = option(8, Number(1, integer=True), "attentions of a layer")
    n_layers: int = option(3, Number(1, integer=True), "layers")
    dropout: float = option(0.0, Number(0, 0.99), "share of units silenced while training")
    k: float = option(3.0, Number(0), "weight of the association discrepancy beside the reconstruction error")
    temperature: float = option(50.0, Number(0), "of the softmax that weights the errors; 0: errors alone")
    coverage: int = option(1, Number(1, integer=True), "scored windows over each point; 1: side by side")

    static_step = True

    def build(self, columns: int) -> nn.Module:
        """Build a transformer over the points of a window."""
        from tsadeval.detectors._torch.networks import AnomalyTransformerNetwork

        if self.d_model % self.n_heads:
            raise InvalidParameterError(
                f"{self.record.name}: d_model must be a multiple of n_heads, but is {self.d_model} with {self.n_heads} "
                "heads"
            )
        return AnomalyTransformerNetwork(
            columns, self.window, self.d_model, self.n_heads, self.d_ff, self.n_layers, self.dropout
        )

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Both phases in one."""
        from tsadeval.detectors._torch.networks import minimax_loss

        reconstruction, associations = module(batch)
        return minimax_loss(batch, reconstruction, associations, self.k)

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """Return the reconstruction error: half the sum of both phases' losses, in which the discrepancies cancel."""
        reconstruction, _ = module(batch)
        error: Tensor = (batch - reconstruction).square().mean()
        return error

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Return the weighted errors of every point of the windows."""
        from tsadeval.detectors._torch.networks import anomaly_score

        reconstruction, associations = module(batch)
        return anomaly_score(batch, reconstruction, associations, self.temperature)


@detector(
    name="timesnet",
    title="TimesNet",
    summary="Convolutions over windows that are folded along their own periods.",
    scoring="squared error of its reconstruction, mean over covering windows",
    reference="Wu et al., TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR 2023",
    extra="torch",
)
@dataclass(kw_only=True, eq=False, repr=False)
class TimesNet(DecayingDetector):
    """TimesNet: a window, folded along its periods into pictures, is reconstructed by two-dimensional convolutions.

    Wu, Hu, Liu, Zhou, Wang and Long: TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR
    2023.

    With X the points of a window of T points inside a block, one vector each:

    - A_f is the amplitude of frequency f, mean over the vectors' entries, f = 1 ... T/2; the top_k strongest
      frequencies give the periods ceil(T / f);
    - for each of them X, filled up with zeros, is laid out as rows of one period, passes two inception blocks (means of
      convolutions of sizes 1, 3, 5, ... with a GELU between) and is laid back out in time;
    - the block gives X plus the sum of these, weighted by the softmax of their amplitudes.

    Each window is brought to mean 0 and deviation 1 before, and back after. The score of a point is the mean square of
    its reconstruction error, mean over the scored windows that cover it: `coverage` many (ten by default, a tenth of
    all; the published code scores all windows and judges each by itself).

    As in the published code: windows of 100 points, 64 units inside and in the convolutions, two blocks, three periods,
    six kernels, dropout of 0.1, Adam with a learning rate of 1e-4 for two epochs and half of the one before in each
    further, batches of 128. These sizes are among those that it uses; it has others for each data set.

    Where we deviate: periods are those of each window, rounded up, as the paper writes (the published code takes them
    from the mean of the batch, rounded down, so that a score depends on the windows that happen to be scored with it);
    each block has its own normalisation behind it; periods whose weight is below the rounding of a float are skipped;
    long gradients are cut, as for all networks here. The published results are of points adjusted by the labels, which
    rewards even random scores; ours are not adjusted.
    """

    d_model: int = option(64, Number(1, integer=True), "numbers that describe a point inside")
    d_ff: int = option(64, Number(1, integer=True), "channels between the two inception blocks")
    n_layers: int = option(2, Number(1, integer=True), "blocks")
    top_k: int = option(3, Number(1, integer=True), "periods of a window; at most half as many as it has points")
    num_kernels: int = option(6, Number(1, integer=True), "convolutions of an inception block")
    dropout: float = option(0.1, Number(0, 0.99), "share of units silenced while training")
    coverage: int = option(10, Number(1, integer=True), "scored windows over each point; 1: side by side")

    def build(self, columns: int) -> nn.Module:
        """Blocks of convolutions over folded windows."""
        from tsadeval.detectors._torch.networks import TimesNetNetwork

        if self.top_k > self.window // 2:
            raise InvalidParameterError(
                f"{self.record.name}: top_k must be at most half the window, but is {self.top_k} with a window of "
                f"{self.window}, which has only {self.window // 2} frequencies"
            )
        return TimesNetNetwork(
            columns,
            self.window,
            d_model=self.d_model,
            d_ff=self.d_ff,
            n_layers=self.n_layers,
            top_k=self.top_k,
            num_kernels=self.num_kernels,
            dropout=self.dropout,
        )

    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Return the reconstruction error."""
        return self.window_scores(module, batch).mean()

    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Return the squared errors of every point of the windows, mean over the columns."""
        error: Tensor = (batch - module(batch)).square().mean(dim=2)
        return error
