"""Says what kind of work a task asks for.

A task is read once, word by word. Words and phrases count for an intent with a weight, and where they are counts:

- a verb that opens the task ("document the ...", "please fix ...") says most, one that opens a later clause less;
- what follows a preposition is about the object, and counts with half its weight ("... in the comment box");
- in a compound the last noun is the thing: "deployment pipeline tests" are tests;
- each word counts once, however often it is repeated.

The highest sum wins, and a tie goes to the intent that is earlier in `INTENTS`. The words are in
``words.toml``, ``tools/write_task_lexicon.py`` compiles them, and a kernel reads the task.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from tipstaff.kernels import TaskReader, task_paths
from tipstaff.model import INTENTS, IntentMatch

LEXICON: Final = Path(__file__).with_name("task_lexicon.bin")
"""The words, compiled; see ``tools/write_task_lexicon.py``."""

_GENERAL: Final = IntentMatch("general", 0.0)


def classify_intent(task: str) -> IntentMatch:
    """Say what kind of work a task asks for.

    Parameters
    ----------
    task : str
        The task as its author wrote it, of any length, in English or with the commonest verbs of Spanish, Portuguese,
        French, Italian, German, Russian, Chinese, Japanese or Korean.

    Returns
    -------
    IntentMatch
        ``intent``: one of `INTENTS`. ``confidence``: 0..1, an estimate of the chance that the intent is right;
        0 exactly when there is no sign and the intent is ``general``.

    Notes
    -----
    Linear in the length of the task. Case, accents, the kind of apostrophe and surrounding blanks do not matter;
    hyphens and underscores separate words, and so does a capital inside a word.
    """
    found = _reader().read(task)
    if found is None:
        from tipstaff.guidance.intents.task_words import words_beyond_ascii

        found = _reader().read_words(words_beyond_ascii(task))
    intent, confidence = found
    return IntentMatch(INTENTS[intent], confidence) if confidence else _GENERAL


@cache
def _reader() -> TaskReader:
    return TaskReader(LEXICON.read_bytes())


def paths_in(task: str) -> tuple[str, ...]:
    """Return the paths that a task names, as far as a scope can be compared with them.

    Paths (``web/login.ts``, ``./api/``, ``src/app.py:12``), file names with an ending, and dotted or ``::`` names of
    modules and symbols (``billing.ledger.post`` is ``billing/ledger/post``). Web addresses, versions, numbers and
    words of prose that hold a slash between two plain words (``and/or``) are not paths. Time is linear in the task.

    Returns
    -------
    tuple of str
        At most 8, relative to the repository, in the task's order.
    """
    paths = task_paths(task)
    if paths is None:
        from tipstaff.kernels.formats.task_text import paths_in_text

        return paths_in_text(task)
    return paths
