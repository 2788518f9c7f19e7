"""tsadeval and the packages that a user would take instead of it, side by side, on the same arrays in one run.

    python benchmarks/peers.py
    python benchmarks/peers.py --sizes 10000 --metrics f1_pa range_f1 --limit 10

Every metric has a process of its own, so that one package's imports and compilers do not disturb another's. In it
the competitors take turns, round by round, and the best round of each counts. Times are CPU times of one thread: on
a shared machine the wall time of a slow call has others' work in it, and that of a fast call has not, which would
flatter us. A package that takes longer than the limit is stopped, and the others start again without it. Speed is
only worth comparing where the value is the same: the table has the largest difference of the values, and a note where
a package has another definition or an error.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from contests import CONTESTS, PACKAGES, Data

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs"))
import measured

OURS = "tsadeval"
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("MKL", "NUMBA", "OMP", "OPENBLAS")}


def work(name, sizes, skip, limit):
    """The process of one metric: takes turns, and says on its output what starts and what was measured."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # packages print
    warnings.simplefilter("ignore")
    # The files beside this one are no packages; `metrics` is a part of cce.
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]

    def say(**fact):
        channel.write(json.dumps(fact) + "\n")

    make, peers = CONTESTS[name]
    calls = {OURS: make()}
    for peer in peers:
        say(starts=peer.package, n=0)
        if [0, peer.package] in skip:
            continue
        try:
            signal.setitimer(signal.ITIMER_PROF, limit)
            calls[peer.package] = peer.make()
            calls[peer.package](Data.of(1000))  # a compiler's time is not counted
        except ImportError as error:
            say(fails=peer.package, n=0, why="not installed", message=str(error))
            calls.pop(peer.package, None)
        except Exception as error:
            say(fails=peer.package, n=0, why="fails", message=repr(error))
            calls.pop(peer.package, None)
    last: dict[str, tuple[int, float]] = {}
    for n in sizes:
        data = Data.of(n)
        rounds = {}
        for turn in range(200):
            for who, call in list(calls.items()):
                if turn == 0:
                    say(starts=who, n=n)
                    if [n, who] in skip:
                        calls.pop(who)  # a longer series would take it longer still
                        continue
                    # Nothing here is faster than linear, so this projection is a lower bound.
                    if who in last and last[who][1] * n / last[who][0] > limit:
                        say(fails=who, n=n, why=f"over {limit:g} s (projected)")
                        calls.pop(who)
                        continue
                elif turn >= rounds[who]:
                    continue
                # The default action of this alarm ends the process, even within compiled code.
                signal.setitimer(signal.ITIMER_PROF, limit)
                start = time.thread_time()
                try:
                    value = np.ravel(call(data)).tolist()
                except Exception as error:
                    say(fails=who, n=n, why="fails", message=repr(error))
                    calls.pop(who)
                    continue
                seconds = time.thread_time() - start
                signal.setitimer(signal.ITIMER_PROF, 0)
                say(who=who, n=n, seconds=seconds, value=value)
                if turn == 0:
                    # One to two hundred rounds: about a second each, and no third round of what takes longer.
                    rounds[who] = 1 if seconds > 10 else 2 if seconds > 0.5 else min(200, int(1 / max(seconds, 1e-6)))
                    last[who] = (n, seconds)
                last[who] = (n, min(seconds, last[who][1]))


