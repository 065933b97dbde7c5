"""A handoff whose draft a model writes the first part of: it reads the old session for what the goal needs."""

from __future__ import annotations

from foldline._errors import SummaryFailed
from foldline._facts.reading import facts_of
from foldline._handoff.goal import BEHIND, HandoffDraft
from foldline._messages import replace
from foldline._sessions.file import SessionFile
from foldline._tokens.estimate import estimate
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


def told_by_model(session: SessionFile, draft: HandoffDraft, summarizer: Summarizer, tokens: int) -> HandoffDraft:
    """A draft with what a model found for its goal, in at most so many tokens, before what code gathered.

    Raises `SummaryFailed` where the model wrote nothing that could be used.
    """
    messages = tuple(message for message in session.context.messages if message.role != "system")
    brief = Brief(tokens, focus=draft.goal, wording=Wording(prompt=PROMPT))
    answer = answer_to(Ask(brief, messages, facts_of(messages)), summarizer)
    if isinstance(answer, SummaryFailed):
        raise answer
    found = bare(answer.text)
    wrong = shape_of(found) if found else "the model wrote nothing"
    if wrong or (isinstance(answer, Draft) and not answer.complete):
        raise SummaryFailed(wrong or "the draft was cut off by its length limit")
    goal, mark, rest = draft.text.partition(f"\n\n{BEHIND}")
    head, _, gathered = f"{BEHIND}{rest}".partition("\n\n") if mark else ("", "", "")
    text = "\n\n".join(filter(None, (goal, head, found, gathered)))
    return replace(draft, text=text, tokens=estimate(text))
