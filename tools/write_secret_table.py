"""Writes the table of the packs that come with the package: ``python -m tools.write_secret_table``."""

from __future__ import annotations

from tipstaff.gates.secrets.scanner import TABLE_FILE
from tipstaff.gates.secrets.table import default_table


def main() -> None:
    table = default_table()
    TABLE_FILE.write_bytes(table)
    print(f"{TABLE_FILE.name}: {len(table)} bytes")


if __name__ == "__main__":
    main()
