"""``python -m benchmarks.peers``: fetch what is missing; say so and go on where that is impossible."""

from __future__ import annotations

import sys

from benchmarks.peers.install import PACKAGE, VERSION, PeerUnavailableError, install


def main() -> int:
    """Fetch the npm peer; benchmarks run without it where it cannot be had."""
    try:
        folder = install()
    except PeerUnavailableError as error:
        print(f"{PACKAGE} {VERSION} is left out: {error}")
    else:
        print(f"{PACKAGE} {VERSION}: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
