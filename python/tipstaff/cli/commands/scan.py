"""``tipstaff scan``."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from tipstaff.cli.options import cluster_option, color_option, repository_if_named, repository_root
from tipstaff.cli.output import Painter, counted, plain, write, write_json
from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.store.untrusted import open_untrusted, read_untrusted, read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.gates.secrets.scanner import Scanner

ALLOWED: Final = "tipstaff:allow"
MOST_BYTES: Final = 64 * 1024 * 1024
_FILE_MODES: Final = frozenset({b"100644", b"100755"})
_BLOBS_AT_ONCE: Final = 256
_FILES_AT_ONCE: Final = 512
_SKIPPED: Final = frozenset(
    {".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".tox"}
)
_LEVELS: Final = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


class Found(NamedTuple):
    """A secret in a file: where, and what may be shown of it."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule_id: str
    severity: str
    redacted: str
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self._asdict()


@click.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@repository_if_named("The repository: its secret rules, and what is scanned without PATHS.")
@click.option("--staged", is_flag=True, help="Scan what the next commit would add: the lines that are staged in git.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Scan standard input.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="The output format."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Do not report findings that this file lists.")
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Write the findings to this file.")
@click.option("--redact", "redacting", is_flag=True, help="With --stdin: print it with its secrets masked.")
@click.option("--wary", is_flag=True, help="Also report low-confidence matches.")
@cluster_option
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@color_option
def command(
    *, paths: tuple[Path, ...], repository: Path | None, staged: bool, from_stdin: bool, form: str, as_json: bool,
    baseline: Path | None, write_baseline: Path | None, redacting: bool, wary: bool,
    cluster: str | None, exit_zero: bool, color: str,
) -> int:  # fmt: skip
    """Find secrets in files, in staged changes, or in standard input.

    PATHS are files and folders, by default the current folder; in a git repository a folder's tracked and new files are
    read, not what git ignores. A line that contains ``tipstaff:allow`` is not reported. Rules of your own are read from
    ``.tipstaff/secrets``.

    Exits with 1 if anything is found.
    """
    from tipstaff.gates.secrets.scanner import scanner_for

    if staged + from_stdin + bool(paths) > 1:
        raise ConfigError("choose one of PATHS, --staged and --stdin")
    scanner = scanner_for(repository or repository_root(None))
    if redacting:
        if not from_stdin:
            raise ConfigError("--redact works on standard input: add --stdin")
        return _redacted(scanner, wary=wary)
    scan = Scan(scanner, wary)
    if from_stdin or staged:
        parts = [scan.texts(_stdin() if from_stdin else _staged(repository or Path()))]
    else:
        files = list(_files(paths or (repository or Path(),)))
        if cluster:
            from tipstaff.cluster.spreading import open_cluster

            with open_cluster(cluster) as opened:
                parts = list(
                    opened.map(
                        scan.files, [files[at : at + _FILES_AT_ONCE] for at in range(0, len(files), _FILES_AT_ONCE)]
                    )
                )
        else:
            parts = [scan.files(files)]
    number = sum(count for count, _, _ in parts)
    found = [one for _, some, _ in parts for one in some]
    for warning in (one for _, _, some in parts for one in some):
        click.echo(f"tipstaff: warning: {warning}", err=True)
    if write_baseline is not None:
        _write_baseline(write_baseline, found)
        write(f"{write_baseline}: {counted(len(found), 'finding')}")
        return 0
    if baseline is not None:
        found = _unknown(found, baseline)
    code = 1 if found and not exit_zero else 0
    if as_json or form == "json":
        write_json({"findings": [one.to_dict() for one in found], "files": number, "exit_code": code})
    elif form == "sarif":
        write_json(_sarif(found))
    else:
        paint = Painter(color)
        write(*_lines(found, number, paint), painter=paint)
    return code


# -- where texts come from: path, text, and the lines that count where not all of them do ------------------------------

_Text = tuple[str, str, set[int] | None]


def _decoded(data: bytes) -> str | None:
    """Return a file's text, None if it is not text."""
    if b"\0" in data[:8192]:
        if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return data.decode("utf-16", "replace")
        return None
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _stdin() -> Iterator[_Text]:
    text = _decoded(sys.stdin.buffer.read())
    yield "<stdin>", text or "", None