def watch(name, sizes, limit):
    """Run the process of one metric, again without whatever takes too long; a fact for each competitor and size."""
    facts: dict[tuple[int, str], dict[str, Any]] = {}
    skip: list[list[Any]] = []
    while True:
        command = [sys.executable, __file__, "--work", json.dumps([name, sizes, skip, limit])]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **ONE_THREAD}
        )
        asleep = threading.Timer(20 * limit, process.kill)  # what waits forever takes no CPU time
        asleep.start()
        running = [0, OURS]
        for line in process.stdout:
            fact = json.loads(line)
            if "starts" in fact:
                running = [fact["n"], fact["starts"]]
            elif "fails" in fact:
                facts[fact["n"], fact["fails"]] = fact
            else:
                key = fact["n"], fact["who"]
                if key not in facts or fact["seconds"] < facts[key].get("seconds", np.inf):
                    facts[key] = fact
        code = process.wait()
        asleep.cancel()
        stopped = {0: None, -signal.SIGPROF: f"over {limit:g} s"}.get(code, "crashes")
        if stopped is None:
            return facts
        if running[1] == OURS or running in skip:  # nobody to go on without
            raise RuntimeError(f"{name}: {stopped} in {running}")
        facts[running[0], running[1]] = {"why": stopped}
        skip.append(running)


def shown(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def rows(name, sizes, facts):
    """The lines of the table: one for each peer and size."""
    for peer in CONTESTS[name][1]:
        unfit = facts.get((0, peer.package))
        gone = None
        for n in sizes:
            mine = facts[n, OURS]
            theirs = unfit or facts.get((n, peer.package)) or gone
            ratio = difference = ""
            note = peer.note
            if theirs is None:
                time_text = "not run"
            elif "why" in theirs:
                gone = theirs
                time_text = theirs["why"]
                if time_text.startswith("over"):
                    ratio = f"> {float(time_text.split()[1]) / mine['seconds']:,.0f}"
                elif time_text == "fails":
                    note = theirs["message"][:80]
            else:
                time_text = shown(theirs["seconds"])
                ratio = (
                    f"{theirs['seconds'] / mine['seconds']:,.{1 if theirs['seconds'] < 10 * mine['seconds'] else 0}f}"
                )
                found = float(np.max(np.abs(np.subtract(mine["value"], theirs["value"]))))
                difference = f"{found:.0e}" if found else "0"
                if found > 1e-9 and not note:
                    note = "differs"
            yield name, f"{n:,}", shown(mine["seconds"]), peer.package, time_text, ratio, difference, note


def keep(found):
    """Write what the pages of the metrics show, a row for each metric and peer, and its table in docs/benchmarks.md."""
    sizes = measured.SIZES
    kept = {(row["metric"], row["peer"]): row for row in measured.read("peers")}
    fresh = {}
    for name, n, ours, peer, theirs, ratio, difference, note in found:
        row = fresh.setdefault((name, peer), {"metric": name, "peer": peer, "difference": "", "note": ""})
        row |= {f"ours_{sizes[n]}": ours, f"theirs_{sizes[n]}": theirs, f"ratio_{sizes[n]}": ratio}
        row["difference"] = max(row["difference"], difference, key=lambda text: float(text or -1))
        row["note"] = note or row["note"]
    measured.write("peers", list({**kept, **fresh}.values()))
    measured.put("benchmarks.md", "Against the peers", measured.peers())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--metrics", nargs="+", choices=list(CONTESTS), default=list(CONTESTS), metavar="METRIC")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a peer may take for one call")
    parser.add_argument("--keep", action="store_true", help="write the table into docs/; for the two sizes by default")
    parser.add_argument("--work", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(*options.work)
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores;", end=" ")
    print(", ".join(f"{package} {installed(package)}" for package in PACKAGES))
    for n in options.sizes:
        data = Data.of(n)
        count = [int(np.count_nonzero(np.diff(x, prepend=0) == 1)) for x in (data.y, data.p)]
        print(f"n = {n:,}: {count[0]} events; {data.p.sum():,} alarms in {count[1]:,} runs")
    print("\n| metric | n | tsadeval | peer | its time | times ours | difference | note |")
    print("|---|--:|--:|---|--:|--:|--:|---|")
    found = []
    for name in options.metrics:
        for cells in rows(name, options.sizes, watch(name, sorted(options.sizes), options.limit)):
            found.append(cells)
            print(f"| {' | '.join(cells)} |", flush=True)
    if options.keep:
        keep(found)


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
