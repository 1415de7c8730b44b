"""The tables of byte classes can be measured again, and written where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.measure_byte_pairs import CLASSES, digit, main, measure, replaced, source_texts

from tipstaff.gates.secrets import pairs as secret_pairs
from tipstaff.kernels.formats.secret_table import class_of


def test_a_share_is_a_digit() -> None:
    assert [digit(count, 8) for count in (8, 4, 2, 1, 0)] == ["0", "2", "4", "6", "z"]
    assert digit(1, 1 << 30) == "z"


def test_what_follows_what_is_counted() -> None:
    first, pairs = measure(iter([b"abab", b"Ba\xe9a"]))
    a, b = class_of(ord("a")), class_of(ord("b"))
    assert len(first) == len(pairs) == len(pairs[0]) == CLASSES
    # a before b twice, b before a twice; the one before and the one after what is not ASCII do not count.
    assert (first[a], first[b], first[class_of(ord("c"))]) == ("2", "2", "z")
    assert (pairs[a][b], pairs[b][a], pairs[a][a]) == ("0", "0", "z")


def test_only_source_text_is_read_and_not_too_much(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * 10)
    (tmp_path / "b.bin").write_bytes(b"y" * 10)
    (tmp_path / "c.md").write_bytes(b"z" * 10)
    assert list(source_texts([tmp_path])) == [b"x" * 10, b"z" * 10]
    assert list(source_texts([tmp_path], 12)) == [b"x" * 10, b"zz"]
    with pytest.raises(ValueError, match="no source text"):
        measure(source_texts([tmp_path], 1))


def test_the_module_takes_other_tables_and_stays_as_it_is_with_its_own(tmp_path: Path) -> None:
    module = Path(secret_pairs.__file__).read_text()
    assert replaced(module, secret_pairs.FIRST, secret_pairs.PAIRS.split()) == module
    first, pairs = measure(iter([b"ab" * 9]))
    scope: dict[str, object] = {}
    exec(replaced(module, first, pairs), scope)
    assert scope["FIRST"] == first
    assert str(scope["PAIRS"]).split() == pairs


def test_it_prints_what_it_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sh").write_text("ls -la\n" * 50)
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + CLASSES
    assert {len(line) for line in lines} == {CLASSES}


def test_the_shipped_tables_tell_what_is_common_in_source_text() -> None:
    order = sorted(range(CLASSES), key=lambda one: int(secret_pairs.FIRST[one], 36))
    assert {class_of(ord(letter)) for letter in " eta"} <= set(order[:12])
    queue = secret_pairs.PAIRS.split()[class_of(ord("q"))]
    assert min(range(CLASSES), key=lambda one: int(queue[one], 36)) == class_of(ord("u"))
