from __future__ import annotations

import pytest

from tipstaff.guidance.compiling.choices import CHOICES, choices, conflicting_choices
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.statements import CONFLICT
from tipstaff.model import GuidanceRule


def rule(text: str, labels: str = "", *headings: str, scope: str = "**/*") -> GuidanceRule:
    full = labels + text
    return GuidanceRule(id=full, text=full, own_start=len(labels), headings=headings, repo_scopes=(scope,))


def kinds(*rules: GuidanceRule) -> list[str]:
    return [one.kind for one in conflicting_choices(rules).values()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs for indentation", "Use spaces for indentation"),
        ("Indent with two spaces", "Use tabs"),
        ("Use 2 spaces for indentation", "Indent with 4 spaces"),
        ("Use single quotes", "Use double quotes for strings"),
        ("Functions must not exceed 50 lines", "Keep functions under 200 lines"),
        ("Limit lines to 80 characters", "Maximum line length: 120 characters"),
        ("Coverage must be at least 80%", "Maintain at least 90% test coverage"),
        ("Write commit messages in English", "Commit messages must be written in German"),
        ("Commit-Messages auf Deutsch schreiben", "Write commit messages in English"),
        ("Antworte auf Deutsch", "Reply in English"),
        ("Отвечай всегда на русском", "Responde siempre en español"),
        ("Her zaman Türkçe yanıt ver", "Toujours répondre en français"),
        ("必ず日本語で回答してください", "Odpowiadaj po polsku"),
        ("请使用中文回答", "항상 한국어로 답변하세요"),
        ("Kommentare im Code auf Deutsch", "Write code comments in English"),
        ("Topic: Indentation; Use tabs", "Use spaces for indentation"),
        ("Setting: Quotes; Value: use single quotes", "Use double quotes"),
        ("Use pnpm", "Install dependencies with `npm`"),
        ("Use camelCase for variables", "Use snake_case for variables"),
        ("Use named exports", "Use default exports"),
    ],
)
def test_exclusive_choices(one: str, other: str) -> None:
    assert kinds(rule(one), rule(other)) == kinds(rule(other), rule(one)) == [CONFLICT]
    [found] = [found for found in compile_guidance(f"- {one}\n- {other}\n").diagnostics if found.code == "TS503"]
    assert found.line == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (rule("Use tabs in Makefiles"), rule("Use spaces")),
        (rule("Keep functions under 50 lines"), rule("Keep files under 200 lines")),
        (rule("Use 4 spaces", "", "Python"), rule("Use 2 spaces", "", "TypeScript")),
        (rule("Use tabs", scope="go/**"), rule("Use spaces", scope="web/**")),
        (rule("Use camelCase for variables"), rule("Use PascalCase for components")),
        (rule("Messages: `PascalCase`"), rule("RPCs: `camelCase`")),
        (rule("Always answer in German"), rule("Write code comments in English")),
        (rule("Use npm or yarn"), rule("Use pnpm")),
        (rule("Use npm unless the package has a lock file of yarn"), rule("Use pnpm")),
        (rule("Coverage must be at least 80%"), rule("Use at most 90% of the memory")),
        (rule("Prefer tabs over spaces"), rule("Use tabs")),
        (rule("You may use tabs"), rule("You may use spaces")),
        (rule("Antworte auf Deutsch"), rule("Write code comments in English")),
        (rule("日本語で回答する"), rule("コミットメッセージは英語で書く")),
        (rule("Write in \u017fpanish"), rule("\u0130ngilizce yaz")),
        (rule("Translate from English to German"), rule("Write commit messages in French")),
        (rule("Wait 50 lines"), rule("Wait 50 lines")),
    ],
    ids=lambda one: one.text[:30],
)
def test_choices_that_live_together(one: GuidanceRule, other: GuidanceRule) -> None:
    assert kinds(one, other) == []


def test_both_are_given_with_a_note() -> None:
    bundle = compile_guidance("- [A-001] Use tabs\n- [B-001] Use spaces\n")
    lines = [shard.compact_text for shard in bundle.shards]
    assert lines[0].endswith('(conflicts with [B-001] "Use spaces"; ask which applies)')
    assert lines[1].endswith('(conflicts with [A-001] "Use tabs"; ask which applies)')
    assert [one.kind for one in bundle.relations] == [CONFLICT]


def test_the_table_has_no_value_twice() -> None:
    values = [value for kind in CHOICES.values() for value in kind["values"].split()]
    assert len(values) == len(set(values))
    assert all(len(kind["values"].split()) >= 2 for kind in CHOICES.values())
    assert list(choices(rule("Sort the imports"))) == []


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("SQUASHED commits only", "merging", "squash"),
        ("Use pnpm’s lockfile", "package manager", "pnpm"),
        ("Name files in snake case", "naming", "snakecase"),
        ("Lines have 80chars at most", "char at most", "80"),
        ("Antworte auf Französisch", "language", "french"),
        ("Прогон: отступ 4 spaces", "indentation", "spaces"),
    ],
)
def test_choices_in_any_form_and_script(text: str, kind: str, value: str) -> None:
    assert (kind, value) in {(one.kind, one.value) for one in choices(rule(text))}
