"""Failure modes with pictures, for docs/choosing.md: which metrics do not see which fault. Written when the site is built."""

import math

from scenarios import CASES, strip, value

from tsadeval.core.metric import METRICS

PLACE = "<!-- failure modes: written when the site is built -->"
# Those that papers report and tools default to; the pages of the others have the same pictures.
SHOWN = [
    "accuracy",
    "f1",
    "mcc",
    "f1_pa",
    "f1_pa_k",
    "affiliation_f1",
    "unbiased_affiliation_f1",
    "range_f1",
    "etapr_f1",
    "event_f1",
    "composite_f1",
    "nab_score",
    "pate_f1",
    "auc_roc",
    "auc_pr",
    "vus_roc",
    "vus_pr",
    "pate",
    "ears",
    "cce",
]
ASKED = {
    "late": "Every alarm begins in the middle of its event. Does the metric notice?",
    "shifted early": "Alarms come 30 points too early and end too early.",
    "one point each": "One alarm in each event, and nothing else. For an operator that may be enough; for a segmentation it is not.",
    "in pieces": "Events are covered by half, in pieces: flicker.",
    "one event missed": "The short event is missed.",
    "one false alarm": "Ten points of false alarm, far from any event.",
    "long false alarm": "A false alarm longer than both events together.",
    "always": "An alarm at every point: useless, and complete.",
}


def section() -> str:
    sign = {name: 1 if METRICS[name].direction == "higher" else -1 for name in SHOWN}
    values = {name: {case.name: sign[name] * value(METRICS[name], case) for case in CASES} for name in SHOWN}
    text = []
    for case in CASES:
        if case.name not in ASKED:
            continue
        blind, fooled = [], []
        for name in SHOWN:
            got, best, chance = (values[name][key] for key in (case.name, "perfect", "random"))
            if math.isfinite(got) and got >= best - 0.02 * max(abs(best), 1e-9):
                blind.append(name)
            elif math.isfinite(got) and got <= chance:
                fooled.append(name)
        links = [
            ", ".join(f"[{METRICS[n].label}](metrics/{n}.md)" for n in names) or "none of them"
            for names in (blind, fooled)
        ]
        text.append(
            f":::{{div}} failure\n**{case.name.capitalize()}.** {ASKED[case.name]}\n\n"
            f"```{{raw}} html\n{strip(case.alarms)}\n```\n\n"
            f"Rated as perfect, or less than 2 % below: {links[0]}.\n\nNot rated above random: {links[1]}.\n:::"
        )
    names = ", ".join(METRICS[name].label for name in SHOWN)
    return "\n\n".join([f"Of the twenty metrics {names}, on the [common example](metrics/index.md):", *text])
