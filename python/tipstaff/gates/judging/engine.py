"""Enforcement gates: a tool call in, results out, before anything runs."""

from __future__ import annotations

import copy
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.config import GateConfig, Numbers
from tipstaff.gates.fields import Field, as_text, encodable, fields_of
from tipstaff.gates.judging.answers import Answers
from tipstaff.gates.judging.events import LARGE_CHARS, dialect_of, directory_of, size_of
from tipstaff.gates.judging.losses import Weighed, weighed
from tipstaff.gates.judging.surroundings import is_in_repository
from tipstaff.gates.results import DECISIONS, GateResult, Verdict, verdict_of
from tipstaff.model import GuidanceRule
from tipstaff.processors import usable_processors
from tipstaff.store.state import state_folder

if TYPE_CHECKING:
    from tipstaff.gates.image.policy import LoadedPolicy
    from tipstaff.gates.image.repository_policy import RepositoryPolicy
    from tipstaff.gates.judging.explanation import Explanation
    from tipstaff.gates.secrets.scanner import Scanner
    from tipstaff.kernels._gates import CallSite, Flow

_MOST_SITES: Final = 1024


class EnforcementGates:
    """Judges commands, tool calls and edits.

    Parameters
    ----------
    config
        Which gates are on, and their thresholds; the defaults if None.
    packs
        Further packs, laid over those of this package: files, or folders of them.
    active_rules
        Guidance rules in force; a result names those that are about what was found.

    Raises
    ------
    PackError
        A pack cannot be used, or disagrees with its own samples.

    Notes
    -----
    One object may be used by many threads; judging holds no state but :class:`tipstaff.kernels._gates.Flow`, which a
    caller hands in for the calls of one run.

    Examples
    --------
    >>> from tipstaff import EnforcementGates, aggregate_decision
    >>> gates = EnforcementGates()
    >>> aggregate_decision(gates.evaluate_command("git reset --hard"))
    'require-confirmation'
    >>> gates.evaluate_command("git commit -m 'explain git reset --hard'")
    []
    """

    def __init__(
        self,
        config: GateConfig | None = None,
        *,
        packs: Iterable[str | Path] = (),
        active_rules: Iterable[GuidanceRule] = (),
    ) -> None:
        from tipstaff.gates.image.policy import policy_with

        self._start(config or GateConfig(), policy_with(list(_pack_paths(packs))), None, active_rules)

    def _start(
        self,
        config: GateConfig,
        policy: LoadedPolicy,
        scanner: Scanner | None,
        active_rules: Iterable[GuidanceRule] = (),
    ) -> None:
        from tipstaff.gates.secrets.scanner import default_scanner
        from tipstaff.kernels._gates import Judge

        self._config = config
        self._policy = policy
        numbers = self._config.numbers()
        # The allowlist and the secrets are judged here, over texts that the native engine is not handed.
        self._settings: Numbers = (numbers[0] & 0b110101, *numbers[1:])
        self._keeps = True
        self._home = os.path.expanduser("~")  # noqa: PTH111 - must be text, also where there is no home
        self._temporary = tempfile.gettempdir()
        self._state = os.fspath(state_folder())
        self._answers = Answers(config, policy, scanner).with_rules(active_rules)
        # One native call finds most calls harmless, and nothing of them is read here.
        table = (scanner or default_scanner()).data if config.secrets else None
        self._judge = Judge(policy.native, self._settings, table)
        self._sites: dict[str | None, CallSite] = {}
        self._is_offline = False
        self._looks = config.destructive_ops and config.evidence == "files" and config.read_files

    @classmethod
    def for_repository(cls, repository: str | Path, config: GateConfig | None = None) -> Self:
        """Return the gates of a repository: with its packs, secret rules and settings, as the hook judges there.

        What would make them weaker counts where a person has allowed it.

        Parameters
        ----------
        repository
            Its root.
        config
            Settings instead of the repository's own.

        Raises
        ------
        PackError, ConfigError
            A file of the repository's policy cannot be used.
        """
        from tipstaff.gates.image.repository_policy import policy_of

        return cls.of_policy(policy_of(Path(repository), state=state_folder()), config)

    @classmethod
    def of_policy(cls, policy: RepositoryPolicy, config: GateConfig | None = None) -> Self:
        """Return gates that judge by a policy, with its settings or others."""
        from tipstaff.gates.image.policy import default_policy, open_policy
        from tipstaff.gates.secrets.scanner import Scanner

        gates = cls.__new__(cls)
        loaded = default_policy() if policy.repository is None else open_policy(policy.image)
        scanner = Scanner(policy.secrets) if policy.secrets else None
        gates._start(config or policy.config, loaded, scanner)  # noqa: SLF001 - an object of this class
        return gates

    @property
    def config(self) -> GateConfig:
        """The settings."""
        return self._config

    @property
    def active_rules(self) -> tuple[GuidanceRule, ...]:
        """The guidance rules in force."""
        return tuple(rule for rule, _ in self._answers.rules)

    @property
    def active_gate_count(self) -> int:
        """How many gates are on."""
        config = self._config
        return sum((config.destructive_ops, config.tool_allowlist, config.diff_size, config.secrets))

    def set_active_rules(self, rules: Iterable[GuidanceRule]) -> None:
        """Take the guidance rules in force; a result names those that are about what was found."""
        self._answers = self._answers.with_rules(rules)

    # -- one event -----------------------------------------------------------------------------------------------------

    def evaluate_command(
        self, command: str, *, cwd: str | None = None, shell: str = "bash", flow: Flow | None = None
    ) -> list[GateResult]:
        """Judge a command before it runs.

        Parameters
        ----------
        command
            The text as the shell would get it.
        cwd
            The directory that it would run in; None where it is not known, and relative paths are not either.
        shell
            ``bash`` (and similar shells), ``powershell``, ``cmd``, or a language: ``sql``, ``python``, ``node`` ...
        flow
            What earlier calls of the same run did; it is changed.

        Returns
        -------
        list of GateResult
            One for each gate that found something; none if nothing was found.

        Raises
        ------
        ConfigError
            If `shell` is not known.
        """
        text = as_text(command)
        if self._looks and cwd and is_in_repository(cwd):
            fields = [Field("command", "command", text, -1)]
            number = 0 if shell == "bash" else dialect_of(shell)
            native, clean, weighed = self._weighed("", fields, number, cwd, flow)
            results = self._answers.of_findings(native, fields, clean=clean, weighed=weighed)
            return results if clean else [*results, *self._answers.of_secrets([("command", text)], cwd=cwd)]
        site = self._sites.get(cwd) or self._kept_site(cwd)
        judged = self._judge.command(text, 0 if shell == "bash" else dialect_of(shell), site, flow)
        if judged is None:
            return []
        native, clean = judged
        results = self._answers.of_findings(native, [Field("command", "command", text, -1)], clean=clean)
        return results if clean else [*results, *self._answers.of_secrets([("command", text)], cwd=cwd)]

    def evaluate_tool_use(
        self, tool_name: str, params: Any, *, cwd: str | None = None, shell: str = "bash", flow: Flow | None = None
    ) -> list[GateResult]:
        """Judge a tool call before it runs.

        Parameters
        ----------
        tool_name
            As the host calls it: ``Bash``, ``Write``, ``apply_patch``, ``mcp__server__tool``.
        params
            Its parameters, whatever they are; nothing in them raises.
        cwd, shell, flow
            As of :meth:`evaluate_command`; a ``cwd`` or ``workdir`` among the parameters goes before `cwd`.

        Returns
        -------
        list of GateResult
            One for each gate that found something.
        """
        tool = as_text(tool_name)
        if self._looks and tool and (where := directory_of(params) or cwd) and is_in_repository(where):
            fields, number = fields_of(params), 0 if shell == "bash" else dialect_of(shell)
            found, clean, weighed = self._weighed(tool, fields, number, where, flow)
            clean = clean and isinstance(params, dict) and len(fields) == len(cast("Any", params))
            return self._answers.of_tool(tool, params, fields, found, cwd=where, clean=clean, weighed=weighed)
        site = self._sites.get(cwd) or self._kept_site(cwd)
        dialect = 0 if shell == "bash" else dialect_of(shell)
        judged = self._judge.call(tool, params, dialect, site, self._sites, flow)
        if judged is None:
            return self._answers.of_name(tool) if self._config.tool_allowlist else []
        native, clean = judged
        fields = fields_of(params)
        where = directory_of(params) or cwd
        if native is None:
            texts = [field.native() for field in fields]
            there = self._kept_site(where)
            native = self._policy.native.event(encodable(tool) or " ", texts, dialect, there, self._settings, flow)
        return self._answers.of_tool(tool, params, fields, native, cwd=where, clean=clean)

    def evaluate_edit(
        self, path: str, content: str, diff_lines: float, *, cwd: str | None = None, flow: Flow | None = None
    ) -> list[GateResult]:
        """Judge an edit before it is made.

        Parameters
        ----------
        path
            The file.
        content
            What would be written.
        diff_lines
            Changed lines, as the host counted them.
        cwd
            The directory that `path` is relative to, where it is.
        flow
            As of :meth:`evaluate_command`: what is written may be run later.

        Returns
        -------
        list of GateResult
            One for each gate that found something.
        """
        name, text = as_text(path), as_text(content)
        call = {"file_path": name, "content": text}
        size = self._answers.of_reported_size(name, diff_lines) if self._config.diff_size else []
        fields = [Field("file_path", "path", name, -1)]
        folder = os.path.dirname(os.path.join(cwd or "", name))  # noqa: PTH118, PTH120 - texts
        if self._looks and os.path.isabs(folder) and is_in_repository(folder):  # noqa: PTH117 - a text
            native, _, weighed = self._weighed(
                "Write", [*fields, Field("content", "content", text, -1)], 0, folder, flow
            )
            return [
                *self._answers.of_findings(native, fields, weighed=weighed),
                *size,
                *self._answers.of_secrets([("content", text)], pairs=fields),
            ]
        site = self._sites.get(None) or self._kept_site(None)
        if self._judge.call("Write", call, 0, site, self._sites, flow) is None:
            return size
        native = self._policy.native.event("Write", [field.native() for field in fields], 0, site, self._settings)
        return [
            *self._answers.of_findings(native, fields),
            *size,
            *self._answers.of_secrets([("content", text)], pairs=fields),
        ]

    def _weighed(
        self, tool: str, fields: Sequence[Field], dialect: int, cwd: str, flow: Flow | None
    ) -> tuple[list[Any], bool, Weighed | None]:
        """Judge a call by what is there, and keep what it would lose: findings, whether no secret is in it, losses."""
        site = self._sites.get(cwd) or self._kept_site(cwd)
        texts = [field.native() for field in fields]
        native, clean, losses = self._judge.weigh(encodable(tool), texts, dialect, site, flow)
        state = self._state if self._keeps else None
        found = weighed(losses, native, tool, fields, cwd=cwd, state=state)
        return native, clean and self._config.secrets, found

    def verdict(
        self, tool_name: str, params: Any, *, cwd: str | None = None, record: bool = False, flow: Flow | None = None
    ) -> Verdict:
        """Judge a tool call before it runs, and return all gates' answers as one.

        Parameters
        ----------
        tool_name, params, cwd, flow
            As of :meth:`evaluate_tool_use`.
        record
            Whether the verdict is appended to the spool, from which the ledger takes it in.

        Raises
        ------
        OSError
            It is to be recorded and cannot be.
        """
        results = self.evaluate_tool_use(tool_name, params, cwd=cwd, flow=flow)
        found = verdict_of(results, partial(self.is_proven, tool_name, params, cwd=cwd))
        if record:
            record_verdict(found, as_text(tool_name), os.fspath(cwd) if cwd else "")
        return found

    # -- many events ---------------------------------------------------------------------------------------------------

    def evaluate_batch(
        self, events: Iterable[str | Mapping[str, Any]], *, threads: int | None = None
    ) -> list[list[GateResult]]:
        """Judge many events, large ones on several threads.

        Parameters
        ----------
        events
            Commands as texts, or mappings: ``{"command": ..., "cwd": ..., "shell": ...}``,
            ``{"tool": ..., "params": ..., "cwd": ...}``, ``{"path": ..., "content": ..., "diff_lines": ...}``.
        threads
            How many at most; as many as there are processors if None.

        Returns
        -------
        list of list of GateResult
            The results of each event, as the method for one event would give them.

        Raises
        ------
        ConfigError
            If an event is none of these.
        """
        items = list(events)
        workers = max(1, threads if threads is not None else usable_processors())
        # Small events keep the interpreter's lock: threads would take turns.
        if workers == 1 or sum(map(size_of, items)) < LARGE_CHARS * len(items):
            return list(map(self._evaluate, items))
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(self._evaluate, items))

    def _evaluate(self, event: str | Mapping[str, Any]) -> list[GateResult]:
        if isinstance(event, str):
            return self.evaluate_command(event)
        if isinstance(cast("object", event), Mapping):
            if "command" in event:
                return self.evaluate_command(event["command"], cwd=event.get("cwd"), shell=event.get("shell") or "bash")
            if "tool" in event:
                cwd, shell = event.get("cwd"), event.get("shell") or "bash"
                return self.evaluate_tool_use(event["tool"], event.get("params"), cwd=cwd, shell=shell)
            if "path" in event:
                return self.evaluate_edit(event["path"], event.get("content", ""), event.get("diff_lines", 0))
        raise ConfigError("an event is a command, or a mapping with `command`, `tool` or `path`")

    def decisions(
        self, commands: Sequence[str], *, cwd: str | None = None, shell: str = "bash", threads: int = 1
    ) -> list[str]:
        """Return the destructive gate's decision by words for many commands from one folder: the fastest way."""
        encoded = [cast("str", encodable(command)) for command in commands]
        codes = self._policy.native.decisions(encoded, self._site(cwd), self._settings, dialect_of(shell), threads)
        return [DECISIONS[code] for code in codes]

    def offline(self, *, home: str, temporary: str) -> Self:
        """Return gates that look at no file of this machine and take these for the user's and the temporary folder."""
        return self._with(
            _config=self._config.replace(read_files=False), _home=home, _temporary=temporary, _sites={},
            _is_offline=True, _looks=False,
        )  # fmt: skip

    def is_proven(self, tool_name: str, params: Any, *, cwd: str | None = None, shell: str = "bash") -> bool:
        """Return whether a call is proven to read alone.

        Every part of it is understood, reads only, stays in the repository or in what is public on the machine, sends
        nothing, shows no secret, and runs nothing that the repository configures. What is not proven may be harmless.

        Parameters
        ----------
        tool_name
            Empty where `params` is the text of a command.
        params, cwd, shell
            As of :meth:`evaluate_tool_use`.
        """
        where = directory_of(params) or cwd
        if not self._looks or shell != "bash" or not where or not is_in_repository(where):
            return False
        tool = as_text(tool_name)
        fields = fields_of(params) if tool else [Field("command", "command", as_text(params), -1)]
        texts = [field.native() for field in fields]
        site = self._sites.get(where) or self._kept_site(where)
        _, clean, losses = self._judge.weigh(encodable(tool), texts, 0, site, proof=True)
        return losses.proven and (clean or not self._config.secrets)

    def by_words(self) -> Self:
        """Return gates that judge by words alone and keep nothing: for calls of the past, or of another machine."""
        return self._with(_config=self._config.replace(evidence="none"), _looks=False) if self._looks else self

    def looking(self) -> Self:
        """Return gates that look at what a call would lose, and keep nothing: for calls that do not run."""
        return self._with(_keeps=False)

    def _with(self, **attributes: Any) -> Self:
        other = copy.copy(self)
        vars(other).update(attributes)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the policy and the settings to another process: what was read of this machine stays here."""
        kept = {
            name: vars(self)[name]
            for name in ("_home", "_temporary", "_state", "_is_offline", "_config", "_looks", "_keeps")
        }
        answers = self._answers
        return self._received, (answers.config, self._policy, answers.scanner, self.active_rules, kept)

    @classmethod
    def _received(cls, *started: Any) -> Self:
        """Return the gates that another process sent."""
        gates = cls.__new__(cls)
        gates._start(*started[:-1])  # noqa: SLF001 - an object of this class
        vars(gates).update(started[-1])
        return gates

    def explain(self, command: str, *, cwd: str | None = None, shell: str = "bash") -> Explanation:
        """Say how a command was read and judged: its tree, its commands, the rules tried and why each held or not."""
        from tipstaff.gates.judging.explanation import explain

        text = as_text(command)
        return explain(
            self._policy, text, dialect_of(shell), self._site(cwd), self._settings,
            self.looking().evaluate_command(text, cwd=cwd, shell=shell),
        )  # fmt: skip

    def _kept_site(self, cwd: str | None) -> CallSite:
        if len(self._sites) >= _MOST_SITES:
            self._sites.clear()
        site: CallSite = self._site(cwd)
        self._sites[cwd] = site
        return site

    def _site(self, cwd: str | None) -> Any:
        from tipstaff.gates.judging.surroundings import site_of

        return site_of(
            os.fspath(cwd) if cwd else "", self._home, self._temporary, files=self._config.read_files,
            state=self._state, offline=self._is_offline,
        )  # fmt: skip


def record_verdict(verdict: Verdict, tool: str, cwd: str, *, host: str = "api") -> None:
    """Append a verdict to the spool, as the hook does."""
    from tipstaff.gates.secrets.scanner import redact
    from tipstaff.store.appending import append_line

    state = state_folder()
    line = {
        "v": 1, "at": int(time.time()), "us": 0, "host": host, "event": "PreToolUse", "session": "", "agent": "",
        "cwd": redact(cwd), "tool": redact(tool), "decision": verdict.decision, "subject": verdict.call_id,
        "rules": [finding.rule_id for finding in verdict.findings],
    } | ({"kept": verdict.kept} if verdict.kept else {})  # fmt: skip
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    append_line(state / "spool.jsonl", msgspec.json.encode(line) + b"\n")


def _pack_paths(packs: Iterable[str | Path]) -> Iterable[Path]:
    from tipstaff.gates.packs.reader import pack_files

    for pack in packs:
        path = Path(pack)
        if path.is_dir():
            yield from pack_files(path)
        else:
            yield path
