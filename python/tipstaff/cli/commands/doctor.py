"""``tipstaff doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tipstaff.cli import exits
from tipstaff.cli.host_options import host_option, project_root
from tipstaff.cli.output import Painter, counted, plain, write, write_json

if TYPE_CHECKING:
    from tipstaff.hosts.doctor import HostReport
    from tipstaff.hosts.policies import PolicyFinding


@click.command("doctor")
@host_option(required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(host: str, as_json: bool) -> int:
    """Send known events through the registered hook, and report what each host would do with the reply.

    Exits with 1 if something is wrong, or if the hook is not registered anywhere.
    """
    from tipstaff.cli.policy_review import policy_document, policy_lines
    from tipstaff.errors import ConfigError
    from tipstaff.gates.image.repository_policy import has_own_policy, policy_of
    from tipstaff.hosts import hosts_named
    from tipstaff.hosts.doctor import examine
    from tipstaff.hosts.policies import PolicyFinding, check_policy, check_rules, check_state
    from tipstaff.store.state import repository_of, state_folder

    root, home, state = project_root(), Path.home(), state_folder()
    findings = check_state(state)
    if state.is_dir():
        repository = repository_of(root)
        if repository is not None:
            checks = (check_policy, check_rules) if has_own_policy(repository, state) else (check_rules,)
            findings += [found for check in checks if (found := check(repository, state)) is not None]
    policy = None
    if (repository := repository_of(root)) is not None and has_own_policy(repository, state):
        try:
            policy = policy_of(repository, state=state)
        except ConfigError as error:
            findings.append(PolicyFinding(str(repository), str(error), "a person must correct the file"))
    reports = [examine(one, root, home, state) for one in hosts_named(host)]
    registered = [report for report in reports if report.registrations]
    well = bool(registered) and not findings and not any(report.problems for report in reports)
    if as_json:
        write_json(
            {
                "well": well,
                "state": str(state),
                "policy": None if policy is None else policy_document(policy),
                "findings": [found.to_dict() for found in findings],
                "hosts": [report.to_dict() for report in reports],
            }
        )
    else:
        write(*_lines(str(state), findings, reports, Painter()), *([] if policy is None else policy_lines(policy)))
    return exits.OK if well else exits.FINDINGS


def _lines(state: str, findings: list[PolicyFinding], reports: list[HostReport], paint: Painter) -> list[str]:
    lines = [f"state: {plain(state)}"]
    for one in findings:
        where = "" if one.problem.startswith(one.path) else f"{plain(one.path)}: "
        lines.append(f"  {paint('wrong', 'red')}: {where}{plain(one.problem)}; {plain(one.fix)}")
    for report in reports:
        if not report.registrations and not report.problems:
            lines.append(f"{paint(report.host, bold=True)}: not registered")
            continue
        lines.append(f"{paint(report.host, bold=True)}: {counted(len(report.registrations), 'registration')}")
        for probe in report.probes:
            mark = paint("right", "green") if probe.right else paint("wrong", "red")
            lines.append(f"  {mark}: {probe.kind} call: {probe.outcome} ({plain(probe.why)})")
        shown = {f"{probe.kind} call: {probe.outcome}, {probe.why}" for probe in report.probes}
        lines += [f"  {paint('wrong', 'red')}: {plain(problem)}" for problem in report.problems if problem not in shown]
        lines += [f"  note: {plain(note)}" for note in report.notes]
    if not any(report.registrations for report in reports):
        lines.append(f"{paint('wrong', 'red')}: the hook is not registered: run `tipstaff install --host NAME`")
    return lines
