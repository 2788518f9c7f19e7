"""Write matrix_profile.json: profiles by STUMPY, for the tests of ours.

pip install stumpy && python tests/golden/make_matrix_profile.py
"""

import json
from pathlib import Path

import numpy as np
import stumpy

rng = np.random.default_rng(0)
values = np.round(np.sin(np.arange(300) / 5) + rng.normal(size=300) / 10, 3)
train = np.round(np.sin(np.arange(200) / 5) + rng.normal(size=200) / 10, 3)
values[100:140] = 1.0  # constant windows
train[50:70] = 2.0
cases = []
for window in (8, 25):
    joined = stumpy.stump(values, window, train, ignore_trivial=False)[:, 0]
    alone = stumpy.stump(values, window)[:, 0]
    cases.append({"window": window, "train": [float(d) for d in joined], "self": [float(d) for d in alone]})
found = {"stumpy": stumpy.__version__, "values": values.tolist(), "train": train.tolist(), "profiles": cases}
Path(__file__).with_suffix("").with_name("matrix_profile.json").write_text(json.dumps(found) + "\n")
