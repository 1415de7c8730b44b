"""Presets: which checks a project of some ecosystem has, as data in ``presets/*.toml``.

A file has ``detect`` (file names that show the ecosystem in the root), ``detect_below`` (the same for folders one level
down, ``detect`` where absent), ``workspace`` (conditions under which the root's checks cover the folders below),
and ``[[check]]`` tables: the fields of :class:`tipstaff.review.checks.model.Check` and

``when``
    Conditions without which the check is not proposed for a repository; see `tipstaff.review.checks.facts`.
``extra``
    Not part of the preset where only its name is given.
``named``
    Part of the preset only where its name is given: not proposed for a repository.
``[[check.variant]]``
    Fields that replace those of the check where the variant's ``when`` holds; the first that holds counts. ``drop``
    leaves the check out.

Commands may hold ``{python}``, ``{run}``, ``{exec}``, ``{pm}``, ``{mvn}`` and ``{gradle}``.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.review.checks.facts import PLAIN_WORDS, Facts
from tipstaff.review.checks.model import Check

_FOLDER: Final = Path(__file__).with_name("presets")
_ALIASES: Final = {"typescript": "node"}


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields that replace those of a check under conditions."""

    when: tuple[str, ...] = ()
    drop: bool = False
    fields: dict[str, Any] = {}


class PresetCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check of a preset, before a repository is known."""

    check: dict[str, Any]
    when: tuple[str, ...] = ()
    extra: bool = False
    named: bool = False
    variants: tuple[Variant, ...] = ()


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ecosystem."""

    name: str
    detect: tuple[str, ...]
    detect_below: tuple[str, ...]
    workspace: tuple[str, ...]
    checks: tuple[PresetCheck, ...]


@lru_cache(maxsize=1)
def preset_files() -> tuple[str, ...]:
    """Return the names of the presets that are files, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def preset_names() -> tuple[str, ...]:
    """Return every name by which a preset can be asked for."""
    return tuple(sorted({*preset_files(), *_ALIASES}))


@lru_cache(maxsize=16)
def load_preset(name: str) -> Preset:
    """Return a preset; its name must be one of `preset_names`."""
    name = _ALIASES.get(name, name)
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    detect = tuple(data["detect"])
    checks: list[PresetCheck] = []
    for entry in data["check"]:
        variants = tuple(
            Variant(tuple(one.pop("when", ())), one.pop("drop", False), one) for one in entry.pop("variant", ())
        )
        when = tuple(entry.pop("when", ()))
        extra, named = entry.pop("extra", False), entry.pop("named", False)
        checks.append(PresetCheck(entry, when, extra, named, variants))
    return Preset(
        name, detect, tuple(data.get("detect_below", detect)), tuple(data.get("workspace", ())), tuple(checks)
    )


def preset_checks(preset: Preset, facts: Facts | None = None, *, named: bool = False) -> list[Check]:
    """Return a preset's checks: of a project, those of its name alone where `named`; without one, the plain ones."""
    found: list[Check] = []
    for entry in preset.checks:
        if facts is None:
            if not entry.extra:
                found.append(_check(entry.check, PLAIN_WORDS))
            continue
        if (entry.named and not named) or not facts.all_hold(entry.when):
            continue
        variant = next((one for one in entry.variants if facts.all_hold(one.when)), None)
        if variant is None:
            found.append(_check(entry.check, facts.words()))
        elif not variant.drop:
            found.append(_check({**entry.check, **variant.fields}, facts.words()))
    kept = {check.name for check in found}
    return [
        check.replace(
            after=tuple(name for name in check.after if name in kept),
            needs=tuple(name for name in check.needs if name in kept),
        )
        for check in found
    ]


def _check(fields: dict[str, Any], words: dict[str, str]) -> Check:
    command = fields["command"]
    for word, value in words.items():
        command = command.replace(f"{{{word}}}", value)
    check: Check = msgspec.convert({**fields, "command": command}, Check)
    return check
