from typing_extensions import Buffer

def jaccard_pairs(
    tokens: Buffer,
    offsets: Buffer,
    threshold: float,
    max_pairs: int,
    *,
    work_limit: int | None = None,
) -> tuple[list[tuple[int, int, float]], bool]: ...
