"""The values in what a user says, each with its kind: only values of one kind can take each other's place."""

from __future__ import annotations

import re

from foldline.facts.literals import ends_as_file

_MONTH = (
    "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|fév|avr|juin|juil|août|déc|"
    "янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек"
)
_TIME = (
    "ms|s|secs?|seconds?|sekunden?|segundos?|secondes?|m|mins?|minutes?|minuten?|minutos?|h|hrs?|hours?|stunden?|horas?|"
    "heures?|d|days?|tagen?|días?|jours?|weeks?|wochen?|months?|초|분|시간|秒|分钟|分|小时|時間|секунд|минут|час"
)
_FIGURE = r"\d[\d.,]{0,20}"
"""Of bounded length: each number in a long list of them is the start of what would be one figure to the list's end."""

_PATTERNS = {
    "day": (
        rf"\d{{1,2}}(?:\.|st|nd|rd|th)?[ ]?(?:{_MONTH})[a-zéа-я]*|(?:{_MONTH})[a-z]*[ ]\d{{1,2}}|\d{{4}}-\d\d-\d\d|\d{{1,2}}月\d{{1,2}}日|"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|"
        r"lunes|martes|miércoles|jueves|viernes|lundi|mardi|mercredi|jeudi|vendredi"
    ),
    "time": rf"{_FIGURE}[ ]?(?:{_TIME})",
    "size": rf"{_FIGURE}[ ]?(?:[kmgt]i?b?|b|bytes?|tokens?)",
    "share": rf"{_FIGURE}[ ]?(?:%|percent|prozent)",
    "count": r"\d+(?:,\d{3}){0,6}[ ](?:attempts?|retries|tries|times|workers?|threads?|processes|replicas?|rows?|items?|users?|lines?|mal)",
    "money": rf"[$€£]{_FIGURE}|{_FIGURE}[ ]?(?:€|eur|usd|euros?|dollars?)",
    "url": r"[a-z]+://[^\s\"'<>)]+",
    "address": r"[\w.+-]+@[\w-]+\.[\w.-]*\w",
    "channel": r"#[\w-]*[a-z][\w-]*",
    "place": r"\d+(?:\.\d+){3}(?::\d+)?",
    "version": r"v?\d+(?:\.\d+)+",
    "ticket": r"(?-i:[A-Z]{2,})-\d+",
    "hash": r"(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}",
    "number": r"\d{2,}",
    "path": r"(?:~|[\w.@+-]+)?(?:/[\w.@+-]+)+(?::\d+)*",
    "name": r"\w[\w.:=@+-]*\w",
}
_VALUE = re.compile(
    "|".join(
        rf"(?P<{kind}>(?<![\w$€£#@/.:=-])(?:{pattern})(?![\w%@/:=-]|\.\w))" for kind, pattern in _PATTERNS.items()
    ),
    re.IGNORECASE | re.ASCII,
)
_TELLING = re.compile(r"\d|[_.:=]|\w-\w|[a-z][A-Z]")
_LONGEST = 80

_UNSAID = frozenset(("day", "time", "size", "share", "count", "money"))


def values_in(text: str) -> dict[str, str]:
    """The values in a text that can be told from words, each with its kind; `file` is one that ends as files do."""
    found = ((each[0], each.lastgroup or "") for each in _VALUE.finditer(text))
    kinds = {
        value: "file" if kind in ("name", "path") and ends_as_file(value.partition(":")[0]) else kind
        for value, kind in found
    }
    return {value: kind for value, kind in kinds.items() if len(value) <= _LONGEST and _tells(value, kind)}


def unsaid(value: str, kind: str) -> bool:
    """Whether a value means nothing without the words beside it: 30 % of one thing are not 30 % of another."""
    return kind in _UNSAID or (kind == "number" and len(value) < 4)


def _tells(value: str, kind: str) -> bool:
    return kind != "name" or (len(value) > 3 and _TELLING.search(value) is not None)
