"""What a draft quotes, and whether anybody said it: words between quotation marks, or in a quote line, can be looked up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from foldline._patterns import pattern

LEAST = 12
"""Letters that a quotation must have to be judged; those of scripts that write a word in one or two count double."""

RUN = 12
"""Letters that must follow each other as they do in what was said, half as many in such scripts, for them to count as held."""

RESEMBLES = 0.75
"""The share of a quotation's letters that must be held for it to be the user's words with a slip."""

PIECE = 4
"""Letters that each piece between ellipses must have to be looked up."""

BESIDE = 24
"""Characters between the user's name and the quotation, up to which the words must be the user's own."""

FAR = 200
"""Characters before a quotation in which the user may be named."""

_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}
_FENCED = pattern(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.DOTALL | re.MULTILINE)
_CODE = pattern(r"(`+)[^\n]+?\1")
_MARKS = pattern(
    r"“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」|『([^『』\n]+)』"
    r'|(?<![A-Za-z0-9\\=])"(?=\S)([^"\n]+)(?<=\S)"(?![A-Za-z0-9])'
)
_LINE = pattern(r"\s*>[>\s]*(.*)")
_NOTICE = pattern(r"\W*(?:note|tip|important|warning|caution|nb|todo)\b", re.IGNORECASE)
"""What opens a quote line that is set apart and quotes nobody."""

_REMARK = pattern(r"\((?:the user|corrected) later\b[^\n]*\)\s*$")
_BULLET = pattern(r"\s*(?:[-*+•]|\d+[.)])?[\s*_]*")
_ELLIPSIS = pattern(r"\[[^\]\n]*(?:…|\.\.\.)[^\]\n]*\]|…|\.\.\.")
_ESCAPES = pattern(r"\\[nt(]")
_SENTENCE = pattern(r"[.!?](?=\s)|[。！？]")

_USER = pattern(
    r"\b(?:user|human)\b(?!-)|用户|用戶|使用者|ユーザー(?!に)|ユーザ(?![ーに])|사용자(?!에게)|(?<!den )(?<!dem )\b(?:be)?nutzer(?:in)?\b|\banwender(?:in)?\b"
    r"|(?<!à l['’])\butilisat(?:eur|rice)\b|\busuari[oa]\b|\busuári[oa]\b|\butente\b|\bgebruiker\b|\bpengguna\b|\bпользователь\b",
    re.IGNORECASE,
)
_SPOKEN_TO = pattern(
    r"(?:\b(?:asks?|asked|asking|tells?|told|telling|shows?|showed|shown|inform(?:s|ed)?|remind(?:s|ed)?|prompt(?:s|ed)?|warn(?:s|ed)?"
    r"|to|for|with|al|ao|kepada)(?: the| our)?|\b(?:an?|any|each|every|per|no)|\b(?:if|when|whenever|unless|until|once|whether|where|while)(?: the| an?)?"
    r"|[问問向给給])\s*\Z",
    re.IGNORECASE,
)
"""What stands before a user who is spoken to, or who is any user of what is being built."""

_OTHERS = pattern(
    r"\b(?:(?i:agent|assistant|model|tool|claude)|I)\b|助手|代理|アシスタント|エージェント|어시스턴트|에이전트|\b(?:asistente|агент|ассистент)\b"
)
_THINGS = pattern(r"\b(?:error|output|issue|ticket|commit|title|titled|named|called|file|test|log)\b", re.IGNORECASE)
"""What has words of its own that a user may speak of."""


class Quotation(NamedTuple):
    """Words that a text quotes; `users` where it says that they are the user's own."""

    text: str
    users: bool


class Checked(NamedTuple):
    """What is wrong with the quotations of a text: those that nobody said, and those that are not word for word."""

    false: list[Quotation]
    loose: list[Quotation]


def check(text: str, said: Sequence[str], others: Sequence[str]) -> Checked:
    """The quotations of a text held against what the user said, and those of others against what anybody said."""
    found = {quotation: pieces for quotation in quotations(text) if (pieces := _pieces(quotation.text))}
    checked = Checked([], [])
    if not found:
        return checked
    users = [letters(words) for words in said]
    anyones = [*users, *map(letters, others)]
    for quotation, pieces in found.items():
        if not any(_holds(words, pieces) for words in (users if quotation.users else anyones)):
            checked.false.append(quotation)
    for quotation in _resembling(checked.false, users, anyones):
        checked.false.remove(quotation)
        checked.loose.append(quotation)
    return checked


