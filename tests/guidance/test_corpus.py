"""What holds for rule files that people wrote, and for a small library of our own where those are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guidance.coverage_oracle import spans_of_bundle, spans_of_extraction, stretches, uncovered
from tests.shared_data import shared_path
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.diagnostics import KINDS

OWN = {
    "handbook": """---
description: The handbook
---
# Handbook

This service books rooms. It must never charge twice.

## 🔒 Security

- [SEC-001] Never log tokens (critical) [bash, edit] #security
- Secrets **must** come from the vault,
  never from the environment.

### Keys

1. Rotate keys every quarter
2. Never share a key:
   - with another team
   - over chat

     not even once

---

## Commands

| Task | Command |
|------|---------|
| test | `make test` |
| Always before a merge | `make check` |

- `make lint` - runs the linters
- [docs](docs/index.md)

> [!WARNING]
> You must not run `make clean` on the shared machine.

## Don't

- use `eval`
- ~~use yarn~~
- `pickle`
""",
    "windows": "# Regeln\r\n\r\n- Niemals direkt nach main pushen\r\n- Tests müssen laufen\r\n\r\n  vor jedem Merge\r\n",
    "html": "<rules>\n\n- Never force push\n\n</rules>\n\n<details>\n<summary>More</summary>\nYou should squash.\n</details>\n",
    "messy": "#Rules\n- Always lint\n  ```sh\n  make lint\n  ```\n  You must read its output.\n<!-- Never merge on Friday -->\n\nYou must:\n\n\n* x\n+ y\n\n\tcode never\n\n- [ ] Should test\n\n```\nnever closed\n- must\n",
    "chinese": "# 规范\n\n- 禁止提交密钥\n- 必须写测试。不要跳过。\n\n请始终使用 pnpm。必须锁定版本。\n",
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_our_own_files_lose_nothing(name: str) -> None:
    text = OWN[name]
    assert sum(1 for _ in stretches(text)) >= 2
    assert uncovered(text, spans_of_extraction(text)) == []
    assert uncovered(text, spans_of_bundle(compile_guidance(text))) == []


def corpus() -> list[Path]:
    folder = shared_path("corpus", "guidance")
    return sorted(folder.glob("*.md*")) if folder is not None else []


@pytest.mark.skipif(not corpus(), reason="the files that people wrote are not here")
def test_files_that_people_wrote_lose_nothing() -> None:
    items = modals = rules = 0
    lost: list[tuple[str, str, str]] = []
    for path in corpus():
        text = path.read_bytes().decode("utf-8")
        bundle = compile_guidance(text)
        rules += len(bundle.rules())
        kinds = [kind for kind, _, _ in stretches(text)]
        items += kinds.count("item")
        modals += kinds.count("modal")
        lost += [(path.name, *one) for one in uncovered(text, spans_of_bundle(bundle))]
        for one in bundle.diagnostics:
            assert one.code in KINDS
            assert 1 <= one.line <= text.count("\n") + text.count("\r") + 1
            assert 0 <= one.span[0] <= one.span[1] <= len(text)
        for rule in bundle.rules():
            assert 0 <= rule.span[0] < rule.span[1] <= len(text)
            assert rule.text
    assert lost == []
    assert min(items, modals, rules) > 2_000, (items, modals, rules)
