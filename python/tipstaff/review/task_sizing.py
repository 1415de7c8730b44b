"""A task of a repository in, its size, its SOPs and, where it is too large, a proposal to divide it out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol, Self

from tipstaff.errors import ConfigError
from tipstaff.globs import is_pattern
from tipstaff.model import Diagnostic, Record
from tipstaff.review.config import ReviewConfig, read_config
from tipstaff.review.names import nearest, text_list
from tipstaff.review.repository import list_files
from tipstaff.review.sizing.budget import SOP_RESERVE_TOKENS, TaskSizing, size_task, text_tokens
from tipstaff.review.sizing.decomposition import MANY_FILES, Decomposition, decompose
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
                raise ConfigError(f"task: unknown key {key!r}{nearest(str(key), _KEYS)}")
        texts = {key: data.get(key) for key in ("id", "task_id", "plan_slug", "plan_id", "description")}
        for key, value in texts.items():
            if value is not None and not isinstance(value, str):
                raise ConfigError(f"task: {key} must be a text, got {value!r}")
        criteria = data.get("acceptance_criteria", data.get("criteria"))
        return cls(
            id=texts["id"] or texts["task_id"] or "",
            plan_slug=texts["plan_slug"] or texts["plan_id"] or "",
            description=texts["description"] or "",
            acceptance_criteria=text_list(criteria, "task: acceptance_criteria"),
            files=text_list(data.get("files"), "task: files"),
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

    @property
    def fits(self) -> bool:
        """Whether the task can be done as it is: it has files, fits, and touches none that its plan protects."""
        return self.sizing.fits and bool(self.sizing.file_tokens) and not self.scope.violations


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
    named = [file for one in task.files for file in _files_of(root, one)]
    known = [path for one in named if not one.endswith("/") and (root / (path := repository_path(one))).is_file()]
    if not named or any(is_pattern(one) and not (root / one).is_file() for one in named):
        known += list_files(root)
    scope = resolve_scope(named, known, plan)
    measured = measure(root, scope.resolved)
    for path in named:
        if path in measured.refused:
            raise ConfigError(f"{path}: expected a path inside the repository, and this is a link that leads out of it")
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
            import_edges(root, list(measured.sizes)) if len(measured.sizes) <= MANY_FILES else {},
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


def _files_of(root: Path, name: str) -> list[str]:
    """Return the files that a name means: those of a folder, of a submodule or of a link to one; else the name alone.

    Raises
    ------
    ConfigError
        If a folder has no files, or is a link that leads out of the repository.
    """
    if is_pattern(name) and not name.endswith("/"):
        return [name]
    folder = root / name
    if not folder.is_dir():
        return [name]
    path = repository_path(name)
    if not folder.resolve().is_relative_to(root.resolve()):
        raise ConfigError(f"{name}: expected a path inside the repository, and this is a link that leads out of it")
    found = [f"{path}/{one}" for one in list_files(folder.resolve())]
    if not found:
        raise ConfigError(f"{name}: this folder has no files; name files, or a folder that has some")
    return found


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
