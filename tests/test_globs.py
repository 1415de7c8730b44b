from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob as library

from tipstaff.glob_syntax import MAX_ALTERNATIVES
from tipstaff.globs import (
    any_matcher,
    compile_scope,
    from_host,
    is_valid,
    matches,
    matches_any,
    scope_applies,
    scopes_may_overlap,
    split_scopes,
)

COVERED = [
    ("**/a.ts", "a.ts"),
    ("**/a.ts", "x/y/a.ts"),
    ("src/**", "src"),
    ("src/**", "src/a/b"),
    ("src/**/", "src/a/b"),
    ("src/**/*", "src/a"),
    ("*.ts", "web/a.ts"),
    ("/*.ts", "a.ts"),
    ("Makefile", "api/Makefile"),
    ("src/", "src/a"),
    ("./src/*.ts", "src/a.ts"),
    ("src/*.ts", "./src/a.ts"),
    ("src/*.ts", "/src/a.ts"),
    ("src/{api,web}/**", "src/web/x"),
    ("src/{api,web/{a,b}}/*.ts", "src/web/b/x.ts"),
    ("*.{ts}", "q.ts"),
    ("v{1..3}/a", "v2/a"),
    ("v{3..1}/a", "v2/a"),
    ("{a,}b", "b"),
    ("!src/**", "b"),
    ("src/api", "src/api/x.ts"),
    ("src/**/test/*.py", "src/test/a.py"),
    ("src/**/test/*.py", "src/a/test/b/test/a.py"),
    ("a/**/b/**/c", "a/b/b/x/c"),
    ("a/**/**/b", "a/b"),
    ("**/x/**", "a/x"),
    ("**/x/**", "x/b"),
    ("a**b", "axxb"),
    ("*a*b*", "xaybz"),
    ("a*b*c", "abbc"),
    ("[a-c].ts", "b.ts"),
    ("[!a-c].ts", "d.ts"),
    ("[]a].ts", "].ts"),
    ("[,{]x", "{x"),
    (r"app/\[id\]/page.tsx", "app/[id]/page.tsx"),
    (r"app/\[id\]", "app/[id]/page.tsx"),
    ("**", ""),
    ("**", "a/b"),
    ("*", ".env"),
    (".github/**", ".github/workflows/ci.yml"),
    ("packages/@acme/ui/**", "packages/@acme/ui/x"),
    ("naïve/*.md", "naïve/日本.md"),
    ("src/a.ts", "src/a.ts"),
]

NOT_COVERED = [
    ("src/api.ts", "src/apiXts"),
    ("src/**", "srcx/a"),
    ("src/**/*", "src"),
    ("/*.ts", "web/a.ts"),
    ("src/{api,web}/**", "src/x"),
    ("!src/**", "src/a"),
    ("!**", "anything"),
    ("src/*", "src/a/b"),
    ("src/?.ts", "src/ab.ts"),
    ("a?b", "a/b"),
    ("a[!x]b", "a/b"),
    ("a/**/b/**/c", "a/x/c"),
    ("**/x/**", "ax/b"),
    ("a*b*c", "abb"),
    ("[!a].ts", "a.ts"),
    ("Src/**", "src/a"),
    ("*.ts", "a.ts\n"),
    ("web/", "webx/a"),
]

INVALID = [
    ("src/{api,web/**", "unclosed"),
    ("[abc", "unclosed"),
    ("a}", "unmatched"),
    ("", "empty"),
    ("  ", "empty"),
    ("!", "empty"),
    ("x\\", "backslash"),
    ("{" * 20 + "a" + "}" * 20, "nested"),
    ("{a,b}" * 12, "more than"),
    ("{1..99999}", "more than"),
    ("{" + ",".join("a" * 300 for _ in range(3)) + "}" + "{b,c}" * 5, "globs of more than"),
    ("../x", ".."),
    ("[z-a]", "reversed"),
    ("[[:alpha:]]", "named sets"),
    ("a" * 2_000, "longer than"),
    ("a\0b", "NUL"),
]


@pytest.mark.parametrize(("glob", "path"), COVERED)
def test_covers(glob: str, path: str) -> None:
    assert is_valid(glob) is None
    assert matches(glob, path)


@pytest.mark.parametrize(("glob", "path"), NOT_COVERED)
def test_does_not_cover(glob: str, path: str) -> None:
    assert is_valid(glob) is None
    assert not matches(glob, path)


@pytest.mark.parametrize(("glob", "reason"), INVALID)
def test_an_unusable_glob_says_why_and_covers_nothing(glob: str, reason: str) -> None:
    assert reason in (is_valid(glob) or "")
    assert not matches(glob, "src/a.ts")
    assert not scopes_may_overlap((glob,), ("**/*",))


def test_the_root_alone_covers_everything() -> None:
    assert matches("/", "a/b")


def test_several_scopes_are_alternatives_and_a_negated_one_takes_out() -> None:
    scopes = ("src/**", "web/**", "!src/generated/**")
    assert matches_any(scopes, "src/a.ts")
    assert matches_any(scopes, "web/a.ts")
    assert not matches_any(scopes, "src/generated/a.ts")
    assert not matches_any(scopes, "docs/a.md")
    assert matches_any(("!src/**",), "docs/a.md")
    assert matches_any((), "docs/a.md")
    assert matches_any(("src/**", "!{broken"), "src/a.ts")
    assert not matches_any(("{broken", "!docs/**"), "src/a.ts")


