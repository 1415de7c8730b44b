"""Every preset, run for real on a small repository of its ecosystem: one that passes, and what makes it fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.review import repositories as repos
from tipstaff.review import repository_checks, run_checks
from tipstaff.review.running.results import CheckReport, Outcome
from tipstaff.review.running.run import CheckOptions


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed here")


def works(*command: str) -> pytest.MarkDecorator:
    """Skip where a tool is installed and does not start, as a shim whose toolchain is in another home."""
    found = shutil.which(command[0])
    fails = found is None or subprocess.run([found, *command[1:]], capture_output=True, check=False).returncode != 0
    return pytest.mark.skipif(fails, reason=f"{' '.join(command)} does not run here")


def run(folder: Path, *names: str) -> CheckReport:
    checks = [check for check in repository_checks(folder) if not names or check.name in names]
    kept = {check.name for check in checks}
    checks = [check.replace(after=tuple(name for name in check.after if name in kept), needs=()) for check in checks]
    return run_checks(folder, checks, CheckOptions())


def outcomes(report: CheckReport) -> dict[str, str]:
    return {result.name: result.outcome.value for result in report.results}


def locations(report: CheckReport, name: str) -> list[tuple[str, int]]:
    found = next(result for result in report.results if result.name == name)
    return [(finding.path, finding.line) for finding in found.findings]


@pytest.fixture
def own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``python`` be the interpreter that runs the tests, which has pytest."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("own_python")
def test_python_passes_and_fails(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, repos.PYTHON)
    first = run(folder, "test")
    assert outcomes(first) == {"test": "passed"}
    assert first.passed
    repos.edit(folder, "tests/test_calc.py", "== 3", "== 4")
    failed = run(folder, "test")
    assert outcomes(failed) == {"test": "failed"}
    assert locations(failed, "test") == [("tests/test_calc.py", 5)]
    assert failed.verdict.action == "retry_developer"
    assert "tests/test_calc.py:5" in failed.feedback
    repos.edit(folder, "calc.py", "(a, b):", "(a, b:")
    compiled = [one for one in repository_checks(folder, {"preset": "python"}) if one.name == "compile"]
    broken = run_checks(folder, compiled)
    assert locations(broken, "compile") == [("calc.py", 1)]


@pytest.mark.usefixtures("own_python")
def test_python_without_tests_is_a_failure_with_its_own_outcome(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, {**repos.PYTHON, "tests/test_calc.py": ""})
    report = run(folder, "test")
    assert outcomes(report) == {"test": "nothing_collected"}
    assert not report.passed


@needs("go")
def test_go_passes_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    folder = repos.make(tmp_path, repos.GO)
    report = run(folder, "build", "vet", "test", "format")
    assert outcomes(report) == dict.fromkeys(("build", "vet", "test", "format"), "passed")
    repos.edit(folder, "calc_test.go", "!= 3", "!= 4")
    repos.edit(folder, "calc.go", "func Add", "func unused()   {}\n\nfunc Add")
    report = run(folder, "build", "vet", "test", "format")
    assert outcomes(report) == {
        "build": "passed",
        "vet": "passed",
        "test": "failed",
        "format": "failed",
    }
    assert locations(report, "test") == [("calc_test.go", 7)]
    assert locations(report, "format") == [("calc.go", 0)]
    repos.edit(folder, "calc.go", "return a + b", 'return "x"')
    report = run(folder, "build")
    assert locations(report, "build") == [("calc.go", 6)]


@needs("go")
def test_the_specification_s_go_preset_is_run_as_it_is_written(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, {**repos.GO, "scripts/ok.sh": "exit 0\n"})
    repos.edit(folder, "calc.go", "return a + b\n}", "return a + b\n}\n\nfunc Unused() int {\n\treturn 1\n}")
    config = {
        "preset": "go",
        "overrides": [{"name": "coverage", "required": True, "threshold": 80}, {"name": "lint", "required": False}],
        "additional": [{"name": "custom-check", "command": "sh scripts/ok.sh", "required": True}],
    }
    report = run_checks(folder, repository_checks(folder, config), CheckOptions())
    found = {result.name: result for result in report.results}
    assert list(found) == ["build", "vet", "lint", "test", "coverage", "custom-check"]
    assert (found["coverage"].outcome, found["coverage"].metric) == (Outcome.FAILED, 50.0)
    assert "below the threshold of 80" in found["coverage"].reason
    assert report.verdict.failed_required == ("coverage",)
    if shutil.which("golangci-lint") is None:
        assert found["lint"].outcome is Outcome.TOOL_MISSING
        assert report.verdict.warnings == ("lint",)


@works("cargo", "--version")
def test_rust_passes_and_fails(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, repos.RUST)
    report = run(folder, "build", "test")
    assert outcomes(report) == {"build": "passed", "test": "passed"}
    repos.edit(folder, "src/lib.rs", "1, 2), 3", "1, 2), 4")
    report = run(folder, "test")
    assert locations(report, "test") == [("src/lib.rs", 9)]
    repos.edit(folder, "src/lib.rs", "a + b", 'a + "b"')
    report = run(folder, "build")
    result = report.results[0]
    assert (result.findings[0].path, result.findings[0].line, result.findings[0].code) == ("src/lib.rs", 2, "E0277")


@needs("node", "npm")
def test_node_passes_and_fails(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, repos.NODE)
    assert outcomes(run(folder)) == {"test": "passed"}
    repos.edit(folder, "calc.test.js", "2), 3", "2), 4")
    report = run(folder)
    assert outcomes(report) == {"test": "failed"}
    assert locations(report, "test") == [("calc.test.js", 6)]


@needs("node", "npm")
def test_a_tool_of_node_that_is_not_installed_is_no_pass(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, {**repos.NODE, "tsconfig.json": "{}"})
    report = run(folder, "types")
    assert outcomes(report) == {"types": "tool_missing"}
    assert not report.passed


@needs("mvn", "javac")
@pytest.mark.skipif(
    not Path("~/.m2/repository/org/junit/jupiter").expanduser().is_dir(), reason="needs Maven's plugins"
)
def test_java_passes_and_fails(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, {**repos.JAVA, ".mvn/maven.config": "-o\n"})
    report = run(folder, "test")
    if "PluginResolutionException" in report.results[0].output or "offline mode" in report.results[0].output:
        pytest.skip("Maven's plugins are not all here")
    assert outcomes(report) == {"test": "passed"}
    repos.edit(folder, "src/test/java/x/CalcTest.java", "assertEquals(3", "assertEquals(4")
    report = run(folder, "test")
    assert locations(report, "test") == [("src/test/java/x/CalcTest.java", 8)]


@needs("gradle", "javac")
@pytest.mark.skipif(not Path("/usr/share/java/junit4.jar").is_file(), reason="needs Debian's JUnit")
def test_gradle_passes_fails_and_has_nothing_to_test(tmp_path: Path) -> None:
    folder = repos.make(tmp_path, repos.GRADLE)
    assert outcomes(run(folder, "test")) == {"test": "passed"}
    repos.edit(folder, "src/test/java/x/CalcTest.java", "assertEquals(3", "assertEquals(4")
    failed = run(folder, "test")
    assert outcomes(failed) == {"test": "failed"}
    assert locations(failed, "test") == [("src/test/java/x/CalcTest.java", 8)]
    bare = {name: text for name, text in repos.GRADLE.items() if "Test" not in name}
    assert outcomes(run(repos.make(tmp_path / "bare", bare), "test")) == {"test": "nothing_collected"}


@needs("gradle", "javac")
@pytest.mark.skipif(not Path("/usr/share/java/junit4.jar").is_file(), reason="needs Debian's JUnit")
def test_a_wrapper_at_the_root_of_several_gradle_projects(tmp_path: Path) -> None:
    """The wrapper, which lacks the permission to be executed, stands for one that fetches a Gradle of its own."""
    sources = {f"app/{name}": text for name, text in repos.GRADLE.items() if name.startswith(("src/", "build"))}
    files = {
        "settings.gradle": "include 'app'\n",
        "gradle.properties": repos.GRADLE["gradle.properties"],
        "gradlew": '#!/bin/sh\necho through the wrapper\nexec gradle --offline "$@"\n',
    }
    folder = repos.make(tmp_path, files | sources)
    passed = run(folder, "test")
    assert outcomes(passed) == {"test": "passed"}
    assert "through the wrapper" in passed.results[0].output
    repos.edit(folder, "app/src/test/java/x/CalcTest.java", "assertEquals(3", "assertEquals(4")
    failed = run(folder, "test")
    assert locations(failed, "test") == [("app/src/test/java/x/CalcTest.java", 8)]


@pytest.mark.parametrize(("manager", "lock"), [("pnpm", "pnpm-lock.yaml"), ("yarn", "yarn.lock"), ("bun", "bun.lock")])
def test_other_package_managers_pass_and_fail(tmp_path: Path, manager: str, lock: str) -> None:
    if shutil.which(manager) is None:
        pytest.skip(f"{manager} is not installed here")
    folder = repos.make(tmp_path, repos.NODE)
    # Nothing is fetched, as it depends on nothing; later versions of Yarn run no script before this.
    subprocess.run([manager, "install"], cwd=folder, capture_output=True, check=True)
    (folder / lock).touch()  # Bun writes none for a package without dependencies
    assert outcomes(run(folder, "test")) == {"test": "passed"}
    repos.edit(folder, "calc.test.js", "2), 3", "2), 4")
    failed = run(folder, "test")
    assert failed.results[0].command.startswith(manager)
    assert locations(failed, "test") == [("calc.test.js", 6)]


@needs("javac", "make")
def test_a_target_of_the_repository_comes_first(tmp_path: Path) -> None:
    makefile = "test:\n\tjavac -d out src/*.java\n\nfmt:\n\tfalse\n"
    folder = repos.make(tmp_path, {"Makefile": makefile, "build.gradle": "", "src/A.java": "class A { int x = 1; }\n"})
    checks = {check.name: check.command for check in repository_checks(folder)}
    assert checks["test"] == "make test"
    assert outcomes(run(folder, "test")) == {"test": "passed"}
    repos.edit(folder, "src/A.java", "= 1", '= "s"')
    assert locations(run(folder, "test"), "test") == [("src/A.java", 1)]


def test_git_is_here() -> None:
    assert subprocess.run(["git", "--version"], check=True, capture_output=True).stdout
