from __future__ import annotations

import pytest

from tipstaff import compile_guidance
from tipstaff.guidance.compiling.emphasis import ENOUGH, NEARLY, emphasis, may_be_strong
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


@pytest.mark.parametrize(
    "words",
    ["Define the scene", "Run it one-time", "Keep I/O non-blocking", "Main line", "No-op it", "Do note the name"],
)
def test_a_negation_within_a_longer_word_forbids_nothing(words: str) -> None:
    rules = compile_guidance(f"- {words} for each request\n").rules()
    assert [emphasis(rule).reasons for rule in rules] == [()]


@pytest.mark.parametrize(
    "words",
    ["a push with --force", "reading `.env`", "vulnerabilities in what you add", "SQL injections", "--no-verify"],
)
def test_what_does_harm_counts_by_whole_words_and_options(words: str) -> None:
    (rule,) = compile_guidance(f"- Never allow {words} here\n").rules()
    assert any(reason.startswith("what it is about") for reason in emphasis(rule).reasons), emphasis(rule)


@pytest.mark.parametrize(
    ("text", "forbids"),
    [
        ("Explain why, not only how", False),
        ("Diga o porquê, não apenas o como", False),
        ("Diga o porquê, não o como", True),
        ("`--force` kullanılamaz", True),
        ("Dosya silinemez", True),
        ("Không sửa tệp này", True),
        ("Явно запрещено менять схему", True),
        ("Zabrania się; zabronione jest pushowanie", True),
    ],
)
def test_what_forbids_in_other_words(text: str, forbids: bool) -> None:
    (rule,) = compile_guidance(f"- {text}\n").rules()
    assert ("it forbids" in emphasis(rule).reasons) is forbids


@pytest.mark.parametrize("heading", ["Non-negotiable", "Non\u2011négociables", "Unverhandelbar", "No negociable"])
def test_what_is_not_negotiable_is_urgent(heading: str) -> None:
    (rule,) = compile_guidance(f"# P\n\n## {heading}\n\n- Never paint it\n").rules()
    assert any(heading in reason for reason in emphasis(rule).reasons)


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


@pytest.mark.parametrize(
    ("heading", "ban", "duty"),
    [
        ("Important", "NEVER commit secrets", "Tests MUST pass"),
        ("Wichtig", "NIEMALS Zugangsdaten committen", "Tests MÜSSEN laufen"),
        ("Importante", "NUNCA subas secretos", "Las pruebas DEBEN pasar"),
        ("Important", "Ne committez JAMAIS de secrets", "Les tests DOIVENT passer"),
        ("Importante", "NUNCA envie segredos", "Os testes DEVEM passar"),
        ("Importante", "MAI committare segreti", "I test DEVONO passare"),
        ("Belangrijk", "Commit NOOIT geheimen", "Tests MOETEN slagen"),
        ("Ważne", "NIGDY nie commituj sekretów", "Testy MUSZĄ przechodzić"),
        ("Важно", "НИКОГДА не коммитьте секреты", "Тесты ДОЛЖНЫ проходить"),
        ("Önemli", "ASLA gizli bilgi commit etmeyin", "Testler MUTLAKA geçmeli"),
        ("重要", "绝对禁止提交密钥", "测试必须通过"),
        ("重要", "秘密情報を絶対にコミットしないこと", "テストは必ず通すこと"),
        ("중요", "비밀 정보를 절대 커밋하지 마세요", "테스트는 반드시 통과해야 합니다"),
        ("مهم", "ممنوع حفظ الأسرار في المستودع", "يجب أن تنجح الاختبارات"),
        ("महत्वपूर्ण", "कभी भी सीक्रेट कमिट न करें", "टेस्ट पास होना अनिवार्य है"),
        ("Penting", "JANGAN commit rahasia", "Tes HARUS lulus"),
    ],
)
def test_bans_and_duties_in_many_languages(heading: str, ban: str, duty: str) -> None:
    bundle = compile_guidance(f"# P\n\n## {heading}\n\n- {ban}\n- {duty}\n- a note about `x`\n")
    found = {rule.text[rule.own_start :] for rule in bundle.constitution.rules}
    assert {ban} <= found <= {ban, duty}
    assert found == {ban, duty} or duty.upper() == duty.lower()  # scripts without capitals put less strongly


def test_what_an_author_put_there_is_ranked_with_what_is_put_strongly() -> None:
    weak = "".join(f"- The control of part {n} checks the input of part {n} and of its parts\n" for n in range(60))
    bundle = compile_guidance(
        f"# P\n\n## Security controls\n\n{weak}\n## Imports\n\n- **IMPORTANT**: NEVER import it\n"
    )
    texts = [rule.text for rule in bundle.constitution.rules if rule.id not in bundle.constitution.overflow]
    assert any("NEVER import it" in text for text in texts)
    assert len(bundle.constitution.text) // 4 <= 510
    assert {rule.id for rule in bundle.rules()} >= set(bundle.constitution.overflow)


def test_a_ban_in_bold_at_the_beginning_is_enough() -> None:
    text = "# P\n\n" + "".join(f"- Keep part {n} small\n" for n in range(9))
    bans = ["**Never run the server on the host** - use the container", "**Do not** mix the two"]
    found = compile_guidance(
        f"{text}- The worker **never sleeps** at night\n- {bans[0]}\n- {bans[1]}\n- Never say **so**\n"
    )
    assert [rule.text for rule in found.constitution.rules] == bans


def test_information_is_never_always_loaded() -> None:
    bundle = compile_guidance("# P\n\n## Security\n\n- `src/auth/` - the login\n- Never log tokens\n")
    assert [rule.text for rule in bundle.constitution.rules] == ["Never log tokens"]
    assert [rule.kind for rule in bundle.rules()] == ["rule", "information"]


def test_reasons_are_given() -> None:
    from tipstaff.guidance.compiling.election import reasons

    first, second = compile_guidance("## Security\n- Log it\n## Use\n- NEVER commit secrets\n").constitution.rules
    assert "below the constitution heading 'Security'" in {*reasons(first), *reasons(second)}
    assert "capitals: NEVER" in {*reasons(first), *reasons(second)}


@pytest.mark.parametrize(
    "text",
    [
        "- NEVER commit secrets\n",
        "- **Never** commit\n",
        "- Critical: keep it\n",
        "## Golden rules\n- Never commit secrets\n",
        "## Don't\n- commit secrets to main\n",
        "Agents must not:\n\n- commit secrets\n",
        "- 严禁提交密钥\n",
        "- Never commit secrets to main\n",
        "- Keep it small\n",
    ],
)
def test_what_may_be_strong_is_never_passed_over(text: str) -> None:
    for rule in compile_guidance(text).rules():
        assert may_be_strong(rule) or emphasis(rule).points < NEARLY
