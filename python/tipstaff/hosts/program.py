"""Where the installed hook program is."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from tipstaff.errors import SourceNotFoundError
from tipstaff.hosts.host import PROGRAM


def hook_program() -> Path:
    """Return the absolute path of ``tipstaff-hook``, as it was installed with this package.

    Raises
    ------
    SourceNotFoundError
        If it is not there: this system had no compiler for it, or the package is damaged.
    """
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    for folder in folders:
        path = Path(folder) / PROGRAM
        if path.is_file() and os.access(path, os.X_OK):
            return path
    found = shutil.which(PROGRAM)
    if found is None:
        message = f"{Path(folders[0]) / PROGRAM}: the hook program is not installed; install tipstaff again"
        raise SourceNotFoundError(message)
    return Path(found).absolute()
