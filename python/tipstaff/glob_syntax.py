"""The parts of a glob: braces expanded, folders separated, and each plain glob as a regular expression.

Globs come from files that strangers write. They are translated here, not by a library, because the libraries' regular
expressions backtrack: three ``**`` against a path of 400 folders took wcmatch 12 two seconds. In ours each stretch
between two ``**`` is an atomic group, so that nothing is tried twice, and alternatives, length and nesting have limits.
"""

from __future__ import annotations

import re
from typing import Final

MAX_GLOB_CHARS: Final = 1_024
MAX_ALTERNATIVES: Final = 256
"""How many plain globs the braces of one glob may stand for."""

MAX_EXPANDED_CHARS: Final = 16_384
"""How long those may be together: it bounds the regular expression."""

MAX_BRACE_DEPTH: Final = 8

MAGIC: Final = re.compile(r"[*?\[\]{}\\]")
"""What stands for more than itself."""

ESCAPED: Final = re.compile(r"\\.")

_RANGE: Final = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})")


class InvalidGlob(ValueError):  # noqa: N818 - never leaves this module and `globs`
    """Says why a glob cannot be used."""


def translate(glob: str) -> str | None:
    """Return the regular expression of a glob without its ``!``, or None where it covers everything."""
    alternatives = [parts_of(plain) for plain in expand(glob.removeprefix("!"))]
    usable = [parts for parts in alternatives if parts]
    if not usable:
        raise InvalidGlob("it is empty")
    if ["**"] in usable:
        return None
    # Alternatives that expand to the same text are written once.
    bodies = dict.fromkeys(body_of(parts) for parts in usable)
    return next(iter(bodies)) if len(bodies) == 1 else f"(?:{'|'.join(bodies)})"


def parts_of(glob: str) -> list[str]:
    """Return the folders of a glob without braces; ``**`` at the front stands for "at any depth"."""
    anchored = glob.startswith("/")
    while glob.startswith("./"):
        glob = glob[2:]
    below = glob.endswith("/")
    raw = [part for part in _split(glob) if part and part != "."]
    if ".." in raw:
        raise InvalidGlob("it leaves the repository with ..")
    if not raw:
        return ["**"] if below and anchored else []
    if len(raw) == 1 and not below and not anchored:
        raw.insert(0, "**")
    if below:
        raw.append("**")
    parts: list[str] = []
    for part in raw:
        if part == "**" and parts[-1:] == ["**"]:
            continue
        parts.append(part)
    if parts == ["**", "*"]:  # `**/*`, and `*` alone: every file
        return ["**"]
    return parts


def _split(glob: str) -> list[str]:
    """Split at slashes; a backslash before one is dropped."""
    return glob.replace("\\/", "/").split("/")


