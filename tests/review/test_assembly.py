"""What a reviewer is given: no SOP cut, no budget exceeded, and the sources of the other tiers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.review.repositories import commit, make
from tipstaff.errors import ConfigError
from tipstaff.review import assemble_review
from tipstaff.review.assembly.conventions import sections
from tipstaff.review.assembly.decisions import prior_decisions
from tipstaff.review.assembly.reviewer import ReviewContext, review_context
from tipstaff.review.assembly.signatures import language_of, signatures
from tipstaff.review.sizing.budget import text_tokens

tokens = st.lists(st.integers(0, 2_500), max_size=5)


def items(tier: str, numbers: list[int]) -> list[dict[str, object]]:
    return [{"id": f"{tier}{index}", "tokens": number} for index, number in enumerate(numbers)]


@given(sops=tokens, decisions=tokens, summaries=tokens, conventions=tokens, output=st.integers(0, 200_000))
def test_no_sop_is_cut_and_no_budget_is_exceeded(
    sops: list[int], decisions: list[int], summaries: list[int], conventions: list[int], output: int
) -> None:
    tiers = {
        "sops": items("s", sops),
        "decisions": items("d", decisions),
        "summaries": items("f", summaries),
        "conventions": items("c", conventions),
    }
    found = assemble_review(window=200_000, task_output_tokens=output, **tiers)  # pyright: ignore[reportArgumentType]
    costs = {str(item["id"]): item["tokens"] for tier in tiers.values() for item in tier}
    order = list(costs)
    assert sorted((*found.included, *found.omitted), key=order.index) == order
    assert list(found.included) == [name for name in order if name in found.included]
    assert found.used == sum(int(str(costs[name])) for name in found.included) <= 4_000
    assert found.decompose == (sum(sops) > 4_000 or output > 157_000)
    if not found.decompose:
        assert set(costs) - set(found.included) == {n for n, why in found.omitted_reasons.items() if why == "no_room"}
        assert not any(name.startswith("s") for name in found.omitted)
    # An item that was left out would not have fitted where it stood.
    used = 0
    for name in order if not found.decompose else ():
        if name in found.included:
            used += int(str(costs[name]))
        else:
            assert used + int(str(costs[name])) > 4_000


@pytest.mark.parametrize(
    "bad",
    [
        {"window": -1},
        {"task_output_tokens": True},
        {"reserve": 1.5},
        {"sops": [{"tokens": 1}]},
        {"sops": [{"id": "a", "tokens": -1}]},
        {"sops": [{"id": "a", "tokens": 1}], "decisions": [{"id": "a", "tokens": 1}]},
        {"sops": [{"id": "a", "chunks": "text"}]},
        {"sops": [{"id": "a", "text": 5}]},
    ],
)
def test_what_cannot_be_meant(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        assemble_review(**{"window": 200_000, "task_output_tokens": 0, "sops": [], **bad})  # type: ignore[arg-type]


SOURCES = {
    "a.py": (
        (
            "class A(Base):\n    x = 1\n    @deco\n    async def f(self, a: int) -> str:\n        def inner(): ...\n\n"
            "try:\n    def g(x=lambda: 1):  # why\n        # how\n        pass\nexcept E: pass\n"
        ),
        ["class A(Base)", "  @deco", "  async def f(self, a: int) -> str", "def g(x=lambda: 1)"],
    ),
    "a.ts": (
        (
            "export interface I { a: string; m(): void }\nexport const f = async (x: number): Promise<void> => { g() };\n"
            "export abstract class C extends D { private m(a: string): void { } }\ntype T = string | number;\nenum E { A }\n"
            "export default function () {}\nnamespace N { export function h(/* how */ a: string) {} }\n"
            "class K { run = (x: number) => { g() }; }\n"
        ),
        [
            "export interface I",
            "  a: string",
            "  m(): void",
            "export const f = async (x: number): Promise<void>",
            "export abstract class C extends D",
            "  private m(a: string): void",
            "type T = string | number;",
            "enum E",
            "export default function ()",
            "namespace N",
            "  export function h( a: string)",
            "class K",
            "  run = (x: number)",
        ],
    ),
    "a.jsx": (
        "function View({ a }) { return <p>{a}</p>; }\nclass X { m() {} }\n",
        ["function View({ a })", "class X", "  m()"],
    ),
    "a.go": (
        "package a\n\ntype S struct {\n\tX int\n}\n\ntype I interface{ M() }\n\nfunc (s *S) M(a int) error {\n\treturn nil\n}\n",
        ["type S struct", "type I interface", "  M()", "func (s *S) M(a int) error"],
    ),
    "a.rs": (
        (
            "pub struct S { x: i32 }\nimpl S {\n    pub fn m(&self, a: &str) -> Result<(), E> { Ok(()) }\n}\n"
            "pub trait T { fn n(&self); }\nmod inner { fn g() {} }\n"
        ),
        [
            "pub struct S",
            "impl S",
            "  pub fn m(&self, a: &str) -> Result<(), E>",
            "pub trait T",
            "  fn n(&self);",
            "mod inner",
            "  fn g()",
        ],
    ),
    "A.java": (
        (
            "package x;\n\npublic class A extends B {\n    A(int x) { }\n    public int add(int a, int b) { return a + b; }\n"
            "    interface I { void m(); }\n}\n"
        ),
        ["public class A extends B", "  A(int x)", "  public int add(int a, int b)", "  interface I", "    void m();"],
    ),
}


@pytest.mark.parametrize("path", SOURCES)
def test_signatures(path: str) -> None:
    pytest.importorskip("tree_sitter_java")
    source, expected = SOURCES[path]
    assert signatures(source.encode(), language_of(path)) == expected


@given(st.binary(max_size=300), st.sampled_from(["python", "typescript", "go", "rust", "java", "javascript", "tsx"]))
def test_signatures_of_anything(source: bytes, language: str) -> None:
    pytest.importorskip("tree_sitter_java")
    assert all(len(row) <= 220 and "\n" not in row for row in signatures(source, language))


def test_deep_nesting_is_no_trouble() -> None:
    pytest.importorskip("tree_sitter_python")
    assert signatures(b"(" * 20_000, "python") == []
    assert signatures(b"class A:\n" + b"".join(b" " * n + b"class B:\n" for n in range(1, 300)), "python")


def test_decisions_in_force_that_are_about_the_files(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        {
            "docs/adr/0001-names-a-file.md": "# One\n\n## Status\n\nAccepted\n\n## Decision\n\nSee `api/orders.py`.\n\n## More\n\nx\n",
            "docs/adr/0002-names-a-folder.md": "# Two\n\nStatus: accepted\n\nEverything in api/ is so.\n",
            "docs/adr/0003-old.md": "# Three\n\n## Status\n\nSuperseded by 1\n\napi/orders.py\n",
            "docs/adr/0004-other.md": "# Four\n\nThe api of web/shop.ts.\n",
            "docs/adr/0005-glob.md": "---\napplies_to: '*.py'\n---\n# Five\n\nAll Python.\n",
            "docs/adr/0006-part.md": "# Six\n\nOnly xapi/orders.py.\n",
        },
    )
    found = prior_decisions(folder, ["api/orders.py"])
    assert [item["id"].rpartition("/")[2] for item in found] == [
        "0001-names-a-file.md",
        "0005-glob.md",
        "0002-names-a-folder.md",
    ]
    assert found[0]["text"] == "## Decision One (docs/adr/0001-names-a-file.md)\n\nSee `api/orders.py`.\n"


def test_sections_leave_fences_alone() -> None:
    text = "intro\n# A\n```sh\n# not a heading\n```\n## B\nx\n~~~\n```\n# no\n~~~\n"
    assert [heading for heading, _ in sections(text)] == ["", "A", "B"]


def test_the_context_of_a_change(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_python")
    folder = make(
        tmp_path,
        {
            "api/orders.py": "def one(): pass\n",
            "CONTRIBUTING.md": "# Style\nKeep it short.\n# Long\n" + "words " * 4_000,
            ".tipstaff/sops/errors.md": "---\napplies_to: '*.py'\nseverity: error\n---\n# Errors\nSay what failed.\n",
            ".tipstaff/sops/web.md": "---\napplies_to: '*.ts'\n---\n# Web\n",
        },
    )
    commit(folder)
    (folder / "api/orders.py").write_text("def one(): pass\n\n\ndef two(a: int): pass\n", encoding="utf-8")
    logged: list[ReviewContext] = []

    class Log:
        def record_assembly(self, context: ReviewContext) -> None:
            logged.append(context)

    found = review_context(folder, log=Log())
    assert logged == [found]
    assert found.files == ("api/orders.py",)
    assert found.expected == ("source.doc.sops.errors",)
    assert found.assembly.included == (
        "source.doc.sops.errors",
        "summary:api/orders.py",
        "convention:CONTRIBUTING.md#2",
    )
    assert found.assembly.omitted_reasons == {"convention:CONTRIBUTING.md#3": "no_room"}
    assert "Say what failed." in found.text
    assert "def two(a: int)" in found.text
    assert text_tokens(found.text) <= found.assembly.used
    large = review_context(folder, reserve=5)
    assert (large.assembly.reasons, large.text, large.expected) == (("sops",), "", found.expected)


def test_a_file_that_is_named_and_not_there_is_noted(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": "def f(): ...\n", ".tipstaff/sops/e.md": "# E\nYou must.\n"})
    notes = review_context(folder, files=["a.py", "mistyped.py"]).notes
    assert [note for note in notes if "no such file" in note] == [
        "mistyped.py: there is no such file: deleted, or mistyped"
    ]
