"""Request focus: real files, real identifiers, whole words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.conversation.graphemes import is_boundary
from tipstaff.context.prompt.focus import MAX_FILES, MAX_SYMBOLS, SIGNALS, SUMMARY_CHARS, RequestFocus

CONTINUES, PLANS, CHANGES, VERIFIES = SIGNALS


def symbols(query: str) -> tuple[str, ...]:
    return RequestFocus.extract(query).active_symbols


def files(query: str, *history: Any, **options: Any) -> tuple[str, ...]:
    return RequestFocus.extract(query, history, **options).active_file_paths


def signals(query: str) -> tuple[str, ...]:
    return RequestFocus.extract(query).plan_signals


# -- symbols -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "Please tell me The Answer",
        "Garden engine winter. Folder saddle kernel. Socket rocket module",
        "CONTINUE AND FIX the JSON API for HTTP and all APIs, URLs and IDs",
        "Use GitHub, JavaScript, PostgreSQL and macOS on an iPhone",
        "We can read/write and/or TCP/IP; see e.g. the U.S. or i.e. others",
        "_really_ **important** file(s) it's well-known state-of-the-art",
        "SHA256 utf8 H100 v2 k8s 3rd",
        "aGVsbG8gd29ybGQgdGhpcyBpcyBhIGxvbmcgYmFzZTY0IGJsb2IgdGhhdCBuZXZlckVuZHM",
        "finished.Next comes more",
    ],
)
def test_d1_ordinary_words_are_no_symbols(query: str) -> None:
    assert symbols(query) == ()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("why does load_config fail", ("load_config",)),
        ("override __init__ and __dunder__", ("__init__", "__dunder__")),
        ("MAX_RETRIES vs maxRetries vs MaxRetries", ("MAX_RETRIES", "maxRetries", "MaxRetries")),
        ("call Foo::bar and std::vector", ("Foo::bar", "std::vector")),
        ("the `tipstaff-hook` and `my-component`", ("tipstaff-hook", "my-component")),
        ("`main` never returns", ("main",)),
        ("ÉtatMachine and naïveBayes", ("ÉtatMachine", "naïveBayes")),
        ("the class Größe here", ("Größe",)),
        ("def run(x): and func Serve(w)", ("run", "Serve")),
        ("`println!` and `&str_ref` and `@property_like`", ("println", "str_ref", "property_like")),
        ("compare `Vec<T>` with `List<String>` and Box<Foo>", ("Vec", "List", "Box")),
        ("XMLHttpParser with iOSDevice and HTTPServer", ("XMLHttpParser", "iOSDevice", "HTTPServer")),
        ("```python\nclass CacheIndex:\n    pass\n```", ("CacheIndex",)),
        ("`git add some_module` fails", ("some_module",)),
        ("why does json.loads or os.path.join fail", ("json.loads", "os.path.join")),
        ("self._private and obj.handleIt()", ("self._private", "obj.handleIt")),
    ],
)
def test_d3_identifiers_of_all_languages_are_found(query: str, expected: tuple[str, ...]) -> None:
    assert symbols(query) == expected


def test_d4_files_are_no_symbols_calls_keep_their_method_and_brackets_cost_no_slot() -> None:
    focus = RequestFocus.extract("read `README.md`, then api.v2.Users.get(); `Handle()` and `Handle`")
    assert focus.active_file_paths == ("README.md",)
    assert focus.active_symbols == ("Handle", "api.v2.Users.get")


def test_dotted_names_of_more_than_six_parts_are_no_symbols() -> None:
    assert symbols("`a.b.c.d.e.f` versus `a.b.c.d.e.f.g` and `1abc.x`") == ("a.b.c.d.e.f",)


def test_keywords_are_no_symbols() -> None:
    assert symbols("`None` `true` `self` `return` if() while()") == ()


def test_what_is_written_as_code_comes_first_and_nothing_twice() -> None:
    assert symbols("fooBar then `Later` and `fooBar` and bar_baz") == ("Later", "fooBar", "bar_baz")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("open src/app/main.py and lib/util/io.rs", ("src/app/main.py", "lib/util/io.rs")),
        ("check /home/p/src/a/b.py and /etc/passwd", ("/home/p/src/a/b.py", "/etc/passwd")),
        ("~/notes/today.md ../other/x.py ./here.py", ("~/notes/today.md", "../other/x.py", "here.py")),
        ("C:\\dir\\x.cs and D:/code/y.cs and src\\app\\z.py", ("C:\\dir\\x.cs", "D:/code/y.cs", "src\\app\\z.py")),
        ("docs/ünïcode/файл.md，docs/漢字.txt。", ("docs/ünïcode/файл.md", "docs/漢字.txt")),
        ('see "docs/design notes.md" and `my docs/a b.txt`', ("docs/design notes.md", "my docs/a b.txt")),
        ("(src/a.py:42) [src/b.py#L10] src/c.py:3:7.", ("src/a.py", "src/b.py", "src/c.py")),
        ("pkg/mod_a.py,pkg/mod_b.py;pkg/mod_c.py", ("pkg/mod_a.py", "pkg/mod_b.py", "pkg/mod_c.py")),
        ("**src/a.py** and path=lib/b.go", ("src/a.py", "lib/b.go")),
        ("the Makefile, .gitignore and CMakeLists.txt", ("Makefile", ".gitignore", "CMakeLists.txt")),
        ("import '@/components/Nav.tsx'", ("@/components/Nav.tsx",)),
        ("`python tools/run.py` in `git add src/x.py`", ("tools/run.py", "src/x.py")),
        ("look below .github/workflows", (".github/workflows",)),
    ],
)
def test_d6_paths_are_found_as_they_are_written(query: str, expected: tuple[str, ...]) -> None:
    assert files(query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "https://example.org/a/b.html?x=1&f=src/a.py and user@host.com",
        "git@github.com:org/repo.git and github.com/org/repo/file.go",
        "3.14 and 10.0.0.1 and v2.0-rc.1 and 2024/01/05",
        "e.g. this, i.e. that, etc. and a.k.a. others",
        "It works.Next we go on. sentence.Next and done.then",
        "and/or read/write client/server 24/7 TCP/IP n/a w/o",
        "router.dispatch and Node.js and Vue.js",
        "1/2 of 3/4",
        '"fix src code" and "the quick.brown fox"',
        "/help and </div>",
    ],
)
def test_d6_what_is_no_file_is_left_out(query: str) -> None:
    assert files(query) == ()


def test_d6_absolute_paths_below_the_project_are_made_relative() -> None:
    assert files("see /home/p/src/a.py and /etc/x.conf", project_root="/home/p") == ("src/a.py", "/etc/x.conf")
    assert files("see /home/p/src/a.py and src/a.py", project_root="/home/p/") == ("src/a.py",)


def test_history_is_searched_for_files_after_the_query() -> None:
    history = [
        {"role": "user", "content": "earlier I edited old/one.py and old/two.py"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Changed `old/three.py`; see notes.md"}, {"type": "tool_use"}],
        },
        "also conf/app.toml with RequestRouter; fix it",
        {"role": "user", "content": 7},
    ]
    focus = RequestFocus.extract("now look at src/new.py", history)
    assert focus.active_file_paths == (
        "src/new.py",
        "old/one.py",
        "old/two.py",
        "old/three.py",
        "notes.md",
        "conf/app.toml",
    )
    assert focus.active_symbols == ()
    assert focus.plan_signals == ()


def test_only_the_last_messages_count_and_of_too_many_files_the_newest() -> None:
    history = [f"file{number}/a.py and file{number}/b.py" for number in range(9)]
    assert files("x", *history) == tuple(f"file{number}/{name}.py" for number in (6, 7, 8) for name in "ab")


# -- signals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "the latest contest",
        "prefix and suffix handling, credit and unedited",
        "an airplane, discontinued; explain",
        "RetryPlanner and test_utils and tests/a.py and `plan()`",
        "https://example.org/fix/review",
        "what comes next. step back",
        "steps, to be taken",
    ],
)
def test_d5_signals_are_whole_words(query: str) -> None:
    assert signals(query) == ()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("continue please", (CONTINUES,)),
        ("what is the next step", (CONTINUES,)),
        ("list the next steps", (PLANS,)),
        ("steps to reproduce", (PLANS,)),
        ("make a plan", (PLANS,)),
        ("CONTINUE AND FIX", (CONTINUES, CHANGES)),
        ("İstanbul PLAN review", (PLANS, VERIFIES)),
        ("Refactor, update; then (verify)!", (CHANGES, VERIFIES)),
        ("fixing what the tests say", (CHANGES, VERIFIES)),
        ("nothing special here", ()),
    ],
)
def test_signals(query: str, expected: tuple[str, ...]) -> None:
    assert signals(query) == expected


# -- summary and shape -------------------------------------------------------------------------------------------------


def test_the_summary_is_one_line() -> None:
    assert RequestFocus.extract("  fix\n\tthis\u00a0 \u2003thing  ").query_summary == "fix this thing"
    assert RequestFocus.extract("").query_summary == ""
    assert RequestFocus.extract("x" * 160).query_summary == "x" * 160
    assert RequestFocus.extract("x" * 161).query_summary == "x" * 157 + "..."


@given(st.text(st.sampled_from("ab \n🚀👩\u200d🏽e\u0301🇩\ud83d\ude00"), max_size=400))
def test_d13_the_summary_cuts_between_graphemes(query: str) -> None:
    summary = RequestFocus.extract(query).query_summary
    assert len(summary) <= SUMMARY_CHARS
    whole = " ".join(query.split())
    if summary != whole:
        shown = summary.removesuffix("...")
        assert whole.startswith(shown)
        assert is_boundary(whole, len(shown))


@given(st.text(max_size=400), st.lists(st.text(max_size=100), max_size=8))
def test_limits_and_types(query: str, history: list[str]) -> None:
    focus = RequestFocus.extract(query, history)
    assert len(focus.active_file_paths) <= MAX_FILES
    assert len(focus.active_symbols) <= MAX_SYMBOLS
    assert list(json.loads(json.dumps(focus.to_dict()))) == list(focus.__struct_fields__)
    assert isinstance(focus.active_symbols, tuple)


def test_d10_letter_case_does_not_depend_on_a_locale() -> None:
    assert signals("FIX IT IN THE TITLE") == (CHANGES,)
    assert signals("fıx it") == ()
