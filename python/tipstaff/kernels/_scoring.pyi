from typing import TypeAlias

from typing_extensions import Buffer

_Entries: TypeAlias = tuple[memoryview[int], memoryview[float], memoryview[float]]

def isa() -> str: ...
def available_isas() -> tuple[str, ...]: ...
def score_topk_f32(
    rows: Buffer,
    query: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    query_intents: int = 0,
    risk_filter: int = 0xFF,
    boosts: tuple[float, float, float] = (0.15, 0.10, 0.05),
    k: int = 5,
    isa: str | None = None,
) -> _Entries: ...
def score_topk_f32_batch(
    rows: Buffer,
    queries: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    dimensions: int,
    query_intents: Buffer,
    risk_filters: Buffer,
    boosts: tuple[float, float, float] = (0.15, 0.10, 0.05),
    k: int = 5,
    isa: str | None = None,
) -> list[_Entries]: ...
def read_bytes(data: Buffer, *, isa: str | None = None) -> int: ...
def multiply_add(rounds: int, *, isa: str | None = None) -> int: ...
def quantize_rows(
    rows: Buffer, dimensions: int, mean: Buffer | None = None
) -> tuple[memoryview[int], memoryview[float], memoryview[float], memoryview[float]]: ...
def score_topk_i8(
    rows: Buffer,
    codes: Buffer,
    scales: Buffer,
    errors: Buffer,
    mean: Buffer,
    query: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    query_intents: int = 0,
    risk_filter: int = 0xFF,
    boosts: tuple[float, float, float] = (0.15, 0.10, 0.05),
    k: int = 5,
    isa: str | None = None,
) -> _Entries: ...
def score_topk_i8_counted(
    rows: Buffer,
    codes: Buffer,
    scales: Buffer,
    errors: Buffer,
    mean: Buffer,
    query: Buffer,
    intents: Buffer,
    risks: Buffer,
    row_mask: Buffer | None = None,
    *,
    query_intents: int = 0,
    risk_filter: int = 0xFF,
    boosts: tuple[float, float, float] = (0.15, 0.10, 0.05),
    k: int = 5,
    isa: str | None = None,
) -> tuple[_Entries, int]: ...

class Int8Rows:
    def __init__(
        self,
        rows: Buffer,
        codes: Buffer,
        scales: Buffer,
        errors: Buffer,
        mean: Buffer,
        intents: Buffer,
        risks: Buffer,
    ) -> None: ...
    def __len__(self) -> int: ...
    def topk(
        self,
        query: Buffer,
        row_mask: Buffer | None = None,
        *,
        query_intents: int = 0,
        risk_filter: int = 0xFF,
        boosts: tuple[float, float, float] = (0.15, 0.10, 0.05),
        k: int = 5,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float]]: ...
