"""Make nab.json: alarms of detectors of the Numenta Anomaly Benchmark and the scores that NAB published for them.

    python tests/golden/make_nab.py FOLDER

FOLDER holds NAB's own result files `<detector>_<series>.csv.gz` (timestamp, value, anomaly_score, label) of
`results/<detector>/realKnownCause`. Thresholds, scores and counts below are copied from
`results/<detector>/<detector>_<profile>_scores.csv` of numenta/NAB (commits ff474a1, 7f43b77, bf2de21, 487c0f9).
A row is used only where the counts of true and false alarms show that it was made from the same scores.
"""

import csv
import gzip
import json
import sys
from pathlib import Path

# (detector, profile, threshold): {series: (score, true alarm points, false alarm points)}
PUBLISHED = {
    ("expose", "standard", 0.9947875976562506): {
        "ambient_temperature_system_failure": (-2.0, 0, 0),
        "cpu_utilization_asg_misconfiguration": (-1.99551325909, 2, 27),
        "ec2_request_latency_system_failure": (0.726442074331, 5, 2),
        "machine_temperature_system_failure": (-3.10731481414, 3, 19),
        "rogue_agent_key_updown": (-0.48368768156, 2, 14),
    },
    ("expose", "reward_low_fn", 0.9935243606567389): {
        "ambient_temperature_system_failure": (-4.0, 0, 0),
        "cpu_utilization_asg_misconfiguration": (-3.75551325909, 5, 43),
        "ec2_request_latency_system_failure": (2.49830813219, 7, 3),
        "machine_temperature_system_failure": (-5.98519483622, 5, 27),
        "rogue_agent_key_updown": (-0.33322588892, 5, 19),
    },
    ("expose", "reward_low_fp", 0.9999267578125005): {
        "machine_temperature_system_failure": (-4.0, 0, 0),
        "rogue_agent_key_updown": (-0.044058943292, 2, 5),
    },
    ("bayesChangePt", "standard", 0.990909090909): {
        "cpu_utilization_asg_misconfiguration": (-9.808702506117664, 8, 98),
        "ec2_request_latency_system_failure": (-0.06089643987927407, 2, 2),
        "machine_temperature_system_failure": (-2.8799040364693766, 1, 0),
        "rogue_agent_key_hold": (1.3895897481660482, 2, 2),
        "rogue_agent_key_updown": (-0.08890795339189106, 2, 12),
    },
    ("bayesChangePt", "reward_low_fp", 0.997983870968): {
        "cpu_utilization_asg_misconfiguration": (-3.4200000000000004, 0, 11),
        "ec2_request_latency_system_failure": (0.15910321256411208, 2, 0),
        "rogue_agent_key_updown": (-2.4399991223189224, 0, 2),
    },
    ("windowedGaussian", "standard", 1.0): {
        "cpu_utilization_asg_misconfiguration": (-1.11, 0, 1),
        "ec2_request_latency_system_failure": (-0.06591011872780705, 3, 0),
        "rogue_agent_key_hold": (-2.44, 0, 4),
        "rogue_agent_key_updown": (-1.3964908955014117, 1, 8),
    },
}


def windows(labels):
    found = []
    for i, label in enumerate(labels):
        if label and found and found[-1][1] == i:
            found[-1][1] = i + 1
        elif label:
            found.append([i, i + 1])
    return found


def main(folder):
    cases = []
    for (detector, profile, threshold), table in PUBLISHED.items():
        for series, (score, true, false) in table.items():
            with gzip.open(Path(folder) / f"{detector}_{series}.csv.gz", "rt") as file:
                rows = list(csv.DictReader(file))
            labels = [int(row["label"]) for row in rows]
            alarms = [i for i, row in enumerate(rows) if float(row["anomaly_score"]) >= threshold]
            counted = [labels[i] for i in alarms if i >= min(0.15 * len(rows) // 1, 750)]
            if (sum(counted), len(counted) - sum(counted)) != (true, false):
                print("other scores:", detector, profile, series, sum(counted), len(counted) - sum(counted))
                continue
            name = f"{detector} {profile} {series}"
            case = {"name": name, "profile": profile, "n": len(rows), "windows": windows(labels)}
            cases.append({**case, "alarms": alarms, "score": score})
    text = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("nab.json").write_text(f"[\n{text}\n]\n")
    print(len(cases), "cases")


if __name__ == "__main__":
    main(sys.argv[1])
