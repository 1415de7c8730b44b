"""Writes the table of the packs that come with the package: ``python -m tools.write_secret_table``."""

from __future__ import annotations

from tipstaff.gates.secret_table import default_table
from tipstaff.gates.secrets import TABLE_FILE


def main() -> None:
    table = default_table()
    TABLE_FILE.write_bytes(table)
    print(f"{TABLE_FILE.name}: {len(table)} bytes")


if __name__ == "__main__":
    main()
