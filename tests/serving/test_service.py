"""The service: verdicts, metrics and pages for whoever has the token, on the loopback alone."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runs.repository import made_plane
from tipstaff.plane import GuidanceControlPlane
from tipstaff.store.state import state_folder

uvicorn: Any = pytest.importorskip("uvicorn", reason="the extra serve has it")
pytest.importorskip("starlette", reason="the extra serve has it")
pytest.importorskip("jinja2", reason="the extra serve has it")
TOKEN = "a-token-of-the-test"
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
PAGES = ("/", "/rules", "/noise", "/secrets")


class Served:
    def __init__(self, plane: GuidanceControlPlane, port: int) -> None:
        self.plane = plane
        self.port = port

    def ask(
        self, method: str, path: str, body: Any = None, *, token: str | None = TOKEN, **headers: str
    ) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, data, sent)
        response = connection.getresponse()
        found = response.read().decode()
        connection.close()
        return response.status, found, {name.lower(): value for name, value in response.getheaders()}

    def verdict(self, **call: Any) -> dict[str, Any]:
        status, text, _ = self.ask("POST", "/v1/verdict", call)
        assert status == 200, text
        answer: dict[str, Any] = json.loads(text)
        return answer


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    from tipstaff.serving.service import Service

    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    with made_plane(tmp_path / "repository") as plane, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(Service(plane, TOKEN).application(), log_level="error", ws="none", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield Served(plane, listening.getsockname()[1])
        server.should_exit = True
        thread.join()


def test_verdicts(served: Served) -> None:
    found = served.verdict(tool="Bash", params={"command": "git reset --hard"})
    assert (found["decision"], len(found["code"])) == ("require-confirmation", 8)
    assert served.verdict(tool="Bash", params={"command": "ls"}, cwd="/tmp")["decision"] == "allow"
    assert served.verdict(tool="Bash", params={"command": "rm -rf /"})["decision"] == "block"
    assert served.verdict(tool="X")["decision"] == "allow"
    lines = [json.loads(line) for line in (state_folder() / "spool.jsonl").read_text().splitlines()]
    assert [line["decision"] for line in lines] == ["require-confirmation", "allow", "block", "allow"]
    assert lines[0]["subject"] == found["call_id"]


def test_litellms_guardrail(served: Served) -> None:
    def ask(**body: Any) -> Any:
        return json.loads(served.ask("POST", "/beta/litellm_basic_guardrail_api", body)[1])

    calls = [{"function": {"name": "Bash", "arguments": json.dumps({"command": "rm -rf /"})}}]
    assert ask(input_type="response", texts=[], tool_calls=calls)["action"] == "BLOCKED"
    assert ask(input_type="request", texts=["a"], tool_calls=calls) == {"action": "NONE"}
    masked = ask(input_type="request", texts=[f"k {SECRET}"])
    assert masked["action"] == "GUARDRAIL_INTERVENED"
    assert SECRET not in str(masked)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"token": None}, 401), ({"token": "wrong"}, 401), ({"token": None, "Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421), ({"Host": "evil.example@127.0.0.1"}, 421), ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
        ({"token": None, "Cookie": f"tipstaff={TOKEN}"}, 401),
        ({"Content_Type": "text/plain"}, 415), ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)  # fmt: skip
def test_who_is_answered(served: Served, headers: dict[str, Any], expected: int) -> None:
    status, _, _ = served.ask("POST", "/v1/verdict", {"tool": "Bash", "params": {"command": "ls"}}, **headers)
    assert status == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", 400), (b"{", 400), (b"[]", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b"{}", 422),
        (b'{"tool": 1}', 422), (b'{"tool": "a", "cwd": 1}', 422), (b'{"tool": "a", "params": "' + b"x" * (1 << 20), 413),
    ],
)  # fmt: skip
def test_bodies_that_are_none(served: Served, body: bytes, expected: int) -> None:
    assert served.ask("POST", "/v1/verdict", body)[0] == expected
    assert served.verdict(tool="Bash", params={"command": "ls"})["decision"] == "allow", "it goes on"


def test_a_client_that_goes_away_is_no_matter(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(b"POST /v1/verdict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    assert served.ask("GET", "/healthz", token=None)[0] == 200


@pytest.mark.parametrize(
    "path", ["/../etc/passwd", "/sessions/../../etc/passwd", "/sessions/none", "/style.css/x", "/x"]
)
def test_paths_that_lead_nowhere(served: Served, path: str) -> None:
    assert served.ask("GET", path)[0] in {404, 400}


def test_side_by_side(served: Served) -> None:
    found: list[str] = []

    def ask() -> None:
        for number in range(10):
            command = "rm -rf /" if number % 2 else "ls"
            found.append(served.verdict(tool="Bash", params={"command": command})["decision"])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found.count("allow"), found.count("block")) == (40, 40)
    text = served.ask("GET", "/metrics")[1]
    assert 'tipstaff_verdicts_total{decision="block"} 40' in text
    assert "tipstaff_verdict_seconds_count 80" in text


def test_openapi_and_health_need_no_token(served: Served) -> None:
    described = json.loads(served.ask("GET", "/openapi.json", token=None)[1])
    assert "/v1/verdict" in described["paths"]
    assert json.loads(served.ask("GET", "/healthz", token=None)[1])["status"] == "ok"
    assert served.ask("GET", "/metrics", token=None)[0] == 401


def test_a_browser_brings_the_token_once(served: Served) -> None:
    status, _, headers = served.ask("GET", f"/?token={TOKEN}", token=None)
    assert (status, headers["location"]) == (303, "/")
    assert "httponly" in headers["set-cookie"].lower()
    assert "samesite=strict" in headers["set-cookie"].lower()
    cookie = headers["set-cookie"].partition(";")[0]
    for path in PAGES:
        status, text, headers = served.ask("GET", path, token=None, Cookie=cookie)
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "<script" not in text
    assert served.ask("GET", "/?token=wrong", token=None)[0] == 401


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def recorded(plane: GuidanceControlPlane, text: str) -> str:
    with plane.run(text, agent_id=text[:50]) as run:
        plane.verdict(text or "x", {"command": text})
        plane.record_violation(run.id, text or "x", description=text)
    return run.id


def test_pages_show_what_happened(served: Served) -> None:
    run = recorded(served.plane, "git reset --hard")
    served.verdict(tool="Bash", params={"command": "git reset --hard"})
    assert "git reset --hard" in served.ask("GET", "/")[1]
    session = served.ask("GET", f"/sessions/{run}")[1]
    assert "require-confirmation" in session or "block" in session or "allow" in session
    assert "git.reset-hard" in served.ask("GET", "/noise")[1]
    assert "No call had a secret in it." in served.ask("GET", "/secrets")[1]
    assert "SEC-1" in served.ask("GET", "/rules")[1]


def test_no_text_of_an_agent_is_ever_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tipstaff.serving.pages_of import Pages

    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    markup = st.sampled_from(["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'", "{{ 7*7 }}", "</pre>",
                              "javascript:alert(1)", "&lt;b&gt;", "<b", "<!--", "]]>", "\u2028", "\x00"])  # fmt: skip
    with made_plane(tmp_path / "repository", durable=False) as plane:
        pages = Pages(plane)
        harmless = recorded(plane, "plain words")
        shape = {path: Elements(pages.page(path) or "").found for path in PAGES}

        @settings(max_examples=25, deadline=None)
        @given(st.lists(markup | st.text(max_size=8), min_size=1, max_size=5).map("".join))
        def hold(text: str) -> None:
            run = recorded(plane, text)
            session = pages.page(f"/sessions/{run}", run) or ""
            assert {name for name, _ in Elements(session).found} <= {
                name for name, _ in Elements(pages.page(f"/sessions/{harmless}", harmless) or "").found
            } | {"ol", "li", "code", "span", "ul", "strong", "p"}
            for path in PAGES:
                found = Elements(pages.page(path) or "").found
                known = {*shape[path]} | {("li", ()), ("p", ()), ("strong", ()), ("pre", ("tabindex",)), ("code", ()),
                                          ("ul", ("class",)), ("td", ()), ("tr", ()), ("a", ("href",)), ("table", ()),
                                          ("thead", ()), ("tbody", ()), ("th", ("scope",)),
                                          ("div", ("class", "tabindex", "role", "aria-label"))}  # fmt: skip
                assert set(found) <= known

        hold()


def test_a_page_is_small(served: Served) -> None:
    for number in range(120):
        recorded(served.plane, f"task {number}")
    assert sum(len(served.ask("GET", path)[1]) for path in (*PAGES, "/style.css")) < 60_000
