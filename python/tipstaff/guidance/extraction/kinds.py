"""What is a rule and what is information.

A rule says what to do, not to do, or how something has to be. Information describes: what lies where, what a command
does, what happens, an example. The words themselves decide where they speak; else the labels above them; else the form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from tipstaff.guidance.extraction.grammar import (
    count_words,
    has_modal,
    has_negation,
    is_condition,
    opens_with_imperative,
)
from tipstaff.guidance.extraction.labels import Label
from tipstaff.guidance.extraction.sentences import (
    RUN_IN,
    WEAK_MODAL,
    commands_elsewhere,
    describes_itself,
    has_strong_modal,
    is_imperative,
)
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.word_forms import ALWAYS, BANS, FORBIDDEN, NEVER, OBLIGED, SHOULD, either
from tipstaff.guidance.wording.word_roles import IMPERATIVES

_MAX_LABELS: Final = 2_048

_STATES: Final = re.compile(
    r"\W*(?:repositor(?:y|ies)|repo|product|positioning|purpose|project(?: name)?|name|version|owners?|maintainers?|"
    r"(?:tech )?stack|languages?|frameworks?|runtime|status|licen[sc]e|location|path|type|authors?|date|"
    r"(?:last )?updated|main technolog(?:y|ies)|description|tipo de \w+|type de \w+|"
    r"nom(?:bre|e)?(?: (?:del?|do|du) \w+)?|descripción|descrição|descrizione|beschreibung|versi(?:ón|on|one)|versão|"
    r"estado|statut|stato|tecnolog[ií]as?|tecnologie|technologien?|licencia|licença|licenza|lizenz|wersja|opis|nazwa|"
    r"описание|название|версия|статус|стек|технологии|дата(?: обновления)?|açıklama|sürüm|durum|"
    r"项目名称?|版本|描述|状态|技术栈|プロジェクト名|バージョン|説明|프로젝트명|버전|설명)\s*[*_]*\s*[:：]",
    re.IGNORECASE,
)
"""A word that says what something is, and its value."""
_UNFILLED: Final = re.compile(
    r"(?:[\W_]*[^\n:：\[]{1,40}[:：][*_\s]*)?(?:\[[^\]\n]*\](?!\()|\{[^{}\n]*\}|<[A-Z_]+>|"
    r"tb[da]|to be (?:defined|added|determined)|"
    r"[aà] d[ée]finir|por definir|da definire|noch offen|待定|未定|미정)[\W_]*",
    re.IGNORECASE,
)
"""A form's line that nobody has filled in ("Owner: [name]")."""
_COMMIT_TYPE: Final = re.compile(
    r"[\W_]*(?:feat|fix|docs|style|refactor|perf|tests?|build|ci|chore|revert)(?:[`*_]{1,3}\s*[:：(=–—-]|: )"
)
"""How a line of a list begins that says what a kind of commit is for."""
_COMMAND: Final = re.compile(r"(?:\*\*|__)?[^`:\n]{2,40}:(?:\*\*|__)?\s*`[^`\n]+`\W*")
"""What is done, and the command that does it."""
_NAMING: Final = re.compile(r"\bnaming|nomenclature|nomenclatura|benennung|命名|명명", re.IGNORECASE)
FORM: Final = re.compile(
    r"[\W_]*(?:\w+ )?(?:format[oı]?|pattern|schema|syntax|prefix|template|格式|形式|형식)[*_]*\s*[:：]", re.IGNORECASE
)
"""A label of how something is written, and not of a command ("Format: `type: words`")."""
_ENTRY: Final = re.compile(
    r"[\W_]*(?:`[^`\n]+`|\[[^\]\n]+\]\([^)\n]*\)|"
    r"(?a:(?![A-Z][a-z]+/[A-Z])@?[\w.-]*[/\\][\w./\\*{},-]+|[\w-]+\.\w{1,5}))(?:\*\*|__)?"
    r"(?:\s*(?:[,/&+|]|and|or)\s*(?:`[^`\n]+`|"
    r"\[[^\]\n]+\]\([^)\n]*\)))*\s*(?:\([^)\n]{0,80}\)\s*)?(?P<mark>[-–—:：=→]|->|=>|$)+\s*(?P<rest>.*)",
    re.DOTALL,
)
_DESCRIBES: Final = re.compile(
    r"[\W_]*(?:this (?:will|is|means|file|command|package|creates|runs)|it (?:will|is|uses|runs)|contains?|"
    r"defines|handles|provides|returns|"
    r"manages|implements|represents|stores|creates|generates|runs|installs|builds|starts|shows|lists|includes|"
    r"supports|"
    r"works|allows|enables|describes|performs|uses|requires|hits|wraps|exposes|serves|connects|"
    r"tests (?:the|that|if|whether)|"
    r"executes|"
    r"checks|excluded|excludes|covers|located|lives?|there (?:is|are)|fast|main|shared|core library|primary|entry)\b",
    re.IGNORECASE,
)
_NAMES: Final = re.compile(
    r"(?!.*(?:[Pp]ascal|[Cc]amel|[Kk]ebab|[Ss]nake|UPPER))[\W_]*(?:(?P<label>[^\W\d_]{2,20})[*_]*\s*[:：]\s*)?"
    r"[A-Z0-9][\w.#/-]*(?:(?P<joined>\s*[+,&]\s*)[A-Z0-9][\w.#/-]*|(?(label)\s+[A-Z0-9][\w.#/-]*|(?!)))*"
    r"(?:\s*\([^()]{1,40}\))?\W*(?(label)|(?(joined)|(?!)))",
)
"""Nothing but names: a stack, and not what to do."""
_CELLS: Final = re.compile(r"[^|\n]{1,40} \| `[^`\n]+`(?: \||\W*$)")
"""A name, a place and what it is for, as in a table's row."""
_SOMETIMES: Final = re.compile(
    r"\W*(?:sometimes|manchmal|a veces|parfois|às vezes|a volte|soms|czasami|иногда|bazen|kadang\w*|đôi khi)\b|"
    r"\W*(?:有时|有時|時々|때때로|أحيان)",
    re.IGNORECASE,
)
_REASONS_LABEL: Final = re.compile(
    r"\W*(?:why\b(?! not)|warum|reasons?\W*$|gründe?\W*$|por qu[eéê]|motivos?\W*$|razones?\W*$|pourquoi|raisons?\W*$|"
    r"perché|motivi\W*$|waarom|dlaczego|почему|причин[аы]\W*$|neden(?! ol)|mengapa|alasan|tại sao|lý do|"
    r"(?:purpose|goals?|ziele?|zweck|objetivos?|objectifs?|obiettiv[io]|cel|цел[ьи]|amaç|tujuan|mục tiêu)\W*$|"
    r"なぜ|理由|目的\W*$|为什么|為什麼|原因|目标\W*$|왜|이유|목적\W*$|لماذا|السبب|क्यों)",
    re.IGNORECASE,
)
"""What is below it says why."""
_COMPARES: Final = re.compile(
    r"\b(?:differences?|comparison|compared|vs|unterschiede?|vergleich|diferencias?|comparación|comparaison|différences?|"
    r"diferenças?|comparação|differenze|confronto|porównanie|сравнение|различия|karşılaştırma|perbandingan|so sánh)\b|"
    r"違い|比較|比较|区别|區別|비교|차이",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"[\W_]*(?:e\.g\.|for example\b|例如|例えば|(?:examples?(?: \w+)?|beispiele?|z\. ?b\.|ejemplos?|exemples?|"
    r"例|示例|예시?|örnek|przykład|voorbeeld|contoh|пример|esempi[oi]?|exemplos?|bad|good|wrong|correct|not|but|"
    r"before|after)[*_]{0,2}[:：])",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(r"\s*(?:[❌✅✔✓✗🚫⛔]\ufe0f?\s*)+")
_EXAMPLES_LABEL: Final = re.compile(
    r"\b(?:examples?|beispiele?|ejemplos?|exemples?|samples?|triggers)\b|例", re.IGNORECASE
)
_EXAMPLES_HEADING: Final = re.compile(
    r"\W*(?:\w+ )?(?:examples?|beispiele?|ejemplos?|exemples?|samples?)\W*|.{0,4}例", re.IGNORECASE
)
_DESCRIBING_LABEL: Final = re.compile(
    r"\b(?:structures?|overviews?|architecture|director(?:y|ies)|layouts?|folders?|key (?:files?|paths?|"
    r"components|features|concepts|points|modules)|"
    r"source paths|core packages|references?|resources|links|contributing guides|background|tech(?:nology)?[- ]stack|"
    r"technologies|"
    r"purpose|concepts?|glossary|terminology|workflows in|located in|phase pipeline|flow \d|diagram|"
    r"(?:known|current) (?:issues|bugs|limitations|problems|status|errors)|limitations|"
    r"(?:project|development|phase) status|"
    r"future (?:services|features|enhancements|plans|work)|roadmap\W*$|change ?log|history|"
    r"why(?! not)|warum|por qu[eéê]|pourquoi|perché|dlaczego|почему|neden|"
    r"goals?\W*$|ziele?\W*$|objetivos?\W*$|objectifs?\W*$|obiettiv[io]\W*$|doele?n?\W*$|tujuan\W*$|цел[ьи]\W*$|"
    r"histórico|historial|historique|cronologia|verlauf|historia|история|"
    r"estrutura|struttura|struktura|структура|yapısı?|visão geral|panoramica|обзор|przegląd|"
    r"(?:contexto|contexte|contesto|kontext|kontekst|контекст)(?!-)|portée|alcance|ambito|geltungsbereich|zakres|tecnologie|tecnologias|technologien|технологии|"
    r"(?:skills|commands|tools|agents|scripts|workflows) available|available (?:skills|commands|tools|agents|scripts)|"
    r"where to (?:find|look)|gdzie szukać|wo finde|dónde|où trouver|dove trovare|onde encontrar|где (?:искать|найти)|"
    r"table of contents|bekannte (?:fehler|probleme)|problemas conocidos|"
    r"what (?:is|the|are|it)|how (?:it|they) works?|meaning|struktur|aufbau|übersicht|estructura|arquitectura|"
    r"tecnologías|introduction|decision tree|project info(?:rmation)?)\b|構成|構造|结构|目录|概述|概要|简介|"
    r"技术栈|架构|アーキテクチャ|资源|参考|项目信息|구조|개요|为什么|目标\W*$|目的\W*$|목표\W*$|理由|変更履歴|历史|이력",
    re.IGNORECASE,
)
_AVAILABLE: Final = re.compile(r"\bavailable\b|可用|利用可能", re.IGNORECASE)
"""A list of what there is, each with what it is for in the words of a command ("`review` - check a change")."""
_DIRECTING_LABEL: Final = re.compile(
    r"\b(?:rules?|guidelines?|conventions?|standards?|requirements?|requires?|practices|principles|style|"
    r"naming|format(?:ting)?|checklist|steps?|"
    r"procedures?|workflow|process|how to|adding|creating|writing|fixing|running|updating|modifying|must|"
    r"should|always|never|avoid|prefer(?:red|ita|ida|ido)s?|"
    r"do|don'?ts?|not|prefer|policy|policies|etiquette|quality|patterns?|typically includes?|instructions|"
    r"best|security|testing|placement|"
    r"before|when|if|use|tips?|pitfalls|gotchas?|notes?|preferences?|constraints?|regeln|richtlinien|"
    r"konventionen|anweisungen|vorgehen|"
    r"reglas|normas|convenciones|estilo|pasos|règles|conventions)\b|规范|規範|规则|規則|原则|原則|要求|流程|"
    r"步骤|手順|ルール|ガイドライン|規約|方針|必須|注意|场合|場合|时|前|規定|규칙|지침",
    re.IGNORECASE,
)
_DEMANDS: Final = f"{FORBIDDEN} {BANS} {NEVER} {ALWAYS} {OBLIGED} {SHOULD}"
_STRONG: Final = CuedPattern(
    r"\b(?:must|never|always|do not|don['’]t|should|shall|avoid|ensure|prefer|mandatory|forbidden|prohibited|"
    rf"not allowed|make sure|use|{either(_DEMANDS)})\b|"
    r"禁止(?!事)|必须|必須|不要|不得|一律|优先|優先|ない|すること|こと[。.]?\W*$|해야|마세요|십시오",
    "must never always not don't should shall avoid ensure prefer mandatory forbidden prohibited sure use " + _DEMANDS,
)


def demands(words: str, labels: Sequence[Label], headings: Sequence[Label], *, row: bool = False) -> bool:
    """Whether an item or a table's row is a rule.

    Parameters
    ----------
    words
        Its own.
    labels
        Above it, the outermost first: headings, lead-ins, parent items.
    headings
        The headings among them.
    row
        Whether it is a table's row. Tables describe, unless a cell commands or what is above the table asks for it.
    """
    example = _EXAMPLE.match(words)
    if example is not None and not (words.startswith("**") and opens_with_imperative(words[example.end() :])):
        return False
    near = [label for label in labels if not label.topic]
    marked = not words.isascii() and _MARKED.match(words) is not None
    words = words if words.isascii() else _MARKED.sub("", words)
    lead = near[-1].text if near else ""
    if _UNFILLED.fullmatch(words) is not None or _SOMETIMES.match(words) is not None:
        return False
    if lead and _REASONS_LABEL.match(lead) is not None:
        return False
    if headings and not (lead or has_modal(words)) and _REASONS_LABEL.match(headings[-1].text) is not None:
        return False
    if any(label.negative for label in labels):
        return True
    if headings and _EXAMPLES_HEADING.fullmatch(headings[-1].text) and _STRONG.search(words) is None:
        return False
    if headings and _COMPARES.search(headings[-1].text) and (row or not has_strong_modal(words)):
        return False
    if row:
        return _row_demands(words, lead, headings)
    if lead and _EXAMPLES_LABEL.search(lead):
        return False
    body = words
    run_in = RUN_IN.match(words)
    if run_in is not None and run_in["between"]:
        body = words[run_in.end() :]
        if count_words(run_in["label"]) == 1 and _third_person(body) and _STRONG.search(body) is None:
            return False
    strong = _STRONG.search(words) is not None
    if _COMMIT_TYPE.match(words) is not None and not (strong or is_imperative(words)):
        return False
    entry = _ENTRY.match(words)
    if entry is not None:
        rest = entry["rest"]
        if headings and _AVAILABLE.search(headings[-1].text):
            return has_strong_modal(rest)
        if is_imperative(rest) or _STRONG.search(rest):
            return True
        if rest and (has_modal(lead) or has_negation(rest) or _procedure(lead) or _CHOICE.search(lead)):
            return True
        return not rest and (_demanding(lead) or _procedure(lead) or commands_elsewhere(lead))
    names = not _demanding(lead) and _NAMES.fullmatch(words) is not None
    if not strong and (_unfinished(words) or names or _CELLS.match(words) or describes_itself(words)):
        return False
    if _COMMAND.fullmatch(words) is not None and not (
        FORM.match(words)
        or (headings and _NAMING.search(headings[-1].text))
        or _procedure(lead)
        or is_condition(words)
        or strong
    ):
        return False
    if strong:
        return True
    if is_imperative(words) or (body is not words and is_imperative(body)):
        return not _narrates(lead)
    if has_modal(words) and WEAK_MODAL.search(words) is None:
        return True
    if has_negation(words) and not _DESCRIBES.match(body):
        return not _narrates(lead)
    if is_condition(words):
        return not _narrates(lead)
    if lead:
        if _demanding(lead) or is_condition(lead):
            return not _narrates(lead)
        if _narrates(lead) or _label_describes(lead):
            return False
        if _label_directs(lead) or is_imperative(lead):
            return True
    if marked and not near:
        return True
    if (
        _STATES.match(words)
        or _DESCRIBES.match(body)
        or (run_in is not None and _third_person(body))
        or (marked and not any(label.negative for label in labels))
    ):
        return False
    for heading in reversed(headings):
        if _label_directs(heading.text):
            return True
        if _label_describes(heading.text):
            return False
    return True


def _unfinished(words: str) -> bool:
    """Whether words only announce something that is not in the rule ("Format of a request:")."""
    return words.rstrip("*_ ").endswith((":", "：")) and not (is_imperative(words) or has_modal(words))


def _third_person(body: str) -> bool:
    """Whether words after a label begin with a verb that says what something does ("**Cache**: stores the pages")."""
    first, _, _ = body.lstrip("*_ ").partition(" ")
    verb = first.casefold()
    return verb.endswith("s") and (verb[:-1] in IMPERATIVES or (verb.endswith("es") and verb[:-2] in IMPERATIVES))


def _row_demands(words: str, lead: str, headings: Sequence[Label]) -> bool:
    cells = [
        cell.rpartition(": ")[2] if ": " in cell[:60] else cell
        for cell in words.split("; ")
        if _TASK_COLUMN.match(cell) is None
    ]
    if _ALLOWS.search(words) is not None:
        return True
    if _STRONG.search(words) is None and _CODE_COLUMN.match(words) is not None:
        return False
    if _STRONG.search(words) is not None or any(is_imperative(cell) and count_words(cell) > 1 for cell in cells):
        return True
    if (_demanding(lead) or is_imperative(lead)) and not _narrates(lead):
        return _DESCRIBES_COLUMN.search(words) is None
    columns = [] if words.isascii() else _COLUMNS.findall(words)
    if any(map(has_strong_modal, columns)):
        return True
    return any(_DEMANDING_TABLE.search(one.text) for one in headings[-2 if len(columns) == 2 else -1 :])


_COLUMNS: Final = re.compile(r"(?:^|; )([^:;]{1,40}): ")
"""The heads of a row's columns."""
_TASK_COLUMN: Final = re.compile(
    r"\W*(?:tasks?|goals?|actions?|scenarios?|situations?|use cases?|problems?|topics?|i want to|to)\W*: ",
    re.IGNORECASE,
)
_ALLOWS: Final = re.compile(
    r"\b(?:allowed|permitted|approved|erlaubt|permitido|autorisé)\W*: *"
    r"(?:[❌🚫⛔✅✔✗]|(?:yes|no|ja|nein|sí|oui|non)\b)",
    re.IGNORECASE,
)
_CODE_COLUMN: Final = re.compile(
    r"\W*(?:commands?|scripts?|functions?|methods?|targets?|tasks?|options?|flags?|hooks?|packages?|modules?|files?|"
    r"director(?:y|ies)|variables?|befehl|comando|commande|命令|コマンド)\W*: (?:`[^`]*`[\s,/]*)+;",
    re.IGNORECASE,
)
"""What the row of a list of commands or files begins with, whatever its description begins with."""
_DESCRIBES_COLUMN: Final = re.compile(r"(?:^|; )(?:what (?:it|they)|meaning|description|symptom)", re.IGNORECASE)
_DEMANDING_TABLE: Final = re.compile(
    r"\b(?:rules?|conventions?|standards?|requirements?|naming|placement|polic(?:y|ies)|must|should|regeln|konventionen|"
    r"reglas|normas|convenciones|règles|regole|regras|zasady|правила|kural(?:lar)?ı?)\b|规范|規範|规则|規則|ルール|規約|규칙",
    re.IGNORECASE,
)
_CHOICE: Final = re.compile(r"\b(?:one of|choose|pick|either|verification|label)\b", re.IGNORECASE)
_NARRATES: Final = re.compile(
    r"\b(?:this (?:will|creates|runs)|(?:action|command|script|hook|hooks|workflow|cli|it|they|tool|system|"
    r"server)\b[^:]{0,60}\b(?:will|does|validates|runs|format|automatically)|there are|"
    r"(?:contain|provide|include|validate|generate|consist|represent|support|ergänzen|enthält|"
    r"contiene)s?\b[^:]{0,80}$|^\W*(?:this (?:is an?|rule ensures|ensures)|it (?:covers|works on|supports)|"
    r"questo è|dies(?:es)? (?:ist|projekt)|esto es|este es|ceci est|c['’]est|este é|isto é|это|to jest|bu bir)\b|"
    r"looks? like|tampilannya|seperti ini|sieht so aus|helpers? in|located in|um folgendes zu lernen|to learn|types in|"
    r"workflows in)\b|構築されています|包括|包含",
    re.IGNORECASE,
)


# One label is above many items.
@lru_cache(maxsize=_MAX_LABELS)
def _label_describes(text: str) -> bool:
    return _DESCRIBING_LABEL.search(text) is not None


@lru_cache(maxsize=_MAX_LABELS)
def _label_directs(text: str) -> bool:
    return _DIRECTING_LABEL.search(text) is not None


@lru_cache(maxsize=_MAX_LABELS)
def _demanding(lead: str) -> bool:
    return has_modal(lead) or has_negation(lead)


@lru_cache(maxsize=_MAX_LABELS)
def _narrates(lead: str) -> bool:
    """Whether a lead-in announces what happens or what there is, and not what to do."""
    return (
        lead != ""
        and _NARRATES.search(lead) is not None
        and "typically include" not in lead
        and not re.search(r"\b(?:must|should)\b", lead)
        and not has_negation(lead)
    )


@lru_cache(maxsize=_MAX_LABELS)
def _procedure(lead: str) -> bool:
    return lead != "" and (is_imperative(lead) or is_condition(lead)) and not _narrates(lead)
