# The signatures are those of the twins, which tests hold the compiled module to.
from typing_extensions import Buffer

from tipstaff.kernels.plain.int8 import Int8Rows as Int8Rows
from tipstaff.kernels.plain.int8 import quantize_rows as quantize_rows
from tipstaff.kernels.plain.int8 import score_topk_i8 as score_topk_i8
from tipstaff.kernels.plain.scoring import Entries as Entries
from tipstaff.kernels.plain.scoring import available_isas as available_isas
from tipstaff.kernels.plain.scoring import isa as isa
from tipstaff.kernels.plain.scoring import score_topk_f32 as score_topk_f32
from tipstaff.kernels.plain.scoring import score_topk_f32_batch as score_topk_f32_batch

def read_bytes(data: Buffer, *, isa: str | None = None) -> int: ...
def multiply_add(rounds: int, *, isa: str | None = None) -> int: ...
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
) -> tuple[Entries, int]: ...
