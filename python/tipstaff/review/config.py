"""The configuration of a repository's review: ``.tipstaff/config.toml``, or the specification's YAML form.

=============================  ===========================================================
``.tipstaff/config.toml``      ``[checks]``, ``[sizing]``, ``[review]``
``.tipstaff/config.yaml``      the same keys; ``gates`` is accepted for ``checks``
``.semspec/config.yaml``       ``gates``; everything else in it belongs to another program
=============================  ===========================================================

The first that exists is read. Errors name the file and the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from tipstaff.errors import ConfigError, SourceError
from tipstaff.model import Record
from tipstaff.review.names import nearest
from tipstaff.review.sizing.budget import SOP_RESERVE_TOKENS, SizingConfig
from tipstaff.store.untrusted import read_untrusted

FILES: Final = (".tipstaff/config.toml", ".tipstaff/config.yaml", ".tipstaff/config.yml", ".semspec/config.yaml")
TABLES: Final = ("checks", "gates", "sizing", "review")
MAX_CONFIG_BYTES: Final = 1_000_000

_Tokens = Annotated[int, msgspec.Meta(gt=0)]
_Kind = TypeVar("_Kind", bound=Record)
_Count = Annotated[int, msgspec.Meta(ge=0)]


class ModelTable(Record, frozen=True, kw_only=True):
    """One of ``[sizing.models]``; ``max_tokens`` is the specification's name for ``window``."""

    window: _Tokens | None = None
    max_tokens: _Tokens | None = None
    sweet_spot: _Tokens | None = None


class SizingTable(Record, frozen=True, kw_only=True):
    """``[sizing]``: windows in tokens, limits of a task."""

    window: _Tokens | None = None
    sweet_spot: _Tokens | None = None
    task_share: Annotated[float, msgspec.Meta(gt=0, le=1)] = SizingConfig().task_share
    soft_files: _Count = SizingConfig().soft_files
    hard_files: _Count = SizingConfig().hard_files
    models: dict[str, ModelTable] = msgspec.field(default_factory=dict[str, ModelTable])


class ReviewTable(Record, frozen=True, kw_only=True):
    """``[review]``: tokens, folders and files relative to the repository, the URL of a ledger."""

    window: _Tokens | None = None
    reserve: _Count = SOP_RESERVE_TOKENS
    sops: tuple[str, ...] | None = None
    decisions: tuple[str, ...] | None = None
    conventions: tuple[str, ...] | None = None
    ledger: str | None = None


class ReviewConfig(Record, frozen=True, kw_only=True):
    """What a configuration file says.

    Attributes
    ----------
    path
        The file, relative to the repository; empty where there is none.
    text
        Its text.
    checks, sizing, review
        Its tables; `checks` is None where it has none.
    """

    path: str = ""
    text: str = ""
    checks: Any = None
    sizing: SizingTable = SizingTable()
    review: ReviewTable = ReviewTable()

    @property
    def limits(self) -> SizingConfig:
        """What the configuration tunes in the sizing of tasks."""
        table = self.sizing
        return SizingConfig(
            task_share=table.task_share,
            soft_files=table.soft_files,
            hard_files=table.hard_files,
            sop_reserve=self.review.reserve,
        )

    def line_of(self, words: str) -> int:
        """Return the line, from 1 on, in which words occur first; 0 where they do not."""
        at = self.text.find(words)
        return 0 if at < 0 else self.text.count("\n", 0, at) + 1

    def line_of_key(self, *keys: str) -> int:
        """Return the line of a key in a table; that of the last of them that is found, 0 for none."""
        at = line = 0
        rest = keys
        for count in range(len(keys), 0, -1):
            header = r"[ \t]*\.[ \t]*".join(map(re.escape, keys[:count]))
            found = re.search(rf"^[ \t]*\[+[ \t]*{header}[ \t]*\]", self.text, re.MULTILINE)
            if found is not None:
                at, rest = found.end(), keys[count:]
                line = self.text.count("\n", 0, at) + 1
                break
        for key in rest:
            found = re.compile(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=:.]", re.MULTILINE).search(self.text, at)
            if found is None:
                break
            at = found.end()
            line = self.text.count("\n", 0, at) + 1
        return line


