"""Whether a task fits a model's window: the formula, computed exactly.

::

    estimate  = file tokens + description tokens + acceptance-criteria tokens
    available = window - 2000 - 1500 - 4000 - 6400 - 0.15 * window
    limit     = 0.40 * available, or the model's sweet spot where it has one
    too large if estimate > limit, or more than four files

Tokens of a text are its UTF-8 bytes over four, rounded up, each text on its own. Source: ADR-004, "Validation Layers
and Context Management", context budget model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.review.sizing.generated import is_generated_name

SYSTEM_PROMPT_TOKENS: Final = 2_000
PLAN_TOKENS: Final = 1_500
SOP_RESERVE_TOKENS: Final = 4_000
RESPONSE_TOKENS: Final = 6_400
MARGIN: Final = Fraction(15, 100)
TASK_SHARE: Final = Fraction(40, 100)
FIXED_FILE_TOKENS: Final = 100
"""What a generated or binary file costs: its name is shown, its content is not."""

SOFT_FILES: Final = 3
HARD_FILES: Final = 4
BYTES_PER_TOKEN: Final = 4

DECOMPOSITION_TRIGGER: Final = "workflow.trigger.task-decomposition"

FileSize = int | Mapping[str, Any] | None


class SizingConfig(Record, frozen=True, kw_only=True):
    """What may be tuned.

    Attributes
    ----------
    task_share
        Part of the available tokens that a task may take, above 0 and at most 1.
    soft_files, hard_files
        Above `soft_files` files there is a warning, above `hard_files` the task is too large.
    sop_reserve
        Tokens set apart for SOPs: not available to the task, and the most that the SOPs that apply may have.
    """

    task_share: float = float(TASK_SHARE)
    soft_files: int = SOFT_FILES
    hard_files: int = HARD_FILES
    sop_reserve: int = SOP_RESERVE_TOKENS

    def __post_init__(self) -> None:
        if not 0 < self.task_share <= 1:
            raise ConfigError(f"task_share: expected a number above 0 and at most 1, got {self.task_share!r}")
        if not 0 <= self.soft_files <= self.hard_files:
            raise ConfigError(f"expected 0 <= soft_files <= hard_files, got {self.soft_files} and {self.hard_files}")
        if self.sop_reserve < 0:
            raise ConfigError(f"sop_reserve: expected a number of tokens, got {self.sop_reserve!r}")


class TaskSizing(Record, frozen=True, kw_only=True):
    """How large a task is, and whether it fits.

    Attributes
    ----------
    file_tokens
        Tokens of each file.
    sop_tokens
        Tokens of the SOPs that apply, as given.
    estimate
        Tokens of the files, the description and the acceptance criteria.
    available
        Tokens left for a task, rounded down and never below 0.
    limit
        Most tokens that the task may take, rounded down and never below 0; `limit_exact` is the same, unrounded, as
        a fraction such as ``975112/25``. `fits` compares with the exact one.
    fits
        Whether there is no reason against it.
    reasons
        ``no_room`` (the window leaves nothing), ``token_budget``, ``sops``, ``file_count``; in this order.
    warnings
        ``file_count``.
    trigger
        The event to publish where the task is too large; None where it fits.
    """

    file_tokens: dict[str, int]
    description_tokens: int
    criteria_tokens: tuple[int, ...]
    estimate: int
    available: int
    limit: int
    limit_exact: str
    fits: bool
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    sop_tokens: int = 0
    trigger: str | None = None

    @property
    def ratio(self) -> float:
        """The estimate as a part of the available tokens; infinite where there are none."""
        return self.estimate / self.available if self.available else (float("inf") if self.estimate else 0.0)


def text_tokens(text: str) -> int:
    """Return the tokens of a text: UTF-8 bytes over four, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def file_tokens(path: str, size: FileSize) -> int:
    """Return the tokens of a file.

    Parameters
    ----------
    path
        Its name decides whether it is generated.
    size
        Bytes; None for a file that does not exist yet, which costs nothing; or a mapping with ``bytes`` and optionally
        ``binary`` or ``generated``, which make it cost `FIXED_FILE_TOKENS`, or ``missing``; ``generated`` false
        means that its name misleads.

    Raises
    ------
    ConfigError
        If the size is not one of these, or negative.
    """
    flat = stated = False
    if isinstance(size, Mapping):
        if size.get("missing"):
            return 0
        flat = bool(size.get("binary") or size.get("generated"))
        stated = size.get("generated") is False
        size = size.get("bytes")
    if size is None:
        return FIXED_FILE_TOKENS if flat else 0
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ConfigError(f"{path}: expected a size in bytes, got {size!r}")
    if flat or (not stated and is_generated_name(path)):
        return FIXED_FILE_TOKENS
    return -(-size // BYTES_PER_TOKEN)


def exact_available(window: int, sop_reserve: int = SOP_RESERVE_TOKENS) -> Fraction:
    """Return the tokens that a window leaves for a task, unrounded; negative below about 16,353."""
    overhead = SYSTEM_PROMPT_TOKENS + PLAN_TOKENS + sop_reserve + RESPONSE_TOKENS
    return (1 - MARGIN) * window - overhead


def size_task(
    *,
    window: int,
    files: Mapping[str, FileSize],
    description: str = "",
    acceptance_criteria: Sequence[str] = (),
    sweet_spot: int | None = None,
    sop_tokens: int = 0,
    config: SizingConfig | None = None,
) -> TaskSizing:
    """Say whether a task fits a model's window.

    Parameters
    ----------
    window
        The model's context window in tokens.
    files
        Size of each file in bytes; see `file_tokens` for the other forms.
    description, acceptance_criteria
        Texts of the task.
    sweet_spot
        The model's recommended working context in tokens; replaces the share of `config`, capped at what is available.
    sop_tokens
        Tokens of the SOPs that apply; above their reserve they make the task too large.
    config
        Share and file counts.

    Raises
    ------
    ConfigError
        If the window or the sweet spot is not positive, or a size is not usable.
    """
    if not _is_positive(window):
        raise ConfigError(f"window: expected a positive number of tokens, got {window!r}")
    if sweet_spot is not None and not _is_positive(sweet_spot):
        raise ConfigError(f"sweet_spot: expected a positive number of tokens, got {sweet_spot!r}")
    settings = config or SizingConfig()
    tokens = {path: file_tokens(path, size) for path, size in files.items()}
    about = text_tokens(description)
    criteria = tuple(text_tokens(criterion) for criterion in acceptance_criteria)
    estimate = sum(tokens.values()) + about + sum(criteria)
    available = exact_available(window, settings.sop_reserve)
    # A float such as 0.4 stands for the decimal that was written.
    share = Fraction(str(settings.task_share))
    limit = share * available if sweet_spot is None else min(Fraction(sweet_spot), available)
    reasons: list[str] = []
    if available <= 0:
        reasons.append("no_room")
    elif estimate > limit:
        reasons.append("token_budget")
    if sop_tokens > settings.sop_reserve:
        reasons.append("sops")
    if len(tokens) > settings.hard_files:
        reasons.append("file_count")
    warned = settings.soft_files < len(tokens) <= settings.hard_files
    return TaskSizing(
        file_tokens=tokens,
        description_tokens=about,
        criteria_tokens=criteria,
        estimate=estimate,
        available=max(0, available.__floor__()),
        limit=max(0, limit.__floor__()),
        limit_exact=str(limit),
        fits=not reasons,
        reasons=tuple(reasons),
        warnings=("file_count",) if warned else (),
        sop_tokens=sop_tokens,
        trigger=DECOMPOSITION_TRIGGER if reasons else None,
    )


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
