"""What a rule says about itself beside its id: risk, tools, intents, domains, scopes, verifier, priority, dates.

An annotation is a whole word of a fixed shape. ``key:value`` forms are annotations wherever they are; the others
(``(critical)``, ``[bash]``, ``#security``, ``@testing``) only in a cluster at the end of a line or at the head of the
rule, and never right after a word that makes them part of a sentence ("label it with #security"). Nothing inside a
code span, a link or an address is an annotation, so a rule's words are never cut out of it.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from tipstaff.budgets import MAX_PRIORITY
from tipstaff.globs import split_scopes
from tipstaff.model import DOMAINS, INTENTS, RISK_CLASSES, TOOL_CLASSES

_RISKS: Final = "|".join(RISK_CLASSES)
_TOOLS: Final = "|".join(TOOL_CLASSES)
_ANNOTATION: Final = re.compile(
    rf"""(?<!\S)(?:
      \((?:(?P<risk_key>risk:[ ]?))?(?P<risk>{_RISKS})(?:[-\ ]risk)?\)
    | risk:(?P<risk_space>[ ]?)(?P<risk_value>[A-Za-z]+)
    | \[(?P<tools>(?:{_TOOLS})(?:,[ ]?(?:{_TOOLS}))*)\]
    | \#(?P<intent>{"|".join(INTENTS)})
    | @(?P<domain>{"|".join(DOMAINS)})
    | scope:(?P<scope_space>[ ]?)(?P<scope>[^\s:;|`]+)
    | verify:(?P<verify>[A-Za-z0-9][\w.-]*)
    | priority:(?P<priority_space>[ ]?)(?P<priority>-?\d+)
    | (?P<date_key>from|until):(?P<date_space>[ ]?)(?P<date>\d{{1,4}}-\d\d?-\d\d?|\d{{8}})
    )(?=[.,;]*(?:\s|$))""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDINARY_LEAD: Final = frozenset(
    "a an and as at by for from hashtag in into is label labels named of on or our tag tagged tags the this to use "
    "using via with".split()
)
_OWNS_WHAT_FOLLOWS: Final = _ORDINARY_LEAD | {"and", "or"}
_MAX_CHARS: Final = 4_000
"""A longer text is no annotated rule; it is taken as words, which bounds the work."""
_MAX_DIGITS_SHOWN: Final = 40
_CODE: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_SPACE_BEFORE_STOP: Final = re.compile(r"\s+(?=[.,;](?:\s|$))")
# Every plain annotation without a value, in lower case and in capitals; other spellings take the long way.
_PLAIN: Final = {
    spelling: (field, name)
    for field, names, form in (
        ("risk_class", RISK_CLASSES, "({})"),
        ("tool_classes", TOOL_CLASSES, "[{}]"),
        ("intents", INTENTS, "#{}"),
        ("domains", DOMAINS, "@{}"),
    )
    for name in names
    for spelling in (form.format(name), form.format(name.upper()), form.format(name.capitalize()))
}
_PLAIN_KEYED: Final = re.compile(
    r"(scope|verify|priority):((?<=scope:)[\w{][\w/*{},@-]*(?:\.[\w/*{},@-]+)*|(?<=verify:)[A-Za-z0-9][\w-]*|(?<=priority:)\d{1,4})",
    re.IGNORECASE,
)
_MAX_PLAIN_CHARS: Final = 200
_MARKS: Final = frozenset("([#@")
_KEYS: Final = frozenset({"risk", "scope", "verify", "priority", "from", "until"})
_NAMES: Final = frozenset({*RISK_CLASSES, *TOOL_CLASSES, *INTENTS, *DOMAINS})
_NAME_HEADS: Final = ("risk:", *(f"{risk}-risk" for risk in RISK_CLASSES), *(f"{tool}," for tool in TOOL_CLASSES))
_LOOKALIKE: Final = re.compile(r"(?<!\S)(risk|priority|verify|scope|from|until):(\S*)", re.IGNORECASE)


class Annotations(msgspec.Struct, gc=False):
    """What was found in a rule's text, and the words that remain.

    Attributes
    ----------
    text
        The rule's words: annotations removed, white space collapsed.
    problems
        Pairs of a diagnostic code and a message.
    """

    text: str
    risk_class: str | None = None
    tool_classes: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    verifiers: tuple[str, ...] = ()
    priority: int | None = None
    active_from: str | None = None
    active_until: str | None = None
    problems: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=8_192)
def parse_annotations(raw: str) -> Annotations:
    """Read the annotations of a rule and remove them from its words.

    Remembered for some thousand texts, so what it returns must not be written to: when a file changes, most of its
    rules are those of before.

    Parameters
    ----------
    raw
        The rule's own text as it is in the file, line ends included, without its id.
    """
    if len(raw) > _MAX_CHARS:
        return Annotations(_collapse(raw), problems=_unread(raw))
    if not _may_hold_any(raw):
        return Annotations(_collapse(raw))
    tokens = raw.split()
    at = len(tokens)
    cluster: list[tuple[str, Any]] = []
    for token in reversed(tokens):
        if (token[0] not in _MARKS and ":" not in token) or (plain := plain_annotation(token)) is None:
            break
        cluster.append(plain)
        at -= 1
    words = tokens[:at] if cluster else tokens
    text = " ".join(words)
    first = _first_lookalike(words) if words and _may_hold_any(text) else None
    if first is None:
        if not cluster:
            return Annotations(text)
        if words and (quick := _closing_cluster(text, words[-1], cluster)) is not None:
            return quick
        first = tokens[at]
    # What is in code spans is masked: it is no annotation, and offsets stay as they are.
    masked = _CODE.sub(lambda match: "`" * len(match[0]), raw) if "`" in raw else raw
    found = list(_ANNOTATION.finditer(masked, raw.index(first)))
    kept = _accepted(raw, found)
    result = Annotations("")
    problems: list[tuple[str, str]] = []
    tools: list[str] = []
    intents: list[str] = []
    domains: list[str] = []
    scopes: list[str] = []
    verifiers: list[str] = []
    cuts: list[tuple[int, int]] = []
    previous_end = -1
    for index, match in enumerate(kept):
        beside = previous_end >= 0 and not raw[previous_end : match.start()].strip(" \t\n,;.")
        if (risk := match["risk"]) is not None:
            result.risk_class = result.risk_class or risk.lower()
        elif (value := match["risk_value"]) is not None:
            if value.lower() not in RISK_CLASSES:
                problems.append(("TS302", f"risk:{value} is not one of {', '.join(RISK_CLASSES)}."))
                continue
            result.risk_class = result.risk_class or value.lower()
        elif match["tools"] is not None:
            tools.extend(part.strip().lower() for part in match["tools"].split(","))
        elif match["intent"] is not None:
            intents.append(match["intent"].lower())
        elif match["domain"] is not None:
            domains.append(match["domain"].lower())
        elif (scope := match["scope"]) is not None:
            scope, rest = _trim_scope(scope)
            scopes.extend(split_scopes(scope))
            cuts.append((match.start(), match.end() - rest))
            previous_end = match.end()
            continue
        elif (verify := match["verify"]) is not None:
            verify = verify.rstrip(".")
            follower = index + 1 < len(kept) and _beside_another(raw, match, kept[index + 1])
            if verifiers and not (beside or follower):
                problems.append(("TS303", f"A second verifier, {verify!r}, is among the rule's words."))
                continue
            verifiers.append(verify)
            cuts.append((match.start(), match.start("verify") + len(verify)))
            previous_end = match.end()
            continue
        elif (digits := match["priority"]) is not None:
            number = int(digits)
            clamped = min(max(number, 0), MAX_PRIORITY)
            if clamped != number:
                shown = digits if len(digits) <= _MAX_DIGITS_SHOWN else f"{digits[:_MAX_DIGITS_SHOWN]}..."
                problems.append(("TS301", f"Priority {shown} is outside the range; {clamped} is used."))
            if result.priority is None:
                result.priority = clamped
        elif match["date"] is not None:
            _take_date(result, match["date_key"].lower(), match["date"], problems)
        cuts.append(match.span())
        previous_end = match.end()
    if result.active_from and result.active_until and result.active_until < result.active_from:
        problems.append(("TS304", f"until:{result.active_until} lies before from:{result.active_from}."))
        result.active_from = result.active_until = None
    _note_lookalikes(masked, cuts, problems)
    result.text = _without(raw, cuts)
    result.tool_classes = tuple(dict.fromkeys(tools))
    result.intents = tuple(dict.fromkeys(intents))
    result.domains = tuple(dict.fromkeys(domains))
    result.scopes = tuple(dict.fromkeys(scopes))
    result.verifiers = tuple(dict.fromkeys(verifiers))
    result.problems = tuple(problems)
    return result


def _unread(raw: str) -> tuple[tuple[str, str], ...]:
    """Report that the annotations of a text that is too long to have any are not read."""
    first = next((match for match in _LOOKALIKE.finditer(raw) if match[2]), None)
    if first is None:
        return ()
    message = f"{first[0][:80]} is not read: the rule has {len(raw):,} characters, more than {_MAX_CHARS:,}."
    return (("TS302", message),)


def _may_hold_any(text: str) -> bool:
    """Whether a text holds a mark with which an annotation begins, or that follows its key: most rules hold none."""
    return ":" in text or "(" in text or "#" in text or "[" in text or "@" in text


def _first_lookalike(tokens: list[str]) -> str | None:
    """Return the first word that may be an annotation, None for none."""
    for token in tokens:
        if token[0] in _MARKS:
            # Cut to the longest name: "(critical)." is looked up as "critical".
            name = token[1:].rstrip(").,;:]").lower()
            if name in _NAMES or name.startswith(_NAME_HEADS):
                return token
        elif ":" in token and token.split(":", 1)[0].lower() in _KEYS:
            return token
    return None


@lru_cache(maxsize=4_096)
def plain_annotation(token: str) -> tuple[str, Any] | None:
    """Return the field and the value of an annotation of the commonest forms, None for anything else."""
    if (plain := _PLAIN.get(token)) is not None:
        field, name = plain
        return (field, name) if field == "risk_class" else (field, (name,))
    if len(token) > _MAX_PLAIN_CHARS or _PLAIN_KEYED.fullmatch(token) is None:
        return None
    key, _, value = token.partition(":")
    key = key.lower()
    if key == "scope":
        return "scopes", split_scopes(value)
    return ("verifiers", (value,)) if key == "verify" else ("priority", int(value))


def _closing_cluster(text: str, before: str, cluster: list[tuple[str, Any]]) -> Annotations | None:
    """Read plain annotations, last first, that are behind a text and nowhere in it; None where it may own them."""
    if before.lower() in _OWNS_WHAT_FOLLOWS or text[-1] in ",;" or ("`" in text and text.count("`") % 2):
        return None
    values: dict[str, Any] = {}
    for field, value in reversed(cluster):
        known = values.get(field)
        if known is None:
            values[field] = value
        elif type(known) is tuple:
            values[field] = tuple(dict.fromkeys(known + value))
    return Annotations(text, **values)


def _collapse(text: str) -> str:
    # A line without white space to collapse is the commonest case, and seen to be one at a fifth of the cost.
    return text.strip(" ") if text.isprintable() and "  " not in text else " ".join(text.split())


def _without(raw: str, cuts: list[tuple[int, int]]) -> str:
    if not cuts:
        return _collapse(raw)
    parts: list[str] = []
    at = 0
    for low, high in sorted(cuts):
        parts.append(raw[at:low])
        at = high
    parts.append(raw[at:])
    return _SPACE_BEFORE_STOP.sub("", _collapse(" ".join(parts))).strip(" ,;")


def _trim_scope(scope: str) -> tuple[str, int]:
    """Return a scope without a sentence's full stop, and how many characters were left off."""
    trimmed = scope.rstrip(".,;")
    if scope.endswith("..") and not trimmed.endswith("/"):
        return trimmed, len(scope) - len(trimmed)
    return trimmed or scope, len(scope) - len(trimmed or scope)


def _is_keyed(match: re.Match[str]) -> bool:
    """Whether the form is unmistakable anywhere: a key and a value without a space between."""
    if match["scope"] is not None:
        return not match["scope_space"]
    if match["verify"] is not None or match["risk_key"] is not None:
        return True
    if match["priority"] is not None:
        return not match["priority_space"]
    if match["date"] is not None:
        return not match["date_space"]
    return match["risk_value"] is not None and not match["risk_space"]


def _is_spaced(match: re.Match[str]) -> bool:
    """Whether a space is between key and value."""
    return any(match[name] for name in ("scope_space", "priority_space", "date_space", "risk_space"))


def _accepted(raw: str, found: list[re.Match[str]]) -> list[re.Match[str]]:
    """Keep the matches at positions where annotations count."""
    accepted = [_is_keyed(match) for match in found]
    # From the right: a match is in a line's closing cluster if only punctuation or accepted matches follow on the line.
    for index in range(len(found) - 1, -1, -1):
        match = found[index]
        if accepted[index]:
            continue
        follower = found[index + 1] if index + 1 < len(found) else None
        line_end = raw.find("\n", match.end())
        line_end = len(raw) if line_end < 0 else line_end
        stop = min(line_end, follower.start()) if follower is not None else line_end
        accepted[index] = not raw[match.end() : stop].strip(" \t,;.") and (stop == line_end or accepted[index + 1])
    # From the left: a cluster at the head of the rule, and sentences that own the word.
    at = 0
    for index, match in enumerate(found):
        # "Risk: high availability must be kept" is a sentence; with a space a key leads nothing.
        leads = not raw[at : match.start()].strip() and not _is_spaced(match)
        if leads and at >= 0:
            accepted[index] = True
            at = match.end()
            continue
        at = len(raw)
        if accepted[index] and not _is_keyed(match) and match["risk"] is None:
            clustered = (
                index > 0 and accepted[index - 1] and not raw[found[index - 1].end() : match.start()].strip(" ,;")
            )
            if not clustered and _word_before(raw, match) in _ORDINARY_LEAD:
                accepted[index] = False
    return [match for match, ok in zip(found, accepted, strict=True) if ok]


def _beside_another(raw: str, match: re.Match[str], other: re.Match[str]) -> bool:
    """Whether another annotation that is no verifier follows directly, and no connective leads to this one."""
    if other["verify"] is not None or raw[match.end() : other.start()].strip(" \t\n,;."):
        return False
    return _word_before(raw, match) not in {"and", "or", "then", "&"}


def _word_before(raw: str, match: re.Match[str]) -> str:
    words = raw[max(0, match.start() - 40) : match.start()].split()
    return words[-1].lower() if words else ""


def _take_date(result: Annotations, key: str, value: str, problems: list[tuple[str, str]]) -> None:
    try:
        day = dt.date.fromisoformat(value).isoformat()
    except ValueError:
        problems.append(("TS304", f"{key}:{value} is not a date."))
        return
    if key == "from":
        result.active_from = day
    else:
        result.active_until = day


def _note_lookalikes(masked: str, cuts: list[tuple[int, int]], problems: list[tuple[str, str]]) -> None:
    """Report what has an annotation's key but no usable value."""
    starts = {low for low, _ in cuts}
    for match in _LOOKALIKE.finditer(masked):
        if match.start() in starts:
            continue
        key, value = match[1].lower(), match[2]
        if key == "priority" and value and not value.lstrip("-").isdigit():
            problems.append(("TS302", f"priority:{value} is not a number."))
        elif key in {"from", "until"} and value and value[0].isdigit():
            problems.append(("TS304", f"{key}:{value} is not a date."))
