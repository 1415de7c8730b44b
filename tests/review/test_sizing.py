"""Sizes of tasks: what holds for any input, real files, scopes that cannot be meant, and proposals to divide."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.review.repositories import make
from tipstaff.errors import ConfigError
from tipstaff.review import SizingConfig, resolve_scope, size_task
from tipstaff.review.assembly.reviewer import review_context
from tipstaff.review.globs import any_matcher, invalid_reason, matcher
from tipstaff.review.sizing.budget import FileSize, text_tokens
from tipstaff.review.sizing.decomposition import decompose
from tipstaff.review.sizing.generated import generated_by_attributes, is_generated_head, is_generated_name
from tipstaff.review.sizing.imports import files_under_test, import_edges
from tipstaff.review.sizing.measuring import measure
from tipstaff.review.task_sizing import Task, size_repository_task

paths = st.lists(
    st.lists(st.sampled_from(["a", "b", "api", "web", "x"]), min_size=1, max_size=4), min_size=1, max_size=12
).map(lambda many: sorted({"/".join(parts) + ".py" for parts in many}))


@given(window=st.integers(1, 3_000_000), size=st.integers(0, 10_000_000), share=st.sampled_from([0.1, 0.25, 0.4, 1.0]))
def test_the_limit_is_exact(window: int, size: int, share: float) -> None:
    found = size_task(window=window, files={"a.py": size}, config=SizingConfig(task_share=share))
    available = Fraction(85, 100) * window - 13_900
    fits = available > 0 and -(-size // 4) <= Fraction(str(share)) * available
    assert found.fits == fits
    assert found.available == max(0, available.__floor__())
    assert (found.trigger is None) == fits


@given(window=st.integers(16_354, 1_000_000), spot=st.integers(1, 2_000_000))
def test_a_sweet_spot_never_exceeds_what_is_available(window: int, spot: int) -> None:
    found = size_task(window=window, files={}, sweet_spot=spot)
    assert found.limit == min(spot, found.available)


@given(st.text(max_size=50))
def test_tokens_of_texts(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert text_tokens(text) * 4 - size in range(4)


@pytest.mark.parametrize("bad", [0, -5, True, 1.5, "200000"])
def test_windows_that_cannot_be(bad: object) -> None:
    with pytest.raises(ConfigError, match="window"):
        size_task(window=bad, files={})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="size in bytes"):
        size_task(window=200_000, files={"a": -1})
    with pytest.raises(ConfigError, match="task_share"):
        SizingConfig(task_share=0)


@pytest.mark.parametrize("bad", ["../x.py", "/etc/passwd", "a/../../b", "", ".", "a\0b", "..\\x"])
def test_paths_out_of_the_repository_are_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="inside the repository"):
        resolve_scope([bad], {"a.py": 1})


@pytest.mark.parametrize(("entry", "reason"), [("../**", "leaves"), ("a[", "unclosed"), ("*" * 2_000, "longer")])
def test_globs_that_cannot_be_used(entry: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        resolve_scope([entry], {"a.py": 1})
    with pytest.raises(ConfigError, match=reason):
        resolve_scope([], {"a.py": 1}, {"in": [entry]})


def test_a_plan_s_unknown_key_and_value_are_errors() -> None:
    with pytest.raises(ConfigError, match="unknown key 'inn'"):
        resolve_scope([], {}, {"inn": []})
    with pytest.raises(ConfigError, match="list of globs"):
        resolve_scope([], {}, {"in": "*.py"})


@pytest.mark.parametrize(
    ("pattern", "path", "by_name", "expected"),
    [
        ("*.go", "a/b.go", True, True),
        ("*.go", "a/b.go", False, False),
        ("api/**", "apiary/x", True, False),
        ("api/**", "api", True, False),
        ("api/**", "api/x/y", True, True),
        ("**/x/**/y", "a/x/y", True, True),
        ("**/x/**/y", "x/b/c/y", True, True),
        ("a/**/b/**/c", "a/b/c", True, True),
        ("a/**/b/**/c", "a/c/b", True, False),
        ("{a,b}.py", "a.py", True, False),
        ("{a,b}.py", "{a,b}.py", True, True),
        ("docs/", "docs/a/b.md", True, True),
        ("docs/", "docs", True, False),
        ("*", ".hidden", True, True),
        ("[!a].py", "b.py", True, True),
        ("[^a].py", "a.py", True, False),
        ("/a.py", "x/a.py", True, False),
        ("[a", "[a", True, False),
    ],
)
def test_globs(pattern: str, path: str, by_name: bool, expected: bool) -> None:
    assert matcher(pattern, by_name=by_name)(path) is expected
    assert any_matcher((pattern, "no/such"), by_name=by_name)(path) is expected


def test_a_glob_made_to_backtrack_takes_linear_time() -> None:
    pattern = "**/".join(["*a*a*a*b"] * 40)
    assert not invalid_reason(pattern)
    assert not matcher(pattern)("/".join(["aaaaaaaaaaaaaaaa"] * 400))


def test_generated_files(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        {
            "a.go": "package a\n",
            "gen.go": "// Code generated by protoc. DO NOT EDIT.\n\npackage a\n" + "x" * 900,
            "prose.md": "Write DO NOT EDIT into generated files.\n" * 30,
            "x.pb.go": "p" * 9_000,
            "data.bin": "a\0b",
            "kept.lock": "l" * 4_000,
            "sub/out.js": "o" * 4_000,
            ".gitattributes": "kept.lock -linguist-generated\n# comment\n",
            "sub/.gitattributes": "*.js linguist-generated=true\n",
        },
    )
    (folder / "inside").symlink_to("a.go")
    (folder / "outside").symlink_to("/etc/hosts")
    names = ["a.go", "gen.go", "prose.md", "x.pb.go", "data.bin", "kept.lock", "sub/out.js", "inside", "outside", "new"]
    found = measure(folder, names)
    assert found.refused == ("outside",)
    tokens = size_task(window=200_000, files=found.sizes).file_tokens
    assert tokens == {
        "a.go": 3,
        "gen.go": 100,
        "prose.md": 300,
        "x.pb.go": 100,
        "data.bin": 100,
        "kept.lock": 1_000,
        "sub/out.js": 100,
        "inside": 3,
        "new": 0,
    }
    assert is_generated_name("a\\b\\package-lock.json")
    assert is_generated_head(b"# @generated by x\n")
    assert not is_generated_head(b"an email to me@generated.example\n")
    assert generated_by_attributes([("", "*.js linguist-generated\n*.js linguist-generated=false")])("a.js") is False


def test_imports_of_each_language(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from pkg.b import x\nfrom . import c\nimport json\n",
            "pkg/b.py": "from .sub.d import y\n",
            "pkg/c.py": "",
            "pkg/sub/d.py": "from ..c import z\n",
            "web/app.ts": 'import { x } from "./lib/util";\nconst y = require("../other.js");\nimport "react";\n',
            "web/lib/util.ts": "export const x = 1;\n",
            "other.ts": "",
            "go/main.go": 'package main\n\nimport (\n\t"fmt"\n\tst "example.com/m/go/store"\n)\n',
            "go/store/store.go": "package store\n",
            "src/lib.rs": "mod tree;\nuse crate::leaf::Leaf;\n",
            "src/tree.rs": "",
            "src/leaf/mod.rs": "",
            "j/x/A.java": "package x;\nimport x.y.B;\nimport static x.C.go;\n",
            "j/x/y/B.java": "",
            "j/x/C.java": "",
        },
        git=False,
    )
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    edges = import_edges(folder, names)
    assert edges["pkg/a.py"] == {"pkg/b.py", "pkg/c.py"}
    assert edges["pkg/b.py"] == {"pkg/sub/d.py"}
    assert edges["pkg/sub/d.py"] == {"pkg/c.py"}
    assert edges["web/app.ts"] == {"web/lib/util.ts", "other.ts"}
    assert edges["go/main.go"] == {"go/store/store.go"}
    assert edges["src/lib.rs"] == {"src/tree.rs", "src/leaf/mod.rs"}
    assert edges["j/x/A.java"] == {"j/x/y/B.java", "j/x/C.java"}


def test_tests_know_what_they_are_about() -> None:
    names = [
        "a/calc.py",
        "tests/test_calc.py",
        "b/calc.test.ts",
        "b/calc.ts",
        "CalcTest.java",
        "Calc.java",
        "testing.py",
    ]
    assert files_under_test(["tests/test_calc.py", *names])["tests/test_calc.py"] == "a/calc.py"
    assert files_under_test(["b/calc.test.ts", *names])["b/calc.test.ts"] == "b/calc.ts"
    assert files_under_test(["CalcTest.java", *names])["CalcTest.java"] == "Calc.java"
    assert files_under_test(["testing.py", *names])["testing.py"] is None


@given(names=paths, sizes=st.lists(st.integers(0, 400_000), min_size=12, max_size=12), data=st.data())
def test_a_decomposition_has_every_file_once_and_fits_where_it_can(
    names: list[str], sizes: list[int], data: st.DataObject
) -> None:
    files = dict(zip(names, sizes, strict=False))
    edges = {name: set(data.draw(st.lists(st.sampled_from(names), max_size=2))) - {name} for name in names}
    whole = size_task(window=200_000, files=files, description="do it")
    found = decompose(whole, files, edges, window=200_000, description="do it")
    assert sorted(path for task in found.tasks for path in task.files) == names
    assert [task.sequence for task in found.tasks] == list(range(1, len(found.tasks) + 1))
    for task in found.tasks:
        assert len(task.files) <= 3
        assert task.fits or len(task.files) == 1
        assert all(one < task.sequence for one in task.after)
    assert found.event["subject"] == "workflow.trigger.task-decomposition"
    json.dumps(found.to_dict())


@given(
    names=paths,
    sops=st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4_500), min_size=1),
    reserve=st.sampled_from([1_000, 4_000]),
    data=st.data(),
)
def test_proposed_tasks_fit_with_their_sops(
    names: list[str], sops: dict[str, int], reserve: int, data: st.DataObject
) -> None:
    files = dict.fromkeys(names, 400)
    applicable = {
        name: {sop: sops[sop] for sop in data.draw(st.lists(st.sampled_from(sorted(sops)), unique=True))}
        for name in names
    }
    config = SizingConfig(sop_reserve=reserve)
    whole = size_task(window=200_000, files=files, sop_tokens=sum(sops.values()), config=config)
    found = decompose(whole, files, {}, window=200_000, config=config, sops=applicable)
    assert sorted(path for task in found.tasks for path in task.files) == names
    for task in found.tasks:
        together = {sop: cost for path in task.files for sop, cost in applicable[path].items()}
        assert task.sop_tokens == sum(together.values())
        assert ("sops" in task.reasons) == (task.sop_tokens > reserve)
        assert task.fits or len(task.files) == 1


def test_a_task_divides_where_its_sops_do(tmp_path: Path) -> None:
    must = "You must. " * 900  # 2,250 tokens: two fit no reserve of 4,000
    folder = make(
        tmp_path,
        {
            **{f"app/{name}.{ending}": "x\n" for name in "ab" for ending in ("py", "go")},
            ".tipstaff/sops/py.md": f"---\napplies_to: '*.py'\n---\n# Py\n{must}",
            ".tipstaff/sops/go.md": f"---\napplies_to: '*.go'\n---\n# Go\n{must}",
            ".tipstaff/sops/all.md": "# All\nYou must.\n",
        },
    )
    found = size_repository_task(folder, Task(files=("app/*",)))
    assert found.sizing.reasons == ("sops",)
    assert found.decomposition is not None
    assert [task.files for task in found.decomposition.tasks] == [("app/a.go", "app/b.go"), ("app/a.py", "app/b.py")]
    for task in found.decomposition.tasks:
        again = size_repository_task(folder, Task(files=task.files))
        assert (again.sizing.fits, again.sop_tokens) == (True, task.sop_tokens)
        # What sizing counts is what the reviewer of that task is given.
        context = review_context(folder, files=task.files)
        assert context.assembly.sop_total == task.sop_tokens
        assert not context.assembly.decompose
    (folder / ".tipstaff/config.toml").write_text("[review]\nreserve = 5000\n", encoding="utf-8")
    wide = size_repository_task(folder, Task(files=("app/*",)))
    assert (wide.sizing.available, wide.sizing.reasons, wide.sop_reserve) == (155_100, (), 5_000)


def test_many_files_are_divided_in_reasonable_time(tmp_path: Path) -> None:
    names = [f"pkg{number % 40}/m{number}.py" for number in range(3_000)]
    files = dict.fromkeys(names, 4_000)
    whole = size_task(window=200_000, files=files)
    found = decompose(whole, files, {}, window=200_000)
    assert sorted(path for task in found.tasks for path in task.files) == sorted(names)
    assert len(found.tasks) == 1_000
    assert all(task.fits for task in found.tasks)


def test_a_repository_s_task(tmp_path: Path) -> None:
    files = {f"api/m{number}.py": f"import m{number - 1}\n" * 20 for number in range(6)}
    folder = make(
        tmp_path,
        {
            **files,
            ".tipstaff/config.toml": "[sizing.models.small]\nwindow = 30000\nsweet_spot = 40\n",
            ".tipstaff/sops/long.md": "---\napplies_to: api/*.py\n---\n# Long\n" + "You must. " * 2_000,
        },
    )
    found = size_repository_task(folder, Task(files=("api/*.py",), description="x", id="task.a.1"))
    assert found.sizing.reasons == ("sops", "file_count")
    assert found.sops == ("source.doc.sops.long",)
    assert found.decomposition is not None
    assert found.decomposition.event["payload"]["original_task_id"] == "task.a.1"
    small = size_repository_task(folder, Task(files=("api/m1.py",)), model="small", count_sops=False)
    assert (small.sizing.limit, small.sizing.reasons) == (40, ("token_budget",))
    with pytest.raises(ConfigError, match="did you mean 'small'"):
        size_repository_task(folder, Task(files=("api/m1.py",)), model="smal")
    with pytest.raises(ConfigError, match="did you mean 'files'"):
        Task.from_mapping({"file": []})
    for data, words in (
        ({"files": 3}, "files must be a list of texts, got 3"),
        ({"files": "a.py"}, "files must be a list of texts, got 'a.py'"),
        ({"criteria": [1]}, "acceptance_criteria must be a list"),
        ({"description": 3}, "description must be a text, got 3"),
    ):
        with pytest.raises(ConfigError, match=words):
            Task.from_mapping(data)
    for plan in (4, {"in": 3}, {"in": "a"}, {"out": [None]}):
        with pytest.raises(ConfigError, match=r"plan: .*got"):
            size_repository_task(folder, Task(), plan=plan)  # type: ignore[arg-type]
    (folder / "link").symlink_to("/etc/hostname")
    with pytest.raises(ConfigError, match="leads out"):
        size_repository_task(folder, Task(files=("link",)))


def test_a_folder_means_its_files_and_a_name_that_exists_is_no_glob(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "one",
        {"app/[slug]/page.tsx": "x" * 40, "lib/a.py": "y" * 40, "lib/b/c.py": "z" * 80, "empty/.keep": ""},
    )
    inner = make(tmp_path / "two", {"s.py": "s" * 400})
    (folder / "sub").symlink_to("lib", target_is_directory=True)
    (folder / "out").symlink_to(inner, target_is_directory=True)
    inner.rename(folder / "module")

    def tokens(*names: str) -> dict[str, int]:
        return dict(size_repository_task(folder, Task(files=names)).sizing.file_tokens)

    assert tokens("lib") == tokens("lib/") == {"lib/a.py": 10, "lib/b/c.py": 20}
    assert tokens("sub") == {"sub/a.py": 10, "sub/b/c.py": 20}
    assert tokens("module", "lib/*.py") == {"module/s.py": 100, "lib/a.py": 10}
    assert tokens("app/[slug]/page.tsx") == {"app/[slug]/page.tsx": 10}
    assert tokens("app/[slug]/page.tsx", "lib/*.py") == {"app/[slug]/page.tsx": 10, "lib/a.py": 10}
    (folder / "module").rename(tmp_path / "two")
    with pytest.raises(ConfigError, match="leads out"):
        tokens("out")
    (folder / "nothing").mkdir()
    with pytest.raises(ConfigError, match="has no files"):
        tokens("nothing")
    protected = size_repository_task(folder, Task(files=("lib/a.py",)), plan={"do_not_touch": ["lib/"]})
    assert (protected.sizing.fits, protected.fits) == (True, False)


def test_very_many_files_are_divided_in_one_pass() -> None:
    files: dict[str, FileSize] = {f"d{n // 7}/f{n}.py": 4_000 for n in range(2_500)}
    sizing = size_task(window=200_000, files=files)
    found = decompose(sizing, files, {}, window=200_000)
    assert sorted(path for task in found.tasks for path in task.files) == sorted(files)
    assert all(task.fits and len({path.split("/")[0] for path in task.files}) == 1 for task in found.tasks)
    assert len(found.tasks) <= 3 * 2_500 / 7 + 3
