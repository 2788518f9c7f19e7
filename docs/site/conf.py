"""Sphinx's settings of the site. It is built by build.py, which gathers the sources first."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import tsadeval

project = "tsadeval"
author = "The tsadeval developers"
copyright = "the tsadeval developers"  # noqa: A001 (Sphinx reads it by this name)
version = release = tsadeval.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "html_image"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
default_role = "code"
smartquotes = False  # a text to copy keeps its quotes
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"  # the docstrings name them in words
autodoc_member_order = "bysource"
copybutton_prompt_text = ">>> "
copybutton_only_copy_prompt_lines = True
# Links inside the site are checked by Sphinx (an unknown target is an error) and by links.py in the built pages.
nitpicky = False
suppress_warnings = ["myst.header"]  # pages of tables begin with other levels here and there

html_theme = "furo"
html_title = "tsadeval"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#6fb7e6", "color-brand-content": "#6fb7e6"},
    "source_repository": "https://github.com/tsadeval/tsadeval",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": [],
}
pygments_style = "default"
pygments_dark_style = "monokai"


def escape_marks(app, what, name, thing, options, lines: list[str]) -> None:
    """Docstrings are plain text: a star ("ucr/*"), a last underscore ("lof_") and a bar are no marks of a format."""
    example = False
    for i, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = line.split("`")  # what stands in backticks is code already
            lines[i] = "`".join(
                part if k % 2 else re.sub(r"([*|]|(?<=\w)_(?!\w))", r"\\\1", part) for k, part in enumerate(parts)
            )


def setup(app) -> None:
    app.connect("autodoc-process-docstring", escape_marks, priority=100)  # before numpydoc
