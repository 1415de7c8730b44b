"""The group of commands, and how their errors reach people: one line, and a code that scripts can read."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

import click

from tipstaff import __version__
from tipstaff.cli import exits
from tipstaff.errors import (
    SourceError,
    SourceNotFoundError,
    StoreError,
    StoreWriteError,
    TipstaffError,
    message_of,
)  # fmt: skip

PURPOSES: Final = {
    "Start": {
        "init": "Set tipstaff up in this repository: hosts, rules, gates.",
        "doctor": "Try the registered hook, and report what each agent host would do.",
        "guard": "Start an agent host that cannot change the gate's own files.",
        "install": "Register the hook with agent hosts.",
        "uninstall": "Remove the hook from agent hosts.",
    },
    "Stop calls that destroy or leak": {
        "undo": "Bring back what a call deleted or overwrote.",
        "gate": "Show what the gates decide about a command or a tool call.",
        "approve": "Allow one call that waits for a person, once; for people only.",
        "scan": "Find secrets in files, in staged changes, or in standard input.",
    },
    "Give agents the right rules": {
        "lint": "Report what is wrong with the rule files of a repository.",
        "compile": "Compile the rule files of a repository.",
        "sync": "Write the rules of one host for others, in their formats.",
        "retrieve": "Show the rules that matter for a task, and why.",
        "rules": "Explain a rule, show how each is followed, improve them by that evidence.",
    },
    "See what enters the model's window": {
        "context": "Show what the last request to the model contained.",
        "memory": "List what an agent is given to remember; accept what came with the repository.",
    },
    "Check and review changes": {
        "check": "Run the checks of a repository: build, tests, linters, coverage.",
        "review": "See whether a task fits, assemble what its reviewer reads, verify the answer.",
    },
    "Measure runs": {
        "serve": "Serve verdicts, metrics and a page of what happened; MCP: tipstaff mcp, tipstaff mcp-gateway.",
        "run": "Begin and finish a run of an agent.",
        "ledger": "Show, verify and export the ledger of runs; ingest the hook's spool.",
        "replay": "Show what a changed policy would have decided about recorded calls.",
        "headless": "Run a suite of tasks with an agent program, and report which assertions hold.",
    },
}
"""The commands and their help, below what a person wants; at most twenty."""
COMMANDS: Final = {name: text for commands in PURPOSES.values() for name, text in commands.items()}
STARTED_BY_PROGRAMS: Final = ("mcp", "mcp-gateway")
"""Commands that stand in the configuration of other programs; `serve` and docs/serving.md name them."""
_EXIT_CODES: Final = (
    (exits.OK, "success"),
    (
        exits.FINDINGS,
        "something was found: a finding, a secret, a failed check, a command that is not allowed",
    ),
    (exits.USAGE, "wrong usage: command, option, value or setting"),
    (exits.UNREADABLE, "a file, folder or rule does not exist or cannot be read"),
    (exits.STORE, "the store cannot be written or used"),
    (exits.INTERNAL, "internal error; TIPSTAFF_TRACEBACK=1 shows where"),
    (exits.INTERRUPTED, "interrupted"),
    (exits.BROKEN_PIPE, "the reader of the output closed it"),
)


class _Commands(click.Group):
    """Imports a command's module when it is asked for, and lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in {*COMMANDS, *STARTED_BY_PROGRAMS}:
            return None
        command: click.Command = import_module(f"tipstaff.cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for heading, commands in PURPOSES.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in _EXIT_CODES])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="tipstaff %(version)s")
def group() -> None:
    """Rules, gates, context and reviews beside coding agents. New here: tipstaff init.

    Every command that prints a result takes --json and then prints one JSON document; -C PATH names the repository.
    """


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; no exception leaves this function but ``SystemExit`` of none."""
    try:
        # Not `group.main`, which ends the process itself when a pipe breaks.
        with group.make_context("tipstaff", list(arguments) or ["--help"]) as context:
            code = group.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code if arguments else exits.USAGE
    except click.UsageError as error:
        where = f" (see: {error.ctx.command_path} --help)" if error.ctx is not None else ""
        return _report(f"{error.format_message()}{where}", exits.USAGE)
    except click.ClickException as error:
        return _report(error.format_message(), exits.USAGE)
    except (click.Abort, KeyboardInterrupt):
        return exits.INTERRUPTED
    except BrokenPipeError:
        # The interpreter would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.BROKEN_PIPE
    except TipstaffError as error:
        return _report(message_of(error), exit_code_of(error))
    except OSError as error:
        return _report(message_of(error), exits.UNREADABLE)
    except Exception as error:
        if os.environ.get("TIPSTAFF_TRACEBACK"):
            raise
        kind = type(error).__name__
        return _report(f"internal error, {kind}: {error}; TIPSTAFF_TRACEBACK=1 shows where", exits.INTERNAL)
    return code if isinstance(code, int) else exits.OK


def exit_code_of(error: TipstaffError) -> int:
    """Return the exit code for a kind of error."""
    if isinstance(error, (StoreError, StoreWriteError)):
        return exits.STORE
    if isinstance(error, (SourceError, SourceNotFoundError)):
        return exits.UNREADABLE
    return exits.USAGE


def _report(message: str, code: int) -> int:
    # An error that quotes a file's text must stay one line.
    line = " ".join(message.split())
    click.echo(f"tipstaff: error: {line}", err=True)
    return code
