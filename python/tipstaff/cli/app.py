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

COMMANDS: Final = {
    "approve": "Allow one call that waits for a person, once; for people only.",
    "check": "Run the checks of a repository: build, tests, linters, coverage.",
    "compile": "Compile the rule files of a repository into its shard store.",
    "context": "Show what the last request to the model contained.",
    "doctor": "Try the registered hook, and report what each agent host would do.",
    "explain": "Show where a rule comes from and when it is loaded.",
    "gate": "Show what the gates decide about a command or a tool call.",
    "headless": "Run a suite of tasks with an agent program, and report which assertions hold.",
    "install": "Register the hook in an agent host's settings.",
    "ledger": "Show, verify and export the ledger of runs; ingest the hook's spool.",
    "lint": "Report what is wrong with the rule files of a repository.",
    "optimize": "Propose changes to the rules, and decide their trials by the runs.",
    "replay": "Show what a changed policy would have decided about recorded calls.",
    "retrieve": "Show the rules that matter for a task.",
    "review": "Assemble a reviewer's context, and verify a reviewer's answer.",
    "rules": "Show how well each rule is followed in the runs.",
    "run": "Begin and finish a run of an agent.",
    "scan": "Find secrets in files, in staged changes, or in standard input.",
    "serve": "Answer JSON-RPC on a Unix socket: context.inspect.",
    "size": "Check whether a task fits a model's window, and divide one that does not.",
    "sop": "Check, list and match standard operating procedures.",
    "uninstall": "Remove the hook from an agent host's settings.",
}

_ROOMS: Final = {
    "Guidance (rule files in, the right rules out)": ("compile", "lint", "retrieve", "explain"),
    "Gates and secrets (tool calls in, verdicts out)": ("gate", "scan"),
    "Agent hosts (the hook)": ("install", "uninstall", "doctor", "approve"),
    "Context (what enters the model's window)": ("context", "serve"),
    "Review (checks, sizes, a reviewer's context)": ("check", "size", "sop", "review"),
    "Runs (the ledger, evaluations, evolution of rules)": ("run", "ledger", "rules", "replay", "optimize", "headless"),
}
"""Headings of the help, and the commands below each; a command that is not named here comes last."""
_OTHERS: Final = "More"
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


class _Rooms(click.Group):
    """Imports a command's module when it is asked for, and lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tipstaff.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        named = {name for names in _ROOMS.values() for name in names}
        for heading, names in {**_ROOMS, _OTHERS: tuple(sorted(COMMANDS.keys() - named))}.items():
            if entries := [(name, COMMANDS[name]) for name in names if name in COMMANDS]:
                with formatter.section(heading):
                    formatter.write_dl(entries)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in _EXIT_CODES])


@click.group(cls=_Rooms, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="tipstaff %(version)s")
def group() -> None:
    """Guidance, gates, context and review beside coding agents.

    Every command takes --json and then prints one JSON document.
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
