"""The fitted weights of the token estimator: ``weights.json``, which ``python -m tools.tokens.fit`` writes.

Of a vocabulary: `token_weights`, one for each count of `tipstaff.kernels.token_features`; `script_weights`, of a script
the tokens a letter, a run of letters, and a letter of a run beyond the fourth and the eighth, all 0 or more so that
more letters never cost less; `language_factors`, what a language's prose takes over what English prose of the same
letters would. `language_words` are frequent words by which a language is known; `errors` are the mean relative error
and the bias of the sum on packages that the fit has not seen, `script_errors` the mean error over the scripts.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, Final, cast

NAME: Final = "weights.json"
_DATA: Final = cast(
    "dict[str, Any]", json.loads(resources.files("tipstaff.context.tokens").joinpath(NAME).read_text("utf-8"))
)
TOKEN_WEIGHTS: Final[dict[str, list[float]]] = _DATA["token_weights"]
SCRIPT_WEIGHTS: Final[dict[str, dict[str, list[float]]]] = _DATA["script_weights"]
LANGUAGE_WORDS: Final[dict[str, str]] = _DATA["language_words"]
LANGUAGE_FACTORS: Final[dict[str, dict[str, float]]] = _DATA["language_factors"]
ERRORS: Final[dict[str, dict[str, list[float]]]] = _DATA["errors"]
