"""The group of commands, and how their errors reach people: one line, and a code that scripts can read."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

import click

from tipstaff import __version__
from tipstaff.cli import exits
from tipstaff.errors import SourceError, SourceNotFoundError, StoreError, StoreWriteError, TipstaffError

_COMMANDS: Final = {
    "approve": "Allow one call that waits for a person, once; only for people.",
    "check": "Run the checks of a repository: build, tests, linters, coverage.",
    "compile": "Compile the rule files of a repository into its shard store.",
    "context": "Show what the last request to the model really contained.",
    "doctor": "Try the registered hook, and say what each agent host would do.",
    "explain": "Say where a rule comes from and when it is loaded.",
    "gate": "Say what the gates decide of a command or a tool call.",
    "headless": "Run a suite of tasks with an agent program, and say what held.",
    "install": "Register the hook in an agent host's settings.",
    "ledger": "Look at the ledger of runs, verify it, take the hook's spool in, export it.",
    "lint": "Find what is wrong with the rule files of a repository.",
    "optimize": "Propose changes of the rules, and decide their trials on the runs.",
    "replay": "Say what a changed policy would have decided of recorded calls.",
    "retrieve": "Show the rules that matter for a task.",
    "rules": "Say how each rule fares in the runs.",
    "run": "Begin and finish a run of an agent.",
    "scan": "Find secrets in files, in what is staged, or in standard input.",
    "serve": "Answer JSON-RPC on a Unix socket: context.inspect.",
    "size": "Say whether a task fits a model's window, and how to divide one that does not.",
    "uninstall": "Take the hook out of an agent host's settings.",
}


class _Commands(click.Group):
    """Imports a command's module when it is asked for, and lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"tipstaff.cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="tipstaff %(version)s")
def group() -> None:
    """Compile, check and retrieve the rules that coding agents are given.

    Exit codes: 0 fine, 1 findings, 2 wrong usage, 3 not found or unreadable, 4 store not usable.
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
        return _report(_message(error), exit_code_of(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _report(f"{where}{error.strerror or error}", exits.UNREADABLE)
    except Exception as error:
        if os.environ.get("TIPSTAFF_TRACEBACK"):
            raise
        kind = type(error).__name__
        return _report(f"internal error, {kind}: {error}; TIPSTAFF_TRACEBACK=1 shows where", exits.INTERNAL)
    return code if isinstance(code, int) else exits.OK


def exit_code_of(error: TipstaffError) -> int:
    """Return the exit code that tells scripts what kind of error it was."""
    if isinstance(error, (StoreError, StoreWriteError)):
        return exits.STORE
    if isinstance(error, (SourceError, SourceNotFoundError)):
        return exits.UNREADABLE
    return exits.USAGE


def _message(error: TipstaffError) -> str:
    """Return an error's words without the ``[Errno 2]`` that an operating-system error puts before them."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    return str(error)


def _report(message: str, code: int) -> int:
    # An error that quotes a file's text must stay one line.
    line = " ".join(message.split())
    click.echo(f"tipstaff: error: {line}", err=True)
    return code