def read_config(root: Path) -> ReviewConfig:
    """Return the configuration of a repository; an empty one where it has no file.

    Raises
    ------
    ConfigError
        If the file is not valid TOML or YAML, or has an unknown key.
    SourceError
        If it cannot be read.
    """
    for name in FILES:
        path = root / name
        if not path.is_file():
            continue
        try:
            data = read_untrusted(path)
        except OSError as error:
            raise SourceError(f"{name}: cannot be read: {error}") from error
        return parse_config(name, data)
    return ReviewConfig()


def parse_config(name: str, data: bytes) -> ReviewConfig:
    """Return what the bytes of a configuration file say; `name` is one of `FILES`. Raises as `read_config`."""
    if len(data) > MAX_CONFIG_BYTES:
        raise SourceError(f"{name}: larger than {MAX_CONFIG_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{name}: cannot be read: {error}") from error
    return _checked(name, text, _toml(name, text) if name.endswith(".toml") else _yaml(name, text))


def _toml(name: str, text: str) -> object:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"{name}{f':{where[1]}' if where else ''}: not valid TOML: {error}") from None


def _yaml(name: str, text: str) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        refuse_repeated_keys(yaml.compose(text, Loader=loader))
        return yaml.load(text, Loader=loader)  # noqa: S506 - the safe loader, in C
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        detail = getattr(error, "problem", None) or type(error).__name__
        msg = f"{name}{f':{mark.line + 1}' if mark is not None else ''}: not valid YAML: {detail}"
        raise ConfigError(msg) from None


def refuse_repeated_keys(root: Any) -> None:
    """Raise an error of YAML where a mapping has a key twice: the loader would silently take the last."""
    import yaml

    waiting = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:  # an alias is the node that it stands for
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in keys and isinstance(key, yaml.ScalarNode) and name != "<<":
                    problem = f"the key {name!r} occurs twice"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                keys.add(name)
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)


def _checked(name: str, text: str, content: object) -> ReviewConfig:
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        raise ConfigError(f"{name}: expected a mapping with {', '.join(TABLES)}, got a {type(content).__name__}")
    tables = cast("Mapping[str, Any]", content)
    bare = ReviewConfig(path=name, text=text)
    if not name.startswith(".semspec/"):
        for key in tables:
            if key not in TABLES:
                raise ConfigError(f"{name}:{bare.line_of(str(key))}: unknown table {key!r}{nearest(str(key), TABLES)}")
        if "checks" in tables and "gates" in tables:
            raise ConfigError(f"{name}:{bare.line_of_key('gates')}: gates is another name for checks; use one of them")
        bare = bare.replace(
            sizing=_table(bare, SizingTable, tables.get("sizing"), "sizing"),
            review=_table(bare, ReviewTable, tables.get("review"), "review"),
        )
    try:
        _ = bare.limits
    except ConfigError as error:
        raise ConfigError(f"{name}:{bare.line_of_key('sizing', 'soft_files')}: sizing: {error}") from None
    return bare.replace(checks=tables.get("checks", tables.get("gates")))


def _table(config: ReviewConfig, kind: type[_Kind], value: object, *keys: str) -> _Kind:
    """Return a table of the configuration, each of its values checked."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    where = ".".join(keys)
    if value is None:
        return kind()
    if not isinstance(value, Mapping):
        msg = f"{config.path}:{config.line_of_key(*keys)}: {where} must be a table with {', '.join(fields)}"
        raise ConfigError(msg)
    found: dict[str, Any] = {}
    for key, one in cast("Mapping[str, object]", value).items():
        line = config.line_of_key(*keys, str(key))
        if key not in fields:
            raise ConfigError(f"{config.path}:{line}: {where}: unknown key {key!r}{nearest(str(key), tuple(fields))}")
        if key == "models" and isinstance(one, Mapping):
            models = cast("Mapping[str, object]", one)
            found[key] = {name: _table(config, ModelTable, about, *keys, key, name) for name, about in models.items()}
            continue
        try:
            found[key] = msgspec.convert(one, fields[key])
        except msgspec.ValidationError as error:
            raise ConfigError(f"{config.path}:{line}: {where}: {key}: {error}; got {one!r}") from None
    return kind(**found)
