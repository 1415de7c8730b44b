"""The one policy of a repository: its own settings, gate packs and secret rules over those of this package.

``tipstaff gate``, `EnforcementGates.for_repository`, installing and the hook's compiled policy all come from here. What
would make the gates weaker counts where a person has allowed it (`accept_weakenings`); all else counts at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.image.policy_file import PACKS_FOLDER, SECRETS_FOLDER, SETTINGS_FILE, built_in_edition, policy_path
from tipstaff.gates.packs.weakenings import Weakening, WeakeningReview
from tipstaff.gates.results import DECISIONS
from tipstaff.model import Record
from tipstaff.store.inside import leads_out
from tipstaff.store.replacing import replaced_file
from tipstaff.store.signing import is_signed, sign
from tipstaff.store.state import make_private
from tipstaff.store.untrusted import read_untrusted, read_untrusted_text
from tipstaff.undo.config import UndoConfig, is_weaker

if TYPE_CHECKING:
    from tipstaff.gates.secrets.packs import SecretRule

_SETTINGS: Final = frozenset(GateConfig.__struct_fields__)
_MAX_BYTES: Final = 1 << 20


class RepositoryPolicy(Record, frozen=True):
    """What judges in a repository.

    Attributes
    ----------
    repository
        Its root; None for the policy of everything else.
    config
        The settings.
    image
        The rules and the settings, as the native engine reads them.
    secrets
        The secret scanner's table; empty for this package's own.
    sources
        The files that it was made of, beside those of this package.
    weakenings
        All that would make it weaker.
    accepted
        Digests of those that count.
    """

    repository: str | None
    config: GateConfig
    image: bytes
    secrets: bytes
    sources: tuple[str, ...]
    weakenings: tuple[Weakening, ...]
    accepted: frozenset[str]

    @property
    def in_force(self) -> tuple[Weakening, ...]:
        """The weakenings that count."""
        return tuple(one for one in self.weakenings if one.because and one.digest in self.accepted)

    @property
    def left_out(self) -> tuple[Weakening, ...]:
        """The weakenings that do not count: nobody has allowed them, or they give no reason."""
        counted = {one.digest for one in self.in_force}
        return tuple(one for one in self.weakenings if one.digest not in counted)


def policy_of(repository: Path | None, *, state: Path | None = None, accepted: Iterable[str] = ()) -> RepositoryPolicy:
    """Return the policy of a repository, made of what is in it now.

    Parameters
    ----------
    repository
        Its root; None for the policy of everything else.
    state
        The state folder, for what a person has allowed; None: nothing was.
    accepted
        Digests of further weakenings that count.

    Raises
    ------
    PackError, SecretPackError, ConfigError
        A file of it cannot be used; the message names it and what would be right.
    """
    from tipstaff.gates.image.policy import default_image
    from tipstaff.gates.packs.reader import pack_files
    from tipstaff.gates.secrets.scanner import compiled_rules

    if repository is None:
        return RepositoryPolicy(None, GateConfig(), bytes(default_image()), b"", (), (), frozenset())
    former = frozenset() if state is None else accepted_weakenings(repository, state)
    review = WeakeningReview({*former, *accepted})
    settings = repository / SETTINGS_FILE
    packs = [_inside(path, repository) for path in pack_files(repository / PACKS_FOLDER)]
    rules = [_inside(path, repository) for path in pack_files(repository / SECRETS_FOLDER)]
    config, only_wiring = _settings(settings, repository, review)
    secrets = compiled_rules(rules, may_replace=partial(_may_replace, review)) if rules else b""
    make = partial(_image, packs, config, secrets, review, only_wiring=only_wiring)
    if state is None or not packs:
        image = make()
    else:
        # The packs are known by their bytes, everything else by what it is, the version of this package included.
        texts = [(str(path), read_untrusted(path)) for path in packs]
        made_of = (built_in_edition(), texts, config, only_wiring, secrets, sorted(review.accepted), review.found)
        image = _remembered(policy_path(repository, state).with_suffix(".compiled"), made_of, review, make)
    sources = [*([settings] if settings.is_file() else []), *packs, *rules]
    return RepositoryPolicy(
        str(repository), config, image, secrets, tuple(map(str, sources)), tuple(review.found), review.accepted
    )


def has_own_policy(repository: Path, state: Path) -> bool:
    """Return whether a repository has packs or settings of its own, or a compiled policy already."""
    own = (PACKS_FOLDER, SECRETS_FOLDER, SETTINGS_FILE)
    return any((repository / name).exists() for name in own) or policy_path(repository, state).exists()


def _image(
    packs: list[Path], config: GateConfig, secrets: bytes, review: WeakeningReview, *, only_wiring: bool
) -> bytes:
    from tipstaff.gates.image.layout import with_settings
    from tipstaff.gates.image.policy import default_image
    from tipstaff.gates.image.policy_image import compile_image
    from tipstaff.gates.packs.reader import WIRING, load_policy
    from tipstaff.gates.packs.samples import check_samples

    numbers = config.numbers()[:-1]
    if not packs and not secrets and not config.allowed_tools and not only_wiring:
        return with_settings(default_image(), numbers)
    policy = load_policy(extra=packs, review=review)
    image = compile_image(policy, config=numbers, allowlist=config.allowed_tools, secrets=secrets)
    if packs:
        check_samples(policy, image)
    if only_wiring:
        policy.rules = {name: rule for name, rule in policy.rules.items() if name.startswith(WIRING)}
        image = compile_image(policy, config=numbers, allowlist=config.allowed_tools, secrets=secrets)
    return image


class _Compiled(Record, frozen=True):
    """An image as it was compiled last, what of its packs would weaken the gates, and all that it was made of."""

    key: str
    image: bytes
    weakenings: tuple[Weakening, ...]


def _remembered(path: Path, made_of: object, review: WeakeningReview, make: Callable[[], bytes]) -> bytes:
    """Return the image that a file has where it was made of the same, else a new one; compiling takes seconds."""
    key = hashlib.sha256(msgspec.msgpack.encode(made_of)).hexdigest()
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        about = path.stat()
        if about.st_uid == os.geteuid() and not about.st_mode & 0o022:
            known = msgspec.msgpack.decode(read_untrusted(path), type=_Compiled)
            if known.key == key:
                review.found.extend(known.weakenings)
                return known.image
    before = len(review.found)
    image = make()
    with contextlib.suppress(OSError):
        make_private(path.parent)
        with replaced_file(path) as file:
            file.write(msgspec.msgpack.encode(_Compiled(key, image, tuple(review.found[before:]))))
    return image


def _may_replace(review: WeakeningReview, rule: SecretRule, path: Path) -> bool:
    return review.admits("secret rule", rule.id, "as it is shipped", "replaced", rule.to_dict(), rule.because, path)


# -- settings ----------------------------------------------------------------------------------------------------------


def _settings(path: Path, repository: Path, review: WeakeningReview) -> tuple[GateConfig, bool]:
    """Return a repository's settings as far as they count, and whether only the rules of the wiring judge."""
    if not path.is_file():
        return GateConfig(), False
    data = _read_toml(_inside(path, repository))
    reasons = data.pop("because", "")
    if unknown := sorted(data.keys() - _SETTINGS):
        raise ConfigError(
            f"{path}: {unknown[0]!r} is not a setting; there are {', '.join(sorted(_SETTINGS))}, and because"
        )
    if "undo" in data:
        data["undo"] = _undo_settings(data["undo"], reasons, review, path)
    if isinstance(data.get("allowed_tools"), list):
        data["allowed_tools"] = tuple(data["allowed_tools"])
    try:
        asked = GateConfig(**data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    changes: dict[str, Any] = {}
    default = GateConfig()
    for name in sorted(data):
        former, now = getattr(default, name), getattr(asked, name)
        because: object = reasons.get(name, "") if isinstance(reasons, Mapping) else reasons
        if not _is_weaker(name, former, now) or review.admits(
            "setting", name, _shown(former), _shown(now), _shown(now), because, path
        ):
            changes[name] = now
    # The rules of the wiring judge whatever else is off: a switched-off gate could be taken away in silence.
    only_wiring = changes.get("destructive_ops") is False
    if only_wiring:
        changes.update(destructive_ops=True, uncertain="allow", uncertain_unattended="allow")
    if changes.get("tool_allowlist") and not changes.get("allowed_tools"):
        del changes["tool_allowlist"]
    return GateConfig(**changes), only_wiring


def _undo_settings(table: Any, reasons: object, review: WeakeningReview, path: Path) -> UndoConfig:
    """Return the table ``[undo]`` as far as it counts: a repository keeps less where a person has allowed that."""
    unknown = sorted(table.keys() - set(UndoConfig.__struct_fields__)) if isinstance(table, dict) else [table]
    if unknown:
        what = f"{unknown[0]!r} is not a setting of it" if isinstance(table, dict) else "it is not a table"
        raise ConfigError(f"{path}: [undo]: {what}; there are {', '.join(UndoConfig.__struct_fields__)}")
    try:
        asked = UndoConfig(**table)
    except ConfigError as error:
        raise ConfigError(f"{path}: [undo]: {error}") from None
    changes: dict[str, Any] = {}
    for name in sorted(table):
        former, now = getattr(UndoConfig(), name), getattr(asked, name)
        key = f"undo.{name}"
        because: object = reasons.get(key, "") if isinstance(reasons, Mapping) else reasons
        if not is_weaker(name, former, now) or review.admits(
            "setting", key, _shown(former), _shown(now), _shown(now), because, path
        ):
            changes[name] = now
    return UndoConfig(**changes)


def settings_of(repository: Path, state: Path) -> GateConfig:
    """Return the settings that count in a repository, those of this package where its file cannot be read."""
    try:
        review = WeakeningReview(set(accepted_weakenings(repository, state)))
        return _settings(repository / SETTINGS_FILE, repository, review)[0]
    except (ConfigError, OSError):
        return GateConfig()


def _is_weaker(name: str, former: Any, now: Any) -> bool:
    if name in {"destructive_ops", "diff_size", "secrets", "read_files"}:
        return former is True and now is False
    if name in {"uncertain", "uncertain_unattended", "on_error"}:
        return DECISIONS.index(now) < DECISIONS.index(former)
    if name == "evidence":  # words do not see what is lost
        return (former, now) == ("files", "none")
    if name == "allow_proven":
        return bool(now)
    if name == "diff_size_threshold":
        return bool(now > former)
    return False


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path}: larger than {_MAX_BYTES} bytes")
        return tomllib.loads(read_untrusted_text(path))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _inside(path: Path, repository: Path) -> Path:
    """Return a file of a repository as it is, where no link leads it out of there."""
    if leads_out(path, repository):
        raise ConfigError(f"{path}: it leads out of the repository; put the file itself there")
    return path


