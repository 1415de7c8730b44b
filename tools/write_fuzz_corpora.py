"""Packs inputs of a fuzzing run that reach something new: ``make fuzz``, then ``python -m tools.write_fuzz_corpora``.

One archive for each target in ``native/fuzz/corpora``, from which the next run starts. The inputs of ``secrets_fuzz``
stay out: some look like secrets.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from tipstaff.store.replacing import replaced_file

ROOT: Final = Path(__file__).resolve().parents[1]
CORPORA: Final = ROOT / "native/fuzz/corpora"
BUILD: Final = ROOT / "build/fuzz"
LONGEST: Final = 600
"""Bytes of an input that is kept."""


def packed(folder: Path) -> bytes:
    """Return the files of a folder as an archive, the shortest first: the same bytes for the same files."""
    files = sorted((file.stat().st_size, file.read_bytes()) for file in folder.iterdir())
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        for number, (size, data) in enumerate(files):
            member = tarfile.TarInfo(f"{number:04d}")
            member.size = size
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def main() -> int:
    """Merge each target's inputs with libFuzzer, and write its archive."""
    for target in sorted((BUILD / "native").glob("*_fuzz")):
        if target.name == "secrets_fuzz":
            continue
        with tempfile.TemporaryDirectory() as kept:
            subprocess.run(
                [target, "-merge=1", f"-max_len={LONGEST}", "-verbosity=0", kept, BUILD / "corpus" / target.name],
                check=True,
            )
            data = packed(Path(kept))
        with replaced_file(CORPORA / f"{target.name}.tar.xz") as file:
            file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
