"""What candidates say: how alike two texts are, in any script, and which texts are kept out of prompts."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ASCII_WORDS: Final = re.compile(r"[a-z0-9_]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]")
_UNSPACED: Final = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # iteration marks, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
_PARTS: Final = re.compile(rf"([{_UNSPACED}]+)|[^{_UNSPACED} ]+")
_JOINERS: Final = frozenset((0x200C, 0x200D))


class _Letters(dict[int, int]):
    """Code point to itself where it is part of a word, else to a space; learns each when it first meets it."""

    def __missing__(self, code: int) -> int:
        # Letters, numbers, marks (vowel signs are part of words in many scripts) and connecting punctuation.
        category = unicodedata.category(chr(code))
        kept = category[0] in "LNM" or category == "Pc" or code in _JOINERS
        # Texts of foreign origin may hold any code point; the table does not grow beyond what they use.
        self[code] = value = code if kept else 32
        return value


_LETTERS: Final = _Letters()


def spaced_words(text: str) -> str:
    """Return a text whose words, in lower case, are set apart by something that is not part of a word.

    A word is a run of letters, digits, marks and underscores. Scripts that put no spaces between words (Chinese,
    Japanese, Thai, Lao, Khmer, Burmese) have no words that can be found without a dictionary: of a run of those,
    each pair of neighbouring characters counts as a word, as is usual in retrieval. ASCII text is returned as it is.
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFC", text).lower().translate(_LETTERS)
    found: list[str] = []
    for match in _PARTS.finditer(folded):
        part = match[0]
        if match[1] and len(part) > 1:
            found += [part[i : i + 2] for i in range(len(part) - 1)]
        else:
            found.append(part)
    # A lone surrogate has category Cs and is gone by now.
    return " ".join(found)


def has_words(spaced: str) -> bool:
    """Return whether a text that `spaced_words` returned has any word."""
    return _WORD.search(spaced) is not None


def words(text: str) -> frozenset[str]:
    """Return the set of a text's words, in lower case."""
    if text.isascii():
        return frozenset(_ASCII_WORDS.findall(text.lower()))
    return frozenset(spaced_words(text).split())


def jaccard(left: str | None, right: str | None) -> float:
    """Return the Jaccard similarity of two texts' word sets.

    Parameters
    ----------
    left, right
        Texts in any script; case, punctuation, order and repetition make no difference. See `spaced_words`.

    Returns
    -------
    float
        Shared words over all words, 0 to 1. An empty or blank text is like nothing (0); of two texts that are neither
        and hold no word (``!!!`` and ``???``), no word differs (1).
    """
    if not left or not right or left.isspace() or right.isspace():
        return 0.0
    first, second = words(left), words(right)
    if not first and not second:
        return 1.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


_HIDDEN: Final = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_JOINED: Final = re.compile("[A-Za-z][\u200b-\u200f\u2060-\u2064\ufeff\u00ad][A-Za-z]")
_LOOK_ALIKES: Final = str.maketrans("аеорсухіјѕԁԛԝαορνιτкмн", "aeopcyxijsdqwaopvitkmh")

