"""Make event_level.json: event F of dtaianomaly 0.5.1 and TSB-AD 1.5 on random labels and predictions.

pip install dtaianomaly==0.5.1 TSB-AD==1.5 (each needs torch; TSB-AD asks for numpy < 2)
python tests/golden/make_event_level.py
"""

import json
from pathlib import Path

import numpy as np
from dtaianomaly.evaluation import EventWiseFBeta, EventWisePrecision, EventWiseRecall
from TSB_AD.evaluation.basic_metrics import basic_metricor


def main():
    rng = np.random.default_rng(11)
    cases = []
    while len(cases) < 60:
        n = int(rng.integers(3, 40))
        y, p = ((np.cumsum(rng.random(n + 1) < rng.uniform(0.1, 0.6)) % 2)[1:] for _ in range(2))
        if y.any() and p.any():
            cases.append(
                {
                    "y": "".join(map(str, y)),
                    "p": "".join(map(str, p)),
                    "dtaianomaly": [
                        float(m().compute(y, p)) for m in (EventWisePrecision, EventWiseRecall, EventWiseFBeta)
                    ],
                    "TSB-AD": float(basic_metricor().metric_EventF1PA(y, p.astype(float), preds=p)),
                }
            )
    text = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("event_level.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
