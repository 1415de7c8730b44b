"""The exception tree: one base, and each child is also the built-in that fits.

Callers can catch :class:`TipstaffError` for everything that this package raises on purpose, or the built-in
(``ValueError``, ``OSError`` ...) where they do not care who raised it. Every message says what was wrong, where, and
what would be right.
"""

from __future__ import annotations


class TipstaffError(Exception):
    """Base of every error that this package raises on purpose."""


def message_of(error: Exception) -> str:
    """Return an error's place and words, without the ``[Errno 28]`` that an operating-system error puts before them."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


class ConfigError(TipstaffError, ValueError):
    """An option or a configuration value is not usable."""


def require_whole_number(name: str, value: object, least: int | None = None, most: int | None = None) -> None:
    """Refuse an option that is no whole number, or one out of range.

    Parameters
    ----------
    name
        Of the option, as its caller writes it.
    value
        As it was given; an integer of NumPy is accepted, true and false are not.
    least, most
        The range, inclusive; open where None.

    Raises
    ------
    ConfigError
        If it is not usable.
    """
    whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if whole and (least is None or least <= value) and (most is None or value <= most):  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]
        return
    span = "" if least is None else f"{least} or more" if most is None else f"between {least} and {most}"
    wanted = ", ".join(filter(None, ("" if whole else "a whole number", span)))
    raise ConfigError(f"{name} is {value!r}; it must be {wanted}")


class SourceError(TipstaffError, ValueError):
    """A rule file cannot be read as text: wrong encoding, too large, not a file."""


class SourceNotFoundError(TipstaffError, FileNotFoundError):
    """A path that was named does not exist."""


class StoreError(TipstaffError, ValueError):
    """Base of the errors about what this package keeps on disk: compiled rules, the database."""


class StoreDamagedError(StoreError):
    """What is on disk is torn, truncated or altered."""


class StoreVersionError(StoreError):
    """The store was written by another schema version; it is to be built again."""


class StoreEmbeddingError(StoreError):
    """The store holds vectors of another embedding than the one that asks."""


class EmbeddingFileError(TipstaffError, ValueError):
    """The file of an embedding is missing, torn or altered; the package is to be installed again."""


class MissingExtraError(TipstaffError, ImportError):
    """A library of an optional extra is needed and not installed."""


class StoreWriteError(TipstaffError, OSError):
    """The store could not be written (disk full, directory read-only); what was there before is unharmed."""


class LedgerError(StoreError):
    """The ledger cannot be used as asked: another key, an event id that is taken by another event, a forged head."""


class ClusterError(TipstaffError, RuntimeError):
    """Work could not be done on a cluster: it does not answer, or a part's processes died again and again."""
