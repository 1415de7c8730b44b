import os
from collections.abc import Sequence

def measure_files(root: str | os.PathLike[str], paths: Sequence[str]) -> tuple[memoryview[int], memoryview[int]]: ...
