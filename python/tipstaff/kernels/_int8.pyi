from typing import TypeAlias

from typing_extensions import Buffer

_Entries: TypeAlias = tuple[memoryview[int], memoryview[float], memoryview[float]]

def isa() -> str: ...
def available_isas() -> tuple[str, ...]: ...
def quantize_rows(
    rows: Buffer, dimensions: int, mean: Buffer | None = None
) -> tuple[memoryview[int], memoryview[float], memoryview[float], memoryview[float]]: ...
def nibble_rows(
    codes: Buffer, scales: Buffer, errors: Buffer, dimensions: int
) -> tuple[memoryview[int], memoryview[float], memoryview[float]]: ...
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
        nibbles: tuple[Buffer, Buffer, Buffer] | None = None,
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
        start: int = 0,
        stop: int | None = None,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float]]: ...
