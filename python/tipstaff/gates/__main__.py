"""``python -m tipstaff.gates``: compile the package's own packs to the image that is shipped with it."""

from __future__ import annotations

import sys

from tipstaff.gates.image.policy import build_image
from tipstaff.gates.image.policy_image import DEFAULT_IMAGE
from tipstaff.store.replacing import replaced_file


def main() -> int:
    """Write the image; samples that disagree are errors."""
    image = build_image()
    with replaced_file(DEFAULT_IMAGE) as file:
        file.write(image)
    sys.stdout.write(f"{DEFAULT_IMAGE.name}: {len(image)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
