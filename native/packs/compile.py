"""Compile the packs of this source tree: ``compile.py policy|secrets FILE``; a file whose bytes are the same stays.

The compiler is that of the package, as it stands beside this file: an installed one, be it editable, is not asked.
"""

import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from pathlib import Path


def compiled(what: str) -> bytes:
    """Return the rules of the gates (``policy``) or of secrets as the native side reads them."""
    if what == "secrets":
        from tipstaff.gates.secrets.packs import default_rules, default_words
        from tipstaff.gates.secrets.table import compile_table

        return compile_table(default_rules(), default_words())
    from tipstaff.gates.image.policy import build_image

    return build_image(check=False)


def main(what: str, path: Path) -> int:
    """Write one of them."""
    data = compiled(what)
    if not path.is_file() or path.read_bytes() != data:
        fresh = path.with_suffix(".new")
        fresh.write_bytes(data)
        fresh.replace(path)
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, PathFinder]
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
