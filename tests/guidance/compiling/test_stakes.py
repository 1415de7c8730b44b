from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff import ShardRetriever, compile_guidance
from tipstaff.guidance.compiling.election import reasons, why_left
from tipstaff.guidance.compiling.stakes import ENOUGH, stakes
from tipstaff.guidance.project import compile_repository
from tipstaff.guidance.wording.word_forms import word_lists

PADDING = "".join(f"- Keep part {name} small\n" for name in "abcdefghijklmnop")


def elected(text: str) -> list[str]:
    return [rule.text[rule.own_start :] for rule in compile_guidance(text).constitution.rules]


TAKEN = """
NEVER commit secrets
Never force-push to main
You MUST NOT skip the hooks
Do not revert or delete unrelated user changes unless explicitly asked.
If unsure whether a change needs approval, ask first.
When uncertain: do nothing and ask.
Before opening a PR, run `make check` and fix every finding.
Every pull request must add a changelog entry.
**FORBIDDEN** `except Exception:` in handlers
ALWAYS answer in English
**WICHTIG**: Niemals Zugangsdaten loggen
NIEMALS Zugangsdaten committen
NUNCA subas secretos al repositorio
Ne committez JAMAIS de secrets
NUNCA envie segredos ao repositório
MAI committare segreti
Commit NOOIT geheimen
NIGDY nie commituj sekretów
НИКОГДА не коммитьте секреты
ASLA gizli bilgi commit etmeyin
绝对禁止提交密钥
秘密情報を絶対にコミットしないこと
비밀 정보를 절대 커밋하지 마세요
ممنوع حفظ الأسرار في المستودع
कभी भी सीक्रेट कमिट न करें
JANGAN commit rahasia
Không bao giờ commit mật khẩu
"""
LEFT = """
Never reuse a name
Keep `MUST_RETRY` at 3
Use kebab-case for file names
NEVER use `ref` in patterns as the first resort
When adding a provider, commit its fixtures
The default test timeout is 5s
`release.sh` - publishes the packages
Prefer small functions
Define the scene for each request
Never use them.
Use design tokens for colors
Skip jargon
"""


@pytest.mark.parametrize("text", TAKEN.strip().split("\n"))
def test_what_matters_on_every_turn_is_taken(text: str) -> None:
    assert elected(f"# P\n\n- {text}\n{PADDING}") == [text]


@pytest.mark.parametrize("text", LEFT.strip().split("\n"))
def test_what_some_tasks_need_is_left(text: str) -> None:
    assert elected(f"# P\n\n- {text}\n{PADDING}") == []


def test_a_heading_is_no_law_by_its_word_alone() -> None:
    for heading in ("Type Safety", "Concurrency and Safety", "Always Loaded (3 files)", "Critical Patterns"):
        assert elected(f"# P\n\n## {heading}\n\n- Prefer narrow types\n{PADDING}") == []


def test_explain_says_what_counted_and_why_a_rule_was_left() -> None:
    bundle = compile_guidance(f"- Never commit secrets\n- Use kebab-case for names\n{PADDING}")
    taken, left = bundle.constitution.rules[0], bundle.shards[0].rule
    assert stakes(taken).points >= ENOUGH > stakes(left).points
    assert "it forbids" in reasons(taken)
    assert why_left(left, bundle.constitution.rules) == "too little is at stake"


def test_whoever_gives_ids_decides_alone() -> None:
    bundle = compile_guidance("- [R-001] NEVER push to main\n")
    assert bundle.constitution.rules == ()
    assert "ids" in why_left(bundle.rules()[0], ())


def test_what_says_the_same_is_taken_once_and_the_fuller_stays(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- Avoid force-pushes\n")
    (tmp_path / "AGENTS.md").write_text("- Never rebase, and avoid force-pushes to shared branches\n")
    bundle = compile_repository(tmp_path)
    assert [rule.path for rule in bundle.constitution.rules] == ["AGENTS.md"]


def test_files_that_are_not_always_loaded_are_never_elected(tmp_path: Path) -> None:
    heads = {
        ".kiro/steering/a.md": "inclusion: manual",
        ".windsurf/rules/a.md": "trigger: model_decision\ndescription: deploys",
        ".augment/rules/a.md": "type: manual",
        ".cursor/rules/a.mdc": "description: deploys",
        ".cursor/rules/b.mdc": "globs: web/**",
        ".github/instructions/a.instructions.md": "description: deploys",
    }
    for number, (name, head) in enumerate(heads.items()):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"---\n{head}\n---\n- NEVER deploy release {number} on Friday\n")
    bundle = compile_repository(tmp_path)
    assert len(bundle.rules()) == len(heads)
    assert bundle.constitution.rules == ()


def test_a_long_file_stays_within_the_budget_and_lint_says_which_to_give_up() -> None:
    text = "".join(f"- You MUST NOT delete table {n} of the ledger without asking its keepers\n" for n in range(90))
    bundle = compile_guidance(text)
    assert 5 < len(bundle.constitution.rules) < 60
    assert len(bundle.constitution.text) // 4 <= 510
    (found,) = (one for one in bundle.diagnostics if one.code == "TS405")
    assert "counts least" in found.message


def test_a_nested_folder_s_is_loaded_where_work_is(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "CLAUDE.md").write_text("- NEVER commit secrets\n")
    (tmp_path / "web" / "CLAUDE.md").write_text("- NEVER publish a page without approval\n")
    bundle = compile_repository(tmp_path)
    assert [rule.text for rule in bundle.constitution.rules] == ["NEVER commit secrets"]
    assert [rule.text for rule in bundle.constitution.nested] == ["NEVER publish a page without approval"]
    retriever = ShardRetriever(bundle)
    assert "approval" not in retriever.retrieve("Rename a thing", max_shards=0).policy_text
    inside = retriever.retrieve("Rename a thing", repo_scope="web/index.html", max_shards=1)
    assert inside.policy_text.count("approval") == 1


def test_every_list_of_words_is_one_of_words() -> None:
    lists = (one for one in word_lists()["stakes"].values() if isinstance(one, str))
    for words in lists:
        for word in words.split():
            assert "*" not in word[:-1]
            assert word == word.casefold()
