"""Summarizers against a local server that answers well, badly, slowly and not at all; and against programs."""

from __future__ import annotations

import http.server
import json
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tipstaff.context.conversation.transcript import Entry, render
from tipstaff.context.shortening.summarizers import (
    AnthropicSummarizer,
    CommandSummarizer,
    ExtractiveSummarizer,
    OpenAISummarizer,
    SummarizerError,
    SummaryRequest,
    summary_in,
)
from tipstaff.errors import ConfigError

KEY = "-".join(("test", "key", "123"))
REQUEST = SummaryRequest((Entry("user", "build it"), Entry("assistant", "built")), 500)
GOOD = {
    "anthropic": {"content": [{"type": "text", "text": "<summary>fine</summary>"}], "stop_reason": "end_turn"},
    "openai": {"choices": [{"message": {"content": "<summary>fine</summary>"}, "finish_reason": "stop"}]},
}


class Handler(http.server.BaseHTTPRequestHandler):
    reply: tuple[int, bytes, dict[str, str]] = (200, b"{}", {})
    delay_s = 0.0
    seen: list[tuple[str, dict[str, str], Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.seen.append((self.path, {key.lower(): value for key, value in self.headers.items()}, json.loads(body)))
        time.sleep(self.delay_s)
        status, data, headers = self.reply
        self.send_response(status)
        for name, value in ({"content-length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[Handler], str]]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    kind = type("Own", (Handler,), {"seen": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as running:
        running.block_on_close = False
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield kind, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def made(which: str, url: str, **options: Any) -> Any:
    kind = AnthropicSummarizer if which == "anthropic" else OpenAISummarizer
    return kind("model-x", base_url=url, **({"key": KEY} | options))


@pytest.mark.parametrize("which", GOOD)
def test_a_good_answer_is_taken(server: tuple[type[Handler], str], which: str) -> None:
    handler, url = server
    handler.reply = (200, json.dumps(GOOD[which]).encode(), {})
    assert summary_in(made(which, url + "/").summarize(REQUEST)) == "fine"
    path, headers, body = handler.seen[0]
    assert path == {"anthropic": "/v1/messages", "openai": "/chat/completions"}[which]
    assert KEY in (headers.get("x-api-key") or headers["authorization"])
    assert body["model"] == "model-x"
    assert "build it" in body["messages"][0]["content"]
    assert 500 in body.values()


@pytest.mark.parametrize("which", GOOD)
@pytest.mark.parametrize(
    ("status", "data", "headers", "message"),
    [
        (401, b'{"error": {"message": "bad key"}}', {}, "answered 401: bad key"),
        (529, b"overloaded", {}, "answered 529: overloaded"),
        (500, b"", {}, "answered 500: nothing more"),
        (200, b"<html>", {}, "expected JSON, got '<html>'"),
        (200, b"[1]", {}, "expected a JSON object"),
        (200, b"{}", {}, "the answer has no text"),
        (200, b'{"content": 5, "choices": 5}', {}, "the answer has no text"),
        (200, b'{"content": [5, {"type": "text"}], "choices": [{"message": {"content": 7}}]}', {}, "has no text"),
        (200, b'{"content": [], "choices": []}', {}, "the answer has no text"),
        (200, b"\xff\xfe", {}, "expected JSON"),
        (302, b"", {"location": "http://127.0.0.1:9/elsewhere"}, "answered 302"),
        (200, b"{", {"content-length": "50"}, "not reached"),
    ],
)  # fmt: skip
def test_a_bad_answer_is_an_error_that_says_so(
    server: tuple[type[Handler], str], which: str, status: int, data: bytes, headers: dict[str, str], message: str
) -> None:
    handler, url = server
    handler.reply = (status, data, headers)
    with pytest.raises(SummarizerError, match=message) as caught:
        made(which, url).summarize(REQUEST)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("which", GOOD)
def test_no_answer_in_time_is_an_error(server: tuple[type[Handler], str], which: str) -> None:
    handler, url = server
    handler.delay_s = 1.0
    with pytest.raises(SummarizerError, match=r"no answer within 0.2 s"):
        made(which, url, timeout_s=0.2).summarize(REQUEST)


@pytest.mark.parametrize("which", GOOD)
def test_no_server_and_no_key_are_errors(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(SummarizerError, match="not reached"):
        made(which, "http://127.0.0.1:1").summarize(REQUEST)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SummarizerError, match=r"no key: set (ANTHROPIC|OPENAI)_API_KEY"):
        made(which, "http://127.0.0.1:1", key=None).summarize(REQUEST)
    with pytest.raises(SummarizerError, match="characters that no key has"):
        made(which, "http://127.0.0.1:1", key="a\nb").summarize(REQUEST)


@pytest.mark.parametrize("url", ["ftp://x", "file:///etc/passwd", "nonsense", "http://", "http://x/?a=b"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="expected an http or https address"):
        made("anthropic", url)


def test_a_command_answers() -> None:
    program = "import sys; text = sys.stdin.read(); print('<summary>' + str('build it' in text) + '</summary>')"
    assert summary_in(CommandSummarizer([sys.executable, "-c", program]).summarize(REQUEST)) == "True"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit('no login')", "ended with 1: no login"),
        ("import sys; sys.exit(3)", "ended with 3: it gave no reason"),
        ("pass", "the answer has no text"),
        ("import time; time.sleep(9)", "no answer within 0.5 s"),
    ],
)
def test_a_command_that_fails_is_an_error(program: str, message: str) -> None:
    with pytest.raises(SummarizerError, match=message):
        CommandSummarizer([sys.executable, "-S", "-c", program], timeout_s=0.5 if "sleep" in program else 60).summarize(
            REQUEST
        )


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(SummarizerError, match="no such program"):
        CommandSummarizer(["no-such-program-at-all"]).summarize(REQUEST)
    with pytest.raises(ConfigError, match="expected a program"):
        CommandSummarizer("claude -p")


@pytest.mark.parametrize(
    ("reply", "summary"),
    [("a <summary> b </summary> c", "b"), ("plain", "plain"), ("</summary>x<summary>", "x"), ("<summary>cut", "cut")],
)
def test_the_summary_in_a_reply(reply: str, summary: str) -> None:
    assert summary_in(reply) == summary


def test_the_extractive_one_never_fails_and_keeps_to_its_limit() -> None:
    for entries in ((), (Entry("user", "x" * 100_000),), tuple(Entry("error", "e" * 500) for _ in range(500))):
        for limit in (60, 400, 4000):
            text = ExtractiveSummarizer().summarize(SummaryRequest(entries, limit))
            assert len(text) <= max(200, limit * 3)


def test_a_transcript_keeps_to_its_limit() -> None:
    entries = [Entry("user", f"part {i} " + "w " * 900) for i in range(200)]
    for limit in (0, 50, 900, 5000, 10**7):
        assert len(render(entries, limit)) <= limit
    assert render(entries, 5000).startswith("[user] part 0")
    assert "part 199" in render(entries, 5000)
