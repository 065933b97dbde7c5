"""Which format a history is of: held once something in it is sure, a guess until then, and asked for where nothing can be it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foldline._errors import WireError
from foldline._wires.format import Sign, WireFormat
from foldline._wires.registry import FORMATS, OWN, declared, named

USUAL = "openai-chat"
"""What a history is read as while nothing tells: messages of a role and a text are the same in several formats."""


class Hearing(NamedTuple):
    """What the items of a history told of its format so far."""

    certain: str = ""
    """The format that the caller named, or that an item was sure of."""
    given: bool = False
    """Whether the caller named it."""
    possible: Mapping[str, Sign] = {}
    """What the formats that no item spoke against were told of; empty before the first item."""

    @property
    def guess(self) -> str:
        """The format as far as it is known: the certain one, the only likely one, or an empty text."""
        if self.certain:
            return self.certain
        likely = [name for name, sign in self.possible.items() if sign is Sign.LIKELY]
        return likely[0] if likely else next(iter(self.possible)) if len(self.possible) == 1 else ""

    @property
    def format(self) -> str:
        """The format that the history is read in."""
        return self.guess or USUAL

    @property
    def before(self) -> Hearing:
        """What was known before the first item."""
        return self if self.given else Hearing()

    def after(self, items: Iterable[object], first: int = 0) -> Hearing:
        """What is told with these items behind; `first` is the place of the first of them.

        Raises `WireError` where an item is of no format.
        """
        told = self
        spoken: set[str] = set()
        for place, item in enumerate(items, first):
            if told.certain:
                break
            # the words of one role tell the same each time, and long conversations may be nothing else
            if (role := _only_words(item)) in spoken:
                continue
            if isinstance(item, Mapping):
                spoken.update(filter(None, (role,)))
                signs = _signs(item)
                if not any(signs.values()):
                    _refuse(item, told.format, f"messages[{place}]")
                told = told.heard(signs)
        return told

    def heard(self, signs: Mapping[str, Sign]) -> Hearing:
        """What is told with what one more item says of each format; what speaks against all of them tells nothing."""
        if self.certain:
            return self
        if sure := next((name for name, sign in signs.items() if sign is Sign.SURELY), ""):
            return self._replace(certain=sure)
        before = self.possible or dict.fromkeys(FORMATS, Sign.MAYBE)
        possible = {
            name: max(sign, signs.get(name, Sign.MAYBE)) for name, sign in before.items() if signs.get(name, True)
        }
        return self._replace(possible=possible) if possible else self


def detect(items: Iterable[object], default: str = USUAL) -> str:
    """The format of a history: the one that its first telling item is sure of, the likely one, or the default where none tells."""
    told = Hearing()
    for item in items:
        if isinstance(item, Mapping):
            told = told.heard(_signs(item))
            if told.certain:
                break
    return told.guess or default


def _only_words(item: object) -> str:
    """The role of an item that is nothing but a role and a text, or an empty text."""
    if type(item) is dict and [*item] == ["role", "content"]:
        role, content = item.values()
        return role if type(role) is str and type(content) is str else ""
    return ""


def _signs(item: Mapping[str, object]) -> dict[str, Sign]:
    """What an item tells of each format; those of other packages are asked where foldline's own are not sure."""
    signs = {name: format.tells(item) for name, format in OWN.items()}
    if Sign.SURELY not in signs.values():
        signs |= {name: format.tells(item) for name, format in declared().items()}
    return signs


def _refuse(item: Mapping[str, object], format: str, where: str) -> None:
    """Raises for an item of no format: for a reply that was appended whole, for its role, or for its parts."""
    if "role" not in item and (read := _read_from(item)):
        raise WireError(f"a whole reply; append the message in it: {read.appended}", format=read.name, where=where)
    named(format).decode(item, where)
    raise WireError(
        f"nothing tells which wire format this is; say it: Compactor(format=…), one of {', '.join(FORMATS)}",
        format="",
        where=where,
    )


def _read_from(reply: Mapping[str, object]) -> WireFormat | None:
    """The format that finds a message in a whole reply."""
    for format in FORMATS.values():
        try:
            if format.reply(reply) is not None:
                return format
        except WireError:
            continue
    return None
