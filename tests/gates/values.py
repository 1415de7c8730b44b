"""Values in the shape of secrets, made when they are asked for."""

from __future__ import annotations

import random
import string


def token() -> str:
    """Return what looks like a personal access token of a code host, always the same one."""
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=20)
    return "glpat-" + "".join(letters)