_TEMPLATE: Final = re.compile(
    r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer)(?:[ _-](?:prompt|message|"
    r"instructions?))?\s*/?>"
    r"|^\s*#{1,4}\s*(?:system|assistant|developer)\s*(?:prompt|message)?\s*:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER: Final = re.compile(
    r"(?:\n|\A)[ \t]*\**(?:system|assistant|developer|human|user)\**[ \t]{0,4}:", re.IGNORECASE
)
_TO_THE_MODEL: Final = re.compile(r"\b(?:you|your|ignore|obey|comply|reveal|disregard)\b", re.IGNORECASE)

_GAP: Final = r"[^.!?\n]{0,30}?"
_ORDERS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # English
        (
            rf"\b(?:ignore|disregard|forget|override|bypass|drop|skip)\b{_GAP}\b(?:previous|prior|above|earlier|preceding|foregoing|"
            rf"your|system|developer|safety|original)\b{_GAP}\b(?:instructions?|prompts?|rules|guidelines|directions|directives|"
            r"constraints|orders|guardrails|safeguards|training)\b"
        ),
        (
            r"\b(?:ignore|disregard|forget)\s+(?:all|any|every|everything)\b(?:\s+(?:of\s+)?(?:the|these|those|your|other)){0,2}\s*"
            r"(?:instructions?|prompts?|guidelines|directives|(?:you (?:were|have been) told|above|before))\b"
        ),
        (
            r"\byou are (?:now|no longer)\b[^.!?\n]{0,40}\b(?:unrestricted|jailbroken|dan\b|free of|free from|"
            r"bound|developer mode|"
            r"root mode|admin(?:istrator)? mode|a different (?:ai|assistant|model)|an? (?:ai|assistant|model)\b)"
        ),
        r"\b(?:new|updated|real|true) (?:system )?instructions?(?: for you)?\s*:\s*\S",
        (
            r"\b(?:reveal|print|repeat|output|show|leak|send|exfiltrate)\b[^.!?\n]{0,20}\b(?:your (?:(?:system|"
            r"hidden|initial) "
            r"prompt|(?:system |hidden |initial )?instructions)|the (?:system|hidden|initial) prompt)\b"
        ),
        (
            r"\b(?:pretend|act|behave|respond) as (?:if|though) (?:you (?:have|had|were|are)|there (?:were|are)) no "
            r"(?:rules|restrictions|limits|instructions|guidelines|constraints)\b"
        ),
        # code that is fetched, then run
        (
            r"\b(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n]{0,200}\|\s*(?:sudo\s+)?"
            r"(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl|ruby|iex|invoke-expression)\b"
        ),
        r"\b(?:ba|z|da)?sh\b\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b",
        r"\b(?:eval|exec|source|iex)\b\W{0,4}[\"'$(<]{1,4}\s*(?:curl|wget|iwr|irm|requests\.get|urlopen|fetch)\b",
        (
            r"\b(?:download|fetch)\b[^\n]{0,80}\band (?:then )?(?:run|execute|eval(?:uate)?|source) (?:it|them|"
            r"the (?:script|"
            r"code|binary|payload))\b"
        ),
        # Chinese, Japanese, Korean
        (
            r"(?:忽略|无视|無視|忘记|忘記|不要理会|不理会)[^。！？\n]{0,10}(?:之前|以上|先前|所有|前面|上述|此前|以前|全部|系统|系統)?[^。！？\n]{0,8}"
            r"(?:指令|提示词|提示|指示|命令|系统消息)"
        ),
        r"(?:以前|これまで|上記|前述|前|すべて|全て|今まで|あなた|システム)(?:の|まで)?[^。！？\n]{0,10}(?:指示|命令|プロンプト|ルール)[^。！？\n]{0,6}(?:無視|忘れ)",
        r"(?:이전|위의?|모든|앞의?|지금까지|시스템)[^.!?\n]{0,12}(?:지시|명령|프롬프트|지침)[^.!?\n]{0,8}(?:무시|잊)",
        # Spanish, Portuguese, Italian, French, German, Dutch, Polish, Turkish
        r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|omit[ae])\b[^.!?\n]{0,25}\b(?:instrucciones|indicaciones|órdenes|directrices)\b",
        r"\b(?:ignor[ae]\w*|esque[çc]a\w*|desconsidere\w*)\b[^.!?\n]{0,25}\b(?:instruções|instrucoes|ordens|orientações)\b",
        r"\b(?:ignora\w*|dimentica\w*)\b[^.!?\n]{0,25}\b(?:istruzioni|indicazioni)\b",
        (
            r"\b(?:ignore[rz]?|oublie[rz]?|négligez?)\b[^.!?\n]{0,25}\b(?:instructions|consignes|directives)\b[^.!?\n]{0,25}\b(?:précédentes?|"
            r"antérieures?|ci-dessus|système)\b"
        ),
        (
            r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)\b[^.!?\n]{0,30}\b(?:anweisungen|instruktionen|"
            r"vorgaben|anordnungen)\b"
        ),
        r"\b(?:negeer|vergeet)\b[^.!?\n]{0,25}\b(?:instructies|aanwijzingen)\b",
        r"\b(?:zignoruj|ignoruj|zapomnij)\b[^.!?\n]{0,25}\b(?:instrukcje|instrukcji|polecenia)\b",
        (
            r"\b(?:önceki|yukarıdaki|tüm)\b[^.!?\n]{0,20}\b(?:talimat\w*|yönerge\w*)\b[^.!?\n]{0,12}\b(?:yok say|"
            r"unut|görmezden)"
        ),
        # Russian, Ukrainian, Hindi, Arabic, Hebrew
        (
            r"(?:игнорир\w+|проигнорир\w+|забуд\w+|не обращай\w* внимания на|ігнору\w+)[^.!?\n]{0,25}(?:инструкци|"
            r"указани|інструкц|вказівк|приказ)"
        ),
        r"(?:पिछले|पूर्व|सभी|ऊपर)[^।\n]{0,15}(?:निर्देश|आदेश)[^।\n]{0,12}(?:अनदेखा|नज़रअंदाज़|भूल|उपेक्षा)",
        r"(?:تجاهل|انس|تغاضَ? عن)[^.!؟\n]{0,20}(?:التعليمات|الأوامر|الإرشادات)",
        r"(?:התעלם|התעלמי|שכח)[^.!?\n]{0,15}(?:ההוראות|הוראות)",
    )
)


def normalised(text: str) -> str:
    """Return a text as a model reads it: compatibility forms folded, invisible characters gone."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=16_384)
def refusal(text: str) -> str:
    """Return why a note is not shown to a model; empty where it may be.

    Reasons are ``hidden text``, ``plays another speaker``, ``drops instructions or runs fetched code``.
    """
    if _HIDDEN.search(text) is not None or _JOINED.search(text) is not None:
        return "hidden text"
    plain = normalised(text)
    if _TEMPLATE.search(plain) is not None:
        return "plays another speaker"
    speakers = _SPEAKER.findall(plain)
    if len(speakers) > 1 or (speakers and _TO_THE_MODEL.search(plain) is not None and "system" in speakers[0].lower()):
        return "plays another speaker"
    line = " ".join(plain.split())
    for candidate in dict.fromkeys((line, line.lower().translate(_LOOK_ALIKES))):
        if any(pattern.search(candidate) is not None for pattern in _ORDERS):
            return "drops instructions or runs fetched code"
    return ""


_AGAINST: Final = re.compile(
    r"\b(?:never|don'?t|do not|does not|must not|mustn'?t|should not|shouldn'?t|cannot|can'?t|may not|not|"
    r"no|avoid|stop|without|"
    r"refrain|forbid(?:den)?|prohibit(?:ed)?|nie|niemals|nicht|kein\w*|nunca|jamás|evita\w*|jamais|ne pas|"
    r"sempre não|não|mai)\b"
    r"|никогда|нельзя|не\s|不要|不得|禁止|切勿|しない|ないで|禁じ|하지\s?마|금지|कभी नहीं|मत\s|ห้าม|อย่า|لا\s|ممنوع|אסור|"
    r"לעולם",
    re.IGNORECASE,
)


def is_against(text: str) -> bool:
    """Return whether a note says what not to do: its opposite, in nearly the same words, is no evidence for it.

    Two denials undo each other, as in "never skip without asking"; the first one counts.
    """
    return _AGAINST.search(normalised(text)) is not None
