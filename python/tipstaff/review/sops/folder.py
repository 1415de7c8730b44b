"""The SOPs of a repository: every file of its folders, those that are broken reported and the rest used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.globs import any_matcher
from tipstaff.model import Diagnostic, Record, Severity
from tipstaff.review.sops.documents import MAX_SOP_BYTES, Sop, SopError, parse_sop, sop_mapping
from tipstaff.review.sops.matching import match_sops
from tipstaff.store.untrusted import read_untrusted

FOLDERS: Final = (".tipstaff/sops", ".semspec/sources/docs/sops", ".semspec/sources/docs", "docs/sops")
"""Where SOPs are looked for; all of those that exist."""

ENDINGS: Final = (".md", ".markdown")
MAX_FILES: Final = 2_000


class SopFolder(Record, frozen=True, kw_only=True):
    """SOPs and what is wrong with those that could not be read."""

    sops: tuple[Sop, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def applicable(self, files: Sequence[str], *, scope: str | None = "code") -> tuple[Sop, ...]:
        """Return the SOPs that apply to any of the files, by id."""
        by_id = {sop.id: sop for sop in self.sops}
        return tuple(by_id[name] for name in match_sops(map(sop_mapping, self.sops), files, scope=scope))

    def costs_by_file(self, files: Sequence[str], costs: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """Return for each file those of `costs`, ids of SOPs and their tokens, that apply to it."""
        globs = [(sop.id, any_matcher(sop.applies_to)) for sop in self.sops if sop.id in costs and sop.applies_to]
        everywhere = {sop.id: costs[sop.id] for sop in self.sops if sop.id in costs and not sop.applies_to}
        return {path: {**everywhere, **{name: costs[name] for name, match in globs if match(path)}} for path in files}


def read_sops(root: Path, folders: Sequence[str] | None = None, before: Mapping[str, bytes] | None = None) -> SopFolder:
    """Read the SOPs of a repository.

    Parameters
    ----------
    root
        Its folder.
    folders
        Folders relative to it; `FOLDERS` where None.
    before
        Files as they were before a change, by path: of SOPs among them that is what counts, so that no change frees
        itself from what it has to meet.

    Raises
    ------
    ConfigError
        If a folder leads out of the repository.
    SourceNotFoundError
        If a folder that was named does not exist.
    """
    base = root.resolve()
    listed: list[tuple[str, str]] = []
    for folder in FOLDERS if folders is None else folders:
        path = (root / folder).resolve()
        if not path.is_relative_to(base):
            raise ConfigError(f"{folder}: expected a folder inside the repository")
        known = {name for name, _ in listed}
        home = path.relative_to(base).as_posix()
        earlier = [name for name in before or {} if name.startswith(f"{home}/") and name.endswith(ENDINGS)]
        listed += [(name, home) for name in sorted(earlier) if name not in known]
        if not path.is_dir():
            if folders is not None and not earlier:
                raise SourceNotFoundError(f"{folder}: no such folder")
            continue
        known = {name for name, _ in listed}
        for file in sorted(path.rglob("*"))[:MAX_FILES]:
            name = file.relative_to(base).as_posix()
            if file.suffix.lower() in ENDINGS and name not in known and file.is_file():
                listed.append((name, home))
    found: dict[str, Sop] = {}
    problems: list[Diagnostic] = []
    for name, home in listed:
        sop = _read(base / name, name, home, base, problems, (before or {}).get(name))
        if sop is None:
            continue
        if sop.id in found:
            message = f"its id {sop.id} is that of {found[sop.id].path}"
            problems.append(_problem("SOP107", name, message, "rename one of the files"))
        else:
            found[sop.id] = sop
    return SopFolder(sops=tuple(found[name] for name in sorted(found)), diagnostics=tuple(problems))


def _read(
    file: Path, name: str, folder: str, base: Path, problems: list[Diagnostic], before: bytes | None
) -> Sop | None:
    if before is None and not file.resolve().is_relative_to(base):
        problems.append(_problem("SOP109", name, "it is a link that leads out of the repository"))
        return None
    try:
        data = read_untrusted(file) if before is None else before
        if len(data) > MAX_SOP_BYTES:
            problems.append(_problem("SOP109", name, f"it is larger than {MAX_SOP_BYTES:,} bytes"))
            return None
        return parse_sop(data.decode("utf-8"), name, folder)
    except SopError as problem:
        problems.extend(problem.diagnostics)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_problem("SOP109", name, "it is not UTF-8", line=line))
    except OSError as error:
        problems.append(_problem("SOP109", name, f"it cannot be read: {error.strerror}"))
    return None


def _problem(code: str, path: str, message: str, fix: str = "", line: int = 0) -> Diagnostic:
    return Diagnostic(code=code, message=message, line=line, source=path, fix=fix, severity=Severity.ERROR)
