"""What a user's sentence is to the work: a rule that stands, an order for one turn, one taken back, or none of these.

Cues decide, patterns of each language in `words/<language>.toml`, and where none does what labelled sentences taught
(`foldline._facts.learned`): most people only hint at what they want for good. Who types a rule types it in a few words, so that a
long message, which holds pasted reviews, reports and plans for the most part, has only the rules that it marks as such:
in capitals, or as a list under a title. A rule that is none is worse than one that is missed. What the cues are worth
is printed by `scripts/measure_rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import msgspec

from foldline._facts.cues import leans, points_back
from foldline._facts.language import language_of, read_words, script_of
from foldline._facts.learned import learned
from foldline._facts.pasted import without_document, without_mail
from foldline._facts.patterns import Patterns, parts_of, rare
from foldline._facts.splitting import BULLET, Sentence, sentences
from foldline._patterns import pattern

Lifetime = Literal["none", "standing", "task", "once", "back"]
"""For good, for a long task and until the next one is given, for one turn, or taking another one back."""

LIFETIMES: tuple[Lifetime, ...] = ("standing", "once", "back")

LANGUAGES = ("en", "de", "es", "fr", "id", "ja", "ko", "pt", "ru", "zh")
"""Those that have cues."""

SHORT = 800
"""Characters that a message may have whose every sentence is judged; a wide letter counts as two and a half."""

_TO_DO = pattern(
    r"\W*(?:instructions?|anweisungen|anleitung|instrucciones|instruções|étapes|instruksi|petunjuk|инструкци[яи]|шаги|지침|지시 사항|手順|指示|说明|指令)\W*",
    re.IGNORECASE,
)
"""What numbered steps are called as well as rules are."""

LASTING: tuple[Lifetime, ...] = ("standing", "once")
"""What a sentence without a cue is taken for; what it takes back is told by what it names."""

LIKELY = 0.7
"""How likely a sentence without a cue has to be of a kind to be taken for it."""

MOST_INSTRUCTIONS, MOST_RULING = 30_000, 60
"""Characters that are read of a project's instructions, and rules that are kept of them."""

MOSTLY = 2
"""Of so many items one is a rule where a long message gives rules; of fewer they are what its task demands."""

WIDE_LETTER = 2.5
"""Letters of an alphabet that say as much as a letter of a script without one."""

LONGEST = 640
"""Characters of a sentence; what is longer is none."""

_MANY = 800
"""Characters of a list of kinds that is told with the order to take one of them."""

_QUOTED = r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|<[^<>\n]{1,80}>"
_PLAIN = rare(_QUOTED)
_LITERAL = rare(rf"{_QUOTED}|https?://\S+|(?a:(?:[~.\w-]{{0,80}}/){{2,}}[\w./*~-]*|[~.]{{0,2}}/[\w.*~-]+)")
"""What is quoted, and names of files and pages, which have a slash: what they say is not what the user says."""

_NAMED = "¤"
_STRESSED = rare(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1|(?<!\w)(_{1,3})(?=[^\W_])([^_\n]+?)(?<=[^\W_])\3(?!\w)|\*\*"
)
"""Words in bold or italics."""
_FACE = re.compile(r"(?:\s*(?::-?[)(DP]|;-?\)|[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+))+\s*$")
"""What is smiled behind a sentence."""
_SMILES = (")", "(", "D", "P")
"""How that ends where it is of plain letters."""
_NAMES = pattern(r"^\W*¤\W*$|^\W*¤ (?:-|–|—|is\b|ist\b|es\b|是)|^\[|: ?¤\W*$|\?$")
"""An item that only names code, or asks."""
_DESCRIBES = pattern(
    r"(?:you (?:issue|see|write|get|receive)|the system \w+s)\b(?!.*\b(?:must|should|never|always|only|not)\b)|\(|\W*(?:¤|(?=\w+[:._/-])\w[\w:./-]*\b) [-–—] (?!(?:never|always|do not|don.t|must|only|no|nie|niemals|immer|nicht|nunca|siempre|no|sempre|não|ne|jamais|toujours|pas|jangan|selalu|никогда|всегда|только|нельзя|не)\b"
    r"|[^\x00-\u2e7f]{0,12}(?:禁止|不要|금지))",
    re.IGNORECASE,
)
"""A name and what it is for, or what was added in brackets."""
_SIGNS = str.maketrans("？！：；，、’＂", "?!:;,,'\"")
_LABEL = re.compile(r"\W*[\w-]+(?: [\w-]+)? ?[:=：] ?(?:[!-\u2e7f]+|\S{1,6})")
"""A name and its value; more than a few wide letters are a sentence."""

