"""Failure modes with pictures, for docs/choosing.md: which metrics do not see which fault. Written when the site is built."""

import math

from scenarios import CASES, strip, values_of

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
    "always": "An alarm at every point: nothing is missed, and nothing is learned.",
}


def judged() -> dict[str, dict[str, str]]:
    """For every metric shown and every fault: "perfect", "random" or nothing, whichever it takes the detector for."""
    found: dict[str, dict[str, str]] = {}
    for name in SHOWN:
        sign = 1 if METRICS[name].direction == "higher" else -1
        values = {case: sign * value for case, value in values_of(name).items()}
        best, chance = values["perfect"], values["random"]
        found[name] = {}
        for fault in ASKED:
            got = values[fault]
            if math.isfinite(got) and got >= best - 0.02 * max(abs(best), 1e-9):
                found[name][fault] = "perfect"
            elif math.isfinite(got) and got <= chance:
                found[name][fault] = "random"
    return found


def overview(found: dict[str, dict[str, str]]) -> str:
    """All of it in one table, with the pictures as heads of the columns."""
    marks = {
        "perfect": '<td class="blind" title="rated as perfect">●</td>',
        "random": '<td class="blind" title="not rated above random">▼</td>',
        "": "<td></td>",
    }
    alarms = {case.name: case.alarms for case in CASES}
    heads = "".join(f'<th scope="col"><span>{fault}</span>{strip(alarms[fault])}</th>' for fault in ASKED)
    rows = [
        f'<tr><th scope="row"><a href="metrics/{name}.html">{METRICS[name].label}</a></th>'
        + "".join(marks[found[name].get(fault, "")] for fault in ASKED)
        + "</tr>"
        for name in SHOWN
    ]
    table = f"<thead><tr><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'```{{raw}} html\n<div class="table-wrapper"><table class="faults">{table}</table></div>\n```'


def section() -> str:
    found = judged()
    text = [
        f"{len(SHOWN)} metrics that papers report and tools default to, on [a series with two events](metrics/index.md#the-common-example). "
        "● rated as perfect, or less than 2 % below; ▼ not rated above random alarms:",
        overview(found),
        "Fault by fault:",
    ]
    for case in CASES:
        if case.name not in ASKED:
            continue
        links = [
            ", ".join(
                f"[{METRICS[name].label}](metrics/{name}.md)" for name in SHOWN if found[name].get(case.name) == taken
            )
            or "none of them"
            for taken in ("perfect", "random")
        ]
        text.append(
            f":::{{div}} failure\n**{case.name.capitalize()}.** {ASKED[case.name]}\n\n"
            f"```{{raw}} html\n{strip(case.alarms)}\n```\n\n"
            f"Rated as perfect, or less than 2 % below: {links[0]}.\n\nNot rated above random: {links[1]}.\n:::"
        )
    return "\n\n".join(text)
