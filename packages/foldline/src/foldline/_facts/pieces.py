"""The pieces that are told of a conversation, while they are gathered."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, Literal

from foldline._facts.cues import announces
from foldline._facts.literals import literals
from foldline._facts.others import named_in_report, said_in_report
from foldline._facts.pasted import without_output
from foldline._facts.splitting import split
from foldline._facts.texts import Passage, lines_with, passages
from foldline._facts.types import Kind, Piece
from foldline._messages import replace

Teller = Literal["user", "agent", "tool", "peer", "harness", "command"]

_READ, _PEER_ENDS, _PEER_ITEMS = 16_000, 6, 16
"""Characters that are read of what another agent says, sentences that are told of its beginning and of its end, and items
of what stands between."""

_ALIKE = 160
"""Characters by which a report is known that a client brings again."""


class Pieces:
    """Pieces as they are told; `wanted` are the literals that the user or the agent wrote somewhere."""

    def __init__(self, wanted: Set[str]) -> None:
        self._wanted = wanted
        self._told: list[Piece] = []
        self.report: list[Piece] = []
        """The newest report of the agent."""
        self._of_user: dict[int, list[int]] = {}
        self._heard: set[str] = set()
        self.another_spoke = False
        """Whether another agent said something that the agent and the user said nothing to yet."""

    def tell(
        self, text: str, at: int, part: int, kind: Kind, by: Teller, sought: Set[str] = frozenset(), **marks: Any
    ) -> None:
        """Adds a piece; what a call brought is `used` by as many of its literals as are wanted, but for those that it `sought`."""
        if kind in ("result", "excerpt", "shown", "given", "written"):
            used = sum(word in self._wanted and word not in sought for word in literals(text))
            marks["used"] = marks.get("used", 0) + used
        if by == "user":
            self._of_user.setdefault(at, []).append(len(self._told))
        piece = Piece(text, at, part, by, kind, **marks)
        self._told.append(piece)
        if kind == "report":
            if not self.report or self.report[-1].at != at:
                self.report = []
            self.report.append(piece)

    def tell_passage(self, said: Passage, at: int, part: int, kind: Kind, by: Teller, **marks: Any) -> None:
        """Adds a piece of somebody's words, where it stands in them."""
        under = said.under if said.item else ""
        marks |= {"begins": said.begins, "laid_out": said.laid_out, "columns": said.columns}
        self.tell(said.text, at, part, kind, by, item=said.item, under=under, depth=said.depth, over=said.over, **marks)

    def tell_of_another(self, report: str, at: int, part: int, who: str = "") -> None:
        """Adds how another agent's report begins and ends, and the items between that name something; once, if it is brought again.

        Of what it brought beside words, nothing.
        """
        who = named_in_report(report) or who
        text = said_in_report(report)
        text = (without_output(text).strip() or text)[:_READ]
        if not text or text[:_ALIKE] in self._heard:
            return
        self._heard.add(text[:_ALIKE])
        self.another_spoke = True
        said = [p for p in passages(text) if not (_opens(p.text) or p.text.endswith((":", "：")))]
        between = said[_PEER_ENDS:-_PEER_ENDS]
        items = [p for p in between if (p.item or p.under) and literals(p.text)][:_PEER_ITEMS]
        for each in (*said[:_PEER_ENDS], *items, *said[_PEER_ENDS:][-_PEER_ENDS:]):
            used = sum(word in self._wanted for word in literals(each.text))
            self.tell_passage(each, at, part, "said", "peer", used=used, who=who)

    def again(self, at: int) -> None:
        """Counts once more what the user said in a message."""
        for i in self._of_user.get(at, ()):
            self._told[i] = replace(self._told[i], times=self._told[i].times + 1)

    def wanted_lines(self, text: str, searched: int | None = None) -> Iterator[str]:
        """The lines of an output that hold what the user or the agent wrote as well; `searched` are the characters looked at."""
        return lines_with(text, self._wanted, literals(text[:searched]))

    def in_order(self) -> tuple[Piece, ...]:
        """The pieces in the order in which they happened."""
        return tuple(sorted(self._told, key=lambda piece: (piece.at, piece.part)))


def _opens(text: str) -> bool:
    """Whether words say nothing but that their speaker is to begin."""
    return announces(text) or (not literals(text) and any(map(announces, split(text))))
