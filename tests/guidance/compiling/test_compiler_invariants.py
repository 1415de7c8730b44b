"""What a compiler of rule files gets wrong when it reads them line by line, one test for each known defect."""

from __future__ import annotations

import pytest

from tipstaff.globs import matches_any
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.project import compile_repository
from tipstaff.model import GuidanceRule, PolicyBundle


def rules(text: str) -> list[GuidanceRule]:
    return sorted(compile_guidance(text).rules(), key=lambda rule: rule.span)


def texts(text: str) -> list[str]:
    return [rule.text for rule in rules(text)]


def found(bundle: PolicyBundle) -> list[str]:
    return [one.code for one in bundle.diagnostics]


@pytest.mark.parametrize(
    "text", ["Follow the naming guide and allow only signed information", "Always show the workflow below"]
)
def test_c01_risk_is_an_annotation_and_no_part_of_a_word(text: str) -> None:
    """A risk class counts only as `(risk)` or `risk:`; "Follow" and "information" keep their letters."""
    (rule,) = rules(f"- {text}\n")
    assert (rule.text, rule.risk_class) == (text, "medium")


def test_c02_code_holds_no_rules_and_ends_no_section() -> None:
    """A comment in a fence is no heading, a bullet in it no rule."""
    found_rules = rules(
        "## Security\n- Never leak\n\n```sh\n# install\n- never run this\nR900: x\n```\n\n- Always rotate keys\n"
    )
    assert [(rule.text, rule.is_constitution) for rule in found_rules] == [
        ("Never leak", True),
        ("Always rotate keys", True),
    ]


def test_c03_every_kind_of_list_prose_and_tables_are_read() -> None:
    """Ordered lists, `+` bullets, checkboxes, prose and tables give rules, without the checkbox's marks."""
    text = "1. Must a\n\n+ Must b\n\nYou must c.\n\n| Rule |\n|---|\n| Must d |\n\n- [ ] Must e\n"
    assert texts(text) == ["Must a", "Must b", "You must c.", "Must d", "Must e"]


def test_c04_a_wrapped_item_is_one_rule() -> None:
    """An item ends with its last line."""
    (rule,) = rules("- Always validate the input\n  before it reaches the database\n")
    assert rule.text == "Always validate the input before it reaches the database"
    assert (rule.line, rule.end_line) == (1, 2)


def test_c05_a_subheading_keeps_its_section_s_protection() -> None:
    """What is below a subheading of a constitution section belongs to the constitution."""
    (rule,) = rules("## Security\n\n### Keys\n\n- Rotate keys\n")
    assert rule.is_constitution
    assert rule.priority == 150


@pytest.mark.parametrize(
    ("heading", "constitution"),
    [
        ("## Project Security", True), ("## 1. Security", True), ("## 🔒 Security", True), ("Security\n---", True),
        ("## Mustache templates", False), ("## Securityless demo", False), ("## Always-on pager notes", False),
    ],
)  # fmt: skip
def test_c06_a_marker_is_a_whole_word_of_the_heading(heading: str, constitution: bool) -> None:
    """Numbers, emoji and setext do not hide a marker; a longer word is not one."""
    (rule,) = rules(f"{heading}\n\n- Rotate keys\n")
    assert rule.is_constitution is constitution


@pytest.mark.parametrize("name", ["AES-256", "ISO-8601", "RFC-2119", "SHA-512"])
def test_c07_the_name_of_a_standard_is_no_id(name: str) -> None:
    """A cipher or a standard at the head of a rule is one of its words."""
    (rule,) = rules(f"- {name} must be used for backups\n")
    assert rule.is_generated_id
    assert rule.text == f"{name} must be used for backups"


@pytest.mark.parametrize("rule_id", ["SEC-7", "R12", "r001", "[SEC-AUTH-001]"])
def test_c08_ids_of_every_common_shape_are_read(rule_id: str) -> None:
    """One digit, no hyphen, lower case and two families are ids too."""
    (rule,) = rules(f"- {rule_id} Never push\n")
    assert (rule.id, rule.text) == (rule_id.strip("[]"), "Never push")


