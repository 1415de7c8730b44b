"""Translate every extension module from Cython to C++ in one process: ``translate.py FOLDER MODULE.pyx...``.

A process for each module spends two thirds of its time on starting Cython and reading Cython's own utility code. A file
in `FOLDER` is replaced only where its text changed, so that a module whose text is the same is not compiled again.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from Cython.Compiler.Main import compile as translate

SHARED = Path(__file__).parent / "shared"


def main(folder: Path, sources: list[Path]) -> int:
    """Translate `sources` to `folder`; the exit status: 1 where one has an error, which Cython has then printed."""
    with TemporaryDirectory(dir=folder) as scratch:
        for source in sources:
            fresh, kept = Path(scratch, f"{source.stem}.cpp"), folder / f"{source.stem}.cpp"
            result = translate(
                str(source),
                full_module_name=f"tipstaff.kernels.{source.stem}",
                output_file=str(fresh),
                include_path=[str(SHARED)],
                language_level=3,
                cplus=True,
            )
            if result.num_errors:
                return 1
            if not kept.exists() or kept.read_bytes() != fresh.read_bytes():
                fresh.replace(kept)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]))
