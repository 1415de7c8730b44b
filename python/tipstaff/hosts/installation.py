"""Registers the hook program in the settings of hosts, and takes exactly that away again."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from tipstaff.errors import ConfigError, SourceError
from tipstaff.hosts.host import AgentHost, Scope, handlers_of
from tipstaff.hosts.json_text import Node, parse, with_item, with_member, without
from tipstaff.model import Record
from tipstaff.store.git import git_folders
from tipstaff.store.replacing import replaced_file
from tipstaff.store.shipped import is_shipped
from tipstaff.store.state import repository_of
from tipstaff.store.untrusted import open_untrusted

COPY_SUFFIX: Final = ".before-tipstaff"
MAX_BYTES: Final = 4 << 20


class Change(Record, frozen=True):
    """What would be done to one settings file.

    Attributes
    ----------
    host, path
        Of which host, and where; symbolic links are followed.
    before, after
        Its bytes; None where there is no such file.
    copy
        The file that holds, or will hold, the settings from before the hook was registered.
    """

    host: str
    path: str
    before: bytes | None
    after: bytes | None
    copy: str

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return self.before != self.after

    def difference(self) -> str:
        """Return the change as a unified difference, empty for none."""
        old, new = [(data or b"").decode("utf-8", "replace") for data in (self.before, self.after)]
        first, second = ["/dev/null" if data is None else self.path for data in (self.before, self.after)]
        parts = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), first, second)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in parts)


def plan_install(host: AgentHost, scope: Scope, root: Path, home: Path, program: Path) -> Change:
    """Return what registering the hook would change; nothing, where it is registered just so.

    Raises
    ------
    SourceError
        The settings file cannot be read or is not JSON; it stays as it is.
    """
    path = _followed(host.settings_file(scope, root, home))
    before = _read(path)
    if (own := host.own_file(program)) is not None:
        if before is not None:
            host.read_file(path)
        return Change(host.name, str(path), before, own, str(_copy_of(path)))
    text, mark = _text(before, path)
    parsed = partial(parse, source=str(path), comments=host.reads_comments)
    settings = _checked(parsed(text), path).plain()
    wanted = {event: host.entry(event, program) for event in host.events}
    if (
        _ours(host, settings) == {event: [entry] for event, entry in wanted.items()}
        and not host.head().keys() - settings
    ):
        return Change(host.name, str(path), before, before, str(_copy_of(path)))
    text = _remove_ours(host, text, parsed)
    for key, value in host.head().items():
        root_node = parsed(text)
        if root_node.member(key) is None:
            text = with_member(text, root_node, key, value)
    for event, entry in wanted.items():
        hooks = _with_container(text, parsed, path, (), "hooks", {})
        events = _with_container(hooks, parsed, path, ("hooks",), event, [])
        text = with_item(events, _at(parsed(events), ("hooks", event)), entry)
    return Change(host.name, str(path), before, mark + text.encode(), str(_copy_of(path)))


def scope_for(host: AgentHost, wanted: Scope | None, root: Path, home: Path) -> Scope:
    """Return in whose settings a host is registered: as wanted, else where it is by default.

    By default a file that git tracks is not changed for one person alone: the user's settings are taken instead.

    Raises
    ------
    ConfigError
        The local settings are wanted, and git tracks their file.
    """
    scope = wanted or host.default_scope
    if scope != "local" or not is_shipped(root, path := host.settings_file("local", root, home)):
        return scope
    if wanted is not None:
        raise ConfigError(f"{path}: git tracks it, so it is not local; use --project or --user")
    return "user"


def exclude_local(path: Path, root: Path, *, excluded: bool) -> None:
    """Have git ignore a settings file of a repository and its copy on this machine, or no longer ignore them.

    Raises
    ------
    StoreWriteError
        ``.git/info/exclude`` cannot be written.
    """
    tree = repository_of(root)
    folders = None if tree is None else git_folders(tree)
    if folders is None or not (folders[0] / "HEAD").exists() or not path.is_relative_to(root):
        return
    file = folders[1] / "info" / "exclude"
    line = f"/{path.relative_to(root).as_posix()}*\n".encode()
    lines = (_read(file) or b"").splitlines(keepends=True)
    if excluded == (line in lines):
        return
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    file.parent.mkdir(exist_ok=True)
    _write(file, b"".join([*lines, line] if excluded else [one for one in lines if one != line]), like=file)


def plan_uninstall(host: AgentHost, scope: Scope, root: Path, home: Path) -> Change:
    """Return what taking the hook away would change.

    Where nothing else has changed since it was registered, the file becomes what it was, byte for byte, or goes away
    where there was none; else the hook's own entries go, and all others stay as they are.

    Raises
    ------
    SourceError
        The settings file cannot be read or is not JSON; it stays as it is.
    """
    path = _followed(host.settings_file(scope, root, home))
    before = _read(path)
    copy = _copy_of(path)
    if before is None:
        return Change(host.name, str(path), None, None, str(copy))
    if host.own_file(path) is not None:
        host.read_file(path)
        return Change(host.name, str(path), before, None, str(copy))
    text, mark = _text(before, path)
    parsed = partial(parse, source=str(path), comments=host.reads_comments)
    if not _ours(host, parsed(text).plain()):
        return Change(host.name, str(path), before, before, str(copy))
    rest = _remove_ours(host, text, parsed)
    settings = parsed(rest).plain()
    kept = _read(copy)
    if kept is not None and _is_same(kept, settings, parsed):
        return Change(host.name, str(path), before, kept, str(copy))
    if kept is None and not settings.keys() - host.head().keys():
        return Change(host.name, str(path), before, None, str(copy))
    return Change(host.name, str(path), before, mark + rest.encode(), str(copy))


def apply_install(change: Change) -> None:
    """Write a plan of :func:`plan_install`; a copy of the file is kept beside it.

    Raises
    ------
    SourceError
        The file has changed since the plan was made.
    StoreWriteError
        It cannot be written; it is as it was.
    """
    if not change.changes or change.after is None:
        return
    path, copy = Path(change.path), Path(change.copy)
    _check_unchanged(path, change.before)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A copy that says the same stays: it holds the bytes from before the first registration.
    if change.before is not None and not _is_own(change) and not _copy_holds(copy, change):
        _write(copy, change.before, like=path)
    _write(path, change.after, like=path)


def apply_uninstall(change: Change) -> None:
    """Write a plan of :func:`plan_uninstall`; a copy that has served goes away.

    Raises
    ------
    SourceError
        The file has changed since the plan was made.
    StoreWriteError
        It cannot be written; it is as it was.
    """
    if not change.changes:
        return
    path, copy = Path(change.path), Path(change.copy)
    _check_unchanged(path, change.before)
    if change.after is None:
        path.unlink()
        for folder in (path.parent, path.parent.parent):
            # Only what is empty goes, and only the folders of the host itself.
            if folder.name in {
                "hooks",
                "plugins",
                ".claude",
                ".codex",
                ".gemini",
                ".cursor",
                ".copilot",
                ".qwen",
                ".opencode",
            }:
                with contextlib.suppress(OSError):
                    folder.rmdir()
        return
    kept = _read(copy)
    _write(path, change.after, like=path)
    if kept == change.after:
        copy.unlink()


def read_settings(path: Path, *, comments: bool = False) -> dict[str, Any] | None:
    """Return a settings file as plain data, None where there is none.

    Parameters
    ----------
    path
        The file.
    comments
        Whether it may have comments.

    Raises
    ------
    SourceError
        It cannot be read or is not JSON.
    """
    data = _read(path)
    if data is None:
        return None
    text, _ = _text(data, path)
    settings: dict[str, Any] = parse(text, str(path), comments=comments).plain()
    return settings


def _ours(host: AgentHost, settings: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the entries of each event that hold our handler."""
    hooks = settings.get("hooks")
    found: dict[str, list[Any]] = {}
    for event, entries in cast("Mapping[str, Any]", hooks).items() if isinstance(hooks, Mapping) else ():
        for entry in entries if isinstance(entries, list) else []:
            if any(host.is_ours(handler) for handler in handlers_of(entry)):
                found.setdefault(event, []).append(entry)
    return found