_FENCED = pattern(r"```[^\n]*\n(.{1,200}?)\n[ \t]*```", re.DOTALL)
_LISTED = pattern(r"(?:[ \t]*[-*•][ \t]+[^\n]{1,160}(?:\n|\Z)){1,8}(?![ \t]*[-*•])")
"""What a line of instructions leads in: a block of code, a short list."""

_LAW = pattern(r"^```[^\n]*\n([A-Z](?:[A-Z]|[ ,;'’-](?=[A-Z])){14,120}[.!]?)\n[ \t]*```", re.MULTILINE)
"""A sentence in capitals that stands alone in a block, as skills set apart what they are about."""

_KINDS = pattern(
    r"((?:\*\*[^*\n]{1,40}\*\*[^\n]{0,80}\n\s*){1,3})((?:[ \t]*[-*•][ \t]+[^\n]{1,160}(?:\n|\Z)){1,12})(?![ \t]*[-*•])"
)
"""The same with names for its parts ("**Types:**") over a list of which one is to be taken."""

_NAME = pattern(r"(`[^`\n]+`)(?: [-–—] [\w/-]+(?: [\w/-]+){0,2})?")
"""A kind of which nothing is said, or in a few words what its name says as well."""

_MEANS = pattern(r"(?<=`) [-–—] ")
"""What stands between a kind and what it is for."""

_MARKS = pattern(r"\s*\n[ \t]*[-*•][ \t]+|^[ \t]*[-*•][ \t]+")
"""What stands before the items of a list."""

_CASE = pattern(r"([^,:;.，：；、。]{3,90})([,:，：、])(?=\s|[^\x00-\u2e7f])")
"""What stands before the first comma or colon of a sentence."""

_INSTEAD = pattern(
    r"instead\b|use\b|stattdessen\b|en su lugar\b|em vez disso\b|no lugar disso\b|à la place\b|au lieu de (?:ça|cela)\b|sebagai gantinya\b|вместо этого\b|代わりに|而是|대신",
    re.IGNORECASE,
)
"""How a sentence begins that says what is to be done in place of what is forbidden."""

_QUOTES = pattern(r"[\"“„«]([^\"“”„«»\n]{2,40})[\"”“»]")
"""A word that is quoted."""

_ASKS = pattern(
    r"(?P<declared>.{8,}[^\s,，、]|[^\x00-\u2e7f]{6,})[,，、] ?(?P<asked>[^,，、]{10,}|[^\x00-\u2e7f]{5,})[?？]$",
    re.DOTALL,
)
"""A sentence that declares something, then asks."""

_COMMAS = ",，、"
"""What it has before it asks."""

_WONDERS = pattern(
    r"\W*(?:(?:so|and|but|y|und|aber|pero|e|mas|et|mais|alors|lalu|и|но|а|так) )?(?:why\b|how come\b|warum\b|wieso\b|weshalb\b|por qu[eéê]\b|pq\b|pourquoi\b|pk\b|comment ça se fait\b|kenapa\b|mengapa\b|почему\b|зачем\b|отчего\b|я правильно понял|верно ли\b|это так\b|なぜ|どうして|왜|为什么|"
    r"yet\b|still\b|trotzdem\b|sin embargo\b|aun así\b|mesmo assim\b|ainda assim\b|pourtant\b|quand même\b|kok\b|вс[её] равно\b|вс[её] ещё\b|それなのに|なのに|그런데|可是)",
    re.IGNORECASE,
)
"""How one asks who finds strange what was declared: a state of things, and no rule."""

_STAGE = rare(
    r"(?<!from )(?<!ab )(?<!desde )(?<!a partir da )(?<!a partir do )(?<!à partir de l.)(?<!dès l.)(?<!dari )(?<!从)(?<!從)(?:\b(?P<name>phase|step|stage|milestone|sprint|fase|etapa|étape|paso|passo|schritt|tahap|langkah|этап|фаза|шаг|стадия|спринт) (?P<number>\d{1,2})\b"
    r"|第 ?(?P<amid>[\d一二三四五六七八九十]{1,2}) ?(?P<wide>阶段|步|段階)|(?<!\d)(?P<before>\d{1,2})(?P<behind>단계|段階)(?!부터|から))"
)
"""A stage of the work, by its number; what holds from one on is not of it."""

