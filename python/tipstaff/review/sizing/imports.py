"""Which files of a set import which others: read from the text of each, without running or resolving packages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tipstaff.store.untrusted import open_untrusted

MAX_BYTES: Final = 400_000
_PATTERNS: Final[dict[str, tuple[re.Pattern[str], ...]]] = {
    "py": (
        re.compile(r"^[ \t]*from[ \t]+(\.{0,8}[\w.]{0,200})[ \t]+import[ \t]+\(?([\w ,\t]{0,400})", re.MULTILINE),
        re.compile(r"^[ \t]*import[ \t]+([\w.]{1,200})", re.MULTILINE),
    ),
    "js": (re.compile(r"""(?:from|import|require\()[ \t]*\(?[ \t]*['"]([^'"\n]{1,300})['"]"""),),
    "go": (re.compile(r"""^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([^"\n]{1,300})"[ \t]*$""", re.MULTILINE),),
    "rs": (
        re.compile(r"^[ \t]*(?:pub(?:\([^)\n]{0,60}\))?[ \t]+)?mod[ \t]+(\w{1,100});", re.MULTILINE),
        re.compile(r"^[ \t]*(?:pub[ \t]+)?use[ \t]+((?:crate|super|self)::[\w:]{1,200})", re.MULTILINE),
    ),
    "java": (re.compile(r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]{1,300})", re.MULTILINE),),
}
_LANGUAGE: Final = {
    **dict.fromkeys(("py", "pyi"), "py"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"), "js"),
    **dict.fromkeys(("java", "kt"), "java"),
    "go": "go",
    "rs": "rs",
}
_JS_ENDINGS: Final = (
    "",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".vue",
    ".svelte",
    "/index.ts",
    "/index.tsx",
    "/index.js",
)
_DECLARED: Final = {
    "go": re.compile(
        r"^(?:func[ \t]+(?:\([^)\n]{0,200}\)[ \t]*)?|type[ \t]+|var[ \t]+|const[ \t]+)(\w{2,100})", re.MULTILINE
    ),
    "java": re.compile(r"\b(?:class|interface|enum|record|object)[ \t]+(\w{2,100})"),
}
"""What a file declares, in languages in which the files of a folder see each other without importing."""

_WORD: Final = re.compile(r"\w{2,100}")
_TEST_MARKS: Final = re.compile(r"^test_|_test$|\.test$|\.spec$|_spec$|(?<=\w)Tests?$|^Test(?=[A-Z])")


def import_edges(root: Path, paths: Sequence[str]) -> dict[str, set[str]]:
    """Return for each file the others of the set that it imports.

    Parameters
    ----------
    root
        The repository's folder.
    paths
        The files, relative to it; one that cannot be read imports nothing.
    """
    by_stem = _by_ending(paths)
    known = set(paths)
    packages: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(".go") and "/" in path:
            packages.setdefault(posixpath.dirname(path), []).append(path)
    edges: dict[str, set[str]] = {}
    seen: dict[tuple[str, str], dict[str, str]] = {}
    for path in paths:
        language = _LANGUAGE.get(path.rpartition(".")[2], "")
        found: set[str] = set()
        if language:
            try:
                with open_untrusted(root / path) as file:
                    text = file.read(MAX_BYTES).decode("utf-8", "replace")
            except OSError:
                text = ""
            for pattern in _PATTERNS[language]:
                for match in pattern.finditer(text):
                    found |= _targets(language, path, match, known, by_stem, packages)
            if language in _DECLARED:
                seen.setdefault((language, posixpath.dirname(path)), {})[path] = text
        found.discard(path)
        edges[path] = found
    for (language, _), texts in seen.items():
        for path, others in _uses(texts, _DECLARED[language]).items():
            edges[path] |= others
    return edges


def _uses(texts: Mapping[str, str], declared: re.Pattern[str]) -> dict[str, set[str]]:
    """Return for each file of a folder the others whose names it uses; what two of them declare says nothing."""
    homes: dict[str, set[str]] = {}
    for path, text in texts.items():
        for name in declared.findall(text):
            homes.setdefault(name, set()).add(path)
    own = {name: next(iter(places)) for name, places in homes.items() if len(places) == 1}
    return {
        path: {own[word] for word in own.keys() & set(_WORD.findall(text))} - {path} for path, text in texts.items()
    }


def files_under_test(paths: Sequence[str]) -> dict[str, str | None]:
    """Return for each file of a set the one that it tests, by its name; None where it is no test or there is none."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    found: dict[str, str | None] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem, _, ending = name.rpartition(".")
        plain = _TEST_MARKS.sub("", stem)
        alike = by_name.get(f"{plain}.{ending}", ()) if plain and plain != stem else ()
        found[path] = min(alike, key=lambda one: (one.rpartition("/")[0] != folder, one), default=None)
    return found


def _by_ending(paths: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths without ending, by their last part."""
    found: dict[str, list[str]] = {}
    for path in paths:
        stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
        stem = stem.removesuffix("/__init__").removesuffix("/mod").removesuffix("/index")
        found.setdefault(stem.rpartition("/")[2], []).append(path)
    return found


def _targets(
    language: str,
    path: str,
    match: re.Match[str],
    known: set[str],
    by_stem: Mapping[str, list[str]],
    packages: Mapping[str, list[str]],
) -> set[str]:
    name = match[1]
    folder = posixpath.dirname(path)
    if language == "py":
        names = [one.strip().partition(" ")[0] for one in match[2].split(",")] if match.re.groups > 1 else []
        dots = len(name) - len(name.lstrip("."))
        module = name.lstrip(".").replace(".", "/")
        base = posixpath.normpath(posixpath.join(folder, *[".."] * (dots - 1))) if dots else ""
        start = posixpath.normpath(posixpath.join(base, module)).strip("./")
        # `from . import x` is about x, not about the package.
        wanted = [*([start] if module else []), *(f"{start}/{one}" for one in names if one)]
        return {hit for want in wanted for hit in _ending(want.strip("/"), by_stem, (".py", ".pyi", "/__init__.py"))}
    if language == "js":
        if not name.startswith("."):
            return set()
        target = posixpath.normpath(posixpath.join(folder, name))
        bare = target.rpartition(".")[0] if target.endswith((".js", ".mjs", ".cjs")) else target
        return {f"{one}{ending}" for one in (target, bare) for ending in _JS_ENDINGS} & known
    if language == "go":
        # A package is a folder: its last parts name it below the module's root.
        parts = name.split("/")
        return {hit for start in range(len(parts)) for hit in packages.get("/".join(parts[start:]), ())}
    if language == "rs":
        parts = [part for part in name.split("::") if part not in {"crate", "super", "self"}]
        return {hit for part in parts[:3] for hit in by_stem.get(part, ()) if hit.endswith(".rs")}
    want = name.replace(".", "/")
    return {hit for one in (want, want.rpartition("/")[0]) for hit in _ending(one, by_stem, (".java", ".kt"))}


def _ending(want: str, by_stem: Mapping[str, list[str]], endings: tuple[str, ...]) -> set[str]:
    """Return the known files whose path is `want` with one of the endings, below any folder."""
    if not want:
        return set()
    return {
        one
        for one in by_stem.get(want.rpartition("/")[2], ())
        if any(f"/{one}".endswith(f"/{want}{ending}") for ending in endings)
    }
