"""Each operation for real: keep, run, undo, compare; then undo the undo, and compare again."""

from __future__ import annotations

from pathlib import Path

from tests.undo.operations import OPERATIONS, copy_repository, lost, names, remove, run, snapshot
from tipstaff.kernels._undo import keep
from tipstaff.undo import undo
from tipstaff.undo.retention import settle


def test_what_was_kept_comes_back_and_goes_again(model: Path, tmp_path: Path, state: Path) -> None:
    wrong: list[str] = []
    destroyed = 0
    for number, (command, effects, heads) in enumerate(OPERATIONS):
        root = copy_repository(model, tmp_path / str(number) / "repository")
        before, shared = snapshot(root), names(root)
        folder = keep(effects, str(root), str(state), command=command)[0]
        run(command, root)
        ran = snapshot(root)
        destroyed += bool(lost(before, ran))
        if folder is None:
            wrong += [f"{command}: not kept: {gone}"] if (gone := lost(before, ran)) else []
            continue
        settle(Path(folder))
        report = undo(Path(folder).name, repository=root)
        after = snapshot(root)
        if gone := lost(before, after, with_git=heads):
            wrong.append(f"{command}: lost {gone}, failed {report.failed}")
        if names(root) != shared:
            wrong.append(f"{command}: links {names(root)}")
        if extra := [path for path in after.files if path not in before.files and path not in ran.files]:
            wrong.append(f"{command}: left {extra}")
        if report.kept_aside:
            undo(report.kept_aside, repository=root)
            again = snapshot(root)
            if gone := lost(ran, again, with_git=heads):
                wrong.append(f"{command}: after the second undo {gone}")
            if extra := [path for path in again.files if path not in ran.files]:
                wrong.append(f"{command}: the second undo left {extra}")
        remove(root)
    assert not wrong, "\n".join(wrong)
    assert destroyed >= len(OPERATIONS) - 4
