"""What a model finds in an old session for the goal of a handoff: the first part of its draft."""

from __future__ import annotations

from foldline._errors import SummaryFailed
from foldline._facts.reading import facts_of
from foldline._facts.speech import clean
from foldline._sessions.file import SessionFile
from foldline._view import Brief
from foldline._wording import Wording
from foldline._writers.asking import answer_to
from foldline._writers.draft import Ask, Draft, Summarizer
from foldline._writers.gate import bare, shape_of

PROMPT = """\
You read an agent's conversation for a fresh session that begins without it, with one goal: it is named at the end as what \
the user asks to keep above all. Extract what that goal needs, and nothing else: what is known that bears on it, the files \
and commands to begin with, what was decided and why, what was tried and failed, and what is still open.

- Copy paths, identifiers, numbers and error messages character by character.
- Say of the user only what a message marked `user` says, and do not quote the user.
- Leave out what the goal does not need. No preamble, no plan of your own."""


def found_by_model(session: SessionFile, goal: str, summarizer: Summarizer, tokens: int) -> str:
    """What a model finds in a session for a goal, in at most so many tokens.

    Raises `SummaryFailed` where the model wrote nothing that could be used.
    """
    messages = tuple(message for message in session.context.messages if message.role != "system")
    brief = Brief(tokens, focus=clean(goal).strip(), wording=Wording(prompt=PROMPT))
    answer = answer_to(Ask(brief, messages, facts_of(messages)), summarizer)
    if isinstance(answer, SummaryFailed):
        raise answer
    found = bare(answer.text)
    wrong = shape_of(found) if found else "the model wrote nothing"
    if wrong or (isinstance(answer, Draft) and not answer.complete):
        raise SummaryFailed(wrong or "the draft was cut off by its length limit")
    return found
