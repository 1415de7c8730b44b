"""A repository's compiled rules, kept on disk and compiled again only when something changed.

The store lies in ``.tipstaff/cache/`` of the repository, which ignores itself in git. Where that cannot be written the
rules are served from memory, and the project says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tipstaff import __version__
from tipstaff.errors import SourceNotFoundError, StoreError, StoreWriteError
from tipstaff.guidance.compiler import CompilerConfig, compile_documents
from tipstaff.guidance.embeddings import Embedding, HashEmbedding
from tipstaff.guidance.retriever import ShardRetriever
from tipstaff.guidance.shard_index import current_day, unit_rows
from tipstaff.guidance.sources import Repository, read_repository, relevant_entry
from tipstaff.model import Diagnostic, GuidanceRule, PolicyBundle
from tipstaff.store.fingerprints import Fingerprint, fingerprint_sources, is_unchanged
from tipstaff.store.shards import ShardStore, open_store
from tipstaff.store.writing import write_store

STORE_FOLDER: Final = ".tipstaff/cache"
STORE_NAME: Final = "guidance.store"


def compile_repository(
    directory: Path | str, *, config: CompilerConfig | None = None, previous: PolicyBundle | None = None
) -> PolicyBundle:
    """Read and compile all rule files of a repository; nothing is written.

    Parameters
    ----------
    directory
        The repository's root.
    config, previous
        As for `tipstaff.compile_guidance`.

    Raises
    ------
    SourceNotFoundError
        If `directory` is not a folder.
    """
    return _compile(read_repository(directory), config, previous)


def _compile(repository: Repository, config: CompilerConfig | None, previous: PolicyBundle | None) -> PolicyBundle:
    return compile_documents(
        repository.documents, config=config, previous=previous, diagnostics=repository.diagnostics
    )


class Project:
    """The compiled rules of a repository.

    Attributes
    ----------
    root
        The repository.
    store_path
        Where the store lies, or would.
    rebuilt
        Whether the rules were compiled just now.
    reason
        Why they were; what kept the store from being written, where something did.
    """

    def __init__(
        self,
        root: Path,
        store_path: Path,
        *,
        store: ShardStore | None,
        bundle: PolicyBundle | None,
        embedding: Embedding,
        rebuilt: bool,
        reason: str,
    ) -> None:
        self.root = root
        self.store_path = store_path
        self.rebuilt = rebuilt
        self.reason = reason
        self._store = store
        self._bundle = bundle
        self._embedding = embedding
        self._retriever: ShardRetriever | None = None

    @property
    def bundle(self) -> PolicyBundle:
        """The compiled bundle."""
        if self._bundle is None:
            assert self._store is not None  # noqa: S101 - one of the two is always there
            self._bundle = self._store.bundle()
        return self._bundle

    @property
    def is_stored(self) -> bool:
        """Whether the rules are on disk and the next process finds them."""
        return self._store is not None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler found."""
        if self._store is not None:
            return self._store.diagnostics
        return self.bundle.diagnostics

    def retriever(self) -> ShardRetriever:
        """Return the retriever over the project's rules; always the same one."""
        if self._retriever is None:
            source = self._store if self._store is not None else self.bundle
            self._retriever = ShardRetriever(source, self._embedding)
        return self._retriever

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_project(
    directory: Path | str,
    *,
    store: Path | str | None = None,
    config: CompilerConfig | None = None,
    embedding: Embedding | None = None,
    force: bool = False,
) -> Project:
    """Open a repository's rules, compiling them only if a source, the configuration or the program changed.

    Parameters
    ----------
    directory
        The repository's root.
    store
        Where the store lies; ``.tipstaff/cache/guidance.store`` below the root where None.
    config
        See `CompilerConfig`.
    embedding
        `HashEmbedding` where None.
    force
        Compile even if nothing changed.

    Raises
    ------
    SourceNotFoundError
        If `directory` is not a folder.
    """
    root = Path(directory)
    chosen = HashEmbedding() if embedding is None else embedding
    path = Path(store) if store is not None else root / STORE_FOLDER / STORE_NAME
    settings = config or CompilerConfig()
    salt = f"{__version__}\n{settings!r}"
    today = settings.today or current_day()
    former: ShardStore | None = None
    reason = "there was no store yet"
    try:
        former = open_store(path, embedding_identity=chosen.identity, dims=chosen.dimensions)
        fresh = _stale(former, root, salt, today)
        if fresh is None and not force:
            return Project(root, path, store=former, bundle=None, embedding=chosen, rebuilt=False, reason="")
        reason = fresh or "it was asked for"
    except SourceNotFoundError:
        pass
    except StoreError as error:
        reason = str(error)
    return _rebuild(root, path, former, settings, chosen, salt, reason, today)


