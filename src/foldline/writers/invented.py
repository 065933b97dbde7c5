"""What a draft says the user asked for, and no user message holds: refused, since an agent acts on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline.facts.stems import stems

REMARK = re.compile(r' \(the user later: "([^"\n]*)"\)')
_VERBS = (
    r"(?:ask(?:s|ed|ing)?|request(?:s|ed|ing)?|want(?:s|ed)?|said|says?|told|tells|instruct(?:s|ed)?|approv(?:es?|ed)|confirm(?:s|ed)?"
    r"|agree[sd]?|demand(?:s|ed)?|order(?:s|ed)?|insist(?:s|ed)?|need(?:s|ed)?|would like|authori[sz](?:es?|ed)|decid(?:es?|ed)"
    r"|permit(?:s|ted)?|allow(?:s|ed)?|wish(?:es|ed)?|prefer(?:s|red)?|direct(?:s|ed)|consent(?:s|ed)|repl(?:ies|ied)|g[ai]ve[ns]?)"
)
_BETWEEN = (
    r"(?:has|have|had|also|then|later|first|just|now|only|never|again|clearly|explicitly|specifically|repeatedly|previously"
    r"|initially|originally|finally|did|does|not|further)"
)
_ASKED = re.compile(
    rf"\b(?:the |our )?users?(?!-)['’]?\s+(?:{_BETWEEN}\s+){{0,3}}{_VERBS}\b"
    r"|\b(?:requested|asked|instructed|approved|authori[sz]ed|confirmed|ordered|demanded) by (?:the )?user\b"
    r"|\b(?:at|on|upon|by|per|as per|following|after) (?:the |an? )?user['’]?s? (?:explicit )?(?:request|instruction|approval|order|demand|command|wish|permission)s?\b"
    r"|用户([^。\n]{0,40}?)(?:要求|请求|說|说|希望|想要|同意|批准|确认|指示|让|授权)"
    r"|ユーザー?([^。\n]{0,40}?)(?:依頼|要求|求め|指示|承認|言|望|許可|頼)"
    r"|사용자([^.\n]{0,40}?)(?:요청|요구|지시|원하|원했|승인|확인|말|부탁|허락)"
    r"|\b(?:der|die) (?:nutzer|benutzer|anwender)(?:in)?\b([^.\n]{0,40}?)\b(?:bat|bitte|will|wollte|möchte|verlang|wünsch|sagt|genehmig|bestätig|forder|wies)\w*"
    r"|\bl['’]utilisat(?:eur|rice)\b([^.\n]{0,40}?)\b(?:demand|veut|voul|souhait|dit|approuv|confirm|exig|ordonn)\w*"
    r"|\bel usuario\b([^.\n]{0,40}?)\b(?:pid|quier|quer|solicit|dijo|aprob|confirm|exig|orden)\w*"
    r"|\bo usuário\b([^.\n]{0,40}?)\b(?:pedi|quer|solicit|disse|aprov|confirm|exig|orden)\w*"
    r"|пользовател\w*([^.\n]{0,40}?)(?:прос|хоч|хоте|сказ|одобр|подтверд|треб|велел)\w*",
    re.IGNORECASE,
)
_SPEAKERS = (
    "user", "用户", "ユーザ", "사용자", "nutzer", "anwender", "utilisat", "usuario", "usuário", "пользовател"
)  # fmt: skip
"""A line without any of them holds nothing that the pattern finds, which takes a hundred times as long to see."""

_QUOTED = re.compile(r"“([^”\n]{8,})”|\"([^\"\n]{8,})\"|«([^»\n]{8,})»|「([^」\n]{4,})」|『([^』\n]{4,})』")
_CLAUSE = re.compile(
    r"[;；]|, (?:so|and the (?:agent|assistant)|but|which|then)\b|\bso the (?:agent|assistant)\b| [—–] "
)
_CONDITION = re.compile(
    r"\b(?:unless|until|if|when|whenever|before|once|whether|in case) (?:the )?users?\b", re.IGNORECASE
)
_PARTS = re.compile(r",|;| and (?:to )?| then |、|，|；")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_CUT = re.compile(r"\s*(?:\[…[^\]]*…\]|…|\.\.\.)\s*")
SUPPORT = 0.55
"""The share of a claim's words that the user must have used, close together."""

WINDOW = 400
"""Characters of the user's words that are close together."""


def invented(text: str, said: Sequence[str]) -> list[str]:
    """The claims of a text about the user's requests that nothing the user said supports."""
    claims = list(_claims(text))
    if not claims:
        return []
    flat = _flat("\n".join(said))
    windows = [stems(_flat(window)) for words in said for window in _windows(words)]
    return [claim for claim, quotes in claims if not _supported(claim, quotes, flat, windows)]


def _claims(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each clause that speaks for the user, with what it quotes."""
    heading = ""
    for line in text.split("\n"):
        if found := _HEADING.match(line):
            heading = found[1].lower()
            continue
        yield from ((found[0].strip(), [found[1]]) for found in REMARK.finditer(line))
        line = REMARK.sub("", line)
        if line.lstrip().startswith("["):
            continue
        if line.lstrip().startswith(">"):
            words = line.strip().lstrip("> ").strip()
            yield from [(words, [words])] if len(words) >= 8 else []
            continue
        requests = "request" in heading and "user" in heading
        if not requests and not any(map(line.lower().__contains__, _SPEAKERS)):
            continue
        for sentence in _SENTENCE.split(line):
            spoken = _ASKED.search(_CONDITION.sub(lambda found: " " * len(found[0]), sentence))
            if spoken is None and not (requests and sentence.strip("-* ")):
                continue
            clause = sentence if spoken is None else _clause(sentence, spoken.end())
            yield clause.strip(), [next(filter(None, groups)) for groups in _QUOTED.findall(clause)]


def _clause(sentence: str, end: int) -> str:
    cut = _CLAUSE.search(sentence, end)
    return sentence[: cut.start()] if cut else sentence


def _supported(claim: str, quotes: Sequence[str], flat: str, windows: Sequence[frozenset[str]]) -> bool:
    if quotes:
        pieces = [piece for quote in quotes for piece in _CUT.split(quote) if len(piece) >= 4]
        return all(_flat(piece) in flat for piece in pieces)
    asked = (stems(_flat(part)) for part in _PARTS.split(_ASKED.sub(_between, claim)))
    return all(any(len(words & known) >= SUPPORT * len(words) for known in windows) for words in asked if words)


def _between(found: re.Match[str]) -> str:
    """What stands between speaker and verb, where a language puts there what was asked."""
    return f" {' '.join(filter(None, found.groups()))} "


def _windows(text: str) -> Iterator[str]:
    """Pieces of a text that overlap by half, so that what stands close together is in one of them."""
    for start in range(0, max(len(text) - WINDOW // 2, 1), WINDOW // 2):
        yield text[start : start + WINDOW]


def _flat(text: str) -> str:
    text = REMARK.sub("", re.sub(r"\(corrected later[^)]*\)", "", text))
    return " ".join(re.sub(r"[*_`\"'“”’‘>]", "", text.casefold()).split()).strip(" .,;:!?。")