def test_c09_an_explicit_id_leaves_its_neighbours_alone() -> None:
    """Items above and below a rule with an id are rules of their own."""
    assert texts("- Use rebase\n- [GIT-001] Never force push\n- Always write tests\n") == [
        "Use rebase", "Never force push", "Always write tests",
    ]  # fmt: skip


def test_c10_two_rules_of_one_id_are_both_kept_and_reported() -> None:
    """The later rule has the id, the earlier one another; nothing is lost."""
    bundle = compile_guidance("- [SEC-001] Never log tokens\n- [SEC-001] Always rotate keys\n")
    assert {rule.id: rule.text for rule in bundle.rules()} == {
        "SEC-001": "Always rotate keys",
        "SEC-001~1": "Never log tokens",
    }
    assert "TS306" in found(bundle)


ROOT = "## Security\n- [R001] Never disable TLS\n"


def test_c12_generated_ids_come_from_the_words() -> None:
    """The same words have the same id in every compilation, wherever they are; an explicit id takes none of them."""
    (before,) = rules("- Always lint\n")
    after = rules("- Never push\n\n## More\n- Always lint\n- [AUTO-001] Keep me\n")
    assert before.id in {rule.id for rule in after}
    assert len({rule.id for rule in after}) == 3


def test_c13_what_does_not_fit_under_the_cap_stays_retrievable() -> None:
    """Every constitution rule is in the text, or a shard with a report."""
    bundle = compile_guidance(
        "## Security\n" + "".join(f"- [R{n:03}] Never open door {n} of house {n * 7}\n" for n in range(80))
    )
    text = bundle.constitution.text
    assert len(text.splitlines()) <= 60
    shards = {shard.rule.id for shard in bundle.shards}
    reported = {one.rule_id for one in bundle.diagnostics if one.code == "TS401"}
    for rule in bundle.constitution.rules:
        assert (f"[{rule.id}]" in text) != (rule.id in shards)
    assert shards == reported == set(bundle.constitution.overflow)
    assert len(bundle.constitution.rules) == 80


def test_c14_domain_headings_do_not_repeat() -> None:
    """Rules of alternating domains fill the lines, not their headings."""
    text = "## Security\n" + "".join(
        f"- [R{n:03}] Never open door {n} @{'security' if n % 2 else 'testing'}\n" for n in range(57)
    )
    constitution = compile_guidance(text).constitution
    headings = [line for line in constitution.text.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings))
    assert sum(line.startswith("- [") for line in constitution.text.splitlines()) >= 56


@pytest.mark.parametrize(
    "text", ["Specify the exact author", "Decide the latest contest", "Serve breakfast on the docker"]
)
def test_c15_intents_are_inferred_from_whole_words(text: str) -> None:
    """ "author" is not auth, "latest" no test, "breakfast" not fast."""
    (rule,) = rules(f"- {text}\n")
    assert not {"security", "testing", "performance"} & {*rule.intents, *rule.domains}


@pytest.mark.parametrize(
    "text",
    [
        "Use @testing-library/react",
        "Read [read](docs/guide.md)",
        "Keep #feature-flags off",
        "Write to ops@security.example.com",
    ],
)
def test_c16_an_annotation_is_a_whole_word_outside_links_and_addresses(text: str) -> None:
    """Packages, links, tags with more letters and addresses stay whole."""
    (rule,) = rules(f"- {text}\n")
    assert (rule.text, rule.tool_classes) == (text, ("all",))


