"""The policy that gates judge by: the packs of this package, and a repository's own laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tipstaff.gates.packs.model import DECISIONS, SEVERITIES
from tipstaff.gates.results import DECISIONS as RESULT_DECISIONS

if TYPE_CHECKING:
    from tipstaff.gates.config import GateConfig
    from tipstaff.kernels._gates import Policy as NativePolicy


class RuleText(NamedTuple):
    """A rule's own description."""

    id: str
    pack: str
    reason: str
    safer: str
    severity: str
    because: str | None
    former: str


class LoadedPolicy(NamedTuple):
    """A checked image and the texts of its rules, by the rules' numbers."""

    native: NativePolicy
    rules: tuple[RuleText, ...]
    image: bytes | memoryview

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the image to another process; the built-in one is there already."""
        if self is default_policy():
            return default_policy, ()
        return open_policy, (bytes(self.image),)


@cache
def default_policy() -> LoadedPolicy:
    """Return the policy of this package's own packs."""
    return open_policy(default_image())


def default_image() -> memoryview:
    """Return the image of this package's own packs, which the build compiled into the native engine."""
    from tipstaff.kernels import _gates

    return _gates.built_in_policy()


def open_policy(image: bytes | memoryview) -> LoadedPolicy:
    """Check an image and read the descriptions of its rules.

    Raises
    ------
    ValueError
        It is no policy image: torn, altered, of another version.
    """
    from tipstaff.kernels import _gates

    native = _gates.Policy(image)
    rules = tuple(
        RuleText(name, pack, reason, safer, SEVERITIES[severity], because, DECISIONS[former])
        for name, pack, reason, safer, severity, _, because, former in native.rules
    )
    return LoadedPolicy(native, rules, image)


def build_image(
    extra: Iterable[Path] = (), *, config: GateConfig | None = None, secrets: bytes = b"", check: bool = True
) -> bytes:
    """Compile the packs of this package with further ones laid over them.

    Parameters
    ----------
    extra
        Packs of a repository.
    config
        Settings for programs that read nothing but the image; the defaults if None.
    secrets
        The secret scanner's table.
    check
        Whether the samples of all rules are checked against what was compiled.

    Raises
    ------
    PackError
        A pack cannot be used, or disagrees with its own samples.
    """
    from tipstaff.gates.config import GateConfig
    from tipstaff.gates.image.policy_image import compile_image
    from tipstaff.gates.packs.reader import load_policy
    from tipstaff.gates.packs.samples import check_samples

    used = config or GateConfig()
    policy = load_policy(extra=extra)
    image = compile_image(policy, config=used.numbers()[:-1], allowlist=used.allowed_tools, secrets=secrets)
    if check:
        check_samples(policy, image)
    return image


def policy_with(packs: Sequence[Path]) -> LoadedPolicy:
    """Return the policy with further packs; without any, the one that comes with this package."""
    return open_policy(build_image(packs)) if packs else default_policy()


assert DECISIONS[:4] == RESULT_DECISIONS, "findings are numbered as results are"  # noqa: S101
