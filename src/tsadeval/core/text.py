"""Reading `name(option=value)`, the text by which metrics, thresholds and detectors are named everywhere."""

from __future__ import annotations

import ast
from typing import Any

from tsadeval.errors import InvalidParameterError


def parse_call(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Read `name`, `name(0.95)` or `name(window=100, kind=flat)`; bare words are strings, in lists too.

    >>> parse_call("quantile(0.95)")
    ('quantile', [0.95], {})
    >>> parse_call("cce(uncertainty=pointwise, gamma=5)")
    ('cce', [], {'uncertainty': 'pointwise', 'gamma': 5})
    >>> parse_call("f(columns=[x, y])")
    ('f', [], {'columns': ['x', 'y']})
    """
    problem = InvalidParameterError(f"cannot read {text!r}: write a name, or name(option=value, ...)")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise problem from None
    if isinstance(node, ast.Name):
        return node.id, [], {}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise problem

    def literal(value: ast.expr) -> Any:
        if isinstance(value, ast.Name):
            return value.id
        if isinstance(value, ast.List):
            return [literal(one) for one in value.elts]
        try:
            return ast.literal_eval(value)
        except ValueError:
            raise problem from None

    options = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise problem
        options[keyword.arg] = literal(keyword.value)
    return node.func.id, [literal(v) for v in node.args], options
