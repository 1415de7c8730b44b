"""Compiles a repository's policy and rules again; the hook program starts it where another version compiled them.

``python -I -m tipstaff.hosts.compiling REPOSITORY``
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tipstaff.errors import TipstaffError, message_of
from tipstaff.gates.image.policy_file import policy_path
from tipstaff.guidance.hook.image import hook_image_path, write_hook_image
from tipstaff.guidance.project import open_project
from tipstaff.hosts.policies import compile_policy
from tipstaff.store.state import fnv64, make_private, state_folder


def compile_again(repository: Path, state: Path) -> None:
    """Compile what the state folder holds of a repository; weakenings count where a person has allowed them.

    A mark beside it is taken away when that is done; where it fails, the mark says why, and the error is raised.

    Raises
    ------
    TipstaffError, OSError
        A file of the repository cannot be used, or nothing can be written; what was compiled before is unharmed.
    """
    mark = state / "compiling" / f"{fnv64(os.fsencode(repository)):016x}"
    try:
        if policy_path(repository, state).exists():
            compile_policy(repository, state)
        if hook_image_path(repository, state).exists():
            with open_project(repository, as_root=True) as project:
                write_hook_image(project.bundle, repository, state=state)
    except (TipstaffError, OSError) as error:
        make_private(mark.parent)
        mark.write_text(f"{message_of(error)}\n", encoding="utf-8")
        raise
    mark.unlink(missing_ok=True)


if __name__ == "__main__":
    compile_again(Path(sys.argv[1]), state_folder())
