"""A repository's compiled rules, kept on disk and compiled again only when something changed.

The store is in ``.tipstaff/cache/`` of the repository, which ignores itself in git. One that was not written on this
machine, but shipped, is not believed: the rules are compiled again. Where that cannot be written the
rules are served from memory, and the project says so.
"""

from __future__ import annotations

import datetime as dt
import errno
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from tipstaff import __version__
from tipstaff.errors import (
    SourceNotFoundError,
    StoreDamagedError,
    StoreEmbeddingError,
    StoreError,
    StoreWriteError,
    message_of,
)
from tipstaff.guidance.compiling.compiler import compile_documents
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.reading.discovery import rules_root
from tipstaff.guidance.reading.documents import Repository
from tipstaff.guidance.reading.rule_files import relevant_entry
from tipstaff.guidance.reading.sources import home_folder, read_repository
from tipstaff.guidance.retrieval.fused_index import search_blob
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.shard_index import current_day
from tipstaff.guidance.retrieval.vectors import default_embedding, shard_rows
from tipstaff.model import Diagnostic, PolicyBundle
from tipstaff.store.fingerprints import Fingerprint, fingerprint_sources, is_unchanged
from tipstaff.store.inside import refuse_links_out
from tipstaff.store.provenance import note_written, was_written_here
from tipstaff.store.shards import ShardStore, open_store, write_store

STORE_FOLDER: Final = ".tipstaff/cache"
STORE_NAME: Final = "guidance.store"


def store_name(embedding: Embedding) -> str:
    """Return the name of the store's file: each kind of embedding has its own, so as not to rebuild in turns."""
    kind = embedding.identity.partition("-")[0]
    return STORE_NAME if kind == "static" else f"guidance-{kind}.store" if kind.isalnum() else "guidance-other.store"


def compile_repository(
    directory: Path | str,
    *,
    config: CompilerConfig | None = None,
    previous: PolicyBundle | None = None,
    as_root: bool = False,
    texts: Mapping[str, str] | None = None,
) -> PolicyBundle:
    """Read and compile all rule files of a repository; nothing is written.

    The rule files that a person has for all repositories (``~/.claude/CLAUDE.md``) are read as local ones are.

    Parameters
    ----------
    directory
        The repository's root, or a folder anywhere below it.
    config, previous
        As for `tipstaff.compile_guidance`.
    as_root
        Take `directory` itself as the root, whatever is around it.
    texts
        As for `tipstaff.guidance.reading.sources.read_repository`: the rules as a change would make them.

    Raises
    ------
    SourceNotFoundError
        If `directory` is not a folder.
    """
    root = Path(directory) if as_root else rules_root(directory)
    return _compile(read_repository(root, home=home_folder(), texts=texts), config, previous)


def _compile(repository: Repository, config: CompilerConfig | None, previous: PolicyBundle | None) -> PolicyBundle:
    return compile_documents(repository.documents, config=config, previous=previous, diagnostics=repository.diagnostics)


