"""A configuration in, its checks out: a preset, overrides merged field by field, additional checks appended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from tipstaff.globs import is_valid
from tipstaff.review.checks.model import CATEGORIES, Check, CheckConfigError
from tipstaff.review.checks.presets import load_preset, preset_checks, preset_names
from tipstaff.review.names import nearest

KEYS: Final = ("preset", "overrides", "additional", "jobs", "max_attempts", "prefer_targets")
FIELDS: Final = tuple(field.name for field in msgspec.structs.fields(Check))
_ALIASES: Final = {"timeout": "timeout_s", "trigger": "triggers"}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_GLOBS: Final = ("triggers", "outputs", "reports")


def resolve_checks(config: Mapping[str, Any] | Sequence[Any] | None) -> tuple[Check, ...]:
    """Return the checks of a configuration, without looking at a repository.

    Parameters
    ----------
    config
        ``preset``, a name or a list of names; ``overrides``, each with the ``name`` of a preset's check and the fields
        to change; ``additional`` checks with ``name`` and ``command``. A list is one of additional checks. ``trigger``
        and ``timeout`` (``90s``, ``10m``) are accepted for ``triggers`` and ``timeout_s``.

    Raises
    ------
    CheckConfigError
        If the configuration is invalid; its `code` says why.
    """
    settings = checked_config(config)
    found: list[Check] = []
    for name in preset_list(settings):
        found.extend(preset_checks(load_preset(name)))
    return merged(found, settings)


def checked_config(config: Mapping[str, Any] | Sequence[Any] | None) -> Mapping[str, Any]:
    """Return a configuration as a mapping whose keys are known.

    Raises
    ------
    CheckConfigError
        If it is not a mapping or list, or has an unknown key.
    """
    if config is None:
        return {}
    if isinstance(config, Sequence) and not isinstance(config, str):
        return {"additional": config}
    if not isinstance(config, Mapping):
        msg = f"checks: expected a mapping with {', '.join(KEYS[:3])}, got {config!r}"
        raise CheckConfigError("invalid_value", msg)
    for key in config:
        if key not in KEYS:
            msg = f"checks: unknown key {key!r}{nearest(str(key), KEYS)}"
            raise CheckConfigError("unknown_key", msg)
    for key in ("jobs", "max_attempts"):
        value = config.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            msg = f"checks: {key} must be a whole number from 1 on, got {value!r}"
            raise CheckConfigError("invalid_value", msg)
    if not isinstance(config.get("prefer_targets", False), bool):
        msg = f"checks: prefer_targets must be true or false, got {config['prefer_targets']!r}"
        raise CheckConfigError("invalid_value", msg)
    return config


def preset_list(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the presets that a configuration names.

    Raises
    ------
    CheckConfigError
        If there is no such preset.
    """
    value: Any = settings.get("preset")
    names = [value] if isinstance(value, str) else value or []
    if not isinstance(names, list | tuple):
        msg = f"checks: preset must be a name or a list of names, got {value!r}"
        raise CheckConfigError("invalid_value", msg)
    for name in cast("list[Any]", names):
        if name not in preset_names():
            msg = f"checks: unknown preset {name!r}{nearest(str(name), preset_names())}"
            raise CheckConfigError("unknown_preset", msg)
    return tuple(dict.fromkeys(cast("list[str]", names)))


