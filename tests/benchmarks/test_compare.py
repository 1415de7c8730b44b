from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.compare import Yardstick

from benchmarks import compare

GROUP = "retrieve for a task"
OTHER = "compile a 400-rule file of 42 KB"


def one(name: str, median: float, group: str | None = GROUP, **params: Any) -> dict[str, Any]:
    ids = "-".join(map(str, params.values()))
    full = f"{name}[{ids}]" if params else name
    return {"name": full, "group": group, "params": params or None, "stats": {"median": median, "min": median / 2}}


def write(path: Path, *found: dict[str, Any], machine: dict[str, Any] | None = None) -> Path:
    path.write_text(json.dumps({"benchmarks": list(found), "machine_info": {"tipstaff": machine or {}}}))
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(
        tmp_path / "old.json",
        one("test_numpy_scores_alone", 2e-3, size=500),
        one("test_tipstaff", 1e-3, size=500),
        one("test_node", 9e-3, size=500, seen=False),
    )


def again(path: Path, ours: float, yard: float = 2e-3, node: float = 9e-3) -> Path:
    return write(
        path,
        one("test_numpy_scores_alone", yard, size=500),
        one("test_tipstaff", ours, size=500),
        one("test_node", node, size=500, seen=False),
    )


def test_equal_files_pass(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(old), str(old)]) == 0
    assert "1 judged, 0 worse" in capsys.readouterr().out


def test_a_slower_machine_cancels(old: Path, tmp_path: Path) -> None:
    new = again(tmp_path / "new.json", ours=3e-3, yard=6e-3)
    assert compare.main([str(old), str(new)]) == 0


@pytest.mark.parametrize(("ours", "code"), [(1.19e-3, 0), (1.21e-3, 1), (0.2e-3, 0)])
def test_the_groups_own_margin_decides(old: Path, tmp_path: Path, ours: float, code: int) -> None:
    assert compare.YARDSTICKS[GROUP].margin == 0.20
    assert compare.main([str(old), str(again(tmp_path / "new.json", ours)), "--margin", "0"]) == code


@pytest.mark.parametrize(("margin", "code"), [("0.15", 1), ("0.25", 0)])
def test_the_given_margin_decides_where_a_group_has_none(tmp_path: Path, margin: str, code: int) -> None:
    assert compare.YARDSTICKS[OTHER].margin is None
    paths = [
        write(tmp_path / f"{ours}.json", one("test_node", 8.0, OTHER), one("test_tipstaff", ours, OTHER))
        for ours in (10.0, 12.0)
    ]
    assert compare.main([*map(str, paths), "--margin", margin]) == code


