from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse


def texts(text: str) -> list[str]:
    return [one.text for one in extract(parse(text), "root")[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Do Not\n- Use `require()` for imports\n", ["Do Not: Use `require()` for imports"]),
        ("## Do Not\n- Commit only half a change\n- push without review\n",
         ["Do Not: Commit only half a change", "Do Not: push without review"]),
        ("## Don't\n- Ask first: dropping a table\n- Never push\n", ["Ask first: dropping a table", "Never push"]),
        ("When you add a table:\n\n1. Write a migration\n2. Run it\n",
         ["When you add a table: Write a migration", "When you add a table: Run it"]),
        ("## Adding a Locale\n1. Create the folder\n", ["Adding a Locale: Create the folder"]),
        ("## Payments\n- Write tests first\n", ["Payments: Write tests first"]),
        ("## Tests\n- Write tests first\n", ["Write tests first"]),
        ("## Rules\n- Keep it\n", ["Keep it"]),
        ("To open a door:\n\n1. Turn the key\n2. Push\n\n- Keep floors clean\n- Avoid noise\n",
         ["To open a door: Turn the key", "To open a door: Push", "Keep floors clean", "Avoid noise"]),
        ("To open a door:\n\n1. Turn the key\n\n- twice at night\n\n2. Push\n",
         ["To open a door: Turn the key", "To open a door: twice at night", "To open a door: Push"]),
        ("## Common mistakes to avoid\n- ❌ Read the clock twice\n- ✅ Read the clock once\n- Sleep in tests\n",
         ["Common mistakes to avoid: ❌ Read the clock twice", "✅ Read the clock once",
          "Common mistakes to avoid: Sleep in tests"]),
        ("# Title\n\n## API\n### Errors\n- Return a code\n", ["Errors: Return a code"]),
        ("## Changelog\n### Format\n- Begin with a verb\n", ["Changelog: Begin with a verb"]),
        ("**Escalate if:**\n\n- a key leaks\n", ["Escalate if: a key leaks"]),
        ("## 禁止\n- `eval` を使う\n", ["禁止: `eval` を使う"]),
        ("| Old (do not suggest) | New |\n|---|---|\n| `visible` | `open` |\n",
         ["Old (do not suggest): `visible`; New: `open`"]),
        ("| Bad | Good |\n|---|---|\n| `import *` | `import a` |\n", ["Bad: `import *`; Good: `import a`"]),
        ("# T\n\n## A\n\nFiles of two kinds are read:\n\n### B\n- Sort all b\n\n### C\n- Sort all c\n",
         ["Files of two kinds are read: Sort all b", "Sort all c"]),
        ("# T\n\n## A\n\nIn production:\n\n### Files\n- Sort b\n\n### Jobs\n- Run c\n\n## Z\n- Go on\n",
         ["In production: Files: Sort b", "In production: Jobs: Run c", "Z: Go on"]),
        ("# T\n\n## A\n\nFor every task:\n\n### Step 1\n- Sort b\n\n### Step 2\n- Run c\n",
         ["For every task: Step 1: Sort b", "For every task: Step 2: Run c"]),
        ("***NEVER:***\n- log keys\n", ["NEVER: log keys"]),
        ("*Don't:*\n- log keys\n", ["Don't: log keys"]),
        ("<b>Never:</b>\n- log keys\n", ["Never: log keys"]),
        ("Don't:\nUse global variables.\nUse singletons.\n", ["Don't: Use global variables.", "Don't: Use singletons."]),
        ("Don't:\nUse global variables.\nBefore you push:\nRun all the tests.\n",
         ["Don't: Use global variables.", "Before you push: Run all the tests."]),
        ("Don't:\nUse global variables.\nInstead use arguments.\n",
         ["Don't: Use global variables.", "Don't: Use global variables. Instead use arguments."]),
        ("- **Don't**\n  - use `var`\n- Avoid\n  - deep nesting\n", ["Don't: use `var`", "Avoid: deep nesting"]),
        ("| Action | Allowed |\n|---|---|\n| Delete files | ❌ |\n", ["Action: Delete files; Allowed: ❌"]),
        ("| Instead of | Use |\n|---|---|\n| `print` | `log` |\n", ["Instead of: `print`; Use: `log`"]),
        ("Never:\n- push\n\n| Rule | Name |\n|---|---|\n| Use tabs | x |\n", ["Never: push", "Use tabs; Name: x"]),
        ("Never do:\n\n| Action | Name |\n|---|---|\n| Push it | x |\n", ["Never do: Action: Push it; Name: x"]),
        ("## Ask First\n- A new dependency\n\n**Never:**\n- Delete a migration\n\n**Always:**\n- Run `make`\n",
         ["Ask First: A new dependency", "Never: Delete a migration", "Always: Run `make`"]),
        ("## Anti-patterns\n- Nested ternaries\n\n**Good:**\n- Early returns\n",
         ["Anti-patterns: Nested ternaries", "Good: Early returns"]),
        ("## Don't\n\n**When testing:**\n- sleep\n", ["Don't: When testing: sleep"]),
        ("## Don't\n- push\n\nUse a pull request.\n", ["Don't: push", "Use a pull request."]),
        ("## Don't\n\nPush to `main` on release days.\n", ["Don't: Push to `main` on release days."]),
        ("__Don't__\n\n* touch `vendor/`\n", ["Don't: touch `vendor/`"]),
        ("- Keep comments out of bodies (`/** @type */ x`).\n  - Put them at the head\n",
         ["Keep comments out of bodies (`/** @type */ x`).",
          "Keep comments out of bodies (`/** @type */ x`): Put them at the head"]),
        ("# This file describes all doors of the house.\n\n# House\n## Doors\n- Paint them\n", ["Doors: Paint them"]),
        ("# House\n\n# Read these with the plan!\n## Rules\n- Paint it\n", ["Paint it"]),
        ("## Files to never commit (keep)\n\n- plan.md\n\nJust never touch it.\n",
         ["Files to never commit (keep): plan.md", "Just never touch it."]),
        ("1. If only doors changed, run:\n   ```\n   make a\n   ```\n   If only gates changed, run:\n   ```\n   make b\n",
         ["If only doors changed, run: `make a`", "If only gates changed, run: `make b`"]),
        ("- If no door fits:\n  a. Build one\n\n  b. You must paint it\n",
         ["If no door fits: a. Build one", "If no door fits: b. You must paint it"]),
        ("ANY PROMPT WITH A QUESTION MARK (?) MUST BE ANSWERED IN WORDS ONLY.\n",
         ["ANY PROMPT WITH A QUESTION MARK (?) MUST BE ANSWERED IN WORDS ONLY."]),
        ("1. Doors (inside)\n\n- Paint them\n\n2. Zuerst immer lesen\n- at the plan\n- at the sky\n\n3. Keep it clean.\n- x y\n",
         ["Doors (inside): Paint them", "Zuerst immer lesen: at the plan", "Zuerst immer lesen: at the sky",
          "Keep it clean.", "x y"]),
        ("1. Push\n2. Pull\n- the door\n", ["Push", "Pull", "the door"]),
        ("## Claude\n- Paint it\n", ["Paint it"]),
        ("## Banned\n\n**Never:**\n- push\n", ["Never: push"]),
        ("## Legacy helpers (do not use)\n\nNever:\n- `run`\n", ["Legacy helpers (do not use): `run`"]),
        ("## Never commit\n\n**Forbidden:**\n- keys\n", ["Never commit: keys"]),
        ("- Server\n  - Keep its client out of the server\n", ["Server: Keep its client out of the server"]),
        ("- Mocks\n  - **Mocks** must be typed\n", ["**Mocks** must be typed"]),
        ("**Not allowed:**\n\n> - inline styles\n", ["Not allowed: inline styles"]),
        ("## Not allowed\n\n> - inline styles\n> - `eval`\n", ["Not allowed: inline styles", "Not allowed: `eval`"]),
        ("## Workflow\n- Open a draft first\n\n## Preferences\n- Ask early\n", ["Open a draft first", "Ask early"]),
        ("## Reglas generales\n- Usa tabs\n\n## Ogólne zasady pracy\n- Pisz testy\n", ["Usa tabs", "Pisz testy"]),
        ("## Правила\n### Запрещено\n- Пушить в main\n", ["Запрещено: Пушить в main"]),
    ],
)  # fmt: skip
def test_what_an_item_is_read_with(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_labels_end_where_their_list_ends() -> None:
    text = "**Never:**\n\n- push\n\nAfter that, run the tests.\n\n- build it\n"
    assert texts(text)[0] == "Never: push"
    assert all("Never" not in one for one in texts(text)[1:])


def test_the_spans_of_labels_are_true_and_apart_from_own_words() -> None:
    parsed = parse("## Do Not\n\nIn production:\n\n- drop a table\n")
    (rule,), _ = extract(parsed, "root")
    assert [parsed.source.slice(*span) for span in rule.context] == ["Do Not", "In production:"]
    assert (rule.text[rule.own :], rule.headings) == ("drop a table", ("Do Not",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- When it fails, check the log\n- **Exception wrapping**: wrap it in one of ours\n",
         ["When it fails, check the log", "**Exception wrapping**: wrap it in one of ours"]),
        ("- Use tabs\n- Exception: YAML files\n", ["Use tabs", "Use tabs: Exception: YAML files"]),
        ("- Use tabs\n- This project must never use Java\n", ["Use tabs", "This project must never use Java"]),
        ("- 目的を書く\n- **例外なし**: すべてのコミットで守る\n", ["目的を書く", "**例外なし**: すべてのコミットで守る"]),
        ("## Before you commit\n- **Important:** before you commit, run `make`\n",
         ["**Important:** before you commit, run `make`"]),
        ("There are two kinds of object:\n\n- tools\n- prompts\n\nWhile these differ, changes must be made to both.\n",
         ["There are two kinds of object: tools", "There are two kinds of object: prompts",
          "There are two kinds of object: While these differ, changes must be made to both."]),
        ("## API\n- Keep the capital letters\n", ["API: Keep the capital letters"]),
        ("# T\n\n## Lints\n### JavaScript\n- Write JavaScript without semicolons\n", ["Write JavaScript without semicolons"]),
        ("All clients MUST support the following codecs.\n\n- opus\n- flac\n",
         ["All clients MUST support the following codecs.", "All clients MUST support the following codecs: opus",
          "All clients MUST support the following codecs: flac"]),
        ("**Mode A (shared disk)**\nHosts: `a`, `b`\n\n- Mount it twice\n\n**Mode B** - a private disk\n\n- Format it\n",
         ["Mode A (shared disk): Mount it twice", "Mode B: Format it"]),
        ("**Never skip a test.** It hides bugs\n\n- Run all\n", ["**Never skip a test.**", "Run all"]),
        ("## A\n\n> **Start it so** (it never ends):\n>\n> ```sh\n> run & sleep 4\n> ```\n\n### Add a page\n- Write it\n",
         ["**Start it so** (it never ends): `run & sleep 4`", "Add a page: Write it"]),
        ("=== house rules ===\n\n## Doors\n- Write tests first\n\n=== WINDOWS ===\n\n- Close it\n",
         ["Doors: Write tests first", "WINDOWS: Close it"]),
        ("Files are read:\n\n- Avoid deep paths\n\n## Doors\n\n- These are locked at night: close them\n",
         ["Files are read: Avoid deep paths", "Doors: These are locked at night: close them"]),
        ("- Avoid deep paths\n- This is not a shop; keep the till closed\n",
         ["Avoid deep paths", "This is not a shop; keep the till closed"]),
        ("After a start, the page is open on port 3000.\n\n- Write it: `make`\n", ["Write it: `make`"]),
        ("After a start, open the page.\n\n- Write it: `make`\n", ["After a start, open the page.",
         "After a start, open the page: Write it: `make`"]),
        ("## Required Message Form\n- `area` in front\n", ["Required Message Form: `area` in front"]),
        ("### ALWAYS try a new door by:\n1. Turning the key\n", ["ALWAYS try a new door by: Turning the key"]),
        ("Doors:\n- `a/` is the front door\nOpen questions:\n- Paint the walls\n- Sweep the floor\n",
         ["Doors: `a/` is the front door", "Open questions: Paint the walls", "Open questions: Sweep the floor"]),
        ("Always try `make quick` first. It runs only what changed. It must pass.\n",
         ["Always try `make quick` first.", "Always try `make quick` first. It must pass."]),
        ("## Habits everybody should follow\n- Write tests first\n", ["Habits everybody should follow: Write tests first"]),
        ("- 設定を変更する場合は記録を残す\n  - 例: `a`\n", ["設定を変更する場合は記録を残す", "設定を変更する場合は記録を残す: 例: `a`"]),
    ],
)  # fmt: skip
def test_labels_that_apply_and_labels_that_do_not(text: str, expected: list[str]) -> None:
    assert texts(text) == expected