def merged(base: Sequence[Check], settings: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return checks with the overrides of a configuration merged and its additional ones appended.

    Raises
    ------
    CheckConfigError
        See `resolve_checks`.
    """
    found = {check.name: check for check in base}
    if len(found) < len(base):
        msg = "checks: two presets have checks of the same name; use them one at a time or let them be detected"
        raise CheckConfigError("duplicate_name", msg)
    seen: set[str] = set()
    for entry in _entries(settings, "overrides"):
        name = _name(entry, "overrides")
        if name not in found:
            msg = f"checks: overrides names {name!r}, which no preset has{nearest(name, list(found))}"
            raise CheckConfigError("unknown_override", msg)
        if name in seen:
            msg = f"checks: {name!r} is overridden more than once"
            raise CheckConfigError("duplicate_name", msg)
        seen.add(name)
        found[name] = found[name].replace(**_fields(entry, f"overrides, {name!r}"))
    for entry in _entries(settings, "additional"):
        name = _name(entry, "additional")
        if name in found:
            msg = f"checks: additional check {name!r} has the name of another one; use overrides to change that"
            raise CheckConfigError("duplicate_name", msg)
        if not entry.get("command"):
            msg = f"checks: additional check {name!r} has no command"
            raise CheckConfigError("missing_command", msg)
        found[name] = Check(**_fields(entry, f"additional, {name!r}"))
    checks = tuple(found.values())
    check_order(checks)
    return checks


def check_order(checks: Sequence[Check]) -> None:
    """Check that every check can be run after those that it names.

    Raises
    ------
    CheckConfigError
        If one names an unknown check, or itself by way of others.
    """
    waits = {check.name: {*check.after, *check.needs} for check in checks}
    for name, others in waits.items():
        for other in others:
            if other not in waits:
                msg = f"checks: {name!r} runs after {other!r}, which does not exist{nearest(other, list(waits))}"
                raise CheckConfigError("unknown_dependency", msg)
    while ready := [name for name, others in waits.items() if not others]:
        for name in ready:
            del waits[name]
        for others in waits.values():
            others.difference_update(ready)
    if waits:
        msg = f"checks: {', '.join(sorted(waits))} wait for each other"
        raise CheckConfigError("dependency_cycle", msg)


def seconds(value: object, where: str) -> float:
    """Return a duration in seconds: a number, or a text such as ``90s``, ``10m`` or ``2h``.

    Raises
    ------
    CheckConfigError
        If it is neither, or not positive.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return float(value)
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or float(found[1]) <= 0:
        msg = f"checks: {where}: invalid duration {value!r}; use 90s, 10m or 2h"
        raise CheckConfigError("invalid_value", msg)
    return float(found[1]) * _SECONDS[found[2]]


def _entries(settings: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value: Any = settings.get(key) or []
    if isinstance(value, str | Mapping) or not all(isinstance(entry, Mapping) for entry in value):
        msg = f"checks: {key} must be a list of mappings, each with a name"
        raise CheckConfigError("invalid_value", msg)
    return list(value)


def _name(entry: Mapping[str, Any], key: str) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name.strip():
        msg = f"checks: an entry of {key} has no name: {dict(entry)}"
        raise CheckConfigError("invalid_value", msg)
    return name


def _fields(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of an entry, checked and converted."""
    values: dict[str, Any] = {}
    for key, value in entry.items():
        name = _ALIASES.get(key, key)
        if name not in FIELDS:
            msg = f"checks: {where}: unknown key {key!r}{nearest(str(key), FIELDS)}"
            raise CheckConfigError("unknown_key", msg)
        if name == "timeout_s":
            value = seconds(value, where)  # noqa: PLW2901 - converted in place
        elif name in _GLOBS and isinstance(value, str):
            value = [value]  # noqa: PLW2901
        elif name == "command" and (not isinstance(value, str) or not value.strip()):
            msg = f"checks: {where}: command must be a text, got {value!r}"
            raise CheckConfigError("invalid_value", msg)
        values[name] = value
    try:
        converted = msgspec.convert({"name": "", "command": "", **values}, Check)
    except msgspec.ValidationError as error:
        msg = f"checks: {where}: {error}"
        raise CheckConfigError("invalid_value", msg) from None
    _check_values(converted, where, values)
    return {name: getattr(converted, name) for name in values}


def _check_values(check: Check, where: str, given: Mapping[str, Any]) -> None:
    if "threshold" in given and check.threshold is not None and not 0 <= check.threshold <= 100:
        msg = f"checks: {where}: threshold must be a percentage from 0 to 100, got {check.threshold!r}"
        raise CheckConfigError("invalid_value", msg)
    if check.category not in CATEGORIES:
        msg = f"checks: {where}: unknown category {check.category!r}{nearest(check.category, CATEGORIES)}"
        raise CheckConfigError("invalid_value", msg)
    folder = check.working_dir.replace("\\", "/")
    if folder.startswith("/") or ".." in folder.split("/"):
        msg = f"checks: {where}: working_dir must be a folder inside the repository, got {check.working_dir!r}"
        raise CheckConfigError("invalid_value", msg)
    for key in _GLOBS:
        for glob in getattr(check, key):
            if reason := is_valid(glob):
                msg = f"checks: {where}: {key}: glob {glob!r} cannot be used: {reason}"
                raise CheckConfigError("invalid_value", msg)
    for key in ("empty_pattern", "missing_pattern"):
        try:
            re.compile(getattr(check, key))
        except re.error as error:
            msg = f"checks: {where}: {key} is not a regular expression: {error}"
            raise CheckConfigError("invalid_value", msg) from None
