"""The fitted estimator: its weights, its vocabularies, calibration."""

from __future__ import annotations

import pytest

from tipstaff.context.tokens.estimator import VOCABULARIES, TokenEstimator
from tipstaff.context.tokens.token_weights import TOKEN_WEIGHTS
from tipstaff.errors import ConfigError
from tipstaff.kernels.plain.tokens import FEATURES

# Texts written for this test, with their tokens by (claude, cl100k, o200k).
COUNTED = {
    "prose": "The harbour master checks every lantern twice before the evening ferry leaves, and writes the hour down. ",
    "code": "def total(rows: list[int]) -> int:\n    return sum(row * 2 for row in rows if row > 10)\n\n",
    "json": '{"name": "lantern", "count": 42, "tags": ["red", "green"], "nested": {"ok": true, "ratio": 0.75}}\n',
    "cjk": "港の責任者は、夕方のフェリーが出る前にすべての灯を二度確かめ、時刻を書き留めます。",
    "cyrillic": "Начальник порта дважды проверяет каждый фонарь перед отходом вечернего парома и записывает время. ",
}
TOKENS = {
    "prose": (20, 19, 19),
    "code": (30, 27, 27),
    "json": (37, 38, 38),
    "cjk": (49, 49, 37),
    "cyrillic": (49, 36, 24),
}


@pytest.mark.parametrize("index", range(3), ids=VOCABULARIES)
@pytest.mark.parametrize("kind", COUNTED)
def test_estimates_are_near_real_counts(kind: str, index: int) -> None:
    estimated = TokenEstimator(VOCABULARIES[index]).estimate(COUNTED[kind] * 20)
    assert estimated == pytest.approx(
        TOKENS[kind][index] * 20,
        rel=0.33 if kind == "cjk" else 0.1,  # one sentence of rare words; over documents the mean error is stated
    )


def test_there_is_a_weight_for_each_feature() -> None:
    assert set(VOCABULARIES) == {"claude", "cl100k", "o200k"}
    for weights in TOKEN_WEIGHTS.values():
        assert len(weights) == len(FEATURES)


def test_the_stated_errors_meet_the_bars() -> None:
    import re

    from tipstaff import budgets
    from tipstaff.context.tokens import token_weights

    said = re.findall(r"(\w+) (\d+\.\d)% \(([+-]\d+\.\d)%\)", token_weights.__doc__ or "")
    assert len(said) == 18
    for kind, error, bias in said:
        assert float(error) / 100 <= budgets.TOKENS_MEAN_ERROR, kind
        if kind == "all":
            assert abs(float(bias)) / 100 <= budgets.TOKENS_BIAS


def test_nothing_is_nothing_and_something_is_something() -> None:
    estimator = TokenEstimator()
    assert estimator.estimate("") == 0
    assert estimator("a") == 1
    assert estimator("\0") >= 1


def test_calibration_scales() -> None:
    estimator = TokenEstimator("o200k")
    text = COUNTED["prose"] * 10
    scaled = estimator.calibrated(1000, 1300)
    assert scaled.estimate(text) == pytest.approx(1.3 * estimator.estimate(text), rel=0.01)
    assert scaled.calibrated(100, 50).scale == pytest.approx(0.65)
    assert repr(estimator) == "TokenEstimator('o200k', scale=1.0)"


def test_bad_arguments_are_errors() -> None:
    with pytest.raises(ConfigError, match="expected one of claude, cl100k, o200k"):
        TokenEstimator("gpt2")
    with pytest.raises(ConfigError, match="scale: expected a positive number"):
        TokenEstimator(scale=0)
    with pytest.raises(ConfigError, match="two positive numbers"):
        TokenEstimator().calibrated(0, 5)


SCRIPTS = (
    "สวัสดีชาวโลก", "नमस्ते दुनिया", "ওহে বিশ্ব", "வணக்கம் உலகம்", "გამარჯობა მსოფლიო", "ሰላም ለዓለም",
    "ជំរាបសួរ ពិភពលោក", "مرحبا بالعالم", "שלום עולם", "Γειά σου κόσμε", "Բարեւ աշխարհ", "హలో ప్రపంచం",
    "ಹಲೋ ಪ್ರಪಂಚ", "ഹലോ ലോകം", "હેલો વિશ્વ", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "မင်္ဂလာပါ", "හෙලෝ ලෝකය", "ສະບາຍດີ", "བོད་ཡིག",
)  # fmt: skip


@pytest.mark.parametrize("text", SCRIPTS)
@pytest.mark.parametrize("vocabulary", ["claude", "cl100k", "o200k"])
def test_no_script_is_without_tokens_and_more_text_costs_no_less(vocabulary: str, text: str) -> None:
    estimator = TokenEstimator(vocabulary)
    costs = [estimator.estimate(text[:end]) for end in range(1, len(text) + 1)]
    assert costs == sorted(costs)
    assert estimator.estimate(text * 20) >= 20 * len(text) * 0.2
