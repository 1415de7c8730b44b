"""Names of a package that are loaded when they are first asked for.

A package writes its public names once, in the stub beside it, which type checkers read as it is. Imports nothing at its
top: this is part of what ``import tipstaff`` costs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package
        Its full name.
    file
        Its ``__file__``. The stub beside it has lines ``from MODULE import NAME as NAME`` alone.
    """
    homes: dict[str, str] = {}
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:  # noqa: PTH123 - without importing pathlib
        for line in stub:
            words = line.split()
            if words[:1] == ["from"] and words[2:3] == ["import"] and words[4:5] == ["as"]:
                homes[words[3]] = words[1]
    names = list(homes)
    return loader(package, homes), lambda: sorted(names), names


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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
