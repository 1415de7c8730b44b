from __future__ import annotations

from tests.guidance.made_rules import rule
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.compiling.shard_text import NOTE_CHARS, compact_text, notes_of
from tipstaff.guidance.compiling.statements import CONFLICT
from tipstaff.model import Relation


def test_a_rule_is_one_line_with_each_tag_once() -> None:
    one = rule("A-1", "Rotate keys", risk_class="high", domains=("security",), intents=("security",))
    line = compact_text(one)
    assert line.startswith("[A-1] Rotate keys @high @security")
    assert line.count("@security") == 1
    assert "@all" not in line


def test_what_narrows_a_rule_is_named() -> None:
    one = rule("A-1", "Paginate", repo_scopes=("src/**", "api/**"), verifiers=("unit",), priority=70)
    assert compact_text(one).endswith(" scope:src/** scope:api/** verify:unit priority:70")
    assert compact_text(one, CompilerConfig(default_priority=70)).endswith(" verify:unit")
    assert compact_text(one.replace(is_constitution=True)).endswith(" verify:unit")


def test_a_note_quotes_only_the_beginning_of_a_long_rule() -> None:
    left, right = rule("A-1", "Use tabs"), rule("B-1", "Use spaces " + "in every file " * 20)
    notes = notes_of((left, right), (Relation(kind=CONFLICT, left="A-1", right="B-1", similarity=0.5),))
    assert notes["B-1"] == ' (conflicts with [A-1] "Use tabs"; ask which applies)'
    quoted = notes["A-1"].split('"')[1]
    assert quoted.startswith("Use spaces")
    assert quoted.endswith("…")
    assert len(quoted) <= NOTE_CHARS
