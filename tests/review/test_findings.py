"""What tools print, as findings; and findings in the forms that other programs read."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.review.findings.model import Finding
from tipstaff.review.findings.output import to_annotations, to_sarif
from tipstaff.review.findings.parsing import PARSERS, located, parse_output
from tipstaff.review.findings.reports import ReportError, count_tests, parse_report
from tipstaff.review.running.coverage import coverage_percent

RUFF_FULL = """F401 [*] `os` imported but unused
 --> a.py:1:8
  |
1 | import os
  |        ^^
  |
help: Remove unused import: `os`

invalid-syntax: Expected an expression
 --> b.py:3:1
  |

Found 2 errors.
"""
RUFF_FORMAT = """unformatted: File would be reformatted
  --> README.md:21:1
   |
20 | from x import y
21 +

1 file would be reformatted, 17 files already formatted
"""
MYPY_PRETTY = """docs/conf.py:1: error: Cannot find implementation or library stub for module
named "themes"  [import-not-found]
    from themes import get_version
    ^
docs/conf.py:1: note: See https://example.org
src/timed.py:57: error: Unused "type: ignore" comment
[unused-ignore]
        def unsign(  # type: ignore[overload-overlap]
        ^~~~
Found 2 errors in 2 files (checked 9 source files)
"""
GO_TEST = """--- FAIL: TestAdd (0.00s)
    calc_test.go:7: got 3
    --- FAIL: TestAdd/sub (0.00s)
        calc_test.go:9: wrong: 4
FAIL
FAIL\texample.com/calc\t0.002s
"""
PANIC = """panic: boom

goroutine 1 [running]:
runtime.throw(...)
\t/usr/lib/go/src/runtime/panic.go:992 +0x71
main.main()
\t/repo/main.go:5 +0x39
exit status 2
"""
PYTEST = """..F
=================================== FAILURES ===================================
_________________________________ test_deep __________________________________

    def test_deep():
>       helper()

tests/test_a.py:9:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def helper():
>       raise ValueError("no")
E       ValueError: no

lib/helper.py:4: ValueError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_deep - ValueError: no
ERROR tests/test_b.py - ModuleNotFoundError: No module named 'x'
"""
RUSTC = """error[E0308]: mismatched types
  --> src/main.rs:2:5
   |
2  |     "x"
   |     ^^^ expected `i32`, found `&str`

warning: unused variable: `y`
 --> src/lib.rs:7:9
error: could not compile `calc` (bin "calc") due to 1 previous error
"""
OLD_PANIC = "thread 'tests::adds' panicked at 'assertion failed', src/lib.rs:9:9\n"
NEW_PANIC = "thread 'tests::adds' (4711) panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n"
ESLINT = """
/repo/src/a.js
  1:5   error    'x' is assigned a value but never used  no-unused-vars
  3:10  warning  Expected '===' and instead saw '=='     eqeqeq

/repo/src/b.js
  2:1  error  Parsing error: Unexpected token

\u2716 3 problems (2 errors, 1 warning)
"""
VITEST = """ FAIL  src/a.test.js > adds
AssertionError: expected 3 to be 4 // Object.is equality
 \u276f node_modules/chai/index.js:1:2
 \u276f src/a.test.js:4:15
"""
JEST = """  \u25cf adds

    expect(received).toBe(expected) // Object.is equality

      at Object.toBe (node_modules/x.js:1:1)
      at Object.<anonymous> (src/sum.test.js:5:20)
"""
TAP = """not ok 1 - adds
  ---
  location: '/repo/a.test.js:4:1'
  error: |-
    Expected values to be strictly equal:

    3 !== 4
  code: 'ERR_ASSERTION'
  stack: |-
    TestContext.<anonymous> (/repo/a.test.js:5:10)
    Test.run (node:internal/test_runner/test:796:25)
  ...
"""
BUN = """b.test.ts:
5 |   expect(add(1, 2)).toBe(4);
                        ^
error: expect(received).toBe(expected)

Expected: 4
Received: 3

      at <anonymous> (/repo/b.test.ts:5:21)
(fail) adds again [2.86ms]
"""
PYTEST_SETUP = """=================================== ERRORS ===================================
_ ERROR at setup of test_a_name_that_is_as_long_as_the_terminal_is_wide[http://172.16.1.1/-172.16.1.1] _
file /repo/tests/test_utils.py, line 741
  def test_a_name(mocker):
E       fixture 'mocker' not found
>       available fixtures: cache, capfd

/repo/tests/test_utils.py:741
=========================== short test summary info ============================
ERROR tests/test_utils.py::test_a_name_that_is_as_long_as_the_terminal_is_wide[http://172.16.1.1/-172.16.1.1]
"""
PYTEST_COLLECT = """_____________________ ERROR collecting tests/test_basic.py ______________________
/venv/lib/python3.11/site-packages/pluggy/_hooks.py:512: in __call__
    return self._hookexec(self.name)
E   pytest.PytestRemovedIn10Warning: Passing a non-Collection iterable
_____________________ ERROR collecting tests/test_parser.py ____________________
tests/test_parser.py:4: in <module>
    from click.parser import OptionParser
/venv/lib/python3.11/site-packages/click/parser.py:514: in __getattr__
    warnings.warn(
E   DeprecationWarning: 'parser.OptionParser' is deprecated
=========================== short test summary info ============================
ERROR tests/test_basic.py - pytest.PytestRemovedIn10Warning: Passing a non-Co...
ERROR tests/test_parser.py - DeprecationWarning: 'parser.OptionParser' is dep...
"""
MAVEN = """[ERROR] /repo/src/main/java/x/Calc.java:[5,16] incompatible types: String cannot be converted to int
[WARNING] /repo/src/main/java/x/Calc.java:[9,1] deprecated
[ERROR] Failures:
[ERROR]   CalcTest.adds:8 expected: <4> but was: <3>
"""

RUST_TEST = """running 2 tests
test tests::parses ... FAILED
---- tests::parses stdout ----
Error: ParseIntError { kind: InvalidDigit }

---- tests::adds stdout ----
thread 'tests::adds' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1`
"""
VITEST_SUITE = """ FAIL  src/broken.test.ts [ src/broken.test.ts ]
Error: Transform failed with 1 error:
/repo/src/broken.test.ts:3:9: ERROR: Unexpected "}"
 FAIL  src/a.test.ts > sums > adds
AssertionError: expected 3 to be 4
 \u276f src/a.test.ts:4:15
"""
NODE_SYNTAX = """/repo/lib/utils.js:61
  return (a
         ^

SyntaxError: missing ) after argument list
    at internalCompileFunction (node:internal/vm:73:18)
    at Object.<anonymous> (/repo/lib/application.js:20:14)
"""
MSBUILD = r"""  C:\r\Sub\MyFile.cs(131,10): error CA2201: Exception type is too general [C:\r\Sub\My.csproj]
/abs/Sub/MyFile.cs(7,1): warning CS0168: The variable 'e' is never used
a.py:1:2: E1 x
"""

CASES = [
    ("lines", "a/b.py:3:7: F401 [*] `os` imported but unused\n", [("a/b.py", 3, 7, "error", "F401")]),
    ("lines", 'a.py:4: error: Incompatible types in assignment  [assignment]\n', [("a.py", 4, 0, "error", "assignment")]),
    ("lines", "a.c:1:2: warning: unused variable 'x' [-Wunused-variable]\na.c:1:2: note: here\n", [("a.c", 1, 2, "warning", "-Wunused-variable")]),
    ("lines", "  /repo/a.py:1:9 - error: Import \"x\" could not be resolved (reportMissingImports)\n", [("/repo/a.py", 1, 9, "error", "reportMissingImports")]),
    ("lines", "src/A.java:1: error: incompatible types: String cannot be converted to int\n", [("src/A.java", 1, 0, "error", "")]),
    ("go", "# example.com/x\nvet: ./x.go:3:5: undeclared name: y\n", [("./x.go", 3, 5, "error", "")]),
    ("go", GO_TEST, [("calc_test.go", 7, 0, "error", ""), ("calc_test.go", 9, 0, "error", "")]),
    ("go", PANIC, [("/repo/main.go", 5, 0, "error", "")]),
    ("pytest", PYTEST, [("lib/helper.py", 4, 0, "error", ""), ("tests/test_b.py", 0, 0, "error", "")]),
    ("pytest", PYTEST_SETUP, [("/repo/tests/test_utils.py", 741, 0, "error", "")]),
    ("pytest", PYTEST_COLLECT, [("tests/test_basic.py", 0, 0, "error", ""), ("tests/test_parser.py", 4, 0, "error", "")]),
    ("gofmt", "a/x.go:1:1: expected 'package', found 'EOF'\nb/y.go\n", [("a/x.go", 1, 1, "error", ""), ("b/y.go", 0, 0, "error", "")]),
    ("cargo", RUSTC, [("src/main.rs", 2, 5, "error", "E0308"), ("src/lib.rs", 7, 9, "warning", "")]),
    ("cargo", OLD_PANIC, [("src/lib.rs", 9, 9, "error", "panic")]),
    ("cargo", NEW_PANIC, [("src/lib.rs", 9, 9, "error", "panic")]),
    ("eslint", ESLINT, [("/repo/src/a.js", 1, 5, "error", "no-unused-vars"), ("/repo/src/a.js", 3, 10, "warning", "eqeqeq"), ("/repo/src/b.js", 2, 1, "error", "")]),
    ("tsc", "src/a.ts(2,3): error TS2322: Type 'string' is not assignable.\n", [("src/a.ts", 2, 3, "error", "TS2322")]),
    ("tsc", "src/a.ts:2:3 - error TS2322: Type 'string' is not assignable.\n", [("src/a.ts", 2, 3, "error", "TS2322")]),
    ("node-test", VITEST, [("src/a.test.js", 4, 15, "error", "")]),
    ("node-test", JEST, [("src/sum.test.js", 5, 20, "error", "")]),
    ("node-test", TAP, [("/repo/a.test.js", 5, 10, "error", "")]),
    ("node-test", BUN, [("/repo/b.test.ts", 5, 21, "error", "")]),
    ("gradle", ":compileJava/repo/src/A.java:5: error: incompatible types\n", [("/repo/src/A.java", 5, 0, "error", "")]),
    ("gradle", "> Task :app:compileKotlin FAILED\ne: file:///repo/src/A.kt:5:9 Unresolved reference: b\nw: /repo/src/B.kt: (3, 1): Unused\n", [("/repo/src/A.kt", 5, 9, "error", ""), ("/repo/src/B.kt", 3, 1, "warning", "")]),
    ("maven", MAVEN, [("/repo/src/main/java/x/Calc.java", 5, 16, "error", ""), ("/repo/src/main/java/x/Calc.java", 9, 1, "warning", ""), ("CalcTest.java", 8, 0, "error", "")]),
    ("github", "::error title=lint/x,file=a.ts,line=3,endLine=3,col=5::Bad: this, that\n", [("a.ts", 3, 5, "error", "lint/x")]),
    ("rustfmt", "Diff in /repo/src/main.rs:1:\n-fn\n", [("/repo/src/main.rs", 1, 0, "error", "")]),
    ("prettier", "Checking formatting...\n[warn] src/a.js\n[warn] Code style issues found.\n", [("src/a.js", 0, 0, "warning", "")]),
    ("ruff-format", "Would reformat: a.py\n1 file would be reformatted\n", [("a.py", 0, 0, "error", "")]),
    ("ruff-format", RUFF_FORMAT, [("README.md", 21, 1, "error", "unformatted")]),
    ("ruff", RUFF_FULL, [("a.py", 1, 8, "error", "F401"), ("b.py", 3, 1, "error", "invalid-syntax")]),
    ("", RUFF_FULL, [("a.py", 1, 8, "error", "F401"), ("b.py", 3, 1, "error", "invalid-syntax")]),
    ("mypy", MYPY_PRETTY, [("docs/conf.py", 1, 0, "error", "import-not-found"), ("src/timed.py", 57, 0, "error", "unused-ignore")]),
    ("python", '***   File "./calc.py", line 1\n    def add(a, b:\n           ^\nSyntaxError: \'(\' was never closed\n', [("./calc.py", 1, 0, "error", "SyntaxError")]),
    ("cargo", RUST_TEST, [("", 0, 0, "error", "err"), ("src/lib.rs", 9, 9, "error", "panic")]),
    ("node-test", VITEST_SUITE, [("src/broken.test.ts", 0, 0, "error", ""), ("src/a.test.ts", 4, 15, "error", "")]),
    ("node-test", NODE_SYNTAX, [("/repo/lib/utils.js", 61, 0, "error", "")]),
    ("", MSBUILD, [(r"C:\r\Sub\MyFile.cs", 131, 10, "error", "CA2201"), ("/abs/Sub/MyFile.cs", 7, 1, "warning", "CS0168"), ("a.py", 1, 2, "error", "E1")]),
    ("paths", "a.go\nsub/b.go\n", [("a.go", 0, 0, "error", ""), ("sub/b.go", 0, 0, "error", "")]),
]  # fmt: skip


def test_messages_that_a_tool_wraps_are_whole() -> None:
    assert [one.message for one in parse_output(MYPY_PRETTY, "mypy")] == [
        'Cannot find implementation or library stub for module named "themes"', 'Unused "type: ignore" comment',
    ]  # fmt: skip
    text = "Error: Cannot find module 'ansi-colors'\n    at Object.<anonymous> (/repo/a.js:11:14)\n"
    assert parse_output(text, "node-test")[0].message == "Error: Cannot find module 'ansi-colors'"


def test_what_was_expected_is_part_of_the_message() -> None:
    assert parse_output(BUN, "node-test")[0].message == "expect(received).toBe(expected) Expected: 4 Received: 3"
    assert [one.message for one in parse_output(RUST_TEST, "cargo")] == [
        "tests::parses: it returned Err: ParseIntError { kind: InvalidDigit }",
        "tests::adds: assertion `left == right` failed; left: 3; right: 4",
    ]
    assert parse_output(VITEST_SUITE, "node-test")[1].message == "sums > adds: AssertionError: expected 3 to be 4"


@pytest.mark.parametrize(("parser", "text", "expected"), CASES)
def test_output_of_tools(parser: str, text: str, expected: list[tuple[str, int, int, str, str]]) -> None:
    found = parse_output(text, parser)
    assert [(one.path, one.line, one.column, one.severity, one.code) for one in found] == expected
    coloured = "".join(f"\x1b[1;31m{line}\x1b[0m\n" if line else "\n" for line in text.splitlines())
    assert [one.path for one in parse_output(coloured, parser)] == [one.path for one in found]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (RUSTC, "src/main.rs"),
        (ESLINT, "/repo/src/a.js"),
        (MAVEN, "/repo/src/main/java/x/Calc.java"),
        ("a.py:1:2: E1 x\n", "a.py"),
    ],
)
def test_a_format_that_is_not_named_is_recognised(text: str, path: str) -> None:
    assert parse_output(text)[0].path == path
    assert parse_output(text, "no such parser")[0].path == path
    assert parse_output("all is well\n") == []


@given(st.text(max_size=300), st.sampled_from(sorted(PARSERS)))
def test_anything_can_be_parsed(text: str, parser: str) -> None:
    for finding in parse_output(text, parser):
        assert "\n" not in finding.message
        assert len(finding.message) <= 400


@pytest.mark.parametrize("line", ["a:" * 200_000, " " * 400_000, "x.py:1:" + "a" * 400_000, "[ERROR] " + "a" * 400_000])
@pytest.mark.parametrize("parser", sorted(PARSERS))
def test_long_lines_take_linear_time(parser: str, line: str) -> None:
    began = time.perf_counter()
    parse_output(f"{line}\n" * 3, parser)
    assert time.perf_counter() - began < 20


def test_paths_are_found_in_the_repository(tmp_path: Path) -> None:
    files = ["api/src/calc.go", "api/src/calc_test.go", "web/x_test.go", "api/x_test.go"]
    names = [f"{tmp_path.resolve()}/api/src/calc.go", "./src/calc.go", "calc_test.go", "x_test.go", "/etc/hosts", ""]
    findings = [Finding(path=name, message="m") for name in names]
    found = [one.path for one in located(findings, tmp_path, "api", files)]
    assert found == ["api/src/calc.go", "api/src/calc.go", "api/src/calc_test.go", "api/x_test.go", "/etc/hosts", ""]


JUNIT = b"""<?xml version="1.0"?><testsuites><testsuite><testcase classname="x.CalcTest" name="adds">
<failure message="expected: 4">org.opentest4j: x
\tat x.CalcTest.adds(CalcTest.java:8)</failure></testcase><testcase name="ok"/>
<testcase name="py" file="t.py" line="3"><error>boom\nmore</error></testcase></testsuite></testsuites>"""


def test_junit_and_sarif_reports() -> None:
    found = parse_report(JUNIT)
    assert found is not None
    assert [(one.path, one.line, one.message) for one in found] == [
        ("CalcTest.java", 8, "adds: expected: 4"),
        ("t.py", 3, "py: boom"),
    ]
    assert count_tests(JUNIT) == 3
    for other in (b"", b"<html/>", b"{}", b"[]", b'{"runs": 1}'):
        assert parse_report(other) is None
        assert not count_tests(other)
    for broken in (b"<x", b'<?xml version="1.0" encoding="foo-8"?><testsuite/>', b"{", b'{"a":' + b"[" * 100_000):
        with pytest.raises(ReportError, match="not valid"):
            parse_report(broken)
        assert not count_tests(broken)
    pairs = [
        ("lint", Finding(path="a b.py", line=3, column=2, message="bad", code="F1")),
        ("lint", Finding(path="", message="no file", severity="warning")),
    ]
    log = to_sarif(pairs)
    back = parse_report(json.dumps(log).encode())
    assert back is not None
    assert [(one.path, one.line, one.severity, one.code, one.tool) for one in back] == [
        ("a b.py", 3, "error", "lint/F1", "tipstaff check"),
        ("", 0, "warning", "lint", "tipstaff check"),
    ]
    assert parse_report(b'{"runs": [{"results": [{"locations": []}, {"message": 5}]}, 3]}') is not None


def failed(attributes: str, text: str = "boom") -> bytes:
    return f"<testsuite><testcase {attributes}><failure>{text}</failure></testcase></testsuite>".encode()


def sarif(result: object, **run: object) -> bytes:
    return json.dumps({"runs": [{"results": [result], **run}]}).encode()


RULES = {
    "driver": {
        "name": "T",
        "rules": [
            {"id": "R1", "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "no {0}"}}}
        ],
        "globalMessageStrings": {"g": {"text": "everywhere"}},
    },
    "extensions": [{"name": "E", "rules": [{"id": "X1", "defaultConfiguration": {"level": "note"}}]}],
}
AT = {"physicalLocation": {"artifactLocation": {"index": 0}, "region": {"startLine": 3}}}
WINDOWS = {"physicalLocation": {"artifactLocation": {"uri": "file:///C:/r/a%20b.cs"}}}
BASED = {"physicalLocation": {"artifactLocation": {"uri": "a.py", "uriBaseId": "ROOT"}}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (failed('name="t" file="a.py" line="12.0"'), [("a.py", 0, "error", "", "t: boom")]),
        (failed('name="t" file="a.py" line="n/a"'), [("a.py", 0, "error", "", "t: boom")]),
        (failed('name="t" line="-3"', "a\x01b"), [("", 0, "error", "", "t: ab")]),
        (b"\xef\xbb\xbf" + failed('name="t" line="4"'), [("", 4, "error", "", "t: boom")]),
        (failed('name="t"').replace(b"<testsuite>", b'<testsuite xmlns="urn:j">'), [("", 0, "error", "", "t: boom")]),
        (sarif({"message": {"text": "x"}, "locations": {}}), [("", 0, "warning", "", "x")]),
        (sarif({"message": "x", "locations": [AT]}), [("", 3, "warning", "", "")]),
        (sarif({"locations": [{"physicalLocation": {"region": {"startLine": "x"}}}]}), [("", 0, "warning", "", "")]),
        (sarif(5), []),
        (b'{"runs": [{"results": 5}, 3, {"results": [{}]}]}', [("", 0, "warning", "", "")]),
        (sarif({"suppressions": [{"kind": "inSource"}], "message": {"text": "x"}}), []),
        (sarif({"suppressions": [{"status": "rejected"}], "message": {"text": "x"}}), [("", 0, "warning", "", "x")]),
        (sarif({"kind": "pass", "message": {"text": "x"}}), []),
        (sarif({"kind": "informational", "message": {"text": "x"}}), [("", 0, "info", "", "x")]),
        (sarif({"baselineState": "absent", "message": {"text": "x"}}), []),
        (
            sarif(
                {"ruleIndex": 0, "message": {"id": "m", "arguments": ["y"]}, "locations": [AT]},
                tool=RULES,
                artifacts=[{"location": {"uri": "x.py"}}],
            ),
            [("x.py", 3, "error", "R1", "no y")],
        ),
        (sarif({"ruleId": "R1/2", "message": {"id": "g"}}, tool=RULES), [("", 0, "error", "R1/2", "everywhere")]),
        (
            sarif({"rule": {"index": 0, "toolComponent": {"index": 0}}, "message": {"text": "x"}}, tool=RULES),
            [("", 0, "info", "X1", "x")],
        ),
        (sarif({"message": {"text": "x"}, "locations": [WINDOWS]}), [("C:/r/a b.cs", 0, "warning", "", "x")]),
        (
            sarif({"message": {"text": "x"}, "locations": [BASED]}, originalUriBaseIds={"ROOT": {"uri": "file:///r/"}}),
            [("/r/a.py", 0, "warning", "", "x")],
        ),
    ],
)
def test_a_part_of_a_report_that_is_wrong_costs_that_part_alone(
    data: bytes, expected: list[tuple[object, ...]]
) -> None:
    found = parse_report(data)
    assert found is not None
    assert [(one.path, one.line, one.severity, one.code, one.message) for one in found] == expected


def test_annotations_are_escaped() -> None:
    found = to_annotations([("c", Finding(path="a,b:c.py", line=2, column=3, message="50% wrong\nreally"))])
    assert found == ["::error file=a%2Cb%3Ac.py,line=2,title=c,col=3::50%25 wrong%0Areally"]


@pytest.mark.parametrize(
    ("data", "percent"),
    [
        (b"mode: set\na.go:1.1,2.2 3 1\na.go:3.1,4.2 1 0\n", 75.0),
        (b"mode: atomic\na.go:1.1,2.2 1 0\na.go:1.1,2.2 1 4\n", 100.0),
        (b"mode: set\n", None),
        (b'{"totals": {"percent_covered": 81.5}}', 81.5),
        (b'{"total": {"lines": {"pct": 70}}}', 70.0),
        (b'{"data": [{"totals": {"lines": {"percent": 60.5}}}]}', 60.5),
        (b'{"data": []}', None),
        (b"{", None),
        (b'<coverage line-rate="0.5"/>', 50.0),
        (b'<coverage line-rate="x"/>', None),
        (b'<report><counter type="LINE" missed="1" covered="3"/></report>', 75.0),
        (b"<report/>", None),
        (b"TN:\nSF:a\nLF:4\nLH:3\nend_of_record\nSF:b\nLF:4\nLH:1\n", 50.0),
        (b"nothing", None),
        (b"", None),
    ],
)
def test_coverage_reports(data: bytes, percent: float | None) -> None:
    assert coverage_percent(data) == percent
