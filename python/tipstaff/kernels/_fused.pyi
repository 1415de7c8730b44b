from typing_extensions import Buffer

def isa() -> str: ...
def available_isas() -> tuple[str, ...]: ...
def query_terms(lexicon: Buffer, text: str) -> list[int]: ...
def sign_rows(
    codes: Buffer, scales: Buffer, dimensions: int
) -> tuple[memoryview[float], memoryview[float], memoryview[int]]: ...

class FusedSearch:
    def __init__(self, index: Buffer, lexicon: Buffer, table: Buffer) -> None: ...
    def __len__(self) -> int: ...
    @property
    def floor(self) -> float: ...
    def find(
        self,
        task: str,
        kinds: str = "",
        path: str = "",
        *,
        row_mask: Buffer | None = None,
        bonus: Buffer | None = None,
        query_intents: int = 0,
        intent_boost: float = 0.0,
        k: int = 5,
        candidates: int = 1024,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float], float]: ...
