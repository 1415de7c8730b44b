"""What agent programs print, read into one shape: Claude Code, Codex, Gemini, Qwen Code, opencode, or plain text.

Only a line feed ends a line: JSON may hold every other separator. Lines that are not JSON, and events that are not
known, are passed over: programs add both. What begins as an event and cannot be read is counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from tipstaff.runs.events import TokenUse

_EDITORS: Final = frozenset(
    "Edit Write MultiEdit NotebookEdit write_file replace edit_file create_file str_replace_based_edit_tool edit "
    "write".split()
)

_PATHS: Final = ("file_path", "filePath", "notebook_path", "absolute_path", "path")


class Transcript:
    """What an agent said and did.

    Attributes
    ----------
    result
        Its last answer.
    tools
        Its tool calls: ``Name`` or ``Name: command``.
    files
        Files that it says it changed.
    tokens
        What it used.
    errors
        What went wrong, in the program's words; a run with any has failed.
    reports_tools
        Whether the format reports tool calls at all; plain text does not.
    notes
        What a person should know of it, and that is no failure: attempts to connect again, calls that were refused.
    unread
        Lines that begin as an event and cannot be read: what they say is not known.
    finished
        Whether the program reported its end, where the format can.
    called
        Whether a tool was called since the last text.
    """

    def __init__(self, *, reports_tools: bool) -> None:
        self.result = ""
        self.tools: list[str] = []
        self.files: list[str] = []
        self.tokens = TokenUse()
        self.errors: list[str] = []
        self.notes: list[str] = []
        self.unread = 0
        self.session_id = ""
        self.reports_tools = reports_tools
        self.finished = not reports_tools
        self.called = False


def read_stream(kind: str, output: str) -> Transcript:
    """Read a program's standard output.

    Parameters
    ----------
    kind
        ``claude``, ``codex``, ``gemini``, ``qwen``, ``opencode`` or ``plain``.
    output
        All that it printed.
    """
    reader = _READERS.get(kind)
    if reader is None:
        plain = Transcript(reports_tools=False)
        plain.result = output
        return plain
    transcript = Transcript(reports_tools=True)
    for event in _events(output, transcript):
        reader(event, transcript)
    if not transcript.finished and not transcript.errors:
        why = f": {transcript.notes[-1]}" if transcript.notes else ""
        transcript.errors.append(f"the output ends before the program reported its end{why}")
    return transcript


def _events(output: str, found: Transcript) -> Iterator[Mapping[str, Any]]:
    """Yield JSON objects: one a line, or the whole output as an object or an array of them."""
    whole = _decoded(output)
    if isinstance(whole, Mapping):
        yield cast("Mapping[str, Any]", whole)
        return
    if isinstance(whole, list):
        items: list[Any] = whole
        for one in items:
            if isinstance(one, Mapping):
                yield cast("Mapping[str, Any]", one)
        return
    for line in output.split("\n"):
        event = _decoded(line)
        if isinstance(event, Mapping):
            yield cast("Mapping[str, Any]", event)
        elif event is None and line.lstrip().startswith('{"'):
            found.unread += 1


def _decoded(text: str) -> Any:
    """Return the value of a JSON text, lone surrogates replaced as no file could hold them; None for any other text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        pass
    try:
        value = json.loads(text, strict=False)
        return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _claude(event: Mapping[str, Any], found: Transcript) -> None:
    kind = event.get("type")
    found.session_id = str(event.get("session_id") or found.session_id)
    if kind == "assistant":
        for block in _list(_map(event.get("message")).get("content")):
            if block.get("type") == "tool_use":
                _note(found, str(block.get("name", "")), _map(block.get("input")))
    elif kind == "result":
        found.finished = True
        result = event.get("result")
        found.result = result if isinstance(result, str) else _json(result) if result is not None else found.result
        if event.get("is_error") or str(event.get("subtype", "success")) != "success":
            found.errors.append(f"{event.get('subtype', 'error')}: {found.result or event.get('error', '')}"[:500])
        for denied in _list(event.get("permission_denials")):
            found.notes.append(f"{denied.get('tool_name', 'a tool')} was refused: nobody was there to allow it")
        usage = _map(event.get("usage"))
        found.tokens = TokenUse(
            input=_int(usage.get("input_tokens")), output=_int(usage.get("output_tokens")),
            cache_read=_int(usage.get("cache_read_input_tokens")),
            cache_write=_int(usage.get("cache_creation_input_tokens")),
            cost_usd=_float(event.get("total_cost_usd")),
        )  # fmt: skip


def _qwen(event: Mapping[str, Any], found: Transcript) -> None:
    """Take in an event of the form of Claude Code's; what was read from the cache is counted as input as well."""
    _claude(event, found)
    if event.get("type") == "result":
        used = found.tokens
        found.tokens = used.replace(input=max(0, used.input - used.cache_read))
        if found.result.startswith("[API Error: "):  # it ends well, with this as its answer
            found.errors.append(found.result[:500])


