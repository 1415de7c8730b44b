"""Which headings and labels decide what the words below them mean: bans, mistakes, conditions, leave to be asked for.

Data in the most used languages. "Don't" forbids what is below it; "Common mistakes" lists what went wrong, whatever the
items say; "Before you commit" and "Ask first" say when something holds. An item without such a label means something
else, so none of them is ever left out because another label is nearer or the item is long.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_forms import BANS, FORBIDDEN, LEAVE, NEVER, either, expressions, lists
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, IMPERATIVES

_EXPRESSIONS: Final = expressions("polarity")
_LISTS: Final = lists("polarity")

MAX_DECIDING_CHARS: Final = 90
"""A longer heading is a sentence, and says by itself what it demands."""

_OBJECT: Final = (
    r"(?: (?:to )?(?:do|be|use|commit|edit|modify|touch|change|add|create|write|generate|run|say|suggest|ship|merge)"
    r"(?: (?:this|these|that|it|(?:any of )?(?:these|the following|such)(?: \w+)?))?)?"
)
_BANS: Final = (
    r"(?:things? |what |files? )?(?:you |we |agents? |to )?(?:must |should |shall |may |can |to )?(?:never|not)"
    + _OBJECT,
    rf"do not{_OBJECT}|don['’]?ts?{_OBJECT}|must not{_OBJECT}|what not to do|what (?:you )?(?:should|must) never do",
    r"avoid(?:ed)?(?: (?:this|these|the following|(?:when|where(?:ver)?|if) possible))?",
    r"what to avoid|things to avoid|no[- ]gos?|no[- ]?no['’]?s|hard nos?",
    r"anti-?patterns?(?: to avoid)?|反模式|アンチパターン|안티 ?패턴",
    r"(?:forbidden|prohibited|disallowed|banned|not allowed|off[- ]limits)(?: [\w-]+)?|prohibitions|red lines?|dont",
    either(f"{FORBIDDEN} {BANS} {NEVER}"),
    r"(?:nicht|niemals|nie)(?: (?:tun|machen|erlaubt|gestattet|zulässig|verwenden|anfassen))?",
    r"vermeiden|zu vermeiden|was (?:man )?(?:nicht|nie|zu vermeiden)\b.{0,30}",
    r"tabus?",
    r"prohibid[oa]s?|prohibiciones|no (?:hacer|permitido|se permite|se debe)|nunca(?: (?:hacer|hagas|faça|fazer))?",
    r"(?:a )?evitar|(?:qué|lo que) (?:no|nunca)\b.{0,30}",
    r"interdi(?:t(?:e?s|e)?|ctions?)|(?:à )?(?:ne pas|ne jamais|éviter)(?: (?:faire|utiliser))?|jamais",
    r"ce qu['’]il ne faut pas.{0,30}",
    r"proibid[oa]s?|proibições|não (?:fazer|faça|permitido|usar|use)|evite|o que (?:não|evitar)\b.{0,30}",
    r"vietat[oi]|divieti|(?:da )?evitare|non (?:fare|usare)|mai|cosa (?:non|evitare)\b.{0,30}",
    r"verboden|niet (?:doen|toegestaan)|nooit(?: doen)?|(?:te )?vermijden|wat (?:je )?(?:niet|nooit)\b.{0,30}",
    r"zabronione|zakaz(?:y|ane)?|nie (?:rób|robić|wolno)|nigdy|unikaj|czego (?:nie|unikać)\b.{0,30}",
    r"запрещен[оы]|запрещённ?о|запреты?|нельзя|никогда|не (?:делать|делай(?:те)?)",
    r"избега(?:ть|йте)|чего (?:не|избегать).{0,30}",
    r"jangan(?: lakukan)?|dilarang|larangan|ممنوع(?:ات)?|محظور(?:ات)?|لا تفعل|निषिद्ध|मत करें|নিষিদ্ধ",
    r"yasak(?:lar)?|yapma(?:yın)?|asla|yapılmaması gerekenler|kaçın(?:ın|ılması gerekenler)?",
    r"(?:严格)?禁止(?:事项|事項|操作|行为|行為)?|不要(?:做|使用)?|切勿|不允许|不得|不可以?|避免|严禁|请勿",
    r"(?:やって|して)はいけないこと|避けるべきこと|しないこと|ng|禁じ手",
    r"금지(?: ?사항)?|하지 (?:말 것|마세요|말아야 할 것|않기)|피해야 할 (?:것|패턴)",
)
_ASKS: Final = re.compile(r"[\W_]*(?:always )?ask\b", re.IGNORECASE)
_NUMBERING: Final = r"[\W_]*(?:\d+(?:\.\d+)*[.):]?[\W_]+)?"
_BAN: Final = CuedPattern(
    rf"{_NUMBERING}(?:{'|'.join(_BANS)})\W*",
    f"""never not dont donts don't don'ts avoid avoided no nos nogo nogos nono nonos no's anti antipattern antipatterns
    forbidden prohibited disallowed banned off prohibitions red nicht niemals nie vermeiden was tabu tabus prohibiciones
    nunca evitar lo jamais ne ce evite o divieti evitare non mai cosa niet nooit vermijden wat nigdy unikaj czego jangan
    yasak yasaklar yapma yapmayin asla ng
    {FORBIDDEN} {BANS} {NEVER}""",
)
_QUALIFIED: Final = re.compile(r".*?(?:\s[–—-]+\s|[:：]\s|\s?[(（])(?=[^()（）:：]*[)）]?\W*$)")
"""What a ban at a heading's end is about: "Legacy helpers (do not use)"."""
_ASIDE: Final = re.compile(r"\s*[(（][^()（）]{1,60}[)）]\W*$")
"""What a ban's end adds: "Never commit (keep unstaged)"."""
_PERMITS: Final = re.compile(
    _EXPRESSIONS["permits"],
    re.IGNORECASE,
)
_ENDS_BANNING: Final = CuedPattern(
    r"\b(?:must|should|shall|do|does|may|can|will)[\s*_]+not[\W_]*$|\b(?:never|don['’]?ts?|cannot|avoid|"
    r"forbidden|prohibited|disallowed|not allowed|off[- ]limits|"
    rf"nicht|{either(f'{FORBIDDEN} {NEVER}')})\W*$|(?:禁止|不要|不得|不可|切勿|严禁|してはいけない|금지)\W*$",
    f"not never dont don't donts don'ts cannot avoid forbidden prohibited disallowed off nicht {FORBIDDEN} {NEVER}",
)
_MISTAKES: Final = CuedPattern(
    _EXPRESSIONS["mistakes"],
    _LISTS["mistakes_1"],
)
_LEAVE: Final = CuedPattern(
    r"\b(?:ask(?:ing)? (?:first|before|for)|always ask|require[sd]? (?:\w+ )?(?:approval|permission|confirmation|"
    r"review)|needs? (?:\w+ )?(?:approval|permission|confirmation)|except|unless|only (?:if|when|after|with|for)|"
    rf"optional(?:ly)?|erst fragen|{either(LEAVE)})\b|"
    r"确认|詢問|询问|批准|许可|例外|許可|確認|承認|승인|허가|확인|예외|문의",
    f"ask asking require required requires need needs except unless only optional optionally erst {LEAVE}",
)
_WHEN: Final = re.compile(
    _EXPRESSIONS["when"],
    re.IGNORECASE,
)
_SAYS_WHAT_TO_DO: Final = re.compile(
    _EXPRESSIONS["says_what_to_do"],
    re.IGNORECASE,
)
_APPROVES: Final = re.compile(
    r"\W*(?:✅|✔|✓|👍)|[\W_]*(?:good|correct|right|better|do|ok|okay|yes|preferred|instead)[*_]{0,2}[:：]",
    re.IGNORECASE,
)
_ENDS_FORBIDDING: Final = re.compile(r"(?:しない(?:こと)?|してはいけない|하지 ?(?:마세요|말 것|않기))[\W_]*$")


