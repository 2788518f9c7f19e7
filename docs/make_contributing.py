"""Write the generated parts of CONTRIBUTING.md: the make targets, the packages with their imports, the map of files.

    python docs/make_contributing.py        # or: make generated

Targets come from the comments in the Makefile, layers from the import-linter contract in pyproject.toml, imports from
the source. A test fails when a part is older than what it is made from.
"""

import ast
import re
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"

Edges = dict[str, set[str]]


def targets() -> str:
    """The targets that `make help` lists."""
    found = re.findall(r"^([\w-]+):.*?## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "\n".join(
        ["| command | what it does |", "|---|---|", *(f"| `make {name}` | {what} |" for name, what in found)]
    )


def layers() -> list[list[str]]:
    """The packages from the highest layer to the lowest, as the contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    lines = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.findall(r"\w+", line) for line in lines]


def imports() -> Edges:
    """For every package (or top-level module), those that its modules import."""
    graph = grimp.build_graph("tsadeval", cache_dir=None)
    found: Edges = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            if "." in module and "." in imported:
                importer, package = module.split(".")[1], imported.split(".")[1]
                found.setdefault(importer, set()).update({package} - {importer})
    return found


def reachable(start: str, edges: Edges) -> set[str]:
    """All packages that a package imports, directly or through others."""
    found: set[str] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += edges.get(package, ())
    return found


def picture() -> str:
    """The packages as a Mermaid graph without the arrows that others imply, and a table of all imports."""
    order = {package: level for level, packages in enumerate(layers()) for package in packages}
    edges = {package: found & order.keys() for package, found in imports().items() if package in order}
    down = {package: {p for p in found if order[p] > order[package]} for package, found in edges.items()}
    arrows = []
    for package in order:
        for imported in sorted(edges.get(package, ()), key=list(order).index):
            if imported not in down[package]:
                arrows.append(f"    {package} -. against the layers .-> {imported}")
            elif not any(imported in reachable(other, down) for other in down[package]):
                arrows.append(f"    {package} --> {imported}")
    rows = [
        f"| `{package}` | {', '.join(f'`{p}`' for p in order if p in edges.get(package, ())) or 'nothing'} |"
        for package in order
        if package in edges or any(package in found for found in edges.values())
    ]
    graph = ["```mermaid", "flowchart TD", *arrows, "```"]
    return "\n".join([*graph, "", "| package | imports |", "|---|---|", *rows])


def rooms() -> str:
    """Return a line for every file, from its docstring, in the order of the layers."""
    source, lines = ROOT / "src" / "tsadeval", []
    for package in (name for names in layers() for name in names):
        files = sorted((source / package).rglob("*.py")) or [source / f"{package}.py"]
        for file in files:
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
            if said:
                first = " ".join(said.partition("\n\n")[0].split())
                lines.append(f"| `{file.relative_to(source).as_posix()}` | {first.replace('|', chr(92) + '|')} |")
    return "\n".join(["| file | what is in it |", "|---|---|", *lines])


PARTS = {"targets": targets, "imports": picture, "map": rooms}


def page(text: str) -> str:
    """CONTRIBUTING.md with its generated parts made anew."""
    for name, make in PARTS.items():
        begin, end = f"<!-- {name}: written by make generated -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + make() + "\n\n" + end + rest.split(end)[1]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE}")
