"""Configurations of checks, the files that hold them, what is detected in a repository, and the window of a run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.review.repositories import make
from tipstaff.errors import ConfigError, SourceError
from tipstaff.review import (
    CheckConfigError,
    ContextWindow,
    configured_checks,
    judge_checks,
    repository_checks,
    resolve_checks,
)
from tipstaff.review.checks.detection import detect_projects
from tipstaff.review.checks.facts import Facts
from tipstaff.review.checks.presets import load_preset, preset_checks, preset_names
from tipstaff.review.checks.targets import ci_checks
from tipstaff.review.config import read_config


def names(root: Path, config: object = None) -> dict[str, str]:
    return {check.name: check.command for check in repository_checks(root, config)}  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_is_sound(preset: str, tmp_path: Path) -> None:
    checks = resolve_checks({"preset": preset})
    assert checks
    for check in checks:
        assert "{" not in check.command.replace("{scratch}", "")
        assert not check.triggers  # nobody knows what a command reads
    # Every condition is of a known kind, also those of checks that are not proposed here.
    facts = Facts(tmp_path)
    for entry in load_preset(preset).checks:
        for condition in (*entry.when, *(one for variant in entry.variants for one in variant.when)):
            facts.holds(condition)
    assert preset_checks(load_preset(preset), facts) is not None


@pytest.mark.parametrize(
    ("config", "code", "words"),
    [
        ({"preset": "ruts"}, "unknown_preset", "did you mean 'rust'"),
        ({"preset": "go", "overrides": [{"name": "biuld"}]}, "unknown_override", "did you mean 'build'"),
        ({"preset": "go", "overrides": [{"name": "test", "treshold": 1}]}, "unknown_key", "did you mean 'threshold'"),
        ({"presets": "go"}, "unknown_key", "did you mean 'preset'"),
        ({"additional": [{"name": "x", "command": ""}]}, "missing_command", "no command"),
        ({"additional": [{"command": "x"}]}, "invalid_value", "no name"),
        ({"additional": [{"name": "x", "command": "y", "timeout": "5x"}]}, "invalid_value", "use 90s, 10m or 2h"),
        ({"additional": [{"name": "x", "command": "y", "threshold": 101}]}, "invalid_value", "percentage"),
        ({"additional": [{"name": "x", "command": "y", "required": "yes"}]}, "invalid_value", "bool"),
        (
            {"additional": [{"name": "x", "command": "y", "working_dir": "../z"}]},
            "invalid_value",
            "inside the repository",
        ),
        ({"additional": [{"name": "x", "command": "y", "triggers": ["a["]}]}, "invalid_value", "cannot be used"),
        ({"additional": [{"name": "x", "command": "y", "category": "tests"}]}, "invalid_value", "did you mean 'test'"),
        ({"additional": [{"name": "x", "command": "y", "empty_pattern": "("}]}, "invalid_value", "regular expression"),
        ({"additional": [{"name": "x", "command": 5}]}, "invalid_value", "must be a text"),
        ({"additional": "x"}, "invalid_value", "list of mappings"),
        ({"preset": ["go", "rust"]}, "duplicate_name", "same name"),
        ("go", "invalid_value", "expected a mapping"),
    ],
)
def test_configurations_that_cannot_be_meant(config: Any, code: str, words: str) -> None:
    with pytest.raises(CheckConfigError, match=words.replace("(", r"\(")) as caught:
        resolve_checks(config)
    assert caught.value.code == code


def test_fields_are_merged_one_by_one_and_aliases_are_read() -> None:
    checks = resolve_checks(
        {
            "preset": "go",
            "overrides": [{"name": "test", "timeout": "10m", "trigger": ["*.go"]}],
            "additional": [{"name": "x", "command": "y", "timeout": 5, "triggers": "*.sql"}],
        }
    )
    found = {check.name: check for check in checks}
    assert (found["test"].timeout_s, found["test"].command) == (600.0, "go test ./...")
    assert (found["x"].timeout_s, found["x"].triggers, found["x"].required) == (5.0, ("*.sql",), True)
    assert [check.name for check in resolve_checks([{"name": "a", "command": "b"}])] == ["a"]
    assert resolve_checks(None) == ()


SEED = """# .semspec/config.yaml
gates:
  preset: go  # Uses built-in Go preset
  overrides:
    - name: coverage
      required: true
      threshold: 80
  additional:
    - name: custom-check
      command: "./scripts/check-migrations.sh"
      required: true