def is_negative_heading(text: str) -> bool:
    """Whether a heading says that what is below it is not to be done ("Don't", "What to avoid", "Never")."""
    if len(text) > MAX_DECIDING_CHARS:
        return False
    if not _BAN.may_match(text):
        return False
    if _BAN.pattern.fullmatch(_ASIDE.sub("", text)) is not None:
        return True
    about = _QUALIFIED.match(text)
    return about is not None and _BAN.pattern.fullmatch(text, about.end()) is not None


def verdict(text: str) -> str:
    """Return what a label says of all below it: ``no``, ``ask``, ``yes``, or nothing that would end another label's.

    Of two labels that say different things the nearer one counts: "**Always**" below "Ask first" needs no leave.
    """
    if len(text) > MAX_DECIDING_CHARS:
        return ""
    if (_BAN.may_match(text) and _BAN.pattern.fullmatch(_ASIDE.sub("", text)) is not None) or lists_mistakes(text):
        return "no"
    if _PERMITS.fullmatch(text) is None:
        return ""
    return "ask" if _ASKS.match(text) is not None else "yes"


def ends_negative(label: str) -> bool:
    """Whether a label ends with what turns all below it into what is not to be done ("Agents must not")."""
    return is_negative_heading(label) or _ENDS_BANNING.search(label) is not None


def only_bans(label: str) -> bool:
    """Whether a label forbids and names nothing that it forbids ("Banned", "Never", not "Never commit")."""
    if len(label) > MAX_DECIDING_CHARS or not _BAN.may_match(label) or _BAN.pattern.fullmatch(label) is None:
        return False
    return all(word in FUNCTION_WORDS or word not in IMPERATIVES for word in split(label))


def lists_mistakes(label: str) -> bool:
    """Whether what is below a label went wrong, whatever it says ("Anti-patterns", "Common mistakes")."""
    return len(label) <= MAX_DECIDING_CHARS and _MISTAKES.search(label) is not None


def decides(label: str) -> bool:
    """Whether words below a label mean something else without it: a ban, a mistake, a condition, leave to be asked."""
    if len(label) > MAX_DECIDING_CHARS:
        return False
    return (
        ends_negative(label)
        or lists_mistakes(label)
        or _WHEN.search(label) is not None
        or _LEAVE.search(label) is not None
    )


def says_what_to_do(words: str) -> bool:
    """Whether an item says by itself what is to be done, so that a ban above it would turn it round ("Never ...")."""
    return _SAYS_WHAT_TO_DO.match(words) is not None or _ENDS_FORBIDDING.search(words) is not None


def approves(words: str) -> bool:
    """Whether an item says that it is the right way, whatever is wrong above it ("✅ ...", "Good: ...")."""
    return _APPROVES.match(words) is not None
