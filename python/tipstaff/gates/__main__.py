"""``python -m tipstaff.gates``: hold the rules of the package's own packs, as they stand, to their samples.

The build compiles the packs into the hook program and the extension modules.
"""

from __future__ import annotations

import sys

from tipstaff.gates.image.policy import build_image
from tipstaff.gates.packs.reader import load_policy
from tipstaff.gates.secrets.packs import default_rules, default_words
from tipstaff.gates.secrets.table import check_samples


def main() -> int:
    """Compile and check both kinds of packs; a sample that disagrees is an error that names its rule."""
    image = build_image()
    rules, words = default_rules(), default_words()
    for rule in rules:
        check_samples(rule, words)
    sys.stdout.write(f"{len(load_policy().rules)} rules in {len(image)} bytes, {len(rules)} rules of secrets\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
