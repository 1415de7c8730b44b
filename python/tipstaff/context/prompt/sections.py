"""What a section of the system prompt is, derived from its key, and what became of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from tipstaff.context.prompt.boosts import PriorityBoost
from tipstaff.kernels import join_pieces
from tipstaff.model import Record

MEMORY_PREFIX: Final = "memory:"
RULES_PREFIX: Final = "rules:"
CONSTITUTION_KEY: Final = "rules:constitution"
TASK_RULES_KEY: Final = "rules:task"
TASK_FOCUS_KEY: Final = "task-focus"

_KNOWN: Final = {
    "base": ("always-on", "the agent's base instructions"),
    TASK_FOCUS_KEY: ("task-local", "what the request is about"),
    "rules": ("task-local", "rules for the task and its files"),
    "tool-guidance": ("always-on", "how the registered tools are used"),
    "environment": ("always-on", "where the agent runs"),
    "git": ("task-local", "the state of the repository"),
    "skills": ("always-on", "skills that can be called"),
    "candidates": ("task-local", "promoted candidates that match the request"),
}


_TIER_NAMES: Final = (
    "Soul",
    "Managed Policy",
    "Workspace Memory",
    "User Memory",
    "Local Memory",
    "Auto-Memory",
    "Markdown Memory",
    "Daily Journal",
)


def memory_key(tier: str) -> str:
    """Return the key of a tier's section: its name in small letters, words joined by a dash."""
    return MEMORY_PREFIX + "-".join(tier.lower().split())


_TIER_OF: Final = {memory_key(name): name for name in _TIER_NAMES}


class SectionKind(NamedTuple):
    """Defaults of a section's report, from its key."""

    source_type: str
    scope_type: str
    inclusion_reason: str
    tier: str


class SectionCut(Record, frozen=True, gc=False):
    """What was taken out of a section, and why.

    Attributes
    ----------
    reason
        ``section-cap`` (it was longer than one section may be), ``total`` (all together were too long), ``too-small``
        (what was left for it would have been a fragment, so all of it was left out), ``no-room`` (nothing was left for
        it), ``low-value`` (paragraphs that have nothing to do with the request were left out),
        ``least-important-rules`` (rules were left out whole), ``empty`` (it had no text).
    allowed_chars
        What it could have taken.
    removed_chars
        How many characters of the original are not shown.
    start, end
        The half-open range of the original, in code points, that is not shown; with `ranges`, from the first of them
        to the last.
    ranges
        Where several are not shown, each of them.
    """

    reason: str
    allowed_chars: int
    removed_chars: int
    start: int
    end: int
    ranges: tuple[tuple[int, int], ...] = ()


class SectionReport(Record, frozen=True):
    """One section as it entered the prompt, or why it did not.

    Attributes
    ----------
    key
        Its name, such as ``memory:Soul``, ``rules`` or ``rules:tests``.
    priority, base_priority, boosts
        The priority that counted, the one before boosts, and each boost that made the difference.
    protected
        Whether it may not be cut.
    stable
        Whether it belongs to the part that is the same for every request.
    original_chars, final_chars, original_tokens, estimated_tokens
        Its size before and after, in code points, and in tokens by the rule of four characters a token.
    included, truncated
        Whether any of it is in the prompt; whether any of it is not.
    source_type, scope_type, inclusion_reason, evidence
        Where it comes from, whether it is for this request only (``task-local``) or ``always-on``, why it is there,
        and the evidence for that.
    cut
        What is missing and why; None where nothing is.
    pieces
        What its text in the prompt consists of: texts with the half-open ranges of them; :attr:`content` joins them.
    """

    key: str
    priority: int
    protected: bool
    original_chars: int
    final_chars: int
    included: bool
    truncated: bool
    source_type: str
    scope_type: str
    inclusion_reason: str
    evidence: tuple[str, ...]
    base_priority: int
    boosts: tuple[PriorityBoost, ...]
    stable: bool
    original_tokens: int
    estimated_tokens: int
    cut: SectionCut | None
    pieces: tuple[tuple[str, int, int], ...]

    @property
    def content(self) -> str:
        """Its text in the prompt; made when it is asked for, as most readers of a report do not."""
        return join_pieces(list(self.pieces))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, with its text instead of the pieces."""
        data = {name: msgspec.to_builtins(getattr(self, name)) for name in self.__struct_fields__ if name != "pieces"}
        data["content"] = self.content
        return data


@lru_cache(maxsize=1_024)
def kind_of(key: str) -> SectionKind:
    """Return what a key says about its section."""
    if key.startswith(MEMORY_PREFIX):
        key = memory_key(key.removeprefix(MEMORY_PREFIX))
        tier = _TIER_OF.get(key, key.removeprefix(MEMORY_PREFIX))
        if tier == "Auto-Memory":
            return SectionKind("learned-signals", "task-local", "8-tier memory hierarchy", tier)
        return SectionKind("memory", "always-on", "8-tier memory hierarchy", tier)
    if key == CONSTITUTION_KEY:
        return SectionKind("rules", "always-on", "the project's constitution and its critical rules", "")
    name = "rules" if key.startswith(RULES_PREFIX) else key
    known = _KNOWN.get(name)
    if known is not None:
        return SectionKind(name, *known, "")
    return SectionKind("other" if key.strip() else "unknown", "always-on", "added by the caller", "")


def tokens_of(text: str) -> int:
    """Return the tokens of a text by the rule of four UTF-16 code units a token, rounded up."""
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return -(-units // 4)
