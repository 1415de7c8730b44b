"""The little grammar that rule files need: modals, negations, imperatives, sentences, labels.

English first, since most rule files are English; the commonest modals of other languages are known, so that their
sentences are not lost.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.words import words

_ENGLISH_MODALS: Final = (
    r"must(?:n['’]?t)?|never|always|should(?:n['’]?t)?|shall|shan['’]t|only|do not|don['’]?t|cannot|can not|can['’]t|"
    r"may not|avoid|ensure|make sure|require[sd]?|mandatory|forbid(?:s|den)?|prohibit(?:s|ed)?|not allowed|disallowed|"
    r"ha(?:ve|s) to|needs? to|refrain|is not permitted|are not permitted|ought to"
)
_OTHER_MODALS: Final = (
    # es, pt, it, fr, de, nl, pl, ru, tr
    r"nunca|siempre|sempre|debes?|deben|deve[sm]?|devono|no se debe|prohibido|proibido|obligatorio|obrigatório|"
    r"jamais|toujours|doit|doivent|devez|interdit|obligatoire|immer|niemals|müssen|muss|darf nicht|dürfen nicht|"
    r"verboten|altijd|nooit|moet|zawsze|nigdy|musi|nie wolno|никогда|всегда|нельзя|должны|должен|обязательно|запрещено|"
    r"mutlaka|asla|zorunlu"
)
_CJK_MODALS: Final = (
    r"必须|必須|禁止|不要|不得|不能|不可|务必|務必|应该|應該|总是|總是|只能|仅|しないで|してはいけ|しなければ|必ず|"
    r"こと(?:。|$)|べき|ください|하지 ?마|해야|반드시|항상|절대|금지"
)
MODAL: Final = re.compile(
    rf"\b(?:{_ENGLISH_MODALS}|{_OTHER_MODALS})\b|{_CJK_MODALS}".replace(" ", r"\s+").replace(r"\s+?", r"\s*"),
    re.IGNORECASE,
)
"""A word that turns a sentence into a rule."""

_MODAL_WORDS: Final = frozenset(
    """must mustn't mustnt never always should shouldn't shouldnt shall shan't only don't dont cannot can't avoid ensure
    require requires required mandatory forbid forbids forbidden prohibit prohibits prohibited disallowed refrain
    nunca siempre sempre debe debes deben deve deves devem devono prohibido proibido obligatorio jamais toujours doit
    doivent devez interdit obligatoire immer niemals muss verboten altijd nooit moet zawsze nigdy musi mutlaka asla
    zorunlu""".split()
)
_PHRASE_WORDS: Final = frozenset("not sure to cant nie darf".split())

NEGATION: Final = re.compile(
    r"\b(?:never|not|no|don['’]?ts?|avoid(?:ed|ing)?|without|forbid(?:den|s)?|prohibit(?:ed|s)?|disallow(?:ed)?|"
    r"cannot|can['’]t|mustn['’]?t|shouldn['’]?t|won['’]t|anti-?patterns?|refrain|nunca|jamais|niemals|никогда|нельзя)\b"
    r"|禁止|不要|不得|不能|しない|금지",
    re.IGNORECASE,
)
"""A word that turns what follows into what is not to be done."""

_NEGATIVE_HEADING: Final = re.compile(
    r"^\W*(?:(?:things? |what )?(?:you |we |agents? )?(?:must |should |shall |may |can |to )?"
    r"(?:never|not)(?: to)?(?: do| be| use)?|do not|don['’]?ts?|never do|avoid(?:ed)?|what to avoid|things to avoid|"
    r"forbidden(?: \w+)?|prohibited(?: \w+)?|"
    r"disallowed(?: \w+)?|not allowed|anti-?patterns?(?: to avoid)?|banned(?: \w+)?|禁止(?:事项|事項)?)\W*$",
    re.IGNORECASE,
)

IMPERATIVES: Final = frozenset(
    """accept access add adhere adjust adopt alert align allow alphabetize analyze annotate apply archive ask assert
    assign assume attach audit authenticate authorize automate avoid back base batch be begin benchmark bind block
    branch break build bump bundle cache calculate call cancel capture catch change check choose cite clarify clean
    clear clone close collect combine comment commit communicate compare compile complete compose compute configure
    confirm connect consider consolidate consult contact contain continue convert copy correct count cover create
    debug decide declare decouple decrypt default defer define delegate delete deliver demonstrate deny deploy
    deprecate derive describe design detect determine develop disable discard discuss display distinguish divide
    do document double download draft drop duplicate edit elevate eliminate embed emit employ emulate enable
    encapsulate encode encourage encrypt end enforce ensure enter enumerate escalate escape establish estimate
    evaluate examine exclude execute exit expand expect explain explore export expose express extend extract fail
    favor favour fetch fill filter find finish fix flag focus follow forbid force format forward generate get give go
    group guard guide handle hash help hide highlight honor identify ignore implement import improve include
    incorporate increase index indicate infer inform inherit initialize inject inline insert inspect install instrument
    integrate introduce invalidate investigate invoke isolate iterate join justify keep label launch lead learn leave
    let leverage limit link lint list load localize locate lock log look maintain make manage map mark match measure
    memoize mention merge migrate mimic minimize mirror mock model modify monitor mount move name navigate
    normalize note notify obey observe obtain offer omit open optimize optimise order organize output override own
    parallelize parse pass paste perform permit persist pick pin place plan point populate post prefer prefix prepare
    preserve prevent print prioritize proceed process produce profile prompt propose protect prove provide publish pull
    push put quote raise re-run read rebase rebuild recommend record reduce refactor refer reference refresh refuse
    regenerate register reject rely release reload remember remove rename render reorder replace reply report reproduce
    request require rerun research reserve reset resolve respect respond restart restore restrict retain retry return
    reuse revert review revise rewrite rollback rotate route run sanitize save scan schedule scope search secure see
    select send separate serialize serve set setup share ship show sign simplify simulate skip solve sort specify split
    squash stage start state stay stick stop store stream strip structure stub submit suggest summarize supply support
    surface suspend sync tag take target teach tell test throttle throw track translate treat trigger trim trust try
    tune turn type understand undo unify update upgrade upload use utilize validate verify version view visit wait warn
    watch work wrap write""".split()
)
"""Verbs that open an instruction; the base form only."""

_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|sec|st|mr|mrs|dr|inc|ltd|resp|al)|\b[A-Z])\.$", re.IGNORECASE
)
_STOP: Final = re.compile(r"[.!?。！？](?:[)\"'”’*_`\]]{0,4})(?:[ \t]*\n[ \t]*|[ \t]+|(?<=[。！？])|$)|\n[ \t]*\n")
_OPENS_SENTENCE: Final = re.compile(r"[\"'“‘(*_`\[]{0,4}(?:[^\W\d_a-z]|\d|[⚠❌✅🚫⛔➡→•])|`|[^\x00-\x7f]")
_LINE_OPENS_RULE: Final = re.compile(
    r"[*_]{0,3}(?:Always|Never|Must|Do not|Don['’]t|Avoid|Ensure|Use|Prefer|Make sure|Only|You must|You should|Keep|"
    r"Write|Follow|Run|ALWAYS|NEVER|MUST|DO NOT|DON'T|ONLY|IMPORTANT|NOTE|[✅❌🚫⛔⚠•→])"
)
_PRONOUN_START: Final = re.compile(
    r"[*_]{0,3}(?:it|its|they|them|these|those|this|that|such|otherwise|both)\b", re.IGNORECASE
)
_EMPTY_WORDS: Final = re.compile(
    r"\b(?:you|we|i|they|it|the|a|an|all|agents?|following|do|be|to|rules?)\b", re.IGNORECASE
)
_WORDS: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FIRST_WORD: Final = re.compile(r"[^\w`]*([A-Za-z][A-Za-z-]*)(['’]t)?")


def has_modal(text: str) -> bool:
    """Whether a text holds a word that turns it into a rule."""
    if not text.isascii():
        return MODAL.search(text) is not None
    # Words looked up in a set are ten times faster than the expression; phrases are asked for only if one may be there.
    found = words(text)
    if not _MODAL_WORDS.isdisjoint(found):
        return True
    return not _PHRASE_WORDS.isdisjoint(found) and MODAL.search(text) is not None


def has_negation(text: str) -> bool:
    """Whether a text negates something."""
    return NEGATION.search(text) is not None


def is_negative_heading(text: str) -> bool:
    """Whether a heading says that what stands below it is not to be done ("Don't", "What to avoid", "Never")."""
    return len(text) <= 60 and _NEGATIVE_HEADING.match(text) is not None


def opens_with_imperative(text: str) -> bool:
    """Whether a text begins with a verb that tells somebody what to do."""
    match = _FIRST_WORD.match(text)
    return match is not None and match[1].lower() in IMPERATIVES


def starts_with_pronoun(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _PRONOUN_START.match(text) is not None


def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(_WORDS.findall(text))


def says_something(text: str) -> bool:
    """Whether a text has a modal and still words of its own without it and without pronouns."""
    return has_modal(text) and _WORDS.search(_EMPTY_WORDS.sub("", MODAL.sub("", text))) is not None


def sentences(text: str) -> list[tuple[int, int]]:
    """Split a paragraph into sentences.

    Parameters
    ----------
    text
        A paragraph as it stands in the file, with line ends.

    Returns
    -------
    list of (int, int)
        Half-open ranges in `text`, without surrounding white space. A line that begins like a rule of its own begins
        a sentence even where the line before lacks a full stop.
    """
    cuts: list[int] = []
    for match in _STOP.finditer(text):
        end = match.end()
        if end >= len(text) or match.end() == match.start():
            continue
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(0, match.start() - 12), match.start() + 1):
            continue
        if _OPENS_SENTENCE.match(text, end):
            cuts.append(end)
    at = text.find("\n")
    while at >= 0:
        start = at + 1
        while start < len(text) and text[start] in " \t>":
            start += 1
        if _LINE_OPENS_RULE.match(text, start):
            cuts.append(start)
        at = text.find("\n", at + 1)
    result: list[tuple[int, int]] = []
    low = 0
    for cut in sorted({*cuts, len(text)}):
        start, end = low, cut
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if end > start:
            result.append((start, end))
        low = cut
    return result