def body_of(parts: list[str]) -> str:
    """Return the regular expression for the folders of one plain glob, anchored at the path's end."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(segment_pattern(part))
    open_end = not runs[-1]
    if open_end:
        runs.pop()
    elif not MAGIC.search(ESCAPED.sub("", parts[-1])):
        open_end = True
    tail = r"(?:/.*)?\Z" if open_end else r"/?\Z"
    *inner, last = runs
    body: list[str] = []
    for index, run in enumerate(inner):
        if index == 0:
            body.extend(f"{part}/" for part in run)
        else:
            # The leftmost place that fits leaves most room to the right, so no other need be tried: atomic.
            body.append(f"(?>(?:.*?/)??{'/'.join(run)}/)")
    if inner:
        body.append(f"(?>(?:.*?/)??{'/'.join(last)}(?=/|\\Z))" if parts[-1] == "**" else f"(?:.*/)?{'/'.join(last)}")
    else:
        body.append("/".join(last))
    return "".join(body) + tail


def segment_pattern(part: str) -> str:
    """Return the regular expression for one folder or file name."""
    if part.strip("*") == "":
        return "[^/]+"
    pieces: list[list[str]] = [[]]
    position = 0
    while position < len(part):
        char = part[position]
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append([])
            position += 1
        elif char == "?":
            pieces[-1].append("[^/]")
            position += 1
        elif char == "[":
            text, position = _char_class(part, position)
            pieces[-1].append(text)
        elif char == "\\":
            if position + 1 == len(part):
                raise InvalidGlob("it ends with a backslash")
            pieces[-1].append(re.escape(part[position + 1]))
            position += 2
        else:
            pieces[-1].append(re.escape(char))
            position += 1
    first, *rest = ("".join(piece) for piece in pieces)
    if not rest:
        return first
    *middle, last = rest
    # Between two stars the leftmost place is as good as any other (see `body_of`).
    atoms = "".join(f"(?>[^/]*?{piece})" for piece in middle)
    return f"{first}{atoms}[^/]*{last}"


def _char_class(part: str, start: int) -> tuple[str, int]:
    """Return a set such as ``[a-z]`` as a regular expression, and the position after it."""
    position = start + 1
    negated = part[position : position + 1] in {"!", "^"}
    position += negated
    end = part.find("]", position + 1)  # a first ] is a member
    if end < 0:
        raise InvalidGlob("unclosed [; write \\[ for the character itself")
    members = part[position:end]
    if members.startswith("[:"):
        raise InvalidGlob("named sets such as [[:alpha:]] are not supported")
    out: list[str] = []
    index = 0
    while index < len(members):
        low = members[index]
        if members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            high = members[index + 2]
            if low > high:
                raise InvalidGlob(f"the range {low}-{high} is reversed")
            out.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            out.append(re.escape(low))
            index += 1
    return f"(?!/)[{'^' if negated else ''}{''.join(out)}]", end + 1


def expand(glob: str) -> list[str]:
    """Return the globs without braces that a glob stands for."""
    if not glob.strip():
        raise InvalidGlob("it is empty")
    if len(glob) > MAX_GLOB_CHARS:
        raise InvalidGlob(f"it is longer than {MAX_GLOB_CHARS} characters")
    if "\0" in glob:
        raise InvalidGlob("it contains a NUL character")
    results, position = _alternatives(glob.strip(), 0, 0)
    if position < len(glob.strip()):
        raise InvalidGlob("unmatched }; write \\} for the character itself")
    if sum(map(len, results)) > MAX_EXPANDED_CHARS:
        raise InvalidGlob(f"its braces expand to globs of more than {MAX_EXPANDED_CHARS} characters in total")
    return results


def _alternatives(glob: str, position: int, depth: int) -> tuple[list[str], int]:
    """Read one glob (outside braces), or the alternatives up to the closing brace (inside)."""
    if depth > MAX_BRACE_DEPTH:
        raise InvalidGlob(f"its braces are nested more than {MAX_BRACE_DEPTH} deep")
    done: list[str] = []
    current = [""]
    while position < len(glob):
        char = glob[position]
        if char == "{":
            inner, position = _alternatives(glob, position + 1, depth + 1)
            if position >= len(glob):
                raise InvalidGlob("unclosed {; write \\{ for the character itself")
            current = [left + right for left in current for right in _counted(inner)]
            position += 1
        elif char == "}":
            break
        elif char == "," and depth:
            done.extend(current)
            current = [""]
            position += 1
        else:
            end = position + (2 if char == "\\" else 1)
            if char == "[":  # commas and braces inside a set are members
                closing = glob.find("]", position + 2)
                end = closing + 1 if closing >= 0 else end
            current = [text + glob[position:end] for text in current]
            position = end
        if len(done) + len(current) > MAX_ALTERNATIVES:
            raise InvalidGlob(f"its braces expand to more than {MAX_ALTERNATIVES} globs")
    done.extend(current)
    return done, position


def _counted(inner: list[str]) -> list[str]:
    """Return ``1..3`` as 1, 2, 3, and anything else as it is."""
    found = _RANGE.fullmatch(inner[0]) if len(inner) == 1 else None
    if found is None:
        return inner
    low, high = int(found[1]), int(found[2])
    if abs(high - low) >= MAX_ALTERNATIVES:
        raise InvalidGlob(f"its braces expand to more than {MAX_ALTERNATIVES} globs")
    step = 1 if high >= low else -1
    return [str(number) for number in range(low, high + step, step)]
