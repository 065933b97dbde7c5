"""What agents and tools say in any language: that something is open or taken back, that a call failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from foldline._facts.language import languages, script_of
from foldline._facts.patterns import Patterns, lower, rare
from foldline._patterns import pattern

_LABEL = 24
"""Characters that may stand between such a word and the colon of its label."""

_CHOICE = 300
"""Characters of the longest message that is looked through for an option that it chooses."""

_TITLE = re.compile(r" ?\([^()\n]{1,40}\): ([^\n.,;]{3,80})|: ([^\n.,;]{3,80})$", re.MULTILINE)
"""The title of an option, as one quotes it with its number."""

_RESUMING = 80
"""Characters of the longest message that only says to go on."""

_COURTESY = 140
"""Characters of the longest sentence that is no more than polite."""

_STATUS = r"\b(?:429|40[13] (?:unauthorized|forbidden)|50[0-4] (?:internal|bad|service|gateway|not implemented))\b"
"""How an answer of one line gives the status with which a server refused."""

_NUMBER = re.compile(r"\d{1,2}[.)] +")
_CLAUSE = pattern(r"[.,;:!?](?=\s|$)|[。，；！？\n]")
"""Where a clause ends."""

_LABELLED = r"[\W_]*(?:\d+[.)]\s*)?(?:[^\n:：]{{1,40}}[:：]\s*)?(?:{words})(?:\b|(?=[^a-z]))(?! (?:the|an?|this|that|it|your)\b)[^\n:：`]{{0,{most}}}[:：](?!//)"

_COUNTING = ("number", "nummer")
_COUNTED = pattern(
    r"\b(?:features?|phases?|steps?|issues?|tasks?|story|stories|bugs?|lines?|items?|points?|pr|ticket|chapter|question|problem|versions?|schritt|aufgabe|punkt|zeile|frage|fehler) $",
    re.IGNORECASE,
)
"""Words that name what a number counts, and what may stand before them."""

_PLACE = pattern(
    r"(?:\A|[:：])\W*(?:left|open) (?!(?:to|for|over|undone|out|issues?|questions?|points?|items?|tasks?|work|todos?|gaps?|risks?|decisions?|ends?"
    r"|problems?|bugs?|topics?|follow|blockers?|concerns?|and|after|from|since)\b)\w",
    re.IGNORECASE,
)
"""How a label begins that names a side of something, or what is to be opened."""


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence of a report only agrees, praises, is sorry or asks to try something out, by how it begins."""
    return len(sentence) <= _COURTESY and _in_front("polite").match_in(_plain(sentence))


@lru_cache(maxsize=4_096)
def says_open(sentence: str) -> bool:
    """Whether a sentence of a report says that something is open or comes next."""
    return labels_open(sentence) or _anywhere("left").match_in(_plain(sentence)) or leaves_to_user(sentence)


def leaves_to_user(sentence: str) -> bool:
    """Whether a sentence of a report says that something is the user's to do or to decide."""
    return _anywhere("theirs").match_in(_plain(sentence))


def labels_open(line: str) -> bool:
    """Whether a line begins with a label that says that what follows is open."""
    return _labelled("open", line) and _PLACE.search(line) is None


def labels_soon(line: str) -> bool:
    """Whether a line begins with a label that says that what follows comes next."""
    return _labelled("soon", line)


def _labelled(kind: str, line: str) -> bool:
    return (":" in line or "：" in line) and _labels(kind).match(line.lower()) is not None


def changes_in(sentence: str) -> list[tuple[int, str]]:
    """Where a sentence says that something was `modified`, `created` or `deleted`, in order; one in letters of its own script in
    words of that language, or in English."""
    changes = _changes(script_of(sentence))
    return sorted((found.start(), verb) for verb, pattern in changes for found in pattern.finditer(sentence))


@lru_cache(maxsize=4_096)
def says_back(sentence: str) -> bool:
    """Whether a sentence takes back what its speaker had said or done."""
    return _anywhere("back").match_in(_plain(sentence)) or denies_alarm(sentence) or _reverts(sentence)


@lru_cache(maxsize=4_096)
def announces(sentence: str) -> bool:
    """Whether a sentence says what its speaker does next, which is seen in what was done; that earlier work is taken back is not."""
    return _in_front("announces").match_in(_plain(sentence)) and not _reverts(sentence)


@lru_cache(maxsize=4_096)
def says_how(sentence: str) -> bool:
    """Whether a sentence that says what its speaker does next says how something is solved, and not only which step that is."""
    return _anywhere("how").match_in(_plain(sentence))


def only_announces(sentence: str) -> bool:
    """Whether a sentence says what its speaker does next and nothing of how."""
    return announces(sentence) and not says_how(sentence)


@lru_cache(maxsize=4_096)
def thinks_aloud(sentence: str) -> bool:
    """Whether a sentence only supposes, asks, plans or says again what is to be done."""
    return _anywhere("aloud").match_in(_plain(sentence))


