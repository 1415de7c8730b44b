from typing_extensions import Buffer

def word_values(lexicon: Buffer, text: str) -> int: ...
def read_words(lexicon: Buffer, offsets: Buffer, data: Buffer, max_words: int) -> list[tuple[int, bytes]]: ...
def opposed_texts(
    lexicon: Buffer, offsets: Buffer, data: Buffer, *, work_limit: int | None = None
) -> tuple[list[tuple[int, int]], bool]: ...
def alike_texts(
    lexicon: Buffer,
    offsets: Buffer,
    data: Buffer,
    threshold: float,
    max_words: int,
    max_pairs: int,
) -> tuple[list[tuple[int, int]], bool]: ...