_CLAUSE = re.compile(r"[,;:，；：、](?!\d)|\s[-–—]\s")
"""Where a clause ends."""

_WORDS_OF_A_CASE = 6
"""Words of the longest case that is told without what holds in it."""

_TITLE = 60
"""Characters of the longest line over a list that says what its items are."""


def rules_in(message: str, spoken_before: str = "") -> list[tuple[str, Lifetime]]:
    """The sentences of a user's message that are more than its task, verbatim, each with how long it is to hold.

    The items of a list are what the line above it calls them ("A few rules:", "Leave these files alone:"); that
    line is told where an item needs it, and with each that says something else without it ("Never:"). What stands
    right below another title ("She wrote:"), or as a line amid others, was more often pasted than typed. What a
    long task orders ends with it, unless it says to last or most of what it lists are rules; and so does what is ordered for
    the work at hand; what only goes on about a rule stands with it. `spoken_before` is the language that was spoken before.
    """
    language = language_of(message, spoken_before)
    said = list(sentences(without_mail(without_document(message))))
    short = not is_long(message)
    found: list[tuple[str, Lifetime]] = []
    title, place = "", 0
    above: Lifetime = "none"
    quoted = led = hard = bound = False
    listed, unbent = set[str](), set[str]()
    for each, before in zip(said, ("", *(each.text for each in said))):
        text = _declared(each.text)
        spoken = script_of(text) or language
        quoted &= not each.apart
        bound &= not each.line
        if each.titled or (len(text) <= _TITLE and not (hard and each.item) and _LABEL.fullmatch(text)):
            called = _called(text, spoken)
            # what a long task lists ends with the task, and not with the turn
            above = "none" if not each.heads else "standing" if called == "once" and not short else called
            title, place = text, len(found)
            led = text.rstrip("*_").endswith((":", "："))
            hard = _is_hard(text, spoken)
            quoted = each.titled and not each.heads and called == "none"
            continue
        if short and not quoted and _labelled(each.line, spoken):
            found.append((each.line, "standing"))
            bound = True
        if bound or quoted or _orders_nothing(each, text, spoken, short):
            continue
        turned = each.item and _turns(each.under, spoken)
        kind = judged(text, spoken, loud=not (short or (each.item and above != "none")))
        if not each.item:
            above = "none"
        elif (short or led or hard) and kind == "none" != above and not _asks_or_tells(each, text, message):
            if title and not turned:
                found.insert(place, (title, above))
                (unbent if hard else listed).add(title)
            title, kind = "", above
        if kind != "none":
            text = _with_sense(text, each.under) if turned else text
            if found and kind == found[-1][1] and _widens(each, before, found[-1][0]):
                found[-1] = f"{found[-1][0]} {text}", kind
                continue
            found.append((text, kind))
            if kind == "back" and lifetime(_instead_of(text), language=spoken) == "standing":
                found.append((text, "standing"))
            if each.item:
                unbent |= {text} if hard else set()
                listed |= set() if _for_good(text, spoken) else {text}
    few = MOSTLY * len(listed) < sum(each.item for each in said)
    ends = {text: few if text in listed else not _for_good(text, language) for text, _ in found if text not in unbent}
    over = of_the_work if short else ends.get
    return [(text, "task" if kind == "standing" and over(text) else kind) for text, kind in found]


def _orders_nothing(each: Sentence, text: str, spoken: str, short: bool) -> bool:
    """Whether a sentence was more likely pasted, or is an item below a title that calls what it lists no orders."""
    return (short and _is_pasted(each, text, spoken)) or (each.item and _told_by_title(each.under, spoken, short))


def _asks_or_tells(each: Sentence, text: str, message: str) -> bool:
    """Whether an item asks, or is the next step of a task's numbered instructions."""
    at = message.find(each.text)
    return text.endswith(("?", "？")) or (
        _TO_DO.fullmatch(each.under) is not None and message[message.rfind("\n", 0, at) + 1 : at].strip()[:1].isdigit()
    )


def _told_by_title(title: str, spoken: str, short: bool) -> bool:
    """Whether what a title calls its items orders nothing: what was seen, or the plan of a long task."""
    return _shows(title, spoken) or (not short and _plans(title, spoken))


