"""A mount that nobody answers, in namespaces of its own: run as a program by the tests beside it.

``python unanswered_mount.py FOLDER READS PROGRAM...`` mounts a FUSE file system at FOLDER whose server reads no request
(READS 0: the process that asks waits, and may be killed) or reads them and never answers (READS 1: not even SIGKILL ends
its wait), hands its standard input to the program, and prints a line of JSON: seconds, status and output of the program.
Exits with 77 where no such mount can be made.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000
PRIVATE_ALL = 0x40000 | 0x4000
NO_SUID_NO_DEVICES = 2 | 4
NOW, NO_LINKS = 2, 8
INIT = 26


def main(folder: str, reads: str, *program: str) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if user != 0:
        if libc.unshare(NEW_USER | NEW_MOUNTS):
            return 77
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    elif libc.unshare(NEW_MOUNTS):
        return 77
    libc.mount(None, b"/", None, PRIVATE_ALL, None)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        return 77
    options = f"fd={device},rootmode=40000,user_id={user},group_id={group}".encode()
    if libc.mount(b"unanswered", os.fsencode(folder), b"fuse.unanswered", NO_SUID_NO_DEVICES, options):
        return 77
    if reads == "1":
        threading.Thread(target=_read_requests, args=(device,), daemon=True).start()
    begin = time.monotonic()
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            output, error = process.communicate(sys.stdin.buffer.read(), timeout=10)
            took, status = time.monotonic() - begin, process.returncode
        except subprocess.TimeoutExpired:
            took, status, output, error = 10.0, -1, b"", b""
        os.write(1, json.dumps([took, status, output.decode(), error.decode()]).encode())
        libc.umount2(os.fsencode(folder), NOW | NO_LINKS)
        os._exit(0)


def _read_requests(device: int) -> None:
    while True:
        request = os.read(device, 1 << 17)
        if struct.unpack_from("<I", request, 4)[0] == INIT:
            answer = struct.pack("<IIIIHHII", 7, 31, 65536, 0, 12, 10, 65536, 1).ljust(64, b"\0")
            number = struct.unpack_from("<Q", request, 8)[0]
            os.write(device, struct.pack("<IiQ", 16 + len(answer), 0, number) + answer)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
