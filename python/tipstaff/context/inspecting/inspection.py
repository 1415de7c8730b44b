"""``context.inspect``: the last request of a session as a JSON-RPC result, with camelCase members."""

from __future__ import annotations

from typing import Any

from tipstaff.budgets import CHARS_PER_TOKEN
from tipstaff.context.inspecting.json_rpc import INVALID_PARAMS, Method, RpcError
from tipstaff.context.inspecting.monitor import pressure_of
from tipstaff.context.inspecting.snapshot import ContextSnapshot, SnapshotSection
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.errors import SourceError, SourceNotFoundError

UNKNOWN_SESSION = -32001
UNREADABLE_SNAPSHOT = -32002


def inspect_document(snapshot: ContextSnapshot, detail_key: str = "") -> dict[str, Any]:
    """Return what ``context.inspect`` answers.

    Parameters
    ----------
    snapshot
        What the request contained.
    detail_key
        Adds ``detail``, the section of this key with its content; ``key#2`` is the second of this key.
    """
    focus, live = snapshot.focus, snapshot.live
    document: dict[str, Any] = {
        "sessionId": snapshot.session_id,
        "requestNumber": snapshot.request_number,
        "takenAt": snapshot.taken_at,
        "totalChars": snapshot.total_chars,
        "estimatedTokens": snapshot.estimated_tokens,
        "contextWindowTokens": snapshot.context_window_tokens,
        "toolTokens": snapshot.tool_tokens,
        "messageTokens": snapshot.message_tokens,
        "messageCount": snapshot.message_count,
        "requestTokens": snapshot.request_tokens,
        "pressureLevel": pressure_of(snapshot.request_tokens, snapshot.context_window_tokens),
        "requestFocus": {
            "querySummary": focus.query_summary,
            "activeFilePaths": list(focus.active_file_paths),
            "activeSymbols": list(focus.active_symbols),
            "planSignals": list(focus.plan_signals),
        },
        "budget": {
            "maxPerTierChars": snapshot.max_per_tier_chars,
            "maxTotalChars": snapshot.max_total_chars,
            "budgetTokensEstimate": -(-snapshot.max_total_chars // CHARS_PER_TOKEN),
        },
        "activeFilePaths": list(focus.active_file_paths),
        "injectedCandidateIds": list(snapshot.injected_candidate_ids),
        "truncatedSectionKeys": list(snapshot.truncated_section_keys),
        "sections": [_section(section) for section in snapshot.sections],
    }
    if snapshot.window_share is not None:
        document["systemPromptSharePct"] = round(100 * snapshot.window_share, 4)
    if live is not None:
        document["live"] = {_camel(name): value for name, value in live.to_dict().items()}
    if detail_key:
        found = snapshot.find(detail_key)
        if found is not None:
            document["detail"] = {**_section(found), "content": found.content}
    return document


def _section(section: SnapshotSection) -> dict[str, Any]:
    cut = section.cut
    return {
        "key": section.key,
        "ref": section.ref,
        "sourceType": section.source_type,
        "scopeType": section.scope_type,
        "inclusionReason": section.inclusion_reason,
        "priority": section.priority,
        "basePriority": section.base_priority,
        "boosts": [boost.to_dict() for boost in section.boosts],
        "protected": section.protected,
        "originalChars": section.original_chars,
        "finalChars": section.final_chars,
        "originalTokens": section.original_tokens,
        "estimatedTokens": section.estimated_tokens,
        "included": section.included,
        "truncated": section.truncated,
        "cut": None if cut is None else {_camel(name): value for name, value in cut.to_dict().items()},
        "evidence": list(section.evidence),
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def context_methods(folder: SnapshotFolder) -> tuple[Method, ...]:
    """Return the JSON-RPC methods that tell of recorded requests.

    ``context.inspect(sessionId, queryHint?, detailKey?)`` answers what :func:`inspect_document` returns for the newest
    request of the session. ``queryHint`` is taken for compatibility and changes nothing: what is shown is what was
    sent, not what would be sent for another query. ``context.sessions()`` answers the ids, newest last.
    """

    def inspect(params: dict[str, Any]) -> dict[str, Any]:
        session_id = params.get("sessionId")
        if not isinstance(session_id, str) or not session_id:
            raise RpcError(INVALID_PARAMS, "sessionId: expected the id of a session")
        for name in ("queryHint", "detailKey"):
            if not isinstance(params.get(name, ""), str):
                raise RpcError(INVALID_PARAMS, f"{name}: expected text")
        try:
            snapshot = folder.load(session_id)
        except SourceNotFoundError as error:
            raise RpcError(UNKNOWN_SESSION, "unknown session", {"sessionId": session_id}) from error
        except SourceError as error:
            raise RpcError(UNREADABLE_SNAPSHOT, str(error)) from error
        return inspect_document(snapshot, params.get("detailKey", ""))

    def sessions(params: dict[str, Any]) -> dict[str, Any]:
        del params
        return {"sessions": list(folder.sessions())}

    return (
        Method("context.inspect", ("sessionId", "queryHint", "detailKey"), inspect),
        Method("context.sessions", (), sessions),
    )
