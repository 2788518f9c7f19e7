"""Data of an operations team, made by hand: 30 servers over the night when clocks go back, incidents, maintenance."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 10, 12, tzinfo=UTC)  # clocks go back on 25 October, 01:00 UTC
STEP, DAYS = 15, 28  # minutes
SERVERS = [f"srv-{k:02d}" for k in range(1, 31)]
DETECTORS = {"steady": (4.0, 1), "late": (6.0, 6), "eager": (2.5, 0), "coin": (0.0, 0)}  # height of alarms, delay


class Fleet(NamedTuple):
    """What is in the files, as arrays by server: minutes since the start, and masks and scores of the points."""

    minutes: dict[str, np.ndarray]
    labels: dict[str, np.ndarray]
    ignored: dict[str, np.ndarray]
    scores: dict[str, dict[str, np.ndarray]]
    incidents: list[tuple[str, int, int | None, str]]  # server, start and end in minutes, kind


def local(minute: int) -> str:
    """Return a time as people in Berlin write it."""
    return f"{(START + timedelta(minutes=int(minute))).astimezone(BERLIN):%Y-%m-%d %H:%M}"


def make(folder: Path, seed: int = 27) -> Fleet:
    """Write scores.csv, utc.csv (every 5 minutes), incidents.csv and maintenance.csv; return what is in them."""
    rng = np.random.default_rng(seed)
    end = DAYS * 1440
    all_night, one_day = (6 * 1440, 6 * 1440 + 240), (8 * 1440 + 480, 8 * 1440 + 720)
    slots = [k for k in range(360, end - 2880, 360) if k // 1440 not in (5, 6, 8, 12, 13)]
    busy = SERVERS[:24]
    incidents: list[tuple[str, int, int | None, str]] = []
    for k, slot in enumerate(rng.choice(slots, 35, replace=False).tolist()):
        start = slot + int(rng.integers(0, 60))
        incidents.append((busy[k % 20], start, start + int(rng.integers(45, 240)), str(rng.choice(["disk", "net"]))))
    incidents.append(("srv-27", 13 * 1440 + 95, 13 * 1440 + 150, "net"))  # in the hour that comes twice
    incidents += [(busy[20 + k], end - 300 - 60 * k, None, "disk") for k in range(4)]
    fleet = Fleet({}, {}, {}, {}, incidents)
    for server in SERVERS:
        minutes = np.arange(0, end, STEP)
        if server in ("srv-02", "srv-25"):  # a day without data
            minutes = minutes[(minutes < 16 * 1440) | (minutes >= 17 * 1440)]
        fleet.minutes[server] = minutes
        fleet.labels[server] = covered(
            minutes, [(a, end if b is None else b) for s, a, b, _ in incidents if s == server]
        )
        fleet.ignored[server] = covered(minutes, [all_night, *([one_day] if server == "srv-03" else [])])
        onset = {a: b for s, a, b, _ in incidents if s == server}
        fleet.scores[server] = {}
        for name, (height, delay) in DETECTORS.items():
            found = np.round(rng.standard_t(6, len(minutes)) * (3 if name == "coin" else 1), 3)
            for a, b in onset.items():
                found[(minutes >= a + delay * STEP) & (minutes < (end if b is None else b))] += height
            found[fleet.ignored[server]] += 9  # maintenance is loud
            fleet.scores[server][name] = np.round(found, 3)
    _write(folder, fleet, all_night, one_day)
    return fleet


def covered(minutes: np.ndarray, spans: list[tuple[int, int]]) -> np.ndarray:
    """Return which points are inside any of some spans."""
    found = np.zeros(len(minutes), bool)
    for a, b in spans:
        found |= (minutes >= a) & (minutes < b)
    return found


def _write(folder: Path, fleet: Fleet, all_night: tuple[int, int], one_day: tuple[int, int]) -> None:
    with open(folder / "scores.csv", "w") as here, open(folder / "utc.csv", "w") as there:
        print("server", "time", *DETECTORS, sep=",", file=here)
        print("server", "time", "steady", sep=",", file=there)
        for server in SERVERS:
            columns = fleet.scores[server]
            for k, minute in enumerate(fleet.minutes[server].tolist()):
                print(server, local(minute), *(columns[name][k] for name in DETECTORS), sep=",", file=here)
                for part in range(0, STEP, 5):
                    utc = START + timedelta(minutes=minute + part)
                    print(server, f"{utc:%Y-%m-%dT%H:%M:%SZ}", columns["steady"][k], sep=",", file=there)
    with open(folder / "incidents.csv", "w") as file:
        print("server,start,end,kind,ticket", file=file)
        for k, (server, start, end, kind) in enumerate(fleet.incidents):
            stamps = [local(start), "" if end is None else local(end)]
            if server == "srv-27":  # which local time alone would not tell
                stamps = [f"{START + timedelta(minutes=m):%Y-%m-%d %H:%M}+00:00" for m in (start, end or 0)]
            print(server, *stamps, kind, f"INC-{k}", sep=",", file=file)
    with open(folder / "maintenance.csv", "w") as file:
        print("server,start,end", file=file)
        print("", *map(local, all_night), sep=",", file=file)
        print("srv-03", *map(local, one_day), sep=",", file=file)


def judged(fleet: Fleet, name: str, threshold: float, cooldown: int = 30) -> tuple[int, int, list[float]]:
    """Events found, false pages and delays of the alarms above a threshold, by plain arithmetic."""
    found, false, delays = 0, 0, []
    for server in SERVERS:
        minutes, inside = fleet.minutes[server], fleet.labels[server]
        at = np.flatnonzero((fleet.scores[server][name] > threshold) & ~fleet.ignored[server])
        if not len(at):
            continue
        first = np.append(True, minutes[at[1:]] - minutes[at[:-1]] - STEP > cooldown)
        false += int(np.count_nonzero(~np.logical_or.reduceat(inside[at], np.flatnonzero(first))))
        for owner, start, end, _ in fleet.incidents:
            own = minutes[at][(minutes[at] >= start) & (minutes[at] < (end or 10**9))]
            if owner == server and len(own):
                found += 1
                delays.append(float(own[0] - start))
    return found, false, delays


def budget(fleet: Fleet, per_week: float = 1.0) -> float:
    """How many false pages one a week and server allows, in normal time that was observed."""
    total = 0.0
    for server in SERVERS:
        lasting = np.minimum(np.diff(fleet.minutes[server], append=fleet.minutes[server][-1] + STEP), 20 * STEP)
        total += lasting[~fleet.labels[server] & ~fleet.ignored[server]].sum()
    return per_week * total / (7 * 1440)


def winner(fleet: Fleet) -> tuple[str, int, int, float]:
    """The detector that finds most incidents within the budget: its name, what it finds, false pages, median delay."""
    allowed, best = budget(fleet), []
    for name in DETECTORS:
        levels = np.unique(np.concatenate([fleet.scores[s][name][~fleet.ignored[s]] for s in SERVERS]))[::-1]
        top = (0, 0, [])
        for level in levels.tolist():
            one = judged(fleet, name, np.nextafter(level, -np.inf))
            if one[1] > allowed:
                break
            if one[0] > top[0] or (one[0] == top[0] and one[1] < top[1]):
                top = one
        best.append((-top[0], top[1], float(np.median(top[2] or [np.inf])), name))
    found, false, median, name = min(best)
    return name, -found, false, median


def write_until(folder: Path, fleet: Fleet, day: int) -> None:
    """Write now.csv and known.csv into a folder: scores and incidents as they are known at the start of a day."""
    head, *lines = (folder / "scores.csv").read_text().splitlines()
    minutes = np.concatenate([fleet.minutes[server] for server in SERVERS])
    now = [head, *(line for line, minute in zip(lines, minutes, strict=True) if minute < day * 1440)]
    (folder / "now.csv").write_text("\n".join(now) + "\n")
    head, *lines = (folder / "incidents.csv").read_text().splitlines()
    known = [head]
    for line, (_, start, end, _) in zip(lines, fleet.incidents, strict=True):
        server, begin, stop, *about = line.split(",")
        if start < day * 1440:
            known.append(",".join([server, begin, stop if end is None or end <= day * 1440 else "", *about]))
    (folder / "known.csv").write_text("\n".join(known) + "\n")


def recent_pages(fleet: Fleet, name: str, threshold: float, day: int, cooldown: int = 30) -> dict[str, int]:
    """How many false pages each server has had in the seven days before a day."""
    found = {}
    for server in SERVERS:
        minutes = fleet.minutes[server]
        seen = (minutes < day * 1440) & ~fleet.ignored[server]
        seen &= minutes > minutes[seen][-1] - 7 * 1440
        at = np.flatnonzero((fleet.scores[server][name] > threshold) & seen)
        first = np.flatnonzero(np.append(True, minutes[at[1:]] - minutes[at[:-1]] - STEP > cooldown)[: len(at)])
        found[server] = int(np.count_nonzero(~np.logical_or.reduceat(fleet.labels[server][at], first))) * bool(len(at))
    return found
