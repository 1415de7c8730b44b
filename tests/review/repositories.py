"""Small repositories of each ecosystem, made for a test: a passing form and what makes them fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>x</groupId><artifactId>calc</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency>
    <groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.10.2</version><scope>test</scope>
  </dependency></dependencies>
  <build><pluginManagement><plugins>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
  </plugins></pluginManagement></build>
</project>
"""

PYTHON = {
    "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\ndependencies = ["pytest"]\n\n[tool.ruff]\n',
    "conftest.py": "",
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}
GO = {
    "go.mod": "module example.com/calc\n\ngo 1.19\n",
    "calc.go": "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n",
    "calc_test.go": (
        'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n'
        '\t\tt.Errorf("got %d", Add(1, 2))\n\t}\n}\n'
    ),
}
RUST = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    ".gitignore": "target\n",
    "src/lib.rs": (
        "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n"
        "    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n"
    ),
}
NODE = {
    "package.json": '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}\n',
    "calc.js": "exports.add = (a, b) => a + b;\n",
    "calc.test.js": (
        'const test = require("node:test");\nconst assert = require("node:assert");\nconst { add } = require("./calc.js");\n\n'
        'test("adds", () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n'
    ),
}
JAVA = {
    "pom.xml": POM,
    ".gitignore": "target/\n",
    "src/main/java/x/Calc.java": (
        "package x;\n\npublic class Calc {\n    public static int add(int a, int b) {\n        return a + b;\n    }\n}\n"
    ),
    "src/test/java/x/CalcTest.java": (
        "package x;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\npublic class CalcTest {\n"
        "    @org.junit.jupiter.api.Test\n    public void adds() {\n        assertEquals(3, Calc.add(1, 2));\n    }\n}\n"
    ),
}

GRADLE = {
    "build.gradle": (
        "apply plugin: 'java'\n\ndef kind = gradle.gradleVersion.startsWith('4') ? 'testCompile' : 'testImplementation'\n"
        "dependencies.add(kind, files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar'))\n"
    ),
    "settings.gradle": "rootProject.name = 'calc'\n",
    "gradle.properties": "org.gradle.daemon=false\n",
    ".gitignore": ".gradle/\nbuild/\n",
    "src/main/java/x/Calc.java": JAVA["src/main/java/x/Calc.java"],
    "src/test/java/x/CalcTest.java": (
        "package x;\n\nimport static org.junit.Assert.assertEquals;\n\npublic class CalcTest {\n"
        "    @org.junit.Test\n    public void adds() {\n        assertEquals(3, Calc.add(1, 2));\n    }\n}\n"
    ),
}
"""With the libraries that Debian installs, so that nothing is fetched."""


def make(folder: Path, files: Mapping[str, str], *, git: bool = True) -> Path:
    """Write files below a folder, as a git repository where asked, and return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if git:
        run_git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, message: str = "work") -> None:
    """Commit everything."""
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", message)


def run_git(folder: Path, *arguments: str) -> str:
    """Run git without the user's configuration."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment)
    return done.stdout.decode()


def edit(folder: Path, name: str, old: str, new: str) -> None:
    """Replace text in a file that must have it."""
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