class Project:
    """The compiled rules of a repository.

    A project is a context manager; what it gave stays usable after it is closed, except bundles and retrievers that
    were not asked for before. Safe to share among threads.

    Attributes
    ----------
    root
        The repository.
    store_path
        Where the store is, or would.
    is_stored
        Whether the rules are on disk and the next process finds them.
    rebuilt
        Whether the rules were compiled just now.
    reason
        Why they were; what kept the store from being written, where something did.
    problem
        What kept the store from being written, alone; empty where nothing did.
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
        config: CompilerConfig,
        problem: str = "",
    ) -> None:
        self.root = root
        self.store_path = store_path
        self.is_stored = store is not None
        self.rebuilt = rebuilt
        self.reason = reason
        self.problem = problem
        self._store = store
        self._bundle = bundle
        self._embedding = embedding
        self._config = config
        self._retriever: ShardRetriever | None = None
        self._lock = threading.RLock()

    @property
    def bundle(self) -> PolicyBundle:
        """The compiled bundle."""
        with self._lock:
            if self._bundle is None:
                try:
                    self._bundle = self._open_store().bundle()
                except StoreDamagedError as error:
                    return self._recover(error)
            return self._bundle

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler found."""
        if self._bundle is not None:
            return self._bundle.diagnostics
        try:
            return self._open_store().diagnostics
        except StoreDamagedError:
            return self.bundle.diagnostics

    def retriever(self) -> ShardRetriever:
        """Return the retriever over the project's rules; always the same one."""
        with self._lock:
            if self._retriever is None:
                today = self._config.today
                if self._store is not None:
                    try:
                        self._retriever = ShardRetriever(self._store, self._embedding, today=today)
                    except StoreDamagedError as error:
                        self._recover(error)
                if self._retriever is None:
                    self._retriever = ShardRetriever(self.bundle, self._embedding, today=today)
            return self._retriever

    def close(self) -> None:
        """Let go of the store's file; closing twice is fine."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _open_store(self) -> ShardStore:
        if self._store is None:
            raise ValueError(f"{self.root}: the project is closed")
        return self._store

    def _recover(self, error: StoreDamagedError) -> PolicyBundle:
        """Compile again, in memory: of a large store, damage may show when a part is first read."""
        self.reason = f"{error}; it is kept in memory only"
        self.rebuilt, self.is_stored = True, False
        self.close()
        self._bundle = compile_repository(self.root, config=self._config, as_root=True)
        return self._bundle

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
    write: bool = True,
    as_root: bool = False,
) -> Project:
    """Open a repository's rules, compiling them only if a source, the configuration or the program changed.

    Parameters
    ----------
    directory
        The repository's root, or a folder anywhere below it.
    store
        Where the store is; `store_name` in ``.tipstaff/cache/`` below the root where None.
    config
        See `CompilerConfig`.
    embedding
        `StaticEmbedding` where None.
    force
        Compile even if nothing changed.
    write
        Whether a store that is missing or out of date is written; otherwise the rules are compiled in memory and
        nothing on disk changes.
    as_root
        Take `directory` itself as the root, whatever is around it.

    Raises
    ------
    SourceNotFoundError
        If `directory` is not a folder.
    """
    root = Path(directory) if as_root else rules_root(directory)
    chosen = default_embedding() if embedding is None else embedding
    path = Path(store) if store is not None else root / STORE_FOLDER / store_name(chosen)
    settings = config or CompilerConfig()
    salt = f"{__version__}\n{settings!r}"
    today = settings.today or current_day()
    former: ShardStore | None = None
    reason = "there was no store yet"
    try:
        if path.exists() and not was_written_here(path):
            raise StoreError(f"{path}: it was not written on this machine, so it is not trusted")
        former = open_store(path, embedding_identity=chosen.identity, dims=chosen.dimensions)
        fresh = _stale(former, root, salt, today)
        if fresh is None and not force:
            return Project(
                root, path, store=former, bundle=None, embedding=chosen, rebuilt=False, reason="", config=settings
            )
        reason = fresh or "it was asked for"
    except SourceNotFoundError:
        pass
    except StoreError as error:
        reason = str(error)
        if isinstance(error, StoreEmbeddingError):
            former = _with_any_embedding(path)
    if not root.is_dir():
        msg = f"{root}: not a folder; give the root of a repository"
        raise SourceNotFoundError(errno.ENOENT, msg)
    previous, damage = _former_rules(former)
    builder = _Builder(root, path, settings, chosen, salt, today, previous)
    try:
        return builder.build(damage or reason, write=write)
    finally:
        if former is not None:
            former.close()


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


def _with_any_embedding(path: Path) -> ShardStore | None:
    try:
        return open_store(path)
    except (StoreError, SourceNotFoundError):
        return None


def _former_rules(former: ShardStore | None) -> tuple[PolicyBundle | None, str]:
    """Return the rules of the store that is replaced, whose ids are to live on, and what is wrong with it."""
    if former is None:
        return None, ""
    try:
        return former.bundle(), ""
    except StoreError as error:
        return None, str(error)


class _Builder(NamedTuple):
    """What a store is made from."""

    root: Path
    path: Path
    config: CompilerConfig
    embedding: Embedding
    salt: str
    today: str
    previous: PolicyBundle | None

    def build(self, reason: str, *, write: bool) -> Project:
        """Compile the repository's rules, and write them if that is wanted and can be done."""
        store: ShardStore | None = None
        obstacle = ""
        config = self.config.replace(today=self.today)  # one day for all, also around midnight
        if not write:
            bundle = _compile(read_repository(self.root, home=home_folder()), config, self.previous)
        else:
            # The folder first: making it after the scan has begun would look like a change of the repository.
            problem: StoreWriteError | None = None
            try:
                _prepare_folder(self.root, self.path)
            except StoreWriteError as error:
                problem = error
            started = time.time_ns()
            repository = read_repository(self.root, home=home_folder())
            fingerprint = fingerprint_sources(
                self.root,
                (*repository.files, *repository.awaited),
                repository.directories,
                salt=self.salt,
                relevant=relevant_entry,
                now_ns=started,
            )
            bundle = _compile(repository, config, self.previous)
            try:
                if problem is not None:
                    raise problem
                store = self._store(bundle, fingerprint)
            except (StoreWriteError, StoreError, SourceNotFoundError) as error:
                obstacle = message_of(error)
                reason = f"{reason}; it is kept in memory only: {obstacle}"
        return Project(
            self.root,
            self.path,
            store=store,
            bundle=bundle,
            embedding=self.embedding,
            rebuilt=True,
            reason=reason,
            config=self.config,
            problem=obstacle,
        )

    def _store(self, bundle: PolicyBundle, fingerprint: Fingerprint) -> ShardStore:
        identity, dimensions = self.embedding.identity, self.embedding.dimensions
        has_table = type(self.embedding) is StaticEmbedding
        rows = None if has_table else shard_rows(bundle.shards, self.embedding) if bundle.shards else b""
        write_store(
            self.path,
            bundle,
            None if rows is None else memoryview(rows).cast("B").cast("f"),
            embedding_identity=identity,
            fingerprint=fingerprint.to_bytes(),
            metadata={"compiled_on": self.today, "valid_until": _last_day_valid(bundle, self.today)},
            dims=dimensions,
            search=search_blob(bundle.shards, self.embedding),
        )
        note_written(self.path)
        return open_store(self.path, embedding_identity=identity, dims=dimensions)


def _prepare_folder(root: Path, path: Path) -> None:
    """Make the store's folder; one inside the repository keeps itself out of git, and no link leads it out of there."""
    folder = path.parent
    if folder == root / STORE_FOLDER:
        refuse_links_out(folder, root)
    try:
        if folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        if folder == root / STORE_FOLDER:
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreWriteError(f"{folder}: the folder cannot be made: {error.strerror or error}") from error


def _last_day_valid(bundle: PolicyBundle, today: str) -> str:
    """Return the last ISO date on which the same rules are in force as today, empty if that never changes."""
    ends: list[str] = []
    for rule in bundle.rules():
        if rule.active_until is not None and rule.active_until >= today:
            ends.append(rule.active_until)
        if rule.active_from is not None and rule.active_from > today:
            ends.append((dt.date.fromisoformat(rule.active_from) - dt.timedelta(days=1)).isoformat())
    return min(ends, default="")