def _remove_ours(host: AgentHost, text: str, parsed: Callable[[str], Node]) -> str:
    """Return the text without our handlers, and without the lists that held nothing else."""
    while (removal := _next_removal(host, parsed(text))) is not None:
        text = without(text, *removal)
    return text


def _next_removal(host: AgentHost, root: Node) -> tuple[Node, int] | None:
    hooks = root.member("hooks")
    if hooks is None or hooks.kind != "object":
        return None
    for number, (_, _, entries) in enumerate(hooks.members):
        for index, entry in enumerate(entries.items):
            handlers = entry.member("hooks") if entry.kind == "object" else None
            inner = handlers.items if handlers is not None and handlers.kind == "array" else []
            ours = [at for at, one in enumerate(inner) if one.kind == "object" and host.is_ours(one.plain())]
            if handlers is not None and ours and len(ours) < len(inner):
                return handlers, ours[0]
            if ours or (entry.kind == "object" and not inner and host.is_ours(entry.plain())):
                if len(entries.items) > 1:
                    return entries, index
                if len(hooks.members) > 1:
                    return hooks, number
                position = next(at for at, (_, _, node) in enumerate(root.members) if node is hooks)
                return root, position
    return None


def _checked(root: Node, path: Path) -> Node:
    """Return settings in which no name of hooks occurs twice: of two the later counts, and neither may be lost."""
    hooks = root.member("hooks")
    of_hooks = [name for name, _, _ in root.members if name == "hooks"]
    for names in (of_hooks, [name for name, _, _ in hooks.members] if hooks is not None else []):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            message = f"{path}: {json.dumps(twice)} occurs twice, and readers use the later one alone; "
            raise SourceError(f"{message}join them by hand; nothing was changed")
    return root


