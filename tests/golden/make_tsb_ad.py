"""Write tsb_ad.json: scores of TSB-AD's LOF and IForest, fitted on the series that they score, for the tests of ours.

make peers && .venv-peers/bin/python tests/golden/make_tsb_ad.py
"""

import json
import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import numpy as np


class Empty(ModuleType):
    """What TSB-AD imports, and these two do not use: torch, and features of windows."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


for name in ("torch", "torch.nn", "statsmodels.tsa.ar_model", "statsmodels.tsa.seasonal", "hurst"):
    sys.modules[name] = Empty(name)
    sys.modules[name].__spec__ = ModuleSpec(name, None)

from TSB_AD.models.IForest import IForest
from TSB_AD.models.LOF import LOF

rng = np.random.default_rng(0)
values = np.sin(np.arange(400) / 7) + rng.normal(size=400) / 10
values[250:270] += 1
found = {"TSB-AD": version("TSB-AD"), "scikit-learn": version("scikit-learn"), "values": values.tolist(), "scores": {}}
for key, model in {
    "lof": LOF(slidingWindow=1, n_neighbors=30),
    "iforest": IForest(slidingWindow=25, n_estimators=100, max_features=1, random_state=0),
}.items():
    found["scores"][key] = model.fit(values[:, None]).decision_scores_.tolist()
Path(__file__).with_name("tsb_ad.json").write_text(json.dumps(found) + "\n")
