"""What shells did beside what the gate says: misses, stops of harmless programs, and both over many programs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.gates.differential.grammar import Grammar, Part, minimised
from tests.gates.differential.sandbox import FOLDER, HOME, SOURCE, Record, Sandbox
from tipstaff import EnforcementGates, GateConfig, aggregate_decision

MISSES: Final = Path(__file__).with_name("misses.txt")
"""Programs that passed once, each after a line of `%%`; the gate has to stop them."""

_IMPORTANT: Final = frozenset(("/", "/home", HOME, FOLDER, f"{FOLDER}/src", SOURCE, f"{HOME}/notes.txt"))
_SPARED: Final = re.compile(rf"/tmp/.+|{FOLDER}/(?:build|dist)(?:/.*)?|/dev/(?:null|fd/.*)|/proc/.*")


def gates() -> EnforcementGates:
    """Return the gate that judges programs as in the sandbox; nothing of this machine is looked at."""
    return EnforcementGates(GateConfig(secrets=False)).offline(home=HOME, temporary="/tmp")


def is_stopped(gate: EnforcementGates, text: str) -> bool:
    """Return whether a person is asked, or nobody."""
    return aggregate_decision(gate.evaluate_command(text, cwd=FOLDER)) not in ("allow", "warn")


def deleted(records: Iterable[Record]) -> Iterator[str]:
    """Yield the paths that recorded calls delete or empty, normalised; a final `/*` counts as its folder."""
    for record in records:
        program = posixpath.basename(record.words[0])
        if program == ">":
            yield record.words[1]
        elif program == "rm":
            plain = record.words.index("--") if "--" in record.words else len(record.words)
            for index, word in enumerate(record.words[1:], 1):
                if not word or (index < plain and word.startswith("-")) or index == plain:
                    continue
                path = posixpath.normpath(posixpath.join(record.folder, word))
                path = re.sub("^//", "/", path)
                yield path[:-2] or "/" if path.endswith("/*") else path


def is_destructive(records: Iterable[Record]) -> bool:
    """Return whether the root, the home, the project or its sources would be gone."""
    return any(path in _IMPORTANT for path in deleted(records))


def is_harmless(records: Iterable[Record]) -> bool:
    """Return whether nothing would be gone but what is temporary or built again."""
    return all(_SPARED.fullmatch(path) for path in deleted(records))


@dataclass(slots=True)
class Counted:
    """What many programs showed."""

    destructive: int = 0
    harmless: int = 0
    stopped: int = 0
    """Of the harmless ones."""
    misses: list[Part] = field(default_factory=list)
    dropped: int = 0
    """Programs that met a limit, or whose deletions are neither."""

    def __str__(self) -> str:
        share = 100 * len(self.misses) / max(1, self.destructive)
        wrong = 100 * self.stopped / max(1, self.harmless)
        return (
            f"{self.destructive} destructive, {len(self.misses)} passed ({share:.2f} %); "
            f"{self.harmless} harmless, {self.stopped} stopped ({wrong:.1f} %); {self.dropped} neither"
        )


def programs(count: int, seed: int, *, posix: bool) -> Iterator[Part]:
    """Yield the programs of a seed."""
    grammar = Grammar(Random(seed), posix=posix)
    for _ in range(count):
        yield grammar.program()


def compare(sandbox: Sandbox, gate: EnforcementGates, shell: str, drawn: Iterable[Part]) -> Counted:
    """Run programs by a shell and judge them."""
    counted = Counted()
    for program in drawn:
        text = program.text()
        records = sandbox.run_shell(shell, text)
        if records is None:
            counted.dropped += 1
        elif is_destructive(records):
            counted.destructive += 1
            if not is_stopped(gate, text):
                counted.misses.append(program)
        elif is_harmless(records):
            counted.harmless += 1
            counted.stopped += is_stopped(gate, text)
        else:
            counted.dropped += 1
    return counted


def minimised_miss(sandbox: Sandbox, gate: EnforcementGates, shell: str, program: Part) -> str:
    """Return the smallest text found that a shell still destroys something by, and the gate lets pass."""

    def passes(other: Part) -> bool:
        text = other.text()
        if is_stopped(gate, text):
            return False
        return is_destructive(sandbox.run_shell(shell, text) or ())

    return minimised(program, passes).text()


def known_misses(path: Path = MISSES) -> list[str]:
    """Return the programs of a file, each between lines of `%%`."""
    return [text.strip("\n") for text in re.split(r"(?m)^%%\n", path.read_text(encoding="utf-8")) if text.strip()]


def written(texts: Sequence[str]) -> str:
    """Return programs as `known_misses` reads them."""
    return "".join(f"%%\n{text}\n" for text in texts)
