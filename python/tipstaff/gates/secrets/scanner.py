"""Secrets in text: finding them, and masking them where the text must be shown.

Packs of rules define what counts as a secret (`tipstaff.gates.secrets.packs`); a compiled table of them comes with the
package. Files, commands, and what tools print are all text here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tipstaff.kernels import SecretTable
from tipstaff.model import Record
from tipstaff.store.untrusted import read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.gates.secrets.packs import SecretRule

MASK: Final = "*"
SEVERITIES: Final = ("low", "medium", "high", "critical")


class SecretFinding(Record, frozen=True, gc=False):
    """One secret in a text.

    Attributes
    ----------
    rule_id
        The rule that found it.
    start, end
        Its span in code points, half open.
    redacted
        What may be shown of it: as long as it is, a provider's prefix at most, then asterisks.
    severity
        ``low``, ``medium``, ``high`` or ``critical``.
    """

    rule_id: str
    start: int
    end: int
    redacted: str
    severity: str = "high"


class Scanner:
    """A table of secrets, and what its rules are called.

    Parameters
    ----------
    data
        Bytes of a compiled table.

    Raises
    ------
    ValueError
        If they are not a table.
    """

    __slots__ = ("data", "rules", "table")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.table = SecretTable(data)
        self.rules = tuple((name, show, SEVERITIES[severity]) for name, show, severity in self.table.rules())

    def __reduce__(self) -> tuple[type[Self], tuple[bytes]]:
        """Send the table to another process."""
        return type(self), (bytes(self.data),)


@cache
def default_scanner() -> Scanner:
    """Return the scanner over the table that comes with the package."""
    from tipstaff.kernels._secrets import built_in_table

    return Scanner(built_in_table())


def scan_secrets(text: str, *, wary: bool = False, scanner: Scanner | None = None) -> list[SecretFinding]:
    """Find the secrets of a text.

    Parameters
    ----------
    text
        Any text: source, configuration, a command, the output of a tool.
    wary
        Also report low-confidence matches: short passwords in quotes, tokens whose checksum is wrong.
        Gates ask so about what an agent is about to write.
    scanner
        One over other rules than the package's own.

    Returns
    -------
    list of SecretFinding
        By their places; none overlaps another.

    Examples
    --------
    >>> scan_secrets("TOKEN=test-token")
    []
    """
    used = default_scanner() if scanner is None else scanner
    return [_finding(text, start, end, *used.rules[rule]) for rule, start, end in used.table.find(text, wary=wary)]


def _finding(text: str, start: int, end: int, name: str, show: int, severity: str) -> SecretFinding:
    # Half of a short secret would be most of it.
    shown = min(show, (end - start) // 2)
    return SecretFinding(name, start, end, text[start : start + shown] + MASK * (end - start - shown), severity)


def redact(text: str, *, wary: bool = False, scanner: Scanner | None = None) -> str:
    """Mask the secrets of a text.

    Parameters
    ----------
    text, wary, scanner
        As of :func:`scan_secrets`.

    Returns
    -------
    str
        As many code points as `text`; what is not a secret is unchanged.
    """
    parts: list[str] = []
    at = 0
    for found in scan_secrets(text, wary=wary, scanner=scanner):
        parts += (text[at : found.start], found.redacted)
        at = found.end
    return "".join((*parts, text[at:])) if parts else text


def scanner_for(root: Path) -> Scanner:
    """Return the scanner of a repository: the package's rules with those of its ``.tipstaff/secrets``.

    Parameters
    ----------
    root
        The repository's folder.

    Raises
    ------
    SecretPackError
        If a pack there cannot be used; it names the file, the rule and the sample.
    """
    folder = root / ".tipstaff" / "secrets"
    packs = sorted(folder.glob("*.toml")) if folder.is_dir() else []
    return Scanner(compiled_rules(packs)) if packs else default_scanner()


def compiled_rules(packs: Iterable[Path], *, may_replace: Callable[[SecretRule, Path], bool] | None = None) -> bytes:
    """Return the table of the package's rules with those of further packs.

    Parameters
    ----------
    packs
        TOML files of secret rules.
    may_replace
        Says which of them may replace a rule of the package; without it, all.

    Raises
    ------
    SecretPackError
        If one cannot be used; it names the file, the rule and the sample.
    """
    from tipstaff.gates.secrets import packs as secret_packs
    from tipstaff.gates.secrets import table as secret_table

    words = secret_packs.default_words()
    own = secret_packs.default_rules()
    known = {rule.id for rule in own}
    more: list[SecretRule] = []
    for path in packs:
        for rule in secret_packs.parse_pack(read_untrusted_text(path), str(path)):
            secret_table.check_samples(rule, words)
            if rule.id not in known or may_replace is None or may_replace(rule, path):
                more.append(rule)
    return secret_table.compile_table(secret_packs.joined_rules(own, more), words)
