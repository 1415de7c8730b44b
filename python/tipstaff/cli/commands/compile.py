"""``tipstaff compile``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli import exits
from tipstaff.cli.options import embedding_named, embedding_option, json_option, repository_option
from tipstaff.cli.output import COLOURS, Painter, counted, plain, report_unread, write, write_json
from tipstaff.errors import SourceNotFoundError, StoreWriteError
from tipstaff.model import PolicyBundle, Severity

if TYPE_CHECKING:
    from tipstaff.gates.image.repository_policy import RepositoryPolicy


@click.command("compile")
@repository_option
@json_option
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The store's file; .tipstaff/cache/guidance.store in the repository if not given.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if the store is missing or out of date.")
@embedding_option
def command(*, repository: Path, as_json: bool, store: Path | None, check: bool, embedding: str) -> int:
    """Compile the rule files of a repository into its shard store; an unchanged repository costs next to nothing.

    Where the repository has gate packs or settings of its own, its policy is compiled as well. What would make the
    gates weaker is listed, and takes effect once a person has allowed it in a terminal.

    Exits with 3 if a rule file could not be read; what could be read is compiled all the same.
    """
    from tipstaff.cli.policy_review import policy_document, policy_lines
    from tipstaff.gates.image.policy_file import policy_path
    from tipstaff.guidance.project import open_project
    from tipstaff.store.state import state_folder

    if check:
        return _check(repository, store, embedding, as_json=as_json)
    with open_project(repository, store=store, embedding=embedding_named(embedding), as_root=True) as project:
        stored, reason, problem = project.is_stored, project.reason, project.problem
        bundle, path, rebuilt = project.bundle, project.store_path, project.rebuilt
    if not stored:
        raise StoreWriteError(problem or reason)
    policy = _compile_policy(repository, ask=not as_json)
    if not bundle.manifest.source_hashes and not bundle.diagnostics and policy is None:
        raise SourceNotFoundError(
            f"{repository}: no rule files; write a CLAUDE.md or AGENTS.md, or name the repository with -C"
        )
    hook = _compile_for_hook(repository, bundle)
    if as_json:
        write_json(
            {
                "directory": str(repository),
                "store": str(path),
                "rebuilt": rebuilt,
                "reason": reason,
                "policy": None if policy is None else str(policy_path(Path(policy.repository or ""), state_folder())),
                "policy_in_force": None if policy is None else policy_document(policy),
                "hook": None if hook is None else str(hook),
                "constitution": bundle.constitution.to_dict(),
                "manifest": bundle.manifest.to_dict(),
                "diagnostics": [found.to_dict() for found in bundle.diagnostics],
            }
        )
    else:
        write(*_lines(bundle, str(path), reason if rebuilt else "", Painter()))
        write(*([] if policy is None else policy_lines(policy)))
        write(*([] if hook is None else [f"rules for the hook: {plain(str(hook))}"]))
    return exits.UNREADABLE if report_unread(bundle.diagnostics, "error") else exits.OK


def _compile_policy(root: Path, *, ask: bool) -> RepositoryPolicy | None:
    """Compile the gates' policy where the repository has its own, or where one was compiled before."""
    from tipstaff.cli.policy_review import compile_reviewed
    from tipstaff.gates.image.repository_policy import has_own_policy
    from tipstaff.store.state import repository_of, state_folder

    repository = repository_of(root.absolute())
    state = state_folder()
    if repository is None or not has_own_policy(repository, state):
        return None
    return compile_reviewed(repository, state, ask=ask)


def _compile_for_hook(root: Path, bundle: PolicyBundle) -> Path | None:
    """Compile the rules for the hook where it is in use."""
    from tipstaff.guidance.hook.image import write_hook_image
    from tipstaff.store.state import repository_of, state_folder

    root, state = root.absolute(), state_folder()
    if repository_of(root) != root or not any((state / name).is_dir() for name in ("registrations", "policy")):
        return None
    return write_hook_image(bundle, root, state=state)


def _check(repository: Path, store: Path | None, embedding: str, *, as_json: bool) -> int:
    """Say whether the store is current."""
    from tipstaff.guidance.project import open_project

    with open_project(
        repository, store=store, embedding=embedding_named(embedding), write=False, as_root=True
    ) as project:
        path, current, reason = project.store_path, not project.rebuilt, project.reason
    if as_json:
        write_json({"directory": str(repository), "store": str(path), "current": current, "reason": reason})
    else:
        write(f"{plain(str(path))}: {'up to date' if current else plain(reason)}")
    return exits.OK if current else exits.FINDINGS


def _lines(bundle: PolicyBundle, store: str, reason: str, paint: Painter) -> list[str]:
    manifest, constitution = bundle.manifest, bundle.constitution
    rules = paint(counted(manifest.total_rules, "rule"), bold=True)
    full = f" ({len(constitution.overflow):,} without room)" if constitution.overflow else ""
    kinds = f"{manifest.constitution_rules:,} constitution{full}, {manifest.shard_rules:,} task-scoped"
    lines = [
        f"{rules} from {counted(len(manifest.source_hashes), 'file')}: {kinds}",
        f"constitution: {counted(len(constitution.text.splitlines()), 'line')}, hash {constitution.hash}",
        f"store: {plain(store)} ({f'written: {plain(reason)}' if reason else 'unchanged'})",
    ]
    for severity in Severity:
        number = sum(found.severity is severity for found in bundle.diagnostics)
        if number and severity is not Severity.INFO:
            lines.append(f"{paint(counted(number, severity.value), COLOURS[severity])}; tipstaff lint shows them")
    return lines