@lru_cache(maxsize=4_096)
def says_found(sentence: str) -> bool:
    """Whether a sentence says what was found, or how something ended."""
    return _anywhere("found").match_in(_plain(sentence))


def says_all_is_well(sentence: str) -> bool:
    """Whether a sentence names what would be wrong and says that it is not, or that it was to be expected."""
    return _anywhere("calm").match_in(_plain(sentence))


def tells_of_its_moment(sentence: str) -> bool:
    """Whether a sentence says how work stood when it was said, which is over once the work went on."""
    return _anywhere("moment").match_in(_plain(sentence)) or waits(sentence)


@lru_cache(maxsize=4_096)
def waits(sentence: str) -> bool:
    """Whether a sentence only says that something is not done yet for which its speaker waits."""
    return _anywhere("waits").match_in(_plain(sentence))


@lru_cache(maxsize=4_096)
def rejects(sentence: str) -> bool:
    """Whether a sentence says that what somebody found is none."""
    return _anywhere("rejects").match_in(_plain(sentence))


def passes_judgement(line: str) -> bool:
    """Whether a line of a report begins with a verdict."""
    return _in_front("verdict").match_in(_plain(line))


def grades(line: str) -> bool:
    """Whether a line of a report begins by how grave a finding is."""
    return _in_front("graded").match_in(_plain(line))


def concludes(line: str) -> bool:
    """Whether a line of a report begins with a label that says that what follows is what came out."""
    return _in_front("concludes").match_in(_plain(line))


def says_traced(sentence: str) -> bool:
    """Whether a sentence begins by saying that a cause is found."""
    return _in_front("traced").match_in(_plain(sentence))


def blames(sentence: str) -> bool:
    """Whether a sentence begins by naming something as the cause, or what the question is."""
    return _in_front("blames").match_in(_plain(sentence))


@lru_cache(maxsize=4_096)
def leans(sentence: str) -> bool:
    """Whether a sentence says nothing without the one before it, by how it begins."""
    return _in_front("leans").match_in(sentence.lower())


def says_when_done(sentence: str) -> bool:
    """Whether a sentence says what is to be done once all else is."""
    return _anywhere("done").match_in(_plain(sentence)) or submits(sentence)


def submits(sentence: str) -> bool:
    """Whether a sentence orders that the work be handed in."""
    return _in_front("submits").match_in(_NUMBER.sub("", _plain(sentence)))


def resumes(words: str) -> bool:
    """Whether a short message ends by saying that its speaker wants the work to go on, and no more than that."""
    said = _plain(words).rstrip(" .!。！\n")
    return len(said) <= _RESUMING and "\n" not in said and _anywhere("resumes").match_in(said)


def approves(words: str) -> bool:
    """Whether a message only says that what was to be approved is."""
    return _anywhere("approves").match_in(_plain(words).rstrip(" .!。！\n"))


@lru_cache(maxsize=4_096)
def offers(sentence: str) -> bool:
    """Whether a sentence says what its speaker would do if that were wanted."""
    return _anywhere("offers").match_in(_plain(sentence))


def asks_whether(question: str) -> bool:
    """Whether a question asks if something is to be done, and not only if what was said is fine."""
    return _anywhere("whether").match_in(_plain(question))


def points_back(sentence: str) -> bool:
    """Whether what a sentence orders is named only in the one before it."""
    return _in_front("points").match_in(_plain(sentence))


@lru_cache(maxsize=4_096)
def wonders(sentence: str) -> bool:
    """Whether a sentence says what its speaker only supposes."""
    return _anywhere("wonders").match_in(sentence.lower())


@lru_cache(maxsize=4_096)
def reasons(sentence: str) -> bool:
    """Whether a sentence says why, or what was preferred to what."""
    return _anywhere("reason").match_in(sentence.lower())


def denies_alarm(sentence: str) -> bool:
    """Whether a sentence says that an alarm before it was none."""
    return _anywhere("alarm").match_in(sentence.lower())


@lru_cache(maxsize=4_096)
def says_foreign(sentence: str) -> bool:
    """Whether a sentence says of a failure that it was there before, or comes of something else than the work."""
    return _anywhere("foreign").match_in(_plain(sentence))


def _reverts(sentence: str) -> bool:
    """Whether a sentence says that its speaker takes back what it had changed."""
    return _anywhere("reverts").match_in(_plain(sentence))


def names_failure(sentence: str) -> bool:
    """Whether a sentence has a word for what went wrong."""
    return _failed().search(sentence) is not None


def agrees(words: str) -> bool:
    """Whether words begin by saying yes."""
    return _in_front("agrees").match_in(_plain(words))


def decides(words: str) -> bool:
    """Whether short words of the user accept or refuse what was said or done before them, and say more than that."""
    return _in_front("decides").match_in(_plain(words))


def asks(text: str) -> bool:
    """Whether a text ends with a question, or with what is given behind one in brackets for who answers it."""
    if text.endswith((")", "）")):
        text = text[: max(text.rfind("("), text.rfind("（"), 0)].rstrip()
    return text.endswith(("?", "？"))


