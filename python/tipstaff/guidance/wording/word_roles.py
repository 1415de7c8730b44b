"""What single words do in a rule: verbs that command, modals, and the words of the grammar.

The bits are those of `tipstaff.kernels.formats.roles`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from tipstaff.guidance.wording.word_forms import MODALS
from tipstaff.kernels.formats import roles

IMPERATIVES: Final = frozenset(
    """accept access add adhere adjust adopt alert align allow alphabetize analyze annotate apply archive ask assert
    assign assume attach audit authenticate authorize automate avoid back base batch be begin benchmark bind block
    branch break build bump bundle cache calculate call cancel capture catch change check choose cite clarify clean
    clear clone close collect combine comment commit communicate compare compile complete compose compute configure
    confirm connect consider consolidate consult contact contain continue convert copy correct count cover create
    debug decide declare decouple decrypt default defer define delegate delete deliver demonstrate deny deploy
    deprecate derive describe design detect determine develop disable discard disclose discuss display distinguish
    divide do document double download draft drop duplicate edit elevate eliminate embed emit employ emulate enable
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

MODAL_WORDS: Final = frozenset(
    """must mustn't mustnt never always should shouldn't shouldnt shall shan't only don't dont cannot can't avoid ensure
    require requires required mandatory forbid forbids forbidden prohibit prohibits prohibited disallowed
    refrain""".split()
).union(MODALS.split())
"""Each turns a sentence into a rule."""

FUNCTION_WORDS: Final = frozenset(
    """a an the this that these those it its they them their there here he she we you your i our me my us one any all
    each every both either some such same other another more most much many few less least very too also just even
    still yet already then than as at by for from in into of off on onto out over per through to toward towards under
    until up upon via with within about above across after against along among around before behind below beneath
    beside between beyond during near since and or if when where while which who whom whose what why how whether be is
    am are was were been being have has had having do does did doing done will would shall should must may might can
    could ought need needs needed always never not no only ensure ensures make makes sure please use uses used using
    avoid forbidden forbid prohibited prohibit require requires required mandatory cannot can't don't dont doesn't
    isn't aren't shouldn't mustn't won't without instead rather unless except because so get gets keep it's we're you're
    there's strictly absolutely explicitly really simply actually generally usually typically whenever wherever
    etc eg ie vs allowed allow permitted ok okay fine optional e.g i.e cant mustnt shouldnt needn't never otherwise but
    prefer prefers favor favour nor neither disallowed banned refrain optionally""".split()
)

_LISTED: Final = {
    "FORBIDS": """never avoid forbid forbids forbidden prohibit prohibits prohibited disallow disallowed banned refrain
        not no cannot cant can't don't dont doesn't mustn't mustnt shouldn't shouldnt won't nor neither nunca
        jamais niemals""",
    "FORBIDS_OUTRIGHT": """never avoid don't dont mustn't mustnt shouldn't shouldnt forbidden prohibited disallowed
        banned refrain""",
    "OBLIGES": "must always should shall only ensure mandatory",
    "PERMITS": "may can might could optional optionally allowed permitted fine okay ok needn't",
    "PERMITS_OUTRIGHT": "allowed permitted optional fine okay ok",
    "SUBORDINATES": "when whenever if where that which who until while since",
    "NEGATES": """never not no cannot can't don't dont doesn't won't isn't aren't wasn't weren't didn't hasn't haven't
        without""",
    "TURN": "but never not no instead don't always unless except because otherwise",
    "BREAK": "unless except because otherwise",
    "PREFERS": "prefer prefers favor favour",
    "PAIR": "of than that not never over",
    "LIFTS": "optional optionally needn't",
    "COMMANDS": "must always should shall ensure mandatory",
    "REVERSES": "without",
    "NECESSARY": "required need needed mandatory necessary have",
    "AUXILIARY": "do must should shall may need to you we please",
    "ADDRESSED": "you we agents agent one developers anyone everybody everyone",
    "IS": "is are be",
    "NOT_FORM": "not no don't doesn't isn't aren't",
    "POLITE": "please you we must should always the",
    "NEED": "need needs",
    "OVER": "over",
    "NOT": "not",
}
# Kinds that a word of the grammar may have beside its roles; they alone make none.
_KINDS: Final = frozenset({"AUXILIARY", "ADDRESSED", "IS", "NOT_FORM", "POLITE", "NEED", "OVER", "NOT"})


@cache
def word_roles() -> dict[str, int]:
    """Return every word with a role in a rule, and its bits."""
    found: dict[str, int] = dict.fromkeys(FUNCTION_WORDS, roles.GRAMMAR | roles.FUNCTION)
    for name, listed in _LISTED.items():
        bit: int = getattr(roles, name)
        for word in listed.split():
            # One that is no function word belongs to its clause's topic as well.
            plain = 0 if name in _KINDS else roles.GRAMMAR | roles.CONTENT
            found[word] = found.get(word, plain) | bit
    for index, (first, second) in enumerate(roles.PAIRS):
        found[first] |= 1 << roles.PAIR_FIRST + index
        found[second] |= 1 << roles.PAIR_SECOND + index
    for word in IMPERATIVES:
        found[word] = found.get(word, 0) | roles.IMPERATIVE
    return found


@cache
def not_demanding() -> frozenset[str]:
    """Return the words with which a rule could forbid, permit or lift something."""
    bits = roles.FORBIDS | roles.PERMITS | roles.NECESSARY
    return frozenset({"instead", "over", "rather", *(word for word, role in word_roles().items() if role & bits)})
