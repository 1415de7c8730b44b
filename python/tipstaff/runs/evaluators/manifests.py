"""Dependencies named in the manifests and lock files of the common ecosystems.

A dependency is ``ecosystem:name`` in the ecosystem's own normal form (``npm:left-pad``, ``pypi:zope-interface``). A
file that cannot be read as its format names nothing it does not name for certain; it is reported.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast
from xml.etree import ElementTree as Xml

import yaml

from tipstaff.store.git import run_git
from tipstaff.store.untrusted import read_untrusted_text

MAX_BYTES: Final = 64 << 20
_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@#,]|$|\()")
_PYPI_DASHES: Final = re.compile(r"[-_.]+")
_EGG: Final = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO_LINE: Final = re.compile(r"(?:require\s+)?([^\s/]+\.[^\s/]+(?:/\S+)?)\s+v\S+")
_GEM: Final = re.compile(r"""\s*gem\s*\(?\s*["']([^"']+)["']""")
_GEM_LOCKED: Final = re.compile(r" {4}([A-Za-z0-9_.-]+) \(")
_YARN_KEY: Final = re.compile(r'^"?(@?[^@"\s]+)@')
_YARN_ALIAS: Final = re.compile(r"@npm:(@?[^@\s\",]+)@")
_GRADLE: Final = re.compile(r"""\b(?:api|implementation|compile|compileOnly|runtimeOnly|testImplementation|kapt|ksp|annotationProcessor|classpath)\b[\s(]*(?:(?:enforcedP|p)latform\s*\(\s*)?["']([\w.-]+:[\w.-]+)""")  # fmt: skip  # noqa: E501
_GRADLE_PARTS: Final = re.compile(r"""\bgroup\s*[:=]\s*["']([\w.-]+)["']\s*,\s*(?:name|module)\s*[:=]\s*["']([\w.-]+)["']""")  # fmt: skip  # noqa: E501
_GEMSPEC: Final = re.compile(r"""\.add_(?:runtime_|development_)?dependency\s*\(?\s*["']([^"']+)["']""")
_NUGET: Final = re.compile(r"""<(?:PackageReference|package|PackageVersion)\b[^>]*?\b(?:Include|id)\s*=\s*["']([^"']+)""", re.IGNORECASE)  # fmt: skip  # noqa: E501


class UnreadManifestError(ValueError):
    """A manifest is not of the format that its name implies."""


def dependencies_of(name: str, text: str) -> frozenset[str]:
    """Return the dependencies that a file names.

    Parameters
    ----------
    name
        Its path; the last part decides the format. Other files name none.
    text
        Its content.

    Raises
    ------
    UnreadManifestError
        It is not in the format that its name says.
    """
    reader = _reader_of(name)
    if reader is None:
        return frozenset()
    try:
        return frozenset(reader(text))
    except (ValueError, TypeError, AttributeError, yaml.YAMLError, Xml.ParseError, RecursionError) as error:
        raise UnreadManifestError(f"{name}: {' '.join(str(error).split())[:200]}") from error


def is_manifest(path: str) -> bool:
    """Return whether a path is a manifest or a lock file by its name."""
    return _reader_of(path) is not None


def dependencies_added(
    root: Path, files: Iterable[str], *, base: str = "HEAD"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Compare the manifests among files with what they were in git.

    Parameters
    ----------
    root
        The repository.
    files
        Paths relative to it; those that are not manifests cost nothing.
    base
        The commit to compare with; a file that it lacks named no dependency before.

    Returns
    -------
    added, unread
        Dependencies that are named now and were not, sorted; why files could not be read.
    """
    added: set[str] = set()
    unread: list[str] = []
    for name in sorted({name for name in files if is_manifest(name)}):
        if not (root / name).exists():  # one that was removed adds nothing
            continue
        try:
            after = dependencies_of(name, _text_of(root / name))
        except UnreadManifestError as error:
            unread.append(str(error))
            continue
        try:
            before = dependencies_of(name, _committed(root, name, base))
        except UnreadManifestError:
            before = frozenset()
        added |= after - before
    return tuple(sorted(added)), tuple(unread)


def matches_package(dependency: str, forbidden: str) -> bool:
    """Return whether a dependency is a forbidden package, named with or without its ecosystem."""
    ecosystem, _, name = dependency.partition(":")
    wanted, colon, rest = forbidden.partition(":")
    if colon and wanted in ECOSYSTEMS:
        return ecosystem == wanted and name == normal_name(wanted, rest)
    return name == normal_name(ecosystem, forbidden)


# -- formats -----------------------------------------------------------------------------------------------------------


def normal_name(ecosystem: str, name: str) -> str:
    """Return a package's name in the normal form of its ecosystem."""
    folded = name.strip().lower()
    return _PYPI_DASHES.sub("-", folded) if ecosystem == "pypi" else folded


def _named(ecosystem: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name:
            yield f"{ecosystem}:{normal_name(ecosystem, name)}"


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _package_json(text: str) -> Iterator[str]:
    data = _table(json.loads(text))
    for part in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
        for name, version in _table(data.get(part)).items():
            # "alias": "npm:real@1.2.3"
            yield from _named("npm", [name, _aliased(version)])
    # What stands for another package wherever it is named: overrides of npm and pnpm, resolutions of yarn.
    stack = [_table(data.get("overrides")), _table(data.get("resolutions"))]
    stack.append(_table(_table(data.get("pnpm")).get("overrides")))
    while stack:
        for name, version in stack.pop().items():
            yield from _named("npm", [_aliased(version)])
            if isinstance(version, Mapping):
                stack.append(_table(version))
            elif name != ".":
                yield from _named("npm", [name.rpartition("/**/")[2].rpartition(">")[2]])


def _aliased(version: Any) -> str:
    """Return the package that a version of npm's names: ``npm:real@1.2.3``."""
    if not isinstance(version, str) or not version.startswith("npm:"):
        return ""
    name = version[4:]
    return name[: name.rfind("@")] if name.rfind("@") > 0 else name


def _bun_lock(text: str) -> Iterator[str]:
    for name, about in _table(_table(_yaml(text)).get("packages")).items():
        items: list[Any] = about if isinstance(about, list) else []
        real = str(items[0]).rpartition("@")[0] if items else ""
        yield from _named(
            "npm", [name.rpartition("/")[2] if not name.rpartition("/")[0].startswith("@") else name, real]
        )


def _package_lock(text: str) -> Iterator[str]:
    data = _table(json.loads(text))
    for path, about in _table(data.get("packages")).items():
        yield from _named("npm", [path.rpartition("node_modules/")[2] if "node_modules/" in path else ""])
        yield from _named("npm", [str(_table(about).get("name", "")) if "node_modules/" in path else ""])
    stack = [_table(data.get("dependencies"))]
    while stack:
        for name, about in stack.pop().items():
            yield from _named("npm", [name])
            stack.append(_table(_table(about).get("dependencies")))


def _yarn_lock(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line and not line.startswith((" ", "#", "__metadata")):
            match = _YARN_KEY.match(line)
            if match:
                yield from _named("npm", [match[1]])
            yield from _named("npm", _YARN_ALIAS.findall(line))


def _pnpm_lock(text: str) -> Iterator[str]:
    data = _table(_yaml(text))
    for key in _table(data.get("packages")):
        path = key.lstrip("/").partition("(")[0]
        scope, name = ("@", path[1:]) if path.startswith("@") else ("", path)
        yield from _named("npm", [scope + name.partition("@")[0]])


def _requirements(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        bare = line.partition(" #")[0].strip()
        egg = _EGG.search(bare)
        if egg:
            yield from _named("pypi", [egg[1]])
        elif bare and not bare.startswith(("-", "#")):
            yield from _pypi(bare)


def _pypi(requirement: Any) -> Iterator[str]:
    match = _REQUIREMENT.match(requirement) if isinstance(requirement, str) else None
    if match:
        yield from _named("pypi", [match[1]])


def _pyproject(text: str) -> Iterator[str]:
    data = tomllib.loads(text)
    project = _table(data.get("project"))
    lists: list[Any] = [project.get("dependencies"), _table(data.get("build-system")).get("requires")]
    lists += [*_table(project.get("optional-dependencies")).values(), *_table(data.get("dependency-groups")).values()]
    for requirements in lists:
        for one in requirements or ():
            yield from _pypi(one)
    tool = _table(data.get("tool"))
    poetry = _table(tool.get("poetry"))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [_table(group).get("dependencies") for group in _table(poetry.get("group")).values()]
    for table in tables:
        yield from _named("pypi", [name for name in _table(table) if name.lower() != "python"])
    for one in _table(tool.get("uv")).get("dev-dependencies") or ():
        yield from _pypi(one)


def _toml_packages(ecosystem: str) -> Callable[[str], Iterator[str]]:
    def read(text: str) -> Iterator[str]:
        for package in tomllib.loads(text).get("package", ()):
            yield from _named(ecosystem, [str(_table(package).get("name", ""))])

    return read


def _pipfile(text: str) -> Iterator[str]:
    data = tomllib.loads(text)
    for part in ("packages", "dev-packages"):
        yield from _named("pypi", _table(data.get(part)))


def _pipfile_lock(text: str) -> Iterator[str]:
    data = _table(json.loads(text))
    for part in ("default", "develop"):
        yield from _named("pypi", _table(data.get(part)))


def _cargo_toml(text: str) -> Iterator[str]:
    data = tomllib.loads(text)
    tables = [data, _table(data.get("workspace")), *_table(data.get("target")).values()]
    for table in tables:
        for part in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, about in _table(_table(table).get(part)).items():
                yield from _named("crates", [name, str(_table(about).get("package", ""))])


def _go_mod(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = _GO_LINE.match(line.strip())
        if match:
            yield from _named("go", [match[1]])


def _gemfile(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = _GEM.match(line)
        if match:
            yield from _named("gems", [match[1]])


def _gemspec(text: str) -> Iterator[str]:
    yield from _named("gems", _GEMSPEC.findall(text))


_SETUP_KEYS: Final = ("install_requires", "setup_requires", "tests_require", "extras_require")


def _setup_cfg(text: str) -> Iterator[str]:
    reader = configparser.ConfigParser(interpolation=None, strict=False)
    reader.read_string(text)
    parts = [reader.get("options", key, fallback="") for key in _SETUP_KEYS]
    if reader.has_section("options.extras_require"):
        parts += [value for _, value in reader.items("options.extras_require")]
    for part in parts:
        yield from _requirements(part.replace(";", "\n") if "\n" not in part else part)


def _setup_py(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg in {
            "install_requires",
            "extras_require",
            "setup_requires",
            "tests_require",
        }:
            for one in ast.walk(node.value):
                if isinstance(one, ast.Constant):
                    yield from _pypi(one.value)


def _conda(text: str) -> Iterator[str]:
    for one in _table(_yaml(text)).get("dependencies") or ():
        if isinstance(one, str):
            yield from _named("conda", [re.split(r"[\s=<>!]", one.rpartition("::")[2])[0]])
        for requirement in _table(one).get("pip") or ():
            yield from _pypi(requirement)


def _gemfile_lock(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = _GEM_LOCKED.match(line)
        if match:
            yield from _named("gems", [match[1]])


def _composer(text: str) -> Iterator[str]:
    data = _table(json.loads(text))
    for part in ("require", "require-dev"):
        yield from _named("packagist", [name for name in _table(data.get(part)) if "/" in name])
    for part in ("packages", "packages-dev"):
        for package in data.get(part) or ():
            yield from _named("packagist", [str(_table(package).get("name", ""))])


def _pom(text: str) -> Iterator[str]:
    for dependency in _xml(text).iter():
        if dependency.tag.rpartition("}")[2] in {"dependency", "plugin"}:
            parts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in dependency}
            if parts.get("artifactId"):
                yield from _named("maven", [f"{parts.get('groupId', '')}:{parts['artifactId']}", parts["artifactId"]])


def _gradle(text: str) -> Iterator[str]:
    for match in _GRADLE.finditer(text):
        yield from _named("maven", [match[1], match[1].partition(":")[2]])
    for group, name in _GRADLE_PARTS.findall(text):
        yield from _named("maven", [f"{group}:{name}", name])


def _version_catalog(text: str) -> Iterator[str]:
    for about in _table(tomllib.loads(text).get("libraries")).values():
        table = _table(about)
        module = about if isinstance(about, str) else table.get("module") or f"{table.get('group')}:{table.get('name')}"
        group, name = [*str(module).split(":"), ""][:2]
        yield from _named("maven", [f"{group}:{name}", name] if name else [])


def _nuget(text: str) -> Iterator[str]:
    for match in _NUGET.finditer(text):
        yield from _named("nuget", [match[1]])


def _pubspec(text: str) -> Iterator[str]:
    data = _table(_yaml(text))
    for part in ("dependencies", "dev_dependencies", "packages"):
        yield from _named("pub", _table(data.get(part)))


def _yaml(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader


def _xml(text: str) -> Xml.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a document type is not read")
    return Xml.fromstring(text)  # noqa: S314 - without entities there is nothing to expand


_READERS: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "package.json": _package_json,
    "package-lock.json": _package_lock,
    "npm-shrinkwrap.json": _package_lock,
    "yarn.lock": _yarn_lock,
    "pnpm-lock.yaml": _pnpm_lock,
    "bun.lock": _bun_lock,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "environment.yml": _conda,
    "environment.yaml": _conda,
    "pyproject.toml": _pyproject,
    "poetry.lock": _toml_packages("pypi"),
    "uv.lock": _toml_packages("pypi"),
    "pdm.lock": _toml_packages("pypi"),
    "pipfile": _pipfile,
    "pipfile.lock": _pipfile_lock,
    "cargo.toml": _cargo_toml,
    "cargo.lock": _toml_packages("crates"),
    "go.mod": _go_mod,
    "go.sum": _go_mod,
    "gemfile": _gemfile,
    "gemfile.lock": _gemfile_lock,
    "composer.json": _composer,
    "composer.lock": _composer,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "packages.config": _nuget,
    "directory.packages.props": _nuget,
    "pubspec.yaml": _pubspec,
    "pubspec.lock": _pubspec,
}
_BY_ENDING: Final = (
    (".gemspec", _gemspec), (".versions.toml", _version_catalog),
    (".csproj", _nuget), (".fsproj", _nuget), (".vbproj", _nuget),
)  # fmt: skip
ECOSYSTEMS: Final = frozenset({"npm", "pypi", "crates", "go", "gems", "packagist", "maven", "nuget", "pub", "conda"})


def _reader_of(path: str) -> Callable[[str], Iterator[str]] | None:
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if name in _READERS:
        return _READERS[name]
    folder = path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2].lower()
    if name.endswith((".txt", ".in")) and any(
        word in name or word == folder for word in ("requirements", "constraints")
    ):
        return _requirements
    return next((reader for ending, reader in _BY_ENDING if name.endswith(ending)), None)


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UnreadManifestError(f"{path.name}: larger than {MAX_BYTES >> 20} MiB")
        return read_untrusted_text(path, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UnreadManifestError(f"{path.name}: {error.strerror}") from error


def _committed(root: Path, name: str, base: str) -> str:
    """Return a file's content in a commit, empty where it is not in it (or there is no git)."""
    return (run_git(root, "show", f"{base}:./{name}", timeout=30) or b"").decode("utf-8", "replace")
