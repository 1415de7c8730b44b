"""The columns of the shard store: how rules become Arrow arrays, and how one rule is read back from their buffers.

Writing goes through pyarrow. Reading does not: a rule is put together from slices of the mapped buffers, in a few
microseconds and without importing pyarrow, and Python's own bounds checks are where Arrow would trust an offset.

What repeats from rule to rule (scopes, intents, paths ...) is dictionary-encoded, each distinct value once. A filter
decides on the few distinct values and then looks at codes: see `ShardStore.codes` and `ShardStore.values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, cast

from tipstaff.errors import ConfigError
from tipstaff.model import INTENT_BITS, RISK_CODES, GuidanceRule, RuleShard
from tipstaff.store.container import Container

TEXTS: Final = ("id", "text", "compact_text")
"""Columns of strings, different in every shard."""

CODED_TEXTS: Final = (
    "risk_class",
    "source",
    "verifier",
    "path",
    "heading",
    "host",
    "active_from",
    "active_until",
    "former_id",
    "overrides",
    "tenant",
    "kind",
)
"""Columns of dictionary-encoded strings; null is None. Dates are ISO strings, as in the rule."""

CODED_LISTS: Final = ("tool_classes", "intents", "repo_scopes", "domains", "file_scope", "verifiers", "headings")
"""Columns of dictionary-encoded lists of strings."""

INTEGERS: Final = ("priority", "line", "end_line", "span_start", "span_end", "depth", "own_start")
"""Columns of int32."""

FLAG: Final = "is_constitution"

KERNEL_SEGMENTS: Final = (
    "intent_mask.1", "risk.1", "priority.1", "scale.1", "error_bound.1", "mean",
)  # fmt: skip
"""What retrieval reads for every shard, beside the vectors; small enough to be checked whenever a store is opened."""

BULK_SEGMENTS: Final = ("embedding.2", "embedding_i8.2", "text.2", "compact_text.2")
"""The large buffers. None of them holds an offset or a code: what is wrong in them cannot lead anywhere else."""

# Places of the buffers in the order in which Arrow lays out nested arrays.
_NUMBERS = 1
_OFFSETS, _DATA = 1, 2
_VALUES_VALID, _VALUES_OFFSETS, _VALUES_DATA = 2, 3, 4
_ITEMS_OFFSETS, _ITEMS_DATA = 5, 6


def arrow() -> Any:
    """Return pyarrow, imported when first needed (it takes 0.1 s); it ships no types, so it is Any."""
    return import_module("pyarrow")


def schema(dims: int, metadata: Mapping[str, str] | None = None) -> Any:
    """Return the ``pyarrow.Schema`` of a store with vectors of `dims` numbers, or without vectors where that is 0."""
    pa = arrow()
    # The vectors are first: their place then does not depend on the number of shards, and can be aligned.
    fields = [
        *(
            (
                ("embedding", pa.list_(pa.field("item", pa.float32(), nullable=False), dims)),
                ("embedding_i8", pa.list_(pa.field("item", pa.int8(), nullable=False), dims)),
                ("scale", pa.float32()),
                ("error_bound", pa.float32()),
            )
            if dims
            else ()
        ),
        ("intent_mask", pa.uint16()),
        ("risk", pa.uint8()),
        *((name, pa.int32()) for name in INTEGERS),
        (FLAG, pa.bool_()),
        *((name, pa.string()) for name in TEXTS),
        *((name, pa.dictionary(pa.int32(), pa.string())) for name in CODED_TEXTS),
        *((name, pa.dictionary(pa.int32(), pa.list_(pa.string()))) for name in CODED_LISTS),
    ]
    return pa.schema([pa.field(name, kind, nullable=name in CODED_TEXTS) for name, kind in fields], metadata=metadata)


def record_batch(shards: Sequence[RuleShard], vectors: Mapping[str, object], dims: int, arrow_schema: Any) -> Any:
    """Return the ``pyarrow.RecordBatch`` of a store.

    Parameters
    ----------
    shards
        In the order of the vectors.
    vectors
        Buffers, all of them C-contiguous: ``embedding`` float32 (n, dims), ``embedding_i8`` int8 (n, dims),
        ``scale`` and ``error_bound`` float32 (n,); none where `dims` is 0.
    dims
        Numbers in a vector.
    arrow_schema
        From :func:`schema`.

    Raises
    ------
    ConfigError
        If a rule's risk class is unknown.
    ValueError, OverflowError
        If a number or a text does not fit into its column.
    """
    pa = arrow()
    n_shards = len(shards)
    rules = [shard.rule for shard in shards]

    def mapped(kind: Any, name: str, width: int = 1) -> Any:
        return pa.Array.from_buffers(kind, n_shards * width, [None, pa.py_buffer(vectors[name])])

    arrays: dict[str, Any] = {}
    for name in vectors:
        if name in {"scale", "error_bound"}:
            arrays[name] = mapped(pa.float32(), name)
        else:
            rows = mapped(pa.float32() if name == "embedding" else pa.int8(), name, dims)
            arrays[name] = pa.FixedSizeListArray.from_arrays(rows, type=arrow_schema.field(name).type)
    arrays["intent_mask"] = pa.array([_intent_mask(rule.intents) for rule in rules], pa.uint16())
    arrays["risk"] = pa.array([_risk_code(rule) for rule in rules], pa.uint8())
    spans = {"span_start": 0, "span_end": 1}
    for name in INTEGERS:
        values = [rule.span[spans[name]] if name in spans else getattr(rule, name) for rule in rules]
        arrays[name] = pa.array(values, pa.int32())
    arrays[FLAG] = pa.array([rule.is_constitution for rule in rules], pa.bool_())
    arrays["id"] = pa.array([rule.id for rule in rules], pa.string())
    arrays["text"] = pa.array([rule.text for rule in rules], pa.string())
    arrays["compact_text"] = pa.array([shard.compact_text for shard in shards], pa.string())
    for names, kind in ((CODED_TEXTS, pa.string()), (CODED_LISTS, pa.list_(pa.string()))):
        for name in names:
            arrays[name] = _coded(pa, [getattr(rule, name) for rule in rules], kind)
    return pa.RecordBatch.from_arrays([arrays[name] for name in arrow_schema.names], schema=arrow_schema)


def buffer_extents(batch: Any, base: int) -> dict[str, tuple[int, int]]:
    """Return where the buffers of a mapped record batch are.

    Parameters
    ----------
    batch
        ``pyarrow.RecordBatch`` read from memory without copies.
    base
        Address from which offsets count.

    Returns
    -------
    dict
        For ``column.k``, the k-th buffer of a column: its offset and length in bytes. Empty buffers are left out.
    """
    pa = arrow()
    extents: dict[str, tuple[int, int]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        buffers = list(column.buffers())
        if pa.types.is_dictionary(column.type):
            buffers += column.dictionary.buffers()
        for index, buffer in enumerate(buffers):
            if buffer is not None and buffer.size > 0:
                extents[f"{name}.{index}"] = (buffer.address - base, buffer.size)
    return extents


def numbers(container: Container, segment: str, code: str, width: int) -> memoryview:
    """Return a column of numbers as a view: `code` is its `struct` format, `width` the bytes of one number."""
    view = container.segment(segment, container.directory.n_shards * width)
    return view.cast(cast("Any", code))


class ShardColumns:
    """The columns from which single shards are read; their segments must have been checked."""

    def __init__(self, container: Container) -> None:
        n_shards = container.directory.n_shards
        self._id, self._text, self._compact_text = (_Texts(container, name, n_shards) for name in TEXTS)
        self._coded = [
            (name, numbers(container, f"{name}.{_NUMBERS}", "i", 4), _dictionary(container, name))
            for name in (*CODED_TEXTS, *CODED_LISTS)
        ]
        integers = {name: numbers(container, f"{name}.{_NUMBERS}", "i", 4) for name in INTEGERS}
        self._spans = (integers.pop("span_start"), integers.pop("span_end"))
        self._integers = list(integers.items())
        self._flags = container.segment(f"{FLAG}.{_NUMBERS}", (n_shards + 7) // 8)

    def coded(self, wanted: str) -> tuple[memoryview, tuple[Any, ...]]:
        """Return the int32 code of each shard in a dictionary-encoded column, and the values that codes stand for."""
        for name, codes, values in self._coded:
            if name == wanted:
                return codes, values
        raise KeyError(
            f"{wanted!r} is not a dictionary-encoded column; those are {', '.join((*CODED_TEXTS, *CODED_LISTS))}"
        )

    def compact_text(self, index: int) -> str:
        """Return the line in which the model reads shard `index`."""
        return self._compact_text[index]

    def shard(self, index: int) -> RuleShard:
        """Return shard `index`."""
        fields: dict[str, Any] = {name: values[codes[index]] for name, codes, values in self._coded}
        for name, column in self._integers:
            fields[name] = column[index]
        starts, ends = self._spans
        rule = GuidanceRule(
            id=self._id[index],
            text=self._text[index],
            span=(starts[index], ends[index]),
            is_constitution=bool(self._flags[index >> 3] >> (index & 7) & 1),
            **fields,
        )
        return RuleShard(rule, self._compact_text[index])


class _Texts:
    """A column of strings over its mapped buffers."""

    __slots__ = ("_data", "_offsets")

    def __init__(self, container: Container, name: str, count: int, offsets: int = _OFFSETS, data: int = _DATA) -> None:
        self._offsets = container.segment(f"{name}.{offsets}", (count + 1) * 4 if count else 0).cast("i")
        self._data = container.segment(f"{name}.{data}")

    def __getitem__(self, index: int) -> str:
        offsets = self._offsets
        return str(self._data[offsets[index] : offsets[index + 1]], "utf-8")


def _dictionary(container: Container, name: str) -> tuple[Any, ...]:
    """Read the distinct values of a dictionary-encoded column."""
    offsets = container.segment(f"{name}.{_VALUES_OFFSETS}").cast("i")
    # Without any value Arrow writes no offsets at all.
    count = max(len(offsets) - 1, 0)
    if name in CODED_LISTS:
        items = container.segment(f"{name}.{_ITEMS_OFFSETS}").cast("i")
        texts = _Texts(container, name, max(len(items) - 1, 0), _ITEMS_OFFSETS, _ITEMS_DATA)
        return tuple(tuple(texts[item] for item in range(offsets[i], offsets[i + 1])) for i in range(count))
    texts = _Texts(container, name, count, _VALUES_OFFSETS, _VALUES_DATA)
    valid = container.segment(f"{name}.{_VALUES_VALID}")
    return tuple(texts[i] if not valid or valid[i >> 3] >> (i & 7) & 1 else None for i in range(count))


def _coded(pa: Any, values: Iterable[object], kind: Any) -> Any:
    """Return values as a dictionary-encoded array, codes in the order of first appearance."""
    codes: dict[object, int] = {}
    indices = [codes.setdefault(value, len(codes)) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(list(codes), kind))


def _intent_mask(intents: Iterable[str]) -> int:
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


def _risk_code(rule: GuidanceRule) -> int:
    code = RISK_CODES.get(rule.risk_class)
    if code is None:
        raise ConfigError(f"rule {rule.id}: risk class {rule.risk_class!r} is not one of {', '.join(RISK_CODES)}")
    return code
