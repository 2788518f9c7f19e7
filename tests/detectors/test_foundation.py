"""The example of a foundation model, with tiny models that are written to disk and loaded by the same code."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import tsadeval as te

torch = pytest.importorskip("torch", reason="torch is an extra")

pytestmark = pytest.mark.torch

HUBCONF = """
from pathlib import Path
import torch

dependencies = ["torch"]


def forecaster():
    model = torch.nn.Linear(96, 4, bias=False)
    model.load_state_dict(torch.load(Path(__file__).with_name("weights.pt"), weights_only=True))
    return model
"""


@pytest.fixture(scope="module")
def example():
    path = Path(__file__).resolve().parents[2] / "examples" / "foundation.py"
    spec = importlib.util.spec_from_file_location("foundation", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_from_torch_hub(tmp_path, example, capsys):
    """Weights that continue the wave of the example: 2 cos(1/5) times the last point minus the one before."""
    weights = torch.zeros(4, 96)
    weights[0, -2:] = torch.tensor([-1.0, 2 * np.cos(0.2)])
    torch.save({"weight": weights}, tmp_path / "weights.pt")
    (tmp_path / "hubconf.py").write_text(HUBCONF)
    assert example.main(str(tmp_path), "forecaster") > 0.95
    assert "AUC-ROC" in capsys.readouterr().out
    module = example.from_torch_hub(str(tmp_path), "forecaster")
    X = np.random.default_rng(0).normal(size=(120, 2))
    scores = te.detectors.wrap(module, window=96, output="forecast").fit(X).score(X)
    ahead = 2 * np.cos(0.2) * X[95:119] - X[94:118]
    np.testing.assert_allclose(scores[96:], np.square(ahead - X[96:]).mean(axis=1), rtol=1e-4)


def test_from_transformers(tmp_path, example):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    sizes = {"hidden_size": 16, "intermediate_size": 16, "head_dim": 8, "num_attention_heads": 2}
    config = transformers.TimesFmConfig(
        patch_length=32, context_length=96, horizon_length=8, num_hidden_layers=1, num_key_value_heads=2, **sizes
    )
    transformers.TimesFmModelForPrediction(config).save_pretrained(tmp_path)
    assert 0 <= example.main(str(tmp_path)) <= 1
