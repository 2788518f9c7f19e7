"""Measure how many small faults of the library the tests find.

    make mutants [COUNT=150] [SEED=0]

or, in steps, with any selection of tests:

    PYTHONPATH=tests pytest -p mutants --cov --cov-context=test --cov-report=   which tests run a line, and their time
    python tests/mutants.py build/mutants.json --count 150 --seed 0      each mutant against the tests of its line

A mutant is a copy of src with one change: a comparison, a constant, a sum, two arguments, a condition. It is killed if
a test that runs the changed line fails, or does not end. Those that survive are printed: each is equivalent to the
original, or a test is missing.
"""

import argparse
import ast
import collections
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = Path(os.environ.get("TSADEVAL_SECONDS", ROOT / ".seconds.json"))
# Set in the process that tries a mutant: the tests to run, in this order, and the seconds that each takes otherwise.
CHOSEN = "TSADEVAL_MUTANT_TESTS"
COMPARED = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In},
}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


# The mutants


def mutants_of(path: Path):
    """Yield (line, start, end, replacement) for each change of one place in the functions of a file."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    seen = set()
    for function in functions:
        for statement in function.body:
            for node in walk_code(statement):
                if id(node) in seen:
                    continue
                seen.add(id(node))
                for old, new in changes(node):
                    place = (starts[old.lineno - 1] + old.col_offset, starts[old.end_lineno - 1] + old.end_col_offset)
                    yield (old.lineno, *place, new)


def walk_code(node):
    """Walk over what runs when the function is called: no annotations, docstrings or messages of errors."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "exc"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr | ast.FunctionDef):
                yield from walk_code(child)


def changes(node):
    """Yield pairs of a node and the text that takes its place."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = COMPARED[type(node.ops[0])]()
        yield node, f"({ast.unparse(ast.Compare(node.left, [other], node.comparators))})"
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, f"({ast.unparse(ast.BoolOp(other, node.values))})"
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        if not any(isinstance(side, ast.Constant | ast.JoinedStr | ast.List) for side in (node.left, node.right)):
            yield node, f"({ast.unparse(ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right))})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, f"{not node.value}" if isinstance(node.value, bool) else f"({node.value + 1})"
    elif isinstance(node, ast.Call) and len(node.args) >= 2:
        first, second, *rest = node.args
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            yield node, ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))
    elif isinstance(node, ast.If | ast.IfExp):
        yield node.test, "False"
        yield node.test, f"(not ({ast.unparse(node.test)}))"


def sample(count: int, seed: int):
    """Draw mutants from all of src, the same ones for the same sources."""
    files = sorted((ROOT / "src" / "tsadeval").rglob("*.py"))
    found = [(path.relative_to(ROOT).as_posix(), *mutant) for path in files for mutant in mutants_of(path)]
    return random.Random(seed).sample(found, count)


# What runs in the tests' own process: a plugin of pytest


def pytest_configure(config):
    if CHOSEN in os.environ:
        config.pluginmanager.register(Chosen(json.loads(Path(os.environ[CHOSEN]).read_text())))
    elif not hasattr(config, "workerinput"):
        config.pluginmanager.register(Timed())


class Timed:
    """Note how long each test takes."""

    def __init__(self):
        self.seconds = collections.Counter()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self):
        SECONDS.write_text(json.dumps(self.seconds))


class Chosen:
    """Run the chosen tests only, those first that take the least time; end the process at one that takes too long."""

    def __init__(self, seconds):
        self.seconds = seconds

    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if item.nodeid in self.seconds]
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in self.seconds])
        items[:] = sorted(kept, key=lambda item: self.seconds[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        signal.alarm(round(30 + 10 * self.seconds[item.nodeid]))
        try:
            return (yield)
        finally:
            signal.alarm(0)


# Running them


def tests_by_line(data: Path):
    """Which tests run a line of a file, from the contexts of a coverage run."""
    from coverage import CoverageData

    covered = CoverageData(str(data))
    covered.read()
    found = {}
    for file in covered.measured_files():
        name = file[file.index("src/tsadeval/") :]
        for line, contexts in covered.contexts_by_lineno(file).items():
            found.setdefault((name, line), set()).update(c.rpartition("|")[0] for c in contexts if "|" in c)
    return found


def copy_of_the_tree(folder: Path) -> Path:
    """A copy of what git knows and of the built kernels, with shared/ beside it where it is."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    built = [path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("*.so")]
    tree = folder / "tree"
    for name in (*names, *built):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    if (ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(ROOT.parent / "shared")
    return tree


def try_mutant(mutant, seconds, tree: Path, limit: float) -> str:
    """Run the tests of a mutant's line in a copy of the tree: "killed by ...", or "survived"."""
    name, _, start, end, replacement = mutant
    if not seconds:
        return "survived: no test runs the line"
    original = (tree / name).read_bytes()
    (tree / name).write_bytes(original[:start] + replacement.encode() + original[end:])
    chosen = tree.parent / "chosen.json"
    chosen.write_text(json.dumps(seconds))
    files = sorted({test.partition("::")[0] for test in seconds})
    command = [sys.executable, "-m", "pytest", "-p", "mutants", "-p", "no:cacheprovider", "-x", "-q", "--tb=no"]
    settings = {"PYTHONPATH": f"{tree / 'src'}:{tree / 'tests'}", CHOSEN: str(chosen), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, "-rfE", *files],
            cwd=tree,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return "survived: out of time"
    finally:
        (tree / name).write_bytes(original)
    if done.returncode in {3, 4, 5}:
        raise RuntimeError(f"pytest could not run: {done.stdout}{done.stderr}")
    if done.returncode == 0:
        return f"survived {len(seconds)} tests"
    failed = [line for line in done.stdout.split("\n") if line.startswith(("FAILED", "ERROR"))]
    return f"killed by {failed[0].split(' - ')[0] if failed else f'exit {done.returncode}'}"


def main() -> None:
    """Try a sample of mutants and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", type=Path, default=ROOT / ".coverage")
    parser.add_argument("--seconds", type=Path, default=SECONDS)
    parser.add_argument("--limit", type=float, default=900, help="seconds of one mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    lines, seconds = tests_by_line(given.coverage), json.loads(given.seconds.read_text())
    drawn = sample(given.count, given.seed)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    done = json.loads(given.output.read_text()) if given.output.exists() else {}
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(given.jobs) as pool,
    ):
        free = []
        for number in range(given.jobs):
            (Path(folder) / str(number)).mkdir()
            free.append(copy_of_the_tree(Path(folder) / str(number)))

        def attempt(mutant):
            tree = free.pop()
            try:
                tests = lines.get(mutant[:2], ())
                chosen = {test: seconds[test] for test in tests if test in seconds}
                return mutant, try_mutant(mutant, chosen, tree, given.limit)
            finally:
                free.append(tree)

        waiting = [pool.submit(attempt, mutant) for mutant in drawn if str(mutant) not in done]
        for one in concurrent.futures.as_completed(waiting):
            mutant, verdict = one.result()
            done[str(mutant)] = verdict
            given.output.write_text(json.dumps(done, indent=1))
    survivors = [mutant for mutant in drawn if done[str(mutant)].startswith("survived")]
    print(f"{len(drawn) - len(survivors)} of {len(drawn)} mutants killed (seed {given.seed})")
    for mutant in survivors:
        name, line, start, end, replacement = mutant
        original = (ROOT / name).read_bytes()[start:end].decode()
        print(f"{name}:{line}: {' '.join(original.split())}  ->  {replacement}   {done[str(mutant)]}")


if __name__ == "__main__":
    main()
