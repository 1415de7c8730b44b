from typing import TypeAlias

from typing_extensions import Buffer

_Entries: TypeAlias = tuple[memoryview[int], memoryview[float], memoryview[float]]

def sign_rows(rows: Buffer, mean: Buffer, dimensions: int) -> tuple[memoryview[int], memoryview[float]]: ...
def score_topk_signs(
    rows: Buffer,
    bits: Buffer,
    factors: Buffer,
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
    candidates: int = 1024,
    isa: str | None = None,
) -> _Entries: ...