def _redacted(scanner: Scanner, *, wary: bool) -> int:
    from tipstaff.gates.secrets.scanner import redact

    data = sys.stdin.buffer.read()
    text = data.decode("utf-8", "surrogateescape")
    sys.stdout.buffer.write(redact(text, wary=wary, scanner=scanner).encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
    return 0


def _git(*arguments: str, where: Path, fed: bytes = b"") -> bytes:
    from tipstaff.store.git import git_command, git_environment

    try:
        done = subprocess.run(  # noqa: S603 - git with arguments of our own
            git_command(where, *arguments),
            env=git_environment(),
            input=fed,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise SourceNotFoundError("git: not found") from None
    if done.returncode:
        command = next(one for one in arguments if one.isalpha() or one in {"ls-files", "cat-file"})
        raise SourceError(f"git {command}: {done.stderr.decode(errors='replace').strip() or done.returncode}")
    return done.stdout


def _staged(repository: Path) -> Iterator[_Text]:
    """Yield each staged file as the next commit has it, with the lines that the commit adds.

    Contents come from git's objects: no attribute, file type or encoding hides a file as it hides its diff.
    """
    raw = _git(
        "diff", "--cached", "--raw", "-z", "--no-abbrev", "--find-renames", "--diff-filter=ACMRT", where=repository
    )
    fields = iter(raw.split(b"\0"))
    entries: list[tuple[str, bytes, bytes]] = []
    for head in fields:
        if not head:
            break
        _, mode, old, new, status = head.split()
        path = next(fields)
        if status[:1] in b"RC":
            path = next(fields)
        if mode in _FILE_MODES:
            entries.append((path.decode("utf-8", "surrogateescape"), old, new))
    for start in range(0, len(entries), _BLOBS_AT_ONCE):
        some = entries[start : start + _BLOBS_AT_ONCE]
        blobs = _blobs({blob for _, old, new in some for blob in (old, new) if blob.strip(b"0")}, repository)
        for name, old, new in some:
            text = _decoded(blobs.get(new, b""))
            if text:
                before = Counter((_decoded(blobs.get(old, b"")) or "").split("\n"))
                added: set[int] = set()
                for number, line in enumerate(text.split("\n"), 1):
                    if before[line]:
                        before[line] -= 1
                    else:
                        added.add(number)
                yield name, text, added


def _blobs(names: set[bytes], repository: Path) -> dict[bytes, bytes]:
    """Return the contents of git's objects that are not too large, by their names."""
    sizes = _git("cat-file", "--batch-check", where=repository, fed=b"".join(name + b"\n" for name in names))
    small = [
        line.split()[0]
        for line in sizes.splitlines()
        if line.split()[-1].isdigit() and int(line.split()[-1]) <= MOST_BYTES
    ]
    out = _git("cat-file", "--batch", where=repository, fed=b"".join(name + b"\n" for name in small))
    found: dict[bytes, bytes] = {}
    at = 0
    for name in small:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[-1])
        found[name] = out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise SourceNotFoundError(f"{path}: no such file or folder")
        if not path.is_dir():
            open_untrusted(path, most=1 << 62).close()  # what is named is read, or the command fails
            yield path
            continue
        files = list(_within(path))
        if not files:
            raise SourceNotFoundError(f"{path}: no files to scan")
        yield from files


class Scan(NamedTuple):
    """Scans files; it can be sent to another process."""

    scanner: Scanner
    wary: bool

    def files(self, files: Sequence[Path]) -> tuple[int, list[Found], list[str]]:
        """Return how many files were texts, what was found in them, and what could not be read."""
        warnings: list[str] = []
        number, found, _ = self.texts(self._read(files, warnings))
        return number, found, warnings

    def texts(self, texts: Iterable[_Text]) -> tuple[int, list[Found], list[str]]:
        """Return the same of texts."""
        number = 0
        found: list[Found] = []
        for path, text, lines in texts:
            number += 1
            found += _scan(path, text, lines, self.scanner, wary=self.wary)
        return number, found, []

    def _read(self, files: Sequence[Path], warnings: list[str]) -> Iterator[_Text]:
        for file in files:
            try:
                if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
                    continue
                text = _decoded(read_untrusted(file))
            except OSError as error:
                warnings.append(f"{file}: {error.strerror}")
                continue
            if text:
                yield file.as_posix(), text, None


def _within(folder: Path) -> Iterator[Path]:
    try:
        names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard", where=folder)
    except (SourceError, SourceNotFoundError):
        for where, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            yield from (Path(where) / name for name in sorted(files))
        return
    for name in sorted(set(names.decode("utf-8", "surrogateescape").split("\0")) - {""}):
        yield folder / name


# -- what is found ----------------------------------------------------------------------------------------------------


def _scan(path: str, text: str, lines: set[int] | None, scanner: Scanner, *, wary: bool) -> Iterator[Found]:
    from tipstaff.gates.secrets.scanner import scan_secrets

    line = 1
    begin = at = 0
    seen: Counter[str] = Counter()
    for one in scan_secrets(text, wary=wary, scanner=scanner):
        line += text.count("\n", at, one.start)
        begin = max(begin, text.rfind("\n", at, one.start) + 1)
        at = one.start
        close = text.find("\n", one.end)
        if ALLOWED in text[begin : close if close >= 0 else len(text)]:
            continue
        end_line = line + text.count("\n", one.start, one.end)
        last = text.rfind("\n", one.start, one.end) + 1
        column, end_column = one.start - begin + 1, one.end - (last or begin) + 1
        # The secret itself stays out of what is written: its digest identifies it.
        secret = text[one.start : one.end].encode("utf-8", "surrogatepass")
        about = b"\0".join((one.rule_id.encode(), path.encode("utf-8", "surrogateescape"), secret))
        digest = hashlib.sha256(about).hexdigest()
        seen[digest] += 1
        if lines is not None and lines.isdisjoint(range(line, end_line + 1)):
            continue
        yield Found(
            path,
            line,
            column,
            end_line,
            end_column,
            one.rule_id,
            one.severity,
            one.redacted if end_line == line else one.redacted[:8],
            hashlib.sha256(f"{digest}\0{seen[digest]}".encode()).hexdigest()[:32],
        )


def _write_baseline(file: Path, found: list[Found]) -> None:
    from tipstaff.store.replacing import replaced_file

    entries = [{"path": one.path, "rule_id": one.rule_id, "fingerprint": one.fingerprint} for one in found]
    with replaced_file(file) as stream:
        stream.write(f"{json.dumps({'version': 1, 'findings': entries}, indent=1)}\n".encode())


def _unknown(found: list[Found], file: Path) -> list[Found]:
    try:
        data = json.loads(read_untrusted_text(file))
        known = {entry["fingerprint"] for entry in data["findings"]}
    except FileNotFoundError:
        raise SourceNotFoundError(f"{file}: no such file; create it with --write-baseline") from None
    except (ValueError, KeyError, TypeError):
        raise SourceError(f"{file}: not a valid baseline; create one with --write-baseline") from None
    return [one for one in found if one.fingerprint not in known]


def _lines(found: list[Found], number: int, paint: Painter) -> list[str]:
    out = [
        f"{paint(plain(one.path), bold=True)}:{one.line}:{one.column}: "
        f"{paint(one.rule_id, 'red')} {plain(one.redacted)[:60]}"
        for one in found
    ]
    files = counted(number, "file")
    if not found:
        return [paint(f"no secrets in {files}", "green", bold=True)]
    advice = f"A line that contains {ALLOWED} is not reported; revoke any secret that was shared."
    return [*out, paint(f"{counted(len(found), 'secret')} in {files}", bold=True), paint(advice, dim=True)]


def _sarif(found: list[Found]) -> dict[str, Any]:
    from tipstaff.sarif import sarif_location, sarif_log

    rules = sorted({one.rule_id for one in found})
    results = [
        {
            "ruleId": one.rule_id,
            "ruleIndex": rules.index(one.rule_id),
            "level": _LEVELS[one.severity],
            "message": {"text": f"Secret found ({one.rule_id}). Remove it, and revoke it if it was shared."},
            "locations": [
                sarif_location(
                    one.path,
                    {
                        "startLine": one.line,
                        "startColumn": one.column,
                        "endLine": one.end_line,
                        "endColumn": one.end_column,
                    },
                )
            ],
            "partialFingerprints": {"tipstaff/v1": one.fingerprint},
        }
        for one in found
    ]
    descriptors = [
        {"id": rule, "shortDescription": {"text": f"A secret: {rule}"}, "helpUri": "docs/secrets.md"} for rule in rules
    ]
    return sarif_log(descriptors, results, columnKind="unicodeCodePoints")
