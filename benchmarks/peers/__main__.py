"""``python -m benchmarks.peers``: fetch the peers that are missing; report those that cannot be had and continue."""

from __future__ import annotations

import sys

from benchmarks.peers.install import PACKAGES, PeerUnavailableError, install


def main() -> int:
    """Fetch the npm peers; benchmarks report a row whose peer cannot be had as not measured."""
    for package, version, integrity in PACKAGES:
        try:
            folder = install(package, version, integrity)
        except PeerUnavailableError as error:
            print(f"{package} {version} is left out: {error}")
        else:
            print(f"{package} {version}: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
