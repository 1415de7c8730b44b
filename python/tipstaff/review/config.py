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
from typing import Any, Final, cast

import msgspec

from tipstaff.errors import ConfigError, SourceError
from tipstaff.model import Record
from tipstaff.review.names import nearest

FILES: Final = (".tipstaff/config.toml", ".tipstaff/config.yaml", ".tipstaff/config.yml", ".semspec/config.yaml")
TABLES: Final = ("checks", "gates", "sizing", "review")
SIZING_KEYS: Final = ("window", "sweet_spot", "task_share", "soft_files", "hard_files", "models")
REVIEW_KEYS: Final = ("window", "reserve", "sops", "decisions", "conventions", "ledger")
MAX_CONFIG_BYTES: Final = 1_000_000


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
    sizing: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    review: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])

    def line_of(self, words: str) -> int:
        """Return the line, from 1 on, in which words occur first; 0 where they do not."""
        at = self.text.find(words)
        return 0 if at < 0 else self.text.count("\n", 0, at) + 1


def read_config(root: Path) -> ReviewConfig:
    """Return the configuration of a repository; an empty one where it has no file.

    Raises
    ------
    ConfigError
        If the file is not valid TOML or YAML, or has a key that nobody knows.
    SourceError
        If it cannot be read.
    """
    for name in FILES:
        path = root / name
        if not path.is_file():
            continue
        try:
            data = path.read_bytes()
            text = data.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{name}: cannot be read: {error}"
            raise SourceError(msg) from error
        if len(data) > MAX_CONFIG_BYTES:
            msg = f"{name}: larger than {MAX_CONFIG_BYTES:,} bytes"
            raise SourceError(msg)
        content = _toml(name, text) if name.endswith(".toml") else _yaml(name, text)
        return _checked(name, text, content)
    return ReviewConfig()


def _toml(name: str, text: str) -> object:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = re.search(r"at line (\d+)", str(error))
        msg = f"{name}{f':{where[1]}' if where else ''}: not valid TOML: {error}"
        raise ConfigError(msg) from None


def _yaml(name: str, text: str) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - the safe loader, in C
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        detail = getattr(error, "problem", None) or type(error).__name__
        msg = f"{name}{f':{mark.line + 1}' if mark is not None else ''}: not valid YAML: {detail}"
        raise ConfigError(msg) from None


def _checked(name: str, text: str, content: object) -> ReviewConfig:
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        msg = f"{name}: expected a mapping with {', '.join(TABLES)}, got a {type(content).__name__}"
        raise ConfigError(msg)
    tables = cast("Mapping[str, Any]", content)
    bare = ReviewConfig(path=name, text=text)
    if not name.startswith(".semspec/"):
        for key in tables:
            if key not in TABLES:
                msg = f"{name}:{bare.line_of(str(key))}: unknown table {key!r}{nearest(str(key), TABLES)}"
                raise ConfigError(msg)
    checks = tables.get("checks", tables.get("gates"))
    found: dict[str, dict[str, Any]] = {}
    for table, keys in (("sizing", SIZING_KEYS), ("review", REVIEW_KEYS)):
        value: Any = tables.get(table) or {} if not name.startswith(".semspec/") else {}
        if not isinstance(value, Mapping):
            msg = f"{name}:{bare.line_of(table)}: {table} must be a table with {', '.join(keys)}"
            raise ConfigError(msg)
        for key in value:
            if key not in keys:
                msg = f"{name}:{bare.line_of(str(key))}: {table}: unknown key {key!r}{nearest(str(key), keys)}"
                raise ConfigError(msg)
        found[table] = dict(value)
    return bare.replace(checks=checks, sizing=found["sizing"], review=found["review"])