def _widens(each: Sentence, before: str, rule: str) -> bool:
    """Whether a sentence says more of the rule that ends right before it in its line, and nothing without it."""
    return not each.line and rule.endswith(before) and (points_back(each.text) or leans(each.text))


def of_the_work(sentence: str) -> bool:
    """Whether a sentence says to go on with the work at hand, or names a stage of it, so that all that it orders ends with that."""
    cues = cues_of(language_of(sentence))
    return bool(stages_in(sentence)) or (cues is not None and cues.work.match_in(normal(sentence).lower()))


def stages_in(words: str) -> set[tuple[str, str]]:
    """The numbered stages of the work that words name: what these are called, and their numbers."""
    found = (each.groupdict(default="") for each in _STAGE.finditer(words.lower()))
    return {
        (each["name"] or each["wide"] or each["behind"], each["number"] or each["amid"] or each["before"])
        for each in found
    }


def _declared(sentence: str) -> str:
    """What a sentence declares before it asks ("we ship on Mondays, so what can make it?"); all of it where it asks nothing, or why."""
    may_ask = sentence.endswith(("?", "？")) and len(sentence) <= LONGEST and any(each in sentence for each in _COMMAS)
    asks = _ASKS.match(sentence) if may_ask else None
    return asks["declared"] if asks and not _WONDERS.match(asks["asked"]) else sentence


def is_long(message: str) -> bool:
    """Whether a message is so long that it gives a task with all that belongs to it, or holds what others wrote."""
    letters = sum(map(len, message.splitlines()))
    return letters > SHORT or letters + (WIDE_LETTER - 1) * wide_letters(message) > SHORT


@lru_cache(maxsize=64)
def ruling(instructions: str) -> tuple[str, ...]:
    """The sentences of a project's instructions that order something for good; the rest describes the project."""
    language = language_of(instructions)
    read = instructions[:MOST_INSTRUCTIONS]
    orders = dict.fromkeys((*_LAW.findall(read), *_orders([*sentences(read)], read, language)))
    return tuple(text for text in orders if text and not (points_back(text) or leans(text)))[:MOST_RULING]


def _orders(said: Sequence[Sentence], read: str, language: str) -> Iterator[str]:
    """What is ordered, and the items below a title that says so; what only names code or a value is none."""
    above: Lifetime = "none"
    told = instead = word = ""
    for each, behind in zip(said, (*said[1:], Sentence(""))):
        kind = lifetime(each.text, language=language)
        if each.titled:
            above = _called(each.text, script_of(each.text) or language)
            whole = _led(each.text, read) if kind == "standing" else ""
            told = each.text if whole or instead.startswith(each.text) else ""
            word = each.text if _turns(each.text, language) else word if each.text.endswith((":", "：")) else ""
            alone = kind == "standing" and (shouts(each.text) or _ENDED.match(each.text))
            whole = whole or (_whole(each.text) if alone else "")
            yield _with_sense(whole, each.under) if whole and _turns(each.under, language) else whole
        elif (each.item and each.under == told) or _DESCRIBES.match(normal(each.text)) or _shows(each.under, language):
            continue
        elif kind == "standing" or (each.item and kind == "none" and _is_order(each.text, language, above)):
            instead = "" if behind.item and behind.line else _instead(each.text, behind, read)
            order = f"{each.text} {instead}" if instead else each.text
            if not _turns(each.under, language):
                yield order
            elif each.line or shouts(order):
                yield _with_sense(order, each.under)
        elif word and not each.item and _says_what_is_meant(each.text, word):
            yield _with_sense(each.text, word)


def _says_what_is_meant(sentence: str, case: str) -> bool:
    """Whether a sentence begins with a word that a case is about ("When I say “ship it”:"), and tells what that means."""
    quoted = _QUOTES.match(sentence)
    return quoted is not None and quoted[1].lower() in (each.lower() for each in _QUOTES.findall(case))


def _with_sense(order: str, title: str) -> str:
    """An order with the title over it, without which it would say something else."""
    return f"{title.strip('*_ :：')}: {order}"


def case_of(order: str) -> str:
    """The title with which an order is told, where that is a case in which it holds, or a no; empty where it is neither."""
    title = f"{order.partition(': ')[0]}:"
    return title if title in order and _turns(title, language_of(order)) else ""


