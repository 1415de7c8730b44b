"""Rules in the same words, or of the same id, in several folders."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.compiling.compiler import compile_documents
from tipstaff.guidance.reading.sources import read_repository
from tipstaff.model import PolicyBundle

NAMES = st.sampled_from(["a", "api", "b", "sdk/go", "sdk/js", "web", "web/src", "zoo"])
LINES = st.sampled_from(
    ["- Run `make lint`", "- [STY-1] Use tabs", "- [STY-1] Keep it short", "- Never push", "- [API-2] Sort keys"]
)


def compiled(root: Path, files: dict[str, str], previous: PolicyBundle | None = None) -> PolicyBundle:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    repository = read_repository(root)
    return compile_documents(repository.documents, diagnostics=repository.diagnostics, previous=previous)


def ids(bundle: PolicyBundle) -> dict[tuple[str, int], str]:
    return {(rule.path, rule.line): rule.id for rule in bundle.rules()}


def test_the_same_words_in_another_folder_are_another_rule(tmp_path: Path) -> None:
    text = "- Run `make lint`\n"
    bundle = compiled(tmp_path, {"AGENTS.md": text, "sdk/go/AGENTS.md": text, "sdk/js/AGENTS.md": text + "- Sort\n"})
    scopes = {rule.path: rule.repo_scopes for rule in bundle.rules() if rule.text == "Run `make lint`"}
    assert scopes == {
        "AGENTS.md": ("**/*",),
        "sdk/go/AGENTS.md": ("sdk/go/**",),
        "sdk/js/AGENTS.md": ("sdk/js/**",),
    }
    assert all(one.severity == "info" for one in bundle.diagnostics)


def test_an_id_in_two_folders_is_no_error(tmp_path: Path) -> None:
    files = {"a/AGENTS.md": "- [STY-1] Use tabs\n", "b/AGENTS.md": "- [STY-1] Use spaces\n"}
    bundle = compiled(tmp_path, files)
    assert ids(bundle) == {("a/AGENTS.md", 1): "STY-1", ("b/AGENTS.md", 1): "STY-1@b"}
    assert bundle.diagnostics == ()
    inner = compiled(tmp_path, {"b/x/AGENTS.md": "- [STY-1] Use both\n"}).rule("STY-1@b/x")
    assert inner is not None
    assert inner.overrides == "STY-1@b"


def test_an_id_twice_in_one_file_set_is_an_error(tmp_path: Path) -> None:
    bundle = compiled(tmp_path, {"a/AGENTS.md": "- [STY-1] Use tabs\n- [STY-1] Sort\n"})
    assert [one.code for one in bundle.diagnostics] == ["TS306"]


@given(
    st.dictionaries(
        NAMES, st.lists(LINES, min_size=1, max_size=3, unique_by=lambda line: line[:9]), min_size=1, max_size=4
    ),
    NAMES,
)
def test_ids_stay_when_a_folder_comes(folders: dict[str, list[str]], added: str) -> None:
    new = folders.pop(added, ["- [STY-1] Use tabs", "- Run `make lint`", "- Never push"])
    with tempfile.TemporaryDirectory() as name:
        before = compiled(Path(name), {f"{folder}/AGENTS.md": "\n".join(lines) for folder, lines in folders.items()})
        after = compiled(Path(name), {f"{added}/AGENTS.md": "\n".join(new)}, previous=before)
        old, now = ids(before), ids(after)
        assert {location: now[location] for location in old} == old
        generated = {
            location: one for location, one in ids(compiled(Path(name), {})).items() if one.startswith("AUTO-")
        }
        assert {location: one for location, one in old.items() if one.startswith("AUTO-")}.items() <= generated.items()