def _with_container(
    text: str, parsed: Callable[[str], Node], source: Path, way: tuple[str, ...], key: str, empty: Any
) -> str:
    """Return the text with an empty container at a place, where there is none."""
    root = parsed(text)
    owner = _at(root, way)
    node = owner.member(key)
    if node is None:
        return with_member(text, owner, key, empty)
    wanted = "array" if isinstance(empty, list) else "object"
    if node.kind != wanted:
        message = f"{source}: {'.'.join((*way, key))} must be an {wanted}, got {node.kind}; nothing was changed"
        raise SourceError(message)
    return text


def _at(root: Node, way: tuple[str, ...]) -> Node:
    for key in way:
        found = root.member(key)
        if found is None:  # never: it was added just before
            raise SourceError(key)
        root = found
    return root


def _pruned(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without empty lists of hooks, which mean what their absence means."""
    hooks = settings.get("hooks")
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    if isinstance(hooks, dict):
        filled = {event: entries for event, entries in cast("dict[str, Any]", hooks).items() if entries != []}
        return {**rest, "hooks": filled} if filled else rest
    return rest if hooks is None else {**rest, "hooks": hooks}


def _is_same(kept: bytes, settings: Mapping[str, Any], parsed: Callable[[str], Node]) -> bool:
    try:
        former = parsed(_text(kept, Path(COPY_SUFFIX))[0]).plain()
    except SourceError:
        return False
    # What the host needs beside the hooks may have been added with them.
    heads = {"version"} - former.keys()
    return _pruned(former) == {key: value for key, value in _pruned(settings).items() if key not in heads}


def _is_own(change: Change) -> bool:
    from tipstaff.hosts import host_named

    return host_named(change.host).own_file(Path(change.path)) is not None


def _copy_holds(copy: Path, change: Change) -> bool:
    kept = _read(copy)
    if kept is None or change.before is None:
        return False
    from tipstaff.hosts import host_named

    host = host_named(change.host)
    parsed = partial(parse, source=change.path, comments=host.reads_comments)
    rest = _remove_ours(host, _text(change.before, Path(change.path))[0], parsed)
    return _is_same(kept, parsed(rest).plain(), parsed)


def _followed(path: Path) -> Path:
    # A settings file is often a link into a folder of such files; the link must stay one.
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + COPY_SUFFIX)


def _read(path: Path) -> bytes | None:
    try:
        with open_untrusted(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (IsADirectoryError, NotADirectoryError) as error:
        raise SourceError(f"{path}: not a regular file; nothing was changed") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path}: a settings file has no more than {MAX_BYTES} bytes; nothing was changed")
    return data


def _text(data: bytes | None, path: Path) -> tuple[str, bytes]:
    """Return a file's text, and the byte order mark before it. An empty file counts as an empty object."""
    if data is None:
        return "{}\n", b""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(mark) :].decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: byte {error.start + len(mark)} is not UTF-8; nothing was changed") from None
    return text if text.strip() else "{}\n", mark


def _check_unchanged(path: Path, expected: bytes | None) -> None:
    if _read(path) != expected:
        raise SourceError(f"{path}: another process changed it just now; nothing was changed, try again")


def _write(path: Path, data: bytes, *, like: Path) -> None:
    try:
        mode = like.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = 0o644
    with replaced_file(path) as file:
        file.write(data)
        os.fchmod(file.fileno(), mode)
