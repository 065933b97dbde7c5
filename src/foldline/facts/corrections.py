"""Values that a speaker states under a label, and values that a speaker says no longer hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

_VALUE = r"[\"'`“]?([A-Za-z0-9_./:@#%+~-]*[A-Za-z0-9_/%])[\"'`”]?"
_WORD = re.compile(r"[^\W\d_][\w']*")
_CORRECTING = """
    actually instead correction correct corrected change changed changing changes no longer not isn't wrong update
    updated updates sorry scratch rather switch switched move moved rename renamed replace replaced bump bumped make
    now new statt anstatt sondern jetzt korrektur falsch ahora corrección cambia cambiar cambió cambiado maintenant
    plutôt désormais sekarang ganti bukan koreksi diubah ubah
"""
_CUES = frozenset(_CORRECTING.split())
_CUES_OTHER = re.compile(
    r"대신|이제|변경|수정|아니라|말고|改成|改为|换成|而不是|现在|更正|不是|代わり|変更|ではなく|訂正|au lieu|en lugar|->|→"
)
_CONTRASTS = tuple(
    (needles, re.compile(pattern, re.IGNORECASE), old, new)
    for needles, pattern, old, new in (
        (
            ("instead", "rather", "not", "no longer", "statt", "lugar", "vez", "lieu", "bukan"),
            rf"{_VALUE},? (?:instead of|rather than|not|and not|no longer|statt|anstatt|en lugar de|en vez de|au lieu de|bukan) {_VALUE}",
            2,
            1,
        ),
        (("from", "von", "de", "dari"), rf"\b(?:from|von|de|dari) {_VALUE} (?:to|auf|zu|nach|a|à|ke) {_VALUE}", 1, 2),
        (("not",), rf"\bnot {_VALUE},? but (?:rather )?{_VALUE}", 1, 2),
        (("nicht",), rf"\bnicht {_VALUE},? sondern {_VALUE}", 1, 2),
        (("->", "→", "=>"), rf"(?=\S*\d){_VALUE} ?(?:->|→|=>) ?(?=\S*\d){_VALUE}", 1, 2),
        (
            ("replace", "swap", "change", "switch"),
            rf"\b(?:replace|swap|change|switch) {_VALUE} (?:with|by|to|for) {_VALUE}",
            1,
            2,
        ),
        (("instead of",), rf"\binstead of {_VALUE},? (?:use |take |it's |it is )?{_VALUE}", 1, 2),
        (("말고", "대신", "아니라"), rf"{_VALUE}\s?(?:말고|대신|가 아니라|이 아니라)\s?{_VALUE}", 1, 2),
        (("改", "换", "換"), rf"(?:从|把|將|将)\s?{_VALUE}\s?(?:改成|改为|換成|换成)\s?{_VALUE}", 1, 2),
        (("ではなく", "代わり"), rf"{_VALUE}\s?(?:ではなく|の代わりに)、?\s?{_VALUE}", 1, 2),
    )
)
_STATED = re.compile(
    r"\b([a-z][\w-]{1,30}(?: [a-z][\w-]{1,30}){0,2}?)(?:\s?(?::(?!//)|=)\s?|(?:\s(?:is|are|was|ist|es|est|adalah|to|should be|must be|"
    r"has to be))(?:\s(?:now|actually|in fact|set to|going to be|jetzt|ahora|maintenant|sekarang))?\s|(?:은|는|이|가)?\s(?=v?\d))"
    + _VALUE,
    re.IGNORECASE | re.ASCII,
)
_TELLING = re.compile(r"\d|[a-z][._/-]\w|^[\w-]*_[\w-]*$", re.IGNORECASE)
_PLAIN = """
    the a an it is are was be to of in on at for and or not with use using set now new old that this my our your its
    has have must should der die das ein eine ist auf zu el la los las un una es de le les des est à yang adalah ke
    di please actually correction only just does do so that's be by as make sure let me i you we he they what which
    there here also about then than still no yes
    after before over under within around between until above below least most more less every each all any one
"""
_NUMBER = re.compile(r"[\w.:/-]*\d[\w.:/-]*")
_STOPWORDS = frozenset(_PLAIN.split())

_SLIPS = """
    typo mistyped oops whoops wait hang meant mistake mistaken mixed misread confused swapped forget nope nah argh ugh
    actually instead correction correct wrong sorry scratch lied anymore nowadays
    moved relocated renamed replaced rebuilt upgraded downgraded bumped switched migrated changed
    deleted removed retired deprecated superseded outdated expired dropped closed froze frozen dead died
    zahlendreher vertan vertippt verwechselt meinte quatsch mist ach pardon erreur trompé perdón equivoqué maaf salah
"""
_SLIP_WORDS = frozenset(_SLIPS.split())
_SLIPS_OTHER = re.compile(r"실수|아니|잘못|搞错|弄错|错了|間違")


def slips(text: str) -> bool:
    """Whether a user takes something back here, however it is worded."""
    if not _SLIP_WORDS.isdisjoint(_WORD.findall(text.lower())):
        return True
    return not text.isascii() and (_SLIPS_OTHER.search(text) or _CUES_OTHER.search(text)) is not None


def corrects(sentence: str) -> bool:
    """Whether a sentence says that something was otherwise before."""
    if not _CUES.isdisjoint(_WORD.findall(sentence.lower())):
        return True
    return (not sentence.isascii() or "->" in sentence) and _CUES_OTHER.search(sentence) is not None


def contrasts(sentence: str) -> Iterator[tuple[str, str]]:
    """Pairs of the value that a sentence gives up and the value that it puts in its place."""
    if len(sentence) > 400:
        return
    lowered = sentence.lower()
    for needles, pattern, old, new in _CONTRASTS:
        if not any(needle in lowered for needle in needles):
            continue
        for found in pattern.finditer(sentence):
            stale, fresh = found[old].rstrip(".:"), found[new].rstrip(".:")
            if _NUMBER.search(stale) and not _NUMBER.search(fresh) and new < old:
                # "30 days instead of 14": the unit stands between
                fresh = next(reversed(_NUMBER.findall(sentence[: found.start(new)])), fresh)
            if stale.lower() != fresh.lower() and is_telling(stale) and len(fresh) > 1:
                yield stale, fresh


def stated(sentence: str) -> Iterator[tuple[str, str]]:
    """Pairs of a label and the telling value that a sentence states for it: `port is 8080`, `timeout=30`."""
    if len(sentence) > 400:
        return
    for found in _STATED.finditer(sentence):
        value = found[2].rstrip(".:")
        words = [w for w in re.split(r"\s", found[1].lower()) if w not in _STOPWORDS]
        if words and is_telling(value):
            yield " ".join(words[-2:]), value


def same_label(one: str, other: str) -> bool:
    """Whether two labels mean one thing: they end alike, and neither says more that the other contradicts."""
    a, b = one.split(), other.split()
    return a[-1:] == b[-1:] and (len(a) == 1 or len(b) == 1 or a == b)


def is_telling(value: str) -> bool:
    """Whether a value can be told from ordinary words wherever it stands."""
    return len(value) >= 2 and _TELLING.search(value) is not None
