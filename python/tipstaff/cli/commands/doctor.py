"""``tipstaff doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from tipstaff.cli import exits
from tipstaff.cli.options import host_option, json_option, repository_option
from tipstaff.cli.output import Painter, counted, plain, write, write_json

if TYPE_CHECKING:
    from tipstaff.gates.image.repository_policy import RepositoryPolicy
    from tipstaff.hosts.doctor import HostReport
    from tipstaff.hosts.policies import PolicyFinding


class Examination(NamedTuple):
    """What the doctor found: the policy in force, what is wrong, each host's report, and what the kernel guards by."""

    state: Path
    policy: RepositoryPolicy | None
    findings: list[PolicyFinding]
    reports: list[HostReport]
    guard: str
    answers: str

    @property
    def well(self) -> bool:
        """Whether the hook is registered somewhere, and nothing is wrong."""
        registered = any(report.registrations for report in self.reports)
        return registered and not self.findings and not any(report.problems for report in self.reports)


@click.command("doctor")
@host_option
@repository_option
@json_option
def command(host: str | None, repository: Path, as_json: bool) -> int:
    """Send known events through the registered hook, and report what each host would do with the reply.

    Exits with 1 if something is wrong, or if the hook is not registered anywhere.
    """
    from tipstaff.cli.policy_review import policy_document, policy_lines

    found = examination(repository, host or "all")
    if as_json:
        write_json(
            {
                "well": found.well,
                "state": str(found.state),
                "guard": found.guard,
                "answers": found.answers,
                "policy": None if found.policy is None else policy_document(found.policy),
                "findings": [one.to_dict() for one in found.findings],
                "hosts": [report.to_dict() for report in found.reports],
            }
        )
    else:
        write(*_lines(found, Painter()), *([] if found.policy is None else policy_lines(found.policy)))
    return exits.OK if found.well else exits.FINDINGS


def examination(root: Path, host: str) -> Examination:
    """Examine one host or all of them, the state folder and the policies."""
    from tipstaff.errors import ConfigError
    from tipstaff.gates.image.repository_policy import has_own_policy, policy_of
    from tipstaff.hosts import hosts_named
    from tipstaff.hosts.doctor import examine
    from tipstaff.hosts.guarding import mechanism
    from tipstaff.hosts.policies import PolicyFinding, check_policy, check_rules, check_state
    from tipstaff.hosts.tidying import tidy_keeps
    from tipstaff.store.state import repository_of, state_folder
    from tipstaff.undo.retention import faults

    state = state_folder()
    findings = check_state(state)
    repository = repository_of(root)
    tidy_keeps()
    findings += [PolicyFinding(*one) for one in faults(repository, state)]
    own = repository if repository is not None and has_own_policy(repository, state) else None
    if state.is_dir() and repository is not None:
        checks = (check_rules,) if own is None else (check_policy, check_rules)
        findings += [found for check in checks if (found := check(repository, state)) is not None]
    policy = None
    if own is not None:
        try:
            policy = policy_of(own, state=state)
        except ConfigError as error:
            findings.append(PolicyFinding(str(own), str(error), "a person must correct the file"))
    reports = [examine(one, root, Path.home(), state) for one in hosts_named(host)]
    return Examination(state, policy, findings, reports, mechanism(state), _answers(state))


def _answers(state: Path) -> str:
    """Return by what a person's answers are known."""
    from tipstaff.store.signing import has_signer

    if has_signer(state):
        return "signed by a key of yours, which your passphrase unlocks"
    return "whoever can type in a terminal of yours can give them; `tipstaff init` sets a passphrase"


def problem_lines(found: Examination, paint: Painter) -> list[str]:
    """Return what is wrong, a line each."""
    lines: list[str] = []
    for one in found.findings:
        where = "" if one.problem.startswith(one.path) else f"{plain(one.path)}: "
        lines.append(f"  {paint('wrong', 'red')}: {where}{plain(one.problem)}; {plain(one.fix)}")
    for report in found.reports:
        shown = {f"{probe.kind} call: {probe.outcome}, {probe.why}" for probe in report.probes}
        wrong = [problem for problem in report.problems if problem not in shown]
        lines += [f"  {paint('wrong', 'red')}: {report.host}: {plain(problem)}" for problem in wrong]
    return lines


def _lines(found: Examination, paint: Painter) -> list[str]:
    lines = [f"state: {plain(str(found.state))}", f"guard: {found.guard}", f"answers: {found.answers}"]
    for report in found.reports:
        if not report.registrations:
            continue
        lines.append(f"{paint(report.host, bold=True)}: {counted(len(report.registrations), 'registration')}")
        for probe in report.probes:
            mark = paint("right", "green") if probe.right else paint("wrong", "red")
            lines.append(f"  {mark}: {probe.kind} call: {probe.outcome} ({plain(probe.why)})")
        lines += [f"  note: {plain(note)}" for note in report.notes]
    if others := [report.host for report in found.reports if not report.registrations]:
        lines.append(f"not registered: {', '.join(others)}")
    if len(others) == len(found.reports):
        lines.append(f"{paint('wrong', 'red')}: the hook is not registered: run `tipstaff init`")
    return [*lines, *problem_lines(found, paint)]