def _stale(store: ShardStore, root: Path, salt: str, today: str) -> str | None:
    """Return why a store is out of date, None if it is not."""
    fingerprint = Fingerprint.from_bytes(store.fingerprint)
    if fingerprint.salt != salt:
        return "the configuration or the program changed"
    if not is_unchanged(fingerprint, root, salt=salt, relevant=relevant_entry):
        return "a rule file changed"
    until = store.metadata.get("valid_until", "")
    if (until and today > until) or today < store.metadata.get("compiled_on", ""):
        return "a rule came into force or went out of it"
    return None


def _rebuild(
    root: Path,
    path: Path,
    former: ShardStore | None,
    config: CompilerConfig,
    embedding: Embedding,
    salt: str,
    reason: str,
    today: str,
) -> Project:
    # The folder first: making it after the scan has begun would look like a change of the repository.
    problem: StoreWriteError | None = None
    try:
        _prepare_folder(root, path)
    except StoreWriteError as error:
        problem = error
    started = time.time_ns()
    repository = read_repository(root)
    fingerprint = fingerprint_sources(
        root,
        (*repository.files, *repository.awaited),
        repository.directories,
        salt=salt,
        relevant=relevant_entry,
        now_ns=started,
    )
    previous: PolicyBundle | None = None
    if former is not None:
        try:
            previous = former.bundle()
        except StoreError as error:
            reason = str(error)
    bundle = _compile(repository, config, previous)
    texts = [shard.compact_text for shard in bundle.shards]
    vectors = (
        embedding.embed_rows(texts)
        if isinstance(embedding, HashEmbedding)
        else unit_rows(embedding.embed_batch(texts), len(texts), embedding.dimensions)
    )
    store: ShardStore | None = None
    try:
        if problem is not None:
            raise problem
        write_store(
            path,
            bundle,
            memoryview(vectors).cast("B").cast("f"),
            embedding_identity=embedding.identity,
            fingerprint=fingerprint.to_bytes(),
            metadata={"compiled_on": today, "valid_until": _last_day_valid(bundle.rules(), today)},
            dims=embedding.dimensions,
        )
        store = open_store(path, embedding_identity=embedding.identity, dims=embedding.dimensions)
    except (StoreWriteError, StoreError, SourceNotFoundError) as error:
        reason = f"{reason}; it is kept in memory only: {error}"
    if former is not None:
        former.close()
    return Project(root, path, store=store, bundle=bundle, embedding=embedding, rebuilt=True, reason=reason)


def _prepare_folder(root: Path, path: Path) -> None:
    """Make the store's folder; one inside the repository keeps itself out of git."""
    folder = path.parent
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder == root / STORE_FOLDER:
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        msg = f"{folder}: the folder cannot be made: {os.strerror(error.errno or 0)}"
        raise StoreWriteError(msg) from error


def _last_day_valid(rules: Iterable[GuidanceRule], today: str) -> str:
    """Return the last ISO date on which the same rules are in force as today, empty if that never changes."""
    import datetime as dt

    ends: list[str] = []
    for rule in rules:
        if rule.active_until is not None and rule.active_until >= today:
            ends.append(rule.active_until)
        if rule.active_from is not None and rule.active_from > today:
            ends.append((dt.date.fromisoformat(rule.active_from) - dt.timedelta(days=1)).isoformat())
    return min(ends, default="")