other_program:
  key: value
"""


def test_the_specification_s_file_works_unchanged(tmp_path: Path) -> None:
    folder = make(tmp_path, {".semspec/config.yaml": SEED, "go.mod": "module x\n"}, git=False)
    checks = {check.name: check for check in configured_checks(folder)}
    assert list(checks) == ["build", "vet", "lint", "test", "coverage", "custom-check"]
    assert (checks["coverage"].required, checks["coverage"].threshold) == (True, 80)
    assert checks["coverage"].command == "go test -coverprofile=coverage.out ./..."


@pytest.mark.parametrize(
    ("name", "text", "where", "words"),
    [
        (
            "config.toml",
            "[checks]\npreset = 'go'\n\n[[checks.overrides]]\nname = 'tset'\n",
            ":5",
            "did you mean 'test'",
        ),
        ("config.toml", "x = = 1\n", ":1", "not valid TOML"),
        ("config.toml", "[chekcs]\n", ":1", "did you mean 'checks'"),
        ("config.toml", "[sizing]\nwindwo = 1\n", ":2", "did you mean 'window'"),
        (
            "config.toml",
            "[review]\nwindow = 1\n\n[sizing]\nwindow = '1'\n",
            ":5",
            r"window: Expected `int \| null`, got `str`",
        ),
        ("config.toml", "[sizing]\nwindow = 0\n", ":2", "window: Expected `int` >= 1; got 0"),
        ("config.toml", "[sizing]\nsweet_spot = true\n", ":2", "sweet_spot: Expected `int"),
        ("config.toml", "[sizing]\ntask_share = 1.5\n", ":2", "task_share: Expected `float` <= 1"),
        ("config.toml", "[sizing]\nsoft_files = 9\n", ":2", "soft_files <= hard_files, got 9 and 4"),
        ("config.toml", "[sizing]\nmodels = 3\n", ":2", "models: Expected `object`, got `int`"),
        (
            "config.toml",
            "[sizing.models.a]\nwindow = 2\n[sizing.models.b]\nwindow = 'x'\n",
            ":4",
            "models.b: window: Expected",
        ),
        ("config.toml", "[sizing.models.a]\nwindo = 2\n", ":2", "did you mean 'window'"),
        ("config.toml", "[review]\nreserve = -1\n", ":2", "reserve: Expected `int` >= 0"),
        ("config.toml", "[review]\nsops = 'docs'\n", ":2", r"sops: Expected `array \| null`, got `str`"),
        ("config.toml", "[review]\nledger = 3\n", ":2", "ledger: Expected `str"),
        ("config.toml", "review = 3\n", ":1", "review must be a table with window, reserve"),
        ("config.toml", "[checks]\njobs = 'many'\n", ":2", "jobs must be a whole number from 1 on, got 'many'"),
        ("config.toml", "[checks]\nmax_attempts = 0\n", ":2", "max_attempts must be a whole number from 1 on, got 0"),
        ("config.toml", "[checks]\nprefer_targets = 'no'\n", ":2", "prefer_targets must be true or false, got 'no'"),
        ("config.toml", "[checks]\npreset = 3\n", ":2", "preset must be a name or a list of names, got 3"),
        ("config.toml", "checks = 3\n", ":1", "expected a mapping with preset"),
        ("config.toml", "[gates]\n[checks]\n", ":1", "gates is another name for checks"),
        ("config.yaml", "checks:\n  preset: go\n  preset: rust\n", ":3", "the key 'preset' occurs twice"),
        ("config.yaml", "? [a, b]\n: 1\n", ":1", "unhashable key"),
        ("config.yaml", "checks:\n  preset: gos\n", ":2", "did you mean 'go'"),
        ("config.yaml", "checks: [\n", ":2", "not valid YAML"),
        ("config.yaml", "- a\n", "", "expected a mapping"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, name: str, text: str, where: str, words: str) -> None:
    make(tmp_path, {f".tipstaff/{name}": text}, git=False)
    with pytest.raises(ConfigError, match=words) as caught:
        configured_checks(tmp_path)
    assert str(caught.value).startswith(f".tipstaff/{name}{where}")


def test_a_configuration_that_is_not_text(tmp_path: Path) -> None:
    make(tmp_path, {".tipstaff/x": ""}, git=False)
    (tmp_path / ".tipstaff/config.toml").write_bytes(b"\xff")
    with pytest.raises(SourceError, match=r"config\.toml"):
        read_config(tmp_path)


def test_a_monorepo(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        {
            "web/package.json": '{"scripts": {"test": "vitest run", "build": "vite build"}}',
            "web/pnpm-lock.yaml": "",
            "api/pyproject.toml": "[project]\ndependencies = ['pytest>=8']\n[tool.mypy]\n",
            "tools/pyproject.toml": "[project]\n[dependency-groups]\ndev = ['pytest']\n",
            "node_modules/x/package.json": "{}",
            "docs/requirements.txt": "sphinx\n",
            ".hidden/go.mod": "",
        },
        git=False,
    )
    found = names(folder)
    assert found["web:test"] == "pnpm test"
    assert found["web:build"] == "pnpm run build"
    assert "api:test" in found
    assert found["api:types"].endswith("mypy --no-pretty .")
    assert "tools:test" in found
    assert not any(name.startswith(("node_modules", "docs", ".hidden")) for name in found)
    checks = {check.name: check for check in repository_checks(folder)}
    assert checks["web:test"].working_dir == "web"
    assert checks["web:test"].after == ("web:build",)
    assert "api:test" in names(folder, {"preset": "python", "overrides": [{"name": "api:test", "required": False}]})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"go.work": "", "a/go.mod": "", "b/go.mod": ""}, [("go", "")]),
        ({"go.mod": "", "a/go.mod": ""}, [("go", ""), ("go", "a")]),
        ({"Cargo.toml": "[workspace]\n", "a/Cargo.toml": ""}, [("rust", "")]),
        (
            {"package.json": '{"workspaces": ["a"], "scripts": {"test": "x"}}', "a/package.json": "{}"},
            [("node", "")],
        ),
        ({"package.json": '{"workspaces": ["a"]}', "a/package.json": "{}"}, [("node", ""), ("node", "a")]),
        (
            {"services/api/go.mod": "", "services/web/package.json": "{}"},
            [("go", "services/api"), ("node", "services/web")],
        ),
        ({"services/go.mod": "", "services/inner/go.mod": ""}, [("go", "services")]),
        ({"pom.xml": "<modules>", "a/pom.xml": ""}, [("java", "")]),
        ({"pyproject.toml": "", "Cargo.toml": ""}, [("python", ""), ("rust", "")]),
        ({"README.md": ""}, []),
    ],
)
def test_what_is_detected(tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str]]) -> None:
    found = detect_projects(make(tmp_path, files, git=False))
    assert [(project.preset, project.folder) for project in found] == expected


def test_what_a_ci_runs_is_what_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cargo", "mvn", "tox", "ruff", "npm", "make", "rake"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    table = [
        ("cargo fmt -- --check", ("format", "cargo fmt -- --check")),
        ("cargo clippy --all-features -- -Dwarnings", ("clippy", "cargo clippy --all-features -- -Dwarnings")),
        ('cargo test --locked "${FEATURES}"', None),  # values that only the CI has
        ("cargo test --all && cargo doc", None),
        ("cargo install cargo-audit", None),
        ("mvn verify javadoc:jar ${{ matrix.more || '' }}", ("test", "mvn verify javadoc:jar")),
        ("mvn clean test --projects a", None),  # it deletes what was built
        ("mvn test -P ${{ matrix.profile }}", None),
        ("uv run --locked --no-default-groups --group dev tox run", ("test", "tox run")),
        ("uv run -- ruff check .", ("lint", "ruff check .")),
        ("poetry run tox -e typing", ("types", "tox -e typing")),
        ("npm run test-ci", ("test", "npm run test-ci")),
        ("make lint", ("lint", "make lint")),
        ("bundle exec rake spec", ("test", None)),  # its program is not here
        ("rake spec", ("test", "rake spec")),
        ("echo run the tests", None),
    ]
    for number, (line, expected) in enumerate(table):
        folder = make(tmp_path / str(number), {}, git=False)
        (folder / ".github/workflows").mkdir(parents=True)
        text = f"on: push\njobs: {{a: {{steps: [{{run: {json.dumps(line)}}}]}}}}\n"
        (folder / ".github/workflows/ci.yml").write_text(text)
        found = [(purpose, command if program else None) for purpose, command, program in ci_checks(Facts(folder))]
        assert found == ([expected] if expected else []), line
    both = make(tmp_path / "both", {"pyproject.toml": "", "examples/a/pyproject.toml": ""}, git=False)
    assert [name for name in names(both) if "lint" in name] == ["lint"], "it looks at the files below as well"


def test_two_ecosystems_in_the_root_have_prefixes(tmp_path: Path) -> None:
    found = names(make(tmp_path, {"pyproject.toml": "", "Cargo.toml": "", "tests/x.py": ""}, git=False))
    assert {"python:test", "rust:test", "rust:clippy"} <= set(found)
    assert "test" not in found


@pytest.mark.parametrize(
    ("files", "name", "command"),
    [
        ({"package.json": '{"packageManager": "yarn@4.1.0", "scripts": {"test": "x"}}'}, "test", "yarn test"),
        # `bun test` would be Bun's own runner.
        ({"package.json": '{"scripts": {"test": "x"}}', "bun.lock": ""}, "test", "bun run test"),
        ({"package.json": '{"devDependencies": {"jest": "1"}}'}, "test", "npx --no-install jest"),
        (
            {"package.json": '{"devDependencies": {"vitest": "1"}}', "pnpm-lock.yaml": ""},
            "test",
            "pnpm exec vitest run",
        ),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, "test", None),
        ({"package.json": "{}", "biome.json": ""}, "lint", "npx --no-install biome check --reporter=github ."),
        ({"package.json": '{"scripts": {"lint": "x"}}', "eslint.config.js": ""}, "lint", "npm run lint"),
        ({"package.json": "{}", "tsconfig.json": ""}, "types", "npx --no-install tsc --noEmit"),
        ({"package.json": "not json", "tsconfig.json": ""}, "types", "npx --no-install tsc --noEmit"),
        ({"Cargo.toml": "", "Cargo.lock": ""}, "test", "cargo test --locked"),
        ({"pom.xml": "", "mvnw": ""}, "test", "./mvnw -B test"),
        ({"build.gradle.kts": "", "gradlew": ""}, "test", "./gradlew test"),
        ({"build.gradle.kts": "", "gradlew": "#!/bin/sh\n"}, "test", "sh ./gradlew test"),
        ({"settings.gradle.kts": "", "app/build.gradle.kts": "", "gradlew": ""}, "test", "./gradlew test"),
        ({"settings.gradle.kts": "", "app/build.gradle.kts": "", "gradlew": ""}, "app:test", None),
        ({"settings.gradle": "", "app/build.gradle": ""}, "test", "gradle test"),
        ({"backend/build.gradle.kts": "", "backend/gradlew": "", "go.mod": ""}, "backend:test", "./gradlew test"),
        (
            {"build.gradle.kts": 'plugins { id("jacoco") }', "gradlew": ""},
            "coverage",
            "./gradlew check jacocoTestReport",
        ),
        ({"build.gradle.kts": "plugins { checkstyle }", "gradlew": ""}, "style", "./gradlew checkstyleMain"),
        ({"pyproject.toml": "[tool.pyright]\n"}, "types", "pyright"),
        ({"pyproject.toml": "[tool.black]\n"}, "format", "black --check ."),
        ({"setup.py": "", ".flake8": ""}, "lint", None if shutil.which("ruff") else "flake8"),
    ],
)
def test_tools_of_a_project(tmp_path: Path, files: dict[str, str], name: str, command: str | None) -> None:
    found = names(make(tmp_path, files, git=False))
    if command is None and name == "lint":
        assert "lint" in found
    else:
        assert found.get(name) == command


def test_a_preset_that_is_named_reads_the_reports_of_the_build_tool(tmp_path: Path) -> None:
    folder = make(tmp_path, {"build.gradle.kts": "", "gradlew": ""}, git=False)
    named = {check.name: check for check in repository_checks(folder, {"preset": "java"})}
    found = {check.name: check for check in repository_checks(folder)}
    assert named["test"].reports == found["test"].reports == ("**/build/test-results/*/*.xml",)
    assert (named["test"].command, named["resolve"].command) == ("./gradlew test", "./gradlew dependencies -q")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed here")
def test_targets_of_a_makefile_come_first_and_formatters_do_not(tmp_path: Path) -> None:
    makefile = (
        "VAR := 1\nBUILD_DIR = x\ntest: build\n\tgo test\nbuild:\n\tgo build\nfmt:\n\tgofmt -w .\nlint : build\n\tx\n"
    )
    folder = make(tmp_path, {"go.mod": "", "Makefile": makefile}, git=False)
    found = names(folder)
    assert (found["test"], found["build"], found["format"]) == ("make test", "make build", found["format"])
    assert "gofmt -l" in found["format"]
    assert names(folder, {"preset": "go"})["test"] == "go test ./..."
    assert names(folder, {"preset": "go", "prefer_targets": True})["test"] == "make test"


def test_attempts_are_counted_from_one() -> None:
    with pytest.raises(ConfigError, match="counted from 1"):
        judge_checks([], {}, attempt=0)


operations = st.lists(
    st.tuples(
        st.sampled_from(["system_prompt", "compacted_history", "hydrated_context", "recent_history", "tool_results"]),
        st.integers(0, 500),
        st.integers(0, 3),
    ),
    max_size=20,
)


def call(name: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}}]}


def result(name: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "x" * 400}]}


@given(operations, st.integers(0, 2_000), st.integers(1, 9))
def test_eviction_drops_no_more_than_needed_and_keeps_pairs(
    many: list[tuple[str, int, int]], budget: int, iteration: int
) -> None:
    window = ContextWindow(8_000)
    for region, size, kind in many:
        if kind == 3 and region in {"recent_history", "tool_results"}:
            name = f"call{window.total}-{len(window.order())}"
            window.add("recent_history", call(name))
            window.add("tool_results", result(name))
        else:
            window.add(region, "x" * size)
        if kind == 2:
            window.advance()
    before = {entry.index: entry for entry in window.entries()}
    window.gc(max(iteration, window.iteration))
    dropped = window.evict(budget)
    left = {entry.index: entry for entry in window.entries()}
    assert window.total == sum(entry.tokens for entry in left.values())
    assert all(index in left for index, entry in before.items() if entry.region == "system_prompt")
    assert window.total <= budget or all(entry.region == "system_prompt" for entry in left.values())
    links = [link for entry in left.values() for link in entry.links]
    assert all(links.count(link) == 2 for link in links)
    if dropped:
        last = before[dropped[-1]]
        partners = sum(before[one].tokens for one in dropped if one in before and before[one].links & last.links)
        assert window.total + max(last.tokens, partners) > budget


@pytest.mark.parametrize(
    "given_",
    [
        {"limit": 0},
        {"limit": 8, "headroom": -1},
        {"limit": 8, "threshold": 0},
        {"limit": 8, "threshold": 1.1},
        {"limit": 8, "tool_result_max_age": 0},
    ],
)
def test_windows_that_cannot_be(given_: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ContextWindow(**given_)
    with pytest.raises(ConfigError, match="region"):
        ContextWindow(8).add("nowhere", "x")
