"""How the text of a task is read, in any script: its words, and the files, folders and modules that it names.

The native kernels read ASCII tasks in the same way.
"""

from __future__ import annotations

import re
from typing import Final

_MARKS: Final = ",;!?\n\r"
# Byte -> byte: capitals to small letters, marks that end a clause to a comma, all else but ":" to a blank.
_PLAIN_BYTES: Final = bytes(
    ord(letter.lower() if letter.isalnum() else "," if letter in _MARKS else ":" if letter == ":" else " ")
    for letter in map(chr, range(128))
).ljust(256)

_MAX_PATHS: Final = 8
_MAX_CHARS: Final = 16_384
"""A task's beginning: what is named far below is rarely what is worked on, and the work stays bounded."""
_WORD: Final = re.compile(r"[^\s`'\"<>|,;()\[\]]+")
_ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_MODULE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.|#)[A-Za-z_]\w*)+$")
_SEPARATOR: Final = re.compile(r"::|\.|#")
_LINE: Final = re.compile(r"(?::\d+)+$")
_DOMAINS: Final = frozenset({"com", "org", "net", "io", "dev", "ai", "app", "example", "test"})


def plain_words(text: str) -> list[str]:
    """Return the words of an ASCII text whose humps and full stops were seen to."""
    text = text.encode().translate(_PLAIN_BYTES).decode()
    return text.replace(",", " , ").replace(":", " : ").split()


def paths_in_text(task: str) -> tuple[str, ...]:
    """Return the paths that a task of any script names, at most 8."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(task[:_MAX_CHARS]):
        word = match[0].rstrip(".:!?")
        if not ("/" in word or "." in word or "::" in word or "#" in word):
            continue
        if "://" in word or "@" in word.partition("/")[0][1:] or word.lower().startswith("www."):
            continue
        if path := _path_of(_LINE.sub("", word)):
            found[path] = None
            if len(found) >= _MAX_PATHS:
                break
    return tuple(found)


def _path_of(word: str) -> str:
    """Return the path that a word is, empty if it is not a path."""
    path = word.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    if "/" in path:
        parts = [part for part in path.split("/") if part not in {"", "."}]
        if not parts or ".." in parts or not any(char.isalpha() for char in path):
            return ""
        # "and/or" and "read/write" are prose; "src/api", "api/", "/etc" and "a/b.ts" are paths.
        if len(parts) == 2 and path == "/".join(parts) and not _ENDING.search(path) and not _looks_like_folder(parts):
            return ""
        return "/".join(parts)
    if _MODULE.match(path):
        parts = _SEPARATOR.split(path)
        if len(parts) == 2 and _ENDING.search(path) and "::" not in path and "#" not in path:
            return "" if parts[1].lower() in _DOMAINS or len(path) < 4 else path
        return "/".join(parts) if any(len(part) > 1 for part in parts) else ""  # "e.g" is no module
    return path if _ENDING.search(path) and not path[0].isdigit() else ""


_FOLDERS: Final = frozenset(
    "api app apps backend bin client cmd components config core db docs frontend infra internal lib libs migrations"
    " packages pages pkg public scripts server services src test tests tools ui web".split()
)


def _looks_like_folder(parts: list[str]) -> bool:
    return parts[0].lower() in _FOLDERS or any("_" in part or "-" in part or part[0] in ".@" for part in parts)
