"""HTML templates: values are escaped, and scripts and styles are part of the page."""

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote_plus

from tsadeval._optional import require


@cache
def source(name: str) -> str:
    """Return the text of a template, style or script."""
    return resources.files("tsadeval.reports").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", extra="all")
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(source), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )


def trusted(text: str) -> Any:
    """Mark text of our own, which goes into a page as it is."""
    return require("markupsafe", extra="all").Markup(text)


def as_json(data: Any) -> Any:
    """Write data for a script element: no character of it can end the element or start a comment.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\\u003c/script\\u003e"}
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return trusted(text)


def address(text: str) -> str:
    """Write a text as the path of a page: another for other texts, and the same whatever other pages there are.

    >>> address("NAB/art_daily"), address("moving variance"), address("a & <i>")
    ('NAB/art_daily', 'moving+variance', 'a+~26+~3Ci~3E')
    """
    return quote_plus(text, safe=",=()/").replace("~", "%7E").replace("%", "~")


def page(template: str, **context: Any) -> str:
    """Render a page of a site, whose styles and scripts are files beside it."""
    return str(_environment().get_template(template).render(**context))


def render(template: str, *, styles: tuple[str, ...], scripts: tuple[str, ...], **context: Any) -> str:
    """Render a page with its styles and scripts inside, which are all that a browser may run on it."""
    texts = {"css": "\n".join(map(source, styles)), "script": "\n".join(map(source, scripts))}
    hashes = {}
    for name, text in texts.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[f"{name}_hash"] = trusted(f"'sha256-{digest}'")
    return page(template, **{name: trusted(text) for name, text in texts.items()}, **hashes, **context)
