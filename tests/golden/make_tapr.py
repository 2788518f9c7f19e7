"""How tapr.json was made: the authors' own code and faster-etapr, on random labels and predictions.

`eTaPR_pkg` is the authors' package (github.com/saurf4ng/eTaPR), as it is bundled in the wheel of cce 0.3.3; it is not
on PyPI itself. faster-etapr 0.1.2 needs numpy < 2 through mlnext-framework. So both ran in an environment of their own:

    pip install faster-etapr==0.1.2 && pip download --no-deps cce==0.3.3 && unzip cce-0.3.3-py3-none-any.whl
    PYTHONPATH=metrics python make_tapr.py

The zones of `eTaPR_pkg` have one point more than asked for, so its delta is one smaller than ours where it is a number
of points. Cases where a zone of theirs takes in the next event's first point are left out: that is an error.
"""

import json
from pathlib import Path

import numpy as np


def runs(rng, n, longest):
    values, value = [], int(rng.integers(2))
    while len(values) < n:
        values += [value] * int(rng.choice([1, rng.integers(1, longest + 1)]))
        value = 1 - value
    return np.array(values[:n])


def ranges(labels):
    edges = np.diff(np.concatenate(([0], labels, [0])))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def main():
    # Only this script needs the packages, so that the test run may look at this file without them.
    import faster_etapr
    from eTaPR_pkg import etapr, tapr
    from eTaPR_pkg.DataManage.Range import Range

    def as_objects(found):
        return [Range(start, stop - 1, "") for start, stop in found]

    rng = np.random.default_rng(2022)
    cases = []
    while len(cases) < 60:
        n = int(rng.integers(10, 60))
        y, p = runs(rng, n, 9), runs(rng, n, 6)
        if not y.any() or not p.any():
            continue
        truth, alarms = ranges(y), ranges(p)
        lengths = [stop - start for start, stop in truth]
        gaps = [truth[i + 1][0] - truth[i][1] for i in range(len(truth) - 1)]
        kind = len(cases) % 4
        delta = 0 if kind < 2 else 1 if kind == 2 else int(rng.integers(2, 12))
        zones = lengths if kind == 2 else [delta] * len(truth)
        # Without ties at the thresholds, which sums of rounded decays decide by chance.
        thetas = [0.1, 1 / 3, 0.5, 2 / 3, 1.0] if delta == 0 else [0.13, 0.37, 0.59, 0.83]
        first, second = rng.choice(thetas, 2).tolist()
        if delta and any(gap == zone - 1 for gap, zone in zip(gaps, zones, strict=False)):
            continue
        if kind == 2 and min(lengths) < 2:
            continue
        if kind == 0:
            options = {"theta_p": first, "theta_r": second}
            found = faster_etapr.evaluate_from_preds(y_hat=p, y=y, **options)
            names = ("faster-etapr", "etapr", "eta/precision", "eta/recall")
        elif kind in (1, 2):
            options = {"theta_p": first, "theta_r": second, "delta": delta}
            found = etapr.evaluate_w_ranges(as_objects(truth), as_objects(alarms), **options)
            names = ("eTaPR_pkg", "etapr", "eTaP", "eTaR")
        else:
            options = {"theta": first, "alpha": second, "delta": delta}
            found = tapr.compute(as_objects(truth), as_objects(alarms), second, first, delta - 1)
            names = ("eTaPR_pkg", "tapr", "TaP", "TaR")
        cases.append(
            {
                "package": names[0],
                "function": names[1],
                "y": "".join(map(str, y.tolist())),
                "p": "".join(map(str, p.tolist())),
                "options": options,
                "precision": float(found[names[2]]),
                "recall": float(found[names[3]]),
            }
        )
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("tapr.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
