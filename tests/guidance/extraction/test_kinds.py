from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("- Keep functions short\n", True),
        ("- `src/api/` - HTTP handlers\n", False),
        ("- `src/api/` - never import from here\n", True),
        ("## Project Structure\n- `web/`: the pages\n", False),
        ("## Code style\n- Arrow functions preferred\n", True),
        ("## DON'T\n- ❌ Add long remarks\n", True),
        ("- Example: `make lint`\n", False),
        ("## Yasaklar\n- main'e doğrudan push\n", True),
        ("## No-nos\n- `any`\n", True),
        ("| Command | |\n|---|---|\n| `make a` | Build all of it |\n", False),
        ("| Command | |\n|---|---|\n| `make a` | Use it before a release |\n", True),
        ("| Bad | Good |\n|---|---|\n| `import *` | `import a` |\n", False),
        ("This will:\n\n- Ask for the version\n", False),
        ("Before you push:\n\n1. `make test`\n", True),
        ("| Command | Description |\n|---|---|\n| `make` | Builds all |\n", False),
        ("## Naming rules\n| Kind | Case |\n|---|---|\n| class | Pascal |\n", True),
    ],
)
def test_what_is_a_rule_and_what_is_information(text: str, rule: bool) -> None:
    ((found,), _) = extract(parse(text), "root")
    assert found.is_rule is rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("| Task | Tool |\n|---|---|\n| Add a page | Glob |\n", False),
        ("| Case | What to do |\n|---|---|\n| a leak | Rotate the key |\n", True),
        ("## Main Technologies\n- **.NET 8** (the server)\n", False),
        ("## Scope\n- Product: the gateway\n", False),
        ("## Parts\n- **Cache**: stores the pages\n", False),
        ("## Hinweise\n- Tests schreiben bei Änderungen\n", True),
        ("**Schema:** When you add a table, update the diagram.\n", True),
        ("When uncertain: **do nothing and ask**.\n", True),
        ("Lee las normas antes de empezar con el código.\n", True),
        ("We use Rust with strict lints.\n", True),
        ("Do not include this in a message:\n\n- names of customers\n", True),
        ("## Known issues\n- The cache is slow\n", False),
        ("## Project status\n- Phase 2: begun\n", False),
        ("## Build\n- Run all tests: `make test`\n", False),
        ("## Build\n- Before a release: `make test`\n", True),
        ("Before you push:\n\n- **Run all tests:** `make test`\n", True),
        ("## 규칙\n- **변수/함수명**: 뜻이 분명한 이름을 사용합니다\n", True),
        ("## Conventions\n- Types/Classes: PascalCase\n", True),
        ("## Tech stack\n- 設定は一か所に置くこと。\n", True),
        ("## Roadmap\n- Faster doors\n", False),
        ("编写变更日志时，请参考已有条目的格式。\n", True),
        ("Use `pnpm` exclusively.\n", True),
        ("If you add doors, gates, or windows, mark them on the plan.\n", True),
        ("Solo crear páginas con un título.\n", True),
        ("テストの結果を日本語で書いて下さい。\n", True),
        ("毎回記録すること（様式を参照）。\n", True),
        ("Her kapı yılda bir kez boyanmalıdır.\n", True),
        ("Chỉ mở cửa khi có chìa khóa.\n", True),
        ("## Projet\n- **Nom :** [nom]\n", False),
        ("## Contesto\n- **Obiettivo:** da definire\n", False),
        ('## Conventions\n- [Ex: "doors in blue"]\n', False),
        ("## Conventions\n- [Doors](doors.md) are painted blue\n", True),
        ("## Histórico de decisões\n- Criação da porta azul\n", False),
        ("## Por quê?\n- A porta é da casa\n", False),
        ("## Why\n- Never open two doors: one falls\n", True),
        ("## Commit types\n- **feat**: a new door\n", False),
        ("## Commits\n- `refactor`: the same house without a door\n", False),
        ("## Commits\n- **docs**: Keep the plan of the house\n", True),
        ("## Commits\n- fix: a door that stuck\n", False),
        ("This rule ensures:\n\n- No door is open at night\n", False),
        ("Questo è un giardino con:\n\n- una porta blu\n", False),
        ("## Skills available\n- `paint` - turn a plan into a door\n", False),
        ("## Where to find what\n- “The plan of the house”: `plan.md` + `doors.md`\n", False),
        ("## Naming conventions\n- **Classes**: `PascalCase`\n", True),
        ("## Dil kuralı\n| Alan | Dil |\n|---|---|\n| Kapı adları | Türkçe |\n", True),
        ("## Overview\n- Model Agnostic: many doors (blue, red)\n", False),
        ("The root holds common doors only.\n", False),
        ("Painting a door is allowed only between two walls.\n", True),
        ("Only the owner opens the door.\n", True),
        ("Doors are opened only after a ring.\n", True),
        ("For more on doors, see [the plan](plan.md) for details.\n", False),
        ("Be brief.\n", True),
        ("Перед покраской сверяйся с планом дома.\n", True),
        ("## Files to never commit (keep them plain)\n- plan.md\n", True),
        ("Jika ada beberapa pintu, pilih pintu biru.\n", True),
        ("Baca denah rumah dulu.\n", True),
        ("Si la puerta está rota, verifica el marco.\n", True),
        ("## Rumah\n- Contoh: pintu biru\n", False),
        ("## Tujuan\n- Rumah tetap aman\n", False),
        ("## Names\n- {the doors of this house}\n", False),
        ("Paint the doors of a house. It looks like this:\n\n- a blue door\n", False),
        ("## Commits\n- Format: `type: words`\n", True),
        ("- **Examples**: Add a door to `plan/` that shows the colour\n", True),
        ("- **Example**: `make door`\n", False),
        ("## Kontext-Regler\n- die Tür streichen\n", True),
        ("## Kontext\n- die Tür am Garten\n", False),
        ("## Style\n- The form of a plan:\n  ```\n  a\n  b\n  c\n  d\n  ```\n", False),
    ],
)  # fmt: skip
def test_tables_values_and_other_languages(text: str, rule: bool) -> None:
    ((found,), _) = extract(parse(text), "root")
    assert found.is_rule is rule


def test_a_sentence_without_a_verb_that_rules_something_out_is_a_rule() -> None:
    text = (
        "Views are thin. No queries in views. No **inline** styles, in any page! No tests were run in May. No problem."
    )
    found, _ = extract(parse(text), "root")
    assert [one.text for one in found] == ["No queries in views.", "No **inline** styles, in any page!"]


@pytest.mark.parametrize("mark", ["- ", ""])
def test_a_command_that_introduces_descriptions_alone_is_a_rule_beside_them(mark: str) -> None:
    indent = "  " if mark else "\n"
    lead = "Run `make doors` after each change of the plan; it generates files in:"
    found, _ = extract(parse(f"{mark}{lead}\n{indent}- `a/` - blue doors\n"), "root")
    assert [(one.text, one.is_rule) for one in found] == [(f"{lead} `a/` - blue doors", False), (lead, True)]
    found, _ = extract(parse(f"{mark}Paint these after each change of the plan:\n{indent}- the blue door\n"), "root")
    assert [(one.text, one.is_rule) for one in found] == [
        ("Paint these after each change of the plan: the blue door", True)
    ]


def test_an_item_whose_code_is_not_indented_is_a_rule_all_the_same() -> None:
    found, _ = extract(parse("- For signed tests, create a helper that logs in:\n\n```php\nlogin();\n```\n"), "root")
    assert [one.text for one in found] == ["For signed tests, create a helper that logs in:"]