def word_of(order: str) -> str:
    """The case with which an order is told, where that is that a word is said which it quotes; empty for others."""
    case = case_of(order)
    return case if _QUOTES.search(case) else ""


def only_a_case(sentence: str) -> bool:
    """Whether a sentence says when something holds, and not what ("Before the merge to main")."""
    return (
        not _CLAUSE.search(sentence)
        and len(sentence.split()) <= _WORDS_OF_A_CASE
        and _turns(sentence, language_of(sentence))
    )


def holds_in_a_case(order: str) -> bool:
    """Whether an order begins with the case in which it holds."""
    case = case_before(order)
    return bool(case) and _turns(case, language_of(order))


@lru_cache(maxsize=1_024)
def case_before(order: str) -> str:
    """The case or the kind of work that an order names before it orders anything ("When a test fails, …", "Helpers: …"); empty
    where it names none."""
    found = _CASE.match(normal(order))
    if found is None:
        return ""
    case, language = found[1], language_of(order)
    named = found[2] in ":：" and lifetime(case, language=language) == "none" == _called(case, language)
    if not (named or _turns(case, language)):
        return ""
    for literal in _LITERAL.findall(order):
        case = case.replace(_NAMED, literal, 1)
    return case


@lru_cache(maxsize=512)
def _turns(title: str, language: str) -> bool:
    """Whether what stands below a title means something else without it: "Never:", "If a test fails:"."""
    cues = cues_of(script_of(title) or language)
    return cues is not None and not _shows(title, language) and cues.turns.match_in(normal(title).lower())


@lru_cache(maxsize=512)
def _shows(title: str, language: str) -> bool:
    """Whether what stands below a title is no order: an example, or what is wrong."""
    cues = cues_of(script_of(title) or language)
    return cues is not None and cues.shows.match_in(normal(title).lower())


@lru_cache(maxsize=512)
def _plans(title: str, language: str) -> bool:
    """Whether what stands below a title is what a document that is planned is to say."""
    cues = cues_of(script_of(title) or language)
    return cues is not None and cues.contents.match_in(normal(title).lower())


def bids(sentence: str) -> bool:
    """Whether a sentence of instructions orders something, or begins with the case in which it does; what only praises or tells does neither."""
    language = language_of(sentence)
    return _turns(sentence, language) or lifetime(sentence) != "none" or _is_order(sentence, language, "none")


def _is_order(item: str, language: str, above: Lifetime) -> bool:
    """Whether an item of instructions is an order: by its mood, or by the title over it, but for a case without an order."""
    text, cues = normal(item).lower(), cues_of(language)
    if cues is None or _NAMES.search(text):
        return False
    moods = any(map(cues.mood.match_in, {text, text.partition(": ")[2]}))
    return moods or (above != "none" and not only_a_case(item))


def shouts(order: str) -> bool:
    """Whether an order says in capitals that it is one."""
    cues = cues_of(language_of(order))
    return cues is not None and cues.loud.search(normal(order)) is not None


def _instead(order: str, behind: Sentence, read: str) -> str:
    """What is to be done in place of what is forbidden, where that is said next; what only leads in a list or code with that, or not at all."""
    if order[-1].isalnum() or not _INSTEAD.match(behind.text):
        return ""
    said = _led(behind.text, read.partition(order)[2]) if behind.titled else behind.text
    return said if len(order) + len(said) < LONGEST else ""


def _instead_of(back: str) -> str:
    """What is said behind the words that take something back ("Changed my mind: always tabs")."""
    return re.split(r"[,:;–—，：；、] ?", back, maxsplit=1)[-1]


def _led(title: str, text: str) -> str:
    """A line that leads in a block of code or a short list, with what it leads in; empty where it leads in nothing such, or is
    a sentence by itself."""
    if _STOP.search(title):
        return ""
    behind = text.partition(title)[2].lstrip("*_ \t\n")
    fenced, listed = _FENCED.match(behind), _LISTED.match(behind)
    below = " ".join((fenced[1] if fenced else "; ".join(_items(listed[0])) if listed else "").split())
    if below or not shouts(title):
        return f"{title} {below}" if below and len(title) + len(below) < LONGEST else ""
    kinds = _KINDS.match(text.partition(title)[2].lstrip())
    names = [line.replace("**", "") for line in kinds[1].splitlines() if line.strip()] if kinds else []
    return f"{title} {'; '.join(names)} {_kinds(kinds[2])}" if kinds and len(kinds[0]) < _MANY else ""


