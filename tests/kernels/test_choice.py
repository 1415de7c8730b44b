"""Which instruction set the kernels run on, and that threads do not interfere."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.kernels.instruction_sets import ISAS
from tipstaff import kernels
from tipstaff.kernels import (
    _embedding,
    _focus,
    _similarity,
    _tokens,
    _wordpiece,
)

SHOW = "import tipstaff.kernels as k; print(k.isa(), k.hash_embed('x', 4).tobytes().hex())"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TIPSTAFF_")}
    return subprocess.run(
        [sys.executable, "-c", code], env=kept | environment, capture_output=True, text=True, check=False
    )


def test_the_best_instruction_set_is_chosen() -> None:
    result = run(SHOW)
    assert result.stdout.split()[:1] == [ISAS[-1]], result.stderr


@pytest.mark.parametrize("isa", ISAS)
def test_the_instruction_set_can_be_forced(isa: str) -> None:
    result = run(SHOW, TIPSTAFF_ISA=isa)
    assert result.stdout.split()[:1] == [isa], result.stderr


def test_unknown_names_are_errors_that_say_what_there_is() -> None:
    result = run(SHOW, TIPSTAFF_ISA="avx1024")
    assert result.returncode == 1
    assert f"TIPSTAFF_ISA: instruction set 'avx1024' is not one that this machine runs: {', '.join(ISAS)}" in (
        result.stderr
    )
    with pytest.raises(ValueError, match="'mmx' is not one"):
        kernels.hash_embed("x", 4, isa="mmx")


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, tipstaff.kernels; print(sorted(n for n in sys.modules if 'numpy' in n or 'tipstaff.kernels.' in n))"
    assert run(code).stdout.strip() == "[]"
    used = "import sys, tipstaff.kernels as k; k.hash_embed('x'); k.query_words; print('numpy' in sys.modules)"
    assert run(used).stdout.strip() == "False"


def test_portable_is_always_there() -> None:
    assert kernels.available_isas() == ISAS
    assert ISAS[0] == "portable"
    assert _embedding.isa() == _focus.isa() == _tokens.isa() == _wordpiece.isa() == kernels.isa()


def test_every_name_has_a_home() -> None:
    assert [name for name in kernels.__all__ if getattr(kernels, name).__name__ != name] == []
    assert dir(kernels) == kernels.__all__ == sorted(kernels.__all__, key=lambda name: (name[0].islower(), name))


def test_many_threads_get_the_results_of_one() -> None:
    texts = [f"Rule {i}: übung" if i % 3 else f"Rule {i}" for i in range(60)]

    def work(i: int) -> list[object]:
        isa = ISAS[i % len(ISAS)]
        pairs = _similarity.jaccard_pairs(
            np.arange(i + 2, dtype=np.uint32), np.array([0, i + 1, i + 2], dtype=np.int64), 0.5, 10
        )
        return [bytes(_embedding.hash_embed(texts[i], 50, isa=isa)), pairs]

    alone = [work(i) for i in range(60)]
    with ThreadPoolExecutor(12) as pool:
        for _ in range(4):
            assert list(pool.map(work, range(60))) == alone
