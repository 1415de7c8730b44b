from __future__ import annotations

import pytest

from tipstaff.guidance.compiling.stances import Stance, opposed_stances, stances
from tipstaff.guidance.compiling.statements import CONFLICT, CONTRADICTION, POSSIBLE, statement_text
from tipstaff.model import GuidanceRule, Relation


def opposed(rules: list[GuidanceRule]) -> dict[tuple[int, int], Relation]:
    return opposed_stances(rules, [statement_text(rule) for rule in rules])


def kind(one: str, other: str) -> str | None:
    rules = [GuidanceRule(id="1", text=one), GuidanceRule(id="2", text=other)]
    found, turned = opposed(rules), opposed(rules[::-1])
    assert [relation.kind for relation in found.values()] == [relation.kind for relation in turned.values()]
    return next((relation.kind for relation in found.values()), None)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Use semicolons at the end of every statement.", "No semicolons.", CONFLICT),
        ("Run the tests in watch mode while you work.", "Don't run tests in watch mode.", POSSIBLE),
        ("All functions must have type annotations.", "Don't add type annotations; rely on inference.", CONFLICT),
        ("Squash commits before merging.", "Never squash commits.", CONTRADICTION),
        ("Commit the lockfile.", "The lockfile must not be committed.", CONTRADICTION),
        ("Use trailing commas in multi-line lists.", "No trailing commas.", POSSIBLE),
        ("Use emojis in commit messages.", "Commit messages must not contain emojis.", CONTRADICTION),
        ("Ask before you install dependencies.", "Install any dependencies you need without asking.", CONTRADICTION),
        ("Run the full test suite before every commit.", "Don't run the full test suite; CI does that.", CONTRADICTION),
        ("Prefer composition over inheritance.", "Prefer inheritance over composition.", CONTRADICTION),
        ("Use async/await instead of promise chains.", "Prefer promise chains over async/await.", CONTRADICTION),
        ("Verwende immer Semikolons.", "Verwende keine Semikolons.", CONTRADICTION),
        ("Ne jamais modifier les fichiers générés.", "Modifier les fichiers générés à la main.", POSSIBLE),
        ("Nunca hagas commit directamente en main.", "Haz commit directamente en main.", CONTRADICTION),
        ("Usa sempre le virgolette singole.", "Non usare mai le virgolette singole.", CONTRADICTION),
        ("语句末尾必须使用分号。", "禁止使用分号。", CONTRADICTION),
        ("提交前必须运行测试。", "不要运行测试。", CONTRADICTION),
        ("テストを必ず実行すること。", "テストを実行しないこと。", CONTRADICTION),
        ("주석을 작성하지 마세요.", "모든 함수에 주석을 작성하세요.", CONFLICT),
        ("Enable strict mode.", "Never enable strict mode.", CONTRADICTION),
        (
            "Use arrow functions for components.",
            "Don't use arrow functions for components; use function declarations.",
            CONTRADICTION,
        ),
        ("Commit after every change.", "Never commit; the user commits.", CONTRADICTION),
        ("Nutze Tabs.", "Keine Tabs.", CONTRADICTION),
        ("Não escreva testes.", "Escreva testes para cada função.", CONFLICT),
        ("不要使用默认导出。", "必须使用默认导出。", CONTRADICTION),
        ("any를 사용하지 마세요.", "any를 사용하세요.", CONTRADICTION),
        ("Never use `any`.", "`any` is allowed.", CONTRADICTION),
        ("Every function needs a return type annotation.", "Do not annotate return types.", CONFLICT),
        ("Always create a new branch for your work.", "Work directly on main, do not create branches.", POSSIBLE),
        ("Use relative imports inside packages.", "Avoid relative imports.", POSSIBLE),
        ("Use print statements for debugging output.", "print() statements are forbidden, use the logger.", POSSIBLE),
        (
            "Generated files should be edited by hand where needed.",
            "Never edit generated files by hand.",
            CONTRADICTION,
        ),
        ("Usa siempre punto y coma.", "No uses punto y coma.", CONTRADICTION),
        ("Всегда используй точку с запятой.", "Никогда не используй точку с запятой.", CONTRADICTION),
        ("セミコロンを使用してください。", "セミコロンは使用しないでください。", CONTRADICTION),
        ("Her zaman noktalı virgül kullan.", "Asla noktalı virgül kullanma.", CONTRADICTION),
        ("Tests should use snapshots.", "Avoid snapshots in tests.", CONTRADICTION),
        ("Global state is allowed.", "Global state is forbidden.", CONTRADICTION),
        ("Не пиши комментарии.", "Пиши комментарии к каждой функции.", CONFLICT),
    ],
)
def test_rules_for_and_against_the_same_thing(one: str, other: str, expected: str) -> None:
    assert kind(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never use `any`.", "Use `unknown` instead of `any`."),
        ("Use single quotes for strings.", "Use double quotes in JSX attributes."),
        ("Never commit secrets.", "Commit often."),
        ("Don't run the whole suite locally.", "Run the tests of the module that you changed."),
        ("Never use `console.log`.", "Use `logger.info` for messages."),
        ("Run `npm test` before you push.", "Never run `npm publish`."),
        ("Don't use watch mode in CI.", "Use watch mode when you develop."),
        ("Never edit generated files.", "Edit the template and run the generator."),
        ("Don't use `print`.", "Use `print` only in scripts."),
        ("Do not use relative imports.", "Use absolute imports."),
        ("Limit lines to 100 characters.", "Limit the subject of a commit to 72 characters."),
        ("Do not squash commits of other people.", "Squash your own commits."),
        ("Don't catch broad exceptions.", "Catch specific exceptions."),
        ("Use `fetch` for requests.", "Don't use `axios`."),
        ("Never force push to shared branches.", "You may force push to your own branch."),
        ("Avoid using useEffect.", "Use useMemo for expensive values."),
        ("Don't add type annotations to local variables.", "Annotate the parameters of public functions."),
        ("Prefer composition over inheritance.", "Favor composition over inheritance everywhere."),
        ("Ask before deleting data.", "Do not ask before reading files."),
        ("Install with `npm ci`.", "Don't install global packages."),
        ("Never log tokens.", "Log every request."),
        ("Create a branch for each issue.", "Do not create branches with spaces in their names."),
        ("Schreibe Kommentare auf Deutsch.", "Schreibe Commit-Nachrichten auf Englisch."),
        ("N'utilise pas de classes.", "Utilise des fonctions."),
        ("No uses var.", "Usa const."),
        ("Não use classes.", "Use funções puras."),
        ("不要使用 var。", "使用 const。"),
        ("必须运行测试。", "不要在生产环境运行测试。"),
        ("コメントは日本語で書く。", "コミットメッセージは英語で書く。"),
        ("Use `const`.", "Don't use `let`."),
        ("Tests must be fast.", "Tests must not be flaky."),
        ("Create migrations with alembic.", "Never create migrations by hand."),
        ("No tests are needed for docs.", "Write tests for all features."),
        ("Errors must be handled.", "Errors must not be ignored."),
        ("Do not add comments unless asked.", "Add comments to complex code."),
        ("Never delete tests to make the build pass.", "Delete tests of removed features."),
        ("Don't import from dist.", "Import from src."),
        ("Don't use abbreviations in names.", "Use common abbreviations such as id and url."),
        ("Never start servers.", "Start with the failing test."),
        ("N'utilise jamais `any`.", "Utilise `unknown`."),
        ("不要在循环中查询数据库。", "使用索引查询数据库。"),
        ("전역 변수를 사용하지 마세요.", "상수를 사용하세요."),
        ("Use tabs in Makefiles.", "Indent with 2 spaces."),
        ("**Unit tests**: No database, use mocks", "**Feature tests**: You may use the database"),
        ("Don't write type arguments that are inferred", "Write type arguments that aren't inferred"),
        ("**Check:** `make fast` (format, types; no tests)", "Add tests for changes of behaviour"),
    ],
)
def test_rules_that_live_together(one: str, other: str) -> None:
    assert kind(one, other) is None


def test_a_stance_is_about_a_thing_and_what_narrows_it() -> None:
    assert stances("Commit messages must not contain emojis") == [
        Stance(False, frozenset({"emojis"}), frozenset({"commit", "messag"}))
    ]
    assert stances("The server runs on port 80") == []


def test_rules_that_never_meet_do_not_contradict() -> None:
    rules = [
        GuidanceRule(id="1", text="No semicolons", repo_scopes=("web/**",)),
        GuidanceRule(id="2", text="Use semicolons", repo_scopes=("api/**",)),
    ]
    assert opposed(rules) == {}
