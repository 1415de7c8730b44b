"""Documents of known kinds, cut out of package archives: what the estimator is fitted on and what judges it."""

from __future__ import annotations

import gzip
import html
import io
import json
import random
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.tokens.sources import TextSource

PER_PACKAGE: Final = 60
"""Documents taken of one package, so that no package stands for its kind alone."""

MIN_CHARS: Final = 1_000
MAX_CHARS: Final = 8_000
_MAX_FILE: Final = 4_000_000
_MAX_FILES: Final = 400
_SEED: Final = 20_261_122

_CODE = re.compile(
    r"\.(?:py|js|mjs|ts|jsx|tsx|go|rs|c|h|cc|cpp|hpp|java|rb|php|pl|pm|sh|bash|css|sql|toml|yml|yaml)$|/completions/[^/]+$"
)
_JSON = re.compile(r"\.json$")
_TEXT = re.compile(r"\.(?:html?|txt|md|rst|[1-9]|adoc)$|(?:^|/)(?:README|NEWS|HISTORY)[^/]*$")
_SKIPPED = re.compile(r"\.min\.|/_static/|genindex|searchindex|/search\.html|changelog|copyright|NEWS\.Debian|/vendor/")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a known kind (``code``, ``prose``, ``json``, ``cjk``, ``cyrillic``)."""

    category: str
    package: str
    text: str


def documents(source: TextSource, archive: Path) -> list[Document]:
    """Return the documents of one package: the same ones whenever its archive is the same."""
    chance = random.Random(f"{_SEED} {source.name}")
    wanted = {"code": _CODE, "json": _JSON}.get(source.category, _TEXT)
    texts: list[str] = []
    for name, data in _files(archive, wanted, chance):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if source.category not in {"code", "json"}:
            text = _plain(name, text)
        if source.category == "json":
            text = _respaced(text, chance)
        if len(text) < MIN_CHARS:
            continue
        # One or a few pieces of each file, of the sizes that messages and tool results have.
        pieces = 1 + min(12, len(text) // 20_000) if source.category == "json" else 1 + min(3, len(text) // 60_000)
        for _ in range(pieces):
            size = int(MIN_CHARS * (MAX_CHARS / MIN_CHARS) ** chance.random())
            start = chance.randrange(max(1, len(text) - size))
            start = text.find("\n", start, start + 400) + 1 or start
            piece = text[start : start + size]
            if len(piece) >= MIN_CHARS // 2 and _is(source.category, piece):
                texts.append(piece)
    chance.shuffle(texts)
    return [Document(source.category, source.name, text) for text in texts[:PER_PACKAGE]]


def _is(category: str, text: str) -> bool:
    if category == "cjk":
        return len(_CJK.findall(text)) > len(text) * 0.2
    if category == "cyrillic":
        return len(_CYRILLIC.findall(text)) > len(text) * 0.3
    return True


def _plain(name: str, text: str) -> str:
    """Take the marks of HTML and roff off."""
    if re.search(r"\.html?$", name):
        text = re.sub(r"(?s)<(script|style|head|nav).*?</\1>", " ", text)
        text = html.unescape(re.sub(r"<[^>]{0,2000}>", "", text))
    elif re.search(r"\.[1-9]$", name):
        text = re.sub(r"(?m)^\.\\\".*$|^\.[A-Za-z]{1,3}\b ?|^'.*$", "", text)
        text = re.sub(r"\\f[A-Z]|\\[&|]|\\\([a-z]{2}", "", text).replace("\\-", "-")
    return re.sub(r"\n\s*\n\s*(?=\n)", "\n", text).strip()


def _respaced(text: str, chance: random.Random) -> str:
    """Write JSON as tools print it: as it is, on one line, or indented."""
    if len(text) > 400_000 or (form := chance.randrange(3)) == 0:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    ascii_only = chance.random() < 0.3
    return json.dumps(value, indent=2 if form == 1 else None, ensure_ascii=ascii_only)


def _files(archive: Path, wanted: re.Pattern[str], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as opened:
            infos = sorted((one for one in opened.infolist() if one.file_size <= _MAX_FILE), key=lambda i: i.filename)
            names = [one.filename for one in infos if _fits(one.filename, wanted)]
            chance.shuffle(names)
            for name in names[:_MAX_FILES]:
                yield name, opened.read(name)
        return
    if archive.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], capture_output=True, check=True).stdout
    else:
        data = gzip.decompress(archive.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = sorted((m for m in tar.getmembers() if m.isfile() and m.size <= _MAX_FILE), key=lambda m: m.name)
        members = [one for one in members if _fits(one.name.removesuffix(".gz"), wanted)]
        chance.shuffle(members)
        for member in members[:_MAX_FILES]:
            file = tar.extractfile(member)
            if file is None:
                continue
            content = file.read()
            name = member.name.removesuffix(".gz")
            yield name, gzip.decompress(content) if member.name.endswith(".gz") else content


def _fits(name: str, wanted: re.Pattern[str]) -> bool:
    return wanted.search(name) is not None and _SKIPPED.search(name) is None
