"""A task of a repository in, its size, its SOPs and, where it is too large, a proposal to divide it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, Self

from tipstaff.errors import ConfigError
from tipstaff.model import Diagnostic, Record
from tipstaff.review.config import ReviewConfig, read_config
from tipstaff.review.globs import is_pattern
from tipstaff.review.names import nearest
from tipstaff.review.repository import list_files
from tipstaff.review.sizing.budget import SOP_RESERVE_TOKENS, TaskSizing, size_task, text_tokens
from tipstaff.review.sizing.decomposition import Decomposition, decompose
from tipstaff.review.sizing.imports import import_edges
from tipstaff.review.sizing.measuring import measure
from tipstaff.review.sizing.scope import ScopeResolution, repository_path, resolve_scope
from tipstaff.review.sops.folder import SopFolder, read_sops

DEFAULT_WINDOW: Final = 200_000
_KEYS: Final = (
    *("id", "task_id", "description", "acceptance_criteria", "criteria", "files", "plan", "plan_id", "plan_slug"),
    *("sequence", "status"),
)


class Task(Record, frozen=True, kw_only=True):
    """A task: its description, its criteria, and its files as paths and globs."""

    id: str = ""
    plan_slug: str = ""
    description: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Self:
        """Return a task from plain data; ``criteria`` is accepted for ``acceptance_criteria``.

        Raises
        ------
        ConfigError
            If a key is not known or a value is of the wrong kind.
        """
        for key in data:
            if key not in _KEYS:
                msg = f"task: unknown key {key!r}{nearest(str(key), _KEYS)}"
                raise ConfigError(msg)
        criteria, files = data.get("acceptance_criteria", data.get("criteria")) or (), data.get("files") or ()
        for name, value in (("acceptance_criteria", criteria), ("files", files)):
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
                msg = f"task: {name} must be a list of texts, got {value!r}"
                raise ConfigError(msg)
        return cls(
            id=str(data.get("id") or data.get("task_id") or ""),
            plan_slug=str(data.get("plan_slug") or data.get("plan_id") or ""),
            description=str(data.get("description") or ""),
            acceptance_criteria=tuple(criteria),
            files=tuple(files),
        )


class SizedTask(Record, frozen=True, kw_only=True):
    """What is known of a task's size.

    Attributes
    ----------
    generated
        Files that cost the flat amount.
    refused
        Files that are links out of the repository; they are not counted.
    sops, sop_tokens, sop_reserve
        Ids of the SOPs that apply, their tokens as a reviewer reads them, and the most that they may have.
    diagnostics
        SOPs that are broken: they were not matched.
    decomposition
        Where the task is too large and has more than one file.
    """

    sizing: TaskSizing
    scope: ScopeResolution
    generated: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    sops: tuple[str, ...] = ()
    sop_tokens: int = 0
    sop_reserve: int = SOP_RESERVE_TOKENS
    diagnostics: tuple[Diagnostic, ...] = ()
    decomposition: Decomposition | None = None


class SizingLog(Protocol):
    """Takes sizings in, such as a ledger of runs."""

    def record_sizing(self, task: Task, sized: SizedTask) -> None:
        """Keep a sizing."""


def size_repository_task(
    root: Path,
    task: Task,
    *,
    plan: Mapping[str, Any] | None = None,
    window: int | None = None,
    model: str | None = None,
    sweet_spot: int | None = None,
    count_sops: bool = True,
    config: ReviewConfig | None = None,
    log: SizingLog | None = None,
) -> SizedTask:
    """Size a task of a repository.

    Parameters
    ----------
    root
        The repository's folder.
    task, plan
        What is to be done; see :func:`tipstaff.review.resolve_scope`.
    window, sweet_spot
        In tokens; those of the model or of the configuration where None, else 200,000 and none.
    model
        A name in ``[sizing.models]``.
    count_sops
        Whether SOPs that do not fit their reserve make the task too large.
    config
        The configuration; read from the repository where None.
    log
        Takes the result in.

    Raises
    ------
    ConfigError
        If a path leaves the repository, or a name or value is not usable.
    """
    settings = read_config(root) if config is None else config
    window, sweet_spot = _model(settings, model, window, sweet_spot)
    limits = settings.limits
    if task.files and not any(map(is_pattern, task.files)):
        # Nothing needs to be listed.
        known: Sequence[str] = [path for one in task.files if (root / (path := repository_path(one))).is_file()]
    else:
        known = list_files(root)
    scope = resolve_scope(task.files, known, plan)
    measured = measure(root, scope.resolved)
    folder = read_sops(root, settings.review.sops) if count_sops else SopFolder(sops=())
    costs = {sop.id: text_tokens(sop.rendered()) for sop in folder.applicable(scope.resolved)}
    sizing = size_task(
        window=window,
        files=measured.sizes,
        description=task.description,
        acceptance_criteria=task.acceptance_criteria,
        sweet_spot=sweet_spot,
        sop_tokens=sum(costs.values()),
        config=limits,
    )
    proposal = None
    if not sizing.fits and len(measured.sizes) > 1:
        proposal = decompose(
            sizing,
            measured.sizes,
            import_edges(root, list(measured.sizes)),
            window=window,
            description=task.description,
            acceptance_criteria=task.acceptance_criteria,
            sweet_spot=sweet_spot,
            config=limits,
            sops=folder.costs_by_file(list(measured.sizes), costs),
            task_id=task.id,
            plan_slug=task.plan_slug,
        )
    result = SizedTask(
        sizing=sizing,
        scope=scope,
        generated=tuple(path for path, size in measured.sizes.items() if isinstance(size, dict) and size["generated"]),
        refused=measured.refused,
        sops=tuple(costs),
        sop_tokens=sum(costs.values()),
        sop_reserve=limits.sop_reserve,
        diagnostics=folder.diagnostics,
        decomposition=proposal,
    )
    if log is not None:
        log.record_sizing(task, result)
    return result


def _model(
    settings: ReviewConfig, model: str | None, window: int | None, sweet_spot: int | None
) -> tuple[int, int | None]:
    size, preferred = settings.sizing.window, settings.sizing.sweet_spot
    if model is not None:
        models = settings.sizing.models
        if model not in models:
            msg = f"unknown model {model!r}{nearest(model, list(models))}; models are named in [sizing.models]"
            raise ConfigError(msg)
        about = models[model]
        size, preferred = about.window or about.max_tokens or size, about.sweet_spot
    return window or size or DEFAULT_WINDOW, preferred if sweet_spot is None else sweet_spot
