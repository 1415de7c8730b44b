from __future__ import annotations

import contextlib
import json
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tipstaff.context.inspecting import socket_server
from tipstaff.context.inspecting.json_rpc import Dispatcher, Method
from tipstaff.context.inspecting.socket_server import MAX_MESSAGE_BYTES, SocketServer, call
from tipstaff.errors import ConfigError

DISPATCHER = Dispatcher((Method("echo", ("x",), lambda params: params.get("x")),))


def message(x: Any, request_id: int = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "echo", "params": [x], "id": request_id}).encode()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SocketServer]:
    with SocketServer(tmp_path / "run" / "s.sock", DISPATCHER, workers=2) as found:
        yield found


def connected(server: SocketServer) -> socket.socket:
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(10)
    peer.connect(str(server.path))
    return peer


def line(peer: socket.socket) -> Any:
    data = b""
    while not data.endswith(b"\n"):
        part = peer.recv(1 << 20)
        if not part:
            return None
        data += part
    return json.loads(data)


def test_it_answers(server: SocketServer) -> None:
    assert json.loads(call(server.path, message("hé")))["result"] == "hé"


def test_only_the_owner_may_connect(server: SocketServer) -> None:
    assert stat.S_IMODE(server.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.path.parent.stat().st_mode) == 0o700


def test_another_user_is_turned_away(server: SocketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "_is_owner", lambda peer: False)
    with connected(server) as peer:
        assert peer.recv(10) == b""


def test_a_connection_takes_many_messages_in_any_pieces(server: SocketServer) -> None:
    with connected(server) as peer:
        for x in range(50):
            peer.sendall(message(x) + b"\n")
            assert line(peer)["result"] == x
        for byte in message("slow") + b"\n":
            peer.sendall(bytes([byte]))
        assert line(peer)["result"] == "slow"
        peer.sendall(b"\n \r\n" + message(1) + b"\n" + b'{"jsonrpc":"2.0","method":"echo"}\n' + message(2) + b"\n")
        with peer.makefile("rb") as answers:
            assert [json.loads(answers.readline())["result"] for _ in range(2)] == [1, 2]


def test_rubbish_is_answered_and_the_connection_lives(server: SocketServer) -> None:
    with connected(server) as peer:
        peer.sendall(b"{{{\n")
        assert line(peer)["error"]["code"] == -32700
        peer.sendall(message(3) + b"\n")
        assert line(peer)["result"] == 3


def test_a_message_without_end_is_refused(server: SocketServer) -> None:
    with connected(server) as peer:
        peer.sendall(b"x" * (MAX_MESSAGE_BYTES + 1))
        assert line(peer)["error"]["code"] == -32600
        assert peer.recv(10) == b""
    assert json.loads(call(server.path, message(1)))["result"] == 1


def test_a_large_message_is_taken(server: SocketServer) -> None:
    text = "x" * (MAX_MESSAGE_BYTES - 200)
    assert json.loads(call(server.path, message(text)))["result"] == text


def test_more_connections_than_workers(server: SocketServer) -> None:
    # Silent ones keep no worker from those that speak.
    peers = [connected(server) for _ in range(12)]
    for _ in range(2):
        for number, peer in enumerate(peers):
            peer.sendall(message(number) + b"\n")
        assert [line(peer)["result"] for peer in peers] == list(range(12))
    for peer in peers:
        peer.close()


def test_many_silent_connections_hold_nobody_up(server: SocketServer) -> None:
    # Ratio in one run: a call among none and among three hundred that say nothing.
    call(server.path, message(0))
    begin = time.monotonic()
    for number in range(20):
        assert json.loads(call(server.path, message(number)))["result"] == number
    alone = time.monotonic() - begin
    silent = [connected(server) for _ in range(300)]
    begin = time.monotonic()
    for number in range(20):
        assert json.loads(call(server.path, message(number)))["result"] == number
    among = time.monotonic() - begin
    for peer in silent:
        peer.close()
    assert among < 20 * alone + 1.0


