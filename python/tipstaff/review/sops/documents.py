"""One SOP: Markdown with front matter in, a record with a stable id out.

The id is made from the file's path below the folder of SOPs, never from its content: an edited SOP keeps its id.
Without front matter, or where it does not state a severity, the strongest word of RFC 2119 in the body decides: MUST,
REQUIRED and SHALL are ``error``, SHOULD and RECOMMENDED ``warning``, MAY, OPTIONAL and CONSIDER ``info``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.globs import is_valid
from tipstaff.model import Diagnostic, Record, Severity
from tipstaff.review.config import refuse_repeated_keys
from tipstaff.review.sops.matching import SCOPES, applies_to

PREFIX: Final = "source.doc.sops"
SEVERITIES: Final = ("error", "warning", "info")
CATEGORIES: Final = ("sop", "spec", "datasheet", "reference", "api", "convention", "decision")
KEYS: Final = (
    *("category", "applies_to", "severity", "scope", "title", "summary", "requirements"),
    *("domain", "related_domains", "keywords"),
)
MAX_SOP_BYTES: Final = 1_000_000

_FENCE: Final = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML_FENCE: Final = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_BEFORE: Final = re.compile(r"\A(?:[ \t]*\n|[ \t]*<!--.{0,4000}?-->[ \t]*\n)+(?=---[ \t]*\n|\+\+\+[ \t]*\n)", re.DOTALL)
"""Blank lines and comments before the front matter."""

_CODE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]{1,400}`", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_REQUIREMENTS: Final = re.compile(r"^#{1,6}[ \t]+(?:requirements|rules)\b.*$", re.IGNORECASE | re.MULTILINE)
_ITEM: Final = re.compile(r"^[ \t]{0,3}(?:[-*+]|\d{1,4}[.)])[ \t]+(.+)$", re.MULTILINE)
_WORDS: Final = (
    ("error", re.compile(r"\b(?:MUST|REQUIRED|SHALL)\b")),
    ("warning", re.compile(r"\b(?:SHOULD|RECOMMENDED)\b")),
    ("info", re.compile(r"\b(?:MAY|OPTIONAL|CONSIDER)\b")),
)
_WORDS_ANY_CASE: Final = tuple((name, re.compile(pattern.pattern, re.IGNORECASE)) for name, pattern in _WORDS)


class Sop(Record, frozen=True, kw_only=True):
    """One SOP.

    Attributes
    ----------
    id
        ``source.doc.sops.`` and the path's words.
    path
        Of its file, relative to the repository.
    title, summary, requirements
        From the front matter, else the first heading, the first paragraph, and the list below a heading
        ``Requirements`` or ``Rules``.
    applies_to
        Globs; none for every file.
    severity
        ``error``, ``warning`` or ``info``; of a violation, and of nothing else.
    text
        The whole body.
    """

    id: str
    path: str
    title: str
    summary: str
    requirements: tuple[str, ...]
    applies_to: tuple[str, ...]
    severity: str
    scope: str
    category: str
    text: str
    domain: tuple[str, ...] = ()
    related_domains: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    def rendered(self) -> str:
        """Return the SOP as a reviewer reads it: id, severity, the whole body, and the blank line after it."""
        return f"## [{self.id}] {self.title} (violations: {self.severity})\n\n{self.text.strip()}\n\n"


class SopError(ConfigError):
    """An SOP that cannot be used; `diagnostics` says why."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        first = diagnostics[0]
        super().__init__(f"{first.source}:{first.line}: {first.message}")
        self.diagnostics = diagnostics


