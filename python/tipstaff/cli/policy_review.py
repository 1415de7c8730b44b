"""Compiles a repository's policy; a person is asked about each thing that would make it weaker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipstaff.cli.output import plain, write
from tipstaff.cli.person import confirmed, why_no_person

if TYPE_CHECKING:
    from tipstaff.gates.image.repository_policy import RepositoryPolicy
    from tipstaff.gates.packs.weakenings import Weakening


def compile_reviewed(repository: Path, state: Path, *, ask: bool = True) -> RepositoryPolicy:
    """Compile a repository's policy into the state folder and return it.

    Parameters
    ----------
    repository, state
        Its root, and the state folder.
    ask
        Whether a person is asked about weakenings that nobody has answered yet. Where none is there, and where they say
        no, the policy is compiled without them.
    """
    from tipstaff.gates.image.policy_file import write_policy
    from tipstaff.gates.image.repository_policy import accept_weakenings, policy_of

    policy = policy_of(repository, state=state)
    open_ones = [one for one in policy.left_out if one.because]
    if open_ones and ask and not why_no_person():
        write(f"{plain(str(repository))} asks for weaker gates than the shipped ones:")
        accepted = [one.digest for one in open_ones if _asked(one, state)]
        if accepted:
            accept_weakenings(repository, state, [*(one.digest for one in policy.in_force), *accepted])
            policy = policy_of(repository, state=state)
    write_policy(policy.image, repository, state=state)
    return policy


def _asked(one: Weakening, state: Path) -> bool:
    write("", *weakening_lines(one))
    return confirmed("To allow this", "weaker", "the word weaker", state)


def weakening_lines(one: Weakening) -> list[str]:
    """Return a weakening for people."""
    return [
        f"  {plain(one.what)} {plain(one.name)}: {plain(one.former)} becomes {plain(one.now)}",
        f"    because {plain(one.because)}"
        if one.because
        else "    without a reason, so it has no effect: add because",
        f"    in {plain(one.source)}",
    ]


def policy_lines(policy: RepositoryPolicy) -> list[str]:
    """Return what is in force of a policy, for people: its sources, its settings, what makes it weaker."""
    own = f"{len(built_in_packs())} built-in packs"
    if policy.repository is None:
        return [f"policy: {own}, default settings"]
    settings = changed_settings(policy)
    lines = [f"policy of {plain(policy.repository)}: {own}{'' if settings else ', default settings'}"]
    lines += [f"  with {plain(source)}" for source in policy.sources]
    lines += [f"  setting {name} = {plain(str(value))}" for name, value in settings.items()]
    if policy.in_force:
        lines.append("  weaker, as a person allowed:")
        lines += [f"  {line}" for one in policy.in_force for line in weakening_lines(one)]
    if policy.left_out:
        lines.append("  asked for and not in force (a person runs `tipstaff compile` in a terminal):")
        lines += [f"  {line}" for one in policy.left_out for line in weakening_lines(one)]
    return lines


def policy_document(policy: RepositoryPolicy) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "repository": policy.repository,
        "packs": built_in_packs(),
        "sources": list(policy.sources),
        "settings": changed_settings(policy),
        "weaker": [one.to_dict() for one in policy.in_force],
        "not_in_force": [one.to_dict() for one in policy.left_out],
    }


def built_in_packs() -> list[str]:
    """Return the names of the packs that are part of this package."""
    from tipstaff.gates.packs.reader import PACKS_DIRECTORY, pack_files

    return [path.stem for path in pack_files(PACKS_DIRECTORY)]


def changed_settings(policy: RepositoryPolicy) -> dict[str, Any]:
    """Return the settings that are not the defaults."""
    from tipstaff.gates.config import GateConfig

    default = GateConfig()
    names = GateConfig.__struct_fields__
    return {
        name: getattr(policy.config, name) for name in names if getattr(policy.config, name) != getattr(default, name)
    }
