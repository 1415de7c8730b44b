"""Fetch the pinned npm packages, check their digests and lay them out for Node.

Only each package's own archive is taken, and no script of it is run: what is measured of them (of the guidance package
the modules ``compiler`` and ``retriever``) imports nothing but Node's own modules, so their dependencies (320 MB) are
not needed.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "@claude-flow/guidance"
VERSION: Final = "3.0.0-alpha.3"
INTEGRITY: Final = "sha512-jtZh2P/VHGMzfcxMTHLgzTvjE1SGBv5xVJcd8VRzDsUBBxritiStmkNeUFn4NxxP3DXArYdt636scJQ7HGwUQg=="
SAFETY_NET: Final = (
    "cc-safety-net",
    "2.4.5",
    "sha512-NxVJYOyXsqI6+xX18nk5AiHilhgIR3thwBgDzXeEHuxKPrUhutD40tOGX3kgYDyqBwHPASyn7UOm05pAzhTsPw==",
)
PACKAGES: Final = ((PACKAGE, VERSION, INTEGRITY), SAFETY_NET)
"""Every npm peer: name, version, digest of its archive."""
FOLDER: Final = Path(__file__).resolve().parents[2] / "build" / "peers"
SECONDS: Final = 180


class PeerUnavailableError(RuntimeError):
    """The peer cannot be had on this machine; the message says why."""


def package_folder(package: str = PACKAGE) -> Path:
    """Return where a package is, or would; the variable ``TIPSTAFF_PEERS`` names another folder of node_modules."""
    override = os.environ.get("TIPSTAFF_PEERS")
    return (Path(override) if override else FOLDER / "node_modules") / package


def node_program() -> str:
    """Return the path of Node.

    Raises
    ------
    PeerUnavailableError
        If there is none.
    """
    node = shutil.which("node")
    if node is None:
        msg = "node not found"
        raise PeerUnavailableError(msg)
    return node


def is_installed(package: str = PACKAGE) -> bool:
    """Whether a package's files are there."""
    return (package_folder(package) / "package.json").is_file()


def install(package: str = PACKAGE, version: str = VERSION, integrity: str = INTEGRITY) -> Path:
    """Fetch a package unless it is there, and return its folder.

    Raises
    ------
    PeerUnavailableError
        If Node or npm is missing, the package cannot be fetched, or it is not the one that was pinned.
    """
    node_program()
    if is_installed(package):
        return package_folder(package)
    npm = shutil.which("npm")
    if npm is None:
        msg = "npm not found"
        raise PeerUnavailableError(msg)
    with tempfile.TemporaryDirectory() as scratch:
        command = [npm, "pack", "--silent", "--ignore-scripts", f"{package}@{version}"]
        try:
            result = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            msg = f"npm did not answer within {SECONDS} s"
            raise PeerUnavailableError(msg) from None
        archives = list(Path(scratch).glob("*.tgz"))
        if result.returncode or len(archives) != 1:
            words = result.stderr.strip().splitlines()
            msg = f"npm could not fetch {package}@{version}: {words[-1] if words else 'it gave no reason'}"
            raise PeerUnavailableError(msg)
        unpack(archives[0], package_folder(package), integrity)
    return package_folder(package)


def unpack(archive: Path, folder: Path, integrity: str = INTEGRITY) -> None:
    """Check an npm archive against its digest and put its files into `folder`, which appears complete or not at all.

    Raises
    ------
    PeerUnavailableError
        If the digest is another one.
    """
    found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != integrity:
        msg = f"{archive.name} has the digest {found}, not the pinned {integrity}"
        raise PeerUnavailableError(msg)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        (Path(scratch) / "package").rename(folder)
