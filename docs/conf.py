"""How the documentation becomes a site: ``make docs``."""

import importlib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import tipstaff

project = "tipstaff"
release = version = tipstaff.__version__
project_copyright = "the tipstaff maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
html_theme = "furo"
html_title = f"tipstaff {version}"
templates_path = []
exclude_patterns = []
html_extra_path = ["first-minute.svg", "retrieval-quality.svg"]
myst_heading_anchors = 4
# Links out of docs/ lead to files of the repository, which a site does not have.
suppress_warnings = ["myst.xref_missing"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

ROOMS = ("tipstaff", "tipstaff.context", "tipstaff.review", "tipstaff.runs", "tipstaff.undo")


def setup(app: Sphinx) -> None:
    """Show diagrams as the text that they are written in."""
    app.add_lexer("mermaid", TextLexer)


def write_reference() -> None:
    """Write a page of the reference for each room: its public names, in its own order."""
    folder = Path(__file__).parent / "reference" / "api"
    folder.mkdir(exist_ok=True)
    for room in ROOMS:
        module = importlib.import_module(room)
        lines = [room, "=" * len(room), "", f".. automodule:: {room}", "   :no-members:", ""]
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type):
                lines += [f".. autoclass:: {room}.{name}", "   :members:", ""]
            else:
                lines += [f".. {'autofunction' if callable(value) else 'autodata'}:: {room}.{name}", ""]
        (folder / f"{room}.rst").write_text("\n".join(lines), "utf-8")


write_reference()