def _kinds(listed: str) -> str:
    """The kinds of a list on one line: those that are only named, then each that is more than its name with what it is for."""
    named = [(item, _NAME.fullmatch(item)) for item in _items(listed)]
    described = (_MEANS.sub(" = ", item, count=1) for item, name in named if not name)
    return "; ".join(filter(None, (", ".join(name[1] for _, name in named if name), *described)))


def _items(listed: str) -> list[str]:
    """The items of a list."""
    return [*filter(None, _MARKS.split(listed.rstrip()))]


_STOP = re.compile(r"[.!。！]\W*$")
_ENDED = re.compile(r"(?:\S+\s+){2,}\S+[.!]\W*$|[^\x00-\u2e7f].{5,}[。！]\W*$")
"""How a title ends that is a sentence ("**Never push to the main branch.**"); one of two words says not of what it speaks."""


def _whole(title: str) -> str:
    """A line that leads something in, where it says all by itself; empty where what it leads in is the order."""
    said = title.rstrip("*_ :：").lstrip("*")
    return "" if _POINTS.search(said) else said


_POINTS = pattern(
    r"\b(?:like|follow(?:s|ing)?|below|these|this|of|with|to|as|is|are|e\.g\.|wie|folgende[snrm]?|como|siguientes?|seguintes?|abaixo|suivante?s?|comme)$",
    re.IGNORECASE,
)


def _labelled(line: str, language: str) -> bool:
    """Whether a line is a rule from its label to its end."""
    cues = cues_of(language)
    labelled = cues is not None and cues.label.match_in(normal(line).lower())
    return labelled and lifetime(line, language=language) == "standing"


def _called(title: str, language: str) -> Lifetime:
    """What a line calls that which stands below it."""
    cues = cues_of(language)
    words = normal(title).lower().strip(" *_:")
    if cues is None or len(title) > _TITLE or not (cues.title.match_in(words) or cues.hard.match_in(words)):
        return "none"
    return "once" if cues.once.match_in(words) else "standing"


def _is_hard(title: str, language: str) -> bool:
    """Whether a title says of what stands below it that it is not to be bent, or what all of the work is built with."""
    cues = cues_of(language)
    return cues is not None and len(title) <= _TITLE and cues.hard.match_in(normal(title).lower().strip(" *_:"))


@lru_cache(maxsize=4_096)
def judged(sentence: str, language: str, *, loud: bool) -> Lifetime:
    """How long what a sentence orders holds, by its cues, and where it has none by what sentences of its language taught; `loud` as
    for `lifetime`."""
    cue = lifetime(sentence, language=language, loud=loud)
    known = learned("user", language)
    if loud or cue != "none" or known is None or len(sentence) > LONGEST:
        return cue
    shares = known.shares(normal(sentence), as_given(cue))
    likely: Lifetime = max(LASTING, key=lambda kind: shares[kind])
    return likely if shares[likely] >= LIKELY else "none"


def _is_pasted(said: Sentence, text: str, language: str) -> bool:
    """Whether what stands as a line amid others was more likely pasted than typed: it is no rule by its words."""
    if not said.amid or said.item or (said.apart and _for_good(text, language)):
        return False
    known, cue = learned("user", language), as_given(lifetime(text, language=language))
    return known is None or known.shares(normal(text), cue)["standing"] < LIKELY


def as_given(cue: Lifetime) -> tuple[str, ...]:
    """What cues say of a sentence, as a feature from which is learned."""
    return (f"cue {cue}",)


@lru_cache(maxsize=4_096)
def lifetime(sentence: str, *, language: str = "", loud: bool = False) -> Lifetime:
    """How long what a user's sentence orders is to hold; `none` where it orders nothing beyond the task itself.

    With `loud` only what stands in capitals orders anything, and what does so by its grammar.
    """
    cues = cues_of(language or language_of(sentence))
    if cues is None or len(sentence) > LONGEST:
        return "none"
    text = normal(sentence)
    shouted = not text.isupper() and cues.loud.search(text) is not None
    text = text.lower()
    lead = cues.lead.match(text)
    text = text[lead.end() :] if lead else text
    kind = _ordered(text, cues, shouted, loud)
    if kind != "none" and not cues.none.match_in(text):
        return kind
    return "standing" if not loud and _declares(text, cues) else "none"