def test_several_globs_in_one_expression_say_the_same() -> None:
    for glob, path in (*COVERED, *NOT_COVERED):
        for scopes in ((glob,), (glob, "no/such"), (glob, "!a/**")) if not glob.endswith("/**") else ():
            assert any_matcher(scopes)(path) is matches_any(scopes, path), scopes
    assert not any_matcher(("src/**",))("src")
    assert not any_matcher(("{broken",))("src/a.ts")
    assert not any_matcher(("{broken", "!docs/**"))("src/a.ts")


def test_a_caller_may_pass_a_glob_as_scope() -> None:
    assert scope_applies(("api/orders/**",), "api/**")
    assert scope_applies(("**/*.py",), "api/**")
    assert not scope_applies(("web/**",), "api/**")
    assert scope_applies(("api/**",), "api/orders.py")
    assert scope_applies(("app/**",), "app/[id]/page.tsx")
    assert not scope_applies(("web/**",), "api/[broken")


@pytest.mark.parametrize(
    ("glob", "host", "expected"),
    [
        ("*.md", "claude", "/*.md"),
        ("*.md", "copilot", "/*.md"),
        ("!*.md", "copilot", "!/*.md"),
        ("*.md", "cursor", "*.md"),
        ("src/*.md", "claude", "src/*.md"),
        ("**", "copilot", "**"),
        ("", "claude", ""),
    ],
)
def test_a_bare_glob_is_anchored_where_its_host_reads_it_so(glob: str, host: str, expected: str) -> None:
    assert from_host(glob, host) == expected


@pytest.mark.parametrize(
    ("left", "right", "meet"),
    [
        (("src/**",), ("web/**",), False),
        (("**/*.ts",), ("**/*.py",), False),
        (("*.test.ts",), ("*.ts",), True),
        (("**/*.ts",), ("src/**",), True),
        (("src/a*",), ("src/b*/x",), False),
        (("src/a*/x",), ("src/ab/**",), True),
        (("src/**",), ("src",), True),
        (("src/{a,b}/**",), ("src/b/x",), True),
        (("src/{a,b}/**",), ("src/c/x",), False),
        (("a/b/**",), ("a",), True),
        (("src/**", "web/**"), ("web/x.ts",), True),
        (("!a/**",), ("a",), True),
        (("**/*",), ("a",), True),
        ((), ("a",), False),
    ],
)
def test_overlap(left: tuple[str, ...], right: tuple[str, ...], meet: bool) -> None:
    assert scopes_may_overlap(left, right) is meet
    assert scopes_may_overlap(right, left) is meet


def test_a_matcher_is_compiled_once() -> None:
    assert compile_scope("cached/**") is compile_scope("cached/**")


NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: set(name) != {"."})
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
SEGMENTS = st.one_of(st.just("**"), st.text("ab*?.", min_size=1, max_size=4).filter(lambda s: set(s) - {".", "*"}))
GLOBS = st.lists(SEGMENTS, min_size=2, max_size=5).map("/".join)


@given(st.text(max_size=60), st.text(max_size=60))
def test_never_raises(glob: str, path: str) -> None:
    matches(glob, path)
    scopes_may_overlap((glob,), (path,))
    scope_applies((glob,), path)
    assert is_valid(glob) is None or not matches(glob, path)


@given(st.text("ab*?[]{},!/\\.-", max_size=40), st.text("ab/.", max_size=40))
def test_never_raises_on_what_looks_like_a_glob(glob: str, path: str) -> None:
    assert isinstance(matches(glob, path), bool)
    assert scopes_may_overlap((glob,), ("a/**",)) is scopes_may_overlap(("a/**",), (glob,))


@given(GLOBS, PATHS)
def test_any_depth_covers_what_the_glob_itself_covers(glob: str, path: str) -> None:
    assert not matches(glob, path) or matches(f"**/{glob}", path)
    assert not matches(glob, path) or matches(f"**/{glob}", f"b/{path}")


@given(GLOBS, PATHS)
def test_negation_is_the_opposite(glob: str, path: str) -> None:
    assert matches(f"!{glob}", path) is not matches(glob, path)


@given(GLOBS, GLOBS, PATHS)
def test_globs_that_share_a_path_overlap(left: str, right: str, path: str) -> None:
    if matches(left, path) and matches(right, path):
        assert scopes_may_overlap((left,), (right,))


@given(GLOBS.filter(lambda glob: not glob.endswith("**") and set(glob.rsplit("/", 1)[-1]) & {"*", "?"}), PATHS)
def test_agrees_with_a_library_on_what_both_know(glob: str, path: str) -> None:
    flags = library.GLOBSTAR | library.DOTGLOB | library.FORCEUNIX
    assert matches(glob, path) is bool(library.globmatch(path, glob, flags=flags))


def test_hostile_globs_take_linear_work() -> None:
    """About 0.1 s together; a matcher that tries again what it has tried would not come back from any of them."""
    deep = "a/" * 2_000 + "c"
    for folders in (1, 3, 30):
        assert not matches("**/a/" * folders + "b", deep)
    assert not matches("/" + "*a" * 300 + "b", "a" * 4_000)
    assert not matches("**/" + "*a/" * 100 + "b", "aaaaaaa/" * 1_000)
    assert not matches("{a,aa}" * 8 + "b", "a" * 4_000)
    assert is_valid("{a,b}" * 8) is None
    assert MAX_ALTERNATIVES == 2**8


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("a,b", ("a", "b")),
        ("{a,b}/c,d", ("{a,b}/c", "d")),
        ("[,]x", ("[,]x",)),
        (",", ()),
        ("a}},b", ("a}}", "b")),
        ("", ()),
    ],
)
def test_scopes_split_outside_braces(value: str, parts: tuple[str, ...]) -> None:
    assert split_scopes(value) == parts