def _opencode(event: Mapping[str, Any], found: Transcript) -> None:
    kind, part = event.get("type"), _map(event.get("part"))
    found.session_id = str(event.get("sessionID") or found.session_id)
    if kind == "text":
        text = str(part.get("text", ""))
        found.result = text if found.called else f"{found.result}{text}"
        found.called = False
    elif kind == "tool_use":
        state = _map(part.get("state"))
        found.called = True
        _note(found, str(part.get("tool", "")), _map(state.get("input")))
        if "permission" in str(state.get("error", "")):
            found.notes.append(f"{part.get('tool', 'a tool')} was refused: {state['error']}"[:500])
    elif kind == "step_finish":
        found.finished = part.get("reason") != "tool-calls"
        used, former = _map(part.get("tokens")), found.tokens
        cache = _map(used.get("cache"))
        found.tokens = TokenUse(
            input=former.input + _int(used.get("input")), output=former.output + _int(used.get("output")),
            cache_read=former.cache_read + _int(cache.get("read")),
            cache_write=former.cache_write + _int(cache.get("write")),
            cost_usd=former.cost_usd + _float(part.get("cost")),
        )  # fmt: skip
    elif kind == "error":
        error = _map(event.get("error"))
        found.errors.append(str(_map(error.get("data")).get("message") or error.get("name") or "failed")[:500])


def _codex(event: Mapping[str, Any], found: Transcript) -> None:
    kind = str(event.get("type", ""))
    if kind == "thread.started":
        found.session_id = str(event.get("thread_id", ""))
    elif kind == "item.completed":
        item = _map(event.get("item"))
        what = item.get("type") or item.get("item_type")
        if what in {"agent_message", "assistant_message"}:
            found.result = str(item.get("text", ""))
        elif what == "command_execution":
            found.tools.append(f"shell: {item.get('command', '')}")
        elif what == "file_change":
            found.tools.append("apply_patch")
            found.files += [str(change.get("path", "")) for change in _list(item.get("changes"))]
        elif what == "mcp_tool_call":
            found.tools.append(f"mcp__{item.get('server', '')}__{item.get('tool', '')}")
        elif what == "web_search":
            found.tools.append("web_search")
    elif kind == "turn.completed":
        found.finished = True
        usage = _map(event.get("usage"))
        former = found.tokens
        cached = _int(usage.get("cached_input_tokens"))
        found.tokens = TokenUse(
            input=former.input + max(0, _int(usage.get("input_tokens")) - cached),
            output=former.output + _int(usage.get("output_tokens")), cache_read=former.cache_read + cached,
        )  # fmt: skip
    elif kind in {"turn.failed", "error"}:
        error = event.get("error")
        said = str(_map(error).get("message") or event.get("message") or error or "failed")[:500]
        # Codex reports with "error" that it connects again, too; a turn that failed has an event of its own.
        (found.errors if kind == "turn.failed" else found.notes).append(said)


def _gemini(event: Mapping[str, Any], found: Transcript) -> None:
    kind = event.get("type")
    if kind is None and ("response" in event or "error" in event):  # --output-format json: one object
        found.finished = True
        found.result = str(event.get("response") or "")
        if event.get("error"):
            found.errors.append(str(_map(event["error"]).get("message") or event["error"])[:500])
        tools = _map(_map(_map(event.get("stats")).get("tools")).get("byName"))
        for name, about in tools.items():
            found.tools += [str(name)] * max(1, _int(_map(about).get("count")))
    elif kind == "init":
        found.session_id = str(event.get("session_id", ""))
    elif kind == "message" and event.get("role") in {"assistant", "model"}:
        text = str(event.get("content", ""))
        # What was said before a tool was called is not a part of the answer.
        found.result = found.result + text if event.get("delta") and not found.called else text
        found.called = False
    elif kind == "tool_use":
        found.called = True
        _note(found, str(event.get("tool_name", "")), _map(event.get("parameters")))
    elif kind == "error":
        if event.get("severity") != "warning":
            found.errors.append(str(event.get("message", "error"))[:500])
    elif kind == "result":
        found.finished = True
        if event.get("status") not in {"success", None}:
            found.errors.append(str(_map(event.get("error")).get("message") or event.get("status"))[:500])
        stats = _map(event.get("stats"))
        cached = _int(stats.get("cached"))
        found.tokens = TokenUse(
            input=max(0, _int(stats.get("input_tokens")) - cached), output=_int(stats.get("output_tokens")),
            cache_read=cached,
        )  # fmt: skip


def _note(found: Transcript, name: str, params: Mapping[str, Any]) -> None:
    command = params.get("command")
    if isinstance(command, list):
        words: list[Any] = command
        command = " ".join(map(str, words))
    found.tools.append(f"{name}: {command}" if isinstance(command, str) and command else name)
    path = next(filter(None, map(params.get, _PATHS)), None)
    if isinstance(path, str) and name in _EDITORS:
        found.files.append(path)


_READERS: Final[dict[str, Callable[[Mapping[str, Any], Transcript], None]]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "qwen": _qwen, "opencode": _opencode,
}  # fmt: skip


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    items: list[Any] = value if isinstance(value, list) else []
    return [_map(one) for one in items]


def _int(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _float(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
