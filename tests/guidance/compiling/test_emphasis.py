from __future__ import annotations

import pytest

from tipstaff import compile_guidance
from tipstaff.guidance.compiling.emphasis import ENOUGH, emphasis
from tipstaff.guidance.project import compile_repository


@pytest.mark.parametrize(
    "text",
    [
        "- NEVER commit secrets\n",
        "- You MUST NOT skip the hooks\n",
        "## Rule 0\n- You MUST ask before you delete\n",
        "- **禁止** 把密钥提交到仓库\n",
        "- **WICHTIG**: Niemals Zugangsdaten loggen\n",
    ],
)
def test_what_is_put_strongly_belongs_to_the_constitution(text: str) -> None:
    bundle = compile_guidance(text)
    (rule,) = bundle.constitution.rules
    assert rule.is_constitution
    assert emphasis(rule).points >= ENOUGH
    assert emphasis(rule).reasons


@pytest.mark.parametrize("text", ["- Never reuse a name\n", "- Keep `MUST_RETRY` at 3\n", "- Always lint\n"])
def test_a_plain_word_alone_does_not(text: str) -> None:
    assert compile_guidance(text).constitution.rules == ()


def test_whoever_gives_ids_decides_alone() -> None:
    assert compile_guidance("- [R-001] NEVER push to main\n").constitution.rules == ()


def test_a_long_file_of_capitals_stays_within_the_budget() -> None:
    text = "".join(
        f"- You MUST NOT touch table {n} of the ledger without asking its keepers first\n" for n in range(90)
    )
    bundle = compile_guidance(text)
    assert 5 < len(bundle.constitution.rules) < 60
    assert len(bundle.constitution.text) // 4 <= 510
    assert [one.code for one in bundle.diagnostics].count("TS405") == 1


def test_a_nested_folder_s_is_loaded_where_work_is(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from tipstaff import ShardRetriever

    (tmp_path / "web").mkdir()
    (tmp_path / "CLAUDE.md").write_text("- NEVER commit secrets\n")
    (tmp_path / "web" / "CLAUDE.md").write_text("- NEVER ship a page without labels\n")
    bundle = compile_repository(tmp_path)
    assert [rule.text for rule in bundle.constitution.rules] == ["NEVER commit secrets"]
    assert [rule.text for rule in bundle.constitution.nested] == ["NEVER ship a page without labels"]
    retriever = ShardRetriever(bundle)
    assert "labels" not in retriever.retrieve("Rename a thing", max_shards=0).policy_text
    inside = retriever.retrieve("Rename a thing", repo_scope="web/index.html", max_shards=1)
    assert inside.policy_text.count("labels") == 1
