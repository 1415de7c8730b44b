"""The service of one machine: verdicts over HTTP, metrics, and pages that show what happened.

It listens on the loopback, answers requests that name it so and bring its token, and runs one process. Nothing here
allows a call: a person does that in a terminal.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from tipstaff import __version__
from tipstaff.adapters.guard import Guard, arguments_of, sdk
from tipstaff.hosts.approvals import pending_calls
from tipstaff.plane import GuidanceControlPlane
from tipstaff.serving.pages_of import Pages
from tipstaff.store.state import state_folder

MOST_BODY: Final = 1 << 20
_BODY_S: Final = 10.0
_AT_ONCE: Final = 256
_COOKIE: Final = "tipstaff"
_OPEN: Final = frozenset({"/healthz", "/style.css", "/openapi.json"})
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0)
_LOCAL: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")
_LITELLM: Final = "/beta/litellm_basic_guardrail_api"

Answer = Callable[[Any], Awaitable[Any]]


class Service:
    """What answers requests, over one plane.

    Parameters
    ----------
    plane
        Judges, and records.
    token
        What a request has to bring: ``Authorization: Bearer TOKEN``, or once ``/?token=TOKEN`` for a browser.
    """

    def __init__(self, plane: GuidanceControlPlane, token: str) -> None:
        self._plane = plane
        self._token = token
        self._guard = Guard(plane, asker="http")
        self._pages = Pages(plane)
        self._responses: Any = sdk("starlette.responses", "tipstaff[serve]")
        self._counts: dict[str, int] = {}
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0
        self._busy = 0

    def application(self) -> Any:
        """Return the ASGI application."""
        routing = sdk("starlette.routing", "tipstaff[serve]")
        posts: dict[str, Answer] = {"/v1/verdict": self.verdict, _LITELLM: self.litellm}
        gets: dict[str, Answer] = {
            "/healthz": self.health, "/metrics": self.metrics, "/openapi.json": self.openapi, "/style.css": self.style,
            "/": self.page, "/sessions/{name:path}": self.page, "/rules": self.page, "/noise": self.page,
            "/secrets": self.page,
        }  # fmt: skip
        routes = [routing.Route(path, self._guarded(answer), methods=["POST"]) for path, answer in posts.items()]
        routes += [routing.Route(path, self._guarded(answer), methods=["GET"]) for path, answer in gets.items()]
        return sdk("starlette.applications", "tipstaff[serve]").Starlette(routes=routes)

    def _guarded(self, answer: Answer) -> Answer:
        async def guarded(request: Any) -> Any:
            response = self._refused(request)
            if response is None:
                if self._busy >= _AT_ONCE:
                    response = self._error(503, "busy: try again", {"Retry-After": "1"})
                else:
                    self._busy += 1
                    try:
                        response = await answer(request)
                    except _BadRequest as error:
                        response = self._error(error.status, str(error))
                    finally:
                        self._busy -= 1
            response.headers.update(_HEADERS)
            return response

        return guarded

    def _refused(self, request: Any) -> Any:
        """Return why a request is not answered; None where it is."""
        if not _LOCAL.fullmatch(request.headers.get("host", "")):
            return self._error(421, "this service answers as localhost alone")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            return self._error(403, "a request of another origin")
        if request.url.path in _OPEN:
            return None
        given = request.query_params.get("token", "")
        if given and self._is_token(given):
            response = self._responses.RedirectResponse(request.url.path or "/", status_code=303)
            response.set_cookie(_COOKIE, self._token, httponly=True, samesite="strict")
            return response
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        # A cookie is sent by the browser by itself: it shows pages, and nothing else.
        shown = request.cookies.get(_COOKIE, "") if request.method == "GET" else ""
        if (scheme.lower() == "bearer" and self._is_token(bearer.strip())) or self._is_token(shown):
            return None
        return self._error(401, "no token: `tipstaff serve` printed it", {"WWW-Authenticate": "Bearer"})

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._token.encode())

    def _error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> Any:
        return self._responses.JSONResponse({"error": message}, status_code=status, headers=headers)

    async def _body(self, request: Any) -> dict[str, Any]:
        """Return a request's JSON object."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise _BadRequest(415, "the body is application/json")
        data = bytearray()
        try:
            async with asyncio.timeout(_BODY_S):
                async for chunk in request.stream():
                    data += chunk
                    if len(data) > MOST_BODY:
                        raise _BadRequest(413, f"the body is longer than {MOST_BODY} bytes")
        except TimeoutError:
            raise _BadRequest(408, "the body came too slowly") from None
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise _BadRequest(400, "the body is no JSON object")
        return found

    # -- what programs ask ---------------------------------------------------------------------------------------------

    async def verdict(self, request: Any) -> Any:
        """Judge a call: ``{tool, params, cwd}``."""
        body = await self._body(request)
        tool, cwd = body.get("tool"), body.get("cwd")
        if not isinstance(tool, str) or not tool or not isinstance(cwd, str | None):
            raise _BadRequest(422, "tool is a text, params anything, cwd a text or absent")
        began = time.perf_counter()
        found = await self._guard.a_judge(tool, body.get("params"), cwd=cwd)
        self._count(found.decision, time.perf_counter() - began)
        return self._responses.JSONResponse({
            "decision": found.decision, "message": found.message, "safer": found.safer, "proven": found.proven,
            "facts": found.facts, "call_id": found.call_id, "code": found.code,
        })  # fmt: skip

    async def litellm(self, request: Any) -> Any:
        """Answer LiteLLM's generic guardrail: texts are masked, an answer with a call that may not run is blocked."""
        body = await self._body(request)
        calls = body.get("tool_calls") if body.get("input_type") == "response" else None
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                raise _BadRequest(422, "a tool call has a function")
            began = time.perf_counter()
            found = await self._guard.a_judge(str(function.get("name", "")), arguments_of(function.get("arguments")))
            self._count(found.decision, time.perf_counter() - began)
            if found.decision not in {"allow", "warn"}:
                return self._responses.JSONResponse({"action": "BLOCKED", "blocked_reason": found.message})
        texts = body.get("texts")
        masked = self._guard.masked(texts)
        if masked is texts:
            return self._responses.JSONResponse({"action": "NONE"})
        return self._responses.JSONResponse({"action": "GUARDRAIL_INTERVENED", "texts": masked})

    async def health(self, request: Any) -> Any:
        """Say that it is there."""
        del request
        return self._responses.JSONResponse({"status": "ok", "version": __version__})

    async def metrics(self, request: Any) -> Any:
        """Return the figures in Prometheus' text format."""
        del request
        lines = ["# TYPE tipstaff_verdicts_total counter"]
        lines += [
            f'tipstaff_verdicts_total{{decision="{name}"}} {count}' for name, count in sorted(self._counts.items())
        ]
        lines.append("# TYPE tipstaff_verdict_seconds histogram")
        total = 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self._buckets, strict=True):
            total += count
            lines.append(f'tipstaff_verdict_seconds_bucket{{le="{bound}"}} {total}')
        waits = len(await asyncio.to_thread(pending_calls, state_folder()))
        lines += [f"tipstaff_verdict_seconds_sum {self._seconds:.6f}", f"tipstaff_verdict_seconds_count {total}"]
        lines += ["# TYPE tipstaff_waiting_calls gauge", f"tipstaff_waiting_calls {waits}"]
        lines += ["# TYPE tipstaff_open_runs gauge", f"tipstaff_open_runs {self._plane.status().open_runs}", ""]
        return self._responses.PlainTextResponse("\n".join(lines), media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Any) -> Any:
        """Describe the policy endpoint."""
        del request
        text = {"type": "string"}
        asked = {"type": "object", "required": ["tool"], "properties": {"tool": text, "params": {}, "cwd": text}}
        names = ("message", "safer", "call_id", "code")
        decision = {**text, "enum": ["allow", "warn", "require-confirmation", "block"]}
        answer = {"type": "object", "required": ["decision", "message", "call_id"], "properties": {
            "decision": decision, "proven": {"type": "boolean"}, "facts": {"type": "array", "items": text},
            **dict.fromkeys(names, text),
        }}  # fmt: skip
        post = {
            "summary": "Judge a tool call before it runs.", "security": [{"token": []}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": asked}}},
            "responses": {"200": {"description": "The verdict.", "content": {"application/json": {"schema": answer}}}},
        }  # fmt: skip
        return self._responses.JSONResponse({
            "openapi": "3.1.0", "info": {"title": "tipstaff", "version": __version__},
            "paths": {"/v1/verdict": {"post": post}},
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        })  # fmt: skip

    def _count(self, decision: str, seconds: float) -> None:
        self._counts[decision] = self._counts.get(decision, 0) + 1
        self._buckets[sum(seconds > bound for bound in _BOUNDS)] += 1
        self._seconds += seconds

    # -- what people look at -------------------------------------------------------------------------------------------

    async def page(self, request: Any) -> Any:
        """Return a page."""
        found = await asyncio.to_thread(self._pages.page, request.url.path, request.path_params.get("name", ""))
        if found is None:
            return self._error(404, "there is no such page")
        return self._responses.HTMLResponse(found)

    async def style(self, request: Any) -> Any:
        """Return the style sheet."""
        del request
        return self._responses.Response(self._pages.style, media_type="text/css")


class _BadRequest(Exception):  # noqa: N818 - an answer, no error
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def run(plane: GuidanceControlPlane, token: str, port: int) -> None:
    """Serve on the loopback until the process is told to stop; requests that are being answered are finished."""
    uvicorn: Any = sdk("uvicorn", "tipstaff[serve]")
    uvicorn.run(
        Service(plane, token).application(), host="127.0.0.1", port=port, log_level="warning", access_log=False,
        server_header=False, timeout_keep_alive=15, limit_concurrency=1024, timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=64 * 1024,
    )  # fmt: skip
