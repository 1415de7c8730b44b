"""Packs of secret rules: reading them, and holding each rule to its own samples.

A pack is a TOML file with ``[[rule]]`` tables; ``words.toml`` holds the lists of words. No sample is a secret: it names
generators in braces, ``{base62:36}``, and :func:`made_up` fills them in, the same characters each time. A brace is
written twice.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
import zlib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

_DIGITS: Final = "0123456789"
_LOWER: Final = "abcdefghijklmnopqrstuvwxyz"
_UPPER: Final = _LOWER.upper()
BASE62: Final = _DIGITS + _UPPER + _LOWER
"""In the order that the checksums of tokens count with."""

_ALPHABETS: Final = {
    "base62": BASE62,
    "word": BASE62 + "_-",
    "hex": _DIGITS + "abcdef",
    "upper": _DIGITS + _UPPER,
    "lower": _DIGITS + _LOWER,
    "digit": _DIGITS,
    "base64": BASE62 + "+/",
    "alpha": _UPPER + _LOWER,
    "base32": _UPPER + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "bech32": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "bitcoin": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "upperhex": _DIGITS + "ABCDEF",
}
_GENERATOR: Final = re.compile(r"\{\{|\}\}|\{(\w+)(?::([^}]*))?\}")

KINDS: Final = ("shape", "assign", "url", "pem")
CHECKSUMS: Final = ("", "crc32-base62", "crc32-hex")
JUDGES: Final = ("", "password", "secret", "token", "quoted", "unquoted")
CHECKS: Final = ("", "base64-pair", "base64-private-key", "wallet-words", "no-vectors", "no-test-report", "not-near")
SEVERITIES: Final = ("low", "medium", "high", "critical")
NEEDS: Final = {"digit": 1, "upper": 2, "lower": 4, "letter": 8}


class SecretRule(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of secret.

    Attributes
    ----------
    id
        Stable name of the rule.
    provider
        Whose secret it is.
    kind
        ``shape``, or ``assign``: the value that is given to a name; ``url``: a password in an address; ``pem``.
    shape
        The shape of the secret (see `tipstaff.gates.secrets.shapes`), of a value for ``assign``.
    keys
        For ``assign``: what the name holds. An underscore also stands for a hyphen or nothing.
    left, right
        Class of bytes that may not be before and after; empty: any may.
    show
        How many characters at the beginning a redaction may show: a provider's prefix, never more.
    entropy
        Least Shannon entropy of the secret, in bits per character.
    need
        What it must hold, of ``digit upper lower letter``.
    stops
        Whether words of placeholders rule it out: ``placeholder`` or ``none``.
    repeats
        Whether long runs of one character, and repeated patterns, rule it out.
    checksum
        The checksum that it ends in.
    check
        A look at what it says once decoded; ``not-near``: none of the words of `context` is near.
    judge
        How an assigned value is judged.
    context
        Words of which one must be near: in 200 bytes before it, or 64 after it.
    anywhere
        Of ``assign``: whether the name may be part of any other.
    priority
        Of two findings that overlap, the one with the higher priority stays.
    severity
        ``low``, ``medium``, ``high`` or ``critical``.
    wary
        Whether it applies only to scans with ``wary``.
    positives, negatives
        Samples: in each positive the rule finds something, in no negative.
    because
        Of a repository's rule that replaces one of the package: why.
    """

    id: str
    provider: str
    kind: str = "shape"
    shape: str = ""
    keys: tuple[str, ...] = ()
    left: str = "[0-9A-Za-z_]"
    right: str = "[0-9A-Za-z_]"
    show: int = 0
    entropy: float = 0.0
    need: str = ""
    stops: str = "placeholder"
    repeats: bool = True
    checksum: str = ""
    check: str = ""
    judge: str = ""
    context: tuple[str, ...] = ()
    anywhere: bool = False
    priority: int = 0
    severity: str = "high"
    wary: bool = False
    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    because: str = ""


class SecretPackError(ConfigError):
    """A pack of secret rules is not usable."""


def _filled(alphabet: str, count: int, seed: str) -> str:
    out: list[str] = []
    block = b""
    while len(out) < count:
        block = hashlib.sha256(block + seed.encode()).digest()
        out += [alphabet[byte % len(alphabet)] for byte in block if byte < 256 - 256 % len(alphabet)]
    # A sample has what its alphabet promises: rules ask for it.
    kinds = [kind for kind in (_DIGITS, _LOWER, _UPPER) if set(kind) <= set(alphabet)]
    for at, kind in enumerate(kinds[: max(0, count - 1)]):
        out[at + 1] = kind[7 + 3 * at if len(kind) > 10 else 7]
    return "".join(out[:count])


def base62_checksum(text: str) -> str:
    """Return the CRC-32 of a token's middle as six base-62 digits, as GitHub and npm end their tokens.

    Notes
    -----
    Source: GitHub's engineering blog on token formats, 2021.
    """
    number = zlib.crc32(text.encode())
    digits = ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        digits = BASE62[rest] + digits
    return digits


