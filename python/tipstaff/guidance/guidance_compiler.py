"""The compiler as an object that keeps its configuration, stamps what it makes, and embeds it where asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tipstaff.errors import ConfigError
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.model import PolicyBundle, RuleShard

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding


class GuidanceCompiler:
    """Compiles rule files again and again with one configuration.

    `compile_guidance` is the same as a function of its arguments alone: this object adds the time and the embeddings.

    Parameters
    ----------
    config
        See `CompilerConfig`.
    embedding
        Where given, each shard carries its vector.

    Attributes
    ----------
    config
        In force for the next compilation.
    """

    def __init__(self, config: CompilerConfig | None = None, *, embedding: Embedding | None = None) -> None:
        self.config = config or CompilerConfig()
        self._embedding = embedding

    def update_config(self, **changes: Any) -> CompilerConfig:
        """Change some settings for the compilations to come.

        Parameters
        ----------
        **changes
            Fields of `CompilerConfig`.

        Returns
        -------
        CompilerConfig
            All settings now in force.

        Raises
        ------
        ConfigError
            If a field is unknown or a value cannot be; the former settings stay then.
        """
        known = self.config.__struct_fields__
        if unknown := sorted(changes.keys() - set(known)):
            msg = f"unknown setting {', '.join(unknown)}; there are {', '.join(known)}"
            raise ConfigError(msg)
        self.config = CompilerConfig(**{**{name: getattr(self.config, name) for name in known}, **changes})
        return self.config

    def compile(self, root: str, local: str | None = None, *, previous: PolicyBundle | None = None) -> PolicyBundle:
        """Compile texts as `compile_guidance` does.

        Parameters
        ----------
        root, local, previous
            As for `compile_guidance`.

        Returns
        -------
        PolicyBundle
            Its manifest has the time in `compiled_at`, its shards their vectors where there is an embedding.
        """
        bundle = compile_guidance(root, local, config=self.config, previous=previous)
        manifest = bundle.manifest.replace(compiled_at=time.time_ns() // 1_000_000)
        return bundle.replace(manifest=manifest, shards=self._embedded(bundle.shards))

    def _embedded(self, shards: tuple[RuleShard, ...]) -> tuple[RuleShard, ...]:
        if self._embedding is None or not shards:
            return shards
        from tipstaff.guidance.retrieval.vectors import shard_rows

        dimensions = self._embedding.dimensions
        numbers = memoryview(shard_rows(shards, self._embedding)).cast("B").cast("f")
        return tuple(
            shard.replace(embedding=tuple(numbers[at * dimensions : (at + 1) * dimensions]))
            for at, shard in enumerate(shards)
        )