def option(words: str, menu: Iterable[str]) -> str:
    """The option of a menu that a short answer chooses by its number or letter, of several lists that of the last; empty where it
    chooses none, or refuses it."""
    named = _chooses().finditer(words) if len(words) <= _CHOICE else ()
    found = next((each for each in named if _accepts(words, each)), None)
    label = next(filter(None, found.groups()), "").lower() if found else ""
    if not (found and label):
        return ""
    titled = _TITLE.match(words, found.end())
    title = (titled[1] or titled[2]).lower() if titled else ""
    begins = rf"(?:^|[\s;:,*`])(?:(?:{_words('option')}) ?)?\(?{label}`?[.):]\**\s"
    behind = rf"[;,]? \(?{chr(ord(label) + 1)}[.)]\s"
    row = re.compile(rf"(?:\| )?{label} (?:–|\|) .+", re.IGNORECASE)
    for line in reversed([*menu]):
        if row.match(line):
            return line
        if (begin := re.search(begins, line, re.IGNORECASE)) and title in line.lower():
            chosen = re.split(behind, line[begin.start() :].strip(" ;:,"), maxsplit=1, flags=re.IGNORECASE)[0]
            return chosen[1:].replace("**", "", 1) if chosen.startswith("*") else chosen
    return ""


def clauses(words: str, named: re.Match[str]) -> str:
    """The clause, or the clauses, in which something is named."""
    before = _CLAUSE.split(words[: named.start()])[-1]
    behind = _CLAUSE.search(words, named.end())
    return before + words[named.start() : behind.end() if behind else len(words)]


def refuses(clause: str) -> bool:
    """Whether a clause holds a negation."""
    return _anywhere("no").match_in(_plain(clause))


def only_looks_on(sentence: str) -> bool:
    """Whether a sentence of a request says that nothing is to be changed."""
    return _anywhere("looks").match_in(_plain(sentence))


def _accepts(words: str, named: re.Match[str]) -> bool:
    """Whether the clause that names an option neither asks nor holds a negation, and does not count something else ("feature number 1")."""
    clause = clauses(words, named)
    counts = named[0].lower().startswith(_COUNTING) and _COUNTED.search(words[: named.start()])
    return not (counts or asks(clause.rstrip()) or refuses(clause))


@cache
def _chooses() -> re.Pattern[str]:
    one = "([0-9a-h])"
    named = rf"(?:^|\b)(?:{_words('option')}) ?\(?{one}(?![^\W_])"
    return re.compile(rf"^\W*{one}\W*$|\({one}\)|^{one}[.)]|{named}", re.IGNORECASE)


def failed_with(text: str) -> str:
    """What a tool's answer says that failed, where it begins by saying so."""
    found = _failures().match(text.strip()[:400])
    return " ".join(found[0].split()) if found and (found["status"] or found["rest"].strip()) else ""


@cache
def failing_keys() -> frozenset[str]:
    """The keys under which a record says what went wrong."""
    return frozenset({"errors", *(word for each in languages().values() for word in each.failed)})


@lru_cache(maxsize=4_096)
def _plain(sentence: str) -> str:
    return sentence.replace("’", "'").lstrip(" *_-").lower()


@cache
def _anywhere(kind: str) -> Patterns:
    """The patterns of a kind of all languages: agents mix them."""
    return Patterns(_of_all_languages(kind))


@cache
def _in_front(kind: str) -> Patterns:
    """The same, each of them where a sentence begins."""
    return Patterns(f"^(?:{pattern})" for pattern in _of_all_languages(kind))


def _of_all_languages(kind: str) -> list[str]:
    return [pattern for each in languages().values() for pattern in getattr(each, kind)]


@cache
def _changes(script: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    heard = (language.changed for code, language in languages().items() if not script or code in (script, "en"))
    each = zip(*filter(None, heard))
    patterns = (rare(rf"(?<!\bnot )(?<!n't )(?<!\bno )(?:{'|'.join(some)})", re.IGNORECASE) for some in each)
    return tuple(zip(("modified", "created", "deleted"), patterns))


@cache
def _labels(kind: str) -> re.Pattern[str]:
    return pattern(lower(_LABELLED.format(words=_words(kind), most=_LABEL)))


@cache
def _failed() -> re.Pattern[str]:
    return rare(_words("failed"), re.IGNORECASE)


@cache
def _failures() -> re.Pattern[str]:
    either = _words("failed")
    named = rf"\W*(?!no |last |without )(?:\w+ )?(?:[^\W\d_]{{1,6}})??(?:{either})\b(?:\s?\[\w+\]|\s\d+)?\s*[:：](?P<rest>[^\n]{{2,300}})"
    return rare(rf"{named}|[^\n]{{0,80}}(?P<status>{_STATUS})[^\n]{{0,80}}\Z", re.IGNORECASE)


def _words(kind: str) -> str:
    words = {word for each in languages().values() for word in getattr(each, kind)}
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
