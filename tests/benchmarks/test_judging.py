from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from benchmarks.judging import Row

from benchmarks import bars, judging
from tipstaff import budgets


def row(value: float | None, required: float = 10.0, *, at_most: bool = True) -> Row:
    return Row("a bar", None, [] if value is None else [value], at_most, required=required)


@pytest.mark.parametrize(
    ("value", "at_most", "verdict", "nearly"),
    [
        (10.0, True, "holds", False),
        (10.5, True, "MISSED", True),
        (11.5, True, "MISSED", False),
        (10.0, False, "holds", False),
        (9.5, False, "MISSED", True),
        (8.5, False, "MISSED", False),
        (None, True, "not measured", False),
        (None, False, "not measured", False),
    ],
)
def test_verdicts(value: float | None, at_most: bool, verdict: str, nearly: bool) -> None:
    found = row(value, at_most=at_most)
    assert found.verdict == verdict
    assert found.holds is (verdict == "holds")
    assert found.nearly is nearly
    assert found.to_dict()["verdict"] == verdict


def test_a_budget_is_read_by_its_name() -> None:
    assert Row("a bar", "RETRIEVE_BUDGET_MS", [1.0], True).required == budgets.RETRIEVE_BUDGET_MS
    with pytest.raises(AttributeError):
        Row("a bar", "NO_SUCH_BUDGET", [1.0], True)


def measures(*values: float) -> tuple[Callable[[], list[Row]], Iterator[float]]:
    left = iter(values)
    return lambda: [row(next(left))], left


@pytest.mark.parametrize(("value", "verdict"), [(9.0, "holds"), (30.0, "MISSED")])
def test_a_clear_figure_is_measured_once(value: float, verdict: str) -> None:
    measure, left = measures(value, 1.0)
    (found,) = judging.measured_rows(measure)
    assert (found.verdict, found.measured, next(left)) == (verdict, [value], 1.0)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((10.5, 9.0, 9.2, 9.1), "holds"), ((10.5, 10.6, 10.4, 2.0), "MISSED"), ((10.5, 9.0, 12.0, 12.0), "MISSED")],
)
def test_a_near_miss_is_measured_four_times_and_judged_by_the_median(values: tuple[float, ...], verdict: str) -> None:
    (found,) = judging.measured_rows(measures(*values)[0])
    assert found.measured == list(values)
    assert found.verdict == verdict
    assert found.remark.startswith("median of 4: ")


def test_only_the_doubtful_bar_of_a_group_is_judged_again() -> None:
    left = iter([10.5, 9.0, 9.0, 9.0])
    clear = iter([1.0, 99.0, 99.0, 99.0])
    first, second = judging.measured_rows(
        lambda: [row(next(left)), Row("other", None, [next(clear)], True, required=2.0)]
    )
    assert first.holds
    assert second.measured == [1.0]


def test_other_bars_in_a_later_measurement_are_an_error() -> None:
    names = iter(["a", "b"])
    with pytest.raises(RuntimeError, match="became"):
        judging.measured_rows(lambda: [Row(next(names), None, [10.5], True, required=10.0)])


def test_the_table_says_what_was_not_measured() -> None:
    lines = judging.table([row(9.876), Row("absent", None, [], False, "node not found", required=10.0)])
    assert lines[1].split() == ["a", "bar", "9.88", "<=", "10", "holds"]
    assert lines[2].split() == ["absent", "-", ">=", "10", "not", "measured:", "node", "not", "found"]


def test_every_bar_of_the_budgets_is_measured_by_one_group() -> None:
    limits = {"HOOK_CEILING_MS", "PROMPT_WINDOW_SHARE"}  # what the code keeps to, not what is measured
    units = ("_SHARE", "_MS", "_US", "_S")
    stated = {name for name in dir(budgets) if name.isupper() and ("_VS_" in name or name.endswith(units))} - limits
    covered = [name for group in bars.GROUPS for name in group.covers]
    assert sorted(covered) == sorted(stated)


def test_the_run_fails_if_a_bar_is_missed_and_writes_what_it_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    import json
    from pathlib import Path

    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    path = Path(str(tmp_path)) / "bars.json"
    groups = {"good": row(9.0), "bad": row(30.0), "absent": row(None)}
    for names, code in ((["good"], 0), (["good", "absent"], 0), (["good", "bad"], 1)):
        found = tuple(bars.Group(name, (), lambda name=name: [groups[name]]) for name in names)
        monkeypatch.setattr(bars, "GROUPS", found)
        assert bars.main(["--json", str(path)]) == code
        written = json.loads(path.read_text())
        assert [one["verdict"] for one in written["bars"]] == [groups[name].verdict for name in names]
        assert written["machine"]["cores"] >= 1
        assert len(written["load_average_at_end"]) == 3
    assert "1 hold, 1 missed, 0 not measured" in capsys.readouterr().out
