"""The kernels: functions over buffers that know nothing of rules.

::

    text   --hash_embed, hash_embed_into, hash_embed_batch-->   float32 (n, dimensions), unit rows
    text, table --wordpiece_embed, wordpiece_embed_batch-->     float32 (n, dimensions), unit rows or zeros
    text   --SecretTable.find-->                                spans of secrets, by the rules of a compiled table
    text   --token_features, weigh_tokens-->  how often what decides the number of tokens occurs, and its weighted sum
    query, history --focus_scan-->        paths, symbols and signals of a request
    task, lexicon --TaskReader.read-->     what kind of work it asks for, and how sure that is
    task   --task_paths-->                the files, folders and modules that it names
    task, topics, lexicon --TopicWords.shared-->  the words that they have in common (topics of stem_hashes)
    task, blob, lexicon, table --FusedSearch.find-->  the k best rules by meaning and words (of query_terms,
                                          and of very many rules by the signs of sign_rows)
    ranges of texts --join_pieces-->      one text
    token sets  --jaccard_pairs-->        all pairs at least as similar as a threshold
    texts, lexicon  --word_values, read_words-->  what their words mean, and the words
           --alike_texts, opposed_texts-->  pairs that say nearly the same, or the opposite
    folder, paths --measure_files-->      sizes in bytes, and which files are binary or may be generated
                  --stat_files-->         sizes, times and inodes
                  --stat_folders-->       devices, inodes and times, links followed
                  --read_files-->         contents of files whose sizes are known
    paths --classes-->                    what they are to git: unchanged, staged, changed, untracked, ignored ...
    effects --keep-->                     a folder with what they would lose
    texts       --WordSets-->             the most similar of those taken in before, by their words

Every argument that holds numbers is any C-contiguous buffer of the type named in the docstring, or plain bytes of it: a
NumPy array, an Arrow buffer, a slice of a mapped file at whatever alignment. Results are memoryviews, which
``numpy.asarray`` takes without a copy. Nothing here imports NumPy. The kernels release the GIL, hold no state that
changes, and may be called from any number of threads; :class:`WordSets` alone is an object that grows.

What compiled code and Python share (byte layouts, how texts are read) is in :mod:`tipstaff.kernels.formats`; readable
specifications of some kernels are with the tests.

The kernels exist for several instruction sets and the best that the processor runs is chosen once, at import.
``TIPSTAFF_ISA`` overrides it (``portable``, ``avx2``, ``avx512``, ``avx512_vnni``, ``neon_dot``), and the keyword
``isa`` does so for one call. Embeddings and scores have the same bits on each set.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tipstaff.kernels._embedding import (
        available_isas,
        hash_embed,
        hash_embed_batch,
        hash_embed_into,
        isa,
    )
    from tipstaff.kernels._files import measure_files, read_files, stat_files, stat_folders
    from tipstaff.kernels._focus import focus_scan
    from tipstaff.kernels._fused import FusedSearch, query_terms, query_words, sign_rows
    from tipstaff.kernels._intents import TaskReader, TopicWords, stem_hashes, task_paths
    from tipstaff.kernels._secrets import SecretTable
    from tipstaff.kernels._similarity import WordSets, jaccard_pairs
    from tipstaff.kernels._text import alike_texts, join_pieces, opposed_texts, read_words, word_values
    from tipstaff.kernels._tokens import MessageGuard, token_features, utf16_units, weigh_tokens
    from tipstaff.kernels._wordpiece import (
        blend_rows,
        wordpiece_embed,
        wordpiece_embed_batch,
        wordpiece_shape,
        wordpiece_split,
    )

__all__ = [
    "FusedSearch",
    "MessageGuard",
    "SecretTable",
    "TaskReader",
    "TopicWords",
    "WordSets",
    "alike_texts",
    "available_isas",
    "blend_rows",
    "focus_scan",
    "hash_embed",
    "hash_embed_batch",
    "hash_embed_into",
    "isa",
    "jaccard_pairs",
    "join_pieces",
    "measure_files",
    "opposed_texts",
    "query_terms",
    "query_words",
    "read_files",
    "read_words",
    "sign_rows",
    "stat_files",
    "stat_folders",
    "stem_hashes",
    "task_paths",
    "token_features",
    "utf16_units",
    "weigh_tokens",
    "word_values",
    "wordpiece_embed",
    "wordpiece_embed_batch",
    "wordpiece_shape",
    "wordpiece_split",
]

_HOMES: Final = {
    "FusedSearch": "_fused",
    "MessageGuard": "_tokens",
    "SecretTable": "_secrets",
    "TaskReader": "_intents",
    "TopicWords": "_intents",
    "WordSets": "_similarity",
    "alike_texts": "_text",
    "available_isas": "_embedding",
    "blend_rows": "_wordpiece",
    "focus_scan": "_focus",
    "hash_embed": "_embedding",
    "hash_embed_batch": "_embedding",
    "hash_embed_into": "_embedding",
    "isa": "_embedding",
    "jaccard_pairs": "_similarity",
    "join_pieces": "_text",
    "measure_files": "_files",
    "opposed_texts": "_text",
    "query_terms": "_fused",
    "query_words": "_fused",
    "read_files": "_files",
    "read_words": "_text",
    "sign_rows": "_fused",
    "stat_files": "_files",
    "stat_folders": "_files",
    "stem_hashes": "_intents",
    "task_paths": "_intents",
    "token_features": "_tokens",
    "utf16_units": "_tokens",
    "weigh_tokens": "_tokens",
    "word_values": "_text",
    "wordpiece_embed": "_wordpiece",
    "wordpiece_embed_batch": "_wordpiece",
    "wordpiece_shape": "_wordpiece",
    "wordpiece_split": "_wordpiece",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"tipstaff.kernels.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
