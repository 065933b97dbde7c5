"""What an agent says in its reports that tells nothing of the work: greetings, praise, how it can be reached."""

from __future__ import annotations

from foldline._facts.cues import says_found
from foldline._facts.literals import literals
from foldline._facts.types import Facts


def small_talk(facts: Facts) -> set[int]:
    """The places of sentences of reports that only chat and name nothing, but for a report that has no others."""
    reports = [(i, p) for i, p in enumerate(facts.pieces) if p.by == "agent" and p.kind == "report"]
    chats = ((i, p) for i, p in reports if not p.open and p.tells == "talk" and not says_found(p.text))
    idle = {i: p.at for i, p in chats if not literals(p.text)}
    says = {p.at for i, p in reports if i not in idle}
    return {i for i, at in idle.items() if at in says}