def test_too_many_silent_connections_close_the_oldest(server: SocketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "_MOST_OPEN", 8)
    silent = [connected(server) for _ in range(20)]
    assert silent[0].recv(10) == b""
    silent[-1].sendall(message(5) + b"\n")
    assert line(silent[-1])["result"] == 5
    for peer in silent:
        peer.close()


LIMITED = """
import os, resource, sys
from tipstaff.context.inspecting.json_rpc import Dispatcher, Method
from tipstaff.context.inspecting.socket_server import SocketServer

def read(params):
    with open(os.devnull) as found:
        return found.read() + params["x"]

with SocketServer(sys.argv[1], Dispatcher((Method("echo", ("x",), read),)), workers=2):
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(int(sys.argv[2]))]
    print("ready", flush=True)
    sys.stdin.read()
"""
"""A server in a process that may have 256 descriptors, some of which it uses otherwise; its answers need one."""


@pytest.mark.parametrize("held", [0, 150])
def test_silent_connections_do_not_use_up_the_descriptors(tmp_path: Path, held: int) -> None:
    path = tmp_path / "s.sock"
    command = [sys.executable, "-c", LIMITED, str(path), str(held)]
    with contextlib.ExitStack() as stack:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.enter_context(child)
        stack.callback(child.kill)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        silent: list[socket.socket] = []
        for _ in range(300):
            silent.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            silent[-1].settimeout(10)
            silent[-1].connect(str(path))
        assert json.loads(call(path, message("new")))["result"] == "new"
        # Room was made by closing the oldest; the youngest is still there.
        assert silent[0].recv(10) == b""
        silent[-1].sendall(message("last") + b"\n")
        assert line(silent[-1])["result"] == "last"


def test_many_threads(server: SocketServer) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        found.extend(json.loads(call(server.path, message(number)))["result"] for _ in range(10))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(list(range(8)) * 10)


def test_silent_connections_end(server: SocketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "IDLE_S", 0.0)
    with connected(server) as peer:
        assert peer.recv(10) == b""


def test_closing_ends_connections_and_removes_the_socket(tmp_path: Path) -> None:
    server = SocketServer(tmp_path / "s.sock", DISPATCHER)
    with connected(server) as peer:
        server.close()
        server.close()
        server.wait()
        # A connection that was not accepted yet is reset.
        with contextlib.suppress(ConnectionResetError):
            assert peer.recv(10) == b""
    assert not server.path.exists()


def test_one_server_at_a_time(server: SocketServer) -> None:
    with pytest.raises(ConfigError, match="another server"):
        SocketServer(server.path, DISPATCHER)
    assert json.loads(call(server.path, message(1)))["result"] == 1


def test_the_socket_of_a_dead_server_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with SocketServer(path, DISPATCHER):
        assert json.loads(call(path, message(1)))["result"] == 1


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s.sock").write_text("mine")
    for _ in range(2):
        with pytest.raises(ConfigError, match="not a socket"):
            SocketServer(tmp_path / "s.sock", DISPATCHER)
    assert (tmp_path / "s.sock").read_text() == "mine"


def test_invalid_socket_paths(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="107 bytes"):
        SocketServer(tmp_path / ("x" * 110), DISPATCHER)
    with pytest.raises(ConfigError, match="workers"):
        SocketServer(tmp_path / "s", DISPATCHER, workers=0)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(ConfigError, match="others may write"):
        SocketServer(shared / "s", DISPATCHER)
    shared.chmod(0o1777)
    SocketServer(shared / "s", DISPATCHER).close()


def test_a_caller_that_goes_away_harms_nobody(server: SocketServer) -> None:
    for _ in range(5):
        with connected(server) as peer:
            peer.sendall(message("x" * 500_000) + b"\n")
    time.sleep(0.05)
    assert json.loads(call(server.path, message(1)))["result"] == 1


def test_a_last_line_needs_no_newline(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with SocketServer(path, DISPATCHER), socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(path))
        peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"none"}')
        peer.shutdown(socket.SHUT_WR)
        with peer.makefile("rb") as answers:
            assert b'"id":1' in answers.readline()
