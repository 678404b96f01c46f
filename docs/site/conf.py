"""The site: Sphinx reads the pages of this repository where they are. The command `site` of the package starts it."""

import os
from importlib.util import find_spec
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiled functions show neither docstring nor signature

project = "localentropy"
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "data/README.md",
    "notebooks/README.md",
    "notebooks/*.py",
    "docs/**.md",
    "docs/api/*.rst",
    "figures/gallery/**.md",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext", ".py": "markdown"}  # .py: only notebooks
# Folders that need not be searched for pages.
exclude_patterns = [".*", "build", "logs", "results", "site", "src", "tests", "figures/[!g]*"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.linkcode",
    "localentropy.commands.site",
]

# Pages are written as GitHub reads them.
myst_enable_extensions = ["dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
highlight_language = "none"  # indented lines are commands


def package_file(package: str, file: str) -> str:
    """A file of an installed package."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parent / file)


def linkcode_resolve(_: str, about: dict[str, str]) -> str | None:
    """Where the site shows the code of a function or class."""
    from localentropy.commands.site import source_of

    return source_of(about["module"], about["fullname"])


# This MathJax makes pictures, for which it needs no font and no other file.
mathjax_path = "tex-svg-full.js"
html_static_path = [
    "static",
    package_file("sphinx-mathjax-offline", f"static/mathjax/{mathjax_path}"),
    package_file("plotly", "package_data/plotly.min.js"),
]

add_module_names = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
# Signatures of classes name types without their modules, and two are called Ensemble: links go to the nearest.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "localentropy"
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["charts.js"]
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_domain_indices = False
