"""Sentences that bind, decide, report or correct, told apart by their cue words in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_SENTENCE = 400
_SCAN = 16_000

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_STOP = re.compile(r"(?<=[.!?…])[\"'”’)\]*`]{0,2}\s+(?=[^\sa-z])|(?<=[。！？])\s*")
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s+)?(?:\[[ xX]\]\s+)?")

_WORD = re.compile(r"[^\W\d_][\w']*")
_BINDING = """
    must mustn't never always don't dont only ensure should shouldn't prefer avoid without required require requires
    exactly cannot can't keep stop remember forbidden unless muss müssen darf dürfen niemals nie immer nur bitte
    kein keine keinen nicht statt anstatt verwende benutze soll sollte sollen debe debes deben nunca siempre sólo
    solamente únicamente evita prefiere asegúrate usa utiliza doit dois doivent jamais toujours seulement uniquement
    évite évitez préfère utilise utilisez harus jangan selalu hanya wajib hindari gunakan pastikan
    bevor nichts nix verboten nada ningún ninguna antes nem não sempre somente apenas deve devem evite sem proibido
    rien aucun aucune avant interdit mai sempre soltanto deve nooit altijd alleen niet
    никогда всегда только нельзя надо нужно обязательно запрещено не без
    ever frozen untouched
"""
_BIND_WORDS = frozenset(_BINDING.split())
_BIND_PHRASES = re.compile(
    r"\b(?:make sure|do not|no need|instead of|rather than|stick to|leave \w+ |at (?:most|least)|hands off|nothing (?:is|gets|goes)|one \w+ per|no more than|nothing else|not allowed|"
    r"off limits|read[- ]only|stays? (?:as|the|where|out)|please no|no (?:new|more|other|further|extra) \w+|goes? through|ask (?:me|first)|wait for (?:me|my)|"
    r"public api|we \w+ with|needs? to|have to|until i|before you|i want|(?:^|please )use|hay que|en (?:lugar|vez) de|il faut|au lieu de|assure-toi|n(?:e |')\w+ pas|"
    r"tidak boleh)\b",
    re.IGNORECASE,
)
_BIND_OTHER = re.compile(
    r"반드시|절대|항상|무조건|직접 할게|만 수정|하지 ?마|지 ?마세요|말고|금지|필수|해야|만 사용|대신|지 말|"
    r"必须|必須|不要|不能|不得|禁止|只能|只用|只要|总是|始終|始终|务必|一定|请勿|永远|优先|不可|"
    r"必ず|しないで|ないで|常に|絶対|だけ|のみ|べき|てはいけ|なければ|ください"
)
_BINDS_HARD = re.compile(
    r"\b(?:must(?: not|n't)?|never|always|do not|don't|forbidden|not allowed)\b|禁止|절대|必须|必ず", re.IGNORECASE
)
_DECIDING = """
    decided decide decision cause causes caused because issue problem bug reason culprit fix solution answer found
    chose choose approach confirmed verified reveals reveal means therefore workaround tradeoff recommend
    recommended conclusion conclude plan strategy key important however actually requires require fails failed
    doesn't never only instead ursache entschieden weil deshalb problema causa porque decidido parce décidé penyebab
    karena diputuskan
"""
_DECIDE_WORDS = frozenset(_DECIDING.split())
_DECIDE_OTHER = re.compile(r"원인|결정|때문|확인|문제|발견|결론|原因|决定|因为|问题|发现|结论|ため|決定|問題")
_REPORTING = """
    done fixed added created implemented updated removed committed pushed merged refactored renamed complete
    completed wrote moved replaced resolved finished deployed opened migrated installed erledigt fertig hecho listo
    terminé fait selesai
"""
_REPORT_FIRST = frozenset(_REPORTING.split())
_REPORT_PHRASES = re.compile(
    r"\b(?:is|are) now |\bnow (?:works|passes|uses)\b|\b(?:all )?(?:tests|checks)(?: now)? pass|\b(?:have|has) been |"
    r"\bi(?:'ve| have) (?:added|fixed|created|implemented|updated|removed|committed|pushed|moved|changed|replaced|written|completed)\b",
    re.IGNORECASE,
)
_REPORT_OTHER = re.compile(r"^\W{0,4}(?:✅|✓|☑)|완료|했습니다|됐습니다|되었습니다|已完成|完成|已经|しました|完了")
_COMING = """
    next now let let's i'll remaining todo then going siguiente próximo ensuite prochaine selanjutnya berikutnya
    nächste
"""
_NEXT_WORDS = frozenset(_COMING.split())
_NEXT_PHRASES = re.compile(
    r"^(?:\w+[,!.]? ){0,3}(?:next steps?|(?<!\bthe )next|now,? (?:let|i)|let me|let's|i'll|i will|i need to|we need to|remaining|still (?:need|to)|then i|after that|"
    r"going to|als nächstes|nächste|siguiente|próximo|ensuite|prochaine|selanjutnya|berikutnya)\b",
    re.IGNORECASE,
)
_NEXT_OTHER = re.compile(r"다음|이제|接下来|下一步|次に|これから")


def unfenced(text: str) -> str:
    """The text without its code fences; of a long one its head and tail."""
    if len(text) > _SCAN:
        text = text[: _SCAN * 2 // 3] + "\n" + text[-_SCAN // 3 :]
    return _FENCE.sub("", text) if "```" in text or "~~~" in text else text


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text's prose, each on one line without its bullet; code fences are left out."""
    for line in unfenced(text).splitlines():
        line = _BULLET.sub("", line, count=1).strip()
        if len(line) < 3 or line.startswith(("|", "<", "```")):
            continue
        if len(line) < 60:
            yield line
            continue
        yield from (s for part in _STOP.split(line) if (s := part.strip()))


def binds(sentence: str) -> bool:
    """Whether a user's sentence sets a rule for the work; a mere question does not."""
    if not 6 <= len(sentence) <= MAX_SENTENCE:
        return False
    if sentence.endswith(("?", "？")) and not _BINDS_HARD.search(sentence):
        return False
    if not _BIND_WORDS.isdisjoint(_words(sentence)) or _BIND_PHRASES.search(sentence):
        return True
    return not sentence.isascii() and _BIND_OTHER.search(sentence) is not None


def binds_hard(sentence: str) -> bool:
    """Whether a sentence of a project's instructions is a strict rule."""
    return 12 <= len(sentence) <= MAX_SENTENCE and _BINDS_HARD.search(sentence) is not None


def kind_of(sentence: str) -> str:
    """Whether an assistant's sentence reports something `done`, states a `decision`, or says what comes `next`."""
    if not 16 <= len(sentence) <= MAX_SENTENCE or (sentence.endswith(":") and len(sentence) < 60):
        return ""
    if sentence.endswith(("?", "？")):
        return ""
    words = _words(sentence)
    other = not sentence.isascii()
    if (not _NEXT_WORDS.isdisjoint(words) and _NEXT_PHRASES.search(sentence)) or (
        other and _NEXT_OTHER.search(sentence, 0, 20)
    ):
        return "next"
    reports = words[:1] and words[0] in _REPORT_FIRST
    if reports or _REPORT_PHRASES.search(sentence) or (other and _REPORT_OTHER.search(sentence)):
        return "done"
    decides = not _DECIDE_WORDS.isdisjoint(words) or (other and _DECIDE_OTHER.search(sentence))
    return "decision" if decides else ""


def _words(sentence: str) -> list[str]:
    return _WORD.findall(sentence.lower().replace("’", "'"))
