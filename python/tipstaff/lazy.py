"""Names of a package that are loaded when they are first asked for.

Imports nothing at its top: this is part of what ``import tipstaff`` costs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package.

    Parameters
    ----------
    package
        Its full name.
    homes
        The module in which each of its names is defined.

    Returns
    -------
    Callable
        Loads a name, remembers it in the package, and raises `AttributeError` for one that is not in `homes`.
    """

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        import sys
        from importlib import import_module

        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
