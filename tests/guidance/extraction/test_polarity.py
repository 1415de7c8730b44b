from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.extraction.polarity import decides, is_negative_heading, lists_mistakes, says_what_to_do
from tipstaff.guidance.reading.markdown import parse

BANS = {
    "Use `require()`": """Do Not|Don't|Don’ts|Never|NEVER do this|Avoid|What not to do|Things to avoid|Forbidden actions|Banned
        |Do NOT do the following|You must not|Not allowed|Anti-patterns|Bad practices|Common mistakes to avoid|Off-limits
        |Red lines|No-nos|Avoid when possible|Old API (do not use)|Helpers — NEVER generate these|Out of scope|What you should never do|Never commit|Do not edit these files|Prohibitions|🚫 4. Forbidden""",
    "Dateien in `dist/` bearbeiten": "Verboten|Nicht tun|Nicht erlaubt|Niemals|Vermeiden|Was nicht zu tun ist|Nie tun",
    "Usar `require()`": "Prohibido|No hacer|Nunca|Evitar|Qué no hacer|Lo que no debes hacer|Prohibiciones",
    "Utiliser `require()`": "Interdit|À éviter|Ne pas faire|Ne jamais faire|Jamais|Interdictions|À ne pas faire",
    "Usar o `require()`": "Proibido|Não fazer|Nunca faça|Evitar|O que não fazer",
    "Usare `require()`": "Vietato|Da evitare|Non fare|Mai|Cosa non fare|Divieti",
    "Bestanden in `dist/` bewerken": "Verboden|Niet doen|Nooit|Vermijden|Wat niet te doen",
    "Edytować pliki w `dist/`": "Zabronione|Nie rób|Nigdy|Unikaj|Czego nie robić",
    "Использовать `require()`": "Запрещено|Нельзя|Никогда|Не делать|Чего не делать|Запреты",
    "`require()` kullanmak": "Yasak|Yapma|Asla|Yapılmaması gerekenler|Yasaklar",
    "使用 `require()` 导入": "禁止|禁止事项|不要做|切勿|不允许|避免|严禁",
    "`require()` を使う": "禁止事項|やってはいけないこと|避けるべきこと|しないこと|アンチパターン",
    "`require()` 사용": "금지|금지 사항|하지 말 것|피해야 할 것",
}
LONG = (
    " and several further words that make this item long enough to say much about many other things, such as builds,"
    " releases, branches, reviews, only two of which matter"
)


def texts(text: str) -> list[str]:
    return [one.text for one in extract(parse(text), "root")[0]]


@pytest.mark.parametrize(
    ("ban", "item"), [(ban.strip(), item) for item, bans in BANS.items() for ban in bans.split("|")]
)
def test_a_ban_is_carried_by_what_is_below_it(ban: str, item: str) -> None:
    for text in (
        f"# Project\n\n## {ban}\n\n- {item}\n",
        f"# Project\n\n## {ban}\n\n### Imports\n\n- {item}{LONG}\n",
        f"# {ban}\n\n## Imports\n\n- {item}\n",
        f"# Project\n\n## Imports\n\n**{ban}:**\n\n- {item}{LONG}\n",
        f"# Project\n\n## Imports\n\n{ban}:\n\n- {item}\n",
        f"# Project\n\n## Imports\n\n- {ban}:\n  - {item}\n",
        f"# Project\n\n## {ban}\n\n- {item}, {ban.casefold()}, x\n",
    ):
        (found,) = extract(parse(text), "root")[0]
        assert found.is_rule
        words = ban.removeprefix("🚫 4. ")
        assert found.text[: found.own].count(words) == 1
        assert found.text[found.own :].startswith(item)


@pytest.mark.parametrize(
    "condition",
    ["Before you commit", "When you add a table", "Ask first", "Requires approval", "For releases", "After a merge",
     "If the build fails", "Checklist before publishing", "Exceptions", "Bevor du committest", "Antes de publicar",
     "Avant de publier", "提交前", "コミットする前に", "커밋할 때"],
)  # fmt: skip
def test_a_condition_is_carried_whatever_is_between(condition: str) -> None:
    for text in (
        f"# P\n\n## {condition}\n\n### Imports\n\n- Sort the imports{LONG}\n",
        f"# P\n\n## {condition}\n\nSort all imports of the package.\n",
        f"# P\n\n## Imports\n\n{condition}:\n\n1. Sort the imports\n",
    ):
        (found,) = extract(parse(text), "root")[0]
        assert found.text[: found.own].count(condition) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Don't\n- Do everything in one commit\n", "Don't: Do everything in one commit"),
        ("## Don't\n- Do: small commits\n", "Do: small commits"),
        ("## Avoid\n- Correct the grammar of others\n", "Avoid: Correct the grammar of others"),
        ("## Don't\n- Instead of asking, guess\n", "Don't: Instead of asking, guess"),
        ("## Don't\n- Use it where you don't need it\n", "Don't: Use it where you don't need it"),
        ("## Common mistakes\n- Not running the tests\n", "Common mistakes: Not running the tests"),
        ("## Anti-patterns\n- No error handling\n", "Anti-patterns: No error handling"),
        ("## Verboten\n- Niemals pushen\n", "Niemals pushen"),
        ("## 禁止\n- `main` へ push しないこと\n", "`main` へ push しないこと"),
    ],
)
def test_a_ban_does_not_turn_round_what_says_itself_what_to_do(text: str, expected: str) -> None:
    assert texts(text) == [expected]


@pytest.mark.parametrize(
    ("heading", "negative"),
    [
        ("Don't", True), ("❌ Don'ts", True), ("What to avoid", True), ("Never", True), ("Things you must never do", True),
        ("Anti-patterns", True), ("Forbidden commands", True), ("禁止事项", True), ("Do", False), ("Never mind the gap", False),
        ("Don't panic and carry on with what you were doing until it is really done", False), ("Notes", False),
        ("Never commit secrets", False), ("Nothing", False), ("Notation", False), ("Donations", False),
    ],
)  # fmt: skip
def test_headings_that_forbid(heading: str, negative: bool) -> None:
    assert is_negative_heading(heading) is negative


def test_what_decides() -> None:
    assert lists_mistakes("Common pitfalls")
    assert not decides("Frontend")
    assert not decides("前端规范")
    assert not decides("x" * 1_000 + " before")
    assert says_what_to_do("✅ Use it")
    assert not says_what_to_do("Note it")