def sop_id(path: str, folder: str = "", prefix: str = PREFIX) -> str:
    """Return the id for an SOP's path: lower case, hyphens between words, dots between folders."""
    below = path[len(folder) :].strip("/") if folder and path.startswith(f"{folder.rstrip('/')}/") else path
    below = re.sub(r"\.(?:md|markdown|txt)$", "", below, flags=re.IGNORECASE)
    parts = [re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") or "x" for part in below.split("/")]
    return ".".join((prefix, *parts))


def parse_sop(text: str, path: str, folder: str = "") -> Sop:
    """Read one SOP.

    Parameters
    ----------
    text
        The file's text.
    path
        Relative to the repository.
    folder
        The folder of SOPs in which it is; the id is made from what follows.

    Raises
    ------
    SopError
        If its front matter is not valid, or a value is not allowed.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    front, body, start = _split(text, path)
    problems = _problems(front, text, path)
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SopError(errors)
    heading = _HEADING.search(body)
    title = str(front.get("title") or (heading[1] if heading is not None else path.rpartition("/")[2]))
    del start
    return Sop(
        id=sop_id(path, folder),
        path=path,
        title=title,
        summary=str(front.get("summary") or _summary(body)),
        requirements=_texts(front.get("requirements")) or _requirements(body),
        applies_to=applies_to(front.get("applies_to")),
        severity=str(front.get("severity") or severity_of(body)),
        scope=str(front.get("scope") or "code"),
        category=str(front.get("category") or "sop"),
        text=body.strip("\n"),
        domain=_texts(front.get("domain")),
        related_domains=_texts(front.get("related_domains")),
        keywords=_texts(front.get("keywords")),
    )


def severity_of(body: str) -> str:
    """Return the severity of the strongest word of RFC 2119, in capitals or else in any case; ``info`` without one.

    Words in code are no words of the text.
    """
    body = _CODE.sub(" ", body)
    for table in (_WORDS, _WORDS_ANY_CASE):
        for name, pattern in table:
            if pattern.search(body):
                return name
    return "info"


def front_matter_findings(text: str, path: str) -> list[Diagnostic]:
    """Return what is wrong with an SOP's front matter, warnings included."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        front, _, _ = _split(text, path)
    except SopError as problem:
        return problem.diagnostics
    return _problems(front, text, path)


def _split(text: str, path: str) -> tuple[Mapping[str, Any], str, int]:
    """Return the front matter, the body, and the body's first line."""
    before = _BEFORE.match(text)
    skipped = before[0].count("\n") if before is not None else 0
    text = text[before.end() :] if before is not None else text
    fence = "+++" if text.startswith("+++") else "---"
    match = (_TOML_FENCE if fence == "+++" else _FENCE).match(text)
    if match is None:
        if text.startswith(f"{fence}\n"):
            fix = f"end it with a line of {fence}"
            raise SopError([_found("SOP101", path, 1 + skipped, "the front matter is not closed", fix)])
        return {}, text, 1
    start = skipped + match[0].count("\n") + 1
    if fence == "+++":
        try:
            return tomllib.loads(match[1]), text[match.end() :], start
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            message = f"the front matter is not valid TOML: {error}"
            raise SopError([_found("SOP102", path, 1 + skipped, message)]) from None
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # `applies_to: *.go` is an alias to YAML and a glob to everybody else.
    quoted = re.sub(
        r"^(applies_to:[ \t]+)([*!@&%`{\[]?[*!][^\n'\"#]*?)[ \t]*$", r'\1"\2"', match[1], flags=re.MULTILINE
    )
    quoted = re.sub(r"^([ \t]*-[ \t]+)([*!][^\n'\"#]*?)[ \t]*$", r'\1"\2"', quoted, flags=re.MULTILINE)
    try:
        refuse_repeated_keys(yaml.compose(quoted, Loader=loader))
        front: object = yaml.load(quoted, Loader=loader)  # noqa: S506 - the safe loader, in C
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 + skipped + (mark.line if mark is not None else 0)
        detail = getattr(error, "problem", None) or type(error).__name__
        raise SopError([_found("SOP102", path, line, f"the front matter is not valid YAML: {detail}")]) from None
    if front is None:
        front = {}
    if not isinstance(front, dict):
        kind = type(front).__name__
        raise SopError(
            [_found("SOP102", path, 2 + skipped, f"the front matter is a {kind}, not a mapping of keys to values")]
        )
    return cast("dict[str, Any]", front), text[match.end() :], start


def _problems(front: Mapping[str, Any], text: str, path: str) -> list[Diagnostic]:
    def line(key: str) -> int:
        match = re.search(rf"^{re.escape(key)}\s*:", text, re.MULTILINE)
        return text.count("\n", 0, match.start()) + 1 if match is not None else 1

    found: list[Diagnostic] = []
    for key in front:
        if key not in KEYS:
            near = get_close_matches(str(key), KEYS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(KEYS)}"
            severity = Severity.ERROR if near else Severity.WARNING
            found.append(_found("SOP103", path, line(str(key)), f"unknown key {key!r}", fix, severity))
    for key, allowed in (("severity", SEVERITIES), ("scope", SCOPES), ("category", CATEGORIES)):
        value = front.get(key)
        if value is not None and value not in allowed:
            near = get_close_matches(str(value), allowed, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(allowed)}"
            found.append(_found("SOP104", path, line(key), f"{key} is {value!r}", fix))
    try:
        globs = applies_to(front.get("applies_to"))
    except ConfigError as error:
        found.append(_found("SOP105", path, line("applies_to"), str(error)))
        globs = ()
    found += [
        _found("SOP105", path, line("applies_to"), f"glob {glob!r} cannot be used: {reason}")
        for glob in globs
        if (reason := is_valid(glob))
    ]
    for key in ("requirements", "domain", "related_domains", "keywords"):
        value = front.get(key)
        if value is not None and not isinstance(value, str) and not _is_texts(value):
            found.append(_found("SOP106", path, line(key), f"{key} must be a list of texts, got {value!r}"[:200]))
    for key in ("title", "summary"):
        if not isinstance(front.get(key, ""), str):
            found.append(_found("SOP106", path, line(key), f"{key} must be a text, got {front[key]!r}"[:200]))
    return found


def _found(
    code: str, path: str, line: int, message: str, fix: str = "", severity: Severity = Severity.ERROR
) -> Diagnostic:
    return Diagnostic(code=code, message=message, line=line, source=path, fix=fix, severity=severity)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(cast("list[str]", value)) if _is_texts(value) else ()


def _summary(body: str) -> str:
    for part in re.split(r"\n[ \t]*\n", body):
        plain = part.strip()
        if plain and not plain.startswith(("#", "```", "~~~", "-", "*", "|", ">")) and not re.match(r"\d+[.)]", plain):
            return " ".join(plain.split())
    return ""


def _requirements(body: str) -> tuple[str, ...]:
    match = _REQUIREMENTS.search(body)
    if match is None:
        return ()
    following = _HEADING.search(body, match.end())
    part = body[match.end() : following.start() if following is not None else len(body)]
    return tuple(item.strip() for item in _ITEM.findall(part))


def sop_mapping(sop: Sop) -> dict[str, Any]:
    """Return an SOP as :func:`tipstaff.review.match_sops` and `assemble_review` take it, whole."""
    data: dict[str, Any] = msgspec.to_builtins(sop)
    return {**{key: data[key] for key in ("id", "severity", "category", "scope")}, "applies_to": list(sop.applies_to)}
