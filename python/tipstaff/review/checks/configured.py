"""The checks that a repository's configuration file names."""

from __future__ import annotations

import re
from pathlib import Path

from tipstaff.review.checks.detection import repository_checks
from tipstaff.review.checks.model import Check, CheckConfigError
from tipstaff.review.config import ReviewConfig, read_config


def configured_checks(root: Path, config: ReviewConfig | None = None) -> tuple[Check, ...]:
    """Return the checks of a repository by its configuration file.

    Raises
    ------
    CheckConfigError
        If the configuration is invalid; the message names file and line.
    ConfigError, SourceError
        See `read_config`.
    """
    settings = read_config(root) if config is None else config
    try:
        return repository_checks(root, settings.checks)
    except CheckConfigError as error:
        if not settings.path:
            raise
        raise CheckConfigError(error.code, f"{_location(settings, str(error))}: {error}") from None


def _location(settings: ReviewConfig, message: str) -> str:
    """Return ``file:line`` of the first quoted words of a message that the file has."""
    key = re.match(r"checks: (\w+) must be", message)
    table = "checks" if settings.line_of_key("checks") else "gates"
    lines = [settings.line_of_key(table, key[1])] if key is not None else []
    lines += [settings.line_of(words) for words in re.findall(r"'([^']+)'", message)]
    lines.append(settings.line_of_key(table))
    line = next(filter(None, lines), 0)
    return f"{settings.path}:{line}" if line else settings.path
