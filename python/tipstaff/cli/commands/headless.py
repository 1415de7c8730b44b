"""``tipstaff headless``."""

from __future__ import annotations

from pathlib import Path

import click

from tipstaff.cli import exits
from tipstaff.cli.options import json_option, ledger_options, opened
from tipstaff.cli.output import Painter, check_outputs, plain, write, write_json
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.store.untrusted import read_untrusted_text


@click.command("headless")
@click.argument("suite_path", metavar="SUITE", type=click.Path(path_type=Path))
@ledger_options
@click.option("--tag", "tags", multiple=True, help="Only cases with this tag.")
@click.option("--executor", help="claude, codex or gemini, instead of the suite's.")
@click.option("--parallel", default=1, show_default=True, type=click.IntRange(1), help="Cases run in parallel.")
@click.option("--junit", "junit_path", type=click.Path(path_type=Path), help="Write JUnit XML.")
@click.option("--markdown", "markdown_path", type=click.Path(path_type=Path), help="Write Markdown.")
@click.option("--record", is_flag=True, help="Record the runs in the ledger.")
@click.option("--compare", "compared", nargs=2, type=click.Path(path_type=Path), help="Two rule files: A and B.")
@click.option("--as", "rule_path", default="CLAUDE.md", show_default=True, help="Where the rule files are written.")
@click.option(
    "--repeats", default=3, show_default=True, type=click.IntRange(1), help="Runs of each case, with --compare."
)
@json_option
def command(
    suite_path: Path, repository: Path, url: str | None, key_file: Path | None, tags: tuple[str, ...],
    executor: str | None, parallel: int, junit_path: Path | None, markdown_path: Path | None, record: bool,
    compared: tuple[Path, Path] | None, rule_path: str, repeats: int, as_json: bool,
) -> int:  # fmt: skip
    """Run a suite of tasks with an agent program, each in its own clone, and report which assertions hold.

    Exits with 1 if a case does not pass.
    """
    from tipstaff.gates.redaction import redact_data, write_record
    from tipstaff.runs.headless import reports
    from tipstaff.runs.headless.executors import Executor
    from tipstaff.runs.headless.runner import CaseResult, run_suite
    from tipstaff.runs.headless.suites import read_suite

    check_outputs(junit_path, markdown_path)
    suite = read_suite(suite_path).tagged(tags)
    if not suite.cases:
        raise ConfigError(f"{suite_path}: no case has the tag {', '.join(tags)}")
    asked = Executor(executor) if executor else None
    paint = Painter()

    def done(one: CaseResult) -> None:
        if not as_json:
            state = paint("pass", "green") if one.passed else paint("FAIL", "red", bold=True)
            why = "" if one.passed else f": {plain((*one.errors, *one.failures)[0][:160])}"
            write(f"{state}  {plain(one.id)}  {one.seconds:.1f} s{why}", painter=paint)

    if compared is not None:
        from tipstaff.runs.headless.reports import compare

        a, b = ({rule_path: _text(path)} for path in compared)
        found = compare(suite, repository, a, b, repeats=repeats, executor=asked, parallel=parallel, done=done)
        if as_json:
            write_json(found.to_dict())
        else:
            for name, arm in (("A", found.a), ("B", found.b)):
                low, high = arm.interval
                write(f"{name}: {arm.passed} of {arm.runs} passed ({low:.0%} to {high:.0%}), {arm.tokens:,.0f} tokens")
            write(f"B - A: {found.difference:+.0%} ({found.interval[0]:+.0%} to {found.interval[1]:+.0%})")
        return exits.OK
    result = run_suite(suite, repository, executor=asked, parallel=parallel, done=done)
    if record:
        with opened(repository, url, key_file, create=True) as ledger:
            ledger.append_many(one.event for one in result.results)
    for path, text in ((junit_path, reports.junit), (markdown_path, reports.markdown)):
        if path is not None:
            write_record(path, text(result))
    if as_json:
        write_json(redact_data({**result.to_dict(), "passed": result.passed}))
    else:
        passed = sum(one.passed for one in result.results)
        write(f"{passed} of {len(result.results)} cases passed in {result.seconds:.1f} s")
    return exits.OK if result.passed else exits.FINDINGS


def _text(path: Path) -> str:
    try:
        return read_untrusted_text(path)
    except OSError as error:
        raise SourceNotFoundError(f"{path}: it cannot be read: {error.strerror}") from error
