"""How strongly a rule is put by those who wrote it: what makes it part of the constitution without an annotation.

Emphasis is counted where people put it: capitals, bold and marked words, headings that forbid, alert blocks, and things
that cannot be undone. A plain "never" is not emphasis by itself, and neither is a place in the file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.extraction.grammar import is_condition
from tipstaff.guidance.extraction.polarity import is_negative_heading
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.word_forms import ALWAYS, FORBIDDEN, GRAVE, NEVER, OBLIGED, ONLY, either
from tipstaff.model import EVERYWHERE, GuidanceRule

ENOUGH: Final = 3.0
"""Emphasis from which a rule belongs to the constitution."""
NEARLY: Final = 2.5
"""Emphasis from which a rule just misses it."""
PLAIN: Final = 1.0
MAX_PLAIN: Final = 2
MANY_RULES: Final = 8
"""In a file of so many rules without more emphasis, so many of those with `PLAIN` emphasis are taken."""

_CAPITALS: Final = re.compile(
    r"(?<![\w`-])(?:NEVER|MUST NOT|MUSTN'T|DO NOT|DON'T|DONT|CANNOT|NOT ALLOWED|FORBIDDEN|PROHIBITED|BANNED|"
    r"NON-NEGOTIABLE|"
    rf"NIE|MAI|{either(f'{FORBIDDEN} {NEVER}'.upper())})(?![\w`-])"
)
_CAPITAL_DUTIES: Final = re.compile(
    r"(?<![\w`-])(?:MUST|ALWAYS|REQUIRED|MANDATORY|CRITICAL|CRITICALLY|IMPORTANT|WARNING|CAUTION|DANGER|ONLY|"
    r"RULE (?:0|ZERO|NUMBER ONE|#?1)|"
    r"SHALL|EVERY|WICHTIG|KRITISCH|PFLICHT|IMPORTANTE|WAŻNE|ВАЖНО|ÖNEMLİ|"
    rf"{either(f'{ALWAYS} {OBLIGED} {ONLY}'.upper())})(?![\w`-])"
)
_DEMANDS: Final = f"{FORBIDDEN} {NEVER} {ALWAYS} {OBLIGED}"
_MARKED: Final = CuedPattern(
    r"(?:\*\*|__)[^*\n]{0,60}\b(?:never|must|always|do not|don['’]t|critical|required|mandatory|important|"
    r"forbidden|banned|"
    r"non-?negotiable|nie|wichtig|kritisch|verbindlich|importante?|"
    rf"{either(_DEMANDS)})\b"
    r"|(?:\*\*|__)[^*\n]{0,60}(?:禁止|必须|必須|绝对|絶対|严禁|切勿|必ず|いけない|금지|반드시|절대)|"
    r"[⚠🚨⛔🚫❗‼]|\bcritical(?:ly)?:|\bimportant:",
    """never must always not don't critical critically required mandatory important forbidden banned negotiable
    nonnegotiable nie wichtig kritisch verbindlich importante """
    + _DEMANDS,
)
_BOLD_BAN: Final = re.compile(
    r"[^\w*_`]*(?:\*\*|__)[^\w*`]*(?:never|do not|don['’]t|must not|niemals|nunca|jamais|nooit|nigdy|никогда|asla)\b",
    re.IGNORECASE,
)
"""How an item begins whose first words are a ban in bold."""
_FORBIDS: Final = CuedPattern(
    r"(?<![^\W_])(?:never\b|do not\b|don['’]?t\b|must not\b|avoid(?:s|ed|ing)?\b|keine?\b|mai\b|tidak boleh|"
    r"không\b|"
    r"(?:no|nie|ne|não|non|не)\b(?!-|\s+(?:only|just|merely|nur|solo|sólo|apenas|só|seulement|tylko|только)\b)|"
    rf"(?:{either(f'{FORBIDDEN} {NEVER}')})\b)"
    r"|禁止|不得|严禁|切勿|绝不|勿|不要|してはいけない|しないこと|しないで|"
    r"いけません|ではならない|してはならない|금지|하지 ?마|"
    r"أبد[اً]|لا تقم|ممنوع|محظور|कभी (?:भी )?|निषिद्ध|কখনো|নিষিদ্ধ",
    f"never not dont don't avoid avoids avoided avoiding kein keine mai tidak no nie ne non {FORBIDDEN} {NEVER}",
)
_CANNOT: Final = ("amaz", "emez")
"""How a verb ends in Turkish, the last word of its sentence, that says what cannot be done."""
_OBLIGES: Final = CuedPattern(
    rf"\b(?:must|always|required?|mandatory|shall|verbindlich|{either(f'{ALWAYS} {OBLIGED}')})\b|"
    r"必须|必須|务必|必ず|こと|一律|반드시|항상|يجب|دائم[اً]|अनिवार्य|हमेशा|অবশ্যই",
    f"must always require required mandatory shall verbindlich {ALWAYS} {OBLIGED}",
)
_PLAINLY: Final = CuedPattern(
    rf"\b(?:never|must|{either(f'{FORBIDDEN} {NEVER} {OBLIGED}')})\b|"
    r"必须|必須|务必|必ず|반드시|يجب|أبد[اً]|ممنوع|अनिवार्य|कभी|অবশ্যই",
    f"never must {FORBIDDEN} {NEVER} {OBLIGED}",
)
_ENDS_FORBIDDING: Final = CuedPattern(r"\b(?:must not|do not|don['’]t|never|avoid)[\W_]*$", "not don't never avoid")
_SHOUTS: Final = re.compile(r"[^\W\d_a-z]{2}")
"""Two letters that are not small ones of ASCII, as every word in capitals has; five times as quick as the words."""
_ASCII_SHOUTS: Final = re.compile("[A-Z][A-Z]")
_MARKS: Final = re.compile(r"\*\*|__|[:⚠🚨⛔🚫❗‼]")
_STRONG_CJK: Final = re.compile(
    r"严禁|绝对|切勿|絶対|必ず|してはいけない|してはならない|반드시|절대|必須|أبد[اً]|ممنوع|कभी भी|अनिवार्य"
)
_GRAVE: Final = CuedPattern(
    r"\b(?:secrets?|credentials?|passwords?|api keys?|private keys?|tokens?|pii|personal data|"
    r"force[- ]?push(?:ing|es)?|"
    r"rebase|production|prod|main branch|to main|to master|delete|deleting|drop|destroy|rm -rf|reset --hard|"
    r"truncate|migrations?|"
    r"generated|vendored?|lock ?files?|without (?:approval|permission|asking|confirmation|being asked)|"
    r"explicit(?:ly)?|approval|permission|"
    r"ask (?:first|before)|human|security|vulnerabilit(?:y|ies)|injections?|sanitiz(?:e[ds]?|ing|ation)|"
    r"auth(?:entication|orization)?|backward|breaking|release|publish|deploy|"
    rf"commit(?:s|ting)?|mots? de passe|{either(GRAVE)})\b|"
    r"(?<!\w)(?:\.env|--force|--no-verify)\b|密钥|密码|秘密|パスワード|機密|本番|生产|비밀",
    """secret secrets credential credentials password passwords api private token tokens env pii personal force
    forcepush forcepushes forcepushing verify rebase production prod main master delete deleting drop destroy rm reset
    truncate migration migrations generated vendor vendore vendored lock lockfile lockfiles without explicit explicitly
    approval permission ask human security vulnerability vulnerabilities injection injections sanitize sanitized
    sanitizes sanitizing sanitization auth authentication authorization backward breaking release publish deploy
    commit commits committing mot mots """
    + GRAVE,
)
_URGENT_HEADING: Final = re.compile(
    r"\b(?:critical|important|must|never|always|mandatory|required|non[-‑ ]?n[eé]go[ct]iables?|no negociables?|"
    r"unverhandelbar|nicht verhandelbar|(?:não|non) nego[cz]i\w+|forbidden|banned|"
    r"prohibited|rule (?:0|zero|#?1)|golden rules?|hard rules?|"
    r"guardrails?|boundaries|strict(?:ly)?|wichtig\w*|kritisch\w*|verbindlich\w*|pflicht\w*|"
    r"importante|obligatori[oa]s?|crític[oa]s?|obligatoires?|critique|"
    r"belangrijk|verplicht|ważne|krytyczne|önemli|kritik|penting|wajib|dilarang|"
    r"обязательн\w*|важн\w*|запрещ\w*)\b|必須|必须|禁止|重要|严格|絶対|필수|금지|중요|مهم|هام|ممنوع|महत्वपूर्ण|অবশ্যই|[⚠🚨⛔🚫❗‼]",
    re.IGNORECASE,
)


class Emphasis(msgspec.Struct, frozen=True):
    """How strongly a rule is put, and by what.

    Attributes
    ----------
    points
        From `ENOUGH` it belongs to the constitution.
    reasons
        What counted, in words.
    """

    points: float
    reasons: tuple[str, ...]


def emphasis(rule: GuidanceRule) -> Emphasis:
    """Return how strongly a rule is put.

    Parameters
    ----------
    rule
        Its text, headings and scopes are looked at.
    """
    if rule.kind != "rule":
        return Emphasis(0.0, ())
    own, labels = rule.text[rule.own_start :], rule.text[: rule.own_start]
    found: list[tuple[float, str]] = []

    def note(points: float, reason: str) -> None:
        found.append((points, reason))

    shouts = _shouts(rule.text)
    if shouts and (match := _CAPITALS.search(own)):
        note(3.0, f"capitals: {match[0]}")
    elif shouts and (match := _CAPITAL_DUTIES.search(own)):
        note(2.5, f"capitals: {match[0]}")
    elif shouts and (match := _CAPITALS.search(labels) or _CAPITAL_DUTIES.search(labels)):
        note(1.5, f"capitals above it: {match[0]}")
    if _MARKS.search(own) and (match := _MARKED.search(own)):
        bold = _BOLD_BAN.match(own) is not None
        note(2.0 if bold else 1.5, "a ban in bold" if bold else "a marked word")
    if not own.isascii() and (match := _STRONG_CJK.search(own)):
        note(1.0, f"a strong word: {match[0]}")
    heading = next((one for one in reversed(rule.headings) if _urges(one)), None)
    if heading is not None:
        nearest = heading == rule.heading
        note(1.5 if nearest else 1.0, f"the heading {heading!r}")
    if any(map(_bans, rule.headings)) or (labels and _ENDS_FORBIDDING.search(labels)):
        note(1.0, "it is forbidden by what is above it")
    if _FORBIDS.search(own[:60]) or own.rstrip(".!* ").endswith(_CANNOT):
        note(1.0, "it forbids")
    elif _PLAINLY.search(own):
        note(1.0, "it says never or must")
    elif _OBLIGES.search(own):
        note(0.5, "it obliges")
    if match := _GRAVE.search(own):
        note(0.5, f"what it is about: {match[0]}")
    if is_condition(own) or (labels and any(map(is_condition, labels.split(": ")))):
        note(-0.5, "it applies in one case only")
    if EVERYWHERE not in rule.repo_scopes and rule.repo_scopes != rule.file_scope:
        note(-1.0, "it applies to some files only")
    if len(rule.text) > 400:
        note(-0.5, "it is long")
    return Emphasis(sum(points for points, _ in found), tuple([reason for points, reason in found if points > 0]))


def may_be_strong(rule: GuidanceRule) -> bool:
    """Whether `emphasis` may reach `NEARLY`, found in a tenth of its time: most rules of most files are below it.

    One ban or duty and what it is about are not enough; whatever else counts more than that is looked for.
    """
    text = rule.text
    return (
        not text.isascii()
        or _shouts(text)
        or "**" in text
        or "__" in text
        or ":" in text[rule.own_start :]
        or any(map(_urges, rule.headings))
        or any(map(_bans, rule.headings))
        or (rule.own_start > 0 and _ENDS_FORBIDDING.search(text[: rule.own_start]) is not None)
    )


def _shouts(text: str) -> bool:
    return (_ASCII_SHOUTS if text.isascii() else _SHOUTS).search(text) is not None


@lru_cache(maxsize=4_096)
def _urges(heading: str) -> bool:
    return _URGENT_HEADING.search(heading) is not None


_bans: Final = lru_cache(maxsize=4_096)(is_negative_heading)
