"""Words with which rules demand, forbid and leave things to be asked for, in their forms in the most used languages.

One table for expressions and for the lists of words that they need (`tipstaff.guidance.wording.cues`), so that no form
is in one and not in the other. ``verboten/e/en`` stands for *verboten, verbotene, verbotenen*; a hyphen says that
the stem alone is no word: ``prohibid-/o/a``.
"""

from __future__ import annotations

import re
from typing import Final


def forms(words: str) -> str:
    """Return all forms of some words, with blanks between them."""
    found: list[str] = []
    for word in words.split():
        stem, *endings = word.split("/")
        if not stem.endswith("-"):
            found.append(stem)
        found += [stem.removesuffix("-") + ending for ending in endings]
    return " ".join(dict.fromkeys(found))


def either(words: str) -> str:
    """Return the expression of one of some words, the longest first; what they begin with alike is looked at once."""
    return _tree([*dict.fromkeys(words.split())])


def _tree(words: list[str]) -> str:
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(word[:1], []).append(word[1:])
    ends = groups.pop("", None) is not None
    branches = [re.escape(first) + _tree(rest) for first, rest in sorted(groups.items())]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and not ends else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if ends else joined


FORBIDDEN: Final = forms(
    """verboten/e/en/em/er/es untersagt/e/en/em/er/es unzulässig/e/en/em/er/es
    prohibid-/o/a/os/as proibid-/o/a/os/as vedad-/o/a/os/as
    interdit/e/s/es proscrit/e/s/es prohibé/e/s/es
    vietat-/o/a/i/e proibit-/o/a/i/e
    zabronion-/y/a/e/ych/ym zakazan-/y/a/e/ych niedozwolon-/y/a/e
    verboden ontoelaatbaar
    запрещен/о/а/ы запрещён/а запрещено запрещается запрещаются запрещённ-/ый/ая/ое/ые запрещенн-/ый/ая/ое/ые
    воспрещается недопустим/о/а/ы нельзя
    yasak/tır/tir/lar/lı/lanmış/lanmıştır
    dilarang terlarang diharamkan
    cấm"""
)
"""What must not be; English and the scripts without blanks have expressions of their own."""
BANS: Final = forms(
    """verbot/e/es/en prohibici-/ón/ones prohibicion interdiction/s proibiç-/ão/ões divieto divieti
    zakaz/y/u/ów запрет/ы/а/ов yasağı larangan"""
)
"""Names of what must not be."""
NEVER: Final = forms("""niemals nunca jamás jamais nooit nigdy никогда asla hiçbir jangan/lah đừng""")
ALWAYS: Final = forms("""immer stets siempre sempre toujours altijd steeds zawsze всегда daima selalu luôn""")
OBLIGED: Final = forms(
    """muss/t müsse/n müsst zwingend verpflichtend/e/en/er/es unbedingt
    debe/n/s debemos deber-/á/án obligatori-/o/a/os/as obligatoriamente
    deve/m/s devemos deverá/o obrigatóri-/o/a/os/as obrigatoriamente
    doit doivent devez devr-/a/ont obligatoire/s obligatoirement impérativement
    devono devi dovete dovr-/à/anno obbligatori-/o/a/e obbligatoriamente bisogna occorre
    moet/en verplicht/e
    musi/sz muszą należy trzeba obowiązkow-/o/y/a/e
    долж-/ен/на/но/ны необходимо обязательно обязан/а/о/ы требуется
    gerekir gereklidir zorunlu/dur mutlaka şarttır
    harus/lah wajib
    phải"""
)
"""What must be."""
SHOULD: Final = forms(
    """soll/en/te/ten/st/test deber-/ía/ían devr-/ait/aient deveria/m dovr-/ebbe/ebbero powin-/ien/na/no/ny/ni
    следует нужно sebaiknya nên"""
)
"""What should be."""
ONLY: Final = forms(
    """nur ausschließlich sólo solamente únicamente exclusivamente apenas somente soltanto esclusivamente
    uniquement seulement exclusivement alleen uitsluitend tylko wyłącznie только лишь исключительно sadece yalnızca
    hanya chỉ"""
)
"""What says "only": it demands, or only describes."""
MODALS: Final = " ".join((FORBIDDEN, NEVER, ALWAYS, OBLIGED, SHOULD, ONLY))
"""What turns a sentence into a rule; ``nie`` and ``mai`` are other words elsewhere."""
NEGATIVE: Final = " ".join((FORBIDDEN, BANS, NEVER))
LEAVE: Final = forms(
    """escalate/d/s escalating escalation/s approval/s permission/s exception/s
    nachfragen rückfrage/n genehmig-/en/t/te/ung/ungen genehmigungspflichtig zustimmung/en freigabe/n
    rücksprache ausnahme/n
    pregunt-/ar/e/a permiso/s aprobaci-/ón/ones aprobacion autorizaci-/ón/ones autorizacion excepci-/ón/ones excepcion
    consultar
    demande-/r/z autorisation/s approbation/s validation/s
    pergunt-/ar/e/a permiss-/ão/ões aprovaç-/ão/ões autorizaç-/ão/ões exceç-/ão/ões
    chied-/ere/i/ete approvazion-/e/i autorizzazion-/e/i permess-/o/i eccezion-/e/i
    vragen toestemming goedkeuring uitzondering/en
    zapyta-/j/ć zgod-/a/y/ę/ą zgód zatwierdzen-/ie/ia/iu wyjątk-/i/ów/iem wyjątek
    спрос-/и/ите/ить спраш-/ивай/ивайте/ивать разрешени-/е/я/ю/ем/й согласовани-/е/я/ю/ем согласовать согласуй/те
    исключени-/е/я/ю/ем/й подтверждени-/е/я/ю/ем
    onay/ı/ını/la/lanmalı/lanmalıdır izin izni istisna/lar/sı
    izin persetujuan tanyakan kecuali pengecualian"""
)
"""What needs somebody's leave, and what is taken out of a rule."""
GRAVE: Final = forms(
    """secret/s credential/s password/s token/s
    geheimnis/se/sen/ses zugangsdaten passwort/e/s passwörter/n schlüssel/n
    secreto/s contraseña/s credencial/es clave/s
    mot mots identifiants
    segredo/s senha/s credenciais segret-/o/i credenziali
    geheim-/en wachtwoord/en hasł-/o/a/em haseł sekret/y/ów
    секрет/ы/ов/ами парол-/ь/и/ей/я ключ/и/ей parola/lar şifre/ler sandi rahasia"""
)
"""What must not get out."""
