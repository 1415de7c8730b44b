"""Fit the weights of the token estimator, judge them on packages it has not seen, and write both down.

    python -m tools.tokens.fit WORK [--pin]

WORK is a folder for what is fetched. Documents are cut out of the packages of ``sources.tsv``, counted by the real
vocabularies, and the sums of weighted features (``tokens/features.hpp``) are fitted to the counts: least
absolute relative errors, by re-weighted least squares, each kind of text weighing the same, such that more text never
costs less. A package is on one side with all it holds. Scripts and languages follow (`tools.tokens.scripts`).
Needs ``pip install tokenizers==0.23.3`` beside the project.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from tools.tokens.documents import Document, documents
from tools.tokens.monotone import additions, nearest
from tools.tokens.prose import FIT, Prose
from tools.tokens.scripts import common_words, update_weights, write_scripts
from tools.tokens.sources import TextSource, digest, fetch_all, read_sources, write_sources
from tools.tokens.vocabularies import vocabularies

from tipstaff.kernels import token_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

CATEGORIES: Final = ("code", "prose", "json", "cjk", "cyrillic")
_ALSO: Final = {
    "cjk": ("chinese", "chinese_traditional", "japanese", "korean"),
    "cyrillic": ("russian", "ukrainian", "bulgarian", "serbian"),
}
_ROUNDS: Final = 15
_RIDGE: Final = 1e-4
_LEAST_ERROR: Final = 0.03
"""Errors below this share count alike: the fit need not chase what no reader would notice."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents of one side with their features and the tokens of one vocabulary."""

    features: NDArray[np.float64]
    tokens: NDArray[np.float64]
    categories: NDArray[np.str_]


def fit(sample: Sample, sets: NDArray[np.float64], least: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights, shape (n_features,); `sets` and `least` are those of `additions`."""
    shares = {one: np.count_nonzero(sample.categories == one) for one in CATEGORIES}
    importance = np.array([1 / shares[one] for one in sample.categories]) * len(sample.tokens) / len(CATEGORIES)
    rows = sample.features / sample.tokens[:, None]
    scale = np.abs(rows).max(axis=0)
    scale[scale == 0] = 1
    rows = rows / scale
    sets = sets / scale
    weighing = importance.copy()
    weights = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        weighted = rows * weighing[:, None]
        normal = weighted.T @ rows + _RIDGE * weighing.mean() * np.eye(rows.shape[1])
        target = weighted.sum(axis=0)
        weights = np.linalg.solve(normal, target)
        weighing = importance / np.maximum(np.abs(rows @ weights - 1), _LEAST_ERROR)
    return nearest(normal, target, sets, least) / scale


def judge(sample: Sample, weights: NDArray[np.float64]) -> dict[str, tuple[float, float, float, float]]:
    """Return mean, 95th percentile and worst of the relative error, and the bias of the sum, by kind and for all."""
    estimates = sample.features @ weights
    errors = np.abs(estimates - sample.tokens) / sample.tokens
    found: dict[str, tuple[float, float, float, float]] = {}
    for name in (*CATEGORIES, "all"):
        chosen = np.full(len(errors), True) if name == "all" else sample.categories == name
        of_kind = errors[chosen]
        bias = estimates[chosen].sum() / sample.tokens[chosen].sum() - 1
        found[name] = (float(of_kind.mean()), float(np.percentile(of_kind, 95)), float(of_kind.max()), float(bias))
    return found


def by_characters(sample: Sample, texts: list[str]) -> Sample:
    """Return the sample with the rule of four characters a token as its only feature."""
    return Sample(np.array([[len(text) / 4] for text in texts]), sample.tokens, sample.categories)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--pin", action="store_true", help="write the digests of the archives that are in WORK")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    sources = read_sources()
    archives = fetch_all(sources, arguments.work)
    if arguments.pin:
        write_sources([_pinned(one, archives[one.name]) for one in sources])
    of_text = [one for one in sources if one.category in CATEGORIES and one.name in archives]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(documents, of_text, [archives[one.name] for one in of_text]))
    sides: dict[str, list[Document]] = {"fit": [], "unseen": []}
    for source, texts in zip(of_text, found, strict=True):
        sides[source.side] += texts
    prose = Prose(archives)
    # The declarations are legal prose: the manuals beside them are not all that is written in these scripts.
    for category, languages in _ALSO.items():
        texts = [piece for language in languages for source in FIT for piece in prose.pieces(language, source)]
        sides["fit"] += [Document(category, "languages", text) for text in texts]
    counters = vocabularies(archives, arguments.work)
    sets, least = additions()
    print(f"{len(sides['fit'])} documents to fit, {len(sides['unseen'])} to judge")
    features = {side: np.array([list(token_features(one.text)) for one in some]) for side, some in sides.items()}
    weights: dict[str, NDArray[np.float64]] = {}
    figures: dict[str, dict[str, tuple[float, float, float, float]]] = {}
    for name, count in counters.items():
        samples = {side: _sample(sides[side], features[side], count) for side in sides}
        weights[name] = fit(samples["fit"], sets, least)
        figures[name] = judge(samples["unseen"], weights[name])
        rule = judge(by_characters(samples["unseen"], [one.text for one in sides["unseen"]]), np.ones(1))
        for kind in (*CATEGORIES, "all"):
            ours, four = figures[name][kind], rule[kind]
            print(
                f"{name:8}{kind:10}mean {ours[0]:6.1%}  p95 {ours[1]:6.1%}  worst {ours[2]:6.1%}  bias {ours[3]:+6.1%}"
                f"   four characters: mean {four[0]:6.1%}  bias {four[3]:+6.1%}"
            )
    _write(weights, figures)
    words = common_words(one.text for one in sides["fit"] if one.category in {"code", "prose", "json"})
    write_scripts(prose, counters, weights, words)


def _sample(some: list[Document], features: NDArray[np.float64], count: Callable[[str], int]) -> Sample:
    tokens = np.array([count(one.text) for one in some], dtype=np.float64)
    return Sample(features.astype(np.float64), tokens, np.array([one.category for one in some]))


def _pinned(source: TextSource, path: Path) -> TextSource:
    return TextSource(
        source.kind, source.name, source.version, source.licence, digest(path), source.category, source.side
    )


def _write(
    weights: dict[str, NDArray[np.float64]], figures: dict[str, dict[str, tuple[float, float, float, float]]]
) -> None:
    errors = {
        name: {kind: [round(mean, 4), round(bias, 4)] for kind, (mean, _, _, bias) in kinds.items()}
        for name, kinds in figures.items()
    }
    rounded = {name: [float(f"{value:.6g}") for value in values] for name, values in weights.items()}
    update_weights(errors=errors, token_weights=rounded)


if __name__ == "__main__":
    main()