def made_up(sample: str) -> str:
    """Return a sample with its generators filled in: the same text for the same sample.

    ``{base62:36}`` gives that many characters of an alphabet; ``{x:9}`` nine of that letter; ``{uuid}``;
    ``{b64pair:30}`` base64 of a name, a colon and a password; ``{crc62:36}`` and ``{crc16:32}`` end in their checksums;
    ``{lit:text}`` the text.

    Raises
    ------
    SecretPackError
        If it names an unknown generator.
    """

    def fill(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        name, rest = match[1], match[2] or ""
        seed = f"{sample}\0{match.start()}"
        if name == "uuid":
            hexes = _filled(_ALPHABETS["hex"], 32, seed)
            return "-".join((hexes[:8], hexes[8:12], "4" + hexes[13:16], "a" + hexes[17:20], hexes[20:]))
        if name == "lit":
            return rest
        if not rest.isdigit():
            raise SecretPackError(f"sample {sample!r}: {match[0]} needs a count")
        count = int(rest)
        if name == "crc62":
            body = _filled(BASE62, count - 6, seed)
            return body + base62_checksum(body)
        if name == "crc16":
            body = _filled(BASE62, count, seed)
            return f"{body}_{zlib.crc32(f'glsa_{body}'.encode()):08x}"
        if name == "b64pair":
            return base64.b64encode(f"svc:{_filled(BASE62, count - 4, seed)}".encode()).decode()
        if name in _ALPHABETS:
            return _filled(_ALPHABETS[name], count, seed)
        if len(name) == 1:
            return name * count
        raise SecretPackError(f"sample {sample!r}: there is no generator {name!r}")

    return _GENERATOR.sub(fill, sample)


def parse_pack(text: str, source: str) -> tuple[SecretRule, ...]:
    """Return the rules of a pack.

    Raises
    ------
    SecretPackError
        Naming the file, the rule and what is wrong with it.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SecretPackError(f"{source}: {error}") from None
    found: list[SecretRule] = []
    tables: list[Any] = data.get("rule", [])
    for number, table in enumerate(tables, 1):
        try:
            rule = msgspec.convert(table, SecretRule)
        except msgspec.ValidationError as error:
            name = table.get("id", f"number {number}") if isinstance(table, dict) else f"number {number}"
            raise SecretPackError(f"{source}: rule {name}: {error}") from None
        _check(rule, source)
        found.append(rule)
    return tuple(found)


def _check(rule: SecretRule, source: str) -> None:
    for name, value, known in (
        ("kind", rule.kind, KINDS),
        ("checksum", rule.checksum, CHECKSUMS),
        ("judge", rule.judge, JUDGES),
        ("check", rule.check, CHECKS),
        ("severity", rule.severity, SEVERITIES),
        ("stops", rule.stops, ("placeholder", "none")),
        *(("need", one, tuple(NEEDS)) for one in rule.need.split()),
    ):
        if value not in known:
            message = f"{source}: rule {rule.id}: {name} {value!r} is not one of {', '.join(filter(None, known))}"
            raise SecretPackError(message)
    wanting = [
        what
        for what, missing in (
            ("a shape", rule.kind == "shape" and not rule.shape),
            ("keys", rule.kind == "assign" and not rule.keys),
            ("a positive sample", not rule.positives),
            ("a negative sample", not rule.negatives),
        )
        if missing
    ]
    if wanting:
        raise SecretPackError(f"{source}: rule {rule.id}: lacks {' and '.join(wanting)}")
    if not (0 <= rule.show <= 255 and 0 <= rule.priority <= 99 and 0 <= rule.entropy < 8):
        raise SecretPackError(f"{source}: rule {rule.id}: show is 0 to 255, priority 0 to 99, entropy below 8")


def _folder() -> Any:
    return files("tipstaff.gates").joinpath("packs", "secrets")


def default_rules() -> tuple[SecretRule, ...]:
    """Return the rules of the packs that come with the package, in the order of their files."""
    found: list[SecretRule] = []
    for entry in sorted(_folder().iterdir(), key=lambda entry: str(entry.name)):
        if entry.name.endswith(".toml") and entry.name != "words.toml":
            found += parse_pack(entry.read_text(encoding="utf-8"), entry.name)
    return tuple(found)


def default_words() -> dict[str, tuple[str, ...]]:
    """Return the lists of words that come with the package."""
    data = tomllib.loads(_folder().joinpath("words.toml").read_text(encoding="utf-8"))
    return {name: tuple(words) for name, words in data.items()}


def joined_rules(rules: Iterable[SecretRule], more: Iterable[SecretRule]) -> tuple[SecretRule, ...]:
    """Return rules with others added; one of the same id replaces the one before it."""
    by_id = {rule.id: rule for rule in rules}
    by_id.update({rule.id: rule for rule in more})
    return tuple(by_id.values())
