"""Kill every command that writes something at random moments, run it again, and compare to the last bit.

    python tests/faults/kills.py [KILLS] [COMMAND...]

A command is run once undisturbed. Then, in a fresh folder, it is started and killed with SIGKILL that many times, at
moments drawn uniformly from the time it takes. After each kill no process of it may be left, and every file that it
writes must be whole or not there. A last run must give what the undisturbed one gave.
"""

import csv
import io
import json
import random
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import contextlib

import numpy as np
import psutil

from boards import make as make_board
from detecting import write_series
from tsadeval.experiments.detect import read as read_detection
from tsadeval.rankeval import read as read_rankeval

MODULE = """
import time

def slow(y_true, y_score):
    time.sleep(0.002)
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()
"""
SERIES = [f"s{i}.csv" for i in range(6)]
TABLES = [f"scores/t{i}.csv" for i in range(8)]
CLOCK = ["seconds", "fit_seconds", "score_seconds"]
COMMANDS = {
    "score": [*TABLES, "--metrics", "all,killing:slow", "--format", "csv"],
    "compare": ["scores", "--by", "file", "--score", "lof,pca", "--metrics", "all,killing:slow", "--format", "csv"],
    "report": ["scores", "--by", "file", "--score", "lof,pca", "--metrics", "paper", "-o", "out/page.html"],
    "detect": [
        *(*SERIES, "--detectors", "random,lof(window=10),pca", "--metrics", "cce,f1,killing:slow"),
        *("--seed", "0", "--seed", "1", "--jobs", "2", "--store", "out"),
    ],
    "rankeval run": [
        *("--metrics", "f1,cce,killing:slow", "--tasks", "AccQ,LowDisAccQ", "--cases", "10k-2seg-50L,10k-20seg-50H"),
        *("--jobs", "2", "--store", "out"),
    ],
    "leaderboard build": ["board", "-o", "out", "--jobs", "2"],
}


def prepare(folder):
    folder.mkdir(parents=True)
    (folder / "killing.py").write_text(MODULE)
    for i, name in enumerate(SERIES):
        write_series(folder, Path(name).stem, i, n=2000)
    (folder / "scores").mkdir()
    for i, name in enumerate(TABLES):
        rng = np.random.default_rng(i)
        y = (np.arange(3000) // 50) % 12 == 5
        columns = np.column_stack([y, rng.random(3000) + y, rng.random(3000) + y, rng.random(3000)])
        np.savetxt(folder / name, columns, "%.9g", ",", header="label,score,lof,pca", comments="")
    make_board(folder / "board")


def start(command, folder):
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        line = [sys.executable, "-m", "tsadeval", *command.split(), *COMMANDS[command]]
        return subprocess.Popen(line, cwd=folder, stdout=out, stderr=err)


def finish(command, folder):
    begin = time.monotonic()
    code = start(command, folder).wait(600)
    if code:
        raise SystemExit(f"{command} ended with {code}: {(folder / 'stderr').read_text()}")
    return time.monotonic() - begin


def kill(command, folder, after):
    """Was it killed before it ended, and is there nothing left of it?"""
    process = start(command, folder)
    time.sleep(after)
    family = []
    if process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    killed = process.wait() == -9
    _, alive = psutil.wait_procs(family, timeout=20)
    left = [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    return killed, left


def frame_of(result):
    frame = result.to_frame().drop(columns=CLOCK, errors="ignore")
    return frame.sort_values(list(frame.columns[:11])).reset_index(drop=True).to_csv().encode()


def result(command, folder):
    """All that a command gives, but for the clock, as bytes by name."""
    if command == "detect":
        found = {"values": frame_of(read_detection(folder / "out"))}
        for path in sorted((folder / "out").rglob("*.npz")):
            with np.load(path) as arrays:
                found[path.name] = arrays["scores"].tobytes() + arrays["labels"].tobytes()
        return found
    if command == "rankeval run":
        return {"values": frame_of(read_rankeval(folder / "out"))}
    if command in ("score", "compare"):
        text = (folder / "stdout").read_text()
        rows = list(csv.DictReader(io.StringIO(text)))
        return {"stdout": json.dumps([{k: v for k, v in row.items() if k not in CLOCK} for row in rows]).encode()}
    files = [path for path in sorted((folder / "out").rglob("*")) if path.is_file()]
    shown = [path for path in files if "values" not in path.relative_to(folder / "out").parts[:1]]
    return {path.relative_to(folder).as_posix(): without_clock(path.read_bytes()) for path in shown}


def without_clock(content):
    """A page without when it was made, and how long it took."""
    content = re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC", b"", content)
    return re.sub(rb'("seconds"|"(?:fit|score)_seconds"): ?[^,}\]]+', rb"\1: 0", content)


def unfinished(command, folder, whole):
    """Files under their final names that are not what the undisturbed run wrote."""
    if command not in ("report", "leaderboard build") or not (folder / "out").exists():
        return []
    found = result(command, folder)
    return [name for name in found if not name.endswith(".aside") and found[name] != whole.get(name)]


def trial(command, folder, kills):
    whole, disturbed = folder / "whole", folder / "disturbed"
    prepare(whole)
    prepare(disturbed)
    seconds = finish(command, whole)
    expected = result(command, whole)
    rng = random.Random(command)
    struck, left, broken = 0, 0, []
    for _ in range(kills):
        killed, alive = kill(command, disturbed, rng.uniform(0, seconds))
        struck += killed
        left += len(alive)
        broken += unfinished(command, disturbed, expected)
    finish(command, disturbed)
    found = {name: content for name, content in result(command, disturbed).items() if not name.endswith(".aside")}
    differ = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    print(
        f"{command}: {kills} runs of about {seconds:.1f} s, {struck} killed before they ended, {left} processes left, "
        f"{len(broken)} unfinished files, {len(expected)} results of {sum(map(len, expected.values())):,} bytes, "
        f"{len(differ)} differ {(broken + differ)[:3] or ''}",
        flush=True,
    )
    return not (left or broken or differ)


def main(kills, commands):
    import tempfile

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        good = [trial(c, Path(folder, str(i)), kills) for i, c in enumerate(commands or COMMANDS)]
    raise SystemExit(not all(good))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, sys.argv[2:])