@pytest.mark.parametrize(
    ("scope", "globs", "path"),
    [
        ("src/{api,web}/**", ("src/{api,web}/**",), "src/web/a.ts"),
        ("src/**,tests/**", ("src/**", "tests/**"), "tests/a.py"),
        ("packages/@acme/ui/**", ("packages/@acme/ui/**",), "packages/@acme/ui/a.ts"),
    ],
)
def test_c17_a_scope_is_read_whole(scope: str, globs: tuple[str, ...], path: str) -> None:
    """Braces, commas and @ belong to a glob."""
    (rule,) = rules(f"- Always paginate scope:{scope}\n")
    assert (rule.text, rule.repo_scopes) == ("Always paginate", globs)
    assert matches_any(rule.repo_scopes, path)


@pytest.mark.parametrize(
    "text", ["Don’t commit generated files", "No secrets in code", "Two approvals per PR", "禁止提交密钥"]
)
def test_c18_an_item_needs_no_known_word_to_be_a_rule(text: str) -> None:
    """Typographic apostrophes, noun phrases and other languages are rules."""
    assert texts(f"- {text}\n") == [text]


def test_c19_front_matter_and_comments_are_no_rules() -> None:
    """They are not read as rules; a rule in a comment is reported."""
    bundle = compile_guidance(
        "---\ndescription: x\nnotes:\n  - never this\n---\n<!--\n- You must not\n-->\n- Always lint\n"
    )
    assert [rule.text for rule in bundle.rules()] == ["Always lint"]
    assert found(bundle) == ["TS202"]


def test_c20_a_space_after_priority_and_two_verifiers_are_understood() -> None:
    """`priority: 90` counts, both verifiers are kept, and neither feeds the intents."""
    (rule,) = rules("- Sort the tables verify:lint-clean verify:unit priority: 90\n")
    assert (rule.text, rule.priority, rule.verifier, rule.verifiers) == (
        "Sort the tables",
        90,
        "lint-clean",
        ("lint-clean", "unit"),
    )
    assert rule.intents == ("general",)


def test_c21_old_line_ends_and_a_byte_order_mark_hide_nothing() -> None:
    """A file of carriage returns has its rules, a byte-order mark hides no heading."""
    assert texts("- one\r- two\r") == ["one", "two"]
    (rule,) = rules("\ufeff## Security\n- Rotate keys\n")
    assert rule.is_constitution


def test_c22_the_model_reads_where_a_rule_holds() -> None:
    """The line of a shard names scope, verifier and a priority of its own."""
    (shard,) = compile_guidance("- Always paginate scope:src/** verify:unit priority:70\n").shards
    assert "scope:src/**" in shard.compact_text
    assert "verify:unit" in shard.compact_text
    assert "priority:70" in shard.compact_text


def test_c23_an_empty_text_is_an_empty_bundle() -> None:
    """An empty root is no missing one, and an empty file is said to be empty."""
    bundle = compile_guidance("")
    assert (bundle.rules(), bundle.diagnostics, bundle.manifest.total_rules) == ((), (), 0)
    assert bundle.manifest.source_hashes == {"root": "e3b0c44298fc1c14"}


def test_c23_an_empty_file_is_reported_as_empty(tmp_path_factory: pytest.TempPathFactory) -> None:
    """It exists: the finding is that nothing is in it."""
    root = tmp_path_factory.mktemp("repository")
    (root / "CLAUDE.md").write_text("")
    assert found(compile_repository(root, config=CompilerConfig())) == ["TS109"]


@pytest.mark.parametrize(
    "weaker", ["- [R001] You may skip TLS\n", "- [R001] TLS is optional\n", "- [R001] Use plain HTTP\n"]
)
def test_c11_a_local_file_cannot_take_an_invariant_away(weaker: str) -> None:
    """The root's rule is unchanged; the local one is refused and reported."""
    bundle = compile_guidance(ROOT, "## Notes\n" + weaker)
    assert [(rule.id, rule.text, rule.is_constitution) for rule in bundle.rules()] == [
        ("R001", "Never disable TLS", True)
    ]
    assert found(bundle) == ["TS402"]
