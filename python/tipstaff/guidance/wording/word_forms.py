"""Words with which rules demand, forbid and leave things to be asked for, in their forms in the most used languages.

``words.toml`` has them, once for expressions and for the lists of words that these need
(`tipstaff.guidance.wording.cues`), so that no form is in one and not in the other.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).with_name("words.toml")
_HOLE: Final = re.compile(r"\{\{([A-Za-z ]+)\}\}")
"""What stands in an expression or a list for the forms of some names."""


@cache
def word_lists() -> dict[str, dict[str, Any]]:
    """Return the lists of ``words.toml``, by section and name."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def expressions(module: str) -> dict[str, str]:
    """Return the regular expressions of a module, each on one line, by name; ``{{never}}`` is one of those forms."""
    found = word_lists()[module]["expressions"].items()
    return {name: _HOLE.sub(lambda hole: either(_named(hole[1])), text.replace("\n", "")) for name, text in found}


def lists(module: str) -> dict[str, str]:
    """Return the lists of words of a module by name, with white space between two words; ``{{never}}`` is its forms."""
    return filled(module, "words")


def filled(module: str, table: str) -> dict[str, str]:
    """Return a table of lists of words by name, with the forms that stand for ``{{never}}`` and its like."""
    return {name: _HOLE.sub(lambda hole: _named(hole[1]), text) for name, text in word_lists()[module][table].items()}


def _named(names: str) -> str:
    """Return the forms of some names with blanks between them, in capitals where the names are."""
    found = " ".join(_FORMS[name] for name in names.lower().split())
    return found.upper() if names.isupper() else found


def forms(words: str) -> str:
    """Return all forms of some words, with blanks between them."""
    found: list[str] = []
    for word in words.split():
        stem, *endings = word.split("/")
        if not stem.endswith("-"):
            found.append(stem)
        found += [stem.removesuffix("-") + ending for ending in endings]
    return " ".join(dict.fromkeys(found))


def either(words: str) -> str:
    """Return the expression of one of some words, the longest first; what they begin with alike is looked at once."""
    return _tree([*dict.fromkeys(words.split())])


def _tree(words: list[str]) -> str:
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:1], []).append(word[1:])
    ends = groups.pop("", None) is not None
    branches = [re.escape(first) + _tree(rest) for first, rest in sorted(groups.items())]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if ends else joined


_FORMS: Final = {name: forms(words) for name, words in word_lists()["forms"].items()}
FORBIDDEN: Final = _FORMS["forbidden"]
"""What must not be; English and the scripts without blanks have expressions of their own."""
BANS: Final = _FORMS["bans"]
"""Names of what must not be."""
NEVER: Final = _FORMS["never"]
ALWAYS: Final = _FORMS["always"]
OBLIGED: Final = _FORMS["obliged"]
"""What must be."""
SHOULD: Final = _FORMS["should"]
ONLY: Final = _FORMS["only"]
"""What says "only": it demands, or only describes."""
MODALS: Final = " ".join((FORBIDDEN, NEVER, ALWAYS, OBLIGED, SHOULD, ONLY))
"""What turns a sentence into a rule; ``nie`` and ``mai`` are other words elsewhere."""
NEGATIVE: Final = " ".join((FORBIDDEN, BANS, NEVER))
_FORMS.update(modals=MODALS, negative=NEGATIVE)
LEAVE: Final = _FORMS["leave"]
"""What needs somebody's leave, and what is taken out of a rule."""