def _declares(text: str, cues: Cues) -> bool:
    """Whether a clause of a sentence says what things are like here, whatever else the sentence asks for."""
    clauses = () if text.endswith("?") else dict.fromkeys(each.strip(" .!。") for each in _CLAUSE.split(text))
    return any(cues.habit.match_in(each) and not cues.none.match_in(each) for each in clauses)


def _ordered(text: str, cues: Cues, shouted: bool, loud: bool) -> Lifetime:
    """What a sentence in lower case orders, if it is an order at all."""
    sure = shouted or (loud and (cues.general.match_in(text) or cues.guard.match_in(text)))
    if loud and not sure:
        return "none"
    if cues.back.match_in(text):
        return "back"
    if cues.once.match_in(text):
        return "once"
    if not (sure or any(known.match_in(text) for known in (cues.general, cues.standing, cues.label))):
        return "none"
    return "once" if cues.passing.match_in(text) else "standing"


@lru_cache(maxsize=1_024)
def normal(sentence: str) -> str:
    """A sentence on one line without its bullet, with a sign for each literal."""
    bullet = BULLET.match(sentence)
    text = " ".join(sentence[bullet.end() if bullet else 0 :].translate(_SIGNS).split())
    # to look for names at every letter takes longer than all else
    said = _STRESSED.sub(r"\2\4", (_LITERAL if "/" in text else _PLAIN).sub(_NAMED, text))
    return _FACE.sub("", said) if said.rstrip().endswith(_SMILES) or not said.isascii() else said


def _for_good(sentence: str, language: str) -> bool:
    """Whether a sentence says by its grammar that it holds for good."""
    cues = cues_of(language)
    return cues is not None and cues.general.match_in(normal(sentence).lower())


def wide_letters(text: str) -> int:
    """How many letters of a text are of a script of which one says as much as several of an alphabet."""
    return 0 if text.isascii() else len(_WIDE.findall(text))


_WIDE = pattern(r"[^\x00-\u2e7f]")


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """A language's file: patterns by what they say of a sentence that holds them, and parts that patterns share."""

    cues: dict[str, list[str]]
    parts: dict[str, str] = {}
    lead: str = ""
    values: list[str] = []


class Cues(NamedTuple):
    """What is looked for in a sentence."""

    lead: re.Pattern[str]
    """How a sentence goes on from the one before; it says nothing."""
    loud: re.Pattern[str]
    """In capitals: it stands, wherever it is."""
    title: Patterns
    """The items below it stand."""
    hard: Patterns
    """The items below it stand for good, also those of a long task."""
    turns: Patterns
    """What stands below it means something else without it."""
    shows: Patterns
    """What stands below it is shown and not ordered."""
    contents: Patterns
    """What stands below it is what a document that is planned is to say."""
    general: Patterns
    """It stands by its grammar, however much is said around it."""
    habit: Patterns
    """A clause of it says what things are like here, or who does what."""
    label: Patterns
    """How a line begins that stands as a whole."""
    mood: Patterns
    """It stands as an item of instructions."""
    standing: Patterns
    """It stands where few words are said."""
    passing: Patterns
    """What stands does so for this turn only."""
    once: Patterns
    back: Patterns
    none: Patterns
    """Whatever else it holds: a question, a report, what somebody else says."""
    lifts: Patterns
    """How a clause says that what it names holds no longer."""
    again: Patterns
    """How a clause says that another value holds than did."""
    values: tuple[re.Pattern[str], ...]
    """What has one value at a time: the language of the answers, a tense."""
    work: Patterns = Patterns(())
    """It goes on with the work at hand, and what it orders ends with that."""
    guard: Patterns = Patterns(())
    """It stands through a long task: what that leaves alone."""


@cache
def cues_of(language: str) -> Cues | None:
    """The cues of a language, read once; none where there are none."""
    if language not in LANGUAGES:
        return None
    table = msgspec.convert(read_words(language), Table)
    loud = re.compile("|".join(table.cues.pop("loud")))
    parts = parts_of(table.parts)
    values = tuple(map(pattern, table.values))
    return Cues(
        re.compile(table.lead),
        loud,
        values=values,
        **{kind: Patterns(patterns, parts) for kind, patterns in table.cues.items()},
    )