def test_a_faster_reference_machine_does_not_hide_a_regression(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = again(tmp_path / "new.json", ours=1e-3, yard=1e-3)
    assert compare.main([str(old), str(new)]) == 1
    out = capsys.readouterr().out
    assert "test_tipstaff" in out
    assert "+100%" in out
    assert "WORSE, margin 20%" in out


def test_a_slower_peer_is_shown_and_not_judged(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([str(old), str(again(tmp_path / "new.json", 1e-3, node=90e-3))]) == 0
    assert "+900%  not judged" in capsys.readouterr().out


def test_a_new_contender_is_named_new_and_a_peer_may_be_gone(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = write(
        tmp_path / "new.json",
        one("test_numpy_scores_alone", 2e-3, size=500),
        one("test_tipstaff", 1e-3, size=500),
        one("test_tipstaff_mapped_store", 1e-3, size=500),
    )
    assert compare.main([str(old), str(new)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert " new" in lines["test_tipstaff_mapped_store"]
    assert " gone" in lines["test_node[seen=False]"]


def test_sizes_are_compared_apart(tmp_path: Path) -> None:
    def run(name: str, small: float, large: float) -> Path:
        return write(
            tmp_path / name,
            *(one("test_numpy_scores_alone", 1.0, size=size) for size in (500, 10_000)),
            one("test_tipstaff", small, size=500),
            one("test_tipstaff", large, size=10_000),
        )

    lines = compare.compare(compare.read_run(run("a", 1.0, 1.0)), compare.read_run(run("b", 0.5, 2.0)))
    assert [(line.contender.size, line.worsened) for line in lines] == [("500", False), ("10000", True)]


def test_the_second_reference_serves_where_a_run_lacks_the_first(tmp_path: Path) -> None:
    ours, events = one("test_tipstaff", 10.0, OTHER), one("test_markdown_events_alone", 1.0, OTHER)
    old = write(tmp_path / "old.json", one("test_node", 5.0, OTHER), ours, events)
    new = write(tmp_path / "new.json", ours, events)
    lines = compare.compare(compare.read_run(old), compare.read_run(new))
    assert {line.reference for line in lines} == {"test_markdown_events_alone"}


def test_the_shortest_rounds_can_be_compared(tmp_path: Path) -> None:
    def run(name: str, shortest: float) -> Path:
        ours = one("test_tipstaff", 1.0, OTHER)
        ours["stats"]["min"] = shortest
        return write(tmp_path / name, one("test_node", 1.0, OTHER), ours)

    paths = [str(run("old", 0.5)), str(run("new", 0.9))]
    assert compare.main(paths) == 0
    assert compare.main([*paths, "--statistic", "min"]) == 1


def test_other_processors_are_noted(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(old.read_text())["benchmarks"]
    paths = [write(tmp_path / f"{cpu}.json", *found, machine={"cpu": cpu, "isa": "avx2"}) for cpu in ("A", "B")]
    assert compare.main([*map(str, paths)]) == 0
    assert "note: the processors differ: A and B" in capsys.readouterr().out


def test_our_own_version_may_differ_and_a_missing_peer_is_no_other_version(old: Path, tmp_path: Path) -> None:
    found = json.loads(old.read_text())["benchmarks"]
    versions = ({"tipstaff": "1", "node": "20"}, {"tipstaff": "2", "node": "absent"})
    paths = [write(tmp_path / f"{i}.json", *found, machine={"versions": each}) for i, each in enumerate(versions)]
    assert compare.main([*map(str, paths)]) == 0


def unusable(old: Path, new: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert compare.main([str(old), str(new)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err


def test_another_version_of_a_peer_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(old.read_text())["benchmarks"]
    paths = [write(tmp_path / f"{v}.json", *found, machine={"versions": {"numpy": v}}) for v in ("1", "2")]
    assert "numpy is 1" in unusable(*paths, capsys)


def test_a_vanished_contender_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = write(tmp_path / "new.json", one("test_numpy_scores_alone", 1.0, size=500), one("test_node", 1.0, size=500))
    assert "lacks test_tipstaff" in unusable(old, new, capsys)


def test_a_vanished_group_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = json.loads(old.read_text())["benchmarks"]
    wide = write(tmp_path / "w.json", *both, one("test_node", 1.0, OTHER), one("test_tipstaff", 1.0, OTHER))
    assert f"lacks the group {OTHER!r}" in unusable(wide, old, capsys)


def test_files_without_a_common_group_are_an_error(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = write(tmp_path / "new.json", one("test_node", 1.0, OTHER), one("test_tipstaff", 1.0, OTHER))
    assert "no group and size in common" in unusable(old, new, capsys)


def test_a_missing_reference_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = write(tmp_path / "new.json", one("test_tipstaff", 1e-3, size=500))
    assert "test_numpy_scores_alone, its reference" in unusable(old, new, capsys)


def test_a_group_without_a_yardstick_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "new.json", one("test_tipstaff", 1.0, "something else"))
    assert "no yardstick" in unusable(path, path, capsys)


def test_nothing_of_ours_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "new.json", one("test_node", 1.0, OTHER))
    assert "no contender of ours" in unusable(path, path, capsys)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON file of pytest-benchmark"),
        ("[]", "no JSON file of pytest-benchmark"),
        ('{"benchmarks": [{"name": "test_x"}]}', "no JSON file of pytest-benchmark"),
        ('{"benchmarks": []}', "there are no benchmarks in it"),
        (json.dumps({"benchmarks": [one("test_x", 1.0, None)]}), "has no group"),
        (json.dumps({"benchmarks": [one("test_x", 0.0)]}), "it must be above 0"),
        (json.dumps({"benchmarks": [one("test_x", float("nan"))]}), "it must be above 0"),
        (json.dumps({"benchmarks": [one("test_x", 1.0), one("test_x", 2.0)]}), "is twice"),
    ],
)
def test_a_file_that_is_no_run_is_an_error(
    old: Path, tmp_path: Path, content: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.json"
    path.write_text(content)
    assert words in unusable(old, path, capsys)


def test_a_missing_file_is_an_error(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such file" in unusable(old, tmp_path / "none.json", capsys)


def test_a_margin_below_0_is_refused(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        compare.main([str(old), str(old), "--margin", "-1"])
    assert ended.value.code == 2
    assert "must be 0 or more" in capsys.readouterr().err


def test_every_group_of_the_benchmarks_has_a_yardstick_and_its_references_exist() -> None:
    import re

    sources = {path: path.read_text() for path in Path(compare.__file__).parent.glob("test_*.py")}
    assert len(sources) >= 5
    named = {
        name for text in sources.values() for name in re.findall(r'^[A-Z]+ = "([^"]+ [^"]+)"$', text, re.MULTILINE)
    }
    named |= {name for text in sources.values() for name in re.findall(r'group="([^"]+)"', text)}
    assert named == set(compare.YARDSTICKS)
    functions = {name for text in sources.values() for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    for yardstick in compare.YARDSTICKS.values():
        assert isinstance(yardstick, Yardstick)
        assert {name.split("[")[0] for name in yardstick.references} <= functions