# -- what a person has allowed -----------------------------------------------------------------------------------------


def accepted_weakenings(repository: Path, state: Path) -> frozenset[str]:
    """Return the digests of the weakenings that a person has allowed for a repository."""
    path = _answers_path(repository, state)
    try:
        head, _, body = read_untrusted_text(path, encoding="ascii").partition("\n")
    except (OSError, UnicodeDecodeError):
        return frozenset()
    if not is_signed(state, _signed_text(repository, body), head):
        return frozenset()
    return frozenset(body.split())


def accept_weakenings(repository: Path, state: Path, digests: Iterable[str]) -> None:
    """Write down which weakenings count, instead of what was allowed before; only when a person confirmed it.

    Raises
    ------
    ConfigError, StoreWriteError
        The key cannot be used, or it cannot be written.
    """
    path = _answers_path(repository, state)
    body = "".join(f"{one}\n" for one in sorted(set(digests)))
    signature = sign(state, _signed_text(repository, body))
    make_private(path.parent)
    with replaced_file(path) as file:
        file.write(f"{signature}\n{body}".encode())


def _answers_path(repository: Path, state: Path) -> Path:
    return policy_path(repository, state).with_suffix(".accepted")


def _signed_text(repository: Path, body: str) -> str:
    return json.dumps(["tipstaff-weakenings-1", os.fspath(repository), body])
