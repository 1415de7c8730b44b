from __future__ import annotations

import pytest

from tipstaff.errors import ConfigError
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.compiler_config import CompilerConfig


@pytest.mark.parametrize(
    "change",
    [
        {"default_risk_class": "dire"},
        {"max_constitution_lines": -1},
        {"default_priority": -1},
        {"default_priority": 10_000},
        {"today": "soon"},
    ],
)
def test_a_configuration_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(change))):
        CompilerConfig(**change)  # type: ignore[arg-type]


def test_defaults_are_the_configuration_s() -> None:
    (rule,) = compile_guidance(
        "- Never a\n", config=CompilerConfig(default_risk_class="low", default_priority=7)
    ).rules()
    assert (rule.risk_class, rule.priority) == ("low", 7)
