"""``tipstaff compile``."""

from __future__ import annotations

from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.output import COLOURS, Painter, counted, plain, write, write_json
from tipstaff.model import PolicyBundle, Severity


@click.command("compile")
@click.argument("directory", type=click.Path(path_type=Path), default=".")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--store", type=click.Path(path_type=Path), help="Where the store is kept (<directory>/.tipstaff).")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if the store is missing or out of date.")
def command(directory: Path, as_json: bool, store: Path | None, check: bool) -> int:
    """Compile the rule files of a repository into its shard store; an unchanged repository costs next to nothing."""
    from tipstaff.guidance.project import open_project, store_state

    if check:
        state = store_state(directory, store=store)
        if as_json:
            write_json(
                {
                    "directory": str(directory),
                    "store": str(state.store_path),
                    "current": state.current,
                    "reason": state.reason,
                }
            )
        else:
            write(f"{plain(str(state.store_path))}: {'up to date' if state.current else plain(state.reason)}")
        return exits.OK if state.current else exits.FINDINGS
    with open_project(directory, store=store) as project:
        bundle, path, rebuilt, reason = project.bundle, project.store_path, project.rebuilt, project.reason
    if as_json:
        write_json(
            {
                "directory": str(directory),
                "store": str(path),
                "rebuilt": rebuilt,
                "reason": reason,
                "constitution": bundle.constitution.to_dict(),
                "manifest": bundle.manifest.to_dict(),
                "diagnostics": [found.to_dict() for found in bundle.diagnostics],
            }
        )
    else:
        write(*_lines(bundle, str(path), reason if rebuilt else "", Painter()))
    return exits.OK


def _lines(bundle: PolicyBundle, store: str, reason: str, paint: Painter) -> list[str]:
    manifest, constitution = bundle.manifest, bundle.constitution
    rules = paint(counted(manifest.total_rules, "rule"), bold=True)
    kinds = f"{manifest.constitution_rules} constitution, {manifest.shard_rules} task-scoped"
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
