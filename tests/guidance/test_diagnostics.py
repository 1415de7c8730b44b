from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.write_diagnostics_page import CONFIGS, FAMILIES, NOT_SHOWN, PAGE, anchor, lay_out, page

from tipstaff.guidance.compiling import conflicts
from tipstaff.guidance.diagnostics import KINDS, find
from tipstaff.guidance.lint import lint_repository
from tipstaff.guidance.reading import discovery
from tipstaff.kernels import alike_texts
from tipstaff.model import Severity

SOURCES = Path(discovery.__file__).parents[1]


@pytest.mark.parametrize("code", [code for code in KINDS if code not in NOT_SHOWN])
def test_the_example_of_a_code_makes_it_appear(code: str, tmp_path: Path) -> None:
    lay_out(code, tmp_path)
    report = lint_repository(tmp_path, config=CONFIGS.get(code))
    found = [one for one in report.diagnostics if one.code == code]
    assert found, [f"{one.code} {one.message}" for one in report.diagnostics]
    assert found[0].message.strip()
    assert found[0].fix.strip()
    assert found[0].severity is KINDS[code].severity
    assert found[0].source in report.files or found[0].source in {".", *KINDS[code].files}


def test_a_search_that_stops_early_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_DIRECTORIES", 2)
    for name in "abc":
        (tmp_path / name).mkdir()
    assert lint_repository(tmp_path).counts == {"TS112": 1}


def test_a_comparison_that_stops_early_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "alike_texts", lambda *given: alike_texts(*given[:-1], 2))
    rules = "".join(f"- [TAG-{number:03}] Always sign release tags\n" for number in range(12))
    (tmp_path / "CLAUDE.md").write_text(rules, encoding="utf-8")
    assert lint_repository(tmp_path, select=["TS505"]).counts == {"TS505": 1}


def test_the_page_is_what_the_registry_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/write_diagnostics_page.py"


def test_the_page_has_an_entry_with_the_anchor_that_findings_link_to() -> None:
    headings = re.findall(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [heading.lower().replace(" ", "-") for heading in headings] == [anchor(code) for code in KINDS]


def test_codes_are_well_formed_and_names_unique() -> None:
    assert all(re.fullmatch(r"TS[1-7]\d\d", code) for code in KINDS)
    assert {code[2] for code in KINDS} == set(FAMILIES)
    assert list(KINDS) == sorted(KINDS)
    names = [kind.name for kind in KINDS.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


@pytest.mark.parametrize("code", KINDS)
def test_every_kind_says_what_why_and_what_would_be_right(code: str) -> None:
    kind = KINDS[code]
    assert isinstance(kind.severity, Severity)
    assert all(text.endswith(".") for text in (kind.summary, kind.why, kind.fix))
    assert kind.files


def test_every_code_that_the_package_reports_is_registered_and_every_registered_one_is_reported() -> None:
    used: set[str] = set()
    for path in (*SOURCES.rglob("*.py"), SOURCES.parent / "frontmatter.py"):
        if path.name != "diagnostics.py":
            used |= set(re.findall(r'"(TS\d{3})"', path.read_text(encoding="utf-8")))
    assert used == set(KINDS)


def test_find_fills_in_what_the_registry_knows() -> None:
    found = find("TS701", 3, "CLAUDE.md")
    assert (found.message, found.fix) == (KINDS["TS701"].summary, KINDS["TS701"].fix)
    assert (found.line, found.source, found.severity) == (3, "CLAUDE.md", KINDS["TS701"].severity)
    assert find("TS701", 3, "x", "other", severity=Severity.ERROR).severity is Severity.ERROR
    with pytest.raises(KeyError):
        find("TS999", 1, "x")
