"""What a draft says the user asked for, and no user message holds: refused, since an agent acts on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_ASKED = re.compile(
    r"\b(?:the |our )?user(?:s|'s)?\b[^.\n]{0,40}?\b(?:ask|request|want|said|says|say|told|tell|instruct|approv|confirm|agree|demand|order"
    r"|insist|need|would like|author|decid|permit|allow|wish|prefer|prompt|command|direct|call(?:s|ed) for|consent|repl)\w*"
    r"|\b(?:as |was |were )?(?:requested|asked|instructed|approved|authorized|authorised|confirmed|ordered|demanded) by (?:the )?user\b"
    r"|\buser(?:'s)? (?:request|instruction|approval|order|demand|command|wish|permission)s?\b"
    r"|用户[^。\n]{0,10}?(?:要求|请求|說|说|希望|想要|同意|批准|确认|指示|让|授权)"
    r"|ユーザー?[^。\n]{0,10}?(?:依頼|要求|求め|指示|承認|言|望|許可|頼)"
    r"|사용자[^.\n]{0,12}?(?:요청|요구|지시|원하|원했|승인|확인|말|부탁|허락)"
    r"|\b(?:der|die) (?:nutzer|benutzer|anwender)(?:in)?\b[^.\n]{0,40}?\b(?:bat|bitte|will|wollte|möchte|verlang|wünsch|sagt|genehmig|bestätig|forder|wies)\w*"
    r"|\bl['’]utilisat(?:eur|rice)\b[^.\n]{0,40}?\b(?:demand|veut|voul|souhait|dit|approuv|confirm|exig|ordonn)\w*"
    r"|\bel usuario\b[^.\n]{0,40}?\b(?:pid|quier|quer|solicit|dijo|aprob|confirm|exig|orden)\w*"
    r"|\bo usuário\b[^.\n]{0,40}?\b(?:pedi|quer|solicit|disse|aprov|confirm|exig|orden)\w*"
    r"|пользовател\w*[^.\n]{0,40}?(?:прос|хоч|хоте|сказ|одобр|подтверд|треб|велел)\w*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^”\n]{8,})”|\"([^\"\n]{8,})\"|«([^»\n]{8,})»|「([^」\n]{4,})」|『([^』\n]{4,})』")
_CLAUSE = re.compile(r"[;；]|, (?:so|and the (?:agent|assistant)|but|which|then)\b|\bso the (?:agent|assistant)\b| [—–] ")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_CUT = re.compile(r"\s*(?:\[…[^\]]*…\]|…|\.\.\.)\s*")
_WORD = re.compile(r"[a-z0-9à-ɏа-я][\w./-]{2,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2,}")
_CJK = re.compile("[\u3040-\u9fff\uac00-\ud7af]")
_EMPTY = frozenset(
    "the and for with that this from have has was were are not but you your they them their then than into about also"
    " should would could must will can may our its user users asked ask asks request requested requests wants want wanted"
    " said says told instructed approved approval confirmed agreed needs needed need like likes wish wishes explicitly"
    " which what when where who how all any some please agent assistant message messages be been being made make".split()
)
SUPPORT = 0.5
"""The share of a claim's words that the user must have used."""


def invented(text: str, said: Sequence[str]) -> list[str]:
    """The claims of a text about the user's requests that nothing the user said supports."""
    flat = _flat("\n".join(said))
    known = _words(flat)
    return [claim for claim, quotes in _claims(text) if not _supported(claim, quotes, flat, known)]


def without_claims(text: str, claims: Iterable[str]) -> str:
    """The text without the lines that hold the claims."""
    gone = set(claims)
    lines = [line for line in text.split("\n") if not any(claim in line for claim in gone)]
    return "\n".join(lines)


def _claims(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each clause that speaks for the user, with what it quotes."""
    heading = ""
    for line in text.split("\n"):
        if found := _HEADING.match(line):
            heading = found[1].lower()
            continue
        if line.lstrip().startswith(">"):
            words = line.strip().lstrip("> ").strip()
            yield from [(words, [words])] if len(words) >= 8 else []
            continue
        requests = "request" in heading and "user" in heading
        for sentence in _SENTENCE.split(line):
            spoken = _ASKED.search(sentence)
            if spoken is None and not (requests and sentence.strip("-* ")):
                continue
            clause = sentence if spoken is None else _clause(sentence, spoken.end())
            yield clause.strip(), [next(filter(None, groups)) for groups in _QUOTED.findall(clause)]


def _clause(sentence: str, end: int) -> str:
    cut = _CLAUSE.search(sentence, end)
    return sentence[: cut.start()] if cut else sentence


def _supported(claim: str, quotes: Sequence[str], flat: str, known: frozenset[str]) -> bool:
    if quotes:
        pieces = [piece for quote in quotes for piece in _CUT.split(quote) if len(piece) >= 4]
        return all(_flat(piece) in flat for piece in pieces)
    words = _words(_flat(_ASKED.sub(" ", claim)))
    return not words or len(words & known) >= SUPPORT * len(words)


def _flat(text: str) -> str:
    text = re.sub(r"\(corrected later[^)]*\)", "", text)
    return " ".join(re.sub(r"[*_`\"'“”’‘>]", "", text.casefold()).split()).strip(" .,;:!?。")


def _words(flat: str) -> frozenset[str]:
    """The telling words of a text, cut to their stems; of scripts without spaces, pairs of characters."""
    words: set[str] = set()
    for word in _WORD.findall(flat):
        if _CJK.match(word):
            words |= {word[i : i + 2] for i in range(len(word) - 1)}
        elif word not in _EMPTY:
            words.add(word.strip("./-")[:5])
    return frozenset(words)
