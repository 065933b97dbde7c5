"""Single messages for `memory`: which of what a user says in one message becomes a rule, by language.

Each message stands at the beginning of a small history that goes on with calls and with another request, so that orders
for one turn are over; the history is folded and the page's rules are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from foldline import CannotFit
from memory_histories import Chat, History, call
from memory_material import SENTENCES, Labels, Rule
from memory_measures import Count, Rules, rules
from memory_methods import fold
from memory_page import Folded

LATER = {
    "en": "And now have a look at the list from yesterday, what is the second entry about?",
    "zh": "现在看一下昨天的那个列表，第二项讲的是什么？顺便告诉我一共有几项，都是谁写的？",
    "ja": "次に、昨日の一覧を見てもらえますか。二番目の項目は何についてのものですか。",
    "ko": "이제 어제 목록을 한번 봐 주세요. 두 번째 항목은 무엇에 관한 내용인가요?",
    "de": "Und jetzt schau dir die Liste von gestern an, worum geht es im zweiten Eintrag?",
    "es": "Y ahora mira la lista de ayer, ¿de qué trata la segunda entrada?",
    "pt": "E agora dá uma olhada na lista de ontem, do que trata o segundo item?",
    "ru": "А теперь посмотри вчерашний список, о чём там вторая запись?",
    "id": "Sekarang lihat daftar yang kemarin, entri yang kedua itu tentang apa?",
}
"""Another request, which binds nobody, by language."""

STEPS = 12
ROOM = 900
"""Tokens of the budget beside those of the message."""


@lru_cache(maxsize=4)
def sentences(folder: Path) -> tuple[tuple[str, str, Labels], ...]:
    """The messages of a half; none where there are none."""
    file = folder / SENTENCES
    said = json.loads(file.read_text("utf-8")) if file.exists() else []
    return tuple((s["language"], s["text"], Labels(rules=tuple(map(_rule, s["rules"])))) for s in said)


def _rule(said: dict[str, str]) -> Rule:
    return Rule(said["text"], said["lifetime"])


def history(words: str, language: str) -> list[Chat]:
    """A small history with a message at its beginning and another request behind it."""
    later = LATER.get(language, LATER["en"])
    return [
        {"role": "user", "content": words},
        *(message for n in range(STEPS) for message in _step(n)),
        {"role": "assistant", "content": "1 / 40"},
        {"role": "user", "content": later},
        *(message for n in range(STEPS, 2 * STEPS) for message in _step(n)),
    ]


def _step(n: int) -> Iterator[Chat]:
    """A call that the agent counts aloud at, so that no output can be cut instead of folding."""
    rows = [f"{n}.{i}: {(n * 17 + i) * 7919 % 1000} / {(n * 31 + i) * 13 % 97:02}" for i in range(16)]
    asked = call(f"step{n}", "list_entries", json.dumps({"page": n}))
    yield {"role": "assistant", "content": "\n".join(rows), "tool_calls": [asked]}
    yield {"role": "tool", "tool_call_id": f"step{n}", "content": f"{n * 16} .. {n * 16 + 15}"}


def measured(words: str, language: str, labels: Labels) -> Rules:
    """What the page's rules make of one message."""
    whole = History(history(words, language))
    try:
        after = fold(whole, ROOM + whole.sizes[0])
    except CannotFit:
        after = []
    return rules(labels, Folded(whole.chat, after))


def tables(folder: Path, cells: Callable[[Sequence[Sequence[str]]], None], *, missed: bool = False) -> None:
    """Prints precision and recall of the rules for each language, and with `missed` the messages that went wrong."""
    found: dict[str, Rules] = {}
    for language, words, labels in sentences(folder):
        score = measured(words, language, labels)
        found[language] = found.get(language, Rules()) + score
        if missed and (score.found.right < score.found.of or score.right < score.precision.of):
            counts = f"{score.found.right} of {score.found.of} found, {score.over} over, {score.unlabelled} other"
            print(f"{language}: {counts}: {words}")
    if not found:
        print(f"no sentences in {folder}: nothing measured")
        return
    lines = [("rules of single messages", "precision", "recall", "orders that are over, as rules", "others")]
    for language, score in [*sorted(found.items()), ("all", sum(found.values(), Rules()))]:
        lines.append((language, _of(score.precision), _of(score.found), str(score.over), str(score.unlabelled)))
    cells(lines)


def _of(count: Count) -> str:
    return "-" if count.share is None else f"{count.share:.2f} of {count.of}"