def quotations(text: str) -> Iterator[Quotation]:
    """What a text quotes and can be looked up: what it ascribes to the user, and its quote lines; code is left out."""
    lead = False
    for line in unfenced(text).split("\n"):
        if quoted := _LINE.match(line):
            words = _REMARK.sub("", quoted[1])
            if not _NOTICE.match(words):
                yield Quotation(words.strip(), lead)
            line = line[quoted.start(1) + len(words) :]
        shown = _CODE.sub(lambda code: "`" * len(code[0]), line)
        marks = [*_MARKS.finditer(shown)]
        plain = shown.strip(" *_")
        if not marks and (plain.startswith("#") or plain.endswith((":", "："))):
            lead = _speaks(plain)[0]
        before, end = "", 0
        for mark in marks:
            before = (before + shown[end : mark.start()])[-FAR:]
            end = mark.end()
            if mark.end() - mark.start() < LEAST // 2 + 2:
                before += '""'
                continue
            users, near = _speaks(before, shown[end : end + BESIDE])
            if lead and not users and mark is marks[0] and _BULLET.fullmatch(shown, 0, mark.start()):
                users = near = True
            if users:
                yield Quotation(line[mark.start() + 1 : end - 1], near)
            before += '""'


def unfenced(text: str) -> str:
    """The text without its fenced code."""
    return _FENCED.sub("", text)


def ascribed(text: str) -> Iterator[str]:
    """The sentences that tell what the user said or wants, each from the user's name on; quoted ones and code are left out."""
    for line in unfenced(text).split("\n"):
        if _LINE.match(line) or line.lstrip().startswith("#"):
            continue
        plain = _MARKS.sub('""', _CODE.sub("", line))
        for sentence in _SENTENCE.split(plain):
            if name := next(_speakers(sentence), None):
                yield sentence[name.end() :].strip()


def letters(text: str) -> str:
    """The letters and digits of a text, which are what two quotations of the same words have in common."""
    if text.isascii():
        return text.lower().translate(_NO_LETTERS)
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _speaks(before: str, after: str = "") -> tuple[bool, bool]:
    """Whether the user is who speaks between `before` and `after`, and whether they leave no room for anybody else."""
    if (named := _USER.search(after)) and not letters(after[: named.start()]):
        return True, True
    start = max((mark.end() for mark in _SENTENCE.finditer(before)), default=0)
    names = [*_speakers(before, start)]
    if not names or _OTHERS.search(between := before[names[-1].end() :]):
        return False, False
    return True, len(between) <= BESIDE and not _THINGS.search(between)


def _speakers(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Where the user is named and is not the one who is spoken to."""
    for name in _USER.finditer(text, start):
        if not _SPOKEN_TO.search(text[max(0, name.start() - BESIDE) : name.start()]):
            yield name


def _pieces(quotation: str) -> list[str]:
    """What of a quotation is to be looked up; nothing where it is a short one, or a name or a literal out of code."""
    whole = letters(quotation)
    if _ESCAPES.search(quotation):
        return []
    if len(whole) + sum(letter >= "\u2e80" for letter in whole) < LEAST or (
        quotation.isascii() and " " not in quotation.strip()
    ):
        return []
    pieces = [letters(piece) for piece in _ELLIPSIS.split(quotation)]
    return [piece for piece in pieces if len(piece) >= PIECE] or [whole]


def _holds(words: str, pieces: Sequence[str]) -> bool:
    """Whether the words hold the pieces, one after the other."""
    at = 0
    for piece in pieces:
        if (found := words.find(piece, at)) < 0:
            return False
        at = found + len(piece)
    return True


def _resembling(quotations: Sequence[Quotation], users: Sequence[str], anyones: Sequence[str]) -> list[Quotation]:
    """Those that are what was said but for a slip: most of their letters stand in one text in long runs, with all numbers."""
    found: list[Quotation] = []
    for ascribed, texts in ((True, users), (False, anyones)):
        judged = [(each, "".join(_pieces(each.text))) for each in quotations if each.users == ascribed]
        for run, dense in ((RUN, False), (RUN // 2, True)):
            alike = [(each, whole) for each, whole in judged if (max(whole) >= "\u2e80") == dense]
            wanted = {whole[at : at + run] for _, whole in alike for at in range(len(whole) - run + 1)}
            for words in texts if wanted else ():
                runs = wanted & {words[at : at + run] for at in range(len(words) - run + 1)}
                found += (
                    each for each, whole in alike if runs and each not in found and _mostly(whole, run, runs, words)
                )
    return found


def _mostly(whole: str, run: int, runs: AbstractSet[str], words: str) -> bool:
    held = [False] * len(whole)
    for at in range(len(whole) - run + 1):
        if whole[at : at + run] in runs:
            held[at : at + run] = [True] * run
    return sum(held) >= RESEMBLES * len(whole) and all(number in words for number in re.findall(r"\d+", whole))
