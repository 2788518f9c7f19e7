"""HTML templates: values are escaped, and scripts and styles are part of the page."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import Any

from tsadeval._optional import require

FOLDER = "templates"


@cache
def source(name: str) -> str:
    """The text of a template, style or script."""
    return resources.files("tsadeval.reports").joinpath(FOLDER, name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", extra="all")
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )


def trusted(text: str) -> Any:
    """Text of our own that goes into a page as it is."""
    return require("markupsafe", extra="all").Markup(text)


def as_json(data: Any) -> Any:
    """Data inside a script element: no character of it can end the element or start a comment.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\\u003c/script\\u003e"}
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return trusted(text)


def address(text: str) -> str:
    """A text as the path of a page: different for different texts, and the same whatever other pages there are.

    >>> address("NAB/art_daily"), address("moving variance"), address("a & <i>")
    ('NAB/art_daily', 'moving+variance', 'a+~26+~3Ci~3E')
    """
    return re.sub(r"[^A-Za-z0-9_.,=()/-]", _escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "+" if found[0] == " " else "".join(f"~{byte:02X}" for byte in found[0].encode())


def page(template: str, **context: Any) -> str:
    """A page of a site, whose styles and scripts are files beside it."""
    return str(_environment().get_template(template).render(**context))


def render(template: str, *, styles: tuple[str, ...], scripts: tuple[str, ...], **context: Any) -> str:
    """A page with its styles and scripts inside."""
    css = trusted("\n".join(map(source, styles)))
    script = trusted("\n".join(map(source, scripts)))
    return page(template, css=css, script=script, **context)
